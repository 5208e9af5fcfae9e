"""``Arithmetic`` on Python numbers: what the interpreter and constant folding evaluate with.

A Real is a Python float (an f32 is one that f32 holds exactly), a Word an ``Integer``, a Truth a
bool.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from ctypes import c_float
from typing import Any

from .arithmetic import Real, Truth, Word

_F32, _U32 = struct.Struct("<f"), struct.Struct("<I")
_F64, _U64 = struct.Struct("<d"), struct.Struct("<Q")


class Integer:
    """A word of ``bits`` bits; its value wraps, as two's complement where it is signed."""

    __slots__ = ("bits", "signed", "value")

    def __init__(self, value: int, bits: int, signed: bool):
        value &= (1 << bits) - 1
        if signed and value >> (bits - 1):
            value -= 1 << bits
        self.value, self.bits, self.signed = value, bits, signed

    def _of(self, value: int) -> Integer:
        return Integer(value, self.bits, self.signed)

    def _beside(self, other: Integer | int) -> int:
        """The value of an operand beside this one."""
        if isinstance(other, int):
            return other
        assert (other.bits, other.signed) == (self.bits, self.signed), "words of two kinds"
        return other.value

    def __add__(self, other: Integer | int) -> Integer:
        return self._of(self.value + self._beside(other))

    def __sub__(self, other: Integer | int) -> Integer:
        return self._of(self.value - self._beside(other))

    def __rsub__(self, other: int) -> Integer:
        return self._of(other - self.value)

    def __mul__(self, other: Integer | int) -> Integer:
        return self._of(self.value * self._beside(other))

    def __and__(self, other: Integer | int) -> Integer:
        return self._of(self.value & self._beside(other))

    def __or__(self, other: Integer | int) -> Integer:
        return self._of(self.value | self._beside(other))

    def __xor__(self, other: Integer | int) -> Integer:
        return self._of(self.value ^ self._beside(other))

    __radd__, __rmul__, __rand__, __ror__, __rxor__ = __add__, __mul__, __and__, __or__, __xor__

    def _count(self, other: Integer | int) -> int:
        count = self._beside(other)
        assert 0 <= count < self.bits, "a shift count at or past the width"
        return count

    def __lshift__(self, other: Integer | int) -> Integer:
        return self._of(self.value << self._count(other))

    def __rshift__(self, other: Integer | int) -> Integer:
        return self._of(self.value >> self._count(other))

    def __neg__(self) -> Integer:
        return self._of(-self.value)

    def __lt__(self, other: Integer | int) -> bool:
        return self.value < self._beside(other)

    def __gt__(self, other: Integer | int) -> bool:
        return self.value > self._beside(other)

    def __le__(self, other: Integer | int) -> bool:
        return self.value <= self._beside(other)

    def __ge__(self, other: Integer | int) -> bool:
        return self.value >= self._beside(other)

    def __repr__(self) -> str:
        return f"{'i' if self.signed else 'u'}{self.bits}({self.value:#x})"


