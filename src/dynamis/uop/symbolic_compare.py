"""Comparisons of integer sums and quotients with constants.

The sum is read as a linear form (see `sums`) and has to be exact, its value never leaving the
dtype, and so has the one that is written: order is not kept by wrap-around, and what a constant
keeps within the dtype (x - y + 6, all of them unsigned) may leave it without.
"""

from __future__ import annotations

import math
from typing import Final

from dynamis.uop.bounds import cannot_wrap
from dynamis.uop.matcher import Rule
from dynamis.uop.node import Uop, const_node, node
from dynamis.uop.ops import Ops
from dynamis.uop.recombine import constant
from dynamis.uop.sums import Linear, fits, interval, is_sum, linear_form, write
from dynamis.uop.upat import INTS, UPat


def _less(u: Uop, form: Linear, below: int) -> Uop | None:
    """The node of form < below; None where the constant does not fit or the form may wrap."""
    if not (form.is_exact() and fits(form.dtype, below, below)):
        return None
    return node(Ops.CMPLT, u.dtype, (write(form), const_node(form.dtype, below)))


def _greater(u: Uop, form: Linear, above: int) -> Uop | None:
    """The node of above < form; None where the constant does not fit or the form may wrap."""
    if not (form.is_exact() and fits(form.dtype, above, above)):
        return None
    return node(Ops.CMPLT, u.dtype, (const_node(form.dtype, above), write(form)))


def _read(x: Uop) -> Linear | None:
    """The form of a sum or a product with a constant, when it is exact."""
    if not (is_sum(x) or (x.op is Ops.MUL and constant(x.src[1]) is not None)):
        return None
    form = linear_form(x)
    return form if form.terms and form.is_exact() else None


