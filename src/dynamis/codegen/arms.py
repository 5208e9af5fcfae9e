"""Arms: where each node of a predicated program matters.

An AST is predicated: both arms of a WHERE are computed, and the lanes choose. A node all of whose
uses are in one arm of one condition has that arm as its *home*; arms nest. These have arms:

- a WHERE, unless its tag is ``SELECT``, which says that both of its values stay computed; one with
  ``RARE`` has a first arm only, and its other value is ready before that;
- a bool AND with a condition that guards something else too: the other operand matters only there;
- a loop that has no iterations where a condition holds in no lane, and a gated store of a register:
  they do nothing there, so that they may be skipped, whoever looks at the register afterwards.

A loop is one place of the list that it stands in, and has a list of its own for what it runs; so an
arm is an arm of a list, and the root of a loop's list is within the arm that the loop is in.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Sequence
from operator import or_

from ..uop import Ops, Uop, replace
from ..uop.elementary import RARE
from ..uop.guards import Guard, conjuncts, guard, idle
from ..uop.shape import dims_or_none
from ..uop.storage import is_register, storage_of
from .arm import (
    Arm,
    child,
    common,
    cost_of,
    dear_outside,
    entered,
    is_arm,
    is_choice,
    is_movable,
    is_one_operation,
    is_pure,
    may_enter,
    takes,
)

Loops = dict[Uop, Uop | None]
"""The innermost loop that each node stands in."""


class Arms:
    """The arms of a program: ``homes`` of its movable nodes, all of them dear or roots, and the
    ``roots`` of the lists of its loops. ``negations``: for each condition the guards to put behind
    it that the program does not have.

    ``loops`` is changed for nodes that are better computed in an arm of a loop inside than always:
    uniform ones, as a rule, which cost little beside what the arm does for every lane."""

    def __init__(self, order: Sequence[Uop], loops: Loops):
        self.order, self.loops = order, loops
        self.everywhere = Arm(None, True, None, None)
        self.conditions = _conditions(order)
        self.position = {u: n for n, u in enumerate(order)}
        self.roots: dict[Uop | None, Arm] = {None: self.everywhere}
        self.breaks: dict[Uop, Uop] = {}
        self.stores: dict[Uop, list[Uop]] = {}
        self.written: dict[Uop, dict[Uop, None]] = {}
        """The registers that each loop sets."""
        self.writing: set[Uop] = set()
        """The loops that store to memory: those of the domain, which have no arms."""
        for u in order:
            if u.op is Ops.BREAK:
                self.breaks[u.src[1]] = u
            elif u.op is Ops.STORE and is_register(target := storage_of(u.src[0])):
                self.stores.setdefault(target, []).append(u)
                for loop in u.ranges:
                    self.written.setdefault(loop, {})[target] = None
            elif u.op is Ops.STORE:
                self.writing.update(u.ranges)
        self.homes: dict[Uop, Arm] = {}
        self.askers: dict[Uop, dict[Uop | None, None]] = {}
        self.asked: dict[tuple[Uop, Uop], Uop | None] = {}
        self.copied: dict[Uop, tuple[Uop | None, ...]] = {}
        """The values that dear arms of several loops inside are the only users of."""
        self.negations: dict[Uop, list[Uop]] = {}
        self.bits = {c: 1 << k for k, c in enumerate(self.conditions)}
        self.under: dict[Uop, int] = {}
        """The conditions, a bit each, that every node depends on."""
        self.unions: dict[Arm, list[Arm]] = {}
        self._find(moving=False)
        self.all = self._price()
        if self.any_dear:
            self._find(moving=True)
            self._nest()
            self.all = self._price()
            self.homes = {u: home.dear for u, home in self.homes.items()}
            self._negate()
            self._attach()

    @property
    def any_dear(self) -> bool:
        return any(arm.is_dear for arm in self.all)

    def home(self, u: Uop) -> Arm:
        """The arm that a node is in: a root of what cannot move."""
        return self.homes.get(u) or self.roots[self.loops[u]]

    # --- homes

    def _find(self, *, moving: bool) -> None:
        """Walk from uses to what they use; the second time nodes may move into dear arms."""
        uses: dict[Uop, Arm] = {}
        self.sides: dict[Uop, dict[Arm, None]] = {}
        readers: dict[Uop, Arm] = {}
        for u in reversed(self.order):
            own = self._home(u, uses, readers, moving)
            if u.op is Ops.RANGE:
                assert own.outer is not None
                own = own.outer  # its length is asked outside
            elif u.op is Ops.LOAD and is_register(target := storage_of(u)):
                readers[target] = common(readers.get(target, own), own)
            guarding = self._guarding(u)
            copies = self._copies(u) if moving else None
            for place, s in enumerate(u.src):
                arm = own
                if is_arm(u, place) and u.src.count(s) == 1:
                    asked, holds = guard(u.src[0])
                    if asked.op is not Ops.CONST:
                        arm = own.arm((asked, holds == (place == 1)))
                elif guarding is not None and place != guarding:
                    arm = own.within(self._known(u.src[guarding]))
                uses[s] = common(uses.get(s, arm), arm)
                if moving:
                    self.sides.setdefault(s, {})[arm] = None
                if moving and may_enter(s):
                    self._ask(s, u, arm, copies)

    def _ask(self, s: Uop, u: Uop, arm: Arm, copies: Collection[Uop | None] | None) -> None:
        """Note who uses a value of a loop outside: copies of a user, a dear arm, or something."""
        askers = self.askers.setdefault(s, {})
        if copies:
            askers.update(dict.fromkeys(copies))
        elif (into := dear_outside(arm, self.loops[s])) is not None:
            askers[into.loop] = None
            self.asked[u, s] = into.loop
        else:
            askers[self.loops[s]] = None

    def _copies(self, u: Uop) -> Collection[Uop | None] | None:
        """The loops that are to have a copy of ``u`` each: dear arms of theirs, of two or more, are
        its only uses, and it has one value for all lanes."""
        found = self.askers.get(u, {})
        if len(found) < 2 or self.loops[u] in found or dims_or_none(u) != ():
            return None
        self.copied[u] = tuple(found)
        return found

    def _home(self, u: Uop, uses: dict[Uop, Arm], readers: dict[Uop, Arm], moving: bool) -> Arm:
        loop = self.loops[u]
        used = uses.get(u, self.everywhere)
        if not is_movable(u):
            return self.roots[loop]
        if moving and used.loop is not loop and may_enter(u):
            into = dear_outside(used, loop)
            if into is not None and takes(into, u):
                self.loops[u], self.homes[u] = into.loop, into
                return into
        home = self._fit(used, loop)
        if moving and used is home and (together := self._together(u, home)) is not None:
            self.homes[u] = together
            return together
        for target in self._written(u):
            if target in readers:  # what comes between may be in an arm, who reads the word is not
                home = common(home, self._fit(readers[target], loop))
        if u.op is Ops.STORE and len(u.src) > 2:
            home = entered(home, self._known(u.src[2]), uses)
        elif u.op is Ops.END:
            inner = u.src[1]
            home = entered(home, self._loop_guards(inner), uses)
            if inner not in self.roots:
                self.roots[inner] = Arm(None, True, home, inner)
        self.homes[u] = home
        return home

    def _together(self, u: Uop, home: Arm) -> Arm | None:
        """The arm of what several dear arms in ``home`` alone use: where any of them is taken."""
        arms = dict.fromkeys(child(home, arm) for arm in self.sides.get(u, ()))
        if len(arms) < 2 or not is_pure(u):
            return None
        guards: dict[Uop, Uop] = {}
        for arm in arms:
            if arm is None or not arm.is_dear or arm.condition is None or arm.condition in guards:
                return None  # needed by more than arms, or by both of one condition
            guards[arm.condition] = arm.guard
        if not self._are_apart(guards):
            return None
        asked = [guards[c] for c in sorted(guards, key=self.position.__getitem__)]
        around = home.arm((functools.reduce(or_, asked), True))
        self.unions[around] = [arm for arm in arms if arm is not None]
        return around

    def _are_apart(self, conditions: Collection[Uop]) -> bool:
        """Whether no condition depends on another, and so on nothing in its arms."""
        if not self.under:
            for u in self.order:
                found = self.bits.get(u, 0)
                for s in u.src:
                    found |= self.under[s]
                self.under[u] = found
        together = sum(self.bits[c] for c in conditions)
        return all(self.under[c] & together == self.bits[c] for c in conditions)

    def _nest(self) -> None:
        """Put arms that share values into the arm that has these, so that one test skips all."""
        for around, arms in self.unions.items():
            for arm in arms:
                if arm.outer is around.outer:
                    arm.outer = around

    def _written(self, u: Uop) -> Collection[Uop]:
        """The registers that a store, or any in a loop that ends, sets."""
        if u.op is Ops.STORE:
            return (storage_of(u.src[0]),)
        return self.written.get(u.src[1], ()) if u.op is Ops.END else ()

    def _fit(self, arm: Arm, loop: Uop | None) -> Arm:
        """The arm of a loop's list that another arm is in: its root where it is in none."""
        found = next((a for a in arm.around() if a.loop is loop), None)
        return found or self.roots[loop]

    def separated(self, root: Uop) -> Uop:
        """``root`` with a copy of each shared value for each loop whose dear arms use it, so that
        it can be computed there."""
        new: dict[Uop, Uop] = {}
        made: dict[tuple[Uop, Uop | None], Uop] = {}
        for u in (*self.order, root):
            for loop in self.copied.get(u, ()):
                assert loop is not None
                src = [made.get((s, loop)) or new[s] for s in u.src]
                tag = f"{u.node_tag or ''} in {loop.arg.axis}"
                made[u, loop] = replace(u, src=src, node_tag=tag)
            src = [
                made[s, self.asked[u, s]] if s in self.copied and (u, s) in self.asked else new[s]
                for s in u.src
            ]
            new[u] = replace(u, src=src)
        return new[root]

    # --- guards

    def _known(self, u: Uop) -> list[Guard]:
        """The guards of a condition that choose something somewhere, those made first first."""
        found = [g for g in conjuncts(u) if g[0] in self.conditions]
        return sorted(found, key=lambda g: self.position.get(g[0], -1))

    def _guarding(self, u: Uop) -> int | None:
        """Which operand of an AND is the condition under which the other one matters."""
        if u.op is not Ops.AND or not u.dtype.is_bool or u.src[0] is u.src[1]:
            return None
        found = [k for k, s in enumerate(u.src) if self._known(s)]
        return min(found, key=lambda k: self.position.get(u.src[k], -1), default=None)

    def _loop_guards(self, loop: Uop) -> list[Guard]:
        """What must hold in some lane for a loop to do anything: its length is not zero there, or
        its live mask starts as that."""
        if loop in self.writing:
            return []
        found: list[Guard] = []
        size = loop.src[0]
        if size.op is Ops.WHERE and size.src[2].op is Ops.CONST and size.src[2].arg.value == 0:
            found += self._known(size.src[0])
        for mask in self._masks(loop):
            for store in self.stores[mask]:
                if loop not in store.ranges and len(store.src) == 2:
                    found += self._known(store.src[1])
        return found

    def _masks(self, loop: Uop) -> list[Uop]:
        """The registers that hold a loop's live lanes: one that can only narrow, and that the loop
        is left without."""
        if loop not in self.breaks:
            return []
        found = []
        live, holds = guard(self.breaks[loop].src[0])
        for word, still in [] if holds else conjuncts(live):
            mask = storage_of(word)
            if still and word.op is Ops.LOAD and is_register(mask):
                inside = [s for s in self.stores[mask] if loop in s.ranges]
                if len(inside) == 1 and len(inside[0].src) == 2:
                    if (word, True) in conjuncts(inside[0].src[1]):
                        found.append(mask)
        return found

    # --- what an arm holds

    def _price(self) -> list[Arm]:
        """Every arm, outer ones first. An arm adds its cost to the one around it: where that does
        not hold, what it holds need not run either, whatever its own condition says."""
        arms = [self.everywhere]
        arms += (root for loop, root in self.roots.items() if loop is not None)
        for arm in arms:
            arms += arm.children.values()
        for arm in arms:
            arm.cost = 0
        for u, home in self.homes.items():
            home.cost += cost_of(u)
        arms.sort(key=lambda arm: sum(1 for _ in arm.around()))
        for arm in reversed(arms):
            if arm.outer is not None:
                arm.outer.cost += arm.cost
        return arms

    def _negate(self) -> None:
        """Have the guards of arms where a condition does not hold, as nodes beside it, whoever else
        uses them."""
        for arm in self.all:
            if not arm.is_dear or (arm.holds and arm.condition in self.loops):
                continue
            assert arm.condition is not None and arm.outer is not None
            asked = self._new_under(arm.guard)
            known = [s for u in asked for s in u.src if s in self.position]
            last = max(known, key=self.position.__getitem__, default=arm.condition)
            for u in asked:  # what a not compares with may be new too
                self.negations.setdefault(last, []).append(u)
                self.loops[u] = None if u.op is Ops.CONST else arm.loop
                if u.op is not Ops.CONST:
                    self.homes[u] = arm.outer.dear
            if not arm.holds:
                self.loops[arm.guard] = self.loops[arm.condition]
                self.homes[arm.guard] = self.home(arm.condition)

    def _new_under(self, u: Uop) -> list[Uop]:
        """The nodes of a guard that the program does not have, sources first."""
        if u in self.loops:
            return []
        return [*dict.fromkeys(v for s in u.src for v in self._new_under(s)), u]

    def _attach(self) -> None:
        """Choices of a dear arm are made at its end: without it they are what they are idle."""
        for u in self.order:
            if u.op is Ops.WHERE and is_choice(u) and u.node_tag != RARE:
                asked, holds = guard(u.src[0])
                if asked.op is Ops.CONST or is_one_operation(asked, u):
                    continue
                here = self.home(u)
                dear = [
                    here.children[asked, side]
                    for side in (holds, not holds)
                    if (asked, side) in here.children and here.children[asked, side].is_dear
                ]
                if dear:
                    self.homes[u] = max(dear, key=lambda arm: arm.cost)
            elif u.op is Ops.OR and u.dtype.is_bool:
                for s in u.src:
                    guarding = self._guarding(s)
                    if guarding is not None and self.home(s) is self.home(u):
                        into = self._chain(self.home(s), self._known(s.src[guarding]))
                        if into is not None and idle(u, into.guard) is not None:
                            self.homes[u] = self.homes[s] = into
                            break

    def _chain(self, arm: Arm, guards: Sequence[Guard]) -> Arm | None:
        """The dear arm within ``arm`` in which one of ``guards`` holds, if there is one."""
        return next(
            (arm.children[g] for g in guards if g in arm.children and arm.children[g].is_dear), None
        )


def _conditions(order: Sequence[Uop]) -> set[Uop]:
    """What WHEREs choose by, nots stripped."""
    return {guard(u.src[0])[0] for u in order if is_choice(u) and u.src[0].op is not Ops.CONST}
