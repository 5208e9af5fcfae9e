"""Vectorising: one element's program → the same program over the lanes of a vector.

Goes in: an AST with a lane range (UPCAST). The lane range becomes a STACK of constants, so lanes
live in the shape and a node is uniform exactly when its shape is (). One forward pass to a fixed
point finds what varies; registers that vary become one word a lane. A loop is *divergent* when its
end varies: it then keeps a live mask, runs until every lane is done, and masks the stores whose
registers are read after it (or outside it). Everything else may run on in finished lanes, because
every Uop op is total.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..dtype import AddrSpace, Ptr, bool_, int32
from ..uop import (
    Ops,
    Uop,
    UopError,
    after,
    break_,
    buffer,
    const_bool,
    const_like,
    const_of_dtype,
    end_,
    group,
    index,
    load,
    replace,
    stack,
    store,
    toposort,
)
from ..uop.guards import FALSE
from ..uop.shape import dims_or_none
from ..uop.storage import is_register, storage_of


class Variance:
    """What varies from lane to lane: nodes, registers, and the ends of loops."""

    def __init__(self, order: Sequence[Uop], lane: Uop):
        self.order, self.lane = order, lane
        self.nodes: set[Uop] = {lane}
        self.registers: set[Uop] = set()
        self.divergent: set[Uop] = set()
        self.readers: dict[Uop, list[Uop]] = {}
        self.stores: dict[Uop, list[Uop]] = {}
        for u in order:
            if u.op is Ops.STORE:
                self.stores.setdefault(storage_of(u.src[0]), []).append(u)
            if u.op is Ops.LOAD and is_register(storage_of(u)):
                self.readers.setdefault(storage_of(u), []).append(u)
        before = -1
        while before != (size := len(self.nodes) + len(self.registers) + len(self.divergent)):
            before = size
            for u in order:
                self._visit(u)

    def _visit(self, u: Uop) -> None:
        match u.op:
            case Ops.RANGE:
                if u.src[0] in self.nodes:
                    self.divergent.add(u)
            case Ops.BREAK:
                if u.src[0] in self.nodes:
                    self.divergent.add(u.src[1])
            case Ops.STORE:
                target = storage_of(u.src[0])
                if is_register(target) and (
                    any(s in self.nodes for s in u.src[1:]) or self.masking_loop(u) is not None
                ):
                    self.registers.add(target)
            case Ops.AFTER | Ops.END | Ops.GROUP | Ops.SINK:
                pass
            case Ops.INDEX:
                if any(s in self.nodes for s in u.src[1:]):
                    self.nodes.add(u)
            case Ops.LOAD if storage_of(u) in self.registers:
                self.nodes.add(u)
            case _:
                if any(s in self.nodes for s in u.src):
                    self.nodes.add(u)

    def masking_loop(self, u: Uop) -> Uop | None:
        """The innermost divergent loop around a register's store, if it must spare done lanes."""
        loop = innermost([r for r in u.ranges if r in self.divergent])
        if loop is None or not any(
            loop not in reader.ranges for reader in self.readers.get(storage_of(u.src[0]), ())
        ):
            return None
        return loop


def innermost(nested: Sequence[Uop]) -> Uop | None:
    """The most deeply nested of some ranges that nest in each other."""
    return max(nested, key=lambda r: len(r.ranges), default=None)


@dataclass(slots=True)
class _Loop:
    """A divergent loop being rebuilt: which lanes are live before and after its break."""

    mask: Uop
    opened: Uop
    before: Uop
    init: Uop
    after: Uop | None = None
    exit: Uop | None = None
    leave: Uop | None = None
    """Its break, where the mask is narrowed at an iteration's end."""


def vectorize(root: Uop, lane: Uop) -> Uop:
    """``root`` over the lanes of ``lane``. Raises UopError where a divergent size has no bound."""
    return _Vectorizer(root, lane).run()


