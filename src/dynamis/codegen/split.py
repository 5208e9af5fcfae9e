"""Range splitting: a kernel's domain ranges → block, unit, step and lane.

The domain is planes × rows × columns, or rows × columns, or one row. A row is cut into ``segments``
of ``segment_columns``, the last of which takes what is left; a *unit* is one segment of one row,
rows counted through all planes, and a block is ``unit_block`` consecutive units, so blocks hold
consecutive elements. The block number is the THREAD axis. A unit's columns go in steps of ``width``
lanes; its last step is shifted back to end with the unit, so no lane is masked: the overlap
computes the same words twice. Hence every segment must hold at least ``width`` columns.

Where rows that follow each other read the same elements, a unit is a segment of two rows, and a
step does both (``rows_at_once``): what they share is loaded and computed once. Of an odd number of
rows the last two are shifted back like steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from ..dtype import AddrSpace, Val, int32, int64
from ..uop import (
    AxisType,
    Ops,
    Uop,
    UopError,
    alu_binary,
    cast,
    const_of_dtype,
    end_,
    group,
    param,
    range_,
    replace,
    stack,
    substitute,
    toposort,
)
from ..uop.abi import CORE_ID
from ..uop.storage import is_register, storage_of
from .arm import is_choice
from .interior import MAX_TERM, clamped_reads, interior_columns
from .options import LINE, Options

_ENOUGH_SHARED = 0.25
"""Reads that two rows must share to be worth more addresses at once."""
_AXIS = 1 << 20
"""Axis ids of the ranges made here start above those that lowering draws."""

UNIT_AXIS, STEP_AXIS, INTERIOR_AXIS = _AXIS + 1, _AXIS + 2, _AXIS + 3
"""The axis ids of a unit's range and of its step ranges: all its columns or its border, and its
interior."""


def lowered_axis(axis: int) -> int | None:
    """The axis id that lowering gave to a loop of the element's own, which may be the interior's
    copy of it; None for a range that is made here."""
    axis %= 2 * _AXIS
    return axis if axis < _AXIS else None


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
    """The GLOBAL ranges of a kernel AST: [column], [row, column] or [plane, row, column]."""
    found = [u for u in toposort(root) if u.op is Ops.RANGE and u.arg.kind is AxisType.GLOBAL]
    return sorted(found, key=lambda u: u.arg.axis)


def rows_at_once(root: Uop, options: Options) -> int:
    """Rows of a unit: 2 where ``options`` say that the domain has room for it, elements that follow
    each other down a column share enough of their reads, and no element can fault or has loops, but
    in arms, else 1."""
    if options.rows == 1 or options.width == 1:
        return 1
    domain = domain_ranges(root)
    order = toposort(root)
    if len(domain) != 2 or any(map(is_register, _needed(order))) or _outliving(root):
        return 1  # loops are in arms, which are skipped, or there are none
    row, column = domain
    reads = clamped_reads(root, column)
    if not reads or not all(read.is_near(column) for read in reads):
        return 1
    if any(row in u.ranges for u in interior_columns(reads, cast(src=column.src[0], dtype=int64))):
        return 1
    return 2 if _shared_by_rows(order, row, column) >= _ENOUGH_SHARED else 1


def _shared_by_rows(order: Sequence[Uop], row: Uop, column: Uop) -> float:
    """The share of two rows' reads that one reads for the other; of reads that every element needs,
    for others may be skipped."""
    down, along = (_constant_offsets(order[-1], axis) for axis in (row, column))
    zero = const_of_dtype(int32, 0)
    columns = [(clamp, const_of_dtype(int32, k)) for clamp, k in along.items()]
    rows: dict[Uop, set[int]] = {}
    needed = _needed(order)
    for u in order:
        if u.op is Ops.LOAD and u in needed and column in u.ranges:
            at = u.src[0]
            place = substitute([*columns, *((clamp, zero) for clamp in down)], at)
            own = [down[v] for v in toposort(at) if v in down]
            rows.setdefault(place, set()).update(own or [0])
    several = 2 * sum(map(len, rows.values()))
    together = sum(len(own | {k + 1 for k in own}) for own in rows.values())
    return 1 - together / several if several else 0.0


def _needed(order: Sequence[Uop]) -> set[Uop]:
    """The nodes that the last one needs whatever its choices are."""
    found = {order[-1]}
    for u in reversed(order):
        if u in found:
            found.update(u.src[:1] if is_choice(u) else u.src)
    return found


def _constant_offsets(root: Uop, axis: Uop) -> dict[Uop, int]:
    """The clamps of reads so many places along an axis, and how many. Their sums are exact."""
    found = {}
    for read in clamped_reads(root, axis):
        low, high = read.offset
        small = all(a.vmin >= -MAX_TERM and b.vmax <= MAX_TERM for a, b in read.terms)
        if small and low.vmin == high.vmax:
            found[read.clamp] = int(low.vmin)
    return found


def split_domain(
    root: Uop, width: int, *, rows: int = 1, streaming: bool = False
) -> tuple[Uop, Uop | None]:
    """The AST over block, unit and step ranges, and its lane range (None for one lane).

    With lanes and clamped reads a unit has two step loops: its border, and its interior, where the
    reads are at plain offsets from the column (``interior.py``). A border of a few columns goes one
    column at a time, and the interior's last step is shifted back to end with it; a wide one goes
    in steps of lanes. ``rows``: how many a unit has (``rows_at_once``). ``streaming``: steps start
    on the output's cache lines, but for the first.
    """
    domain = domain_ranges(root)
    if not 1 <= len(domain) <= 3:
        raise UopError(f"a kernel AST has one to three domain ranges, not {len(domain)}")
    ends = [u for u in toposort(root) if u.op is Ops.END and set(u.src[1:]) == set(domain)]
    if len(ends) != 1:
        raise UopError("a kernel AST closes its domain ranges in one END")
    (closing,) = ends
    body, column = closing.src[0], domain[-1]
    if rows > 1:
        body = _exact_rows(body, domain[0])
    cut = _Cut.of(domain, width, rows)
    reads = clamped_reads(body, column) if width > 1 else []
    lane = _range(width, 4, AxisType.UPCAST, int32) if width > 1 else None
    lanes = [] if lane is None else [lane]

    def closed(step: Uop, places: Sequence[Place], body: Uop, lanes: Sequence[Uop] = ()) -> Uop:
        """``body`` at a column of some rows, in a loop."""
        copies = [
            substitute([(column, sum(lanes, at)), *_row(number, domain[:-1])], own)
            for own, (number, at) in zip(_of_rows(body, root, len(places)), places, strict=True)
        ]
        return end_(value=group(copies), ranges=[step, *lanes])

    def in_rows(at: Uop) -> list[Place]:
        return [(cut.down(const_of_dtype(int32, k)) if k else cut.row, at) for k in range(rows)]

    if not reads:
        steps, lead = cut.aligned(cut.begin, cut.length, streaming)
        step = _range(steps, 2, AxisType.LOOP, int32, cut.unit)
        done = closed(step, in_rows(cut.shifted(step, cut.begin, cut.length, lead)), body, lanes)
    else:
        bounds = interior_columns(reads, cut.columns)
        first, stop = (substitute(_row(cut.row, domain[:-1]), u) for u in bounds)
        plain = _copied(substitute([(read.clamp, read.plain) for read in reads], body), root, 1)
        if all(read.is_near(column) for read in reads) and not _looks_at(_outliving(root), body):
            before, length = cut.inside(first, stop)
            outside = cut.length - length
            step = _range(outside * rows, 2, AxisType.LOOP, int32, cut.unit)
            number, along = cut.row, step
            if rows > 1:
                second = cast(src=step >= outside, dtype=int32)
                number, along = cut.down(second), step - outside * second
            skipped = (along < before).where(0, length)
            border = closed(step, [(number, cut.begin + along + skipped)], body)
            start = cut.begin + before
            steps, lead = cut.aligned(start, length, streaming)
            step = _range(steps, 3, AxisType.LOOP, int32, cut.unit, border)
            place = cut.shifted(step, start, length, lead)
        else:
            before, inside = cut.interior(first, stop)
            step = _range(cut.steps - inside, 2, AxisType.LOOP, int32, cut.unit)
            skipped = (step < before).where(0, inside)
            border = closed(step, in_rows(cut.place(step + skipped)), body, lanes)
            step = _range(inside, 3, AxisType.LOOP, int32, cut.unit, border)
            place = cut.begin + (before + step) * width
        done = group([border, closed(step, in_rows(place), plain, lanes)])
    done = end_(value=done, ranges=[cut.block, cut.unit])
    return substitute([(closing, done)], root), lane


def _exact_rows(body: Uop, row: Uop) -> Uop:
    """``body`` with the rows of its reads at constant offsets as sums of ints, so that rows which
    two elements read are the same nodes. Others may not be exact in floats, or wrap in ints."""
    constant = _constant_offsets(body, row)
    new = []
    for read in clamped_reads(body, row):
        if read.clamp in constant:
            raised = (row + constant[read.clamp]).maximum(const_of_dtype(int32, 0))
            last = read.extent - 1
            new.append((read.clamp, (last < raised).where(last, raised)))
    return substitute(new, body)


def _row(number: Uop, axes: list[Uop]) -> list[tuple[Uop, Uop]]:
    """What the ranges around the columns are in the row of a number; rows go plane by plane."""
    if len(axes) < 2:
        return [(axis, cast(src=number, dtype=int32)) for axis in axes]
    plane, row = axes
    rows = cast(src=row.src[0], dtype=int64)
    along = _quotient(number, rows)
    return [
        (plane, cast(src=along, dtype=int32)),
        (row, cast(src=number - along * rows, dtype=int32)),
    ]


Place = tuple[Uop, Uop]
"""A row's number and a column."""


