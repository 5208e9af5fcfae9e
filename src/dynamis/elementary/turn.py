"""x/pi modulo 2 of huge f32: reduction by Payne and Hanek (1983).

An f32 is m * 2**s with a 24-bit m. Bits of 1/pi above weight 2 after scaling by 2**s add whole
turns and are never looked at; 96 bits from there on, times m, leave 64 bits of x/pi modulo 2 with
an error below one. No f32 is nearer to a multiple of pi/2 than about 2**-30, so more than 2**-33
of r's own size is right; the walk over all f32 shows that it is enough.
"""

from __future__ import annotations

from itertools import pairwise

from .arithmetic import Arithmetic, Real, Word

HUGE_BITS = 0x51800000
"""The pattern of the f32 2**36: from there to the end of f32 ``half_turns`` is used."""
_WORDS = (0x28BE60DB, 0x9391054A, 0x7F09D5F4, 0x7D4D3770, 0x36D8A566, 0x4F10E410, 0x7F9458EA)
"""1/pi, 32 bits a word; the first bit has weight 1."""
_PAIRS = tuple(a << 32 | b for a, b in pairwise(_WORDS))


def half_turns(m: Arithmetic, x: Real) -> Word:
    """|x|/pi modulo 2 as a u64 in units of 2**-63, for an f32 of at least 2**36; of any other
    x, some word."""
    bits = m.bits32(x) & 0x7FFFFFFF
    shift = (bits >> 23) - 150
    significand = m.u64((bits & 0x7FFFFF) | 0x800000)
    start, rest = shift >> 5, m.u64(shift & 31)
    windows = []
    for k in range(3):
        pair = m.u64(_PAIRS[k + 3])
        for j in (2, 1, 0):
            pair = m.where(m.eq(start, j), _PAIRS[k + j], pair)
        windows.append((pair << rest) >> 32)
    high, middle, low = (significand * w for w in windows)
    return (high << 32) + middle + (low >> 32)
