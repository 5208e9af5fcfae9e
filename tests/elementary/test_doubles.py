"""The functions of f64: below 1 ulp, the same words everywhere, exact where the value is exact."""

from __future__ import annotations

import importlib
import itertools
import math

import gmpy2
import numpy as np
import pytest

import dynamis as dy
from dynamis.elementary import DOUBLE, on_numbers
from dynamis.elementary.double import logarithm, reduction
from dynamis.elementary.double.exponential import LN2_PARTS
from dynamis.kernel.arithmetic import TABLE
from dynamis.kernel.tables import Intrinsic
from dynamis.kernel.types import Type
from tests.elementary.doubles import (
    POLYNOMIALS,
    PRECISION,
    Polynomial,
    parts,
    two_over_pi_bits,
)
from tests.elementary.ulps import EDGES, SEED, TWO, applied, arguments, error, measure, wide

NAMES = sorted(DOUBLE)
ODD = ("sin", "tan", "asin", "atan", "sinh", "tanh")


def value(name: str, *args: float) -> float:
    return on_numbers(DOUBLE[name])(*args)


def bits(x: float) -> bytes:
    return np.float64(x).tobytes()


def test_every_function_of_the_kernel_ir_is_there() -> None:
    assert set(DOUBLE) == {i.value for i in Intrinsic} & set(DOUBLE)
    assert len(DOUBLE) == 15


@pytest.mark.parametrize("name", NAMES)
def test_native_results_are_below_one_ulp(name: str) -> None:
    report = measure(name, 4000)
    print(f"seed {SEED}:", report)
    assert report.error < 1.0


@pytest.mark.parametrize("name", NAMES)
def test_the_words_are_the_interpreters_at_every_width(name: str) -> None:
    print("seed", SEED)
    args = arguments(name, 400, SEED)
    keep = slice(None) if name not in TWO else slice(0, None, 29)
    args = tuple(np.ascontiguousarray(a[keep]) for a in args)
    want = applied(name, 8)(*args, backend="reference").tobytes()
    for width in (1, 4, 8, 16):
        kernel = applied(name, width)
        for threads in (1, 3):
            assert kernel(*args, threads=threads).tobytes() == want, (width, threads)


@pytest.mark.parametrize("name", NAMES)
def test_the_interpreter_evaluates_the_one_source(name: str) -> None:
    evaluate = TABLE[Intrinsic(name)][Type.DOUBLE].evaluate
    for args in zip(*(a[::37].tolist() for a in arguments(name, 300, SEED)), strict=True):
        assert bits(float(evaluate(*args))) == bits(value(name, *args))


@pytest.mark.parametrize("p", POLYNOMIALS, ids=lambda p: p.name)
def test_the_coefficients_are_those_of_the_tool_and_good_enough(p: Polynomial) -> None:
    module = importlib.import_module(f"dynamis.elementary.double.{p.module}")
    with gmpy2.context(precision=PRECISION):
        assert getattr(module, p.name) == p.coefficients()
        assert p.error() < -52.9  # the least of them is beside a term 30 times as large


def test_the_constants_are_the_nearest_sums() -> None:
    from dynamis.elementary.double import exact, inverse

    with gmpy2.context(precision=PRECISION):
        pi, ln2 = gmpy2.const_pi(), gmpy2.log(gmpy2.mpfr(2))
        assert parts(ln2, 2) == exact.LN2
        assert parts(pi, 2) == inverse._PI
        assert parts(pi / 2, 3) == reduction._HALF_PI
        assert parts(pi / 2, 2) == inverse._HALF_PI
        assert parts(pi / 4, 2) == inverse._QUARTER_PI
        assert parts(gmpy2.atan(gmpy2.mpfr(0.5)), 2) == inverse._ATAN_HALF
        assert parts(1 / ln2, 2) == logarithm._INVERSE_LN2
        assert parts(2 / ln2, 2) == logarithm._TWICE
        assert parts(2 / (3 * ln2), 2) == logarithm._THIRD
        assert math.ldexp(LN2_PARTS[0], 42).is_integer()
        assert float(ln2 - gmpy2.mpfr(LN2_PARTS[0])) == LN2_PARTS[1]


def test_the_chunks_of_two_over_pi_are_its_bits() -> None:
    count = reduction._CHUNK * reduction._CHUNKS - reduction._PAD
    assert two_over_pi_bits(count) == reduction._TWO_OVER_PI_BITS
    assert len(reduction._TABLE) == reduction._CHUNKS
    for n in range(2, 990):  # every exponent from _FAR on
        assert (n * 1261) >> 16 == n // reduction._CHUNK


@pytest.mark.parametrize("name", ODD)
def test_odd_functions_are_odd_to_the_bit(name: str) -> None:
    for x in arguments(name, 200, SEED)[0].tolist():
        if not math.isnan(x):
            got, mirrored = value(name, x), value(name, -x)
            assert math.isnan(got) == math.isnan(mirrored)
            assert math.isnan(got) or bits(mirrored) == bits(-got), x


