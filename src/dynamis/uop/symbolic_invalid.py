"""Rules on Invalid, the value that stands for "no value here".

A *gate* is `where(cond, x, Invalid)`: x where cond holds. Nobody may look at an Invalid value, so
a rule may give any value in its place, but never the other way round. These rules come first: a
gated index times zero has to keep its gate.
"""

from __future__ import annotations

from typing import Final

from dynamis.dtype import Val, bool_, weakint
from dynamis.uop.const import INVALID
from dynamis.uop.folding import alu, result_dtype
from dynamis.uop.matcher import Rule
from dynamis.uop.node import Uop, const_node, node
from dynamis.uop.ops import Group, Op, Ops
from dynamis.uop.upat import UPat

_VALUES: Final = tuple(op for op in Group.binary if not op.is_comparison)
_UNARY: Final = Group.unary

x, y = UPat.var("x"), UPat.var("y")
a, cond = UPat.var("a", bool_), UPat.var("cond", bool_)
k, c = UPat.cvar("k"), UPat.cvar("c")
gate = cond.where(x, k)


def is_invalid(u: Uop) -> bool:
    """Whether `u` is a CONST of Invalid."""
    return u.op is Ops.CONST and bool(u.arg.is_invalid)


def is_gate(u: Uop) -> bool:
    """Whether `u` is `where(cond, x, Invalid)`."""
    return u.op is Ops.WHERE and is_invalid(u.src[2])


def gated(cond: Uop, x: Uop) -> Uop:
    """`where(cond, x, Invalid)`."""
    assert isinstance(x.dtype, Val)
    return node(Ops.WHERE, x.dtype, (cond, x, const_node(x.dtype, INVALID)))


def not_(u: Uop) -> Uop:
    """The logical not of a bool node."""
    return node(Ops.CMPNE, u.dtype, (u, const_node(bool_, True)))


def _of_gate(u: Uop, cond: Uop, x: Uop, k: Uop, y: Uop) -> Uop | None:
    """A binary op of a gate: the op moves inside, the gate stays; a compared index loses it."""
    if not is_invalid(k):
        return None
    src = (x, y) if u.src[0].op is Ops.WHERE and u.src[1] is y else (y, x)
    made = alu(u.op, *src)
    return made if u.op.is_comparison and k.dtype is weakint else gated(cond, made)


def _of_invalid(u: Uop) -> Uop | None:
    """An op of a bare Invalid is Invalid."""
    for s in u.src:
        if is_invalid(s):
            dtype = result_dtype(u.op, u.src) if u.op.is_binary else u.dtype
            assert isinstance(dtype, Val)
            return const_node(dtype, INVALID)
    return None


def _unary_of_gate(u: Uop, cond: Uop, x: Uop, k: Uop) -> Uop | None:
    if not is_invalid(k):
        return None
    made = node(u.op, u.dtype, (x,))
    return made if u.op is Ops.CAST and k.dtype is weakint else gated(cond, made)


def _flip(a: Uop, k: Uop, x: Uop) -> Uop | None:
    if not is_invalid(k):
        return None
    return k if is_invalid(x) else gated(not_(a), x)


def _lift_first(a: Uop, cond: Uop, x: Uop, k: Uop, y: Uop) -> Uop | None:
    if not is_invalid(k) or is_invalid(y) or y.dtype is not x.dtype:
        return None
    if cond is a:
        return a.where(x, y)
    return gated(not_(a) | cond, a.where(x, y))


def _lift_second(a: Uop, cond: Uop, x: Uop, k: Uop, y: Uop) -> Uop | None:
    if not is_invalid(k) or is_invalid(y) or y.dtype is not x.dtype:
        return None
    return gated(a | cond, a.where(y, x))


def _two(ops: tuple[Op, ...], first: UPat, second: UPat) -> UPat:
    return UPat(ops, src=(first, second), name="u")


_BOTH: Final = (*_VALUES, *Group.comparison)

RULES: Final = [
    Rule("op(x, Invalid) -> Invalid", _two(_BOTH, x, k), lambda u, k: _of_invalid(u)),
    Rule("op(Invalid, x) -> Invalid", _two(_BOTH, k, x), lambda u, k: _of_invalid(u)),
    Rule(
        "op(Invalid) -> Invalid",
        UPat((*_UNARY, Ops.CAST, Ops.BITCAST), src=(k,), name="u"),
        lambda u, k: _of_invalid(u),
    ),
    Rule("op(gate(cond, x), y) -> gate(cond, op(x, y))", _two(_BOTH, gate, y), _of_gate),
    Rule("op(y, gate(cond, x)) -> gate(cond, op(y, x))", _two(_BOTH, y, gate), _of_gate),
    Rule(
        "op(gate(cond, x)) -> gate(cond, op(x))",
        UPat((*_UNARY, Ops.CAST, Ops.BITCAST), src=(gate,), name="u"),
        _unary_of_gate,
    ),
    Rule("a ? Invalid : x -> gate(!a, x)", a.where(k, x), _flip),
    Rule(
        "a ? gate(cond, x) : y -> gate(!a | cond, a ? x : y)",
        a.where(cond.where(x, k), y),
        _lift_first,
    ),
    Rule(
        "a ? y : gate(cond, x) -> gate(a | cond, a ? y : x)",
        a.where(y, cond.where(x, k)),
        _lift_second,
    ),
]
"""Rules on Invalid, in order."""
