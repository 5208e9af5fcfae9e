"""The operations on Python numbers: rounded once, wrapping, total."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import gmpy2
import pytest

from dynamis.elementary.numbers import NUMBERS, Integer, fma, fma32
from dynamis.kernel.types import bits_double, bits_float, double_bits

SEED = 20261130
EDGES = (
    0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308,
    -1.7976931348623157e308, 0.1, math.inf, -math.inf, math.nan, 2.0**900, 2.0**-900,
)  # fmt: skip
SINGLE = gmpy2.context(precision=24, emin=-148, emax=128, subnormalize=True)
WIDE = gmpy2.context(precision=53, emin=-1073, emax=1024, subnormalize=True)


def nearest_fma(a: float, b: float, c: float) -> float:
    with gmpy2.context(WIDE):
        return float(gmpy2.fma(gmpy2.mpfr(a), gmpy2.mpfr(b), gmpy2.mpfr(c)))


def same(got: float, want: float) -> bool:
    return double_bits(got) == double_bits(want) or (got != got and want != want)


def test_fma_rounds_once() -> None:
    rng = Random(SEED)
    for _ in range(4000):
        a, b = (rng.uniform(-4, 4) * 2.0 ** rng.randint(-30, 30) for _ in range(2))
        near = -float(Fraction(a) * Fraction(b)) if rng.random() < 0.5 else rng.uniform(-9, 9)
        c = near * 2.0 ** rng.choice((0, 0, 1, -53, 53, rng.randint(-110, 110)))
        assert same(fma(a, b, c), nearest_fma(a, b, c)), (a, b, c)


def test_fma_rounds_once_on_any_words_and_edges() -> None:
    rng = Random(SEED)
    cases = [tuple(bits_double(rng.getrandbits(64)) for _ in range(3)) for _ in range(3000)]
    cases += [(a, b, c) for a in EDGES for b in EDGES for c in EDGES]
    for a, b, c in cases:
        assert same(fma(a, b, c), nearest_fma(a, b, c)), (a, b, c)


def nearest32(operation: str, *args: float) -> float:
    with gmpy2.context(SINGLE):
        return float(getattr(gmpy2, operation)(*map(gmpy2.mpfr, args)))


def test_fma32_rounds_once_where_f64_would_round_twice() -> None:
    rng = Random(SEED)
    for _ in range(4000):
        a, b = (NUMBERS.narrow(rng.uniform(1, 2)) for _ in range(2))
        product = a * b  # c so that the sum is next to the middle of two f32
        middle = NUMBERS.narrow(product) + 2.0 ** rng.choice((-24, -25)) * rng.choice((1, -1))
        c = NUMBERS.narrow(rng.choice((2.0**-60, -(2.0**-60), middle - product, 2.0**-31)))
        args = rng.choice(((a, b, c), (a, 1.0 + 2.0**-23 * rng.randint(0, 9), c)))
        want = nearest32("fma", *args)
        assert same(fma32(*args), want), args
    a, b, c = 1.0 + 2.0**-12, 1.0 + 2.0**-12, 2.0**-60  # 1 + 2**-11 + 2**-24 and a bit more
    assert fma32(a, b, c) == nearest32("fma", a, b, c) == 1.0 + 2.0**-11 + 2.0**-23
    assert NUMBERS.narrow(fma(a, b, c)) == 1.0 + 2.0**-11


def test_f32_arithmetic_rounds_once_on_any_words() -> None:
    rng = Random(SEED)
    words = [bits_float(rng.getrandbits(32)) for _ in range(4000)]
    words += [0.0, -0.0, 1.0, math.inf, -math.inf, math.nan, 2.0**-149, 3.4028234663852886e38]
    for _ in range(6000):
        a, b, c = (rng.choice(words) for _ in range(3))
        assert same(NUMBERS.add32(a, b), nearest32("add", a, b)), (a, b)
        assert same(NUMBERS.sub32(a, b), nearest32("sub", a, b)), (a, b)
        assert same(NUMBERS.mul32(a, b), nearest32("mul", a, b)), (a, b)
        assert same(NUMBERS.fma32(a, b, c), nearest32("fma", a, b, c)), (a, b, c)


def test_a_lookup_takes_the_low_bits() -> None:
    table = (1.0, 2.0, 4.0, 8.0)
    assert [NUMBERS.lookup(NUMBERS.u32(k), table) for k in (0, 1, 7, 0xFFFFFFFE)] == [1, 2, 8, 4]


def test_words_wrap_and_shift_as_their_kind() -> None:
    assert (Integer(2**32 - 1, 32, False) + 1).value == 0
    assert (Integer(0, 32, False) - 1).value == 2**32 - 1
    assert (Integer(-8, 32, True) >> 1).value == -4
    assert (Integer(2**63, 64, False) >> 63).value == 1
    assert (Integer(1, 64, True) << 63).value == -(2**63)
    assert (-Integer(1, 32, False)).value == 2**32 - 1
    with pytest.raises(AssertionError, match="two kinds"):
        Integer(1, 32, False) + Integer(1, 64, False)


def test_conversions_and_choices() -> None:
    assert NUMBERS.i32(NUMBERS.u32(0xFFFFFFFF)).value == -1
    assert NUMBERS.u64(NUMBERS.i32(-1)).value == 2**64 - 1
    assert NUMBERS.bits32(1.0).value == 0x3F800000
    assert NUMBERS.float64(NUMBERS.bits64(0.1)) == 0.1
    assert NUMBERS.narrow(0.1) == 0.10000000149011612
    assert NUMBERS.narrow(1e39) == math.inf
    chosen = NUMBERS.where(True, 3, NUMBERS.u32(4))
    assert (chosen.value, chosen.bits, chosen.signed) == (3, 32, False)
    assert NUMBERS.div(-1.0, 0.0) == -math.inf
    assert math.isnan(NUMBERS.div(0.0, 0.0))
    assert math.isnan(NUMBERS.sqrt(-1.0))
