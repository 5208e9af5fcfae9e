"""What a linear program does, read off its nodes: reads, writes, loops, regions.

In: a linear program as rendering gets it. Out: ``Facts``. A read is *uniform* (one load for all
lanes), *unit stride* (one vector load), *shuffled* (whole vectors, in which the words lie two,
three or four apart), *strided* (a load a lane at constant offsets), a *gather* (a load a lane at an
address of its own), or of *one element* where a loop goes element by element.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..codegen.access import Affine, affine
from ..codegen.split import INTERIOR_AXIS, STEP_AXIS, UNIT_AXIS, lowered_axis
from ..render.analysis import lanes_or_zero, rendered_nodes, strided
from ..render.bundles import Bundle, bundles
from ..uop import Ops, Uop
from ..uop.shape import dims_or_none
from ..uop.storage import is_register, storage_of


class Kind(enum.Enum):
    """How an access goes, best first."""

    UNIFORM = "uniform"
    UNIT = "unit stride"
    SHUFFLED = "shuffled"
    STRIDED = "strided"
    GATHER = "gather"
    ONE = "one element"


class Place(enum.Enum):
    """How often something runs: in which of the loops that a domain is cut into."""

    RUN = "once a block of rows"
    ROW = "once a row"
    STEP = "in every step"
    INTERIOR = "inside"
    BORDER = "at the borders"


@dataclass(frozen=True, slots=True)
class Access:
    """A load or store of one word an element. ``step`` in words where it is strided or shuffled;
    ``together``: words of each element that one access moves; ``why`` a gather is one; ``loops``
    the axes of the element's own loops around it."""

    node: Uop
    slot: int
    kind: Kind
    place: Place
    step: int = 0
    together: int = 1
    why: tuple[Uop, ...] = ()
    loops: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LoopFact:
    """A loop of the element's own. ``leaves``: whether it may end early; ``divergent``: whether
    each element does so at a time of its own. ``most`` iterations, None where a run decides."""

    axis: int
    place: Place
    leaves: bool
    divergent: bool
    most: int | None


@dataclass(frozen=True, slots=True)
class RegionFact:
    """Nodes that run only where some lane needs them."""

    nodes: tuple[Uop, ...]
    place: Place
    uniform: bool


@dataclass(frozen=True, slots=True)
class Facts:
    """What a program does, in program order."""

    reads: tuple[Access, ...]
    writes: tuple[Access, ...]
    loops: tuple[LoopFact, ...]
    regions: tuple[RegionFact, ...]
    lanes_at_border: bool
    """Whether border columns run in lanes, or one by one."""

    @property
    def has_interior(self) -> bool:
        return any(a.place is Place.INTERIOR for a in self.writes)


def find_facts(program: Uop) -> Facts:
    """The facts of a LINEAR program."""
    return _Finder(program.src).find()


