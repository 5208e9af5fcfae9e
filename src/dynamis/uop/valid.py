"""Simplifying an index under the condition that guards it.

A *valid* is a boolean conjunction; a gated index `where(valid, x, Invalid)` is looked at only where
it holds. Each comparison in it bounds one expression, and under these bounds x may be simpler.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dynamis.dtype import AddrSpace, Val, bool_
from dynamis.uop.build import param, stack
from dynamis.uop.matcher import PatternMatcher, Rule
from dynamis.uop.node import Uop, const_node, node
from dynamis.uop.ops import Ops
from dynamis.uop.range_set import ranges
from dynamis.uop.recombine import constant
from dynamis.uop.rewrite import substitute
from dynamis.uop.symbolic import simplify
from dynamis.uop.symbolic_invalid import gated, is_gate
from dynamis.uop.traverse import toposort
from dynamis.uop.upat import UPat

Limit = tuple[Uop, bool, int]


def conjuncts(valid: Uop) -> list[Uop]:
    """The clauses of a conjunction, left to right, each once."""
    out: dict[Uop, None] = {}
    todo = [valid]
    while todo:
        u = todo.pop()
        if u.op is Ops.AND and u.dtype.is_bool:
            todo += reversed(u.src)
        else:
            out[u] = None
    return list(out)


def conjunction(clauses: Iterable[Uop]) -> Uop:
    """The AND of the clauses, left-deep; true for none."""
    made: Uop | None = None
    for c in clauses:
        made = c if made is None else node(Ops.AND, c.dtype, (made, c))
    return const_node(bool_, True) if made is None else made


def parse_valid(clause: Uop) -> Limit | None:
    """(x, upper, limit) where the clause says x <= limit (upper) or x >= limit; else None.

    Reads x < c and c < x and their negations, of integers; c by its bounds.
    """
    positive = True
    if clause.op is Ops.CMPNE and constant_true(clause.src[1]):
        positive, clause = False, clause.src[0]
    if clause.op is not Ops.CMPLT or not clause.src[0].dtype.is_int:
        return None
    a, b = clause.src
    if a.op is Ops.CONST:  # c < x, or its negation x <= c
        c = constant(a)
        return None if c is None else (b, False, c + 1) if positive else (b, True, c)
    return (a, True, int(b.vmax) - 1) if positive else (a, False, int(b.vmin))


def constant_true(u: Uop) -> bool:
    """Whether `u` is the constant true."""
    return u.op is Ops.CONST and u.arg.value is True


def _limits(valid: Uop) -> dict[Uop, tuple[int, int]]:
    """What the clauses say: bounds by expression, in order of first mention."""
    found: dict[Uop, tuple[int, int]] = {}
    for clause in conjuncts(valid):
        read = parse_valid(clause)
        if read is None:
            continue
        x, upper, limit = read
        low, high = found.get(x, (x.vmin, x.vmax))
        found[x] = (low, min(high, limit)) if upper else (max(low, limit), high)
    return found


def _stand_in(k: int, x: Uop, low: int, high: int) -> Uop:
    """A fresh variable of x's dtype and lanes, bounded."""
    assert isinstance(x.dtype, Val)
    return param(
        slot=-1, dtype=x.dtype, shape=stack(()), name=f"valid {k}", vmin_vmax=(low, high),
        addrspace=AddrSpace.ALU,
    )  # fmt: skip


def _under(x: Uop, bounded: list[tuple[Uop, Uop]]) -> Uop:
    """`x` simplified with expressions replaced by bounded variables, and these put back."""
    there = substitute(bounded, x, walk=True)
    if there is x:
        return x
    return simplify(substitute([(v, e) for e, v in bounded], simplify(there), walk=True))


def uop_given_valid(valid: Uop, u: Uop, try_simplex: bool = True) -> Uop:
    """`u` simplified where `valid` holds: equal to it for all values of the leaves that make it so.

    Each bounded expression becomes a bounded variable in turn, and all together at the end. Where
    a sum of terms >= 0 is known to be at least 1, `try_simplex` also tries each term at least 1,
    and takes a result on which all of them agree.
    """
    bounded: list[tuple[Uop, Uop]] = []
    u = simplify(u)
    for k, (x, (low, high)) in enumerate(_limits(valid).items()):
        if x.op is Ops.CONST or (low, high) == (x.vmin, x.vmax) or low > high:
            continue
        if low == high:
            assert isinstance(x.dtype, Val)
            fixed = const_node(x.dtype, low)
            u = simplify(substitute([(x, fixed)], u, walk=True))
            continue
        pair = (x, _stand_in(k, x, low, high))
        bounded.append(pair)
        u = _under(u, [pair])
        if try_simplex and x.op is Ops.ADD and low == 1:
            u = _each_term_positive(x, u)
    return _under(u, bounded) if len(bounded) > 1 else u


def _each_term_positive(x: Uop, u: Uop) -> Uop:
    """One of the terms of x, all >= 0, is at least 1: what u is whichever it is, if that is one."""
    terms = []
    todo = [x]
    while todo:
        t = todo.pop()
        if t.op is Ops.ADD:
            todo += t.src
        else:
            terms.append(t)
    if any(not t.op.is_irreducible or t.op is Ops.CONST or t.vmin < 0 for t in terms):
        return u
    results = {
        _under(u, [(t, _stand_in(1000 + i, t, max(1, int(t.vmin)), int(t.vmax)))])
        for i, t in enumerate(terms)
        if t.vmax >= 1
    }
    return results.pop() if len(results) == 1 else u


