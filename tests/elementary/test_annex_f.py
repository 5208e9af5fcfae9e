"""Special cases as C23 Annex F (F.10.1, F.10.2, F.10.4.5) lists them, natively and interpreted.

The expectations are written from the standard's words, not computed by a library.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

import dynamis as dy
from dynamis import Rows, f32
from dynamis.elementary import SINGLE, on_numbers
from dynamis.kernel.types import bits_float, float_bits

inf, nan = math.inf, math.nan
TINY, SMALL, LARGE = bits_float(1), bits_float(0x00800000), bits_float(0x7F7FFFFF)
FINITE = (TINY, SMALL, 0.5, 1.5, 2.0, 3.0, 16777215.0, 16777216.0, 1e30, LARGE)
PI = {
    name: bits_float(word)  # the f32 nearest to these angles
    for name, word in (("pi", 0x40490FDB), ("3/4", 0x4016CBE4), ("1/2", 0x3FC90FDB),
                       ("1/4", 0x3F490FDB))
}  # fmt: skip

UNARY: dict[str, list[tuple[float, float]]] = {
    "acos": [(1.0, 0.0), (inf, nan), (-inf, nan), (2.0, nan), (-1.0000001, nan), (nan, nan)],
    "asin": [(0.0, 0.0), (-0.0, -0.0), (inf, nan), (-inf, nan), (-2.0, nan), (nan, nan)],
    "atan": [(0.0, 0.0), (-0.0, -0.0), (inf, PI["1/2"]), (-inf, -PI["1/2"]), (nan, nan)],
    "cosh": [(0.0, 1.0), (-0.0, 1.0), (inf, inf), (-inf, inf), (90.0, inf), (nan, nan)],
    "sinh": [(0.0, 0.0), (-0.0, -0.0), (inf, inf), (-inf, -inf), (-90.0, -inf), (nan, nan)],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (inf, 1.0), (-inf, -1.0), (LARGE, 1.0), (nan, nan)],
}


def atan2(y: float, x: float) -> float | None:
    """What F.10.1.4 says of the pair, or nothing."""
    if math.isnan(x) or math.isnan(y):
        return nan
    sign = math.copysign(1.0, y)
    if y == 0.0:
        return sign * (PI["pi"] if math.copysign(1.0, x) < 0 else 0.0)
    if x == 0.0:
        return sign * PI["1/2"]
    if math.isinf(y):
        part = "1/2" if math.isfinite(x) else "3/4" if x < 0 else "1/4"
        return sign * PI[part]
    if math.isinf(x):
        return sign * (PI["pi"] if x < 0 else 0.0)
    return None


def power(x: float, y: float) -> float | None:
    """What F.10.4.5 says of the pair, or nothing."""
    odd = math.isfinite(y) and y == math.floor(y) and math.fmod(y, 2.0) != 0.0
    if x == 1.0 or y == 0.0:
        return 1.0  # even for a NaN
    if math.isnan(x) or math.isnan(y):
        return nan
    if x == 0.0:
        size = inf if y < 0 else 0.0
        return math.copysign(size, x) if odd else size
    if math.isinf(y):
        if abs(x) == 1.0:
            return 1.0
        return inf if (abs(x) > 1.0) == (y > 0) else 0.0
    if math.isinf(x):
        size = inf if y > 0 else 0.0
        return -size if x < 0 and odd else size
    if x < 0 and y != math.floor(y):
        return nan
    return None


BINARY: dict[str, Callable[[float, float], float | None]] = {"atan2": atan2, "pow": power}
VALUES = [s * v for v in (0.0, 1.0, inf, *FINITE) for s in (1.0, -1.0)] + [nan]
PAIRS = list(product(VALUES, VALUES))


def native(name: str, *columns: np.ndarray) -> np.ndarray:
    function = getattr(dy, name)

    @dy.kernel
    def one(a: Rows[f32]) -> Rows[f32]:
        return function(a.sample())

    @dy.kernel
    def two(a: Rows[f32], b: Rows[f32]) -> Rows[f32]:
        return function(a.sample(), b.sample())

    kernel = one if len(columns) == 1 else two
    return kernel(*(np.array(c, np.float32) for c in columns))


@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_one_has_the_special_cases_of_the_standard(name: str) -> None:
    given = native(name, np.array([x for x, _ in UNARY[name]]))
    for (x, expected), word in zip(UNARY[name], given, strict=True):
        interpreted = on_numbers(SINGLE[name])(np.float32(x).item())
        assert float_bits(interpreted) == float_bits(expected), f"{name}({x})"
        assert float_bits(word.item()) == float_bits(expected), f"{name}({x}) natively"


@pytest.mark.parametrize("name", BINARY)
def test_a_function_of_two_has_the_special_cases_of_the_standard(name: str) -> None:
    given = native(name, np.array([a for a, _ in PAIRS]), np.array([b for _, b in PAIRS]))
    told = 0
    for (a, b), word in zip(PAIRS, given, strict=True):
        interpreted = on_numbers(SINGLE[name])(a, b)
        assert float_bits(interpreted) == float_bits(word.item()), f"{name}({a}, {b})"
        expected = BINARY[name](a, b)
        if expected is not None:
            told += 1
            assert float_bits(interpreted) == float_bits(expected), f"{name}({a}, {b})"
    assert told > 200, "the table is empty"
