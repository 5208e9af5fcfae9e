"""Arms worth skipping: which pure nodes only matter where a condition holds.

An AST is predicated: both arms of a WHERE are computed, and the lanes choose. A node all of whose
uses are in one arm of WHEREs of one condition has that arm as its *home*; arms nest. (A WHERE with
the tag ``SELECT`` has no arms: it says that both of its values stay computed. One with ``RARE`` has
a first arm only, and its other value is ready before that.) An arm whose own nodes are dear
together becomes a region of the linear program, which runs only when its guard holds in some lane;
an arm that is not adds its nodes to the arm around it. Only pure nodes move: loops in an arm have
no iterations without a lane anyway.

Two regions of one arm must be kept apart where something between them depends on the first and the
second depends on that: they get different levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..uop import Ops, Uop
from ..uop.elementary import RARE, SELECT
from ..uop.shape import dims_or_none
from ..uop.storage import is_register, storage_of

DEAR = 16
"""Operations from which an arm is worth a branch."""
_COSTS = {Ops.FDIV: 6, Ops.SQRT: 6, Ops.CDIV: 20, Ops.CMOD: 20, Ops.RECIPROCAL: 6}


class Region:
    """Nodes that run under one guard, inside another region or none. Compared by identity."""

    __slots__ = ("guard", "outer")

    def __init__(self, guard: Uop, outer: Region | None):
        self.guard, self.outer = guard, outer


class _Arm:
    """Where a condition holds (or does not), within another arm or everywhere."""

    __slots__ = ("children", "condition", "cost", "depth", "holds", "last", "levels", "outer")

    def __init__(self, condition: Uop | None, holds: bool, outer: _Arm | None):
        self.condition, self.holds, self.outer = condition, holds, outer
        self.depth: int = 0 if outer is None else outer.depth + 1
        self.children: dict[tuple[Uop, bool], _Arm] = {}
        self.cost = self.last = 0
        self.levels: dict[tuple[Region | None, int], Region] = {}

    def arm(self, condition: Uop, holds: bool) -> _Arm:
        """The arm of a condition within this one."""
        key = condition, holds
        if key not in self.children:
            self.children[key] = _Arm(condition, holds, self)
        return self.children[key]

    @property
    def is_dear(self) -> bool:
        return self.condition is not None and self.cost >= DEAR


@dataclass(frozen=True, slots=True)
class _Chain:
    """The dear arms around a place, outermost first, and the node that says where each runs."""

    arms: tuple[_Arm, ...] = ()
    guards: tuple[Uop, ...] = ()


def _guard(arm: _Arm) -> Uop:
    assert arm.condition is not None
    return arm.condition if arm.holds else arm.condition.logical_not()


First = dict[Uop, tuple[Uop, ...]]
"""For some nodes of regions: what has to run before them though they do not use it."""


def regions(
    order: Sequence[Uop], loops: dict[Uop, Uop | None]
) -> tuple[list[Uop], dict[Uop, Region], First]:
    """The nodes in an order in which guards come before what they guard, each one's region, and
    what has to run before them too.

    ``order`` is topological, ``loops`` gives each node's loop; guards that are not nodes of the
    program yet are added to both. Nodes that are in no region are not in the second answer. The
    other value of a rare choice runs first: it is the choice's where the region is not entered.
    """
    everywhere = _Arm(None, True, None)
    homes = _homes(order, loops, everywhere)
    arms = _price(homes, everywhere)
    if not any(arm.is_dear for arm in arms):
        return list(order), {}, {}
    dear: dict[_Arm, _Arm] = {}
    for arm in arms:  # outer arms first
        dear[arm] = arm if arm.is_dear or arm.outer is None else dear[arm.outer]
    homes = {u: dear[home] for u, home in homes.items()}
    added: dict[Uop, list[Uop]] = {}
    for arm in arms:
        if arm.is_dear and not arm.holds:
            assert arm.condition is not None
            negation = _guard(arm)
            for u in (*negation.src, negation):  # the constant it compares with may be new too
                if u not in loops:
                    added.setdefault(arm.condition, []).append(u)
                    loops[u] = None
            # it must be at hand wherever its condition is, whoever else uses it
            homes[negation] = homes.get(arm.condition, everywhere)
            loops[negation] = loops[arm.condition]
    chains = _chains(arms, everywhere)
    first = _first(order, loops, homes, chains)
    order = _guards_first([v for u in order for v in (u, *added.get(u, ()))], first)
    return order, _levelled(order, homes, chains, first, everywhere), first


def _first(
    order: Sequence[Uop],
    loops: dict[Uop, Uop | None],
    homes: dict[Uop, _Arm],
    chains: dict[_Arm, _Chain],
) -> First:
    """What stands before each node of a region: its guards and the other values of rare choices."""
    first: dict[Uop, tuple[Uop, ...]] = {}
    for u, home in homes.items():
        if chains[home].guards:
            first[u] = chains[home].guards
    for u in order:
        if u.op is Ops.WHERE and u.node_tag == RARE:
            condition, made, usual = u.src
            if (guards := first.get(made)) and guards[-1] is condition and loops[u] is loops[made]:
                first[made] = (*guards, usual)
    return first


def _chains(arms: Sequence[_Arm], everywhere: _Arm) -> dict[_Arm, _Chain]:
    """For each dear arm: the dear arms around and including it."""
    chains = {everywhere: _Chain()}
    for arm in arms:  # outer arms first
        if arm.is_dear:
            outer = arm.outer
            while outer is not None and outer not in chains:
                outer = outer.outer
            assert outer is not None
            around = chains[outer]
            chains[arm] = _Chain((*around.arms, arm), (*around.guards, _guard(arm)))
    return chains


def _guards_first(order: Sequence[Uop], first: First) -> list[Uop]:
    """``order`` with each node after the guards of its arms, and after the other value of what
    chooses it. Neither depends on what is guarded: that has no use but through WHEREs of the
    guard's own condition, and was used outside its arm if it were in the other value too."""
    done: set[Uop] = set()
    out: list[Uop] = []
    for root in order:
        stack = [root]
        while stack:
            u = stack[-1]
            if u in done:
                stack.pop()
                continue
            missing = [s for s in (*u.src, *first.get(u, ())) if s not in done]
            if missing:
                stack += missing[::-1]
            else:
                done.add(u)
                out.append(u)
                stack.pop()
    return out


