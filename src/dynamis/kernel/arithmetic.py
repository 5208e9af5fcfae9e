"""The reference evaluation of every operation of the op tables, on single words.

In: the numbers of one component: a Float as a Python float that an f32 holds exactly, an Int as an
int in -2**31 ... 2**31 - 1, a Bool as a bool. Out: the result in the same form, or the kind of
failure. ``TABLE[operation][type]`` is the ``Row`` for operands whose components are ``type``.

f32 arithmetic is Python's double arithmetic rounded once: for + - * / and sqrt of f32 operands that
equals rounding the exact result (53 >= 2*24 + 2 bits; Figueroa, "When is double rounding
innocuous?", 1995). Only ``fma`` needs exact integers. Every NaN is the one canonical NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from ctypes import c_float
from dataclasses import dataclass

from .fault import FaultKind
from .tables import BinaryOp, Intrinsic, UnaryOp
from .types import Numeric, Type, bits_float, float_bits

INT_MIN, INT_MAX = -(2**31), 2**31 - 1


def f32(x: float) -> float:
    """``x`` rounded to the nearest f32, ties to even, overflow to infinity."""
    return c_float(x).value


def wrap(x: int) -> int:
    """``x`` modulo 2**32, as a signed Int."""
    return ((x + 2**31) & 0xFFFFFFFF) - 2**31


def unsigned(x: int) -> int:
    """The 32 bits of an Int read as an unsigned number."""
    return x & 0xFFFFFFFF


# Float arithmetic: never fails.


def _add(a: float, b: float) -> float:
    return f32(a + b)


def _sub(a: float, b: float) -> float:
    return f32(a - b)


def _mul(a: float, b: float) -> float:
    return f32(a * b)


def _div(a: float, b: float) -> float:
    if b != 0.0:
        return f32(a / b)
    if a == 0.0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _rem(a: float, b: float) -> float:
    """C's fmod: exact, with the sign of ``a``."""
    if math.isinf(a) or b == 0.0:
        return math.nan
    return math.fmod(a, b)


def _sqrt(x: float) -> float:
    return f32(math.sqrt(x)) if not x < 0.0 else math.nan


def _fma(a: float, b: float, c: float) -> float:
    """a*b + c rounded once: in integers, as multiples of 2**-298 (the square of the least f32)."""
    product = a * b  # exact in a double
    if not (math.isfinite(product) and math.isfinite(c)):
        return product + c
    total = _multiple(product) + _multiple(c)
    if total == 0:
        return product + c  # the IEEE sign of a zero sum
    drop = max(total.bit_length() - 24, 298 - 149)  # bits below the result's last place
    rounded = f32(math.ldexp(_shifted_to_even(total, drop), drop - 298))
    return math.copysign(rounded, total)  # a negative total may round to zero: to -0


