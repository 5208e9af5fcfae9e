"""The reference in integers (``ziv.py``) is right, and so are the functions it is held beside.

It gives the word nearest to the value of MPFR on a stride over each format. What MPFR has no say in
(that it never fails to answer, signs and symmetries) is tested without it."""

from __future__ import annotations

import math
from random import Random

import gmpy2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamis.elementary import DOUBLE, on_numbers
from dynamis.elementary import SINGLE as WRITTEN
from dynamis.kernel.tables import Intrinsic
from dynamis.kernel.types import Type, bits_double, bits_float, bits_number, double_bits, float_bits
from tests.elementary import ulps
from tests.elementary.ziv import DOUBLES, FLOATS, NAMES, UNARY_NAMES, Elementary
from tests.kernel.cases import load

SINGLE = gmpy2.context(precision=24, emin=-148, emax=128, subnormalize=True)
WIDE = gmpy2.context(precision=53, emin=-1073, emax=1024, subnormalize=True)
STRIDE_32, STRIDE_64 = 7_340_033, 63_050_394_783_186_947
"""Primes near 2**32 / 585 and 2**64 / 293: every exponent is met, and all sorts of significands."""


def mpfr(context: object, name: str, *args: float) -> float:
    with gmpy2.context(context):
        given = [gmpy2.mpfr(x) for x in args]
        return float(given[0] ** given[1] if name == "pow" else getattr(gmpy2, name)(*given))


def wrong(
    functions: Elementary, context: object, name: str, cases: list[tuple[float, ...]]
) -> list[str]:
    found = []
    for args in cases:
        got, expected = getattr(functions, name)(*args), mpfr(context, name, *args)
        if double_bits(got) != double_bits(expected):
            found.append(f"{name}{args} = {got!r}, not {expected!r}")
    return found


FLOAT_STRIDE = [(bits_float(bits),) for bits in range(0, 2**32, STRIDE_32)]
DOUBLE_STRIDE = [(bits_double(bits),) for bits in range(0, 2**64, STRIDE_64)]


@pytest.mark.parametrize("name", UNARY_NAMES)
def test_a_stride_over_all_floats_gives_the_nearest_float(name: str) -> None:
    assert wrong(FLOATS, SINGLE, name, FLOAT_STRIDE) == []


@pytest.mark.parametrize("name", UNARY_NAMES)
def test_a_stride_over_all_doubles_gives_the_nearest_double(name: str) -> None:
    assert wrong(DOUBLES, WIDE, name, DOUBLE_STRIDE) == []


@pytest.mark.parametrize("name", NAMES)
def test_the_functions_of_f32_give_the_words_of_the_reference(name: str) -> None:
    function = on_numbers(WRITTEN[name])
    cases = FLOAT_STRIDE if name in UNARY_NAMES else list(pairs(bits_float, 32, 3))
    for args in cases[::3]:
        assert float_bits(function(*args)) == float_bits(getattr(FLOATS, name)(*args)), args


def pairs(of_bits: object, bits: int, seed: int) -> list[tuple[float, float]]:
    """Pairs of any words, and of moderate numbers, among them ones whose power is exact."""
    rng = Random(seed)
    found = []
    for _ in range(150):
        found.append((of_bits(rng.getrandbits(bits)), of_bits(rng.getrandbits(bits))))  # type: ignore[operator]
        found.append((float(rng.randint(1, 300)), rng.randint(-80, 80) / 8))
        found.append((float(2 ** rng.randint(-20, 20)), rng.randint(-80, 80) / 16))
        found.append((rng.randint(-999, 999) / 64, rng.randint(-999, 999) / 64))
    return found


@pytest.mark.parametrize("name", ["pow", "atan2"])
def test_functions_of_two_give_the_nearest_word(name: str) -> None:
    assert wrong(FLOATS, SINGLE, name, list(pairs(bits_float, 32, 1))) == []
    assert wrong(DOUBLES, WIDE, name, list(pairs(bits_double, 64, 2))) == []


def test_powers_that_lie_half_way_between_two_floats_go_to_the_even_one() -> None:
    assert FLOATS.pow(4097.0, 2.0) == 4097.0**2 - 1  # 16785409: between …408 and …410
    assert FLOATS.pow(57.0**4, 0.25) == 57.0
    assert float_bits(FLOATS.pow(2.0, -150.0)) == 0
    assert float_bits(FLOATS.pow(2.0, -149.0)) == 1


@given(st.floats(width=32), st.sampled_from(["sin", "tan", "asin", "atan", "sinh", "tanh"]))
def test_odd_functions_are_odd_to_the_bit(x: float, name: str) -> None:
    function = getattr(FLOATS, name)
    assert float_bits(function(-x)) == float_bits(-function(x))


@given(st.floats(width=32), st.sampled_from(["cos", "cosh"]))
def test_even_functions_are_even_to_the_bit(x: float, name: str) -> None:
    function = getattr(FLOATS, name)
    assert float_bits(function(-x)) == float_bits(function(x))


@pytest.mark.parametrize("functions", [FLOATS, DOUBLES])
def test_a_zero_is_not_taken_for_the_zero_of_the_other_sign(functions: Elementary) -> None:
    for name in ("sin", "tan", "atan", "sinh", "tanh", "asin"):
        assert math.copysign(1.0, getattr(functions, name)(0.0)) == 1.0
        assert math.copysign(1.0, getattr(functions, name)(-0.0)) == -1.0
    assert functions.atan2(0.0, -0.0) == -functions.atan2(-0.0, -0.0) > 3.0
    assert functions.pow(-0.0, -1.0) == -functions.pow(0.0, -1.0) == -math.inf


def test_angles_past_any_table_are_reduced_exactly() -> None:
    huge = bits_float(0x7F7FFFFF)
    assert FLOATS.sin(huge) == mpfr(SINGLE, "sin", huge)
    worst = 6381956970095103.0 * 2.0**797  # the double nearest to a multiple of pi/2
    assert DOUBLES.cos(worst) == mpfr(WIDE, "cos", worst)


def test_the_written_words_of_doubles_are_below_one_ulp() -> None:
    cases = [
        case
        for case in load()
        if case.ty == Type.DOUBLE
        and isinstance(case.operation, Intrinsic)
        and case.operation.value in DOUBLE
    ]
    assert len(cases) > 2000
    with ulps.wide():
        for case in cases:
            args = [float(x) for x in case.operands]
            word = float(bits_number(Type.DOUBLE, int(case.expected)))
            assert ulps.error(case.operation.value, word, *args) < 1.0, case
