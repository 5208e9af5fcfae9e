"""How a port's words may be stored: the encodings, described once.

In: nothing. Out: the table ``ENCODINGS``. A port without an encoding stores its words themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from .fault import FaultKind
from .types import StructDef, Type, word_types


class Encoding(Enum):
    """How one word is stored; the value is the stable spelling."""

    F32 = "f32"
    F64 = "f64"
    I32 = "i32"
    I64 = "i64"
    F16 = "f16"
    BF16 = "bf16"
    I8 = "i8"
    U8 = "u8"
    I16 = "i16"
    U16 = "u16"
    BOOL = "bool"
    UNORM8 = "unorm8"
    UNORM16 = "unorm16"
    SNORM8 = "snorm8"
    SNORM16 = "snorm16"

    @property
    def name(self) -> str:
        """Stable spelling in sources, manifests and module text."""
        return self.value

    @staticmethod
    def parse(name: str) -> Encoding | None:
        """The spelling's meaning, if it is one."""
        return _BY_NAME.get(name)

    @property
    def describe(self) -> str:
        """What is stored, for help."""
        return ENCODINGS[self].meaning

    @property
    def word(self) -> Type:
        """The scalar type of the words it decodes to and encodes from."""
        return ENCODINGS[self].word

    @property
    def bits(self) -> int:
        """Bits of one stored word."""
        return ENCODINGS[self].bits

    def fits(self, element: Type, structs: Sequence[StructDef] = ()) -> bool:
        """Whether every word of ``element`` is of the type that the encoding stores."""
        return set(word_types(structs, element)) == {self.word}


_BY_NAME = {encoding.value: encoding for encoding in Encoding}


@dataclass(frozen=True, slots=True)
class EncodingRow:
    """One encoding. ``scale``: what a stored integer is divided by, 0 where it is not scaled."""

    word: Type
    bits: int
    meaning: str
    is_signed: bool = True
    scale: int = 0
    fails: tuple[FaultKind, ...] = ()


_F, _I = Type.FLOAT, Type.INT
_OUT = (FaultKind.OVERFLOW,)
ENCODINGS: dict[Encoding, EncodingRow] = {
    Encoding.F32: EncodingRow(_F, 32, "The 32 bits of a Float."),
    Encoding.F64: EncodingRow(Type.DOUBLE, 64, "The 64 bits of a Double."),
    Encoding.I32: EncodingRow(_I, 32, "The 32 bits of an Int."),
    Encoding.I64: EncodingRow(Type.LONG, 64, "The 64 bits of a Long."),
    Encoding.F16: EncodingRow(_F, 16, "IEEE binary16; a Float is rounded to nearest even."),
    Encoding.BF16: EncodingRow(_F, 16, "bfloat16; a Float is rounded to nearest even."),
    Encoding.I8: EncodingRow(_I, 8, "A signed byte; an Int out of range overflows.", fails=_OUT),
    Encoding.U8: EncodingRow(
        _I, 8, "An unsigned byte; an Int out of range overflows.", False, fails=_OUT
    ),
    Encoding.I16: EncodingRow(
        _I, 16, "A signed 16-bit integer; an Int out of range overflows.", fails=_OUT
    ),
    Encoding.U16: EncodingRow(
        _I, 16, "An unsigned 16-bit integer; an Int out of range overflows.", False, fails=_OUT
    ),
    Encoding.BOOL: EncodingRow(
        Type.BOOL, 8, "One byte, true where it is not zero, written 0 or 1.", False
    ),
    Encoding.UNORM8: EncodingRow(_F, 8, "u / 255, a Float from 0 to 1.", False, 2**8 - 1),
    Encoding.UNORM16: EncodingRow(_F, 16, "u / 65535, a Float from 0 to 1.", False, 2**16 - 1),
    Encoding.SNORM8: EncodingRow(_F, 8, "max(i / 127, -1), a Float from -1 to 1.", True, 2**7 - 1),
    Encoding.SNORM16: EncodingRow(
        _F, 16, "max(i / 32767, -1), a Float from -1 to 1.", True, 2**15 - 1
    ),
}
