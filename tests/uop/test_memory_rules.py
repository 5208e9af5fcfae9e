"""Rules on effects, memory, reductions, lanes and movement: each fires, and does what it says."""

from __future__ import annotations

import itertools

import pytest

from dynamis.dtype import AddrSpace, Ptr, bool_, float32, int8, int16, int32, int64, weakint
from dynamis.uop import (
    AxisType,
    Ops,
    Rule,
    Uop,
    after,
    barrier,
    buffer,
    const_int,
    const_of_dtype,
    end_,
    find_nodes,
    flip,
    group,
    index,
    invalid,
    load,
    noop,
    permute,
    range_,
    reduce,
    replace,
    reshape,
    shape_to_shape_arg,
    sink,
    stack,
    store,
)
from dynamis.uop.symbolic_invalid import gated
from dynamis.uop.symbolic_memory import RULES, full_simplify, movement_cleanup
from tests.uop.graphs import leaf, memory, value_of

i, j = leaf("i"), leaf("j")
x = leaf("x", float32)
g, h = leaf("g", bool_), leaf("h", bool_)
place, other = index(ptr=memory(), idxs=[i]), index(ptr=memory(1), idxs=[j])
r = range_(size=4, axis=0, kind=AxisType.REDUCE)
a, b = leaf("a", weakint, (0, 9)), leaf("b", weakint, (0, 9))
wide, wider = leaf("wide", int64, (-9, 9)), leaf("wider", int64, (0, 99))
zero = const_of_dtype(float32, 0.0)
table = memory(2, size=24)
t = reshape(src=table, shape=stack([const_int(2), const_int(12)]))
cube = reshape(src=table, shape=stack([const_int(2), const_int(3), const_int(4)]))
masked = index(ptr=memory(), idxs=[gated(g, i)])
nowhere = index(ptr=memory(), idxs=[invalid(int32)])
vector = leaf("v", int32)
lanes = replace(memory(3, int32, 3), op=Ops.LOAD, src=[memory(3, int32, 3)], arg=None, dtype=int32)


def total(u: Uop, op: object = Ops.ADD) -> Uop:
    return reduce(src=u, ranges=[r], op=op, dtype=weakint)  # type: ignore[arg-type]  # an op


def shape(*dims: int) -> Uop:
    return stack([const_int(d) for d in dims])


CASES = [
    ("store(i, load(i))", store(dst=place, value=load(src=place)), noop()),
    ("store(i, g ? x", store(dst=place, value=g.where(x, load(src=place))),
     store(dst=place, value=x, gate=g)),
    ("store(i, Invalid)", store(dst=place, value=invalid(float32)), noop()),
    ("store(i, gate(g, x))", store(dst=place, value=gated(g, x)),
     store(dst=place, value=x, gate=g)),
    ("store(i, gate(g, x))", store(dst=place, value=gated(g, x), gate=h),
     store(dst=place, value=x, gate=g & h)),
    ("access(p[Invalid])", store(dst=nowhere, value=x), noop()),
    ("access(p[Invalid])", load(src=nowhere), zero),
    ("access(p[Invalid])", load(src=nowhere, alt=x, gate=g), x),
    ("access(p[gate(g, x)])", load(src=masked), load(src=place, alt=zero, gate=g)),
    ("access(p[gate(g, x)])", load(src=masked, alt=x, gate=h),
     load(src=place, alt=x, gate=g & h)),
    ("access(p[gate(g, x)])", store(dst=masked, value=x), store(dst=place, value=x, gate=g)),
    ("group(x)", replace(group([barrier(), barrier([i])]), src=[barrier()]), barrier()),
    ("sink(a, group(b, c))", sink([barrier(), group([barrier([i]), barrier()]), noop()]),
     sink([barrier(), barrier([i])])),
    ("after(x, f(d))", after(src=memory(), deps=[load(src=place) + load(src=other), x]),
     after(src=memory(), deps=[load(src=place), load(src=other)])),
    ("after(x, f(d))", after(src=memory(), deps=[i]), memory()),
    ("reduce(x*y, +)", total(r * a), total(r) * a),
    ("reduce(x*c, max)", total(r * 3, Ops.MAX), total(r, Ops.MAX) * 3),
    ("(a,) op (b,)", stack([i]) ^ stack([j]), stack([i ^ j])),
    ("(v[0], v[1], ...)",
     stack([index(ptr=lanes, idxs=[const_of_dtype(int32, k)]) for k in range(3)]), lanes),
    ("cast(c ? a : b)", g.where(i, j).cast(int8), g.where(i.cast(int8), j.cast(int8))),
    ("x op y -> int64", wide * wider,
     (wide.cast(int32) * wider.cast(int32)).cast(int64)),
    ("reshape(x, its shape)", replace(cube, src=[cube, shape(2, 3, 4)]), cube),
    ("expand(x, its shape)", replace(cube, op=Ops.EXPAND, src=[cube, shape(2, 3, 4)]), cube),
    ("reshape(reshape(x, a), b)", reshape(src=t, shape=shape(4, 6)),
     reshape(src=table, shape=shape(4, 6))),
    ("permute(x, 0 1 2", permute(src=cube, order=[0, 1, 2]), cube),
    ("permute(permute(x, p), q)", permute(src=permute(src=cube, order=[1, 2, 0]), order=[2, 1, 0]),
     permute(src=cube, order=[0, 2, 1])),
    ("flip(x, no axis)", flip(src=cube, dims=[False, False, False]), cube),
    ("flip(flip(x, f), g)",
     flip(src=flip(src=cube, dims=[True, False, True]), dims=[True, True, False]),
     flip(src=cube, dims=[False, True, True])),
]  # fmt: skip


