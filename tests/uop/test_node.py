"""Nodes: identity, weak interning, constants, payloads, operators."""

from __future__ import annotations

import copy
import gc
import math
import pickle
import sys
import threading
import weakref

import pytest

from dynamis.dtype import AddrSpace, Ptr, Val, bool_, float32, int8, int32, uint8, weakint
from dynamis.uop import (
    AXIS_TYPES,
    AxisType,
    Const,
    KernelInfo,
    Ops,
    ParamArg,
    RangeInfo,
    Uop,
    UopError,
    const_bool,
    const_float,
    const_int,
    const_of_dtype,
    replace,
    with_tag,
)
from tests.uop.graphs import leaf, value_of

x, y = leaf("x"), leaf("y")
f, g = leaf("f", float32), leaf("g", float32)


def test_equal_nodes_are_one_node() -> None:
    assert x + y is x + y
    assert x + y is not y + x
    assert hash(x + y) == hash(x + y)
    assert (x + y).tag == (x + y).tag
    assert with_tag("a", x) is not x
    assert with_tag("a", x) is with_tag("a", x)
    assert replace(with_tag("a", x), node_tag=None) is x


def test_tags_number_nodes_and_are_not_used_again() -> None:
    first = (leaf("gone") + 1).tag
    gc.collect()
    assert (leaf("gone") + 1).tag > first


def test_unreachable_nodes_are_forgotten() -> None:
    made = replace(x, op=Ops.MULACC, src=[x, y, leaf("z")], arg=None)
    table = int32.tables[Ops.MULACC]
    ref = weakref.ref(made)
    assert len(table) == 1
    del made
    assert ref() is None
    assert not table


def test_long_chains_are_made_and_dropped() -> None:
    u = x
    for _ in range(200_000):
        u = -u
    assert u.vmin == -(2**31)
    del u


