"""Linearising: a DAG of one kernel → the list of its nodes in the order they run.

A node runs in the innermost loop whose range it depends on, so whatever a loop does not change is
hoisted by construction; among the nodes of a loop, those of one dear arm (``regions.py``) stand
together between IF and ENDIF. Loops and regions are contracted to one item each, and the items of
a list are put in an order that meets every dependency, as near to depth-first order as can be.
Rows that a step does together go side by side, so that what they share is used soon after.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..dtype import int32
from ..uop import (
    Ops,
    Uop,
    UopError,
    const_of_dtype,
    end_,
    endif,
    group,
    if_,
    linear,
    replace,
    toposort,
)
from .arm import Arm
from .arms import Arms
from .regions import guarded, runs
from .vectorize import innermost


def linearize(root: Uop, rows: int = 1) -> Uop:
    """The LINEAR program of a SINK whose steps take so many ``rows``. Raises UopError when a node
    is used outside its loop."""
    order = toposort(root)
    if any(u.op is Ops.END and len(u.src) > 2 for u in order):
        root = _nest_ends(order)
        order = toposort(root)
    if any(u is not None for u in map(_loops(order).get, root.src)):
        raise UopError("a loop is never closed")
    arms = _arms(order)
    if arms.any_dear and arms.copied:
        arms = _arms(toposort(arms.separated(root)))
    return linear(_Lists(arms, rows).run())


def _arms(order: Sequence[Uop]) -> Arms:
    """The arms of what stands under the last node."""
    return Arms(order[:-1], _loops(order[:-1]))


def _loops(order: Sequence[Uop]) -> dict[Uop, Uop | None]:
    """The innermost loop that each node stands in."""
    known: dict[tuple[Uop, ...], Uop | None] = {}  # many nodes stand in the same ranges
    loops: dict[Uop, Uop | None] = {}
    for u in order:
        ranges = u.ranges
        if ranges not in known:
            known[ranges] = innermost(ranges)
        loops[u] = known[ranges]
    return loops


@dataclass(frozen=True, slots=True, eq=False)
class _Item:
    """What stands in one place of a list: a node, a closed loop, or a region: nodes of an arm."""

    nodes: tuple[Uop, ...]
    arm: Arm | None = None


class _Lists:
    def __init__(self, arms: Arms, rows: int):
        order, self.places, self.first = guarded(arms)
        self.by_loop: dict[Uop | None, list[Uop]] = {}
        for u in order:
            # a RANGE stands in front of its loop's own list, and is part of the item of its END
            if u.op is not Ops.RANGE:
                self.by_loop.setdefault(arms.loops[u], []).append(u)
        self.position = {u: n for n, u in enumerate(order)}
        if rows > 1:
            for nodes in self.by_loop.values():
                self.position |= _side_by_side(nodes, rows)
        self.needs = self._needs()
        self.count = 0

    def run(self) -> list[Uop]:
        return self._list(self.by_loop.get(None, []), 0)

    def _list(self, nodes: Sequence[Uop], depth: int) -> list[Uop]:
        """The nodes of a loop, or of a region within ``depth - 1`` others of the loop, in running
        order, what nests in it written out."""
        out: list[Uop] = []
        for item in self._sorted(self._items(nodes, depth)):
            if item.arm is not None:
                out += self._region(item.arm, item.nodes, depth + 1)
            elif item.nodes[0].op is Ops.END:
                loop = item.nodes[0].src[1]
                out += [loop, *self._list(self.by_loop.get(loop, []), 0), item.nodes[0]]
            else:
                out += item.nodes
        return out

    def _region(self, arm: Arm, nodes: Sequence[Uop], depth: int) -> list[Uop]:
        self.count += 1
        opened = if_(cond=arm.guard, idx_for_dedup=const_of_dtype(int32, self.count))
        return [opened, *self._list(nodes, depth), endif(if_=opened)]

    def _items(self, nodes: Sequence[Uop], depth: int) -> list[_Item]:
        arms = {u: found[depth] for u in nodes if len(found := self.places.get(u, ())) > depth}
        regions = runs(nodes, arms, self.needs) if arms else []
        items = [_Item((u,)) for u in nodes if u not in arms]
        for run in regions:
            run.sort(key=self.position.__getitem__)
            items.append(_Item(tuple(run), arms[run[0]]))
        return items

    def _sorted(self, items: Sequence[_Item]) -> list[_Item]:
        """Kahn's algorithm, the ready item that is earliest in depth-first order first."""
        owner = {u: item for item in items for u in item.nodes}
        waiting: dict[_Item, int] = {}
        followers: dict[_Item, list[_Item]] = {}
        for item in items:
            used = (s for u in item.nodes for s in self.needs[u])
            needs = {owner[s] for s in used if s in owner and owner[s] is not item}
            waiting[item] = len(needs)
            for need in needs:
                followers.setdefault(need, []).append(item)
        rank = {item: self.position[item.nodes[0]] for item in items}
        by_rank = {rank[item]: item for item in items}  # first nodes differ, so ranks do
        ready = [rank[item] for item in items if not waiting[item]]
        heapq.heapify(ready)
        out = []
        while ready:
            item = by_rank[heapq.heappop(ready)]
            out.append(item)
            for follower in followers.get(item, ()):
                waiting[follower] -= 1
                if not waiting[follower]:
                    heapq.heappush(ready, rank[follower])
        if len(out) != len(items):
            raise UopError("a node is used outside its loop")
        return out

    def _needs(self) -> dict[Uop, Collection[Uop]]:
        """What must stand before each node: its sources, and what its region wants before it;
        before the END of a loop also what its RANGE and the nodes inside need from outside."""
        lists = self.by_loop.values()
        needs: dict[Uop, Collection[Uop]] = {
            u: (*u.src, *self._guards(u), *self.first.get(u, ())) for nodes in lists for u in nodes
        }
        ends = [u for nodes in lists for u in nodes if u.op is Ops.END]
        for end in sorted(ends, key=lambda u: len(u.src[1].ranges), reverse=True):
            loop = end.src[1]
            inside = self.by_loop.get(loop, [])
            used = {s for u in inside for s in needs[u]}
            needs[end] = used.difference(inside).union(needs[end], loop.src)
        return needs

    def _guards(self, u: Uop) -> list[Uop]:
        """The guards of the regions that a node is in."""
        return [arm.guard for arm in self.places.get(u, ())]


