"""A function as steps over a frame: the reference evaluation of every operation.

In: a function of an accounted module and the run it is part of. Out: ``FunctionSteps``, which runs
it. A step is ``(slot, step, waits)``: ``step(frame)`` gives the value for that slot, a flat tuple
of words. A step of an If or a Loop runs the steps of its blocks, a step of a Call those of its
function. A frame holds the function's values by id, then its arguments, then one number per Loop
and Each: the iteration it is in, or, after it, how many it ran.

Where a block holds an Exchange, its steps wait: ``step(frame)`` is then a generator, which yields
what its lane gives and is sent what all lanes gave.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

from . import op as ops
from .arithmetic import TABLE, Operation, Row
from .context import ASKS
from .layout import part_layout
from .module import Block, Function, Instruction
from .reads import Words, extent_words, linear_index, read_index
from .run import Failure, Run
from .tables import BinaryOp
from .types import elements_of, word_types

Frame = list[Any]
Step = Callable[[Frame], Any]
Steps = tuple[tuple[int, Step, bool], ...]
Waiting = Generator[Words, Sequence[Words], Any]


@dataclass(frozen=True, slots=True)
class Scope:
    """What Carried and Index mean in a block: the slot of the value the innermost Loop carries, and
    the place of its, or a nearer Each's, number; None where it is the scan's. ``loop``: the
    innermost Loop."""

    carried: int | None = None
    number: int | None = None
    loop: int | None = None


def run_steps(steps: Steps, frame: Frame) -> None:
    """Runs steps that do not wait."""
    for slot, step, _ in steps:
        frame[slot] = step(frame)


def run_waiting(steps: Steps, frame: Frame) -> Waiting:
    """Runs steps of which some wait."""
    for slot, step, waits in steps:
        frame[slot] = (yield from step(frame)) if waits else step(frame)


def _waits(steps: Steps) -> bool:
    return any(waits for _, _, waits in steps)


def _looks(body: Block) -> bool:
    """Whether a Look stands first in a loop's body, or in that of the Lanes that stands first."""
    first = body.body[0].op if body.body else None
    return _looks(first.body) if isinstance(first, ops.Lanes) else isinstance(first, ops.Look)


