"""pow of two f64: 2**(y log2 x), the exponent as a pair.

y log2 x is at most about 1100 where it matters, so log2 x is taken to 2**-66 of its value.
"""

from __future__ import annotations

import math

from ..arithmetic import SHIFT, Arithmetic, Real, Truth
from .exact import SIGN, clamped, magnitude, ordered_sum, product
from .exponential import natural, power, scaled
from .logarithm import log2_pair

_WHOLE = 2.0**52
"""From here on every f64 is whole."""


def pow(m: Arithmetic, x: Real, y: Real) -> Real:
    """x**y; edges as C23 F.10.4.5 says: 1 for y = 0 and for x = 1 whatever the other is, NaN for a
    finite x < 0 and a y that is not whole, the sign of x where y is odd."""
    size, exponent = magnitude(m, x), magnitude(m, y)
    edge = m.eq(size, 0.0) | m.eq(size, math.inf)
    # past 2**66 only the sign of log2 x counts, which is 0 or at least 2**-53
    high, low = log2_pair(m, size)
    y_near = clamped(m, y, -(2.0**66), 2.0**66)
    p, rest = product(m, y_near, high)
    near = magnitude(m, p) < 1100.0
    p = clamped(m, p, -1100.0, 1100.0)
    k = (p + SHIFT) - SHIFT
    rest = m.where(near, m.fma(y_near, low, rest), 0.0)
    value = scaled(m, power(m, natural(m, *ordered_sum(p - k, rest))), k)
    value = m.where(edge, m.where((size > 1.0) ^ (y > 0.0), 0.0, m.f64(math.inf)), value)

    whole = _is_whole(m, exponent)
    odd = whole & m.not_(_is_whole(m, exponent * 0.5))
    value = m.float64(m.bits64(value) | m.where(odd, m.bits64(x) & SIGN, m.u64(0)))
    real = whole | edge | m.not_(x < 0.0)
    value = m.where(real & m.eq(x, x) & m.eq(y, y), value, math.nan)
    return m.where(m.eq(y, 0.0) | m.eq(x, 1.0), 1.0, value)


def _is_whole(m: Arithmetic, x: Real) -> Truth:
    """Whether x >= 0 is a whole number (or infinite)."""
    return (x >= _WHOLE) | m.eq((x + _WHOLE) - _WHOLE, x)
