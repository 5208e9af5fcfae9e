"""How words are stored in a port with an encoding: the reference conversions.

In: a word as the kernel sees it (a Python number). Out: what a port of the encoding stores, and
back. f16 and bf16 are stored as their 16 bits, scaled and small integers as integers, a Bool as a
byte of 0 or 1, and the plain kinds (f32 f64 i32 i64) as the words themselves.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from .encoding import ENCODINGS, Encoding
from .fault import FaultKind
from .float_arithmetic import f32
from .float_format import BFLOAT, HALF, FloatFormat
from .types import Numeric, Type, bits_float, float_bits

_HALF_NAN = 0x7E00


def decode(encoding: Encoding, stored: Numeric) -> Numeric:
    """The word that a stored one stands for.

    unormN is u / (2**N - 1) and snormN max(i / (2**(N-1) - 1), -1), each by one correctly rounded
    f32 division; a byte that is not 0 is true."""
    row = ENCODINGS[encoding]
    if row.scale:
        return max(f32(stored / row.scale), -1.0)
    match encoding:
        case Encoding.F16:
            number: float = struct.unpack("<e", int(stored).to_bytes(2, "little"))[0]
            return math.nan if number != number else number
        case Encoding.BF16:
            return bits_float(int(stored) << 16)
        case Encoding.BOOL:
            return stored != 0
    return stored


def encoding_fault(encoding: Encoding, number: Numeric) -> FaultKind | None:
    """OVERFLOW where an integer encoding does not hold the word; no other encoding fails."""
    row = ENCODINGS[encoding]
    if not row.fails:
        return None
    low = -(1 << (row.bits - 1)) if row.is_signed else 0
    return None if low <= number < low + (1 << row.bits) else FaultKind.OVERFLOW


def encode(encoding: Encoding, number: Numeric) -> Numeric:
    """What is stored for a word: a float in the nearest of the encoding, ties to even, a NaN
    canonical; scaled, the nearest whole number to clamp(x) * scale, ties to even, and 0 for NaN.

    An integer must fit (``encoding_fault``)."""
    row = ENCODINGS[encoding]
    if row.scale:
        if number != number:
            return 0
        low = -1.0 if row.is_signed else 0.0
        return round(min(max(number, low), 1.0) * row.scale)  # exact: 24 and 16 bits in a double
    match encoding:
        case Encoding.F16:
            return _half_bits(float(number))
        case Encoding.BF16:
            return float_bits(_narrowed(float(number), BFLOAT)) >> 16
        case Encoding.BOOL:
            return int(number)
    return math.nan if row.word in (Type.FLOAT, Type.DOUBLE) and number != number else number


def _half_bits(x: float) -> int:
    if x != x:
        return _HALF_NAN
    return int.from_bytes(struct.pack("<e", _narrowed(x, HALF)), "little")


def _narrowed(x: float, format: FloatFormat) -> float:
    """``x`` rounded once to a narrower format; zeros, infinities and NaN stay."""
    return x if x == 0.0 or not math.isfinite(x) else format.nearest(Fraction(x))
