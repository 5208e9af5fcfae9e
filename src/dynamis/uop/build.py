"""The constructors of nodes. Each says its sources, its dtype and where it is legal.

Stages: Shared is legal everywhere, Tensor before scheduling, Kernel in the kernel AST, Program
in the linear program. The specs check stages; a constructor checks only what its own line says
it raises for. There is no public way to make a node around these but `replace`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any, Final

from dynamis.dtype import AddrSpace, Dtype, Number, Val, bool_, float32, void, weakint
from dynamis.uop.axis_type import AxisType
from dynamis.uop.const import INVALID, Const, Invalid
from dynamis.uop.errors import UopError
from dynamis.uop.marg import as_shape, shape_arg
from dynamis.uop.node import Uop, const_node, node
from dynamis.uop.ops import Op, Ops
from dynamis.uop.payload import Device, KernelInfo, ParamArg, RangeInfo, as_device

# -- structure


def sink(srcs: Iterable[Uop], kernel_info: KernelInfo | None = None) -> Uop:
    """The root that gathers `srcs`. Void. Shared."""
    return node(Ops.SINK, void, tuple(srcs), kernel_info)


def group(srcs: Iterable[Uop]) -> Uop:
    """Effects gathered without a value; a single one is returned as it is. Void. Shared."""
    gathered = tuple(srcs)
    return gathered[0] if len(gathered) == 1 else node(Ops.GROUP, void, gathered)


def after(*, src: Uop, deps: Iterable[Uop]) -> Uop:
    """`src`, to be used only once `deps` are done; `src` itself without deps. Its dtype. Shared."""
    after_these = tuple(deps)
    return node(Ops.AFTER, src.dtype, (src, *after_these)) if after_these else src


def noop(*, src: Uop | None = None, dtype: Dtype = void) -> Uop:
    """A pass-through marker; without a source and void it says "shape unknown". Tensor."""
    return node(Ops.NOOP, dtype, () if src is None else (src,))


def shape_to_shape_arg(shape: Uop | None) -> Uop:
    """`shape`, or the empty void NOOP that stands for an unknown one."""
    return noop() if shape is None else shape


def linear(srcs: Iterable[Uop]) -> Uop:
    """The nodes of a program in the order they run. Void. Program."""
    return node(Ops.LINEAR, void, tuple(srcs))


# -- parameters and buffers


def param(
    *, slot: int, dtype: Dtype, shape: Uop | None = None, device: Device | str | None = None,
    vmin_vmax: tuple[int, int] | None = None, name: str | None = None,
    addrspace: AddrSpace | None = None, axis: int | None = None,
) -> Uop:  # fmt: skip
    """A parameter: src (shape,). A pointer dtype is memory, ALU a scalar argument. Shared.

    `addrspace` defaults to the pointer's own for a pointer dtype, else to GLOBAL.
    """
    arg = ParamArg(slot, vmin_vmax, name, _space(addrspace, dtype), axis, _device(device))
    return node(Ops.PARAM, dtype, (shape_to_shape_arg(shape),), arg)


def variable(*, name: str, min_val: int, max_val: int, dtype: Val = weakint) -> Uop:
    """A bounded symbolic integer: a PARAM with slot -1 in ALU space. Shared.

    Raises UopError when the bounds are empty.
    """
    if min_val > max_val:
        raise UopError(f"variable {name!r} has no values: {min_val} > {max_val}")
    shape = stack(()) if dtype.count == 1 else const_int(dtype.count)
    bounds = (min_val, max_val)
    space = AddrSpace.ALU
    return param(slot=-1, dtype=dtype, shape=shape, vmin_vmax=bounds, name=name, addrspace=space)


def buffer(
    *, slot: int, dtype: Dtype, shape: Uop | None = None, name: str | None = None,
    addrspace: AddrSpace | None = None, axis: int | None = None,
    device: Device | str | None = None,
) -> Uop:  # fmt: skip
    """Storage of its own: src (shape,). Equal slots name the same storage; negative ones are
    internal to a graph (see `import_`).

    `addrspace` defaults as in `param`. LOCAL and REG are legal everywhere, GLOBAL is Tensor.
    """
    if slot < 0:
        reserve_internal_slot(slot)
    arg = ParamArg(slot, None, name, _space(addrspace, dtype), axis, _device(device))
    return node(Ops.BUFFER, dtype, (shape_to_shape_arg(shape),), arg)


def _space(addrspace: AddrSpace | None, dtype: Dtype) -> AddrSpace:
    if addrspace is not None:
        return addrspace
    return AddrSpace.GLOBAL if isinstance(dtype, Val) else dtype.addrspace


def _device(device: Device | str | None) -> Device | None:
    return None if device is None else as_device(device)


class _Slots:
    """The counters behind `fresh_buffer_slot` and `fresh_internal_slot`."""

    def __init__(self) -> None:
        self.next = 0
        self.internal = -1
        self.lock = threading.Lock()


_slots: Final = _Slots()


def fresh_buffer_slot() -> int:
    """The next buffer slot of this process, counting from 0."""
    with _slots.lock:
        slot = _slots.next
        _slots.next += 1
        return slot


def reserve_buffer_slots(n: int) -> None:
    """Make every later `fresh_buffer_slot` at least `n`. Never lowers the counter."""
    with _slots.lock:
        _slots.next = max(_slots.next, n)


def reserve_internal_slot(slot: int) -> None:
    """Make every later `fresh_internal_slot` less than `slot`. Never raises the counter."""
    with _slots.lock:
        _slots.internal = min(_slots.internal, slot - 1)


def fresh_internal_slot() -> int:
    """The next negative buffer slot of this process: below all that `buffer` was given.

    `import_` gives them to the internal buffers that it brings in.
    """
    with _slots.lock:
        slot = _slots.internal
        _slots.internal -= 1
        return slot


# -- constants


def const(value: Const, srcs: Iterable[Uop] = ()) -> Uop:
    """A constant of its own dtype; `srcs` are dependencies (none in a kernel). Shared."""
    return node(Ops.CONST, value.dtype, tuple(srcs), value)


ConstValue = Number | Invalid | Sequence["ConstValue"]
"""What `const_of_dtype` takes: a number, INVALID, or one of these for each lane."""


def const_of_dtype(
    dtype: Val, value: ConstValue, shape: Uop | Iterable[Uop | int] | None = None
) -> Uop:
    """The constant `value`, made one of `dtype`; a sequence makes a STACK of `dtype`. Shared.

    A number at a vector dtype is that number in every lane. With a `shape` of some rank the
    result is reshaped to as many ones, then expanded to it.
    Raises UopError when a sequence's length is not the dtype's lane count.
    """
    if isinstance(value, (bool, int, float, Invalid)):
        made = const_node(dtype, value)
    else:
        if len(value) != dtype.count:
            raise UopError(f"{len(value)} values for {dtype.count} lanes of {dtype}")
        lane = dtype.scalarize()
        made = node(Ops.STACK, dtype, tuple([const_of_dtype(lane, v) for v in value]))
    if shape is None:
        return made
    target = shape if isinstance(shape, Uop) else shape_arg(shape)
    rank = len(as_shape(target))
    if not rank:
        return made
    ones = node(Ops.RESHAPE, dtype, (made, shape_arg([1] * rank)))
    return node(Ops.EXPAND, dtype, (ones, target))


def invalid(dtype: Val = weakint) -> Uop:
    """The Invalid sentinel as a CONST. Shared."""
    return const_node(dtype, INVALID)


def const_int(n: int) -> Uop:
    """A weakint constant. Shared."""
    return const_node(weakint, n)


def const_float(x: float) -> Uop:
    """A float32 constant. Shared."""
    return const_node(float32, x)


def const_bool(b: bool) -> Uop:
    """A bool constant. Shared."""
    return const_node(bool_, b)


def zero_like(u: Uop) -> Uop:
    """Zero of u's dtype. Raises UopError for a pointer."""
    if not isinstance(u.dtype, Val):
        raise UopError(f"a pointer has no zero ({u.dtype})")
    return const_node(u.dtype, 0)


