"""Two rows in a step: where it pays and cannot be noticed."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import dynamis as dy
from dynamis import Grid, Volume, f32, i32, vec2, vec3, vec4
from dynamis.codegen import OptionError, Options, compile_ast, rows_at_once
from dynamis.kernel import account, optimize
from dynamis.lower import CallClass, lower
from dynamis.render.analysis import lanes_or_zero
from dynamis.uop import Ops, Uop

SEED = 20261130
TWO = Options(width=8, rows=2)


@dy.kernel
def box(image: Grid[f32]) -> Grid[f32]:
    total = 0.0
    for v in range(-1, 2):
        for u in range(-1, 2):
            total += image.at(dy.coord() + vec2(u, v)) / f32(3 + u + v)
    return total


@dy.kernel
def two_ports(a: Grid[vec4], b: Grid[f32]) -> tuple[Grid[vec4], Grid[f32]]:
    """Offsets that are not centred, elements of four words, both coordinates as numbers."""
    c = dy.coord()
    s, t = vec4(0.0), c.y * 0.5
    for v in range(4):
        for u in range(2):
            s += a.at(c + vec2(u, 2 - v)) * f32(v - 1)
            t += b.at(c + vec2(u, v)) - c.x
    return s * c.y, t


@dy.kernel
def extremes(image: Grid[f32]) -> tuple[Grid[f32], Grid[f32]]:
    """Networks that share words between rows, one of which orders what another gives."""
    c = dy.coord()
    low, high = image.at(c), image.at(c)
    for v in range(-1, 2):
        for u in range(-1, 2):
            word = image.at(c + vec2(u, v))
            low, high = dy.min(low, word), dy.max(high, word)
    around = dy.max(low + 1.0, high * 0.5)
    for v in range(-1, 2):
        for u in range(-1, 2):
            around = dy.max(around, dy.min(low, image.at(c + vec2(u, v))))
    return low, dy.max(around, high)


@dy.kernel
def far(image: Grid[f32], k: i32 = 0, near: i32 = 0) -> Grid[f32]:
    """As ``box``, and reads at offsets that may round in floats, or wrap in ints."""
    c, total = dy.coord(), 0.0
    for v in range(-1, 2):
        for u in range(-1, 2):
            total += image.at(c + vec2(u, v)) / f32(3 + u + v)
    return total + image.at(c + vec2(0.0, f32(k))) + image.at(c + vec2(0.0, f32(k) + f32(near)))


@dy.kernel
def cross(image: Grid[f32]) -> Grid[f32]:
    """Rows share one read in five."""
    c = dy.coord()
    sides = image.at(c + vec2(-1, 0)) + image.at(c + vec2(1, 0))
    ends = image.at(c + vec2(0, -1)) + image.at(c + vec2(0, 1))
    return sides + ends + image.at(c + vec2(0, 0))


@dy.kernel
def failing(image: Grid[i32]) -> Grid[i32]:
    """As ``box``, but sums may overflow."""
    total = 0
    for v in range(-1, 2):
        for u in range(-1, 2):
            total += image.at(dy.coord() + vec2(u, v))
    return total


@dy.kernel
def looping(image: Grid[f32], n: i32 = 1) -> Grid[f32]:
    total = 0.0
    for _ in range(n):
        for v in range(-1, 2):
            total += image.at(dy.coord() + vec2(0, v))
    return total


@dy.kernel
def slanted(image: Grid[f32]) -> Grid[f32]:
    """Columns that depend on the row."""
    c, total = dy.coord(), 0.0
    for v in range(-1, 2):
        total += image.at(vec2(c.x + c.y, c.y + f32(v)))
    return total


@dy.kernel
def solid(image: Volume[f32]) -> Volume[f32]:
    total = 0.0
    for v in range(-1, 2):
        total += image.at(dy.coord() + vec3(0, v, 0))
    return total


def ast(kernel: dy.Kernel) -> Uop:
    module = account(optimize(kernel.module))
    return lower(module, CallClass((True,) * len(module.manifest.inputs))).root


@pytest.mark.parametrize(
    ("kernel", "rows"),
    [
        (box, 2),
        (two_ports, 2),
        (extremes, 2),
        (cross, 1),  # too little to share
        (failing, 1),  # the first fault is found a row at a time
        (looping, 1),
        (slanted, 1),
        (solid, 1),
    ],
)
def test_rows_that_share_enough_go_together(kernel: dy.Kernel, rows: int) -> None:
    assert rows_at_once(ast(kernel), TWO) == rows
    assert rows_at_once(ast(kernel), Options(width=8)) == 1
    assert rows_at_once(ast(kernel), Options(width=1, rows=2)) == 1


def test_what_both_rows_read_is_loaded_once() -> None:
    loads = [
        u
        for u in compile_ast(ast(box), TWO).src
        if u.op is Ops.LOAD and lanes_or_zero(u.src[0]) == TWO.width
    ]
    assert len(loads) == 12  # four rows of three


def test_a_number_of_rows_that_does_not_exist_is_refused() -> None:
    with pytest.raises(OptionError, match="rows is 3; it must be 1 or 2"):
        Options(width=8, rows=3)


@pytest.mark.parametrize("kernel", [box, two_ports, extremes])
@pytest.mark.parametrize("threads", [1, 3])
def test_rows_together_give_the_reference_s_words(kernel: dy.Kernel, threads: int) -> None:
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    for height, width in [(1, 40), (2, 40), (3, 9), (5, 33), (8, 8), (2, 1), (17, 70)]:
        inputs = []
        for port in kernel.module.manifest.inputs:
            lanes = (port.element.lanes,) if port.element.is_vector else ()
            shape = (height, width, *lanes)
            words = rng.standard_normal(shape, np.float32)
            edges = rng.choice(np.array([0.0, -0.0, np.nan, np.inf], np.float32), shape)
            inputs.append(np.where(rng.random(shape) < 0.1, edges, words))
        want = kernel(*inputs, backend="reference", shape=(height, width))
        for w in (None, 8, 16):
            # short runs take the native call path once they repeat
            for _ in range(3):
                got = kernel.options(width=w)(*inputs, shape=(height, width), threads=threads)
                pairs = zip(_each(got), _each(want), strict=True)
                assert all(a.tobytes() == b.tobytes() for a, b in pairs), (height, width, w)


def test_offsets_that_are_not_exact_read_the_same_rows() -> None:
    assert rows_at_once(ast(far), TWO) == 2
    image = np.random.default_rng(SEED).standard_normal((9, 40), np.float32)
    for k in (0, 2, -3, 2**24 + 1, 2**31 - 1, 2**31 - 4, -(2**31), -(2**31) + 3):
        for near in (0, 1, -(2**24), 2**31 - 1, -(2**31) + 1):
            want = far(image, k=k, near=near, backend="reference")
            assert far(image, k=k, near=near).tobytes() == want.tobytes(), (k, near)


def _each(result: object) -> list[NDArray[np.float32]]:
    return list(result) if isinstance(result, tuple) else [np.asarray(result)]


def test_one_row_and_many_in_any_order() -> None:
    image = np.random.default_rng(SEED).standard_normal((6, 50), np.float32)
    for height in (1, 6, 1, 2, 1, 5, 6):
        for _ in range(3):
            part = np.ascontiguousarray(image[:height])
            assert box(part).tobytes() == box(part, backend="reference").tobytes()
