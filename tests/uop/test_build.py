"""Constructors and views: sources, dtypes, payloads, and what they refuse."""

from __future__ import annotations

import pytest

from dynamis.dtype import AddrSpace, Ptr, bool_, float32, int8, int32, int64, void, weakint
from dynamis.uop import (
    AxisType,
    Const,
    Group,
    KernelInfo,
    Ops,
    Uop,
    UopError,
    after,
    alu_binary,
    alu_ternary,
    alu_unary,
    barrier,
    bitcast,
    break_,
    broadcast,
    buffer,
    cast,
    const,
    const_float,
    const_int,
    const_like,
    const_of_dtype,
    custom,
    custom_inline,
    end_,
    endif,
    fresh_buffer_slot,
    group,
    if_,
    index,
    linear,
    load,
    noop,
    param,
    range_,
    replace,
    reserve_buffer_slots,
    sink,
    special,
    stack,
    store,
    variable,
    zero_like,
)
from tests.uop.graphs import leaf, memory

i, x, b = leaf("i"), leaf("x", float32), leaf("b", bool_)
place = index(ptr=memory(), idxs=[i])


def test_structure() -> None:
    s = store(dst=place, value=x)
    assert (sink([s]).dtype, sink([s]).src) == (void, (s,))
    assert sink([s], KernelInfo(name="k")).as_kernel_info() is KernelInfo(name="k")
    assert sink([s]).as_kernel_info() is None
    assert group([s]) is s
    assert group([s, s]).src == (s, s)
    assert group([]).dtype is void
    assert after(src=memory(), deps=[]) is memory()
    assert after(src=memory(), deps=[s]).dtype is memory().dtype
    assert linear([i, x]).src == (i, x)
    assert barrier([s]).src == (s,)
    assert noop(src=x, dtype=float32).src == (x,)


def test_parameters() -> None:
    p = memory(3)
    view = p.as_param()
    assert view is not None
    assert (view.param.slot, view.param.addrspace) == (3, AddrSpace.GLOBAL)
    assert view.shape is noop()
    local = param(slot=0, dtype=Ptr.create(int8, addrspace=AddrSpace.LOCAL, size=4))
    assert local.arg.addrspace is AddrSpace.LOCAL
    v = variable(name="n", min_val=1, max_val=9)
    assert (v.dtype, v.arg.slot, v.arg.addrspace) == (weakint, -1, AddrSpace.ALU)
    assert (v.vmin, v.vmax, v.max_shape) == (1, 9, ())
    assert variable(name="n", min_val=1, max_val=9, dtype=int32.vec(2)).src[0].arg.value == 2
    with pytest.raises(UopError, match="no values"):
        variable(name="n", min_val=2, max_val=1)


def test_buffers_and_slots() -> None:
    reg = Ptr.create(int32, addrspace=AddrSpace.REG, size=8)
    a, c = fresh_buffer_slot(), fresh_buffer_slot()
    assert c == a + 1
    assert buffer(slot=a, dtype=reg) is buffer(slot=a, dtype=reg)
    assert buffer(slot=a, dtype=reg) is not buffer(slot=c, dtype=reg)
    view = buffer(slot=a, dtype=reg).as_buffer()
    assert view is not None
    assert view.buffer.addrspace is AddrSpace.REG
    reserve_buffer_slots(c + 10)
    assert fresh_buffer_slot() == c + 10
    reserve_buffer_slots(0)
    assert fresh_buffer_slot() == c + 11


def test_constants() -> None:
    assert const(Const(int8, 3)).dtype is int8
    assert const(Const(int8, 3), [x]).src == (x,)
    pair = const_of_dtype(float32.vec(2), (1.0, 2.0))
    assert (pair.op, pair.dtype) == (Ops.STACK, float32.vec(2))
    assert [s.dtype for s in pair.src] == [float32, float32]
    assert const_of_dtype(float32.vec(2), 1.0).op is Ops.CONST
    with pytest.raises(UopError, match="3 values for 2 lanes"):
        const_of_dtype(float32.vec(2), (1, 2, 3))
    assert zero_like(x) is const_float(0.0)
    assert const_like(i, 7) is const_of_dtype(int32, 7)
    for bad in (x, b, memory()):
        with pytest.raises(UopError, match="scalar integer"):
            const_like(bad, 1)
    with pytest.raises(UopError, match="pointer"):
        zero_like(memory())


def test_index() -> None:
    assert place.as_index() == (memory(), (i,))
    assert place.dtype is float32
    assert index(ptr=memory(), idxs=[i], as_ptr=True).dtype is memory().dtype
    lanes = stack([x, const_float(1.0)])
    assert index(ptr=lanes, idxs=[const_int(1)]) is const_float(1.0)
    assert index(ptr=lanes, idxs=[const_int(2)]).op is Ops.INDEX
    assert index(ptr=lanes, idxs=[i]).dtype is float32
    wide = param(slot=0, dtype=memory().dtype.vec(4))
    assert index(ptr=wide, idxs=[i]).dtype is float32.vec(4)