def const_like(u: Uop, n: int) -> Uop:
    """The integer `n` of u's dtype. Raises UopError unless that is a one-lane integer."""
    if not isinstance(u.dtype, Val) or not u.dtype.is_int or u.dtype.count != 1:
        raise UopError(f"const_like needs a scalar integer, not {u.dtype}")
    return const_node(u.dtype, n)


# -- memory


def is_pointer(u: Uop) -> bool:
    """Whether u names storage: a pointer dtype, or an INDEX (or a CAST of one) into such a node.

    An INDEX without `as_ptr` has the element's dtype, yet it is what LOAD and STORE address.
    """
    while not u.dtype.is_ptr:
        if u.op not in (Ops.INDEX, Ops.CAST, Ops.AFTER, Ops.SHRINK):
            return False
        u = u.src[0]
    return True


def index(*, ptr: Uop, idxs: Iterable[Uop], as_ptr: bool = False) -> Uop:
    """`ptr` at one index an axis: src (ptr, *idxs). Kernel.

    The dtype is what a pointer points to (the pointer itself with `as_ptr`), a STAGE's own, or
    one lane of any other value. A constant index into a STACK gives that source. An index whose
    shape is (n,) names n elements: lanes live in the shape.
    """
    at = tuple(idxs)
    if ptr.op is Ops.STACK and len(at) == 1 and at[0].op is Ops.CONST and not as_ptr:
        i = at[0].arg.value
        if 0 <= i < len(ptr.src):
            lane: Uop = ptr.src[i]
            return lane
    dtype: Dtype = ptr.dtype
    if not as_ptr:
        if not isinstance(dtype, Val):
            dtype = dtype.value
        elif ptr.op is not Ops.STAGE:
            dtype = dtype.scalarize()
    return node(Ops.INDEX, dtype, (ptr, *at))


