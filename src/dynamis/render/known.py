"""What a value is known to be by the form of its node.

In: a node. Out: for a float the interval that it is a number in, and for an index whether it may be
negative. Clamps are seen, in the forms that processors have instructions for.
"""

from __future__ import annotations

from ..uop import Ops, Uop

Interval = tuple[float, float]
_DEPTH = 4
"""Nodes that are looked through: a clamp between two numbers takes three."""


def interval(u: Uop, depth: int = _DEPTH) -> Interval | None:
    """The least and the most of a float; None where it may be NaN, or where nothing is known."""
    if u.op is Ops.CONST:
        value = float(u.arg.value)
        return (value, value) if value == value else None
    if u.op is Ops.CAST and not u.src[0].dtype.is_float:
        return float(u.src[0].vmin), float(u.src[0].vmax)
    if u.op is not Ops.WHERE or depth == 0:
        return None
    test, a, b = u.src
    chosen, other = interval(a, depth - 1), interval(b, depth - 1)
    if test.op is Ops.CMPLT and test.src == (b, a) and other is not None:
        # b < a ? a : b is at least b, and b where a is NaN
        return other[0], max(other[1], float("inf") if chosen is None else chosen[1])
    if chosen is None or other is None:
        return None
    if test.op is Ops.CMPLT and test.src == (a, b):  # a < b ? a : b
        return min(chosen[0], other[0]), min(chosen[1], other[1])
    return min(chosen[0], other[0]), max(chosen[1], other[1])


def never_negative(u: Uop, depth: int = 2 * _DEPTH) -> bool:
    """Whether an index in bounds is made of terms that are never negative, by sums, products and
    picks; being in bounds it has not wrapped."""
    if u.vmin >= 0:
        return True
    if depth == 0:
        return False
    match u.op:
        case Ops.ADD | Ops.MUL | Ops.STACK:
            return all(never_negative(s, depth - 1) for s in u.src)
        case Ops.WHERE:
            return all(never_negative(s, depth - 1) for s in u.src[1:])
        case Ops.MAX:
            return any(s.vmin >= 0 for s in u.src)
        case Ops.CAST if u.src[0].dtype.is_float:
            known = interval(u.src[0])
            return known is not None and known[0] >= 0.0
        case Ops.CAST if u.src[0].dtype.is_int:
            return never_negative(u.src[0], depth - 1)
    return False
