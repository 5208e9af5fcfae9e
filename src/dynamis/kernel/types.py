"""Types and values of the Kernel IR: what a value is made of and how it lies in words.

A *word* is one scalar slot: 32 bits for Float, Int and Bool, 64 for Double and Long. Every value is
a flat run of words: a vector's components, a matrix's columns, a record's fields and an array's
elements end to end. Constants keep words as bit patterns, so equality is bit by bit.

``layout.py`` says how values of the types of a table of structs lie in words.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

Numeric = float | int | bool
"""What a word stands for, as Python counts: a Float or a Double, an Int or a Long, a Bool."""


class Scalar(Enum):
    """The kind of word a value's scalars are kept as; a Bool is kept as an INT of 0 or 1."""

    FLOAT = "Float"
    DOUBLE = "Double"
    INT = "Int"
    LONG = "Long"

    @property
    def bits(self) -> int:
        """The bits of one word: 32 or 64."""
        return 64 if self in (Scalar.DOUBLE, Scalar.LONG) else 32

    @property
    def is_float(self) -> bool:
        return self in (Scalar.FLOAT, Scalar.DOUBLE)


Schema = tuple[Scalar, ...]
"""The storage layout of a value type: the kind of each of its words, in order."""


@dataclass(frozen=True, slots=True)
class Type:
    """A value type: a plain one by name, or struct ``index`` of the module's struct table."""

    name: str
    index: int = -1

    FLOAT: ClassVar[Type]
    DOUBLE: ClassVar[Type]
    INT: ClassVar[Type]
    LONG: ClassVar[Type]
    BOOL: ClassVar[Type]
    VEC2: ClassVar[Type]
    VEC3: ClassVar[Type]
    VEC4: ClassVar[Type]
    IVEC2: ClassVar[Type]
    IVEC3: ClassVar[Type]
    IVEC4: ClassVar[Type]
    MAT2: ClassVar[Type]
    MAT3: ClassVar[Type]
    MAT4: ClassVar[Type]

    @staticmethod
    def struct(index: int) -> Type:
        """The record or array type number ``index`` of the module's struct table."""
        return Type("Struct", index)

    @property
    def is_struct(self) -> bool:
        return self.index >= 0

    @property
    def is_vector(self) -> bool:
        return self.name in _VECTORS

    @property
    def is_matrix(self) -> bool:
        return self.name in _MATRICES

    @property
    def is_scalar(self) -> bool:
        return self.name in _SCALARS

    @property
    def order(self) -> int:
        """Components of a vector, columns (and rows) of a matrix, 1 for a scalar."""
        return _ORDERS.get(self.name, 1)

    @property
    def lanes(self) -> int:
        """Words of a plain type: a vector's components, a matrix's n*n, 1 for a scalar."""
        return _LANES.get(self.name, 1)

    @property
    def component(self) -> Type:
        """The scalar type a vector or a matrix is made of; a scalar is its own."""
        return _COMPONENTS.get(self.name, self)

    @property
    def column(self) -> Type:
        """The type of a matrix's columns; of a vector's components."""
        return vector_of(Type.FLOAT, self.order) if self.is_matrix else self.component

    def __eq__(self, other: object) -> bool:  # nearly always asked of one and the same object
        if self is other:
            return True
        if not isinstance(other, Type):
            return NotImplemented
        return self.name == other.name and self.index == other.index

    def __str__(self) -> str:
        return f"Struct{self.index}" if self.is_struct else self.name


_SCALARS = ("Float", "Double", "Int", "Long", "Bool")
_VECTORS = ("Vec2", "Vec3", "Vec4", "IVec2", "IVec3", "IVec4")
_MATRICES = ("Mat2", "Mat3", "Mat4")
for _name in _SCALARS + _VECTORS + _MATRICES:
    setattr(Type, _name.upper(), Type(_name))

# Asked of every value in every pass, so looked up by name.
_ORDERS = {name: int(name[-1]) for name in _VECTORS + _MATRICES}
_LANES = {name: n**2 if name in _MATRICES else n for name, n in _ORDERS.items()}
_COMPONENTS = {name: Type.INT if name[0] == "I" else Type.FLOAT for name in _ORDERS}

PLAIN_TYPES: dict[str, Type] = {name: Type(name) for name in _SCALARS + _VECTORS + _MATRICES}
SCALAR_TYPES: tuple[Type, ...] = tuple(PLAIN_TYPES[name] for name in _SCALARS)


def vector_of(component: Type, lanes: int) -> Type:
    """The type of ``lanes`` components of Float or Int; the scalar itself for one lane."""
    if lanes == 1:
        return component
    return PLAIN_TYPES[f"{'IVec' if component == Type.INT else 'Vec'}{lanes}"]


_KINDS = {
    Type.FLOAT: Scalar.FLOAT,
    Type.DOUBLE: Scalar.DOUBLE,
    Type.INT: Scalar.INT,
    Type.LONG: Scalar.LONG,
    Type.BOOL: Scalar.INT,
}


