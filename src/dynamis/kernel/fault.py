"""Faults: what can go wrong while a kernel runs, and the error that names where it did."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from enum import Enum

from ..errors import DynamisError
from .module import KernelId, Span
from .types import Number


class FaultKind(Enum):
    """The kinds of failure; the value says it in words."""

    OVERFLOW = "the result does not fit in i32"
    DIVISION_BY_ZERO = "division by zero"
    BUDGET = "the work budget is spent"


@dataclass(frozen=True, slots=True)
class Fault:
    """The first failure of a run: element, function, instruction (pre-order id), kind, operands.

    ``function`` indexes ``Module.all_functions()``; ``operands`` are the failing word's operands
    (for BUDGET, the budget)."""

    element: int
    function: int
    instruction: int
    kind: FaultKind
    operands: tuple[Number, ...]
    span: Span | None


class KernelFault(DynamisError):
    """A kernel failed: names the kernel, the first failing element, the place and the operands."""

    def __init__(self, kernel: KernelId, fault: Fault, extent: tuple[int, ...], function: str):
        self.kernel = kernel
        self.fault = fault
        self.extent = extent
        self.function = function
        super().__init__(self._text())

    @property
    def coordinate(self) -> tuple[int, ...]:
        """(column, row) over a grid, (index,) over rows."""
        if len(self.extent) == 1:
            return (self.fault.element,)
        row, column = divmod(self.fault.element, self.extent[1])
        return (column, row)

    def _text(self) -> str:
        fault = self.fault
        place = f"element {fault.element}"
        if len(self.extent) > 1:
            column, row = self.coordinate
            place += f" (column {column}, row {row})"
        operands = ", ".join(repr(n) for n in fault.operands)
        what = f"{self.kernel} failed at {place}: {fault.kind.value}"
        if fault.kind is FaultKind.BUDGET:
            what += f" ({operands} loop iterations); raise it with budget= if this is meant"
        elif operands:
            what += f" (operands {operands})"
        if fault.span is None:
            return f"{what}, in {self.function}"
        span = fault.span
        source = linecache.getline(span.file, span.line).rstrip("\n")
        caret = " " * span.column + "^" * max(1, span.end_column - span.column)
        return f"{what}\n  {span.file}:{span.line}, in {self.function}\n    {source}\n    {caret}"
