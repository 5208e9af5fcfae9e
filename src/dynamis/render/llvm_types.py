"""LLVM spellings: the types of dtypes and shapes, and the literals of constants."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from ..dtype import (
    Dtype,
    bool_,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from ..uop import Uop, UopError


@dataclass(frozen=True, slots=True)
class Machine:
    """What rendering asks about the processor.

    ``x86``, ``arm64``: a task sets MXCSR, or FPCR. ``mask_registers`` (AVX-512): a mask is best
    kept as bits; elsewhere one that crosses iterations is best kept as i32 lanes, in which form the
    machine tests it. ``vector_bytes``: the widest vector it computes on."""

    x86: bool
    mask_registers: bool
    vector_bytes: int = 32
    arm64: bool = False


_SCALARS: dict[Dtype, str] = {
    float32: "float",
    float64: "double",
    bool_: "i1",
    int8: "i8",
    uint8: "i8",
    int16: "i16",
    uint16: "i16",
    int32: "i32",
    uint32: "i32",
    int64: "i64",
    uint64: "i64",
}


def scalar_type(dtype: Dtype) -> str:
    """The type of one lane. Raises UopError for a dtype LLVM code is not made for."""
    try:
        return _SCALARS[dtype]
    except KeyError:
        raise UopError(f"no LLVM code is made for {dtype}") from None


def vector_type(scalar: str, lanes: int) -> str:
    """The type of ``lanes`` lanes; the scalar type itself for 0, which says uniform."""
    return f"<{lanes} x {scalar}>" if lanes else scalar


def lanes_of(u: Uop) -> int:
    """Lanes of a value, 0 where it is uniform."""
    dims = u.max_shape
    if dims == ():
        return 0
    if len(dims) != 1:
        raise UopError(f"a value of shape {dims} is no vector")
    return dims[0]


def literal(dtype: Dtype, value: float | int | bool) -> str:
    """A constant of one lane. Floats are written as the bits of the double of equal value."""
    if dtype is bool_:
        return "true" if value else "false"
    if dtype.is_float:
        bits = struct.unpack("<Q", struct.pack("<d", float(value)))[0]
        return f"0x{bits:016X}"
    return str(int(value))


def splat_literal(scalar: str, text: str) -> str:
    """A constant in every lane of a vector of any length (LLVM 19 and later)."""
    return f"splat ({scalar} {text})"
