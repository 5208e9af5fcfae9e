"""What rendering must know of a linear program before it writes a line.

Which nodes are used and in what form, how a memory index is built, which registers cross a loop,
and which masks leave their block.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..dtype import Ptr, bool_
from ..uop import Ops, Uop
from ..uop.guards import resting
from ..uop.storage import is_register, storage_of
from .fused import fused, negated
from .llvm_types import lanes_of, scalar_type


def memory_type(place: Uop) -> str:
    dtype = storage_of(place).dtype
    assert isinstance(dtype, Ptr)
    return scalar_type(dtype.base)


def byte_count(scalar: str) -> int:
    return {"float": 4, "double": 8}.get(scalar) or int(scalar[1:]) // 8


def strided(at: Uop) -> tuple[Uop, int] | None:
    """(base, step) where a vector index is ``base + (0, step, 2*step, …)`` with a uniform base."""
    if at.op is not Ops.ADD:
        return None
    for base, lanes in (at.src, at.src[::-1]):
        if lanes.op is Ops.STACK and base.max_shape == () and lanes.src[0].op is Ops.CONST:
            values = [int(s.arg.value) for s in lanes.src if s.op is Ops.CONST]
            step = values[1] if len(values) == len(lanes.src) else 0
            if values == [step * k for k in range(len(lanes.src))]:
                return base, step
    return None


def without_constant(at: Uop) -> tuple[Uop, int]:
    """``at`` as (x, c) with at = x + c: lanes extracted from x serve every c."""
    if at.op is Ops.ADD and at.src[1].op is Ops.CONST:
        return at.src[0], int(at.src[1].arg.value)
    return at, 0


def operands(u: Uop) -> list[tuple[Uop, int]]:
    """The values that rendering ``u`` reads, each with the lanes it is read in."""
    match u.op:
        case Ops.RANGE:
            return [(u.src[0], 0)]
        case Ops.END | Ops.ENDIF | Ops.GROUP | Ops.AFTER | Ops.SINK | Ops.PARAM | Ops.BUFFER:
            return []
        case Ops.INDEX if is_address(u):
            return []
        case Ops.IF:
            return [(u.src[0], lanes_of(u.src[0]))]
        case Ops.BREAK:
            lanes = lanes_of(u.src[0])
            live = negated(u.src[0]) if lanes else None
            return [(u.src[0] if live is None else live, lanes)]
        case Ops.LOAD:
            return _address_operands(u.src[0])
        case Ops.STORE:
            place = u.src[0]
            lanes = lanes_of(place)
            gates = [(gate, lanes or lanes_of(gate)) for gate in u.src[2:]]
            return [*_address_operands(place), (u.src[1], lanes), *gates]
        case Ops.STACK:
            return [(s, 0) for s in u.src]
    group = fused(u)
    lanes = lanes_of(u)
    return [(s, lanes) for s in (u.src if group is None else group.operands)]


def _address_operands(place: Uop) -> list[tuple[Uop, int]]:
    target = storage_of(place)
    if is_register(target):
        return []
    at, lanes = place.src[1], lanes_of(place)
    if lanes == 0:
        return [(target, 0), (at, 0)]
    form = strided(at)
    return [(target, 0), (form[0], 0) if form else (without_constant(at)[0], lanes)]


Reads = dict[Uop, list[tuple[Uop, int]]]
"""The ``operands`` of each node to render."""


def rendered_nodes(program: Sequence[Uop]) -> tuple[dict[Uop, int], Reads]:
    """The nodes to render, each with the lanes it is read in where it is uniform and read as a
    vector, else 0; and what each of them reads."""
    needed: dict[Uop, int] = {}
    reads: Reads = {}
    for u in reversed(program):
        if u.op in (Ops.STORE, Ops.RANGE, Ops.END, Ops.BREAK, Ops.IF, Ops.ENDIF):
            needed.setdefault(u, 0)
        if u in needed:
            reads[u] = operands(u)
            for operand, lanes in reads[u]:
                splat = 0 if lanes_or_zero(operand) else lanes
                needed[operand] = max(needed.get(operand, 0), splat)
    return needed, reads


def is_address(u: Uop) -> bool:
    """Whether an INDEX names a place in memory or a register, and has no value of its own."""
    return storage_of(u).dtype.is_ptr


def lanes_or_zero(u: Uop) -> int:
    return 0 if u.dtype.is_ptr else lanes_of(u)


def crossing_masks(program: Sequence[Uop], reads: Reads) -> set[Uop]:
    """The masks that are used in another block than the one they are made in."""
    made: dict[Uop, int] = {}
    crossing: set[Uop] = set()
    block = 0
    for u in program:
        for operand, _ in reads[u]:
            if made.get(operand, block) != block:
                crossing.add(operand)
        if starts_block(u):
            block += 1
        if u.dtype is bool_ and lanes_or_zero(u) and u.op is not Ops.CONST:
            made[u] = block
    return crossing


def loops_around_loops(program: Sequence[Uop]) -> set[Uop]:
    """The loops that have a loop inside."""
    found: set[Uop] = set()
    opened: list[Uop] = []
    for u in program:
        if u.op is Ops.RANGE:
            found.update(opened)
            opened.append(u)
        elif u.op is Ops.END:
            opened.pop()
    return found


def register_uses(
    program: Sequence[Uop],
) -> tuple[dict[Uop, list[Uop]], dict[Uop, set[Uop]]]:
    """For each loop and region: the registers it stores, and those that are read outside it."""
    stored: dict[Uop, list[Uop]] = {}
    inside: dict[Uop, dict[Uop, int]] = {}
    total: dict[Uop, int] = {}
    opened: list[Uop] = []
    for u in program:
        if u.op in (Ops.RANGE, Ops.IF):
            opened.append(u)
            stored[u], inside[u] = [], {}
        elif u.op in (Ops.END, Ops.ENDIF):
            opened.pop()
        elif u.op in (Ops.STORE, Ops.LOAD) and is_register(target := storage_of(u.src[0])):
            if u.op is Ops.LOAD:
                total[target] = total.get(target, 0) + 1
            for loop in opened:
                if u.op is Ops.LOAD:
                    inside[loop][target] = inside[loop].get(target, 0) + 1
                elif target not in stored[loop]:
                    stored[loop].append(target)
    after = {
        loop: {r for r in registers if total.get(r, 0) > inside[loop].get(r, 0)}
        for loop, registers in stored.items()
    }
    return stored, after


def starts_block(u: Uop) -> bool:
    """Whether rendering a node opens a new basic block."""
    if u.op is Ops.STORE and len(u.src) == 3:
        return not is_register(storage_of(u.src[0]))
    return u.op in (Ops.RANGE, Ops.END, Ops.BREAK, Ops.IF, Ops.ENDIF)


def escaping(program: Sequence[Uop], reads: Reads) -> dict[Uop, dict[Uop, Uop | None]]:
    """For each IF of a program: the nodes made in its region that are used outside it, each with
    the node from before that it is where the region is not entered; None where nobody asks."""
    if all(u.op is not Ops.IF for u in program):
        return {}
    homes: dict[Uop, tuple[Uop, ...]] = {}
    opened: tuple[Uop, ...] = ()
    made: dict[Uop, set[Uop]] = {}
    found: dict[Uop, dict[Uop, Uop | None]] = {}
    for u in program:
        if u.op is Ops.ENDIF:
            opened = opened[:-1]
        for s, _ in reads[u]:
            for region in homes.get(s, ()):
                if region not in opened and s not in found.setdefault(region, {}):
                    found[region][s] = resting(s, region.src[0], made[region])
        homes[u] = opened
        for region in opened:
            made[region].add(u)
        if u.op is Ops.IF:
            opened = (*opened, u)
            made[u] = set()
    return found
