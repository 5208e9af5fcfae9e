"""Reads between elements: ``port.linear(p)`` over rows, grids and volumes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, Rows, Volume, f32, ivec2, vec2, vec3, vec4

SEED = 20261202
SIZES = [(1, 1, 1), (1, 1, 9), (1, 7, 1), (5, 1, 1), (2, 3, 8), (3, 2, 17), (3, 4, 31)]
EDGES = np.array(
    [0.0, -0.0, 1e-45, 0.5, 1.0, 1.5, 2.0, 2.9999998, 3.0, 3.5, -0.5, -7.0, 100.0, 16777216.0]
    + [2147483648.0, 1e30, np.nan, np.inf, -np.inf],
    np.float32,
)
VALUES = np.array([1.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3.4e38, -3.4e38], np.float32)


def same(kernel: dy.Kernel, *inputs: np.ndarray, **keywords: Any) -> np.ndarray:
    """The reference's answer, which native code gives at every width and thread count."""
    want: np.ndarray = kernel(*inputs, backend="reference", **keywords)
    for width, threads in itertools.product((1, 8, 16), (1, 3)):
        got = kernel.options(width=width)(*inputs, threads=threads, **keywords)
        assert got.tobytes() == want.tobytes(), (width, threads)
    return want


@dy.kernel
def in_rows(a: Rows[f32], p: Rows[f32]) -> Rows[f32]:
    return a.linear(p.sample())


@dy.kernel
def in_grid(a: Grid[vec2], p: Rows[vec2]) -> Rows[vec2]:
    return a.linear(p.sample())


@dy.kernel
def in_volume(a: Volume[vec3], p: Rows[vec3]) -> Rows[vec3]:
    return a.linear(p.sample())


@dy.kernel
def half(image: Grid[vec4]) -> Grid[vec4]:
    return image.linear(2.0 * dy.coord() + 0.5)


@dy.kernel
def shifted(a: Volume[f32], by: vec3 = vec3(0.5, 0.25, -0.5)) -> Volume[f32]:
    return a.linear(dy.coord() + by)


@dy.kernel
def whole(image: Grid[f32]) -> Grid[f32]:
    return image.linear(dy.coord() + vec2(1, -1)) + image.linear(ivec2(2, 1))


@dy.kernel
def literal(a: Rows[f32]) -> Rows[f32]:
    return a.linear(1) + a.linear(f32(dy.element()) * 0.3 - 1.0)


@dy.kernel
def sometimes(image: Grid[f32]) -> Grid[f32]:
    p = dy.coord()
    total = 0.0
    for k in range(3):
        if p.x + f32(k) > 4.0:
            total += image.linear(p * 0.7 + f32(k))
    return total


def blended(a: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The definition in NumPy's f32: at points (x, y, z) of shape (n, rank), x first."""
    rank = p.shape[1]
    low, high, share = [], [], []
    for axis in range(rank):
        x, last = p[:, rank - 1 - axis], np.float32(a.shape[axis] - 1)
        inside = np.where(x > 0, np.minimum(x, last), np.float32(0))
        low.append(np.minimum(inside.astype(np.int64), a.shape[axis] - 1))
        high.append(np.minimum(low[-1] + 1, a.shape[axis] - 1))
        share.append(inside - np.trunc(inside))

    def along(place: tuple[np.ndarray, ...]) -> np.ndarray:
        if len(place) == rank:
            return a[place]
        k = len(place)
        f = share[k].reshape((-1,) + (1,) * (a.ndim - rank))
        one, other = along((*place, low[k])), along((*place, high[k]))
        return np.where(f == 0, one, one * (np.float32(1) - f) + other * f)

    return along(())


@pytest.mark.parametrize("size", SIZES)
def test_a_value_between_elements_is_their_mix_axis_by_axis(size: tuple[int, ...]) -> None:
    rng = np.random.default_rng(SEED)
    for kernel, rank, lanes in ((in_rows, 1, ()), (in_grid, 2, (2,)), (in_volume, 3, (3,))):
        extent = size[3 - rank :]
        a = rng.random((*extent, *lanes), np.float32)
        p = rng.uniform(-1.5, max(extent) + 0.5, (77, rank)).astype(np.float32)
        p[::5] = np.round(p[::5])
        got = same(kernel, a, p[:, 0] if rank == 1 else p, shape=len(p))
        assert got.tobytes() == blended(a, p).tobytes()


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_addresses_at_the_edges_of_the_type_are_clamped_and_nan_is_zero(rank: int) -> None:
    kernel, lanes = ((in_rows, ()), (in_grid, (2,)), (in_volume, (3,)))[rank - 1]
    a = np.random.default_rng(SEED).random(((2, 3, 4)[3 - rank :]) + lanes, np.float32)
    p = np.array(list(itertools.product(EDGES, repeat=rank))[::7], np.float32)
    with np.errstate(invalid="ignore"):
        wanted = blended(a, p)
    got = same(kernel, a, p[:, 0] if rank == 1 else p, shape=len(p))
    assert got.tobytes() == wanted.tobytes()


def test_an_element_that_has_no_share_is_not_looked_at() -> None:
    a = np.array([[1.0, np.inf], [np.nan, -np.inf]], np.float32)
    pairs = np.stack([a, a], axis=-1)
    at = np.array([[0, 0], [-3, -1], [np.nan, 0], [1, 0], [1, 1]], np.float32)
    assert same(in_grid, pairs, at)[:, 0].tolist() == [1.0, 1.0, 1.0, np.inf, -np.inf]


def test_values_at_the_edges_of_the_type_agree() -> None:
    rng = np.random.default_rng(SEED)
    for kernel, extent, lanes in ((in_grid, (3, 5), 2), (in_volume, (2, 3, 4), 3)):
        a = rng.choice(VALUES, (*extent, lanes))
        p = np.round(rng.uniform(-1, 5, (64, len(extent))) * 2).astype(np.float32) / 2
        same(kernel, a, p)


def test_rows_past_2_to_the_24_are_read_at_the_elements_that_exist() -> None:
    a = np.zeros(2**24 + 4, np.float32)
    a[-4:] = (1, 2, 3, 4)
    p = np.array([2**24 - 1, 2**24, 2**24 + 2, 2**24 + 4, 2**31, np.inf], np.float32)
    assert in_rows(a, p, shape=6).tolist() == [0, 1, 3, 4, 4, 4]


@pytest.mark.parametrize("size", SIZES)
def test_reads_beside_the_elements_own_coordinate_agree(size: tuple[int, ...]) -> None:
    rng = np.random.default_rng(SEED)
    a = rng.random(size, np.float32)
    for by in ((0.5, 0.25, -0.5), (0, 0, 0), (1, -1, 2), (-20.5, 3.0, 0.125)):
        same(shifted, a, by=by)
    same(whole, a[0])
    same(sometimes, a[0])
    same(literal, a[0, 0])
    image = rng.random((*size[1:], 4), np.float32)
    same(half, image, shape=(3, 9))


def test_half_size_is_the_mean_of_four_pixels() -> None:
    image = np.random.default_rng(SEED).integers(0, 256, (8, 12, 4)).astype(np.float32)
    wanted = image.reshape(4, 2, 6, 2, 4).mean((1, 3))
    assert np.array_equal(half(image, shape=(4, 6)), wanted)
