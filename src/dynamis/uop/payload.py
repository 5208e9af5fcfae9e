"""Payloads: what a node carries in `arg` besides its sources (how they behave: `frozen.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from dynamis.dtype import AddrSpace, Scalar
from dynamis.uop.axis_type import AxisType
from dynamis.uop.frozen import Payload as Payload
from dynamis.uop.frozen import (
    atom,
    count,
    fixed,
    integer,
    launch_dim,
    many,
    node_of,
    one_of,
    optional,
    pair,
    text,
    truth,
)
from dynamis.uop.ops import Op
from dynamis.uop.opt import Opt

if TYPE_CHECKING:
    from dynamis.uop.node import Uop

# -- devices


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class SingleDevice(Payload):
    """One concrete device, by name."""

    name: str

    def __post_init__(self) -> None:
        self._fix("name", text)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class MultiDevice(Payload):
    """A group of devices that share a value in shards."""

    names: tuple[str, ...]

    def __post_init__(self) -> None:
        self._fix("names", many(text))


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class DeviceIndex(Payload):
    """A device by its position, while one shard of a multi-device value is rewritten."""

    index: int

    def __post_init__(self) -> None:
        self._fix("index", integer)


Device = SingleDevice | MultiDevice | DeviceIndex
"""Where a value lives."""


def as_device(value: Device | str | Sequence[str]) -> Device:
    """`value` as a device: a str names one device, a sequence of str a group."""
    if isinstance(value, (SingleDevice, MultiDevice, DeviceIndex)):
        return value
    return SingleDevice(value) if isinstance(value, str) else MultiDevice(tuple(value))


# -- graph payloads


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class RangeInfo(Payload):
    """Payload of RANGE: schedule axis, sub-axis ids, kind."""

    axis: int
    sub: tuple[int, ...]
    kind: AxisType

    def __post_init__(self) -> None:
        self._fix("axis", integer)
        self._fix("sub", many(integer))
        self._fix("kind", one_of(AxisType))


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class ParamArg(Payload):
    """Payload of PARAM and BUFFER.

    `slot` -1 of a PARAM is a symbolic variable; negative slots of a BUFFER are internal.
    `vmin_vmax` are inclusive bounds when known; `addrspace` ALU is a scalar parameter; `axis` a
    sharding axis; `device` a placement.
    """

    slot: int
    vmin_vmax: tuple[int, int] | None = None
    name: str | None = None
    addrspace: AddrSpace = AddrSpace.GLOBAL
    axis: int | None = None
    device: Device | None = None

    def __post_init__(self) -> None:
        self._fix("slot", integer)
        self._fix("vmin_vmax", optional(pair(integer)))
        self._fix("name", optional(text))
        self._fix("addrspace", one_of(AddrSpace))
        self._fix("axis", optional(integer))
        self._fix("device", optional(as_device))


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class ReduceArg(Payload):
    """Payload of REDUCE: the operation and the tensor axes it reduces (none once lowered)."""

    op: Op
    axes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._fix("op", one_of(Op))
        self._fix("axes", many(integer))


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class OpDevice(Payload):
    """Payload of ALLREDUCE: the operation and the device group."""

    op: Op
    device: Device

    def __post_init__(self) -> None:
        self._fix("op", one_of(Op))
        self._fix("device", as_device)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class StageOpts(Payload):
    """Payload of STAGE: placement, address space, and whether later passes may elide it."""

    device: Device | None = None
    addrspace: AddrSpace = AddrSpace.GLOBAL
    removable: bool = True

    def __post_init__(self) -> None:
        self._fix("device", optional(as_device))
        self._fix("addrspace", one_of(AddrSpace))
        self._fix("removable", truth)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Metadata(Payload):
    """Side metadata of a tensor-stage call site or node. Never part of a node's identity."""

    name: str
    caller: str = ""
    backward: bool = False

    def __post_init__(self) -> None:
        self._fix("name", text)
        self._fix("caller", text)
        self._fix("backward", truth)


GradFxn = Callable[..., Sequence["Uop | None"]]
"""A gradient callback: called with `grad_output=` and `call=`, gives one gradient, or None, for
each argument of the call, in order."""


