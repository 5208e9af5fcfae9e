"""Rules on bool, comparisons and WHERE."""

from __future__ import annotations

from typing import Final

from dynamis.dtype import bool_
from dynamis.uop.folding import alu, fold, in_range, is_constant, num, truth, val
from dynamis.uop.matcher import Rule
from dynamis.uop.node import Uop
from dynamis.uop.ops import Group, Ops
from dynamis.uop.symbolic_invalid import is_invalid
from dynamis.uop.upat import INTS, UPat

a, b, c = (UPat.var(name, bool_) for name in "abc")
true, false = UPat.const(True), UPat.const(False)
x, y, z = (UPat.var(name) for name in "xyz")
i, j = UPat.var("i", INTS), UPat.var("j", INTS)
c0, c1, c2 = (UPat.cvar(name) for name in ("c0", "c1", "c2"))

# bool arithmetic is logic, and a logical not is `!= true`
LOGIC: Final = [
    Rule("a * b -> a & b", a * b, lambda a, b: a & b),
    Rule("a + b -> a | b", a + b, lambda a, b: a | b),
    Rule("max(a, b) -> a | b", a.maximum(b), lambda a, b: a | b),
    Rule("a - b -> a != b", a - b, lambda a, b: a.ne(b)),
    Rule("a ^ b -> a != b", a ^ b, lambda a, b: a.ne(b)),
    Rule("-a -> a", -a, lambda a: a),
    Rule(
        "mulacc(a, b, c) -> a & b | c", UPat(Ops.MULACC, src=(a, b, c)), lambda a, b, c: a & b | c
    ),
    Rule("a < b -> !a & b", a < b, lambda a, b: a.logical_not() & b),
    Rule("a & true -> a", a & true, lambda a: a),
    Rule("a & false -> false", a & false, lambda a: truth(a, False)),
    Rule("a | true -> true", a | true, lambda a: truth(a, True)),
    Rule("a | false -> a", a | false, lambda a: a),
    Rule("a & a -> a", a & a, lambda a: a),
    Rule("a | a -> a", a | a, lambda a: a),
    Rule("a & !a -> false", a & a.logical_not(), lambda a: truth(a, False)),
    Rule("a | !a -> true", a | a.logical_not(), lambda a: truth(a, True)),
    Rule("(a & b) & b -> a & b", (a & b).named("m") & b, lambda m: m),
    Rule("(a | b) | b -> a | b", (a | b).named("m") | b, lambda m: m),
    Rule("a & (a | b) -> a", a & (a | b), lambda a: a),
    Rule("a | (a & b) -> a", a | (a & b), lambda a: a),
    Rule("a & (!a | b) -> a & b", a & (a.logical_not() | b), lambda a, b: a & b),
    Rule("a | (!a & b) -> a | b", a | (a.logical_not() & b), lambda a, b: a | b),
]

NOT: Final = [
    Rule("a != false -> a", a.ne(false), lambda a: a),
    Rule("a == true -> a", a.eq(true), lambda a: a),
    Rule("a == false -> !a", a.eq(false), lambda a: a.logical_not()),
    Rule("!!a -> a", a.logical_not().logical_not(), lambda a: a),
    Rule("!(x == y) -> x != y", x.eq(y).logical_not(), lambda x, y: x.ne(y)),
    Rule("!(x != y) -> x == y", x.ne(y).logical_not(), lambda x, y: x.eq(y)),
    Rule("!a != !b -> a != b", a.logical_not().ne(b.logical_not()), lambda a, b: a.ne(b)),
]


def _self_equal(x: Uop) -> bool:
    return not x.dtype.is_float  # NaN is not equal to itself


def _narrow_constant(u: Uop, c0: Uop) -> Uop | None:
    """A comparison of a widened integer with a constant, in the narrow dtype."""
    at = 0 if u.src[1] is c0 else 1
    wide = u.src[at]
    i, n = wide.src[0], val(c0)
    if not (i.dtype.is_int and wide.dtype.is_int) or not in_range(i, n):
        return None
    if not (in_range(wide, i.vmin) and in_range(wide, i.vmax)):
        return None
    return alu(u.op, *((i, num(i, n)) if at == 0 else (num(i, n), i)))


def _bool_as_number(u: Uop, a: Uop, c0: Uop) -> Uop | None:
    if not a.dtype.is_bool:
        return None
    at_zero, at_one = val(c0) == 0, val(c0) == 1
    if u.op is Ops.CMPEQ:
        return a if at_one else a.logical_not() if at_zero else truth(a, False)
    return a if at_zero else a.logical_not() if at_one else truth(a, True)


