"""Sums: one form whatever the order of building, kept under wrap-around, linear in the nodes."""

from __future__ import annotations

import itertools
import random

import pytest

from dynamis.dtype import Val, int8, int32, uint8, weakint
from dynamis.uop import AxisType, Ops, Uop, const_of_dtype, range_, simplify, stack, toposort
from dynamis.uop.sums import LONG, is_sum
from tests.uop.graphs import leaf, same, value_of


def random_sum(rng: random.Random, leaves: list[Uop], dtype: Val, depth: int) -> Uop:
    if depth == 0:
        pick = rng.choice([*leaves, None])
        return const_of_dtype(dtype, rng.randint(-5, 5)) if pick is None else pick
    a = random_sum(rng, leaves, dtype, depth - 1)
    kind = rng.randrange(6)
    if kind == 0:
        return -a
    if kind == 1:
        return a * const_of_dtype(dtype, rng.choice([-3, -1, 0, 1, 2, 3]))
    b = random_sum(rng, leaves, dtype, depth - 1)
    return a + b if kind < 4 else a - b


@pytest.mark.parametrize("dtype", [int8, uint8, weakint])
@pytest.mark.parametrize("seed", range(40))
def test_sums_keep_every_value_and_settle(dtype: Val, seed: int) -> None:
    rng = random.Random(seed)
    full = dtype is not weakint and seed % 2 == 0
    leaves = [leaf(n, dtype, None if full else (0, 3)) for n in "xyz"]
    u = random_sum(rng, leaves[: 1 if full else 3], dtype, 5)
    once = simplify(u)
    assert simplify(once) is once
    values = range(int(dtype.min), int(dtype.max) + 1) if full else range(4)
    for row in itertools.product(values, repeat=1 if full else 3):
        env = dict(zip(leaves, row, strict=False))
        assert same(value_of(u, env), value_of(once, env))


@pytest.mark.parametrize("dtype", [int8, weakint])
def test_the_order_of_building_does_not_show(dtype: Val) -> None:
    rng = random.Random(5)
    leaves = [leaf(f"s{k}", dtype, (0, 3)) for k in range(8)]
    parts = [u * const_of_dtype(dtype, c) for u in leaves for c in (1, -2, 3, -1)]
    parts += [const_of_dtype(dtype, 5), leaves[0] // 3, leaves[1] % 2]
    made = set()
    for _ in range(20):
        rng.shuffle(parts)
        pool = list(parts)
        while len(pool) > 1:
            a, b = pool.pop(rng.randrange(len(pool))), pool.pop(rng.randrange(len(pool)))
            pool.append(a + b if rng.random() < 0.7 else a - (-b))
        made.add(simplify(pool[0]))
    assert len(made) == 1


def test_rests_and_quotients_meet_whatever_stands_between() -> None:
    x, y = leaf("x", int32), leaf("y", int32)
    d = leaf("d", int32)
    assert simplify(x % 7 + y + x // 7 * 7) is simplify(x + y)
    assert simplify((x % 7) * 3 - y + x // 7 * 21) is simplify(x * 3 - y)
    assert simplify(x % d + y + x // d * d) is simplify(x + y)
    assert simplify(x % 4 + y + (x // 4 % 8) * 4) is simplify(x % 32 + y)


def test_subtraction_stays_one_instruction() -> None:
    x, y = leaf("x", int32), leaf("y", int32)
    assert simplify(y - x).op is Ops.SUB
    assert simplify(-x + y) is y - x
    assert simplify(-x - y) is -x - y
    assert simplify(5 - x) is 5 - x
    assert simplify(-(x * 3)) is x * -3


def test_what_a_loop_does_not_change_stands_first() -> None:
    outer = range_(size=9, axis=0, kind=AxisType.LOOP, dtype=int32)
    inner = range_(size=9, axis=1, kind=AxisType.LOOP, dtype=int32)
    a = leaf("a", int32)
    lanes = stack([const_of_dtype(int32, k) for k in range(4)])
    made = simplify(lanes + (inner + 1) + (outer + a))
    assert made is ((a + outer) + inner + 1) + lanes


def test_constants_for_each_lane_are_added_lane_by_lane() -> None:
    x = leaf("x", int32)
    lanes = stack([const_of_dtype(int32, k) for k in (1, 2, 4)])
    more = stack([const_of_dtype(int32, k) for k in (5, 5, 4)])
    want = (x + 6) + stack([const_of_dtype(int32, k) for k in (0, 1, 2)])
    assert simplify(lanes + x + more) is want
    assert simplify(x + lanes - lanes) is x


def test_shared_sums_are_collected_in_linear_time() -> None:
    u = leaf("x", int32)
    for _ in range(5000):
        u = u + u
    assert simplify(u) is const_of_dtype(int32, 0)
    w = leaf("w", weakint, (0, 1))
    for _ in range(300):
        w = w + w
    assert simplify(w).src[1].arg.value == 2**300


def test_long_sums_are_put_in_order_once() -> None:
    leaves = [leaf(f"n{k}", int32) for k in range(3000)]
    u = leaves[0]
    for v in reversed(leaves[1:]):
        u = v - u if v.arg.name.endswith("7") else v + u
    once = simplify(u)
    assert sum(is_sum(n) for n in toposort(once)) == 2999
    assert simplify(once) is once


def test_running_totals_that_are_all_used_stay_linear() -> None:
    leaves = [leaf(f"r{k}", int32) for k in range(2000)]
    random.Random(1).shuffle(leaves)
    u, totals = leaves[0], []
    for v in leaves[1:]:
        u = u + v
        totals.append(u)
    once = simplify(stack(totals))
    assert len(toposort(once)) < 2000 * LONG / 2
    assert simplify(once) is once
    env = {v: 7 * k for k, v in enumerate(leaves)}
    assert value_of(once, env) == value_of(stack(totals), env)