class _Vectorizer:
    def __init__(self, root: Uop, lane: Uop):
        self.root, self.order = root, toposort(root)
        self.variance = Variance(self.order, lane)
        self.width = int(lane.src[0].arg.value)
        self.lanes = stack([const_of_dtype(int32, n) for n in range(self.width)])
        self.new: dict[Uop, Uop] = {lane: self.lanes}
        self.loops: dict[Uop, _Loop] = {}
        self.breaks = {u.src[1]: u for u in self.order if u.op is Ops.BREAK}
        stops = {loop: self._stop(loop) for loop in self.breaks}
        self.stops = {stop: loop for loop, stop in stops.items() if stop is not None}
        """The stores that narrow a live mask, each with its loop."""
        self.stopped = set(self.stops.values())
        slots = [u.arg.slot for u in self.order if u.op is Ops.BUFFER]
        self.next_slot = max(slots, default=-1) + 1

    def run(self) -> Uop:
        for u in self.order:
            if u not in self.new:
                self.new[u] = self._rebuild(u)
        return self.new[self.root]

    def _stop(self, loop: Uop) -> Uop | None:
        """The store of the flag that a loop's BREAK asks for, where it only asks what the iteration
        before stored: the live mask can be narrowed there."""
        done = self.breaks[loop].src[0]
        if done.op is not Ops.LOAD or loop not in self.variance.divergent:
            return None
        target = storage_of(done)
        if self.variance.readers.get(target) != [done]:
            return None  # somebody else needs the flag
        stores = self.variance.stores.get(target, [])
        inside = [s for s in stores if loop in s.ranges]
        around = set(loop.ranges) - {loop}
        starts = all(
            s.src[1:] == (FALSE,) and set(s.ranges) == around for s in stores if s not in inside
        )
        if len(inside) != 1 or not starts:
            return None  # it is set at times, or not false whenever the loop starts
        (stop,) = inside
        always = len(stop.src) == 2 and innermost(stop.ranges) is loop
        return stop if always and self.breaks[loop] in _deps(stop.src[0]) else None

    def _rebuild(self, u: Uop) -> Uop:
        src = tuple(self.new[s] for s in u.src)
        match u.op:
            case Ops.BUFFER if u in self.variance.registers:
                dtype = Ptr.create(u.dtype.base, addrspace=AddrSpace.REG, size=self.width)
                return replace(u, dtype=dtype)
            case Ops.AFTER:
                return replace(u, src=src, dtype=src[0].dtype)
            case Ops.INDEX if storage_of(u) in self.variance.registers:
                return index(ptr=src[0], idxs=[self.lanes])
            case Ops.RANGE if u in self.variance.divergent:
                return self._open(u, src)
            case Ops.BREAK if u.src[1] in self.variance.divergent:
                loop = self.loops[u.src[1]]
                if u.src[1] in self.stopped:
                    loop.after = loop.before
                    done = loop.before.logical_not()
                    loop.leave = break_(done=done, loop=loop.opened, deps=src[2:])
                    return loop.leave
                return self._close(loop, loop.before & src[0].logical_not(), src[2:])
            case Ops.STORE if u in self.stops:
                loop = self.loops[self.stops[u]]
                assert loop.after is not None and loop.leave is not None
                word = self._mask_word(loop.mask, [loop.init, loop.opened, loop.leave])
                return store(dst=word, value=loop.after & src[1].logical_not())
            case Ops.STORE if is_register(storage_of(u.src[0])):
                return self._store(u, src)
            case Ops.END:
                closed = [self.loops[r] for r in u.src[1:] if r in self.loops]
                exits = [loop.exit for loop in closed if loop.exit is not None]
                value = group([src[0], *exits]) if exits else src[0]
                return end_(value=value, ranges=[r for r in src[1:] if r is not self.lanes])
            case _:
                return replace(u, src=src)

    def _mask_word(self, mask: Uop, deps: Sequence[Uop]) -> Uop:
        return index(ptr=after(src=mask, deps=deps), idxs=[self.lanes])

    def _open(self, u: Uop, src: tuple[Uop, ...]) -> Uop:
        mask = buffer(
            slot=self.next_slot,
            dtype=Ptr.create(bool_, addrspace=AddrSpace.REG, size=self.width),
            addrspace=AddrSpace.REG,
        )
        self.next_slot += 1
        outer = innermost([r for r in u.ranges if r in self.loops])
        live = const_bool(True)
        if outer is not None:
            live = self.loops[outer].after or self.loops[outer].before
        size, gate = _gated(src[0])
        if gate is not None:
            live = live & gate
        init = store(dst=self._mask_word(mask, src[1:]), value=live)
        varies = bool(dims_or_none(size))
        bound = size
        if varies:
            if u.src[0].vmax >= 2**31:
                raise UopError("a loop of varying length needs a bounded size")
            size = const_like(u, int(u.src[0].vmax))
        opened = replace(u, src=(size, *src[1:]))
        before = load(src=self._mask_word(mask, [init, opened]))
        if varies:
            before = before & (opened < bound)
        loop = _Loop(mask, opened, before, init)
        self.loops[u] = loop
        if u not in self.breaks:
            loop.exit = self._close(loop, before, ())
        return opened

    def _close(self, loop: _Loop, live: Uop, deps: Sequence[Uop]) -> Uop:
        """Keep ``live`` as the loop's mask and leave once no lane is."""
        kept = store(dst=self._mask_word(loop.mask, [loop.init, loop.opened, *deps]), value=live)
        loop.after = live
        return break_(done=live.logical_not(), loop=loop.opened, deps=(*deps, kept))

    def _store(self, u: Uop, src: tuple[Uop, ...]) -> Uop:
        masking = self.variance.masking_loop(u)
        inside = innermost([r for r in u.ranges if r in self.variance.divergent])
        target, value, *gates = src
        if inside is not None and (exit_ := self.loops[inside].exit) is not None:
            # the loop had no break of its own: its effects now stand behind the new one
            word = target.src[0]
            target = index(ptr=after(src=word, deps=[exit_]), idxs=target.src[1:])
        if masking is not None:
            loop = self.loops[masking]
            own = self.breaks.get(masking)
            behind = own is None or own in _deps(u.src[0])
            live = loop.after if behind and loop.after is not None else loop.before
            stores = self.variance.stores[storage_of(u.src[0])]
            if sum(masking in s.ranges for s in stores) == 1:
                value, live = _unchosen(value, target, live)
            gates = [gates[0] & live] if gates else [live]
        return store(dst=target, value=value, gate=gates[0] if gates else None)


def _gated(size: Uop) -> tuple[Uop, Uop | None]:
    """A loop's length that is zero where a gate does not hold, as the length and the gate."""
    if size.op is Ops.WHERE and size.src[2].op is Ops.CONST and size.src[2].arg.value == 0:
        inner, gate = _gated(size.src[1])
        return inner, size.src[0] if gate is None else size.src[0] & gate
    return size, None


def _unchosen(value: Uop, target: Uop, live: Uop) -> tuple[Uop, Uop]:
    """A value that may be the target's own word, as what it is else and where."""
    while value.op is Ops.WHERE:
        condition, a, b = value.src
        if _is_word(a, target):
            value, live = b, live & condition.logical_not()
        elif _is_word(b, target):
            value, live = a, live & condition
        else:
            break
    return value, live


def _is_word(u: Uop, target: Uop) -> bool:
    return u.op is Ops.LOAD and storage_of(u) is storage_of(target)


def _deps(target: Uop) -> set[Uop]:
    """The nodes that an INDEX's storage comes after, directly or through other AFTERs."""
    found: set[Uop] = set()
    u = target
    while u.op in (Ops.INDEX, Ops.AFTER):
        found.update(u.src[1:])
        u = u.src[0]
    return found
