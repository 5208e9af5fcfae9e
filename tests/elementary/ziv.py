"""The elementary functions, correctly rounded, in integers: a reference that shares nothing with
``dynamis.elementary``, nor with MPFR.

In: Python floats that the format holds exactly. Out: the same. NaNs, infinities, zeros and domain
errors are those of C23, Annex F; nothing is ever raised.

Each function encloses its true value in an interval of rationals (``real.py`` bounds the error) and
rounds both ends. Where they round apart, the precision is doubled (Ziv, 1991). That ends, for a
true value is never a tie or a value of the format but where it is found exactly: at 0 and 1 (for
the others are transcendental: Lindemann), at whole exponents of exp2 and powers of two of log2, and
at the rational powers of ``_exact_power``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from math import copysign, inf, isqrt, nan

from dynamis.kernel.float_format import DOUBLE, FLOAT, FloatFormat
from tests.elementary import real
from tests.elementary.real import ERROR, GUARD

_PRECISION = 128
"""The bits that are tried first."""

Enclose = Callable[[int], tuple[int, int, int]]
"""For a precision: low, high and scale, with low * 2**-scale <= true value <= high * 2**-scale."""


def _around(value: int, error: int, scale: int) -> tuple[int, int, int]:
    return value - error, value + error, scale


class Elementary:
    """The functions of one format."""

    def __init__(self, format: FloatFormat):
        self.format = format

    def _positive(self, enclose: Enclose) -> float:
        """The value nearest to a true value above zero."""
        p = _PRECISION
        while True:
            low, high, scale = enclose(p)
            found = self.format.rounded(max(low, 0), scale)
            if found == self.format.rounded(high, scale):
                return found
            p *= 2

    def _signed(self, enclose: Enclose) -> float:
        """The value nearest to a true value that is not zero and does not underflow to it."""
        p = _PRECISION
        while True:
            low, high, _ = enclose(p)
            if low > 0:
                return self._positive(enclose)
            if high < 0:
                return -self._positive(lambda p: _mirrored(enclose(p)))
            p *= 2

    # Exponentials.

    def exp(self, x: float) -> float:
        if x == 0.0 or not math.isfinite(x):
            return 1.0 if x == 0.0 else x if x != x else max(x, 0.0)
        if abs(x) > 800.0:  # past e**710 and e**-745, the ends of the widest format
            return inf if x > 0 else 0.0

        def enclose(p: int) -> tuple[int, int, int]:
            v, k = real.exp(real.scaled(Fraction(x), p + GUARD), p)
            return _around(v, ERROR, p - k)

        return self._positive(enclose)

    def exp2(self, x: float) -> float:
        if not math.isfinite(x):
            return x if x != x else max(x, 0.0)
        if abs(x) > 1100.0:
            return inf if x > 0 else 0.0
        whole = math.floor(x)
        if x == whole:
            return self.format.rounded(1, -whole)
        rest = Fraction(x) - whole

        def enclose(p: int) -> tuple[int, int, int]:
            w = p + GUARD
            v, k = real.exp(real.ln2(w) * rest.numerator // rest.denominator, p)
            return _around(v, ERROR, p - k - whole)

        return self._positive(enclose)

    def sinh(self, x: float) -> float:
        if x == 0.0 or not math.isfinite(x):
            return x
        if abs(x) > 800.0:
            return copysign(inf, x)
        return copysign(self._positive(lambda p: _hyperbolic(abs(x), p, -1)), x)

    def cosh(self, x: float) -> float:
        if x == 0.0 or not math.isfinite(x):
            return 1.0 if x == 0.0 else abs(x)
        if abs(x) > 800.0:
            return inf
        return self._positive(lambda p: _hyperbolic(abs(x), p, 1))

    def tanh(self, x: float) -> float:
        if x == 0.0 or x != x:
            return x
        if abs(x) > 22.0:  # 1 - tanh(22) < 2**-62: the nearest value is 1
            return copysign(1.0, x)

        def enclose(p: int) -> tuple[int, int, int]:
            # (E - 1)/(E + 1) with E = e**2x: its slope 2/(E + 1)**2 is below 2 / E.
            v, k = real.exp(real.scaled(2 * abs(Fraction(x)), p + GUARD), p)
            one = 1 << p
            return _around((((v << k) - one) << p) // ((v << k) + one), 4 * ERROR + 1, p)

        return copysign(self._positive(enclose), x)

    # Logarithms.

    def log(self, x: float) -> float:
        if x <= 0.0 or x == 1.0 or not math.isfinite(x):
            return _log_edge(x)
        return self._signed(lambda p: _around(real.log(Fraction(x), p), ERROR, p))

    def log2(self, x: float) -> float:
        if x <= 0.0 or not math.isfinite(x):
            return _log_edge(x)
        mantissa, exponent = math.frexp(x)
        if mantissa == 0.5:
            return float(exponent - 1)

        def enclose(p: int) -> tuple[int, int, int]:
            # |log x| < 800: the quotient is wrong by 2*ERROR + 800 * 2 * ERROR/ln2 + 1 units.
            return _around((real.log(Fraction(x), p) << p) // real.ln2(p), 1 << 13, p)

        return self._signed(enclose)

    # Circular functions.

    def sin(self, x: float) -> float:
        if x == 0.0 or not math.isfinite(x):
            return x if x == 0.0 else nan
        value = self._signed(lambda p: _around(real.sin_cos(abs(Fraction(x)), p)[0], ERROR, p))
        return value if x > 0 else -value

    def cos(self, x: float) -> float:
        if x == 0.0 or not math.isfinite(x):
            return 1.0 if x == 0.0 else nan
        return self._signed(lambda p: _around(real.sin_cos(abs(Fraction(x)), p)[1], ERROR, p))

    def tan(self, x: float) -> float:
        if x == 0.0 or not math.isfinite(x):
            return x if x == 0.0 else nan

        def enclose(p: int) -> tuple[int, int, int]:
            # Both are wrong by ERROR; dividing by a cosine c multiplies by (1 + |tan|)/c.
            sine, cosine = real.sin_cos(abs(Fraction(x)), p)
            if abs(cosine) <= 2 * ERROR:
                return -1, 1, 0  # says nothing: a sign that is not known asks for more bits
            quotient = (sine << p) // cosine
            spread = (1 << p) + abs(quotient)
            return _around(quotient, 2 * ERROR * (spread // abs(cosine) + 1) + 1, p)

        value = self._signed(enclose)
        return value if x > 0 else -value

    def asin(self, x: float) -> float:
        if x == 0.0 or not abs(x) <= 1.0:
            return x if x == 0.0 else nan

        def enclose(p: int) -> tuple[int, int, int]:
            opposite, adjacent = _legs(x, p)
            return _around(real.atan(opposite, adjacent, p), ERROR + 1, p)

        return copysign(self._positive(enclose), x)

    def acos(self, x: float) -> float:
        if x == 1.0 or not abs(x) <= 1.0:
            return 0.0 if x == 1.0 else nan

        def enclose(p: int) -> tuple[int, int, int]:
            sine, cosine = _legs(x, p)
            return _around(_angle(cosine, sine, x < 0, p), 2 * ERROR + 1, p)

        return self._positive(enclose)

    def atan(self, x: float) -> float:
        if x == 0.0 or x != x:
            return x
        a, b = (1, 0) if math.isinf(x) else abs(x).as_integer_ratio()
        return copysign(self._positive(lambda p: _around(real.atan(a, b, p), ERROR, p)), x)

    def atan2(self, y: float, x: float) -> float:
        if x != x or y != y:
            return nan
        left = copysign(1.0, x) < 0
        if math.isinf(y):
            a, b = 1, int(math.isinf(x))
        elif math.isinf(x):
            a, b = 0, 1
        else:
            (a, d), (b, e) = abs(y).as_integer_ratio(), abs(x).as_integer_ratio()
            a, b = a * e, b * d
        if a == 0 and not left:
            return copysign(0.0, y)
        if a == 0:
            b = 1  # a zero beside a negative x, -0 included, is pi
        return copysign(self._positive(lambda p: _around(_angle(a, b, left, p), 2 * ERROR, p)), y)

    # Powers.

    def pow(self, x: float, y: float) -> float:
        if y == 0.0 or x == 1.0:
            return 1.0  # whatever the other is, NaN included
        if x != x or y != y:
            return nan
        whole = math.isinf(y) or y == math.floor(y)
        odd = whole and math.isfinite(y) and int(y) % 2 == 1
        sign = -1.0 if odd and copysign(1.0, x) < 0 else 1.0
        size = abs(x)
        if math.isinf(y) or size in (0.0, inf):
            if size == 1.0:
                return 1.0
            return sign * (inf if (size > 1.0) == (y > 0) else 0.0)
        if x < 0 and not whole:
            return nan
        return sign * (1.0 if size == 1.0 else self._power(size, y))

    def _power(self, x: float, y: float) -> float:
        """x**y for finite x > 0 other than 1 and finite y other than 0."""
        exact = _exact_power(Fraction(x), Fraction(y))
        if exact is not None:
            return self.format.nearest(exact)
        guess = y * math.log2(x)  # right to a few units; the ends of Double are 1024 and -1075
        if abs(guess) > 1200.0:
            return inf if guess > 0 else 0.0
        exponent = Fraction(y)
        more = max(0, math.frexp(y)[1]) + 8  # y multiplies the error of the logarithm

        def enclose(p: int) -> tuple[int, int, int]:
            w = p + GUARD
            product = real.log(Fraction(x), w + more) * exponent.numerator
            v, k = real.exp((product // exponent.denominator) >> more, p)
            return _around(v, ERROR, p - k)

        return self._positive(enclose)


UNARY_NAMES = (
    "exp", "exp2", "log", "log2", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
    "tanh",
)  # fmt: skip
NAMES = (*UNARY_NAMES, "atan2", "pow")


def _mirrored(interval: tuple[int, int, int]) -> tuple[int, int, int]:
    low, high, scale = interval
    return -high, -low, scale


def _log_edge(x: float) -> float:
    """A logarithm of 1, of what is not above 0, of infinity or NaN."""
    if x == 0.0:
        return -inf
    if x == 1.0:
        return 0.0
    return nan if x < 0.0 else x


def _hyperbolic(x: float, p: int, sign: int) -> tuple[int, int, int]:
    """(e**x + sign * e**-x)/2 for x > 0. With e**x = v * 2**(k-p), e**-x is 4**p/v * 2**-(k+p)."""
    v, k = real.exp(real.scaled(Fraction(x), p + GUARD), p)
    inverse = (1 << 2 * p) // v  # v > 2**(p-1): wrong by 4 * ERROR, and 1 for the division
    return _around((v << 2 * k) + sign * inverse, (ERROR << 2 * k) + 4 * ERROR + 1, p + k + 1)


def _legs(x: float, p: int) -> tuple[int, int]:
    """|x| and sqrt(1 - x*x), times the same number, as integers; |x| <= 1."""
    n, d = abs(x).as_integer_ratio()
    w = p + GUARD
    return n << w, isqrt((d * d - n * n) << 2 * w)


def _angle(opposite: int, adjacent: int, left: bool, p: int) -> int:
    """The angle of (±adjacent, opposite); ``left``: whether the first is negative."""
    if left:
        return real.pi(p) - real.atan(opposite, adjacent, p)
    return real.atan(opposite, adjacent, p)


def _exact_power(x: Fraction, y: Fraction) -> Fraction | None:
    """x**y where it may be a value of a format or lie half-way between two; else None.

    With x = m * 2**e and m odd, that takes a y whose denominator 2**k leaves a 2**k-th root of x in
    such a form, and then a whole y that keeps m**y within 54 bits, so m = 1 or 0 < y <= 34."""
    while y.denominator > 1:
        n, d = isqrt(x.numerator), isqrt(x.denominator)
        if n * n != x.numerator or d * d != x.denominator:
            return None
        x, y = Fraction(n, d), 2 * y
    odd = x.numerator >> ((x.numerator & -x.numerator).bit_length() - 1)
    if odd == 1:
        whole = x.numerator.bit_length() - x.denominator.bit_length()
        power = int(min(max(whole * y, Fraction(-1200)), Fraction(1200)))
        return Fraction(2**power) if power > 0 else Fraction(1, 2**-power)
    if 0 < y <= 34:
        return Fraction(x.numerator ** int(y), x.denominator ** int(y))
    return None


FLOATS = Elementary(FLOAT)
DOUBLES = Elementary(DOUBLE)