def test_load() -> None:
    assert load(src=place).dtype is float32
    assert load(src=memory()).dtype is float32
    assert load(src=place, dtype=int32).dtype is int32
    assert load(src=index(ptr=memory(), idxs=[i], as_ptr=True)).dtype is float32
    gated = load(src=place, alt=x, gate=b)
    assert gated.as_load() == (place, x, b)
    assert load(src=place).as_load() == (place, None, None)
    assert load(src=after(src=place, deps=[store(dst=place, value=x)])).op is Ops.LOAD
    for bad in (x, index(ptr=stack([x, x]), idxs=[i])):
        with pytest.raises(UopError, match="no pointer"):
            load(src=bad, dtype=float32)
    with pytest.raises(UopError, match="together"):
        load(src=place, alt=x)
    with pytest.raises(UopError, match="together"):
        load(src=place, gate=b)


def test_store() -> None:
    assert store(dst=place, value=x).dtype is void
    assert store(dst=place, value=x).as_store() == (place, x, None)
    assert store(dst=place, value=x, gate=b).as_store() == (place, x, b)


def test_arithmetic() -> None:
    assert alu_unary(op=Ops.SQRT, src=x).dtype is float32
    assert alu_binary(op=Ops.CMPLT, lhs=x, rhs=x).dtype is bool_
    vector = leaf("v", float32.vec(4))
    assert alu_binary(op=Ops.CMPLT, lhs=vector, rhs=vector).dtype is bool_.vec(4)
    assert alu_ternary(op=Ops.WHERE, a=b, b=x, c=x).dtype is float32
    assert alu_ternary(op=Ops.MULACC, a=x, b=x, c=x).dtype is float32
    with pytest.raises(UopError, match="CAST is not unary"):
        alu_unary(op=Ops.CAST, src=x)
    with pytest.raises(UopError, match="NEG is not binary"):
        alu_binary(op=Ops.NEG, lhs=x, rhs=x)
    with pytest.raises(UopError, match="ADD is not ternary"):
        alu_ternary(op=Ops.ADD, a=x, b=x, c=x)
    with pytest.raises(UopError, match="not compared"):
        alu_binary(op=Ops.CMPEQ, lhs=memory(), rhs=memory())


def test_conversions() -> None:
    assert cast(src=x, dtype=float32) is x
    assert cast(src=leaf("v", int8.vec(2)), dtype=float32).dtype is float32.vec(2)
    assert cast(src=x, dtype=int32).op is Ops.CAST
    assert bitcast(src=x, dtype=float32) is x
    assert bitcast(src=x, dtype=int32).dtype is int32


def test_lanes() -> None:
    lanes = stack([x, x])
    assert (lanes.dtype, lanes.max_shape) == (float32, (2,))
    assert stack([]).dtype is void
    assert stack([x], dtype=float32.vec(4)).dtype is float32
    assert broadcast(x, 1) is x
    assert broadcast(x, 3).src == (x, x, x)


def test_control_flow() -> None:
    r = range_(size=i, axis=1, kind=AxisType.LOOP, dtype=int32)
    inner = range_(size=8, axis=2, kind=AxisType.UPCAST, sub=[3], dtype=int64, parents=[r])
    assert inner.as_range() == (const_of_dtype(int64, 8), (r,), 2, (3,), AxisType.UPCAST)
    assert range_(size=8, axis=0, kind=AxisType.LOOP).dtype is weakint
    s = store(dst=place, value=x)
    assert end_(value=s, ranges=[]) is s
    assert end_(value=s, ranges=[r]).as_end() == (s, (r,))
    assert break_(done=b, loop=r).src == (b, r)
    assert break_(done=b, loop=r, deps=[s]).src == (b, r, s)
    with pytest.raises(UopError, match="bool"):
        break_(done=i, loop=r)
    with pytest.raises(UopError, match="leaves a RANGE"):
        break_(done=b, loop=s)
    gate = if_(cond=b, idx_for_dedup=place)
    assert gate.as_if() == (b, place)
    assert endif(if_=gate).src == (gate,)
    hardware = special(name="gidx0", size=const_int(4), dtype=int32)
    view = hardware.as_special()
    assert view is not None
    assert (view.name, view.size.op) == ("gidx0", Ops.CAST)


def test_escapes() -> None:
    assert custom(fmt="f({0})", args=[x]).dtype is void
    inline = custom_inline(fmt="f({0})", args=[x], dtype=float32)
    assert (inline.op, inline.dtype, inline.arg) == (Ops.CUSTOMI, float32, "f({0})")


VIEWS = [name for name in dir(Uop) if name.startswith("as_") and name != "as_shape"]


@pytest.mark.parametrize("view", VIEWS)
def test_views_are_none_for_other_and_malformed_nodes(view: str) -> None:
    assert getattr(x + 1.0, view)() is None
    for op in Group.all:
        for arg in (None, "text"):
            bare = replace(x, op=op, src=[], arg=arg)
            assert getattr(bare, view)() is None


def test_replace_changes_only_what_it_is_given() -> None:
    u = x + 1.0
    assert replace(u) is u
    assert replace(u, op=Ops.MUL).src == u.src
    other: Uop = replace(i, arg=None)
    assert other.arg is None
    assert other.src == i.src