def _moved(u: Uop, i: Uop, c0: Uop, c1: Uop) -> Uop | None:
    return alu(u.op, i, num(i, val(c1) - val(c0)))


_EQUALITY = (Ops.CMPNE, Ops.CMPEQ)
_ORDER = (Ops.CMPLT, *_EQUALITY)
_cast = UPat(Ops.CAST, src=(UPat.var("a"),))

COMPARISONS: Final = [
    Rule("x < x -> false", x < x, lambda x: truth(x, False)),
    Rule(
        "x != x -> false  (no float)",
        x.ne(x),
        lambda x: truth(x, False) if _self_equal(x) else None,
    ),
    Rule(
        "x == x -> true  (no float)", x.eq(x), lambda x: truth(x, True) if _self_equal(x) else None
    ),
    Rule("i + c0 ?= c1 -> i ?= c1-c0", UPat(_EQUALITY, src=[i + c0, c1], name="u"), _moved),
    Rule("i - j != 0 -> i != j", (i - j).ne(0), lambda i, j: i.ne(j)),
    Rule("i - j == 0 -> i == j", (i - j).eq(0), lambda i, j: i.eq(j)),
    Rule(
        "number(a) ?= c -> a, !a, true or false",
        UPat(_EQUALITY, src=[_cast, c0], name="u"),
        _bool_as_number,
    ),
    Rule(
        "wide(i) < c -> i < c",
        UPat(Ops.CMPLT, src=(UPat(Ops.CAST), c0), name="u"),
        _narrow_constant,
    ),
    Rule(
        "c < wide(i) -> c < i",
        UPat(Ops.CMPLT, src=(c0, UPat(Ops.CAST)), name="u"),
        _narrow_constant,
    ),
    Rule(
        "wide(i) ?= c -> i ?= c",
        UPat(_EQUALITY, src=[UPat(Ops.CAST), c0], name="u"),
        _narrow_constant,
    ),
]


def _compare_arms(u: Uop, a: Uop, c0: Uop, c1: Uop, c2: Uop) -> Uop | None:
    first = u.src[0].op is Ops.WHERE
    arms = [fold(u.op, *((k, c2) if first else (c2, k))) for k in (c0, c1)]
    return None if arms[0] is None or arms[1] is None else alu(Ops.WHERE, a, arms[0], arms[1])


_BINARY = tuple(op for op in Group.binary if op.evaluation is not None and "i" in op.kinds)


def _any_invalid(*us: Uop) -> bool:
    return any(is_invalid(u) for u in us)


def _same_condition(u: Uop, a: Uop, c0: Uop, c1: Uop, i: Uop, j: Uop) -> Uop | None:
    if _any_invalid(c0, c1, i, j):
        return None
    constants, others = alu(u.op, c0, c1), alu(u.op, i, j)
    return a.where(constants, others) if u.src[0].src[1] is c0 else a.where(others, constants)


def _same_condition_added(u: Uop, x: Uop, a: Uop, c0: Uop, c1: Uop, i: Uop, j: Uop) -> Uop | None:
    if _any_invalid(c0, c1, i, j):
        return None
    constants, others = alu(Ops.ADD, c0, c1), alu(Ops.ADD, i, j)
    first = u.src[1].src[1] is c1
    return x + (a.where(constants, others) if first else a.where(others, constants))


def _clamped_above(i: Uop, c0: Uop, c1: Uop, c2: Uop) -> Uop | None:
    whole = i + c1
    same = num(i, val(c0) + val(c1)) is c2
    return whole if same and i.vmax <= val(c0) else None


def _least(i: Uop, j: Uop) -> Uop | None:
    return i if i.vmax <= j.vmin else j if j.vmax <= i.vmin else None


def _greatest(i: Uop, j: Uop) -> Uop | None:
    return i if i.vmin >= j.vmax else j if j.vmin >= i.vmax else None


def _known(a: Uop, x: Uop, y: Uop) -> Uop | None:
    return None if a.vmin != a.vmax else x if a.vmin else y


_constant_arms = a.where(c0, c1)

