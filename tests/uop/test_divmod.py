"""Division of sums: every strategy fires and is sound, at every width and with every sign.

Dividends are random sums of small bounded leaves, some of them quotients and rests themselves.
Each strategy has to fire often, and each time both sides agree on every value of the leaves.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator

import pytest

from dynamis.dtype import Val, int8, int32, uint8, weakint
from dynamis.uop import Ops, Rule, Uop, const_of_dtype, find_nodes, replace, simplify
from dynamis.uop.symbolic_divmod import DIVMOD, STRATEGIES, Strategy, _division
from tests.uop.graphs import leaf, value_of

DIVISIONS = (Ops.FLOORDIV, Ops.FLOORMOD, Ops.CDIV, Ops.CMOD)
DTYPES = (weakint, weakint, int8, uint8, int32)


def division(op: object, x: Uop, c: Uop) -> Uop:
    return replace(x, op=op, src=[x, c], arg=None)  # type: ignore[arg-type]  # an op


class Maker:
    """Random dividends and divisors of one dtype."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.dtype: Val = self.random.choice(DTYPES)
        low = 0 if self.dtype is uint8 or seed % 3 == 0 else -self.random.randint(0, 3)
        self.leaves = []
        for name in "ijk"[: self.random.randint(1, 3)]:
            high = self.random.choice([1, 2, 3, 5])
            self.leaves.append(leaf(name, self.dtype, (low, low + high)))

    def number(self, value: int) -> Uop:
        return const_of_dtype(self.dtype, value)

    def coefficient(self) -> int:
        return self.random.choice([1, 1, 2, 3, 4, 5, 6, 8, 9, 12, 16, -1, -2, -4])

    def term(self) -> Uop:
        u = self.random.choice(self.leaves)
        kind = self.random.randrange(6)
        if kind == 0:
            u = u * self.number(self.random.choice([1, 2, 3, 4])) + self.number(
                self.random.randint(0, 4)
            )
            u = division(self.random.choice(DIVISIONS), u, self.number(self.divisor()))
        if kind == 1 and self.dtype is weakint:
            u = u * self.random.choice(self.leaves)
        return u * self.number(self.coefficient())

    def divisor(self) -> int:
        return self.random.choice([2, 3, 4, 4, 5, 6, 8, 8, 9, 12, 16])

    def sum(self) -> Uop:
        u = self.term()
        for _ in range(self.random.randint(0, 3)):
            u = u + self.term()
        if self.random.random() < 0.5:
            u = u + self.number(self.random.randint(-9, 20) % 128)
        return simplify(u)


def environments(u: Uop) -> Iterator[dict[Uop, int]]:
    leaves = find_nodes(lambda n: n.op is Ops.PARAM, u)
    for values in itertools.product(*(range(p.vmin, p.vmax + 1) for p in leaves)):
        yield dict(zip(leaves, values, strict=True))


def check(before: Uop, after: Uop) -> None:
    assert after.dtype is before.dtype
    for env in environments(before):
        want, got = value_of(before, env), value_of(after, env)
        assert want == got, f"{env} gives {want}, then {got}"


def fired(make: Callable[[Maker], tuple[Uop, Uop | None]], tries: int, want: int) -> None:
    found = 0
    for seed in range(tries):
        before, after = make(Maker(seed))
        if after is not None and after is not before:
            found += 1
            check(before, after)
            if found >= want:
                return
    assert found >= 3


def strategy_graph(m: Maker, strategy: Strategy) -> tuple[Uop, Uop | None]:
    """A division, and what the strategy makes of it."""
    x, c = m.sum(), m.divisor()
    if m.random.random() < 0.3:  # what the narrow ones look for
        inner = m.random.choice([Ops.FLOORDIV, Ops.FLOORMOD, Ops.CDIV])
        x = division(inner, x, m.number(c * m.random.choice([1, 2, 3])))
        x = x + m.number(m.random.randint(0, 3)) if m.random.random() < 0.3 else x
    u = division(m.random.choice(strategy.ops), x, m.number(c))
    d = _division(u)
    return u, None if d is None else strategy.action(d)


