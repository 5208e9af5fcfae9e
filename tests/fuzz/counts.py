"""What ran: executions of each operation at each type in each mode, seen through the interpreter.

In: what ``interpret`` tells its observer. Out: ``Counts``, and ``expected_cells``, every cell that
valid modules can reach.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache

from dynamis.kernel import op
from dynamis.kernel.mode import ModeKind
from dynamis.kernel.module import Instruction, Module
from dynamis.kernel.op_table import OPS
from dynamis.kernel.tables import BinaryOp, Intrinsic, UnaryOp
from tests.kernel.scope import FIXED, WHOLE, cells, kind_of, widest

Cell = tuple[str, str, str]
"""An operation, a type (an operator's widest operand's, another operation's result's), a mode."""

PER_CELL = 50
"""The executions that a cell is meant to have at the least, over a run of the usual size."""
_ROWS_ONLY = (ModeKind.SCAN, ModeKind.PREFIX)


class Counts:
    """Executions by cell, of one or many modules."""

    def __init__(self) -> None:
        self.cells: Counter[Cell] = Counter()

    def add(self, module: Module, executed: Counter[tuple[int, int]]) -> None:
        """Enters how often each (function, instruction) of a module ran."""
        mode = module.manifest.mode.name
        for index, function in enumerate(module.all_functions()):
            types = {i.id: i for i in function.instructions()}
            for id, instruction in types.items():
                times = executed.get((index, id), 0)
                if times:
                    self.cells[(*cell_of(module, instruction, types), mode)] += times

    def merge(self, other: Counts) -> None:
        self.cells.update(other.cells)

    def short(self, least: int) -> list[tuple[Cell, int]]:
        """The cells that ran less often than ``least`` times, the rarest first."""
        found = [(cell, self.cells[cell]) for cell in expected_cells() if self.cells[cell] < least]
        return sorted(found, key=lambda pair: pair[1])


def cell_of(
    module: Module, instruction: Instruction, by_id: dict[int, Instruction]
) -> tuple[str, str]:
    """What an instruction is counted as, its mode aside."""
    operation = instruction.op
    if isinstance(operation, (op.Unary, op.Binary, op.Intrinsic)):
        name = operation.intrinsic if isinstance(operation, op.Intrinsic) else operation.op
        ty = widest([by_id[id].ty for id in operation.operands()])
        return str(name), ty.name
    return type(operation).__name__, kind_of(instruction.ty, module.structs)


@cache
def expected_cells() -> tuple[Cell, ...]:
    """Every cell that a valid module without checks of work can reach."""
    return tuple(dict.fromkeys(_expected()))


def _expected() -> Iterator[Cell]:
    for mode in ModeKind:
        for family in (BinaryOp, UnaryOp, Intrinsic):
            for operation, ty in cells(WHOLE, family):
                yield str(operation), ty.name, mode.value
        for kind, row in OPS.items():
            if row.placed or mode not in row.modes or kind in (op.Unary, op.Binary, op.Intrinsic):
                continue
            for name in _types(kind, mode):
                yield kind.__name__, name, mode.value


def _types(kind: type[op.Op], mode: ModeKind) -> list[str]:
    """The types that an operation that no table of arithmetic holds can give, in a mode."""
    if kind is op.Emit:
        return ["record"]
    if kind is op.Each:
        return ["array"]
    if kind is op.AtLinear:
        return ["Float", "Vec2", "Vec3", "Vec4", "Mat2", "Mat3", "Mat4", "record", "array"]
    if kind in (op.Coord, op.Domain) and mode in _ROWS_ONLY:
        return [] if kind is op.Coord else ["Int"]
    if kind in FIXED:
        return [ty.name for ty in FIXED[kind]]
    plain = [ty for ty in WHOLE.types if not (kind is op.Construct and ty.is_scalar)]
    return [*(ty.name for ty in plain), "record", "array"]