def _is_movable(u: Uop) -> bool:
    if u.op is Ops.LOAD:
        return len(u.src) == 1 and not is_register(storage_of(u))
    if u.op in (Ops.CONST, Ops.PARAM, Ops.BUFFER, Ops.RANGE) or u.dtype.is_ptr:
        return False
    return u.op.is_alu or u.op in (Ops.CAST, Ops.BITCAST, Ops.INDEX, Ops.STACK)


def _is_arm(u: Uop, place: int) -> bool:
    """Whether a source only matters under a node's condition. A rare choice's other value always
    does."""
    if u.op is not Ops.WHERE or place == 0 or u.node_tag == SELECT:
        return False
    return place == 1 or u.node_tag != RARE


def _homes(order: Sequence[Uop], loops: dict[Uop, Uop | None], everywhere: _Arm) -> dict[Uop, _Arm]:
    """The innermost arm that each movable node only matters in."""
    homes: dict[Uop, _Arm] = {}
    movable = {u for u in order if _is_movable(u)}
    for u in reversed(order):
        own = homes.get(u, everywhere)
        for place, s in enumerate(u.src):
            if s not in movable:
                continue
            arm = own
            if loops[s] is not loops[u]:
                arm = everywhere
            elif _is_arm(u, place) and u.src.count(s) == 1:
                arm = own if u.src[0].op is Ops.CONST else own.arm(u.src[0], place == 1)
            homes[s] = _common(homes[s], arm) if s in homes else arm
    return homes


def _common(a: _Arm, b: _Arm) -> _Arm:
    while a is not b:
        if a.depth >= b.depth:
            assert a.outer is not None
            a = a.outer
        else:
            assert b.outer is not None
            b = b.outer
    return a


def _cost(u: Uop) -> int:
    if u.op is Ops.LOAD:
        return DEAR if u.max_shape != () else 4
    if u.op in (Ops.INDEX, Ops.STACK) or dims_or_none(u) is None:
        return 0
    return _COSTS.get(u.op, 1)


def _price(homes: dict[Uop, _Arm], everywhere: _Arm) -> list[_Arm]:
    """Every arm, outer ones first. An arm adds its cost to the one around it: where that does not
    hold, what it holds need not run either, whatever its own condition says."""
    arms = [everywhere]
    for arm in arms:
        arms += arm.children.values()
    for u, home in homes.items():
        home.cost += _cost(u)
    for arm in reversed(arms):
        if arm.outer is not None:
            arm.outer.cost += arm.cost
    return arms


def _levelled(
    order: Sequence[Uop],
    homes: dict[Uop, _Arm],
    chains: dict[_Arm, _Chain],
    first: First,
    everywhere: _Arm,
) -> dict[Uop, Region]:
    for position, u in enumerate(order):
        for arm in chains[homes.get(u, everywhere)].arms:
            arm.last = position
    found: dict[Uop, Region] = {}
    reached: dict[Uop, dict[_Arm, int]] = {}  # the highest level of each arm that a node needs
    for position, u in enumerate(order):
        inside = chains[homes.get(u, everywhere)]
        needs: dict[_Arm, int] = {}
        for s in (*u.src, *first.get(u, ())):
            if levels := reached[s]:
                around = chains[homes.get(s, everywhere)]
                for arm, level in levels.items():
                    if arm.last >= position:
                        again = arm in inside.arms and arm not in around.arms
                        needs[arm] = max(needs.get(arm, 0), level + again)
        region = None
        for arm, holds in zip(inside.arms, inside.guards, strict=True):
            key = region, needs.setdefault(arm, 0)
            if key not in arm.levels:
                arm.levels[key] = Region(holds, region)
            region = arm.levels[key]
        if region is not None:
            found[u] = region
        reached[u] = needs
    return found
