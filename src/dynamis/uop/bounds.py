"""Bounds of integer and bool nodes: exact, conservative, and sound under wrap-around.

A rule computes the interval of the exact result from the intervals of the sources. Where that
does not fit a fixed-width dtype the operation may wrap, and the dtype's own bounds are the
answer. An empty interval (low > high) says that the node never has a value, as in a loop of no
iterations; any answer is right for what is computed from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from dynamis.dtype import Val
from dynamis.uop.node import Uop
from dynamis.uop.ops import Op, Ops
from dynamis.uop.payload import ParamArg

Interval = tuple[int, int]
Bounds = tuple[int | float, int | float]

_UNKNOWN: Final[Bounds] = (-math.inf, math.inf)
_BOTH: Final[Interval] = (0, 1)


def bounds(u: Uop) -> Bounds:
    """(vmin, vmax) of `u`: exact integers, or (-inf, inf) unless it is an integer or bool.

    Computed when asked for and remembered on the node.
    """
    found = u._bounds
    if found is not None:
        return found
    stack = [u]
    while stack:
        n = stack[-1]
        if n._bounds is not None:
            stack.pop()
            continue
        dtype = n.dtype
        rule = _RULES.get(n.op) if dtype.is_int or dtype.is_bool else None
        if rule is None:
            n._bounds = dtype_bounds(n)
            stack.pop()
            continue
        missing = [s for s in n.src if s._bounds is None]
        if missing:
            stack += missing
            continue
        stack.pop()
        made = None if _misfit(n) else rule(n)
        n._bounds = made if made is not None and _fits(made, n) else dtype_bounds(n)
    found = u._bounds
    assert found is not None
    return found


def vmin(u: Uop) -> int | float:
    """A lower bound of u's value; -inf unless it is an integer or bool."""
    return bounds(u)[0]


def vmax(u: Uop) -> int | float:
    """An upper bound of u's value, symmetric to `vmin`."""
    return bounds(u)[1]


def dtype_bounds(u: Uop) -> Bounds:
    """The bounds that u's dtype gives alone."""
    dtype = u.dtype
    if isinstance(dtype, Val) and (dtype.is_int or dtype.is_bool):
        return (int(dtype.min), int(dtype.max))
    return _UNKNOWN


def cannot_wrap(u: Uop) -> bool:
    """Whether the exact result of the integer ALU node `u` always fits its dtype."""
    rule = _RULES.get(u.op)
    if rule is None or not u.dtype.is_int:
        return False
    for s in u.src:
        bounds(s)
    exact = rule(u)
    return exact is not None and _fits(exact, u)


def _misfit(u: Uop) -> bool:
    """Whether `u` is malformed: computed as an integer from what is none."""
    if u.op.is_alu:
        read = () if u.op.is_comparison else u.src
    else:
        read = u.src if u.op is Ops.STACK else u.src[:1] if u.op in _COUNTERS else ()
    return any(not (s.dtype.is_int or s.dtype.is_bool) for s in read)


_COUNTERS: Final = (Ops.RANGE, Ops.SPECIAL)


def _fits(b: Bounds, u: Uop) -> bool:
    dtype = u.dtype
    if u.op is Ops.PARAM or (isinstance(dtype, Val) and dtype.bits == 800):
        return True  # bounds that a caller stated, and integers without a width
    return isinstance(dtype, Val) and dtype.min <= b[0] and b[1] <= dtype.max


def _of(u: Uop) -> Interval:
    """The interval of a source that is an integer or bool, computed before."""
    return u._bounds  # type: ignore[return-value]  # finite for these dtypes


def _const(u: Uop) -> Interval | None:
    if u.arg.is_invalid:
        return None
    return int(u.arg.value), int(u.arg.value)


def _param(u: Uop) -> Interval | None:
    return u.arg.vmin_vmax if isinstance(u.arg, ParamArg) else None


def _counter(u: Uop) -> Interval:
    return 0, _of(u.src[0])[1] - 1


def _loaded(u: Uop) -> Interval | None:
    place = u.src[0]  # a register whose writer stated the bounds of what it holds
    while place.op in (Ops.INDEX, Ops.AFTER):
        place = place.src[0]
    return _param(place) if place.op is Ops.BUFFER and len(u.src) == 1 else None


def _lanes(u: Uop) -> Interval | None:
    if not u.src:
        return None
    return min(_of(s)[0] for s in u.src), max(_of(s)[1] for s in u.src)


def _first(u: Uop) -> Interval | None:
    s = u.src[0]
    return None if s.dtype.is_ptr or s.dtype.is_float else _of(s)


def _neg(u: Uop) -> Interval | None:
    low, high = _of(u.src[0])
    return (low, high) if u.dtype.is_bool else (-high, -low)


def _add(u: Uop) -> Interval:
    (a, b), (c, d) = _of(u.src[0]), _of(u.src[1])
    return (max(a, c), max(b, d)) if u.dtype.is_bool else (a + c, b + d)


def _sub(u: Uop) -> Interval:
    if u.dtype.is_bool:
        return _BOTH
    (a, b), (c, d) = _of(u.src[0]), _of(u.src[1])
    return a - d, b - c


def _mul(u: Uop) -> Interval:
    return _product(_of(u.src[0]), _of(u.src[1]))


def _product(x: Interval, y: Interval) -> Interval:
    corners = [x[0] * y[0], x[0] * y[1], x[1] * y[0], x[1] * y[1]]
    return min(corners), max(corners)


def _muladd(u: Uop) -> Interval:
    p = _product(_of(u.src[0]), _of(u.src[1]))
    c = _of(u.src[2])
    return (max(p[0], c[0]), max(p[1], c[1])) if u.dtype.is_bool else (p[0] + c[0], p[1] + c[1])


