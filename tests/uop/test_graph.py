"""Walks, ranges, shapes, address spaces and structural order."""

from __future__ import annotations

import random

import pytest

from dynamis.dtype import AddrSpace, Ptr, bool_, float32, int8, int32, int64
from dynamis.uop import (
    AxisType,
    Ops,
    Uop,
    UopError,
    after,
    backward_slice,
    barrier,
    bitcast,
    break_,
    buffer,
    compare_structure,
    const_float,
    const_int,
    const_of_dtype,
    end_,
    find_nodes,
    group,
    in_backward_slice,
    index,
    load,
    param,
    range_,
    ranges_subset,
    replace,
    sink,
    stack,
    store,
    toposort,
    with_tag,
)
from tests.uop.graphs import leaf, memory

i, j, x = leaf("i"), leaf("j"), leaf("x", float32)


def loop(axis: int, *, size: Uop | int = 4, parents: tuple[Uop, ...] = ()) -> Uop:
    return range_(size=size, axis=axis, kind=AxisType.LOOP, dtype=int32, parents=parents)


def deep(n: int) -> Uop:
    u = i
    for k in range(n):
        u = (u + j) ^ k
    return u


def test_toposort_is_depth_first_left_to_right() -> None:
    u = (i + j) * (j - i)
    order = [n for n in toposort(u) if n.op is not Ops.STACK]
    assert order == [i, j, i + j, j - i, u]
    assert backward_slice(u) == toposort(u)[:-1]


def test_toposort_puts_sources_first_and_each_node_once() -> None:
    order = toposort(deep(50))
    place = {n: k for k, n in enumerate(order)}
    assert len(place) == len(order)
    assert all(place[s] < place[n] for n in order for s in n.src)


def test_gated_node_is_listed_but_not_entered() -> None:
    u = -(i + j)
    assert toposort(u, gate=lambda n: n.op is not Ops.ADD) == [i + j, u]


def test_call_bodies_are_left_out_on_request() -> None:
    call = replace(x, op=Ops.CALL, src=[i + j, x], arg=None)
    assert i + j in toposort(call)
    assert i + j not in toposort(call, enter_calls=False)
    assert x in toposort(call, enter_calls=False)


def test_wide_nodes_are_walked_in_linear_time() -> None:
    wide = sink([i + k for k in range(30_000)])
    assert len(toposort(wide)) == 60_000 + 3
    assert wide.ranges == ()


def test_searches() -> None:
    u = (i + j) * i
    assert find_nodes(lambda n: n.op is Ops.ADD, u) == [i + j]
    assert in_backward_slice(j, u)
    assert not in_backward_slice(u, u)
    assert not in_backward_slice(x, u)


def test_chains_of_any_depth() -> None:
    u = deep(50_000)
    assert len(toposort(u)) > 100_000
    assert u.ranges == ()
    assert u.max_shape == ()
    assert u.vmax == 2**31 - 1
    assert compare_structure(u, -u) != 0
    assert u.addrspace is AddrSpace.ALU


def test_ranges_in_order_of_first_occurrence() -> None:
    a, b = loop(0), loop(1)
    assert a.ranges == (a,)
    assert (b * 2 + a).ranges == (b, a)
    assert ((a + b) * (b + a)).ranges == (a, b)
    inner = loop(2, size=a + 1, parents=(b,))
    assert inner.ranges == (inner, a, b)
    assert ranges_subset(a, inner)
    assert not ranges_subset(inner, a)


def test_end_closes_and_effects_keep_ranges() -> None:
    a, b = loop(0), loop(1)
    s = store(dst=index(ptr=memory(), idxs=[a * 4 + b]), value=x)
    assert s.ranges == (a, b)
    assert end_(value=s, ranges=[b]).ranges == (a,)
    assert end_(value=s, ranges=[a, b]).ranges == ()
    assert break_(done=a < 3, loop=a).ranges == (a,)
    assert break_(done=leaf("b", bool_), loop=a).ranges == (a,)


def test_after_ends_what_its_dependencies_end() -> None:
    a = loop(0)
    words = buffer(slot=10_000, dtype=Ptr.create(int32, addrspace=AddrSpace.REG, size=1))
    inside = after(src=words, deps=[a])
    s = store(dst=index(ptr=inside, idxs=[const_of_dtype(int32, 0)]), value=a)
    closed = end_(value=s, ranges=[a])
    assert inside.ranges == (a,)
    assert after(src=words, deps=[closed]).ranges == ()
    assert after(src=inside, deps=[closed]).ranges == ()
    nested = after(src=words, deps=[after(src=words, deps=[closed])])
    assert after(src=inside, deps=[nested]).ranges == ()


