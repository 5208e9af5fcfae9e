"""What an expression can be while a kernel is compiled, and host objects as constants.

``Typed`` is a run-time value; ``IntLiteral`` a whole number whose type its neighbour decides;
``Several`` a tuple on its way to being unpacked or returned; ``PortOperand`` an input port.
"""

from __future__ import annotations

import ast
import numbers
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
    """A whole number written out: an i32, or an f32 where it stands beside one."""

    value: int


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


Operand = Typed | IntLiteral | Several | PortOperand


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
        case Several():
            return f"a tuple of {len(operand.items)}"
        case PortOperand():
            port = operand.port
            return f"{port.name}, a port of {spell_port(port.ty)}"


class NotAConstant(DynamisError):
    """A host object is no constant of any value type, or not of the one asked for."""


def fits_float(x: float) -> bool:
    """Whether ``x`` rounds to an f32 without turning from finite to infinite."""
    return x != x or x in (float("inf"), float("-inf")) or abs(bits_float(float_bits(x))) < 2.0**128


def literal_of(obj: object) -> int | Value:
    """A host object as a constant: an int (typed by its neighbour), or a Value.

    Takes bools, ints, floats, host vectors and NumPy's scalars. Raises NotAConstant.
    """
    if isinstance(obj, bool) or type(obj).__name__ in ("bool_", "bool"):
        return Value.of(Type.BOOL, bool(obj))
    if isinstance(obj, numbers.Integral):
        return int(obj)
    if isinstance(obj, numbers.Real):
        x = float(obj)
        if not fits_float(x):
            raise NotAConstant(f"{x!r} does not fit in f32 (largest 3.4028235e+38)")
        return Value.of(Type.FLOAT, x)
    if isinstance(obj, Vector):
        return Value.of(obj.kernel_type, tuple(obj))
    raise NotAConstant(f"it is of type {type(obj).__name__}, not a number, bool or vector")


def constant_of(obj: object, ty: Type) -> Value:
    """A host object as a Value of type ``ty``: a whole number also makes an f32.

    Raises NotAConstant where it is of another type or out of range.
    """
    found = literal_of(obj)
    if isinstance(found, Value):
        if found.ty != ty:
            raise NotAConstant(f"{obj!r} is {spell(found.ty)}, not {spell(ty)}")
        return found
    if ty == Type.FLOAT and fits_float(float(found) if abs(found) < 2**129 else 2.0**129):
        return Value.of(ty, float(found))
    if ty != Type.INT:
        raise NotAConstant(f"{obj!r} is i32, not {spell(ty)}")
    if not INT_MIN <= found <= INT_MAX:
        raise NotAConstant(f"{found} does not fit in i32 (it holds {INT_MIN} to {INT_MAX})")
    return Value.of(ty, found)
