"""Faults: what can go wrong while a kernel runs, and the error that names where it did."""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ..errors import DynamisError
from .types import Numeric

if TYPE_CHECKING:
    from .module import KernelId, Span


class FaultKind(Enum):
    """The kinds of failure; the value says it in words."""

    OVERFLOW = "the result does not fit its type"
    DIVISION_BY_ZERO = "division by zero"
    BUDGET = "the work budget is spent"
    SCATTER_TOTAL = "the total of what was scattered here does not fit its type"
    RUN_BOUND = "the run's bound on work is passed"


@dataclass(frozen=True, slots=True)
class Fault:
    """The first failure of a run: element, function, instruction (pre-order id), kind, operands.

    ``function`` indexes ``Module.all_functions()``. ``operands`` are the failing word's operands:
    for BUDGET the budget, for RUN_BOUND the bound, for SCATTER_TOTAL the exact total. A fault that
    no instruction makes (SCATTER_TOTAL, and a Prefix's OVERFLOW) names the entry's result; its
    ``element`` is the target (or the row)."""

    element: int
    function: int
    instruction: int
    kind: FaultKind
    operands: tuple[Numeric, ...]
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
        """(index,) over rows, (column, row) over a grid, (x, y, z) over a volume."""
        rest, place = self.fault.element, []
        for size in reversed(self.extent[1:]):
            rest, along = divmod(rest, size)
            place.append(along)
        return (*place, rest)

    def _text(self) -> str:
        fault = self.fault
        place = f"element {fault.element}"
        if len(self.extent) == 2:
            column, row = self.coordinate
            place += f" (column {column}, row {row})"
        elif len(self.extent) > 2:
            named = zip("xyz", self.coordinate, strict=True)
            place += f" ({', '.join(f'{axis} {at}' for axis, at in named)})"
        operands = ", ".join(repr(n) for n in fault.operands)
        what = f"{self.kernel} failed at {place}: {fault.kind.value}"
        if fault.kind is FaultKind.BUDGET:
            what += f" ({operands} loop iterations); raise it with budget= if this is meant"
        elif fault.kind is FaultKind.RUN_BOUND:
            what += f" ({operands} loop iterations); raise it with max_work= if this is meant"
        elif fault.kind is FaultKind.SCATTER_TOTAL and operands:
            what += f" (total {operands})"
        elif operands:
            what += f" (operands {operands})"
        if fault.span is None:
            return f"{what}, in {self.function}"
        span = fault.span
        source = linecache.getline(span.file, span.line).rstrip("\n")
        caret = " " * span.column + "^" * max(1, span.end_column - span.column)
        return f"{what}\n  {span.file}:{span.line}, in {self.function}\n    {source}\n    {caret}"
