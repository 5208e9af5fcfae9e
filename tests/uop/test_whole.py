"""Integers through float coordinates: what folds, what must not, and that the words agree."""

from __future__ import annotations

import itertools

import pytest

from dynamis.dtype import Val, bool_, float16, float32, float64, int8, int32, int64, weakint
from dynamis.uop import Ops, Uop, find_nodes, replace, simplify
from tests.uop.graphs import leaf, same, value_of

i, j = leaf("i", int32, (-9, 9)), leaf("j", int32, (0, 4))
b = leaf("b", bool_)


def trunc(x: Uop) -> Uop:
    return replace(x, op=Ops.TRUNC, src=[x], arg=None)


def floor(x: Uop) -> Uop:
    t = trunc(x)
    return (x < t).where(t - 1.0, t)


def f(u: Uop, dtype: Val = float32) -> Uop:
    return u.cast(dtype)


def floats(u: Uop) -> list[Uop]:
    return find_nodes(lambda n: n.dtype.is_float, u)


FOLDED = [
    (floor(f(i) + 1.0).cast(int32), i + 1),
    (floor(f(i)).cast(int32), i),
    ((f(i) - 2.0).cast(int64), i.cast(int64) - 2),
    ((f(i) * 3.0 + f(j)).cast(int32), i * 3 + j),
    ((-f(i)).cast(int32), -i),
    ((f(i) + 1.0).maximum(0.0).cast(int32), (i + 1).maximum(0)),
    (floor(f(i) + 0.5).cast(int32), i),
    (floor(f(i) - 0.25).cast(int32), i - 1),
    (b.where(f(i), f(j) + 3.0).cast(int32), b.where(i, j + 3)),
    ((f(i) + f(j)).cast(weakint), i.cast(weakint) + j.cast(weakint)),
    (trunc(f(i) + 7.0), f(i) + 7.0),
    ((f(i, float64) * 1000.0).cast(int64), i.cast(int64) * 1000),
    ((f(i, float16) + 100.0).cast(int8), (i + 100).cast(int8)),
    ((f(b) + 1.0).cast(int32), b.cast(int32) + 1),
]


@pytest.mark.parametrize(("before", "after"), FOLDED, ids=[str(k) for k in range(len(FOLDED))])
def test_coordinates_come_back_exact(before: Uop, after: Uop) -> None:
    made = simplify(before)
    assert made is simplify(after)
    if not before.dtype.is_float:
        assert not floats(made)
    for x, y, z in itertools.product(range(-9, 10), range(5), (False, True)):
        assert same(value_of(before, {i: x, j: y, b: z}), value_of(made, {i: x, j: y, b: z}))


def test_the_limit_of_the_format_is_kept_to_the_unit() -> None:
    edge = leaf("edge", int32, (0, 2**24 - 1))
    assert not floats(simplify((f(edge) + 1.0).cast(int32)))
    over = leaf("over", int32, (0, 2**24))
    assert floats(simplify((f(over) + 1.0).cast(int32)))
    half = leaf("half", int32, (0, 2**23))
    assert floats(simplify(floor(f(half) + 0.5).cast(int32)))
    less = leaf("less", int32, (0, 2**23 - 1))
    assert not floats(simplify(floor(f(less) + 0.5).cast(int32)))
    assert floats(simplify((f(leaf("free")) + 1.0).cast(int32)))


def test_what_is_not_whole_stays() -> None:
    x = leaf("x", float32)
    for u in (
        (x + 1.0).cast(int32), (f(i) / 2.0).cast(int32), (f(i) * 0.5).cast(int32),
        trunc(f(i) + 0.5), (f(i) + 250.0).cast(int8),
    ):  # fmt: skip
        assert floats(simplify(u))
        for k in range(-9, 10):
            assert same(value_of(u, {i: k, x: 0.75}), value_of(simplify(u), {i: k, x: 0.75}))