def _max(u: Uop) -> Interval:
    (a, b), (c, d) = _of(u.src[0]), _of(u.src[1])
    return max(a, c), max(b, d)


def _and(u: Uop) -> Interval | None:
    (a, b), (c, d) = _of(u.src[0]), _of(u.src[1])
    if u.dtype.is_bool:
        return a & c, b & d
    if a >= 0 and c >= 0:
        return 0, min(b, d)
    if a >= 0:
        return 0, b
    return (0, d) if c >= 0 else None


def _or(u: Uop) -> Interval | None:
    (a, b), (c, d) = _of(u.src[0]), _of(u.src[1])
    if u.dtype.is_bool:
        return a | c, b | d
    return (max(a, c), _ones(max(b, d))) if a >= 0 and c >= 0 else None


def _xor(u: Uop) -> Interval | None:
    (a, b), (c, d) = _of(u.src[0]), _of(u.src[1])
    if u.dtype.is_bool:
        return (a ^ c, a ^ c) if a == b and c == d else _BOTH
    if c == d == -1:
        return ~b, ~a
    if isinstance(u.dtype, Val) and u.dtype.is_unsigned and c == d == u.dtype.max:
        return c - b, c - a
    return (0, _ones(max(b, d))) if a >= 0 and c >= 0 else None


def _ones(high: int) -> int:
    return (1 << max(high, 0).bit_length()) - 1


def _shl(u: Uop) -> Interval | None:
    (a, b), n = _of(u.src[0]), _count(u)
    return None if n is None else (a << n, b << n)


def _shr(u: Uop) -> Interval | None:
    (a, b), n = _of(u.src[0]), _count(u)
    if n is None:
        return min(a, 0), max(b, -1)
    return a >> n, b >> n


def _count(u: Uop) -> int | None:
    """The constant shift count, taken modulo the width."""
    low, high = _of(u.src[1])
    return low % u.dtype.scalar.bits if low == high else None


def _cdiv(u: Uop) -> Interval | None:
    return _quotient(u, lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))


def _floordiv(u: Uop) -> Interval | None:
    return _quotient(u, lambda a, b: a // b)


def _quotient(u: Uop, divide: Callable[[int, int], int]) -> Interval | None:
    (a, b), (c, d) = _of(u.src[0]), _of(u.src[1])
    if a > b or c == d == 0:
        return 0, 0
    if c > d or c <= 0 <= d:
        return None
    corners = [divide(x, y) for x in (a, b) for y in (c, d)]
    return min(corners), max(corners)


def _cmod(u: Uop) -> Interval | None:
    (a, b), (c, d) = _of(u.src[0]), _of(u.src[1])
    if c == d == 0:
        return a, b
    if c > d or c <= 0 <= d:
        return None
    least, most = min(abs(c), abs(d)), max(abs(c), abs(d)) - 1
    if -least < a and b < least:
        return a, b
    return (0 if a >= 0 else max(a, -most)), (0 if b <= 0 else min(b, most))


def _floormod(u: Uop) -> Interval | None:
    (a, b), (c, d) = _of(u.src[0]), _of(u.src[1])
    if c == d == 0:
        return a, b
    if c > d or a > b or c <= 0 <= d:
        return None
    if c == d and a // c == b // c:
        return a % c, b % c
    if c > 0:
        if a >= 0:
            return (a, b) if b < c else (0, min(b, d - 1))
        return 0, d - 1
    if b <= 0:
        return (a, b) if a > d else (max(a, c + 1), 0)
    return c + 1, 0


def _less(u: Uop) -> Interval:
    (a, b), (c, d) = _of(u.src[0]), _of(u.src[1])
    return int(b < c), int(a < d)


def _not_equal(u: Uop) -> Interval:
    (a, b), (c, d) = _of(u.src[0]), _of(u.src[1])
    return int(b < c or d < a), int(not a == b == c == d)


def _equal(u: Uop) -> Interval:
    low, high = _not_equal(u)
    return 1 - high, 1 - low


def _where(u: Uop) -> Interval:
    (low, high), (a, b), (c, d) = (_of(s) for s in u.src)
    if low == high:
        return (a, b) if low else (c, d)
    return min(a, c), max(b, d)


def _cast(u: Uop) -> Interval | None:
    if not (u.src[0].dtype.is_int or u.src[0].dtype.is_bool):
        return None
    low, high = _of(u.src[0])
    if u.dtype.is_bool:
        return int(low > 0 or high < 0), int(low != 0 or high != 0)
    return low, high


_RULES: Final[dict[Op, Callable[[Uop], Interval | None]]] = {
    Ops.CONST: _const,
    Ops.PARAM: _param,
    Ops.BIND: _first,
    Ops.LOAD: _loaded,
    Ops.RANGE: _counter,
    Ops.SPECIAL: _counter,
    Ops.STACK: _lanes,
    Ops.INDEX: _first,
    Ops.AFTER: _first,
    Ops.NEG: _neg,
    Ops.TRUNC: _first,
    Ops.ADD: _add,
    Ops.SUB: _sub,
    Ops.MUL: _mul,
    Ops.MULACC: _muladd,
    Ops.MAX: _max,
    Ops.AND: _and,
    Ops.OR: _or,
    Ops.XOR: _xor,
    Ops.SHL: _shl,
    Ops.SHR: _shr,
    Ops.CDIV: _cdiv,
    Ops.CMOD: _cmod,
    Ops.FLOORDIV: _floordiv,
    Ops.FLOORMOD: _floormod,
    Ops.CMPLT: _less,
    Ops.CMPNE: _not_equal,
    Ops.CMPEQ: _equal,
    Ops.WHERE: _where,
    Ops.CAST: _cast,
}
