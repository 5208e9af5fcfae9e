"""The table of operations: what is known of each class of ``op.py``, described once.

In: nothing. Out: ``OPS``, read by validator, printer, parser, docs and help. ``interpret.py`` holds
the reference evaluation of each row; the rows of arithmetic are in ``tables.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from . import op as ops
from .capability import Capability
from .fault import FaultKind
from .mode import ModeKind


class Role(Enum):
    """What a function is to its module."""

    HELPER = "helper"
    ENTRY = "entry"
    MERGE = "merge"
    INIT = "init"


class Slot(Enum):
    """What one field of an operation is, as text spells it after the operation's word."""

    NUMBER = "a number"
    VALUE = "a value"
    OPTIONAL = "a value or nothing"
    VALUES = "values in parentheses"
    OTHER = "words of its own"


_ANYWHERE = frozenset(Role)
_ENTRY = frozenset({Role.ENTRY})
_NOT_MERGE = _ANYWHERE - {Role.MERGE}
_ALL_MODES = frozenset(ModeKind)
_NUMBER, _VALUE, _OTHER = Slot.NUMBER, Slot.VALUE, Slot.OTHER
_READ, _WRITE = Capability.FIELD_READ, Capability.FIELD_WRITE
_TIME, _INPUT = Capability.TIME_READ, Capability.INPUT_READ


@dataclass(frozen=True, slots=True)
class OpRow:
    """One operation.

    ``word`` begins it in text and ``slots`` are its fields, in order; operations with an OTHER slot
    have a form of their own. ``typing``: what it takes and gives. ``roles`` and ``modes``: the
    functions and the modes it may stand in; what a function may not hold, no function it calls may.
    ``placed``: only ``account`` or ``lanes`` places it. ``fails``: the failures of its own."""

    word: str
    slots: tuple[Slot, ...]
    typing: str
    meaning: str
    roles: frozenset[Role] = _ANYWHERE
    modes: frozenset[ModeKind] = _ALL_MODES
    capability: Capability | None = None
    fails: tuple[FaultKind, ...] = ()
    placed: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether text spells it by its word and slots alone."""
        return Slot.OTHER not in self.slots


def _host(word: str, gives: str, meaning: str, capability: Capability, slots: int = 0) -> OpRow:
    """An operation that reads the host's context, which was sampled before element 0."""
    takes = "an Int, " * slots
    return OpRow(
        word,
        (_VALUE,) * slots,
        f"{takes}giving {gives}",
        meaning,
        _NOT_MERGE,
        capability=capability,
    )


