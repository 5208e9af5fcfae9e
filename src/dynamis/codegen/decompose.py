"""Ops that no machine has, written in ops that rendering knows, with the same total meaning."""

from __future__ import annotations

from ..dtype import float32, int32
from ..uop import Ops, Uop, alu_binary, alu_ternary, cast, const_of_dtype, graph_rewrite
from ..uop.elementary import expanded

_ELEMENTARY = {Ops.EXP2: "exp2", Ops.LOG2: "log2", Ops.SIN: "sin", Ops.POW: "pow"}
_EXACT = 2**24
"""Whole numbers up to here are f32s."""


def decompose(root: Uop) -> Uop:
    """``root`` without FLOORDIV, FLOORMOD, EXP2, LOG2, SIN and POW, and with clamps before
    conversions."""
    return graph_rewrite(_decompose, root, name="decompose")


def _decompose(u: Uop) -> Uop | None:
    if u.op is Ops.WHERE:
        return _clamped_conversion(u)
    if u.op in _ELEMENTARY:
        return expanded(_ELEMENTARY[u.op], *u.src)
    return _floor_division(u) if u.op in (Ops.FLOORDIV, Ops.FLOORMOD) else None


def _floor_division(u: Uop) -> Uop:
    a, b = u.src
    quotient = alu_binary(op=Ops.CDIV, lhs=a, rhs=b)
    rest = alu_binary(op=Ops.CMOD, lhs=a, rhs=b)
    if a.vmin >= 0 and b.vmin >= 0:
        return quotient if u.op is Ops.FLOORDIV else rest
    # truncation and floor differ where a rest is left and the signs of rest and divisor differ
    apart = rest.ne(0) & (rest < 0).ne(b < 0)
    if u.op is Ops.FLOORMOD:
        return apart.where(rest + b, rest)  # x % 0 is x, as it should be: b adds nothing
    return (apart & b.ne(0)).where(quotient - 1, quotient)


def _clamped_conversion(u: Uop) -> Uop | None:
    """min(max(int(x), 0), limit) as int(min(max(x, 0), float(limit))): a conversion must saturate
    and send NaN to 0, which costs more than the clamps, unless what it converts is in range."""
    test, limit, raised = u.src
    if u.dtype is not int32 or test.op is not Ops.CMPLT or test.src != (limit, raised):
        return None
    if raised.op is not Ops.MAX or raised.src[0].op is not Ops.CAST:
        return None
    conversion, low = raised.src
    x = conversion.src[0]
    if low.op is not Ops.CONST or low.arg.value != 0 or x.dtype is not float32:
        return None
    if not 0 <= limit.vmin <= limit.vmax <= _EXACT:
        return None
    zero, most = const_of_dtype(float32, 0.0), cast(src=limit, dtype=float32)
    # NaN is not above 0
    positive = alu_ternary(op=Ops.WHERE, a=zero < x, b=x, c=zero)
    return cast(src=(most < positive).where(most, positive), dtype=int32)
