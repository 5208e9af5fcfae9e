"""What follows from how a value lies in words: its schema, its names, its size, paths into it.

In: a type and the table of structs it may be of. Out: words, parts, names. The tables must be ones
whose types are within ``MAX_VALUE_PARTS`` and ``MAX_TYPE_DEPTH`` (see ``measure``), as a valid
module's are; over others they may take long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .limits import MAX_TYPE_DEPTH, MAX_VALUE_PARTS
from .op import FieldStep, IndexStep, Step, ValueId
from .types import (
    Number,
    Scalar,
    Schema,
    StructDef,
    Type,
    Value,
    elements_of,
    part_at,
    scalar_kind,
    word_types,
)


def _known(ty: Type, structs: Sequence[StructDef]) -> bool:
    return not ty.is_struct or ty.index < len(structs)


def schema_of(ty: Type, structs: Sequence[StructDef]) -> Schema | None:
    """The kind of each word of a value of ``ty``, in order; None for unknown structs."""
    if not _known(ty, structs):
        return None
    return tuple(scalar_kind(word) or Scalar.INT for word in word_types(structs, ty))


def number_names(ty: Type, structs: Sequence[StructDef]) -> list[str] | None:
    """The name of each number of an element of ``ty``, in the order of ``schema_of``.

    A struct's fields by name, nested ones joined by a dot; a vector's lanes x to w; a matrix's
    words from 0; a value of one number is unnamed (""). None for unknown structs."""
    if not _known(ty, structs):
        return None
    if ty.is_struct:
        names: list[str] = []
        for part in structs[ty.index].fields:
            inner = number_names(part.ty, structs)
            if inner is None:
                return None
            names += [f"{part.name}.{name}" if name else part.name for name in inner]
        return names
    if ty.is_matrix:
        return [str(k) for k in range(ty.lanes)]
    return list("xyzw"[: ty.lanes]) if ty.is_vector else [""]


def value_as(value: Value, ty: Type, structs: Sequence[StructDef]) -> Value | None:
    """``value`` retyped as ``ty`` when their layouts match word for word, else None.

    They match when they have as many words and each word's value is one that the other kind holds
    exactly (``Number.as_kind``); a Bool takes only 0 or 1."""
    if not (_known(value.ty, structs) and _known(ty, structs)):
        return None
    old, new = word_types(structs, value.ty), word_types(structs, ty)
    if len(old) != len(new) or len(value.words) != len(old):
        return None
    made: list[int] = []
    for a, b, word in zip(old, new, value.words, strict=True):
        number = Number(scalar_kind(a) or Scalar.INT, word).as_kind(scalar_kind(b) or Scalar.INT)
        if number is None or (b == Type.BOOL and number.word > 1):
            return None
        made.append(number.word)
    return Value(ty, tuple(made))


def measure(structs: Sequence[StructDef], ty: Type) -> tuple[int, int]:
    """The parts a value of ``ty`` holds and how deep its structs nest.

    A scalar is one part, a vector or a matrix its words, a struct one and those of its fields.
    Each struct that ``ty`` reaches must be within the limits itself (see ``too_large``)."""
    if not ty.is_struct:
        return ty.lanes, 0
    return measure_struct(structs[ty.index], lambda field: measure(structs, field))


def measure_struct(
    definition: StructDef, field: Callable[[Type], tuple[int, int]]
) -> tuple[int, int]:
    """A struct's parts and depth, from what ``field`` measures its fields' types at; an array's
    elements are measured once."""
    if definition.element is not None:
        parts, depth = field(definition.element)
        return 1 + len(definition.fields) * parts, 1 + depth
    sizes = [field(part.ty) for part in definition.fields]
    return 1 + sum(parts for parts, _ in sizes), 1 + max((d for _, d in sizes), default=0)


def too_large(size: tuple[int, int]) -> str | None:
    """Why a value of this many parts and this depth may not be; None where it may."""
    parts, depth = size
    if parts > MAX_VALUE_PARTS:
        return f"{parts} parts, past {MAX_VALUE_PARTS}"
    if depth > MAX_TYPE_DEPTH:
        return f"structs nested {depth} deep, past {MAX_TYPE_DEPTH}"
    return None


def part_types(structs: Sequence[StructDef], ty: Type) -> tuple[Type, ...]:
    """The types of the parts that ``Construct`` takes and ``Extract`` gives: a struct's fields, a
    matrix's columns, a vector's components; none of a scalar."""
    if ty.is_struct:
        return tuple(part.ty for part in structs[ty.index].fields)
    return () if ty.is_scalar else (ty.column,) * ty.order


@dataclass(frozen=True, slots=True)
class PartLayout:
    """Where a path through an element leads.

    ``base``: the words before the part that are known without running. ``steps``: the index steps
    resolved at run time, each index's value, choice count and word stride; an index is clamped into
    0 … count - 1. ``ty``: what the path names."""

    base: int
    steps: tuple[tuple[ValueId, int, int], ...]
    ty: Type


def part_layout(
    structs: Sequence[StructDef], element: Type, path: Sequence[Step]
) -> PartLayout | None:
    """Where a path through an element of this type leads; None when it does not fit the type."""
    base, ty = 0, element
    steps: list[tuple[ValueId, int, int]] = []
    for step in path:
        match step:
            case FieldStep(index):
                part = part_at(structs, ty, index)
                if part is None:
                    return None
                base, ty = base + part[0], part[1]
            case IndexStep(value):
                indexed = elements_of(structs, ty)
                if indexed is None:
                    return None
                ty, count, stride = indexed
                steps.append((value, count, stride))
            case _:
                return None
    return PartLayout(base, tuple(steps), ty)
