"""Rules on effects, memory, reductions and movement: the cleanups beside arithmetic.

They are no part of `simplify`: `full_simplify` runs them together with all of its rules.
"""

from __future__ import annotations

from typing import Final

from dynamis.dtype import Val, bool_, int32, int64, void
from dynamis.uop.engine import normalise
from dynamis.uop.folding import num
from dynamis.uop.marks import FULL
from dynamis.uop.matcher import PatternMatcher, Rule
from dynamis.uop.node import Uop, const_node, node
from dynamis.uop.ops import Group, Op, Ops
from dynamis.uop.payload import ReduceArg
from dynamis.uop.range_set import ranges
from dynamis.uop.recombine import constant
from dynamis.uop.shape import dims_or_none
from dynamis.uop.symbolic import chase, step
from dynamis.uop.symbolic_divmod import factors, product
from dynamis.uop.symbolic_invalid import is_gate, is_invalid
from dynamis.uop.upat import INTS, UPat

_NOTHING: Final = node(Ops.NOOP, void, ())


def _store_of_own_load(i: Uop, v: Uop) -> Uop | None:
    return _NOTHING if v.src == (i,) else None


def _store_of_choice(u: Uop, i: Uop, g: Uop, x: Uop, v: Uop) -> Uop | None:
    return node(Ops.STORE, u.dtype, (i, x, g)) if v.src == (i,) else None


def _store_of_gate(u: Uop, i: Uop, g: Uop, v: Uop) -> Uop | None:
    if not is_gate(v):
        return None
    gate = g if len(u.src) == 2 else g & u.src[2]
    return node(Ops.STORE, u.dtype, (i, v.src[1], gate))


def _gated_place(u: Uop, p: Uop) -> Uop | None:
    """An access through a gated index: the gate becomes the access's own."""
    if len(p.src) != 2 or not is_gate(p.src[1]):
        return None
    cond, x, _ = p.src[1].src
    place = node(Ops.INDEX, p.dtype, (p.src[0], x), p.arg)
    if u.op is Ops.STORE:
        gate = cond if len(u.src) == 2 else cond & u.src[2]
        return node(Ops.STORE, u.dtype, (place, u.src[1], gate))
    if not isinstance(u.dtype, Val):
        return None
    if len(u.src) == 3:
        return node(Ops.LOAD, u.dtype, (place, u.src[1], cond & u.src[2]), u.arg)
    return node(Ops.LOAD, u.dtype, (place, const_node(u.dtype, 0), cond), u.arg)


def _invalid_place(u: Uop, p: Uop) -> Uop | None:
    """An access through an Invalid index touches nothing: a load gives its alternative, or 0."""
    if len(p.src) != 2 or not is_invalid(p.src[1]):
        return None
    if u.op is Ops.STORE:
        return _NOTHING
    if len(u.src) == 3:
        return u.src[1]
    return const_node(u.dtype, 0) if isinstance(u.dtype, Val) else None


def _spliced(u: Uop) -> Uop | None:
    """SINK and GROUP with the sources of the gatherers among their sources."""
    src: dict[Uop, None] = {}
    for s in u.src:
        inner = s.op in (Ops.NOOP, Ops.STACK, Ops.SINK, Ops.GROUP) and s.dtype is void
        for t in s.src if inner else (s,):
            src[t] = None
    if tuple(src) == u.src:
        return None
    return node(u.op, u.dtype, tuple(src), u.arg, u.node_tag)


_KEPT: Final = frozenset((
    Ops.RANGE, Ops.STORE, Ops.CALL, Ops.FUNCTION, Ops.BARRIER, Ops.END, Ops.LINEAR, Ops.STAGE,
    Ops.BREAK, Ops.LOAD,
))  # fmt: skip
_IDLE: Final = frozenset((Ops.CONST, Ops.PARAM, Ops.BUFFER, Ops.SPECIAL))


def _after_effects(u: Uop) -> Uop | None:
    """AFTER waits for effects only: another dependency is replaced by its sources.

    Loads stay (a later store must not overtake them), and so do breaks.
    """
    deps: dict[Uop, None] = {}
    for d in u.src[1:]:
        for t in (d,) if d.op in _KEPT or d.op in _IDLE else d.src:
            if t.op not in _IDLE:
                deps[t] = None
    if tuple(deps) == u.src[1:] and deps:
        return None
    if not deps:
        return u.src[0]
    return node(Ops.AFTER, u.dtype, (u.src[0], *deps), u.arg, u.node_tag)


