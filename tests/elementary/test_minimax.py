"""The coefficients in use are as good as the pages say, and nearly as good as any."""

from __future__ import annotations

import gmpy2
import pytest
from gmpy2 import mpfr

from dynamis.elementary import arctangent, power
from tests.elementary.minimax import POLYNOMIALS


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_a_polynomial_in_use_is_as_good_as_claimed(name: str) -> None:
    polynomial = POLYNOMIALS[name]
    assert polynomial.error(polynomial.coefficients) < -polynomial.bits


@pytest.mark.parametrize("name", ["acos", "exp2", "log2, pairs"])
def test_no_polynomial_of_its_degree_is_much_better(name: str) -> None:
    polynomial = POLYNOMIALS[name]
    used, best = polynomial.error(polynomial.coefficients), polynomial.error(polynomial.best())
    assert best <= used <= best + 4


def test_the_tables_hold_pairs_of_arc_tangents_and_logarithms() -> None:
    with gmpy2.context(precision=300):
        pairs = [
            *((gmpy2.atan(mpfr(i) / 8), *pair) for i, pair in enumerate(arctangent._TABLE, 1)),
            *((-gmpy2.log2(mpfr(c)), *pair) for _, c, *pair in power._TABLE),
            (-gmpy2.log2(mpfr(power._FIRST[0])), *power._FIRST[1:]),
            (gmpy2.const_pi(), *arctangent._PI),
            (gmpy2.const_pi() / 2, *arctangent._HALF_PI),
        ]
        assert all(abs(mpfr(high) + low - true) < 2.0**-106 for true, high, low in pairs)
