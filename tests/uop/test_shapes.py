"""Shape, sharding and placement rules in detail, on symbolic, deep and shared graphs."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import dynamis.uop as uop
from dynamis.dtype import AddrSpace, Image, Ptr, float32, int8, int32, int64, weakint
from dynamis.uop import (
    AxisType,
    CallInfo,
    MultiDevice,
    Ops,
    ParamArg,
    StageOpts,
    Uop,
    UopError,
    WmmaInfo,
    after,
    barrier,
    buffer,
    const_int,
    const_of_dtype,
    contiguous,
    copy,
    detach,
    expand,
    export,
    flip,
    gettuple,
    import_,
    index,
    mselect,
    mstack,
    multi,
    pad,
    param,
    permute,
    range_,
    reduce_axis,
    replace,
    reshape,
    shape_arg,
    shrink,
    slice_,
    stack,
    stage,
    toposort,
    tuple_,
    variable,
)
from tests.uop.graphs import leaf, memory

n = variable(name="n", min_val=1, max_val=9)
m = variable(name="m", min_val=0, max_val=4)
GPUS = MultiDevice(("GPU:0", "GPU:1"))


def tensor(*dims: int | Uop, slot: int = 0, **where: object) -> Uop:
    arg = shape_arg(dims)
    return buffer(slot=slot, dtype=float32, shape=arg, **where)  # type: ignore[arg-type]  # device, axis


t = tensor(2, 6)
s = tensor(2, n)
sharded = tensor(4, 6, slot=9, device=GPUS, axis=0)
r = range_(size=n, axis=0, kind=AxisType.LOOP)


def op_name(part: object) -> str:
    return part.op.name if isinstance(part, Uop) else ""


def ints(*dims: int | Uop) -> tuple[Uop, ...]:
    return tuple(d if isinstance(d, Uop) else const_int(d) for d in dims)


wmma_info = WmmaInfo(
    "w", (2, 2, 2), float32.scalar, float32.scalar, "GPU", 4, ((), (), ((0, 2), (1, 4)))
)
SHAPES = [
    (t, ints(2, 6)),
    (s, ints(2, n)),
    (memory(size=7), ints(7)),
    (memory(), ints(-1)),
    (param(slot=0, dtype=Image.imagef((2, 3, 4))), ints(2, 3, 4)),
    (param(slot=0, dtype=float32), ()),
    (param(slot=0, dtype=float32.vec(4)), ints(4)),
    (uop.getaddr(src=t), ()),
    (r, ()),
    (uop.bind(var=n, value=const_int(2)), ()),
    (uop.binary(b""), ()),
    (stack([]), ()),
    (slice_(src=t, offset=n, size=5, dtype=float32), ints(5)),
    (slice_(src=index(ptr=t, idxs=[n]), offset=n, size=5, dtype=float32), ()),
    (stage(src=s, ranges=[r, const_int(3)], opts=StageOpts()), ints(n, 4, 2, n)),
    (uop.wmma(a=t, b=t, c=t, info=wmma_info, dtype=float32), ints(2, 8)),
    (
        uop.shaped_wmma(a=t, b=t, acc=s, dims=(1, 1, 1), device="", threads=1, dtype=float32),
        ints(2, n),
    ),
    (reduce_axis(src=s, op=Ops.ADD, axes=[0]), ints(n)),
    (reshape(src=s, shape=[n, 2]), ints(n, 2)),
    (reshape(src=uop.noop(), shape=[5]), ints(5)),
    (expand(src=tensor(1, n), shape=[m, n]), ints(m, n)),
    (permute(src=s, order=[1, 0]), ints(n, 2)),
    (flip(src=s, dims=[True, False]), ints(2, n)),
    (pad(src=s, offset=[1, 0], size=[4, n]), ints(4, n)),
    (shrink(src=s, offset=[1, 0], size=[1, n]), ints(1, n)),
    (shrink(src=tensor(2, 14), offset=[0, m], size=[2, n]), ints(2, n)),
    (uop.bitcast(src=t, dtype=int64), ints(2, 3)),
    (uop.bitcast(src=t, dtype=int8), ints(2, 24)),
    (multi(src=mstack([t, tensor(2, 6, slot=1)]), axis=1), ints(2, 6)),
    (multi(src=sharded, axis=1), ints(4, 12)),
    (gettuple(src=tuple_([t, s]), index=1), ints(2, n)),
    (t + tensor(6), ints(2, 6)),
    (tensor(1, 6) + tensor(2, 1), ints(2, 6)),
    (s + 1.0, ints(2, n)),
    (uop.group([barrier(), t]), ints(2, 6)),
    (after(src=t, deps=[barrier()]), ints(2, 6)),
    (copy(src=t, device="GPU"), ints(2, 6)),
    (detach(src=t), ints(2, 6)),
    (mselect(src=t, index=0), ints(2, 6)),
    (contiguous(src=t, ranges=[r]), ints(2, 6)),
    (uop.contiguous_backward(src=t), ints(2, 6)),
    (index(ptr=t, idxs=[stack([n, m])]), ints(2, 6)),
    (stack([t, t]), ints(2, 2, 6)),
]


@pytest.mark.parametrize(("u", "shape"), SHAPES, ids=op_name)
def test_shape_by_op(u: Uop, shape: tuple[Uop, ...]) -> None:
    assert u.shape == shape
    assert u.max_shape == tuple(d.vmax for d in shape)


WITHOUT = [
    barrier(),
    uop.sink([]),
    uop.linear([]),
    uop.noop(),
    uop.rewrite_error(src=[], msg=""),
    tuple_([]),
    uop.source(""),
    uop.custom(fmt="", args=[]),
    uop.custom_function(name="f", srcs=[]),
    uop.call(body=t, args=[]),
    uop.wait(src=t, wait_for=t),
    uop.ins(mnemonic="", operands=[]),
    uop.if_(cond=n < 2, idx_for_dedup=t),
    detach(src=barrier()),
    stack([barrier()]),
]


@pytest.mark.parametrize("u", WITHOUT, ids=lambda u: u.op.name)
def test_ops_without_a_shape(u: Uop) -> None:
    with pytest.raises(UopError, match="no shape"):
        _ = u.shape


def test_what_does_not_fit_raises_above_it_too() -> None:
    bad = reshape(src=t, shape=[13])
    for u in (bad, detach(src=bad), bad + 1.0, stack([bad]), permute(src=bad, order=[0])):
        for _ in range(2):
            with pytest.raises(UopError, match="12 elements do not fill 13"):
                _ = u.shape


def test_dimensions_are_integers() -> None:
    wrong = leaf("f", float32)
    for u in (tensor(2, wrong), stage(src=t, ranges=[wrong], opts=StageOpts())):
        with pytest.raises(UopError, match="no integer"):
            _ = u.max_shape


def test_dimensions_through_a_call_are_the_arguments() -> None:
    inner = param(slot=1, dtype=weakint, shape=stack([]))
    body = buffer(slot=3, dtype=float32, shape=shape_arg([inner * 2, 5, inner]))
    made = uop.call(body=tuple_([n + 1, body]), args=[t, m + 1], info=CallInfo())
    assert gettuple(src=made, index=1).shape == ((m + 1) * 2, const_int(5), m + 1)
    swapped = uop.call(body=body, args=[t, inner * 3])  # a value may hold its own key
    assert gettuple(src=swapped, index=0).shape[2] is inner * 3


AXES = [
    (sharded, 0),
    (tensor(2), None),
    (multi(src=t, axis=1), 1),
    (copy(src=sharded, device="CPU"), None),
    (sharded + tensor(4, 6, slot=8, device=GPUS, axis=1), 1),
    (tensor(6) + sharded, 0),
    (permute(src=sharded, order=[1, 0]), 1),
    (reduce_axis(src=sharded, op=Ops.ADD, axes=[0]), None),
    (reduce_axis(src=tensor(4, 6, device=GPUS, axis=1), op=Ops.ADD, axes=[0]), 0),
    (shrink(src=sharded, offset=[0, 1], size=[4, 2]), 0),
    (shrink(src=sharded, offset=[1, 0], size=[2, 6]), None),
    (reshape(src=sharded, shape=[2, 2, 6]), 0),
    (reshape(src=sharded, shape=[1, 1, 4, 6]), 2),
    (reshape(src=tensor(4, 6, device=GPUS, axis=1), shape=[2, 2, 6]), 2),
    (reshape(src=tensor(4, 6, device=GPUS, axis=1), shape=[24]), None),
    (reshape(src=tensor(n, 6, device=GPUS, axis=1), shape=[n, 2, 3]), 1),
    (gettuple(src=tuple_([t, sharded]), index=1), 0),
    (contiguous(src=sharded, force=True), 0),
    (pad(src=sharded, offset=[0, 0], size=[4, 8]), 0),
    (barrier(), None),
]


@pytest.mark.parametrize(("u", "axis"), AXES, ids=op_name)
def test_sharding_axis_by_op(u: Uop, axis: int | None) -> None:
    assert u.axis == axis


def test_an_axis_that_devices_do_not_divide_raises() -> None:
    with pytest.raises(UopError, match="not cut evenly"):
        _ = reshape(src=tensor(6, device=GPUS, axis=0), shape=[3, 2]).axis


def test_shards() -> None:
    parts = multi(src=mstack([tensor(3, 5, device=d) for d in GPUS.names]), axis=0)
    assert parts.shape == ints(6, 5)
    assert parts.shard_shape == ints(3, 5)
    assert parts.max_shard_shape == (3, 5)
    assert parts.bounds == ((const_int(0), const_int(3)), (const_int(3), const_int(6)))
    assert (parts + 1.0).bounds == parts.bounds
    wide = tensor(n * 2, device=GPUS, axis=0)
    assert wide.shard_shape == (n,)
    assert wide.max_shard_shape == (9,)
    assert wide.bounds[1][0] is n
    assert t.shard_shape == t.shape
    for u in (t, tensor(2, axis=0, device="CPU"), tensor(2, device=GPUS)):
        with pytest.raises(UopError, match="not sharded"):
            _ = u.bounds
    with pytest.raises(UopError, match="axis 3 of rank 2"):
        _ = replace(sharded, arg=ParamArg(9, axis=3, device=GPUS)).shard_shape


OFFSETS = [
    (t, 0),
    (reshape(src=t, shape=[12]), 0),
    (shrink(src=t, offset=[1, 0], size=[1, 6]), 6),
    (shrink(src=t, offset=[1, 2], size=[1, 3]), 8),
    (shrink(src=t, offset=[0, 2], size=[2, 3]), None),
    (shrink(src=t, offset=[0, 0], size=[1, 3]), 0),
    (shrink(src=t, offset=[0, 0], size=[2, 6]), 0),
    (shrink(src=reshape(src=t, shape=[12]), offset=[3], size=[4]), 3),
    (shrink(src=shrink(src=t, offset=[1, 0], size=[1, 6]), offset=[0, 4], size=[1, 1]), 10),
    (permute(src=t, order=[1, 0]), None),
    (permute(src=tensor(1, 6), order=[1, 0]), 0),
    (flip(src=t, dims=[True, False]), None),
    (flip(src=tensor(1, 6), dims=[True, False]), 0),
    (expand(src=tensor(1, 6), shape=[2, 6]), None),
    (expand(src=t, shape=[2, 6]), 0),
    (pad(src=t, offset=[0, 0], size=[2, 6]), 0),
    (pad(src=t, offset=[0, 1], size=[2, 8]), None),
    (slice_(src=t, offset=const_int(5), size=4, dtype=float32), 5),
    (t + 1.0, None),
    (slice_(src=t, offset=n, size=1, dtype=float32), None),
    (stack([t]), None),
    (
        shrink(src=slice_(src=t, offset=const_int(5), size=4, dtype=float32), offset=[1], size=[2]),
        6,
    ),
    (shrink(src=tensor(9, 6), offset=[m, 0], size=[1, 6]), None),
    (contiguous(src=t, force=True), 0),
    (shrink(src=tensor(4, n), offset=[2, 0], size=[1, n]), None),
    (memory(), 0),
    (shrink(src=tensor(4, n), offset=[0, 0], size=[1, n]), 0),
    (detach(src=after(src=shrink(src=t, offset=[1, 0], size=[1, 6]), deps=[barrier()])), 6),
]


@pytest.mark.parametrize(("u", "offset"), OFFSETS, ids=op_name)
def test_contiguous_views(u: Uop, offset: int | None) -> None:
    assert u.contiguous_view_offset == offset


def test_devices() -> None:
    single = uop.SingleDevice
    shards = [tensor(2, device=d) for d in GPUS.names]
    assert mstack(shards).device is GPUS
    assert mstack([shards[0], t]).device is None
    assert mselect(src=mstack(shards), index=1).device is single("GPU:1")
    assert mselect(src=mstack(shards), index=2).device is None
    assert mselect(src=shards[0], index=0).device is None
    assert stage(src=shards[0], ranges=[], opts=StageOpts()).device is None
    assert (t + shards[0] + shards[1]).device is single("GPU:0")
    assert after(src=t, deps=[shards[0]]).device is None
    assert uop.allreduce(src=mstack(shards), device=GPUS, op=Ops.ADD).device is GPUS
    assert copy(src=mstack(shards), device=["a", "b"]).device is MultiDevice(("a", "b"))
    assert const_int(1).device is None


def test_buffers_behind_nodes() -> None:
    moved = reshape(src=after(src=reshape(src=t, shape=[12]), deps=[barrier()]), shape=[3, 4])
    assert moved.buf_uop is t
    views = mstack([reshape(src=t, shape=[12]), reshape(src=sharded, shape=[24])])
    assert views.buf_uop is mstack([t, sharded])
    assert mselect(src=views, index=1).buf_uop is mselect(src=mstack([t, sharded]), index=1)
    assert after(src=views, deps=[barrier()]).buf_uop is mstack([t, sharded])
    staged = stage(src=t, ranges=[], opts=StageOpts())
    assert index(ptr=staged, idxs=[n]).buf_uop is staged
    assert slice_(src=t, offset=n, size=1, dtype=float32).buf_uop is t


# -- deep and shared graphs

PROPERTIES: dict[str, Callable[[Uop], object]] = {
    name: (lambda u, name=name: getattr(u, name))  # type: ignore[misc]  # the name is bound
    for name in (
        "vmin",
        "vmax",
        "shape",
        "max_shape",
        "shard_shape",
        "max_shard_shape",
        "axis",
        "device",
        "addrspace",
        "base",
        "buf_uop",
        "has_buffer_identity",
        "ranges",
        "contiguous_view_offset",
        "runtime_realization_state",
        "semantic_key",
    )
} | {"export": export}


def deep_movement(depth: int) -> Uop:
    u = tensor(4, 6, slot=7, device=GPUS, axis=0)
    for k in range(depth // 2):
        u = reshape(src=u, shape=[4, 6] if k % 2 else [4, 2, 3])
        u = detach(src=u)
    return u


def deep_effects(depth: int) -> Uop:
    words = buffer(slot=7, dtype=Ptr.create(int32, addrspace=AddrSpace.REG, size=4))
    loop = range_(size=4, axis=0, kind=AxisType.LOOP, dtype=int32)
    u = words
    for k in range(depth // 4):
        place = index(ptr=after(src=words, deps=[u]), idxs=[loop])
        u = uop.store(dst=place, value=const_of_dtype(int32, k % 5))
        u = uop.end_(value=u, ranges=[loop])
    return after(src=words, deps=[u])


def deep_mselects(depth: int) -> Uop:
    u = tensor(4, 6, slot=7, device=GPUS)
    for _ in range(depth):
        u = mselect(src=u, index=0)
    return u


def doubling(depth: int) -> Uop:
    u = leaf("x")
    for k in range(depth):
        u = u + u if k % 2 else (u < 3).where(u, u * 2)
    return u


DEEP = {
    "movement": deep_movement(100_000),
    "effects": deep_effects(100_000),
    "mselects": deep_mselects(100_000),
    "doubling": doubling(50_000),
}


@pytest.mark.parametrize("graph", DEEP)
@pytest.mark.parametrize("name", PROPERTIES)
def test_deep_and_shared_graphs_have_every_property(name: str, graph: str) -> None:
    u = DEEP[graph]
    first = PROPERTIES[name](u)
    assert first == PROPERTIES[name](u)
    if name == "export":
        assert isinstance(first, bytes)
        assert import_(first) is u


@pytest.mark.parametrize("graph", ["movement", "mselects"])
def test_asking_every_node_walks_the_graph_once(graph: str) -> None:
    asked = toposort(DEEP[graph])
    assert len({(u.device, u.addrspace, u.axis) for u in asked}) <= 4
    assert len(asked) > 100_000


def test_launches_of_deep_effects_are_read_in_one_walk() -> None:
    mem = memory(5)
    u = mem
    for _ in range(30_000):
        place = index(ptr=u, idxs=[n])
        u = after(src=u, deps=[uop.store(dst=place, value=uop.load(src=place))])
    info = uop.program_info_from_sink(uop.sink([u]))
    assert (info.globals, info.outs, info.ins) == ((5,), (5,), (5,))


def test_a_chain_of_shardings_is_walked_once() -> None:
    u = tensor(1, slot=7, device=MultiDevice(("GPU:0",)))
    for _ in range(20_000):
        u = multi(src=u, axis=0)
    assert u.max_shape == (1,)
    assert u.max_shard_shape == (1,)
