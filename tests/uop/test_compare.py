"""Comparisons of integer sums with constants: every rule fires and is sound, signs included."""

from __future__ import annotations

import pytest

from dynamis.dtype import int8, int32, uint8, weakint
from dynamis.uop import Ops, Rule, Uop, const_bool, simplify
from dynamis.uop.symbolic_compare import RULES
from tests.uop.graphs import leaf
from tests.uop.test_divmod import Maker, check, division, fired


def comparison(m: Maker, rule: Rule) -> tuple[Uop, Uop | None]:
    """A comparison, and what the rule makes of it."""
    x = m.sum()
    if rule.text.startswith("-x"):
        u = -x < -m.sum()
    else:
        if "//" in rule.text:
            x = division(m.random.choice([Ops.FLOORDIV, Ops.CDIV]), x, m.number(m.divisor()))
        if "y" in rule.text and m.random.random() < 0.5:
            x = simplify(m.random.choice(m.leaves) * m.number(8) + m.random.choice(m.leaves))
        high = 127 if m.dtype is int8 else 60
        low = 0 if m.dtype is uint8 else -high
        c = m.random.choice([0, 1, 4, 7, 8, 15, 16, m.random.randint(low, high)])
        u = m.number(c) < x if rule.pattern.src[0].ops == (Ops.CONST,) else x < m.number(c)  # type: ignore[index]  # a pair
    for bound in rule.pattern.match(u):
        names = rule.action.__code__.co_varnames[: rule.action.__code__.co_argcount]
        return u, rule.action(*[bound[n] for n in names])
    return u, None


@pytest.mark.parametrize("rule", RULES, ids=[r.text for r in RULES])
def test_rule_fires_and_is_sound(rule: Rule) -> None:
    fired(lambda m: comparison(m, rule), 6000, 60)


def test_what_only_a_constant_keeps_within_the_dtype_keeps_its_constant() -> None:
    i, j = leaf("i", uint8, (0, 4)), leaf("j", uint8, (0, 4))
    for c in range(31):  # j*6 - i wraps where j*6 - i + 6 does not
        for u in (j * 6 - i + 6 < c, c < j * 6 - i + 6):
            check(u, simplify(u))
    x, y = leaf("x", int8, (0, 100)), leaf("y", int8, (0, 100))
    for u in (x + y - 100 < 0, x + y - 100 > 20, -x - y + 100 < 7, -x - y + 100 > 7):
        check(u, simplify(u))


@pytest.mark.parametrize("seed", range(150))
def test_comparisons_of_sums_keep_their_value_and_settle(seed: int) -> None:
    m = Maker(seed)
    x, c = m.sum(), m.number(m.random.randint(0, 20))
    for u in (x < c, c < x, x < m.sum(), x.eq(c), x.ne(m.term())):
        once = simplify(u)
        assert simplify(once) is once
        check(u, once)


def test_bounds_checks_fold() -> None:
    i, j = leaf("i", int32, (0, 7)), leaf("j", int32, (0, 3))
    assert simplify(i * 4 + j < 32) is const_bool(True)
    assert simplify(i * 4 + j < 16) is simplify(i < 4)
    assert simplify((i * 4 + j) // 4 < 2) is simplify(i < 2)
    x = leaf("x", weakint, (-50, 50))
    assert simplify(x // 3 < -2) is simplify(x < -6)
    assert simplify(-x * 3 + 1 < 8) is simplify(x > -3)
    free = leaf("free", int32)
    assert simplify(free + 1 < 5) is (free + 1 < 5)  # it may wrap
