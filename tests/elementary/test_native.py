"""Compiled elementary functions: the nearest f32, the interpreter's words, and arms jumped over."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from dynamis.dtype import float32
from dynamis.uop import Ops, const_of_dtype, simplify
from dynamis.uop.elementary import expanded
from tests.elementary.exhaustive import UNARY, walk, walked
from tests.elementary.mpfr import nearest

kernel = cache(walked)
STRIDE, OFFSET = 8_191, 1_234
"""A prime stride: 524 thousand inputs a function, of every exponent and both signs."""
EDGES = np.array(
    [0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F800000, 0xBF800000]
    + [0x3F7FFFFF, 0x3F800001, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000]
    + [0x3FC90FDB, 0x40490FDB, 0x51800000, 0x517FFFFF, 0xD1800000, 0x42B17218, 0xC2CFF1B5]
    + [0xC3160000, 0xC3150000, 0x43000000, 0x39800000, 0x3B429D37, 0xBCF3A937],
    np.uint32,
).view(np.float32)


@pytest.mark.parametrize("name", UNARY)
def test_a_fixed_stride_over_all_floats_gives_the_nearest_float(name: str) -> None:
    report = walk(name, STRIDE, OFFSET)
    print(report)
    assert report.inputs > 500_000
    assert report.wrong == []


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("name", UNARY)
def test_every_width_gives_the_words_of_the_interpreter(name: str, width: int) -> None:
    rng = np.random.default_rng(20261130)
    x = np.concatenate([EDGES, rng.normal(0, 20, 100).astype(np.float32)])
    want = kernel(name)(x, backend="reference")
    got = kernel(name).options(width=width)(x)
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("name", UNARY)
def test_edge_values_are_those_of_c23(name: str) -> None:
    got = kernel(name)(EDGES)
    for x, y in zip(EDGES, got, strict=True):
        want = np.float32(nearest(name, float(x)))
        assert y.tobytes() == want.tobytes() or (np.isnan(y) and np.isnan(want)), (name, x, y)


def regions(name: str) -> tuple[list[str], list[str]]:
    """The lines of a function's compiled program inside any region, and outside."""
    inside: list[str] = []
    outside: list[str] = []
    depth = 0
    for line in str(kernel(name).show("program")).splitlines():
        depth += ("Ops.IF " in line) - ("Ops.ENDIF " in line)
        (inside if depth else outside).append(line)
    return inside, outside


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_the_reduction_of_huge_angles_is_jumped_over(name: str) -> None:
    inside, outside = regions(name)
    assert len(inside) > 30
    products = [line for line in inside if "Ops.MUL " in line and "dtypes.ulong" in line]
    assert len(products) == 3
    assert not [line for line in outside if "Ops.MUL " in line and "dtypes.ulong" in line]


RARE = {"sin": 2 + 7, "cos": 2 + 8, "tan": 2 + 12, "exp": 3 + 10, "exp2": 10}
"""Multiply-adds of rare arms: the reduction of huge angles, or of any argument in f64, and the
polynomials."""


@pytest.mark.parametrize("name", UNARY)
def test_the_usual_path_stands_in_no_region(name: str) -> None:
    inside, outside = (sum("Ops.MULACC" in line for line in part) for part in regions(name))
    assert inside == RARE.get(name, 0)
    assert outside > 5


@pytest.mark.parametrize("name", ["exp", "exp2"])
def test_the_usual_path_of_an_exponential_has_no_doubles(name: str) -> None:
    inside, outside = regions(name)
    assert any("dtypes.double" in line for line in inside)
    assert not [line for line in outside if "dtypes.double" in line and "Ops.CONST" not in line]


def test_constants_fold_to_the_same_words() -> None:
    for name in UNARY:
        for x in (0.5, 0.75, 1.0):
            folded = simplify(expanded(name, const_of_dtype(float32, x)))
            assert folded.op is Ops.CONST
            assert folded.arg.value == nearest(name, x)
