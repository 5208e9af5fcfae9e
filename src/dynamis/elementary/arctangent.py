"""atan and atan2 of f32, correctly rounded.

Both are the angle of a quotient n/d of numbers that are not negative, which is one of

    atan(n/d)      pi/4 + atan((n - d)/(n + d))      pi/2 - atan(d/n)

so that the argument is at most sqrt(2) - 1, where a polynomial in its square does. Its last bits
leave no f32 whose arc tangent is on the wrong side of the middle of two f32.

That can be shown of one argument, not of 2**64 pairs: atan2 tests whether its error bound could
change the rounding, and such pairs (one of 2**24) are evaluated once more, to 2**-97. The closest
call among all pairs is expected near 2**-80: a middle of two f32 is 2**-25 away at most, and there
are about 2**54 quotients. No angle but 0 is a middle itself. Two infinities, whose quotient is no
number, take the slow path as well.
"""

from __future__ import annotations

import math

from .arithmetic import SHIFT, Arithmetic, Real, Truth, copysign, horner, magnitude
from .double_double import Pair, added, multiplied, pair_horner, quotient, squared, to_odd

# fmt: off
_ATAN = (
    -0.3333333333325958, 0.19999999982578445, -0.1428571286549336, 0.11111054158857668,
    -0.09089610399415837, 0.07674268411715374, -0.06509935346895361, 0.05036379544907966,
    -0.02545989515830826,
)
# fmt: on
_LOW, _HIGH = 0.4140625, 2.4140625
"""The quotients from which the second and the third form are taken: near sqrt(2) ∓ 1."""
_ERROR = 2.0**-49
"""A bound of the relative error: 2**-49.8 of the polynomial, and four roundings of 2**-53."""


def atan(m: Arithmetic, x: Real) -> Real:
    """The arc tangent of an f32, to nearest; C23 F.10.1.3: of ±0 it is ±0, of ±inf ±pi/2."""
    w = m.wide(magnitude(m, x))
    low, middle = w < _LOW, w < _HIGH
    n = m.where(low, w, m.where(middle, w - 1.0, -1.0))
    d = m.where(low, 1.0, m.where(middle, w + 1.0, w))
    base = m.where(low, 0.0, m.where(middle, math.pi / 4, math.pi / 2))
    return copysign(m, m.narrow(base + _arc(m, m.div(n, d))), x)


def atan2(m: Arithmetic, y: Real, x: Real) -> Real:
    """The angle of the point (x, y) of two f32, in [-pi, pi], to nearest; zeros and infinities are
    those of C23 F.10.1.4: a zero has a side, and both infinite is an odd multiple of pi/4."""
    height, size = magnitude(m, y), magnitude(m, x)
    at_zero = m.eq(m.bits32(height) | m.bits32(size), 0)  # frequent, and 0/1 is right
    n, d = m.wide(height), m.wide(m.where(at_zero, 1.0, size))
    left = m.i32(m.bits32(x)) < 0
    low, middle = n < d * _LOW, n < d * _HIGH
    top = m.where(low, n, m.where(middle, n - d, -d))
    bottom = m.where(low, d, m.where(middle, n + d, n))
    base = m.where(low, 0.0, m.where(middle, math.pi / 4, math.pi / 2))
    arc = _arc(m, m.div(m.where(left, -top, top), bottom))
    value = m.where(left, math.pi - base, base) + arc
    above, below = m.narrow(m.fma(value, _ERROR, value)), m.narrow(m.fma(value, -_ERROR, value))
    unsure = m.not_(m.eq(above, below))  # NaN too
    (angle,) = m.branch(
        unsure, lambda: (m.narrow(to_odd(m, _angle(m, n, d, left))),), lambda: (above,)
    )
    return copysign(m, angle, y)


def _arc(m: Arithmetic, t: Real) -> Real:
    """atan t in f64, for |t| up to about sqrt(2) - 1."""
    u = t * t
    return m.fma(t * u, horner(m, u, _ATAN), t)


# fmt: off
_TABLE = (
    (0.12435499454676144, -3.1253241424539383e-18), (0.24497866312686414, 1.0698755618734451e-17),
    (0.35877067027057225, -2.4623815582638635e-17), (0.4636476090008061, 2.2698777452961687e-17),
    (0.5585993153435624, -5.4556305485916264e-18), (0.6435011087932844, 1.5834785051444286e-17),
    (0.7188299996216245, -2.1478388444456983e-17), (0.7853981633974483, 3.061616997868383e-17),
)
"""atan i/8 for i = 1…8."""
_PAIRS = (
    (-0.3333333333333333, -1.8503717074295676e-17), (0.2, -1.110225862166872e-17),
    (-0.14285714285714285, -7.830792698726471e-18), (0.11111111111111094, 2.0814806722487354e-18),
)
_TAIL = (
    -0.09090909090892518, 0.07692307682584705, -0.06666663151791828, 0.05881586914467438,
    -0.051707632174816276,
)
# fmt: on
"""(atan t - t) / t**3 in powers of t*t <= 2**-8, to 2**-99 of atan t; pairs where they matter."""
_PI = math.pi, 1.2246467991473532e-16
_HALF_PI = math.pi / 2, 6.123233995736766e-17


def _angle(m: Arithmetic, n: Real, d: Real, left: Truth) -> Pair:
    """atan2 of |y| = n and |x| = d, not both 0, to 2**-97.

    With a = n/d or its inverse, at most 1, and c the multiple of 1/8 near it, atan a is atan c +
    atan((a - c)/(1 + a c)); numerator and denominator, times n or d, are exact in f64."""
    n, d = m.where(n > 2.0**500, 2.0**500, n), m.where(d > 2.0**500, 2.0**500, d)  # infinities
    steep = n > d
    top, bottom = m.where(steep, d, n), m.where(steep, n, d)
    eighths = m.fma(m.div(top, bottom), 8.0, SHIFT) - SHIFT
    c = eighths * 0.125
    t = quotient(m, m.fma(-c, bottom, top), m.fma(c, top, bottom))
    u = squared(m, t)
    p = pair_horner(m, u, horner(m, u[0], _TAIL), _PAIRS)
    arc = added(t, multiplied(m, t, multiplied(m, u, p)))
    high, low = 0.0, 0.0
    for i, (a, a_low) in enumerate(_TABLE, 1):
        here = m.eq(eighths, float(i))
        high, low = m.where(here, a, high), m.where(here, a_low, low)
    arc = added((high, low), arc)
    # steep: pi/2 - arc, then left: pi - that
    base: Pair = (
        m.where(steep, _HALF_PI[0], m.where(left, _PI[0], 0.0)),
        m.where(steep, _HALF_PI[1], m.where(left, _PI[1], 0.0)),
    )
    turned = steep ^ left
    signed = m.where(turned, -arc[0], arc[0]), m.where(turned, -arc[1], arc[1])
    return added(base, signed)
