"""Bit-exact narrowing of Python numbers to a dtype.

Rounding is to nearest, ties to even, done on exact integers, so no host setting shows in it.
"""

import math
import struct
from typing import Final

from dynamis.dtype.errors import DtypeError
from dynamis.dtype.fp8 import FP8, fp8_bits, fp8_value
from dynamis.dtype.rounding import dyadic, round_dyadic
from dynamis.dtype.val import Val, float32

Number = bool | int | float

# (exponent bits, mantissa bits) of each float scalar
_FINFO: Final[dict[str, tuple[int, int]]] = {
    "float16": (5, 10),
    "bfloat16": (8, 7),
    "float32": (8, 23),
    "float64": (11, 52),
    "fp8e5m2": (5, 2),
    "fp8e5m2fnuz": (5, 2),
    "fp8e4m3": (4, 3),
    "fp8e4m3fnuz": (4, 3),
}


def finfo(dtype: Val) -> tuple[int, int]:
    """(exponent bits, mantissa bits) of a float dtype. Raises DtypeError for any other."""
    found = _FINFO.get(dtype.scalar.name)
    if found is None:
        raise DtypeError(f"{dtype} is not a float")
    return found


def round_exact(m: int, e: int, dtype: Val) -> float:
    """m * 2**e rounded once to the float dtype (not an 8-bit one). Zero gives +0.0."""
    exponent, mantissa = finfo(dtype)
    bias = (1 << (exponent - 1)) - 1
    return round_dyadic(m, e, mantissa, 1 - bias, bias)


def round_float(x: float, dtype: Val) -> float:
    """The float `x` rounded to the float dtype, as a Python float. NaN gives the one NaN."""
    name = dtype.scalar.name
    if x != x:
        return math.nan
    if name == "float64":
        return x
    if name in ("float32", "float16"):
        fmt = "<f" if name == "float32" else "<e"
        try:
            (y,) = struct.unpack(fmt, struct.pack(fmt, x))
        except OverflowError:
            return math.copysign(math.inf, x)
        return float(y)
    if name in FP8:
        return fp8_value(fp8_bits(x, dtype), dtype)
    if name == "bfloat16":
        if x == 0.0 or math.isinf(x):
            return x
        return _bfloat16(round_exact(*dyadic(x), float32), dtype, x)
    raise DtypeError(f"{dtype} is not a float")


def _bfloat16(single: float, dtype: Val, x: float) -> float:
    # through f32 first, as hardware and the table page do
    if single == 0.0 or math.isinf(single):
        return math.copysign(single, x)
    return round_exact(*dyadic(single), dtype)


def wrap(value: int, dtype: Val) -> int:
    """The integer congruent to `value` that the integer dtype holds; weakint keeps it as it is."""
    bits = dtype.bits
    if bits == 800:
        return value
    value &= (1 << bits) - 1
    if not dtype.is_unsigned and value >> (bits - 1):
        value -= 1 << bits
    return value


def truncate(value: Number, dtype: Val) -> Number:
    """`value` as the (one-lane) dtype holds it.

    bool: whether it is not zero. Integers wrap to the width, and a float is cut towards zero
    first. Floats round to nearest-even, an integer once and exactly. The 128/256-bit helpers
    keep the value. Raises DtypeError for void, and for a NaN or infinity given to an integer.
    """
    if dtype.is_float:
        if isinstance(value, float):
            return round_float(value, dtype)
        if dtype.scalar.name in FP8:
            return round_float(float(max(-1 << 40, min(1 << 40, value))), dtype)
        return round_exact(int(value), 0, dtype)
    if dtype.is_int:
        if isinstance(value, float) and not math.isfinite(value):
            raise DtypeError(f"{value} is not an integer")
        return wrap(int(value), dtype)
    if dtype.is_bool:
        return bool(value != 0)
    if dtype.scalar.kind == "wide":
        return int(value)
    raise DtypeError("void has no values")
