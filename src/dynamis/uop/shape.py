"""Shapes, by one rule an op.

Lanes live in the shape: a node of shape () is uniform, one of shape (n,) holds n lanes. Inside
the package a dimension that is fixed is a Python integer (`Dims`); `Uop.shape` gives nodes only,
`Uop.max_shape` integers only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from dynamis.dtype import Val, weakint
from dynamis.uop.errors import UopError
from dynamis.uop.marg import MargBounds, MargFlip, MargPermute, MargShape, as_shape, marg_or_none
from dynamis.uop.node import Uop, const_node
from dynamis.uop.ops import Group, Op, Ops
from dynamis.uop.payload import Device, MultiDevice, ReduceArg, WmmaInfo
from dynamis.uop.place import devices_of

Dim = int | Uop
Dims = tuple[Dim, ...]


class BadShape:
    """Stands in a node's shape memo for "its sources do not fit its op": says why."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


def shape(u: Uop) -> tuple[Uop, ...]:
    """The shape of `u`, a symbolic integer for each dimension.

    Raises UopError when the node has none (IF, BARRIER, SINK, LINEAR, CUSTOM, ...) and when the
    sources of a movement op under it do not fit.
    """
    return tuple([d if isinstance(d, Uop) else const_node(weakint, d) for d in dims(u)])


def max_shape(u: Uop) -> tuple[int, ...]:
    """`shape` with each symbolic dimension replaced by its upper bound."""
    found = dims(u)
    for d in found:
        if d.__class__ is not int:
            return tuple([d if isinstance(d, int) else d.vmax for d in found])
    return found  # type: ignore[return-value]  # all are integers


def dims(u: Uop) -> Dims:
    """`shape` with integers for the dimensions that are fixed."""
    found = _found(u)
    if isinstance(found, BadShape):
        raise UopError(f"{u!r}: {found.reason}")
    if found is False:
        raise UopError(f"{u!r} has no shape")
    return found  # type: ignore[no-any-return]  # the memo holds dims, False, or BadShape


def dims_or_none(u: Uop) -> Dims | None:
    """`dims`, or None where there is no shape."""
    found = _found(u)
    return None if found is False or isinstance(found, BadShape) else found


def shape_error(u: Uop) -> str | None:
    """Why the shape of `u` could not be inferred, or None where nothing is wrong."""
    found = _found(u)
    return found.reason if isinstance(found, BadShape) else None


def _found(u: Uop) -> Any:
    if u._shape is None:
        devices: dict[Uop, Device | None] = {}
        stack = [u]
        while stack:
            n = stack[-1]
            if n._shape is not None:
                stack.pop()
                continue
            rule = _RULES.get(n.op)
            needs = () if rule is None else _needs(n)
            missing = [s for s in needs if s._shape is None]
            if missing:
                stack += missing
                continue
            stack.pop()
            made: Any = None
            if n.op is Ops.MULTI:
                made = _multi(n, devices)
            elif rule is not None:
                made = rule(n)
            n._shape = False if made is None else _checked(made)
    return u._shape


def _checked(made: Any) -> Any:
    """What a rule made, unless a dimension in it is no integer."""
    if made.__class__ is tuple:
        for d in made:
            if d.__class__ is not int and not (isinstance(d, Uop) and d.dtype.is_int):
                return BadShape(f"a dimension is no integer: {d!r}")
    return made


def _needs(n: Uop) -> Sequence[Uop]:
    """The nodes whose shapes the shape of `n` is made from."""
    if n.op is Ops.GETTUPLE:
        element = projected(n)
        return () if element is None else (element,)
    return n.src


def projected(u: Uop) -> Uop | None:
    """The element that a GETTUPLE takes out of a TUPLE or out of a FUNCTION's body."""
    if not u.src or not isinstance(u.arg, int):
        return None
    source = u.src[0]
    if source.op is Ops.FUNCTION and source.src:
        source = source.src[0]
    if source.op is not Ops.TUPLE or not 0 <= u.arg < len(source.src):
        return None
    return source.src[u.arg]


def broadcast_dims(shapes: Sequence[Dims]) -> Dims:
    """The shape that `shapes` stretch to, aligned from the last axis.

    This is inference: it never raises, and keeps the first dimension that is not 1.
    """
    first = shapes[0]
    if all(s == first for s in shapes):
        return first
    out: list[Dim] = []
    for i in range(1, max(map(len, shapes)) + 1):
        column = [s[-i] for s in shapes if len(s) >= i]
        out.append(next((d for d in column if isinstance(d, Uop) or d != 1), column[0]))
    return tuple(reversed(out))


def dim(u: Uop) -> Dim:
    """A shape argument's dimension: an integer where it is fixed."""
    value = u.arg.value if u.op is Ops.CONST and u.dtype.is_int else None
    return value if isinstance(value, int) else u


def least(d: Dim) -> int | float:
    """The least value of a dimension."""
    return d if isinstance(d, int) else d.vmin


