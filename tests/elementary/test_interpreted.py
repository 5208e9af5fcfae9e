"""Every function of f32 on Python numbers gives the f32 nearest to the true value."""

from __future__ import annotations

from random import Random

import pytest

from dynamis.elementary import SINGLE, on_numbers
from dynamis.kernel.types import bits_float, float_bits
from tests.elementary.mpfr import nearest

SEED = 20261130
UNARY = sorted(set(SINGLE) - {"atan2", "pow"})
RANDOM = Random(SEED)
WORDS = [
    *range(0, 2**32, 36_700_159),  # a prime: every exponent, all sorts of significands
    *(s | e for s in (0, 1 << 31) for e in (0, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000)),
    *(float_bits(RANDOM.uniform(-100.0, 100.0)) for _ in range(60)),
    *(float_bits(float(n)) for n in range(-150, 130, 7)),
]


@pytest.mark.parametrize("name", UNARY)
def test_a_function_gives_the_nearest_float(name: str) -> None:
    function = on_numbers(SINGLE[name])
    for word in WORDS:
        x = bits_float(word)
        got, want = function(x), nearest(name, x)
        assert float_bits(got) == float_bits(want), f"{name}({x!r})"
