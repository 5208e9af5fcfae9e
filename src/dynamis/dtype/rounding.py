"""Rounding m * 2**e to a binary format, on exact integers: no host setting shows in it."""

import math


def round_dyadic(m: int, e: int, mantissa: int, emin: int, emax: int) -> float:
    """m * 2**e rounded to nearest-even in a binary format.

    The format has `mantissa` fraction bits, smallest normal 2**emin and largest exponent `emax`;
    past it the result is infinite. Subnormals are kept. Zero gives +0.0.
    """
    if m == 0:
        return 0.0
    sign, m = (-1.0, -m) if m < 0 else (1.0, m)
    top = m.bit_length() - 1 + e  # floor(log2(value))
    quantum = max(top, emin) - mantissa  # exponent of the last place
    shift = quantum - e
    if shift > 0:
        if shift > m.bit_length() + 1:
            return sign * 0.0
        rest = m & ((1 << shift) - 1)
        half = 1 << (shift - 1)
        m >>= shift
        if rest > half or (rest == half and m & 1):
            m += 1
        e = quantum
    if m.bit_length() - 1 + e > emax:
        return sign * math.inf
    return sign * math.ldexp(m, e)


def dyadic(x: float) -> tuple[int, int]:
    """(m, e) with x == m * 2**e exactly, for a finite float."""
    numerator, denominator = x.as_integer_ratio()
    return numerator, 1 - denominator.bit_length()
