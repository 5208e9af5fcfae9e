"""What a float is known to be by the form of its node: a number, and between which bounds.

In: a node. Out: an interval, where every value of the node is a number in it. Clamps are seen, in
the forms that processors have instructions for.
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