def load(
    *, src: Uop, dtype: Dtype | None = None, alt: Uop | None = None, gate: Uop | None = None
) -> Uop:
    """The value at `src`: src (src,) or (src, alt, gate). Kernel.

    Where the bool `gate` is false the value is `alt` and memory is not touched. The dtype is
    `dtype` when given, else the element's. Raises UopError when `src` names no storage (see
    `is_pointer`), or when only one of `alt` and `gate` is given.
    """
    if not is_pointer(src):
        raise UopError(f"load from what is no pointer: {src!r}")
    if (alt is None) != (gate is None):
        raise UopError("alt and gate come together")
    if dtype is None:
        dtype = src.dtype if isinstance(src.dtype, Val) else src.dtype.value
    return node(Ops.LOAD, dtype, (src,) if alt is None or gate is None else (src, alt, gate))


def store(*, dst: Uop, value: Uop, gate: Uop | None = None) -> Uop:
    """Write `value` at `dst` where `gate` holds: src (dst, value[, gate]). Void. Shared."""
    return node(Ops.STORE, void, (dst, value) if gate is None else (dst, value, gate))


# -- arithmetic


def alu_unary(*, op: Op, src: Uop) -> Uop:
    """A unary ALU node of src's dtype. Raises UopError unless `op` is unary. Shared."""
    if not op.is_unary:
        raise UopError(f"{op.name} is not unary")
    return node(op, src.dtype, (src,))


def alu_binary(*, op: Op, lhs: Uop, rhs: Uop) -> Uop:
    """A binary ALU node of lhs's dtype; a comparison is bool with lhs's lanes. Shared.

    Raises UopError unless `op` is binary, and for a comparison of pointers.
    """
    if not op.is_binary:
        raise UopError(f"{op.name} is not binary")
    dtype: Dtype = lhs.dtype
    if op.is_comparison:
        if not isinstance(dtype, Val):
            raise UopError(f"pointers are not compared ({dtype})")
        dtype = bool_ if dtype.count == 1 else bool_.vec(dtype.count)
    return node(op, dtype, (lhs, rhs))


def alu_ternary(*, op: Op, a: Uop, b: Uop, c: Uop) -> Uop:
    """A ternary ALU node: WHERE has b's dtype, else a's. Raises UopError otherwise. Shared."""
    if not op.is_ternary:
        raise UopError(f"{op.name} is not ternary")
    return node(op, b.dtype if op is Ops.WHERE else a.dtype, (a, b, c))


def cast(*, src: Uop, dtype: Dtype) -> Uop:
    """`src` converted to `dtype`, which takes src's lane count when it has one lane. Shared."""
    lanes = src.dtype.count
    if isinstance(dtype, Val) and dtype.count == 1 and isinstance(src.dtype, Val) and lanes != 1:
        dtype = dtype.vec(lanes)
    return src.cast(dtype)


def bitcast(*, src: Uop, dtype: Dtype) -> Uop:
    """src's bits read as `dtype`; `src` when it has that dtype already. Shared."""
    return src.bitcast(dtype)


def stack(srcs: Iterable[Uop], dtype: Val | None = None) -> Uop:
    """The lanes `srcs` as one value: the lane dtype, a leading dimension more. Shared.

    An empty stack is void: the shape of a scalar.
    """
    lanes = tuple(srcs)
    if not lanes:
        return node(Ops.STACK, void, ())
    return node(Ops.STACK, lanes[0].dtype if dtype is None else dtype.scalarize(), lanes)


def broadcast(u: Uop, n: int) -> Uop:
    """`u` in n lanes: a STACK of it, or `u` when n <= 1. Shared."""
    return u if n <= 1 else stack((u,) * n)


# -- control flow


