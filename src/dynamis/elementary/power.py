"""x**y of two f32, correctly rounded: 2**(y log2 |x|), with the signs and the special cases of C23.

|x| is 2**k * m with m within a factor sqrt(2) of 1, and log2 m an odd series in (m - 1)/(m + 1).
That gives log2 |x| to 2**-51.5 of its size, and x**y, whose exponent is at most 150, to 2**-43.
Where that could change the rounding (one pair of 2**18, and where |x| is subnormal or something is
not a number) it is evaluated once more, to 2**-97, and a value that near to the middle of two f32
is taken for it: 2**60 pairs with a finite power are expected to come no nearer by chance than
2**-85.
"""

from __future__ import annotations

import math

from .arithmetic import SHIFT, Arithmetic, Real, horner, magnitude
from .double_double import (
    Pair,
    added,
    multiplied,
    ordered_sum,
    pair_horner,
    quotient,
    squared,
    to_odd,
)

_SQRT_HALF = 0x3F3504F3
"""The f32 next to sqrt(1/2); significands are taken from there to twice that."""
_SQRT_HALF_64 = 0x3FE6A09E667F3BCD
"""The f64 next to it."""
_BIAS = 1023
_SHIFT = SHIFT + _BIAS
"""``x + _SHIFT`` holds k + 1023 in its low bits: shifted to the top, the f64 2**k."""
_END = 200.0
"""2**±200 rounds to infinity and zero."""
_ERROR = 2.0**-43
"""A bound of the relative error: 150 ln 2 times the 2**-50.5 of y log2 x, and 2**-46 of _EXP2."""
_TIE = 2.0**-95
"""Up to this distance from the middle of two f32 a power is that middle."""
# fmt: off
_LOG2 = (
    2.885390081777927, 0.9617966939243235, 0.5770780172507464, 0.4121984013986714,
    0.3206164312789322, 0.2614429290681262, 0.24293123057579294,
)
"""log2((1 + s)/(1 - s)) / s in powers of s*s, |s| < 3 - sqrt(8), to 2**-52.4."""
_EXP2 = (
    1.0000000000000127, 0.693147180559871, 0.24022650695649636, 0.055504108668684896,
    0.009618129192070567, 0.0013333557617677197, 0.00015403434945937216, 1.5252984806669284e-05,
    1.3259406044574607e-06, 1.015034187128022e-07,
)
"""2**r in powers of r, |r| <= 1/2, to 2**-46."""
_TABLE = (
    (16/13, 7/8, 0.19264507794239588, 1.1104012146962652e-17),
    (16/15, 1.0, 0.0, 0.0),
    (16/17, 9/8, -0.16992500144231237, 1.0448980122780218e-17),
    (16/19, 10/8, -0.32192809488736235, 3.717019964142682e-19),
    (16/21, 11/8, -0.45943161863729726, 3.8053583859449705e-19),
)
_FIRST = 6/8, 0.4150374992788438, 5.224490061390109e-18
"""c and the pair -log2 c: the first ones, then those to take for m below the first number."""
_LOG2_PAIRS = (
    (2.8853900817779268, 4.0710547481862066e-17), (0.9617966939259756, 5.057761664816592e-17),
    (0.5770780163555853, 5.255102984911665e-17), (0.4121985831111324, 1.3749831391906968e-17),
    (0.3205988979753252, -1.3700445100012324e-17), (0.26230818925256033, 1.5473373835143432e-17),
)
_LOG2_TAIL = 0.22195308319024984, 0.1923593545610327, 0.16972241363064472, 0.15330536698871408
"""The series of _LOG2 for |s| < 0.0457, to 2**-109; pairs as far as they matter."""
_EXP2_PAIRS = (
    (0.04332169878499658, 1.4494042586539372e-18), (0.0009383847928089872, -3.708566895678862e-20),
    (1.3550807779497457e-05, -7.729058325975499e-22),
    (1.467610032291943e-07, 4.321915440712954e-24), (1.2715871950558131e-09, 1.328211830100761e-26),
    (9.18121957384444e-12, 8.017638477717027e-28),
)
_EXP2_TAIL = (
    5.682086126528622e-14, 3.076970295391711e-16, 1.4811064478589892e-18, 6.4164674603353406e-21,
    2.5270206190796875e-23,
)
# fmt: on
"""(2**(r/16) - 1) / r in powers of r, |r| <= 1/2, to 2**-103."""


def pow(m: Arithmetic, x: Real, y: Real) -> Real:
    """x**y of two f32, to nearest; C23 F.10.4.5: 1 for y = ±0 and for x = 1 whatever the other is,
    NaN for a finite x < 0 and a y that is not whole, the sign of x where y is odd."""
    size, exponent = magnitude(m, x), m.wide(y)
    bits = m.bits32(size)
    moved = bits + (0x3F800000 - _SQRT_HALF)
    significand = m.wide(m.float32(bits - (moved & 0xFF800000) + 0x3F800000))
    s = m.div(significand - 1.0, significand + 1.0)
    log2 = m.fma(s, horner(m, s * s, _LOG2), m.real(m.i32(moved >> 23) - 127))
    # zeros and infinities are frequent: only their zeroth power is left to the slow path
    edge = m.where(m.eq(size, 0.0), -math.inf, m.where(size < 1.0, math.nan, size))
    special = bits - 0x00800000 > 0x7EFFFFFF  # wraps for zero and subnormals
    value = _exp2(m, m.where(special, m.wide(edge), log2) * exponent)
    above, below = m.narrow(m.fma(value, _ERROR, value)), m.narrow(m.fma(value, -_ERROR, value))
    unsure = m.not_(m.eq(above, below))  # NaN too
    (power,) = m.branch(unsure, lambda: (_accurate(m, size, exponent),), lambda: (above,))
    negative = m.i32(m.bits32(x)) < 0
    (signed,) = m.branch(negative, lambda: (_of_negative(m, size, y, power),), lambda: (power,))
    return signed


