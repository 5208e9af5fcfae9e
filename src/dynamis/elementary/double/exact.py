"""Small pieces that the functions of f64 share: exact sums and products, signs, bounds.

The exact operations are those of Knuth (TAOCP 2, section 4.2.2) and Dekker (1971); see Muller et
al., *Handbook of Floating-Point Arithmetic*, chapter 4.
"""

from __future__ import annotations

from ..arithmetic import Arithmetic, Real
from ..double_double import Pair, ordered_sum

__all__ = [
    "LN2",
    "SIGN",
    "Pair",
    "clamped",
    "copysign",
    "magnitude",
    "ordered_sum",
    "product",
    "two_sum",
]

SIGN = 1 << 63
LN2 = 0.6931471805599453, 2.3190468138462996e-17
"""ln 2 as a sum."""


def two_sum(a: Real, b: Real) -> Pair:
    """a + b rounded, and the exact rest."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def product(m: Arithmetic, a: Real, b: Real) -> Pair:
    """a * b rounded, and the exact rest."""
    p = a * b
    return p, m.fma(a, b, -p)


def magnitude(m: Arithmetic, x: Real) -> Real:
    """|x|."""
    return m.float64(m.bits64(x) & (SIGN - 1))


def copysign(m: Arithmetic, size: Real, x: Real) -> Real:
    """``size``, which is not negative, with the sign of ``x``."""
    return m.float64(m.bits64(size) | (m.bits64(x) & SIGN))


def clamped(m: Arithmetic, x: Real, low: float, high: float) -> Real:
    """``x`` within low…high, NaN kept."""
    x = m.where(x < low, low, x)
    return m.where(x > high, high, x)