class FunctionSteps:
    """A function as steps over a frame."""

    def __init__(self, run: Run, index: int, function: Function, below: Sequence[FunctionSteps]):
        self.run = run
        self.index = index
        self.function = function
        self.below = below
        self.types = [instruction.ty for instruction in function.instructions()]
        self.first_argument = len(self.types)
        # A new frame: constants and parameters are in place, all else is not yet computed.
        self.fresh: Frame = [None] * (len(self.types) + len(function.args))
        self.loop_number: dict[int, int] = {}
        """Where in the frame each loop's number is."""
        self.looking: set[int] = set()
        """The loops that count their own iterations: a Look stands first in their bodies."""
        self.steps = self._steps(function.body, Scope())
        self.in_lanes = any(isinstance(i.op, ops.Lanes) for i in function.body)
        """Whether ``lanes`` has placed this entry's lanes: it then runs once for a whole group."""

    def call(self, arguments: Sequence[Words]) -> Frame:
        """Runs the function; gives its frame, in which its results are."""
        frame = self.fresh.copy()
        frame[self.first_argument : self.first_argument + len(arguments)] = arguments
        for slot, step, _ in self.steps:
            frame[slot] = step(frame)
        return frame

    def value(self, *arguments: Words) -> Words:
        """The first result for these arguments."""
        value: Words = self.call(arguments)[self.function.results[0]]
        return value

    def results(self) -> list[Words]:
        """The results of a function without arguments."""
        frame = self.call(())
        return [frame[result] for result in self.function.results]

    def lane_results(self) -> Waiting:
        """``results``, as a lane that waits for the others at each Exchange."""
        frame = self.fresh.copy()
        yield from run_waiting(self.steps, frame)
        return [frame[result] for result in self.function.results]

    # Instructions into steps.

    def _steps(self, body: Sequence[Instruction], scope: Scope) -> Steps:
        steps: list[tuple[int, Step, bool]] = []
        for instruction in body:
            known = self._known(instruction.op)
            if known is None:
                step, waits = self._step(instruction, scope)
                steps.append((instruction.id, step, waits))
            else:
                self.fresh[instruction.id] = known
        return tuple(steps)

    def _known(self, op: ops.Op) -> Words | None:
        """The value of an operation that is the same for every element."""
        run = self.run
        match op:
            case ops.Const(value):
                return value.numbers_in(run.module.structs)
            case ops.Param(index):
                return run.params[index]
            case ops.Domain():
                return extent_words(run.extent)
            case ops.Size(index):
                return extent_words(run.inputs[index].extent)
            case ops.Count(index):
                return (run.inputs[index].count,)
        return run.host.read(op)

    def _step(self, instruction: Instruction, scope: Scope) -> tuple[Step, bool]:
        """The step of an instruction, and whether it waits."""
        match instruction.op:
            case ops.If(condition, then, otherwise):
                return self._choice(lambda frame: frame[condition][0], (otherwise, then), scope)
            case ops.Match() as op:
                return self._match(op, scope)
            case ops.Loop() as op:
                return self._loop(instruction.id, op)
            case ops.Each(count, body):
                return self._each(count, body, scope)
            case ops.Exchange(value, lane):
                return self._exchange(value, lane), True
            case ops.Lanes(body):
                return self._lanes(body, scope), False
            case ops.Meet():
                return self._meet, False
            case ops.Spend(value):
                return self._spend(value), False
            case ops.Look():
                return self._look(instruction, scope), False
        return self._plain(instruction, scope), False

    def _plain(self, instruction: Instruction, scope: Scope) -> Step:
        """The step of an instruction without blocks that no other lane matters to."""
        run = self.run
        match instruction.op:
            case ops.Arg(index):
                slot = self.first_argument + index
                return lambda frame: frame[slot]
            case ops.Unary(operation, a):
                return self._by_component(instruction, operation, (a,))
            case ops.Binary(BinaryOp.EQUAL | BinaryOp.NOT_EQUAL as operation, a, b):
                return self._equality(operation, a, b)
            case ops.Binary(operation, a, b):
                return self._by_component(instruction, operation, (a, b))
            case ops.Intrinsic(intrinsic, args):
                return self._by_component(instruction, intrinsic, args)
            case ops.Construct(parts):
                return lambda frame: tuple(word for part in parts for word in frame[part])
            case ops.Extract(value, index):
                start, end = run.parts(self.types[value])[index]
                return lambda frame: frame[value][start:end]
            case ops.Subscript(value, index):
                return self._subscript(value, index)
            case ops.Call(function, args):
                callee = self.below[function]
                result = callee.function.results[0]
                return lambda frame: callee.call([frame[arg] for arg in args])[result]
            case ops.Carried():
                carried = scope.carried
                if carried is None:
                    return lambda _: run.carried
                return lambda frame: frame[carried]
            case ops.Index():
                number = scope.number
                if number is None:
                    return lambda _: (run.number,)
                return lambda frame: (frame[number],)
            case ops.Coord():
                return lambda _: tuple(float(x) for x in reversed(run.position))
            case ops.Element():
                return lambda _: (run.number,)
            case ops.Lane():
                return lambda _: (run.lane,)
            case ops.Emit(value):
                return self._emit(value)
            case ops.Put():
                return self._put(instruction, instruction.op)
            case other if type(other) in ASKS:
                (asked,) = other.operands()
                return lambda frame: run.host.ask(type(other), frame[asked][0])
            case other:
                return self._read(other)

    # Arithmetic.

    def _by_component(
        self, instruction: Instruction, operation: Operation, operands: Sequence[int]
    ) -> Step:
        """An operation of the tables, word by word; scalars beside a vector or matrix broadcast."""
        row: Row = TABLE[operation][self.types[operands[0]].component]
        evaluate, fault, index = row.evaluate, row.fault, self.index
        lanes = instruction.ty.lanes
        copies = [(id, lanes // self.types[id].lanes) for id in operands]

        def checked(frame: Frame) -> Words:
            assert fault is not None
            columns = [frame[id] * times for id, times in copies]
            for given in zip(*columns, strict=True):
                kind = fault(*given)
                if kind is not None:
                    raise Failure(index, instruction, kind, given)
            return tuple(map(evaluate, *columns))

        if fault is not None:
            return checked
        if len(copies) == 1:
            ((a, _),) = copies
            return lambda frame: tuple(map(evaluate, frame[a]))
        if len(copies) == 2:
            (a, m), (b, n) = copies
            return lambda frame: tuple(map(evaluate, frame[a] * m, frame[b] * n))
        return lambda frame: tuple(map(evaluate, *(frame[id] * times for id, times in copies)))

    def _equality(self, operation: BinaryOp, a: int, b: int) -> Step:
        """Of whole values: equal when every word is; not equal when any word is not."""
        evaluate = TABLE[operation][self.types[a].component].evaluate
        over = all if operation is BinaryOp.EQUAL else any
        return lambda frame: (over(map(evaluate, frame[a], frame[b])),)

    def _subscript(self, value: int, index: int) -> Step:
        indexed = elements_of(self.run.module.structs, self.types[value])
        assert indexed is not None  # a valid Subscript's operand
        _, count, stride = indexed

        def step(frame: Frame) -> Words:
            start = min(max(frame[index][0], 0), count - 1) * stride
            found: Words = frame[value][start : start + stride]
            return found

        return step

    # Host access. A coordinate outside an input reads its nearest element.

    def _read(self, op: ops.Op) -> Step:
        run = self.run
        match op:
            case ops.Sample(index):
                field = run.inputs[index]
                return lambda _: field.element(linear_index(field.extent, run.position))
            case ops.At(index, address):
                field = run.inputs[index]
                return lambda frame: field.element(read_index(field.extent, frame[address]))
            case ops.AtLinear(index, address):
                field = run.inputs[index]
                return lambda frame: field.linear(frame[address])
            case ops.Part():
                return self._part(op)
        raise AssertionError(f"no step for {type(op).__name__}")

    def _part(self, op: ops.Part) -> Step:
        run, at, structs = self.run, op.at, self.run.module.structs
        field = run.inputs[op.input]
        layout = part_layout(structs, run.module.manifest.inputs[op.input].element, op.path)
        assert layout is not None  # a valid Part's path
        base, steps, size = layout.base, layout.steps, len(word_types(structs, layout.ty))

        def step(frame: Frame) -> Words:
            if at is None:
                linear = linear_index(field.extent, run.position)
            else:
                linear = read_index(field.extent, frame[at])
            start = base
            for index, count, stride in steps:
                start += min(max(frame[index][0], 0), count - 1) * stride
            return field.part(linear, start, size)

        return step

    def _put(self, instruction: Instruction, op: ops.Put) -> Step:
        run, own = self.run, self.index

        def step(frame: Frame) -> Words:
            value: Words = frame[op.value]
            failed = run.put(op.input, frame[op.address], value)
            if failed is not None:
                raise Failure(own, instruction, *failed)
            return value

        return step

    def _emit(self, value: int) -> Step:
        run = self.run

        def step(frame: Frame) -> Words:
            pair: Words = frame[value]
            run.pairs.append(pair)
            return pair

        return step

    # Control.

    def _choice(
        self, select: Callable[[Frame], int], blocks: Sequence[Block], scope: Scope
    ) -> tuple[Step, bool]:
        """Runs the block of the number that ``select`` gives, and yields its value."""
        arms = [(self._steps(block.body, scope), block.result) for block in blocks]

        def step(frame: Frame) -> Any:
            steps, result = arms[select(frame)]
            for slot, run, _ in steps:
                frame[slot] = run(frame)
            return frame[result]

        def waiting(frame: Frame) -> Waiting:
            steps, result = arms[select(frame)]
            yield from run_waiting(steps, frame)
            return frame[result]

        waits = any(_waits(steps) for steps, _ in arms)
        return (waiting if waits else step), waits

    def _match(self, op: ops.Match, scope: Scope) -> tuple[Step, bool]:
        arm_of = {value: k for k, (values, _) in enumerate(op.arms) for value in values}
        scrutinee, default = op.scrutinee, len(op.arms)
        blocks = op.blocks()
        return self._choice(lambda frame: arm_of.get(frame[scrutinee][0], default), blocks, scope)

    def _number(self) -> int:
        """Room in the frame for a number."""
        self.fresh.append(0)
        return len(self.fresh) - 1

    def _loop(self, id: int, op: ops.Loop) -> tuple[Step, bool]:
        """For k = 0 … n-1: test, stop if it holds, run the body. The test sees the carried value
        and k; it is not evaluated after the last iteration."""
        number = self.loop_number[id] = self._number()
        if _looks(op.body):
            self.looking.add(id)
        count, bound, init = op.count, op.bound, op.init
        scope = Scope(carried=id, number=number, loop=id)  # it keeps what it carries in its slot
        test = () if op.until is None else self._steps(op.until.body, scope)
        stops = None if op.until is None else op.until.result
        body, result = self._steps(op.body.body, scope), op.body.result

        def step(frame: Frame) -> Any:
            n = count if bound is None else min(max(frame[bound][0], 0), count)
            frame[id] = frame[init]
            k = 0
            while k < n:
                frame[number] = k
                for slot, run, _ in test:
                    frame[slot] = run(frame)
                if stops is not None and frame[stops][0]:
                    break
                for slot, run, _ in body:
                    frame[slot] = run(frame)
                frame[id] = frame[result]
                k += 1
            frame[number] = k
            return frame[id]

        def waiting(frame: Frame) -> Waiting:
            n = count if bound is None else min(max(frame[bound][0], 0), count)
            frame[id] = frame[init]
            k = 0
            while k < n:
                frame[number] = k
                yield from run_waiting(test, frame)
                if stops is not None and frame[stops][0]:
                    break
                yield from run_waiting(body, frame)
                frame[id] = frame[result]
                k += 1
            frame[number] = k
            return frame[id]

        waits = _waits(test) or _waits(body)
        return (waiting if waits else step), waits

    def _each(self, count: int, block: Block, scope: Scope) -> tuple[Step, bool]:
        number, result = self._number(), block.result
        body = self._steps(block.body, Scope(scope.carried, number, scope.loop))

        def step(frame: Frame) -> Words:
            found: list[Any] = []
            for k in range(count):
                frame[number] = k
                for slot, run, _ in body:
                    frame[slot] = run(frame)
                found.extend(frame[result])
            return tuple(found)

        def waiting(frame: Frame) -> Waiting:
            found: list[Any] = []
            for k in range(count):
                frame[number] = k
                yield from run_waiting(body, frame)
                found.extend(frame[result])
            return tuple(found)

        waits = _waits(body)
        return (waiting if waits else step), waits

    # Groups.

    def _exchange(self, value: int, lane: int) -> Step:
        def step(frame: Frame) -> Waiting:
            given = yield frame[value]
            return given[frame[lane][0] % len(given)]

        return step

    def _lanes(self, block: Block, scope: Scope) -> Step:
        """The body as each lane that has not failed. The place of one that has holds what the
        lowest that still runs gave, so that what is the same in all lanes can be read of any; once
        no lane runs, the group fails."""
        run, result = self.run, block.result
        body = self._steps(block.body, scope)

        def step(frame: Frame) -> Words:
            group = run.group
            found: dict[int, Words] = {}
            for lane in range(len(group.work)):
                if lane in group.held:
                    continue
                run.enter_lane(lane)
                try:
                    run_steps(body, frame)
                    found[lane] = frame[result]
                except Failure as failure:
                    group.held[lane] = failure
                run.leave_lane()
            if not found:
                run.meet()
            lowest = found[min(found)]
            return tuple(w for k in range(len(group.work)) for w in found.get(k, lowest))

        return step

    def _meet(self, _: Frame) -> Words:
        self.run.meet()
        return (True,)

    # Work: iterations are added to the element's work by a loop's own Look, else by its Spend.

    def _spend(self, loop: int) -> Step:
        run, number = self.run, self.loop_number[loop]
        counts = loop not in self.looking

        def step(frame: Frame) -> Words:
            ran = frame[number]
            if counts:
                run.work += ran
            return (ran,)

        return step

    def _look(self, instruction: Instruction, scope: Scope) -> Step:
        """A Look inside a loop is that loop's own: it stands nowhere else in one."""
        run, index = self.run, self.index
        iteration = 0 if scope.loop is None else 1

        def step(_: Frame) -> Words:
            run.work += iteration
            failed = run.check_work()
            if failed is not None:
                kind, limit = failed
                raise Failure(index, instruction, kind, (limit,))
            return (True,)

        return step
