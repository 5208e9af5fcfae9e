"""Interior splitting: where no clamp of a row's reads can bite, and what the reads are there.

Goes in: the body of a kernel AST, before simplification, and its column range. A *clamped read* is
``clamp(int(float(column) + d), 0, extent - 1)``, or the same in ints, where d does not depend on
the column. Its offsets over the element's own loops lie between two numbers known before the row
starts; so do, for all reads together, the first and last column at which every clamp is idle.
Between them the clamp is the plain sum ``column + d``, a unit-stride address.

Float columns and offsets are whole and at most 2**23 and 8 * 2**20 in size there, so every partial
sum is exact in f32.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..dtype import int32, int64
from ..uop import AxisType, Ops, Uop, cast, const_of_dtype, toposort
from .options import EXACT

MAX_TERM, MAX_TERMS = 2**20, 8
"""Bounds that make float sums of a column and offsets exact."""

NEAR = 8
"""Columns from the end of a row that are best done one by one."""

Interval = tuple[Uop, Uop]


@dataclass(frozen=True, slots=True)
class ClampedRead:
    """``clamp`` is the node; ``plain`` what it equals where it is idle; ``offset`` the interval of
    ``plain - column``; ``terms`` the intervals of the offset's parts; ``extent`` the clamp's."""

    clamp: Uop
    plain: Uop
    offset: Interval
    terms: tuple[Interval, ...]
    extent: Uop

    def is_near(self, column: Uop) -> bool:
        """Whether the read's clamp can bite in NEAR columns at most, at each end of a row."""
        low, high = self.offset
        return self.extent is column.src[0] and low.vmin >= -NEAR and high.vmax <= NEAR


def clamped_reads(body: Uop, column: Uop) -> list[ClampedRead]:
    """The clamped reads under ``body`` whose offsets have known intervals."""
    order = toposort(body)
    clamps = [(u, *parts) for u in order if (parts := _clamp(u)) is not None]
    sums = [(clamp, _terms(address, column), extent) for clamp, address, extent in clamps]
    intervals = _intervals([*order, *(t for _, terms, _ in sums for t in terms or ())], column)
    found = []
    for clamp, terms, extent in sums:
        if terms is None or not all(t in intervals for t in terms):
            continue
        plain = column
        low = high = const_of_dtype(int64, 0)
        for term in terms:
            least, most = intervals[term]
            plain, low, high = plain + term, low + least, high + most
        known = tuple(intervals[t] for t in terms)
        found.append(ClampedRead(clamp, plain, (low, high), known, extent))
    return found


def interior_columns(reads: list[ClampedRead], columns: Uop) -> Interval:
    """The first column of the interior and the one after its last, as int64; empty where the
    bounds that make sums exact do not hold."""
    zero, limit = const_of_dtype(int64, 0), const_of_dtype(int64, MAX_TERM)
    first, stop, exact = zero, columns, columns <= EXACT
    for read in reads:
        low, high = read.offset
        first = first.maximum(-low)
        stop = _least(stop, cast(src=read.extent, dtype=int64) - high)
        for least, most in read.terms:
            exact = exact & (-limit <= least) & (most <= limit)
    return first, exact.where(stop, first)


def _least(a: Uop, b: Uop) -> Uop:
    return (b < a).where(b, a)


def _clamp(u: Uop) -> tuple[Uop, Uop] | None:
    """(x, extent) where ``u`` is min(max(x, 0), extent - 1), as lowering writes it."""
    if u.op is not Ops.WHERE or u.dtype is not int32:
        return None
    test, limit, raised = u.src
    if test.op is not Ops.CMPLT or test.src != (limit, raised) or raised.op is not Ops.MAX:
        return None
    if limit.op is not Ops.SUB or not _is_const(limit.src[1], 1) or not _is_const(raised.src[1], 0):
        return None
    return raised.src[0], limit.src[0]


def _is_const(u: Uop, value: int) -> bool:
    return u.op is Ops.CONST and u.arg.value == value


def _terms(address: Uop, column: Uop) -> list[Uop] | None:
    """The int32 terms of ``address - column``, where it is a sum of whole numbers."""
    floats = address.op is Ops.CAST and address.src[0].dtype.is_float
    pending = [(address.src[0] if floats else address, False)]
    terms: list[Uop] = []
    while pending:
        u, negative = pending.pop()
        if u.op in (Ops.ADD, Ops.SUB) and len(terms) + len(pending) <= MAX_TERMS:
            pending += [(u.src[1], negative != (u.op is Ops.SUB)), (u.src[0], negative)]
            continue
        whole = _whole(u) if floats else u
        if whole is None:
            return None
        terms.append(-whole if negative else whole)
    if terms.count(column) != 1:
        return None
    terms.remove(column)
    return terms


def _whole(u: Uop) -> Uop | None:
    """The int32 whose float ``u`` is."""
    if u.op is Ops.CAST and u.src[0].dtype is int32:
        return u.src[0]
    if u.op is Ops.CONST and float(u.arg.value).is_integer() and abs(u.arg.value) <= MAX_TERM:
        return const_of_dtype(int32, int(u.arg.value))
    return None


def _intervals(order: list[Uop], column: Uop) -> dict[Uop, Interval]:
    """The least and the most of int32 nodes over the element's loops, as int64 of the row alone.

    Sums, multiples and hulls only: modulo 2**32 they agree with the wrapping ops they bound, and
    an interval that leaves int32 makes the interior empty.
    """
    found: dict[Uop, Interval] = {}
    zero = const_of_dtype(int64, 0)
    for u in order:
        if u.dtype is not int32:
            continue
        if all(r.arg.kind is AxisType.GLOBAL and r is not column for r in u.ranges):
            wide = cast(src=u, dtype=int64)
            found[u] = wide, wide
            continue
        known = [found[s] for s in u.src if s in found]
        match u.op:
            case Ops.RANGE if u.arg.kind is AxisType.LOOP and u.src[0] in found:
                found[u] = zero, found[u.src[0]][1] - 1
            case Ops.ADD if len(known) == 2:
                (a, b), (c, d) = known
                found[u] = a + c, b + d
            case Ops.SUB if len(known) == 2:
                (a, b), (c, d) = known
                found[u] = a - d, b - c
            case Ops.MUL if len(known) == 2 and u.src[1].op is Ops.CONST:
                a, b = (x * int(u.src[1].arg.value) for x in known[0])
                found[u] = (a, b) if u.src[1].arg.value >= 0 else (b, a)
            case Ops.MAX if len(known) == 2:
                (a, b), (c, d) = known
                found[u] = a.maximum(c), b.maximum(d)
            case Ops.NEG if known:
                found[u] = -known[0][1], -known[0][0]
            case Ops.WHERE if len(known) == 2:
                (a, b), (c, d) = known
                found[u] = _least(a, c), b.maximum(d)
    return found
