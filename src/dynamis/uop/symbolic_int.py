"""Rules on integers.

Every integer dtype is a ring modulo 2**n (weakint: the integers), so rules of rings hold under
wrap-around. Rules about order and division do not: they ask whether values are exact, or bounds.
Sums have no rules here: they are written from their linear form (see `sums`).
"""

from __future__ import annotations

from typing import Final

from dynamis.uop.folding import alu, fold, in_range, is_constant, num, val
from dynamis.uop.matcher import Rule
from dynamis.uop.node import Uop
from dynamis.uop.ops import Op, Ops
from dynamis.uop.symbolic_divmod import DIVMOD
from dynamis.uop.upat import INTS, UPat

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

PRODUCTS: Final = [
    Rule("-x * k -> x * -k", -x * k0, lambda x, k0: _with(Ops.MUL, x, fold(Ops.NEG, k0))),
    Rule(
        "(x * k0) * k1 -> x * (k0*k1)",
        (x * k0) * k1,
        lambda x, k0, k1: _with(Ops.MUL, x, fold(Ops.MUL, k0, k1)),
    ),
    Rule("(x + k0) * k1 -> x*k1 + k0*k1", (x + k0) * k1, lambda x, k0, k1: _distribute(x, k0, k1)),
    Rule("(k0 - x) * k1 -> x*-k1 + k0*k1", (k0 - x) * k1, lambda x, k0, k1: _opposite(x, k0, k1)),
    Rule("(x ^ y) ^ y -> x", (x ^ y) ^ y, lambda x: x),
]


def _shift_twice(op: Op, x: Uop, c0: Uop, c1: Uop) -> Uop | None:
    bits = x.dtype.scalar.bits
    count = val(c0) % bits + val(c1) % bits
    return alu(op, x, num(c1, count)) if count < bits and in_range(c1, count) else None


def _short_count(op: Op, x: Uop, c0: Uop) -> Uop | None:
    bits = x.dtype.scalar.bits
    return None if 0 <= val(c0) < bits else alu(op, x, num(c0, val(c0) % bits))


def _distribute(x: Uop, k0: Uop, k1: Uop) -> Uop | None:
    return _plus(alu(Ops.MUL, x, k1), fold(Ops.MUL, k0, k1))


def _opposite(x: Uop, k0: Uop, k1: Uop) -> Uop | None:
    minus = fold(Ops.NEG, k1)
    return None if minus is None else _plus(alu(Ops.MUL, x, minus), fold(Ops.MUL, k0, k1))


CONSTANTS: Final = [
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


# Constants go outwards, where they meet.
TAILS: Final = [
    Rule("(x * k) * y -> (x * y) * k", (x * k0) * y, lambda x, k0, y: _to_tail(Ops.MUL, x, k0, y)),
    Rule("(x & k) & y -> (x & y) & k", (x & k0) & y, lambda x, k0, y: _to_tail(Ops.AND, x, k0, y)),
    Rule("(x | k) | y -> (x | y) | k", (x | k0) | y, lambda x, k0, y: _to_tail(Ops.OR, x, k0, y)),
    Rule("(x ^ k) ^ y -> (x ^ y) ^ k", (x ^ k0) ^ y, lambda x, k0, y: _to_tail(Ops.XOR, x, k0, y)),
]


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
    *DIVMOD,
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
    *IDENTITIES, *PRODUCTS, *CONSTANTS, *TAILS, *DIVISION, *LATTICE,
]  # fmt: skip
