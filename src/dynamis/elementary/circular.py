"""sin, cos and tan of an f32, correctly rounded.

The argument is taken to r, within a quarter turn of a zero of the function (an eighth for tan),
and to the number of zeros passed, whose lowest bit gives the sign. Below 2**36 the reduction is two
fma: n times the leading half of pi is taken from x exactly, for the difference is a multiple of
2**-52 below 2, and r is then rounded once. Above, ``turn.py`` finds x/pi modulo 2 in integers, in
an arm that compiled code jumps over. The value in f64 is good to about 2**-50, and the coefficients
are chosen so that no f32 input is rounded wrongly; the walk over all f32 shows it.
"""

from __future__ import annotations

from collections.abc import Callable

from .arithmetic import SHIFT, Arithmetic, Real, Word, horner
from .turn import HUGE_BITS, half_turns

_PI = 3.141592653589793, 1.2246467991473532e-16
"""pi as a sum."""
_HALF_PI = 1.5707963267948966, 6.123233995736766e-17
_INVERSE_PI = 0.3183098861837907
_WHOLE_BITS = 0x4330000000000000
"""The pattern of 2**52: with k in the low bits, that of 2**52 + k."""

# fmt: off
_SIN = (
    -0.16666666666666635, 0.008333333333325879, -0.00019841269836473778, 2.7557318056056775e-06,
    -2.505197292174844e-08, 1.6050972497701584e-10, -7.408073085382635e-13,
)
"""(sin r / r - 1)/r**2 in powers of r**2, for |r| <= pi/2."""
_COS = (
    -0.16666666666666666, 0.008333333333333297, -0.0001984126984125316, 2.7557319219163205e-06,
    -2.5052107619833845e-08, 1.6058977390312776e-10, -7.643969979253688e-13, 2.7313004322650784e-15,
)
"""The same for cos, which is sin at another r: it needs one more, to be right near cos 0."""
_TAN_SIN = (
    -0.16666666666666666, 0.008333333333330948, -0.00019841269836758528, 2.7557316102528646e-06,
    -2.5051131840044124e-08, 1.5918128937554457e-10,
)
_TAN_COS = (
    -0.49999999999999967, 0.04166666666663093, -0.0013888888882127883, 2.4801582623316297e-05,
    -2.755585550449863e-07, 2.0665504334762453e-09,
)
"""The same, and (cos r - 1)/r**2, for |r| <= pi/4."""
# fmt: on


def sin(m: Arithmetic, x: Real) -> Real:
    """sin x of an f32 in radians, to nearest; C23 F.10.1.6: sin(±0) is ±0, sin(±inf) NaN."""

    def usual(w: Real) -> tuple[Real, Word]:
        shifted = m.fma(w, _INVERSE_PI, SHIFT)
        return _less(m, w, shifted - SHIFT, _PI), m.bits64(shifted)

    def huge(w: Real) -> tuple[Real, Word]:
        turns = half_turns(m, x)
        angle = _angle(m, turns << 1, _PI, w)
        return m.where(w < 0.0, -angle, angle), (turns + (1 << 62)) >> 63

    def value(r: Real, count: Word) -> Real:
        return m.narrow(_negated(m, _sine(m, r, _SIN), count))

    return _reduced(m, x, usual, huge, value)


def cos(m: Arithmetic, x: Real) -> Real:
    """cos x of an f32 in radians, to nearest; C23 F.10.1.5: cos(±0) is 1, cos(±inf) NaN."""

    # cos x = -(-1)**n sin(x - (n + 1/2) pi)
    def usual(w: Real) -> tuple[Real, Word]:
        shifted = m.fma(w, _INVERSE_PI, -0.5) + SHIFT
        return _less(m, w, (shifted - SHIFT) + 0.5, _PI), m.bits64(shifted)

    def huge(w: Real) -> tuple[Real, Word]:
        turns = half_turns(m, x)
        return _angle(m, (turns - (1 << 62)) << 1, _PI, w), turns >> 63

    def value(r: Real, count: Word) -> Real:
        return m.narrow(_negated(m, _sine(m, r, _COS), count + 1))

    return _reduced(m, x, usual, huge, value)


def tan(m: Arithmetic, x: Real) -> Real:
    """tan x of an f32 in radians, to nearest; C23 F.10.1.7: tan(±0) is ±0, tan(±inf) NaN."""

    def usual(w: Real) -> tuple[Real, Word]:
        shifted = m.fma(w, 2.0 * _INVERSE_PI, SHIFT)
        return _less(m, w, shifted - SHIFT, _HALF_PI), m.bits64(shifted)

    def huge(w: Real) -> tuple[Real, Word]:
        turns = half_turns(m, x)
        angle = _angle(m, turns << 2, _HALF_PI, w)
        return m.where(w < 0.0, -angle, angle), (turns + (1 << 61)) >> 62

    def value(r: Real, count: Word) -> Real:
        u = r * r
        sine, cosine = _sine(m, r, _TAN_SIN), m.fma(u, horner(m, u, _TAN_COS), 1.0)
        odd = m.eq(count & 1, 1)  # tan(r + pi/2) = -cos r / sin r
        return m.narrow(m.div(m.where(odd, -cosine, sine), m.where(odd, sine, cosine)))

    return _reduced(m, x, usual, huge, value)


def _reduced(
    m: Arithmetic,
    x: Real,
    usual: Callable[[Real], tuple[Real, Word]],
    huge: Callable[[Real], tuple[Real, Word]],
    value: Callable[[Real, Word], Real],
) -> Real:
    """The value at what a reduction of x gives: the usual one, or that of huge x and NaN. Each is
    given x in f64. The value stands in both arms, so that the rare one leaves only a word."""
    w = m.wide(x)
    is_huge = m.i32(m.bits32(x) & 0x7FFFFFFF) > HUGE_BITS - 1
    (result,) = m.branch(is_huge, lambda: (value(*huge(w)),), lambda: (value(*usual(w)),))
    return result


def _less(m: Arithmetic, w: Real, n: Real, period: tuple[float, float]) -> Real:
    """w - n * period."""
    return m.fma(n, -period[1], m.fma(n, -period[0], w))


def _angle(m: Arithmetic, fraction: Word, period: tuple[float, float], w: Real) -> Real:
    """A signed fraction of the period, in units of 2**-64, as an angle, rounded once; NaN if w is
    not finite."""
    high = m.real(m.i32(fraction >> 32))
    low = m.float64((fraction & 0xFFFFFFFF) | _WHOLE_BITS) - 2.0**52
    rest = m.fma(low, period[0] * 2.0**-64, high * (period[1] * 2.0**-32))
    return m.fma(high, period[0] * 2.0**-32, rest) + (w - w)


def _sine(m: Arithmetic, r: Real, coefficients: tuple[float, ...]) -> Real:
    """sin r, -0 at -0."""
    u = r * r
    return r * m.fma(u, horner(m, u, coefficients), 1.0)


def _negated(m: Arithmetic, value: Real, count: Word) -> Real:
    """``value``, negated where the count is odd."""
    return m.float64(m.bits64(value) ^ (count << 63))
