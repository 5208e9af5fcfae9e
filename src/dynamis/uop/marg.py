"""Movement arguments: reading and writing the shapes and bounds that movement ops carry."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dynamis.dtype import void, weakint
from dynamis.uop.errors import UopError
from dynamis.uop.node import Uop, const_node, node
from dynamis.uop.ops import Ops


class MargShape(NamedTuple):
    """The target shape of RESHAPE and EXPAND."""

    dims: tuple[Uop, ...]


class MargBounds(NamedTuple):
    """The (offset, size) of each axis, of PAD and SHRINK."""

    bounds: tuple[tuple[Uop, Uop], ...]


class MargPermute(NamedTuple):
    """The order of the axes, of PERMUTE."""

    order: tuple[int, ...]


class MargFlip(NamedTuple):
    """Whether each axis is reversed, of FLIP."""

    dims: tuple[bool, ...]


Marg = MargShape | MargBounds | MargPermute | MargFlip


def as_shape(u: Uop) -> tuple[Uop, ...]:
    """`u` read as a shape argument: a STACK is its sources, anything else one dimension."""
    return u.src if u.op is Ops.STACK else (u,)


def shape_arg(dims: Iterable[Uop | int]) -> Uop:
    """The shape argument with these dimensions: a STACK of them, as movement ops carry it."""
    nodes = tuple([d if isinstance(d, Uop) else const_node(weakint, d) for d in dims])
    return node(Ops.STACK, nodes[0].dtype if nodes else void, nodes)


def marg(u: Uop) -> Marg:
    """The movement argument of `u`.

    Raises UopError when `u` is no movement op, or its sources and payload are not laid out as
    its op says.
    """
    found = marg_or_none(u)
    if found is None:
        raise UopError(f"{u!r} carries no movement argument")
    return found


def marg_or_none(u: Uop) -> Marg | None:
    """The movement argument of `u`, or None where it has none."""
    op, src, arg = u.op, u.src, u.arg
    if op in (Ops.RESHAPE, Ops.EXPAND):
        return MargShape(as_shape(src[1])) if len(src) == 2 and arg is None else None
    if op in (Ops.PAD, Ops.SHRINK):
        if len(src) != 3 or arg is not None:
            return None
        offsets, sizes = as_shape(src[1]), as_shape(src[2])
        if len(offsets) != len(sizes):
            return None
        return MargBounds(tuple(zip(offsets, sizes, strict=True)))
    if op is Ops.PERMUTE and len(src) == 1 and isinstance(arg, tuple):
        return MargPermute(arg) if all(type(i) is int for i in arg) else None
    if op is Ops.FLIP and len(src) == 1 and isinstance(arg, tuple):
        return MargFlip(arg) if all(type(i) is bool for i in arg) else None
    return None
