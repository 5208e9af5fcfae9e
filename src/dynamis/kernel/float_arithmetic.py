"""Float arithmetic: each operation of the tables on words of one float format. It never fails.

In: Python floats that the format holds exactly. Out: the same. Every NaN is the one Python NaN.

f32 arithmetic is Python's double arithmetic rounded once: for + - * / and sqrt of f32 operands that
equals rounding the exact result (53 >= 2*24 + 2 bits; Figueroa, "When is double rounding
innocuous?", 1995). f64 arithmetic is Python's own. Only ``fma`` needs exact rationals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from ctypes import c_float
from fractions import Fraction
from functools import lru_cache

from .. import elementary
from .float_format import DOUBLE, FLOAT, FloatFormat

_KEPT = 1 << 14


def f32(x: float) -> float:
    """``x`` rounded to the nearest f32, ties to even, overflow to infinity."""
    return c_float(x).value


class FloatArithmetic:
    """The operations in one format; ``narrow`` rounds a double to it, ``functions`` are its
    elementary functions."""

    def __init__(
        self,
        format: FloatFormat,
        narrow: Callable[[float], float],
        functions: Mapping[str, Callable[..., float]],
    ):
        self.format = format
        self.narrow = narrow
        self.functions = functions

    def add(self, a: float, b: float) -> float:
        return self.narrow(a + b)

    def sub(self, a: float, b: float) -> float:
        return self.narrow(a - b)

    def mul(self, a: float, b: float) -> float:
        return self.narrow(a * b)

    def div(self, a: float, b: float) -> float:
        if b != 0.0:
            return self.narrow(a / b)
        if a == 0.0 or math.isnan(a):
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)

    def sqrt(self, x: float) -> float:
        return self.narrow(math.sqrt(x)) if not x < 0.0 else math.nan

    def fma(self, a: float, b: float, c: float) -> float:
        """a*b + c rounded once."""
        if not (math.isfinite(a) and math.isfinite(b)):
            return a * b + c
        if not math.isfinite(c):
            return c
        total = Fraction(a) * Fraction(b) + Fraction(c)
        if total == 0:  # the IEEE sign of a zero sum: of zeros, theirs where they agree
            return a * b + c if a == 0.0 or b == 0.0 else 0.0
        return self.format.nearest(total)

    def fract(self, x: float) -> float:
        return self.sub(x, floor(x))

    def mix(self, a: float, b: float, t: float) -> float:
        return self.add(self.mul(a, self.sub(1.0, t)), self.mul(b, t))

    def smoothstep(self, low: float, high: float, x: float) -> float:
        t = clamp(self.div(self.sub(x, low), self.sub(high, low)), 0.0, 1.0)
        return self.mul(self.mul(t, t), self.sub(3.0, self.mul(2.0, t)))

    def from_int(self, n: int) -> float:
        """The value nearest to an integer, ties to even."""
        return math.copysign(self.format.rounded(abs(n), 0), n)


# What is the same in every format, for it rounds nothing.


def rem(a: float, b: float) -> float:
    """C's fmod: exact, with the sign of ``a``."""
    if math.isinf(a) or b == 0.0:
        return math.nan
    return math.fmod(a, b)


def _whole(rounding: Callable[[float], int]) -> Callable[[float], float]:
    """``rounding`` on floats: infinities and NaN stay, and a zero keeps the operand's sign."""

    def evaluate(x: float) -> float:
        return math.copysign(float(rounding(x)), x) if math.isfinite(x) else x

    return evaluate


floor, ceil, nearest = _whole(math.floor), _whole(math.ceil), _whole(round)
trunc = _whole(math.trunc)


def sign(x: float) -> float:
    return x if x == 0.0 or math.isnan(x) else math.copysign(1.0, x)


def least(a: float, b: float) -> float:
    """NaN if either is; -0 is below +0."""
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if a == b:
        return a if math.copysign(1.0, a) < 0 else b
    return a if a < b else b


def greatest(a: float, b: float) -> float:
    """NaN if either is; +0 is above -0."""
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if a == b:
        return b if math.copysign(1.0, a) < 0 else a
    return a if a > b else b


def clamp(x: float, low: float, high: float) -> float:
    return least(greatest(x, low), high)


def step(edge: float, x: float) -> float:
    return 1.0 if x >= edge else 0.0


def _same(x: float) -> float:
    return x


def _remembered(function: Callable[..., float]) -> Callable[..., float]:
    """The function with its latest values kept, for a kernel asks for the same ones often; not at
    zeros, whose signs no key tells apart."""
    kept = lru_cache(maxsize=_KEPT)(function)
    return lambda *args: function(*args) if 0.0 in args else kept(*args)


def _functions(written: Mapping[str, elementary.Function]) -> dict[str, Callable[..., float]]:
    """The elementary functions of a format on Python numbers."""
    return {name: _remembered(elementary.on_numbers(f)) for name, f in written.items()}


SINGLE = FloatArithmetic(FLOAT, f32, _functions(elementary.SINGLE))
WIDE = FloatArithmetic(DOUBLE, _same, _functions(elementary.DOUBLE))
