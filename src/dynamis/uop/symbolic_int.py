"""Rules on integers.

Every integer dtype is a ring modulo 2**n (weakint: the integers), so rules of rings hold under
wrap-around. Rules about order and division do not: they ask `cannot_wrap` or bounds.
"""

from __future__ import annotations

from typing import Final

from dynamis.dtype import Val, int8, int16, int32, int64, uint8, uint16, uint32, uint64, weakint
from dynamis.uop.bounds import cannot_wrap
from dynamis.uop.folding import alu, fold, in_range, is_constant, num, val
from dynamis.uop.matcher import Rule
from dynamis.uop.node import Uop
from dynamis.uop.ops import Op, Ops
from dynamis.uop.upat import UPat

INTS: Final[tuple[Val, ...]] = (
    weakint, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
)  # fmt: skip

x, y, z = (UPat.var(name, INTS) for name in "xyz")
negative = -x
zero = UPat.const(0, INTS)
c0, c1 = UPat.cvar("c0", INTS), UPat.cvar("c1", INTS)
# a constant in each lane, or one for all; `fold` and `is_constant` tell which
k0, k1 = (UPat((Ops.CONST, Ops.STACK), dtype=INTS, name=name) for name in ("k0", "k1"))


def _ones(u: Uop) -> int:
    """The value of u's dtype with every bit set."""
    return int(u.dtype.scalar.max) if u.dtype.is_unsigned else -1


def _is_ones(c: Uop) -> bool:
    return bool(val(c) == _ones(c))


def _covers(c: Uop, u: Uop) -> bool:
    """Whether c is 2**k - 1 and u is within 0..c."""
    n = val(c)
    return bool(n > 0 and n & (n + 1) == 0 and u.vmin >= 0 and u.vmax <= n)


def _with(op: Op, a: Uop, k: Uop | None) -> Uop | None:
    return None if k is None else alu(op, a, k)


def _plus(a: Uop, k: Uop | None) -> Uop | None:
    return _with(Ops.ADD, a, k)


IDENTITIES: Final = [
    Rule("x + 0 -> x", x + 0, lambda x: x),
    Rule("x - 0 -> x", x - 0, lambda x: x),
    Rule("0 - x -> -x", 0 - x, lambda x: -x),
    Rule("x - x -> 0", x - x, lambda x: num(x, 0)),
    Rule("-(-x) -> x", -negative, lambda x: x),
    Rule("x * 1 -> x", x * 1, lambda x: x),
    Rule("x * 0 -> 0", x * 0, lambda x: num(x, 0)),
    Rule("x * -1 -> -x", x * c0, lambda x, c0: -x if _is_ones(c0) else None),
    Rule("x ^ 0 -> x", x ^ 0, lambda x: x),
    Rule("x ^ x -> 0", x ^ x, lambda x: num(x, 0)),
    Rule("x | 0 -> x", x | 0, lambda x: x),
    Rule("x | ~0 -> ~0", x | c0, lambda x, c0: c0 if _is_ones(c0) else None),
    Rule("x & 0 -> 0", x & 0, lambda x: num(x, 0)),
    Rule("x & ~0 -> x", x & c0, lambda x, c0: x if _is_ones(c0) else None),
    Rule("x & 2**k-1 -> x  (0 <= x < 2**k)", x & c0, lambda x, c0: x if _covers(c0, x) else None),
    Rule("x << 0 -> x", x << 0, lambda x: x),
    Rule("x >> 0 -> x", x >> 0, lambda x: x),
    Rule("0 << x -> 0", zero.named("c0") << x, lambda c0: c0),
    Rule("0 >> x -> 0", zero.named("c0") >> x, lambda c0: c0),
    Rule("mulacc(x, y, z) -> x*y + z", UPat(Ops.MULACC, src=(x, y, z)), lambda x, y, z: x * y + z),
    Rule("trunc(x) -> x", UPat(Ops.TRUNC, src=(x,)), lambda x: x),
]

NEGATION: Final = [
    Rule("x - k -> x + -k", x - k0, lambda x, k0: _plus(x, fold(Ops.NEG, k0))),
    Rule("x + -y -> x - y", x + -y, lambda x, y: x - y),
    Rule("x - -y -> x + y", x - (-y), lambda x, y: x + y),
    Rule("-(x - y) -> y - x", -(x - y), lambda x, y: y - x),
    Rule("-(x + k) -> -k - x", -(x + k0), lambda x, k0: (k := fold(Ops.NEG, k0)) and k - x),
    Rule("-x * k -> x * -k", -x * k0, lambda x, k0: _with(Ops.MUL, x, fold(Ops.NEG, k0))),
    Rule("-(x * k) -> x * -k", -(x * k0), lambda x, k0: _with(Ops.MUL, x, fold(Ops.NEG, k0))),
]

