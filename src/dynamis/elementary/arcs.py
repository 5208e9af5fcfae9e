"""asin and acos of an f32, correctly rounded.

With a = |x|: below a = 1/2, asin a is a + a**3 P(a*a); from there it is pi/2 - 2 asin s with
s = sqrt((1 - a)/2), at most 1/2 again, and 1 - a is exact. Outside [-1, 1] the root makes the NaN.
(The reduction is Cody and Waite's, *Software Manual for the Elementary Functions*, chapter 10.)

The f64 values are good to about 2**-47 (acos) and 2**-51; the polynomials are minimax, with last
bits that leave no f32 but one on the wrong side of the middle of two f32 (``tests/elementary``).
"""

from __future__ import annotations

from .arithmetic import Arithmetic, Real, copysign, horner, magnitude

# fmt: off
_ASIN = (
    0.1666666666668348, 0.07499999996170287, 0.04464286017074863, 0.030381825352677177,
    0.022374870684745227, 0.017314150437594145, 0.014322136955308234, 0.009381865125280891,
    0.018251420429540824, -0.01170051517898671, 0.03151909405465059,
)
_ACOS = (
    0.1666666666644267, 0.07500000042752877, 0.044642828952430796, 0.030382861847930723,
    0.022355090782161635, 0.017547669509686545, 0.012559526364810177, 0.017904358170360794,
    -0.007288308243715164, 0.03149520042935202,
)
# fmt: on
_ASIN_HALF_PI = 1.5707963267948961
_ACOS_HALF_PI = 1.5707963267948972
"""pi/2 and some units in the last place: these leave fewest f32 on a wrong side."""
_PI = 3.141592653589793
_EXCEPTION, _ITS_ACOS = 0xBC406CCD, float.fromhex("0x1.95216cp+0")
"""-0x1.80d99ap-7, the one f32 whose acos would be rounded wrongly."""


def asin(m: Arithmetic, x: Real) -> Real:
    """The arc sine of an f32, to nearest; C23 F.10.1.2: of ±0 it is ±0, outside [-1, 1] NaN."""
    size = magnitude(m, x)
    w = m.wide(size)
    small = w < 0.5
    z = m.where(small, w * w, m.fma(w, -0.5, 0.5))
    r = m.where(small, w, m.sqrt(z))
    arc = m.fma(r * z, horner(m, z, _ASIN), r)
    return copysign(m, m.narrow(m.where(small, arc, m.fma(arc, -2.0, _ASIN_HALF_PI))), x)


def acos(m: Arithmetic, x: Real) -> Real:
    """The arc cosine of an f32, to nearest; C23 F.10.1.1: of 1 it is +0, outside [-1, 1] NaN."""
    w = m.wide(x)
    size = m.wide(magnitude(m, x))
    small, left = size < 0.5, w < 0.0
    z = m.where(small, w * w, m.fma(size, -0.5, 0.5))
    root = m.sqrt(z)
    r = m.where(small, -w, m.where(left, -2.0 * root, root + root))
    base = m.where(small, _ACOS_HALF_PI, m.where(left, _PI, 0.0))
    value = m.narrow(base + m.fma(r * z, horner(m, z, _ACOS), r))
    return m.where(m.eq(m.bits32(x), _EXCEPTION), _ITS_ACOS, value)
