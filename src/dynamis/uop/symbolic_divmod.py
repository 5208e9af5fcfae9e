"""Quotients and rests of sums: the strategies that take division out of index arithmetic.

The dividend is read as a linear form (see `sums`). A strategy applies only where that form is
*exact*, its value never leaving the dtype: then the laws of the integers hold at fixed widths
too. Floor division obeys them all; truncating division agrees with it where the dividend and each
dividend that a strategy makes are at least 0, and only there is it touched.

Sources: floor identities of Graham, Knuth and Patashnik, *Concrete Mathematics*, section 3.2:
floor((n + floor(x)) / m) = floor((n + x) / m) and what follows from it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Final, NamedTuple

from dynamis.uop.matcher import Rule
from dynamis.uop.node import Uop, const_node, node
from dynamis.uop.ops import Op, Ops
from dynamis.uop.recombine import constant
from dynamis.uop.sums import Linear, fits, interval, linear_form, reduced, write
from dynamis.uop.upat import INTS, UPat

Terms = dict[Uop, int]

_FLOOR: Final = (Ops.FLOORDIV, Ops.FLOORMOD)
_QUOTIENTS: Final = (Ops.FLOORDIV, Ops.CDIV)
_RESTS: Final = {Ops.FLOORDIV: Ops.FLOORMOD, Ops.CDIV: Ops.CMOD}
_ALL: Final = (Ops.FLOORDIV, Ops.FLOORMOD, Ops.CDIV, Ops.CMOD)
_CHOICES: Final = 6  # residues are tried in every combination for so many terms


class Division:
    """A quotient or rest of a linear form by a constant c > 1, ready to be taken apart."""

    __slots__ = ("c", "constant", "dtype", "floor", "is_div", "op", "terms")

    def __init__(self, op: Op, form: Linear, c: int) -> None:
        self.op = op
        self.dtype = form.dtype
        self.c = c
        self.is_div = op in _QUOTIENTS
        self.floor = op in _FLOOR
        self.terms = dict(form.terms)
        if form.lanes is not None:
            row = tuple([const_node(form.dtype, v) for v in form.lanes])
            self.terms[node(Ops.STACK, form.dtype, row)] = 1
        self.constant = form.constant

    def write(self, terms: Terms, offset: int) -> Uop:
        """The node of sum(terms) + offset."""
        lanes = None
        for t in terms:
            if t.op is Ops.STACK and all(constant(s) is not None for s in t.src):
                lanes = [terms[t] * s.arg.value for s in t.src]
                terms = {k: c for k, c in terms.items() if k is not t}
                break
        return write(reduced(self.dtype, terms, offset, lanes))

    def usable(self, terms: Terms, offset: int) -> bool:
        """Whether sum(terms) + offset may be a dividend: exact, and at least 0 unless floor."""
        low, high = interval(terms, offset)
        return fits(self.dtype, low, high) and (self.floor or low >= 0)

    def again(self, terms: Terms, offset: int, c: int) -> Uop:
        """The node of (sum(terms) + offset) divided by c, the quotient or the rest as here."""
        if c == 1:
            return self.write(terms, offset) if self.is_div else const_node(self.dtype, 0)
        src = (self.write(terms, offset), const_node(self.dtype, c))
        return node(self.op, self.dtype, src)

    def added(self, terms: Terms, offset: int, u: Uop, weight: int = 1) -> Uop:
        """The node of sum(terms) + offset + u * weight."""
        more = dict(terms)
        inner = linear_form(u)
        for t, c in inner.terms.items():
            more[t] = more.get(t, 0) + c * weight
        if inner.lanes is not None:
            row = tuple([const_node(self.dtype, v) for v in inner.lanes])
            t = node(Ops.STACK, self.dtype, row)
            more[t] = more.get(t, 0) + weight
        return self.write(more, offset + inner.constant * weight)


def _constant_quotient(u: Uop) -> Uop | None:
    """x // c -> q, x % c -> x - q*c, where the bounds of x lie in one period."""
    x, c = u.src[0], constant(u.src[1])
    if not c:
        return None
    low, high = x.vmin, x.vmax
    if low > high:
        return None
    if u.op in _FLOOR:
        q, last = low // c, high // c
    else:
        q, last = _cut(low, c), _cut(high, c)
    if q != last:
        return None
    if u.op in _QUOTIENTS:
        return const_node(x.dtype, q)  # type: ignore[arg-type]  # an integer dtype
    if q == 0:
        return x
    form = linear_form(x)
    lanes = None if form.lanes is None else list(form.lanes)
    return write(reduced(form.dtype, form.terms, form.constant - q * c, lanes))


