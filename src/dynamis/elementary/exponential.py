"""exp and exp2 of an f32, correctly rounded.

x is split into k + r with a whole k, |r| at most a half (times ln 2 for exp), exactly for exp2 and
to 2**-107 for exp; the value is 2**k * p(r). The polynomial has an error near 2**-53, so its f64 is
rarely on the wrong side of the middle of two f32, and its coefficients are chosen so that it never
is: the walk over all f32 shows it. Scaling by 2**k in f64 and rounding to f32 once gives subnormal
results and infinity without a case of their own.
"""

from __future__ import annotations

from .arithmetic import SHIFT, Arithmetic, Real, horner

_BIAS = 1023
_SHIFT = SHIFT + _BIAS
"""``x + _SHIFT`` holds k + 1023 in its low bits: shifted to the top, the f64 2**k."""
_INVERSE_LN2 = 1.4426950408889634
_LN2 = 0.6931471805599453, 2.3190468138462996e-17
"""ln 2 as a sum. k times the first, taken from x, is exact: a multiple of 2**-53 below 1/2."""

# fmt: off
_EXP = (
    1.0, 1.0, 0.5000000000000006, 0.1666666666666667, 0.04166666666657314, 0.008333333333326141,
    0.0013888888932488599, 0.00019841269874800493, 2.480150434699673e-05, 2.75572554257457e-06,
    2.7626357241846085e-07, 2.5105206374263736e-08,
)
_EXP2 = (
    1.0, 0.6931471805599453, 0.24022650695910097, 0.0555041086648216, 0.009618129107606888,
    0.0013333558146416936, 0.0001540353044173605, 1.525273382983612e-05, 1.321544258792169e-06,
    1.0178062445845774e-07, 7.072585949269223e-09, 4.4549605981865186e-10,
)
# fmt: on


def _clamped(m: Arithmetic, x: Real, low: float, high: float) -> Real:
    """``x`` within low…high, NaN kept."""
    x = m.where(x < low, low, x)
    return m.where(x > high, high, x)


def exp(m: Arithmetic, x: Real) -> Real:
    """e**x of an f32, to nearest; C23 F.10.3.1: exp(±0) is 1, exp(-inf) +0, exp(inf) inf."""
    w = m.wide(_clamped(m, x, -104.0, 89.0))  # e**-104 rounds to 0, e**89 to infinity
    shifted = m.fma(w, _INVERSE_LN2, _SHIFT)
    k = shifted - _SHIFT
    r = m.fma(k, -_LN2[1], m.fma(k, -_LN2[0], w))
    return m.narrow(horner(m, r, _EXP) * _power(m, shifted))


def exp2(m: Arithmetic, x: Real) -> Real:
    """2**x of an f32, to nearest; C23 F.10.3.2: exp2(±0) is 1, exp2(-inf) +0, exp2(inf) inf."""
    w = m.wide(_clamped(m, x, -151.0, 128.0))  # 2**-151 rounds to 0, 2**128 to infinity
    shifted = w + _SHIFT
    r = w - (shifted - _SHIFT)
    return m.narrow(horner(m, r, _EXP2) * _power(m, shifted))


def _power(m: Arithmetic, shifted: Real) -> Real:
    """2**k of k + _SHIFT, for -1023 < k <= 1023."""
    return m.float64(m.bits64(shifted) << 52)
