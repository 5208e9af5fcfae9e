"""Loops of modules whose work is counted: a run finds too much work where the reference does."""

from __future__ import annotations

import numpy as np
import pytest

import dynamis as dy
from dynamis import Rows, f32, i32
from dynamis.kernel import account, optimize
from dynamis.lower import CallClass, lower
from dynamis.uop import AxisType, Ops, toposort

BUDGET = 300


@dy.kernel(budget=BUDGET)
def summed(a: Rows[i32], n: i32 = 3) -> Rows[i32]:
    """A counted loop, a written one and one that ends at each element's time."""
    total = 0
    for k in range(n):
        total += k & 3
    for v in range(3):
        for u in range(5):
            total += v * u
    left = a.sample()
    while left > 0:
        left -= 1
        total += 1
    return total


@dy.kernel(budget=BUDGET)
def nested(a: Rows[i32], n: i32 = 3, m: i32 = 2) -> Rows[i32]:
    """Counted loops in one another, in arms and beside each other."""
    total = a.sample()
    for k in range(m):
        for j in range(n):
            total += (k ^ j) & 1
        if total > 4:
            for j in range(n):
                total -= j & 1
    return total


@dy.kernel(budget=2**30)
def huge(a: Rows[i32], n: i32 = 3, m: i32 = 0) -> Rows[i32]:
    total = a.sample()
    for k in range(m):
        for j in range(n):
            total ^= j
        for j in range(n):
            total ^= j + k
        for j in range(n):
            total ^= j & k
    return total


def outcome(kernel: dy.Kernel, data: np.ndarray, **kwargs: object) -> object:
    try:
        return kernel(data, **kwargs).tobytes()
    except dy.KernelFault as fault:
        return str(fault)


@pytest.mark.parametrize("width", [1, 8])
@pytest.mark.parametrize("n", [0, 1, 100, BUDGET - 23, BUDGET - 19, BUDGET - 18, BUDGET - 17, 400])
def test_work_is_past_its_budget_where_the_reference_says(n: int, width: int) -> None:
    data = np.arange(-3, 20, dtype=np.int32) // 4
    want = outcome(summed, data, n=n, backend="reference")
    assert outcome(summed.options(width=width), data, n=n) == want
    assert isinstance(want, str) == (n > BUDGET - 18 - 4)  # 18 written, 4 of the last element


@pytest.mark.parametrize("width", [1, 8])
@pytest.mark.parametrize("m", [0, 1, 2, 3, 7])
def test_nested_loops_that_count_agree(m: int, width: int) -> None:
    data = np.arange(-9, 14, dtype=np.int32)
    failed = 0
    for n in (0, 3, 40, 42, 43, 49, 50, 98, 99, 100, 148, 149, 297, 298, 299, 300, 2**31 - 1):
        want = outcome(nested, data, n=n, m=m, backend="reference")
        assert outcome(nested.options(width=width), data, n=n, m=m) == want, n
        failed += isinstance(want, str)
    assert (failed > 0) == (m > 0)


def test_too_much_work_for_every_element_is_found_without_doing_it() -> None:
    data = np.zeros(70, np.int32)
    kernel = huge.options(width=8)
    assert outcome(kernel, data, n=2**31 - 1, m=0) == data.tobytes()
    assert outcome(kernel, data, n=5, m=2) == outcome(huge, data, n=5, m=2, backend="reference")


def ranges(kernel: dy.Kernel) -> list[int]:
    """The sizes of the loops that a run of a kernel has, None for those known later."""
    root = lower(account(optimize(kernel.module)), CallClass((True,))).root
    loops = [u for u in toposort(root) if u.op is Ops.RANGE and u.arg.kind is AxisType.LOOP]
    return [int(u.src[0].arg.value) if u.src[0].op is Ops.CONST else None for u in loops]


def test_small_written_loops_are_written_out_and_counted_ones_have_no_break() -> None:
    assert ranges(summed).count(3) == ranges(summed).count(5) == 0
    root = lower(account(optimize(nested.module)), CallClass((True,))).root
    assert ranges(nested) == [None, None, None]
    left = [u for u in toposort(root) if u.op is Ops.BREAK]
    assert len(left) == 1  # the outer loop, for what the inner ones spend


@dy.kernel
def beside(a: Rows[f32], n: i32 = 5) -> Rows[f32]:
    x = a.sample()
    while x < 100.0:
        x = x * 1.5 + 1.0
    for k in range(n):
        x = x * 0.5 + f32(k)
    return x


def test_a_counted_loop_behind_a_divergent_one_is_uniform() -> None:
    loops = [line for line in beside.explain().splitlines() if "for k" in line]
    assert loops and all("uniform" in line for line in loops)
    data = np.random.default_rng(2).random(77, np.float32) * 90
    want = beside(data, backend="reference")
    assert beside(data).tobytes() == want.tobytes()


def one_after_the_other(a: Rows[f32]) -> Rows[f32]:
    """A loop that never runs, but is counted, before loops in loops."""
    y, n = a.sample(), 0
    for _ in range(dy.clamp(n, 0, 10)):
        if y > 3.0:
            break
        y += 1.0
    for _ in range(3):
        y = y * y - 3.0
        for _ in range(2):
            y = dy.sin(y)
            if y > 9.0:
                break
        for _ in range(2):
            y += 0.5
    return y


@pytest.mark.parametrize("budget", range(1, 18))
def test_the_loop_that_spends_the_budget_is_the_reference_s(budget: int) -> None:
    kernel, data = dy.kernel(budget=budget)(one_after_the_other), np.ones(5, np.float32)
    want = outcome(kernel, data, backend="reference")
    assert outcome(kernel, data) == want
    assert isinstance(want, str) == (budget < 15)
