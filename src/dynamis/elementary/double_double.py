"""Sums of two f64, about 106 bits: what the slow paths of atan2 and pow are written in.

A ``Pair`` (high, low) is high + low with |low| at most about an ulp of high. The building blocks
are Dekker's (1971): sums and products of f64 whose errors are f64 again.
"""

from __future__ import annotations

from collections.abc import Sequence

from .arithmetic import Arithmetic, Real

Pair = tuple[Real, Real]


def ordered_sum(a: Real, b: Real) -> Pair:
    """a + b exactly, for |a| >= |b| or a = 0."""
    high = a + b
    return high, (a - high) + b


def added(a: Pair, b: Pair) -> Pair:
    """a + b, for |a| >= |b| or a = 0."""
    high, error = ordered_sum(a[0], b[0])
    return high, error + (a[1] + b[1])


def multiplied(m: Arithmetic, a: Pair, b: Pair) -> Pair:
    """a * b."""
    high = a[0] * b[0]
    return high, m.fma(a[1], b[0], m.fma(a[0], b[1], m.fma(a[0], b[0], -high)))


def squared(m: Arithmetic, a: Pair) -> Pair:
    """a * a."""
    high = a[0] * a[0]
    return high, m.fma(a[0] + a[0], a[1], m.fma(a[0], a[0], -high))


def quotient(m: Arithmetic, a: Real, b: Real) -> Pair:
    """a / b of f64."""
    high = m.div(a, b)
    return high, m.div(m.fma(-high, b, a), b)


def pair_horner(
    m: Arithmetic,
    x: tuple[Real, Real | None],
    tail: Real,
    coefficients: Sequence[tuple[float, float]],
) -> Pair:
    """c0 + x*(c1 + x*(… + x*tail)), for steps in which each sum is near its coefficient: then
    c - fma(x, p, c) is exact, and what the fma lost is known to an f64. A low part of x may be
    None for zero."""
    high, low = tail, None
    for c, c_low in reversed(coefficients):
        total = m.fma(x[0], high, c)
        error = m.fma(x[0], high, c - total)
        if low is not None:
            error = m.fma(x[0], low, error)
        if x[1] is not None:
            error = m.fma(x[1], high, error)
        high, low = total, error + c_low
    return high, low


def to_odd(m: Arithmetic, a: Pair) -> Real:
    """The f64 of a pair that is not negative that rounds to an f32 as the pair does: a itself, or
    of the two f64 around it the one with an odd last bit (Boldo and Melquiond, 2008)."""
    high, low = ordered_sum(*a)
    bits = m.bits64(high)
    odd = m.where(low < 0.0, bits - 1, bits) | 1
    return m.float64(m.where(m.eq(low, 0.0), bits, odd))
