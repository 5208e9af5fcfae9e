"""Deep graphs and shared ones: every walk, analysis, rewrite and comparison takes them in stride.

A chain of 100,000 nodes would overflow a recursion; a ladder of doublings has 2**2000 paths, so a
walk that follows paths would never end.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from dynamis.dtype import int32
from dynamis.uop import (
    BottomUpGate,
    CallInfo,
    Ops,
    Uop,
    alu_unary,
    backward_slice,
    call,
    compare_structure,
    detach,
    end_,
    export,
    expr_to_string,
    find_nodes,
    gettuple,
    graph_rewrite,
    import_,
    in_backward_slice,
    linear,
    mstack,
    pp,
    ranges_subset,
    remove_all_tags,
    replace,
    reshape,
    shape_arg,
    simplify,
    sink,
    spec_shared,
    substitute,
    to_dot,
    toposort,
    tuple_,
    type_verify,
    uops_to_string,
    with_tag,
)
from tests.uop.contract import loop, scalar, tensor

DEPTH = 100_000
RUNGS = 2_000
a, b = scalar("a"), scalar("b")
r = loop()


def chain(bottom: Uop, other: Uop | None = None) -> Uop:
    """Alternating ops over `bottom` that no rule touches."""
    u, other = bottom, b if other is None else other
    for k in range(DEPTH):
        u = u ^ other if k % 2 else u + other
    return u


def ladder(bottom: Uop) -> Uop:
    """Each node uses the one before it twice."""
    u = bottom
    for _ in range(RUNGS):
        u = (u ^ b) * (u + b)
    return u


def moved() -> Uop:
    """A chain of movement ops over a tensor."""
    u = tensor(2, 3)
    for k in range(DEPTH // 10):
        u = reshape(src=u, shape=shape_arg([3, 2] if k % 2 == 0 else [2, 3]))
    return detach(src=u)


USES: dict[str, Callable[[Uop], object]] = {
    "toposort": toposort,
    "toposort with a gate": lambda u: toposort(u, gate=lambda n: True, enter_calls=False),
    "backward_slice": backward_slice,
    "find_nodes": lambda u: find_nodes(lambda n: n.op is Ops.ADD, u),
    "in_backward_slice": lambda u: in_backward_slice(a, u),
    "vmin": lambda u: (u.vmin, u.vmax),
    "shape": lambda u: u.shape,
    "max_shape": lambda u: u.max_shape,
    "shard_shape": lambda u: u.shard_shape,
    "ranges": lambda u: u.ranges,
    "ranges_subset": lambda u: ranges_subset(u, u),
    "device": lambda u: u.device,
    "addrspace": lambda u: u.addrspace,
    "axis": lambda u: u.axis,
    "base": lambda u: (u.base, u.buf_uop, u.has_buffer_identity),
    "runtime_realization_state": lambda u: mstack([u]).runtime_realization_state,
    "contiguous_view_offset": lambda u: u.contiguous_view_offset,
    "graph_rewrite": lambda u: graph_rewrite(lambda n: b if n is a else None, u),
    "bottom_up": lambda u: graph_rewrite(lambda n: b if n is a else None, u, bottom_up=True),
    "a gate": lambda u: graph_rewrite(lambda n: None, u, bpm=_gate),
    "walk": lambda u: graph_rewrite(lambda n: b if n is a else None, u, walk=True),
    "substitute": lambda u: substitute([(a, b)], u),
    "remove_all_tags": lambda u: remove_all_tags(with_tag("t", u)),
    "simplify": simplify,
    "semantic_key": lambda u: u.semantic_key,
    "export": lambda u: import_(export(u)) is u or pytest.fail("another node came back"),
    "compare_structure": lambda u: compare_structure(u, substitute([(a, b)], u)),
    "call": lambda u: gettuple(src=call(body=tuple_([u]), args=[], info=CallInfo()), index=0).dtype,
    "verify": lambda u: type_verify(u, spec_shared),
    "listing": lambda u: uops_to_string(linear(toposort(u)[-1000:])),
    "expression": expr_to_string,
    "prefix expression": pp,
    "repr": repr,
}


def _gate(u: Uop) -> Uop | None:
    if u is a:
        raise BottomUpGate
    return None


@pytest.fixture(scope="module")
def deep() -> Uop:
    return chain(a)


@pytest.mark.parametrize("use", USES)
def test_a_chain_of_100_000_nodes(use: str, deep: Uop) -> None:
    assert sys.getrecursionlimit() <= 3000
    USES[use](deep)


@pytest.mark.parametrize("use", USES)
def test_a_graph_of_more_paths_than_could_be_walked(use: str) -> None:
    USES[use](ladder(a))


@pytest.mark.parametrize(
    "use", ["shape", "axis", "device", "base", "contiguous_view_offset", "ranges", "semantic_key"]
)
def test_a_deep_view(use: str) -> None:
    USES[use](moved())


def test_a_chain_in_a_loop_knows_its_range() -> None:
    u = chain(r, loop() * 3)
    assert u.ranges == (r,)
    assert end_(value=u, ranges=[r]).ranges == ()


def test_comparison_finds_a_difference_at_the_bottom(deep: Uop) -> None:
    first, second = deep, chain(b)
    assert compare_structure(first, second) == compare_structure(a, b) == -1
    assert compare_structure(second, first) == 1


def test_a_picture_of_a_ladder_has_each_node_once() -> None:
    u = ladder(a)
    assert to_dot(u).count("fillcolor") == len(toposort(u))


def test_a_wide_node_is_no_quadratic_walk() -> None:
    wide = sink([a + k for k in range(20_000)])
    assert len(toposort(wide)) == 2 * 20_000 + 3
    assert replace(wide, src=list(wide.src)) is wide
    assert import_(export(wide)) is wide
    assert graph_rewrite(lambda n: None, wide) is wide


def test_a_deep_chain_is_dropped_without_a_crash() -> None:
    u = a
    for _ in range(300_000):
        u = alu_unary(op=Ops.NEG, src=u)
    assert u.dtype is int32
    del u