@pytest.mark.parametrize("name", ["cos", "cosh"])
def test_even_functions_are_even_to_the_bit(name: str) -> None:
    for x in arguments(name, 200, SEED)[0].tolist():
        assert bits(value(name, x)) == bits(value(name, -x)) or math.isnan(x)


def test_powers_of_two_are_exact_both_ways() -> None:
    for n in range(-1074, 1024):
        assert value("exp2", float(n)) == math.ldexp(1.0, n)
        assert value("log2", math.ldexp(1.0, n)) == n


def test_powers_that_a_double_holds_are_exact() -> None:
    for base, exponent in itertools.product(range(-30, 31), range(-3, 10)):
        if base or exponent >= 0:
            want = float(base) ** exponent
            if exponent >= 0 or abs(base) in (1, 2, 4, 8, 16):
                assert value("pow", float(base), float(exponent)) == want, (base, exponent)
    for root in range(1, 200):
        assert value("pow", float(root * root), 0.5) == root
        assert value("pow", float(root**4), 0.25) == root


def test_the_double_nearest_to_a_multiple_of_half_pi_is_reduced_exactly() -> None:
    worst = 6381956970095103.0 * 2.0**797
    for name in ("sin", "cos", "tan"):
        for x in (worst, -worst, 5371046280384745.0 * 2.0**-50):
            with wide():
                assert error(name, value(name, x), x) < 0.6, (name, x)


INF, NAN = math.inf, math.nan
ANNEX_F = [
    ("pow", (NAN, 0.0), 1.0), ("pow", (1.0, NAN), 1.0), ("pow", (-1.0, INF), 1.0),
    ("pow", (-1.0, -INF), 1.0), ("pow", (-0.0, -3.0), -INF), ("pow", (-0.0, -2.0), INF),
    ("pow", (-0.0, -INF), INF), ("pow", (-0.0, 3.0), -0.0), ("pow", (-0.0, 2.5), 0.0),
    ("pow", (-INF, -3.0), -0.0), ("pow", (-INF, 3.0), -INF), ("pow", (-INF, 2.5), INF),
    ("pow", (-8.0, 1 / 3), NAN), ("pow", (0.5, -INF), INF), ("pow", (2.0, -INF), 0.0),
    ("pow", (-2.0, 2.0**53 + 2), INF), ("pow", (-0.5, 2.0**53 - 1), -0.0), ("pow", (NAN, 1.0), NAN),
    ("atan2", (0.0, -0.0), math.pi), ("atan2", (-0.0, -0.0), -math.pi),
    ("atan2", (-0.0, 0.0), -0.0),
    ("atan2", (INF, -INF), 2.356194490192345), ("atan2", (1.0, -INF), math.pi),
    ("atan2", (-1.0, INF), -0.0), ("atan2", (-INF, 3.0), -math.pi / 2), ("atan2", (INF, NAN), NAN),
    ("atan2", (NAN, INF), NAN), ("atan2", (5e-324, 2.0), 0.0), ("atan2", (-5e-324, -2.0), -math.pi),
    ("exp", (-INF,), 0.0), ("exp", (INF,), INF), ("exp", (-0.0,), 1.0), ("log", (-0.0,), -INF),
    ("log", (-1.0,), NAN), ("log", (1.0,), 0.0), ("acos", (1.0,), 0.0), ("acos", (1.5,), NAN),
    ("asin", (-1.0,), -math.pi / 2), ("sin", (INF,), NAN), ("tanh", (-INF,), -1.0),
    ("cosh", (-INF,), INF), ("sinh", (-INF,), -INF), ("sinh", (5e-324,), 5e-324),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "want"), ANNEX_F)
def test_edges_are_those_of_annex_f(name: str, args: tuple[float, ...], want: float) -> None:
    got = value(name, *args)
    assert bits(got) == bits(want) or (math.isnan(got) and math.isnan(want))


def test_f32_and_f64_have_functions_of_their_own() -> None:
    @dy.kernel
    def both(x: dy.Rows[dy.f32], y: dy.Rows[dy.f64]) -> tuple[dy.Rows[dy.f32], dy.Rows[dy.f64]]:
        return dy.exp(x.sample()), dy.exp(y.sample() * 1.0)

    x = np.linspace(-3, 3, 50)
    single, double = both(x.astype(np.float32), x)
    assert np.array_equal(
        single, np.exp(x.astype(np.float32).astype(np.float64)).astype(np.float32)
    )
    assert np.allclose(double, np.exp(x), rtol=3e-16, atol=0)


def test_edges_hold_every_kind_of_double() -> None:
    assert np.isnan(EDGES).any() and np.isinf(EDGES).any()
    assert (np.signbit(EDGES) & (EDGES == 0)).any()