def rule_graph(m: Maker, rule: Rule) -> tuple[Uop, Uop | None]:
    """A division, and what the rule of DIVMOD makes of it."""
    assert rule.pattern.ops is not None
    x = m.sum()
    if "// d" in rule.text or "*g" in rule.text:
        d = m.random.choice(m.leaves)
        if m.random.random() < 0.3:
            d = d + 1
        if m.random.random() < 0.6:
            x = simplify(x + d * m.random.choice(m.leaves))
        if m.random.random() < 0.4:
            signs = [(1, 2)] if m.dtype is uint8 else [(1, 3), (-2, -1)]
            g = leaf("g", m.dtype, m.random.choice(signs))
            x, d = x * g, d * g
        u = division(m.random.choice(rule.pattern.ops), x, simplify(d))
    else:
        c = m.divisor() * (-1 if "-c" in rule.text and m.dtype is not uint8 else 1)
        u = division(m.random.choice(rule.pattern.ops), x, m.number(c))
    return u, rule.action(u)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=[s.text for s in STRATEGIES])
def test_strategy_fires_and_is_sound(strategy: Strategy) -> None:
    fired(lambda m: strategy_graph(m, strategy), 6000, 60)


@pytest.mark.parametrize("rule", DIVMOD, ids=[r.text for r in DIVMOD])
def test_rule_fires_and_is_sound(rule: Rule) -> None:
    fired(lambda m: rule_graph(m, rule), 6000, 60)


@pytest.mark.parametrize("seed", range(300))
def test_nested_divisions_keep_their_value_their_bounds_and_settle(seed: int) -> None:
    m = Maker(seed)
    u = m.sum()
    for _ in range(m.random.randint(1, 3)):
        op = m.random.choice(DIVISIONS)
        u = division(
            op, u * m.number(m.random.choice([1, 1, 2, 3])) + m.term(), m.number(m.divisor())
        )
        if m.random.random() < 0.5:
            u = u + m.term()
    once = simplify(u)
    assert simplify(once) is once
    for env in environments(u):
        want = value_of(u, env)
        assert value_of(once, env) == want
        assert once.vmin <= want <= once.vmax


def test_index_arithmetic_is_taken_apart() -> None:
    a, b = leaf("a", weakint, (0, 63)), leaf("b", weakint, (0, 255))
    flat = a * 256 + b
    assert simplify(flat // 256) is a
    assert simplify(flat % 256) is b
    assert simplify(flat // 256 * 256 + flat % 256) is simplify(flat)
    assert simplify((flat // 16 % 16) * 16 + flat % 16) is b
    r, c = leaf("r", weakint, (0, 99)), leaf("c", weakint, (0, 2047))
    whole = (r * 2048 + c) // 2048 * 2048 + (r * 2048 + c) % 2048
    assert simplify(whole) is simplify(r * 2048 + c)
    x = leaf("x", weakint, (-100, 100))
    assert simplify(x // 4 * 4 + x % 4) is x
    assert simplify(x % 4 + x // 4 % 5 * 4) is x % 20
    assert simplify((x * 4 + 7) // 2) is simplify(x * 2 + 3)
    assert simplify((x + 19) // 8) is simplify((x + 3) // 8 + 2)
    assert simplify(x // 3 // 5) is x // 15
    assert simplify((x % 12) % 4) is x % 4
    assert simplify(x // -3) is simplify(-x // 3)


def test_divisors_that_vary() -> None:
    n = leaf("n", weakint, (1, 50))
    x, y = leaf("x", weakint, (0, 9)), leaf("y", weakint, (-5, 9))
    assert simplify((x * n + y) // n) is simplify(x + y // n)
    assert simplify((x * n + y) % n) is y % n
    assert simplify((x * n * y) // (n * y)) is not x  # y may be 0
    assert simplify((x * n) // (n * 4)) is simplify(x // 4)
    m = leaf("m", weakint, (10, 50))
    assert simplify(x // m) is const_of_dtype(weakint, 0)
    assert simplify(x % m) is x