@dataclass(frozen=True, slots=True)
class _Cut:
    """One unit of the domain: its ranges, its first row's number, and its columns ``begin`` and
    ``length``."""

    block: Uop
    unit: Uop
    row: Uop
    columns: Uop
    begin: Uop
    length: Uop
    width: int

    @staticmethod
    def of(domain: Sequence[Uop], width: int, rows: int) -> _Cut:
        columns = cast(src=domain[-1].src[0], dtype=int64)
        limit = 2**62
        block = _range(runtime_scalar("blocks", 1, limit), 0, AxisType.THREAD, int64)
        segments = runtime_scalar("segments", 1, 2**31)
        per_block = runtime_scalar("unit_block", 1, limit)
        before = block * per_block
        left = runtime_scalar("units", 1, limit) - before
        count = (left < per_block).where(left, per_block)
        unit = _range(count, 1, AxisType.LOOP, int64, block)
        row = _quotient(before + unit, segments)
        segment = before + unit - row * segments
        if rows > 1:
            row, last = row * rows, cast(src=domain[0].src[0], dtype=int64) - rows
            row = (last < row).where(last, row)
        each = runtime_scalar("segment_columns", 1, 2**31)
        is_last = cast(src=(segment + 1).eq(segments), dtype=int64)
        length = each + (columns - segments * each) * is_last  # the last one takes what is left
        begin, length = (cast(src=u, dtype=int32) for u in (segment * each, length))
        return _Cut(block, unit, row, columns, begin, length, width)

    def down(self, by: Uop) -> Uop:
        """The number of the row so many below the first."""
        return cast(src=self.row, dtype=int32) + by

    @property
    def steps(self) -> Uop:
        """Steps of ``width`` columns that cover the unit."""
        return self.covering(self.length)

    def covering(self, length: Uop) -> Uop:
        """Steps of ``width`` columns that cover ``length`` columns."""
        return _quotient(length + (self.width - 1), const_of_dtype(int32, self.width))

    def place(self, step: Uop) -> Uop:
        """The first column of a step over the unit, the last step shifted back."""
        return self.shifted(step, self.begin, self.length, const_of_dtype(int32, 0))

    def shifted(self, step: Uop, begin: Uop, length: Uop, lead: Uop) -> Uop:
        """The first column of a step over ``length`` columns from ``begin``: the last step is
        shifted back, the first one forward where steps start ``lead`` columns early."""
        if self.width == 1:
            return begin + step
        last = length - self.width
        start = (step * self.width - lead).maximum(const_of_dtype(int32, 0))
        return begin + (last < start).where(last, start)

    def aligned(self, begin: Uop, length: Uop, streaming: bool) -> tuple[Uop, Uop]:
        """Steps that cover ``length`` columns from ``begin``, and how many columns early they
        start: where they stream, on a cache line of the first output."""
        if not streaming:
            return self.covering(length), const_of_dtype(int32, 0)
        line, phase = (runtime_scalar(name, 0, LINE) for name in ("line_mask", "phase"))
        lead = (phase + self.row * self.columns + cast(src=begin, dtype=int64)) & line
        lead = (length <= 0).where(0, cast(src=lead, dtype=int32))
        return self.covering(length + lead), lead

    def inside(self, first: Uop, stop: Uop) -> tuple[Uop, Uop]:
        """How many of the unit's columns come before the interior first … stop - 1, and how many
        lie within; none within where they would not fill the lanes."""
        begin, length = (cast(src=u, dtype=int64) for u in (self.begin, self.length))
        before = (first - begin).maximum(const_of_dtype(int64, 0))
        end = stop - begin
        within = (length < end).where(length, end) - before
        within = (within < self.width).where(0, within)
        return cast(src=before, dtype=int32), cast(src=within, dtype=int32)

    def interior(self, first: Uop, stop: Uop) -> tuple[Uop, Uop]:
        """How many steps come before, and lie whole within, the columns first … stop - 1."""
        width = const_of_dtype(int64, self.width)
        zero = const_of_dtype(int64, 0)
        begin, length, steps = (
            cast(src=u, dtype=int64) for u in (self.begin, self.length, self.steps)
        )
        before = _quotient((first - begin).maximum(zero) + (self.width - 1), width)
        before = (steps < before).where(steps, before)
        stop = (begin + length < stop).where(begin + length, stop)
        inside = _quotient((stop - (begin + before * width)).maximum(zero), width)
        return cast(src=before, dtype=int32), cast(src=inside, dtype=int32)


