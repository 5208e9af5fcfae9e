"""Regions: the dear arms of a program, as runs of nodes that one guard is asked for.

An arm whose own nodes are dear together becomes a region of the linear program, which runs only
when its guard holds in some lane; an arm that is not adds its nodes to the arm around it
(``arms.py`` says which node is in which). An arm takes several regions where something between them
depends on the first, and the next on that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ..uop import Ops, Uop
from ..uop.elementary import RARE
from .arm import Arm
from .arms import Arms

Places = dict[Uop, tuple[Arm, ...]]
"""The dear arms around each node in the list of its loop, outermost first."""


First = dict[Uop, tuple[Uop, ...]]
"""For some nodes of regions: what has to run before them though they do not use it."""


def guarded(arms: Arms) -> tuple[list[Uop], Places, First]:
    """The nodes in an order in which guards come before what they guard, each one's arms, and what
    has to run before it too: the other value of a rare choice, which is the choice's where the
    region is not entered.

    Guards that are not nodes of the program yet are added. Nodes that are in no arm are not in the
    second answer."""
    if not arms.any_dear:
        return list(arms.order), {}, {}
    loops = arms.loops
    order = [v for u in arms.order for v in (u, *arms.negations.get(u, ()))]
    around = {u: _dear_around(arms.home(u)) for u in order}
    places = {u: tuple(a for a in found if a.loop is loops[u]) for u, found in around.items()}
    first: First = {}
    for u in order:
        if u.op is Ops.WHERE and u.node_tag == RARE:
            condition, made, usual = u.src
            inner = places.get(made)
            if inner and inner[-1].guard is condition and loops[u] is loops[made]:
                first[made] = (*first.get(made, ()), usual)
    order = _guards_first(order, around, first)
    return order, {u: found for u, found in places.items() if found}, first


def _dear_around(home: Arm) -> tuple[Arm, ...]:
    """The dear arms around a place, of all lists, outermost first."""
    return tuple(arm for arm in home.around() if arm.condition is not None and arm.is_dear)[::-1]


def _guards_first(order: Sequence[Uop], around: Places, first: First) -> list[Uop]:
    """``order`` with each node after the guards of its arms, and after the other value of what
    chooses it. No guard depends on what it guards: it is asked for around it; nor does the other
    value: what it needs is used outside of the arm."""
    done: set[Uop] = set()
    out: list[Uop] = []
    for root in order:
        stack = [root]
        while stack:
            u = stack[-1]
            if u in done:
                stack.pop()
                continue
            needs = (*u.src, *(arm.guard for arm in around[u]), *first.get(u, ()))
            missing = [s for s in needs if s not in done]
            if missing:
                stack += missing[::-1]
            else:
                done.add(u)
                out.append(u)
                stack.pop()
    return out


def runs(
    nodes: Sequence[Uop], arm_of: Mapping[Uop, Arm], needs: Mapping[Uop, Collection[Uop]]
) -> list[list[Uop]]:
    """The nodes that are in arms, as few regions each as can be found: an arm's region is opened
    once nothing else can go on, the one that can then be finished first.

    ``needs`` gives what must come before each node; what is not among ``nodes`` is there."""
    within = set(nodes)
    missing = {u: {s for s in needs[u] if s in within} for u in nodes}
    followers: dict[Uop, list[Uop]] = {}
    outside: dict[Arm, int] = dict.fromkeys(arm_of.values(), 0)
    """For each arm: what its nodes still need from elsewhere, each for itself."""
    for u in nodes:
        for s in missing[u]:
            followers.setdefault(s, []).append(u)
            if u in arm_of and arm_of.get(s) is not arm_of[u]:
                outside[arm_of[u]] += 1
    ready = [u for u in nodes if not missing[u]]
    found: list[list[Uop]] = []

    def closure(arm: Arm) -> list[Uop]:
        """The nodes of an arm that can run now, one after the other."""
        run = [u for u in ready if arm_of.get(u) is arm]
        waiting: dict[Uop, int] = {}
        for u in run:
            for v in followers.get(u, ()):
                if arm_of.get(v) is arm:
                    waiting[v] = waiting.get(v, len(missing[v])) - 1
                    if not waiting[v]:
                        run.append(v)
        return run

    while ready:
        done = [u for u in ready if u not in arm_of]
        if not done:
            arms = dict.fromkeys(arm_of[u] for u in ready)
            done = closure(next((arm for arm in arms if not outside[arm]), next(iter(arms))))
            found.append(done)
        gone = set(done)
        ready = [u for u in ready if u not in gone]
        for u in done:
            for v in followers.get(u, ()):
                missing[v].discard(u)
                if v in arm_of and arm_of.get(u) is not arm_of[v]:
                    outside[arm_of[v]] -= 1
                if not missing[v] and v not in gone:
                    ready.append(v)
    return found
