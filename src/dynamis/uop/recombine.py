"""Quotients and rests of one division, put together again inside a sum.

(x % c)*m + (x // c)*(c*m)      -> x*m
(x % c)*m + (x // c % d)*(c*m)  -> (x % (c*d))*m        c, d > 0

for floor and for truncating division alike, constant divisors or not (the first). Each rest looks
up its partner among the terms, so the order of the sum does not matter.
"""

from __future__ import annotations

from typing import Final

from dynamis.uop.node import Uop, const_node, node
from dynamis.uop.ops import Op, Ops
from dynamis.uop.sums import Linear, fits, linear_form, reduced

QUOTIENT_OF: Final = {Ops.FLOORMOD: Ops.FLOORDIV, Ops.CMOD: Ops.CDIV}
"""The division that belongs to a rest."""


def recombine(form: Linear) -> Linear:
    """`form` with every such pair of terms merged. The result may hold nodes not yet simplified."""
    while True:
        for t in form.terms:
            if t.op in QUOTIENT_OF:
                made = _with_quotient(form, t) or _with_inner_rest(form, t)
                if made is not None:
                    form = made
                    break
        else:
            return form


def constant(u: Uop) -> int | None:
    """The value of an integer CONST, else None."""
    if u.op is not Ops.CONST:
        return None
    value = u.arg.value
    return value if value.__class__ is int else None


def _quotient(op: Op, x: Uop, c: int, form: Linear) -> Uop:
    """The node of x divided by the constant c, a quotient of a quotient as one (divisors > 0)."""
    if x.op is op and (a := constant(x.src[1])) is not None and a > 0 < c:
        if fits(form.dtype, a * c, a * c):
            x, c = x.src[0], a * c
    return node(op, form.dtype, (x, const_node(form.dtype, c)))


def _merged(form: Linear, drop: tuple[Uop, Uop], add: Uop, weight: int) -> Linear | None:
    """The form with two terms replaced by add * weight; None where lanes would have to merge."""
    added = linear_form(add)
    if added.lanes is not None:
        return None
    terms = {t: c for t, c in form.terms.items() if t not in drop}
    for t, c in added.terms.items():
        terms[t] = terms.get(t, 0) + c * weight
    lanes = None if form.lanes is None else list(form.lanes)
    return reduced(form.dtype, terms, form.constant + added.constant * weight, lanes)


def _with_quotient(form: Linear, rest: Uop) -> Linear | None:
    terms = form.terms
    x, d = rest.src
    m = terms[rest]
    c = constant(d)
    op = QUOTIENT_OF[rest.op]
    if c is not None:
        q = _quotient(op, x, c, form)
        if q in terms and _same(form, terms[q], m * c):
            return _merged(form, (rest, q), x, m)
        return None
    q = node(op, x.dtype, (x, d))
    for product in (node(Ops.MUL, x.dtype, (q, d)), node(Ops.MUL, x.dtype, (d, q))):
        if product in terms and _same(form, terms[product], m):
            return _merged(form, (rest, product), x, m)
    return None


def _with_inner_rest(form: Linear, rest: Uop) -> Linear | None:
    """`rest` is x // a % d: look for x % a."""
    terms = form.terms
    y, d = rest.src
    c = constant(d)
    if c is None or c <= 0 or y.op is not QUOTIENT_OF[rest.op]:
        return None
    a = constant(y.src[1])
    if a is None or a <= 0 or not fits(form.dtype, a * c, a * c):
        return None
    inner = node(rest.op, y.dtype, y.src)
    if inner not in terms or not _same(form, terms[inner] * a, terms[rest]):
        return None
    wide = node(rest.op, y.dtype, (y.src[0], const_node(form.dtype, a * c)))
    return _merged(form, (rest, inner), wide, terms[inner])


def _same(form: Linear, a: int, b: int) -> bool:
    """Whether two coefficients are one in the ring of the dtype."""
    bits = form.dtype.scalar.bits
    return a == b if bits == 800 else (a - b) % (1 << bits) == 0
