"""An arm of a predicated program, the tree of them, and which nodes may stand in one.

An arm is part of the list of a loop: the nodes that stand in this loop and in none inside. The root
of a loop's list is within the arm that the loop itself stands in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..uop import Ops, Uop
from ..uop.elementary import RARE, SELECT
from ..uop.guards import Guard
from ..uop.shape import dims_or_none
from ..uop.storage import is_register, storage_of

DEAR = 16
"""Operations from which an arm is worth a branch."""
_COSTS = {Ops.FDIV: 6, Ops.SQRT: 6, Ops.CDIV: 20, Ops.CMOD: 20, Ops.RECIPROCAL: 6, Ops.END: DEAR}
_FREE = (Ops.INDEX, Ops.STACK, Ops.STORE, Ops.AFTER, Ops.GROUP)
_LANES = 4
"""How many times the cost of a uniform operation one on lanes has."""


class Arm:
    """Where a condition holds (or does not), within another arm of its list; or, without a
    condition, all of a list. Compared by identity."""

    __slots__ = ("children", "condition", "cost", "depth", "holds", "loop", "moved", "outer")

    def __init__(self, condition: Uop | None, holds: bool, outer: Arm | None, loop: Uop | None):
        self.condition, self.holds, self.outer, self.loop = condition, holds, outer, loop
        self.depth: int = 0 if outer is None else outer.depth + 1
        self.children: dict[Guard, Arm] = {}
        self.cost = self.moved = 0

    def arm(self, asked: Guard) -> Arm:
        """The arm of a condition within this one."""
        if asked not in self.children:
            self.children[asked] = Arm(*asked, self, self.loop)
        return self.children[asked]

    def within(self, guards: Sequence[Guard]) -> Arm:
        """The arm in which all of ``guards`` hold, through arms that exist where there are such."""
        around = {(arm.condition, arm.holds) for arm in self.around()}
        missing = [g for g in guards if g not in around]
        found = self
        while missing:
            asked = next((g for g in missing if g in found.children), missing[0])
            missing.remove(asked)
            found = found.arm(asked)
        return found

    def around(self) -> Iterator[Arm]:
        """This arm and those that it is in, of all lists, innermost first."""
        arm: Arm | None = self
        while arm is not None:
            yield arm
            arm = arm.outer

    @property
    def guard(self) -> Uop:
        """The node that holds where this arm runs."""
        assert self.condition is not None
        return self.condition if self.holds else self.condition.logical_not()

    @property
    def is_dear(self) -> bool:
        return self.condition is not None and self.cost >= DEAR

    @property
    def dear(self) -> Arm:
        """The innermost arm around that is dear, or the root of the list."""
        arm = self
        while arm.condition is not None and not arm.is_dear:
            assert arm.outer is not None
            arm = arm.outer
        return arm


def common(a: Arm, b: Arm) -> Arm:
    while a is not b:
        if a.depth >= b.depth:
            assert a.outer is not None
            a = a.outer
        else:
            assert b.outer is not None
            b = b.outer
    return a


def child(arm: Arm, inside: Arm) -> Arm | None:
    """The arm right in ``arm`` that another is in; None where that is in none."""
    found = None
    for around in inside.around():
        if around is arm:
            return found
        found = around
    return None


def entered(arm: Arm, guards: Sequence[Guard], uses: dict[Uop, Arm]) -> Arm:
    """The arm within ``arm`` where ``guards`` hold, which are asked around what they guard."""
    found = arm.within(guards)
    for inner in found.around():
        if inner is arm:
            break
        assert inner.condition is not None and inner.outer is not None
        asked = inner.condition
        uses[asked] = common(uses.get(asked, inner.outer), inner.outer)
    return found


def dear_outside(arm: Arm, loop: Uop | None) -> Arm | None:
    """The innermost dear arm around ``arm`` that is in a list within that of ``loop``."""
    found = None
    for around in arm.around():
        if around.loop is loop:
            return found
        if found is None and around.is_dear:
            found = around
    return None


def takes(arm: Arm, u: Uop) -> bool:
    """Whether a dear arm may compute one more value of a loop outside: they cost a quarter of its
    own at most."""
    cost = cost_of(u) if dims_or_none(u) == () else _LANES * cost_of(u)
    if arm.moved + cost > arm.cost:
        return False
    arm.moved += cost
    return True


def cost_of(u: Uop) -> int:
    if u.op is Ops.LOAD:
        return 0 if is_register(storage_of(u)) else DEAR if u.max_shape != () else 4
    if u.op in _FREE or (u.op is not Ops.END and dims_or_none(u) is None):
        return 0
    return _COSTS.get(u.op, 1)


def is_choice(u: Uop) -> bool:
    """Whether a node is a WHERE of which one value may be left out where nobody chooses it."""
    return u.op is Ops.WHERE and u.node_tag != SELECT


def is_arm(u: Uop, place: int) -> bool:
    """Whether a source only matters under a node's condition. A rare choice's other value always
    does."""
    return place > 0 and is_choice(u) and (place == 1 or u.node_tag != RARE)


def is_one_operation(asked: Uop, u: Uop) -> bool:
    """Whether a choice is a minimum, a maximum or a rounding, which machines have."""
    return set(asked.src) == set(u.src[1:]) or any(s.op is Ops.TRUNC for s in u.src[1:])


def is_movable(u: Uop) -> bool:
    if u.op is Ops.LOAD:
        return len(u.src) == 1
    if u.op is Ops.STORE:
        return is_register(storage_of(u.src[0]))
    if u.op in (Ops.AFTER, Ops.GROUP, Ops.END):
        return True
    if u.op in (Ops.CONST, Ops.PARAM, Ops.BUFFER, Ops.RANGE) or u.dtype.is_ptr:
        return False
    return u.op.is_alu or u.op in (Ops.CAST, Ops.BITCAST, Ops.INDEX, Ops.STACK)


def is_pure(u: Uop) -> bool:
    if u.op in (Ops.LOAD, Ops.INDEX):
        return not is_register(storage_of(u))
    return u.op.is_alu or u.op in (Ops.CAST, Ops.BITCAST)


def may_enter(u: Uop) -> bool:
    """Whether a node may be computed in a loop inside of its own: it is pure, and no read of a
    whole vector."""
    if u.node_tag == SELECT:
        return False
    if u.op in (Ops.LOAD, Ops.INDEX):
        return u.max_shape == () and not is_register(storage_of(u))
    return u.op.is_alu or u.op in (Ops.CAST, Ops.BITCAST)
