"""Schedule options: what an optimiser did, or is asked to do, to the axes of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from dynamis.uop.errors import UopError
from dynamis.uop.frozen import Payload, integer, many, optional, text

# The kinds in order, with the number of their arguments and whether they have an axis.
_KINDS: Final[dict[str, tuple[int, bool]]] = {
    "TC": (3, True), "UPCAST": (1, True), "UNROLL": (1, True), "LOCAL": (1, True),
    "THREAD": (1, True), "GROUP": (1, True), "GROUPTOP": (1, True), "NOLOCALS": (0, False),
    "PADTO": (1, True), "SWAP": (1, True),
}  # fmt: skip

OPT_KINDS: Final[tuple[str, ...]] = tuple(_KINDS)
"""The kinds of schedule options, in order."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Opt(Payload):
    """One schedule option. Made by the class methods below; ordered by kind, axis, arguments.

    `kind` is one of OPT_KINDS, `axis` the axis it is about (None for NOLOCALS only), `args` its
    other numbers. Raises UopError for numbers that the kind does not take.
    """

    kind: str
    axis: int | None = None
    args: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._fix("kind", text)
        self._fix("axis", optional(integer))
        self._fix("args", many(integer))
        if self.kind not in _KINDS:
            raise UopError(f"unknown schedule option {self.kind!r}")
        arity, has_axis = _KINDS[self.kind]
        if len(self.args) != arity or (self.axis is not None) != has_axis:
            raise UopError(f"{self.kind} is not made from axis {self.axis} and {self.args}")

    @classmethod
    def tc(cls, *, axis: int, tc_select: int, tc_opt: int, use_tc: int) -> Opt:
        """Use a tensor core on `axis`."""
        return cls("TC", axis, (tc_select, tc_opt, use_tc))

    @classmethod
    def upcast(cls, *, axis: int, amount: int) -> Opt:
        """Compute `amount` elements of `axis` at once."""
        return cls("UPCAST", axis, (amount,))

    @classmethod
    def unroll(cls, *, axis: int, amount: int) -> Opt:
        """Unroll a reduce axis by `amount`."""
        return cls("UNROLL", axis, (amount,))

    @classmethod
    def local(cls, *, axis: int, amount: int) -> Opt:
        """Give `amount` elements of `axis` to the threads of a workgroup."""
        return cls("LOCAL", axis, (amount,))

    @classmethod
    def thread(cls, *, axis: int, amount: int) -> Opt:
        """Give `amount` parts of `axis` to CPU threads."""
        return cls("THREAD", axis, (amount,))

    @classmethod
    def group(cls, *, axis: int, amount: int) -> Opt:
        """Reduce `amount` elements of a reduce axis in a workgroup."""
        return cls("GROUP", axis, (amount,))

    @classmethod
    def grouptop(cls, *, axis: int, amount: int) -> Opt:
        """`group`, taking the elements from the top of the axis."""
        return cls("GROUPTOP", axis, (amount,))

    @classmethod
    def nolocals(cls) -> Opt:
        """Use no local memory."""
        return cls("NOLOCALS")

    @classmethod
    def padto(cls, *, axis: int, amount: int) -> Opt:
        """Pad `axis` to a multiple of `amount`."""
        return cls("PADTO", axis, (amount,))

    @classmethod
    def swap(cls, *, axis: int, with_axis: int) -> Opt:
        """Exchange two axes."""
        return cls("SWAP", axis, (with_axis,))

    @property
    def amount(self) -> int | None:
        """The amount, where the kind has one: not for TC, NOLOCALS and SWAP."""
        return None if self.kind in ("TC", "NOLOCALS", "SWAP") else self.args[0]

    def with_amount(self, amount: int) -> Opt:
        """The option with another amount; itself where the kind has none."""
        return self if self.amount is None else Opt(self.kind, self.axis, (amount,))

    @property
    def order(self) -> tuple[Any, ...]:
        """A key of the total order: kind, axis, arguments."""
        return (OPT_KINDS.index(self.kind), -1 if self.axis is None else self.axis, self.args)

    def __lt__(self, other: Opt) -> bool:
        return bool(self.order < other.order)

    def __str__(self) -> str:
        """The kind and its numbers, joined by colons: `UPCAST:0:4`."""
        numbers = () if self.axis is None else (self.axis, *self.args)
        return ":".join([self.kind, *map(str, numbers)])

    def __repr__(self) -> str:
        arg: Any = None
        if self.args:
            arg = self.args if self.kind == "TC" else self.args[0]
        return f"Opt(op=OptOps.{self.kind}, axis={self.axis}, arg={arg})"
