"""Polynomials in as many digits as asked, and the points at which they are looked at."""

from __future__ import annotations

from collections.abc import Sequence

import gmpy2
from gmpy2 import mpfr


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