# fmt: off
_FAULTS_OF_TABLE = (FaultKind.OVERFLOW, FaultKind.DIVISION_BY_ZERO)
OPS: dict[type[ops.Op], OpRow] = {
    ops.Const: OpRow("const", (_OTHER,), "giving its value's type", "A literal."),
    ops.Param: OpRow("param", (_NUMBER,), "giving the parameter's type",
                     "The kernel parameter at the given manifest index."),
    ops.Arg: OpRow("arg", (_NUMBER,), "giving the argument's type",
                   "The current function's argument at the given index."),
    ops.Unary: OpRow("", (_OTHER, _VALUE), "by the table of unary operations",
                     "A unary operation.", fails=_FAULTS_OF_TABLE),
    ops.Binary: OpRow("", (_OTHER, _VALUE, _VALUE), "by the table of binary operations",
                      "A binary operation.", fails=_FAULTS_OF_TABLE),
    ops.Construct: OpRow("construct", (Slot.VALUES,), "one value a part, giving the whole",
                         "Build a vector from components, a matrix from columns, a record from "
                         "fields or an array from elements."),
    ops.Extract: OpRow("extract", (_VALUE, _NUMBER), "a whole, giving its part's type",
                       "A vector component, matrix column, struct field or array element at a "
                       "constant index."),
    ops.Subscript: OpRow("subscript", (_VALUE, _VALUE),
                         "an array, matrix or vector and an Int, giving its part's type",
                         "The element, column or component at an index clamped into range."),
    ops.Call: OpRow("call", (_NUMBER, Slot.VALUES), "the callee's arguments, giving its result",
                    "Call a helper by its number."),
    ops.Intrinsic: OpRow("", (_OTHER, Slot.VALUES), "by the table of intrinsics",
                         "A pure intrinsic.", fails=_FAULTS_OF_TABLE),
    ops.If: OpRow("if", (_OTHER,) * 3, "a Bool and two blocks of one type, giving it",
                  "Yield then or otherwise by a Bool; only the taken block runs."),
    ops.Match: OpRow("match", (_OTHER,) * 3, "an Int and blocks of one type, giving it",
                     "Yield the arm whose values hold an Int, else the default; only that block "
                     "runs."),
    ops.Loop: OpRow("loop", (_OTHER,) * 5, "an initial value, giving its type",
                    "Run a block at most count times, threading one carried value."),
    ops.Each: OpRow("each", (_OTHER,) * 2, "a block of the element's type, giving the array",
                    "Build an array: the block runs once for each element, index its position."),
    ops.Carried: OpRow("carried", (), "giving the loop's type",
                       "The carried value of the innermost loop, or, outside any, of the scan."),
    ops.Index: OpRow("index", (), "giving Int",
                     "The iteration of the innermost loop or each, or, outside both, the scan's "
                     "row."),
    ops.Coord: OpRow("coord", (), "giving Vec2 over a grid, Vec3 over a volume",
                     "The current element's coordinate.", _ENTRY),
    ops.Domain: OpRow("domain", (), "giving the domain's index type", "The domain's extent.",
                      _ENTRY),
    ops.Time: _host("time", "Float", "Session time in seconds, the clock rounded to Float.", _TIME),
    ops.Clock: _host("clock", "Double", "Session time in seconds.", _TIME),
    ops.Rate: _host("rate", "Float", "The sound device's samples per second, 0 without.", _TIME),
    ops.Queued: _host("queued", "Int", "Samples the sound device has yet to play.", _TIME),
    ops.Pointer: _host("pointer", "Vec2", "Pointer position in output pixels.", _INPUT),
    ops.PointerDown: _host("pointer_down", "Bool", "Whether the pointer button is held.", _INPUT),
    ops.Button: _host("button", "Bool",
                      "Whether a pointer button is held: 0 left, 1 right, 2 middle.", _INPUT, 1),
    ops.Wheel: _host("wheel", "Vec2", "What the wheel scrolled since the last run.", _INPUT),
    ops.Pads: _host("pads", "Int", "How many pads are connected.", _INPUT),
    ops.Stick: _host("stick", "Vec2",
                     "A pad's axis pair: 0 left stick, 1 right, 2 the triggers.", _INPUT, 1),
    ops.Window: _host("window", "Vec2", "The window's size in physical pixels.", _INPUT),
    ops.Scale: _host("scale", "Float", "Physical pixels per logical pixel.", _INPUT),
    ops.Key: _host("key", "Bool", "Whether the key with this code is held.", _INPUT, 1),
    ops.Typed: _host("typed", "Int",
                     "The code point typed at this place since the last run, 0 past the last.",
                     _INPUT, 1),
    ops.Element: OpRow("element", (), "giving Int", "The current element's linear index.", _ENTRY),
    ops.Lane: OpRow("lane", (), "giving Int", "The current element's place in its group.", _ENTRY,
                    frozenset({ModeKind.GROUP})),
    ops.Exchange: OpRow("exchange", (_VALUE, _VALUE), "a value and an Int, giving the value's type",
                        "What the lane of that number, wrapped round the group's size, gave here.",
                        _ENTRY, frozenset({ModeKind.GROUP})),
    ops.Sample: OpRow("sample", (_NUMBER,), "giving the input's element type",
                      "The input's element at the current coordinate, clamped.", _ENTRY,
                      capability=_READ),
    ops.At: OpRow("at", (_NUMBER, _VALUE),
                  "an address of the input's index type, giving its element type",
                  "The input's element at an address, floored and clamped.", _NOT_MERGE,
                  capability=_READ),
    ops.Part: OpRow("part", (_OTHER,) * 3,
                    "an address of the input's index type or none, giving the part's type",
                    "Part of one input element, named by a path; without an address (entry only), "
                    "of this element's own.", _NOT_MERGE, capability=_READ),
    ops.AtLinear: OpRow("at_linear", (_NUMBER, _VALUE),
                        "an address of the input's linear index type, giving its element type",
                        "The input between its elements, interpolated linearly; Float words only.",
                        _NOT_MERGE, capability=_READ),
    ops.Count: OpRow("count", (_NUMBER,), "giving Int", "Number of elements of an input.",
                     capability=_READ),
    ops.Size: OpRow("size", (_NUMBER,), "giving the input's index type", "Extent of an input.",
                    capability=_READ),
    ops.Put: OpRow("put", (_NUMBER, _VALUE, _VALUE),
                   "an address of the memory's index type and a value of its element type, giving "
                   "it",
                   "Write into a memory, in step order; an address outside is dropped.",
                   _ENTRY, frozenset({ModeKind.SCAN}), _WRITE),
    ops.Emit: OpRow("emit", (_VALUE,), "a record of address and value, giving it",
                    "Emit one more scatter pair; an address outside is dropped.",
                    frozenset({Role.ENTRY, Role.HELPER}), frozenset({ModeKind.SCATTER}), _WRITE),
    ops.Spend: OpRow("spend", (_VALUE,), "a loop's value, giving Int",
                     "The iterations of the loop just before it, added to the element's work.",
                     placed=True),
    ops.Look: OpRow("look", (), "giving Bool", "Check the element's work.",
                    fails=(FaultKind.BUDGET, FaultKind.RUN_BOUND), placed=True),
    ops.Lanes: OpRow("lanes", (_OTHER,), "a block, giving the array of the lanes' results",
                     "Run a block once for each lane of the group.", _ENTRY,
                     frozenset({ModeKind.GROUP}), placed=True),
    ops.Meet: OpRow("meet", (Slot.OPTIONAL,), "an array of the lanes' values or nothing, giving "
                    "Bool", "The end of a stretch of the group between exchanges.", _ENTRY,
                    frozenset({ModeKind.GROUP}), placed=True),
}
# fmt: on


def capability_of(op: ops.Op) -> Capability | None:
    """The capability a kernel needs to hold this operation; None for a pure one."""
    row = OPS.get(type(op))
    return None if row is None else row.capability
