"""The contract's walks: traversal, ranges, places, shapes, sharding, rewriting."""

from __future__ import annotations

import pytest

from dynamis.dtype import AddrSpace, float32, int32
from dynamis.uop import (
    BottomUpGate,
    CallInfo,
    DeviceIndex,
    Marg,
    MargBounds,
    MargFlip,
    MargPermute,
    MargShape,
    MultiDevice,
    NeverRealized,
    Ops,
    RewriteError,
    RuntimeDependent,
    SingleDevice,
    StageOpts,
    Uop,
    UopError,
    after,
    allreduce,
    backward_slice,
    call,
    copy,
    detach,
    end_,
    expand,
    find_nodes,
    first_match,
    flip,
    gettuple,
    graph_rewrite,
    in_backward_slice,
    index,
    load,
    mselect,
    mstack,
    multi,
    pad,
    param,
    permute,
    ranges_subset,
    reduce,
    reduce_axis,
    remove_all_tags,
    replace,
    reshape,
    shape_arg,
    shrink,
    sink,
    slice_,
    special,
    stack,
    stage,
    substitute,
    toposort,
    tuple_,
    with_tag,
)
from tests.uop.contract import ints, loop, memory, n, scalar, scratch, tensor, var

a, b, c = scalar("a"), scalar("b"), scalar("c")


# -- traversal


def test_toposort_lists_sources_first_each_once() -> None:
    root = (a + b) * (a + b)
    order = toposort(root)
    assert order[-1] is root
    assert len(order) == len(set(order))
    place = {u: k for k, u in enumerate(order)}
    assert all(place[s] < place[u] for u in order for s in u.src)


def test_toposort_emits_what_its_gate_rejects_but_does_not_enter_it() -> None:
    inner = a + b
    root = inner * c
    order = toposort(root, gate=lambda u: u is not inner)
    assert inner in order
    assert a not in order
    assert c in order


def test_toposort_may_leave_out_the_bodies_of_calls() -> None:
    body = sink([a])
    u = call(body=body, args=[b], info=CallInfo())
    assert body in toposort(u)
    assert body not in toposort(u, enter_calls=False)
    assert b in toposort(u, enter_calls=False)


def test_backward_slice_is_toposort_without_the_root() -> None:
    root = a * b + c
    assert [*backward_slice(root), root] == toposort(root)


def test_find_nodes_keeps_topological_order() -> None:
    root = (a * b) + (b * c)
    assert find_nodes(lambda u: u.op is Ops.MUL, root) == [a * b, b * c]


def test_in_backward_slice_is_strict() -> None:
    root = a * b + c
    assert in_backward_slice(a, root)
    assert not in_backward_slice(root, root)
    assert not in_backward_slice(root, a)


# -- what a node stands in, and where it is


def test_realization_depends_on_buffers_or_is_never() -> None:
    t = tensor(4)
    assert reshape(src=t, shape=shape_arg([2, 2])).runtime_realization_state == RuntimeDependent(
        (t,)
    )
    assert isinstance((t + t).runtime_realization_state, NeverRealized)
    assert isinstance(scratch().runtime_realization_state, NeverRealized)


def test_ranges_are_those_a_node_is_nested_in() -> None:
    r, s = loop(), loop(axis=1)
    body = r * 10 + s
    assert set(body.ranges) == {r, s}
    assert r.ranges == (r,)
    assert reduce(src=body, ranges=[s], op=Ops.ADD, dtype=body.dtype).ranges == (r,)
    assert end_(value=body, ranges=[r, s]).ranges == ()
    assert stage(src=body, ranges=[r], opts=StageOpts()).ranges == (s,)
    assert set(loop(axis=2, size=body).ranges) >= {r, s}


def test_ranges_subset_compares_the_ranges_of_two_nodes() -> None:
    r, s = loop(), loop(axis=1)
    assert ranges_subset(r, r + s)
    assert not ranges_subset(r + s, r)
    assert ranges_subset(a, r)


def test_device_is_found_by_walking() -> None:
    t = tensor(4, device=["A", "B"])
    single = SingleDevice("A")
    assert t.device is MultiDevice(("A", "B"))
    assert mselect(src=t, index=1).device is SingleDevice("B")
    assert mstack([tensor(4, device="A"), tensor(4, device="B")]).device is MultiDevice(("A", "B"))
    assert copy(src=t, device="C").device is SingleDevice("C")
    assert allreduce(src=t, device="A", op=Ops.ADD).device is single
    opts = StageOpts(device=DeviceIndex(3))
    assert stage(src=t, ranges=[], opts=opts).device is DeviceIndex(3)
    assert after(src=tensor(4, device="A"), deps=[t]).device is single
    assert (tensor(4, device="A") + 1).device is single
    assert (a + 1).device is None


