"""sinh, cosh and tanh of an f32, correctly rounded.

|x| is split into k ln 2 + r with a whole k and |r| <= ln 2 / 2. With S = sinh r and C = cosh r,
from polynomials in r*r, and q = 2**-k:

    2 sinh |x| = (1/q - q) C + (1/q + q) S      2 cosh |x| = (1/q + q) C + (1/q - q) S

so nothing cancels where x is small (k = 0 leaves S), and no exponential has to be inverted. tanh is
their quotient, times q above and below.

The f64 values are good to about 2**-48; the polynomials are minimax, with last bits that leave no
f32 but one on the wrong side of the middle of two f32 (``tests/elementary``).
"""

from __future__ import annotations

from .arithmetic import SHIFT, Arithmetic, Real, copysign, horner, magnitude

_INVERSE_LN2 = 1.4426950408889634
_LN2 = 0.6931471805599453
"""One product is near enough: k <= 145, and the error stays below k * 2**-55."""
# fmt: off
_SINH = (
    0.1666666666663041, 0.008333333362722135, 0.00019841195776537868, 2.763065820316697e-06,
)
_COSH = (
    0.5000000000000012, 0.0416666666665052, 0.0013888888938293552, 2.4801490264033643e-05,
    2.7631164079194424e-07,
)
# fmt: on
_HALF = 1022
"""The exponent field of the f64 1/2."""
_EXCEPTION = float.fromhex("0x1.250bfep-11")
"""sinh is nearest to this x itself, where the f64 value is the middle to the next f32."""


def sinh(m: Arithmetic, x: Real) -> Real:
    """The hyperbolic sine of an f32, to nearest; C23 F.10.2.5: ±0 and ±inf are their own."""
    size = magnitude(m, x)
    difference, total, s, c = _halves(m, size)
    value = m.narrow(m.fma(difference, c, total * s))
    return copysign(m, m.where(m.eq(size, _EXCEPTION), size, value), x)


def cosh(m: Arithmetic, x: Real) -> Real:
    """The hyperbolic cosine of an f32, to nearest; C23 F.10.2.4: of ±0 it is 1, of ±inf +inf."""
    difference, total, s, c = _halves(m, magnitude(m, x))
    return m.narrow(m.fma(total, c, difference * s))


def tanh(m: Arithmetic, x: Real) -> Real:
    """The hyperbolic tangent of an f32, to nearest; C23 F.10.2.6: of ±0 it is ±0, of ±inf ±1."""
    size = magnitude(m, x)
    whole, s, c = _reduced(m, m.where(size > 16.0, 16.0, size))  # tanh 16 rounds to 1
    squared = m.float64(-(m.bits64(whole) << 53) + (1023 << 52))  # q*q
    difference, total = 1.0 - squared, 1.0 + squared
    quotient = m.div(m.fma(difference, c, total * s), m.fma(difference, s, total * c))
    return copysign(m, m.narrow(quotient), x)


def _halves(m: Arithmetic, size: Real) -> tuple[Real, Real, Real, Real]:
    """(1/q - q)/2, (1/q + q)/2, sinh r and cosh r of an f32 that is not negative."""
    whole, s, c = _reduced(m, m.where(size > 100.0, 100.0, size))  # sinh 100 rounds to infinity
    up = (m.bits64(whole) << 52) + (_HALF << 52)
    high, low = m.float64(up), m.float64(-up + (2 * _HALF << 52))
    return high - low, high + low, s, c


def _reduced(m: Arithmetic, size: Real) -> tuple[Real, Real, Real]:
    """k + SHIFT, sinh r and cosh r."""
    w = m.wide(size)
    whole = m.fma(w, _INVERSE_LN2, SHIFT)
    r = m.fma(whole - SHIFT, -_LN2, w)
    u = r * r
    return whole, m.fma(r * u, horner(m, u, _SINH), r), m.fma(u, horner(m, u, _COSH), 1.0)
