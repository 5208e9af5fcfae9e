"""The rules of the tensor graph, and of movement ops."""

from __future__ import annotations

from typing import Final

from dynamis.dtype import AddrSpace, int32, void, weakint
from dynamis.uop.build_tensor import OPAQUE_BODIES
from dynamis.uop.const import Const
from dynamis.uop.marg import marg_or_none
from dynamis.uop.node import Uop
from dynamis.uop.ops import Group, Ops
from dynamis.uop.payload import (
    CallInfo,
    DeviceIndex,
    MultiDevice,
    OpDevice,
    ParamArg,
    ReduceArg,
    ShapedWmmaInfo,
    SingleDevice,
)
from dynamis.uop.place import device_of
from dynamis.uop.shape import dims_or_none, projected, shape_error
from dynamis.uop.spec_rule import OK, SpecRule, first, rule

# -- movement


@rule("movement", *Group.movement)
def movement(u: Uop) -> str:
    if not u.src or u.src[0].dtype is not u.dtype:
        return f"a {u.op.name} has its source's dtype"
    if marg_or_none(u) is None:
        return f"a {u.op.name} carries its movement argument"
    if any(not s.dtype.is_int for a in u.src[1:] for s in a.as_shape()):
        return f"the dimensions of a {u.op.name} are integers"
    if dims_or_none(u) is None:
        return shape_error(u) or f"the source of a {u.op.name} has no shape"
    return OK


MOVEMENT: Final[tuple[SpecRule, ...]] = (movement,)


# -- tensor


@rule("untagged")
def untagged(u: Uop) -> str | None:
    return None if u.node_tag is None else f"a tensor graph has no tags: {u.node_tag!r}"


@rule("buffer", Ops.BUFFER)
def buffer(u: Uop) -> str:
    arg = u.arg
    if not isinstance(arg, ParamArg) or len(u.src) != 1:
        return "a BUFFER carries ParamArg and has one shape child"
    if arg.addrspace in (AddrSpace.LOCAL, AddrSpace.REG):
        return OK
    device = arg.device
    many = isinstance(device, MultiDevice)
    dims = dims_or_none(u)
    group = device.names if isinstance(device, MultiDevice) else ()
    placed = isinstance(device, SingleDevice) or bool(group)
    return first(
        (arg.addrspace is not AddrSpace.GLOBAL, "a BUFFER is GLOBAL, LOCAL or REG"),
        (not placed, "a BUFFER is on one device or on several"),
        (
            u.src[0].op is not Ops.NOOP
            and any(d.dtype is not weakint for d in u.src[0].as_shape()),
            "the shape of a BUFFER is weakint",
        ),
        (arg.axis is not None and not many, "only a BUFFER on several devices is sharded"),
        (
            arg.axis is not None and dims is not None and not 0 <= arg.axis < len(dims),
            "the sharding axis of a BUFFER is one of its own",
        ),
    )


def _weakint_shape(shape: Uop) -> bool:
    return shape.op is Ops.NOOP or all(d.dtype is weakint for d in shape.as_shape())


@rule("const", Ops.CONST)
def const(u: Uop) -> str:
    legal = isinstance(u.arg, Const) and u.arg.dtype is u.dtype
    return OK if legal else "a CONST carries a Const of its dtype"


@rule("weakint", Ops.ADD, Ops.MUL, Ops.CDIV, Ops.FLOORDIV)
def weakint_arithmetic(u: Uop) -> str | None:
    mine = u.dtype is weakint and len(u.src) == 2 and all(s.dtype.is_int for s in u.src)
    return OK if mine else None


@rule("custom-function", Ops.CUSTOM_FUNCTION)
def custom_function(u: Uop) -> str:
    return OK if isinstance(u.arg, str) else "a CUSTOM_FUNCTION carries its name"


@rule("call", Ops.CALL, Ops.FUNCTION)
def call(u: Uop) -> str:
    if not isinstance(u.arg, CallInfo) or not u.src or u.dtype is not void:
        return f"a {u.op.name} is void, carries CallInfo and has a body"
    body = u.src[0]
    opaque = body.op in OPAQUE_BODIES
    fits = opaque if u.op is Ops.CALL else body.op is Ops.TUPLE
    return first(
        (not fits, f"a {u.op.name} does not call a {body.op.name}"),
        (bool(body.ranges), "the body of a call has no open ranges"),
    )


@rule("tuple", Ops.TUPLE)
def tuple_(u: Uop) -> str:
    return OK if u.dtype is void else "a TUPLE is void"


@rule("gettuple", Ops.GETTUPLE)
def gettuple(u: Uop) -> str:

    element = projected(u)
    if element is None:
        return "a GETTUPLE takes an element of a TUPLE or of a FUNCTION's body"
    return OK if element.dtype is u.dtype else "a GETTUPLE has its element's dtype"


@rule("mselect", Ops.MSELECT)
def mselect(u: Uop) -> str:
    if len(u.src) != 1 or not isinstance(u.arg, int):
        return "an MSELECT has a source and an index"
    device = device_of(u.src[0])
    within = isinstance(device, MultiDevice) and 0 <= u.arg < len(device.names)
    return OK if within else "an MSELECT takes one of its source's shards"


