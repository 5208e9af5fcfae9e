"""Conditions that guard: what must hold for a value to matter, and what it is where that does not.

In: bool nodes and the values they choose. A *guard* is a condition with what it must be, stripped
of nots, so that ``c`` and ``not c`` name one condition.
"""

from __future__ import annotations

import math
from collections.abc import Container
from typing import Final

from .build import const_bool
from .node import Uop
from .ops import Ops

Guard = tuple[Uop, bool]
"""A condition, and whether it must hold or must not."""

FALSE: Final = const_bool(False)


def guard(u: Uop) -> Guard:
    """``u`` as a condition that is no not, and what that is where ``u`` holds."""
    holds = True
    while (inner := _negated(u)) is not None:
        u, holds = inner, not holds
    return u, holds


def conjuncts(u: Uop) -> list[Guard]:
    """Guards that all hold exactly where the bool ``u`` does."""
    found: dict[Guard, None] = {}
    pending = [u]
    while pending:
        condition, holds = guard(pending.pop())
        if holds and condition.op is Ops.AND:
            pending += condition.src[::-1]
        else:
            found[condition, holds] = None
    return list(found)


def disjuncts(u: Uop) -> set[Guard]:
    """Guards of which none holds where the bool ``u`` does not: its own, and those it is the OR
    of."""
    found: set[Guard] = set()
    pending = [u]
    while pending:
        condition, holds = guard(pending.pop())
        found.add((condition, holds))
        if holds and condition.op is Ops.OR:
            pending += condition.src
    return found


def idle(u: Uop, condition: Uop) -> Uop | None:
    """What ``u`` is wherever ``condition`` does not hold, where its form says so."""
    never = disjuncts(condition)
    if u.op is Ops.WHERE:
        chosen, holds = guard(u.src[0])
        if (chosen, holds) in never:
            return u.src[2]
        if (chosen, not holds) in never:
            return u.src[1]
    elif u.op is Ops.AND and u.dtype.is_bool and not never.isdisjoint(conjuncts(u)):
        return FALSE
    elif u.op is Ops.OR and u.dtype.is_bool:
        idles = [idle(s, condition) is FALSE for s in u.src]
        if any(idles):
            return FALSE if all(idles) else u.src[idles.index(False)]
    return None


def resting(u: Uop, condition: Uop, made: Container[Uop]) -> Uop | None:
    """What ``u`` is where ``condition`` does not hold, by nodes that are not ``made`` under it."""
    rest: Uop | None = u
    while rest is not None and rest in made:
        rest = idle(rest, condition)
    return rest


def _negated(u: Uop) -> Uop | None:
    """x where the bool ``u`` is ``not x``."""
    if u.op in (Ops.CMPNE, Ops.XOR) and u.dtype.is_bool and u.src[0].dtype.is_bool:
        for x, c in (u.src, u.src[::-1]):
            if c.op is Ops.CONST and c.arg.value is True:
                return x
    return None


def canonical_of(u: Uop) -> Uop | None:
    """x where ``u`` is the float x with its NaNs made canonical."""
    if u.op is not Ops.WHERE:
        return None
    test, nan, x = u.src
    if test.op is not Ops.CMPNE or test.src != (x, x) or not x.dtype.is_float:
        return None
    return x if nan.op is Ops.CONST and math.isnan(nan.arg.value) else None