class _Finder:
    def __init__(self, program: Sequence[Uop]):
        needed, _ = rendered_nodes(program)
        self.program = [u for u in program if u in needed or u.op in (Ops.ENDIF, Ops.END)]
        self.bundles: dict[Uop, Bundle] = bundles([u for u in program if u in needed])
        self.interior = any(u.op is Ops.RANGE and u.arg.axis == INTERIOR_AXIS for u in program)
        self.laned = {self._place(u) for u in self.program if _is_laned_store(u)}

    def find(self) -> Facts:
        reads: list[Access] = []
        writes: list[Access] = []
        for u in self.program:
            if u.op in (Ops.LOAD, Ops.STORE) and not is_register(storage_of(u.src[0])):
                access = self._access(u)
                (reads if u.op is Ops.LOAD else writes).append(access)
        record = max((a.slot for a in writes), default=0)
        return Facts(
            tuple(reads),
            tuple(a for a in writes if a.place is not Place.RUN or a.slot != record),
            tuple(self._loops()),
            tuple(self._regions()),
            Place.BORDER in self.laned,
        )

    def _place(self, u: Uop) -> Place:
        axes = {r.arg.axis for r in u.ranges}
        if INTERIOR_AXIS in axes:
            return Place.INTERIOR
        if STEP_AXIS in axes:
            return Place.BORDER if self.interior else Place.STEP
        return Place.ROW if UNIT_AXIS in axes else Place.RUN

    def _access(self, u: Uop) -> Access:
        at, place = u.src[0].src[1], self._place(u)
        loops = tuple(axis for r in u.ranges if (axis := lowered_axis(r.arg.axis)) is not None)
        slot = storage_of(u.src[0]).arg.slot
        if lanes_or_zero(u.src[0]) == 0:
            hoisted = place in (Place.RUN, Place.ROW)
            kind = Kind.UNIFORM if hoisted or place in self.laned else Kind.ONE
            return Access(u, slot, kind, place, loops=loops)
        bundle = self.bundles.get(u)
        together = 1 if bundle is None else len(bundle.members)
        form = strided(at)
        if form is None:
            why = tuple(culprits(at))
            return Access(u, slot, Kind.GATHER, place, 0, together, why, loops)
        kind = Kind.UNIT if form[1] == 1 else Kind.STRIDED
        if bundle is not None and bundle.step is not None:
            kind = Kind.SHUFFLED
        return Access(u, slot, kind, place, form[1], together, loops=loops)

    def _loops(self) -> Iterator[LoopFact]:
        breaks = {u.src[1]: u for u in self.program if u.op is Ops.BREAK}
        for u in self.program:
            axis = lowered_axis(u.arg.axis) if u.op is Ops.RANGE else None
            if axis is not None:
                left = breaks.get(u)
                size = u.src[0]
                most = int(size.arg.value) if size.op is Ops.CONST else None
                divergent = left is not None and lanes_or_zero(left.src[0]) > 0
                yield LoopFact(axis, self._place(u), left is not None, divergent, most)

    def _regions(self) -> Iterator[RegionFact]:
        opened: list[tuple[Uop, list[Uop]]] = []
        for u in self.program:
            if u.op is Ops.IF:
                opened.append((u, []))
            elif u.op is Ops.ENDIF and opened:
                region, nodes = opened.pop()
                uniform = lanes_or_zero(region.src[0]) == 0
                yield RegionFact(tuple(nodes), self._place(region), uniform)
            else:
                for _, nodes in opened:
                    nodes.append(u)


def _is_laned_store(u: Uop) -> bool:
    if u.op is not Ops.STORE or is_register(storage_of(u.src[0])):
        return False
    return lanes_or_zero(u.src[0]) > 0


def culprits(at: Uop) -> list[Uop]:
    """The nodes that keep a vector index from being ``base + step * lane``: what they are made of
    still has that form, or is no integer. Integers that it reaches through a float are no part of
    its form."""
    forms: dict[Uop, Affine] = {}
    found: list[Uop] = []
    for u in values_under(at, integers=True):
        if u.op is Ops.INDEX or not u.dtype.is_int or dims_or_none(u) is None:
            continue
        form = affine(u, forms)
        if form is not None:
            forms[u] = form
        elif u.op is Ops.LOAD or not any(
            s.dtype.is_int and lanes_or_zero(s) and s not in forms for s in u.src
        ):
            found.append(u)
    return found


def values_under(root: Uop, *, integers: bool = False) -> list[Uop]:
    """The nodes that a value is computed from, sources first; not what loops and reads are.
    ``integers``: nor what other values than integers are."""
    order: dict[Uop, None] = {}
    pending = [(root, False)]
    while pending:
        u, ready = pending.pop()
        if ready:
            order[u] = None
        elif u not in order:
            pending.append((u, True))
            inner = u.op not in (Ops.RANGE, Ops.LOAD, Ops.PARAM)
            if inner and (u.dtype.is_int or not integers):
                pending += [(s, False) for s in u.src]
    return list(order)
