"""Rules on conversions, lanes and gated memory access."""

from __future__ import annotations

from typing import Final

from dynamis.dtype import Val, bool_, can_lossless_cast, weakint
from dynamis.uop.folding import val
from dynamis.uop.matcher import Rule
from dynamis.uop.node import Uop, const_node, node
from dynamis.uop.ops import Ops
from dynamis.uop.upat import INTS, UPat

x, y, z = (UPat.var(name) for name in "xyz")
true, false = UPat.const(True), UPat.const(False)


def _keeps_value(x: Uop, middle: Val) -> bool:
    """Whether converting `x` to `middle` loses nothing."""
    if not isinstance(x.dtype, Val):
        return False
    if can_lossless_cast(x.dtype, middle):
        return True
    both = (x.dtype.is_int or x.dtype.is_bool) and middle.is_int
    return both and middle.scalar.min <= x.vmin and x.vmax <= middle.scalar.max


def _skip_middle(u: Uop, m: Uop, x: Uop) -> Uop | None:
    """u = cast(m), m = cast(x): the middle goes when it loses nothing on the way."""
    target, middle = u.dtype, m.dtype
    if not isinstance(target, Val) or not isinstance(middle, Val) or not _keeps_value(x, middle):
        return None
    if target is x.dtype:
        return x
    if x.dtype.is_int and middle.is_float and target.is_int:
        # float to int saturates and int to int wraps: equal only where neither happens
        if not (target.scalar.min <= x.vmin and x.vmax <= target.scalar.max):
            return None
    return x.cast(target)


def _not_zero(x: Uop) -> Uop | None:
    return x.ne(const_node(x.dtype, 0)) if isinstance(x.dtype, Val) else None


def _lanes(s: Uop, i: Uop) -> Uop | None:
    found = [_lane(s, c) if c.op is Ops.CONST else None for c in i.src]
    picked = [u for u in found if u is not None]
    return node(Ops.STACK, s.dtype, tuple(picked)) if picked and len(picked) == len(found) else None


def _lane(s: Uop, c0: Uop) -> Uop | None:
    n = val(c0)
    return s.src[n] if 0 <= n < len(s.src) else None


CASTS: Final = [
    Rule(
        "cast(x) -> x  (same dtype)",
        UPat((Ops.CAST, Ops.BITCAST), src=(x,), name="u"),
        lambda u, x: x if u.dtype is x.dtype else None,
    ),
    Rule(
        "cast(cast(x)) -> cast(x)  (lossless)",
        UPat(Ops.CAST, src=(UPat(Ops.CAST, src=(x,), name="m"),), name="u"),
        _skip_middle,
    ),
    Rule("bool(x) -> x != 0", x.cast(bool_), _not_zero),
    Rule(
        "bitcast(bitcast(x)) -> bitcast(x)",
        UPat(Ops.BITCAST, src=(UPat(Ops.BITCAST, src=(x,)),), name="u"),
        lambda u, x: x.bitcast(u.dtype),
    ),
]

INDEX: Final = [
    Rule(
        "cast(x + c) -> cast(x) + cast(c)  (from an index)",
        UPat(
            Ops.CAST,
            dtype=INTS,
            src=(UPat(Ops.ADD, dtype=weakint, src=(x, UPat.cvar("c0"))),),
            name="u",
        ),
        lambda u, x, c0: x.cast(u.dtype) + c0.cast(u.dtype),
    ),
]

LANES: Final = [
    Rule(
        "(a, b, ...)[c] -> lane c",
        UPat(Ops.INDEX, src=(UPat(Ops.STACK, name="s"), UPat.cvar("c0", INTS))),
        _lane,
    ),
    Rule(
        "(a, b, ...)[(c, d, ...)] -> (lane c, lane d, ...)",
        UPat(Ops.INDEX, src=(UPat(Ops.STACK, name="s"), UPat(Ops.STACK, dtype=INTS, name="i"))),
        _lanes,
    ),
]

MEMORY: Final = [
    Rule(
        "load(x, y, true) -> load(x)",
        UPat(Ops.LOAD, src=(x, y, true), name="u"),
        lambda u, x: node(Ops.LOAD, u.dtype, (x,), u.arg),
    ),
    Rule("load(x, y, false) -> y", UPat(Ops.LOAD, src=(x, y, false)), lambda y: y),
    Rule(
        "store(x, y, true) -> store(x, y)",
        UPat(Ops.STORE, src=(x, y, true), name="u"),
        lambda u, x, y: node(Ops.STORE, u.dtype, (x, y), u.arg),
    ),
]

RULES: Final = [*CASTS, *INDEX, *LANES, *MEMORY]
