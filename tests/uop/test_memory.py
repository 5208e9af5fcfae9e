"""Memory and threads: nodes are shared by all threads and gone with their last user."""

from __future__ import annotations

import gc
import sys
import threading
import tracemalloc
from collections.abc import Callable

import pytest

from dynamis.dtype import int32, weakint
from dynamis.uop import (
    Ops,
    Uop,
    collector_paused,
    const_of_dtype,
    full_simplify,
    simplify,
    substitute,
    toposort,
    variable,
)
from dynamis.uop.traverse import _stamping
from tests.uop.graphs import leaf


def entries() -> int:
    """All entries in the node tables of two dtypes."""
    return sum(len(t) for d in (int32, weakint) for t in d.tables.values())


def build(seed: int) -> Uop:
    leaves = [variable(name=f"m{k}", min_val=0, max_val=99) for k in range(6)]
    u = leaves[0]
    for k in range(300):
        v = leaves[(k * 7 + seed) % 6]
        u = u * 3 + v if k % 3 else (u // 5 + v % 7) * 2
        if k % 10 == 0:
            u = u.maximum(v)
    return u


def in_threads(n: int, work: Callable[[int], object]) -> list[object]:
    made: list[object] = [None] * n
    start = threading.Barrier(n)

    def run(k: int) -> None:
        start.wait()
        made[k] = work(k)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(n)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    finally:
        sys.setswitchinterval(before)
    return made


def test_eight_threads_build_simplify_and_walk_to_the_same_nodes() -> None:
    for turn in range(3):
        graphs = in_threads(8, lambda _, turn=turn: build(turn))
        assert all(g is graphs[0] for g in graphs)
        root = graphs[0]
        assert isinstance(root, Uop)
        done = in_threads(8, lambda _, root=root: (simplify(root), full_simplify(root)))
        assert all(d == done[0] for d in done)
        orders = in_threads(8, lambda _, root=root: toposort(root))
        assert all(o == orders[0] for o in orders)
        bounds = in_threads(8, lambda _, root=root: (root.vmin, root.vmax))
        assert len(set(bounds)) == 1


def test_memory_and_tables_are_back_when_graphs_are_dropped() -> None:
    def work() -> None:
        in_threads(8, lambda k: simplify(build(k % 3 + 100)))
        u = build(5)
        substitute([(u.src[0], const_of_dtype(weakint, 3))], full_simplify(u))

    work()
    gc.collect()
    before = entries()
    tracemalloc.start()
    try:
        base = tracemalloc.get_traced_memory()[0]
        for _ in range(3):
            work()
        gc.collect()
        assert entries() == before
        assert tracemalloc.get_traced_memory()[0] - base < 200_000
    finally:
        tracemalloc.stop()


def test_normal_forms_do_not_keep_what_they_come_from() -> None:
    u = build(9)
    done = simplify(u)
    gc.collect()
    before = entries()
    del u
    assert entries() < before
    assert simplify(done) is done


def test_a_walk_inside_a_walk_keeps_a_set() -> None:
    u = build(2)
    with _stamping:
        inside = toposort(u)
    assert inside == toposort(u)


def test_the_collector_is_paused_and_comes_back() -> None:
    assert gc.isenabled()
    with collector_paused():
        assert not gc.isenabled()
        with collector_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(KeyError), collector_paused():
        raise KeyError
    assert gc.isenabled()
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_pauses_of_several_threads_overlap() -> None:
    def work(_: int) -> bool:
        seen = []
        for _ in range(200):
            with collector_paused():
                seen.append(gc.isenabled())
        return not any(seen)

    assert all(in_threads(4, work))
    assert gc.isenabled()


def test_graphs_of_a_hundred_thousand_nodes() -> None:
    chain = leaf("deep")
    for k in range(100_000):
        chain = (chain ^ k) + 1 if k % 2 else -chain
    assert len(toposort(chain)) > 100_000
    done = simplify(chain)
    assert simplify(done) is done
    assert done.vmin == -(2**31)
    assert chain.op is Ops.ADD
    long = leaf("t0")
    for k in range(1, 30_000):
        long = leaf(f"t{k % 97}") * (k % 5) + long
    assert len(toposort(simplify(long))) < 500