def _factor_out_of_sum(u: Uop) -> Uop | None:
    """reduce(x*y, +) -> reduce(x, +)*y, where y stands in none of the reduced loops (integers)."""
    arg = u.arg
    if not isinstance(arg, ReduceArg) or arg.op is not Ops.ADD or arg.axes or len(u.src) < 2:
        return None
    closed = set(u.src[1:])
    inside: list[Uop] = []
    outside: list[Uop] = []
    for f in factors(u.src[0]):
        (inside if closed & set(ranges(f)) else outside).append(f)
    if not outside or not inside:
        return None
    made = node(Ops.REDUCE, u.dtype, (product(inside), *u.src[1:]), arg)
    return node(Ops.MUL, u.dtype, (made, product(outside)))


def _max_of_scaled(u: Uop) -> Uop | None:
    """reduce(x*c, max) -> reduce(x, max)*c, for c >= 0 and products that do not wrap."""
    arg = u.arg
    m = u.src[0]
    if not isinstance(arg, ReduceArg) or arg.op is not Ops.MAX or arg.axes:
        return None
    c = constant(m.src[1])
    if c is None or c <= 0 or u.dtype.scalar.bits != 800:
        return None
    made = node(Ops.REDUCE, u.dtype, (m.src[0], *u.src[1:]), arg)
    return node(Ops.MUL, u.dtype, (made, num(u, c)))


def _lane_alu(u: Uop, a: Uop, b: Uop) -> Uop | None:
    """An operation on two STACKs of one source is a STACK of the operation on these."""
    if len(a.src) != 1 or len(b.src) != 1:
        return None
    return node(Ops.STACK, u.dtype, (node(u.op, u.dtype, (a.src[0], b.src[0])),))


def _narrow(u: Uop, x: Uop, y: Uop) -> Uop | None:
    """An int64 operation whose operands and result are int32 values, done in int32."""
    if not all(s.vmin >= int32.min and s.vmax <= int32.max for s in (u, x, y)):
        return None
    return node(u.op, int32, (x.cast(int32), y.cast(int32))).cast(u.dtype)


def _cast_of_where(u: Uop, w: Uop) -> Uop | None:
    c, a, b = w.src
    if is_invalid(b) or is_invalid(a):
        return None
    return node(Ops.WHERE, u.dtype, (c, a.cast(u.dtype), b.cast(u.dtype)))


def _own_lanes(s: Uop) -> Uop | None:
    """(v[0], v[1], ..., v[n-1]) -> v, a value of shape (n,)."""
    if not s.src:
        return None
    first = s.src[0]
    if first.op is not Ops.INDEX or len(first.src) != 2:
        return None
    v = first.src[0]
    if v.dtype is not s.dtype or dims_or_none(v) != (len(s.src),):
        return None
    for k, lane in enumerate(s.src):
        if lane.op is not Ops.INDEX or len(lane.src) != 2 or lane.src[0] is not v:
            return None
        if constant(lane.src[1]) != k:
            return None
    return v


def _own_shape(u: Uop, x: Uop) -> Uop | None:
    mine, inner = dims_or_none(u), dims_or_none(x)
    return x if mine is not None and mine == inner else None


def _both_orders(u: Uop, p: Uop, x: Uop) -> Uop:
    order = tuple([p.arg[k] for k in u.arg])
    return node(Ops.PERMUTE, u.dtype, (x,), order, u.node_tag)


def _own_order(u: Uop, x: Uop) -> Uop | None:
    return x if u.arg == tuple(range(len(u.arg))) else None


def _both_flips(u: Uop, f: Uop, x: Uop) -> Uop:
    flags = tuple([a != b for a, b in zip(u.arg, f.arg, strict=True)])
    return node(Ops.FLIP, u.dtype, (x,), flags, u.node_tag)


_x, _y, _i, _v = (UPat.var(n) for n in "xyiv")
_g = UPat.var("g", bool_)
_k = UPat.cvar("k")
_place = UPat(Ops.INDEX, name="p")
_ALU: Final[tuple[Op, ...]] = tuple(op for op in Group.binary if not op.is_comparison)
_WIDE: Final = (Ops.ADD, Ops.SUB, Ops.MUL, Ops.MAX, Ops.FLOORDIV, Ops.FLOORMOD)

MEMORY: Final = [
    Rule(
        "store(i, load(i)) -> nothing",
        UPat(Ops.STORE, src=(_i, UPat(Ops.LOAD, name="v"))),
        _store_of_own_load,
    ),
    Rule(
        "store(i, g ? x : load(i)) -> store(i, x) where g",
        UPat(Ops.STORE, src=(_i, _g.where(_x, UPat(Ops.LOAD, name="v"))), name="u"),
        _store_of_choice,
    ),
    Rule(
        "store(i, Invalid) -> nothing",
        UPat(Ops.STORE, src=(_i, _k), allow_any_len=True),
        lambda k: _NOTHING if is_invalid(k) else None,
    ),
    Rule(
        "store(i, gate(g, x)) -> store(i, x) where g",
        UPat(
            Ops.STORE,
            src=(_i, UPat(Ops.WHERE, src=(_g, _x, UPat(Ops.CONST)), name="v")),
            allow_any_len=True,
            name="u",
        ),
        _store_of_gate,
    ),
    Rule(
        "access(p[Invalid]) -> nothing, or 0",
        UPat((Ops.LOAD, Ops.STORE), src=(_place,), allow_any_len=True, name="u"),
        _invalid_place,
    ),
    Rule(
        "access(p[gate(g, x)]) -> access(p[x]) where g",
        UPat((Ops.LOAD, Ops.STORE), src=(_place,), allow_any_len=True, name="u"),
        _gated_place,
    ),
]

