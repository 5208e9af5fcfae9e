"""Kernels over volumes: native code gives the reference's words and faults, at every size."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, Rows, Volume, f32, i32, ivec3, vec2, vec3, vec4
from dynamis.runtime import native

SEED = 20261201
SIZES = [(1, 1, 1), (1, 1, 9), (1, 7, 1), (5, 1, 1), (2, 3, 8), (3, 2, 17), (4, 5, 31), (2, 1, 300)]
WIDTHS_THREADS = list(itertools.product((1, 8, 16), (1, 3)))


def same(kernel: dy.Kernel, *inputs: np.ndarray, **keywords: Any) -> np.ndarray:
    """The reference's answer, which native code gives at every width and thread count."""
    want: np.ndarray = kernel(*inputs, backend="reference", **keywords)
    for width, threads in WIDTHS_THREADS:
        got = kernel.options(width=width)(*inputs, threads=threads, **keywords)
        assert got.shape == want.shape
        assert got.tobytes() == want.tobytes(), (width, threads)
    return want


@dy.kernel
def place() -> Volume[ivec3]:
    return ivec3(dy.coord()) + 100 * ivec3(dy.domain()) + dy.element() * 10_000


@dy.kernel
def sides(a: Volume[f32]) -> Rows[vec4]:
    return vec4(a.size, a.count)


@dy.kernel
def laplace(a: Volume[f32]) -> Volume[f32]:
    p = dy.coord()
    total = -6.0 * a.sample()
    total += a.at(p - vec3(1, 0, 0)) + a.at(p + vec3(1, 0, 0))
    total += a.at(p - vec3(0, 1, 0)) + a.at(p + vec3(0, 1, 0))
    return total + a.at(p - vec3(0, 0, 1)) + a.at(p + vec3(0, 0, 1))


@dy.kernel
def box(a: Volume[vec4], radius: i32 = 1) -> Volume[vec4]:
    total = vec4(0.0)
    for w in range(-radius, radius + 1):
        for v in range(-1, 2):
            for u in range(-radius, radius + 1):
                total = total * 0.75 + a.at(dy.coord() + vec3(u, v, w))
    return total


@dy.kernel
def turned(a: Volume[ivec3]) -> Volume[ivec3]:
    p = dy.coord()
    return a.at(vec3(p.z, p.x, p.y) * 1.5 - 2.0).yzx


