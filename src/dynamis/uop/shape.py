"""Shapes, address spaces and the buffer behind a node.

Lanes live in the shape: a node of shape () is uniform, one of shape (n,) holds n lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from dynamis.dtype import AddrSpace, Val
from dynamis.uop.errors import UopError
from dynamis.uop.node import Uop
from dynamis.uop.ops import Group, Op, Ops
from dynamis.uop.payload import ParamArg
from dynamis.uop.traverse import toposort

Dim = int | Uop
Shape = tuple[Dim, ...]


def shape(u: Uop) -> Shape:
    """The shape of `u`: an int, or an integer node, for each dimension. Memoised.

    Raises UopError when the node has none (IF, BARRIER, SINK, LINEAR, CUSTOM, ...).
    """
    found = shape_or_none(u)
    if found is None:
        raise UopError(f"{u!r} has no shape")
    return found


def shape_or_none(u: Uop) -> Shape | None:
    """The shape of `u`, or None where it has none."""
    if u._shape is None:
        stack = [u]
        while stack:
            n = stack[-1]
            if n._shape is not None:
                stack.pop()
                continue
            rule = _RULES.get(n.op)
            missing = [s for s in n.src if s._shape is None] if rule is not None else ()
            if missing:
                stack += missing
                continue
            stack.pop()
            made = rule(n) if rule is not None else None
            n._shape = False if made is None else made
    found: Shape | bool = u._shape
    return None if isinstance(found, bool) else found


def max_shape(u: Uop) -> tuple[int, ...]:
    """`shape` with each symbolic dimension replaced by its upper bound."""
    return tuple([d if isinstance(d, int) else d.vmax for d in shape(u)])


def as_shape(u: Uop) -> Shape:
    """`u` read as a shape argument: a STACK is its sources, anything else one dimension."""
    return tuple([_dim(s) for s in (u.src if u.op is Ops.STACK else (u,))])


def _dim(u: Uop) -> Dim:
    return u.arg.value if u.op is Ops.CONST and u.dtype.is_int else u


def broadcast_dims(shapes: list[Shape]) -> Shape:
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


def _scalar(u: Uop) -> Shape:
    return ()


def _first(u: Uop) -> Shape | None:
    if not u.src:
        return None
    found: Shape | bool = u.src[0]._shape
    return None if isinstance(found, bool) else found


def _broadcast(u: Uop) -> Shape | None:
    shapes: list[Shape] = [s._shape for s in u.src if s._shape is not False]
    return broadcast_dims(shapes) if shapes else None


def _const(u: Uop) -> Shape:
    return () if u.dtype.count == 1 else (u.dtype.count,)


def _stack(u: Uop) -> Shape | None:
    if not u.src:
        return ()
    if u.dtype.is_ptr:
        return _first(u)
    inner = _first(u)
    return None if inner is None else (len(u.src), *inner)


def _storage(u: Uop) -> Shape:
    child = u.src[0] if u.src else None
    if child is not None and child.op is not Ops.NOOP:
        return as_shape(child)
    if isinstance(u.dtype, Val):
        return () if u.dtype.count == 1 else (u.dtype.count,)
    return (u.dtype.size,)


def _index(u: Uop) -> Shape | None:
    base = _first(u)
    if base is None:
        return None
    dims: list[Dim] = []
    for i in u.src[1:]:
        if i._shape is False:
            return None
        dims += i._shape
    return (*dims, *base[len(u.src) - 1 :])


def _bitcast(u: Uop) -> Shape | None:
    dims = _first(u)
    if not dims or not isinstance(dims[-1], int) or not u.dtype.itemsize:
        return dims
    return (*dims[:-1], dims[-1] * u.src[0].dtype.itemsize // u.dtype.itemsize)


_RULES: Final[dict[Op, Callable[[Uop], Shape | None]]] = {
    **dict.fromkeys((Ops.GETADDR, Ops.BIND, Ops.RANGE, Ops.SPECIAL), _scalar),
    **dict.fromkeys(Group.unary, _first),
    **dict.fromkeys((Ops.CAST, Ops.AFTER, Ops.END, Ops.BREAK), _first),
    Ops.BITCAST: _bitcast,
    **dict.fromkeys((*Group.binary, *Group.ternary, Ops.GROUP), _broadcast),
    # a gated access varies over lanes when only its gate or value does
    **dict.fromkeys((Ops.LOAD, Ops.STORE), _broadcast),
    Ops.CONST: _const,
    Ops.STACK: _stack,
    Ops.PARAM: _storage,
    Ops.BUFFER: _storage,
    Ops.INDEX: _index,
    Ops.NOOP: _first,
}


_FOLLOWS_FIRST: Final = (
    Ops.INDEX, Ops.CAST, Ops.AFTER, Ops.REDUCE, Ops.STORE, Ops.MSTACK, Ops.MSELECT,
    *Group.movement,
)  # fmt: skip
_AGREES: Final = frozenset((Ops.STACK, Ops.WMMA, *Group.elementwise)) - frozenset(_FOLLOWS_FIRST)


def addrspace(u: Uop) -> AddrSpace | None:
    """The address space of `u`.

    PARAM and BUFFER say theirs; SPECIAL, RANGE and LOAD are in ALU; index-like nodes have their
    first source's; elementwise nodes and stacks the one their sources agree on, else None. A
    constant has none, and so never disagrees.
    """
    memo: dict[Uop, AddrSpace | None] = {}
    follows = frozenset(_FOLLOWS_FIRST)
    enters = follows | _AGREES
    for n in toposort(u, gate=lambda n: n.op in enters):
        space: AddrSpace | None = None
        if isinstance(n.arg, ParamArg):
            space = n.arg.addrspace
        elif n.op in (Ops.SPECIAL, Ops.RANGE, Ops.LOAD):
            space = AddrSpace.ALU
        elif n.op in follows:
            space = memo[n.src[0]]
        elif n.op in _AGREES:
            spaces = {memo[s] for s in n.src} - {None}
            space = spaces.pop() if len(spaces) == 1 else None
        memo[n] = space
    return memo[u]


def base(u: Uop) -> Uop:
    """`u` without the movement ops and DETACHes on top of it."""
    while u.op.is_movement or u.op is Ops.DETACH:
        u = u.src[0]
    return u


def buf_uop(u: Uop) -> Uop:
    """The PARAM or BUFFER behind `u`, through AFTER, INDEX, CAST and first sources.

    The walk stops at STAGE, MSTACK or a node without sources.
    """
    while u.src and u.op not in (Ops.BUFFER, Ops.PARAM, Ops.STAGE, Ops.MSTACK):
        u = base(u.src[0])
    return u
