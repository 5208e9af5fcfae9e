"""exp and exp2 in f32: the tables, the error that the rounding test allows for, and how often."""

from __future__ import annotations

from random import Random

import gmpy2
import pytest
from gmpy2 import mpfr

from dynamis.elementary import exponential
from dynamis.elementary.numbers import NUMBERS, Numbers
from dynamis.kernel.types import bits_float, float_bits

SEED = 20261130
ENDS = {"exp": exponential._EXP_END, "exp2": exponential._EXP2_END}


def f32(x: mpfr) -> float:
    with gmpy2.context(precision=24):
        return float(+x)


def test_the_tables_are_powers_of_two_and_what_is_left_of_them() -> None:
    with gmpy2.context(precision=200):
        for j, (power, rest) in enumerate(
            zip(exponential._POWERS, exponential._RESTS, strict=True)
        ):
            true = gmpy2.exp2(mpfr(j) / 32)
            assert power == f32(true)
            assert rest == f32(gmpy2.log(true / mpfr(power)))
        assert len(exponential._POWERS) == 32
        steps = gmpy2.log(mpfr(2)) / 32, gmpy2.log(mpfr(2))
        for true, (high, low) in zip(steps, (exponential._STEP, exponential._LN2_32), strict=True):
            assert high == f32(true)
            assert low == f32(true - mpfr(high))


class Seen(Numbers):
    """Numbers that keep the two f32 that a sum is made of, and whether the other path was taken."""

    def __init__(self) -> None:
        self.sums: list[tuple[float, float]] = []
        self.taken = 0

    def add32(self, a: float, b: float) -> float:
        self.sums.append((a, b))
        return NUMBERS.add32(a, b)

    def branch(self, condition, dear, usual):  # type: ignore[no-untyped-def]
        self.taken += condition
        return super().branch(condition, dear, usual)


def arguments(name: str, count: int) -> list[float]:
    """Of all sizes, and next to where r is largest, which is half way between two entries."""
    rng, end = Random(SEED), bits_float(ENDS[name])
    found = [rng.uniform(-end, end) for _ in range(count)]
    found += [rng.uniform(-1, 1) * 2.0 ** rng.randint(-30, 3) for _ in range(count)]
    step = 1 / 32 if name == "exp2" else 0.6931471805599453 / 32
    most = int(end / step) - 1
    found += [(rng.randint(-most, most) + 0.5) * step for _ in range(2 * count)]
    return [f32(mpfr(x)) for x in found]


@pytest.mark.parametrize("name", ENDS)
def test_the_error_is_below_the_bound_that_the_rounding_test_has(name: str) -> None:
    worst = mpfr(0)
    with gmpy2.context(precision=100):
        for x in arguments(name, 2000):
            seen = Seen()
            getattr(exponential, name)(seen, x)
            small = next(a for a, b in seen.sums if b == exponential._ERROR)
            near = next(a for a, _ in seen.sums[::-1])
            true = getattr(gmpy2, name)(mpfr(x))
            true /= gmpy2.exp2(gmpy2.floor(gmpy2.log2(true / near) + 0.5))
            error = abs(true - near - mpfr(small))
            assert error < exponential._ERROR - 2.0**-38  # what adding the bound may lose
            worst = max(worst, error)
    print(f"{name}: 2**{float(gmpy2.log2(worst)):.2f}, seed {SEED}")
    assert exponential._ERROR / 8 < worst < exponential._ERROR


@pytest.mark.parametrize("name", ENDS)
def test_the_other_path_is_taken_about_once_in_a_thousand(name: str) -> None:
    seen = Seen()
    xs = arguments(name, 2500)
    for x in xs:
        getattr(exponential, name)(seen, x)
    print(f"{name}: {seen.taken} of {len(xs)}, seed {SEED}")
    assert 1 <= seen.taken < len(xs) / 400


@pytest.mark.parametrize("name", ENDS)
def test_past_the_ends_the_other_path_is_taken(name: str) -> None:
    for word in (ENDS[name] + 1, 0x7F800000, 0x7FC00000, 0x7F7FFFFF):
        for sign in (0, 0x80000000):
            seen = Seen()
            getattr(exponential, name)(seen, bits_float(word | sign))
            assert seen.taken == 1
    exact = [0.0, -0.0, 1.0, -126.0, 126.0, 64.0] if name == "exp2" else [0.0, -0.0]
    for x in exact:
        seen = Seen()
        value = getattr(exponential, name)(seen, x)
        assert (seen.taken, float_bits(value)) == (0, float_bits(2.0**x))