CANCELLATION: Final = [
    Rule("(x + y) - y -> x", (x + y) - y, lambda x: x),
    Rule("x - (x + y) -> -y", x - (x + y), lambda y: -y),
    Rule("(x - y) + y -> x", (x - y) + y, lambda x: x),
    Rule("x - (x - y) -> y", x - (x - y), lambda y: y),
    Rule("(x - y) - x -> -y", (x - y) - x, lambda y: -y),
    Rule("(x ^ y) ^ y -> x", (x ^ y) ^ y, lambda x: x),
]

LIKE_TERMS: Final = [
    Rule("x + x -> x*2", x + x, lambda x: x * num(x, 2)),
    Rule("x*c0 + x -> x*(c0+1)", x * c0 + x, lambda x, c0: x * num(x, val(c0) + 1)),
    Rule("x*c0 - x -> x*(c0-1)", x * c0 - x, lambda x, c0: x * num(x, val(c0) - 1)),
    Rule("x*c0 + x*c1 -> x*(c0+c1)", x * c0 + x * c1, lambda x, c0, c1: x * fold(Ops.ADD, c0, c1)),
    Rule("x*c0 - x*c1 -> x*(c0-c1)", x * c0 - x * c1, lambda x, c0, c1: x * fold(Ops.SUB, c0, c1)),
]


def _shift_twice(op: Op, x: Uop, c0: Uop, c1: Uop) -> Uop | None:
    bits = x.dtype.scalar.bits
    count = val(c0) % bits + val(c1) % bits
    return alu(op, x, num(c1, count)) if count < bits and in_range(c1, count) else None


def _short_count(op: Op, x: Uop, c0: Uop) -> Uop | None:
    bits = x.dtype.scalar.bits
    return None if 0 <= val(c0) < bits else alu(op, x, num(c0, val(c0) % bits))


def _merge_added(x: Uop, k0: Uop, k1: Uop) -> Uop | None:
    # a constant for all lanes stays apart from one for each: see LANES
    return _plus(x, fold(Ops.ADD, k0, k1)) if k0.op is k1.op else None


def _distribute(x: Uop, k0: Uop, k1: Uop) -> Uop | None:
    return _plus(alu(Ops.MUL, x, k1), fold(Ops.MUL, k0, k1))


CONSTANTS: Final = [
    Rule("(x + k0) + k1 -> x + (k0+k1)", (x + k0) + k1, _merge_added),
    Rule(
        "(k0 - x) + k1 -> (k0+k1) - x",
        (k0 - x) + k1,
        lambda x, k0, k1: (k := fold(Ops.ADD, k0, k1)) and k - x,
    ),
    Rule(
        "k0 - (x + k1) -> (k0-k1) - x",
        k0 - (x + k1),
        lambda x, k0, k1: (k := fold(Ops.SUB, k0, k1)) and k - x,
    ),
    Rule(
        "k0 - (k1 - x) -> x + (k0-k1)",
        k0 - (k1 - x),
        lambda x, k0, k1: _plus(x, fold(Ops.SUB, k0, k1)),
    ),
    Rule(
        "(x * k0) * k1 -> x * (k0*k1)",
        (x * k0) * k1,
        lambda x, k0, k1: _with(Ops.MUL, x, fold(Ops.MUL, k0, k1)),
    ),
    Rule("(x + k0) * k1 -> x*k1 + k0*k1", (x + k0) * k1, _distribute),
    Rule(
        "(x & k0) & k1 -> x & (k0&k1)",
        (x & k0) & k1,
        lambda x, k0, k1: _with(Ops.AND, x, fold(Ops.AND, k0, k1)),
    ),
    Rule(
        "(x | k0) | k1 -> x | (k0|k1)",
        (x | k0) | k1,
        lambda x, k0, k1: _with(Ops.OR, x, fold(Ops.OR, k0, k1)),
    ),
    Rule(
        "(x ^ k0) ^ k1 -> x ^ (k0^k1)",
        (x ^ k0) ^ k1,
        lambda x, k0, k1: _with(Ops.XOR, x, fold(Ops.XOR, k0, k1)),
    ),
    Rule("x << c0 -> x << c0 % width", x << c0, lambda x, c0: _short_count(Ops.SHL, x, c0)),
    Rule("x >> c0 -> x >> c0 % width", x >> c0, lambda x, c0: _short_count(Ops.SHR, x, c0)),
    Rule(
        "(x << c0) << c1 -> x << (c0+c1)",
        (x << c0) << c1,
        lambda x, c0, c1: _shift_twice(Ops.SHL, x, c0, c1),
    ),
    Rule(
        "(x >> c0) >> c1 -> x >> (c0+c1)",
        (x >> c0) >> c1,
        lambda x, c0, c1: _shift_twice(Ops.SHR, x, c0, c1),
    ),
]


