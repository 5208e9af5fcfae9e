"""Constant folding, and the small helpers that the symbolic rules are written with.

A constant is a CONST, or a STACK of CONSTs: one value for each lane.
"""

from __future__ import annotations

from typing import Any

from dynamis.dtype import Dtype, Number, Val, bool_
from dynamis.uop.errors import UopError
from dynamis.uop.evaluate import evaluate, has_evaluation
from dynamis.uop.node import Uop, const_node, node
from dynamis.uop.ops import Op, Ops


def is_constant(u: Uop) -> bool:
    """Whether `u` is a CONST or a STACK of CONSTs, of numbers."""
    if u.op is Ops.CONST:
        return not u.arg.is_invalid
    return u.op is Ops.STACK and bool(u.src) and all(is_number(s) for s in u.src)


def is_number(u: Uop) -> bool:
    """Whether `u` is a CONST of a number: not the Invalid sentinel."""
    return u.op is Ops.CONST and not u.arg.is_invalid


def result_dtype(op: Op, src: tuple[Uop, ...]) -> Dtype:
    """The dtype of an ALU op over `src`."""
    dtype = src[1].dtype if op is Ops.WHERE else src[0].dtype
    if op.is_comparison:
        return bool_ if dtype.count == 1 else bool_.vec(dtype.count)
    return dtype


def alu(op: Op, *src: Uop) -> Uop:
    """The ALU node of `op` over `src`."""
    return node(op, result_dtype(op, src), src)


def fold(op: Op, *src: Uop) -> Uop | None:
    """The constant that `op` over constants is, lane by lane; None unless all are constants."""
    return fold_to(op, result_dtype(op, src), src)


def fold_to(op: Op, dtype: Dtype, src: tuple[Uop, ...]) -> Uop | None:
    """`fold` for a given dtype of the result: CAST and BITCAST need one."""
    if not isinstance(dtype, Val) or not all(is_constant(s) for s in src):
        return None
    operand = src[-1].dtype
    if not isinstance(operand, Val) or not has_evaluation(op, operand):
        return None
    source = operand.scalarize()
    lanes = {len(s.src) for s in src if s.op is Ops.STACK}
    if len(lanes) > 1:
        return None
    try:
        if not lanes:
            values = [s.arg.value for s in src]
            return const_node(dtype, evaluate(op, dtype, values, source=source))
        made = []
        for k in range(lanes.pop()):
            values = [(s.src[k] if s.op is Ops.STACK else s).arg.value for s in src]
            made.append(const_node(dtype, evaluate(op, dtype, values, source=source)))
        return node(Ops.STACK, dtype, tuple(made))
    except UopError:
        return None  # a bitcast between dtypes without a pattern, a cast to void


def fold_node(u: Uop) -> Uop | None:
    """`u` as a constant, when it is an elementwise node over constants."""
    for s in u.src:  # the cheap test first: most nodes have a source that is no constant
        if s.op is not Ops.CONST and s.op is not Ops.STACK:
            return None
    return fold_to(u.op, u.dtype, u.src)


def num(like: Uop, value: Number) -> Uop:
    """The constant `value` of like's dtype, wrapped to it."""
    dtype = like.dtype
    assert isinstance(dtype, Val)
    return const_node(dtype, value)


def truth(like: Uop, value: bool) -> Uop:
    """The bool constant `value` with like's lanes."""
    count = like.dtype.count
    return const_node(bool_ if count == 1 else bool_.vec(count), value)


def val(c: Uop) -> Any:
    """The number of a CONST."""
    return c.arg.value


def in_range(like: Uop, value: int) -> bool:
    """Whether like's integer dtype holds `value`."""
    dtype = like.dtype
    assert isinstance(dtype, Val)
    return bool(dtype.bits == 800 or dtype.min <= value <= dtype.max)
