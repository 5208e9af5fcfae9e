"""Constructors of what stands before scheduling, of whole programs, and of machine escapes.

As in `build.py`: each says its sources, its dtype, where it is legal and what it raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from dynamis.dtype import Dtype, Val, uint64, void
from dynamis.uop.build import after, store
from dynamis.uop.const import Const
from dynamis.uop.errors import UopError
from dynamis.uop.marg import shape_arg
from dynamis.uop.node import Uop, node
from dynamis.uop.ops import Op, Ops
from dynamis.uop.payload import (
    CallInfo,
    Device,
    OpDevice,
    ProgramInfo,
    ReduceArg,
    ShapedWmmaInfo,
    StageOpts,
    WmmaInfo,
    as_device,
)

ShapeArg = Uop | Iterable[Uop | int]
"""A shape argument: a node as the movement ops carry it, or the dimensions themselves."""


def _shape(value: ShapeArg) -> Uop:
    return value if isinstance(value, Uop) else shape_arg(value)


# -- storage


def stage(*, src: Uop, ranges: Iterable[Uop], opts: StageOpts) -> Uop:
    """`src` made material, indexed by `ranges`: src (src, *ranges). src's dtype. Kernel."""
    return node(Ops.STAGE, src.dtype, (src, *ranges), opts)


def slice_(*, src: Uop, offset: Uop, size: int, dtype: Dtype) -> Uop:
    """`size` elements of `src` from a symbolic offset: src (src, offset). Tensor."""
    return node(Ops.SLICE, dtype, (src, offset), int(size))


def bind(*, var: Uop, value: Uop) -> Uop:
    """The parameter `var` bound to `value`: src (var, value). var's dtype. Tensor.

    Raises UopError when `value` is an integer or bool constant outside var's known bounds.
    """
    number = value.arg.value if value.op is Ops.CONST and isinstance(value.arg, Const) else None
    if isinstance(number, (bool, int)) and not var.vmin <= number <= var.vmax:
        raise UopError(f"{number} is outside the bounds {var.vmin} .. {var.vmax} of {var!r}")
    return node(Ops.BIND, var.dtype, (var, value))


def getaddr(*, src: Uop) -> Uop:
    """The address of `src`: src (src,). uint64. Kernel and Program."""
    return node(Ops.GETADDR, uint64, (src,))


# -- reduction


def reduce(*, src: Uop, ranges: Iterable[Uop], op: Op, dtype: Val) -> Uop:
    """`src` reduced by `op` over loop ranges: src (src, *ranges), no axes. Kernel."""
    return node(Ops.REDUCE, dtype, (src, *ranges), ReduceArg(op, ()))


def reduce_axis(*, src: Uop, op: Op, axes: Iterable[int]) -> Uop:
    """`src` reduced by `op` over tensor axes: src (src,); `src` without axes. Tensor."""
    arg = ReduceArg(op, tuple(axes))
    return node(Ops.REDUCE, src.dtype, (src,), arg) if arg.axes else src


def allreduce(*, src: Uop, device: Device | Sequence[str], op: Op) -> Uop:
    """`src` reduced by `op` across devices: src (src,). src's dtype. Tensor."""
    return node(Ops.ALLREDUCE, src.dtype, (src,), OpDevice(op, as_device(device)))


# -- sharding


def multi(*, src: Uop, axis: int) -> Uop:
    """`src`, each device's part of a value cut along `axis`. src's dtype. Tensor."""
    return node(Ops.MULTI, src.dtype, (src,), int(axis))


def mstack(srcs: Iterable[Uop]) -> Uop:
    """The shards of a multi-device value. The first's dtype. Raises UopError without. Tensor."""
    shards = tuple(srcs)
    if not shards:
        raise UopError("an MSTACK has at least one shard")
    return node(Ops.MSTACK, shards[0].dtype, shards)


