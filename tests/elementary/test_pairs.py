"""atan2 and pow against MPFR: random pairs, pairs made to be hard, and the pairs' slow path."""

from __future__ import annotations

import math
from collections.abc import Callable
from random import Random
from typing import Any

import gmpy2
import pytest

from dynamis.elementary import SINGLE, arctangent, on_numbers
from dynamis.elementary import power as power_module
from dynamis.elementary.numbers import NUMBERS, Numbers
from dynamis.kernel.types import bits_float, float_bits
from tests.elementary.mpfr import nearest
from tests.elementary.pairs import KINDS, sample, ties

SEED = 20261130


@pytest.mark.parametrize(("name", "kind"), [(n, k) for n, kinds in KINDS.items() for k in kinds])
def test_the_interpreter_gives_the_nearest_float(name: str, kind: str) -> None:
    function = on_numbers(SINGLE[name])
    for a, b in zip(*(c.tolist() for c in sample(name, kind, SEED, 400)), strict=True):
        assert float_bits(function(a, b)) == float_bits(nearest(name, a, b)), f"{name}({a}, {b})"


def test_powers_that_are_ties_go_to_even() -> None:
    function = on_numbers(SINGLE["pow"])
    found = ties()
    for x, y in Random(SEED).sample(found, 400):
        assert float_bits(function(x, y)) == float_bits(nearest("pow", x, y)), f"{x} ** {y}"
    assert len(found) > 10_000


class Watching(Numbers):
    """Numbers that keep which arms were taken."""

    def __init__(self) -> None:
        self.taken: list[bool] = []

    def branch(self, condition: bool, dear: Callable[[], Any], usual: Callable[[], Any]) -> Any:
        self.taken.append(condition)
        return super().branch(condition, dear, usual)


@pytest.mark.parametrize(
    ("name", "a", "b", "slow"),
    [
        ("atan2", 0.0, 0.0, False), ("atan2", -0.0, -0.0, False), ("atan2", 0.0, -2.0, False),
        ("atan2", 3.0, 0.0, False), ("atan2", -1.0, math.inf, False), ("atan2", 1.0, 1.0, False),
        ("atan2", math.inf, math.inf, True), ("atan2", bits_float(1), 2.0, True),
        ("pow", 0.0, 2.2, False), ("pow", 0.0, -1.0, False), ("pow", math.inf, 0.5, False),
        ("pow", 1.0, 2.2, False), ("pow", 0.5, 0.0, False), ("pow", 2.0, 1e30, False),
        ("pow", 0.0, 0.0, True), ("pow", 4097.0, 2.0, True), ("pow", 2.0, -150.0, True),
        ("pow", bits_float(1), 0.5, True),
    ],
)  # fmt: skip
def test_frequent_values_take_no_slow_path(name: str, a: float, b: float, slow: bool) -> None:
    watching = Watching()
    SINGLE[name](watching, a, b)
    assert watching.taken[0] == slow


def test_the_slow_path_of_atan2_is_good_to_95_bits() -> None:
    rng = Random(SEED)
    for _ in range(2000):
        y = bits_float(rng.randrange(1, 0x7F800000))
        x = bits_float(min(0x7F7FFFFF, max(1, float_bits(y) + rng.randrange(-1 << 28, 1 << 28))))
        left = rng.random() < 0.5
        high, low = arctangent._angle(NUMBERS, y, x, left)
        with gmpy2.context(precision=300):
            true = gmpy2.atan2(gmpy2.mpfr(y), gmpy2.mpfr(-x if left else x))
            error = abs((gmpy2.mpfr(high) + low) / true - 1)
        assert error < 2.0**-95, f"seed {SEED}: atan2({y}, {-x if left else x}): {error}"


def test_the_slow_path_of_pow_is_good_to_96_bits() -> None:
    rng = Random(SEED)
    for k in range(2000):
        x = bits_float(rng.randrange(1, 0x7F800000))
        if k % 2:
            x = bits_float(0x3F800000 + rng.randrange(-1 << 20, 1 << 20))
        if x == 1.0:
            continue
        y = bits_float(float_bits(max(-1e38, min(1e38, rng.uniform(-149, 128) / math.log2(x)))))
        (high, low), scale = power_module._pair(NUMBERS, x, y)
        with gmpy2.context(precision=300):
            true = gmpy2.mpfr(x) ** gmpy2.mpfr(y)
            error = abs((gmpy2.mpfr(high) + low) * scale / true - 1)
        assert error < 2.0**-96, f"seed {SEED}: {x} ** {y}: {error}"
