"""Views: structured readings of the ops whose sources have places.

Each `as_<op>` gives the view when the node is that op and well formed, else None. They are
called as methods of `Uop`.
"""

from __future__ import annotations

from typing import NamedTuple

from dynamis.uop.axis_type import AxisType
from dynamis.uop.node import Uop
from dynamis.uop.ops import Op, Ops
from dynamis.uop.opt import Opt
from dynamis.uop.payload import (
    CallInfo,
    Device,
    KernelInfo,
    OpDevice,
    ParamArg,
    ProgramInfo,
    RangeInfo,
    ReduceArg,
    ShapedWmmaInfo,
    StageOpts,
    WmmaInfo,
)


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


class ReduceView(NamedTuple):
    """REDUCE: the body, the ranges it runs over once lowered, the op, and tensor axes before."""

    src: Uop
    ranges: tuple[Uop, ...]
    op: Op
    axes: tuple[int, ...]


class AllreduceView(NamedTuple):
    """ALLREDUCE: the body, the device group, the op."""

    src: Uop
    device: Device
    op: Op


class StageView(NamedTuple):
    """STAGE: the body, the ranges that index it, and where it is put."""

    src: Uop
    ranges: tuple[Uop, ...]
    opts: StageOpts


class SliceView(NamedTuple):
    """SLICE: the buffer, a symbolic offset, and the number of elements."""

    src: Uop
    offset: Uop
    size: int


class WaitView(NamedTuple):
    """WAIT: what is sequenced, and what it waits for."""

    src: Uop
    wait_for: Uop


class WmmaView(NamedTuple):
    """WMMA: the operands and the hardware's configuration."""

    a: Uop
    b: Uop
    c: Uop
    info: WmmaInfo


class ShapedWmmaView(NamedTuple):
    """SHAPED_WMMA: the operands and the configuration."""

    a: Uop
    b: Uop
    acc: Uop
    info: ShapedWmmaInfo


class CallView(NamedTuple):
    """CALL or FUNCTION: what is called, with what, and its annotations."""

    body: Uop
    args: tuple[Uop, ...]
    info: CallInfo


class SpecialView(NamedTuple):
    """SPECIAL: the hardware index's name and its bound."""

    name: str
    size: Uop


class BindView(NamedTuple):
    """BIND: the symbolic parameter and its value."""

    var: Uop
    value: Uop


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


def as_reduce(u: Uop) -> ReduceView | None:
    """The view of a REDUCE."""
    if u.op is not Ops.REDUCE or not u.src or not isinstance(u.arg, ReduceArg):
        return None
    return ReduceView(u.src[0], u.src[1:], u.arg.op, u.arg.axes)


def as_allreduce(u: Uop) -> AllreduceView | None:
    """The view of an ALLREDUCE."""
    if u.op is not Ops.ALLREDUCE or len(u.src) != 1 or not isinstance(u.arg, OpDevice):
        return None
    return AllreduceView(u.src[0], u.arg.device, u.arg.op)


def as_stage(u: Uop) -> StageView | None:
    """The view of a STAGE."""
    if u.op is not Ops.STAGE or not u.src or not isinstance(u.arg, StageOpts):
        return None
    return StageView(u.src[0], u.src[1:], u.arg)


def as_slice(u: Uop) -> SliceView | None:
    """The view of a SLICE."""
    if u.op is not Ops.SLICE or len(u.src) != 2 or not isinstance(u.arg, int):
        return None
    return SliceView(u.src[0], u.src[1], u.arg)


def as_wait(u: Uop) -> WaitView | None:
    """The view of a WAIT with 2 sources."""
    return WaitView(*u.src) if u.op is Ops.WAIT and len(u.src) == 2 else None


def as_wmma(u: Uop) -> WmmaView | None:
    """The view of a WMMA with 3 sources."""
    if u.op is not Ops.WMMA or len(u.src) != 3 or not isinstance(u.arg, WmmaInfo):
        return None
    return WmmaView(*u.src, u.arg)


def as_shaped_wmma(u: Uop) -> ShapedWmmaView | None:
    """The view of a SHAPED_WMMA with 3 sources."""
    if u.op is not Ops.SHAPED_WMMA or len(u.src) != 3 or not isinstance(u.arg, ShapedWmmaInfo):
        return None
    return ShapedWmmaView(*u.src, u.arg)


def as_call(u: Uop) -> CallView | None:
    """The view of a CALL or FUNCTION."""
    info = as_call_info(u)
    return CallView(u.src[0], u.src[1:], info) if info is not None and u.src else None


def as_bind(u: Uop) -> BindView | None:
    """The view of a BIND with 2 sources."""
    return BindView(*u.src) if u.op is Ops.BIND and len(u.src) == 2 else None


def as_contiguous_opts(u: Uop) -> tuple[Opt, ...] | None:
    """The schedule options of a CONTIGUOUS that carries some."""
    if u.op is not Ops.CONTIGUOUS or not isinstance(u.arg, tuple):
        return None
    return u.arg if all(isinstance(o, Opt) for o in u.arg) else None


def as_call_info(u: Uop) -> CallInfo | None:
    """The annotations of a CALL or FUNCTION."""
    return u.arg if u.op in (Ops.CALL, Ops.FUNCTION) and isinstance(u.arg, CallInfo) else None


def as_program_info(u: Uop) -> ProgramInfo | None:
    """The payload of a PROGRAM that carries one."""
    return u.arg if u.op is Ops.PROGRAM and isinstance(u.arg, ProgramInfo) else None


def as_kernel_info(u: Uop) -> KernelInfo | None:
    """The kernel annotations of a SINK that carries some."""
    return u.arg if u.op is Ops.SINK and isinstance(u.arg, KernelInfo) else None
