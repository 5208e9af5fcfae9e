"""Whether every lane of a group reaches its exchanges alike.

In: a module of mode group. Out: why not, or None. A value is *uniform*, the same in every lane,
when it is built only from constants, parameters, extents of the domain and of inputs, the host's
context, reads at uniform addresses, and Index and Carried of loops that every lane runs alike.
Every choice and every loop around an Exchange must be made by uniform values.

What varies is found by following what depends on what from the values that are a lane's own: time
linear in the function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from . import op as ops
from .carried import named_blocks
from .mode import ModeKind
from .module import Block, Function, Instruction, Module
from .op import ValueId

_OWN = (ops.Coord, ops.Element, ops.Lane, ops.Exchange, ops.Sample)
"""What a lane has alone."""


@dataclass(frozen=True, slots=True)
class GroupFault:
    """Where lanes may part before an exchange: its path, and what parts them."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


def group_fault(module: Module) -> GroupFault | None:
    """Why the lanes of a group may reach an exchange apart; None where they reach each alike, and
    in other modes, which have no exchange."""
    if module.manifest.mode.kind is not ModeKind.GROUP:
        return None
    return _parted(module.entry, varying(module.entry))


def varying(function: Function) -> frozenset[ValueId]:
    """The values of a group's entry that may differ between its lanes."""
    graph = _Dependents()
    graph.walk(function.body, None, None)
    found = set(graph.own)
    waiting = list(found)
    while waiting:
        for reader in graph.readers.get(waiting.pop(), ()):
            if reader not in found:
                found.add(reader)
                waiting.append(reader)
    return frozenset(found)


class _Dependents:
    """Which values vary when another does: its readers, and what it chooses or bounds."""

    def __init__(self) -> None:
        self.own: list[ValueId] = []
        self.readers: dict[ValueId, list[ValueId]] = {}

    def depends(self, value: ValueId, on: Sequence[ValueId | None]) -> None:
        for cause in on:
            if cause is not None:
                self.readers.setdefault(cause, []).append(value)

    def walk(
        self, body: Sequence[Instruction], loop: Instruction | None, number: Instruction | None
    ) -> None:
        """``loop`` is the innermost Loop, ``number`` the innermost Loop or Each."""
        for instruction in body:
            op, id = instruction.op, instruction.id
            if isinstance(op, _OWN) or (isinstance(op, ops.Part) and op.at is None):
                self.own.append(id)
            self.depends(id, op.operands())
            self.depends(id, [block.result for block in op.blocks()])
            match op:
                case ops.Loop():
                    self._walk_blocks(op.blocks(), instruction, instruction)
                case ops.Each():
                    self._walk_blocks(op.blocks(), loop, instruction)
                case ops.Carried() if loop is not None:
                    self.depends(id, [loop.id])
                case ops.Index() if number is not None and isinstance(number.op, ops.Loop):
                    until = number.op.until
                    self.depends(id, [number.op.bound, None if until is None else until.result])
                case _:
                    self._walk_blocks(op.blocks(), loop, number)

    def _walk_blocks(
        self, blocks: Sequence[Block], loop: Instruction | None, number: Instruction | None
    ) -> None:
        for block in blocks:
            self.walk(block.body, loop, number)


def _parted(function: Function, varies: frozenset[ValueId]) -> GroupFault | None:
    """The first exchange, in order, that stands under a choice or a loop of what varies."""

    def walk(body: Sequence[Instruction], path: str, reason: str | None) -> GroupFault | None:
        for instruction in body:
            here = f"{path}.%{instruction.id}"
            if isinstance(instruction.op, ops.Exchange) and reason is not None:
                return GroupFault(here, reason)
            inner = reason or _parts(instruction, here, varies)
            for name, block in named_blocks(instruction.op):
                fault = walk(block.body, f"{here}.{name}", inner)
                if fault is not None:
                    return fault
        return None

    return walk(function.body, "entry", None)


def _parts(instruction: Instruction, path: str, varies: frozenset[ValueId]) -> str | None:
    """How an instruction may take lanes different ways."""
    match instruction.op:
        case ops.If(condition) if condition in varies:
            return f"lanes may differ in the condition %{condition} of {path}"
        case ops.Match(scrutinee) if scrutinee in varies:
            return f"lanes may differ in the scrutinee %{scrutinee} of {path}"
        case ops.Loop(bound=bound) if bound is not None and bound in varies:
            return f"lanes may differ in the bound %{bound} of {path}"
        case ops.Loop(until=until) if until is not None and until.result in varies:
            return f"lanes may differ in the test %{until.result} of {path}"
    return None
