"""The reference interpreter: the definition of what a kernel computes, in plain Python.

In: a validated module, its inputs and parameters, the domain's extent. Out: the words of each
output for each element asked for, or the first fault. Every backend is held against this, word for
word and fault for fault.

A value is a flat tuple of words: a Float as a Python float that an f32 holds exactly, an Int as an
int, a Bool as a bool. What leaves the interpreter has canonical NaNs only. The module is accounted,
then each function becomes a frame layout and a list of steps: ``(slot, step)``, where
``step(frame)`` gives the value for that slot. A step of an If or a Loop runs the steps of its
blocks, a step of a Call those of its function. A frame holds the function's values by id, then its
arguments, then one number per loop: the iteration it is in, or, after it, how many it ran.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from ..errors import DynamisError
from . import op as ops
from .arithmetic import TABLE, Operation, Row
from .fault import Fault, FaultKind
from .module import Block, Function, Instruction, Manifest, Module, Shape
from .tables import BinaryOp
from .types import Numeric, Type, Value, words
from .validate import Validated
from .work import account

Words = tuple[Numeric, ...]
Frame = list[Any]
Step = Callable[[Frame], Words]
Steps = tuple[tuple[int, Step], ...]


class InvalidRun(DynamisError, ValueError):
    """Inputs, parameters or extent do not fit the kernel's manifest."""


@dataclass(frozen=True, slots=True)
class InputField:
    """An input's data: ``extent`` is (n,) or (rows, columns); ``words`` are flat, element by
    element, a Float exactly representable as f32."""

    extent: tuple[int, ...]
    words: Sequence[Numeric]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run gave: for each output the words of the elements asked for, end to end, and no
    fault; or the fault, and no outputs."""

    outputs: tuple[list[Numeric], ...] | None
    fault: Fault | None


def interpret(
    validated: Validated,
    inputs: Sequence[InputField],
    params: Sequence[Value],
    extent: tuple[int, ...],
    elements: Sequence[int] | None = None,
) -> Outcome:
    """Runs the kernel on the elements with the given linear indices (default: all), in that order.

    ``extent`` is the domain's, (n,) or (rows, columns). The first element that fails ends the run.
    ``Fault.function`` and ``.instruction`` number the *accounted* module's. Raises InvalidRun when
    inputs or parameters do not fit the manifest, or an input without elements meets a run that has
    some (there is no element a clamped read could give)."""
    module = account(validated.module)
    chosen = range(math.prod(extent)) if elements is None else elements
    _check(module.manifest, inputs, params, extent, chosen)
    run = _Run(module, inputs, params, extent)
    outputs: tuple[list[Numeric], ...] = tuple([] for _ in module.manifest.outputs)
    for element in chosen:
        try:
            results = run.element(element)
        except _Failure as failure:
            return Outcome(None, failure.at(module, element))
        for output, value in zip(outputs, results, strict=True):
            output.extend(_canonical(value))
    return Outcome(outputs, None)


def _canonical(value: Words) -> Words:
    """The words as they may be seen from outside: every NaN is the one canonical NaN."""
    return tuple(math.nan if word != word else word for word in value)


def _check(
    manifest: Manifest,
    inputs: Sequence[InputField],
    params: Sequence[Value],
    extent: tuple[int, ...],
    elements: Sequence[int],
) -> None:
    domain = manifest.outputs[0].shape
    if len(extent) != domain.rank or min(extent) < 0:
        raise InvalidRun(f"the domain is a {domain.value}: {extent} is not an extent of it")
    if len(elements) and not 0 <= min(elements) <= max(elements) < math.prod(extent):
        raise InvalidRun(f"an element outside the domain of extent {extent}")
    if len(inputs) != len(manifest.inputs) or len(params) != len(manifest.params):
        raise InvalidRun(
            f"{manifest.id} takes {len(manifest.inputs)} inputs and {len(manifest.params)} "
            f"parameters, not {len(inputs)} and {len(params)}"
        )
    for port, given in zip(manifest.inputs, inputs, strict=True):
        if len(given.extent) != port.shape.rank or min(given.extent) < 0:
            raise InvalidRun(f"input {port.name} is {port.ty}: {given.extent} is not its extent")
        size = math.prod(given.extent) * port.element.lanes
        if len(given.words) != size:
            raise InvalidRun(f"input {port.name} has {len(given.words)} words, not {size}")
        if size == 0 and len(elements) > 0:
            raise InvalidRun(f"input {port.name} has no elements, but the run has")
    for param, value in zip(manifest.params, params, strict=True):
        if value.ty != param.ty:
            raise InvalidRun(f"parameter {param.name} is of type {param.ty}, not {value.ty}")


class _Failure(Exception):
    """Unwinds a failed element to ``interpret``."""

    def __init__(self, function: int, instruction: Instruction, kind: FaultKind, operands: Words):
        self.function = function
        self.instruction = instruction
        self.kind = kind
        self.operands = operands

    def at(self, module: Module, element: int) -> Fault:
        place = self.instruction
        operands = _canonical(self.operands)
        return Fault(element, self.function, place.id, self.kind, operands, place.span)


class _Run:
    """One run of a module: its data, its functions in steps, and the element being computed."""

    def __init__(
        self,
        module: Module,
        inputs: Sequence[InputField],
        params: Sequence[Value],
        extent: tuple[int, ...],
    ):
        self.module = module
        self.inputs = inputs
        self.params = [value.numbers for value in params]
        self.extent = extent
        self.number = 0
        self.position: tuple[int, ...] = ()
        """The element's place in NumPy order: (index,) or (row, column)."""
        self.work = 0
        self.bounds: dict[Type, list[tuple[int, int]]] = {}
        self.functions: list[_Steps] = []
        for index, function in enumerate(module.all_functions()):
            self.functions.append(_Steps(self, index, function))
        self.entry = self.functions[-1]

    def parts(self, ty: Type) -> list[tuple[int, int]]:
        """First and end word of each part of a vector or a record."""
        if ty not in self.bounds:
            structs = self.module.structs
            fields = [f.ty for f in structs[ty.index].fields] if ty.is_struct else [Type.INT] * 4
            ends = list(accumulate(words(structs, field) for field in fields))
            self.bounds[ty] = list(pairwise([0, *ends]))
        return self.bounds[ty]

    def element(self, number: int) -> list[Words]:
        """The entry's results at one element. Raises _Failure."""
        self.number = number
        self.position = divmod(number, self.extent[1]) if len(self.extent) == 2 else (number,)
        self.work = 0
        frame = self.entry.call(())
        return [frame[result] for result in self.entry.function.results]


