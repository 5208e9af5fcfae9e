"""sinh, cosh and tanh of an f64.

x = k ln 2 + r; with a = 2**(k-1) and b = 2**(-k-1),

    sinh x = (a - b) cosh r + (a + b) sinh r,    cosh x = (a + b) cosh r + (a - b) sinh r,

and cosh r = 1 + r**2 c(r**2), sinh r = r + r**3 s(r**2). Of each sum the constant and the term
linear in r are kept as a pair: the rest is small beside them, so cancellation (k = 1, r < 0) costs
nothing, and k = 0 is the series itself.
"""

from __future__ import annotations

from ..arithmetic import SHIFT, Arithmetic, Real, horner
from .exact import Pair, clamped, copysign, magnitude, ordered_sum, product
from .exponential import reduced

_BIASED = SHIFT + 1022
"""``n + _BIASED`` holds the exponent field of 2**(n-1) in its low bits."""
_TINY = 2.0**-27
"""Below this sinh x and tanh x round to x."""
_FAR = 40.0
"""From here on e**-x does not matter beside e**x."""

# fmt: off
COSH = (
    0.5, 0.04166666666666668, 0.001388888888887828, 2.4801587338540415e-05,
    2.7557261055508104e-07, 2.0918952345998524e-09,
)
"""c on 0 … 0.1225."""
SINH = (
    0.16666666666666669, 0.008333333333329796, 0.00019841269864364933, 2.7557266442353424e-06,
    2.5101335854788522e-08,
)
"""s on 0 … 0.1225."""
# fmt: on


def sinh(m: Arithmetic, x: Real) -> Real:
    """C23 F.10.2.5: sinh(±0) is ±0, sinh(±inf) ±inf."""
    size = clamped(m, magnitude(m, x), 0.0, 710.5)  # sinh 710.5 is infinite
    total, difference, sums = _parts(m, size)
    high, low = _combined(m, difference, total, sums)
    return copysign(m, m.where(size < _TINY, size, (high + low) * 2.0), x)


def cosh(m: Arithmetic, x: Real) -> Real:
    """C23 F.10.2.4: cosh(±0) is 1, cosh(±inf) inf."""
    size = clamped(m, magnitude(m, x), 0.0, 710.5)
    total, difference, sums = _parts(m, size)
    high, low = _combined(m, total, difference, sums)
    return (high + low) * 2.0


def tanh(m: Arithmetic, x: Real) -> Real:
    """C23 F.10.2.6: tanh(±0) is ±0, tanh(±inf) ±1."""
    size = clamped(m, magnitude(m, x), 0.0, 22.0)  # 1 - tanh 22 is below 2**-62
    total, difference, sums = _parts(m, size)
    above, above_low = _combined(m, difference, total, sums)
    below, below_low = _combined(m, total, difference, sums)
    inverse = m.div(1.0, below)
    ratio = above * inverse
    rest = m.fma(-ratio, below, above) + (above_low - ratio * below_low)
    return copysign(m, m.where(size < _TINY, size, m.fma(rest, inverse, ratio)), x)


_Sums = tuple[Pair, Real, Real]
"""r as a pair, cosh r - 1 and sinh r - r."""


def _parts(m: Arithmetic, size: Real) -> tuple[Pair, Pair, _Sums]:
    """a + b, a - b (halved, as pairs) and the series of r, for x = size in 0 … 710.5."""
    k, r = reduced(m, size)
    a = m.float64(m.bits64(k + (_BIASED - 1)) << 52)
    b = m.where(size > _FAR, 0.0, m.float64(m.bits64((_BIASED - 1) - k) << 52))
    z = r[0] * r[0]
    sums = r, z * horner(m, z, COSH), r[0] * z * horner(m, z, SINH)
    return ordered_sum(a, b), ordered_sum(a, -b), sums


def _combined(m: Arithmetic, of_cosh: Pair, of_sinh: Pair, sums: _Sums) -> Pair:
    """of_cosh * cosh r + of_sinh * sinh r; the low part need not be small beside the high."""
    (r, r_low), cosh_rest, sinh_rest = sums
    linear, rest = product(m, of_sinh[0], r)
    high, low = ordered_sum(of_cosh[0], linear)
    tiny = (low + rest) + m.fma(of_sinh[1], r, of_cosh[1])
    small = m.fma(of_sinh[0], sinh_rest + r_low, m.fma(of_cosh[0], cosh_rest, tiny))
    return ordered_sum(high, small)