def test_addrspace_is_read_or_agreed_on() -> None:
    i = loop()
    assert memory().addrspace is AddrSpace.GLOBAL
    assert scratch(space=AddrSpace.LOCAL).addrspace is AddrSpace.LOCAL
    assert i.addrspace is AddrSpace.ALU
    assert special(name="gidx0", size=n(4)).addrspace is AddrSpace.ALU
    at = index(ptr=memory(), idxs=[i])
    assert at.addrspace is AddrSpace.GLOBAL
    assert load(src=at).addrspace is AddrSpace.ALU
    assert (i + 1).addrspace is AddrSpace.ALU
    assert (tensor(4) + scalar("x", float32)).addrspace is None
    assert n(1).addrspace is None


def test_base_walks_through_movement_and_detach() -> None:
    t = tensor(2, 3)
    moved = detach(src=permute(src=reshape(src=t, shape=shape_arg([3, 2])), order=[1, 0]))
    assert moved.base is t
    for own in (t, multi(src=t, axis=0), t + t):
        assert own.base is own


def test_buf_uop_is_the_buffer_behind_a_node() -> None:
    t = tensor(10)
    assert t.buf_uop is t
    assert slice_(src=t, offset=n(2), size=4, dtype=float32).buf_uop is t
    assert after(src=reshape(src=t, shape=shape_arg([2, 5])), deps=[a]).buf_uop is t
    staged = stage(src=t, ranges=[], opts=StageOpts())
    assert staged.buf_uop is staged


def test_buffer_identity_is_concrete() -> None:
    t = tensor(4)
    assert t.has_buffer_identity
    assert memory().has_buffer_identity
    assert slice_(src=t, offset=n(0), size=2, dtype=float32).has_buffer_identity
    assert reshape(src=t, shape=shape_arg([2, 2])).has_buffer_identity
    assert multi(src=t, axis=0).has_buffer_identity
    assert gettuple(src=tuple_([a, t]), index=1).has_buffer_identity
    assert not permute(src=t, order=[0]).has_buffer_identity
    assert not (t + t).has_buffer_identity


# -- shapes


def test_as_shape_decodes_a_shape_argument() -> None:
    v = var("v")
    assert shape_arg([2, v]).as_shape() == (n(2), v)
    assert v.as_shape() == (v,)
    assert n(3).as_shape() == (n(3),)
    assert stack([]).as_shape() == ()


def test_marg_decodes_the_shape_of_reshape_and_expand() -> None:
    t = tensor(1, 6)
    for u in (reshape(src=t, shape=shape_arg([2, 3])), expand(src=t, shape=shape_arg([5, 6]))):
        found = u.marg
        assert isinstance(found, MargShape)
        assert found.dims == u.src[1].src


def test_marg_decodes_the_bounds_of_pad_and_shrink() -> None:
    t, at, size = tensor(4, 3), shape_arg([1, 0]), shape_arg([2, 3])
    found = shrink(src=t, offset=at, size=size).marg
    assert isinstance(found, MargBounds)
    assert found.bounds == ((n(1), n(2)), (n(0), n(3)))
    padded = pad(src=t, offset=at, size=shape_arg([6, 3])).marg
    assert padded == MargBounds(((n(1), n(6)), (n(0), n(3))))


def test_marg_decodes_the_order_of_permute() -> None:
    found = permute(src=tensor(2, 3), order=[1, 0]).marg
    assert isinstance(found, MargPermute)
    assert found.order == (1, 0)


def test_marg_decodes_the_flags_of_flip() -> None:
    found = flip(src=tensor(2, 3), dims=[True, False]).marg
    assert isinstance(found, MargFlip)
    assert found.dims == (True, False)


def test_marg_is_of_movement_ops_only() -> None:
    assert isinstance(permute(src=tensor(2), order=[0]).marg, Marg)
    with pytest.raises(UopError):
        _ = (a + b).marg
    with pytest.raises(UopError):
        _ = replace(flip(src=tensor(2), dims=[True]), arg=None).marg


def test_shape_is_symbolic_and_raises_where_there_is_none() -> None:
    v = var("v", 1, 9)
    t = tensor(2, v)
    assert ints(t.shape) == [2, v]
    assert ints(reduce_axis(src=t, op=Ops.ADD, axes=[0]).shape) == [v]
    assert ints((tensor(1, 3) + tensor(2, 1, slot=1)).shape) == [2, 3]
    assert loop().shape == ()
    with pytest.raises(UopError):
        _ = sink([]).shape


def test_shape_through_a_function_takes_the_calls_arguments() -> None:
    inner = param(slot=0, dtype=int32, shape=stack([]), name="m", vmin_vmax=(1, 9),
                  addrspace=AddrSpace.ALU)  # fmt: skip
    body = param(slot=1, dtype=float32, shape=shape_arg([inner, 3]))
    length = scalar("length")
    u = call(body=body, args=[length, tensor(5, 3)], info=CallInfo())
    assert ints(gettuple(src=u, index=0).shape) == [length, 3]


