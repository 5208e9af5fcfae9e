"""Rules on Invalid: every rule fires, and never makes a value out of one, or loses one."""

from __future__ import annotations

import itertools

import pytest

from dynamis.dtype import bool_, float32, int8, int32, weakint
from dynamis.uop import Ops, Rule, Uop, const_of_dtype, invalid, replace, simplify
from dynamis.uop.symbolic_invalid import RULES, gated, is_gate, is_invalid
from tests.uop.graphs import leaf, same, value_of

c, d = leaf("c", bool_), leaf("d", bool_)
x, y, k = leaf("x", weakint, (-2, 2)), leaf("y", weakint, (-2, 2)), leaf("k", int8, (-2, 2))
none, none8 = invalid(), invalid(int8)


def unary(op: object, u: Uop, dtype: object = None) -> Uop:
    return replace(u, op=op, src=[u], arg=None, dtype=dtype)  # type: ignore[arg-type]  # an op


CASES = [
    x + none, none * x, x < none, unary(Ops.NEG, none), none.cast(int32), gated(c, x) + y,
    y - gated(c, x), gated(c, x) < y, y.ne(gated(c, x)), gated(c, k) < k,
    unary(Ops.NEG, gated(c, x)), (gated(c, x) + gated(d, y)) - x, gated(c, x) - gated(c, x),
    gated(c, x).cast(int32), gated(c, k).cast(float32), unary(Ops.BITCAST, gated(c, k), int8),
    c.where(none, x), c.where(none, none), c.where(gated(c, x), y), d.where(gated(c, x), y),
    d.where(y, gated(c, x)), gated(c, x) * 0, gated(c, gated(d, x)),
]  # fmt: skip


def apply(rule: Rule, u: Uop) -> Uop | None:
    code = rule.action.__code__
    for bound in rule.pattern.match(u):
        made = rule.action(*[bound[n] for n in code.co_varnames[: code.co_argcount]])
        if made is not None:
            return made
    return None


def outcome(u: Uop, env: dict[Uop, object]) -> object:
    """The value of `u`, or None where it comes from an Invalid that was not selected away."""
    if is_invalid(u):
        return None
    if u in env:
        return env[u]
    if u.op is Ops.CONST:
        return u.arg.value
    if u.op is Ops.WHERE:
        chosen = outcome(u.src[0], env)
        return None if chosen is None else outcome(u.src[1 if chosen else 2], env)
    parts = [outcome(s, env) for s in u.src]
    if None in parts:
        return None
    stand_ins = [leaf(f"part{i}", s.dtype) for i, s in enumerate(u.src)]  # type: ignore[arg-type]  # values
    again = replace(u, src=stand_ins)
    return value_of(again, dict(zip(stand_ins, parts, strict=True)))  # type: ignore[arg-type]  # values


def check(before: Uop, after: Uop) -> None:
    assert after.dtype is before.dtype
    for cv, dv, xv, yv, kv in itertools.product((False, True), (False, True), *[range(-2, 3)] * 3):
        env: dict[Uop, object] = {c: cv, d: dv, x: xv, y: yv, k: kv}
        want = outcome(before, env)
        if want is not None:
            got = outcome(after, env)
            assert got is not None
            assert same(want, got)  # type: ignore[arg-type]  # values


@pytest.mark.parametrize("rule", RULES, ids=[r.text for r in RULES])
def test_rule_fires_and_is_sound(rule: Rule) -> None:
    fired = [(u, made) for u in CASES if (made := apply(rule, u)) is not None]
    assert fired
    for before, after in fired:
        check(before, after)


@pytest.mark.parametrize("u", CASES, ids=[str(i) for i in range(len(CASES))])
def test_simplified_gates_keep_their_values(u: Uop) -> None:
    once = simplify(u)
    assert simplify(once) is once
    check(u, once)


def test_a_gated_index_times_zero_keeps_its_gate() -> None:
    made = simplify(gated(c, x) * 0)
    assert is_gate(made)
    assert made.src[:2] == (c, const_of_dtype(weakint, 0))
