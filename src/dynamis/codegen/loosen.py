"""Don't-cares of loops: what an iteration that ends its loop computes and nobody reads.

A loop is left where its BREAK's condition holds. Where that asks a register that an iteration sets
under some condition c, every other register that only the loop itself reads may hold anything once
c held: ``x = c ? x : f(x)`` becomes ``x = f(x)``. Every op is total, so running on is harmless.
"""

from __future__ import annotations

from ..uop import Ops, Uop, replace, toposort
from ..uop.storage import is_register, storage_of
from .vectorize import innermost


def loosen_loops(root: Uop) -> Uop:
    """``root`` without the selects that keep words of iterations that end their loop."""
    order = toposort(root)
    stores: dict[Uop, list[Uop]] = {}
    loads: dict[Uop, list[Uop]] = {}
    for u in order:
        if u.op in (Ops.STORE, Ops.LOAD) and is_register(target := storage_of(u.src[0])):
            (stores if u.op is Ops.STORE else loads).setdefault(target, []).append(u)
    loose: dict[Uop, Uop] = {}
    for leave in order:
        if leave.op is Ops.BREAK:
            loop = leave.src[1]
            inside = {r: [s for s in own if loop in s.ranges] for r, own in stores.items()}
            inside = {r: own for r, own in inside.items() if own}
            asked = {storage_of(d) for d in _disjuncts(leave.src[0]) if d.op is Ops.LOAD}
            ends = {
                c for r in asked for s in _single(inside, r, loop) for c in _disjuncts(s.src[1])
            }
            for register in inside:
                for store in _single(inside, register, loop):
                    if register not in asked and _only_inside(loads.get(register, ()), loop, store):
                        loose[store] = _loosened(store.src[1], ends)
    if all(value is store.src[1] for store, value in loose.items()):
        return root
    new: dict[Uop, Uop] = {}
    for u in order:
        src = u.src if u not in loose else (u.src[0], loose[u], *u.src[2:])
        new[u] = replace(u, src=tuple(new[s] for s in src))
    return new[root]


def _disjuncts(u: Uop) -> list[Uop]:
    if u.op is Ops.OR and u.dtype.is_bool:
        return [d for s in u.src for d in _disjuncts(s)]
    return [u]


def _single(inside: dict[Uop, list[Uop]], register: Uop, loop: Uop) -> list[Uop]:
    """The one store of a register in a loop, where it is one and each iteration does it once."""
    found = inside.get(register, [])
    always = len(found) == 1 and len(found[0].src) == 2 and innermost(found[0].ranges) is loop
    return found if always else []


def _only_inside(loads: list[Uop] | tuple[Uop, ...], loop: Uop, store: Uop) -> bool:
    """Whether a register is read in its loop alone, and there only before it is stored."""
    return all(loop in load.ranges and store not in toposort(load) for load in loads)


def _loosened(value: Uop, ends: set[Uop]) -> Uop:
    while value.op is Ops.WHERE:
        condition, held, moved = value.src
        if condition in ends:
            value = moved
        elif condition.logical_not() in ends:
            value = held
        else:
            break
    return value
