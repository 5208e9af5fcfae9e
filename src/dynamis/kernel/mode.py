"""How a kernel executes over its domain, and how values meet where several fall on one place.

One table a family: ``MODES`` and ``COMBINES`` give each mode's and each rule's meaning.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from .fault import FaultKind
from .types import StructDef, Type, word_types


class Combine(Enum):
    """How a scattered value combines with the element at its address; the value is the spelling."""

    SUM = "sum"
    MIN = "min"
    MAX = "max"
    LAST = "last"

    @property
    def name(self) -> str:
        """Stable spelling in sources, manifests and module text."""
        return self.value

    @staticmethod
    def parse(name: str) -> Combine | None:
        """The spelling's meaning, if it is one."""
        return _COMBINES.get(name)

    @property
    def describe(self) -> str:
        """One sentence on what the rule does, for help."""
        return COMBINES[self].meaning

    def order_free(self, element: Type, structs: Sequence[StructDef] = ()) -> bool:
        """Whether the rule's answer over ``element`` does not depend on the order of the values:
        min and max always, sum when no scalar is a float."""
        return self.order_free_words(word_types(structs, element))

    def order_free_words(self, scalars: Collection[Type]) -> bool:
        """``order_free`` over an element made of ``scalars``."""
        if self is Combine.SUM:
            return Type.FLOAT not in scalars and Type.DOUBLE not in scalars
        return self is not Combine.LAST

    def takes_words(self, scalars: Collection[Type]) -> bool:
        """Whether the rule has a meaning over an element made of ``scalars``: sum, min and max take
        numbers, no Bools."""
        return self is Combine.LAST or Type.BOOL not in scalars


_COMBINES = {rule.value: rule for rule in Combine}


@dataclass(frozen=True, slots=True)
class CombineRow:
    """What one rule does and how it can fail."""

    meaning: str
    fails: tuple[FaultKind, ...] = ()


COMBINES: dict[Combine, CombineRow] = {
    Combine.SUM: CombineRow(
        "Wordwise addition: floats in element order, integers as one whole total, which fails only "
        "if it does not fit.",
        (FaultKind.SCATTER_TOTAL,),
    ),
    Combine.MIN: CombineRow("Wordwise minimum."),
    Combine.MAX: CombineRow("Wordwise maximum."),
    Combine.LAST: CombineRow("The value replaces the element; the last in element order wins."),
}


class ModeKind(Enum):
    """The kinds of mode; the value is the stable spelling."""

    MAP = "map"
    REDUCE = "reduce"
    SCAN = "scan"
    SCATTER = "scatter"
    PREFIX = "prefix"
    GROUP = "group"


@dataclass(frozen=True, slots=True)
class Mode:
    """How a kernel executes over its domain: ``Mode.MAP``, ``Mode.REDUCE``, ``Mode.SCAN``,
    ``Mode.SCATTER(base, combine)``, ``Mode.PREFIX(combine)`` or ``Mode.GROUP(size)``.

    ``base``: the number of the input that is scattered into. ``size``: elements of a group. Each
    field is None where the kind has none."""

    kind: ModeKind
    base: int | None = None
    combine: Combine | None = None
    size: int | None = None

    MAP: ClassVar[Mode]
    REDUCE: ClassVar[Mode]
    SCAN: ClassVar[Mode]

    @staticmethod
    def SCATTER(base: int, combine: Combine) -> Mode:
        """Combine each element's value into the input ``base`` at its address."""
        return Mode(ModeKind.SCATTER, base=base, combine=combine)

    @staticmethod
    def PREFIX(combine: Combine) -> Mode:
        """Combine each element's value with every value before it."""
        return Mode(ModeKind.PREFIX, combine=combine)

    @staticmethod
    def GROUP(size: int) -> Mode:
        """Map in groups of ``size`` elements, which hand each other values."""
        return Mode(ModeKind.GROUP, size=size)

    @property
    def name(self) -> str:
        """Stable spelling used in manifests."""
        return self.kind.value

    @property
    def describe(self) -> str:
        """What the mode does, for help."""
        return MODES[self.kind].meaning

    def __str__(self) -> str:
        """As module text spells it: ``map``, ``scatter 0 sum``, ``prefix max``, ``group 64``."""
        parts = [self.name]
        parts += [f"{n:d}" for n in (self.base, self.size) if n is not None]
        parts += [self.combine.value] if self.combine is not None else []
        return " ".join(parts)


Mode.MAP = Mode(ModeKind.MAP)
Mode.REDUCE = Mode(ModeKind.REDUCE)
Mode.SCAN = Mode(ModeKind.SCAN)


@dataclass(frozen=True, slots=True)
class ModeRow:
    """What one kind of mode does, and which facts of its own it has."""

    meaning: str
    has_base: bool = False
    has_combine: bool = False
    has_size: bool = False
    fails: tuple[FaultKind, ...] = ()


MODES: dict[ModeKind, ModeRow] = {
    ModeKind.MAP: ModeRow("The entry runs once per element of the output domain."),
    ModeKind.REDUCE: ModeRow(
        "The entry runs per element of the first input; merge folds the results, in one fixed "
        "tree, into the single element of a Rows output."
    ),
    ModeKind.SCAN: ModeRow(
        "The entry runs per row of the first input, in order, reading the previous result through "
        "carried (init before the first), and writes each result to that row of the output."
    ),
    ModeKind.SCATTER: ModeRow(
        "The entry runs per element of the first input and yields an address into the base and a "
        "value; the output is the base with each value combined into its address.",
        has_base=True,
        has_combine=True,
    ),
    ModeKind.PREFIX: ModeRow(
        "The entry runs per row of the first input; each row of the output is its value combined "
        "with every value before it.",
        has_combine=True,
        fails=(FaultKind.OVERFLOW,),
    ),
    ModeKind.GROUP: ModeRow(
        "The entry runs once per element of the output domain, in groups of consecutive elements "
        "that hand each other values through exchange.",
        has_size=True,
    ),
}
