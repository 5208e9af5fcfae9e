"""Real functions in integers, with errors that are proven: what ``ziv.py`` stands on.

In: an exact rational and a precision p. Out: an integer v with |v - f(x) * 2**p| <= ERROR.

All work is done with GUARD more bits than asked for. Each step truncates to a unit of the working
precision; what the steps add up to is bounded in the comments and stays far below 2**GUARD units,
so that only the last truncation, and one unit for all else, is left: ERROR = 2.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import isqrt

GUARD = 64
ERROR = 2
_HALVINGS = 8
"""How often exp halves its argument before the series, and squares the sum after it."""


def _atanh(z: int, w: int, sign: int = 1) -> int:
    """atanh (or, with sign -1, atan) of z * 2**-w, |z| < 2**w / 2, at precision w: the power series
    z + z**3/3 ± …. A term is wrong by at most 3 units, and there are at most w terms."""
    square = z * z >> w
    term, total, k = z, z, 1
    while term not in (0, -1):  # a negative term shifts down to -1
        term = sign * (term * square >> w)
        k += 2
        total += term // k
    return total


@lru_cache(maxsize=64)
def ln2(p: int) -> int:
    """log(2): 2 atanh(1/3)."""
    w = p + GUARD
    return 2 * _atanh((1 << w) // 3, w) >> GUARD


@lru_cache(maxsize=64)
def pi(p: int) -> int:
    """pi: 16 atan(1/5) - 4 atan(1/239) (Machin, 1706)."""
    w = p + GUARD
    one = 1 << w
    return 16 * _atanh(one // 5, w, -1) - 4 * _atanh(one // 239, w, -1) >> GUARD


def scaled(x: Fraction, w: int) -> int:
    """x * 2**w, truncated to a whole number."""
    return (x.numerator << w) // x.denominator


def exp(x: int, p: int) -> tuple[int, int]:
    """v and k with |v - e**x * 2**(p - k)| <= ERROR and v near 2**p, for x * 2**-(p + GUARD).

    |x| stands for less than 2**12, and may itself be wrong by 2**20 units: that, the k <= 2**13
    times ln2 (each wrong by 2) and the series (a unit a term, times 2**_HALVINGS by the squarings)
    make less than 2**40 units."""
    w = p + GUARD
    k = (2 * x // ln2(w) + 1) // 2
    rest = x - k * ln2(w) >> _HALVINGS
    total, term, n = (1 << w) + rest, rest, 1
    while term not in (0, -1):
        n += 1
        term = (term * rest >> w) // n
        total += term
    for _ in range(_HALVINGS):
        total = total * total >> w
    return total >> GUARD, k


def log(x: Fraction, p: int) -> int:
    """log(x) for x > 0: e log(2) + 2 atanh((m - 1)/(m + 1)) with x = m * 2**e, 3/4 <= m < 3/2.

    |e| < 2**12 times ln2 (wrong by 2) and the series make less than 2**20 units."""
    w = p + GUARD
    n, d = x.numerator, x.denominator
    e = n.bit_length() - d.bit_length()
    n, d = (n, d << e) if e >= 0 else (n << -e, d)
    if 4 * n < 3 * d:
        n, e = 2 * n, e - 1
    elif 2 * n >= 3 * d:
        d, e = 2 * d, e + 1
    return e * ln2(w) + 2 * _atanh(((n - d) << w) // (n + d), w) >> GUARD


def atan(a: int, b: int, p: int) -> int:
    """atan(a / b) for a, b >= 0, not both 0; atan(a / 0) is pi/2.

    The argument is brought below 1, then halved three times by atan t = 2 atan(t/(1+sqrt(1+t*t))):
    each halving is wrong by 3 units, doubled at most three times."""
    w = p + GUARD
    turned = a > b
    t = ((b if turned else a) << w) // (a if turned else b)
    one = 1 << w
    for _ in range(3):
        t = (t << w) // (one + isqrt((one << w) + t * t))
    angle = 8 * _atanh(t, w, -1)
    return (pi(w) // 2 - angle if turned else angle) >> GUARD


def sin_cos(x: Fraction, p: int) -> tuple[int, int]:
    """sin(x) and cos(x) for x >= 0: by series of x less the nearest multiple of pi/2.

    pi is taken with as many more bits as the multiple has, which keeps that rest right to 4 units;
    each series adds a unit a term."""
    w = p + GUARD
    whole = max((x.numerator // x.denominator).bit_length(), 0) + 2
    wide = w + whole
    quarter = pi(wide) // 2  # right to 2 units of 2**-wide
    turns = (2 * scaled(x, wide) // quarter + 1) // 2
    rest = scaled(x, wide) - turns * quarter >> whole
    square = rest * rest >> w
    sine = _alternating(rest, square, 1, w)
    cosine = _alternating(1 << w, square, 0, w)
    for _ in range(turns % 4):
        sine, cosine = cosine, -sine
    return sine >> GUARD, cosine >> GUARD


def _alternating(first: int, square: int, n: int, w: int) -> int:
    """first - first square/((n+1)(n+2)) + …: the series of sine (n = 1) and cosine (n = 0)."""
    total = term = first
    while term not in (0, -1):
        term = -(term * square >> w) // ((n + 1) * (n + 2))
        n += 2
        total += term
    return total
