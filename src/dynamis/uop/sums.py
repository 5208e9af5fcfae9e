"""Sums as linear forms.

An integer sum is a combination of *terms* (nodes that are no sum) with integer coefficients, and
a constant. Every integer dtype is a ring, modulo 2**n for the fixed widths, so collecting a sum
into that form and writing it out again keeps its value under wrap-around. The form does not know
the order in which a sum was built, so neither does what is written from it: terms sorted, uniform
before varying and outer loops before inner ones (so that what a loop does not change stands
together), the constant for all lanes next to last, the constant for each lane last.

Collecting walks a sum once, sources first, and then pushes weights from the root down: linear in
the nodes of the sum, where writing out every product would be exponential on shared sums.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from dynamis.dtype import Dtype, Val, wrap
from dynamis.uop.bounds import bounds
from dynamis.uop.marks import SUM
from dynamis.uop.node import Uop, const_node, node
from dynamis.uop.ops import Ops
from dynamis.uop.order import compare_structure, order_key
from dynamis.uop.range_set import ranges
from dynamis.uop.shape import dims_or_none

Lanes = tuple[int, ...]


class Linear:
    """The value sum(coefficient * term) + constant + lanes[k] in lane k.

    `terms` maps a node that is no sum to its coefficient, never 0. `lanes` starts with 0; None
    says that the constant is the same in all lanes. Everything is modulo 2**n at fixed widths.
    `gates` are the gates and Invalids met on the way, whatever their coefficient.
    """

    __slots__ = ("constant", "dtype", "gates", "lanes", "terms")

    def __init__(
        self, dtype: Val, terms: dict[Uop, int], constant: int, lanes: Lanes | None = None
    ) -> None:
        self.gates: list[Uop] = []
        self.dtype = dtype
        self.terms = terms
        self.constant = constant
        self.lanes = lanes

    def is_exact(self) -> bool:
        """Whether the value written out is the exact one: it never leaves the dtype."""
        if self.lanes is not None:
            return False
        return fits(self.dtype, *interval(self.terms, self.constant))


def interval(terms: Mapping[Uop, int], constant: int) -> tuple[int, int]:
    """Bounds of the exact value of sum(terms) + constant, before any wrap-around."""
    low: Any = constant
    high: Any = constant
    for term, c in terms.items():
        a, b = term._bounds or bounds(term)
        if a > b:  # a loop of no iterations: any answer is right
            b = a
        if c > 0:
            low += c * a
            high += c * b
        else:
            low += c * b
            high += c * a
    return low, high


def fits(dtype: Dtype, low: int, high: int) -> bool:
    """Whether an integer dtype holds low..high; weakint holds everything."""
    assert isinstance(dtype, Val)
    return bool(dtype.bits == 800 or (dtype.min <= low and high <= dtype.max))


_SUM_OPS: Final = frozenset((Ops.ADD, Ops.SUB, Ops.NEG, Ops.MUL, Ops.SHL))


def is_sum(u: Uop) -> bool:
    """Whether `u` is an integer node that a linear form looks through."""
    op = u.op
    if op is Ops.ADD or op is Ops.SUB or op is Ops.NEG:
        return u.dtype.is_int
    return (op is Ops.MUL or op is Ops.SHL) and _factor(u) is not None


def _factor(u: Uop) -> int | None:
    """The constant of a product that distributes over a sum.

    Only index products do (weakint): in a fixed width, where nodes become instructions, it would
    multiply each term alone.
    """
    if u.dtype.scalar.bits != 800 or not u.dtype.is_int:
        return None
    c = u.src[1]
    if u.op is Ops.MUL:
        if c.op is not Ops.CONST:
            c = u.src[0]
            if c.op is not Ops.CONST:
                return None
        value = c.arg.value
        return value if value.__class__ is int else None
    if c.op is not Ops.CONST:
        return None
    value = c.arg.value
    return 1 << value if value.__class__ is int and 0 <= value < 800 else None


def linear_form(
    root: Uop, memo: Mapping[Uop, Uop] | None = None, whole: Collection[Uop] = ()
) -> Linear:
    """The linear form of the integer node `root`.

    `memo` says what nodes have become: it is looked up for everything under the root. Sums in
    `whole` are terms: nobody looks through them.
    """
    dtype = root.dtype
    terms: dict[Uop, int] = {}
    constant = 0
    lanes: list[int] | None = None
    if not is_sum(root) and root.op not in _WITH_CONSTANTS:
        assert isinstance(dtype, Val)
        return Linear(dtype, {root: 1}, 0)
    gates: list[Uop] = []
    weights: dict[Uop, int] = {root: 1}
    for n in _users_first(root, memo, whole):
        w = weights.pop(n)
        op = n.op
        found: tuple[tuple[Uop, int], ...]
        if not is_sum(n):
            found = ((n, w),)  # the root itself is a term
        elif op is Ops.ADD:
            found = ((n.src[0], w), (n.src[1], w))
        elif op is Ops.SUB:
            found = ((n.src[0], w), (n.src[1], -w))
        elif op is Ops.NEG:
            found = ((n.src[0], -w),)
        else:
            factor = _factor(n)
            assert factor is not None
            at = 1 if n.src[1].op is not Ops.CONST else 0
            found = ((n.src[at], w * factor),)
        for s, v in found:
            if memo is not None and s in memo:
                s = memo[s]
            if (
                s.op in _SUM_OPS and s is not n and s.dtype is dtype and is_sum(s)
                and s not in whole
            ):  # fmt: skip
                weights[s] = weights.get(s, 0) + v
                continue
            op = s.op
            if op is Ops.CONST and s.arg.value.__class__ is int:
                constant += v * s.arg.value
            elif op is Ops.MUL and (parts := _scaled(s)) is not None:
                base, factor, offset = parts
                constant += v * offset
                terms[base] = terms.get(base, 0) + v * factor
            elif op is Ops.STACK and (row := _numbers(s)) is not None:
                if lanes is None:
                    lanes = [v * x for x in row]
                elif len(lanes) == len(row):
                    lanes = [a + v * b for a, b in zip(lanes, row, strict=True)]
                else:
                    terms[s] = terms.get(s, 0) + v
            else:
                if (op is Ops.WHERE and _is_invalid(s.src[2])) or op is Ops.CONST:
                    gates.append(s)
                terms[s] = terms.get(s, 0) + v
    form = reduced(dtype, terms, constant, lanes)
    if gates:
        form.gates = gates
    return form


def _is_invalid(u: Uop) -> bool:
    return u.op is Ops.CONST and bool(u.arg.is_invalid)


def _lifted(form: Linear) -> Uop:
    """A sum of gates as one gate: it is valid where each of them is."""
    dtype = form.dtype
    gates = dict.fromkeys(form.gates)
    valid: Uop | None = None
    terms = {t: c for t, c in form.terms.items() if t not in gates}
    rest = write(Linear(dtype, terms, form.constant, form.lanes))
    for gate in gates:
        if gate.op is Ops.CONST:
            return gate
        cond, x, _ = gate.src
        valid = cond if valid is None else node(Ops.AND, cond.dtype, (valid, cond))
        c = const_node(dtype, form.terms.get(gate, 0))
        rest = node(Ops.ADD, dtype, (rest, node(Ops.MUL, dtype, (x, c))))
    assert valid is not None
    return node(Ops.WHERE, dtype, (valid, rest, next(iter(gates)).src[2]))


def reduced(dtype: Dtype, terms: dict[Uop, int], constant: int, lanes: list[int] | None) -> Linear:
    """The form of coefficients and constants: as the dtype holds them, zeros left out."""
    assert isinstance(dtype, Val)
    if lanes is not None:
        first = lanes[0]
        constant += first
        lanes = [x - first for x in lanes]
    if dtype.scalar.bits != 800:
        mask, half = (1 << dtype.scalar.bits) - 1, 1 << (dtype.scalar.bits - 1)
        # coefficients around 0, so that -1 shows at unsigned dtypes too
        terms = {t: ((c + half) & mask) - half for t, c in terms.items()}
        constant = int(wrap(constant, dtype.lane))
        if lanes is not None:
            lanes = [int(wrap(x, dtype.lane)) for x in lanes]
    if 0 in terms.values():
        terms = {t: c for t, c in terms.items() if c}
    row = tuple(lanes) if lanes is not None and any(lanes) else None
    return Linear(dtype, terms, constant, row)


def _users_first(root: Uop, memo: Mapping[Uop, Uop] | None, whole: Collection[Uop]) -> list[Uop]:
    """The sum nodes under `root`, each before the sum nodes it uses."""
    dtype = root.dtype
    order: list[Uop] = []
    seen = {root}
    stack: list[Any] = []
    n, rest = root, iter(root.src if is_sum(root) else ())
    while True:
        for s in rest:
            if memo is not None and s in memo:
                s = memo[s]
            if (
                s.op in _SUM_OPS and s not in seen and s.dtype is dtype and is_sum(s)
                and s not in whole
            ):  # fmt: skip
                seen.add(s)
                stack.append(n)
                stack.append(rest)
                n, rest = s, iter(s.src)
                break
        else:
            order.append(n)
            if not stack:
                order.reverse()
                return order
            rest = stack.pop()
            n = stack.pop()


def _scaled(u: Uop) -> tuple[Uop, int, int] | None:
    """A product with a constant as (base, factor, offset): base * factor + offset.

    At fixed widths the base may be a sum in normal form; its constant leaves.
    """
    x, c = u.src
    if c.op is not Ops.CONST:
        x, c = c, x
        if c.op is not Ops.CONST:
            return None
    factor = c.arg.value
    if factor.__class__ is not int:
        return None
    offset = 0
    if x.op is Ops.ADD and x.src[1].op is Ops.CONST and x.src[1].arg.value.__class__ is int:
        offset = factor * x.src[1].arg.value
        x = x.src[0]
    if x.op is Ops.MUL and (inner := _scaled(x)) is not None:
        return inner[0], factor * inner[1], offset + factor * inner[2]
    return x, factor, offset


def _numbers(u: Uop) -> Lanes | None:
    """The values of a STACK of integer constants."""
    out = []
    for s in u.src:
        if s.op is not Ops.CONST or s.arg.value.__class__ is not int:
            return None
        out.append(s.arg.value)
    return tuple(out) if out else None


def write(form: Linear) -> Uop:
    """The node of a linear form: left-deep, in the one order.

    Each sum on the way is the written form of itself, and is marked so.
    """
    dtype = form.dtype
    terms = form.terms
    constant = form.constant
    acc: Uop | None = None
    if terms:
        ordered = list(terms) if len(terms) == 1 else sorted(terms, key=term_key)
        if terms[ordered[0]] == -1:
            # the first is not subtracted while another can be first
            k = next((k for k, t in enumerate(ordered) if terms[t] != -1), 0)
            if k:
                ordered.insert(0, ordered.pop(k))
            elif constant:
                acc = const_node(dtype, constant)  # k - x - y
                constant = 0
        for t in ordered:
            c = terms[t]
            if c == -1:
                if acc is None:
                    acc = node(Ops.NEG, dtype, (t,))
                else:
                    acc = node(Ops.SUB, dtype, (acc, t))
                acc._marks |= SUM
                continue
            made = t if c == 1 else scaled(dtype, t, c)
            if acc is None:
                acc = made
            else:
                acc = node(Ops.ADD, dtype, (acc, made))
                acc._marks |= SUM
    if acc is None:
        acc = const_node(dtype, constant)
    elif constant:
        acc = node(Ops.ADD, dtype, (acc, const_node(dtype, constant)))
        acc._marks |= SUM
    if form.lanes is None:
        return acc
    if not terms:
        return node(Ops.STACK, dtype, tuple([const_node(dtype, constant + x) for x in form.lanes]))
    row = node(Ops.STACK, dtype, tuple([const_node(dtype, x) for x in form.lanes]))
    acc = node(Ops.ADD, dtype, (acc, row))
    acc._marks |= SUM
    return acc


def scaled(dtype: Val, term: Uop, c: int) -> Uop:
    """The node of term * c, for a term that is no product with a constant."""
    made = node(Ops.MUL, dtype, (term, const_node(dtype, c)))
    made._marks |= SUM
    return made


def term_key(u: Uop) -> Any:
    """The sort key of a term: uniform first, outer loops first, then `compare_structure`."""
    return (
        1 if dims_or_none(u) else 0,
        len(ranges(u)),
        u.op.ordinal,
        u.dtype.order,
        order_key(u.arg),
        _by_structure(u),
    )


_by_structure: Callable[[Uop], Any] = functools.cmp_to_key(compare_structure)


def normal_sum(u: Uop, memo: Mapping[Uop, Uop] | None = None) -> Uop:
    """The sum `u` in its one form."""
    return settled_sum(u, memo)[0]


LONG: Final = 64
"""A sum of more terms that others than sums use too stays whole inside larger sums.

