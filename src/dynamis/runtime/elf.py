"""An x86-64 ELF object → a flat image.

The sections that a program needs are laid out one after another and the references between them,
which are all relative to the place they stand at, are written once. What would need a linker or
the process it runs in is refused: functions of elsewhere, absolute addresses, writable data.
Layout and relocations: System V ABI, AMD64 supplement, chapter 4 (object files).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ..errors import DynamisError
from .code_image import ALIGNMENT, CodeImage

_HEADER: Final = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION: Final = struct.Struct("<IIQQQQIIQQ")
_SYMBOL: Final = struct.Struct("<IBBHQQ")
_RELOCATION: Final = struct.Struct("<QQq")

_MAGIC: Final = b"\x7fELF\x02\x01\x01"
"""64-bit, little-endian, version 1."""
_RELOCATABLE, _X86_64 = 1, 62
_SYMTAB, _RELA, _NOBITS, _REL = 2, 4, 8, 9
_WRITE, _ALLOC, _EXECUTE = 1, 2, 4
_GLOBAL, _FUNC = 1, 2
_UNDEFINED, _RESERVED = 0, 0xFF00
_UNWINDING: Final = ".eh_frame"
"""Not loaded: nothing unwinds through a kernel."""

_RELATIVE: Final = {2: "<i", 4: "<i", 24: "<q"}
"""R_X86_64_PC32, PLT32 (the function itself, as it is in the image) and PC64: S + A - P."""

_APART: Final = 64
"""Each section begins a cache line, so that no line holds both code and constants."""


class ObjectRefused(DynamisError, ValueError):
    """An object file that cannot become an image: an internal error of code generation."""


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int

    @property
    def loaded(self) -> bool:
        return bool(self.flags & _ALLOC) and self.size > 0 and self.name != _UNWINDING


@dataclass(frozen=True, slots=True)
class _Symbol:
    name: str
    kind: int
    binding: int
    section: int
    value: int


def image_of_object(data: bytes) -> CodeImage:
    """The image of a relocatable object; its entries are the object's global functions.

    Raises ObjectRefused for anything but an x86-64 ELF object that stands alone."""
    try:
        return _image(data)
    except (struct.error, IndexError) as error:
        raise ObjectRefused("a damaged object file") from error


def _image(data: bytes) -> CodeImage:
    sections = _sections(data)
    places, code = _layout(data, sections)
    entries = {}
    for section in sections:
        if section.kind == _REL and section.info in places:
            raise ObjectRefused("relocations without addends")
        if section.kind == _RELA and section.info in places:
            _relocate(data, code, section, places, _symbols(data, sections, section.link))
    for number, section in enumerate(sections):
        if section.kind == _SYMTAB:
            for symbol in _symbols(data, sections, number):
                if (symbol.kind, symbol.binding) == (_FUNC, _GLOBAL) and symbol.section in places:
                    entries[symbol.name] = places[symbol.section] + symbol.value
    return CodeImage(bytes(code), entries)


def _sections(data: bytes) -> list[_Section]:
    header = _HEADER.unpack_from(data)
    ident, kind, machine, at, size, count, names = (header[k] for k in (0, 1, 2, 6, 11, 12, 13))
    if ident[: len(_MAGIC)] != _MAGIC or (kind, machine) != (_RELOCATABLE, _X86_64):
        raise ObjectRefused("not a relocatable x86-64 ELF object")
    raw = [_SECTION.unpack_from(data, at + size * k) for k in range(count)]
    texts = raw[names][4]
    return [
        _Section(_text(data, texts + s[0]), s[1], s[2], s[4], s[5], s[6], s[7], max(s[8], 1))
        for s in raw
    ]


def _text(data: bytes, at: int) -> str:
    return data[at : data.find(b"\0", at)].decode(errors="replace")


def _layout(data: bytes, sections: list[_Section]) -> tuple[dict[int, int], bytearray]:
    """Where each loaded section lies, by its number, and the image before relocation."""
    places: dict[int, int] = {}
    code = bytearray()
    loaded = [k for k, section in enumerate(sections) if section.loaded]
    for k in sorted(loaded, key=lambda k: not sections[k].flags & _EXECUTE):
        section = sections[k]
        if section.flags & _WRITE or section.kind == _NOBITS:
            raise ObjectRefused(f"writable data ({section.name}) in generated code")
        if section.alignment > ALIGNMENT:
            raise ObjectRefused(f"{section.name} asks for alignment {section.alignment}")
        code.extend(bytes(-len(code) % max(section.alignment, _APART)))
        places[k] = len(code)
        code.extend(data[section.offset : section.offset + section.size])
        if len(code) - places[k] != section.size:
            raise ObjectRefused("a damaged object file")
    return places, code


def _symbols(data: bytes, sections: list[_Section], number: int) -> list[_Symbol]:
    table = sections[number]
    texts = sections[table.link].offset
    found = []
    for at in range(table.offset, table.offset + table.size, _SYMBOL.size):
        name, info, _, section, value, _ = _SYMBOL.unpack_from(data, at)
        found.append(_Symbol(_text(data, texts + name), info & 15, info >> 4, section, value))
    return found


def _relocate(
    data: bytes,
    code: bytearray,
    section: _Section,
    places: dict[int, int],
    symbols: list[_Symbol],
) -> None:
    """Write the references that lie in the section ``section.info``."""
    start = places[section.info]
    for offset, symbol, kind, addend in _relocations(data, section):
        target = symbols[symbol]
        if target.section == _UNDEFINED:
            raise ObjectRefused(
                f"generated code refers to {target.name!r}, which is not its own: "
                "the compiler must write out what would need a library function"
            )
        if target.section >= _RESERVED or target.section not in places:
            raise ObjectRefused(f"generated code refers to {target.name!r}, which is not loaded")
        form = _RELATIVE.get(kind)
        if form is None:
            raise ObjectRefused(
                f"relocation type {kind} for {target.name!r}: only PC-relative references can "
                "stand in an image; functions and constants of a module must be internal"
            )
        place = start + offset
        value = places[target.section] + target.value + addend - place
        struct.pack_into(form, code, place, value)


def _relocations(data: bytes, section: _Section) -> Iterator[tuple[int, int, int, int]]:
    """Each one's offset, symbol number, type and addend."""
    for at in range(section.offset, section.offset + section.size, _RELOCATION.size):
        offset, info, addend = _RELOCATION.unpack_from(data, at)
        yield offset, info >> 32, info & 0xFFFFFFFF, addend
