"""asin, acos, atan and atan2 of f64.

asin x = x + x**3 p(x**2) up to 1/2; past it asin x = pi/2 - 2 asin sqrt((1 - x)/2), the root as a
pair (Muller, *Elementary Functions*, chapter 11; fdlibm, e_asin.c). atan of a quotient n/d <= 1 is
atan c + atan t, t = (n - c d)/(d + c n), for c of 0, 1/2 and 1 whichever is near: n - c d is exact,
the denominator and t are pairs, |t| <= 1/4.
"""

from __future__ import annotations

import math

from ..arithmetic import Arithmetic, Real, horner
from .exact import SIGN, Pair, copysign, magnitude, ordered_sum

_HALF_PI = 1.5707963267948966, 6.123233995736766e-17
_PI = 3.141592653589793, 1.2246467991473532e-16
_ATAN_HALF = 0.4636476090008061, 2.2698777452961687e-17
_QUARTER_PI = 0.7853981633974483, 3.061616997868383e-17
"""Each as a sum."""

# fmt: off
ASIN = (
    0.16666666666666666, 0.07500000000000118, 0.044642857142551895, 0.03038194447553234,
    0.02237215744350722, 0.017352816540325496, 0.01396378001220357, 0.011566459612121669,
    0.009621842970100282, 0.009319560794767446, 0.0030448799094556773, 0.019554513336123378,
    -0.01924167174674304, 0.02961201126495512,
)
"""p on 0 … 1/4."""
ATAN = (
    -0.3333333333333333, 0.19999999999998921, -0.14285714285253562, 0.11111111035291911,
    -0.09090902827435111, 0.07692016123431836, -0.06658651772903566, 0.05752619086241913,
    -0.04101828156464053,
)
"""(atan t - t) / t**3 in powers of t**2, on 0 … 0.0626."""
# fmt: on


def asin(m: Arithmetic, x: Real) -> Real:
    """C23 F.10.1.2: asin(±0) is ±0, asin(|x| > 1) NaN."""
    size = magnitude(m, x)
    near = size + size * _above(m, size * size)
    root, low = _root(m, size)
    high, rest = ordered_sum(_HALF_PI[0], -2.0 * root)
    far = high + (rest + (_HALF_PI[1] - 2.0 * low))
    return copysign(m, m.where(size <= 0.5, near, far), x)


def acos(m: Arithmetic, x: Real) -> Real:
    """C23 F.10.1.1: acos(1) is +0, acos(|x| > 1) NaN."""
    size = magnitude(m, x)
    high, rest = ordered_sum(_HALF_PI[0], -x)
    near = high + (rest + (_HALF_PI[1] - x * _above(m, size * size)))
    root, low = _root(m, size)
    high, rest = ordered_sum(_PI[0], -2.0 * root)
    below = high + (rest + (_PI[1] - 2.0 * low))
    far = m.where(x < 0.0, below, 2.0 * (root + low))
    return m.where(size <= 0.5, near, far)


def _above(m: Arithmetic, z: Real) -> Real:
    """asin(x)/x - 1 at z = x**2 up to 1/4."""
    return z * horner(m, z, ASIN)


def _root(m: Arithmetic, size: Real) -> Pair:
    """asin sqrt((1 - size)/2), the root and what is to be added; for size in 1/2 … 1."""
    w = m.fma(size, -0.5, 0.5)  # exact
    root = m.sqrt(w)
    error = m.div(m.fma(-root, root, w), root + root + 2.0**-600)  # 0 where the root is 0
    return root, m.fma(root, _above(m, w), error)


def atan(m: Arithmetic, x: Real) -> Real:
    """C23 F.10.1.3: atan(±0) is ±0, atan(±inf) ±pi/2."""
    size = magnitude(m, x)
    size = m.where(size > 2.0**100, 2.0**100, size)  # pi/2 from here on
    swapped = size > 1.0
    high, low = _quotient(m, m.where(swapped, 1.0, size), m.where(swapped, size, 1.0))
    start = m.where(swapped, _HALF_PI[0], m.f64(0.0)), m.where(swapped, _HALF_PI[1], m.f64(0.0))
    return copysign(m, _from(m, start, swapped, high, low), x)


def atan2(m: Arithmetic, y: Real, x: Real) -> Real:
    """The angle of (x, y); edges as C23 F.10.1.4 says."""
    right, up = magnitude(m, x), magnitude(m, y)
    swapped = up > right
    n, d = m.where(swapped, right, up), m.where(swapped, up, right)
    scale = m.where(d > 2.0**900, 2.0**-200, m.where(n < 2.0**-900, 2.0**120, m.f64(1.0)))
    infinite = m.eq(d, math.inf)  # inf/inf counts as 1/1, a number/inf as 0/1
    n = m.where(infinite, m.where(n < math.inf, 0.0, m.where(m.eq(n, d), 1.0, n)), n * scale)
    d = m.where(infinite | m.eq(d, 0.0), 1.0, d * scale)
    high, low = _quotient(m, n, d)
    left = m.i64(m.bits64(x)) < 0
    start = [m.where(swapped, _HALF_PI[k], m.where(left, _PI[k], m.f64(0.0))) for k in (0, 1)]
    value = _from(m, (start[0], start[1]), swapped ^ left, high, low)
    value = copysign(m, value, y)
    return m.where(m.eq(x, x) & m.eq(y, y), value, math.nan)


def _quotient(m: Arithmetic, n: Real, d: Real) -> Pair:
    """atan(n / d) for 0 <= n <= d."""
    one, half = n > 0.72 * d, n > 0.25 * d
    c = m.where(one, 1.0, m.where(half, 0.5, m.f64(0.0)))
    above = m.fma(-c, d, n)  # exact: n and c d are within a factor of two
    below, below_low = ordered_sum(d, c * n)
    inverse = m.div(1.0, below)
    t = above * inverse
    t_low = inverse * (m.fma(-t, below, above) - t * below_low)
    z = t * t
    start = [m.where(one, _QUARTER_PI[k], m.where(half, _ATAN_HALF[k], m.f64(0.0))) for k in (0, 1)]
    high, low = ordered_sum(start[0], t)
    return high, low + (m.fma(t * z, horner(m, z, ATAN), t_low) + start[1])


def _from(m: Arithmetic, start: Pair, away: Real, high: Real, low: Real) -> Real:
    """start - (high + low) where ``away`` holds, else start + high + low."""
    sign = m.where(away, m.u64(SIGN), m.u64(0))
    high = m.float64(m.bits64(high) ^ sign)
    low = m.float64(m.bits64(low) ^ sign)
    total, rest = ordered_sum(start[0], high)
    return total + (rest + (low + start[1]))
