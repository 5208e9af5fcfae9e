"""What an iteration adds to each carried Int of a loop, where that is a constant or between two.

Goes in: a Loop. Comes out: for each word of its carried value the least and the most that one
iteration adds, or None. A counter thereby has bounds that hold before it is lowered: from its start
and the loop's length. They prove most overflow checks of counters away.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass

from ..kernel import op as ir
from ..kernel.module import Block
from ..kernel.tables import BinaryOp
from ..kernel.types import StructDef, Type, part_at, words


@dataclass(frozen=True, slots=True)
class _Moved:
    """Carried word ``word`` plus something in ``low``…``high``."""

    word: int
    low: int
    high: int


_Known = _Moved | int | None
_Values = dict[int, tuple[_Known, ...]]
Growth = tuple[int, int]


def growth(
    loop: ir.Loop, carried: Type, outer: MutableMapping[int, Type], structs: Sequence[StructDef]
) -> list[Growth | None]:
    """(least, most) that an iteration adds to each word of the carried value, or None.

    ``outer`` has the types of the values defined before the loop."""
    count = words(structs, carried)
    start = tuple(_Moved(k, 0, 0) for k in range(count))
    types: ChainMap[int, Type] = ChainMap({}, outer)
    results = _block(loop.body, {}, types, start, structs) or (None,) * count
    return [
        (r.low, r.high) if isinstance(r, _Moved) and r.word == k else None
        for k, r in enumerate(results)
    ]


def _block(
    block: Block,
    values: _Values,
    types: MutableMapping[int, Type],
    carried: tuple[_Known, ...],
    structs: Sequence[StructDef],
) -> tuple[_Known, ...] | None:
    for instruction in block.body:
        types[instruction.id] = instruction.ty
        found: tuple[_Known, ...] | None = None
        match instruction.op:
            case ir.Carried():
                found = carried
            case ir.Const(value) if value.ty == Type.INT:
                found = (int(value.numbers[0]),)
            case ir.Construct(parts):
                found = tuple(
                    w
                    for part in parts
                    for w in values.get(part, (None,) * words(structs, types[part]))
                )
            case ir.Extract(whole, k) if whole in values:
                part = part_at(structs, types[whole], k)
                if part is not None:
                    found = values[whole][part[0] : part[0] + words(structs, part[1])]
            case ir.Binary(BinaryOp.ADD | BinaryOp.SUB as op, a, b) if a in values and b in values:
                if instruction.ty == Type.INT:
                    found = (_added(op, values[a][0], values[b][0]),)
            case ir.If(_, then, otherwise):
                arms = [_block(arm, values, types, carried, structs) for arm in (then, otherwise)]
                if arms[0] is not None and arms[1] is not None:
                    found = tuple(_joined(x, y) for x, y in zip(*arms, strict=True))
        if found is not None:
            values[instruction.id] = found
    return values.get(block.result)


def _added(op: BinaryOp, a: _Known, b: _Known) -> _Known:
    if isinstance(b, _Moved) and op is BinaryOp.ADD:
        a, b = b, a
    if not isinstance(a, _Moved) or not isinstance(b, int):
        return None
    delta = b if op is BinaryOp.ADD else -b
    return _Moved(a.word, a.low + delta, a.high + delta)


def _joined(x: _Known, y: _Known) -> _Known:
    if isinstance(x, _Moved) and isinstance(y, _Moved) and x.word == y.word:
        return _Moved(x.word, min(x.low, y.low), max(x.high, y.high))
    return x if x == y and type(x) is type(y) else None
