"""Storage forms and 8-bit floats, held against ml_dtypes over every byte and hard values."""

from __future__ import annotations

import itertools
import math
import random
import struct

import ml_dtypes
import numpy as np
import pytest

from dynamis.dtype import (
    DtypeError,
    Val,
    bfloat16,
    bits_of,
    bool_,
    float16,
    float32,
    float64,
    fp8e4m3,
    fp8e4m3fnuz,
    fp8e5m2,
    fp8e5m2fnuz,
    from_storage_scalar,
    int8,
    int64,
    round_float,
    to_storage_scalar,
    uint64,
    value_of_bits,
    void,
)

FORMATS = {
    fp8e4m3: ml_dtypes.float8_e4m3fn,
    fp8e5m2: ml_dtypes.float8_e5m2,
    fp8e4m3fnuz: ml_dtypes.float8_e4m3fnuz,
    fp8e5m2fnuz: ml_dtypes.float8_e5m2fnuz,
}
eight_bit = pytest.mark.parametrize(
    ("dtype", "theirs"), FORMATS.items(), ids=[d.name for d in FORMATS]
)


@eight_bit
def test_every_byte_has_the_value_that_ml_dtypes_gives_it(dtype: Val, theirs: type) -> None:
    values = np.arange(256, dtype=np.uint8).view(theirs).astype(np.float64)
    for byte, value in enumerate(values):
        ours = value_of_bits(byte, dtype)
        assert ours == value or (math.isnan(ours) and np.isnan(value))
        assert math.copysign(1, ours) == math.copysign(1, value) or math.isnan(ours)
        if not math.isnan(ours):
            assert bits_of(ours, dtype) == byte


@eight_bit
def test_rounding_agrees_with_ml_dtypes_below_the_largest(dtype: Val, theirs: type) -> None:
    exact = sorted({v for b in range(256) if math.isfinite(v := value_of_bits(b, dtype))})
    largest = exact[-1]
    middles = [(a + b) / 2 for a, b in itertools.pairwise(exact)]
    ends = (np.float32(-math.inf), np.float32(math.inf))
    near = [float(np.nextafter(np.float32(m), s)) for m in middles for s in ends]
    rng = random.Random(1)
    some = [rng.uniform(-1, 1) * 2.0 ** rng.randint(-20, 8) for _ in range(2000)]
    values = [v for v in (*exact, *middles, *near, *some) if abs(v) <= largest]
    # singles, for ml_dtypes rounds a double to one first, so twice
    values = [float(np.float32(v)) for v in values]
    wanted = np.array(values, np.float32).astype(theirs).view(np.uint8)
    for value, byte in zip(values, wanted, strict=True):
        assert bits_of(value, dtype) == byte, value


@eight_bit
def test_overflow_saturates_and_nonfinite_values_have_their_bytes(dtype: Val, theirs: type) -> None:
    largest = float(ml_dtypes.finfo(theirs).max)
    for value in (largest * 1.01, largest * 4, 1e300):
        assert value_of_bits(bits_of(value, dtype), dtype) == largest
        assert value_of_bits(bits_of(-value, dtype), dtype) == -largest
    minus_nan = math.copysign(math.nan, -1.0)
    got = [bits_of(v, dtype) for v in (math.inf, -math.inf, math.nan, minus_nan)]
    if dtype.name.endswith("fnuz"):
        assert got == [0x80] * 4
    elif dtype is fp8e5m2:
        assert got == [0x7C, 0xFC, 0x7F, 0xFF]
    else:
        assert got == [0x7F, 0xFF, 0x7F, 0xFF]


@pytest.mark.parametrize(
    ("dtype", "theirs"), [(bfloat16, ml_dtypes.bfloat16), (float16, np.float16)]
)
def test_sixteen_bit_floats_agree_with_ml_dtypes(dtype: Val, theirs: type) -> None:
    words = np.arange(1 << 16, dtype=np.uint16)
    with np.errstate(invalid="ignore"):  # the NaNs among them
        values = words.view(theirs).astype(np.float64)
    for word, value in zip(words[::7], values[::7], strict=True):
        ours = value_of_bits(int(word), dtype)
        assert ours == value or (math.isnan(ours) and np.isnan(value))
        if not math.isnan(ours):
            assert bits_of(ours, dtype) == word
    rng = random.Random(2)
    some = [rng.uniform(-2, 2) * 2.0 ** rng.randint(-30, 30) for _ in range(3000)]
    singles = [struct.unpack("<f", struct.pack("<f", v))[0] for v in some]
    with np.errstate(over="ignore"):
        wanted = np.array(singles, np.float32).astype(theirs).astype(np.float64)
    for value, want in zip(singles, wanted, strict=True):
        assert round_float(value, dtype) == want


@pytest.mark.parametrize(
    ("value", "dtype", "stored"),
    [
        (1, bool_, True), (0.1, float16, 0.0999755859375), (1.0, bfloat16, 0x3F80),
        (1.0, fp8e4m3, 0x38), (-1.0, fp8e5m2fnuz, 0xC0), (0.1, float32, 0.1), (0.1, float64, 0.1),
        (-5, int8, -5), (2**63, uint64, 2**63), (-(2**62), int64, -(2**62)),
    ],
)  # fmt: skip
def test_storage_forms(value: float, dtype: Val, stored: float) -> None:
    got = to_storage_scalar(value, dtype)
    assert got == stored
    assert type(got) is type(stored)
    back = from_storage_scalar(got, dtype)
    assert to_storage_scalar(back, dtype) == got


def test_void_has_no_storage() -> None:
    with pytest.raises(DtypeError, match="void"):
        to_storage_scalar(0, void)