def mselect(*, src: Uop, index: int) -> Uop:
    """The shard `index` of a multi-device value. src's dtype. Tensor."""
    return node(Ops.MSELECT, src.dtype, (src,), int(index))


def copy(*, src: Uop, device: Device | str | Sequence[str]) -> Uop:
    """`src` copied to `device`. src's dtype. Tensor."""
    return node(Ops.COPY, src.dtype, (src,), as_device(device))


# -- movement


def reshape(*, src: Uop, shape: ShapeArg) -> Uop:
    """src's elements in another shape: src (src, shape). src's dtype. Tensor."""
    return node(Ops.RESHAPE, src.dtype, (src, _shape(shape)))


def expand(*, src: Uop, shape: ShapeArg) -> Uop:
    """`src` broadcast to `shape`: src (src, shape). src's dtype. Tensor."""
    return node(Ops.EXPAND, src.dtype, (src, _shape(shape)))


def pad(*, src: Uop, offset: ShapeArg, size: ShapeArg) -> Uop:
    """`src` at `offset` in zeros of `size`, an axis each: src (src, offset, size). Tensor."""
    return node(Ops.PAD, src.dtype, (src, _shape(offset), _shape(size)))


def shrink(*, src: Uop, offset: ShapeArg, size: ShapeArg) -> Uop:
    """`size` of `src` from `offset`, an axis each: src (src, offset, size). Tensor.

    In a program, over storage, it names a vector of a pointer.
    """
    return node(Ops.SHRINK, src.dtype, (src, _shape(offset), _shape(size)))


def permute(*, src: Uop, order: Iterable[int]) -> Uop:
    """`src` with its axes in `order`. src's dtype. Tensor."""
    return node(Ops.PERMUTE, src.dtype, (src,), tuple([int(i) for i in order]))


def flip(*, src: Uop, dims: Iterable[bool]) -> Uop:
    """`src` reversed along the axes flagged in `dims`. src's dtype. Tensor."""
    return node(Ops.FLIP, src.dtype, (src,), tuple([bool(d) for d in dims]))


# -- scheduling


def detach(*, src: Uop) -> Uop:
    """`src`, through which no gradient flows. src's dtype. Tensor."""
    return node(Ops.DETACH, src.dtype, (src,))


def contiguous(*, src: Uop, ranges: Iterable[Uop] = (), force: bool = False) -> Uop:
    """`src` in contiguous layout: src (src, *ranges). src's dtype. Tensor.

    `src` itself when it is a CONTIGUOUS, and, without ranges, when it is a buffer
    (`has_buffer_identity`); with `force` always a node.
    """
    within = tuple(ranges)
    if not force and (src.op is Ops.CONTIGUOUS or (not within and src.has_buffer_identity)):
        return src
    return node(Ops.CONTIGUOUS, src.dtype, (src, *within))


def contiguous_backward(*, src: Uop) -> Uop:
    """`src`, whose gradient is to be contiguous. src's dtype. Tensor."""
    return node(Ops.CONTIGUOUS_BACKWARD, src.dtype, (src,))


# -- calls

OPAQUE_BODIES: Final = (
    Ops.SINK, Ops.PROGRAM, Ops.LINEAR, Ops.COPY, Ops.SLICE, Ops.CUSTOM_FUNCTION,
)  # fmt: skip
"""The bodies that are called for their effect."""


def call(*, body: Uop, args: Iterable[Uop], info: CallInfo | None = None) -> Uop:
    """`body` called with `args`: src (body, *args). Void. Tensor.

    A CALL of an opaque body (SINK, PROGRAM, LINEAR, COPY, SLICE, CUSTOM_FUNCTION); of any other a
    FUNCTION, whose body is a TUPLE (made of the one value when it is none).
    Raises UopError when the body has open ranges.
    """
    if body.ranges:
        raise UopError(f"the body of a call has open ranges: {body.ranges[0]!r}")
    arg = CallInfo() if info is None else info
    if body.op in OPAQUE_BODIES:
        return node(Ops.CALL, void, (body, *args), arg)
    if body.op is not Ops.TUPLE:
        body = tuple_([body])
    return node(Ops.FUNCTION, void, (body, *args), arg)


