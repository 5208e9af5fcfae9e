"""Sharding: the axis along which a multi-device value is cut, and the pieces."""

from __future__ import annotations

import itertools
import math
import weakref
from collections.abc import Sequence
from typing import Final

from dynamis.dtype import weakint
from dynamis.uop.errors import UopError
from dynamis.uop.marg import MargBounds, MargPermute, marg_or_none
from dynamis.uop.node import Uop, const_node
from dynamis.uop.ops import Group, Ops
from dynamis.uop.payload import Device, MultiDevice, ParamArg, ReduceArg
from dynamis.uop.place import device_of, devices_of
from dynamis.uop.shape import Dim, Dims, dim, dims, dims_or_none, product, projected

_ALU: Final = frozenset(Group.alu)


def axis(u: Uop) -> int | None:
    """The sharding axis of `u`, or None.

    PARAM and BUFFER say theirs, MULTI its own; COPY has none; GETTUPLE has its element's; an ALU
    op the last that a source has; PERMUTE and RESHAPE carry it to where it goes, SHRINK drops it
    when it cuts it, REDUCE when it reduces it; all others have their first source's.

    Raises UopError when a RESHAPE leaves an axis that the devices do not divide.
    """
    if u in _AXES:
        return _AXES[u]
    memo: dict[Uop, int | None] = {}
    devices: dict[Uop, Device | None] = {}
    stack = [u]
    while stack:
        n = stack[-1]
        missing = [s for s in _needs(n) if s not in memo]
        if n in _AXES:
            memo[n] = _AXES[n]
        if n in memo or not missing:
            stack.pop()
            if n not in memo:
                memo[n] = _axis(n, memo, devices)
        else:
            stack += missing
    found = _AXES[u] = memo[u]
    return found


# remembered for the nodes that were asked, as devices are
_AXES: Final[weakref.WeakKeyDictionary[Uop, int | None]] = weakref.WeakKeyDictionary()


def _needs(n: Uop) -> Sequence[Uop]:
    if isinstance(n.arg, ParamArg) or n.op in (Ops.MULTI, Ops.COPY):
        return ()
    if n.op is Ops.GETTUPLE:
        element = projected(n)
        return () if element is None else (element,)
    return n.src if n.op in _ALU else n.src[:1]


def _axis(n: Uop, memo: dict[Uop, int | None], devices: dict[Uop, Device | None]) -> int | None:
    if isinstance(n.arg, ParamArg):
        return n.arg.axis
    if n.op is Ops.MULTI:
        return n.arg if isinstance(n.arg, int) else None
    found = [a for s in _needs(n) if (a := memo[s]) is not None]
    if not found:
        return None
    at = found[-1]
    if n.op is Ops.REDUCE and isinstance(n.arg, ReduceArg):
        return None if at in n.arg.axes else at - sum(a < at for a in n.arg.axes)
    argument = marg_or_none(n) if n.op.is_movement else None
    if n.op is Ops.SHRINK and isinstance(argument, MargBounds):
        return at if _untouched(n, argument, at) else None
    if isinstance(argument, MargPermute):
        return argument.order.index(at) if at in argument.order else None
    if n.op is Ops.RESHAPE:
        return _reshaped(n, at, devices)
    return at


def _untouched(n: Uop, argument: MargBounds, at: int) -> bool:
    before = dims_or_none(n.src[0])
    if before is None or not at < len(before) or not at < len(argument.bounds):
        return False
    offset, size = argument.bounds[at]
    return dim(offset) == 0 and dim(size) == before[at]


def _reshaped(n: Uop, at: int, devices: dict[Uop, Device | None]) -> int | None:
    """The last target axis with as many elements before it as the axis had."""
    before, after = dims(n.src[0]), dims(n)
    place: int | None = None
    for i in range(len(after)):
        if _same_product(before[:at], after[:i]):
            place = i
    if place is None:
        return None
    device = devices_of(n.src[0], devices)
    count = len(device.names) if isinstance(device, MultiDevice) else 1
    length = after[place]
    if isinstance(length, int) and count and length % count:
        raise UopError(f"{n!r}: an axis of {length} is not cut evenly for {count} devices")
    return place


def _same_product(a: Dims, b: Dims) -> bool:
    p, q = product(a), product(b)
    if p is not None and q is not None:
        return p == q
    return _factors(a) == _factors(b)


def _factors(ds: Dims) -> tuple[int, frozenset[tuple[Uop, int]]]:
    """A product as its number and its symbolic factors with their multiplicity."""
    symbols = [d for d in ds if isinstance(d, Uop)]
    number = math.prod([d for d in ds if isinstance(d, int)])
    return number, frozenset((s, symbols.count(s)) for s in symbols)


def _shard_dims(u: Uop) -> Dims:
    whole = dims(u)
    at, device = axis(u), device_of(u)
    if at is None or not isinstance(device, MultiDevice) or not device.names:
        return whole
    if not 0 <= at < len(whole):
        raise UopError(f"{u!r}: sharding axis {at} of rank {len(whole)}")
    return (*whole[:at], _divided(whole[at], len(device.names)), *whole[at + 1 :])


def _divided(d: Dim, n: int) -> Dim:
    if isinstance(d, int):
        return d // n
    from dynamis.uop.symbolic import simplify  # its rules ask for shapes

    return dim(simplify(d // n))


def shard_shape(u: Uop) -> tuple[Uop, ...]:
    """The shape of one shard: `shape`, the sharding axis divided by the number of devices."""
    return tuple([d if isinstance(d, Uop) else const_node(weakint, d) for d in _shard_dims(u)])


def max_shard_shape(u: Uop) -> tuple[int, ...]:
    """`shard_shape` with each symbolic dimension replaced by its upper bound."""
    return tuple([d if isinstance(d, int) else d.vmax for d in _shard_dims(u)])


def bounds(u: Uop) -> tuple[tuple[Uop, Uop], ...]:
    """The (start, stop) of each device's shard on the sharding axis, one after the other.

    Raises UopError without a sharding axis or a multi-device placement.
    """
    at, device = axis(u), device_of(u)
    if at is None or not isinstance(device, MultiDevice) or not device.names:
        raise UopError(f"{u!r} is not sharded over several devices")
    length = shard_shape(u)[at]
    size = dim(length)
    ends: list[Uop] = []
    for i in range(len(device.names) + 1):
        if isinstance(size, int):
            ends.append(const_node(weakint, i * size))
        else:
            ends.append(const_node(weakint, 0) if i == 0 else size if i == 1 else size * i)
    return tuple(itertools.pairwise(ends))
