"""The operations that read the host's context: clock, sound, pointer, keys, pads, window.

The context is sampled once, before element 0: every element sees the same values. An unknown
button, key, pad or place reads as false, false, zero and 0.
"""

from __future__ import annotations

from dataclasses import dataclass

from .op_base import OneOperand, Op, ValueId


@dataclass(frozen=True, slots=True)
class Time(Op):
    """Session time in seconds as Float: the clock rounded to it. Host call: time.read."""


@dataclass(frozen=True, slots=True)
class Clock(Op):
    """Session time in seconds as Double. Host call: time.read."""


@dataclass(frozen=True, slots=True)
class Rate(Op):
    """The sound device's samples per second as Float, 0 without a device. Host call: time.read."""


@dataclass(frozen=True, slots=True)
class Queued(Op):
    """The samples (per channel) the sound device holds and has not yet played, as Int, 0 without a
    device. Host call: time.read."""


@dataclass(frozen=True, slots=True)
class Pointer(Op):
    """Pointer position in output pixels as Vec2. Host call: input.read."""


@dataclass(frozen=True, slots=True)
class PointerDown(Op):
    """Whether the pointer button is held, as Bool. Host call: input.read."""


@dataclass(frozen=True, slots=True)
class Button(OneOperand):
    """Whether the pointer button with this Int number is held, as Bool: 0 left, 1 right, 2 middle.
    Host call: input.read."""

    value: ValueId


@dataclass(frozen=True, slots=True)
class Wheel(Op):
    """What the wheel scrolled since the last evaluation, as Vec2. Host call: input.read."""


@dataclass(frozen=True, slots=True)
class Pads(Op):
    """How many pads are connected, as Int. Host call: input.read."""


@dataclass(frozen=True, slots=True)
class Stick(OneOperand):
    """A pad's axis pair by Int number as Vec2: 0 left stick, 1 right, 2 the triggers. Sticks run
    -1 … 1 (y away from the person), triggers 0 … 1; zero without a pad. Host call: input.read."""

    value: ValueId


@dataclass(frozen=True, slots=True)
class Window(Op):
    """The window's size in physical pixels as Vec2, zero without one. Host call: input.read."""


@dataclass(frozen=True, slots=True)
class Scale(Op):
    """Physical pixels per logical pixel of the window, as Float, 1 without one. Host call:
    input.read."""


@dataclass(frozen=True, slots=True)
class Key(OneOperand):
    """Whether the key with this Int code is held, as Bool. Host call: input.read."""

    value: ValueId


@dataclass(frozen=True, slots=True)
class Typed(OneOperand):
    """The character typed since the last evaluation at this Int place, as an Int code point; 0
    after the last. Host call: input.read."""

    value: ValueId