def _reads(u: Uop) -> bool:
    """Whether memory is read under `u`: a read may only happen where it is allowed."""
    return any(n.op is Ops.INDEX or n.op is Ops.LOAD for n in toposort(u))


def simplify_valid(valid: Uop) -> Uop | None:
    """A conjunction with each clause simplified under those before it, or None if nothing changes.

    Clauses whose subject occurs in others come first. Refuses a valid that reads memory.
    """
    if _reads(valid):
        return None
    clauses = conjuncts(valid)
    subjects = {c: read[0] for c in clauses if (read := parse_valid(c)) is not None}
    inside = {c: frozenset(toposort(c)) for c in clauses}

    def uses(c: Uop) -> int:
        s = subjects.get(c)
        return -sum(s in inside[d] for d in clauses if d is not c) if s is not None else 0

    kept: list[Uop] = []
    for clause in sorted(clauses, key=uses):
        made = clause
        if kept:
            made = uop_given_valid(conjunction(kept), clause)
        for part in conjuncts(made):
            if not constant_true(part) and part not in kept:
                kept.append(part)
    if set(kept) == set(clauses):
        return None
    return conjunction(kept)


def _gate_given(cond: Uop, x: Uop, g: Uop) -> Uop | None:
    if not is_gate(g) or not x.dtype.is_int or _reads(x) or _reads(cond):
        return None
    made = uop_given_valid(cond, x)
    return None if made is simplify(x) else gated(cond, made)


def _drop_clauses(cond: Uop, x: Uop, g: Uop) -> Uop | None:
    """A gate without the clauses that speak of ranges `x` does not stand in."""
    if not is_gate(g) or not x.dtype.is_int:
        return None
    mine = set(ranges(x))
    clauses = conjuncts(cond)
    kept = [c for c in clauses if not ranges(c) or any(r in mine for r in ranges(c))]
    return None if len(kept) == len(clauses) else gated(conjunction(kept), x)


def move_where_on_load(cond: Uop, place: Uop) -> tuple[Uop | None, Uop] | None:
    """where(cond, place, 0) with what `place`'s index may carry moved into its gate.

    (what stays outside or None, the new INDEX), or None when nothing moves. A clause moves when
    it stands in no loop that the index does not, and reads no memory.
    """
    if place.op is not Ops.INDEX or len(place.src) != 2:
        return None
    at = place.src[1]
    if not at.dtype.is_int:
        return None
    held = conjuncts(at.src[0]) if is_gate(at) else []
    x = at.src[1] if is_gate(at) else at
    mine = set(ranges(at))
    moved: list[Uop] = []
    stay: list[Uop] = []
    for c in conjuncts(cond):
        if c in held or constant_true(c):
            continue
        (moved if set(ranges(c)) <= mine and not _reads(c) else stay).append(c)
    if not moved and len(stay) == len(conjuncts(cond)):
        return None
    gate = gated(conjunction([*held, *moved]), x)
    made = node(Ops.INDEX, place.dtype, (place.src[0], gate), place.arg)
    return (conjunction(stay) if stay else None), made


def _move_gate(cond: Uop, loaded: Uop, z: Uop) -> Uop | None:
    if not _is_zero(z) or (loaded.op is not Ops.LOAD or len(loaded.src) != 1):
        return None
    found = move_where_on_load(cond, loaded.src[0])
    if found is None:
        return None
    stays, place = found
    made = node(Ops.LOAD, loaded.dtype, (place,), loaded.arg)
    return made if stays is None else stays.where(made, z)


def _is_zero(u: Uop) -> bool:
    value = u.arg.value if u.op is Ops.CONST else None
    if value.__class__ is float:
        return bool(value == 0.0 and str(value) == "0.0")
    return value is False or (value.__class__ is int and value == 0)


_cond, _x = UPat.var("cond", bool_), UPat.var("x")
_gate = UPat(Ops.WHERE, src=(_cond, _x, UPat(Ops.CONST)), name="g")

RULES: Final = [
    Rule(
        "a & b -> a & (b where a)",
        UPat(Ops.AND, dtype=bool_, name="u"),
        lambda u: simplify_valid(u),
    ),
    Rule("gate(cond, x) -> gate(cond, x where cond)", _gate, _gate_given),
]
"""Simplification under valids, as rules."""

pm_simplify_valid: Final = PatternMatcher(RULES)
"""AND and gated indices simplified under their own conditions."""

pm_drop_and_clauses: Final = PatternMatcher([
    Rule("gate(a & b, x) -> gate(a, x)  (b speaks of other ranges)", _gate, _drop_clauses)
])  # fmt: skip
"""Gates without clauses on ranges that the index does not stand in."""

pm_move_where_on_load: Final = PatternMatcher([
    Rule(
        "where(a, load(p[x]), 0) -> load(p[gate(a, x)])",
        UPat(Ops.WHERE, src=(_cond, UPat(Ops.LOAD, name="loaded"), UPat(Ops.CONST, name="z"))),
        _move_gate,
    )
])  # fmt: skip
"""Conditions on a load moved into its index; an Invalid index reads as zero."""

__all__ = [
    "conjunction",
    "conjuncts",
    "move_where_on_load",
    "parse_valid",
    "pm_drop_and_clauses",
    "pm_move_where_on_load",
    "pm_simplify_valid",
    "simplify_valid",
    "uop_given_valid",
]
