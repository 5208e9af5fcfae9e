"""log and log2 of an f64, and log2 as a pair for powers.

x = 2**k * c with c within sqrt(1/2) … sqrt(2); f = c - 1 is exact. With s = f / (2 + f) and
z = s**2, log c = f - f**2/2 + s (f**2/2 + z p(z)), of which all but the last term is kept exactly
(Muller, *Elementary Functions*, chapter 4; fdlibm, e_log.c, for this form).
"""

from __future__ import annotations

import math

from ..arithmetic import Arithmetic, Real, horner
from .exact import Pair, ordered_sum, product
from .exponential import LN2_PARTS

_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
_RAISED = (1024 << 52) - _SQRT_HALF_BITS
_FRACTION = (1 << 52) - 1
_WHOLE_BITS = 0x4330000000000000
"""The pattern of 2**52: with k in the low bits, that of 2**52 + k."""
_LEAST = 2.0**-1022
_INVERSE_LN2 = 1.4426950408889634, 2.0355273740931033e-17
_TWICE = 2.8853900817779268, 4.0710547481862066e-17
_THIRD = 0.9617966939259756, 5.0577616648125907e-17
"""2 / ln 2 and 2 / (3 ln 2), the first coefficients of log2 in powers of s, as sums."""

# fmt: off
LOG = (
    0.6666666666666666, 0.4000000000000089, 0.2857142857079543, 0.2222222239356661,
    0.18181795442371984, 0.1538625044794019, 0.13268485680654427, 0.13089629160674623,
)
"""p on 0 … 0.0295."""
LOG2 = (
    0.5770780163555853, 0.4121985831111323, 0.3205988979754161, 0.26230818922096866,
    0.2219530887029565, 0.19235880343705888, 0.16975942176247447, 0.1508486082361939,
    0.15530795174082407,
)
"""(log2((1 + s) / (1 - s)) / s - 2/ln 2 - 2/(3 ln 2) z) / z**2, for z on 0 … 0.0295."""
# fmt: on


def log(m: Arithmetic, x: Real) -> Real:
    """ln x; C23 F.10.3.11: log(±0) is -inf, log(1) +0, log(x < 0) NaN."""
    k, f = _parts(m, x)
    high, low = ordered_sum(k * LN2_PARTS[0], f)
    high, rest = _completed(m, high, f)
    return _with_edges(m, x, high + (m.fma(k, LN2_PARTS[1], low) + rest))


def log2(m: Arithmetic, x: Real) -> Real:
    """log2 x; C23 F.10.3.13: as log; exact at powers of two."""
    k, f = _parts(m, x)
    high, low = ordered_sum(*_completed(m, f, f))
    scaled, rest = product(m, high, _INVERSE_LN2[0])
    rest = rest + m.fma(high, _INVERSE_LN2[1], low * _INVERSE_LN2[0])
    whole, fraction = ordered_sum(k, scaled)
    return _with_edges(m, x, whole + (fraction + rest))


def _parts(m: Arithmetic, x: Real) -> Pair:
    """k and f of a positive, finite x."""
    subnormal = x < _LEAST
    bits = m.bits64(m.where(subnormal, x * 2.0**54, x))
    raised = bits + _RAISED  # (k + 1024) * 2**52, and the rest of c's pattern
    bias = m.where(subnormal, 2.0**52 + 1078.0, m.f64(2.0**52 + 1024.0))
    k = m.float64((raised >> 52) | _WHOLE_BITS) - bias
    return k, m.float64((raised & _FRACTION) + _SQRT_HALF_BITS) - 1.0


def _completed(m: Arithmetic, start: Real, f: Real) -> Pair:
    """start + log(1 + f) - f, for a start of at least f**2/2 in size; the low part is not rounded
    into the high one."""
    s = m.div(f, 2.0 + f)
    z = s * s
    half, half_low = product(m, 0.5 * f, f)
    high, low = ordered_sum(start, -half)
    return high, m.fma(s, m.fma(z, horner(m, z, LOG), half), low - half_low)


def _with_edges(m: Arithmetic, x: Real, value: Real) -> Real:
    """``value`` where x is positive and finite, else what C23 says."""
    edge = m.where(m.eq(x, 0.0), -math.inf, m.where(x < 0.0, math.nan, x))
    return m.where((x > 0.0) & (x < math.inf), value, edge)


def log2_pair(m: Arithmetic, x: Real) -> Pair:
    """log2 of a positive, finite x, to about 2**-66 of its value.

    2/ln 2 * s (1 + z/3 + z**2 ...) with s, z and the two first coefficients as pairs."""
    k, f = _parts(m, x)
    below, below_low = ordered_sum(2.0, f)
    inverse = m.div(1.0, below)
    s = f * inverse
    s_low = inverse * (m.fma(-s, below, f) - s * below_low)
    z, rest = product(m, s, s)
    z_low = m.fma(s + s, s_low, rest)
    u, u_rest = ordered_sum(_THIRD[0], z * horner(m, z, LOG2))
    u_low = u_rest + _THIRD[1]
    t, rest = product(m, z, u)
    t_low = rest + m.fma(z, u_low, z_low * u)
    v, v_rest = ordered_sum(_TWICE[0], t)
    v_low = v_rest + (_TWICE[1] + t_low)
    high, rest = product(m, s, v)
    low = rest + m.fma(s, v_low, s_low * v)
    total, fraction = ordered_sum(k, high)
    return ordered_sum(total, fraction + low)