def _range(size: Uop | int, axis: int, kind: AxisType, dtype: Val, *parents: Uop) -> Uop:
    return range_(size=size, axis=_AXIS + axis, kind=kind, dtype=dtype, parents=parents)


def _outliving(root: Uop) -> set[Uop]:
    """The registers that outlive an element: one word a lane where an element of a vector stores
    them, for all steps of a unit."""
    return {storage_of(u.src[0]) for u in toposort(root) if u.op is Ops.STORE and _is_outer(u)}


def _looks_at(shared: set[Uop], body: Uop) -> bool:
    """Whether an end of a loop depends on one of ``shared``: then it has lanes, even in an element
    that runs alone, and so has all that the loop carries."""
    ends = [u.src[0] for u in toposort(body) if u.op is Ops.BREAK]
    return any(u.op is Ops.LOAD and storage_of(u) in shared for end in ends for u in toposort(end))


def _of_rows(body: Uop, root: Uop, rows: int) -> list[Uop]:
    """``body`` for each row of a step."""
    return [_copied(body, root, 2 * k) if k else body for k in range(rows)]


def _copied(body: Uop, root: Uop, number: int) -> Uop:
    """``body`` with loops and registers of its own, but for registers that outlive an element:
    copy ``number``, or that of such a copy."""
    shared = _outliving(root)
    new: dict[Uop, Uop] = {}
    for u in toposort(body):
        src = tuple(new[s] for s in u.src)
        arg = u.arg
        if u.op is Ops.RANGE and arg.kind is AxisType.LOOP:
            arg = dataclasses.replace(arg, axis=arg.axis + 2 * _AXIS * number)
        elif is_register(u) and u not in shared:
            arg = dataclasses.replace(arg, slot=arg.slot + _AXIS * number)
        new[u] = replace(u, src=src, arg=arg)
    return new[body]


def _is_outer(store: Uop) -> bool:
    """Whether a register's store happens outside the element: before its ranges open."""
    return not any(r.arg.kind is AxisType.GLOBAL for r in store.ranges)


def _quotient(a: Uop, b: Uop) -> Uop:
    return alu_binary(op=Ops.CDIV, lhs=a, rhs=b)


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
