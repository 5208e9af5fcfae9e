"""The reference evaluation of every operation of the op tables, on single words.

In: the numbers of one component: a Float or a Double as a Python float that its format holds
exactly, an Int or a Long as an int in its range, a Bool as a bool. Out: the result in the same
form, or the kind of failure. ``TABLE[operation][type]`` is the ``Row`` for operands whose
components are ``type``; a vector's or a matrix's operation is its component's, word by word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from . import float_arithmetic as floats
from . import int_arithmetic as ints
from .fault import FaultKind
from .float_arithmetic import SINGLE, WIDE, FloatArithmetic, f32
from .int_arithmetic import INT, LONG, IntArithmetic, zero_divisor
from .tables import BinaryOp, Intrinsic, UnaryOp
from .types import Numeric, Type, bits_float, float_bits

__all__ = ["INT_MAX", "INT_MIN", "TABLE", "Operation", "Row", "f32", "unsigned", "wrap"]

INT_MIN, INT_MAX = INT.min, INT.max
wrap, unsigned = INT.wrap, INT.unsigned


@dataclass(frozen=True, slots=True)
class Row:
    """One operation on operands of one component type.

    ``evaluate`` gives the result's word and is called only where ``fault`` (which takes the same
    operands) is absent or gives None."""

    evaluate: Callable[..., Numeric]
    fault: Callable[..., FaultKind | None] | None = None


Operation = BinaryOp | UnaryOp | Intrinsic
_Rows = dict[Type, Row]
_F, _D, _I, _L, _B = Type.FLOAT, Type.DOUBLE, Type.INT, Type.LONG, Type.BOOL


def _same(evaluate: Callable[..., Numeric], *types: Type) -> _Rows:
    return dict.fromkeys(types, Row(evaluate))


def _reals(evaluate: Callable[..., Numeric]) -> _Rows:
    """What rounds nothing, and so is one function for both float formats."""
    return _same(evaluate, _F, _D)


def _rounded(evaluate: Callable[[FloatArithmetic], Callable[..., float]]) -> _Rows:
    """What rounds to its format."""
    return {_F: Row(evaluate(SINGLE)), _D: Row(evaluate(WIDE))}


def _elementary(name: str) -> _Rows:
    return _rounded(lambda format: format.functions[name])


def _checked(exact: Callable[..., int]) -> _Rows:
    """Integer arithmetic that fails where the exact result does not fit."""
    return {_I: Row(exact, INT.overflow(exact)), _L: Row(exact, LONG.overflow(exact))}


def _widths(evaluate: Callable[[IntArithmetic], Callable[..., int]]) -> _Rows:
    """What depends on the width of the words."""
    return {_I: Row(evaluate(INT)), _L: Row(evaluate(LONG))}


def _ints(evaluate: Callable[..., int]) -> _Rows:
    return _same(evaluate, _I, _L)


def _divided(evaluate: Callable[..., int]) -> _Rows:
    return {_I: Row(evaluate, zero_divisor)}


TABLE: dict[Operation, _Rows] = {
    BinaryOp.ADD: _rounded(lambda f: f.add) | _checked(lambda a, b: a + b),
    BinaryOp.SUB: _rounded(lambda f: f.sub) | _checked(lambda a, b: a - b),
    BinaryOp.MUL: _rounded(lambda f: f.mul) | _checked(lambda a, b: a * b),
    BinaryOp.DIV: _rounded(lambda f: f.div)
    | {_I: Row(ints.quotient, INT.division), _L: Row(ints.quotient, LONG.division)},
    BinaryOp.REM: _reals(floats.rem)
    | {_I: Row(ints.remainder, zero_divisor), _L: Row(ints.remainder, zero_divisor)},
    BinaryOp.LESS: _same(lambda a, b: a < b, _F, _D, _I, _L),
    BinaryOp.LESS_EQUAL: _same(lambda a, b: a <= b, _F, _D, _I, _L),
    BinaryOp.GREATER: _same(lambda a, b: a > b, _F, _D, _I, _L),
    BinaryOp.GREATER_EQUAL: _same(lambda a, b: a >= b, _F, _D, _I, _L),
    # Of whole vectors and matrices: equal when every word is, not equal when any word is not.
    BinaryOp.EQUAL: _same(lambda a, b: a == b, _F, _D, _I, _L, _B),
    BinaryOp.NOT_EQUAL: _same(lambda a, b: a != b, _F, _D, _I, _L, _B),
    BinaryOp.AND: _same(lambda a, b: a and b, _B),
    BinaryOp.OR: _same(lambda a, b: a or b, _B),
    BinaryOp.BIT_AND: _ints(lambda a, b: a & b),
    BinaryOp.BIT_OR: _ints(lambda a, b: a | b),
    BinaryOp.BIT_XOR: _ints(lambda a, b: a ^ b),
    BinaryOp.SHL: _widths(lambda n: n.shl),
    BinaryOp.SHR: _widths(lambda n: n.shr),
    BinaryOp.USHR: _widths(lambda n: n.ushr),
    UnaryOp.NEG: _reals(lambda x: -x) | _checked(lambda x: -x),
    UnaryOp.NOT: _same(lambda x: not x, _B),
    Intrinsic.FLOOR: _reals(floats.floor),
    Intrinsic.CEIL: _reals(floats.ceil),
    Intrinsic.ROUND: _reals(floats.nearest),
    Intrinsic.TRUNC: _reals(floats.trunc),
    Intrinsic.FRACT: _rounded(lambda f: f.fract),
    Intrinsic.SIGN: _reals(floats.sign) | _ints(ints.sign),
    Intrinsic.ABS: _reals(abs) | _checked(abs),
    Intrinsic.SQRT: _rounded(lambda f: f.sqrt),
    Intrinsic.EXP: _elementary("exp"),
    Intrinsic.EXP2: _elementary("exp2"),
    Intrinsic.LOG: _elementary("log"),
    Intrinsic.LOG2: _elementary("log2"),
    Intrinsic.SIN: _elementary("sin"),
    Intrinsic.COS: _elementary("cos"),
    Intrinsic.TAN: _elementary("tan"),
    Intrinsic.ASIN: _elementary("asin"),
    Intrinsic.ACOS: _elementary("acos"),
    Intrinsic.ATAN: _elementary("atan"),
    Intrinsic.SINH: _elementary("sinh"),
    Intrinsic.COSH: _elementary("cosh"),
    Intrinsic.TANH: _elementary("tanh"),
    Intrinsic.ATAN2: _elementary("atan2"),
    Intrinsic.POW: _elementary("pow"),
    Intrinsic.MIN: _reals(floats.least) | _ints(min),
    Intrinsic.MAX: _reals(floats.greatest) | _ints(max),
    Intrinsic.CLAMP: _reals(floats.clamp) | _ints(ints.clamp),
    Intrinsic.MIX: _rounded(lambda f: f.mix),
    Intrinsic.STEP: _reals(floats.step),
    Intrinsic.SMOOTHSTEP: _rounded(lambda f: f.smoothstep),
    Intrinsic.FMA: _rounded(lambda f: f.fma),
    Intrinsic.ADD_WRAP: _same(lambda a, b: wrap(a + b), _I),
    Intrinsic.SUB_WRAP: _same(lambda a, b: wrap(a - b), _I),
    Intrinsic.MUL_WRAP: _same(lambda a, b: wrap(a * b), _I),
    Intrinsic.POPCOUNT: _same(INT.popcount, _I),
    Intrinsic.CLZ: _same(INT.clz, _I),
    Intrinsic.CTZ: _same(INT.ctz, _I),
    Intrinsic.ROTL: _same(INT.rotl, _I),
    Intrinsic.ROTR: _same(INT.rotr, _I),
    Intrinsic.ULT: _same(lambda a, b: unsigned(a) < unsigned(b), _I),
    Intrinsic.UDIV: _divided(INT.udiv),
    Intrinsic.UREM: _divided(INT.urem),
    Intrinsic.MULHI: _same(INT.mulhi, _I),
    Intrinsic.UMULHI: _same(INT.umulhi, _I),
    Intrinsic.TO_FLOAT: _same(SINGLE.from_int, _I, _L) | _same(f32, _F, _D) | _same(float, _B),
    Intrinsic.TO_DOUBLE: _same(float, _F, _D, _I, _L, _B),
    Intrinsic.TO_INT: _reals(INT.of_float) | _same(int, _I, _B) | {_L: Row(int, INT.overflow(int))},
    Intrinsic.TO_LONG: _reals(LONG.of_float) | _same(int, _I, _L, _B),
    Intrinsic.BITS: _same(lambda x: wrap(float_bits(x)), _F),
    Intrinsic.FROM_BITS: _same(lambda x: bits_float(unsigned(x)), _I),
}
