"""The two float formats of the Kernel IR, and rounding of exact values to them.

In: integers and rationals. Out: Python floats that the format holds exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """An IEEE-754 binary format: ``bits`` of significand, ``least``: the exponent of its smallest
    positive value, ``top``: the exponent at and past which magnitudes overflow."""

    bits: int
    least: int
    top: int

    def rounded(self, n: int, scale: int) -> float:
        """n * 2**-scale, n >= 0, rounded to nearest, ties to even; overflow gives infinity."""
        if n == 0:
            return 0.0
        drop = max(n.bit_length() - self.bits, scale + self.least)
        kept = n << -drop if drop <= 0 else shifted_to_even(n, drop)
        exponent = drop - scale
        if kept.bit_length() + exponent > self.top:
            return math.inf
        return math.ldexp(kept, exponent)

    def nearest(self, x: Fraction) -> float:
        """The value nearest to ``x``, a multiple of a power of two, ties to even; a magnitude that
        rounds to zero keeps its sign."""
        scale = x.denominator.bit_length() - 1
        magnitude = self.rounded(abs(x.numerator), scale)
        return -magnitude if x < 0 else magnitude


FLOAT = FloatFormat(24, -149, 128)
DOUBLE = FloatFormat(53, -1074, 1024)
HALF = FloatFormat(11, -24, 16)
BFLOAT = FloatFormat(8, -133, 128)


def shifted_to_even(n: int, bits: int) -> int:
    """n / 2**bits rounded to nearest, ties to even, for n >= 0 and bits > 0."""
    quotient, rest = n >> bits, n & ((1 << bits) - 1)
    half = 1 << (bits - 1)
    return quotient + (rest > half or (rest == half and quotient & 1))
