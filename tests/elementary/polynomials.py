"""Near-minimax polynomials, in as many digits as asked: where the coefficients come from.

In: a function of mpfr numbers, an interval and a number of coefficients. Out: the coefficients of
the polynomial that meets the function at the Chebyshev points of the interval. Interpolation at
these points is within a small factor of the best polynomial (Muller, *Elementary Functions*, 3rd
ed., chapter 3), and the factor costs less than a bit here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gmpy2
from gmpy2 import mpfr

PRECISION = 300
Function = Callable[[mpfr], mpfr]


def interpolated(function: Function, low: float, high: float, count: int) -> list[mpfr]:
    """The ``count`` coefficients, ascending, in powers of x; solved at PRECISION bits."""
    with gmpy2.context(precision=PRECISION):
        points = chebyshev_points(low, high, count)
        # Newton's divided differences, then expanded into powers
        table = [function(x) for x in points]
        for k in range(1, count):
            for i in range(count - 1, k - 1, -1):
                table[i] = (table[i] - table[i - 1]) / (points[i] - points[i - k])
        result = [mpfr(0)] * count
        for k in range(count - 1, -1, -1):
            shifted = [mpfr(0), *result[:-1]]
            result = [s - points[k] * r for s, r in zip(shifted, result, strict=True)]
            result[0] += table[k]
        return result


def chebyshev_points(low: float, high: float, count: int) -> list[mpfr]:
    """The zeros of the Chebyshev polynomial of degree ``count`` on the interval."""
    middle, half = (mpfr(low) + high) / 2, (mpfr(high) - low) / 2
    angle = gmpy2.const_pi() / (2 * count)
    return [middle + half * gmpy2.cos((2 * k + 1) * angle) for k in range(count)]


def value(coefficients: Sequence[mpfr], x: mpfr) -> mpfr:
    """The polynomial at x."""
    total = mpfr(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total