def _divided(form: Linear, g: int) -> Linear:
    return Linear(form.dtype, {t: c // g for t, c in form.terms.items()}, 0)


def _sum_below(u: Uop) -> Uop | None:
    """x*g + k < c -> x < ceil((c-k)/g); where every coefficient is negative, turned round."""
    x, c = u.src[0], constant(u.src[1])
    form = _read(x)
    if c is None or form is None:
        return None
    g = math.gcd(*form.terms.values())
    negative = all(f < 0 for f in form.terms.values())
    if form.constant == 0 and g == 1 and not negative:
        return None
    rest = c - form.constant
    if negative:  # -x*g < n is x > -n/g
        return _greater(u, _divided(form, -g), -rest // g)
    return _less(u, _divided(form, g), -(-rest // g))


def _sum_above(u: Uop) -> Uop | None:
    """c < x*g + k -> floor((c-k)/g) < x; where every coefficient is negative, turned round."""
    c, x = constant(u.src[0]), u.src[1]
    form = _read(x)
    if c is None or form is None:
        return None
    g = math.gcd(*form.terms.values())
    negative = all(f < 0 for f in form.terms.values())
    if form.constant == 0 and g == 1 and not negative:
        return None
    rest = c - form.constant
    if negative:  # n < -x*g is x < -n/g
        return _less(u, _divided(form, -g), -(rest // g))
    return _greater(u, _divided(form, g), rest // g)


def _small_part(form: Linear, n: int) -> tuple[Linear, int] | None:
    """(x, n/g) with form < n the same as x < n/g: what is left out stays in one period of g."""
    for g in sorted({abs(f) for f in form.terms.values()}, reverse=True):
        if g == 1 or n % g:
            continue
        small = {t: f for t, f in form.terms.items() if f % g}
        if not small:
            continue
        low, high = interval(small, 0)
        if low // g != high // g:
            continue
        big = {t: f // g for t, f in form.terms.items() if t not in small}
        return Linear(form.dtype, big, 0), n // g - low // g
    return None


def _small_part_below(u: Uop) -> Uop | None:
    """x*g + y < k*g -> x < k  (0 <= y < g)"""
    c = constant(u.src[1])
    form = _read(u.src[0])
    if c is None or form is None or (found := _small_part(form, c - form.constant)) is None:
        return None
    return _less(u, *found)


def _small_part_above(u: Uop) -> Uop | None:
    """k*g - 1 < x*g + y -> k - 1 < x  (0 <= y < g)"""
    c = constant(u.src[0])
    form = _read(u.src[1])
    if c is None or form is None or (found := _small_part(form, c + 1 - form.constant)) is None:
        return None
    return _greater(u, found[0], found[1] - 1)


def _floors(q: Uop) -> int | None:
    """The divisor d > 0 of a quotient that rounds down."""
    d = constant(q.src[1])
    if d is None or d <= 0 or (q.op is Ops.CDIV and q.src[0].vmin < 0):
        return None
    return d


def _quotient_below(u: Uop) -> Uop | None:
    """x // d < c -> x < c*d"""
    q, c = u.src[0], constant(u.src[1])
    d = _floors(q)
    if c is None or d is None or not fits(q.dtype, c * d, c * d):
        return None
    return node(Ops.CMPLT, u.dtype, (q.src[0], const_node(q.dtype, c * d)))  # type: ignore[arg-type]  # integers


def _quotient_above(u: Uop) -> Uop | None:
    """c < x // d -> (c+1)*d - 1 < x"""
    c, q = constant(u.src[0]), u.src[1]
    d = _floors(q)
    if c is None or d is None:
        return None
    above = (c + 1) * d - 1
    if not fits(q.dtype, above, above):
        return None
    return node(Ops.CMPLT, u.dtype, (const_node(q.dtype, above), q.src[0]))  # type: ignore[arg-type]  # integers


def _simplex(u: Uop) -> Uop | None:
    """0 < x*c0 + y*c1 -> 0 < x + y, x*c0 + y*c1 < 1 -> x + y < 1  (all of them >= 0)"""
    below = constant(u.src[1]) == 1
    if not below and constant(u.src[0]) != 0:
        return None
    form = _read(u.src[0] if below else u.src[1])
    if form is None or form.constant:
        return None
    if all(f == 1 for f in form.terms.values()):
        return None
    if any(f < 0 or t.vmin < 0 for t, f in form.terms.items()):
        return None
    plain = Linear(form.dtype, dict.fromkeys(form.terms, 1), 0)
    return _less(u, plain, 1) if below else _greater(u, plain, 0)


def _both_negated(u: Uop, x: Uop, y: Uop) -> Uop | None:
    """-x < -y -> y < x"""
    a, b = u.src
    return node(Ops.CMPLT, u.dtype, (y, x)) if cannot_wrap(a) and cannot_wrap(b) else None


_x, _y = UPat.var("x", INTS), UPat.var("y", INTS)
_c = UPat(Ops.CONST, dtype=INTS)
_quotient = UPat((Ops.FLOORDIV, Ops.CDIV), dtype=INTS)
_below = UPat(Ops.CMPLT, src=(_x, _c), name="u")
_above = UPat(Ops.CMPLT, src=(_c, _x), name="u")

RULES: Final = [
    Rule("x*g + k < c -> x < ceil((c-k)/g)", _below, lambda u: _sum_below(u)),
    Rule("c < x*g + k -> floor((c-k)/g) < x", _above, lambda u: _sum_above(u)),
    Rule("x*g + y < k*g -> x < k  (0 <= y < g)", _below, lambda u: _small_part_below(u)),
    Rule("k*g - 1 < x*g + y -> k - 1 < x  (0 <= y < g)", _above, lambda u: _small_part_above(u)),
    Rule(
        "x // d < c -> x < c*d",
        UPat(Ops.CMPLT, src=(_quotient, _c), name="u"),
        lambda u: _quotient_below(u),
    ),
    Rule(
        "c < x // d -> (c+1)*d - 1 < x",
        UPat(Ops.CMPLT, src=(_c, _quotient), name="u"),
        lambda u: _quotient_above(u),
    ),
    Rule("0 < x*c0 + y -> 0 < x + y  (all >= 0)", _above, lambda u: _simplex(u)),
    Rule("x*c0 + y < 1 -> x + y < 1  (all >= 0)", _below, lambda u: _simplex(u)),
    Rule(
        "-x < -y -> y < x",
        UPat(Ops.CMPLT, src=(-_x, -_y), name="u"),
        lambda u, x, y: _both_negated(u, x, y),
    ),
]
"""The rules on comparisons of integers, in order."""
