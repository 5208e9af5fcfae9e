"""Contiguous views: whether a chain of movement ops only names a stretch of a buffer."""

from __future__ import annotations

from typing import Final

from dynamis.uop.marg import MargBounds, MargFlip, MargPermute, marg_or_none
from dynamis.uop.node import Uop
from dynamis.uop.ops import Op, Ops
from dynamis.uop.shape import Dim, Dims, dim, dims_or_none, greatest, product

_THROUGH: Final[frozenset[Op]] = frozenset(
    (Ops.DETACH, Ops.CONTIGUOUS, Ops.CONTIGUOUS_BACKWARD, Ops.AFTER)
)


def contiguous_view_offset(u: Uop) -> int | None:
    """The element offset of `u` in its PARAM or BUFFER, when it is provably contiguous there.

    None when the layout is not contiguous, or the offset is no fixed integer.
    """
    total = 0
    while u.op not in (Ops.PARAM, Ops.BUFFER):
        if u.op is Ops.SLICE and len(u.src) == 2:
            start = dim(u.src[1])
            if not isinstance(start, int):
                return None
            total += start
        elif u.op.is_movement and u.src:
            step = _step(u)
            if step is None:
                return None
            total += step
        elif u.op not in _THROUGH or not u.src:
            return None
        u = u.src[0]
    return total


def _step(u: Uop) -> int | None:
    """What the movement op adds to the offset; None when it breaks the stretch."""
    before, after, argument = dims_or_none(u.src[0]), dims_or_none(u), marg_or_none(u)
    if before is None or after is None or argument is None:
        return None
    if u.op is Ops.RESHAPE:
        return 0
    if isinstance(argument, MargPermute):
        moved = [i for i in argument.order if before[i] != 1]
        return 0 if moved == sorted(moved) else None
    if isinstance(argument, MargFlip):
        still = all(greatest(d) <= 1 for d, f in zip(before, argument.dims, strict=True) if f)
        return 0 if still else None
    if u.op is Ops.SHRINK and isinstance(argument, MargBounds):
        return _shrunk(before, [(dim(o), dim(s)) for o, s in argument.bounds])
    return 0 if before == after else None  # EXPAND and PAD, where they change nothing


def _shrunk(before: Dims, bounds: list[tuple[Dim, Dim]]) -> int | None:
    offset = 0
    single = True  # whether every axis so far has at most one element
    for i, (start, size) in enumerate(bounds):
        if not (start == 0 and size == before[i]):
            if not single:
                return None
            if start != 0:
                stride = product(before[i + 1 :])
                if not isinstance(start, int) or stride is None:
                    return None
                offset += start * stride
        single = single and greatest(size) <= 1
    return offset
