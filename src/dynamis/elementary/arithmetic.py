"""The operations that elementary functions are written in: exact, and the same on every machine.

A function of ``elementary/`` takes an ``Arithmetic`` and its arguments and is evaluated twice: by
``Numbers`` (``numbers.py``) on Python numbers, and by ``Nodes`` (``dynamis.uop.elementary``) on
nodes, which become code. There are three kinds of value:

- ``Real``: a float. ``+ - *``, unary ``-``, ``< > <= >=`` are Python's operators, and a Python
  float may stand beside a value. That arithmetic is of f64: it rounds once, to nearest even. An
  f32 is compared, selected, widened and taken apart; ``add32 sub32 mul32 fma32`` compute on it.
- ``Word``: an unsigned or signed integer of 32 or 64 bits. ``+ - * & | ^ << >>``, unary ``-`` and
  order are Python's operators, and a Python int may stand beside a word. Results wrap; a shift
  count is below the width; ``>>`` brings in the sign of a signed word. The words of two operands
  have one width and sign: convert with ``i32 u32 i64 u64``.
- ``Truth``: a bool. ``& | ^`` are Python's operators; the rest is below.

Everything is total: nothing raises, whatever the operands, for arms that are not taken are computed
all the same. There is no ``if`` on a value, only ``where``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

Real: TypeAlias = Any
Word: TypeAlias = Any
Truth: TypeAlias = Any


class Arithmetic(Protocol):
    """What an elementary function may do with its values besides Python's operators."""

    def wide(self, x: Real) -> Real:
        """The f64 that an f32 is."""

    def narrow(self, x: Real) -> Real:
        """The f32 nearest to an f64, ties to even, overflow to infinity, subnormals kept."""

    def fma(self, a: Real, b: Real, c: Real) -> Real:
        """a*b + c in f64, rounded once. At least one operand is no Python number."""

    def add32(self, a: Real, b: Real) -> Real:
        """a + b of f32, rounded to f32. Of two operands of this, the next two and ``fma32`` one at
        least is no Python number; those that are, f32 holds exactly."""

    def sub32(self, a: Real, b: Real) -> Real:
        """a - b of f32, rounded to f32."""

    def mul32(self, a: Real, b: Real) -> Real:
        """a*b of f32, rounded to f32."""

    def fma32(self, a: Real, b: Real, c: Real) -> Real:
        """a*b + c of f32, rounded to f32 once."""

    def lookup(self, index: Word, table: Sequence[float]) -> Real:
        """The f32 of ``table`` at the low bits of a u32; it has a power of two of entries, at least
        two, all of f32."""

    def div(self, a: Real, b: Real) -> Real:
        """a / b in f64, by zero as IEEE 754 says."""

    def sqrt(self, x: Real) -> Real:
        """The square root in f64; NaN below zero."""

    def eq(self, a: Any, b: Any) -> Truth:
        """a == b, of floats or words; false on NaN."""

    def not_(self, a: Truth) -> Truth:
        """Whether ``a`` is false."""

    def where(self, condition: Truth, a: Any, b: Any) -> Any:
        """``a`` where the condition holds, else ``b``; both of one kind, an f64 if both are Python
        floats. Both are computed."""

    def branch(
        self,
        condition: Truth,
        dear: Callable[[], tuple[Any, ...]],
        usual: Callable[[], tuple[Any, ...]],
    ) -> tuple[Any, ...]:
        """The values of ``dear`` where the condition holds, which is seldom, else those of
        ``usual``. Compiled code jumps over ``dear`` where no lane needs it, if it is of 16
        operations or more."""

    def bits32(self, x: Real) -> Word:
        """The u32 that is an f32's pattern."""

    def bits64(self, x: Real) -> Word:
        """The u64 that is an f64's pattern."""

    def float32(self, word: Word) -> Real:
        """The f32 whose pattern a u32 is."""

    def float64(self, word: Word) -> Real:
        """The f64 whose pattern a u64 is."""

    def i32(self, word: Word | int) -> Word:
        """The low 32 bits, signed. This and the next three also make words of Python ints."""

    def u32(self, word: Word | int) -> Word:
        """The low 32 bits."""

    def i64(self, word: Word | int) -> Word:
        """The value in 64 bits, signed; a u64's bits."""

    def u64(self, word: Word | int) -> Word:
        """The value in 64 bits, modulo 2**64."""

    def f64(self, x: float) -> Real:
        """An f64 constant, where no value stands beside it."""

    def real(self, word: Word) -> Real:
        """The f64 nearest to a word's value. Exact, and fast in vectors, for i32."""


def horner(m: Arithmetic, x: Real, coefficients: Sequence[float]) -> Real:
    """The polynomial c0 + x*(c1 + x*(c2 + …)) in f64, each step one fma."""
    *rest, total = coefficients
    result: Real = total
    for c in reversed(rest):
        result = m.fma(x, result, c)
    return result


def horner32(m: Arithmetic, x: Real, coefficients: Sequence[float]) -> Real:
    """The same in f32."""
    *rest, total = coefficients
    result: Real = total
    for c in reversed(rest):
        result = m.fma32(x, result, c)
    return result


def magnitude(m: Arithmetic, x: Real) -> Real:
    """|x| of an f32."""
    return m.float32(m.bits32(x) & 0x7FFFFFFF)


def copysign(m: Arithmetic, size: Real, x: Real) -> Real:
    """The f32 ``size``, which is not negative, with the sign of the f32 ``x``."""
    return m.float32(m.bits32(size) | (m.bits32(x) & 0x80000000))


SHIFT = 1.5 * 2.0**52
"""``(x + SHIFT) - SHIFT`` is the whole number nearest to x, ties to even, for |x| < 2**51; the low
bits of ``x + SHIFT`` are that number in two's complement."""
SHIFT32 = 1.5 * 2.0**23
"""The same of f32, for |x| < 2**22."""
