"""The enclosures that the elementary functions stand on: their error is within what they claim."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random

import gmpy2
import pytest

from tests.elementary import real
from tests.elementary.real import ERROR, GUARD

PRECISIONS = (64, 128, 300)


def exactly(value: object, p: int) -> object:
    return gmpy2.mul_2exp(gmpy2.mpfr(value), p)  # type: ignore[arg-type]


def rationals(seed: int, low: int, high: int) -> Iterator[Fraction]:
    """Positive multiples of powers of two, of magnitudes from 2**low to 2**high."""
    rng = Random(seed)
    for _ in range(60):
        scale = rng.randint(low, high)
        number = Fraction(rng.getrandbits(53) | 1 << 52, 2**52)
        yield number * (Fraction(2) ** scale)


def near(value: int, exact: object) -> bool:
    return bool(abs(value - exact) <= ERROR)  # type: ignore[operator]


@pytest.mark.parametrize("p", PRECISIONS)
def test_each_function_is_within_the_error_it_claims(p: int) -> None:
    with gmpy2.context(precision=1500):
        assert near(real.ln2(p), exactly(gmpy2.const_log2(), p))
        assert near(real.pi(p), exactly(gmpy2.const_pi(), p))
        for x in rationals(p, -60, 9):
            for signed in (x, -x):
                value, k = real.exp(real.scaled(signed, p + GUARD), p)
                exact = gmpy2.exp(gmpy2.mpfr(gmpy2.mpq(signed)))
                assert near(value, exactly(exact, p - k))
                assert 1 << (p - 1) <= value <= 3 << (p - 1)
        for x in rationals(p + 1, -1074, 1000):
            exact = gmpy2.log(gmpy2.mpfr(gmpy2.mpq(x)))
            assert near(real.log(x, p), exactly(exact, p))
        for x in rationals(p + 2, -80, 80):
            exact = gmpy2.atan(gmpy2.mpfr(gmpy2.mpq(x)))
            assert near(real.atan(x.numerator, x.denominator, p), exactly(exact, p))
        for x in rationals(p + 3, -80, 120):
            sine, cosine = real.sin_cos(x, p)
            angle = gmpy2.mpfr(gmpy2.mpq(x))
            assert near(sine, exactly(gmpy2.sin(angle), p))
            assert near(cosine, exactly(gmpy2.cos(angle), p))


def test_the_angle_of_an_upright_point_is_a_quarter_turn() -> None:
    with gmpy2.context(precision=500):
        assert near(real.atan(5, 0, 100), exactly(gmpy2.const_pi() / 2, 100))
        assert real.atan(0, 5, 100) in range(-ERROR, ERROR + 1)
