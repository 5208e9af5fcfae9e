"""Indices under the conditions that guard them: equal wherever the condition holds."""

from __future__ import annotations

import itertools
import random

import pytest

from dynamis.dtype import bool_, float32, int32, weakint
from dynamis.uop import (
    AxisType,
    Ops,
    Uop,
    const_bool,
    const_of_dtype,
    graph_rewrite,
    index,
    load,
    range_,
    simplify,
)
from dynamis.uop.symbolic_invalid import gated
from dynamis.uop.valid import (
    conjunction,
    conjuncts,
    move_where_on_load,
    parse_valid,
    pm_drop_and_clauses,
    pm_move_where_on_load,
    pm_simplify_valid,
    simplify_valid,
    uop_given_valid,
)
from tests.uop.graphs import leaf, memory, value_of

i, j, k = (leaf(n, weakint, (0, 7)) for n in "ijk")
flag = leaf("flag", bool_)
r, s = (range_(size=8, axis=a, kind=AxisType.LOOP) for a in (0, 1))
zero = const_of_dtype(float32, 0.0)


def test_clauses() -> None:
    a, b = i < 3, flag
    assert conjuncts((a & b) & a) == [a, b]
    assert conjunction([a, b]) is a & b
    assert conjunction([]) is const_bool(True)


def test_parse_valid() -> None:
    assert parse_valid(i < 5) == (i, True, 4)
    assert parse_valid((i < 5).logical_not()) == (i, False, 5)
    assert parse_valid(i > 5) == (i, False, 6)
    assert parse_valid((i > 5).logical_not()) == (i, True, 5)
    assert parse_valid(i < j) == (i, True, 6)
    assert parse_valid((i < j).logical_not()) == (i, False, 0)
    assert parse_valid(flag) is None
    assert parse_valid(leaf("x", float32) < 1.0) is None


def test_bounds_of_the_condition_reach_the_index() -> None:
    assert uop_given_valid(i < 4, i // 4) is const_of_dtype(weakint, 0)
    assert uop_given_valid(i < 4, i % 4) is i
    assert uop_given_valid(i > 3, i % 4) is simplify(i - 4)
    assert uop_given_valid((i < 3) & (i > 1), i * 5) is const_of_dtype(weakint, 10)
    assert uop_given_valid(i + j < 4, (i + j) // 4 + k) is k
    assert uop_given_valid((i < 2) & (j < 2), (i * 2 + j) // 4) is const_of_dtype(weakint, 0)
    assert uop_given_valid(flag, i // 4) is simplify(i // 4)


def random_index(rng: random.Random) -> Uop:
    u = rng.choice([i, j, k])
    for _ in range(rng.randint(1, 4)):
        c = rng.choice([1, 2, 3, 4, 5])
        u = rng.choice([u + rng.choice([i, j, k]) * c, u // c, u % (c + 1), u - c])
    return u


def random_clause(rng: random.Random) -> Uop:
    x = rng.choice([i, j, i + j, i * 2 + k, j + k])
    c = rng.randint(0, 12)
    return rng.choice([x < c, x > c, (x < c).logical_not(), (x > c).logical_not(), flag, i < j])


@pytest.mark.parametrize("seed", range(120))
def test_the_index_is_equal_where_the_condition_holds(seed: int) -> None:
    rng = random.Random(seed)
    valid, u = (
        conjunction([random_clause(rng) for _ in range(rng.randint(1, 3))]),
        random_index(rng),
    )
    made, shorter = uop_given_valid(valid, u), simplify_valid(valid)
    for x, y, z in itertools.product(range(8), repeat=3):
        for f in (False, True):
            env = {i: x, j: y, k: z, flag: f}
            holds = value_of(valid, env)
            if holds:
                assert value_of(made, env) == value_of(u, env)
            if shorter is not None:
                assert value_of(shorter, env) == holds


def test_a_positive_simplex_is_looked_at_term_by_term() -> None:
    u = (i + j + 7) // 8 * 0 + (i + j < 1).where(k, k + 1)
    made = uop_given_valid((i + j < 1).logical_not(), u)
    assert made is simplify(k + 1)
    assert uop_given_valid(i + j > 0, i + k, try_simplex=False) is i + k


def test_implied_clauses_go() -> None:
    made = simplify_valid((i < 3) & (i < 5))
    assert made is (i < 3)
    assert simplify_valid((i < 3) & (j < 5)) is None
    assert simplify_valid((i < 3) & (load(src=index(ptr=memory(), idxs=[i])) < 1.0)) is None


def test_rules_on_gates() -> None:
    u = gated(i < 4, i // 4 * 8 + j)
    assert graph_rewrite(pm_simplify_valid, u) is gated(i < 4, j)
    assert graph_rewrite(pm_simplify_valid, (i < 3) & (i < 5)) is (i < 3)
    two = gated((r < 3) & (s < 2), r * 2)
    assert pm_drop_and_clauses(two) is gated(r < 3, r * 2)
    assert pm_drop_and_clauses(gated(r < 3, r * 2)) is None


def test_conditions_move_into_the_index_of_a_load() -> None:
    place = index(ptr=memory(), idxs=[r * 4])
    inner = index(ptr=memory(), idxs=[gated(r < 3, r * 4)])
    assert pm_move_where_on_load((r < 3).where(load(src=place), zero)) is load(src=inner)
    assert move_where_on_load(r < 3, inner) == (None, inner)
    both = ((r < 3) & (s < 2)).where(load(src=place), zero)
    assert pm_move_where_on_load(both) is (s < 2).where(load(src=inner), zero)
    assert pm_move_where_on_load((s < 2).where(load(src=place), zero)) is None
    minus = const_of_dtype(float32, -0.0)
    assert pm_move_where_on_load((r < 3).where(load(src=place), minus)) is None
    reads = load(src=index(ptr=memory(1, int32), idxs=[r])) < 1
    assert pm_move_where_on_load(reads.where(load(src=place), zero)) is None
    assert inner.op is Ops.INDEX
