"""Listings and expressions."""

from __future__ import annotations

import pytest

from dynamis.dtype import bool_, float32, int32, int64
from dynamis.uop import (
    AxisType,
    KernelInfo,
    Ops,
    Uop,
    const_float,
    end_,
    expr_to_string,
    index,
    linear,
    load,
    range_,
    replace,
    sink,
    stack,
    store,
    uops_to_string,
    variable,
    with_tag,
)
from tests.uop.graphs import leaf, memory

a, b, c = leaf("a"), leaf("b"), leaf("c")
f, t = leaf("f", float32), leaf("t", bool_)


def test_listing() -> None:
    r = range_(size=4, axis=-2, kind=AxisType.UPCAST, dtype=int32)
    at = index(ptr=memory(), idxs=[r])
    s = store(dst=at, value=load(src=at) * 2.0)
    root = sink([end_(value=s, ranges=[r])], KernelInfo(name="double"))
    rows = uops_to_string(root, header="kernel").splitlines()
    assert rows[0] == "kernel"
    cells = [row.split() for row in rows[1:]]
    assert [c[:2] for c in cells] == [
        ["0", "Ops.NOOP"], ["1", "Ops.PARAM"], ["2", "Ops.CONST"], ["3", "Ops.RANGE"],
        ["4", "Ops.INDEX"], ["5", "Ops.LOAD"], ["6", "Ops.CONST"], ["7", "Ops.MUL"],
        ["8", "Ops.STORE"], ["9", "Ops.END"], ["10", "Ops.SINK"],
    ]  # fmt: skip
    assert rows[4] == (
        "   3 Ops.RANGE           : m2         dtypes.int                               ['4']"
        "                            RangeInfo(axis=-2, sub=(), kind=upcast)"
    )
    assert "['4']" in rows[4]
    assert "[5, '2.0']" in rows[8]
    assert rows[9].split()[3] == "m2"
    assert rows[10].split()[3] == "dtypes.void"
    assert rows[-1].endswith("KernelInfo(name='double')")


def test_listings_of_programs_and_lists_keep_their_order() -> None:
    u = a + b
    assert [row.split()[1] for row in uops_to_string(linear([b, a, u])).splitlines()] == [
        "Ops.PARAM", "Ops.PARAM", "Ops.ADD",
    ]  # fmt: skip
    assert "['--', 0]" in uops_to_string([b, u])
    assert uops_to_string([with_tag("mark", u)]).endswith("tag='mark'")


@pytest.mark.parametrize(
    ("u", "text"),
    [
        (a + b * c, "a+b*c"), ((a + b) * c, "(a+b)*c"), (a - (b - c), "a-(b-c)"),
        (a - b - c, "a-b-c"), (a // (b * c), "a//(b*c)"), (a * b % c, "a*b%c"),
        ((a & b) | c, "a&b|c"), (a & (b | c), "a&(b|c)"), ((a << b) >> c, "a<<b>>c"),
        (a ^ b, "a^b"), ((a < b) & t, "(a<b)&t"), (-(a + b), "-(a+b)"), (a.ne(b), "a!=b"),
        (t.where(a, b) + c, "(a if t else b)+c"), (a.maximum(b), "max(a, b)"),
        (replace(a + b, op=Ops.CDIV), "cdiv(a, b)"), (a.cast(int64), "(i64)a"),
        (f.bitcast(int32), "bitcast<i32>(f)"), (f / 0.1, "f/0.10000000149011612"),
        (const_float(1e300), "inf"), (stack([a, b]), "{a, b}"),
        (index(ptr=memory(), idxs=[a + b]), "param0[a+b]"),
        (variable(name="n", min_val=0, max_val=1), "n"),
        (range_(size=4, axis=3, kind=AxisType.LOOP, sub=[1]), "L3_1"),
    ],
)  # fmt: skip
def test_expressions(u: Uop, text: str) -> None:
    assert expr_to_string(u) == text


def test_expressions_can_be_simplified_first() -> None:
    assert expr_to_string(a + 1 + 2, simplify=True) == "a+3"