def _side_by_side(nodes: Sequence[Uop], rows: int) -> dict[Uop, int]:
    """Places of a list's nodes where the stores of each row would be depth-first on their own, and
    all rows advance together; none where the list is not that of a step over so many rows."""
    stores = [u for u in nodes if u.op is Ops.STORE]
    each, rest = divmod(len(stores), rows)
    if rest or not each:
        return {}
    own, places = set(nodes), dict[Uop, int]()
    for row in range(rows):
        order = toposort(group(stores[row * each : (row + 1) * each]))
        for n, u in enumerate(u for u in order if u in own):
            places[u] = min(places.get(u, n * rows + row), n * rows + row)
    last = rows * len(nodes)
    return places | {u: last + n for n, u in enumerate(nodes) if u not in places}


def _nest_ends(order: Sequence[Uop]) -> Uop:
    """The last node, with each END over several ranges as ENDs over one, the innermost first."""
    new: dict[Uop, Uop] = {}
    for u in order:
        src = tuple(new[s] for s in u.src)
        if u.op is Ops.END:
            value = src[0]
            for loop in sorted(src[1:], key=lambda r: len(r.ranges), reverse=True):
                value = end_(value=value, ranges=[loop])
            new[u] = value
        else:
            new[u] = replace(u, src=src)
    return new[order[-1]]
