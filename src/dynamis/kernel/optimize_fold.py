"""Evaluates an operation on constants, by the reference evaluation itself.

In: an operation and the constant values of its operands. Out: the constant it gives; None where it
would fail, is none of arithmetic or of taking values apart, or gives a value too large to write.
"""

from __future__ import annotations

from collections.abc import Sequence

from . import op as ops
from .arithmetic import TABLE, Operation
from .tables import BinaryOp
from .types import StructDef, Type, Value, elements_of, part_at, words

MAX_FOLDED_WORDS = 256
"""The most words of a struct constant that folding makes: the text of one is as long as it."""


def folded(
    op: ops.Op, ty: Type, operands: Sequence[Value], structs: Sequence[StructDef]
) -> Value | None:
    """The value of ``op``, of type ``ty``, on ``operands``."""
    match op:
        case ops.Unary(operation, _):
            return _by_component(operation, ty, operands)
        case ops.Binary(BinaryOp.EQUAL | BinaryOp.NOT_EQUAL as operation, _, _):
            return _equality(operation, operands)
        case ops.Binary(operation, _, _):
            return _by_component(operation, ty, operands)
        case ops.Intrinsic(intrinsic, _):
            return _by_component(intrinsic, ty, operands)
        case ops.Construct():
            if ty.is_struct and words(structs, ty) > MAX_FOLDED_WORDS:
                return None
            return Value(ty, tuple(word for part in operands for word in part.words))
        case ops.Extract(_, index):
            return part_of(operands[0], index, structs)
        case ops.Subscript():
            indexed = elements_of(structs, operands[0].ty)
            if indexed is None:
                return None
            return part_of(operands[0], clamped(operands[1], indexed[1]), structs)
    return None


def clamped(index: Value, count: int) -> int:
    """The number of one of ``count`` parts that an Int constant names."""
    return min(max(int(index.numbers[0]), 0), count - 1)


def part_of(whole: Value, index: int, structs: Sequence[StructDef]) -> Value | None:
    """Part ``index`` of a constant; None where it has none."""
    part = part_at(structs, whole.ty, index)
    if part is None:
        return None
    start, ty = part
    return Value(ty, whole.words[start : start + words(structs, ty)])


def _by_component(operation: Operation, ty: Type, operands: Sequence[Value]) -> Value | None:
    """An operation of the tables, component by component; scalars beside others broadcast."""
    row = TABLE.get(operation, {}).get(operands[0].ty.component)
    if row is None:
        return None
    columns = [value.numbers * (ty.lanes // value.ty.lanes) for value in operands]
    given = list(zip(*columns, strict=True))
    if row.fault is not None and any(row.fault(*numbers) is not None for numbers in given):
        return None
    return Value.of(ty, [row.evaluate(*numbers) for numbers in given])


def _equality(operation: BinaryOp, operands: Sequence[Value]) -> Value | None:
    """Of whole values: equal when every word is; not equal when any word is not."""
    a, b = operands
    row = TABLE[operation].get(a.ty.component)
    if row is None:
        return None
    over = all if operation is BinaryOp.EQUAL else any
    return Value.of(Type.BOOL, over(map(row.evaluate, a.numbers, b.numbers)))
