"""Bounds of memory accesses: whether an index provably stays in what it indexes.

There is no solver: bounds of the index, narrowed by the comparisons in its gate, decide. What
cannot be modelled is let pass; what can be and is not proven is reported.
"""

from __future__ import annotations

import math
import os

from dynamis.dtype import Ptr
from dynamis.uop.const import Const
from dynamis.uop.node import Uop
from dynamis.uop.ops import Ops
from dynamis.uop.shape import Dim, dims_or_none, greatest
from dynamis.uop.traverse import toposort

Limits = tuple[int | float, int | float]


def checking() -> bool:
    """Whether CHECK_OOB asks for the check: set, and neither 0 nor false."""
    return os.environ.get("CHECK_OOB", "").lower() not in ("", "0", "false")


def out_of_bounds(place: Uop, gate: Uop | None) -> str | None:
    """Why the access at `place` under `gate` may leave its memory, or None.

    `place` is an INDEX or a SHRINK, or one CAST over either. None when checking is off.
    """
    if not checking():
        return None
    inner = place.src[0] if place.op is Ops.CAST and place.src else place
    if inner.op not in (Ops.INDEX, Ops.SHRINK) or len(inner.src) < 2:
        return None
    memory = inner.src[0]
    dtype = memory.dtype
    if isinstance(dtype, Ptr) and dtype.is_image:
        return None
    if inner.op is Ops.SHRINK:
        starts, lengths = inner.src[1].as_shape(), [greatest(d) for d in _sizes(inner)]
    else:
        starts, lengths = inner.src[1:], [1] * (len(inner.src) - 1)
    limits = _limits(memory, len(starts))
    if limits is None:
        return None
    for start, length, limit in zip(starts, lengths, limits, strict=False):
        reason = _outside(start, length, limit, gate)
        if reason is not None:
            return reason
    return None


def _sizes(shrink: Uop) -> tuple[Dim, ...]:
    return dims_or_none(shrink) or ()


def _limits(memory: Uop, axes: int) -> list[int | float] | None:
    """How many places there are along each indexed axis; None where that is not known."""
    dims = dims_or_none(memory)
    if dims is None:
        return None
    known = [greatest(d) for d in dims]
    if any(n < 0 for n in known):
        return None
    if axes == 1:
        return [math.prod(known)]
    return known if axes == len(known) else None


def _outside(index: Uop, length: int | float, limit: int | float, gate: Uop | None) -> str | None:
    gates = [] if gate is None else [gate]
    if index.op is Ops.WHERE and _is_invalid(index.src[2]):
        gates.append(index.src[0])  # a gated index: it is used where its condition holds
        index = index.src[1]
    if _is_invalid(index) or _hard(index):
        return None
    if any(_hard(g) or g.vmax == 0 for g in gates):
        return None
    low, high = _narrowed(index, gates)
    if low > high or (low >= 0 and high + length <= limit):
        return None
    return f"an index of {low} .. {high} may leave a memory of {limit}"


def _is_invalid(u: Uop) -> bool:
    return u.op is Ops.CONST and isinstance(u.arg, Const) and u.arg.is_invalid


def _hard(u: Uop) -> bool:
    """Whether something under `u` is not modelled: reinterpreted bits, lanes, cast pointers."""
    return any(
        n.op in (Ops.BITCAST, Ops.STACK) or (n.op is Ops.CAST and n.dtype.is_ptr)
        for n in toposort(u, gate=lambda n: n.op is not Ops.PARAM)
    )


def _narrowed(index: Uop, gates: list[Uop]) -> Limits:
    """The bounds of `index` where all gates hold."""
    low, high = index.vmin, index.vmax
    todo = list(gates)
    seen: set[Uop] = set()
    while todo:
        clause = todo.pop()
        if clause in seen:
            continue
        seen.add(clause)
        if clause.op is Ops.AND:
            todo += clause.src
            continue
        a, b = _clause(clause, index)
        low, high = max(low, a), min(high, b)
    return low, high


def _clause(clause: Uop, index: Uop) -> Limits:
    """What one comparison says of `index`, where it stands on one of its sides."""
    if clause.op is Ops.CMPLT:
        left, right = clause.src
        if left is index:
            return -math.inf, right.vmax - 1
        if right is index:
            return left.vmin + 1, math.inf
    elif clause.op is Ops.CMPEQ and index in clause.src:
        other = clause.src[1] if clause.src[0] is index else clause.src[0]
        return other.vmin, other.vmax
    elif clause.op is Ops.CMPNE:  # !(index < c), written as (index < c) != true
        inner, truth = clause.src
        negated = truth.op is Ops.CONST and truth.dtype.is_bool and truth.vmin == 1
        if negated and inner.op is Ops.CMPLT:
            left, right = inner.src
            if left is index:
                return right.vmin, math.inf
            if right is index:
                return -math.inf, left.vmax
    return -math.inf, math.inf
