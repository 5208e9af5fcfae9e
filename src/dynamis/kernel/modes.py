"""The modes: how a run's elements are driven, and what becomes of what they give.

In: a ``Run`` whose functions are steps. Out: for each output of the manifest its stored words; a
``Failure`` passes through, and ``run.number`` is then the element that failed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from .fault import FaultKind
from .fold import combine_word, fold, total_fits
from .manifest import index_type
from .mode import ModeKind
from .reads import Store, StoredField, Words, write_index
from .run import Failure, GroupState, Run, result_instruction
from .steps import FunctionSteps
from .types import Numeric, word_types, words

Outputs = list[list[Numeric]]


class Driver:
    """A run and its functions; ``run`` drives it by the mode of its manifest."""

    def __init__(self, run: Run):
        self.run = run
        self.module = module = run.module
        functions: list[FunctionSteps] = []
        for index, function in enumerate(module.all_functions()):
            functions.append(FunctionSteps(run, index, function, functions))
        self.entry = functions[len(module.functions)]
        self.last = functions[-1]
        """Merge or init, in a mode that has one."""
        self.results = module.manifest.results
        self.stores = [Store(port) for port in self.results]

    def drive(self, elements: Sequence[int]) -> Outputs:
        """The stored words of each output, over the elements in the order given (a map or a group
        may leave some out). Raises Failure."""
        return _DRIVERS[self.module.manifest.mode.kind](self, elements)

    # What every mode does with an element.

    def element(self, number: int) -> list[Words]:
        """The entry's results at one element."""
        self.run.enter(number)
        results = self.entry.results()
        self.run.leave()
        return results

    def stored(self, result: int, value: Words) -> Words:
        """A result as its output stores it."""
        failed = self.stores[result].fault(value)
        if failed is not None:
            raise self.failure(*failed, result=result)
        return self.stores[result].words(value)

    def failure(self, kind: FaultKind, operands: Words, result: int = 0) -> Failure:
        """A failure that no instruction makes: it names the entry's result."""
        place = result_instruction(self.entry.function, result)
        return Failure(self.entry.index, place, kind, operands)

    def store_all(self, outputs: Outputs, results: Sequence[Words]) -> None:
        for k, value in enumerate(results):
            outputs[k].extend(self.stored(k, value))

    def empty(self) -> Outputs:
        return [[] for _ in self.results]


def _map(driver: Driver, elements: Sequence[int]) -> Outputs:
    outputs = driver.empty()
    for number in elements:
        driver.store_all(outputs, driver.element(number))
    return outputs


