"""Every symbolic rule fires, and is sound wherever it fires.

The graphs are made from the rule's own pattern: its leaves become parameters, its constants take
edge values and random ones. Each rule has to fire, and each time it does both sides must agree on
every operand, for one or two 8-bit operands, else on edge values and a fixed random sample.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence

import pytest

from dynamis.dtype import Number, Val, bool_, float32, int8, int16, truncate, uint8, weakint
from dynamis.uop import (
    Ops,
    Rule,
    Uop,
    UPat,
    cast,
    const_of_dtype,
    find_nodes,
    index,
    load,
    replace,
    simplify,
    stack,
    store,
    symbolic_cast,
    symbolic_compare,
    symbolic_divmod,
    symbolic_invalid,
    symbolic_whole,
)
from dynamis.uop.folding import result_dtype
from dynamis.uop.symbolic import RULES, symbolic
from tests.uop.graphs import Value, leaf, memory, same, value_of

TRIES = 1000
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3e38, 1e-45, 2.0**-126, math.inf, -math.inf, math.nan]
FLOATS = [truncate(x, float32) for x in EDGES]
MEMORY = [r for r in RULES if r.pattern.ops in ((Ops.LOAD,), (Ops.STORE,))]
ELSEWHERE = [  # test_invalid.py, test_divmod.py, test_compare.py, test_whole.py
    *symbolic_invalid.RULES, *symbolic_divmod.DIVMOD, *symbolic_compare.RULES,
    *symbolic_whole.RULES, *symbolic_cast.INDEX,
]  # fmt: skip
PURE = [r for r in RULES if r not in MEMORY and r not in ELSEWHERE]


def kind_of(dtype: Val) -> str:
    return "f" if dtype.is_float else "b" if dtype.is_bool else "i"


class Maker:
    """Makes nodes that may match a pattern."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.integer = self.random.choice([int8, int8, uint8, weakint])
        self.free = self.random.choice([self.integer, float32, bool_])
        self.bound: dict[str, Uop] = {}
        self.leaves = 0

    def node(self, p: UPat, like: Val | None = None) -> Uop:
        if p.name in self.bound:
            return self.bound[p.name]
        made = self._node(p, like)
        if p.name is not None:
            self.bound[p.name] = made
        return made

    def dtype(self, p: UPat, like: Val | None) -> Val:
        if p.dtypes is None:
            return self.free if like is None else like
        mine = [d for d in (self.integer, bool_, float32) if d in p.dtypes]
        return like if like in mine else self.random.choice(mine)

    def _node(self, p: UPat, like: Val | None) -> Uop:
        op = None if p.ops is None else self.random.choice(p.ops)
        if op is Ops.CONST:
            return self.constant(p, like)
        if op is Ops.STACK and p.src is None:
            dtype = self.dtype(p, like)
            return stack([const_of_dtype(dtype, self.number(dtype)) for _ in range(2)])
        if op is None:
            return self.leaf(self.dtype(p, like))
        patterns = p.src
        if patterns is None:
            fits = [d for d in (self.integer, bool_, float32) if kind_of(d) in op.kinds]
            free = UPat.var(dtype=self.random.choice(fits) if op.is_alu else None)
            patterns = (free,) * (2 if op.is_binary else 1)
        assert not isinstance(patterns, UPat)
        if op in (Ops.CAST, Ops.BITCAST):
            inner = self.node(patterns[0], self.random.choice([int8, uint8, bool_, float32, int16]))
            targets = [int8, uint8, bool_, float32, int16, weakint]
            if p.dtypes is not None:
                targets = [t for t in targets if t in p.dtypes]
            if op is Ops.BITCAST:
                targets = [t for t in (int8, uint8) if t.bits == inner.dtype.scalar.bits]
            target = like if like in targets else self.random.choice(targets or [inner.dtype])
            return replace(inner, op=op, src=[inner], arg=None, dtype=target)
        # the leaves of one op share a dtype: a constrained pattern says which
        order = sorted(range(len(patterns)), key=lambda i: self._freedom(patterns[i]))
        made: dict[int, Uop] = {}
        common = None if op.is_comparison else like
        for i in order:
            condition = op is Ops.WHERE and i == 0
            node = self.node(patterns[i], bool_ if condition else common)
            made[i] = node
            if not condition:
                common = node.dtype.base
        src = [made[i] for i in range(len(patterns))]
        if isinstance(patterns, list):
            self.random.shuffle(src)
        return replace(src[0], op=op, src=src, arg=None, dtype=result_dtype(op, tuple(src)))

    def _freedom(self, p: UPat) -> int:
        if p.name in self.bound or p.dtypes is not None or p.value.__class__ is bool:
            return 0
        return 2 if p.ops == (Ops.CONST,) else 1

    def constant(self, p: UPat, like: Val | None) -> Uop:
        if p.value is not None:
            dtype = bool_ if p.value.__class__ is bool else self.dtype(p, like)
            value = p.value
            if value == 0 and dtype.is_float:
                value = self.random.choice([0.0, -0.0])
            return const_of_dtype(dtype, value)
        dtype = self.dtype(p, like)
        return const_of_dtype(dtype, self.number(dtype))

    def number(self, dtype: Val) -> Number:
        r = self.random
        if dtype.is_float:
            return r.choice([*FLOATS, 2.0, 4.0, 0.25, -8.0, 7.0])
        if dtype.is_bool:
            return r.random() < 0.5
        return truncate(
            r.choice([-1, 0, 1, 2, 3, 4, 5, 8, 12, 15, 127, -128, r.randrange(256)]), dtype
        )

    def leaf(self, dtype: Val) -> Uop:
        self.leaves += 1
        limits = None
        if dtype.is_int:
            low, high = (-128, 127) if dtype is weakint else (int(dtype.min), int(dtype.max))
            kind = self.random.randrange(4)
            a, b = sorted((self.random.randint(low, high), self.random.randint(low, high)))
            small = self.random.randint(max(low, -3), 4)
            limits = [(low, high), (a, b), (small, small + 3), (small, small)][kind]
        if dtype.is_bool:
            limits = self.random.choice([None, None, (0, 0), (1, 1)])
        return leaf(f"v{self.leaves}", dtype, limits)


