"""The general rewriting engine, substitution and small helpers."""

from __future__ import annotations

import random

import pytest

from dynamis.dtype import bool_, float32
from dynamis.uop import (
    BottomUpGate,
    Ops,
    RewriteError,
    Uop,
    first_match,
    graph_rewrite,
    remove_all_tags,
    replace,
    substitute,
    toposort,
    with_tag,
)
from dynamis.uop.node import node
from tests.uop.graphs import leaf

a, b, c, x = leaf("a"), leaf("b"), leaf("c"), leaf("x", float32)


def add_to_mul(u: Uop) -> Uop | None:
    return u.src[0] * u.src[1] if u.op is Ops.ADD else None


def test_post_matcher_sees_rewritten_sources_first() -> None:
    seen: list[Uop] = []

    def f(u: Uop) -> Uop | None:
        seen.append(u)
        return add_to_mul(u)

    assert graph_rewrite(f, (a + b) + c) is (a * b) * c
    assert seen.index(a + b) < seen.index((a * b) + c)
    assert (a + b) + c not in seen


def test_results_are_rewritten_in_turn_and_each_node_once() -> None:
    calls: dict[Uop, int] = {}

    def f(u: Uop) -> Uop | None:
        calls[u] = calls.get(u, 0) + 1
        return -u.src[0] if u.op is Ops.ADD else b if u.op is Ops.NEG else None

    shared = a + c
    assert graph_rewrite(f, shared * (shared ^ c)) is b * (b ^ c)
    assert set(calls.values()) == {1}


def test_bottom_up_works_to_a_fixed_point_before_the_sources() -> None:
    def f(u: Uop) -> Uop | None:
        if u is a + b:
            return b + c
        return -c if u is b + c else None

    assert graph_rewrite(f, (a + b) * a, bottom_up=True) is (-c) * a


def test_bottom_up_looks_again_at_a_rebuilt_node() -> None:
    def f(u: Uop) -> Uop | None:
        return b if u is a else c if u is -b else None

    assert graph_rewrite(f, -a, bottom_up=True) is c
    assert graph_rewrite(f, -a, bottom_up=True, walk=True) is -b


def test_pre_matcher_runs_before_the_post_matcher() -> None:
    made = graph_rewrite(add_to_mul, a - b, bpm=lambda u: u.src[0] + c if u.op is Ops.SUB else None)
    assert made is a * c


def test_gate_keeps_a_node_and_what_is_under_it() -> None:
    def bpm(u: Uop) -> Uop | None:
        if u.op is Ops.NEG:
            raise BottomUpGate
        return None

    kept = -(a + b)
    assert graph_rewrite(add_to_mul, kept * (a + c), bpm=bpm) is kept * (a * c)
    assert graph_rewrite(add_to_mul, kept, bpm=bpm, walk=True) is kept


def test_walk_takes_results_as_final() -> None:
    def f(u: Uop) -> Uop | None:
        return u + b if u is a else None

    assert graph_rewrite(f, -a, walk=True) is -(a + b)
    with pytest.raises(RewriteError, match="cycles back"):
        graph_rewrite(f, -a, name="grow")


def test_cycles_are_named() -> None:
    def swap(u: Uop) -> Uop | None:
        return b if u is a else a if u is b else None

    with pytest.raises(RewriteError, match="'swap' at"):
        graph_rewrite(swap, -a, name="swap", loc=("f.py", 1, 2, 3))
    with pytest.raises(RewriteError, match="pre-matcher cycles"):
        graph_rewrite(swap, -a, bottom_up=True)


def test_endless_growth_is_stopped() -> None:
    with pytest.raises(RewriteError, match="settle"):
        graph_rewrite(lambda u: -u if u.op is Ops.NEG else None, -a, bottom_up=True)


def test_rebuilds_are_reported() -> None:
    changes: list[tuple[Uop, Uop]] = []
    graph_rewrite(add_to_mul, -(a + b), on_rebuild=lambda old, new: changes.append((old, new)))
    assert changes == [(a + b, a * b), (-(a + b), -(a * b)), (-(a + b), -(a * b))]


