"""Index arithmetic in machine integers: the same values, no wider than needed, never wrapping."""

from __future__ import annotations

import itertools
import random

import pytest

from dynamis.dtype import bool_, int32, int64, weakint
from dynamis.uop import (
    AxisType,
    Ops,
    Uop,
    UopError,
    const_int,
    evaluate,
    find_nodes,
    index,
    load,
    range_,
    special,
    stack,
    toposort,
    variable,
)
from dynamis.uop.lower_index import index_width, lower_index_dtype
from tests.uop.graphs import leaf, memory

a, b = leaf("a", weakint, (-9, 9)), leaf("b", weakint, (0, 2**20))
big = leaf("big", weakint, (0, 2**40))


def value(u: Uop, env: dict[str, int]) -> object:
    known: dict[Uop, object] = {}
    for n in toposort(u):
        if n.op is Ops.PARAM:
            known[n] = env[n.arg.name]
        elif n.op is Ops.CONST:
            known[n] = n.arg.value
        elif n.op.is_elementwise:
            known[n] = evaluate(n.op, n.dtype, [known[s] for s in n.src], source=n.src[-1].dtype)  # type: ignore[misc,arg-type]  # values
    return known[u]


@pytest.mark.parametrize("seed", range(60))
def test_values_are_unchanged(seed: int) -> None:
    rng = random.Random(seed)
    pool = [a, b, big, const_int(3), const_int(-70_000)]
    for _ in range(12):
        p, q = rng.choice(pool), rng.choice(pool)
        made = rng.choice([
            lambda: p + q, lambda: p - q, lambda: p * 3, lambda: p // q, lambda: p % q, lambda: -p,
            lambda: p.maximum(q), lambda: (p < q).where(p, q), lambda: p >> 2, lambda: p & 255,
            lambda: p << 1, lambda: p.cast(int32).cast(weakint), lambda: p >> (b % 70),
        ])()  # fmt: skip
        if abs(made.vmin) < 2**60 and abs(made.vmax) < 2**60:
            pool.append(made)
    for u in pool[-4:]:
        low = lower_index_dtype(u)
        assert not find_nodes(lambda n: n.dtype is weakint and n.op is not Ops.STACK, low)
        for x, y, z in itertools.product((-9, -1, 0, 4), (0, 1, 69, 2**20), (0, 7, 2**40)):
            env = {"a": x, "b": y, "big": z}
            assert value(u, env) == value(low, env)


def test_widths_follow_bounds() -> None:
    assert index_width(a) is int32
    assert index_width(big) is int64
    assert lower_index_dtype(a + 1).dtype is int32
    assert lower_index_dtype(a + big).dtype is int64
    assert lower_index_dtype(big // 2**30).dtype is int64
    assert lower_index_dtype(a < big).src[0].dtype is int64
    assert lower_index_dtype(a < b).dtype is bool_
    edge = leaf("edge", weakint, (0, 2**31 - 1))
    assert lower_index_dtype(edge).dtype is int32
    assert lower_index_dtype(edge + 1).dtype is int64
    with pytest.raises(UopError, match="no machine integer"):
        lower_index_dtype(big * big)
    with pytest.raises(UopError, match="shift"):
        lower_index_dtype(const_int(1) << leaf("s", weakint, (-1, 3)))


def test_loops_indices_and_variables() -> None:
    n = variable(name="n", min_val=1, max_val=100)
    r = range_(size=n * 2, axis=0, kind=AxisType.LOOP)
    s = special(name="gidx0", size=n)
    u = lower_index_dtype(load(src=index(ptr=memory(), idxs=[r * 4 + s])))
    assert not find_nodes(lambda v: v.dtype is weakint, u)
    assert {v.dtype for v in find_nodes(lambda v: v.op in (Ops.RANGE, Ops.SPECIAL), u)} == {int32}
    lanes = lower_index_dtype(stack([a, big]))
    assert [v.dtype for v in lanes.src] == [int64, int64]
    already = leaf("k", int32) + 1
    assert lower_index_dtype(already) is already
