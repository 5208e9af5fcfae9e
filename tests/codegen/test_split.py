"""Cutting a domain into blocks, steps and lanes: every element is computed, once or more."""

from __future__ import annotations

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, Rows, i32
from dynamis.codegen import OptionError, Options
from dynamis.codegen.split import domain_ranges, split_domain
from dynamis.dtype import int32
from dynamis.kernel import validate
from dynamis.runtime.native import NativeKernel
from dynamis.uop import Ops, UopError, sink, toposort
from tests.programs import map_ast


@dy.kernel
def rows() -> Rows[i32]:
    return dy.element()


@dy.kernel
def grid() -> Grid[i32]:
    p = dy.coord()
    return dy.element() * 1000 + i32(p.y) * 31 + i32(p.x)


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_every_row_element_is_written(width: int, threads: int) -> None:
    native = NativeKernel(validate(rows.module), Options(width=width))
    for n in (1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 1000, 100_003):
        out = np.full(n, -1, np.int32)
        assert native.run([], [], [out], (n,), threads) is None
        assert np.array_equal(out, np.arange(n))


@pytest.mark.parametrize("width", [1, 4, 8])
@pytest.mark.parametrize("threads", [1, 3])
def test_every_grid_element_is_written(width: int, threads: int) -> None:
    native = NativeKernel(validate(grid.module), Options(width=width))
    for h, w in [(1, 1), (1, 9), (9, 1), (3, 7), (5, 8), (2, 31), (31, 17), (3, 5000), (700, 9)]:
        out = np.full((h, w), -1, np.int32)
        assert native.run([], [], [out], (h, w), threads) is None
        y, x = np.mgrid[:h, :w]
        assert np.array_equal(out, (y * w + x) * 1000 + y * 31 + x)


def test_a_wide_vector_gets_a_lane_range_and_one_lane_none() -> None:
    root = map_ast(lambda a: a + 1, [int32], int32)
    _, lane = split_domain(root, 8)
    assert lane is not None
    assert lane.src[0].arg.value == 8
    split, none = split_domain(root, 1)
    assert none is None
    assert domain_ranges(split) == []


def test_an_ast_without_domain_ranges_is_refused() -> None:
    with pytest.raises(UopError, match="one to three domain ranges, not 0"):
        split_domain(sink([]), 8)


def test_the_block_number_is_the_thread_axis() -> None:
    split, _ = split_domain(map_ast(lambda a: a, [int32], int32), 4)
    kinds = [u.arg.kind.name for u in toposort(split) if u.op is Ops.RANGE]
    assert sorted(kinds) == ["LOOP", "LOOP", "THREAD", "UPCAST"]


@pytest.mark.parametrize("width", [0, 3, 48, 128, -8])
def test_a_width_that_does_not_exist_is_refused(width: int) -> None:
    with pytest.raises(OptionError, match="one of 1, 2, 4, 8, 16, 32, 64"):
        Options(width=width)
