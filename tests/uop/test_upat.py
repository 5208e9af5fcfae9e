"""Patterns and matchers: what binds, in which order, and that compiled code says the same."""

from __future__ import annotations

import pytest

from dynamis.dtype import bool_, float32, int8, int32
from dynamis.uop import (
    Ops,
    PatternMatcher,
    Rule,
    Uop,
    UopError,
    UPat,
    const_bool,
    const_float,
    const_of_dtype,
    replace,
    stack,
)
from tests.uop.graphs import leaf

a, b, c = leaf("a"), leaf("b"), leaf("c")
f = leaf("f", float32)
x, y, z = UPat.var("x"), UPat.var("y"), UPat.var("z")


def bindings(p: UPat, u: Uop) -> list[dict[str, Uop]]:
    return list(p.match(u))


def test_commutative_patterns_bind_in_both_orders() -> None:
    assert bindings(x + y, a + b) == [{"x": a, "y": b}, {"x": b, "y": a}]
    assert bindings(x - y, a - b) == [{"x": a, "y": b}]
    assert bindings(x + 1, a + 1) == [{"x": a}]
    assert bindings(x + 1, 1 + a) == [{"x": a}]


def test_a_name_used_twice_binds_one_node() -> None:
    assert bindings(x - x, a - a) == [{"x": a}]
    assert bindings(x - x, a - b) == []
    assert bindings((x + y) - y, (a + b) - a) == [{"x": b, "y": a}]


def test_literals_match_by_value_and_bools_by_dtype_too() -> None:
    one = UPat.const(1)
    assert bindings(one, const_float(1.0))
    assert bindings(one, const_bool(True))
    assert bindings(UPat.const(0.0), const_float(-0.0))
    assert not bindings(UPat.const(True), const_of_dtype(int8, 1))
    assert bindings(UPat.const(True), const_bool(True))
    assert not bindings(one, const_of_dtype(int8, 2))
    assert not bindings(one, a)


def test_dtypes_stand_for_their_vectors() -> None:
    vector = leaf("v", int32.vec(4))
    assert bindings(UPat.var(dtype=int32), vector)
    assert not bindings(UPat.var(dtype=int32.vec(4)), a)
    assert not bindings(UPat.var(dtype=(bool_, float32)), a)


def test_source_forms() -> None:
    three = stack([a, b, c])
    fixed, prefix = UPat(Ops.STACK, src=(x, y)), UPat(Ops.STACK, src=(x, y), allow_any_len=True)
    assert bindings(fixed, three) == []
    assert bindings(prefix, three) == [{"x": a, "y": b}]
    assert bindings(fixed, stack([a])) == []
    each = UPat(Ops.STACK, src=UPat(Ops.PARAM))
    assert bindings(each, three) == [{}]
    assert bindings(each, stack([a, a + b])) == []
    assert len(bindings(UPat(Ops.STACK, src=[x, y, z]), three)) == 6
    assert bindings(UPat((Ops.STACK, Ops.SINK), name="s"), three) == [{"s": three}]


def test_payloads() -> None:
    assert bindings(UPat(Ops.PARAM, arg=a.arg), a)
    assert not bindings(UPat(Ops.PARAM, arg=a.arg), b)


