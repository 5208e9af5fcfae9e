"""Rules on floats: each exact for every input, NaN, infinities and both zeros included.

So `x + 0`, `x * 0`, `x - x` and `x / x` do not fold, and nothing is reassociated. Which NaN an
operation makes is not observable. A negation over MAX or a product stays where it is: minimum is
written -max(-a, -b), and renderers look for that.
"""

from __future__ import annotations

import math
from typing import Final

from dynamis.dtype import round_float
from dynamis.uop.folding import alu, fold, num, val
from dynamis.uop.matcher import Rule
from dynamis.uop.node import Uop
from dynamis.uop.ops import Ops
from dynamis.uop.upat import FLOATS, UPat

x, y, z = (UPat.var(name, FLOATS) for name in "xyz")
negative = -x
zero = UPat(Ops.CONST, dtype=FLOATS, value=0.0, name="c0")  # either zero: the sign is asked below
c0, c1 = UPat.cvar("c0", FLOATS), UPat.cvar("c1", FLOATS)


def _negative(c: Uop) -> bool:
    return math.copysign(1.0, val(c)) < 0


def _times_inverse(x: Uop, c0: Uop) -> Uop | None:
    """x / c as x * (1/c): c and its inverse are powers of two of the dtype."""
    c = val(c0)
    if c == 0.0 or not math.isfinite(c) or abs(math.frexp(c)[0]) != 0.5:
        return None
    dtype = x.dtype.base
    inverse = 1.0 / c if abs(c) > 2.0**-1023 else math.inf
    if not math.isfinite(inverse) or round_float(inverse, dtype.scalarize()) != inverse:
        return None
    return alu(Ops.MUL, x, num(x, inverse))


def _trunc_is_whole(t: Uop) -> Uop | None:
    inner = t.src[0]
    return t if inner.dtype.is_int or inner.dtype.is_bool else None


RULES: Final = [
    Rule("x + -0.0 -> x", x + zero, lambda x, c0: x if _negative(c0) else None),
    Rule("x - 0.0 -> x", x - zero, lambda x, c0: None if _negative(c0) else x),
    Rule(
        "-0.0 - x -> -x", UPat(Ops.SUB, src=(zero, x)), lambda x, c0: -x if _negative(c0) else None
    ),
    Rule("x * 1 -> x", x * 1, lambda x: x),
    Rule("x * -1 -> -x", x * -1, lambda x: -x),
    Rule("x / 1 -> x", x / 1, lambda x: x),
    Rule("x / 2**k -> x * 2**-k", x / c0, _times_inverse),
    Rule("-(-x) -> x", -negative, lambda x: x),
    Rule("x + -y -> x - y", x + -y, lambda x, y: x - y),
    Rule("x - -y -> x + y", x - (-y), lambda x, y: x + y),
    Rule("-x * -y -> x * y", -x * -y, lambda x, y: x * y),
    Rule("-x / -y -> x / y", -x / -y, lambda x, y: x / y),
    Rule("-x * c -> x * -c", -x * c0, lambda x, c0: x * fold(Ops.NEG, c0)),
    Rule("-x * y -> -(x * y)", -x * y, lambda x, y: -(x * y)),
    Rule("-x / c -> x / -c", -x / c0, lambda x, c0: x / fold(Ops.NEG, c0)),
    Rule("max(x, x) -> x", x.maximum(x), lambda x: x),
    Rule("max(max(x, y), y) -> max(x, y)", x.maximum(y).named("m").maximum(y), lambda m: m),
    Rule(
        "max(max(x, c0), c1) -> max(x, max(c0, c1))",
        x.maximum(c0).maximum(c1),
        lambda x, c0, c1: x.maximum(fold(Ops.MAX, c0, c1)),
    ),
    Rule(
        "trunc(trunc(x)) -> trunc(x)",
        UPat(Ops.TRUNC, src=(UPat(Ops.TRUNC, dtype=FLOATS, name="t"),)),
        lambda t: t,
    ),
    Rule(
        "trunc(float(i)) -> float(i)",
        UPat(Ops.TRUNC, src=(UPat(Ops.CAST, dtype=FLOATS, name="t"),)),
        _trunc_is_whole,
    ),
    Rule(
        "fma(x, 1, y) -> x + y", UPat(Ops.MULACC, src=(x, UPat.const(1.0), y)), lambda x, y: x + y
    ),
    Rule(
        "fma(x, y, -0.0) -> x * y",
        UPat(Ops.MULACC, src=(x, y, zero)),
        lambda x, y, c0: x * y if _negative(c0) else None,
    ),
]