STRUCTURE: Final = [
    Rule("group(x) -> x", UPat(Ops.GROUP, src=(_x,)), lambda x: x),
    Rule(
        "sink(a, group(b, c)) -> sink(a, b, c)",
        UPat((Ops.SINK, Ops.GROUP), name="u"),
        lambda u: _spliced(u),
    ),
    Rule(
        "after(x, f(d)) -> after(x, d)  (f no effect)",
        UPat(Ops.AFTER, name="u"),
        lambda u: _after_effects(u),
    ),
]

REDUCTIONS: Final = [
    Rule(
        "reduce(x*y, +) -> reduce(x, +)*y  (y outside)",
        UPat(Ops.REDUCE, dtype=INTS, src=(UPat(Ops.MUL),), allow_any_len=True, name="u"),
        lambda u: _factor_out_of_sum(u),
    ),
    Rule(
        "reduce(x*c, max) -> reduce(x, max)*c  (c > 0, an index)",
        UPat(Ops.REDUCE, dtype=INTS, src=(UPat(Ops.MUL),), allow_any_len=True, name="u"),
        lambda u: _max_of_scaled(u),
    ),
]

LANES: Final = [
    Rule(
        "(a,) op (b,) -> (a op b,)",
        UPat(_ALU, src=(UPat(Ops.STACK, name="a"), UPat(Ops.STACK, name="b")), name="u"),
        _lane_alu,
    ),
    Rule("(v[0], v[1], ...) -> v", UPat(Ops.STACK, src=UPat(Ops.INDEX), name="s"), _own_lanes),
    Rule(
        "cast(c ? a : b) -> c ? cast(a) : cast(b)",
        UPat(Ops.CAST, src=(UPat(Ops.WHERE, name="w"),), name="u"),
        _cast_of_where,
    ),
    Rule(
        "x op y -> int64(int32(x) op int32(y))  (all fit)",
        UPat(_WIDE, dtype=int64, src=(_x, _y), name="u"),
        _narrow,
    ),
]

MOVEMENT: Final = [
    Rule("reshape(x, its shape) -> x", UPat(Ops.RESHAPE, src=(_x, _y), name="u"), _own_shape),
    Rule("expand(x, its shape) -> x", UPat(Ops.EXPAND, src=(_x, _y), name="u"), _own_shape),
    Rule(
        "reshape(reshape(x, a), b) -> reshape(x, b)",
        UPat(Ops.RESHAPE, src=(UPat(Ops.RESHAPE, src=(_x, _i)), _y), name="u"),
        lambda u, x, y: node(Ops.RESHAPE, u.dtype, (x, y), u.arg, u.node_tag),
    ),
    Rule("permute(x, 0 1 2 ...) -> x", UPat(Ops.PERMUTE, src=(_x,), name="u"), _own_order),
    Rule(
        "permute(permute(x, p), q) -> permute(x, p of q)",
        UPat(Ops.PERMUTE, src=(UPat(Ops.PERMUTE, src=(_x,), name="p"),), name="u"),
        _both_orders,
    ),
    Rule(
        "flip(x, no axis) -> x",
        UPat(Ops.FLIP, src=(_x,), name="u"),
        lambda u, x: None if any(u.arg) else x,
    ),
    Rule(
        "flip(flip(x, f), g) -> flip(x, f xor g)",
        UPat(Ops.FLIP, src=(UPat(Ops.FLIP, src=(_x,), name="f"),), name="u"),
        _both_flips,
    ),
]

RULES: Final = [*MEMORY, *STRUCTURE, *REDUCTIONS, *LANES, *MOVEMENT]
"""The rules that `full_simplify` adds to those of `simplify`."""

cleanup: Final = PatternMatcher(RULES)

movement_cleanup: Final = PatternMatcher(MOVEMENT)
"""Movement ops merged, and dropped where they do nothing."""


def full_simplify(u: Uop) -> Uop:
    """`u` under the rules of `simplify` and those of this module, in normal form.

    Equal in value and in effects. Raises RewriteError if rules chase each other.
    """
    return u if u._marks & FULL else normalise(u, _step, FULL, chase)


def _step(u: Uop) -> Uop | None:
    made = step(u)
    return made if made is not None and made is not u else cleanup.rewrite(u)
