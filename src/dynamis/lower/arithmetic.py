"""Kernel IR arithmetic as Uops, one word at a time, and the conditions under which it fails.

Goes in: an operation of the op tables and its operand words. Comes out: the result word, and for
Int operations the bool node that says whether this word failed. Every Uop ALU op is total, so both
may be evaluated in arms that are not taken. A condition that bounds prove false is None.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..dtype import Val, bool_, float32, float64, int32, int64, uint32
from ..kernel.fault import FaultKind
from ..kernel.tables import BinaryOp, Intrinsic, UnaryOp
from ..kernel.types import Type
from ..uop import Op, Ops, Uop, alu_binary, alu_ternary, alu_unary, bitcast, cast, const_of_dtype
from ..uop.elementary import expanded

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
DTYPES = {Type.FLOAT: float32, Type.DOUBLE: float64, Type.INT: int32, Type.BOOL: bool_}
"""The dtype of a word of each scalar type."""

Check = tuple[FaultKind, Uop]
"""A kind of failure and the bool node that says whether it happened."""


def f32(x: float) -> Uop:
    return const_of_dtype(float32, x)


def i32(x: int) -> Uop:
    return const_of_dtype(int32, x)


def like(x: Uop, value: float | int) -> Uop:
    """``value`` as a constant of the dtype of ``x``."""
    assert isinstance(x.dtype, Val)
    return const_of_dtype(x.dtype, value)


def _binary(op: Op) -> Callable[[Uop, Uop], Uop]:
    return lambda a, b: alu_binary(op=op, lhs=a, rhs=b)


add, sub, mul = _binary(Ops.ADD), _binary(Ops.SUB), _binary(Ops.MUL)
fdiv, cdiv, cmod = _binary(Ops.FDIV), _binary(Ops.CDIV), _binary(Ops.CMOD)
lt, ne, eq = _binary(Ops.CMPLT), _binary(Ops.CMPNE), _binary(Ops.CMPEQ)
and_, or_, xor = _binary(Ops.AND), _binary(Ops.OR), _binary(Ops.XOR)
shl, shr, maximum = _binary(Ops.SHL), _binary(Ops.SHR), _binary(Ops.MAX)


def where(condition: Uop, a: Uop, b: Uop) -> Uop:
    return alu_ternary(op=Ops.WHERE, a=condition, b=a, c=b)


def not_(a: Uop) -> Uop:
    return ne(a, const_of_dtype(bool_, True))


def le(a: Uop, b: Uop) -> Uop:
    """a <= b; false where either is NaN."""
    return or_(lt(a, b), eq(a, b)) if a.dtype.is_float else not_(lt(b, a))


def trunc(x: Uop) -> Uop:
    return alu_unary(op=Ops.TRUNC, src=x)


def neg(x: Uop) -> Uop:
    return alu_unary(op=Ops.NEG, src=x)


def minimum(a: Uop, b: Uop) -> Uop:
    """The smaller; for floats IEEE 754-2019 minimum, which is -maximum(-a, -b)."""
    return neg(maximum(neg(a), neg(b))) if a.dtype.is_float else where(lt(b, a), b, a)


def floor(x: Uop) -> Uop:
    whole = trunc(x)
    return where(lt(x, whole), sub(whole, like(x, 1.0)), whole)


def _ceil(x: Uop) -> Uop:
    whole = trunc(x)
    return where(lt(whole, x), add(whole, like(x, 1.0)), whole)


def _bits(x: Uop) -> Uop:
    """The bits of a float as a signed integer of its width."""
    return bitcast(src=x, dtype=int64 if x.dtype is float64 else int32)


def _of_bits(bits: Uop, x: Uop) -> Uop:
    """The float of the dtype of ``x`` with these bits."""
    assert isinstance(x.dtype, Val)
    return bitcast(src=bits, dtype=x.dtype)


def magnitude(x: Uop) -> Uop:
    """|x| of a float, by its bits."""
    bits = _bits(x)
    return _of_bits(and_(bits, like(bits, bits.dtype.max)), x)


def with_sign_of(size: Uop, x: Uop) -> Uop:
    """``size``, which is not negative, with the sign of ``x``."""
    bits = _bits(x)
    return _of_bits(or_(_bits(size), and_(bits, like(bits, bits.dtype.min))), x)


def _round(x: Uop) -> Uop:
    # Below 2**p, p the bits after the point of the format, adding and taking away 2**p rounds to a
    # whole number, ties to even.
    size, shift = magnitude(x), like(x, 2.0**52 if x.dtype is float64 else 2.0**23)
    return with_sign_of(where(lt(size, shift), sub(add(size, shift), shift), size), x)


def canonical(x: Uop) -> Uop:
    """``x`` with every NaN made the canonical quiet NaN."""
    return where(ne(x, x), like(x, math.nan), x) if x.dtype.is_float else x


def _fmod(a: Uop, b: Uop) -> Uop:
    """C's exact fmod of f32: long division in f64, 29 bits of the quotient a step.

    |a| < 2**128 and |b| >= 2**-149, so ten steps reach every quotient. In a step the partial
    quotient has at most 29 bits and ``b`` 24: their product, and the rest, are exact in f64. The
    quotient may round up to the next whole number; the rest is then negative and b is added back.
    """
    rest, divisor = (cast(src=magnitude(x), dtype=float64) for x in (a, b))
    zero = const_of_dtype(float64, 0.0)
    for step in range(9, -1, -1):
        scaled = mul(divisor, const_of_dtype(float64, 2.0 ** (29 * step)))
        rest = sub(rest, mul(trunc(fdiv(rest, scaled)), scaled))
        rest = where(lt(rest, zero), add(rest, scaled), rest)
    result = with_sign_of(cast(src=rest, dtype=float32), a)
    result = where(eq(magnitude(b), f32(math.inf)), a, result)
    finite = lt(magnitude(a), f32(math.inf))
    return where(and_(finite, and_(eq(b, b), ne(b, f32(0.0)))), result, f32(math.nan))


def binary(op: BinaryOp, a: Uop, b: Uop) -> Uop:
    """The result word of ``a op b``; both words of one dtype. REM of f64 is in remainder.py."""
    floats = a.dtype.is_float
    match op:
        case BinaryOp.ADD:
            return add(a, b)
        case BinaryOp.SUB:
            return sub(a, b)
        case BinaryOp.MUL:
            return mul(a, b)
        case BinaryOp.DIV:
            return fdiv(a, b) if floats else cdiv(a, b)
        case BinaryOp.REM:
            return _fmod(a, b) if floats else cmod(a, b)
        case BinaryOp.LESS:
            return lt(a, b)
        case BinaryOp.LESS_EQUAL:
            return le(a, b)
        case BinaryOp.GREATER:
            return lt(b, a)
        case BinaryOp.GREATER_EQUAL:
            return le(b, a)
        case BinaryOp.EQUAL:
            return eq(a, b)
        case BinaryOp.NOT_EQUAL:
            return ne(a, b)
        case BinaryOp.AND | BinaryOp.BIT_AND:
            return and_(a, b)
        case BinaryOp.OR | BinaryOp.BIT_OR:
            return or_(a, b)
        case BinaryOp.BIT_XOR:
            return xor(a, b)
        case BinaryOp.SHL:
            return shl(a, b)
        case BinaryOp.SHR:
            return shr(a, b)
        case BinaryOp.USHR:
            return _signed(shr(_unsigned(a), _unsigned(b)))


def unary(op: UnaryOp, a: Uop) -> Uop:
    """The result word of ``op a``."""
    return neg(a) if op is UnaryOp.NEG else not_(a)


def _unsigned(x: Uop) -> Uop:
    return bitcast(src=x, dtype=uint32)


def _signed(x: Uop) -> Uop:
    return bitcast(src=x, dtype=int32)


def intrinsic(name: Intrinsic, args: Sequence[Uop]) -> Uop:
    """The result word of an intrinsic over words; formulas as the op table states them."""
    x = args[0]
    floats = x.dtype.is_float
    match name:
        case Intrinsic.FLOOR:
            return floor(x)
        case Intrinsic.CEIL:
            return _ceil(x)
        case Intrinsic.ROUND:
            return _round(x)
        case Intrinsic.TRUNC:
            return trunc(x)
        case Intrinsic.FRACT:
            return sub(x, floor(x))
        case Intrinsic.SIGN:
            one, zero, minus = (like(x, n) for n in (1, 0, -1))
            return where(lt(zero, x), one, where(lt(x, zero), minus, x))
        case Intrinsic.ABS:
            return magnitude(x) if floats else where(lt(x, i32(0)), neg(x), x)
        case Intrinsic.SQRT:
            return alu_unary(op=Ops.SQRT, src=x)
        case Intrinsic.MIN:
            return minimum(x, args[1])
        case Intrinsic.MAX:
            return maximum(x, args[1])
        case Intrinsic.CLAMP:
            return minimum(maximum(x, args[1]), args[2])
        case Intrinsic.MIX:
            a, b, t = args
            return add(mul(a, sub(like(t, 1.0), t)), mul(b, t))
        case Intrinsic.STEP:
            return where(le(x, args[1]), like(x, 1.0), like(x, 0.0))
        case Intrinsic.SMOOTHSTEP:
            low, high, p = args
            t = fdiv(sub(p, low), sub(high, low))
            t = minimum(maximum(t, like(t, 0.0)), like(t, 1.0))
            return mul(mul(t, t), sub(like(t, 3.0), mul(like(t, 2.0), t)))
        case Intrinsic.FMA:
            return alu_ternary(op=Ops.MULACC, a=x, b=args[1], c=args[2])
        case Intrinsic.ADD_WRAP:
            return add(x, args[1])
        case Intrinsic.SUB_WRAP:
            return sub(x, args[1])
        case Intrinsic.MUL_WRAP:
            return mul(x, args[1])
        case Intrinsic.ULT:
            return lt(_unsigned(x), _unsigned(args[1]))
        case Intrinsic.UDIV:
            return _signed(cdiv(_unsigned(x), _unsigned(args[1])))
        case Intrinsic.UREM:
            return _signed(cmod(_unsigned(x), _unsigned(args[1])))
        case Intrinsic.TO_FLOAT:
            return cast(src=x, dtype=float32)
        case Intrinsic.TO_DOUBLE:
            return cast(src=x, dtype=float64)
        case Intrinsic.TO_INT:
            return cast(src=x, dtype=int32)
        case Intrinsic.BITS:
            return bitcast(src=canonical(x), dtype=int32)
        case Intrinsic.FROM_BITS:
            return bitcast(src=x, dtype=float32)
        case _:
            return expanded(name.value, *args)


def fits(low: int, high: int) -> bool:
    """Whether low…high are Ints."""
    return low >= INT_MIN and high <= INT_MAX


def _constant(x: Uop) -> int | None:
    return int(x.vmin) if x.vmin == x.vmax else None


def _add_overflows(a: Uop, b: Uop) -> Uop | None:
    if fits(int(a.vmin + b.vmin), int(a.vmax + b.vmax)):
        return None
    if _constant(a) is not None:
        a, b = b, a
    total, c = add(a, b), _constant(b)
    if c is not None:
        return lt(total, a) if c >= 0 else lt(a, total)
    return lt(and_(xor(total, a), xor(total, b)), i32(0))


def _sub_overflows(a: Uop, b: Uop) -> Uop | None:
    if fits(int(a.vmin - b.vmax), int(a.vmax - b.vmin)):
        return None
    difference, c = sub(a, b), _constant(b)
    if c is not None:
        return lt(a, difference) if c >= 0 else lt(difference, a)
    return lt(and_(xor(a, b), xor(a, difference)), i32(0))


def _mul_overflows(a: Uop, b: Uop) -> Uop | None:
    corners = [int(x * y) for x in (a.vmin, a.vmax) for y in (b.vmin, b.vmax)]
    if fits(min(corners), max(corners)):
        return None
    if _constant(a) is not None:
        a, b = b, a
    c = _constant(b)
    if c is not None and c > 0:
        return or_(lt(i32(INT_MAX // c), a), lt(a, i32(-(2**31 // c))))
    wide = mul(cast(src=a, dtype=int64), cast(src=b, dtype=int64))
    return ne(wide, cast(src=mul(a, b), dtype=int64))


def _is_least(a: Uop) -> Uop | None:
    return eq(a, i32(INT_MIN)) if a.vmin == INT_MIN else None


def _is_zero(b: Uop) -> Uop | None:
    return eq(b, i32(0)) if b.vmin <= 0 <= b.vmax else None


def _division_overflows(a: Uop, b: Uop) -> Uop | None:
    least = _is_least(a)
    return and_(least, eq(b, i32(-1))) if least is not None and b.vmin <= -1 <= b.vmax else None


def binary_checks(op: BinaryOp, a: Uop, b: Uop) -> list[Check]:
    """How ``a op b`` on Int words may fail, in the order in which the kinds are reported."""
    overflow, zero = FaultKind.OVERFLOW, FaultKind.DIVISION_BY_ZERO
    found: list[tuple[FaultKind, Uop | None]] = []
    if a.dtype is int32:
        match op:
            case BinaryOp.ADD:
                found = [(overflow, _add_overflows(a, b))]
            case BinaryOp.SUB:
                found = [(overflow, _sub_overflows(a, b))]
            case BinaryOp.MUL:
                found = [(overflow, _mul_overflows(a, b))]
            case BinaryOp.DIV:
                found = [(zero, _is_zero(b)), (overflow, _division_overflows(a, b))]
            case BinaryOp.REM:
                found = [(zero, _is_zero(b))]
    return [(kind, condition) for kind, condition in found if condition is not None]


def unary_checks(op: UnaryOp, a: Uop) -> list[Check]:
    """How ``op a`` on an Int word may fail."""
    least = _is_least(a) if op is UnaryOp.NEG and a.dtype is int32 else None
    return [] if least is None else [(FaultKind.OVERFLOW, least)]


def intrinsic_checks(name: Intrinsic, args: Sequence[Uop]) -> list[Check]:
    """How an intrinsic over Int words may fail."""
    if args[0].dtype is not int32:
        return []
    condition: Uop | None = None
    kind = FaultKind.OVERFLOW
    if name is Intrinsic.ABS:
        condition = _is_least(args[0])
    elif name in (Intrinsic.UDIV, Intrinsic.UREM):
        kind, condition = FaultKind.DIVISION_BY_ZERO, _is_zero(args[1])
    return [] if condition is None else [(kind, condition)]
