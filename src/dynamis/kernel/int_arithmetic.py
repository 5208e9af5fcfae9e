"""Integer arithmetic: each operation of the tables on words of one integer width.

In: Python ints in the range of the width. Out: the same, or, from the rules of failure, what goes
wrong: a result that does not fit, or a zero divisor.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .fault import FaultKind

Rule = Callable[..., FaultKind | None]


class IntArithmetic:
    """The operations on two's complement words of ``bits`` bits."""

    def __init__(self, bits: int):
        self.bits = bits
        self.min, self.max = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        self.mask = (1 << bits) - 1

    def wrap(self, x: int) -> int:
        """``x`` modulo 2**bits, as a signed word."""
        return ((x - self.min) & self.mask) + self.min

    def unsigned(self, x: int) -> int:
        """The bits of a word read as an unsigned number."""
        return x & self.mask

    def fits(self, x: int) -> bool:
        return self.min <= x <= self.max

    # Failures.

    def overflow(self, exact: Callable[..., int]) -> Rule:
        """The rule that fails where ``exact`` leaves the range."""

        def fault(*operands: int) -> FaultKind | None:
            return None if self.fits(exact(*operands)) else FaultKind.OVERFLOW

        return fault

    def division(self, a: int, b: int) -> FaultKind | None:
        if b == 0:
            return FaultKind.DIVISION_BY_ZERO
        return FaultKind.OVERFLOW if a == self.min and b == -1 else None

    # Bits. A shift takes its count modulo the width; << drops the bits it pushes out.

    def shl(self, a: int, n: int) -> int:
        return self.wrap(a << (n & (self.bits - 1)))

    def shr(self, a: int, n: int) -> int:
        return a >> (n & (self.bits - 1))

    def ushr(self, a: int, n: int) -> int:
        return self.wrap(self.unsigned(a) >> (n & (self.bits - 1)))

    def popcount(self, x: int) -> int:
        return self.unsigned(x).bit_count()

    def clz(self, x: int) -> int:
        return self.bits - self.unsigned(x).bit_length()

    def ctz(self, x: int) -> int:
        return (x & -x).bit_length() - 1 if x else self.bits

    def rotl(self, x: int, n: int) -> int:
        n &= self.bits - 1
        word = self.unsigned(x)
        return self.wrap(word << n | word >> (self.bits - n))

    def rotr(self, x: int, n: int) -> int:
        return self.rotl(x, -n)

    def mulhi(self, a: int, b: int) -> int:
        return a * b >> self.bits

    def umulhi(self, a: int, b: int) -> int:
        return self.wrap(self.unsigned(a) * self.unsigned(b) >> self.bits)

    def udiv(self, a: int, b: int) -> int:
        return self.wrap(self.unsigned(a) // self.unsigned(b))

    def urem(self, a: int, b: int) -> int:
        return self.wrap(self.unsigned(a) % self.unsigned(b))

    def of_float(self, x: float) -> int:
        """``x`` truncated toward zero and saturated, NaN 0."""
        if math.isnan(x):
            return 0
        if math.isinf(x):
            return self.max if x > 0 else self.min
        return min(max(int(x), self.min), self.max)


def zero_divisor(_: int, b: int) -> FaultKind | None:
    return FaultKind.DIVISION_BY_ZERO if b == 0 else None


def quotient(a: int, b: int) -> int:
    """Truncates towards zero."""
    size = abs(a) // abs(b)
    return size if (a < 0) == (b < 0) else -size


def remainder(a: int, b: int) -> int:
    """The remainder of ``quotient``, with the sign of ``a``; MIN % -1 is 0."""
    return a - b * quotient(a, b)


def sign(x: int) -> int:
    return (x > 0) - (x < 0)


def clamp(x: int, low: int, high: int) -> int:
    return min(max(x, low), high)


INT = IntArithmetic(32)
LONG = IntArithmetic(64)