def test_threads_intern_one_node() -> None:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for turn in range(40):
            made: list[list[Uop]] = []
            start = threading.Barrier(4)

            def work(turn: int = turn, made: list = made, start: threading.Barrier = start) -> None:
                start.wait()
                made.append([x + (1000 * turn + k) for k in range(50)])

            threads = [threading.Thread(target=work) for _ in range(4)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            assert len(made) == 4
            assert all(row == made[0] for row in made)
    finally:
        sys.setswitchinterval(before)


def test_copies_are_the_node_itself() -> None:
    assert copy.copy(x) is x
    assert copy.deepcopy({"a": [x + y]})["a"][0] is x + y
    with pytest.raises(UopError, match="serialisation"):
        pickle.dumps(x)


def test_calling_the_class_makes_nothing() -> None:
    with pytest.raises(UopError, match="constructors"):
        Uop()


def test_constants_that_python_calls_equal_stay_apart() -> None:
    made = [const_int(1), const_float(1.0), const_bool(True), const_of_dtype(int8, 1)]
    assert len(set(made)) == 4
    assert const_float(0.0) is not const_float(-0.0)
    assert const_float(math.nan) is const_float(-math.nan)
    assert const_float(0) is const_float(0.0)
    assert const_of_dtype(uint8, -1) is const_of_dtype(uint8, 255)
    assert const_of_dtype(uint8, -1).arg.value == 255
    assert const_of_dtype(bool_, 7).arg.value is True
    assert const_float(0.1).arg.value == 0.10000000149011612


def test_constant_payloads_are_interned_and_do_not_change() -> None:
    assert Const(float32, math.nan) is Const(float32, math.nan)
    assert Const(float32, -0.0) is not Const(float32, 0.0)
    assert Const(int32, 2**32 + 5) is Const(int32, 5)
    assert str(Const(int32, 5)) == "5:i32"
    assert pickle.loads(pickle.dumps(Const(float32, -0.0))) is Const(float32, -0.0)
    with pytest.raises(AttributeError, match="do not change"):
        Const(int32, 5).value = 6
    with pytest.raises(UopError, match="no constant"):
        Const(int32, math.inf)
    with pytest.raises(UopError, match="number"):
        Const(int32, "5")  # type: ignore[arg-type]  # the mistake under test


def test_constants_sort_by_value_with_both_zeros_and_nan_in_place() -> None:
    values = [-math.inf, -1.5, -0.0, 0.0, 2.0, math.inf, math.nan]
    orders = [Const(float32, v).order for v in values]
    assert orders == sorted(orders)
    assert len(set(orders)) == len(values)


def test_payloads_are_interned_field_by_field() -> None:
    info = RangeInfo(0, (1, 2), AxisType.LOOP)
    assert info is RangeInfo(axis=0, sub=(1, 2), kind=AxisType.LOOP)
    assert info is not RangeInfo(0, (1, 2), AxisType.UPCAST)
    assert RangeInfo(True, (), AxisType.LOOP) is RangeInfo(1, (), AxisType.LOOP)
    assert KernelInfo(beam=1) is KernelInfo(beam=True)
    assert KernelInfo(name="k") is not KernelInfo(name="j")
    assert ParamArg(0) is ParamArg(0, None, None, AddrSpace.GLOBAL)
    assert pickle.loads(pickle.dumps(info)) is info
    assert copy.deepcopy(info) is info


def test_payloads_are_forgotten_with_their_last_user() -> None:
    before = len(RangeInfo.table)
    made = RangeInfo(987_654, (), AxisType.LOOP)
    assert len(RangeInfo.table) == before + 1
    del made
    assert len(RangeInfo.table) == before


def test_axis_types() -> None:
    letters = {a.name: (a.to_pos, a.letter) for a in AXIS_TYPES}
    assert letters == {
        "GLOBAL": (0, "g"), "WARP": (1, "w"), "LOCAL": (2, "l"), "LOOP": (-1, "L"),
        "GROUP_REDUCE": (2, "G"), "REDUCE": (4, "R"), "UPCAST": (3, "u"), "UNROLL": (5, "r"),
        "THREAD": (0, "t"), "PLACEHOLDER": (6, "?"),
    }  # fmt: skip
    assert [a.ordinal for a in AXIS_TYPES] == list(range(10))
    assert str(AxisType.GROUP_REDUCE) == "group_reduce"
    assert copy.deepcopy(AxisType.WARP) is AxisType.WARP


@pytest.mark.parametrize(
    ("made", "op"),
    [
        (x + y, Ops.ADD), (x - y, Ops.SUB), (x * y, Ops.MUL), (x // y, Ops.FLOORDIV),
        (x % y, Ops.FLOORMOD), (x & y, Ops.AND), (x | y, Ops.OR), (x ^ y, Ops.XOR),
        (x << y, Ops.SHL), (x >> y, Ops.SHR), (f / g, Ops.FDIV), (x < y, Ops.CMPLT),
        (x.eq(y), Ops.CMPEQ), (x.ne(y), Ops.CMPNE), (x.maximum(y), Ops.MAX),
    ],
)  # fmt: skip
def test_binary_operators(made: Uop, op: object) -> None:
    assert made.op is op
    assert made.src in ((x, y), (f, g))
    assert made.dtype is (bool_ if made.op.is_comparison else made.src[0].dtype)


def test_numbers_on_the_left() -> None:
    two = const_of_dtype(int32, 2)
    for made in (2 + x, 2 - x, 2 * x, 2 // x, 2 % x, 2 & x, 2 | x, 2 ^ x, 2 << x, 2 >> x):
        assert made.src == (two, x)
    assert (2 / f).src == (const_float(2.0), f)


def test_greater_is_less_turned_round() -> None:
    assert (x > y) is (y < x)
    assert (x > 3).src == (const_of_dtype(int32, 3), x)


@pytest.mark.parametrize("a", [-1.0, 0.0, -0.0, 2.0, math.inf, math.nan])
@pytest.mark.parametrize("b", [-1.0, 0.0, 2.0, -math.inf, math.nan])
def test_order_and_extremes_of_floats(a: float, b: float) -> None:
    env = {f: a, g: b}
    assert value_of(f >= g, env) == (a >= b)
    assert value_of(f <= g, env) == (a <= b)
    least = value_of(f.minimum(g), env)
    if a != a or b != b:
        assert least != least
    elif a != b:
        assert least == min(a, b)
    else:
        assert math.copysign(1, least) == min(math.copysign(1, a), math.copysign(1, b))


@pytest.mark.parametrize("dtype", [int8, uint8])
def test_order_and_extremes_of_integers(dtype: Val) -> None:
    p, q = leaf("p", dtype), leaf("q", dtype)
    some = [int(dtype.min), int(dtype.min) + 1, 0, 1, 100, int(dtype.max)]
    for a in some:
        for b in some:
            env = {p: a, q: b}
            assert value_of(p >= q, env) == (a >= b)
            assert value_of(p <= q, env) == (a <= b)
            assert value_of(p.minimum(q), env) == min(a, b)
            assert value_of(~p, env) == (255 - a if dtype is uint8 else -1 - a)


def test_where_and_not() -> None:
    b = x < y
    assert b.where(x, 3).src == (b, x, const_of_dtype(int32, 3))
    assert b.where(3, x).dtype is int32
    assert (~b) is b.logical_not() is b.ne(True)


def test_casts_to_the_own_dtype_are_the_node() -> None:
    assert x.cast(int32) is x
    assert x.bitcast(int32) is x
    assert x.cast(float32).op is Ops.CAST


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: x + f, "two dtypes"), (lambda: x + 0.5, "no value of i32"),
        (lambda: x + 2**31, "no value of i32"), (lambda: x / y, "FDIV is not defined on i32"),
        (lambda: f & g, "AND is not defined"), (lambda: x.logical_not(), "needs bool"),
        (lambda: x.where(1, 2), "node in one of its arms"), (lambda: x.where(y, y), "bool cond"),
        (lambda: leaf("p", Ptr.create(int8, addrspace=AddrSpace.GLOBAL, size=1)) + 1, "pointer"),
    ],
)  # fmt: skip
def test_operators_refuse(make: object, text: str) -> None:
    with pytest.raises(UopError, match=text):
        make()  # type: ignore[operator]  # a callable


def test_minus_one_is_all_ones_at_an_unsigned_dtype() -> None:
    assert (leaf("p", uint8) ^ -1).src[1].arg.value == 255


def test_weakint_constants_are_unbounded() -> None:
    assert const_int(10**30).arg.value == 10**30
    assert const_int(3).dtype is weakint
