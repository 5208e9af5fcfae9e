"""The simplifier as a whole: what it reaches, that it settles, and that order does not show."""

from __future__ import annotations

import itertools
import math

import pytest

from dynamis.dtype import bool_, float32, int8, int32, int64, uint8
from dynamis.uop import (
    AxisType,
    Ops,
    PatternMatcher,
    RewriteError,
    Uop,
    UopError,
    UPat,
    alu_ternary,
    cast,
    const_bool,
    const_float,
    const_of_dtype,
    end_,
    index,
    load,
    range_,
    replace,
    resolve,
    simplify,
    sink,
    stack,
    store,
)
from dynamis.uop import symbolic as engine
from tests.uop.graphs import leaf, memory

i, j, k = leaf("i"), leaf("j"), leaf("k")
n = leaf("n", int32, (1, 100))
t, u = leaf("t", bool_), leaf("u", bool_)
f, g = leaf("f", float32), leaf("g", float32)
lanes = stack([const_of_dtype(int32, v) for v in range(4)])


def number(v: int) -> Uop:
    return const_of_dtype(int32, v)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((i + 1) + 2, i + 3), ((i + 1) - (j - 2), (i - j) + 3), (i - i + j, j), (i * 2 + i, i * 3),
        ((i + 2) * 4, i * 4 + 8), (5 - (3 - i), i + 2), (-(i - j), j - i), ((i ^ 5) ^ 5, i),
        ((n * 8 + 3) // 4, n * 2), ((n * 8 + 3) % 4, number(3)), (n % 128, n),
        (n // 128, number(0)),
        (n < 101, const_bool(True)), (n.maximum(0), n), (n.maximum(200), number(200)),
        ((n + 5) < 10, n < 5), ((i + 5).eq(7), i.eq(2)), (i.cast(int64) < 5, i < 5),
        ((t & u) & t, t & u), (t.logical_not().logical_not(), t), (t.where(i, i), i),
        (t.cast(int32).ne(0), t), (t.logical_not().where(i, j), t.where(j, i)),
        (i.cast(bool_), i.ne(0)), (i.eq(j).logical_not(), i.ne(j)), (f / 4.0, f * 0.25),
        ((lanes + 1) + i, (i + 1) + lanes), ((i + lanes) + 3, (i + 3) + lanes),
        (lanes + i, i + lanes),
        (index(ptr=stack([i, j]), idxs=[number(0) + 1]), j),
    ],
)  # fmt: skip
def test_reaches(before: Uop, after: Uop) -> None:
    assert simplify(before) is simplify(after)
    assert simplify(after) is after


@pytest.mark.parametrize(
    "kept",
    [
        f + 0.0, f * 0.0, f - f, f / f, f.ne(f), f.eq(f), (f + 1.0) + 2.0, (f * 3.0) / 3.0, f / 3.0,
        f * 2.0 + f * 3.0, 0.0 - f, -(f - g), (i + 1) < j, (i * 2) // 2, (i + 1) < 5,
        i.cast(float32).cast(int32), f.cast(int32).cast(float32), i // i,
    ],
)  # fmt: skip
def test_what_is_not_exact_stays(kept: Uop) -> None:
    assert simplify(kept) is kept


def test_constants_fold_to_the_width() -> None:
    assert simplify(const_of_dtype(int8, 127) + 1) is const_of_dtype(int8, -128)
    assert simplify(const_of_dtype(uint8, 255) + 1) is const_of_dtype(uint8, 0)
    assert simplify(const_of_dtype(int8, -128) // -1) is const_of_dtype(int8, -128)
    assert simplify(const_of_dtype(int8, 5) % 0) is const_of_dtype(int8, 5)
    tenth = const_float(0.1)
    assert simplify(tenth + 0.2).arg.value == 0.30000001192092896
    fused = alu_ternary(op=Ops.MULACC, a=tenth, b=const_float(10.0), c=const_float(-1.0))
    assert simplify(fused).arg.value == 2.0**-26
    assert math.isnan(simplify(const_float(0.0) / 0.0).arg.value)
    assert simplify(cast(src=const_float(3e9), dtype=int32)) is number(2**31 - 1)


def test_constants_fold_lane_by_lane() -> None:
    assert simplify(lanes * 3 + 1) is stack([number(v) for v in (1, 4, 7, 10)])
    assert simplify(lanes < 2) is stack([const_bool(v < 2) for v in range(4)])
    wider = stack([number(0)] * 3)
    assert simplify(lanes + wider).op is Ops.ADD


def test_a_lane_constant_shows_base_and_stride() -> None:
    shifted = stack([number(v) for v in (3, 5, 7, 9)])
    want = (i + 3) + stack([number(v) for v in (0, 2, 4, 6)])
    assert simplify(i + shifted) is want


def test_operand_order_does_not_show() -> None:
    for op in ("__add__", "__mul__", "__and__", "__or__", "__xor__", "eq", "ne", "maximum"):
        assert simplify(getattr(i, op)(j)) is simplify(getattr(j, op)(i))
    assert simplify(3 + i) is i + 3
    assert simplify(lanes + i) is i + lanes
    assert simplify(g * f) is simplify(f * g)


def test_constants_end_up_outside_whatever_the_order() -> None:
    terms = [i, j, number(1), number(2), lanes]
    made = {simplify(a + b + c + d + e) for a, b, c, d, e in itertools.permutations(terms)}
    assert made <= {(i + j + 3) + lanes, (j + i + 3) + lanes}


def test_whole_kernels_are_simplified() -> None:
    r = range_(size=8, axis=0, kind=AxisType.LOOP, dtype=int32)
    at = index(ptr=memory(), idxs=[(r + 1) - 1])
    clamped = index(ptr=memory(), idxs=[r.maximum(0)])
    root = sink([end_(value=store(dst=at, value=load(src=clamped) * 1.0), ranges=[r])])
    plain = index(ptr=memory(), idxs=[r])
    want = sink([end_(value=store(dst=plain, value=load(src=plain)), ranges=[r])])
    assert simplify(root) is want


def test_deep_and_shared_graphs() -> None:
    chain = i
    for step in range(30_000):
        chain = (chain + 1) if step % 2 else (chain ^ j)
    once = simplify(chain)
    assert simplify(once) is once
    pyramid = i + j
    for _ in range(2_000):
        pyramid = pyramid & (pyramid | k)
    assert simplify(pyramid) is i + j


def test_rules_that_chase_each_other_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    x = UPat.var("x")
    swap = PatternMatcher([
        (UPat(Ops.SIN, src=(x,)), lambda x: replace(x, op=Ops.LOG2, src=[x], arg=None)),
        (UPat(Ops.LOG2, src=(x,)), lambda x: replace(x, op=Ops.SIN, src=[x], arg=None)),
    ])  # fmt: skip
    monkeypatch.setattr(engine, "symbolic", swap)
    monkeypatch.setattr(engine, "_compiled", {})
    chased = replace(leaf("chased", float32), op=Ops.SIN, src=[leaf("chased", float32)], arg=None)
    with pytest.raises(RewriteError, match="does not settle"):
        simplify(chased)


def test_resolve() -> None:
    assert resolve(n < 101)
    assert not resolve(n < 1)
    assert resolve(n < 50)
    assert not resolve(n < 50, default=False)
    with pytest.raises(UopError, match="bool"):
        resolve(n)
