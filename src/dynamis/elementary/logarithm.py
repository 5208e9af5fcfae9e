"""log and log2 of an f32, correctly rounded.

x = 2**k * c with c within sqrt(1/2) … sqrt(2), and log c = 2 artanh s with s = (c-1)/(c+1), whose
numerator and denominator are exact. Widening makes subnormal arguments normal. The coefficients
are chosen so that no f32 input is rounded wrongly but two, which are named; the walk over all f32
shows it.
"""

from __future__ import annotations

import math

from .arithmetic import Arithmetic, Real, horner

_LN2 = 0.6931471805599453, 2.931497089064759e-17
"""ln 2 as a sum; the second part is 6e-18 too large, as it suits the coefficients."""
_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
_RAISED = (1024 << 52) - _SQRT_HALF_BITS
_LOW = (1 << 52) - 1
_WHOLE_BITS = 0x4330000000000000
"""The pattern of 2**52: with k in the low bits, that of 2**52 + k."""

# fmt: off
_LOG = (
    2.0, 0.6666666666663098, 0.40000000011823644, 0.28571424152529196, 0.22222863288916728,
    0.1814018572293332, 0.16621660289475074,
)
"""2 artanh(s)/s in powers of s**2, within 2**-48.7."""
_LOG2 = (
    2.8853900817779268, 0.9617966939259095, 0.5770780165172611, 0.41219851915494604,
    0.3206081320596766, 0.2617076763594473, 0.2398021324067356,
)
"""The same over ln 2, within 2**-50.3."""
# fmt: on
_LOG_TIES = ((58037908.0, 17.87660789489746), (1.2783783694984994e23, 53.20505142211914))
"""Where the f64 nearest to ln x is the middle of two f32, and the wrong one of them is even."""


def log(m: Arithmetic, x: Real) -> Real:
    """ln x of an f32, to nearest; C23 F.10.3.11: log(±0) is -inf, log(1) +0, log(x < 0) NaN."""
    k, s, z = _parts(m, x)
    fraction = s * horner(m, z, _LOG)
    value = m.narrow(m.fma(k, _LN2[0], m.fma(k, _LN2[1], fraction)))
    for argument, right in _LOG_TIES:
        value = m.where(m.eq(x, argument), right, value)
    return _with_edges(m, x, value)


def log2(m: Arithmetic, x: Real) -> Real:
    """log2 x of an f32, to nearest; C23 F.10.3.13: as log."""
    k, s, z = _parts(m, x)
    return _with_edges(m, x, m.narrow(k + s * horner(m, z, _LOG2)))


def _parts(m: Arithmetic, x: Real) -> tuple[Real, Real, Real]:
    """k, s and s**2 of a positive, finite x."""
    raised = m.bits64(m.wide(x)) + _RAISED  # (k + 1024) * 2**52, and the rest of c's pattern
    k = m.float64((raised >> 52) | _WHOLE_BITS) - (2.0**52 + 1024.0)
    c = m.float64((raised & _LOW) + _SQRT_HALF_BITS)
    s = m.div(c - 1.0, c + 1.0)
    return k, s, s * s


def _with_edges(m: Arithmetic, x: Real, value: Real) -> Real:
    """``value`` where x is positive and finite, else what C23 says."""
    edge = m.where(m.eq(x, 0.0), -math.inf, m.where(x < 0.0, math.nan, x))
    return m.where((x > 0.0) & (x < math.inf), value, edge)