def test_call_bodies_are_entered_on_request() -> None:
    call = replace(a, op=Ops.CALL, src=[a + b, a + c], arg=None)
    assert graph_rewrite(add_to_mul, call).src == (a + b, a * c)
    assert graph_rewrite(add_to_mul, call, enter_calls=True).src == (a * b, a * c)


def test_unchanged_graphs_come_back_themselves() -> None:
    u = (a + b) * c
    assert graph_rewrite(lambda n: None, u) is u
    assert graph_rewrite(lambda n: n, u) is u


def test_deep_graphs_need_no_recursion() -> None:
    u = a
    for _ in range(50_000):
        u = -u
    made = graph_rewrite(lambda n: b if n is a else None, u)
    assert toposort(made)[1] is b or b in toposort(made)
    assert substitute([(b, a)], made) is u


def test_substitute() -> None:
    u = (a + b) * b
    assert substitute([(b, c)], u) is (a + c) * c
    assert substitute({a: b, b: c}, u) is (c + c) * c
    assert substitute({a: b, b: a}, u, walk=True) is (b + a) * a
    assert substitute([(b, b + a)], u, walk=True) is (a + (b + a)) * (b + a)
    assert substitute([], u) is u
    assert substitute([(u, u)], u) is u
    with pytest.raises(RewriteError):
        substitute([(b, b + a)], u)


def test_what_becomes_a_key_by_substitution_is_substituted_unless_walking() -> None:
    assert substitute({a: b, b + c: x}, (a + c).eq(c)) is node(Ops.CMPEQ, bool_, (x, c))
    assert substitute({a: b, b + c: x}, (a + c).eq(c), walk=True) is (b + c).eq(c)


@pytest.mark.parametrize("seed", range(200))
def test_substitute_is_the_engine_run_on_the_table(seed: int) -> None:
    rng = random.Random(seed)
    nodes = [a, b, c]
    for _ in range(12):
        left, right = rng.choice(nodes), rng.choice(nodes)
        nodes.append(left + right if rng.random() < 0.5 else left * right)
    table = {key: rng.choice(nodes) for key in rng.sample(nodes, 2)}
    try:
        expected = graph_rewrite(table.get, nodes[-1], bottom_up=True)
    except RewriteError:
        with pytest.raises(RewriteError):
            substitute(table, nodes[-1])
    else:
        assert substitute(table, nodes[-1]) is expected


def test_first_match() -> None:
    rules = [lambda u: None, lambda u: a, lambda u: b]
    assert first_match(rules, c) is a
    assert first_match(rules[:1], c) is None


def test_tags_are_removed_everywhere() -> None:
    tagged = with_tag("t", -with_tag("s", a + b))
    assert remove_all_tags(tagged * c) is -(a + b) * c


def test_both_engines_call_a_post_matcher_on_the_same_nodes_with_the_same_result() -> None:
    rng = random.Random(11)
    for _ in range(40):
        pool = [a, b, c, a + b]
        for _ in range(30):
            p, q = rng.choice(pool), rng.choice(pool)
            pool.append(rng.choice([p + q, p * q, -p, p - q, p.maximum(q)]))
        seen: list[list[Uop]] = [[], []]

        def rule(u: Uop, into: list[Uop]) -> Uop | None:
            into.append(u)
            if u.op is Ops.ADD:
                return (u.src[1] * u.src[0]) ^ a
            if u.op is Ops.NEG:
                return u.src[0]
            return u.src[0] - c if u.op is Ops.MAX else None

        root = pool[-1] ^ pool[-2]
        fast = graph_rewrite(lambda u: rule(u, seen[0]), root)
        general = graph_rewrite(lambda u: rule(u, seen[1]), root, on_rebuild=lambda old, new: None)
        assert fast is general
        assert list(dict.fromkeys(seen[0])) == list(dict.fromkeys(seen[1]))


def test_a_long_chain_of_results_settles() -> None:
    numbers = [a + k for k in range(2000)]

    def count_down(u: Uop) -> Uop | None:
        return numbers[u.src[1].arg.value - 1] if u.op is Ops.ADD and u.src[1].arg.value else None

    assert graph_rewrite(count_down, -numbers[-1]) is -numbers[0]


def test_endless_results_are_stopped() -> None:
    with pytest.raises(RewriteError, match="cycles back"):
        graph_rewrite(lambda u: -u if u.op is Ops.NEG else None, -a)