def range_(
    *, size: Uop | int, axis: int, kind: AxisType, sub: Iterable[int] = (), dtype: Val = weakint,
    parents: Iterable[Uop] = (),
) -> Uop:  # fmt: skip
    """A loop variable over 0 .. size-1: src (size, *parents). Shared.

    `parents` are the outer ranges that this loop must run under. A number for `size` becomes a
    constant of `dtype`.
    """
    bound = size if isinstance(size, Uop) else const_node(dtype, size)
    return node(Ops.RANGE, dtype, (bound, *parents), RangeInfo(axis, tuple(sub), kind))


def end_(*, value: Uop, ranges: Iterable[Uop]) -> Uop:
    """Close `ranges` around `value`: src (value, *ranges); `value` without ranges. Kernel."""
    closed = tuple(ranges)
    return node(Ops.END, value.dtype, (value, *closed)) if closed else value


def break_(*, done: Uop, loop: Uop, deps: Iterable[Uop] = ()) -> Uop:
    """Leave `loop` once `done` holds in every lane: src (done, loop, *deps). Void. Kernel.

    The RANGE is a source, so that a `done` that does not vary in the loop stays inside it; `deps`
    are the effects of the iteration that happen before the break. Raises UopError unless `done`
    is bool and `loop` a RANGE.
    """
    if not done.dtype.is_bool:
        raise UopError(f"a break needs a bool, not {done.dtype}")
    if loop.op is not Ops.RANGE:
        raise UopError(f"a break leaves a RANGE, not {loop.op.name}")
    return node(Ops.BREAK, void, (done, loop, *deps))


def if_(*, cond: Uop, idx_for_dedup: Uop) -> Uop:
    """Open a region that runs where `cond` holds: src (cond, idx_for_dedup). Void. Program."""
    return node(Ops.IF, void, (cond, idx_for_dedup))


def endif(*, if_: Uop) -> Uop:
    """Close an `if_` region. Void. Program."""
    return node(Ops.ENDIF, void, (if_,))


def barrier(srcs: Iterable[Uop] = ()) -> Uop:
    """A workgroup barrier after `srcs`. Void. Kernel."""
    return node(Ops.BARRIER, void, tuple(srcs))


def special(*, name: str, size: Uop, dtype: Val = weakint) -> Uop:
    """The hardware index `name` over 0 .. size-1, `size` cast to `dtype`: src (size,). Kernel."""
    return node(Ops.SPECIAL, dtype, (cast(src=size, dtype=dtype),), name)


# -- escapes


def custom(*, fmt: str, args: Iterable[Uop]) -> Uop:
    """A backend's own statement: the template `fmt` over `args`. Void. Kernel."""
    return node(Ops.CUSTOM, void, tuple(args), fmt)


def custom_inline(*, fmt: str, args: Iterable[Uop], dtype: Val) -> Uop:
    """A backend's own expression of `dtype`: the template `fmt` over `args`. Kernel."""
    return node(Ops.CUSTOMI, dtype, tuple(args), fmt)


# -- rebuilding


class _Keep:
    """The type of `KEEP`."""

    def __repr__(self) -> str:
        return "KEEP"


KEEP: Final = _Keep()
"""Says "as it was" to `replace`, where None says "none"."""


def replace(
    u: Uop, *, op: Op | None = None, src: Iterable[Uop] | None = None, arg: Any = KEEP,
    dtype: Dtype | None = None, node_tag: str | _Keep | None = KEEP,
) -> Uop:  # fmt: skip
    """`u` with some fields replaced; `u` itself when nothing differs.

    Skips the checks of the constructors: the caller keeps the op's contract. None for `arg` or
    `node_tag` clears it. Raises UopError for a bare float, which no payload is.
    """
    src = u.src if src is None else tuple(src)
    if arg is KEEP and node_tag is KEEP and op is None and dtype is None:  # the usual call
        return u if src == u.src else node(u.op, u.dtype, src, u.arg, u.node_tag)
    return node(
        u.op if op is None else op,
        u.dtype if dtype is None else dtype,
        src,
        u.arg if isinstance(arg, _Keep) else _exact(u.op if op is None else op, arg),
        u.node_tag if isinstance(node_tag, _Keep) else node_tag,
    )


def _exact(op: Op, arg: Any) -> Any:
    """`arg` with numbers of the one type that op's payload has: 1, 1.0 and True are one key."""
    if isinstance(arg, bool):
        return int(arg)
    if isinstance(arg, tuple) and all(isinstance(v, int) for v in arg):
        return tuple([bool(v) for v in arg]) if op is Ops.FLIP else tuple([int(v) for v in arg])
    parts = arg if isinstance(arg, tuple) else (arg,)
    if any(isinstance(v, float) for v in parts):
        raise UopError(f"no node carries {arg!r}")
    return arg


def with_tag(text: str, u: Uop) -> Uop:
    """`u` with the diagnostic tag `text`."""
    return replace(u, node_tag=text)
