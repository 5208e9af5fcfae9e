"""Conditions that guard: what must hold for a value to matter, and what it is where that does not.

In: bool nodes and the values they choose. A *guard* is a condition with what it must be, stripped
of nots, so that ``c`` and ``not c`` name one condition.
"""

from __future__ import annotations

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


def idle(u: Uop, condition: Uop) -> Uop | None:
    """What ``u`` is wherever ``condition`` does not hold, where its form says so."""
    asked = guard(condition)
    if u.op is Ops.WHERE:
        chosen, holds = guard(u.src[0])
        if chosen is asked[0]:
            return u.src[2 if holds == asked[1] else 1]
    elif u.op is Ops.AND and u.dtype.is_bool and asked in conjuncts(u):
        return FALSE
    elif u.op is Ops.OR and u.dtype.is_bool:
        never = [idle(s, condition) is FALSE for s in u.src]
        if any(never):
            return FALSE if all(never) else u.src[never.index(False)]
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
