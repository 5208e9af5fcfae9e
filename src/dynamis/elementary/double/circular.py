"""sin, cos and tan of an f64, for every argument.

x = q pi/2 + r (``reduction.py``), r as a pair with |r| <= pi/4 and a little; sin r and cos r are
polynomials whose leading terms are kept exact (Muller, *Elementary Functions*, chapter 11; fdlibm,
k_sin.c and k_cos.c), and q says which of them, with which sign.
"""

from __future__ import annotations

from ..arithmetic import Arithmetic, Real, horner
from .exact import SIGN, Pair, ordered_sum, product
from .reduction import reduced

# fmt: off
SIN = (
    -0.16666666666666666, 0.008333333333333331, -0.00019841269841263637, 2.755731921825871e-06,
    -2.5052105867120928e-08, 1.6058475241471918e-10, -7.583460730932482e-13,
)
"""(sin r - r) / r**3 in powers of r**2 on 0 … 0.65."""
COS = (
    0.041666666666666664, -0.001388888888888695, 2.480158729810958e-05, -2.755731694045189e-07,
    2.0876079046308e-09, -1.1377916032287982e-11,
)
"""(cos r - 1 + r**2/2) / r**4 in powers of r**2 on 0 … 0.65."""
# fmt: on


def sin(m: Arithmetic, x: Real) -> Real:
    """C23 F.10.1.6: sin(±0) is ±0, sin(±inf) NaN."""
    q, r = reduced(m, x)
    value = _turned(m, m.where(m.eq(q & 1, 1), _cos(m, r)[0], _sin(m, r)[0]), q)
    return m.where(m.eq(x, 0.0), x, value)


def cos(m: Arithmetic, x: Real) -> Real:
    """C23 F.10.1.5: cos(±0) is 1, cos(±inf) NaN."""
    q, r = reduced(m, x)
    return _turned(m, m.where(m.eq(q & 1, 1), _sin(m, r)[0], _cos(m, r)[0]), q + 1)


def tan(m: Arithmetic, x: Real) -> Real:
    """C23 F.10.1.7: tan(±0) is ±0, tan(±inf) NaN."""
    q, r = reduced(m, x)
    (s, s_low), (c, c_low) = _sin(m, r), _cos(m, r)
    odd = m.eq(q & 1, 1)
    above, above_low = m.where(odd, c, s), m.where(odd, c_low, s_low)
    below, below_low = m.where(odd, s, c), m.where(odd, s_low, c_low)
    inverse = m.div(1.0, below)
    ratio = above * inverse
    rest = m.fma(-ratio, below, above) + (above_low - ratio * below_low)
    value = m.fma(rest, inverse, ratio)
    return m.where(m.eq(x, 0.0), x, m.where(odd, -value, value))


def _turned(m: Arithmetic, value: Real, q: Real) -> Real:
    """``value`` with its sign changed where bit 1 of ``q`` is set."""
    return m.float64(m.bits64(value) ^ ((q << 62) & SIGN))


def _sin(m: Arithmetic, r: Pair) -> Pair:
    high, low = r
    z = high * high
    scaled = m.fma(-0.5 * z, low, low)  # low * cos(high), as far as it matters
    return ordered_sum(high, m.fma(high * z, horner(m, z, SIN), scaled))


def _cos(m: Arithmetic, r: Pair) -> Pair:
    high, low = r
    z, z_low = product(m, high, high)
    one, rest = ordered_sum(1.0, -0.5 * z)
    rest = rest - m.fma(0.5, z_low, high * low)
    return ordered_sum(one, m.fma(z * z, horner(m, z, COS), rest))
