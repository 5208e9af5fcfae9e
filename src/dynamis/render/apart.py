"""Rare arms, kept apart: what of a program becomes a function, called where a lane needs it.

A region whose values are used by ``RARE`` choices of its own guard alone leaves nothing behind but
these choices: where it is not entered they are their other values, as they stand. A large one is
written once, for one part of a vector, and not once for every part in the middle of the usual path.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..dtype import AddrSpace, Ptr, Val, bool_, int32
from ..uop import Ops, Uop, const_of_dtype, index, load, param, replace, stack, store
from ..uop.elementary import RARE
from .analysis import Reads, byte_count
from .llvm_ops import Emitter
from .llvm_types import lanes_of, scalar_type, vector_type
from .runs import is_arithmetic

LARGE = 24
"""Nodes from which a region is worth a call."""
MASK_BITS = 64
"""The lanes that one word says the condition of."""


def settled(
    program: Sequence[Uop], reads: Reads, escaping: Mapping[Uop, Collection[Uop]]
) -> dict[Uop, list[Uop]]:
    """For each IF whose values are used by rare choices of its guard alone: these choices."""
    owner: dict[Uop, Uop] = {}
    found: dict[Uop, dict[Uop, None]] = {opened: {} for opened in escaping}
    for region, values in escaping.items():
        for e in values:
            if e in owner:  # it leaves two regions, one in the other
                found.pop(region, None)
                found.pop(owner[e], None)
            owner[e] = region
    around: list[Uop] = []
    for u in program:
        if u.op is Ops.ENDIF:
            around.pop()
        for s, _ in reads[u]:
            opened = owner.get(s)
            if opened is None or opened in around or opened not in found:
                continue
            if _is_choice(u, opened.src[0], s):
                found[opened][u] = None
            else:
                del found[opened]
        if u.op is Ops.IF:
            around.append(u)
    return {opened: list(choices) for opened, choices in found.items() if choices}


def _is_choice(u: Uop, guard: Uop, value: Uop) -> bool:
    return (
        u.op is Ops.WHERE
        and u.node_tag == RARE
        and u.src[0] is guard
        and u.src[1] is value
        and u.src[2] is not value
        and u.dtype is not bool_
    )


@dataclass(frozen=True, slots=True)
class Apart:
    """A region as a function: it reads ``inputs`` and makes what its ``choices`` choose."""

    inputs: tuple[Uop, ...]
    remade: tuple[Uop, ...]
    """What it computes first, and is computed outside as well."""
    own: tuple[Uop, ...]
    choices: tuple[Uop, ...]


def region_nodes(opened: Uop, program: Sequence[Uop]) -> list[Uop]:
    """The nodes of an IF's region."""
    rest = itertools.islice(program, program.index(opened) + 1, None)
    return [*itertools.takewhile(lambda u: u.op is not Ops.ENDIF or u.src[0] is not opened, rest)]


def apart(
    opened: Uop, own: Sequence[Uop], program: Sequence[Uop], reads: Reads, choices: list[Uop]
) -> Apart | None:
    """The region of an IF, whose nodes are its ``own``, as a function of vectors, if it can be and
    is worth it."""
    start = program.index(opened) + 1
    lanes = lanes_of(opened.src[0])
    if not 2 <= lanes <= MASK_BITS or len(own) < LARGE or not all(map(_is_computed, own)):
        return None
    known = set(own)
    inputs: dict[Uop, None] = {}
    remade: dict[Uop, None] = {}
    place = {u: k for k, u in enumerate(program[:start])}
    pending = [s for u in own for s, _ in reads[u]]
    while pending:
        s = pending.pop()
        if s in known or s.op is Ops.CONST or s in remade or s in inputs:
            continue
        sources = [t for t in s.src if t.op is not Ops.CONST]
        if _is_computed(s) and len(sources) == 1 and lanes_of(s) == lanes:
            remade[s] = None
            pending += sources
        elif not isinstance(s.dtype, Ptr) and s.dtype is not bool_ and lanes_of(s) == lanes:
            inputs[s] = None
        else:
            return None
    first = sorted(remade, key=place.__getitem__)
    return Apart(tuple(inputs), tuple(first), tuple(own), tuple(choices))


def _is_computed(u: Uop) -> bool:
    return is_arithmetic(u) or u.op in (Ops.IF, Ops.ENDIF)


def narrowed(region: Apart, lanes: int) -> tuple[list[Uop], list[Uop], list[Uop]]:
    """The same over ``lanes`` lanes: stand-ins for the inputs, the nodes, and stores of the values
    chosen, to parameters that follow those of the inputs."""
    numbers = stack([const_of_dtype(int32, k) for k in range(lanes)])

    def place(slot: int, u: Uop) -> Uop:
        assert isinstance(u.dtype, Val)
        dtype = Ptr.create(u.dtype, addrspace=AddrSpace.GLOBAL, size=lanes)
        return index(ptr=param(slot=slot, dtype=dtype), idxs=[numbers])

    new = {u: load(src=place(k, u)) for k, u in enumerate(region.inputs)}
    stand_ins, nodes = list(new.values()), (*region.remade, *region.own)

    def renewed(u: Uop) -> Uop:
        if u not in new:  # what rendering sees as part of a node is not among the nodes
            new[u] = replace(u, src=tuple(map(renewed, u.src)))
        return new[u]

    for u in nodes:
        renewed(u)
    values = [choice.src[1] for choice in region.choices]
    first = len(stand_ins)
    stores = [store(dst=place(first + k, u), value=new[u]) for k, u in enumerate(values)]
    return stand_ins, [new[u] for u in nodes], stores


class Exchange:
    """Where a function finds its inputs and leaves its results in memory.

    It works on ``lanes`` lanes at a time. Each such group of lanes has ``stride`` bytes, in which
    the values stand one after the other."""

    def __init__(self, values: Sequence[Uop], lanes: int):
        self.lanes, self.stride = lanes, 0
        self.offsets: list[int] = []
        for u in values:
            self.offsets.append(self.stride)
            self.stride += lanes * byte_count(scalar_type(u.dtype))

    def move(
        self, out: Emitter, base: str, number: int, u: Uop, per: int, parts: Sequence[str] | None
    ) -> list[str]:
        """Store the ``parts`` of a value, of ``per`` lanes each, as the one of that number; None:
        load them. ``base`` points to the value's first group."""
        ty, each = vector_type(scalar_type(u.dtype), per), self.lanes // per
        size, found = per * byte_count(scalar_type(u.dtype)), []
        for k in range(lanes_of(u) // per):
            at = k // each * self.stride + self.offsets[number] + k % each * size
            place = out.value(f"getelementptr i8, ptr {base}, i64 {at}")
            if parts is None:
                found.append(out.value(f"load {ty}, ptr {place}, align 4"))
            else:
                out.line(f"store {ty} {parts[k]}, ptr {place}, align 4")
        return found
