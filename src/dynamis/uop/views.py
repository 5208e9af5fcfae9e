"""Views: structured readings of the ops whose sources have places.

Each `as_<op>` gives the view when the node is that op and well formed, else None.
"""

from __future__ import annotations

from typing import NamedTuple

from dynamis.uop.axis_type import AxisType
from dynamis.uop.node import Uop
from dynamis.uop.ops import Ops
from dynamis.uop.payload import KernelInfo, ParamArg, RangeInfo


class IndexView(NamedTuple):
    """INDEX: the pointer and one index an axis."""

    ptr: Uop
    idxs: tuple[Uop, ...]


class LoadView(NamedTuple):
    """LOAD: the address, and what is the value where the gate is false."""

    src: Uop
    alt: Uop | None
    gate: Uop | None


class StoreView(NamedTuple):
    """STORE: the address, the value, the gate."""

    dst: Uop
    value: Uop
    gate: Uop | None


class RangeView(NamedTuple):
    """RANGE: its bound, the ranges it runs under, and its payload."""

    size: Uop
    parents: tuple[Uop, ...]
    axis: int
    sub: tuple[int, ...]
    kind: AxisType


class EndView(NamedTuple):
    """END: the body's value and the ranges closed around it."""

    value: Uop
    ranges: tuple[Uop, ...]


class IfView(NamedTuple):
    """IF: the condition and the node that tells equal guards of one region apart."""

    cond: Uop
    idx_for_dedup: Uop


class ParamView(NamedTuple):
    """PARAM: payload and shape child (an empty void NOOP when unknown)."""

    param: ParamArg
    shape: Uop


class BufferView(NamedTuple):
    """BUFFER: payload and shape child, as in PARAM."""

    buffer: ParamArg
    shape: Uop


class SpecialView(NamedTuple):
    """SPECIAL: the hardware index's name and its bound."""

    name: str
    size: Uop


def as_index(u: Uop) -> IndexView | None:
    """The view of an INDEX."""
    return IndexView(u.src[0], u.src[1:]) if u.op is Ops.INDEX and u.src else None


def as_load(u: Uop) -> LoadView | None:
    """The view of a LOAD with 1 or 3 sources."""
    if u.op is not Ops.LOAD or len(u.src) not in (1, 3):
        return None
    return LoadView(*u.src) if len(u.src) == 3 else LoadView(u.src[0], None, None)


def as_store(u: Uop) -> StoreView | None:
    """The view of a STORE with 2 or 3 sources."""
    if u.op is not Ops.STORE or len(u.src) not in (2, 3):
        return None
    return StoreView(u.src[0], u.src[1], u.src[2] if len(u.src) == 3 else None)


def as_range(u: Uop) -> RangeView | None:
    """The view of a RANGE."""
    if u.op is not Ops.RANGE or not u.src or not isinstance(u.arg, RangeInfo):
        return None
    return RangeView(u.src[0], u.src[1:], u.arg.axis, u.arg.sub, u.arg.kind)


def as_end(u: Uop) -> EndView | None:
    """The view of an END."""
    return EndView(u.src[0], u.src[1:]) if u.op is Ops.END and u.src else None


def as_if(u: Uop) -> IfView | None:
    """The view of an IF with 2 sources."""
    return IfView(*u.src) if u.op is Ops.IF and len(u.src) == 2 else None


def as_param(u: Uop) -> ParamView | None:
    """The view of a PARAM with exactly one shape child."""
    if u.op is not Ops.PARAM or len(u.src) != 1 or not isinstance(u.arg, ParamArg):
        return None
    return ParamView(u.arg, u.src[0])


def as_buffer(u: Uop) -> BufferView | None:
    """The view of a BUFFER with exactly one shape child."""
    if u.op is not Ops.BUFFER or len(u.src) != 1 or not isinstance(u.arg, ParamArg):
        return None
    return BufferView(u.arg, u.src[0])


def as_special(u: Uop) -> SpecialView | None:
    """The view of a SPECIAL."""
    if u.op is not Ops.SPECIAL or len(u.src) != 1 or not isinstance(u.arg, str):
        return None
    return SpecialView(u.arg, u.src[0])


def as_kernel_info(u: Uop) -> KernelInfo | None:
    """The kernel annotations of a SINK that carries some."""
    return u.arg if u.op is Ops.SINK and isinstance(u.arg, KernelInfo) else None
