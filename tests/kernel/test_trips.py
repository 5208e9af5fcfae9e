"""Whiles that count are loops of known length; those that may not are left as they are."""

from __future__ import annotations

import numpy as np
import pytest

import dynamis as dy
from dynamis import Rows, f32, i32
from dynamis.kernel import op


@dy.kernel
def rising(a: Rows[f32]) -> Rows[i32]:
    n = 3
    x = a.sample()
    while n < 100:
        if x > 50.0:
            break
        x = x * 1.5
        n += 1
    return n


@dy.kernel
def falling(a: Rows[f32]) -> Rows[i32]:
    n, steps = 40, 0
    while n >= 1:
        if a.sample() > f32(n) + 30.0:
            break
        n -= 3
        steps += 1
    return n * 1000 + steps


@dy.kernel
def uneven(a: Rows[f32]) -> Rows[i32]:
    n, steps = 0, 0
    while not n > 90:
        if a.sample() > f32(n):
            n += 2
        else:
            n += 5
        steps += 1
    return n * 1000 + steps


@dy.kernel
def mirrored(a: Rows[f32]) -> Rows[i32]:
    n = 0
    while not n >= 64:
        n += 1
        if a.sample() * f32(n) > 700.0:
            break
    return n


@dy.kernel
def stuck(a: Rows[f32]) -> Rows[i32]:
    n, steps = 0, 0
    while n < 10:
        if a.sample() < 200.0:
            n += 1
        steps += 1
        if steps > 30:
            break
    return n * 100 + steps


@dy.kernel
def moving_limit(a: Rows[f32]) -> Rows[i32]:
    n, limit = 0, 20
    while n < limit:
        n += 2
        limit += 1
    return n


@dy.kernel
def outside(a: Rows[i32]) -> Rows[i32]:
    n = a.sample()
    while n < 30:
        n += 1
    return n


def loops(kernel: dy.Kernel) -> list[op.Loop]:
    return [i.op for i in kernel.module.entry.instructions() if isinstance(i.op, op.Loop)]


@pytest.mark.parametrize(
    ("kernel", "count", "tested"),
    [(rising, 97, True), (falling, 14, True), (uneven, 46, True), (mirrored, 64, True)],
)
def test_a_while_that_counts_is_one_loop_of_known_length(
    kernel: dy.Kernel, count: int, tested: bool
) -> None:
    (loop,) = loops(kernel)
    assert loop.count == count
    assert (loop.until is not None) is tested


@pytest.mark.parametrize("kernel", [moving_limit, outside, stuck])
def test_a_while_that_may_not_count_stays_two_loops(kernel: dy.Kernel) -> None:
    assert [loop.count for loop in loops(kernel)] == [65536, 65536]


def test_a_while_that_only_counts_has_no_test_left() -> None:
    @dy.kernel
    def plain(a: Rows[f32]) -> Rows[f32]:
        n, x = 0, a.sample()
        while n < 12:
            x = x * x + 0.25
            n += 1
        return x

    (loop,) = loops(plain)
    assert (loop.count, loop.until) == (12, None)


@pytest.mark.parametrize("kernel", [rising, falling, uneven, mirrored, stuck, moving_limit])
def test_counted_whiles_give_the_same_words_on_every_backend_and_width(kernel: dy.Kernel) -> None:
    a = np.array([*range(-3, 120, 2), 0.25, 1e30, np.nan, np.inf, -np.inf], np.float32)
    want = kernel(a, backend="reference")
    assert len(np.unique(want)) > (kernel is not moving_limit)
    for width in (1, 8, 32):
        assert np.array_equal(kernel.options(width=width)(a), want)


def test_what_python_would_count() -> None:
    def python(x: float) -> int:
        n = 3
        x = np.float32(x)
        while n < 100:
            if x > 50.0:
                break
            x = np.float32(x * np.float32(1.5))
            n += 1
        return n

    a = np.array([0.0, 1.0, 49.0, 51.0, 1e-10, -2.0], np.float32)
    assert rising(a).tolist() == [python(x) for x in a]


def test_a_count_past_the_budget_still_fails() -> None:
    @dy.kernel("slow@1", budget=50)
    def slow(a: Rows[f32]) -> Rows[i32]:
        n = 0
        while n < 100:
            n += 1
            if a.sample() < f32(n):
                break
        return n

    assert slow(np.array([40.0], np.float32)).tolist() == [41]
    for backend in ("cpu", "reference"):
        with pytest.raises(dy.KernelFault, match="budget"):
            slow(np.array([40.0, 70.0], np.float32), backend=backend)
