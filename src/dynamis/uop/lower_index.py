"""Index arithmetic without a width → machine integers.

Goes in: a graph with weakint nodes. Comes out: the same with int32 in their place, or int64 where
bounds leave int32. A node's width is that of its own value; the operands of an operation are
brought to the widest of them and of the result, so nothing wraps on the way.
"""

from __future__ import annotations

from typing import Final

from dynamis.dtype import Val, int32, int64, weakint
from dynamis.uop.bounds import bounds
from dynamis.uop.errors import UopError
from dynamis.uop.node import Uop, const_node, node
from dynamis.uop.ops import Ops
from dynamis.uop.traverse import toposort

_SHIFTS: Final = (Ops.SHL, Ops.SHR)
_SAME: Final = (Ops.STACK, Ops.WHERE, Ops.BIND)


def lower_index_dtype(root: Uop) -> Uop:
    """`root` with every weakint node in int32 or int64.

    Values, and what indexes with them, are unchanged. Raises UopError where a value may leave
    int64, or a shift by a weakint may reach past its 800 bits.
    """
    new: dict[Uop, Uop] = {}
    for u in toposort(root):
        src = tuple([new[s] for s in u.src])
        if u.dtype is not weakint and all(s.dtype is not weakint for s in u.src):
            new[u] = u if src == u.src else node(u.op, u.dtype, src, u.arg, u.node_tag)
        else:
            new[u] = _lowered(u, src)
    return new[root]


def index_width(u: Uop) -> Val:
    """int32 where u's bounds allow it, else int64. Raises UopError where they leave that too."""
    low, high = bounds(u)
    for dtype in (int32, int64):
        if low > high or (dtype.min <= low and high <= dtype.max):
            return dtype
    raise UopError(f"no machine integer holds {low} .. {high}, the bounds of {u!r}")


def _lowered(u: Uop, src: tuple[Uop, ...]) -> Uop:
    op = u.op
    if op is Ops.CONST:
        width = index_width(u)
        value = u.arg.value
        return node(op, width, src, const_node(width, value).arg, u.node_tag)
    if op is Ops.CAST:
        return src[0].cast(u.dtype if u.dtype is not weakint else index_width(u))
    if op is Ops.RANGE or op is Ops.SPECIAL:
        if u.dtype is not weakint:
            return node(op, u.dtype, (src[0].cast(u.dtype), *src[1:]), u.arg, u.node_tag)
        width = _widest(index_width(u), src[0].dtype)
        return node(op, width, (src[0].cast(width), *src[1:]), u.arg, u.node_tag)
    if op in _SHIFTS and u.dtype is weakint:
        return _shift(u, src)
    arms = slice(1 if op is Ops.WHERE else 0, len(src))
    if op.is_alu or op in _SAME:
        width = index_width(u) if u.dtype is weakint else int32
        for s in src[arms]:
            width = _widest(width, s.dtype)
        cast = tuple([s.cast(width) for s in src[arms]])
        dtype = width if u.dtype is weakint else u.dtype
        return node(op, dtype, (*src[: arms.start], *cast), u.arg, u.node_tag)
    dtype = u.dtype
    if dtype is weakint:  # PARAM, AFTER and others that carry one value
        dtype = src[0].dtype if op in (Ops.AFTER, Ops.END, Ops.NOOP) and src else index_width(u)
    return node(op, dtype, src, u.arg, u.node_tag)


def _widest(a: Val, b: object) -> Val:
    return b if isinstance(b, Val) and b.is_int and b.bits > a.bits and b is not weakint else a


def _shift(u: Uop, src: tuple[Uop, ...]) -> Uop:
    count = u.src[1]
    if count.vmin < 0 or count.vmax >= weakint.bits:
        raise UopError(f"a shift by {count.vmin} .. {count.vmax} is no index arithmetic")
    width = _widest(index_width(u), src[0].dtype)
    by = src[1].cast(width)
    if count.vmax >= width.bits:
        # past the width only a zero is shifted left, and only the sign is left on the right
        last = const_node(width, width.bits - 1)
        by = (by < last).where(by, last)
    return node(u.op, width, (src[0].cast(width), by), u.arg, u.node_tag)
