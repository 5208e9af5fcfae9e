"""Narrowing, held against NumPy's conversions and against exact rationals."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest

from dynamis.dtype import (
    DtypeError,
    Val,
    bfloat16,
    bits_of,
    bool_,
    finfo,
    float16,
    float32,
    float64,
    fp8e4m3,
    fp8e4m3fnuz,
    fp8e5m2,
    int8,
    int32,
    int64,
    round_exact,
    round_float,
    truncate,
    uint8,
    uint64,
    value_of_bits,
    void,
    weakint,
    wrap,
)

NUMPY = {float16: np.float16, float32: np.float32}


def doubles(n: int) -> list[float]:
    rng = random.Random(5)
    spread = [math.ldexp(rng.uniform(-2, 2), rng.randint(-160, 140)) for _ in range(n)]
    near = [math.ldexp(1.0, -24) * k for k in (0.5, 1, 1.5, 2.5)]
    return [*spread, *near, 65519.99, 65520.0, 3.4028235677973366e38, 3.4028234e38, -0.0, math.inf]


@pytest.mark.parametrize("dtype", [float16, float32])
def test_floats_round_as_numpy_does(dtype: Val) -> None:
    with np.errstate(over="ignore", under="ignore"):
        for x in doubles(3000):
            want = float(NUMPY[dtype](x))
            got = truncate(x, dtype)
            assert got == want
            assert math.copysign(1, got) == math.copysign(1, want)


def test_integers_round_once_on_the_way_to_a_float() -> None:
    # through a double this one would round twice: 2**24+1 halves, then a tie
    n = (2**24 + 1) * 2**30 + 1
    assert float(np.float32(float(n))) == 2.0**54
    assert truncate(n, float32) == (2**24 + 2) * 2.0**30
    assert truncate(2**128, float32) == math.inf
    assert truncate(-(2**1024), float64) == -math.inf


@pytest.mark.parametrize("dtype", [float16, bfloat16, float32, float64])
def test_exact_rounding_is_to_the_nearest_and_ties_to_even(dtype: Val) -> None:
    rng = random.Random(7)
    exponent, mantissa = finfo(dtype)
    lowest = 2 - 2 ** (exponent - 1)
    for _ in range(300):
        m, e = rng.getrandbits(80) + 1, rng.randint(-90, -75)
        got = Fraction(round_exact(m, e, dtype))
        want = Fraction(m) * Fraction(2) ** e
        place = Fraction(2) ** (max(m.bit_length() - 1 + e, lowest) - mantissa)
        assert abs(got - want) <= place / 2
        if abs(got - want) == place / 2:
            assert (got / place) % 2 == 0


def test_subnormals_are_kept() -> None:
    assert round_exact(1, -149, float32) == 2.0**-149
    assert round_exact(1, -150, float32) == 0.0  # a tie: to even
    assert round_exact(3, -151, float32) == 2.0**-149
    assert truncate(2.0**-24, float16) == 2.0**-24


def test_bfloat16_goes_through_float32() -> None:
    assert truncate(0.1, bfloat16) == 0.10009765625
    assert truncate(3.39e38, bfloat16) == 2.0**128 - 2.0**120
    assert truncate(3.4e38, bfloat16) == math.inf
    assert math.copysign(1, truncate(-1e-60, bfloat16)) == -1
    assert math.isnan(truncate(math.nan, bfloat16))


def test_eight_bit_floats_saturate() -> None:
    assert truncate(1e9, fp8e4m3) == 448.0
    assert truncate(-1e9, fp8e5m2) == -57344.0
    assert truncate(math.inf, fp8e5m2) == math.inf
    assert math.isnan(truncate(math.inf, fp8e4m3))
    assert truncate(17.0, fp8e4m3) == 16.0
    assert truncate(2.0**-9, fp8e4m3) == 2.0**-9
    assert math.copysign(1, truncate(-0.0, fp8e4m3fnuz)) == 1
    assert truncate(10**30, fp8e4m3) == 448.0


@pytest.mark.parametrize("dtype", [int8, uint8, int32, int64, uint64])
def test_integers_wrap_to_the_width(dtype: Val) -> None:
    for n in (0, 1, -1, dtype.max, dtype.max + 1, dtype.min - 1, 12345678901234567890, -(3**50)):
        got = wrap(int(n), dtype)
        assert dtype.min <= got <= dtype.max
        assert (got - int(n)) % 2**dtype.bits == 0


def test_weakint_has_no_width() -> None:
    assert wrap(-(10**40), weakint) == -(10**40)


def test_other_truncations() -> None:
    assert truncate(-1.9, int8) == -1
    assert truncate(300.0, uint8) == 44
    assert truncate(0.1, bool_) is True
    assert truncate(-0.0, bool_) is False
    with pytest.raises(DtypeError, match="not an integer"):
        truncate(math.inf, int8)
    with pytest.raises(DtypeError, match="void"):
        truncate(1, void)
    with pytest.raises(DtypeError, match="not a float"):
        round_float(1.0, int8)


@pytest.mark.parametrize("dtype", [float16, bfloat16])
def test_every_16_bit_pattern_survives_the_round_trip(dtype: Val) -> None:
    for pattern in range(1 << 16):
        value = value_of_bits(pattern, dtype)
        if value != value:
            assert bits_of(value, dtype) in (0x7E00, 0x7FC0)
        else:
            assert bits_of(value, dtype) == pattern
            assert truncate(value, dtype) == value


def test_patterns_of_the_wide_dtypes() -> None:
    assert bits_of(-0.0, float32) == 0x80000000
    assert bits_of(math.nan, float64) == 0x7FF8000000000000
    assert bits_of(-1, int32) == 0xFFFFFFFF
    assert value_of_bits(0xFF, int8) == -1
    assert value_of_bits(0xFF, uint8) == 255
    assert value_of_bits(3, bool_) is True
    with pytest.raises(DtypeError, match="pattern"):
        bits_of(1, weakint)
