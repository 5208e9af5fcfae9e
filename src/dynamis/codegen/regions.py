"""Arms worth skipping: which pure nodes only matter where a condition holds.

An AST is predicated: both arms of a WHERE are computed, and the lanes choose. A node all of whose
uses are in one arm of WHEREs of one condition has that arm as its *home*; arms nest. A home whose
nodes are dear together becomes a region of the linear program that runs only when its condition
holds in some lane. Only pure nodes move; loops in an arm have no iterations without a lane anyway.

Two regions of one arm must be kept apart where something between them depends on the first and the
second depends on that: they get different levels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..uop import Ops, Uop, shape
from ..uop.shape import shape_or_none
from .vectorize import is_register, storage_of

DEAR = 16
"""Operations from which an arm is worth a branch."""
_COSTS = {Ops.FDIV: 6, Ops.SQRT: 6, Ops.CDIV: 20, Ops.CMOD: 20, Ops.RECIPROCAL: 6}

Arm = tuple[Uop, bool]
"""A condition, and whether the arm is for where it holds."""
Home = tuple[Arm, ...]


@dataclass(frozen=True, slots=True)
class Region:
    """An arm, inside another region or none, at a level."""

    arm: Arm
    level: int
    outer: Region | None


def regions(order: Sequence[Uop], loop_of: Callable[[Uop], Uop | None]) -> dict[Uop, Region]:
    """The region of each node that is in one; ``order`` is topological."""
    homes = _dear(_homes(order, loop_of))
    return _levelled(order, homes) if homes else {}


def _is_movable(u: Uop) -> bool:
    if u.op is Ops.LOAD:
        return len(u.src) == 1 and not is_register(storage_of(u))
    if u.op in (Ops.CONST, Ops.PARAM, Ops.BUFFER, Ops.RANGE) or u.dtype.is_ptr:
        return False
    return u.op.is_alu or u.op in (Ops.CAST, Ops.BITCAST, Ops.INDEX, Ops.STACK)


def _homes(order: Sequence[Uop], loop_of: Callable[[Uop], Uop | None]) -> dict[Uop, Home]:
    """The innermost arm that each movable node only matters in; () is everywhere."""
    homes: dict[Uop, Home] = {}
    for u in reversed(order):
        own = homes.setdefault(u, ()) if _is_movable(u) else ()
        for place, s in enumerate(u.src):
            path = own
            if not _is_movable(s) or loop_of(s) is not loop_of(u):
                path = ()
            elif u.op is Ops.WHERE and place > 0 and u.src.count(s) == 1:
                condition = u.src[0]
                if condition.op is not Ops.CONST:
                    path = (*own, (condition, place == 1))
            homes[s] = _common(homes[s], path) if s in homes else path
    return {u: home for u, home in homes.items() if home and _is_movable(u)}


def _common(a: Home, b: Home) -> Home:
    n = 0
    while n < min(len(a), len(b)) and a[n] == b[n]:
        n += 1
    return a[:n]


def _cost(u: Uop) -> int:
    if u.op is Ops.LOAD:
        return DEAR if shape(u) != () else 4
    if u.op in (Ops.INDEX, Ops.STACK) or shape_or_none(u) is None:
        return 0
    return _COSTS.get(u.op, 1)


def _dear(homes: dict[Uop, Home]) -> dict[Uop, Home]:
    """Homes cut back to their dear arms."""
    costs: dict[Home, int] = {}
    for u, home in homes.items():
        for n in range(1, len(home) + 1):
            costs[home[:n]] = costs.get(home[:n], 0) + _cost(u)
    dear = {}
    for u, home in homes.items():
        n = len(home)
        while n and costs[home[:n]] < DEAR:
            n -= 1
        if n:
            dear[u] = home[:n]
    return dear


def _levelled(order: Sequence[Uop], homes: dict[Uop, Home]) -> dict[Uop, Region]:
    last: dict[Home, int] = {}
    for position, u in enumerate(order):
        home = homes.get(u, ())
        for n in range(1, len(home) + 1):
            last[home[:n]] = position
    found: dict[Uop, Region] = {}
    reached: dict[Uop, dict[Home, int]] = {}  # the highest level of each arm that a node needs
    for position, u in enumerate(order):
        home = homes.get(u, ())
        needs: dict[Home, int] = {}
        for s in u.src:
            for arm, level in reached[s].items():
                if last[arm] > position or arm == home[: len(arm)]:
                    inside = arm == homes.get(s, ())[: len(arm)]
                    again = arm == home[: len(arm)] and not inside
                    needs[arm] = max(needs.get(arm, 0), level + again)
        region = None
        for n in range(1, len(home) + 1):
            level = needs.setdefault(home[:n], 0)
            region = Region(home[n - 1], level, region)
        if region is not None:
            found[u] = region
        reached[u] = needs
    return found