WHERE: Final = [
    Rule("true ? x : y -> x, false ? x : y -> y", a.where(x, y), _known),
    Rule("a ? x : x -> x", a.where(x, x), lambda x: x),
    Rule("a ? true : false -> a", a.where(true, false), lambda a: a),
    Rule("a ? b : false -> a & b", a.where(b, false), lambda a, b: a & b),
    Rule(
        "a ? true : b -> a | b",
        a.where(true, b),
        lambda a, b: None if is_invalid(b) else a | b,
    ),
    Rule(
        "a ? false : b -> !a & b",
        a.where(false, b),
        lambda a, b: None if is_invalid(b) else a.logical_not() & b,
    ),
    Rule("a ? b : true -> !a | b", a.where(b, true), lambda a, b: a.logical_not() | b),
    Rule(
        "!a ? x : y -> a ? y : x  (y no Invalid)",
        a.logical_not().where(x, y),
        lambda a, x, y: None if is_invalid(y) else a.where(y, x),
    ),
    Rule(
        "a ? (a ? x : y) : z -> a ? x : z", a.where(a.where(x, y), z), lambda a, x, z: a.where(x, z)
    ),
    Rule(
        "a ? x : (a ? y : z) -> a ? x : z", a.where(x, a.where(y, z)), lambda a, x, z: a.where(x, z)
    ),
    Rule(
        "a ? (b ? x : y) : y -> a & b ? x : y",
        a.where(b.where(x, y), y),
        lambda a, b, x, y: (a & b).where(x, y),
    ),
    Rule(
        "a ? x : (b ? x : y) -> a | b ? x : y",
        a.where(x, b.where(x, y)),
        lambda a, b, x, y: (a | b).where(x, y),
    ),
    Rule(
        "(a ? c0 : i) op (a ? c1 : j) -> a ? c0 op c1 : i op j",
        UPat(_BINARY, src=(a.where(c0, i), a.where(c1, j)), name="u"),
        _same_condition,
    ),
    Rule(
        "(a ? i : c0) op (a ? j : c1) -> a ? i op j : c0 op c1",
        UPat(_BINARY, src=(a.where(i, c0), a.where(j, c1)), name="u"),
        _same_condition,
    ),
    Rule(
        "x + (a ? c0 : i) + (a ? c1 : j) -> x + (a ? c0+c1 : i+j)",
        UPat(
            Ops.ADD,
            dtype=INTS,
            src=(UPat(Ops.ADD, src=(x, a.where(c0, i))), a.where(c1, j)),
            name="u",
        ),
        _same_condition_added,
    ),
    Rule(
        "x + (a ? i : c0) + (a ? j : c1) -> x + (a ? i+j : c0+c1)",
        UPat(
            Ops.ADD,
            dtype=INTS,
            src=(UPat(Ops.ADD, src=(x, a.where(i, c0))), a.where(j, c1)),
            name="u",
        ),
        _same_condition_added,
    ),
    Rule(
        "i < c0 ? i + c1 : c0 + c1 -> i + c1  (i <= c0)",
        (i < c0).where(i + c1, c2),
        _clamped_above,
    ),
    Rule("i < j ? i : j -> the known least", (i < j).where(i, j), _least),
    Rule("i < j ? j : i -> the known greatest", (i < j).where(j, i), _greatest),
    Rule(
        "(a ? c0 : c1) < c2 -> a ? c0<c2 : c1<c2",
        UPat(Ops.CMPLT, src=(_constant_arms, c2), name="u"),
        _compare_arms,
    ),
    Rule(
        "c2 < (a ? c0 : c1) -> a ? c2<c0 : c2<c1",
        UPat(Ops.CMPLT, src=(c2, _constant_arms), name="u"),
        _compare_arms,
    ),
    Rule(
        "(a ? c0 : c1) ?= c2 -> a ? c0?=c2 : c1?=c2",
        UPat(_EQUALITY, src=[_constant_arms, c2], name="u"),
        _compare_arms,
    ),
]


def _bounded(u: Uop) -> Uop | None:
    """The one value that bounds leave. Last of all: bounds cost more than a look at the node."""
    low, high = u.vmin, u.vmax
    if low != high or is_constant(u):
        return None
    return num(u, low)


BOUNDS: Final = [
    Rule(
        "u -> c  (c <= u <= c)",
        UPat((*_ORDER, Ops.AND, Ops.OR, Ops.SHR, Ops.CDIV, Ops.CMOD, Ops.FLOORDIV, Ops.FLOORMOD),
             dtype=(bool_, *INTS), name="u"),
        _bounded,
    ),
]  # fmt: skip

RULES: Final = [*LOGIC, *NOT, *COMPARISONS, *WHERE]
