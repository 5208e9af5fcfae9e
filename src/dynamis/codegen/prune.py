"""Dead registers and idle loops: stores to words that nothing real ever reads are dropped.

A register is live when a load of it reaches memory, a break, a loop's size, or a live register's
store. Loop-carried values that are never used, and counters nobody asks
for, go away here, and so does a loop in which nothing is left to do.
"""

from __future__ import annotations

from ..uop import Ops, Uop, group, replace, toposort
from .vectorize import is_register, storage_of


def prune_registers(root: Uop) -> Uop:
    """``root`` without the stores of dead registers and the loops that only held such."""
    order = toposort(root)
    stores: dict[Uop, list[Uop]] = {}
    work: list[Uop] = []
    for u in order:
        if u.op is Ops.STORE:
            target = storage_of(u.src[0])
            if is_register(target):
                stores.setdefault(target, []).append(u)
            else:
                work += u.src
        elif u.op is Ops.BREAK or u.op is Ops.RANGE:
            work.append(u.src[0])
    live = _reached(work, stores)
    dead = {u for target, found in stores.items() if target not in live for u in found}
    new: dict[Uop, Uop] = {}
    for u in order:
        if u in dead:
            continue
        src = [new[s] for s in u.src if s in new]
        if u.op is Ops.GROUP:
            src = [s for s in src if s is not _NOTHING]
            new[u] = group(src) if src else _NOTHING
        elif u.op is Ops.END and (u.src[0] not in new or src[0].op in (Ops.GROUP, Ops.BREAK)):
            new[u] = _NOTHING if _is_idle(u, new) else replace(u, src=src)
        elif len(src) == len(u.src) or u.op in (Ops.BREAK, Ops.AFTER, Ops.SINK):
            new[u] = replace(u, src=src)
    return new[root]


_NOTHING = group([])


def _is_idle(u: Uop, new: dict[Uop, Uop]) -> bool:
    """Whether nothing is left of a loop but, perhaps, its break."""
    effects = new.get(u.src[0], _NOTHING)
    if effects.op is Ops.BREAK:
        return all(d.op is not Ops.STORE for d in effects.src[2:])
    return effects is _NOTHING


def _reached(work: list[Uop], stores: dict[Uop, list[Uop]]) -> set[Uop]:
    """The registers whose words the values in ``work`` are made from."""
    seen: set[Uop] = set()
    live: set[Uop] = set()
    while work:
        u = work.pop()
        if u in seen:
            continue
        seen.add(u)
        match u.op:
            case Ops.AFTER:  # order, not value
                work.append(u.src[0])
            case Ops.RANGE:
                pass
            case Ops.BUFFER if is_register(u):
                live.add(u)
                for store in stores.get(u, ()):
                    work += store.src[1:]
            case _:
                work += u.src
    return live
