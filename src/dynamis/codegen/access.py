"""Memory accesses classed by their index: uniform, strided with a known stride, or a gather.

A vector index that is affine in the lane is rewritten to ``uniform + STACK(0, s, 2s, …)``, so the
renderer reads the class off the node: unit stride is one vector access, another stride is scalar
accesses at constant offsets from one address. Everything else is a gather.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from ..uop import Ops, Uop, cast, const_like, index, replace, stack, toposort
from ..uop.shape import dims_or_none


@dataclass(frozen=True, slots=True)
class Affine:
    """``base + step * lane`` for lanes 0, 1, …; ``base`` is uniform."""

    base: Uop
    step: int


def class_accesses(root: Uop) -> Uop:
    """``root`` with every affine vector index of a memory access in its canonical form."""
    new: dict[Uop, Uop] = {}
    known: dict[Uop, Affine] = {}
    for u in toposort(root):
        src = tuple(new[s] for s in u.src)
        new[u] = made = replace(u, src=src)
        if u.dtype.is_int and (found := affine(made, known)) is not None:
            known[made] = found
        if u.op is Ops.INDEX and len(u.max_shape) == 1 and src[1] in known:
            form, lanes = known[src[1]], u.max_shape[0]
            offsets = [const_like(src[1], form.step * n) for n in range(lanes)]
            new[u] = index(ptr=src[0], idxs=[form.base + stack(offsets)])
    return new[root]


def affine(u: Uop, known: dict[Uop, Affine]) -> Affine | None:
    """``u`` as an affine function of the lane, modulo its width; None where it is not one."""
    if dims_or_none(u) == ():
        return Affine(u, 0)
    match u.op:
        case Ops.STACK if all(s.op is Ops.CONST for s in u.src):
            values = [int(s.arg.value) for s in u.src]
            steps = {b - a for a, b in itertools.pairwise(values)}
            return Affine(u.src[0], steps.pop()) if len(steps) == 1 else None
        case Ops.ADD | Ops.SUB if u.src[0] in known and u.src[1] in known:
            a, b = known[u.src[0]], known[u.src[1]]
            if u.op is Ops.ADD:
                return Affine(a.base + b.base, a.step + b.step)
            return Affine(a.base - b.base, a.step - b.step)
        case Ops.MUL:
            for x, c in (u.src, u.src[::-1]):
                if c.op is Ops.CONST and x in known:
                    return Affine(known[x].base * c, known[x].step * int(c.arg.value))
        case Ops.CAST if u.src[0] in known:
            # indices are in bounds, so widening them never meets a wrapped value
            form = known[u.src[0]]
            return Affine(cast(src=form.base, dtype=u.dtype), form.step)
    return None
