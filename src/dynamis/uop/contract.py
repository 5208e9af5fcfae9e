"""What each op carries: the kind of its payload, and how many sources it has.

One table for the payload's readers (`Arg`), for what may be exported, and for what may come in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dynamis.uop.const import Const
from dynamis.uop.ops import ALL, Op, Ops
from dynamis.uop.opt import Opt
from dynamis.uop.order import order_key
from dynamis.uop.payload import (
    CallInfo,
    Device,
    DeviceIndex,
    KernelInfo,
    MultiDevice,
    OpDevice,
    ParamArg,
    ProgramInfo,
    RangeInfo,
    ReduceArg,
    ShapedWmmaInfo,
    SingleDevice,
    StageOpts,
    WmmaInfo,
)


def _all(kind: type) -> Callable[[Any], bool]:
    return lambda a: type(a) is tuple and all(type(v) is kind for v in a)


def _is(*kinds: type) -> Callable[[Any], bool]:
    return lambda a: type(a) in kinds


_KINDS: Final[dict[str, Callable[[Any], bool]]] = {
    "Empty": lambda a: a is None,
    "Int": _is(int),
    "Ints": _all(int),
    "Bools": _all(bool),
    "String": _is(str, bytes),
    "Value": _is(Const),
    "Op": _is(Op),
    "Range_info": _is(RangeInfo),
    "Param_arg": _is(ParamArg),
    "Reduce_arg": _is(ReduceArg),
    "Device": _is(SingleDevice, MultiDevice, DeviceIndex),
    "Op_device": _is(OpDevice),
    "Stage_info": _is(StageOpts),
    "Opts": _all(Opt),
    "Kernel_info": _is(KernelInfo),
    "Call_info": _is(CallInfo),
    "Program_info": _is(ProgramInfo),
    "Wmma_info": _is(WmmaInfo),
    "Shaped_wmma_info": _is(ShapedWmmaInfo),
}
ARG_KINDS: Final[tuple[str, ...]] = tuple(_KINDS)
"""The kinds of payloads, in order."""

_CARRIES: Final[dict[Op, tuple[str, ...]]] = {
    **dict.fromkeys((Ops.SLICE, Ops.MSELECT, Ops.MULTI, Ops.GETTUPLE), ("Int",)),
    Ops.PERMUTE: ("Ints",),
    Ops.FLIP: ("Bools",),
    **dict.fromkeys(
        (
            Ops.SPECIAL, Ops.CUSTOM, Ops.CUSTOMI, Ops.SOURCE, Ops.BINARY, Ops.INS,
            Ops.CUSTOM_FUNCTION, Ops.REWRITE_ERROR,
        ),
        ("String",),
    ),
    Ops.CONST: ("Value",),
    Ops.RANGE: ("Range_info",),
    Ops.PARAM: ("Param_arg",),
    Ops.BUFFER: ("Param_arg",),
    Ops.REDUCE: ("Reduce_arg",),
    Ops.COPY: ("Device",),
    Ops.ALLREDUCE: ("Op_device",),
    Ops.STAGE: ("Stage_info",),
    Ops.CONTIGUOUS: ("Empty", "Opts"),
    Ops.SINK: ("Empty", "Kernel_info"),
    Ops.CALL: ("Call_info",),
    Ops.FUNCTION: ("Call_info",),
    Ops.PROGRAM: ("Program_info",),
    Ops.WMMA: ("Wmma_info",),
    Ops.SHAPED_WMMA: ("Shaped_wmma_info",),
}  # fmt: skip

_MANY: Final = 1 << 62
_SOURCES: Final[dict[Op, tuple[int, int]]] = {
    **{op: (1, 1) for op in ALL if op.is_unary},
    **{op: (2, 2) for op in ALL if op.is_binary},
    **{op: (3, 3) for op in ALL if op.is_ternary},
    **dict.fromkeys((Ops.SOURCE, Ops.BINARY), (0, 0)),
    Ops.NOOP: (0, 1),
    **dict.fromkeys(
        (
            Ops.SPECIAL, Ops.BUFFER, Ops.PARAM, Ops.GETTUPLE, Ops.GETADDR, Ops.CAST, Ops.BITCAST,
            Ops.ENDIF, Ops.CONTIGUOUS_BACKWARD, Ops.DETACH, Ops.COPY, Ops.MSELECT, Ops.PERMUTE,
            Ops.FLIP, Ops.MULTI, Ops.ALLREDUCE,
        ),
        (1, 1),
    ),
    **dict.fromkeys((Ops.BIND, Ops.IF, Ops.WAIT, Ops.SLICE, Ops.RESHAPE, Ops.EXPAND), (2, 2)),
    **dict.fromkeys((Ops.SHRINK, Ops.PAD, Ops.WMMA, Ops.SHAPED_WMMA), (3, 3)),
    Ops.LOAD: (1, 3),
    Ops.STORE: (2, 3),
    Ops.PROGRAM: (1, 4),
    **dict.fromkeys(
        (
            Ops.FUNCTION, Ops.CALL, Ops.AFTER, Ops.INDEX, Ops.RANGE, Ops.END, Ops.CONTIGUOUS,
            Ops.STAGE, Ops.MSTACK, Ops.REDUCE,
        ),
        (1, _MANY),
    ),
    Ops.BREAK: (2, _MANY),
}  # fmt: skip


def misfit(op: Op, arg: Any, sources: int) -> str | None:
    """Why a node of `op` cannot carry `arg` and have so many sources, or None where it can."""
    kinds = _CARRIES.get(op, ("Empty",))
    if not any(_KINDS[k](arg) for k in kinds):
        return f"{op.name} carries {' or '.join(kinds)}, not {type(arg).__name__}"
    low, high = _SOURCES.get(op, (0, _MANY))
    if not low <= sources <= high:
        return f"{op.name} does not have {sources} sources"
    return None


class Arg:
    """Reading the payload of a node, `u.arg`, by its kind.

    `as_<kind>` gives the payload when it is of that kind, else None.
    """

    @staticmethod
    def kinds_of(op: Op) -> tuple[str, ...]:
        """The kinds that a node of `op` may carry."""
        return _CARRIES.get(op, ("Empty",))

    @staticmethod
    def kind(arg: Any) -> str | None:
        """The kind of a payload (an empty tuple is Ints), or None for what is no payload."""
        return next((name for name, test in _KINDS.items() if test(arg)), None)

    @staticmethod
    def equal(a: Any, b: Any) -> bool:
        """Whether two payloads are the same: fields by value, callbacks by identity."""
        return type(a) is type(b) and (a is b or (_plain(a) and bool(a == b)))

    @staticmethod
    def compare(a: Any, b: Any) -> int:
        """-1, 0 or 1: by kind, then by fields in order."""
        p = (ARG_KINDS.index(Arg.kind(a) or "Empty"), order_key(a))
        q = (ARG_KINDS.index(Arg.kind(b) or "Empty"), order_key(b))
        return (p > q) - (p < q)

    @staticmethod
    def as_int(arg: Any) -> int | None:
        """An integer."""
        return arg if _KINDS["Int"](arg) else None

    @staticmethod
    def as_ints(arg: Any) -> tuple[int, ...] | None:
        """A tuple of integers."""
        return arg if _KINDS["Ints"](arg) else None

    @staticmethod
    def as_bools(arg: Any) -> tuple[bool, ...] | None:
        """A tuple of bools."""
        return arg if _KINDS["Bools"](arg) else None

    @staticmethod
    def as_string(arg: Any) -> str | bytes | None:
        """Text, or the bytes of a BINARY."""
        return arg if _KINDS["String"](arg) else None

    @staticmethod
    def as_value(arg: Any) -> Const | None:
        """A constant."""
        return arg if isinstance(arg, Const) else None

    @staticmethod
    def as_op(arg: Any) -> Op | None:
        """An operation."""
        return arg if isinstance(arg, Op) else None

    @staticmethod
    def as_range_info(arg: Any) -> RangeInfo | None:
        """A RANGE's payload."""
        return arg if isinstance(arg, RangeInfo) else None

    @staticmethod
    def as_param_arg(arg: Any) -> ParamArg | None:
        """A PARAM's or BUFFER's payload."""
        return arg if isinstance(arg, ParamArg) else None

    @staticmethod
    def as_reduce_arg(arg: Any) -> ReduceArg | None:
        """A REDUCE's payload."""
        return arg if isinstance(arg, ReduceArg) else None

    @staticmethod
    def as_device(arg: Any) -> Device | None:
        """A COPY's payload."""
        return arg if isinstance(arg, Device) else None

    @staticmethod
    def as_op_device(arg: Any) -> OpDevice | None:
        """An ALLREDUCE's payload."""
        return arg if isinstance(arg, OpDevice) else None

    @staticmethod
    def as_opts(arg: Any) -> tuple[Opt, ...] | None:
        """Schedule options."""
        return arg if _KINDS["Opts"](arg) else None

    @staticmethod
    def as_stage_info(arg: Any) -> StageOpts | None:
        """A STAGE's payload."""
        return arg if isinstance(arg, StageOpts) else None

    @staticmethod
    def as_program_info(arg: Any) -> ProgramInfo | None:
        """A PROGRAM's payload."""
        return arg if isinstance(arg, ProgramInfo) else None


def _plain(arg: Any) -> bool:
    """Whether a payload is compared by value: all others are interned objects."""
    return type(arg) in (int, str, bytes, tuple)
