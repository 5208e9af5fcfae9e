"""Vectorising: what stays uniform, what gets lanes, which loops diverge."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, Rows, f32, f64, i32
from dynamis.codegen import Options, compile_ast
from dynamis.codegen.split import bind_threads, split_domain
from dynamis.codegen.vectorize import Variance, vectorize
from dynamis.kernel import account
from dynamis.lower import CallClass, lower
from dynamis.runtime import compiler
from dynamis.uop import Ops, Uop, simplify, toposort
from dynamis.uop.storage import is_register, storage_of


def vector_form(kernel: dy.Kernel, width: int = 8) -> Uop:
    module = account(kernel.module)
    root = lower(module, CallClass((True,) * len(module.manifest.inputs))).root
    split, lane = split_domain(simplify(root), width)
    assert lane is not None
    return simplify(vectorize(bind_threads(split), lane))


def nodes(root: Uop, op: object) -> list[Uop]:
    return [u for u in toposort(root) if u.op is op]


@dy.kernel
def by_row() -> Grid[f32]:
    return dy.sqrt(dy.coord().y)


@dy.kernel
def by_column() -> Grid[f32]:
    return dy.sqrt(dy.coord().x)


@dy.kernel
def uniform_loop(a: Rows[f32], n: i32 = 4) -> Rows[f32]:
    total = 0.0
    for k in range(n):
        total += a.at(dy.element() + k)
    return total


@dy.kernel
def divergent_loop(a: Rows[f32]) -> Rows[i32]:
    x = a.sample()
    n = 0
    for _ in range(100):
        if x > 50.0:
            break
        x = x + x
        n += 1
    return n


def test_a_value_of_the_row_stays_uniform() -> None:
    (root,) = nodes(vector_form(by_row), Ops.SQRT)
    assert root.max_shape == ()


def test_a_value_of_the_column_gets_lanes() -> None:
    (root,) = nodes(vector_form(by_column), Ops.SQRT)
    assert root.max_shape == (8,)


def test_a_loop_of_uniform_length_keeps_no_mask() -> None:
    root = vector_form(uniform_loop)
    assert all(b.src[0].max_shape == () for b in nodes(root, Ops.BREAK))
    wide = [u for u in nodes(root, Ops.BUFFER) if u.dtype.base.is_bool and u.dtype.size == 8]
    assert len(wide) == 1  # the fault flag of the address, which varies; no live mask


def test_a_loop_that_ends_lane_by_lane_is_left_when_every_lane_is_done() -> None:
    root = vector_form(divergent_loop)
    (leave,) = nodes(root, Ops.BREAK)
    assert leave.src[0].max_shape == (8,)


@dy.kernel
def left_midway(a: Rows[f32]) -> Rows[i32]:
    x = a.sample()
    n = 0
    for _ in range(100):
        y = x * x
        if y > 50.0:
            break
        x = y - x
        n += 1
    return n


def test_the_mask_of_a_loop_is_kept_where_an_iteration_says_that_it_was_the_last() -> None:
    root = vector_form(left_midway)
    (leave,) = nodes(root, Ops.BREAK)
    loop = leave.src[1]
    (kept,) = [
        u
        for u in nodes(root, Ops.STORE)
        if loop in u.ranges and is_register(storage_of(u.src[0])) and u.src[1].dtype.is_bool
    ]
    (mask,) = [u for u in nodes(root, Ops.LOAD) if loop in u.ranges and u.dtype.is_bool]
    assert mask in leave.src[0].src
    assert storage_of(kept.src[0]) is storage_of(mask)
    assert mask in kept.src[1].src


@dy.kernel
def read_after(a: Rows[f32]) -> Rows[i32]:
    x = a.sample()
    stopped = False
    n = 0
    while not stopped and n < 50:
        stopped = x > 50.0
        x = x + x
        n += 1
    return n if stopped else -n


@dy.kernel
def within(a: Rows[f32]) -> Rows[i32]:
    x = a.sample()
    n = 0
    for i in range(9):
        for k in range(20):
            x = x * 1.25
            if x > 7.0 * f32(k):
                break
            n += i
        if x > 60.0:
            break
        n += 1
    return n


@dy.kernel
def counted(a: Rows[f32]) -> tuple[Rows[i32], Rows[i32], Rows[i32]]:
    """Counts by 1, by something else, and where something else holds too."""
    x = a.sample()
    n, thirds, odd = 0, 0, 0
    for k in range(60):
        x = x * 1.125
        if x > 100.0:
            break
        n += 1
        thirds += 3
        if x > f32(k):
            odd += 1
    return n, thirds, odd


@dy.kernel
def counted_of_doubles(a: Rows[f64]) -> Rows[i32]:
    x = a.sample()
    n = 0
    for _ in range(60):
        x = x * 1.125
        if x > 100.0:
            break
        if f32(x) > 3.0:
            n += 1
    return n


LOOPS = (divergent_loop, left_midway, read_after, within, counted, counted_of_doubles)


@pytest.mark.parametrize("narrow", [False, True], ids=["this machine", "no mask registers"])
@pytest.mark.parametrize("kernel", LOOPS, ids=lambda k: k.__name__)
def test_loops_that_end_lane_by_lane_give_the_words_of_one_lane(
    kernel: dy.Kernel, narrow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if narrow:
        real = compiler.host()
        machine = replace(real, mask_registers=False, vector_bytes=min(real.vector_bytes, 32))
        monkeypatch.setattr(compiler, "host", lambda: machine)
    kernel = dy.kernel(kernel.__wrapped__)
    a = np.random.default_rng(11).uniform(-1, 60, 333)
    a = a if kernel.__name__ == "counted_of_doubles" else a.astype(np.float32)
    a[::50] = np.nan
    a[7] = np.inf
    want = np.asarray(kernel(a, backend="reference"))
    for width in (1, 8, 16, 64):
        got = np.asarray(kernel.options(width=width)(a))
        assert got.tobytes() == want.tobytes(), width


def test_only_what_is_read_after_a_divergent_loop_is_frozen() -> None:
    root = vector_form(divergent_loop)
    gated = [u.src[0].dtype for u in nodes(root, Ops.STORE) if len(u.src) == 3]
    names = sorted(str(d) for d in gated)
    assert "f32" not in names  # x runs on in finished lanes
    assert "i32" in names  # n is read after the loop


def test_variance_finds_the_divergent_loop() -> None:
    module = account(divergent_loop.module)
    root = lower(module, CallClass((True,))).root
    split, lane = split_domain(root, 4)
    assert lane is not None
    found = Variance(toposort(split), lane)
    assert len(found.divergent) == 1


def test_one_lane_needs_no_masks() -> None:
    module = account(divergent_loop.module)
    program = compile_ast(lower(module, CallClass((True,))).root, Options(width=1))
    assert all(u.src[0].max_shape == () for u in program.src if u.op is Ops.BREAK)
    assert not [u for u in program.src if u.op is Ops.STACK and u.src]