def _group(driver: Driver, elements: Sequence[int]) -> Outputs:
    """Groups run whole, in order; what lanes past the end give is dropped."""
    size = driver.module.manifest.mode.size
    assert size is not None  # a valid group's
    end = math.prod(driver.run.extent)
    found: dict[int, list[list[Numeric]]] = {}
    for group in sorted({number // size for number in elements}):
        lanes = _run_group(driver, group * size, size)
        for lane in range(min(size, end - group * size)):
            number = driver.run.number = group * size + lane
            found[number] = [list(driver.stored(k, v)) for k, v in enumerate(lanes[lane])]
    return [
        [word for number in elements for word in found[number][k]]
        for k in range(len(driver.results))
    ]


def _run_group(driver: Driver, first: int, size: int) -> list[list[Words]]:
    """The results of each lane of a group."""
    run, entry = driver.run, driver.entry
    run.group = GroupState(first, size)
    if entry.in_lanes:  # the entry runs once for the whole group, and gives records of results
        return _lanes_results(driver, entry.results()[0], size)
    lanes = [entry.lane_results() for _ in range(size)]
    given: list[Words] | None = None
    while True:
        gives: list[Words] = []
        done: list[list[Words]] = []
        for lane, routine in enumerate(lanes):
            run.enter_lane(lane)
            try:
                gives.append(next(routine) if given is None else routine.send(given))
            except StopIteration as end:
                done.append(end.value)
            run.leave_lane()
        run.meet()
        if done:
            assert not gives  # a valid module's exchanges are reached alike
            return done
        given = gives


def _lanes_results(driver: Driver, records: Words, size: int) -> list[list[Words]]:
    """The results of each lane, out of the array of their records."""
    widths = [words(driver.module.structs, port.element) for port in driver.results]
    ends = [0, *accumulate(widths)]
    return [
        [records[lane * ends[-1] + a : lane * ends[-1] + b] for a, b in pairwise(ends)]
        for lane in range(size)
    ]


@dataclass(frozen=True, slots=True)
class _Partial:
    """A value of the reduction's tree: its lowest element, and no value once a merge failed."""

    lowest: int
    value: Words | None


def _reduce(driver: Driver, elements: Sequence[int]) -> Outputs:
    """Entries first, in element order; then merges. One that fails names the lowest element of its
    right operand, and the lowest so named fails the run; one that passes the bound ends it."""
    run, merge = driver.run, driver.last
    failures: dict[int, Failure] = {}

    def merged(left: _Partial, right: _Partial) -> _Partial:
        if left.value is None or right.value is None:
            return _Partial(left.lowest, None)
        run.enter(right.lowest)
        try:
            value = merge.value(left.value, right.value)
        except Failure as failure:
            failures[right.lowest] = failure
            if failure.kind is FaultKind.RUN_BOUND:
                _raise_lowest(run, failures)
            return _Partial(left.lowest, None)
        run.leave()
        return _Partial(left.lowest, value)

    partials = [_Partial(number, driver.element(number)[0]) for number in elements]
    total = fold(partials, merged).value
    if total is None:
        _raise_lowest(run, failures)
    assert total is not None  # else a merge failed
    run.number = 0
    return [list(driver.stored(0, total))]


def _raise_lowest(run: Run, failures: dict[int, Failure]) -> None:
    run.number = min(failures)
    raise failures[run.number]


def _scan(driver: Driver, elements: Sequence[int]) -> Outputs:
    """Each row sees the results of the one before as computed, before they are encoded."""
    run, outputs = driver.run, driver.empty()
    if elements:
        run.enter(0)
        run.carried = driver.last.value()
        run.leave()
    for number in elements:
        results = driver.element(number)
        driver.store_all(outputs, results)
        run.carried = results[0]
    return outputs + [list(memory.stored) for memory in run.memories]


def _scatter(driver: Driver, elements: Sequence[int]) -> Outputs:
    """Pairs are combined in element order; whether totals fit is asked once all are known."""
    run, manifest = driver.run, driver.module.manifest
    rule, base = manifest.mode.combine, manifest.mode.base
    assert rule is not None and base is not None  # a valid scatter's
    target = run.inputs[base]
    kinds = word_types(driver.module.structs, driver.results[0].element)
    combine = [combine_word(rule, ty) for ty in kinds]
    address = index_type(manifest.inputs[base].shape).lanes
    touched: dict[int, Words] = {}
    for number in elements:
        returned = driver.element(number)[0]
        for pair in (*run.pairs, returned):
            linear = write_index(target.extent, pair[:address])
            if linear is not None:
                before = touched[linear] if linear in touched else target.element(linear)
                both = zip(combine, before, pair[address:], strict=True)
                touched[linear] = tuple(meet(a, b) for meet, a, b in both)
    stored = list(target.stored)
    for linear in sorted(touched):
        run.number = linear
        for ty, total in zip(kinds, touched[linear], strict=True):
            if not total_fits(rule, ty, total):
                raise driver.failure(FaultKind.SCATTER_TOTAL, (total,))
        _put(stored, target, linear, driver.stored(0, touched[linear]))
    return [stored]


def _put(stored: list[Numeric], target: StoredField, linear: int, value: Iterable[Numeric]) -> None:
    first = linear * target.lanes
    stored[first : first + target.lanes] = value


def _prefix(driver: Driver, elements: Sequence[int]) -> Outputs:
    """Each row's value combined with every one before it; a sum fails where it does not fit."""
    rule = driver.module.manifest.mode.combine
    assert rule is not None  # a valid prefix's
    kinds = word_types(driver.module.structs, driver.results[0].element)
    combine = [combine_word(rule, ty) for ty in kinds]
    outputs = driver.empty()
    running: Words | None = None
    for number in elements:
        value = driver.element(number)[0]
        if running is not None:
            before, added = running, value
            both = zip(combine, before, added, strict=True)
            value = tuple(meet(a, b) for meet, a, b in both)
            for ty, total, pair in zip(kinds, value, zip(before, added, strict=True), strict=True):
                if not total_fits(rule, ty, total):
                    raise driver.failure(FaultKind.OVERFLOW, pair)
        running = value
        outputs[0].extend(driver.stored(0, value))
    return outputs


_DRIVERS: dict[ModeKind, Callable[[Driver, Sequence[int]], Outputs]] = {
    ModeKind.MAP: _map,
    ModeKind.GROUP: _group,
    ModeKind.REDUCE: _reduce,
    ModeKind.SCAN: _scan,
    ModeKind.SCATTER: _scatter,
    ModeKind.PREFIX: _prefix,
}
PARTIAL = (ModeKind.MAP, ModeKind.GROUP)
"""The modes that can run some of their elements without the others, over a domain that is asked
for; the domain of the others is the extent of input 0."""
