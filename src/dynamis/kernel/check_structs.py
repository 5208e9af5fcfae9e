"""Checks the struct table of a module: rules 1 to 4 and 46 to 48 of ``validate.py``.

In: the table. Out: ``Structs``, which answers of any type that exists what it is made of, each
answer at once; or a ``ValidationError``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .layout import measure_struct, too_large
from .limits import MAX_ARRAY_COUNT, MAX_TABLE_FIELDS
from .types import (
    Field,
    StructDef,
    Type,
    Value,
    bits_number,
    type_name,
    word_bits,
    word_types,
)
from .violation import is_plain, require, require_dotted, require_identifier


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of one struct: its words, its parts and depth, the scalars it is made of, and
    the types of its fields."""

    words: int
    size: tuple[int, int]
    scalars: frozenset[Type]
    parts: tuple[Type, ...]


class Structs:
    """The struct table, checked."""

    def __init__(self, table: Sequence[StructDef]):
        self.table = table
        self._known: list[_Known] = []
        self._values: set[int] = set()
        count = 0
        for index, struct in enumerate(table):
            path = f"structs.{index}"
            count += len(struct.fields)
            limit = f"at most {MAX_TABLE_FIELDS} fields in all structs"
            require(count <= MAX_TABLE_FIELDS, 46, path, count, limit)
            require(len(struct.fields) > 0, 1, path, "no fields", "at least one field")
            if struct.element is None:
                self._check_record(struct, path)
            else:
                self._check_array(struct, struct.element, path)
            self._add(struct, path)

    def _check_record(self, record: StructDef, path: str) -> None:
        require_dotted(2, f"{path}.name", record.name)
        names: set[str] = set()
        for k, part in enumerate(record.fields):
            where = f"{path}.fields.{k}"
            require_identifier(2, f"{where}.name", part.name, names)
            self._check_earlier(part.ty, f"{where}.ty")

    def _check_array(self, array: StructDef, element: Type, path: str) -> None:
        self._check_earlier(element, f"{path}.element")
        count = len(array.fields)
        require(count <= MAX_ARRAY_COUNT, 48, path, count, f"at most {MAX_ARRAY_COUNT} elements")
        for k, part in enumerate(array.fields):
            where = f"{path}.fields.{k}"
            require(part == Field(str(k), element), 48, where, part.name, f"an element named {k}")
        name = f"[{type_name(element, self.table)}; {count}]"
        require(array.name == name, 48, f"{path}.name", repr(array.name), repr(name))

    def _check_earlier(self, ty: Type, path: str) -> None:
        require(self.known(ty), 3, path, ty, "a plain type or an earlier struct")

    def _add(self, struct: StructDef, path: str) -> None:
        size = measure_struct(struct, self.size)
        large = too_large(size)
        require(large is None, 4, path, large, "a struct within the limits")
        parts = tuple(part.ty for part in struct.fields)
        count, kinds = (len(parts), parts[:1]) if struct.is_array else (1, parts)
        words = count * sum(map(self.words, kinds))
        scalars = frozenset().union(*map(self.scalars, kinds))
        self._known.append(_Known(words, size, scalars, parts))

    def known(self, ty: Type) -> bool:
        """Whether ``ty`` is plain or a struct of the table checked so far."""
        return is_plain(ty) or (ty.name == "Struct" and 0 <= ty.index < len(self._known))

    def size(self, ty: Type) -> tuple[int, int]:
        """Parts and depth of a known type (see ``layout.measure``)."""
        return self._known[ty.index].size if ty.is_struct else (ty.lanes, 0)

    def words(self, ty: Type) -> int:
        """Words of a known type."""
        return self._known[ty.index].words if ty.is_struct else ty.lanes

    def scalars(self, ty: Type) -> frozenset[Type]:
        """The scalar types that a known type is made of."""
        return self._known[ty.index].scalars if ty.is_struct else frozenset({ty.component})

    def parts(self, ty: Type) -> tuple[Type, ...]:
        """The types of the parts of a known type: a struct's fields, a matrix's columns, a vector's
        components."""
        if ty.is_struct:
            return self._known[ty.index].parts
        return () if ty.is_scalar else (ty.column,) * ty.order

    def element(self, ty: Type) -> Type | None:
        """The type of the parts of an array, matrix or vector; None of other known types."""
        if ty.is_struct:
            return self.table[ty.index].element
        return None if ty.is_scalar else ty.column

    def array_of(self, ty: Type, count: int) -> Type | None:
        """The element type where ``ty``, a known type, is an array of ``count`` elements."""
        if not ty.is_struct or len(self.parts(ty)) != count:
            return None
        return self.table[ty.index].element

    def check_value(self, rule: int, path: str, value: Value) -> None:
        """That a value of a known type holds words of that type. A value that stands in many places
        is looked at once."""
        if id(value) in self._values:
            return
        count = self.words(value.ty)
        require(len(value.words) == count, rule, path, f"{len(value.words)} words", f"{count}")
        for ty, word in zip(word_types(self.table, value.ty), value.words, strict=True):
            bits = 64 if ty in (Type.DOUBLE, Type.LONG) else 32
            require(0 <= word < 1 << bits, rule, path, word, f"a word of {bits} bits")
            canonical = word_bits(ty, bits_number(ty, word))
            require(word == canonical, rule, path, f"{word:#x}", f"{canonical:#x}")
        self._values.add(id(value))