def tuple_(srcs: Iterable[Uop]) -> Uop:
    """Several values, as the body of a value-producing call. Void. Tensor."""
    return node(Ops.TUPLE, void, tuple(srcs))


def gettuple(*, src: Uop, index: int) -> Uop:
    """The element `index` of a TUPLE, or of a FUNCTION's body. The element's dtype. Tensor.

    Raises UopError for any other source, and for an index outside.
    """
    body = src.src[0] if src.op is Ops.FUNCTION and src.src else src
    if body.op is not Ops.TUPLE:
        raise UopError(f"gettuple takes from a TUPLE or a FUNCTION, not from {src.op.name}")
    if not 0 <= index < len(body.src):
        raise UopError(f"element {index} of a tuple of {len(body.src)}")
    return node(Ops.GETTUPLE, body.src[index].dtype, (src,), int(index))


def program(
    *, sink: Uop, linear: Uop | None = None, source: Uop | None = None,
    binary: Uop | None = None, info: ProgramInfo,
) -> Uop:  # fmt: skip
    """A kernel as far as it is compiled: src (sink, linear?, source?, binary?). Void. Program.

    Raises UopError when a later form is given without an earlier one.
    """
    forms = [linear, source, binary]
    given = [f for f in forms if f is not None]
    if given != forms[: len(given)]:
        raise UopError("a program's forms are linear, source, binary: none is left out before")
    return node(Ops.PROGRAM, void, (sink, *given), info)


def set_(*, target: Uop, value: Uop, extras: Iterable[Uop] = ()) -> Uop:
    """`target` once `value` is stored in it and `extras` are done: an AFTER. Tensor."""
    return after(src=target, deps=[store(dst=target, value=value), *extras])


# -- tensor cores


def shaped_wmma(
    *, a: Uop, b: Uop, acc: Uop, dims: tuple[int, int, int], device: str, threads: int,
    dtype: Dtype,
) -> Uop:  # fmt: skip
    """A matrix multiply-accumulate of dims (M, N, K): src (a, b, acc). Tensor."""
    return node(Ops.SHAPED_WMMA, dtype, (a, b, acc), ShapedWmmaInfo(dims, device, threads))


def wmma(*, a: Uop, b: Uop, c: Uop, info: WmmaInfo, dtype: Val) -> Uop:
    """The hardware's matrix multiply-accumulate: src (a, b, c). Kernel."""
    return node(Ops.WMMA, dtype, (a, b, c), info)


# -- escapes


def wait(*, src: Uop, wait_for: Uop) -> Uop:
    """`src` once `wait_for` is there: src (src, wait_for). Void. Kernel."""
    return node(Ops.WAIT, void, (src, wait_for))


def source(text: str) -> Uop:
    """Rendered source text, of a `program`. Void, no sources. Program."""
    return node(Ops.SOURCE, void, (), str(text))


def binary(code: bytes) -> Uop:
    """Compiled machine code, of a `program`. Void, no sources. Program."""
    return node(Ops.BINARY, void, (), bytes(code))


def rewrite_error(*, src: Iterable[Uop], msg: str) -> Uop:
    """A rewrite that failed, over the sources of the node it failed on. Void. Shared."""
    return node(Ops.REWRITE_ERROR, void, tuple(src), str(msg))


def ins(*, mnemonic: str, operands: Iterable[Uop], dtype: Dtype = void) -> Uop:
    """A machine instruction: src operands. Program."""
    return node(Ops.INS, dtype, tuple(operands), str(mnemonic))


def custom_function(*, name: str, srcs: Iterable[Uop]) -> Uop:
    """A function that the runtime knows by name. Void. Tensor."""
    return node(Ops.CUSTOM_FUNCTION, void, tuple(srcs), str(name))
