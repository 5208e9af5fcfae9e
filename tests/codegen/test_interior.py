"""Interior splitting changes no word: offsets of every kind, domains of every size."""

from __future__ import annotations

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, Rows, f32, i32, vec2, vec4
from dynamis.codegen.interior import clamped_reads
from dynamis.codegen.split import domain_ranges
from dynamis.kernel import account
from dynamis.lower import CallClass, lower
from dynamis.uop import Ops, toposort

SIZES = [(1, 8), (2, 9), (3, 15), (1, 16), (2, 31), (1, 40), (5, 100), (1, 257)]


@dy.kernel
def literal(a: Grid[f32]) -> Grid[f32]:
    p = dy.coord()
    return a.at(p + vec2(-3, 1)) * 0.5 + a.at(vec2(p.x + 2.0, p.y)) - a.at(p + vec2(1, -1))


@dy.kernel
def looped(a: Grid[vec4], radius: i32 = 2) -> Grid[vec4]:
    total = vec4(0.0)
    for v in range(-1, 2):
        for u in range(-radius, radius + 1, 2):
            total = total * 0.75 + a.at(dy.coord() + vec2(u, v))
    return total


@dy.kernel
def parameter(a: Rows[i32], k: i32 = 0) -> Rows[i32]:
    return a.at(dy.add_wrap(dy.element(), k)) + a.at(dy.element() - 1)


@dy.kernel
def conditional(a: Rows[f32], k: i32 = 3) -> Rows[f32]:
    x = a.at(dy.element() - 2)
    if x > 0.5:
        for j in range(k):
            x = x * 0.5 + a.at(dy.element() + j - 1)
    return x


@dy.kernel
def other_extent(a: Grid[f32], b: Grid[f32]) -> Grid[f32]:
    return a.sample() + b.at(dy.coord() + vec2(4, 0))


@dy.kernel
def from_data(a: Rows[i32]) -> Rows[i32]:
    return a.at(dy.element() + a.sample())


def reads(kernel: dy.Kernel) -> int:
    """How many reads of a kernel have an interior."""
    module = account(kernel.module)
    root = lower(module, CallClass((True,) * len(module.manifest.inputs))).root
    column = domain_ranges(root)[-1]
    (closing,) = [u for u in toposort(root) if u.op is Ops.END and u.src[-1] is column]
    return len(clamped_reads(closing.src[0], column))


def same(kernel: dy.Kernel, *inputs: np.ndarray, **params: object) -> None:
    want = kernel(*inputs, backend="reference", **params)
    for width in (2, 8, 16):
        got = kernel.options(width=width)(*inputs, threads=2, **params)
        assert got.tobytes() == want.tobytes(), (width, params)


@pytest.mark.parametrize(
    ("kernel", "count"),
    [
        (literal, 3),
        (looped, 1),
        (parameter, 2),
        (conditional, 2),
        (other_extent, 1),
        (from_data, 0),
    ],
    ids=lambda k: getattr(k, "__name__", k),
)
def test_reads_at_offsets_that_the_column_does_not_change_have_an_interior(
    kernel: dy.Kernel, count: int
) -> None:
    assert reads(kernel) == count


@pytest.mark.parametrize("size", SIZES)
def test_literal_offsets(size: tuple[int, int]) -> None:
    same(literal, np.random.default_rng(1).random(size, np.float32))


@pytest.mark.parametrize("size", SIZES[:-2])
def test_looped_offsets_up_to_past_the_width(size: tuple[int, int]) -> None:
    image = np.random.default_rng(2).random((*size, 4), np.float32)
    for radius in (0, 1, 2, 7, 9, 40):
        same(looped, image, radius=radius)


@pytest.mark.parametrize("n", [8, 9, 17, 40, 300])
def test_offsets_from_parameters_at_every_extreme(n: int) -> None:
    data = np.arange(n, dtype=np.int32)
    extremes = (0, 1, -1, 5, -7, n, -n, 2**20, -(2**20), 2**20 + 1, 2**24, 2**31 - 1, -(2**31))
    for k in extremes:
        same(parameter, data, k=k)


@pytest.mark.parametrize("n", [8, 31, 100])
def test_offsets_under_conditions_that_differ_from_lane_to_lane(n: int) -> None:
    data = np.random.default_rng(3).random(n, np.float32)
    for k in (0, 1, 3, 12, n + 5):
        same(conditional, data, k=k)


def test_the_clamp_is_the_inputs_own() -> None:
    rng = np.random.default_rng(4)
    for width in (1, 3, 20, 50, 90):
        same(other_extent, rng.random((3, 40), np.float32), rng.random((2, width), np.float32))


def test_addresses_from_data_are_gathered() -> None:
    rng = np.random.default_rng(5)
    same(from_data, rng.integers(-50, 50, 100).astype(np.int32))


def test_faults_of_the_interior_and_the_border_are_found_in_order() -> None:
    @dy.kernel
    def quotient(a: Rows[i32]) -> Rows[i32]:
        return 100 // a.at(dy.element() + 1)

    for zeros in ([5], [99], [50, 7], [98, 97, 96], [1]):
        data = np.ones(100, np.int32)
        data[zeros] = 0
        faults = []
        for backend in ("reference", "cpu"):
            with pytest.raises(dy.KernelFault) as caught:
                quotient(data, backend=backend)
            faults.append(caught.value.fault)
        assert faults[0] == faults[1]