def scalar_kind(ty: Type) -> Scalar | None:
    """The kind of word the scalars of ``ty`` are kept as; None for structs."""
    return None if ty.is_struct else _KINDS[ty.component]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a struct: its name and its type (plain, or an earlier struct of the table)."""

    name: str
    ty: Type


@dataclass(frozen=True, slots=True)
class StructDef:
    """A kernel-defined record or array. Struct ``i`` holds only structs below ``i``: none is
    recursive.

    An array ``[T; N]`` is a struct of N fields of type T named "0" to "N - 1", with ``element`` set
    to T; ``Subscript`` also indexes it."""

    name: str
    fields: tuple[Field, ...]
    element: Type | None = None

    @staticmethod
    def record(name: str, fields: Sequence[Field]) -> StructDef:
        """A named record."""
        return StructDef(name, tuple(fields))

    @staticmethod
    def array(element: Type, element_name: str, count: int) -> StructDef:
        """The array ``[element; count]``, named by the element's spelling (see ``type_name``)."""
        fields = tuple(Field(str(k), element) for k in range(count))
        return StructDef(f"[{element_name}; {count}]", fields, element)

    @property
    def is_array(self) -> bool:
        """Whether the struct is an array (of ``element``)."""
        return self.element is not None


def type_name(ty: Type, structs: Sequence[StructDef]) -> str:
    """The spelling of ``ty``: ``Float``, ``Vec2``, a record's name, or ``[T; N]``."""
    return structs[ty.index].name if ty.is_struct else ty.name


def word_types(structs: Sequence[StructDef], ty: Type) -> tuple[Type, ...]:
    """The scalar type (FLOAT, DOUBLE, INT, LONG or BOOL) of each word of a value of ``ty``."""
    if not ty.is_struct:
        return (ty.component,) * ty.lanes
    record = structs[ty.index]
    if record.element is not None:
        return word_types(structs, record.element) * len(record.fields)
    return tuple(w for f in record.fields for w in word_types(structs, f.ty))


def words(structs: Sequence[StructDef], ty: Type) -> int:
    """Words a value of ``ty`` takes in the flat layout."""
    if not ty.is_struct:
        return ty.lanes
    record = structs[ty.index]
    if record.element is not None:
        return words(structs, record.element) * len(record.fields)
    return sum(words(structs, f.ty) for f in record.fields)


def part_at(structs: Sequence[StructDef], ty: Type, k: int) -> tuple[int, Type] | None:
    """First word and type of part ``k`` (struct field, matrix column or vector component), as
    ``Extract`` takes it; None if the type has no such part."""
    if k < 0:
        return None
    indexed = elements_of(structs, ty)
    if indexed is not None:
        part, count, stride = indexed
        return (k * stride, part) if k < count else None
    if not ty.is_struct or k >= len(structs[ty.index].fields):
        return None
    fields = structs[ty.index].fields
    return sum(words(structs, f.ty) for f in fields[:k]), fields[k].ty


def elements_of(structs: Sequence[StructDef], ty: Type) -> tuple[Type, int, int] | None:
    """Part type, count and word stride of an array, matrix or vector, as ``Subscript`` takes them,
    clamping the index into 0 … count - 1; None for other types."""
    if ty.is_struct:
        record = structs[ty.index]
        if record.element is None:
            return None
        return record.element, len(record.fields), words(structs, record.element)
    return None if ty.is_scalar else (ty.column, ty.order, ty.column.lanes)


# Words as bit patterns, and the Python numbers they stand for.

_FLOAT_NAN, _DOUBLE_NAN = 0x7FC00000, 0x7FF8000000000000


def float_bits(x: float) -> int:
    """The bits of ``x`` as f32, rounded to nearest even, overflow to infinity, NaN canonical."""
    if x != x:
        return _FLOAT_NAN
    try:
        return int.from_bytes(struct.pack("<f", x), "little")
    except OverflowError:
        return 0x7F800000 if x > 0 else 0xFF800000


def bits_float(bits: int) -> float:
    """The f32 with these 32 bits, as a Python float; every NaN becomes the one Python NaN."""
    x: float = struct.unpack("<f", bits.to_bytes(4, "little"))[0]
    return math.nan if x != x else x


def double_bits(x: float) -> int:
    """The 64 bits of ``x``, NaN canonical."""
    return _DOUBLE_NAN if x != x else int.from_bytes(struct.pack("<d", x), "little")


def bits_double(bits: int) -> float:
    """The f64 with these 64 bits; every NaN becomes the one Python NaN."""
    x: float = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
    return math.nan if x != x else x


def _signed(bits: int, width: int) -> int:
    return bits - (1 << width) if bits >> (width - 1) else bits


def word_bits(ty: Type, number: Numeric) -> int:
    """The word of a scalar of type ``ty``: a float's bits, two's complement, or 0 / 1."""
    if ty == Type.FLOAT:
        return float_bits(float(number))
    if ty == Type.DOUBLE:
        return double_bits(float(number))
    if ty == Type.BOOL:
        return int(bool(number))
    return int(number) & (2**64 - 1 if ty == Type.LONG else 2**32 - 1)


