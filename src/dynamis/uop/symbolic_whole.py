"""Integers that pass through float coordinates come back exact: int(floor(float(i) + c)) -> i + c.

A float expression is *whole* when it is made of converted integers and integral constants, by
operations whose results stay within the integers that the format holds without gaps (up to
2**24 in float32). Then every step of it is exact, and the same value can be computed in integers.
"""

from __future__ import annotations

import math
from typing import Final

from dynamis.dtype import Val, bfloat16, float16, float32, float64, int32, int64, weakint
from dynamis.uop.matcher import Rule
from dynamis.uop.node import Uop, const_node, node
from dynamis.uop.ops import Ops
from dynamis.uop.upat import FLOATS, INTS, UPat

_DIGITS: Final = {float16: 11, bfloat16: 8, float32: 24, float64: 53}
"""Significand bits: a format holds every integer up to 2**digits in magnitude."""

_DEEPEST: Final = 8  # operations between the conversions to float and back


def whole(u: Uop, dtype: Val, depth: int = _DEEPEST) -> Uop | None:
    """The node of integer `dtype` whose value is exactly that of the float node `u`, or None.

    The sign of a zero is lost. `dtype` holds every integer of u's format's gapless range.
    """
    digits = _DIGITS.get(u.dtype)  # type: ignore[arg-type]  # a pointer is not in it
    if digits is None or depth == 0:
        return None
    made = _converted(u, dtype, depth)
    if made is None or made.vmin < -(2**digits) or made.vmax > 2**digits:
        return None
    return made


def _converted(u: Uop, dtype: Val, depth: int) -> Uop | None:
    op = u.op
    if op is Ops.CONST:
        value = u.arg.value
        if value.__class__ is not float or not value.is_integer() or abs(value) > 2**53:
            return None
        return const_node(dtype, int(value))
    if op is Ops.CAST:
        i = u.src[0]
        if not (i.dtype.is_int or i.dtype.is_bool):
            return None
        if dtype.bits != 800 and not _holds(dtype, i.vmin, i.vmax):
            return None
        return i.cast(dtype)
    if op is Ops.WHERE:
        arms = [whole(s, dtype, depth - 1) for s in u.src[1:]]
        return None if None in arms else node(op, dtype, (u.src[0], *arms))  # type: ignore[arg-type]  # none is None
    if op is Ops.TRUNC:
        return whole(u.src[0], dtype, depth - 1)
    if op not in _EXACT:
        return None
    parts = []
    for s in u.src:
        part = whole(s, dtype, depth - 1)
        if part is None:
            return None
        parts.append(part)
    return node(op, dtype, tuple(parts))


_EXACT: Final = frozenset((Ops.ADD, Ops.SUB, Ops.MUL, Ops.NEG, Ops.MAX))


def _to_integer(u: Uop, x: Uop) -> Uop | None:
    """int(x) -> the same in integers, for a whole x."""
    target = u.dtype
    if x.op is Ops.CONST or not isinstance(target, Val) or x.dtype.count != 1:
        return None
    # first without a width, where nothing wraps on the way
    exact = whole(x, weakint)
    if exact is None or not (target.bits == 800 or _holds(target, exact.vmin, exact.vmax)):
        return None
    limit = 2 ** _DIGITS[x.dtype]  # type: ignore[index]  # a float dtype, by the pattern
    wide = next(d for d in (target, int32, int64) if d.bits == 800 or _holds(d, -limit, limit))
    made = whole(x, wide)
    return None if made is None else made.cast(target)


def _holds(dtype: Val, low: int, high: int) -> bool:
    return bool(dtype.min <= low and high <= dtype.max)


def _trunc_of_whole(x: Uop) -> Uop | None:
    return x if x.op is not Ops.CONST and whole(x, weakint) is not None else None


def _floor_of_sum(a: Uop, c0: Uop, t: Uop, k: Uop) -> Uop | None:
    """floor(a + c0) -> a + floor(c0), for a whole `a` and a sum without rounding."""
    c = c0.arg.value if t.src[0].op is Ops.ADD else -c0.arg.value
    if t.src[0].src[0] is not a or k.arg.value != 1.0 or not math.isfinite(c) or c.is_integer():
        return None
    exact = whole(a, weakint)
    digits = _DIGITS[a.dtype]  # type: ignore[index]  # a float dtype, by the pattern
    _, denominator = c.as_integer_ratio()
    if exact is None or (max(abs(exact.vmin), abs(exact.vmax)) + abs(c)) * denominator > 2**digits:
        return None
    return a + const_node(a.dtype, float(math.floor(c)))  # type: ignore[arg-type]  # a float dtype


_a, _c0 = UPat.var("a", FLOATS), UPat.cvar("c0", FLOATS)
_s = UPat((Ops.ADD, Ops.SUB), dtype=FLOATS, src=(_a, _c0), name="s")
_t = UPat(Ops.TRUNC, dtype=FLOATS, src=(_s,), name="t")
_less = UPat(Ops.CMPLT, src=(_s, _t))

RULES: Final = [
    Rule(
        "int(x) -> x in integers  (whole)",
        UPat(Ops.CAST, dtype=INTS, src=(UPat.var("x", FLOATS),), name="u"),
        lambda u, x: _to_integer(u, x),
    ),
    Rule(
        "trunc(x) -> x  (whole)",
        UPat(Ops.TRUNC, dtype=FLOATS, src=(UPat.var("x"),)),
        lambda x: _trunc_of_whole(x),
    ),
    Rule(
        "floor(a + c0) -> a + floor(c0)  (a whole, the sum exact)",
        UPat(Ops.WHERE, dtype=FLOATS, src=(_less, UPat(Ops.SUB, src=(_t, UPat.cvar("k"))), _t)),
        lambda a, c0, t, k: _floor_of_sum(a, c0, t, k),
    ),
]
"""The rules on whole floats, in order."""