Otherwise n running totals, each used, would be written out as n sums of up to n terms.
"""


def settled_sum(
    u: Uop, memo: Mapping[Uop, Uop] | None = None, whole: Collection[Uop] = ()
) -> tuple[Uop, bool, bool]:
    """The sum `u` in its one form; whether only sums in that form are new under it; whether it
    is `LONG`.
    """
    form = linear_form(u, memo, whole)
    long = len(form.terms) > LONG
    if form.gates:
        return _lifted(form), False, long
    for t in form.terms:
        if t.op is Ops.FLOORMOD or t.op is Ops.CMOD:
            from dynamis.uop.recombine import recombine  # it builds linear forms

            made = recombine(form)
            return write(made), made is form and form.dtype.scalar.bits == 800, long
    return write(form), form.dtype.scalar.bits == 800, long


def sum_step(u: Uop) -> Uop | None:
    """The sum `u` in its one form, or None when it has that already. Sources in normal form."""
    if u._marks & SUM:
        return None
    if u.op is Ops.ADD:
        a, b = u.src
        if _is_plain(a) and _is_plain(b) and a is not b and term_key(a) < term_key(b):
            u._marks |= SUM
            return None
    made = normal_sum(u)
    return None if made is u else made


def _is_plain(u: Uop) -> bool:
    """Whether `u` is a term with coefficient 1 that takes part in no recombination."""
    op = u.op
    if op is Ops.MUL:
        a, b = u.src
        return not (b.op is Ops.CONST or a.op is Ops.CONST or _divides(a) or _divides(b))
    return op not in _NOT_PLAIN


def _divides(u: Uop) -> bool:
    return u.op is Ops.FLOORDIV or u.op is Ops.CDIV


_WITH_CONSTANTS: Final = frozenset((Ops.CONST, Ops.STACK, Ops.MUL))

_NOT_PLAIN: Final = frozenset((
    Ops.ADD, Ops.SUB, Ops.NEG, Ops.SHL, Ops.CONST, Ops.STACK, Ops.FLOORMOD, Ops.CMOD,
    Ops.FLOORDIV, Ops.CDIV,
))  # fmt: skip