class _Steps:
    """A function as steps over a frame."""

    def __init__(self, run: _Run, index: int, function: Function):
        self.run = run
        self.index = index
        self.function = function
        self.types = [instruction.ty for instruction in function.instructions()]
        self.first_argument = len(self.types)
        # A new frame: constants and parameters are in place, all else is not yet computed.
        self.fresh: Frame = [None] * (len(self.types) + len(function.args))
        self.loop_number: dict[int, int] = {}
        """Where in the frame each loop's number is."""
        self.looking: set[int] = set()
        """The loops that count their own iterations: a Look stands first in their bodies."""
        self.steps = self._steps(function.body, None)

    def call(self, arguments: Sequence[Words]) -> Frame:
        """Runs the function; gives its frame, in which its results are."""
        frame = self.fresh.copy()
        frame[self.first_argument : self.first_argument + len(arguments)] = arguments
        for slot, step in self.steps:
            frame[slot] = step(frame)
        return frame

    def _steps(self, body: Sequence[Instruction], loop: int | None) -> Steps:
        """The steps of a block; ``loop`` is the id of the innermost loop around it."""
        steps: list[tuple[int, Step]] = []
        for instruction in body:
            known = self._known(instruction.op)
            if known is None:
                steps.append((instruction.id, self._step(instruction, loop)))
            else:
                self.fresh[instruction.id] = known
        return tuple(steps)

    def _known(self, op: ops.Op) -> Words | None:
        """The value of an operation that is the same for every element."""
        run = self.run
        match op:
            case ops.Const(value):
                return value.numbers
            case ops.Param(index):
                return run.params[index]
            case ops.Domain():
                return _address(run.extent)
            case ops.Size(index):
                return _address(run.inputs[index].extent)
            case ops.Count(index):
                return (math.prod(run.inputs[index].extent),)
        return None

    def _step(self, instruction: Instruction, loop: int | None) -> Step:
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
                return self._extract(value, index)
            case ops.Call(function, args):
                callee = run.functions[function]
                result = callee.function.results[0]
                return lambda frame: callee.call([frame[arg] for arg in args])[result]
            case ops.If(condition, then, otherwise):
                return self._if(condition, then, otherwise, loop)
            case ops.Loop() as op:
                return self._loop(instruction.id, op)
            case ops.Carried():
                assert loop is not None
                carried = loop  # a loop keeps its carried value in its own slot
                return lambda frame: frame[carried]
            case ops.Index():
                assert loop is not None
                number = self.loop_number[loop]
                return lambda frame: (frame[number],)
            case ops.Coord():
                return lambda _: (float(run.position[1]), float(run.position[0]))
            case ops.Element():
                return lambda _: (run.number,)
            case ops.Sample(index):
                return self._sample(index)
            case ops.At(index, address):
                return self._at(index, address)
            case ops.Spend(value):
                return self._spend(value)
            case ops.Look():
                return self._look(instruction, loop)
            case other:
                raise AssertionError(f"no step for {type(other).__name__}")

    # Arithmetic.

    def _by_component(
        self, instruction: Instruction, operation: Operation, operands: Sequence[int]
    ) -> Step:
        """An operation of the tables, component by component; scalars beside a vector broadcast."""
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
                    raise _Failure(index, instruction, kind, given)
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

    def _extract(self, value: int, index: int) -> Step:
        start, end = self.run.parts(self.types[value])[index]
        return lambda frame: frame[value][start:end]

    # Reads. A coordinate outside an input reads its nearest element.

    def _sample(self, index: int) -> Step:
        run, given = self.run, self.run.inputs[index]
        lanes = run.module.manifest.inputs[index].element.lanes
        return lambda _: _element(given, lanes, run.position)

    def _at(self, index: int, address: int) -> Step:
        given = self.run.inputs[index]
        port = self.run.module.manifest.inputs[index]
        lanes = port.element.lanes
        if port.shape is Shape.ROWS:
            return lambda frame: _element(given, lanes, frame[address])

        def grid(frame: Frame) -> Words:
            column, row = frame[address]
            rows, columns = given.extent
            return _element(given, lanes, (_floored(row, rows), _floored(column, columns)))

        return grid

    # Control.

    def _if(self, condition: int, then: Block, otherwise: Block, loop: int | None) -> Step:
        arms = (
            (self._steps(otherwise.body, loop), otherwise.result),
            (self._steps(then.body, loop), then.result),
        )

        def step(frame: Frame) -> Words:
            steps, result = arms[frame[condition][0]]
            for slot, run in steps:
                frame[slot] = run(frame)
            value: Words = frame[result]
            return value

        return step

    def _loop(self, id: int, op: ops.Loop) -> Step:
        """For k = 0 … n-1: test, stop if it holds, run the body. The test sees the carried value
        and k; it is not evaluated after the last iteration."""
        number = self.loop_number[id] = len(self.fresh)
        self.fresh.append(0)
        if op.body.body and isinstance(op.body.body[0].op, ops.Look):
            self.looking.add(id)
        count, bound, init = op.count, op.bound, op.init
        test = () if op.until is None else self._steps(op.until.body, id)
        stops = None if op.until is None else op.until.result
        body, result = self._steps(op.body.body, id), op.body.result

        def step(frame: Frame) -> Words:
            n = count if bound is None else min(max(frame[bound][0], 0), count)
            frame[id] = frame[init]
            k = 0
            while k < n:
                frame[number] = k
                for slot, run in test:
                    frame[slot] = run(frame)
                if stops is not None and frame[stops][0]:
                    break
                for slot, run in body:
                    frame[slot] = run(frame)
                frame[id] = frame[result]
                k += 1
            frame[number] = k
            value: Words = frame[id]
            return value

        return step

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

    def _look(self, instruction: Instruction, loop: int | None) -> Step:
        """A Look inside a loop is that loop's own: it stands nowhere else in one."""
        run, index = self.run, self.index
        budget = run.module.manifest.work_limit
        iteration = 0 if loop is None else 1

        def step(_: Frame) -> Words:
            run.work += iteration
            if run.work > budget:
                raise _Failure(index, instruction, FaultKind.BUDGET, (budget,))
            return (True,)

        return step


def _address(extent: tuple[int, ...]) -> Words:
    """An extent as its index type: Int, or Vec2(columns, rows)."""
    return extent if len(extent) == 1 else (float(extent[1]), float(extent[0]))


def _floored(x: float, size: int) -> int:
    """The whole coordinate in 0 … size-1 that a Float names: floored and clamped, NaN 0."""
    if not x > 0.0:
        return 0
    return size - 1 if x >= size - 1 else int(x)


def _element(given: InputField, lanes: int, position: Sequence[Numeric]) -> Words:
    """The element of an input nearest to a whole position in NumPy order."""
    linear = 0
    for x, size in zip(position, given.extent, strict=True):
        linear = linear * size + min(max(int(x), 0), size - 1)
    return tuple(given.words[linear * lanes : (linear + 1) * lanes])
