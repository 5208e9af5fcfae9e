"""The way back from ``lanes``: a group's entry as it was before.

In: a module, which may claim to be what ``lanes`` made. Out: the module that it would have been
made of, or None where it is clearly none; whether it is one, ``lanes`` of the answer says. The runs
of instructions that ``lanes`` writes are told by their types, which no other instruction has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from . import op as ops
from .module import Block, Function, Instruction, Module
from .op import ValueId
from .types import Type

_IMPORT, _CARRIED, _EXCHANGE = 3, 4, 6
"""Instructions that take a value an earlier stretch left, what a loop carries, what was given."""


class _NotLaned(Exception):
    """The module is not what ``lanes`` makes."""


def unlaned(module: Module) -> Module | None:
    """What ``lanes`` made ``module`` of; None where it made no such module."""
    made = next((i for i in module.entry.instructions() if isinstance(i.op, ops.Lanes)), None)
    if made is None or not 1 <= made.ty.index <= len(module.structs):
        return None
    structs = made.ty.index - 1  # the first Lanes had its record and its array added, in order
    try:
        entry = _Unlaning(module, structs).entry()
    except (_NotLaned, KeyError, IndexError, ValueError):
        return None
    return replace(module, structs=module.structs[:structs], entry=entry)


class _Unlaning:
    """One entry being put together. ``of``: the old id of each new value that has one;
    ``left``: of what stands in each field of an array outside of Lanes."""

    def __init__(self, module: Module, structs: int):
        self.module = module
        self.structs = structs
        self.of: dict[ValueId, ValueId] = {}
        self.left: dict[tuple[ValueId, int], ValueId] = {}
        self.records: dict[ValueId, ValueId] = {}
        """The array that each record taken of lane 0 is of."""
        self.eaches: dict[ValueId, tuple[list[Instruction], int]] = {}
        """Where the Each that built an array outside of Lanes is being put together."""
        self.count = 0

    def entry(self) -> Function:
        new = self.module.entry
        body: list[Instruction] = []
        self.outside(new.body, body)
        if len(new.results) != 1:
            raise _NotLaned
        last = new.results[0]
        ports = range(len(self.module.manifest.results))
        results = tuple(self.left[last, port] for port in ports)
        bindings = tuple((self.of[id], name) for id, name in new.bindings)
        return Function(new.name, (), tuple(body), results, bindings)

    def added(self, ty: Type) -> bool:
        """Whether ``lanes`` added the type."""
        return ty.index >= self.structs

    def fresh(self) -> ValueId:
        self.count += 1
        return self.count - 1

    # Outside of Lanes.

    def outside(self, new: Sequence[Instruction], old: list[Instruction]) -> None:
        for instruction in new:
            match instruction.op:
                case ops.Lanes(body):
                    self.stretch(instruction.id, body, old)
                case ops.Meet():
                    continue
                case ops.Extract(value, index) if value in self.records:
                    self.of[instruction.id] = self.left[self.records[value], index]
                case ops.Extract(value):
                    self.records[instruction.id] = value
                case ops.Each() | ops.If() | ops.Match() | ops.Loop():
                    self.control(instruction, old)
                case _:
                    raise _NotLaned

    def control(self, new: Instruction, old: list[Instruction]) -> None:
        op, id = new.op, self.fresh()
        self.of[new.id] = self.left[new.id, 0] = id
        if isinstance(op, ops.Loop):
            bound = None if op.bound is None else self.of[op.bound]
            op = replace(op, bound=bound, init=self.left[op.init, 0])
        else:
            op = op.with_operands([self.of[operand] for operand in op.operands()])
        place = len(old)
        old.append(new)  # what it was is known once its blocks, and for an Each its reader, are
        blocks: list[Block] = []
        for block in op.blocks():
            body: list[Instruction] = []
            self.outside(block.body, body)
            result = self.of.get(block.result)  # a test's; other blocks yield an array
            yielded = self.left[block.result, 0] if result is None else result
            blocks.append(Block(tuple(body), yielded))
        ty = new.ty if isinstance(op, ops.Each) else self.field(new.ty)
        old[place] = Instruction(id, ty, op.with_blocks(blocks), new.span)
        if isinstance(op, ops.Each):
            self.eaches[new.id] = old, place

    def field(self, array: Type) -> Type:
        """The type of field 0 of the records in an array."""
        element = self.module.structs[array.index].element if array.is_struct else None
        if element is None or not element.is_struct:
            raise _NotLaned
        return self.module.structs[element.index].fields[0].ty

    # In Lanes.

    def stretch(self, array: ValueId, block: Block, old: list[Instruction]) -> None:
        if not block.body or not isinstance(block.body[-1].op, ops.Construct):
            raise _NotLaned
        self.inside(block.body[:-1], old)
        for field, part in enumerate(block.body[-1].op.parts):
            self.left[array, field] = self.of[part]

    def inside(self, new: Sequence[Instruction], old: list[Instruction]) -> None:
        k = 0
        while k < len(new):
            k += self.one(new, k, old)

    def one(self, new: Sequence[Instruction], k: int, old: list[Instruction]) -> int:
        """Puts back what the instructions from ``k`` on were; gives how many they are."""
        instruction = new[k]
        op = instruction.op
        if isinstance(op, ops.Carried) and self.added(instruction.ty):
            last = new[k + _CARRIED - 1]
            self.put(instruction, ops.Carried(), last, old)
            return _CARRIED
        if isinstance(op, ops.Lane) and self.takes(new, k + 1):
            taken, last = new[k + 1].op, new[k + 2]
            if not isinstance(taken, ops.Subscript) or not isinstance(last.op, ops.Extract):
                raise _NotLaned
            self.of[last.id] = self.left[taken.value, last.op.index]
            return _IMPORT
        if self.takes(new, k + 4) and isinstance(new[k + 3].op, ops.Binary):
            wrapped, taken, last = new[k + 1].op, new[k + 4].op, new[k + 5]
            if not isinstance(wrapped, ops.Binary) or not isinstance(taken, ops.Subscript):
                raise _NotLaned
            given = self.left[taken.value, 0]
            self.put(instruction, ops.Exchange(given, self.of[wrapped.a]), last, old)
            return _EXCHANGE
        if isinstance(op, ops.Each) and (made := self.built(op)) is not None:
            body, place = self.eaches[made]
            body[place] = replace(body[place], ty=instruction.ty)
            self.of[instruction.id] = body[place].id
            return 1
        self.copy(instruction, old)
        return 1

    def built(self, op: ops.Each) -> ValueId | None:
        """The Each outside of Lanes whose array this one reads its lane's elements from."""
        taken = op.body.body[1].op if len(op.body.body) > 1 else None
        if isinstance(taken, ops.Subscript) and taken.value in self.eaches:
            return taken.value
        return None

    def takes(self, new: Sequence[Instruction], k: int) -> bool:
        """Whether instruction ``k`` takes a record out of an array outside."""
        return k + 1 < len(new) and isinstance(new[k].op, ops.Subscript) and self.added(new[k].ty)

    def put(
        self, first: Instruction, op: ops.Op, last: Instruction, old: list[Instruction]
    ) -> None:
        """One instruction for the run of them that ``last`` ends."""
        self.of[last.id] = self.fresh()
        old.append(Instruction(self.of[last.id], last.ty, op, first.span))

    def copy(self, new: Instruction, old: list[Instruction]) -> None:
        id = self.of[new.id] = self.fresh()
        op = new.op.with_operands([self.of[operand] for operand in new.op.operands()])
        blocks: list[Block] = []
        for block in op.blocks():
            body: list[Instruction] = []
            self.inside(block.body, body)
            blocks.append(Block(tuple(body), self.of[block.result]))
        old.append(replace(new, id=id, op=op.with_blocks(blocks)))
