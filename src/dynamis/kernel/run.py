"""The state of one run of a module: its data, the element being computed, and the work done.

In: an accounted module, its inputs, parameters, domain and host. Out: what the steps of its
functions (``steps.py``) read and change, and what the modes (``modes.py``) drive.

Work: an element adds its iterations to ``work`` and fails past its budget; its whole WORK_BLOCKs go
into the run's ``total``, which fails it past the host's bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from . import op as ops
from .context import HostContext
from .fault import Fault, FaultKind
from .layout import part_types
from .module import WORK_BLOCK, Function, Instruction, Module
from .reads import Store, StoredField, Words, canonical, position_of, write_index
from .types import Numeric, Type, Value, words


class Failure(Exception):
    """Unwinds a failed element to the mode that runs it."""

    def __init__(self, function: int, instruction: Instruction, kind: FaultKind, operands: Words):
        self.function = function
        self.instruction = instruction
        self.kind = kind
        self.operands = operands

    def at(self, element: int) -> Fault:
        """The fault, of the element that failed so."""
        place = self.instruction
        operands = canonical(self.operands)
        return Fault(element, self.function, place.id, self.kind, operands, place.span)


class GroupState:
    """The lanes of the group being run: their work, and those that have failed."""

    def __init__(self, first: int, size: int):
        self.first = first
        self.work = [0] * size
        self.filled = [0] * size
        """The WORK_BLOCKs of each lane that the run's total has."""
        self.held: dict[int, Failure] = {}
        """What each lane that failed since the last Meet failed with."""


class Run:
    """One run: its data, and where it stands."""

    def __init__(
        self,
        module: Module,
        inputs: Sequence[tuple[tuple[int, ...], Sequence[Numeric]]],
        params: Sequence[Value],
        extent: tuple[int, ...],
        host: HostContext,
        bound: int | None,
    ):
        manifest = module.manifest
        self.module = module
        self.extent = extent
        self.host = host
        self.params = [value.numbers_in(module.structs) for value in params]
        # Memories are copies: what a run writes is seen outside only once it has succeeded.
        memories = len(manifest.inputs) - len(manifest.memories)
        self.inputs = [
            StoredField(port, module.structs, size, list(stored) if k >= memories else stored)
            for k, (port, (size, stored)) in enumerate(zip(manifest.inputs, inputs, strict=True))
        ]
        self.stores = [Store(port) for port in manifest.inputs]
        self.memories = self.inputs[memories:]
        self.number = 0
        """The element's linear index."""
        self.position: tuple[int, ...] = ()
        """The element's place in NumPy order."""
        self.carried: Words = ()
        """A scan's result so far."""
        self.pairs: list[Words] = []
        """What a scatter's element has emitted."""
        self.lane = 0
        self.group = GroupState(0, 0)
        self.work = 0
        self.total = 0
        """WORK_BLOCKs that the run has filled, the current element's apart from ``filled``."""
        self.filled = 0
        self.limit = manifest.work_limit
        self.bound = bound
        self._bounds: dict[Type, list[tuple[int, int]]] = {}

    def parts(self, ty: Type) -> list[tuple[int, int]]:
        """First and end word of each part of a struct, matrix or vector."""
        if ty not in self._bounds:
            structs = self.module.structs
            sizes: dict[Type, int] = {}
            for part in part_types(structs, ty):
                sizes.setdefault(part, words(structs, part))
            ends = accumulate(sizes[part] for part in part_types(structs, ty))
            self._bounds[ty] = list(pairwise([0, *ends]))
        return self._bounds[ty]

    # Where the run stands.

    def enter(self, number: int) -> None:
        """Begins an element (or a merge, or init, as that element's): no work is done yet."""
        self.number = number
        self.position = position_of(number, self.extent)
        self.work = self.filled = 0
        self.pairs = []

    def leave(self) -> None:
        """Ends an element that did not fail: what it filled is the run's."""
        self.total += self.work // WORK_BLOCK - self.filled
        self.work = self.filled = 0

    def enter_lane(self, lane: int) -> None:
        """Goes on with one lane of the group."""
        group = self.group
        self.number = group.first + lane
        self.position = position_of(self.number, self.extent)
        self.lane = lane
        self.work, self.filled = group.work[lane], group.filled[lane]

    def leave_lane(self) -> None:
        """Stops a lane: what it filled counts for itself, and for the others from the next meet."""
        self.group.work[self.lane] = self.work

    def meet(self) -> None:
        """The lanes of the group meet: the lowest that failed fails the run, as ``Failure``, with
        ``number`` its element; else what they filled becomes the run's."""
        group = self.group
        if group.held:
            lane = min(group.held)
            self.number = group.first + lane
            raise group.held[lane]
        for lane, work in enumerate(group.work):
            self.total += work // WORK_BLOCK - group.filled[lane]
            group.filled[lane] = work // WORK_BLOCK

    def check_work(self) -> tuple[FaultKind, int] | None:
        """The failure of an element whose work passes its budget, or its run's bound."""
        if self.work > self.limit:
            return FaultKind.BUDGET, self.limit
        filled = self.total + self.work // WORK_BLOCK - self.filled
        if self.bound is not None and filled * WORK_BLOCK > self.bound:
            return FaultKind.RUN_BOUND, self.bound
        return None

    def put(self, input: int, address: Words, value: Words) -> tuple[FaultKind, Words] | None:
        """Writes into a memory, or drops what is addressed outside; the failure of its encoding."""
        memory, store = self.inputs[input], self.stores[input]
        linear = write_index(memory.extent, address)
        if linear is None:
            return None
        failed = store.fault(value)
        if failed is None:
            assert isinstance(memory.stored, list)
            first = linear * memory.lanes
            memory.stored[first : first + memory.lanes] = store.words(value)
        return failed


def result_instruction(function: Function, result: int = 0) -> Instruction:
    """The instruction that a function's result is: what a fault that none makes is named by.

    An entry with lanes has one result, the array of the records of all: a record's part is it."""
    made = {i.id: i for i in function.instructions()}
    found = made[function.results[min(result, len(function.results) - 1)]]
    if isinstance(found.op, ops.Lanes):
        record = made[found.op.body.result]
        assert isinstance(record.op, ops.Construct)
        found = made[record.op.parts[result]]
    return found