def _multiple(x: float) -> int:
    """``x`` as a multiple of 2**-298."""
    numerator, denominator = x.as_integer_ratio()
    return numerator * (2**298 // denominator)


def _shifted_to_even(n: int, bits: int) -> int:
    """n / 2**bits rounded to nearest, ties to even."""
    quotient, rest = n >> bits, n & ((1 << bits) - 1)
    half = 1 << (bits - 1)
    return quotient + (rest > half or (rest == half and quotient & 1))


def _whole(rounding: Callable[[float], int]) -> Callable[[float], float]:
    """``rounding`` on Floats: infinities and NaN stay, and a zero keeps the operand's sign."""

    def evaluate(x: float) -> float:
        return math.copysign(float(rounding(x)), x) if math.isfinite(x) else x

    return evaluate


_floor = _whole(math.floor)


def _fract(x: float) -> float:
    return _sub(x, _floor(x))


def _sign(x: float) -> float:
    return x if x == 0.0 or math.isnan(x) else math.copysign(1.0, x)


def _min(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if a == b:  # only zeros differ in sign: -0 is below +0
        return a if math.copysign(1.0, a) < 0 else b
    return a if a < b else b


def _max(a: float, b: float) -> float:
    if math.isnan(a) or math.isnan(b):
        return math.nan
    if a == b:
        return b if math.copysign(1.0, a) < 0 else a
    return a if a > b else b


def _clamp(x: float, low: float, high: float) -> float:
    return _min(_max(x, low), high)


def _mix(a: float, b: float, t: float) -> float:
    return _add(_mul(a, _sub(1.0, t)), _mul(b, t))


def _step(edge: float, x: float) -> float:
    return 1.0 if x >= edge else 0.0


def _smoothstep(low: float, high: float, x: float) -> float:
    t = _clamp(_div(_sub(x, low), _sub(high, low)), 0.0, 1.0)
    return _mul(_mul(t, t), _sub(3.0, _mul(2.0, t)))


def _to_int(x: float) -> int:
    if math.isnan(x):
        return 0
    if math.isinf(x):
        return INT_MAX if x > 0 else INT_MIN
    return min(max(int(x), INT_MIN), INT_MAX)


# Int arithmetic: fails where the result does not fit, or a divisor is zero.


def _int_div(a: int, b: int) -> int:
    """Truncates towards zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _int_rem(a: int, b: int) -> int:
    """The remainder of ``_int_div``, with the sign of ``a``; INT_MIN % -1 is 0."""
    return a - b * _int_div(a, b)


def _int_sign(x: int) -> int:
    return (x > 0) - (x < 0)


def _overflow(exact: Callable[..., int]) -> Callable[..., FaultKind | None]:
    """The rule that fails where ``exact`` leaves the range of Int."""

    def fault(*operands: int) -> FaultKind | None:
        return None if INT_MIN <= exact(*operands) <= INT_MAX else FaultKind.OVERFLOW

    return fault


def _zero_divisor(a: int, b: int) -> FaultKind | None:
    return FaultKind.DIVISION_BY_ZERO if b == 0 else None


def _division(a: int, b: int) -> FaultKind | None:
    if b == 0:
        return FaultKind.DIVISION_BY_ZERO
    return FaultKind.OVERFLOW if a == INT_MIN and b == -1 else None


@dataclass(frozen=True, slots=True)
class Row:
    """One operation on operands of one component type.

    ``evaluate`` gives the result's word and is called only where ``fault`` (which takes the same
    operands) is absent or gives None."""

    evaluate: Callable[..., Numeric]
    fault: Callable[..., FaultKind | None] | None = None


def _checked(exact: Callable[..., int]) -> Row:
    return Row(exact, _overflow(exact))


Operation = BinaryOp | UnaryOp | Intrinsic
_F, _I, _B = Type.FLOAT, Type.INT, Type.BOOL


def _same(evaluate: Callable[..., Numeric], *types: Type) -> dict[Type, Row]:
    return dict.fromkeys(types, Row(evaluate))


TABLE: dict[Operation, dict[Type, Row]] = {
    BinaryOp.ADD: {_F: Row(_add), _I: _checked(lambda a, b: a + b)},
    BinaryOp.SUB: {_F: Row(_sub), _I: _checked(lambda a, b: a - b)},
    BinaryOp.MUL: {_F: Row(_mul), _I: _checked(lambda a, b: a * b)},
    BinaryOp.DIV: {_F: Row(_div), _I: Row(_int_div, _division)},
    BinaryOp.REM: {_F: Row(_rem), _I: Row(_int_rem, _zero_divisor)},
    BinaryOp.LESS: _same(lambda a, b: a < b, _F, _I),
    BinaryOp.LESS_EQUAL: _same(lambda a, b: a <= b, _F, _I),
    BinaryOp.GREATER: _same(lambda a, b: a > b, _F, _I),
    BinaryOp.GREATER_EQUAL: _same(lambda a, b: a >= b, _F, _I),
    # Of whole vectors: equal when every word is, not equal when any word is not.
    BinaryOp.EQUAL: _same(lambda a, b: a == b, _F, _I, _B),
    BinaryOp.NOT_EQUAL: _same(lambda a, b: a != b, _F, _I, _B),
    BinaryOp.AND: _same(lambda a, b: a and b, _B),
    BinaryOp.OR: _same(lambda a, b: a or b, _B),
    BinaryOp.BIT_AND: _same(lambda a, b: a & b, _I),
    BinaryOp.BIT_OR: _same(lambda a, b: a | b, _I),
    BinaryOp.BIT_XOR: _same(lambda a, b: a ^ b, _I),
    # Shift counts are taken modulo 32; << drops the bits it pushes out.
    BinaryOp.SHL: _same(lambda a, n: wrap(a << (n & 31)), _I),
    BinaryOp.SHR: _same(lambda a, n: a >> (n & 31), _I),
    BinaryOp.USHR: _same(lambda a, n: wrap(unsigned(a) >> (n & 31)), _I),
    UnaryOp.NEG: {_F: Row(lambda x: -x), _I: _checked(lambda x: -x)},
    UnaryOp.NOT: _same(lambda x: not x, _B),
    Intrinsic.FLOOR: _same(_floor, _F),
    Intrinsic.CEIL: _same(_whole(math.ceil), _F),
    Intrinsic.ROUND: _same(_whole(round), _F),
    Intrinsic.TRUNC: _same(_whole(math.trunc), _F),
    Intrinsic.FRACT: _same(_fract, _F),
    Intrinsic.SIGN: {_F: Row(_sign), _I: Row(_int_sign)},
    Intrinsic.ABS: {_F: Row(abs), _I: _checked(abs)},
    Intrinsic.SQRT: _same(_sqrt, _F),
    Intrinsic.MIN: {_F: Row(_min), _I: Row(min)},
    Intrinsic.MAX: {_F: Row(_max), _I: Row(max)},
    Intrinsic.CLAMP: {_F: Row(_clamp), _I: Row(lambda x, low, high: min(max(x, low), high))},
    Intrinsic.MIX: _same(_mix, _F),
    Intrinsic.STEP: _same(_step, _F),
    Intrinsic.SMOOTHSTEP: _same(_smoothstep, _F),
    Intrinsic.FMA: _same(_fma, _F),
    Intrinsic.ADD_WRAP: _same(lambda a, b: wrap(a + b), _I),
    Intrinsic.SUB_WRAP: _same(lambda a, b: wrap(a - b), _I),
    Intrinsic.MUL_WRAP: _same(lambda a, b: wrap(a * b), _I),
    Intrinsic.ULT: _same(lambda a, b: unsigned(a) < unsigned(b), _I),
    Intrinsic.UDIV: {_I: Row(lambda a, b: wrap(unsigned(a) // unsigned(b)), _zero_divisor)},
    Intrinsic.UREM: {_I: Row(lambda a, b: wrap(unsigned(a) % unsigned(b)), _zero_divisor)},
    Intrinsic.TO_FLOAT: {_F: Row(float), _I: Row(f32), _B: Row(float)},
    Intrinsic.TO_INT: {_F: Row(_to_int), _I: Row(int), _B: Row(int)},
    Intrinsic.BITS: _same(lambda x: wrap(float_bits(x)), _F),
    Intrinsic.FROM_BITS: _same(lambda x: bits_float(unsigned(x)), _I),
}
