"""Roots a step ahead: software pipelining of the one unit that a loop waits for.

A root and the quotient that divides by it take the same slow unit one after the other, and all
that an iteration does with them stands behind both. Where a root depends on its loop's counter but
on no word that the loop carries, each iteration can compute the root of the next one: the loop
carries it. Then an iteration's quotient starts at once, and the next root runs while the rest of
the iteration is done (software pipelining with one stage of overlap: Lam, 1988).

The words stay the same: what is computed ahead is pure, and is asked for at counter values that
the loop reaches. In the last iteration that is the last one again, whose root nobody reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..dtype import AddrSpace, Ptr, Val, int32
from ..uop import (
    AxisType,
    Ops,
    Uop,
    after,
    buffer,
    const_like,
    const_of_dtype,
    group,
    index,
    load,
    replace,
    stack,
    store,
    toposort,
)
from ..uop.storage import storage_of
from .split import lowered_axis
from .vectorize import innermost

WIDE = 32
"""Lanes from which this pays: fewer leave the unit idle at the seam of two iterations."""
LONG = 16
"""Iterations that a loop must be able to run: the first root is computed in front of it."""
MOST = 32
"""Nodes that are worth computing again: what a root is made of may have other uses."""
FEW = 2
"""Roots of one loop that are worth carrying."""


def roots_ahead(root: Uop) -> Uop:
    """``root`` with the roots that loops divide by computed an iteration before they are used."""
    order = toposort(root)
    found = _ahead(order)
    if not found:
        return root
    slot = max((u.arg.slot for u in order if u.op is Ops.BUFFER), default=-1) + 1
    breaks: dict[Uop, list[Uop]] = {}
    for u in order:
        if u.op is Ops.BREAK:
            breaks.setdefault(u.src[1], []).append(u)
    carried: dict[Uop, list[_Carried]] = {}  # by their loops
    new: dict[Uop, Uop] = {}
    for u in order:
        src = tuple(new[s] for s in u.src)
        if u in found:
            word = _Carried.of(u, found[u], slot, new)
            slot += 1
            carried.setdefault(found[u], []).append(word)
            new[u] = word.now
        elif u.op is Ops.END:
            kept = [
                word.kept(new, [new[b] for b in breaks.get(loop, ())])
                for loop in u.src[1:]
                for word in carried.get(loop, ())
            ]
            new[u] = replace(u, src=(group([*kept, src[0]]), *src[1:]) if kept else src)
        else:
            new[u] = replace(u, src=src)
    return new[root]


def _ahead(order: Sequence[Uop]) -> dict[Uop, Uop]:
    """The roots worth computing ahead, each with its loop."""
    divided = {u.src[1] for u in order if u.op is Ops.FDIV and u.src[1].op is Ops.SQRT}
    if not divided:
        return {}
    stored = {storage_of(u.src[0]) for u in order if u.op is Ops.STORE}
    divergent = {u.src[1] for u in order if u.op is Ops.BREAK and u.src[0].max_shape != ()}
    always = _always(order)
    found: dict[Uop, Uop] = {}
    for u in order:
        if u in divided and u in always and _lanes_of(u) >= WIDE:
            loop = innermost(u.ranges)
            if loop is not None and loop not in divergent and _is_long(loop):
                cone = _inside(u, loop)
                if len(cone) <= MOST and all(_is_pure(s, stored) for s in cone):
                    found[u] = loop
    loops = list(found.values())
    return {u: loop for u, loop in found.items() if loops.count(loop) <= FEW}


def _is_long(loop: Uop) -> bool:
    """Whether an element's own loop runs at least once, and may run long."""
    own = loop.arg.kind is AxisType.LOOP and lowered_axis(loop.arg.axis) is not None
    return own and loop.src[0].vmin >= 1 and loop.src[0].vmax >= LONG


def _always(order: Sequence[Uop]) -> set[Uop]:
    """The nodes that effects ask for whatever the conditions of WHEREs between them say."""
    asked: set[Uop] = set()
    for u in reversed(order):
        if u.op in (Ops.STORE, Ops.BREAK) or u in asked:
            asked.update(u.src[:1] if u.op is Ops.WHERE else u.src)
    return asked


def _inside(u: Uop, loop: Uop) -> list[Uop]:
    """What ``u`` is made from, ending with itself, that changes with a loop's counter."""
    return [s for s in toposort(u) if s is not loop and loop in s.ranges]


def _is_pure(u: Uop, stored: set[Uop]) -> bool:
    """Whether a node's words depend on its sources alone, whenever it is computed."""
    if u.op is Ops.LOAD:  # one address for all lanes: to read it again costs nothing
        return len(u.src) == 1 and storage_of(u) not in stored and _lanes_of(u) == 0
    return u.op.is_alu or u.op in (Ops.CAST, Ops.BITCAST, Ops.STACK, Ops.INDEX)


@dataclass(frozen=True, slots=True)
class _Carried:
    """A root that a loop carries: ``now`` is its word in an iteration."""

    root: Uop
    loop: Uop
    register: Uop
    first: Uop
    now: Uop

    @staticmethod
    def of(root: Uop, loop: Uop, slot: int, new: dict[Uop, Uop]) -> _Carried:
        """Its first word in front of the loop. ``new`` has what the graph becomes, so far."""
        dtype, opened = root.dtype, new[loop]
        assert isinstance(dtype, Val)
        register = buffer(
            slot=slot,
            dtype=Ptr.create(dtype, addrspace=AddrSpace.REG, size=_lanes_of(root)),
            addrspace=AddrSpace.REG,
        )
        value = _at(root, loop, const_like(opened, 0), new)
        first = store(dst=_words(register, opened.src[1:]), value=value)
        now = load(src=_words(register, [first, opened]))
        return _Carried(root, loop, register, first, now)

    def kept(self, new: dict[Uop, Uop], breaks: Sequence[Uop]) -> Uop:
        """The store of its word in the next iteration, behind the loop's breaks."""
        opened = new[self.loop]
        last = opened.src[0] - 1
        following = (opened < last).where(opened + 1, last)
        place = _words(self.register, [self.first, opened, self.now, *breaks])
        return store(dst=place, value=_at(self.root, self.loop, following, new))


def _words(register: Uop, deps: Sequence[Uop]) -> Uop:
    """All words of a register, after ``deps``."""
    assert isinstance(register.dtype, Ptr)
    lanes = stack([const_of_dtype(int32, n) for n in range(register.dtype.size)])
    return index(ptr=after(src=register, deps=deps), idxs=[lanes])


def _lanes_of(u: Uop) -> int:
    """Lanes of a value, 0 where it is uniform."""
    return u.max_shape[0] if u.max_shape else 0


def _at(u: Uop, loop: Uop, counter: Uop, new: dict[Uop, Uop]) -> Uop:
    """``u`` at another value of its loop's counter."""
    made = {loop: counter}
    for s in _inside(u, loop):
        made[s] = replace(s, src=tuple(made[x] if x in made else new[x] for x in s.src))
    return made[u]