@dy.kernel
def mixed(a: Rows[f32], b: Grid[f32], c: Volume[f32], d: Volume[bool]) -> Volume[f32]:
    p = dy.coord()
    here = c.sample() + b.at(p.yz)
    return here + a.at(dy.element() // 3) if d.sample() else b.at(vec2(p.z, p.x)) - here


@dy.kernel
def slices(a: Volume[vec3], z: f32 = 1.0) -> Grid[vec3]:
    return a.at(vec3(dy.coord(), z))


@dy.kernel
def flat(a: Volume[i32]) -> Rows[i32]:
    p = f32(dy.element())
    return a.at(vec3(p, p - 1.0, 2.0 - p)) + a.count


@dy.kernel
def helped(a: Volume[f32]) -> Volume[f32]:
    return lifted(a, dy.coord(), 2.0) + lifted(a, vec3(0.0), 1.0)


def lifted(a: Volume[f32], p: vec3, by: f32) -> f32:
    return a.at(p + by) * a.size.z


@dy.kernel
def divided(a: Volume[i32]) -> Volume[i32]:
    return 100 // a.at(dy.coord() + vec3(1, 0, 0))


@pytest.mark.parametrize("size", SIZES)
def test_coordinates_are_x_y_z_and_elements_are_in_numpy_order(size: tuple[int, ...]) -> None:
    z, y, x = np.indices(size)
    element = np.arange(np.prod(size)).reshape(size)
    depth, height, width = size
    wanted = np.stack([x + 100 * width, y + 100 * height, z + 100 * depth], axis=-1)
    assert np.array_equal(same(place, shape=size), wanted + 10_000 * element[..., None])


def test_a_volumes_size_is_width_height_depth() -> None:
    assert same(sides, np.zeros((2, 3, 5), np.float32), shape=1).tolist() == [[5, 3, 2, 30]]


@pytest.mark.parametrize("size", SIZES)
def test_neighbours_are_clamped_on_all_six_faces(size: tuple[int, ...]) -> None:
    a = np.random.default_rng(SEED).integers(0, 1000, size).astype(np.float32)  # exact sums
    wide = np.pad(a, 1, mode="edge")
    middle = wide[1:-1, 1:-1, 1:-1]
    wanted = -6 * middle + wide[1:-1, 1:-1, :-2] + wide[1:-1, 1:-1, 2:]
    wanted += wide[1:-1, :-2, 1:-1] + wide[1:-1, 2:, 1:-1] + wide[:-2, 1:-1, 1:-1]
    wanted += wide[2:, 1:-1, 1:-1]
    assert np.array_equal(same(laplace, a), wanted)


@pytest.mark.parametrize("size", SIZES[:-1])
@pytest.mark.parametrize("radius", [0, 1, 3])
def test_offsets_of_loops_agree(size: tuple[int, ...], radius: int) -> None:
    same(box, np.random.default_rng(SEED).random((*size, 4), np.float32), radius=radius)


@pytest.mark.parametrize("size", SIZES)
def test_addresses_that_vary_along_every_axis_agree(size: tuple[int, ...]) -> None:
    rng = np.random.default_rng(SEED)
    same(turned, rng.integers(-(2**31), 2**31, (*size, 3), np.int32))


@pytest.mark.parametrize("size", SIZES)
def test_inputs_of_every_shape_and_of_other_extents_agree(size: tuple[int, ...]) -> None:
    rng = np.random.default_rng(SEED)
    a, b = rng.random(11, np.float32), rng.random((3, 4), np.float32)
    for other in (size, (2, 2, 3), (1, 9, 20)):
        c, d = rng.random(other, np.float32), rng.random(other) < 0.5
        same(mixed, a, b, c, d, shape=size)


@pytest.mark.parametrize("size", SIZES)
def test_grids_and_rows_read_volumes(size: tuple[int, ...]) -> None:
    rng = np.random.default_rng(SEED)
    pixels = rng.random((*size, 3), np.float32)
    for z in (0.0, 1.0, 9.0, -1.0):
        got = same(slices, pixels, z=z, shape=size[1:])
        assert np.array_equal(got, pixels[int(min(max(z, 0), size[0] - 1))])
    same(flat, rng.integers(0, 1000, size).astype(np.int32), shape=21)


def test_helpers_take_volumes() -> None:
    same(helped, np.random.default_rng(SEED).random((3, 4, 9), np.float32))


@pytest.mark.parametrize("zeros", [[(0, 1, 7)], [(2, 2, 30), (1, 0, 3)], [(2, 2, 1), (2, 2, 2)]])
def test_a_fault_names_the_first_element_by_its_three_coordinates(
    zeros: list[tuple[int, int, int]],
) -> None:
    a = np.ones((3, 3, 31), np.int32)
    for zero in zeros:
        a[zero] = 0
    faults = []
    for width, threads in WIDTHS_THREADS:
        for backend in ("reference", "cpu"):
            with pytest.raises(dy.KernelFault) as caught:
                divided.options(width=width)(a, threads=threads, backend=backend)
            faults.append((caught.value.fault, caught.value.coordinate, str(caught.value)))
    assert len(set(faults)) == 1
    z, y, x = min(zeros)
    assert faults[0][1] == (x - 1, y, z)
    assert f"(x {x - 1}, y {y}, z {z}): division by zero (operands 100, 0)" in faults[0][2]


@pytest.mark.parametrize("size", [(0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0)])
def test_a_volume_without_elements_gives_one(size: tuple[int, ...]) -> None:
    assert same(place, shape=size).shape == (*size, 3)
    assert same(laplace, np.zeros(size, np.float32)).shape == size


def test_any_layout_goes_in_and_out() -> None:
    a = np.random.default_rng(SEED).random((4, 6, 18), np.float32)
    want = laplace(a)
    wide = np.zeros((8, 6, 36), np.float32)
    wide[::2, :, ::2] = a
    for given in (wide[::2, :, ::2], np.asfortranarray(a), a.astype(">f4"), a[::-1][::-1]):
        assert np.array_equal(laplace(given), want)
    out = np.zeros((6, 4, 36), np.float32).transpose(1, 0, 2)[:, :, ::2]
    assert laplace(a, out=out) is out
    assert np.array_equal(out, want)
    laplace(a, out=a)  # as if every neighbour was read first
    assert np.array_equal(a, want)


def test_a_call_that_does_not_fit_is_told_the_three_axes() -> None:
    with pytest.raises(dy.ArgumentError, match=r"pass shape=\(depth, height, width\), or out="):
        place()
    with pytest.raises(dy.ArgumentError, match=r"takes an array of shape \(depth, height, width\)"):
        laplace(np.zeros((3, 4), np.float32))
    with pytest.raises(dy.ArgumentError, match=r"\(depth, height, width, 4\), not an array of sha"):
        box(np.zeros((3, 4, 5), np.float32))
    with pytest.raises(dy.ArgumentError, match=r"shape \(depth, height, width\), not \(3, 4\)"):
        laplace(np.zeros((2, 3, 4), np.float32), out=np.zeros((3, 4), np.float32))
    floats = [np.zeros(size, np.float32) for size in ((1,), (1, 1), (0, 1, 1))]
    with pytest.raises(dy.ArgumentError, match=r"'c' \(Volume\[f32\]\) has no elements"):
        mixed(*floats, np.ones((1, 1, 1), np.bool_), shape=(1, 1, 1))


def test_every_stage_of_a_volume_kernel_can_be_shown() -> None:
    for stage in ("kernel", "uop", "program", "llvm", "asm"):
        assert laplace.show(stage)
    assert "Volume<Float>" in laplace.ir


@dy.kernel
def halves(a: Volume[vec4]) -> tuple[Volume[vec2], Volume[vec3]]:
    c = a.sample() + a.at(dy.coord() + vec3(1, 0, -1))
    return c.xw * 0.5, c.zyx


@pytest.mark.parametrize("size", [(1, 1, 8), (2, 3, 17), (3, 2, 64), (2, 2, 301)])
@pytest.mark.parametrize("shift", [0, 1, 3])
def test_results_that_go_past_the_caches_are_the_same(
    size: tuple[int, ...], shift: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "streams", lambda inputs, outputs, element: True)
    rng = np.random.default_rng(SEED)
    a = rng.random((*size, 4), np.float32)
    count = int(np.prod(size))
    for width, threads in ((8, 1), (16, 3), (32, 2)):
        pairs = np.zeros((shift + count, 2), np.float32)[shift:].reshape(*size, 2)
        triples = np.zeros((shift + count, 3), np.float32)[shift:].reshape(*size, 3)
        halves.options(width=width)(a, out=(pairs, triples), threads=threads)
        want = halves(a, backend="reference")
        assert (pairs.tobytes(), triples.tobytes()) == tuple(w.tobytes() for w in want)
        out = np.zeros(shift + count, np.float32)[shift:].reshape(size)
        laplace.options(width=width)(a[..., 0], out=out, threads=threads)
        assert out.tobytes() == laplace(a[..., 0], backend="reference").tobytes()
