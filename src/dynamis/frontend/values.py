"""What an expression can be while a kernel is compiled, and host objects as constants.

``Typed`` is a run-time value; ``IntLiteral`` and ``FloatLiteral`` are numbers written out, whose
type their neighbour decides; ``Several`` a tuple on its way to being unpacked or returned;
``PortOperand`` an input port.
"""

from __future__ import annotations

import ast
import math
import numbers
from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import DynamisError
from ..kernel.module import Port, PortType
from ..kernel.types import Type, Value, bits_float, float_bits
from .draft import Ref
from .surface import TYPE_SPELLINGS, Vector

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
ADDRESSES = {Type.VEC2: "vec2(column, row)", Type.VEC3: "vec3(x, y, z)"}
"""How an address of several components is written."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A value known at run time."""

    ty: Type
    ref: Ref


@dataclass(frozen=True, slots=True)
class IntLiteral:
    """A whole number written out: an i32, or a float where it stands beside one."""

    value: int


@dataclass(frozen=True, slots=True)
class FloatLiteral:
    """A number with a fraction written out: an f32, or an f64 where it stands beside one."""

    value: float


@dataclass(frozen=True, slots=True)
class Several:
    """A tuple; ``places`` is where each item is written."""

    items: tuple[Operand, ...]
    places: tuple[ast.expr, ...] = ()


@dataclass(frozen=True, slots=True)
class PortOperand:
    """An input of the kernel."""

    index: int
    port: Port


Operand = Typed | IntLiteral | FloatLiteral | Several | PortOperand

FLOATS = (Type.FLOAT, Type.DOUBLE)
"""The scalar types of numbers with a fraction."""


def neighbour(operands: Iterable[Operand]) -> Type | None:
    """The type that numbers written out among ``operands`` take: that of the first value; else f32
    where one of them has a fraction; else None, which leaves whole numbers i32."""
    operands = list(operands)
    for x in operands:
        if isinstance(x, Typed):
            return x.ty
    return Type.FLOAT if any(isinstance(x, FloatLiteral) for x in operands) else None


def spell(ty: Type) -> str:
    """A type as a user writes it."""
    return TYPE_SPELLINGS[ty]


def spell_port(ty: PortType) -> str:
    """A port's type as a user annotates it."""
    return f"{ty.shape.value}[{spell(ty.element)}]"


def describe(operand: Operand) -> str:
    """What an operand is, for messages."""
    match operand:
        case Typed():
            return spell(operand.ty)
        case IntLiteral():
            return f"the whole number {operand.value}"
        case FloatLiteral():
            return spell(Type.FLOAT)
        case Several():
            return f"a tuple of {len(operand.items)}"
        case PortOperand():
            port = operand.port
            return f"{port.name}, a port of {spell_port(port.ty)}"


class NotAConstant(DynamisError):
    """A host object is no constant of any value type, or not of the one asked for."""


LARGEST = {Type.FLOAT: "3.4028235e+38", Type.DOUBLE: "1.7976931348623157e+308"}
"""The largest finite number of each float type, as messages write it."""


def as_float(x: float | int, ty: Type) -> float:
    """``x`` rounded to the float type ``ty``. Raises NotAConstant if a number overflows."""
    try:
        wide = float(x)
    except OverflowError:
        wide = math.inf
    rounded = wide if ty == Type.DOUBLE else bits_float(float_bits(wide))
    if math.isinf(rounded) and not (isinstance(x, float) and math.isinf(x)):
        raise NotAConstant(f"{x!r} does not fit in {spell(ty)} (largest {LARGEST[ty]})")
    return rounded


def literal_of(obj: object) -> IntLiteral | FloatLiteral | Value:
    """A host object as a constant: a number (typed by its neighbour), or a Value.

    Takes bools, ints, floats, host vectors and NumPy's scalars. Raises NotAConstant.
    """
    if isinstance(obj, bool) or type(obj).__name__ in ("bool_", "bool"):
        return Value.of(Type.BOOL, bool(obj))
    if isinstance(obj, numbers.Integral):
        return IntLiteral(int(obj))
    if isinstance(obj, numbers.Real):
        return FloatLiteral(float(obj))
    if isinstance(obj, Vector):
        return Value.of(obj.kernel_type, tuple(obj))
    raise NotAConstant(f"it is of type {type(obj).__name__}, not a number, bool or vector")


def constant_of(obj: object, ty: Type) -> Value:
    """A host object as a Value of type ``ty``: a whole number also makes a float.

    Raises NotAConstant where it is of another type or out of range.
    """
    found = literal_of(obj)
    if isinstance(found, Value):
        if found.ty != ty:
            raise NotAConstant(f"{obj!r} is {spell(found.ty)}, not {spell(ty)}")
        return found
    if ty in FLOATS:
        return Value.of(ty, as_float(found.value, ty))
    if isinstance(found, FloatLiteral) or ty != Type.INT:
        own = Type.INT if isinstance(found, IntLiteral) else Type.FLOAT
        raise NotAConstant(f"{obj!r} is {spell(own)}, not {spell(ty)}")
    if not INT_MIN <= found.value <= INT_MAX:
        raise NotAConstant(f"{found.value} does not fit in i32 (it holds {INT_MIN} to {INT_MAX})")
    return Value.of(ty, found.value)
