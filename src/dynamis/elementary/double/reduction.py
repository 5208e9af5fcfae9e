"""x as q pi/2 + r for any f64: the quadrant and a pair, r good to 2**-60 of itself.

Up to 2**40 in size, q pi/2 is taken from x in three parts, of which the first is exact (Cody and
Waite, with fma). Past it x is multiplied with the bits of 2/pi that matter (Payne and Hanek, 1983;
Muller, *Elementary Functions*, chapter 11): five chunks of 52 bits, the first of which begins where
every bit above gives a multiple of four. No f64 is nearer to a multiple of pi/2 than 2**-62.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..arithmetic import SHIFT, Arithmetic, Real, Word
from .exact import Pair, magnitude, ordered_sum, product, two_sum

_TWO_OVER_PI = 0.6366197723675814
_HALF_PI = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33
_FAR = 2.0**40
"""From here on the bits of 2/pi are needed."""
_CHUNK, _PAD, _CHUNKS, _WINDOW = 52, 16, 24, 5
_UNIT = 2.0**512
"""The chunks are scaled by this, to be normal numbers."""

_TWO_OVER_PI_BITS = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e0"
    "06492eea09d1921cfe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f4"
    "9c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d"
    "7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6babf0cf",
    16,
)
"""floor(2/pi * 2**(52*24 - 16))."""


def _chunk(n: int) -> float:
    """Chunk n of 2/pi, whose bits before the point are ``_PAD`` zeros, times ``_UNIT``."""
    bits = _TWO_OVER_PI_BITS >> (_CHUNK * (_CHUNKS - 1 - n)) & ((1 << _CHUNK) - 1)
    return float(bits) * 2.0 ** (512 + _PAD - _CHUNK * (n + 1))


_TABLE = tuple(_chunk(n) for n in range(_CHUNKS))


def reduced(m: Arithmetic, x: Real) -> tuple[Word, Pair]:
    """A word whose low two bits are q modulo 4, and r; NaN for an infinite or NaN ``x``."""
    far = magnitude(m, x) >= _FAR
    q, high, low = m.branch(far, lambda: _from_bits(m, x), lambda: _from_parts(m, x))
    return q, (high, low)


def _from_parts(m: Arithmetic, x: Real) -> tuple[Word, Real, Real]:
    shifted = m.fma(x, _TWO_OVER_PI, SHIFT)
    k = shifted - SHIFT
    whole = m.fma(k, -_HALF_PI[0], x)  # exact: a multiple of 2**-52 below 1
    second, rest = product(m, k, _HALF_PI[1])
    high, low = two_sum(whole, -second)
    return m.bits64(shifted), high, m.fma(k, -_HALF_PI[2], low - rest)


def _from_bits(m: Arithmetic, x: Real) -> tuple[Word, Real, Real]:
    p = _window(m, m.i32((m.bits64(x) >> 52) & 0x7FF))
    size = magnitude(m, x)
    first, first_low = product(m, size, p[0])
    second, second_low = product(m, size, p[1])
    third, third_low = product(m, size, p[2])
    fourth, fourth_low = product(m, size, p[3])
    # modulo 4 the exact product with the first chunk is a multiple of 2**-50: its sum is exact
    first = m.where(first >= 2.0**55 * _UNIT, 0.0, _modulo_4(first))
    total, a = two_sum(first + _modulo_4(first_low), _modulo_4(second))
    total, b = two_sum(total, third)
    total, c = two_sum(total, second_low)
    shifted = total + SHIFT * _UNIT
    total = total - (shifted - SHIFT * _UNIT)
    lows: list[Real] = []
    for term in (fourth, a, b, c, third_low):
        total, low = two_sum(total, term)
        lows.append(low)
    rest = m.fma(size, p[4], fourth_low)
    for low in lows:
        rest = rest + low
    high, low = ordered_sum(total, rest)
    negative = x < 0.0
    scale = m.where(negative, -1.0 / _UNIT, m.f64(1.0 / _UNIT))
    high, low = high * scale, low * scale
    r, r_low = product(m, high, _HALF_PI[0])
    r_low = r_low + m.fma(high, _HALF_PI[1], low * _HALF_PI[0])
    q = m.bits64(shifted)
    return m.where(negative, 0 - q, q), r, r_low + (x - x)  # NaN where x is infinite


def _modulo_4(x: Real) -> Real:
    """``x`` less a multiple of 4 (in units), at most 4 in size, for -2**53 < x < 2**55 units."""
    shift = 1.5 * 2.0**54 * _UNIT
    return x - ((x + shift) - shift)


def _window(m: Arithmetic, exponent: Word) -> Sequence[Real]:
    """The five chunks that matter for an x of a biased exponent, of _FAR or more."""
    # x is a whole number times 2**(exponent - 1075); bits up to exponent - 1077 give multiples of 4
    first = ((exponent - (1077 - _PAD)) * 1261) >> 16  # / 52, rounded down, for these numbers
    window: Sequence[Real] = [m.f64(chunk) for chunk in _TABLE]
    for bit in (16, 8, 4, 2, 1):
        later = m.not_(m.eq(first & bit, 0))
        count = min(len(window), _WINDOW + bit - 1)
        window = [
            m.where(later, window[k + bit], window[k]) if k + bit < len(window) else window[k]
            for k in range(count)
        ]
    return window
