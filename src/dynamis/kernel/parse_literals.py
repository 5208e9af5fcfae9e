"""The tokens of module text, and the types, literals and names they spell.

In: text. Out: what ``parse.py`` builds a module of; or a ``ParseError`` at the token that cannot
stand where it is. Nothing here recurses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from ..errors import DynamisError
from . import op as ops
from .layout import measure_struct, too_large
from .limits import MAX_NAME
from .module import Encoding, PortType, Shape
from .types import (
    PLAIN_TYPES,
    StructDef,
    Type,
    Value,
    word_bits,
    word_types,
    words,
)


class ParseError(DynamisError, ValueError):
    """Text is not a module: at ``line`` and ``column`` (both from 1) something else must stand."""

    def __init__(self, line: int, column: int, found: str, expected: str):
        self.line = line
        self.column = column
        self.found = found
        self.expected = expected
        super().__init__(f"line {line}, column {column}: found {found}, expected {expected}")


_T = TypeVar("_T")

_TOKEN = re.compile(r"[,:(){}]|[^\s,:(){}]+")
INDEX = re.compile(r"[0-9]{1,10}\Z")
_ID = re.compile(r"%[0-9]{1,10}\Z")
INT = re.compile(r"-?[0-9]{1,19}\Z")
_FLOAT = re.compile(
    r"(-?([0-9]{1,400}\.[0-9]{0,400}([eE][+-]?[0-9]{1,5})?|[0-9]{1,400}[eE][+-]?[0-9]{1,5}|inf)|nan)\Z"
)
_STRUCT = re.compile(r"Struct([0-9]{1,10})\Z")
_PORT = re.compile(r"([A-Za-z]+)<([A-Za-z0-9]+)(>?)\Z")
_SHAPES = {shape.value: shape for shape in Shape}


class Literals:
    """The tokens of a text, read from left to right with one token in view, and what they spell."""

    def __init__(self, text: str):
        self.text = text
        self.tokens: Iterator[re.Match[str]] = _TOKEN.finditer(text)
        self.token = ""
        self.start = 0
        self.structs: list[StructDef] = []
        self.table_fields = 0
        self.struct_values: list[tuple[int, str, Type, list[Type]]] = []
        """Constants of struct types, to be held against the table: place, token, type, words."""
        self.advance()

    # Tokens. The empty token is the end of the text.

    def advance(self) -> str:
        """Moves on; gives the token that was in view."""
        passed = self.token
        match = next(self.tokens, None)
        self.token, self.start = (match[0], match.start()) if match else ("", len(self.text))
        return passed

    def error(self, expected: str) -> ParseError:
        line = self.text.count("\n", 0, self.start) + 1
        column = self.start - (self.text.rfind("\n", 0, self.start) + 1) + 1
        shown = self.token if len(self.token) <= 40 else self.token[:37] + "..."
        return ParseError(line, column, repr(shown) if shown else "the end of the text", expected)

    def expect(self, *words: str) -> None:
        """Passes exactly these tokens."""
        for word in words:
            if self.token != word:
                raise self.error(repr(word))
            self.advance()

    def accept(self, word: str) -> bool:
        """Passes ``word`` if it is in view."""
        if self.token != word:
            return False
        self.advance()
        return True

    def pick(self, among: dict[str, _T], expected: str) -> _T:
        if self.token not in among:
            raise self.error(expected)
        return among[self.advance()]

    def number(self, pattern: re.Pattern[str], expected: str) -> int:
        if pattern.match(self.token) is None:
            raise self.error(expected)
        return int(self.advance().lstrip("%"))

    def index(self) -> int:
        return self.number(INDEX, "a number")

    def id(self) -> ops.ValueId:
        return self.number(_ID, "a value such as %3")

    def name(self) -> str:
        if len(self.token) > MAX_NAME:
            raise self.error(f"a name of at most {MAX_NAME} characters")
        if not all(part.isidentifier() for part in self.token.split(".")):
            raise self.error("a name")
        return self.advance()

    def listed(self, item: Callable[[], _T]) -> tuple[_T, ...]:
        """``( item , item … )``, perhaps empty."""
        self.expect("(")
        items: list[_T] = []
        while self.token != ")":
            if items:
                self.expect(",")
            items.append(item())
        self.expect(")")
        return tuple(items)

    # Types and values.

    def type(self) -> Type:
        ty = type_of_word(self.token)
        if ty is None:
            raise self.error("a type")
        self.advance()
        return ty

    def port_type(self) -> PortType:
        """``Grid<Vec4>`` or, in three tokens, ``Grid<Vec4, unorm8>``."""
        match = _PORT.match(self.token)
        element = type_of_word(match[2]) if match else None
        if match is None or element is None or match[1] not in _SHAPES:
            raise self.error("a port type such as Grid<Vec4>")
        self.advance()
        if match[3]:
            return PortType(element, _SHAPES[match[1]])
        self.expect(",")
        encoding = Encoding.parse(self.token.removesuffix(">"))
        if encoding is None or not self.token.endswith(">"):
            raise self.error("an encoding and '>', such as unorm8>")
        self.advance()
        return PortType(element, _SHAPES[match[1]], encoding)

    def value(self) -> Value:
        """A literal: Float, Int and Bool show their type by their form, others are written with it;
        a struct's are its words, or vectors and matrices of them, in order."""
        start, token = self.start, self.token
        struct = _STRUCT.match(token)
        if struct is None:
            return self.plain_value()
        self.advance()
        parts = self.listed(self.plain_value)
        ty = Type.struct(int(struct[1]))
        kinds = [kind for part in parts for kind in (part.ty.component,) * part.ty.lanes]
        self.struct_values.append((start, token, ty, kinds))
        return Value(ty, tuple(word for part in parts for word in part.words))

    def plain_value(self) -> Value:
        ty = PLAIN_TYPES.get(self.token)
        if ty is None:
            kind = self.form()
            return Value(kind, (self.word(kind),))
        self.advance()
        made = self.listed(lambda: self.word(ty.component))
        if len(made) != ty.lanes:
            raise self.error(f"{ty.lanes} numbers before this")
        return Value(ty, made)

    def form(self) -> Type:
        """The type that a bare literal shows."""
        if self.token in ("true", "false"):
            return Type.BOOL
        return Type.FLOAT if _FLOAT.match(self.token) else Type.INT

    def word(self, ty: Type) -> int:
        """A literal of scalar type ``ty``, as a word."""
        if ty == Type.BOOL and self.token in ("true", "false"):
            return int(self.advance() == "true")
        if ty in (Type.FLOAT, Type.DOUBLE) and _FLOAT.match(self.token):
            return word_bits(ty, float(self.advance()))
        if ty in (Type.INT, Type.LONG) and INT.match(self.token):
            half = 2**63 if ty == Type.LONG else 2**31
            if -half <= int(self.token) < half:
                return word_bits(ty, int(self.advance()))
        raise self.error(f"a literal of type {ty}")

    def check_struct_values(self) -> None:
        """That each constant of a struct type has the words of its struct. Structs too large to be
        types are left to the validator; the words of one that is no type have no kinds, so a
        constant of it is refused here."""
        broken: set[int] = set()
        sizes: list[tuple[int, int] | None] = []
        for record in self.structs:
            parts = [part.ty for part in record.fields]
            known = [sizes[t.index] for t in parts if t.is_struct and t.index < len(sizes)]
            missing = any(t.is_struct and t.index >= len(sizes) for t in parts)
            if missing or any(size is None for size in known):
                if missing or any(t.is_struct and t.index in broken for t in parts):
                    broken.add(len(sizes))
                sizes.append(None)
                continue
            size = measure_struct(
                record, lambda t: (sizes[t.index] or (0, 0)) if t.is_struct else (t.lanes, 0)
            )
            sizes.append(size if too_large(size) is None else None)
        for start, token, ty, kinds in self.struct_values:
            wanted = None
            if ty.index >= len(sizes) or ty.index in broken:
                wanted = "a struct of the table, whose fields are types"
            elif sizes[ty.index] is None:
                continue
            elif words(self.structs, ty) != len(kinds):
                wanted = f"{words(self.structs, ty)} words of {ty}"
            elif (expected := word_types(self.structs, ty)) != tuple(kinds):
                wanted = f"words of types {_spelled(expected)}"
            if wanted is not None:
                self.start, self.token = start, token
                raise self.error(wanted)


def type_of_word(word: str) -> Type | None:
    """The type that one word spells; None if it spells none."""
    match = _STRUCT.match(word)
    return Type.struct(int(match[1])) if match else PLAIN_TYPES.get(word)


def _spelled(types: tuple[Type, ...]) -> str:
    shown = ", ".join(map(str, types[:8]))
    return shown if len(types) <= 8 else shown + ", …"