class Numbers:
    """The evaluation itself; see ``Arithmetic`` for what each operation means."""

    def wide(self, x: Real) -> Real:
        return x

    def narrow(self, x: Real) -> Real:
        return c_float(x).value

    def fma(self, a: Real, b: Real, c: Real) -> Real:
        return fma(a, b, c)

    def add32(self, a: Real, b: Real) -> Real:
        return c_float(a + b).value  # f64 has the bits that make a second rounding harmless

    def sub32(self, a: Real, b: Real) -> Real:
        return c_float(a - b).value

    def mul32(self, a: Real, b: Real) -> Real:
        return c_float(a * b).value

    def fma32(self, a: Real, b: Real, c: Real) -> Real:
        return fma32(a, b, c)

    def lookup(self, index: Word, table: Sequence[float]) -> Real:
        return table[index.value & (len(table) - 1)]

    def div(self, a: Real, b: Real) -> Real:
        if b != 0.0:
            return a / b
        if a == 0.0 or a != a:
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)

    def sqrt(self, x: Real) -> Real:
        return math.nan if x < 0.0 else math.sqrt(x)

    def eq(self, a: Real | Word, b: Real | Word) -> Truth:
        return _plain(a) == _plain(b)

    def not_(self, a: Truth) -> Truth:
        return not a

    def where(self, condition: Truth, a: Real | Word, b: Real | Word) -> Real | Word:
        chosen, other = (a, b) if condition else (b, a)
        if isinstance(chosen, int) and isinstance(other, Integer):
            return Integer(chosen, other.bits, other.signed)
        return chosen

    def branch(
        self,
        condition: Truth,
        dear: Callable[[], tuple[Any, ...]],
        usual: Callable[[], tuple[Any, ...]],
    ) -> tuple[Any, ...]:
        return dear() if condition else usual()

    def bits32(self, x: Real) -> Word:
        return Integer(_U32.unpack(_F32.pack(x))[0], 32, False)

    def bits64(self, x: Real) -> Word:
        return Integer(_U64.unpack(_F64.pack(x))[0], 64, False)

    def float32(self, word: Word) -> Real:
        return _F32.unpack(_U32.pack(word.value))[0]

    def float64(self, word: Word) -> Real:
        return _F64.unpack(_U64.pack(word.value))[0]

    def i32(self, word: Word | int) -> Word:
        return Integer(_plain(word), 32, True)

    def u32(self, word: Word | int) -> Word:
        return Integer(_plain(word), 32, False)

    def i64(self, word: Word | int) -> Word:
        return Integer(_plain(word), 64, True)

    def u64(self, word: Word | int) -> Word:
        return Integer(_plain(word), 64, False)

    def f64(self, x: float) -> Real:
        return x

    def real(self, word: Word) -> Real:
        return float(word.value)


def _plain(x: Real | Word) -> Any:
    return x.value if isinstance(x, Integer) else x


NUMBERS = Numbers()


def fma32(a: float, b: float, c: float) -> float:
    """a*b + c of f32, rounded to f32 once.

    The product is exact in f64. Where the sum is not, and its last bit is even, the neighbour on
    the other side of the exact sum is taken: to round an odd value again is to round the exact one
    (Boldo and Melquiond, 2008)."""
    p = a * b
    total = p + c
    if not math.isfinite(total):
        return total
    back = total - p
    error = (p - (total - back)) + (c - back)
    if error and not _U64.unpack(_F64.pack(total))[0] & 1:
        total = math.nextafter(total, math.copysign(math.inf, error))
    return c_float(total).value


_SPLIT = 2.0**27 + 1.0
_LEAST, _MOST = 2.0**-900, 2.0**900


def fma(a: float, b: float, c: float) -> float:
    """a*b + c in f64, rounded once.

    The product is the sum of two floats (Dekker, 1971), and ``math.fsum`` rounds a sum once."""
    p = a * b
    if _LEAST < abs(p) < _MOST and abs(a) < _MOST and abs(b) < _MOST and abs(c) < _MOST:
        t = _SPLIT * a
        high = t - (t - a)
        low = a - high
        t = _SPLIT * b
        upper = t - (t - b)
        lower = b - upper
        return math.fsum((p, ((high * upper - p) + high * lower + low * upper) + low * lower, c))
    if not (math.isfinite(a) and math.isfinite(b)) or a == 0.0 or b == 0.0:
        return p + c
    return _exact_fma(a, b, c) if math.isfinite(c) else c


def _exact_fma(a: float, b: float, c: float) -> float:
    """The same of any finite numbers but 0 times something: a quotient of ints is rounded once."""
    (an, ad), (bn, bd), (cn, cd) = a.as_integer_ratio(), b.as_integer_ratio(), c.as_integer_ratio()
    d = ad * bd
    n = an * bn * cd + cn * d
    try:
        return n / (d * cd)
    except OverflowError:
        return math.inf if n > 0 else -math.inf