def test_max_shape_takes_upper_bounds() -> None:
    assert tensor(2, var("v", 1, 9)).max_shape == (2, 9)


def test_shard_shape_divides_the_sharding_axis() -> None:
    t = tensor(8, 3, device=["A", "B"], axis=0)
    assert ints(t.shard_shape) == [4, 3]
    assert ints(tensor(8, 3).shard_shape) == [8, 3]


def test_max_shard_shape_takes_upper_bounds() -> None:
    t = tensor(8, var("v", 1, 9), device=["A", "B"], axis=0)
    assert t.max_shard_shape == (4, 9)


def test_axis_is_the_sharding_axis() -> None:
    t = tensor(8, 4, device=["A", "B"], axis=0)
    assert t.axis == 0
    assert multi(src=tensor(4), axis=0).axis == 0
    assert copy(src=t, device="A").axis is None
    assert permute(src=t, order=[1, 0]).axis == 1
    assert (t + 1).axis == 0
    assert reduce_axis(src=t, op=Ops.ADD, axes=[0]).axis is None
    assert gettuple(src=tuple_([a, t]), index=1).axis == 0
    assert a.axis is None


def test_bounds_are_the_interval_of_each_shard() -> None:
    t = multi(src=tensor(4, 3, device=["A", "B"]), axis=0)
    assert [tuple(ints(pair)) for pair in t.bounds] == [(0, 4), (4, 8)]
    with pytest.raises(UopError):
        _ = tensor(4).bounds


def test_contiguous_view_offset_is_proven_or_none() -> None:
    t = tensor(4, 6)
    rows = shrink(src=t, offset=shape_arg([1, 0]), size=shape_arg([2, 6]))
    assert t.contiguous_view_offset == 0
    assert rows.contiguous_view_offset == 6
    assert reshape(src=rows, shape=shape_arg([12])).contiguous_view_offset == 6
    columns = shrink(src=t, offset=shape_arg([0, 1]), size=shape_arg([4, 2]))
    assert columns.contiguous_view_offset is None
    assert permute(src=t, order=[1, 0]).contiguous_view_offset is None
    assert flip(src=t, dims=[True, False]).contiguous_view_offset is None


# -- rewriting


def test_graph_rewrite_applies_to_every_node_and_again_to_results() -> None:
    def rule(u: Uop) -> Uop | None:
        return {a: b, b: c}.get(u)

    assert graph_rewrite(rule, a * 2 + b) is c * 2 + c


def test_graph_rewrite_pre_matches_enters_calls_walks_and_reports() -> None:
    seen: list[tuple[Uop, Uop]] = []
    inside = call(body=sink([a]), args=[a], info=CallInfo())

    def rule(u: Uop) -> Uop | None:
        return b if u is a else None

    kept = graph_rewrite(rule, inside, on_rebuild=lambda old_n, new_n: seen.append((old_n, new_n)))
    assert kept.src == (sink([a]), b)
    assert (a, b) in seen
    assert graph_rewrite(rule, inside, enter_calls=True).src == (sink([b]), b)
    assert graph_rewrite(lambda u: None, a + a, bpm=rule) is b + b
    assert graph_rewrite(rule, a + a, bottom_up=True) is b + b
    grow = {a: a + 1}
    assert graph_rewrite(grow.get, a * 2, walk=True) is (a + 1) * 2


def test_graph_rewrite_reports_a_cycle_with_its_name_and_place() -> None:
    flop = {a: b, b: a}
    with pytest.raises(RewriteError, match="ping") as caught:
        graph_rewrite(flop.get, a + 1, name="ping", loc=("file.py", 3, 0, 9), bottom_up=True)
    assert "file.py" in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_bottom_up_gate_keeps_a_node_and_all_under_it() -> None:
    def pre(u: Uop) -> Uop | None:
        if u.op is Ops.MUL:
            raise BottomUpGate
        return None

    def post(u: Uop) -> Uop | None:
        return b if u is a else None

    assert graph_rewrite(post, (a * 2) + a, bpm=pre) is (a * 2) + b
    assert issubclass(BottomUpGate, Exception)


def test_remove_all_tags_enters_bodies() -> None:
    u = call(body=sink([with_tag("x", a + b)]), args=[with_tag("y", a)], info=CallInfo())
    assert remove_all_tags(u) is call(body=sink([a + b]), args=[a], info=CallInfo())


def test_substitute_replaces_by_identity_and_may_hold_its_key_when_walking() -> None:
    assert substitute([(a, b), (c, a + 0)], a * c) is b * (b + 0)
    assert substitute([(a, a + 1)], a * 2, walk=True) is (a + 1) * 2
    with pytest.raises(RewriteError):
        substitute([(a, a + 1)], a * 2)


def test_first_match_is_the_first_result() -> None:
    rules = [lambda u: None, lambda u: b if u is a else None, lambda u: c]
    assert first_match(rules, a) is b
    assert first_match(rules, b) is c
    assert first_match(rules[:2], b) is None