def bits_number(ty: Type, bits: int) -> Numeric:
    """The Python number that a word of scalar type ``ty`` stands for."""
    if ty == Type.FLOAT:
        return bits_float(bits)
    if ty == Type.DOUBLE:
        return bits_double(bits)
    if ty == Type.BOOL:
        return bits != 0
    return _signed(bits, 64 if ty == Type.LONG else 32)


@dataclass(frozen=True, slots=True)
class Number:
    """A word with its kind. ``word`` is its bit pattern, unsigned."""

    kind: Scalar
    word: int

    @staticmethod
    def of(kind: Scalar, number: Numeric) -> Number:
        """The word of ``kind`` nearest to ``number`` (a float), or congruent to it (an int)."""
        return Number(kind, word_bits(Type(kind.value), number))

    @property
    def number(self) -> Numeric:
        """What the word stands for."""
        return bits_number(Type(self.kind.value), self.word)

    def as_kind(self, kind: Scalar) -> Number | None:
        """The same value as a word of ``kind`` where that kind holds it exactly, else None.

        A NaN is held by both float kinds, infinities too; a negative zero by no integer kind."""
        if kind is self.kind:
            return self
        x = self.number
        if not kind.is_float:
            low, high = -(1 << (kind.bits - 1)), (1 << (kind.bits - 1)) - 1
            if isinstance(x, float):
                whole = math.isfinite(x) and x == math.floor(x)
                if not whole or (x == 0.0 and math.copysign(1.0, x) < 0):
                    return None
            return Number.of(kind, int(x)) if low <= x <= high else None
        other = Number.of(kind, float(x))
        same = other.number == x or (x != x and other.number != other.number)
        return other if same else None

    def __str__(self) -> str:
        return literal(Type(self.kind.value), self.number)


@dataclass(frozen=True, slots=True)
class Value:
    """A constant: its type and its words, as unsigned bit patterns of 32 or 64 bits."""

    ty: Type
    words: tuple[int, ...]

    @staticmethod
    def of(
        ty: Type, numbers: Sequence[Numeric] | Numeric, structs: Sequence[StructDef] = ()
    ) -> Value:
        """The value of ``ty`` that holds ``numbers`` (one number, or one for each word, in order).

        ``structs`` is the table that a struct type is of. Raises ValueError where their count is
        not the type's."""
        parts = numbers if isinstance(numbers, Sequence) else (numbers,)
        kinds = word_types(structs, ty) if not ty.is_struct or ty.index < len(structs) else ()
        if len(parts) != len(kinds):
            raise ValueError(f"{ty} takes {len(kinds)} numbers, not {len(parts)}")
        return Value(ty, tuple(word_bits(k, n) for k, n in zip(kinds, parts, strict=True)))

    @property
    def numbers(self) -> tuple[Numeric, ...]:
        """The words of a value of a plain type as Python numbers: float, int or bool."""
        return tuple(bits_number(self.ty.component, w) for w in self.words)

    def numbers_in(self, structs: Sequence[StructDef]) -> tuple[Numeric, ...]:
        """The words as Python numbers, of a value of any type of the table ``structs``."""
        kinds = word_types(structs, self.ty)
        return tuple(bits_number(k, w) for k, w in zip(kinds, self.words, strict=True))

    def __str__(self) -> str:
        """A literal; a struct's words, whose kinds only its table knows, as hexadecimal."""
        if self.ty.is_struct:
            return f"{self.ty}({', '.join(f'{w:#x}' for w in self.words)})"
        body = ", ".join(literal(self.ty.component, n) for n in self.numbers)
        return body if self.ty.is_scalar else f"{self.ty}({body})"

    def text(self, structs: Sequence[StructDef]) -> str:
        """A literal, as module text spells it: a struct's words one after the other.

        A struct that the table lacks, or does not fit, is written as by ``str``."""
        if not self.ty.is_struct or self.ty.index >= len(structs):
            return str(self)
        if words(structs, self.ty) != len(self.words):
            return str(self)
        parts = zip(word_types(structs, self.ty), self.words, strict=True)
        return f"{self.ty}({', '.join(literal(ty, bits_number(ty, w)) for ty, w in parts)})"


def literal(ty: Type, number: Numeric) -> str:
    """The spelling of one word of scalar type ``ty``. Float, Int and Bool show their type by their
    form; Double and Long are written with it: ``Double(0.5)``."""
    if ty == Type.BOOL:
        return "true" if number else "false"
    return f"{ty}({number!r})" if ty in (Type.DOUBLE, Type.LONG) else repr(number)


def template(ty: Type, structs: Sequence[StructDef] = ()) -> Value:
    """The value of ``ty`` with every word zero."""
    return Value(ty, (0,) * words(structs, ty))