def samples(u: Uop, rng: random.Random, all_of: int) -> list[Value]:
    if u.dtype.is_float:
        return [*FLOATS, *[truncate(rng.uniform(-10, 10), float32) for _ in range(4)]]
    low, high = int(u.vmin), int(u.vmax)
    if u.dtype.is_bool:
        return [bool(v) for v in range(low, high + 1)]
    if high - low < all_of:
        return list(range(low, high + 1))
    edge = {low, low + 1, -1, 0, 1, high - 1, high}
    return sorted(
        {v for v in edge if low <= v <= high} | {rng.randint(low, high) for _ in range(9)}
    )


def environments(nodes: Sequence[Uop], rng: random.Random) -> Iterator[dict[Uop, Value]]:
    leaves = [u for u in dict.fromkeys(nodes) if u.op is Ops.PARAM]
    sizes = {0: 1, 1: 256}.get(len(leaves), 16)
    for values in itertools.product(*(samples(u, rng, sizes) for u in leaves)):
        yield dict(zip(leaves, values, strict=True))


def crosses(u: Uop) -> Iterator[dict[Uop, Value]]:
    """Every value of each 8-bit operand beside edge values of the other, when there are two."""
    leaves = find_nodes(lambda n: n.op is Ops.PARAM, u)
    if len(leaves) != 2 or any(p.dtype not in (int8, uint8) for p in leaves):
        return
    for one, two in (leaves, leaves[::-1]):
        edges = {int(two.vmin), int(two.vmax), -1, 0, 1, 2, 127}
        for v in range(int(one.vmin), int(one.vmax) + 1):
            for w in edges:
                if two.vmin <= w <= two.vmax:
                    yield {one: v, two: w}


def instances(rule: Rule) -> Iterator[tuple[Uop, Uop, random.Random]]:
    """(before, after) for the graphs of the rule's pattern that it rewrites."""
    for seed in range(TRIES):
        maker = Maker(seed)
        u = maker.node(rule.pattern)
        found = fires(rule, u)
        if found is not None:
            yield u, found, maker.random


def fires(rule: Rule, u: Uop) -> Uop | None:
    """What the rule makes of `u`, or None where it does not fire."""
    code = rule.action.__code__
    for bound in rule.pattern.match(u):
        made = rule.action(*[bound[n] for n in code.co_varnames[: code.co_argcount]])
        if made is not None:
            return made if made is not u else None
    return None


@pytest.mark.parametrize("rule", PURE, ids=[f"{i}: {r.text}" for i, r in enumerate(PURE)])
def test_rule_fires_and_is_sound(rule: Rule) -> None:
    fired = crossed = 0
    for before, after, rng in instances(rule):
        fired += 1
        if fired > 40:
            break
        assert after.dtype is before.dtype
        if crossed < 2 and (envs := list(crosses(before))):
            crossed += 1
            for env in envs:
                assert same(value_of(before, env), value_of(after, env)), f"{rule.text}: {env}"
        envs = list(environments(find_nodes(lambda u: True, before), rng))
        for env in rng.sample(envs, min(len(envs), 400)):
            want, got = value_of(before, env), value_of(after, env)
            assert same(want, got), f"{rule.text}: {env} gives {want}, then {got}"
    assert fired >= 3


