"""The contract's views: each names the places of an op's sources, and is None for other ops."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dynamis.dtype import float32
from dynamis.uop import (
    AllreduceView,
    AxisType,
    BindView,
    BufferView,
    CallInfo,
    CallView,
    EndView,
    IfView,
    IndexView,
    KernelInfo,
    LoadView,
    Ops,
    Opt,
    ParamView,
    ProgramInfo,
    RangeView,
    ReduceView,
    ShapedWmmaView,
    SingleDevice,
    SliceView,
    SpecialView,
    StageOpts,
    StageView,
    StoreView,
    Uop,
    WaitView,
    WmmaView,
    allreduce,
    bind,
    call,
    contiguous,
    end_,
    if_,
    index,
    load,
    program,
    range_,
    reduce,
    reduce_axis,
    replace,
    shaped_wmma,
    sink,
    slice_,
    special,
    stage,
    store,
    wait,
    wmma,
)
from tests.uop.contract import loop, memory, n, scalar, scratch, tensor, var
from tests.uop.test_contract_payload import WMMA

a, b = scalar("a"), scalar("b")


def only(read: Callable[[Uop], object], malformed: Uop | None = None) -> None:
    """The view is None for other ops, and for a malformed node of its own."""
    assert read(a + b) is None
    if malformed is not None:
        assert read(malformed) is None


def test_index_view() -> None:
    p, i, j = memory(), loop(), loop(axis=1)
    found = index(ptr=p, idxs=[i, j]).as_index()
    assert found == IndexView(ptr=p, idxs=(i, j))
    assert found.ptr is p
    assert found.idxs == (i, j)
    only(Uop.as_index)


def test_load_view() -> None:
    at = index(ptr=memory(), idxs=[loop()])
    found = load(src=at).as_load()
    assert found == LoadView(src=at, alt=None, gate=None)
    other, gate = scalar("alt", float32), loop() < 3
    gated = load(src=at, alt=other, gate=gate).as_load()
    assert gated is not None
    assert (gated.src, gated.alt, gated.gate) == (at, other, gate)
    only(Uop.as_load, replace(load(src=at), src=[at, other]))


def test_store_view() -> None:
    at, value, gate = index(ptr=memory(), idxs=[loop()]), scalar("v", float32), loop() < 3
    found = store(dst=at, value=value).as_store()
    assert found == StoreView(dst=at, value=value, gate=None)
    gated = store(dst=at, value=value, gate=gate).as_store()
    assert gated is not None
    assert (gated.dst, gated.value, gated.gate) == (at, value, gate)
    only(Uop.as_store, replace(store(dst=at, value=value), src=[at]))


def test_range_view() -> None:
    outer, size = loop(axis=9), var("size")
    u = range_(size=size, axis=2, kind=AxisType.REDUCE, sub=[1, 3], parents=[outer])
    found = u.as_range()
    assert found == RangeView(size, (outer,), 2, (1, 3), AxisType.REDUCE)
    assert (found.size, found.parents) == (size, (outer,))
    assert (found.axis, found.sub, found.kind) == (2, (1, 3), AxisType.REDUCE)
    only(Uop.as_range, replace(u, src=[]))


def test_end_view() -> None:
    body, r, s = scalar("v"), loop(), loop(axis=1)
    found = end_(value=body, ranges=[r, s]).as_end()
    assert found == EndView(value=body, ranges=(r, s))
    assert (found.value, found.ranges) == (body, (r, s))
    only(Uop.as_end)


def test_if_view() -> None:
    cond, at = loop() < 2, index(ptr=memory(), idxs=[loop()])
    found = if_(cond=cond, idx_for_dedup=at).as_if()
    assert found == IfView(cond=cond, idx_for_dedup=at)
    assert (found.cond, found.idx_for_dedup) == (cond, at)
    only(Uop.as_if, replace(if_(cond=cond, idx_for_dedup=at), src=[cond]))


def test_reduce_view() -> None:
    body, r = loop() * 2, loop()
    found = reduce(src=body, ranges=[r], op=Ops.ADD, dtype=body.dtype).as_reduce()
    assert found == ReduceView(src=body, ranges=(r,), op=Ops.ADD, axes=())
    assert (found.src, found.ranges, found.op) == (body, (r,), Ops.ADD)
    tensor_stage = reduce_axis(src=tensor(2, 3), op=Ops.MAX, axes=[1]).as_reduce()
    assert tensor_stage is not None
    assert (tensor_stage.ranges, tensor_stage.axes) == ((), (1,))
    only(Uop.as_reduce)


def test_allreduce_view() -> None:
    t = tensor(4, device=["A", "B"])
    found = allreduce(src=t, device="A", op=Ops.ADD).as_allreduce()
    assert found == AllreduceView(src=t, device=SingleDevice("A"), op=Ops.ADD)
    assert (found.src, found.device, found.op) == (t, SingleDevice("A"), Ops.ADD)
    only(Uop.as_allreduce)


def test_stage_view() -> None:
    body, r, opts = scalar("v", float32), loop(), StageOpts(removable=False)
    found = stage(src=body, ranges=[r], opts=opts).as_stage()
    assert found == StageView(src=body, ranges=(r,), opts=opts)
    assert (found.src, found.ranges, found.opts) == (body, (r,), opts)
    only(Uop.as_stage)


def test_slice_view() -> None:
    t, at = tensor(10), var("at")
    u = slice_(src=t, offset=at, size=4, dtype=float32)
    found = u.as_slice()
    assert found == SliceView(src=t, offset=at, size=4)
    assert (found.src, found.offset, found.size) == (t, at, 4)
    only(Uop.as_slice, replace(u, src=[t]))


def test_wait_view() -> None:
    u, event = scalar("v"), scalar("event")
    found = wait(src=u, wait_for=event).as_wait()
    assert found == WaitView(src=u, wait_for=event)
    assert (found.src, found.wait_for) == (u, event)
    only(Uop.as_wait, replace(wait(src=u, wait_for=event), src=[u]))


def test_param_view() -> None:
    found = a.as_param()
    assert found == ParamView(param=a.arg, shape=a.src[0])
    assert (found.param, found.shape) == (a.arg, a.src[0])
    unknown = memory().as_param()
    assert unknown is not None
    assert unknown.shape.op is Ops.NOOP
    only(Uop.as_param, replace(a, src=[]))
    assert scratch().as_param() is None


def test_buffer_view() -> None:
    t = tensor(2, 3)
    found = t.as_buffer()
    assert found == BufferView(buffer=t.arg, shape=t.src[0])
    assert (found.buffer, found.shape) == (t.arg, t.src[0])
    only(Uop.as_buffer, replace(t, src=[]))
    assert memory().as_buffer() is None


def test_wmma_view() -> None:
    p, q, r = scalar("p"), scalar("q"), scalar("r", float32)
    u = wmma(a=p, b=q, c=r, info=WMMA, dtype=float32)
    found = u.as_wmma()
    assert found == WmmaView(p, q, r, WMMA)
    assert (found.a, found.b, found.c, found.info) == (p, q, r, WMMA)
    only(Uop.as_wmma, replace(u, src=[p, q]))


def test_shaped_wmma_view() -> None:
    p, q, r = tensor(8, 16), tensor(16, 16, slot=1), tensor(8, 16, slot=2)
    u = shaped_wmma(a=p, b=q, acc=r, dims=(8, 16, 16), device="CUDA", threads=32, dtype=float32)
    found = u.as_shaped_wmma()
    assert found == ShapedWmmaView(p, q, r, u.arg)
    assert (found.a, found.b, found.acc) == (p, q, r)
    assert (found.info.dims, found.info.device, found.info.threads) == ((8, 16, 16), "CUDA", 32)
    only(Uop.as_shaped_wmma, replace(u, src=[p, q]))


@pytest.mark.parametrize("body", [sink([]), a + b], ids=["CALL", "FUNCTION"])
def test_call_view(body: Uop) -> None:
    info = CallInfo(name="f")
    u = call(body=body, args=[a, b], info=info)
    found = u.as_call()
    assert found == CallView(body=u.src[0], args=(a, b), info=info)
    assert (found.body, found.args, found.info) == (u.src[0], (a, b), info)
    only(Uop.as_call)


def test_special_view() -> None:
    size = n(32)
    found = special(name="gidx0", size=size).as_special()
    assert found == SpecialView(name="gidx0", size=size)
    assert (found.name, found.size) == ("gidx0", size)
    only(Uop.as_special)


def test_bind_view() -> None:
    v, three = var("v"), n(3)
    u = bind(var=v, value=three)
    found = u.as_bind()
    assert found == BindView(var=v, value=three)
    assert (found.var, found.value) == (v, three)
    only(Uop.as_bind, replace(u, src=[v]))


def test_contiguous_opts() -> None:
    u = contiguous(src=tensor(2, 3) + tensor(2, 3, slot=1))
    assert u.as_contiguous_opts() is None
    opts = (Opt.upcast(axis=0, amount=2),)
    assert replace(u, arg=opts).as_contiguous_opts() == opts
    only(Uop.as_contiguous_opts)


def test_kernel_info_of_a_sink() -> None:
    info = KernelInfo(name="k")
    assert sink([a], kernel_info=info).as_kernel_info() is info
    assert sink([a]).as_kernel_info() is None
    only(Uop.as_kernel_info)


def test_call_info_of_a_call_and_a_function() -> None:
    info = CallInfo(aux="x")
    for body in (sink([]), a):
        assert call(body=body, args=[], info=info).as_call_info() is info
    only(Uop.as_call_info)


def test_program_info_of_a_program() -> None:
    info = ProgramInfo(name="p")
    assert program(sink=sink([]), info=info).as_program_info() is info
    only(Uop.as_program_info)