def _to_tail(op: Op, x: Uop, k0: Uop, y: Uop) -> Uop | None:
    return alu(op, alu(op, x, y), k0) if is_constant(k0) and not is_constant(y) else None


def _lanes_to_tail(x: Uop, k0: Uop, c1: Uop) -> Uop | None:
    if k0.op is not Ops.STACK or not is_constant(k0) or is_constant(x):
        return None
    return alu(Ops.ADD, alu(Ops.ADD, x, c1), k0)


def _first_lane_zero(x: Uop, k0: Uop) -> Uop | None:
    if k0.op is not Ops.STACK or not is_constant(k0) or is_constant(x) or val(k0.src[0]) == 0:
        return None
    first = k0.src[0]
    return _plus(alu(Ops.ADD, x, first), fold(Ops.SUB, k0, first))


# Constants go outwards, where they meet: first the one for all lanes, then the one for each lane.
# A constant for each lane starts with 0, so that x + (0, s, 2s, ...) shows base and stride.
TAILS: Final = [
    Rule("(x + k) + y -> (x + y) + k", (x + k0) + y, lambda x, k0, y: _to_tail(Ops.ADD, x, k0, y)),
    Rule(
        "(x + k) - y -> (x - y) + k",
        (x + k0) - y,
        lambda x, k0, y: _plus(x - y, k0 if is_constant(k0) and not is_constant(y) else None),
    ),
    Rule(
        "x - (y + k) -> (x - y) + -k",
        x - (y + k0),
        lambda x, y, k0: None if is_constant(x) else _plus(x - y, fold(Ops.NEG, k0)),
    ),
    Rule("(x * k) * y -> (x * y) * k", (x * k0) * y, lambda x, k0, y: _to_tail(Ops.MUL, x, k0, y)),
    Rule("(x & k) & y -> (x & y) & k", (x & k0) & y, lambda x, k0, y: _to_tail(Ops.AND, x, k0, y)),
    Rule("(x | k) | y -> (x | y) | k", (x | k0) | y, lambda x, k0, y: _to_tail(Ops.OR, x, k0, y)),
    Rule("(x ^ k) ^ y -> (x ^ y) ^ k", (x ^ k0) ^ y, lambda x, k0, y: _to_tail(Ops.XOR, x, k0, y)),
    Rule("(x + lanes) + c -> (x + c) + lanes", (x + k0) + c1, _lanes_to_tail),
    Rule("x + (a, b, ...) -> (x + a) + (0, b-a, ...)", x + k0, _first_lane_zero),
]


