"""What the host tells a kernel: time, sound device, pointer, wheel, pads, keys, window.

In: what a host knows, or what a script says. Out: a ``HostContext``, which a run samples once,
before element 0: every element sees the same values. Without a host, all is as in a session that
has just begun, with no device and no window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol

from . import op as ops
from .float_arithmetic import f32
from .types import Numeric

Pair = tuple[float, float]
Words = tuple[Numeric, ...]


class ContextSource(Protocol):
    """What a run asks, once, for the values it runs with."""

    def sample(self) -> HostContext:
        """The values as they are now."""
        ...


@dataclass(frozen=True, slots=True)
class HostContext:
    """One sample of the host. Floats other than the clock are rounded to f32 as a kernel reads
    them.

    ``clock``: session seconds. ``rate``: samples per second of the sound device, ``queued``:
    samples (per channel) it has not yet played. ``pointer``: position in output pixels.
    ``buttons``: the pointer's buttons that are held (0 left, 1 right, 2 middle). ``wheel``: what it
    scrolled since the last sample. ``pads``: how many are connected. ``sticks``: axis pairs by
    number (0 left, 1 right, 2 the triggers). ``keys``: the codes of those held. ``typed``: the
    characters typed since the last sample. ``window``: its size in physical pixels. ``scale``:
    physical pixels per logical pixel."""

    clock: float = 0.0
    rate: float = 0.0
    queued: int = 0
    pointer: Pair = (0.0, 0.0)
    buttons: frozenset[int] = frozenset()
    wheel: Pair = (0.0, 0.0)
    pads: int = 0
    sticks: Mapping[int, Pair] = field(default_factory=lambda: MappingProxyType({}))
    keys: frozenset[int] = frozenset()
    typed: str = ""
    window: Pair = (0.0, 0.0)
    scale: float = 1.0

    def sample(self) -> HostContext:
        """Itself: a context that stays as it is."""
        return self

    def read(self, op: ops.Op) -> Words | None:
        """The value of an operation on the context that has no operand; None for another one."""
        reader = READS.get(type(op))
        return None if reader is None else reader(self)

    def ask(self, op: type[ops.Op], number: int) -> Words:
        """The value of an operation on the context that asks by number."""
        return ASKS[op](self, number)


def _pair(pair: Pair) -> Words:
    return (f32(pair[0]), f32(pair[1]))


READS: dict[type[ops.Op], Callable[[HostContext], Words]] = {
    ops.Time: lambda host: (f32(host.clock),),
    ops.Clock: lambda host: (host.clock,),
    ops.Rate: lambda host: (f32(host.rate),),
    ops.Queued: lambda host: (host.queued,),
    ops.Pointer: lambda host: _pair(host.pointer),
    ops.PointerDown: lambda host: (0 in host.buttons,),
    ops.Wheel: lambda host: _pair(host.wheel),
    ops.Pads: lambda host: (host.pads,),
    ops.Window: lambda host: _pair(host.window),
    ops.Scale: lambda host: (f32(host.scale),),
}
"""The reference evaluation of each operation that reads the context by itself."""

ASKS: dict[type[ops.Op], Callable[[HostContext, int], Words]] = {
    ops.Button: lambda host, n: (n in host.buttons,),
    ops.Key: lambda host, n: (n in host.keys,),
    ops.Stick: lambda host, n: _pair(host.sticks.get(n, (0.0, 0.0))),
    ops.Typed: lambda host, n: (ord(host.typed[n]) if 0 <= n < len(host.typed) else 0,),
}
"""Of each that asks by number; a number that nothing has gives false, (0, 0) or 0."""


class Script:
    """A context source that plays what it was given, one sample a run, and stays at the last."""

    def __init__(self, samples: Iterable[HostContext]):
        self._samples = list(samples) or [HostContext()]
        self._next = 0

    def sample(self) -> HostContext:
        now = self._samples[min(self._next, len(self._samples) - 1)]
        self._next += 1
        return now