def test_ranges_of_shared_graphs_are_linear() -> None:
    u = loop(0) + loop(1)
    for _ in range(2000):
        u = u + u
    assert len(u.ranges) == 2


def test_shapes() -> None:
    lanes = stack([const_of_dtype(int32, k) for k in range(4)])
    place = index(ptr=memory(), idxs=[lanes + i])
    assert i.max_shape == ()
    assert lanes.max_shape == (4,)
    assert (lanes + i).max_shape == (4,)
    assert stack([lanes, lanes]).max_shape == (2, 4)
    assert place.max_shape == (4,)
    assert load(src=place).max_shape == (4,)
    assert ((lanes < i).where(x, x)).max_shape == (4,)
    assert const_of_dtype(float32.vec(3), 1.0).max_shape == (3,)
    assert stack([]).max_shape == ()
    assert memory(size=7).max_shape == (7,)
    assert memory().max_shape == (-1,)
    assert after(src=memory(size=7), deps=[barrier()]).max_shape == (7,)
    assert bitcast(src=stack([x, x]), dtype=int8).max_shape == (8,)
    assert loop(0).max_shape == ()


def test_gated_access_has_the_lanes_of_its_gate() -> None:
    lanes = stack([const_of_dtype(bool_, k == 1) for k in range(4)])
    place = index(ptr=memory(), idxs=[i])
    assert load(src=place, alt=x, gate=lanes).max_shape == (4,)
    assert store(dst=place, value=x, gate=lanes).max_shape == (4,)
    assert end_(value=store(dst=place, value=x), ranges=[loop(0)]).max_shape == ()


def test_symbolic_shapes() -> None:
    n = leaf("n", int64, (1, 9))
    p = param(slot=0, dtype=memory().dtype, shape=stack([n, const_int(3)]))
    assert p.shape == (n, const_int(3))
    assert p.max_shape == (9, 3)
    assert index(ptr=p, idxs=[i]).max_shape == (3,)
    assert n.as_shape() == (n,)


@pytest.mark.parametrize("u", [sink([]), barrier(), group([])])
def test_nodes_without_a_shape(u: Uop) -> None:
    with pytest.raises(UopError, match="no shape"):
        _ = u.max_shape


def test_address_spaces() -> None:
    reg = buffer(slot=1, dtype=Ptr.create(int32, addrspace=AddrSpace.REG, size=4))
    place = index(ptr=after(src=reg, deps=[barrier()]), idxs=[i])
    assert reg.addrspace is AddrSpace.REG
    assert place.addrspace is AddrSpace.REG
    assert load(src=place).addrspace is AddrSpace.ALU
    assert const_float(1.0).addrspace is None
    assert (x + 1.0).addrspace is AddrSpace.ALU
    assert stack([x, place]).addrspace is None
    assert barrier().addrspace is None
    assert load(src=place).buf_uop is reg
    assert x.buf_uop is x
    assert place.base is place


def test_structural_order_does_not_depend_on_what_was_built_first() -> None:
    late, early = leaf("a"), leaf("b")
    assert early.tag != late.tag
    assert compare_structure(late, early) == -1
    assert compare_structure(early, late) == 1
    assert compare_structure(early, early) == 0


def test_structural_order_is_by_op_dtype_payload_sources_tag() -> None:
    ordered = [
        i, j, x, -i, -j, i + i, i + j, j + i, i * i, const_float(-0.0), const_float(0.0),
        const_float(2.0), const_float(float("nan")),
    ]  # fmt: skip
    shuffled = list(ordered)
    random.Random(1).shuffle(shuffled)
    for p in range(len(ordered)):
        for q in range(len(ordered)):
            want = (p > q) - (p < q)
            assert compare_structure(ordered[p], ordered[q]) == want
    assert compare_structure(i, with_tag("t", i)) == -1
    assert compare_structure(sink([i]), sink([i, j])) == -1


def test_structural_order_of_shared_graphs_is_linear() -> None:
    u, v = i, j
    for _ in range(3000):
        u, v = u + u, v + v
    assert compare_structure(u, v) == -1