def named(text: str) -> Rule:
    (rule,) = [r for r in RULES if r.text.startswith(text)]
    return rule


@pytest.mark.parametrize(("text", "before", "after"), CASES, ids=[c[0] for c in CASES])
def test_rule_fires(text: str, before: Uop, after: Uop) -> None:
    rule = named(text)
    names = rule.action.__code__.co_varnames[: rule.action.__code__.co_argcount]
    made = [rule.action(*[m[n] for n in names]) for m in rule.pattern.match(before)]
    assert after in made
    once = full_simplify(before)
    assert full_simplify(once) is once


def test_every_rule_is_in_a_case() -> None:
    assert {named(text).text for text, _, _ in CASES} == {r.text for r in RULES}


def test_a_store_of_another_load_stays() -> None:
    for u in (
        store(dst=place, value=load(src=other)),
        store(dst=place, value=g.where(x, load(src=other))),
        total(r * r), total(r * -3, Ops.MAX), stack([i, j]) ^ stack([j, i]),
    ):  # fmt: skip
        assert full_simplify(u).op is u.op


def test_breaks_and_loads_stay_dependencies() -> None:
    inner = after(src=memory(), deps=[load(src=place), r])
    assert full_simplify(inner) is inner


def test_narrowed_arithmetic_keeps_every_value() -> None:
    for u in (wide + wider, wide - wider, wide * wider, wide // wider, wide % wider):
        made = full_simplify(u)
        assert made.dtype is int64
        for p, q in itertools.product(range(-9, 10), range(0, 100, 7)):
            assert value_of(u, {wide: p, wider: q}) == value_of(made, {wide: p, wider: q})
    free = leaf("free64", int64)
    assert not find_nodes(lambda n: n.dtype is int32, full_simplify(free * wide))


def test_casts_over_choices_keep_every_value() -> None:
    u = g.where(i, j).cast(int16)
    made = full_simplify(u)
    for c, p in itertools.product((False, True), (-40_000, -1, 0, 70_000)):
        assert value_of(u, {g: c, i: p, j: 5}) == value_of(made, {g: c, i: p, j: 5})


def test_movement_cleanup_alone() -> None:
    assert movement_cleanup(permute(src=cube, order=[0, 1, 2])) is cube
    assert movement_cleanup(i + j) is None


def test_whole_kernels_settle() -> None:
    words = buffer(slot=77, dtype=Ptr.create(int32, addrspace=AddrSpace.REG, size=1),
                   shape=shape_to_shape_arg(None))  # fmt: skip
    loop = range_(size=8, axis=0, kind=AxisType.LOOP, dtype=int32)
    at = index(ptr=after(src=words, deps=[loop]), idxs=[const_of_dtype(int32, 0)])
    s = store(dst=at, value=load(src=at) + loop * 2 + 1)
    once = full_simplify(sink([end_(value=s, ranges=[loop])]))
    assert full_simplify(once) is once
    assert once.src[0].op is Ops.END
