"""A few words of shorthand for LLVM text that works on records and calls Python.

Goes in: text in which a line may be one of

    %x = get Record.field %record            the field's value
    set Record.field %record, %value         write it
    %x = at Record.field %record             its address
    %x = item type %array, %index            an element of an array
    put type %value, %array, %index          write one
    %x = py Function(%a, %b)                 call Python; ``%api`` is in scope
    %x = object name                         a type or constant of Python's

Comes out: LLVM text. Every other line stays as it is. ``;`` starts a comment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from .layout import FUNCTIONS, RECORDS, Api, fields, llvm_type

_Rule = tuple[re.Pattern[str], Callable[[re.Match[str], int], list[str]]]

_FIELDS = {
    record.__name__: {
        name: (number, llvm_type(ty)) for number, (name, ty) in enumerate(fields(record))
    }
    for record in RECORDS
}


def assemble(text: str) -> str:
    """LLVM text from shorthand. Raises KeyError for an unknown record, field or function."""
    return "\n".join(_lines(text))


def _lines(text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines()):
        plain = line.split(";")[0].rstrip()
        for pattern, expand in _RULES:
            match = pattern.fullmatch(plain)
            if match is not None:
                yield from expand(match, number)
                break
        else:
            if plain:
                yield plain


def _address(name: str, record: str, field: str, base: str) -> str:
    number, _ = _FIELDS[record][field]
    return f"  {name} = getelementptr inbounds %{record}, ptr {base}, i32 0, i32 {number}"


def _align(ty: str) -> int:
    return 4 if ty == "i32" else 8


def _get(match: re.Match[str], number: int) -> list[str]:
    name, record, field, base = match.groups()
    ty = _FIELDS[record][field][1]
    place = f"{name}.at{number}"
    load = f"  {name} = load {ty}, ptr {place}, align {_align(ty)}"
    return [_address(place, record, field, base), load]


def _set(match: re.Match[str], number: int) -> list[str]:
    record, field, base, value = match.groups()
    ty = _FIELDS[record][field][1]
    place = f"%set{number}"
    return [
        _address(place, record, field, base),
        f"  store {ty} {value}, ptr {place}, align {_align(ty)}",
    ]


def _at(match: re.Match[str], number: int) -> list[str]:
    return [_address(*match.groups())]


def _item(match: re.Match[str], number: int) -> list[str]:
    name, ty, array, index = match.groups()
    place = f"{name}.at{number}"
    return [
        f"  {place} = getelementptr inbounds {ty}, ptr {array}, i64 {index}",
        f"  {name} = load {ty}, ptr {place}, align 8",
    ]


def _put(match: re.Match[str], number: int) -> list[str]:
    ty, value, array, index = match.groups()
    place = f"%put{number}"
    return [
        f"  {place} = getelementptr inbounds {ty}, ptr {array}, i64 {index}",
        f"  store {ty} {value}, ptr {place}, align 8",
    ]


def _python(match: re.Match[str], number: int) -> list[str]:
    name, function, given = match.groups()
    result, types = FUNCTIONS[function]
    args = [a.strip() for a in given.split(",")] if given.strip() else []
    typed = ", ".join(f"{ty} {arg}" for ty, arg in zip(types, args, strict=True))
    target = f"%py{number}"
    place = f"{target}.at"
    return [
        _address(place, Api.__name__, function, "%api"),
        f"  {target} = load ptr, ptr {place}, align 8",
        f"  {f'{name} = ' if name else ''}call {result} {target}({typed})",
    ]


def _object(match: re.Match[str], number: int) -> list[str]:
    name, field = match.groups()
    place = f"{name}.at{number}"
    return [
        _address(place, Api.__name__, field, "%api"),
        f"  {name} = load ptr, ptr {place}, align 8",
    ]


_NAME, _VALUE = r"(%[\w.]+)", r"([^,\s]+)"
_RULES: list[_Rule] = [
    (re.compile(rf"\s*{_NAME} = get (\w+)\.(\w+) {_NAME}"), _get),
    (re.compile(rf"\s*set (\w+)\.(\w+) {_NAME}, {_VALUE}"), _set),
    (re.compile(rf"\s*{_NAME} = at (\w+)\.(\w+) {_NAME}"), _at),
    (re.compile(rf"\s*{_NAME} = item (%?\w+) {_NAME}, {_VALUE}"), _item),
    (re.compile(rf"\s*put (%?\w+) {_VALUE}, {_NAME}, {_VALUE}"), _put),
    (re.compile(rf"\s*(?:{_NAME} = )?py (\w+)\((.*)\)"), _python),
    (re.compile(rf"\s*{_NAME} = object (\w+)"), _object),
]