def test_every_rule_has_its_own_algebra() -> None:
    texts = [(r.text, r.pattern.dtypes) for r in RULES]
    assert all(text for text, _ in texts)


def test_compiled_rules_do_what_the_patterns_say() -> None:
    checked = 0
    for rule in PURE:
        for before, _, _ in itertools.islice(instances(rule), 5):
            found = symbolic.which(before)
            assert found is not None
            assert symbolic.rewrite(before) is found[1]
            checked += 1
    assert checked > 4 * len(PURE)


@pytest.mark.parametrize("seed", range(60))
def test_simplifying_keeps_the_value_and_settles(seed: int) -> None:
    rng = random.Random(seed)
    leaves = [leaf("i", int8, (-7, 9)), leaf("j", int8), leaf("b", bool_), leaf("u", int8, (0, 3))]
    pool = [*leaves, *(const_of_dtype(int8, n) for n in (0, 1, 2, 3, -1, 7, -128))]
    for _ in range(25):
        ints = [u for u in pool if u.dtype is int8]
        bools = [u for u in pool if u.dtype is bool_]
        a, b = rng.choice(ints), rng.choice(ints)
        c, d = rng.choice(bools), rng.choice(bools)
        made = rng.choice([
            lambda: a + b, lambda: a - b, lambda: a * b, lambda: a // b, lambda: a % b,
            lambda: a & b, lambda: a | b, lambda: a ^ b, lambda: -a, lambda: a.maximum(b),
            lambda: a.minimum(b), lambda: a < b, lambda: a.eq(b), lambda: a.ne(b), lambda: a >= b,
            lambda: c.where(a, b), lambda: c & d, lambda: c | d, lambda: c.logical_not(),
            lambda: c ^ d, lambda: c.cast(int8), lambda: a.cast(int16).cast(int8),
            lambda: replace(a, op=Ops.CDIV, src=[a, b], arg=None),
            lambda: replace(a, op=Ops.CMOD, src=[a, b], arg=None),
            lambda: a << (b & 7), lambda: a >> b, lambda: (a.cast(float32) * 2.0).cast(int8),
        ])  # fmt: skip
        pool.append(made())
    for u in pool[-8:]:
        once = simplify(u)
        assert simplify(once) is once
        for env in itertools.islice(environments(leaves, rng), 0, None, 37):
            assert same(value_of(u, env), value_of(once, env))


def test_load_with_a_known_gate_loses_it() -> None:
    place, other = index(ptr=memory(), idxs=[leaf("i")]), leaf("x", float32)
    t, f = const_of_dtype(bool_, True), const_of_dtype(bool_, False)
    assert simplify(load(src=place, alt=other, gate=t)) is load(src=place)
    assert simplify(load(src=place, alt=other, gate=f)) is other


def test_store_with_a_true_gate_loses_it() -> None:
    place, value = index(ptr=memory(), idxs=[leaf("i")]), leaf("x", float32)
    gated = store(dst=place, value=value, gate=const_of_dtype(bool_, True))
    assert simplify(gated) is store(dst=place, value=value)
    off = store(dst=place, value=value, gate=const_of_dtype(bool_, False))
    assert simplify(off) is off


def test_memory_rules_are_all_tested_here() -> None:
    assert len(MEMORY) == 3


def test_cast_over_lanes_folds_lane_by_lane() -> None:
    lanes = stack([const_of_dtype(int8, n) for n in (1, -1)])
    want = stack([const_of_dtype(float32, n) for n in (1, -1)])
    assert simplify(cast(src=lanes, dtype=float32)) is want


@pytest.mark.parametrize("dtype", [int8, uint8, int16])
def test_a_constant_leaves_the_cast_of_an_index(dtype: Val) -> None:
    (rule,) = symbolic_cast.INDEX
    x = leaf("x", weakint, (-300, 300))
    for c in (1, -1, 200, -1000):
        before = cast(src=x + c, dtype=dtype)
        (bound,) = rule.pattern.match(before)
        made = rule.action(bound["u"], bound["x"], bound["c0"])
        assert made is not None
        assert made.op is Ops.ADD
        for value in range(-300, 301):
            assert value_of(before, {x: value}) == value_of(made, {x: value})
