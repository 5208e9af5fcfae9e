"""Symbolic integers: plain nodes, read as factors and terms, compared, multiplied, broadcast.

A concrete value is a CONST, a symbolic one any other integer node. Nothing here recurses, so
expressions of any depth will do; results are exact in the ring of the dtype.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from dynamis.uop.build import const_int
from dynamis.uop.errors import UopError
from dynamis.uop.folding import num
from dynamis.uop.node import Uop
from dynamis.uop.ops import Op, Ops
from dynamis.uop.symbolic import simplify
from dynamis.uop.traverse import toposort

_PARTS = frozenset((Ops.ADD, Ops.MUL, Ops.STACK, Ops.SHL))


def _value(u: Uop) -> int | None:
    """The value of an integer CONST, else None."""
    if u.op is not Ops.CONST or not u.dtype.is_int or u.arg.is_invalid:
        return None
    return int(u.arg.value)


def const_factor(u: Uop) -> int:
    """An integer that divides `u`: best effort, perhaps negative, and 0 for a constant 0.

    The value of a constant, the constant factor of a product (the left one first), the gcd of a
    sum's terms and of a STACK's lanes (0 for none), else 1.
    """
    known: dict[Uop, int] = {}
    for n in toposort(u, gate=lambda n: n.op is Ops.ADD or n.op is Ops.STACK):
        if (value := _value(n)) is not None:
            known[n] = value
        elif n.op is Ops.ADD or n.op is Ops.STACK:
            known[n] = math.gcd(*[known[s] for s in n.src])
        elif n.op is Ops.MUL:
            left, right = (_value(s) for s in n.src)
            known[n] = left if left is not None else right if right is not None else 1
        else:
            known[n] = 1
    return known[u]


def divides(u: Uop, n: int) -> Uop | None:
    """q with q * n equal to `u`, found in its syntax; None where it cannot be proved.

    Looks into constants, STACKs and sums (every part must divide), products (one factor, the left
    one first) and shifts by a constant. Raises UopError for n = 0.
    """
    if n == 0:
        raise UopError("nothing is divided by 0")
    if n == 1:
        return u
    known: dict[Uop, Uop | None] = {}
    for s in toposort(u, gate=lambda s: s.op in _PARTS):
        known[s] = _divided(s, n, known)
    return known[u]


def _divided(u: Uop, n: int, known: dict[Uop, Uop | None]) -> Uop | None:
    if (value := _value(u)) is not None:
        return num(u, value // n) if value % n == 0 else None
    if u.op is Ops.ADD or u.op is Ops.STACK:
        parts = [known[s] for s in u.src]
        if not parts or None in parts:
            return None
        return _with(u, [p for p in parts if p is not None])
    if u.op is Ops.MUL:
        a, b = u.src
        if (left := known[a]) is not None:
            return left * b
        return None if (right := known[b]) is None else a * right
    if u.op is Ops.SHL and (count := _value(u.src[1])) is not None and u.dtype.is_int:
        factor = 1 << (count % u.dtype.scalar.bits)
        return u.src[0] * num(u, factor // n) if factor % n == 0 else None
    return None


def _with(u: Uop, src: Sequence[Uop]) -> Uop:
    from dynamis.uop.build import replace

    return replace(u, src=src)


def pop_const(u: Uop) -> tuple[Uop, int]:
    """(rest, c) of `rest + c`, c the right operand; (u, 0) of anything else."""
    if u.op is Ops.ADD and (c := _value(u.src[1])) is not None:
        return u.src[0], c
    return u, 0


def split_uop(u: Uop, op: Op) -> list[Uop]:
    """The leaves of the tree of `op` nodes at the top of `u`, left to right; [u] for another op."""
    out: list[Uop] = []
    stack = [u]
    while stack:
        n = stack.pop()
        if n.op is op:
            stack += reversed(n.src)
        else:
            out.append(n)
    return out


def usum(xs: Iterable[Uop]) -> Uop:
    """x0 + x1 + ..., from the left. Raises UopError for none."""
    first, *rest = _some(xs, "sum")
    for x in rest:
        first = first + x
    return first


def uprod(xs: Iterable[Uop]) -> Uop:
    """x0 * x1 * ..., from the left. Raises UopError for none."""
    first, *rest = _some(xs, "product")
    for x in rest:
        first = first * x
    return first


def _some(xs: Iterable[Uop], what: str) -> list[Uop]:
    out = list(xs)
    if not out:
        raise UopError(f"the {what} of nothing has no dtype")
    return out


def _factors(u: Uop) -> tuple[int, list[Uop]]:
    """A product as its constant and its other factors, left to right."""
    constant = 1
    others = []
    for x in split_uop(u, Ops.MUL):
        value = _value(x)
        if value is None:
            others.append(x)
        else:
            constant *= value
    return constant, others


def _joined(like: Uop, factors: Sequence[Uop], constant: int) -> Uop:
    """The product of factors and a constant, which stands last and is left out when 1."""
    if not factors:
        return num(like, constant)
    made = uprod(factors)
    return made if constant == 1 else made * num(like, constant)


def divide_exact(u: Uop, d: Uop) -> Uop | None:
    """q with q * d provably equal to `u`, or None. Raises UopError where d is the constant 0.

    `u` itself gives 1; a constant d is left to `divides`; of a sum every term must divide; a
    product loses the factors of d, and its constant must be a multiple of d's.
    """
    if u is d:
        return num(u, 1)
    if (n := _value(d)) is not None:
        return divides(u, n)
    parts = []
    for term in split_uop(u, Ops.ADD):
        part = num(term, 1) if term is d else _divided_product(term, d)
        if part is None:
            return None
        parts.append(part)
    return usum(parts)


def _divided_product(u: Uop, d: Uop) -> Uop | None:
    a, factors = _factors(u)
    b, divisors = _factors(d)
    if b == 0 or a % b:
        return None
    if a == 0:
        return num(u, 0)
    left = Counter(divisors)
    rest = []
    for x in factors:
        if left[x]:
            left[x] -= 1
        else:
            rest.append(x)
    return None if left.total() else _joined(u, rest, a // b)


def gcd(xs: Iterable[Uop]) -> Uop:
    """A common divisor in syntax: common symbolic factors times the gcd of the `const_factor`s.

    1 where an input's factor is 0 or cannot be split off. Raises UopError for no input.
    """
    inputs = _some(xs, "gcd")
    like = inputs[0]
    numbers = [const_factor(x) for x in inputs]
    if 0 in numbers:
        return num(like, 1)
    common: Counter[Uop] | None = None
    first: list[Uop] = []
    for x, n in zip(inputs, numbers, strict=True):
        rest = divides(x, n)
        if rest is None:
            return num(like, 1)
        factors = [f for f in split_uop(rest, Ops.MUL) if _value(f) != 1]
        if common is None:
            common, first = Counter(factors), factors
        else:
            common &= Counter(factors)
    assert common is not None
    kept = []
    for x in first:
        if common[x]:
            common[x] -= 1
            kept.append(x)
    return _joined(like, kept, math.gcd(*numbers))


def smax(xs: Iterable[Uop]) -> Uop:
    """The simplified maximum of `xs`; symbolic where it is undecided. UopError for none."""
    first, *rest = _some(xs, "maximum")
    for x in rest:
        first = first.maximum(x)
    return simplify(first)


def smin(xs: Iterable[Uop]) -> Uop:
    """The simplified minimum of `xs`; symbolic where it is undecided. UopError for none."""
    first, *rest = _some(xs, "minimum")
    if first.dtype.is_int and first.dtype.scalar.bits == 800:  # the negation does not wrap
        return simplify(smax([x * -1 for x in (first, *rest)]) * -1)
    for x in rest:
        first = first.minimum(x)
    return simplify(first)


def sprod(dims: Iterable[Uop]) -> Uop:
    """The simplified product of `dims`; 1 for none."""
    factors = list(dims)
    return simplify(uprod(factors)) if factors else const_int(1)


def broadcast_shape(shapes: Iterable[Sequence[Uop]]) -> tuple[Uop, ...]:
    """The shape that all of `shapes` stretch to, aligned from the last axis.

    An axis of size one stretches, and a missing axis is one of size one; a zero makes the result
    zero there, beside sizes zero and one only. A symbolic size goes with itself and with one.
    Raises UopError for shapes that do not fit.
    """
    rows = [[simplify(d) for d in shape] for shape in shapes]
    rank = max(map(len, rows), default=0)
    out = []
    for axis in range(rank, 0, -1):
        column = list(dict.fromkeys(row[-axis] for row in rows if len(row) >= axis))
        sizes = [d for d in column if _value(d) != 1]
        if len(sizes) > 1:
            told = " and ".join(_text(d) for d in sizes)
            raise UopError(f"shapes do not broadcast: {told} on axis {rank - axis}")
        out.append(sizes[0] if sizes else column[0])
    return tuple(out)


def _text(d: Uop) -> str:
    value = _value(d)
    return str(value) if value is not None else repr(d)


def unbind(u: Uop) -> tuple[Uop, int]:
    """(variable, value) of a BIND. Raises UopError unless it binds a PARAM to an integer."""
    if u.op is Ops.BIND and len(u.src) == 2 and u.src[0].op is Ops.PARAM:
        value = _value(u.src[1])
        if value is not None:
            return u.src[0], value
    raise UopError(f"{u!r} binds no variable to an integer")