def _callback(value: Any) -> Any:
    if not callable(value):
        raise TypeError("not callable")
    return value


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class CallInfo(Payload):
    """Payload of CALL and FUNCTION. Gradient callbacks are compared by identity."""

    grad_fxn: GradFxn | None = None
    metadata: tuple[Metadata, ...] = ()
    name: str | None = None
    precompile: bool = False
    precompile_backward: bool = False
    aux: str | None = None

    def __post_init__(self) -> None:
        self._fix("grad_fxn", optional(_callback))
        self._fix("metadata", many(one_of(Metadata)))
        self._fix("name", optional(text))
        self._fix("precompile", truth)
        self._fix("precompile_backward", truth)
        self._fix("aux", optional(text))

    def key(self) -> tuple[Any, ...]:
        """The fields, the callback by identity: its own `==` may be anything.

        The payload keeps the callback alive, so its id is not used again while the key is filed.
        """
        told = self.values()
        return (None if told[0] is None else id(told[0]), *[atom(v) for v in told[1:]])


# -- kernels and programs

Estimate = Union[int, "Uop"]  # Uop is not there yet
"""A count, or an expression over runtime variables."""

LaunchDim = Union[int, float, "Uop"]  # as above
"""A launch dimension: a number, or an expression over runtime variables."""

LaunchValue = int | float
"""A launch dimension once the variables have values."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Estimates(Payload):
    """Cost estimates of a kernel: each a count, or an expression over runtime variables."""

    ops: Estimate = 0
    lds: Estimate = 0
    mem: Estimate = 0

    def __post_init__(self) -> None:
        for name in ("ops", "lds", "mem"):
            self._fix(name, count)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class KernelInfo(Payload):
    """Annotations of a kernel's SINK: they name and describe it, and do not change its meaning.

    `opts_to_apply` None asks for automatic tuning; `beam` 0 means no beam score.
    """

    name: str = "test"
    axis_types: tuple[AxisType, ...] = ()
    dont_use_locals: bool = False
    applied_opts: tuple[Opt, ...] = ()
    opts_to_apply: tuple[Opt, ...] | None = None
    estimates: Estimates | None = None
    beam: int = 0

    def __post_init__(self) -> None:
        self._fix("name", text)
        self._fix("axis_types", many(one_of(AxisType)))
        self._fix("dont_use_locals", truth)
        self._fix("applied_opts", many(one_of(Opt)))
        self._fix("opts_to_apply", optional(many(one_of(Opt))))
        self._fix("estimates", optional(one_of(Estimates)))
        self._fix("beam", integer)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class ProgramInfo(Payload):
    """Payload of PROGRAM: how to launch it and what it touches.

    A launch dimension is an integer, a float, or a node over `vars`. `globals`, `outs` and `ins`
    are slots of memory parameters.
    """

    name: str
    global_size: tuple[LaunchDim, ...] = (1, 1, 1)
    local_size: tuple[int, ...] | None = (1, 1, 1)
    vars: tuple[Uop, ...] = ()
    globals: tuple[int, ...] = ()
    outs: tuple[int, ...] = ()
    ins: tuple[int, ...] = ()
    aux: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._fix("name", text)
        self._fix("global_size", many(launch_dim))
        self._fix("local_size", optional(many(integer)))
        self._fix("vars", many(node_of))
        for name in ("globals", "outs", "ins"):
            self._fix(name, many(integer))
        self._fix("aux", many(text))


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class WmmaInfo(Payload):
    """Payload of WMMA: the hardware's matrix multiply-accumulate.

    `dims` is (M, N, K); `upcast_axes` the (axis, amount) pairs of the operands A, B and C.
    """

    name: str
    dims: tuple[int, int, int]
    dtype_in: Scalar
    dtype_out: Scalar
    device: str
    threads: int
    upcast_axes: tuple[tuple[tuple[int, int], ...], ...]
    reduce_axes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._fix("name", text)
        self._fix("dims", fixed(integer, 3))
        self._fix("dtype_in", one_of(Scalar))
        self._fix("dtype_out", one_of(Scalar))
        self._fix("device", text)
        self._fix("threads", integer)
        self._fix("upcast_axes", fixed(many(pair(integer)), 3))
        self._fix("reduce_axes", many(integer))


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class ShapedWmmaInfo(Payload):
    """Payload of SHAPED_WMMA: (M, N, K), device name, threads of a warp."""

    dims: tuple[int, int, int]
    device: str
    threads: int

    def __post_init__(self) -> None:
        self._fix("dims", fixed(integer, 3))
        self._fix("device", text)
        self._fix("threads", integer)
