"""exp and exp2 of an f32, correctly rounded.

x is split into k + r with a whole k, |r| at most a half (times ln 2 for exp), exactly for exp2 and
to 2**-107 for exp; the value is 2**k * p(r). The polynomial is good to 2**-50, so its f64 is seldom
on the wrong side of the middle of two f32: for exp never, for exp2 twice, as the walk over all f32
shows. Scaling by 2**k in f64 and rounding to f32 once gives subnormal results and infinity without
a case of their own.
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
    1.0, 1.0000000000000013, 0.5000000000000001, 0.16666666666615648, 0.041666666666624164,
    0.008333333367311605, 0.0013888888917196719, 0.00019841190647543324, 2.480152132236793e-05,
    2.763264067586544e-06, 2.762007588034591e-07,
)
"""e**r in powers of r, for |r| <= ln(2)/2, within 2**-50.6."""
_EXP2 = (
    1.0, 0.6931471805599462, 0.24022650695910075, 0.05550410866465167, 0.009618129107618665,
    0.0013333558200794592, 0.00015403530424776529, 1.5252672924850737e-05, 1.3215451633221434e-06,
    1.0205905413765595e-07, 7.070977866508138e-09,
)
"""2**r, for |r| <= 1/2, within 2**-50.6."""
# fmt: on
_EXP2_TIES = (
    (0.0029695758130401373, 1.0020605325698853),
    (-0.029743773862719536, 0.9795942902565002),
)
"""Where the f64 nearest to 2**x is the middle of two f32, and the wrong one of them is even."""


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
    value = m.narrow(horner(m, r, _EXP2) * _power(m, shifted))
    for argument, right in _EXP2_TIES:
        value = m.where(m.eq(x, argument), right, value)
    return value


def _power(m: Arithmetic, shifted: Real) -> Real:
    """2**k of k + _SHIFT, for -1023 < k <= 1023."""
    return m.float64(m.bits64(shifted) << 52)
