"""Random graphs of every op at every kind of integer: equal in value, in normal form at once.

The normal form must not lean on marks: with all marks of a result wiped, simplifying it again
still changes nothing.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from dynamis.dtype import Val, bool_, float32, int8, int16, int32, uint8, weakint
from dynamis.uop import Ops, Uop, const_of_dtype, full_simplify, replace, simplify, toposort
from tests.uop.graphs import Value, leaf, same, value_of

DTYPES = (int8, uint8, weakint, int32, int16)


def random_graph(rng: random.Random, dtype: Val, leaves: list[Uop]) -> Uop:
    top = 256 if dtype is uint8 else 10**9
    consts = [const_of_dtype(dtype, n % top) for n in (0, 1, 2, 3, 4, 8, -1, -2, 7, 16)]
    pool = [*leaves, *consts]
    for _ in range(rng.randint(5, 30)):
        ints = [u for u in pool if u.dtype is dtype]
        bools = [u for u in pool if u.dtype is bool_]
        a, b, k = rng.choice(ints[-8:] + ints), rng.choice(ints), rng.choice(consts)
        c, d, n = rng.choice(bools), rng.choice(bools), rng.choice(consts[:4])
        made = rng.choice([
            lambda: a + b, lambda: a - b, lambda: a * k, lambda: a * b, lambda: a // k,
            lambda: a % k, lambda: a // b, lambda: a % b, lambda: a & b, lambda: a | b,
            lambda: a ^ b, lambda: -a, lambda: a.maximum(b), lambda: a.minimum(b), lambda: a < b,
            lambda: a < k, lambda: k < a, lambda: a.eq(k), lambda: a.ne(b), lambda: a >= b,
            lambda: c.where(a, b), lambda: c & d, lambda: c | d, lambda: c.logical_not(),
            lambda: c.cast(dtype), lambda: a.cast(int16).cast(dtype), lambda: a << n,
            lambda: replace(a, op=Ops.CDIV, src=[a, k], arg=None), lambda: a >> n,
            lambda: replace(a, op=Ops.CMOD, src=[a, k], arg=None),
            lambda: replace(a, op=Ops.CDIV, src=[a, b], arg=None),
            lambda: (a.cast(float32) + 1.0).cast(dtype) if dtype is not weakint else a,
            lambda: c.where(a, c.where(b, a)), lambda: (a * k + b) // k, lambda: (a * k + b) % k,
        ])()  # fmt: skip
        if made.dtype is not weakint or abs(made.vmin) + abs(made.vmax) < 10**12:
            pool.append(made)
    return pool[-1]


def environments(rng: random.Random, leaves: list[Uop], every: int) -> Iterator[dict[Uop, Value]]:
    rows = [range(int(p.vmin), int(p.vmax) + 1, every) for p in leaves]
    values = list(itertools.product(*rows))
    for row in rng.sample(values, min(30, len(values))):
        yield dict(zip(leaves, row, strict=True))


@pytest.mark.parametrize("seed", range(400))
def test_values_are_kept_and_the_form_is_normal(seed: int) -> None:
    rng = random.Random(seed)
    dtype = DTYPES[seed % len(DTYPES)]
    full = dtype in (int8, uint8) and seed % 3 == 0
    low = 0 if dtype is uint8 else -3
    limits = [None] * 3 if full else [(low, 4), (0, 3), (1, 5)]
    leaves = [leaf(n, dtype, limit) for n, limit in zip("iju", limits, strict=True)]
    leaves.append(leaf("b", bool_))
    u = random_graph(rng, dtype, leaves)
    for f in (simplify, full_simplify):
        once = f(u)
        assert f(once) is once
        for env in environments(rng, leaves, 9 if full else 1):
            assert same(value_of(u, env), value_of(once, env)), env
    once = simplify(u)
    for n in toposort(once):
        n._marks = 0
    assert simplify(once) is once
