"""Bounds hold for 100,000 random integer expressions, of fixed width and unbounded.

Every node of a pool is an expression over two leaves of a few values each; it is evaluated for
all of them by the ops' own evaluation, and each value has to lie within the node's bounds.
"""

from __future__ import annotations

import itertools
import random

import pytest

from dynamis.dtype import (
    Number,
    Val,
    bool_,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint32,
    uint64,
    weakint,
)
from dynamis.uop import Op, Ops, Uop, evaluate
from dynamis.uop.folding import result_dtype
from dynamis.uop.node import const_node, node
from tests.uop.graphs import leaf

DTYPES = (weakint, weakint, int8, int8, uint8, int16, int32, uint32, int64, uint64)
UNARY = (Ops.NEG, Ops.TRUNC)
BINARY = (
    Ops.ADD, Ops.SUB, Ops.MUL, Ops.MAX, Ops.CDIV, Ops.CMOD, Ops.FLOORDIV, Ops.FLOORMOD, Ops.AND,
    Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ,
)  # fmt: skip
POOLS, NODES = 500, 200

Row = tuple[Number, ...]


class Pool:
    """Expressions over two leaves, each with its value for every value of the leaves."""

    def __init__(self, seed: int) -> None:
        self.random = rng = random.Random(seed)
        self.dtype = dtype = DTYPES[seed % len(DTYPES)]
        rows = []
        for _ in range(2):
            low, high = (-40, 40) if dtype is weakint else (int(dtype.min), int(dtype.max))
            start = rng.choice(
                [low, 0, high - 2, rng.randint(low, high - 2), rng.randint(-3, 5) % 6]
            )
            rows.append(range(start, start + 3))
        grid = list(itertools.product(*rows))
        self.ints: list[tuple[Uop, Row]] = [
            (leaf(name, dtype, (r[0], r[-1])), tuple([row[k] for row in grid]))
            for k, (name, r) in enumerate(zip("xy", rows, strict=True))
        ]
        for c in (0, 1, 2, 3, 7, -1, -4):
            if dtype.bits == 800 or dtype.min <= c:
                self.ints.append((const_node(dtype, c), (c,) * len(grid)))
        self.bools: list[tuple[Uop, Row]] = []

    def add(self, op: Op, dtype: Val, parts: list[tuple[Uop, Row]]) -> tuple[Uop, Row]:
        u = node(op, dtype, tuple([p for p, _ in parts]))
        rows = zip(*[row for _, row in parts], strict=True)
        return u, tuple([evaluate(op, dtype, row) for row in rows])

    def grow(self) -> tuple[Uop, Row]:
        rng = self.random
        kind = rng.random()
        a, b = rng.choice(self.ints[-40:]), rng.choice(self.ints)
        if kind < 0.1:
            made = self.add(rng.choice(UNARY), self.dtype, [a])
        elif kind < 0.2 and self.bools:
            made = self.add(Ops.WHERE, self.dtype, [rng.choice(self.bools), a, b])
        elif kind < 0.25 and self.bools:
            made = self.add(Ops.CAST, self.dtype, [rng.choice(self.bools)])
        elif kind < 0.3 and self.bools:
            op = rng.choice((Ops.AND, Ops.OR, Ops.XOR, Ops.ADD, Ops.MUL, Ops.CMPNE))
            made = self.add(op, bool_, [rng.choice(self.bools), rng.choice(self.bools)])
        elif kind < 0.35:
            middle = rng.choice((int8, uint8, int16, int64, weakint))
            made = self.add(Ops.CAST, self.dtype, [self.add(Ops.CAST, middle, [a])])
        elif kind < 0.4:
            made = self.add(Ops.MULACC, self.dtype, [a, b, rng.choice(self.ints)])
        else:
            op = rng.choice(BINARY)
            if op is Ops.SHL or op is Ops.SHR:
                b = self.ints[rng.randrange(2, 6)]
            made = self.add(op, result_dtype(op, (a[0], b[0])), [a, b])  # type: ignore[arg-type]  # values
        if made[0].dtype is bool_:
            self.bools.append(made)
        elif self.dtype is not weakint or abs(made[0].vmax) + abs(made[0].vmin) < 2**400:
            self.ints.append(made)
        return made


@pytest.mark.parametrize("part", range(10))
def test_every_value_lies_within_the_bounds(part: int) -> None:
    checked = 0
    for seed in range(part * POOLS // 10, (part + 1) * POOLS // 10):
        pool = Pool(seed)
        for _ in range(NODES):
            u, row = pool.grow()
            assert u.vmin <= min(row), f"{u!r} is {min(row)}, below its bound {u.vmin}"
            assert max(row) <= u.vmax, f"{u!r} is {max(row)}, above its bound {u.vmax}"
            checked += 1
    assert checked == POOLS * NODES // 10