def test_every_operator_makes_the_pattern_of_its_node() -> None:
    p, q = UPat.var("x", int32), UPat.var("y", int32)
    pairs = [
        (p + q, a + b), (p - q, a - b), (p * q, a * b), (p // q, a // b), (p % q, a % b),
        (p & q, a & b), (p | q, a | b), (p ^ q, a ^ b), (p << q, a << b), (p >> q, a >> b),
        (p < q, a < b), (p.eq(q), a.eq(b)), (p.ne(q), a.ne(b)), (p.maximum(q), a.maximum(b)),
        (p.cdiv(q), replace(a + b, op=Ops.CDIV)), (p.cmod(q), replace(a + b, op=Ops.CMOD)),
    ]  # fmt: skip
    for pattern, node in pairs:
        assert {"x": a, "y": b} in bindings(pattern, node)
    assert bindings(p > q, a > b) == [{"x": a, "y": b}]
    assert bindings(-p, -a) == [{"x": a}]
    assert bindings(x / y, f / f) == [{"x": f, "y": f}]
    assert bindings(p.cast(float32), a.cast(float32)) == [{"x": a}]
    assert bindings((p < q).logical_not(), (a < b).logical_not()) == [{"x": a, "y": b}]
    assert bindings(x.where(y, z), (a < b).where(a, c)) == [{"x": a < b, "y": a, "z": c}]
    for left, node in (
        (2 - p, 2 - a), (2 // p, 2 // a), (2 % p, 2 % a), (2 << p, 2 << a), (2 >> p, 2 >> a),
    ):  # fmt: skip
        assert bindings(left, node) == [{"x": a}]


def test_ctx_is_reserved() -> None:
    with pytest.raises(UopError, match="reserved"):
        UPat.var("ctx")


def test_rules_are_tried_in_order() -> None:
    m = PatternMatcher([(x + y, lambda x: None), (x + y, lambda x: x), (x + y, lambda y: y)])
    assert m.rewrite(a + b) is a
    assert m(a - b) is None


def test_bindings_are_tried_until_one_answers() -> None:
    m = PatternMatcher([(x + y, lambda x, y: y if x is b else None)])
    assert m.rewrite(a + b) is a


def test_an_answer_equal_to_the_node_ends_the_rule_but_not_the_search() -> None:
    tried: list[Uop] = []

    def same(x: Uop, y: Uop) -> Uop:
        tried.append(x)
        return x + y if x is a else c

    m = PatternMatcher([(x + y, same), (x + y, lambda x: -x)])
    assert m.rewrite(a + b) is -a
    assert tried == [a]
    assert m.which(a + b) == (m.rules[1], -a)


def test_context_reaches_the_action() -> None:
    m = PatternMatcher([(x + y, lambda ctx, x: ctx[x])])
    assert m.rewrite(a + b, {a: c}) is c
    found = m.which(a + b, {a: c})
    assert found is not None
    assert found[1] is c


def test_matchers_are_joined_in_order() -> None:
    first, second = PatternMatcher([(-x, lambda x: x)]), PatternMatcher([(-x, lambda x: x + x)])
    assert (first + second).rewrite(-a) is a
    assert (second + first).rewrite(-a) is a + a


def test_malformed_rules_are_refused_when_made() -> None:
    with pytest.raises(UopError, match="root op"):
        PatternMatcher([(x, lambda x: x)])
    with pytest.raises(UopError, match="does not bind q"):
        PatternMatcher([Rule("text", x + y, lambda q: q)])
    with pytest.raises(UopError, match="binds no names"):
        PatternMatcher([(UPat(Ops.STACK, src=x), lambda: a)]).rewrite(stack([a]))


def test_compiled_matcher_agrees_with_the_patterns() -> None:
    patterns = [
        UPat(Ops.STACK, src=(x, y), allow_any_len=True),
        UPat(Ops.STACK, src=[x, y, UPat.cvar("k")]),
        UPat(Ops.STACK, src=UPat(Ops.PARAM), name="x"), (x + 1) + y, (x + y) + (x + z),
        UPat((Ops.ADD, Ops.MUL), src=(x, UPat.const(True))), UPat(Ops.PARAM, arg=a.arg, name="x"),
        UPat.var("x", int32.vec(4)) + y, x.where(y, y),
    ]  # fmt: skip
    nodes = [
        stack([a, b]), stack([a, b, c]), stack([a, const_of_dtype(int32, 1), c]), stack([a + b]),
        a, b,
        (a + 1) + b, 1 + (a + 1), (a + b) + (b + c), (a + b) + (c + c), (a < b) * const_bool(True),
        leaf("v", int32.vec(4)) + leaf("v", int32.vec(4)), (a < b).where(c, c), (a < b).where(c, a),
    ]  # fmt: skip
    hits = 0
    for p in patterns:
        m = PatternMatcher([(p, lambda x: c.cast(float32) + x.cast(float32))])
        for u in nodes:
            found = m.which(u)
            assert m.rewrite(u) is (None if found is None else found[1])
            hits += found is not None
    assert hits >= len(patterns)
