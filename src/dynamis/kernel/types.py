"""Types and values of the Kernel IR: what a value is made of and how it lies in words.

A *word* is one scalar slot of 32 bits. Every value is a flat run of words: a vector's components,
a record's fields end to end. Constants keep words as bit patterns, so equality is bit by bit.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

Number = float | int | bool


class Scalar(Enum):
    """The kind of word a value's scalars are kept as; a Bool is kept as an INT of 0 or 1."""

    FLOAT = "Float"
    INT = "Int"


@dataclass(frozen=True, slots=True)
class Type:
    """A value type: a plain one by name, or record ``index`` of the module's struct table."""

    name: str
    index: int = -1

    FLOAT: ClassVar[Type]
    INT: ClassVar[Type]
    BOOL: ClassVar[Type]
    VEC2: ClassVar[Type]
    VEC3: ClassVar[Type]
    VEC4: ClassVar[Type]
    IVEC2: ClassVar[Type]
    IVEC3: ClassVar[Type]
    IVEC4: ClassVar[Type]

    @staticmethod
    def struct(index: int) -> Type:
        """The record type number ``index`` of the module's struct table."""
        return Type("Struct", index)

    @property
    def is_struct(self) -> bool:
        return self.index >= 0

    @property
    def is_vector(self) -> bool:
        return self.name in _VECTORS

    @property
    def is_scalar(self) -> bool:
        return self.name in _SCALARS

    @property
    def lanes(self) -> int:
        """Components of a vector, 1 for a scalar."""
        return int(self.name[-1]) if self.is_vector else 1

    @property
    def component(self) -> Type:
        """The scalar type of a vector's components; a scalar is its own."""
        if not self.is_vector:
            return self
        return Type.INT if self.name[0] == "I" else Type.FLOAT

    def __str__(self) -> str:
        return f"Struct{self.index}" if self.is_struct else self.name


_SCALARS = ("Float", "Int", "Bool")
_VECTORS = ("Vec2", "Vec3", "Vec4", "IVec2", "IVec3", "IVec4")
for _name in _SCALARS + _VECTORS:
    setattr(Type, _name.upper(), Type(_name))

PLAIN_TYPES: dict[str, Type] = {name: Type(name) for name in _SCALARS + _VECTORS}


def vector_of(component: Type, lanes: int) -> Type:
    """The type of ``lanes`` components of Float or Int; the scalar itself for one lane."""
    if lanes == 1:
        return component
    return PLAIN_TYPES[f"{'IVec' if component == Type.INT else 'Vec'}{lanes}"]


def scalar_kind(ty: Type) -> Scalar | None:
    """The kind of word the scalars of ``ty`` are kept as; None for records."""
    if ty.is_struct:
        return None
    return Scalar.FLOAT if ty.component == Type.FLOAT else Scalar.INT


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record: its name and its type (plain, or an earlier struct of the table)."""

    name: str
    ty: Type


@dataclass(frozen=True, slots=True)
class StructDef:
    """A kernel-defined record. Struct ``i`` holds only structs below ``i``: none is recursive."""

    name: str
    fields: tuple[Field, ...]

    @staticmethod
    def record(name: str, fields: Sequence[Field]) -> StructDef:
        return StructDef(name, tuple(fields))


def type_name(ty: Type, structs: Sequence[StructDef]) -> str:
    """The spelling of ``ty``: ``Float``, ``Vec2``, or the record's name."""
    return structs[ty.index].name if ty.is_struct else ty.name


def word_types(structs: Sequence[StructDef], ty: Type) -> tuple[Type, ...]:
    """The scalar type (FLOAT, INT or BOOL) of each word of a value of ``ty``, in order."""
    if ty.is_struct:
        return tuple(w for f in structs[ty.index].fields for w in word_types(structs, f.ty))
    return (ty.component,) * ty.lanes


def words(structs: Sequence[StructDef], ty: Type) -> int:
    """Words a value of ``ty`` takes in the flat layout."""
    if ty.is_struct:
        return sum(words(structs, f.ty) for f in structs[ty.index].fields)
    return ty.lanes


def part_at(structs: Sequence[StructDef], ty: Type, k: int) -> tuple[int, Type] | None:
    """First word and type of part ``k`` (record field or vector component); None if it has none."""
    if k < 0:
        return None
    if ty.is_struct:
        fields = structs[ty.index].fields
        if k >= len(fields):
            return None
        return sum(words(structs, f.ty) for f in fields[:k]), fields[k].ty
    if ty.is_vector and k < ty.lanes:
        return k, ty.component
    return None


def float_bits(x: float) -> int:
    """The bits of ``x`` as f32, rounded to nearest even, overflow to infinity, NaN canonical."""
    if x != x:
        return 0x7FC00000
    try:
        return int.from_bytes(struct.pack("<f", x), "little")
    except OverflowError:
        return 0x7F800000 if x > 0 else 0xFF800000


def bits_float(bits: int) -> float:
    """The f32 with these 32 bits, as a Python float; every NaN becomes the one Python NaN."""
    x: float = struct.unpack("<f", bits.to_bytes(4, "little"))[0]
    return math.nan if x != x else x


def word_bits(ty: Type, number: Number) -> int:
    """The word of a scalar of type ``ty``: f32 bits, 32-bit two's complement, or 0 / 1."""
    if ty == Type.FLOAT:
        return float_bits(float(number))
    return int(bool(number)) if ty == Type.BOOL else int(number) & 0xFFFFFFFF


def bits_number(ty: Type, bits: int) -> Number:
    """The Python number that a word of scalar type ``ty`` stands for."""
    if ty == Type.FLOAT:
        return bits_float(bits)
    if ty == Type.BOOL:
        return bits != 0
    return bits - (1 << 32) if bits & 0x80000000 else bits


@dataclass(frozen=True, slots=True)
class Value:
    """A constant of a plain type: its type and its words as unsigned 32-bit patterns."""

    ty: Type
    words: tuple[int, ...]

    @staticmethod
    def of(ty: Type, numbers: Sequence[Number] | Number) -> Value:
        """The value of plain type ``ty`` that holds ``numbers`` (one number, or one a lane)."""
        parts = numbers if isinstance(numbers, Sequence) else (numbers,)
        if ty.is_struct or len(parts) != ty.lanes:
            raise ValueError(f"{ty} takes {ty.lanes} numbers, not {len(parts)}")
        return Value(ty, tuple(word_bits(ty.component, n) for n in parts))

    @property
    def numbers(self) -> tuple[Number, ...]:
        """The words as Python numbers: float, int or bool."""
        return tuple(bits_number(self.ty.component, w) for w in self.words)

    def __str__(self) -> str:
        body = ", ".join(_literal(self.ty.component, n) for n in self.numbers)
        return body if self.ty.lanes == 1 else f"{self.ty}({body})"


def _literal(ty: Type, number: Number) -> str:
    if ty == Type.BOOL:
        return "true" if number else "false"
    return repr(number)


def template(ty: Type) -> Value:
    """The value of plain type ``ty`` with every word zero."""
    return Value(ty, (0,) * ty.lanes)