@rule("mstack", Ops.MSTACK)
def mstack(u: Uop) -> str:
    devices = [device_of(s) for s in u.src]
    same = all(s is u.src[0] for s in u.src)
    single = all(isinstance(d, SingleDevice) for d in devices)
    nowhere = same and bool(devices) and devices[0] is None
    return first(
        (not u.src, "an MSTACK has shards"),
        (any(s.dtype is not u.dtype for s in u.src), "an MSTACK has its shards' dtype"),
        (not single and not nowhere, "each shard of an MSTACK is on one device"),
    )


@rule("bind", Ops.BIND)
def bind(u: Uop) -> str:
    if len(u.src) != 2:
        return "a BIND has a variable and a value"
    var, value = u.src
    return first(
        (
            not isinstance(var.arg, ParamArg) or var.arg.addrspace is not AddrSpace.ALU,
            "a BIND binds an ALU PARAM",
        ),
        (value.op is not Ops.CONST, "a BIND is to a constant"),
        (
            not (u.dtype is var.dtype is value.dtype),
            "a BIND has its variable's dtype",
        ),
        (u.dtype not in (weakint, int32), "a BIND is weakint or int32"),
    )


@rule("keeps-dtype", Ops.DETACH, Ops.CONTIGUOUS, Ops.CONTIGUOUS_BACKWARD)
def keeps_dtype(u: Uop) -> str:
    legal = bool(u.src) and u.src[0].dtype is u.dtype
    return OK if legal else f"a {u.op.name} has its source's dtype"


@rule("copy", Ops.COPY)
def copy(u: Uop) -> str:
    return first(
        (len(u.src) != 1 or u.src[0].dtype is not u.dtype, "a COPY has its source's dtype"),
        (not isinstance(u.arg, (SingleDevice, MultiDevice, DeviceIndex)), "a COPY is to a device"),
    )


@rule("allreduce", Ops.ALLREDUCE)
def allreduce(u: Uop) -> str:
    if not isinstance(u.arg, OpDevice) or len(u.src) != 1:
        return "an ALLREDUCE carries OpDevice and has one source"
    return first(
        (not u.arg.op.is_reduce, f"{u.arg.op.name} does not reduce"),
        (u.src[0].dtype is not u.dtype, "an ALLREDUCE has its source's dtype"),
        (not isinstance(u.arg.device, MultiDevice), "an ALLREDUCE is over several devices"),
    )


@rule("multi", Ops.MULTI)
def multi(u: Uop) -> str:
    if len(u.src) != 1 or not isinstance(u.arg, int) or u.src[0].dtype is not u.dtype:
        return "a MULTI has an axis and its source's dtype"
    dims = dims_or_none(u.src[0])
    within = dims is not None and 0 <= u.arg < len(dims)
    return OK if within else "a MULTI is cut along an axis of its own"


@rule("reduce", Ops.REDUCE)
def reduce(u: Uop) -> str:
    if not isinstance(u.arg, ReduceArg) or not u.src:
        return "a REDUCE carries ReduceArg and has a body"
    return first(
        (not u.arg.op.is_reduce, f"{u.arg.op.name} does not reduce"),
        (len(u.src) != 1 or not u.arg.axes, "a tensor's REDUCE is over axes, not over ranges"),
        (any(a < 0 for a in u.arg.axes), "the axes of a REDUCE are not negative"),
        (u.src[0].dtype is not u.dtype, "a tensor's REDUCE has its source's dtype"),
        (shape_error(u) is not None, shape_error(u) or ""),
    )


@rule("slice", Ops.SLICE)
def slice_(u: Uop) -> str:
    return first(
        (
            not isinstance(u.arg, int) or len(u.src) != 2,
            "a SLICE has two sources and a size",
        ),
        (len(u.src) == 2 and not u.src[1].dtype.is_int, "the offset of a SLICE is an integer"),
        (
            not u.src or not (u.src[0].op.is_movement or u.src[0].op in _SLICED),
            "a SLICE is of storage",
        ),
    )


_SLICED: Final = (Ops.BUFFER, Ops.PARAM, Ops.STAGE, Ops.AFTER, Ops.INDEX)


@rule("shaped-wmma", Ops.SHAPED_WMMA)
def shaped_wmma(u: Uop) -> str:
    return first(
        (not isinstance(u.arg, ShapedWmmaInfo), "a SHAPED_WMMA carries ShapedWmmaInfo"),
        (len(u.src) != 3, "a SHAPED_WMMA has three operands"),
    )


@rule("store", Ops.STORE)
def store(u: Uop) -> str | None:
    legal = u.dtype is void and len(u.src) == 2
    return OK if legal else None  # the shared rule looks at all others


TENSOR: Final[tuple[SpecRule, ...]] = (
    untagged, movement, buffer, const, weakint_arithmetic, custom_function, call, tuple_, gettuple,
    mselect, mstack, bind, keeps_dtype, copy, allreduce, multi, reduce, slice_, shaped_wmma, store,
)  # fmt: skip


# -- what the full spec lets pass besides


@rule("loose", Ops.END, Ops.AFTER, Ops.LOAD, Ops.STORE, Ops.BIND, Ops.SLICE)
def loose(u: Uop) -> str | None:
    """Half-lowered forms: any END, AFTER, LOAD or STORE, a BIND to any integer, a loose SLICE."""
    if u.op is Ops.BIND:
        return OK if len(u.src) == 2 and u.dtype.is_int else None
    if u.op is Ops.SLICE:
        return OK if len(u.src) == 2 and isinstance(u.arg, int) else None
    return OK if u.src else None


LOOSE: Final[tuple[SpecRule, ...]] = (loose,)