def _quotient_is_fixed(x: Uop, c: Uop) -> Uop | None:
    n, low, high = val(c), x.vmin, x.vmax
    if n == 0 or low > high or low // n != high // n:
        return None
    return _plus(x, num(x, -(low // n) * n))


def _take_out(u: Uop, n: Uop, y: Uop | None, c0: Uop, c1: Uop, x: Uop) -> Uop | None:
    """(x*c0 + y) // c1 or % c1 , c1 a divisor of c0: the multiple leaves. `n` is the dividend."""
    a, b = val(c0), val(c1)
    if b == 0 or a % b or not cannot_wrap(n):
        return None
    product = n if y is None else next(s for s in n.src if s is not y)
    if not cannot_wrap(product):
        return None
    if u.op is Ops.FLOORMOD:
        return num(x, 0) if y is None else alu(Ops.FLOORMOD, y, c1)
    whole = alu(Ops.MUL, x, num(x, a // b))
    return whole if y is None else _plus(whole, alu(Ops.FLOORDIV, y, c1))


def _nested_quotient(u: Uop, x: Uop, c0: Uop, c1: Uop) -> Uop | None:
    n = val(c0) * val(c1)
    return alu(u.op, x, num(x, n)) if val(c0) > 0 and val(c1) > 0 and in_range(x, n) else None


def _wider_period(u: Uop, x: Uop, c0: Uop, c1: Uop) -> Uop | None:
    a, b = val(c0), val(c1)
    return alu(u.op, x, c1) if a > 0 and b > 0 and a % b == 0 else None


def _quotient_one(x: Uop) -> Uop | None:
    return num(x, 1) if x.vmin > 0 or x.vmax < 0 else None


_FLOORDIV, _FLOORMOD, _CDIV = (Ops.FLOORDIV,), (Ops.FLOORMOD,), (Ops.CDIV,)
_DIV = (Ops.FLOORDIV, Ops.CDIV)
_MOD = (Ops.FLOORMOD, Ops.CMOD)
_dividend = UPat(Ops.ADD, src=[x * c0, y], name="n")
_multiple = (x * c0).named("n")


def _either(ops: tuple[Op, ...], a: UPat, b: UPat) -> UPat:
    return UPat(ops, src=(a, b), name="u")


# x // 0 is 0 and x % 0 is x, in both flavours; MIN // -1 wraps, as -MIN does
DIVISION: Final = [
    Rule("x // 0 -> 0", _either(_DIV, x, zero), lambda x: num(x, 0)),
    Rule("x % 0 -> x", _either(_MOD, x, zero), lambda x: x),
    Rule("0 // x -> 0", _either(_DIV, zero, x), lambda x: num(x, 0)),
    Rule("0 % x -> 0", _either(_MOD, zero, x), lambda x: num(x, 0)),
    Rule("x // 1 -> x", _either(_DIV, x, UPat.const(1)), lambda x: x),
    Rule("x % 1 -> 0", _either(_MOD, x, UPat.const(1)), lambda x: num(x, 0)),
    Rule("x // -1 -> -x", _either(_DIV, x, UPat.const(-1)), lambda x: -x),
    Rule("x % -1 -> 0", _either(_MOD, x, UPat.const(-1)), lambda x: num(x, 0)),
    Rule("x // x -> 1  (x != 0)", _either(_DIV, x, x), _quotient_one),
    Rule("x % x -> 0", _either(_MOD, x, x), lambda x: num(x, 0)),
    Rule("(x % y) % y -> x % y", (x % y).named("r") % y, lambda r: r),
    Rule("cmod(cmod(x, y), y) -> cmod(x, y)", x.cmod(y).named("r").cmod(y), lambda r: r),
    Rule("x % y + (x // y)*y -> x", x % y + (x // y) * y, lambda x: x),
    Rule("cmod(x, y) + cdiv(x, y)*y -> x", x.cmod(y) + x.cdiv(y) * y, lambda x: x),
    Rule("x % c -> x - q*c  (x // c is q)", x % c0, lambda x, c0: _quotient_is_fixed(x, c0)),
    Rule(
        "cmod(x, c) -> x  (|x| < |c|)",
        x.cmod(c0),
        lambda x, c0: x if -abs(val(c0)) < x.vmin and x.vmax < abs(val(c0)) else None,
    ),
    Rule("(x // c0) // c1 -> x // (c0*c1)", _either(_FLOORDIV, x // c0, c1), _nested_quotient),
    Rule(
        "cdiv(cdiv(x, c0), c1) -> cdiv(x, c0*c1)",
        _either(_CDIV, x.cdiv(c0), c1),
        _nested_quotient,
    ),
    Rule("(x % (k*c1)) % c1 -> x % c1", _either(_FLOORMOD, x % c0, c1), _wider_period),
    Rule("(x*(k*c) + y) // c -> x*k + y // c", _either(_FLOORDIV, _dividend, c1), _take_out),
    Rule("(x*(k*c) + y) % c -> y % c", _either(_FLOORMOD, _dividend, c1), _take_out),
    Rule(
        "(x*(k*c)) // c -> x*k",
        _either(_FLOORDIV, _multiple, c1),
        lambda u, n, c0, c1, x: _take_out(u, n, None, c0, c1, x),
    ),
    Rule(
        "(x*(k*c)) % c -> 0",
        _either(_FLOORMOD, _multiple, c1),
        lambda u, n, c0, c1, x: _take_out(u, n, None, c0, c1, x),
    ),
]


def _greatest(x: Uop, y: Uop) -> Uop | None:
    return x if x.vmin >= y.vmax else None


LATTICE: Final = [
    Rule("max(x, x) -> x", x.maximum(x), lambda x: x),
    Rule("max(x, y) -> x  (x >= y)", x.maximum(y), _greatest),
    Rule(
        "max(max(x, k0), k1) -> max(x, max(k0, k1))",
        x.maximum(k0).maximum(k1),
        lambda x, k0, k1: _with(Ops.MAX, x, fold(Ops.MAX, k0, k1)),
    ),
    Rule(
        "max(max(x, k), y) -> max(max(x, y), k)",
        x.maximum(k0).maximum(y),
        lambda x, k0, y: _to_tail(Ops.MAX, x, k0, y),
    ),
    Rule("max(max(x, y), y) -> max(x, y)", x.maximum(y).named("m").maximum(y), lambda m: m),
    Rule("(x & y) & y -> x & y", (x & y).named("m") & y, lambda m: m),
    Rule("(x | y) | y -> x | y", (x | y).named("m") | y, lambda m: m),
    Rule("x & (x | y) -> x", x & (x | y), lambda x: x),
    Rule("x | (x & y) -> x", x | (x & y), lambda x: x),
    Rule("x & x -> x", x & x, lambda x: x),
    Rule("x | x -> x", x | x, lambda x: x),
]

RULES: Final = [
    *IDENTITIES, *NEGATION, *CANCELLATION, *LIKE_TERMS, *CONSTANTS, *TAILS, *DIVISION, *LATTICE,
]  # fmt: skip
