"""exp and exp2 of an f64.

x = k ln 2 + r with a whole k and |r| <= ln 2 / 2, r as a pair. e**r = 1 + r + r**2 q(r), whose two
first terms are summed exactly, so that all errors but the last rounding are below 0.15 ulp. 2**k is
multiplied in as two factors: overflow and subnormal results need no case of their own.
"""

from __future__ import annotations

from ..arithmetic import SHIFT, Arithmetic, Real, horner
from .exact import LN2, Pair, clamped, ordered_sum, product

_INVERSE_LN2 = 1.4426950408889634
LN2_PARTS = 0.6931471805598903, 5.497923018708371e-14
"""ln 2 as a sum; k times the first, of 42 bits, is exact for |k| < 2**11."""
_BIASED = SHIFT + 1023
"""``n + _BIASED`` holds n + 1023 in its low bits: shifted to the top, the f64 2**n."""

# fmt: off
EXP = (
    0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333325551, 0.0013888888888883332,
    0.00019841269876840357, 2.480158732699005e-05, 2.755725286336732e-06, 2.755727183153613e-07,
    2.5106262550879078e-08, 2.0915433598076003e-09,
)
# fmt: on
"""q on |r| <= 0.35."""


def exp(m: Arithmetic, x: Real) -> Real:
    """e**x; C23 F.10.3.1: exp(±0) is 1, exp(-inf) +0, exp(inf) inf."""
    k, r = reduced(m, clamped(m, x, -746.0, 710.0))  # e**-746 rounds to 0, e**710 to infinity
    return scaled(m, power(m, r), k)


def exp2(m: Arithmetic, x: Real) -> Real:
    """2**x; C23 F.10.3.2: exp2(±0) is 1, exp2(-inf) +0, exp2(inf) inf."""
    x = clamped(m, x, -1076.0, 1024.0)  # 2**-1076 rounds to 0, 2**1024 to infinity
    k = (x + SHIFT) - SHIFT
    return scaled(m, power(m, natural(m, x - k, 0.0)), k)


def reduced(m: Arithmetic, x: Real) -> tuple[Real, Pair]:
    """k and r as a pair, x = k ln 2 + r, for |x| < 800."""
    k = m.fma(x, _INVERSE_LN2, SHIFT) - SHIFT
    whole = m.fma(k, -LN2_PARTS[0], x)
    return k, ordered_sum(whole, k * -LN2_PARTS[1])


def natural(m: Arithmetic, r: Real, low: Real) -> Pair:
    """(r + low) ln 2 as a pair."""
    high, rest = product(m, r, LN2[0])
    return high, m.fma(low, LN2[0], m.fma(r, LN2[1], rest))


def power(m: Arithmetic, r: Pair) -> Real:
    """e**(r0 + r1) for |r0| <= 0.35."""
    high, low = r
    one, rest = ordered_sum(1.0, high)
    return one + (rest + m.fma(high * high, horner(m, high, EXP), low))


def scaled(m: Arithmetic, value: Real, k: Real) -> Real:
    """value * 2**k, rounded once, for a whole k within ±2044."""
    half = m.fma(k, 0.5, _BIASED)
    rest = (k - (half - _BIASED)) + _BIASED
    return value * m.float64(m.bits64(half) << 52) * m.float64(m.bits64(rest) << 52)
