"""Range splitting: a kernel's domain ranges → block, unit, step and lane.

The domain is rows × columns (rows alone have one row). A row is cut into ``segments`` of nearly
equal length; a *unit* is one segment of one row, and a block is ``unit_block`` consecutive units,
so blocks hold consecutive elements. The block number is the THREAD axis. A unit's columns go in
steps of ``width`` lanes; its last step is shifted back to end with the unit, so no lane is masked:
the overlap computes the same words twice. Hence every segment must hold at least ``width`` columns.
"""

from __future__ import annotations

from ..dtype import AddrSpace, int32, int64
from ..uop import (
    AxisType,
    Ops,
    Uop,
    UopError,
    alu_binary,
    cast,
    const_of_dtype,
    param,
    range_,
    replace,
    stack,
    substitute,
    toposort,
)
from ..uop.abi import CORE_ID

_AXIS = 1 << 20
"""Axis ids of the ranges made here start above those that lowering draws."""


def runtime_scalar(name: str, low: int, high: int) -> Uop:
    """A 64-bit scalar the runtime passes."""
    return param(
        slot=-1,
        dtype=int64,
        shape=stack(()),
        name=name,
        vmin_vmax=(low, high),
        addrspace=AddrSpace.ALU,
    )


def domain_ranges(root: Uop) -> list[Uop]:
    """The GLOBAL ranges of a kernel AST: [column] or [row, column]."""
    found = [u for u in toposort(root) if u.op is Ops.RANGE and u.arg.kind is AxisType.GLOBAL]
    return sorted(found, key=lambda u: u.arg.axis)


def split_domain(root: Uop, width: int) -> tuple[Uop, Uop | None]:
    """The AST over block, unit and step ranges, and its lane range (None for one lane)."""
    domain = domain_ranges(root)
    if not 1 <= len(domain) <= 2:
        raise UopError(f"a kernel AST has one or two domain ranges, not {len(domain)}")
    column = domain[-1]
    columns = cast(src=column.src[0], dtype=int64)
    limit = 2**62
    block = range_(
        size=runtime_scalar("blocks", 1, limit), axis=_AXIS, kind=AxisType.THREAD, dtype=int64
    )
    segments = runtime_scalar("segments", 1, 2**31)
    per_block = runtime_scalar("unit_block", 1, limit)
    first = block * per_block
    left = runtime_scalar("units", 1, limit) - first
    count = (left < per_block).where(left, per_block)
    unit = range_(size=count, axis=_AXIS + 1, kind=AxisType.LOOP, dtype=int64, parents=[block])
    row = _quotient(first + unit, segments)
    segment = first + unit - row * segments
    begin = cast(src=_quotient(segment * columns, segments), dtype=int32)
    stop = cast(src=_quotient((segment + 1) * columns, segments), dtype=int32)
    length = stop - begin
    steps = _quotient(length + (width - 1), const_of_dtype(int32, width))
    step = range_(size=steps, axis=_AXIS + 2, kind=AxisType.LOOP, dtype=int32, parents=[unit])
    inside, lane = step, None
    if width > 1:
        start, last = step * width, length - width
        inside = (last < start).where(last, start)
        lane = range_(size=width, axis=_AXIS + 3, kind=AxisType.UPCAST, dtype=int32)
    place = begin + inside
    mapping = [(column, place if lane is None else place + lane)]
    if len(domain) == 2:
        mapping.append((domain[0], cast(src=row, dtype=int32)))
    opened = [block, unit, step] if lane is None else [block, unit, step, lane]
    return _reclose(root, domain, opened, mapping), lane


def _quotient(a: Uop, b: Uop) -> Uop:
    return alu_binary(op=Ops.CDIV, lhs=a, rhs=b)


def _reclose(
    root: Uop, domain: list[Uop], opened: list[Uop], mapping: list[tuple[Uop, Uop]]
) -> Uop:
    """``root`` with the domain's values replaced, its END closing ``opened`` instead."""
    ends = [u for u in toposort(root) if u.op is Ops.END and set(u.src[1:]) == set(domain)]
    if len(ends) != 1:
        raise UopError("a kernel AST closes its domain ranges in one END")
    (closing,) = ends
    body = substitute(mapping, closing.src[0])
    return substitute([(closing, replace(closing, src=(body, *opened)))], root)


def bind_threads(root: Uop) -> Uop:
    """``root`` as one block: the THREAD range becomes the runtime variable ``core_id``."""
    new: dict[Uop, Uop] = {}
    for u in toposort(root):
        src = tuple(new[s] for s in u.src)
        if u.op is Ops.RANGE and u.arg.kind is AxisType.THREAD:
            new[u] = runtime_scalar(CORE_ID, 0, 2**62)
        elif u.op is Ops.END:
            new[u] = replace(u, src=(src[0], *(s for s in src[1:] if s.op is Ops.RANGE)))
        else:
            new[u] = replace(u, src=src)
    return new[root]