def _cut(a: int, c: int) -> int:
    q = abs(a) // abs(c)
    return q if (a < 0) == (c < 0) else -q


def _division(u: Uop) -> Division | None:
    """`u` as a division by a constant above 1 of a form whose laws are those of the integers."""
    c = constant(u.src[1])
    if c is None or c < 2:
        return None
    made = Division(u.op, linear_form(u.src[0]), c)
    return made if made.usable(made.terms, made.constant) else None


def _one_period(d: Division) -> Uop | None:
    """Each coefficient f = q*c + r; where sum(r*t) stays in one period, only q*t and r*t are left.

    r and r - c are both tried, in every combination of up to six terms.
    """
    c = d.c
    # no choice of residues spans less than the nearest ones do
    if _span(d.terms, c) >= c:
        return None
    offset = d.constant % c
    for residues in _residue_choices(d.terms, c):
        low, high = interval(residues, offset)
        if low // c != high // c:
            continue
        if not d.is_div:
            return d.write(residues, offset - low // c * c)
        whole = {t: (f - residues[t]) // c for t, f in d.terms.items()}
        return d.write(whole, d.constant // c + low // c)
    return None


def _span(terms: Terms, c: int) -> int:
    total = 0
    for t, f in terms.items():
        r = f % c
        total += min(r, c - r) * max(0, t.vmax - t.vmin)
    return total


def _residue_choices(terms: Terms, c: int) -> Iterator[Terms]:
    first = {t: f % c for t, f in terms.items()}
    yield first
    near = {t: r if 2 * r <= c else r - c for t, r in first.items()}
    if near != first:
        yield near
    free = [t for t, r in first.items() if r]
    if 1 <= len(free) <= _CHOICES:
        for flips in itertools.product((0, c), repeat=len(free)):
            made = dict(first)
            for t, flip in zip(free, flips, strict=True):
                made[t] -= flip
            yield made


def _multiples_leave(d: Division) -> Uop | None:
    """(x*(k*c) + y + c0) // c -> x*k + (y + c0 % c) // c + c0 // c; a rest drops multiples."""
    c = d.c
    out = {t: f // c for t, f in d.terms.items() if f % c == 0}
    stay = {t: f for t, f in d.terms.items() if f % c}
    offset = d.constant % c
    if not out and offset == d.constant:
        return None
    if not d.usable(stay, offset):
        offset = d.constant  # the constant may have to stay
        if not out or not d.usable(stay, offset):
            return None
    inner = d.again(stay, offset, c)
    return d.added(out, (d.constant - offset) // c, inner) if d.is_div else inner


def _rest_of_residues(d: Division) -> Uop | None:
    """(x*f) % c -> (x*r) % c, r the residue of f that is nearest to 0."""
    c = d.c
    first = {t: f % c for t, f in d.terms.items()}
    near = {t: r if 2 * r <= c else r - c for t, r in first.items() if r}
    if near == d.terms or not d.usable(near, d.constant):
        return None
    return d.again(near, d.constant, c)


def _rest_of_rests(d: Division) -> Uop | None:
    """((x % e)*f + y) % c -> (x*f + y) % c, where c divides e*f."""
    for t, f in d.terms.items():
        if t.op is not Ops.FLOORMOD:
            continue
        e = constant(t.src[1])
        if not e or e * f % d.c:
            continue
        inner = linear_form(t.src[0])
        if not inner.is_exact():
            continue
        terms = {k: v for k, v in d.terms.items() if k is not t}
        for k, v in inner.terms.items():
            terms[k] = terms.get(k, 0) + v * f
        terms = {k: v for k, v in terms.items() if v}
        offset = d.constant + inner.constant * f
        if d.usable(terms, offset):
            return d.again(terms, offset, d.c)
    return None


def _quotient_of_rest(d: Division) -> Uop | None:
    """(x % (k*c)) // c -> (x // c) % k"""
    if len(d.terms) != 1 or d.constant:
        return None
    ((t, f),) = d.terms.items()
    if t.op is not Ops.FLOORMOD or f != 1:
        return None
    e = constant(t.src[1])
    if e is None or e <= 0 or e % d.c:
        return None
    inner = node(Ops.FLOORDIV, d.dtype, (t.src[0], const_node(d.dtype, d.c)))
    return node(Ops.FLOORMOD, d.dtype, (inner, const_node(d.dtype, e // d.c)))


def _quotient_of_quotient(d: Division) -> Uop | None:
    """(x // e + c0) // c -> (x + c0*e) // (e*c), e > 0"""
    if len(d.terms) != 1:
        return None
    ((t, f),) = d.terms.items()
    if t.op is not d.op or f != 1:
        return None
    e = constant(t.src[1])
    if e is None or e <= 0 or not fits(d.dtype, e * d.c, e * d.c):
        return None
    inner = Division(d.op, linear_form(t.src[0]), e)
    offset = inner.constant + d.constant * e
    if not inner.usable(inner.terms, inner.constant) or not inner.usable(inner.terms, offset):
        return None
    return inner.again(inner.terms, offset, e * d.c)


def _common_factor(d: Division) -> Uop | None:
    """(x*g + c0) // (c*g) -> (x + c0 // g) // c; the rest is ((x + c0 // g) % c)*g + c0 % g."""
    g = math.gcd(d.c, *d.terms.values())
    return _by_factor(d, g, {}) if g > 1 and d.terms else None


def _nested_factor(d: Division) -> Uop | None:
    """(x*g + y) // (c*g) -> x // c, where y stays in one period of g; the rest keeps y."""
    for g in sorted({abs(f) for f in d.terms.values()}, reverse=True):
        if 1 < g < d.c and d.c % g == 0:
            small = {t: f for t, f in d.terms.items() if f % g}
            if small and (made := _by_factor(d, g, small)) is not None:
                return made
    return None


def _by_factor(d: Division, g: int, small: Terms) -> Uop | None:
    """Divide by g first: `small` are the terms that g does not divide."""
    offset = d.constant % g
    low, high = interval(small, offset)
    period = low // g
    if period != high // g:
        return None
    big = {t: f // g for t, f in d.terms.items() if t not in small}
    whole = d.constant // g + period
    if not d.usable(big, whole):
        return None
    inner = d.again(big, whole, d.c // g)
    return inner if d.is_div else d.added(small, offset - period * g, inner, g)


def _negative_divisor(u: Uop) -> Uop | None:
    """x // -c -> -x // c, x % -c -> -(-x % c)"""
    c = constant(u.src[1])
    if c is None or c > -2:
        return None
    form = linear_form(u.src[0])
    dtype = form.dtype
    opposite = Linear(dtype, {t: -f for t, f in form.terms.items()}, -form.constant)
    if not (form.is_exact() and opposite.is_exact() and fits(dtype, -c, -c)):
        return None
    made = node(u.op, dtype, (write(opposite), const_node(dtype, -c)))
    return made if u.op is Ops.FLOORDIV else node(Ops.NEG, dtype, (made,))


def factors(u: Uop) -> list[Uop]:
    """The factors of a product, left to right; `u` alone when it is none."""
    out: list[Uop] = []
    stack = [u]
    while stack:
        n = stack.pop()
        if n.op is Ops.MUL:
            stack += reversed(n.src)
        else:
            out.append(n)
    return out


def without_factor(u: Uop, d: Uop) -> Uop | None:
    """u / d where d is one of u's factors: the product of the others, in order."""
    if u is d:
        return const_node(u.dtype, 1)  # type: ignore[arg-type]  # integers
    found = factors(u)
    if d not in found:
        return None
    found.remove(d)
    return product(found)


def product(us: Iterable[Uop]) -> Uop:
    """The left-deep product of at least one node."""
    first, *rest = us
    for u in rest:
        first = node(Ops.MUL, first.dtype, (first, u))
    return first


def _by_variable(u: Uop) -> Uop | None:
    """(x*d + y) // d -> x + y // d, (x*d + y) % d -> y % d, for an index divisor d > 0."""
    x, d = u.src
    if constant(d) is not None or d.vmin <= 0 or u.dtype.scalar.bits != 800:
        return None
    form = linear_form(x)
    out: Terms = {}
    whole = 0
    stay: Terms = {}
    for t, f in form.terms.items():
        part = without_factor(t, d)
        if part is None:
            stay[t] = f
        elif (k := constant(part)) is not None:
            whole += f * k
        else:
            out[part] = out.get(part, 0) + f
    if form.lanes is not None or not (out or whole):
        return None
    left = Linear(form.dtype, stay, form.constant)
    rest = node(u.op, u.dtype, (write(left), d))
    if u.op is Ops.FLOORMOD:
        return rest
    return node(Ops.ADD, u.dtype, (write(Linear(form.dtype, out, whole)), rest))


def _below_variable(u: Uop) -> Uop | None:
    """x // d -> 0, x % d -> x, where 0 <= x < d."""
    x, d = u.src
    if constant(d) is not None or x.vmin < 0:
        return None
    own = x.op is Ops.RANGE and x.src[0] is d
    if not own and x.vmax >= d.vmin:
        return None
    return const_node(x.dtype, 0) if u.op in _QUOTIENTS else x  # type: ignore[arg-type]  # integers


def _shared_factor(u: Uop) -> Uop | None:
    """(x*g) // (y*g) -> x // y, (x*g) % (y*g) -> (x % y)*g, for an index factor g that is not 0."""
    x, d = u.src
    if d.op is not Ops.MUL or u.dtype.scalar.bits != 800:
        return None
    for g in factors(d):
        if g.op is Ops.CONST or g.vmin <= 0 <= g.vmax:
            continue
        a, b = without_factor(x, g), without_factor(d, g)
        if a is not None and b is not None:
            made = node(u.op, u.dtype, (a, b))
            return made if u.op is Ops.FLOORDIV else node(Ops.MUL, u.dtype, (made, g))
    return None


def _rule(text: str, ops: tuple[Op, ...], action: Callable[[Uop], Uop | None]) -> Rule:
    return Rule(
        text,
        UPat(ops, dtype=INTS, src=(UPat.var("x"), UPat.var("y")), name="u"),
        lambda u: action(u),
    )


class Strategy(NamedTuple):
    """One way to take a division by a constant above 1 apart: its algebra, its ops, its action."""

    text: str
    ops: tuple[Op, ...]
    action: Callable[[Division], Uop | None]


STRATEGIES: Final = [
    Strategy("(x % (k*c)) // c -> (x // c) % k", (Ops.FLOORDIV,), _quotient_of_rest),
    Strategy("((x % e)*f + y) % c -> (x*f + y) % c", (Ops.FLOORMOD,), _rest_of_rests),
    Strategy("(x*(q*c+r)) // c -> x*q + k, % c -> x*r - k*c", _ALL, _one_period),
    Strategy("(x*(k*c) + y) // c -> x*k + y // c, % c -> y % c", _ALL, _multiples_leave),
    Strategy("(x*f) % c -> (x*r) % c", (Ops.FLOORMOD, Ops.CMOD), _rest_of_residues),
    Strategy("(x*g + c0) // (c*g) -> (x + c0 // g) // c", _ALL, _common_factor),
    Strategy("(x*g + y) // (c*g) -> x // c  (0 <= y < g)", _ALL, _nested_factor),
    Strategy("(x // e + c0) // c -> (x + c0*e) // (e*c)", _QUOTIENTS, _quotient_of_quotient),
]
"""The strategies in the order in which they are tried."""

_BY_OP: Final = {op: [s.action for s in STRATEGIES if op in s.ops] for op in _ALL}


def take_apart(u: Uop) -> Uop | None:
    """What the first strategy that applies makes of `u`, or None: its form is read once for all."""
    d = _division(u)
    if d is not None:
        for action in _BY_OP[u.op]:
            made = action(d)
            if made is not None and made is not u:
                return made
    return None


_by_constant = UPat(_ALL, dtype=INTS, src=(UPat.var("x"), UPat(Ops.CONST)), name="u")

DIVMOD: Final = [
    Rule(
        "x // c -> q, x % c -> x - q*c  (one period)", _by_constant, lambda u: _constant_quotient(u)
    ),
    Rule("x // c, x % c by strategies", _by_constant, lambda u: take_apart(u)),
    _rule("x // -c -> -x // c, x % -c -> -(-x % c)", _FLOOR, _negative_divisor),
    _rule("x // d -> 0, x % d -> x  (0 <= x < d)", _ALL, _below_variable),
    _rule("(x*d + y) // d -> x + y // d, % d -> y % d", _FLOOR, _by_variable),
    _rule("(x*g) // (y*g) -> x // y, % (y*g) -> (x % y)*g", _FLOOR, _shared_factor),
]
"""The rules on division of sums, in order."""