def greatest(d: Dim) -> int | float:
    """The greatest value of a dimension."""
    return d if isinstance(d, int) else d.vmax


def times(d: Dim, n: int) -> Dim:
    """A dimension n times as long."""
    return d * n


def product(ds: Sequence[Dim]) -> int | None:
    """The number of elements of `ds`, or None where that is symbolic."""
    fixed = [d for d in ds if isinstance(d, int)]
    return math.prod(fixed) if len(fixed) == len(ds) else None


# -- the rules: each is asked once its sources are known


def _scalar(u: Uop) -> Dims:
    return ()


def _nth(u: Uop, k: int) -> Any:
    if len(u.src) <= k:
        return None
    found = u.src[k]._shape
    return None if found is False else found


def _first(u: Uop) -> Any:
    return _nth(u, 0)


def _broadcast(u: Uop) -> Any:
    shapes: list[Dims] = []
    for s in u.src:
        found = s._shape
        if found.__class__ is tuple:
            shapes.append(found)
        elif found is not False:
            return found
    return broadcast_dims(shapes) if shapes else None


def _const(u: Uop) -> Dims:
    return () if u.dtype.count == 1 else (u.dtype.count,)


def _stack(u: Uop) -> Any:
    if not u.src:
        return ()
    inner = _first(u)
    if inner.__class__ is not tuple or u.dtype.is_ptr:
        return inner
    return (len(u.src), *inner)


def _storage(u: Uop) -> Dims:
    child = u.src[0] if u.src else None
    if child is not None and child.op is not Ops.NOOP:
        return tuple([dim(d) for d in as_shape(child)])
    if isinstance(u.dtype, Val):
        return () if u.dtype.count == 1 else (u.dtype.count,)
    return (u.dtype.size,) if u.dtype.image_shape is None else u.dtype.image_shape


def _index(u: Uop) -> Any:
    base = _first(u)
    if base.__class__ is not tuple:
        return base
    out: list[Dim] = []
    for i in u.src[1:]:
        found = i._shape
        if found.__class__ is not tuple:
            return None if found is False else found
        out += found
    return (*out, *base[len(u.src) - 1 :])


