"""Bounds hold every value that a node can take, under wrap-around too."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from dynamis.dtype import Val, bool_, float32, int8, int16, int32, uint8, weakint
from dynamis.uop import (
    AxisType,
    Ops,
    Uop,
    alu_binary,
    alu_ternary,
    alu_unary,
    cannot_wrap,
    cast,
    const_int,
    const_of_dtype,
    evaluate,
    index,
    load,
    range_,
    special,
    stack,
    variable,
    vmax,
    vmin,
)
from dynamis.uop.ops import Op
from tests.uop.graphs import leaf, memory

BINARY = [
    Ops.ADD, Ops.SUB, Ops.MUL, Ops.AND, Ops.OR, Ops.XOR, Ops.SHL, Ops.SHR, Ops.MAX, Ops.CDIV,
    Ops.CMOD, Ops.FLOORDIV, Ops.FLOORMOD, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ,
]  # fmt: skip


def interval(rng: random.Random, dtype: Val) -> tuple[int, int]:
    low, high = (-20, 20) if dtype is weakint else (int(dtype.min), int(dtype.max))
    center = rng.choice([low, -1, 0, 1, 5, high, rng.randint(low, high)])
    a = max(low, min(high, center + rng.randint(-4, 1)))
    return a, max(a, min(high, a + rng.choice([0, 0, 1, 3, 9])))


@pytest.mark.parametrize("dtype", [int8, uint8, weakint])
@pytest.mark.parametrize("op", BINARY)
def test_bounds_hold_every_value(op: Op, dtype: Val) -> None:
    rng = random.Random(op.ordinal)
    tight = 0
    for k in range(300):
        p, q = interval(rng, dtype), interval(rng, dtype)
        if op in (Ops.SHL, Ops.SHR) and dtype is weakint:
            q = (max(q[0], 0), max(q[1], 0))
        a, b = leaf(f"a{k}", dtype, p), leaf(f"b{k}", dtype, q)
        u = alu_binary(op=op, lhs=a, rhs=b)
        assert isinstance(u.dtype, Val)
        pairs = itertools.product(range(p[0], p[1] + 1), range(q[0], q[1] + 1))
        values = [int(evaluate(op, u.dtype, pair)) for pair in pairs]
        assert u.vmin <= min(values)
        assert max(values) <= u.vmax
        tight += (u.vmin, u.vmax) == (min(values), max(values))
    assert tight > 10


@pytest.mark.parametrize("dtype", [int8, uint8, bool_])
def test_bounds_of_the_rest_hold_every_value(dtype: Val) -> None:
    rng = random.Random(2)
    for k in range(200):
        p, q = interval(rng, dtype), interval(rng, dtype)
        a, b, c = leaf(f"a{k}", dtype, p), leaf(f"b{k}", dtype, q), leaf(f"c{k}", bool_)
        xs, ys = range(p[0], p[1] + 1), range(q[0], q[1] + 1)
        cases: list[tuple[Uop, list[tuple[int, ...]]]] = [
            (alu_unary(op=Ops.NEG, src=a), [(x,) for x in xs]),
            (cast(src=a, dtype=int16), [(x,) for x in xs]),
            (cast(src=cast(src=a, dtype=int16), dtype=bool_), [(x,) for x in xs]),
            (cast(src=cast(src=a, dtype=int16) * 3, dtype=uint8), [(x,) for x in xs]),
            (alu_ternary(op=Ops.WHERE, a=c, b=a, c=b), [(1, x, y) for x in xs for y in ys]),
            (alu_ternary(op=Ops.WHERE, a=c, b=a, c=b), [(0, x, y) for x in xs for y in ys]),
            (alu_ternary(op=Ops.MULACC, a=a, b=b, c=a), [(x, y, x) for x in xs for y in ys]),
        ]
        for u, operands in cases:
            if u.op is Ops.CAST and u.src[0].op is Ops.MUL:
                operands = [(3 * x[0],) for x in operands]
            assert isinstance(u.dtype, Val)
            values = [int(evaluate(u.op, u.dtype, case)) for case in operands]
            assert u.vmin <= min(values)
            assert max(values) <= u.vmax


def test_bool_logic_is_exact() -> None:
    kinds = [(0, 0), (1, 1), (0, 1)]
    for op in (Ops.AND, Ops.OR, Ops.XOR, Ops.ADD, Ops.MUL, Ops.MAX):
        for p, q in itertools.product(kinds, kinds):
            u = alu_binary(op=op, lhs=leaf("a", bool_, p), rhs=leaf("b", bool_, q))
            pairs = itertools.product(range(p[0], p[1] + 1), range(q[0], q[1] + 1))
            values = [int(evaluate(op, bool_, (bool(x), bool(y)))) for x, y in pairs]
            assert (u.vmin, u.vmax) == (min(values), max(values))


def test_leaves() -> None:
    n = variable(name="n", min_val=1, max_val=100, dtype=int32)
    r = range_(size=n, axis=0, kind=AxisType.LOOP, dtype=int32)
    assert (r.vmin, r.vmax) == (0, 99)
    assert (
        special(name="g", size=const_int(8)).vmin,
        vmax(special(name="g", size=const_int(8))),
    ) == (0, 7)
    none = range_(size=0, axis=0, kind=AxisType.LOOP, dtype=int32)
    assert (none.vmin, none.vmax) == (0, -1)
    word = load(src=index(ptr=memory(dtype=int8), idxs=[r]))
    assert (word.vmin, word.vmax) == (-128, 127)
    lanes = stack([const_of_dtype(int32, k) for k in (3, -2, 9)])
    assert (lanes.vmin, lanes.vmax) == (-2, 9)
    assert index(ptr=lanes, idxs=[r]).vmax == 9
    assert (vmin(const_of_dtype(bool_, True)), vmax(const_of_dtype(bool_, False))) == (1, 0)


def test_floats_and_pointers_are_unknown() -> None:
    for u in (leaf("x", float32), const_of_dtype(float32, 1.0), memory()):
        assert (u.vmin, u.vmax) == (-math.inf, math.inf)
    whole = cast(src=leaf("x", float32), dtype=int8)
    assert (whole.vmin, whole.vmax) == (-128, 127)
    assert (leaf("x", float32) < 1.0).vmax == 1


def test_weakint_bounds_are_exact_and_unbounded() -> None:
    big = variable(name="n", min_val=1, max_val=2**62)
    u = big
    for _ in range(60):
        u = u * big
    assert u.vmax == 2 ** (62 * 61)
    assert u.vmin == 1


def test_wrapping_gives_the_bounds_of_the_dtype() -> None:
    a = leaf("a", int8, (100, 120))
    assert ((a + 10).vmin, (a + 7).vmax) == (-128, 127)
    assert not cannot_wrap(a + 10)
    assert cannot_wrap(a + 7)
    assert not cannot_wrap(leaf("x", float32) + 1.0)
    assert cannot_wrap(variable(name="n", min_val=0, max_val=9) * 2**70)


def test_clamps_are_proved_away() -> None:
    i = range_(size=64, axis=0, kind=AxisType.LOOP, dtype=int32)
    assert (i + 1 < 66).vmin == 1
    assert ((i + 1) // 8).vmax == 8
    assert ((i + 1) % 128).vmax == 64
    assert (i - 5 < -5).vmax == 0


def test_bounds_of_shared_graphs_are_linear() -> None:
    u = leaf("a", int8, (0, 1))
    for _ in range(3000):
        u = u.maximum(u)
    assert (u.vmin, u.vmax) == (0, 1)
