"""Small groups of nodes that are one machine operation: what to call and over which operands.

Lowering writes floor, ceil, minimum and <= in terms of the ops the IR has; here they are
recognised again, so that each costs what the machine's own instruction costs.
"""

from __future__ import annotations

from typing import NamedTuple

from ..dtype import float32, float64
from ..uop import Ops, Uop, const_of_dtype
from .lookups import lookup


class Fused(NamedTuple):
    """``name`` of an LLVM intrinsic or fcmp predicate, over ``operands``;
    or "lookup", in ``table`` at the one operand."""

    name: str
    operands: tuple[Uop, ...]
    table: tuple[float, ...] = ()


def fused(u: Uop) -> Fused | None:
    """The one operation that ``u`` and the nodes under it are, if they are."""
    match u.op:
        case Ops.INDEX:
            found = lookup(u)
            return None if found is None else Fused("lookup", (found.at,), found.table)
        case Ops.WHERE if u.dtype.is_float:
            return _rounding(u)
        case Ops.WHERE if u.dtype.is_int:
            test, one, other = u.src
            if test.op is Ops.CMPLT and set(test.src) == {one, other}:
                least = test.src == (one, other)  # a < b ? a : b
                signed = "u" if u.dtype.is_unsigned else "s"
                return Fused(signed + ("min" if least else "max"), (one, other))
        case Ops.NEG if u.dtype.is_float and u.src[0].op is Ops.MAX:
            a, b = map(_negated_operand, u.src[0].src)
            if a is not None and b is not None:
                return Fused("minimum", (a, b))  # -max(-a, -b)
        case Ops.OR:
            less, same = u.src if u.src[0].op is Ops.CMPLT else u.src[::-1]
            if less.op is Ops.CMPLT and same.op is Ops.CMPEQ and less.src[0].dtype.is_float:
                if set(less.src) == set(same.src):
                    return Fused("ole", less.src)  # a < b | a == b
    return None


def _negated_operand(u: Uop) -> Uop | None:
    """x where ``u`` is -x and x needs no computing."""
    if u.op is Ops.CONST:
        return const_of_dtype(float32 if u.dtype is float32 else float64, -u.arg.value)
    return u.src[0] if u.op is Ops.NEG else None


def _rounding(u: Uop) -> Fused | None:
    # x < t ? t - 1 : t and t < x ? t + 1 : t, with t = trunc(x)
    test, moved, whole = u.src
    if (
        whole.op is not Ops.TRUNC
        or test.op is not Ops.CMPLT
        or set(test.src) != {*whole.src, whole}
    ):
        return None
    delta = _step(moved, whole)
    if test.src[1] is whole and delta == -1.0:
        return Fused("floor", whole.src)
    if test.src[0] is whole and delta == 1.0:
        return Fused("ceil", whole.src)
    return None


def _step(moved: Uop, whole: Uop) -> float | None:
    """c where ``moved`` is ``whole + c`` or ``whole - -c``."""
    if moved.op not in (Ops.ADD, Ops.SUB) or whole not in moved.src:
        return None
    other = moved.src[1] if moved.src[0] is whole else moved.src[0]
    if other.op is not Ops.CONST or (moved.op is Ops.SUB and moved.src[0] is not whole):
        return None
    value = float(other.arg.value)
    return -value if moved.op is Ops.SUB else value


def negated(u: Uop) -> Uop | None:
    """x where the bool ``u`` is ``not x``."""
    if u.op in (Ops.CMPNE, Ops.XOR) and u.dtype.is_bool:
        for x, c in (u.src, u.src[::-1]):
            if c.op is Ops.CONST and c.dtype.is_bool and c.arg.value:
                return x
    return None