def _bitcast(u: Uop) -> Any:
    found = _first(u)
    if found.__class__ is not tuple or not found or u.dtype.is_ptr or u.src[0].dtype.is_ptr:
        return found
    before, after = u.src[0].dtype.lane.itemsize, u.dtype.lane.itemsize
    if before == after or not after:
        return found
    return (*found[:-1], times(found[-1], before) // after)


def _slice(u: Uop) -> Any:
    if u.src and u.src[0].op is Ops.INDEX:
        return ()
    return (u.arg,) if isinstance(u.arg, int) else None


def _stage(u: Uop) -> Any:
    inner = _first(u)
    if inner.__class__ is not tuple:
        return inner
    out: list[Dim] = []
    for r in u.src[1:]:
        out.append(dim(r.src[0]) if r.op is Ops.RANGE and r.src else r.vmax + 1)
    return (*out, *inner)


def _wmma(u: Uop) -> Any:
    shapes = [s._shape for s in u.src]
    for s in shapes:
        if s.__class__ is not tuple:
            return None if s is False else s
    if not isinstance(u.arg, WmmaInfo) or not shapes:
        return None
    lanes = math.prod([n for _, n in u.arg.upcast_axes[2]])
    return (*broadcast_dims([s[:-1] for s in shapes]), lanes)


def _reduce(u: Uop) -> Any:
    inner = _first(u)
    if inner.__class__ is not tuple or not isinstance(u.arg, ReduceArg):
        return inner
    if any(not 0 <= a < len(inner) for a in u.arg.axes):
        return BadShape(f"axes {u.arg.axes} of a value of rank {len(inner)}")
    return tuple([d for i, d in enumerate(inner) if i not in u.arg.axes])


def _multi(u: Uop, devices: dict[Uop, Device | None]) -> Any:
    inner = _first(u)
    if inner.__class__ is not tuple or not isinstance(u.arg, int):
        return inner
    if not 0 <= u.arg < len(inner):
        return BadShape(f"axis {u.arg} of a value of rank {len(inner)}")
    device = devices_of(u.src[0], devices)
    n = len(device.names) if isinstance(device, MultiDevice) else 1
    return (*inner[: u.arg], times(inner[u.arg], n), *inner[u.arg + 1 :])


def _gettuple(u: Uop) -> Any:
    element = projected(u)
    if element is None:
        return None
    inner = element._shape
    if inner.__class__ is not tuple:
        return None if inner is False else inner
    call = u.src[0]
    if call.op is Ops.FUNCTION and any(isinstance(d, Uop) for d in inner):
        return _with_arguments(inner, call.src[1:])
    return inner


def _with_arguments(inner: Dims, args: tuple[Uop, ...]) -> Dims:
    """Dimensions inside a call's body as the caller sees them: PARAMs replaced by arguments."""
    from dynamis.uop.rewrite import substitute  # it rebuilds nodes, which have shapes
    from dynamis.uop.traverse import toposort

    out: list[Dim] = []
    for d in inner:
        if isinstance(d, Uop):
            params = [p for p in toposort(d) if p.op is Ops.PARAM and 0 <= p.arg.slot < len(args)]
            d = dim(substitute([(p, args[p.arg.slot]) for p in params], d, walk=True))
        out.append(d)
    return tuple(out)


# -- movement: the target must fit the source


def _movement(u: Uop) -> Any:
    inner = _first(u)
    if inner.__class__ is not tuple:
        over_noop = inner is None and u.op is Ops.RESHAPE and bool(u.src)
        if not (over_noop and u.src[0].op is Ops.NOOP):
            return inner
        inner = None
    argument = marg_or_none(u)
    if argument is None:
        return BadShape(f"{u.op.name} without its movement argument")
    if isinstance(argument, MargShape):
        target = tuple([dim(d) for d in argument.dims])
        return _reshape(inner, target) if u.op is Ops.RESHAPE else _expand(inner, target)
    if isinstance(argument, MargPermute):
        if sorted(argument.order) != list(range(len(inner))):
            return BadShape(f"{argument.order} is no order of {len(inner)} axes")
        return tuple([inner[i] for i in argument.order])
    if isinstance(argument, MargFlip):
        if len(argument.dims) != len(inner):
            return BadShape(f"{len(argument.dims)} flags for {len(inner)} axes")
        return inner
    return _resize(u, inner, argument)


def _reshape(inner: Dims | None, target: Dims) -> Any:
    if any(least(d) < 0 for d in target):
        return BadShape("a dimension is negative")
    if inner is None:
        return target
    a, b = product(inner), product(target)
    if a is not None and b is not None and a != b:
        return BadShape(f"{a} elements do not fill {b}")
    return target


def _expand(inner: Dims, target: Dims) -> Any:
    if len(inner) != len(target):
        return BadShape(f"rank {len(inner)} does not expand to rank {len(target)}")
    for a, b in zip(inner, target, strict=True):
        if a != b and a != 1:
            return BadShape(f"a dimension of {_text(a)} does not expand to {_text(b)}")
    return target


def _resize(u: Uop, inner: Dims, argument: MargBounds) -> Any:
    if len(argument.bounds) != len(inner):
        return BadShape(f"{len(argument.bounds)} bounds for {len(inner)} axes")
    out: list[Dim] = []
    for a, (o, s) in zip(inner, argument.bounds, strict=True):
        offset, size = dim(o), dim(s)
        out.append(size)
        if u.dtype.is_ptr:
            continue  # a slice of a pointer: memory bounds are checked where it is accessed
        if least(offset) < 0 or least(size) < 0:
            return BadShape("an offset or size may be negative")
        part, whole = (a, size) if u.op is Ops.PAD else (size, a)
        if not _fits(offset, part, whole):
            return BadShape(f"{_text(part)} at {_text(offset)} may leave {_text(whole)}")
    return tuple(out)


def _fits(offset: Dim, part: Dim, whole: Dim) -> bool:
    """Whether offset + part <= whole, by identity or by bounds."""
    if offset == 0 and part is whole:
        return True
    return greatest(offset) + greatest(part) <= least(whole)


def _text(d: Dim) -> str:
    return str(d) if isinstance(d, int) else repr(d)


_RULES: Final[dict[Op, Callable[[Uop], Any]]] = {
    **dict.fromkeys((Ops.GETADDR, Ops.BIND, Ops.RANGE, Ops.SPECIAL, Ops.BINARY), _scalar),
    **dict.fromkeys(Group.unary, _first),
    **dict.fromkeys(
        (
            Ops.CAST, Ops.AFTER, Ops.END, Ops.BREAK, Ops.MSTACK, Ops.MSELECT, Ops.DETACH,
            Ops.CONTIGUOUS, Ops.CONTIGUOUS_BACKWARD, Ops.COPY, Ops.ALLREDUCE, Ops.NOOP,
        ),
        _first,
    ),
    Ops.BITCAST: _bitcast,
    **dict.fromkeys((*Group.binary, *Group.ternary, Ops.GROUP), _broadcast),
    # a gated access varies over lanes when only its gate or value does
    **dict.fromkeys((Ops.LOAD, Ops.STORE), _broadcast),
    Ops.CONST: _const,
    Ops.STACK: _stack,
    Ops.PARAM: _storage,
    Ops.BUFFER: _storage,
    Ops.INDEX: _index,
    Ops.SLICE: _slice,
    Ops.STAGE: _stage,
    Ops.WMMA: _wmma,
    Ops.SHAPED_WMMA: lambda u: _nth(u, 2),
    Ops.REDUCE: _reduce,
    Ops.MULTI: _first,  # `_multi`, which needs devices
    Ops.GETTUPLE: _gettuple,
    **dict.fromkeys(Group.movement, _movement),
}  # fmt: skip
