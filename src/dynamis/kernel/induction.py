"""What an iteration does to each word of a loop's carried value: adds a constant, sets a Bool.

Goes in: a Loop. Comes out: for each way through its body, what is known of each word after one
iteration. ``growth`` bounds counters with it before they are lowered, which proves most of their
overflow checks away; ``trips.py`` finds how often a ``while`` can run.
"""

from __future__ import annotations

import itertools
from collections import ChainMap
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass

from . import op as ir
from .module import Block
from .tables import BinaryOp
from .types import StructDef, Type, part_at, word_types, words

MAX_WAYS = 32
"""Ways through a body that are told apart; further ones are joined."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Carried word ``word`` plus something in ``low``…``high``."""

    word: int
    low: int
    high: int


Known = Moved | int | bool | None
"""A carried word moved, a constant Int, a constant Bool, or nothing known."""
Way = tuple[Known, ...]
"""What is known of each word of a value."""
Growth = tuple[int, int]


def growth(
    loop: ir.Loop,
    carried: Type,
    outer: MutableMapping[int, Type],
    structs: Sequence[StructDef],
    constants: Mapping[int, int] | None = None,
) -> list[Growth | None]:
    """(least, most) that an iteration adds to each word of the carried value, or None.

    ``outer`` has the types of the values defined before the loop, ``constants`` the values of Ints
    among them that are known."""
    found: list[Growth | None] = []
    ways = iteration(loop, carried, outer, structs, constants)
    for k, column in enumerate(zip(*ways, strict=True)):
        joined = _join(column)
        if isinstance(joined, Moved) and joined.word == k:
            found.append((joined.low, joined.high))
        else:
            found.append(None)
    return found


def iteration(
    loop: ir.Loop,
    carried: Type,
    outer: MutableMapping[int, Type],
    structs: Sequence[StructDef],
    constants: Mapping[int, int] | None = None,
) -> list[Way]:
    """What one iteration makes of the carried words, for each way through the loop's body."""
    ways = Ways(structs, ChainMap({}, outer), kept(structs, carried))
    ways.constants = constants or {}
    return ways.block(loop.body)


def kept(structs: Sequence[StructDef], ty: Type) -> Way:
    """A carried value that has not changed."""
    return tuple(Moved(k, 0, 0) for k in range(words(structs, ty)))


class Ways:
    """What is known of the values of a block whose carried value is ``carried``.

    A value with several ways has them in the order of the If that told them apart, so that parts
    of one If that are put together again stay together."""

    def __init__(
        self, structs: Sequence[StructDef], types: MutableMapping[int, Type], carried: Way
    ):
        self.structs, self.types, self.carried = structs, types, carried
        self.values: dict[int, list[Way]] = {}
        self.branch: dict[int, int] = {}
        """The If whose ways a value has."""
        self.constants: Mapping[int, int] = {}
        """Ints defined before the block whose value is known."""

    def of(self, id: int) -> list[Way]:
        """Of a value defined in the block or, knowing at most that it is constant, before it."""
        if id in self.constants:
            return [(self.constants[id],)]
        return self.values.get(id) or [(None,) * words(self.structs, self.types[id])]

    def block(self, block: Block) -> list[Way]:
        for instruction in block.body:
            self.types[instruction.id] = instruction.ty
            found = self._instruction(instruction.id, instruction.ty, instruction.op)
            if found is not None:
                self.values[instruction.id] = found
        return self.of(block.result)

    def _instruction(self, id: int, ty: Type, op: ir.Op) -> list[Way] | None:
        match op:
            case ir.Carried():
                return [self.carried]
            case ir.Const(value):
                kinds = word_types(self.structs, value.ty)
                numbers = zip(kinds, value.numbers_in(self.structs), strict=True)
                return [tuple(_constant(kind, n) for kind, n in numbers)]
            case ir.Construct(parts):
                return self._construct(id, parts)
            case ir.Extract(whole, k) if whole in self.values:
                part = part_at(self.structs, self.types[whole], k)
                if part is None:
                    return None
                first, last = part[0], part[0] + words(self.structs, part[1])
                if whole in self.branch:
                    self.branch[id] = self.branch[whole]
                return [way[first:last] for way in self.values[whole]]
            case ir.Binary(BinaryOp.ADD | BinaryOp.SUB as operation, a, b) if ty == Type.INT:
                (x,), (y,) = _joined(self.of(a)), _joined(self.of(b))
                return [(_added(operation, x, y),)]
            case ir.If(_, then, otherwise):
                ways = self.block(then) + self.block(otherwise)
                if len(ways) > MAX_WAYS:
                    return [_joined(ways)]
                self.branch[id] = id
                return ways
        return None

    def _construct(self, id: int, parts: Sequence[int]) -> list[Way]:
        known = [self.of(part) for part in parts]
        branches = {self.branch[p] for p, ways in zip(parts, known, strict=True) if len(ways) > 1}
        if len(branches) != 1:
            known = [[_joined(ways)] for ways in known]
        else:
            self.branch[id] = branches.pop()
        count = max(map(len, known), default=1)
        rows = zip(*(ways * (count // len(ways)) for ways in known), strict=True)
        return [tuple(itertools.chain(*row)) for row in rows]


def _constant(kind: Type, number: float | int) -> Known:
    if kind == Type.BOOL:
        return bool(number)
    return int(number) if kind == Type.INT else None


def _added(op: BinaryOp, a: Known, b: Known) -> Known:
    if isinstance(b, Moved) and op is BinaryOp.ADD:
        a, b = b, a
    if not isinstance(a, Moved) or type(b) is not int:
        return None
    delta = b if op is BinaryOp.ADD else -b
    return Moved(a.word, a.low + delta, a.high + delta)


def _joined(ways: Sequence[Way]) -> Way:
    """What all of ``ways`` have in common."""
    return tuple(_join(column) for column in zip(*ways, strict=True))


def _join(column: Sequence[Known]) -> Known:
    first = column[0]
    if all(
        isinstance(k, Moved) and isinstance(first, Moved) and k.word == first.word for k in column
    ):
        moves = [k for k in column if isinstance(k, Moved)]
        return Moved(moves[0].word, min(m.low for m in moves), max(m.high for m in moves))
    return first if all(type(k) is type(first) and k == first for k in column) else None