def _exp2(m: Arithmetic, p: Real) -> Real:
    """2**p in f64, for p outside ±200 what rounds to infinity or zero."""
    p = _clamped(m, p)
    shifted = p + _SHIFT
    return horner(m, p - (shifted - _SHIFT), _EXP2) * m.float64(m.bits64(shifted) << 52)


def _of_negative(m: Arithmetic, size: Real, y: Real, power: Real) -> Real:
    """(-size)**y, from ``power`` = size**y."""
    exponent = magnitude(m, y)
    exponent = m.wide(m.where(exponent > 2.0**24, 2.0**24, exponent))  # all even from there on
    shifted = exponent + SHIFT
    whole = m.eq(shifted - SHIFT, exponent)
    odd = whole & m.eq(m.bits64(shifted) & 1, 1)
    signed = m.float32(m.bits32(power) ^ m.where(odd, 0x80000000, m.bits32(power) & 0))
    real = whole | m.eq(size, 0.0) | m.eq(size, math.inf)
    return m.where(real, signed, math.nan)


def _accurate(m: Arithmetic, size: Real, y: Real) -> Real:
    """size**y as an f32, of what ``pow`` is unsure of: among zeros and infinities their zeroth
    powers, and 1 to an infinite one."""
    (high, low), scale = _pair(m, size, y)
    tie = m.where(low < 0.0, -low, low) < high * _TIE
    return m.narrow(to_odd(m, (high, m.where(tie, 0.0, low))) * scale)


def _pair(m: Arithmetic, size: Real, y: Real) -> tuple[Pair, Real]:
    """size**y to 2**-97, as a pair near 1 times a power of two.

    The special cases replace the exponent: 2**0 is exactly 1, and of NaN it is NaN."""
    log2 = _log2_pair(m, m.wide(size))
    exponent = y * log2[0]
    rest = m.fma(y, log2[1], m.fma(y, log2[0], -exponent))
    rest = m.where((rest < 1.0) & (rest > -1.0), rest, 0.0)  # of an infinite y it is NaN
    exponent = m.where(m.eq(size, size), exponent, math.nan)
    exponent = m.where(m.eq(size, 1.0) | m.eq(y, 0.0), 0.0, exponent)
    return _exp2_pair(m, _clamped(m, exponent), rest)


def _clamped(m: Arithmetic, exponent: Real) -> Real:
    """``exponent`` within ±_END, NaN kept."""
    exponent = m.where(exponent > _END, _END, exponent)
    return m.where(exponent < -_END, -_END, exponent)


def _log2_pair(m: Arithmetic, x: Real) -> Pair:
    """log2 x, for 0 < x < inf.

    With c, a multiple of 1/8 near 1/m: log2 m = log2(c m) - log2 c, where c m - 1 and c m + 1 are
    exact."""
    bits = m.bits64(x)
    moved = bits + ((_BIAS << 52) - _SQRT_HALF_64)
    significand = m.float64(bits - (moved & (0xFFF << 52)) + (_BIAS << 52))
    c, high, low = _FIRST
    for end, *entry in _TABLE:
        here = significand < end
        c, high, low = (m.where(here, a, b) for a, b in zip(entry, (c, high, low), strict=True))
    whole, error = ordered_sum(m.real(m.i32(moved >> 52) - _BIAS), high)
    s = quotient(m, m.fma(significand, c, -1.0), m.fma(significand, c, 1.0))
    u = squared(m, s)
    series = pair_horner(m, u, horner(m, u[0], _LOG2_TAIL), _LOG2_PAIRS)
    return added((whole, error + low), multiplied(m, s, series))


def _exp2_pair(m: Arithmetic, exponent: Real, rest: Real) -> tuple[Pair, Real]:
    """2**(exponent + rest), for |exponent| <= 200 and |rest| <= 1, as a pair times 2**k. With r
    what is left, 2**r is the sixteenth power of 2**(r/16)."""
    shifted = exponent + _SHIFT
    r, r_low = ordered_sum(exponent - (shifted - _SHIFT), rest)
    high, low = pair_horner(m, (r, None), horner(m, r, _EXP2_TAIL), _EXP2_PAIRS)
    product = r * high
    error = m.fma(r, low, m.fma(r, high, -product))
    high, low = ordered_sum(1.0, product)
    root = high, m.fma(r_low * _EXP2_PAIRS[0][0], high, low + error)
    for _ in range(4):
        root = squared(m, root)
    return ordered_sum(*root), m.float64(m.bits64(shifted) << 52)
