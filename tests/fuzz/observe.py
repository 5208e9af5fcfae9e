"""Running the reference interpreter and seeing every instruction that it runs.

In: a validated module and data for it. Out: ``observed``, which runs it as ``interpret`` does and
tells an observer the function, the instruction and the words of each value that is computed. What
the interpreter computes once, ahead of the elements, is told each time it would be read anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dynamis.kernel import Outcome, Validated, interpret, op
from dynamis.kernel.module import Instruction
from dynamis.kernel.run import Run
from dynamis.kernel.steps import FunctionSteps
from dynamis.kernel.types import Numeric
from tests.kernel.random_data import Run as Data

Words = tuple[Numeric, ...]
Observer = Callable[[Run, int, Instruction, Words, int], None]
"""Is told the run (which holds the element's number), the function, the instruction, its words and,
of a loop, how often it ran its body."""


@contextmanager
def _watched(observer: Observer, entered: Callable[[int], None]) -> Iterator[None]:
    """While it holds, functions that are made into steps tell the observer what they compute, and
    ``entered`` is told the number of each element, merge and init that begins."""
    known, made, enter = FunctionSteps._known, FunctionSteps._step, Run.enter

    def step(self: FunctionSteps, instruction: Instruction, scope: Any) -> tuple[Any, bool]:
        words = known(self, instruction.op)
        inner, waits = made(self, instruction, scope) if words is None else (None, False)
        run, index = self.run, self.index
        is_loop = isinstance(instruction.op, op.Loop)

        def ran(frame: Any) -> int:
            return frame[self.loop_number[instruction.id]] if is_loop else 0

        def told(frame: Any) -> Any:
            value = words if inner is None else inner(frame)
            assert value is not None, f"function {index}, %{instruction.id}: {instruction.op}"
            observer(run, index, instruction, value, ran(frame))
            return value

        def waiting(frame: Any) -> Any:
            assert inner is not None
            value = yield from inner(frame)
            observer(run, index, instruction, value, ran(frame))
            return value

        return (waiting, True) if waits else (told, False)

    def entering(self: Run, number: int) -> None:
        entered(number)
        enter(self, number)

    Run.enter = entering  # type: ignore[method-assign]
    FunctionSteps._known = lambda self, op: None  # type: ignore[method-assign]
    FunctionSteps._step = step  # type: ignore[method-assign]
    try:
        yield
    finally:
        FunctionSteps._known, FunctionSteps._step = known, made  # type: ignore[method-assign]
        Run.enter = enter  # type: ignore[method-assign]


def observed(
    validated: Validated, data: Data, observer: Observer, entered: Callable[[int], None]
) -> Outcome:
    """``interpret`` of the data, the observer told of all that it computes."""
    with _watched(observer, entered):
        return interpret(validated, data.inputs, data.params, data.extent, context=data.context)
