"""Values as bits: the integer pattern of a value and back, and the form memory holds."""

import math
import struct
from typing import Final

from dynamis.dtype.errors import DtypeError
from dynamis.dtype.fp8 import FP8, fp8_bits, fp8_value
from dynamis.dtype.narrow import Number, round_float
from dynamis.dtype.val import Val

_INT_FMT: Final = {8: "B", 16: "H", 32: "I", 64: "Q"}


def bits_of(value: Number, dtype: Val) -> int:
    """The bit pattern of `value` at a fixed-width dtype, as a non-negative integer.

    `value` must be a value of the dtype. Every NaN has the canonical quiet pattern.
    Raises DtypeError for dtypes without a pattern: void, weakint and wide ones.
    """
    name, bits = dtype.scalar.name, dtype.scalar.bits
    if name in FP8:
        return fp8_bits(float(value), dtype)
    if dtype.is_bool:
        return int(value)
    if dtype.is_int and bits != 800:
        return int(value) & ((1 << bits) - 1)
    if name == "bfloat16":
        (word,) = struct.unpack("<I", struct.pack("<f", value))
        return 0x7FC0 if math.isnan(value) else int(word) >> 16
    if name in ("float16", "float32", "float64"):
        if math.isnan(value):
            return {16: 0x7E00, 32: 0x7FC00000, 64: 0x7FF8000000000000}[bits]
        (word,) = struct.unpack("<" + _INT_FMT[bits], struct.pack("<" + dtype.scalar.fmt, value))
        return int(word)
    raise DtypeError(f"{dtype} has no bit pattern here")


def value_of_bits(pattern: int, dtype: Val) -> Number:
    """The value whose bit pattern is `pattern` at a fixed-width dtype; inverse of `bits_of`."""
    name, bits = dtype.scalar.name, dtype.scalar.bits
    if name in FP8:
        return fp8_value(pattern & 0xFF, dtype)
    if dtype.is_bool:
        return bool(pattern & 1)
    if dtype.is_int and bits != 800:
        pattern &= (1 << bits) - 1
        return pattern - (1 << bits) if not dtype.is_unsigned and pattern >> (bits - 1) else pattern
    if name == "bfloat16":
        (value,) = struct.unpack("<f", struct.pack("<I", (pattern & 0xFFFF) << 16))
        return round_float(float(value), dtype)
    if name in ("float16", "float32", "float64"):
        (value,) = struct.unpack("<" + dtype.scalar.fmt, struct.pack("<" + _INT_FMT[bits], pattern))
        return math.nan if value != value else float(value)
    raise DtypeError(f"{dtype} has no bit pattern here")


def to_storage_scalar(value: Number, dtype: Val) -> Number:
    """`value` in the form that memory holds it in, one lane.

    bool as a bool; float16 as the rounded float; bfloat16 and the 8-bit floats as their pattern;
    float32, float64 and integers as they are. Raises DtypeError for void.
    """
    name = dtype.scalar.name
    if dtype.is_bool:
        return bool(value)
    if name in FP8 or name == "bfloat16":
        return bits_of(round_float(float(value), dtype) if name == "bfloat16" else value, dtype)
    if name == "float16":
        return round_float(float(value), dtype)
    if dtype.is_float:
        return float(value)
    if dtype.scalar.kind == "void":
        raise DtypeError("void has no values")
    return int(value)


def from_storage_scalar(stored: Number, dtype: Val) -> Number:
    """The value that memory holds as `stored`; inverse of `to_storage_scalar`."""
    if dtype.scalar.name in FP8 or dtype.scalar.name == "bfloat16":
        return value_of_bits(int(stored), dtype)
    return to_storage_scalar(stored, dtype)
