"""Dead registers: stores to words that nothing real ever reads are dropped.

A register is live when a load of it reaches memory, a break, a loop's size, or a live register's
store. Loop-carried values that are never used, and counters nobody asks for, go away here.
"""

from __future__ import annotations

from ..uop import Ops, Uop, group, replace, toposort
from .vectorize import is_register, storage_of


def prune_registers(root: Uop) -> Uop:
    """``root`` without the stores of dead registers."""
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
    if not dead:
        return root
    new: dict[Uop, Uop] = {}
    for u in order:
        if u in dead:
            continue
        src = [new[s] for s in u.src if s in new]
        if u.op is Ops.GROUP:
            new[u] = group(src)
        elif len(src) == len(u.src) or u.op in (Ops.BREAK, Ops.AFTER, Ops.SINK):
            new[u] = replace(u, src=src)
        elif u.op is Ops.END:  # its one effect was dead: nothing is left of the loop
            new[u] = group([])
        elif u.op is Ops.RANGE:
            new[u] = replace(u, src=src)
    return new[root]


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
