"""A group's entry as one run for all its lanes: ``lanes`` cuts it at its exchanges.

In: a valid module of mode group. Out: one whose entry runs once a group: its computation stands in
``Lanes``, each a stretch that every lane runs by itself, and between stretches the lanes ``Meet``.
``unlaned`` is the way back.

What a stretch leaves for later is a record, and its Lanes yields the array of the lanes' records.
A later stretch takes its own lane's out of it: ``lane; subscript; extract``. Choices and loops
around an exchange stand outside of Lanes: every lane makes them alike, so they go by what lane 0
left, and their blocks yield arrays of records of one field. Such a loop carries an array: in its
stretches Carried reads ``carried; lane; subscript; extract``. What an Exchange takes is field 0 of
the array met with, at the lane wrapped by ``const; %; +; %``. Each of these runs of instructions
stands as one, so that ``unlaned`` knows it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from . import op as ops
from .mode import ModeKind
from .module import Block, Function, Instruction, Module, Span
from .op import ValueId
from .tables import BinaryOp
from .types import Field, StructDef, Type, Value, type_name
from .unlaned import unlaned

__all__ = ["is_laned", "lanes", "unlaned"]


def lanes(module: Module) -> Module:
    """``module`` with its lanes placed; itself when it is no group or has them already."""
    if module.manifest.mode.kind is not ModeKind.GROUP or is_laned(module):
        return module
    return _Laning(module).module()


def is_laned(module: Module) -> bool:
    """Whether ``lanes`` has placed the module's lanes."""
    return any(isinstance(instruction.op, ops.Lanes) for instruction in module.entry.instructions())


def _uses(instructions: Iterable[Instruction]) -> Counter[ValueId]:
    """How often instructions, and the blocks in them, read each value or yield it."""
    found: Counter[ValueId] = Counter()
    for instruction in instructions:
        found.update(instruction.op.operands())
        for block in instruction.op.blocks():
            found[block.result] += 1
            found += _uses(block.body)
    return found


class _Laning:
    """One entry being cut. ``place``: where what a stretch left lies: an array, and the field of
    its records."""

    def __init__(self, module: Module):
        self.old = module
        size = module.manifest.mode.size
        assert size is not None  # a valid group's
        self.size = size
        self.structs = list(module.structs)
        self.carriers: dict[tuple[Type, ...], tuple[Type, Type]] = {}
        self.types = {i.id: i.ty for i in module.entry.instructions()}
        self.spans = {i.id: i.span for i in module.entry.instructions()}
        self.uses = _uses(module.entry.body) + Counter(module.entry.results)
        self.split: set[ValueId] = set()
        self._find_split(module.entry.body)
        self.loops: list[Type] = []
        """What the loops around, of those that hold an exchange, carried; the innermost last."""
        self.arrays: dict[ValueId, tuple[Type, ...]] = {}
        """The types of the fields of the records in each array outside of Lanes."""
        self.place: dict[ValueId, tuple[ValueId, int]] = {}
        self.where: dict[ValueId, ValueId] = {}
        """The new id of each old value: in its stretch, or of a choice or loop outside of one."""
        self.count = 0

    def module(self) -> Module:
        old = self.old.entry
        body: list[Instruction] = []
        last = self.cut(old.body, old.results, body)
        body.append(self.new(Type.BOOL, ops.Meet(None)))
        bindings = tuple((self.where[id], name) for id, name in old.bindings)
        entry = Function(old.name, (), tuple(body), (last,), bindings)
        return replace(self.old, structs=tuple(self.structs), entry=entry)

    def _find_split(self, body: Sequence[Instruction]) -> bool:
        """Notes what holds an exchange; whether the body does."""
        found = False
        for instruction in body:
            holds = [self._find_split(block.body) for block in instruction.op.blocks()]
            if isinstance(instruction.op, ops.Exchange) or any(holds):
                self.split.add(instruction.id)
                found = True
        return found

    def fresh(self) -> ValueId:
        self.count += 1
        return self.count - 1

    def new(self, ty: Type, op: ops.Op, span: Span | None = None) -> Instruction:
        return Instruction(self.fresh(), ty, op, span)

    def carrier(self, types: tuple[Type, ...]) -> tuple[Type, Type]:
        """The record of values of these types, and the array of the lanes' records."""
        if types not in self.carriers:
            fields = [Field(f"v{k}", ty) for k, ty in enumerate(types)]
            name = f"lanes.r{len(self.structs)}"
            record = self.add(StructDef.record(name, fields))
            self.carriers[types] = record, self.array(record, self.size)
        return self.carriers[types]

    def array(self, element: Type, count: int) -> Type:
        return self.add(StructDef.array(element, type_name(element, self.structs), count))

    def add(self, definition: StructDef) -> Type:
        self.structs.append(definition)
        return Type.struct(len(self.structs) - 1)

    def cut(
        self, old: Sequence[Instruction], results: Sequence[ValueId], new: list[Instruction]
    ) -> ValueId:
        """Writes a block that may hold exchanges; gives the array of records of its results."""
        stretch: list[Instruction] = []
        for instruction in old:
            if instruction.id not in self.split:
                stretch.append(instruction)
                continue
            match instruction.op:
                case ops.Exchange(value):
                    given = self.stretch(stretch, [value], new)
                    new.append(self.new(Type.BOOL, ops.Meet(given), instruction.span))
                    self.place[instruction.id] = given, 0
                    stretch = [instruction]  # the next one begins by taking what was given
                case ops.Each(count, body):
                    self.stretch(stretch, [], new)
                    id = self.fresh()
                    block = self.block(body)
                    made = self.array(self.carrier((self.types[body.result],))[1], count)
                    new.append(Instruction(id, made, ops.Each(count, block), instruction.span))
                    self.place[instruction.id] = id, 0
                    stretch = [instruction]
                case _:
                    self.stretch(stretch, [], new)
                    new.append(self.control(instruction, new))
                    self.place[instruction.id] = new[-1].id, 0
                    stretch = []
        return self.stretch(stretch, results, new, whole=True)

    def stretch(
        self,
        old: Sequence[Instruction],
        first: Sequence[ValueId],
        new: list[Instruction],
        whole: bool = False,
    ) -> ValueId:
        """Writes a stretch, which leaves the values ``first`` and, unless they are the ``whole``,
        those of its own that are read after it; gives its array. None is written of nothing."""
        inside = _uses(old)
        leaves = list(first)
        if not whole:
            own = [i.id for i in old if self.uses[i.id] > inside[i.id]]
            leaves += [id for id in own if id not in leaves]
        if not leaves and not old:
            return -1
        leaves = leaves or [old[-1].id]
        id = self.fresh()
        writer = _Stretch(self)
        for instruction in old:
            writer.fetch(_reads(instruction, self.split))
            writer.write(instruction, writer.body)
        writer.fetch(leaves)
        types = tuple(self.types[leaf] for leaf in leaves)
        record, array = self.carrier(types)
        parts = tuple(writer.local[leaf] for leaf in leaves)
        left = self.new(record, ops.Construct(parts))
        body = Block((*writer.body, left), left.id)
        new.append(Instruction(id, array, ops.Lanes(body)))
        self.arrays[id] = types
        own_values = {i.id for i in old}
        for field, leaf in enumerate(leaves):
            if leaf in own_values:
                self.place[leaf] = id, field
        return id

    def block(self, old: Block) -> Block:
        body: list[Instruction] = []
        result = self.cut(old.body, (old.result,), body)
        return Block(tuple(body), result)

    def control(self, instruction: Instruction, new: list[Instruction]) -> Instruction:
        """A choice or a loop that holds an exchange."""
        op, carried = instruction.op, (instruction.ty,)
        if isinstance(op, ops.Loop):
            init = self.stretch([], [op.init], new, whole=True)
            bound = None if op.bound is None else self.alike(op.bound, new)
            id = self.fresh()
            self.where[instruction.id] = id
            self.loops.append(instruction.ty)
            until = None if op.until is None else self.test(op.until)
            made: ops.Op = ops.Loop(op.count, bound, init, until, self.block(op.body))
            self.loops.pop()
        else:
            (choice,) = op.operands()
            chosen = self.alike(choice, new)
            id = self.fresh()
            self.where[instruction.id] = id
            made = op.with_operands([chosen]).with_blocks([self.block(b) for b in op.blocks()])
        self.arrays[id] = carried
        return Instruction(id, self.carrier(carried)[1], made, instruction.span)

    def test(self, old: Block) -> Block:
        """A loop's test: the truth value that lane 0 left."""
        body: list[Instruction] = []
        left = self.cut(old.body, (old.result,), body)
        holds = self.taken(left, 0, body)
        return Block(tuple(body), holds)

    def alike(self, old: ValueId, new: list[Instruction]) -> ValueId:
        """A value that all lanes have alike: out of what lane 0 left."""
        return self.taken(*self.place[old], new)

    def taken(self, array: ValueId, field: int, new: list[Instruction]) -> ValueId:
        types = self.arrays[array]
        first = self.new(self.carrier(types)[0], ops.Extract(array, 0))
        new += [first, self.new(types[field], ops.Extract(first.id, field))]
        return new[-1].id


def _reads(instruction: Instruction, split: set[ValueId]) -> list[ValueId]:
    """What an instruction of a stretch, and the blocks in it, read of values before it. (An Each
    that is cut is read itself; a Spend of a loop that is cut stands beside the loop.)"""
    op = instruction.op
    if isinstance(op, ops.Exchange):
        return [op.lane]
    if instruction.id in split:
        return []
    found: set[ValueId] = set()
    if not isinstance(op, ops.Spend):
        found.update(op.operands())
    for block in op.blocks():
        found.add(block.result)
        for inner in block.body:
            found.update(_reads(inner, split))
    return sorted(found)


class _Stretch:
    """The body of one Lanes being written. ``local``: the new ids of the values it has."""

    def __init__(self, laning: _Laning):
        self.laning = laning
        self.body: list[Instruction] = []
        self.local: dict[ValueId, ValueId] = {}

    def fetch(self, old: Sequence[ValueId]) -> None:
        """Takes values that earlier stretches left, and this one does not have yet."""
        for id in old:
            if id in self.laning.place and id not in self.local:
                array, field = self.laning.place[id]
                lane = self.add(Type.INT, ops.Lane(), self.body)
                span = self.laning.spans[id]
                self.local[id] = self.record(array, lane, field, self.body, span)

    def add(
        self, ty: Type, op: ops.Op, out: list[Instruction], span: Span | None = None
    ) -> ValueId:
        out.append(self.laning.new(ty, op, span))
        return out[-1].id

    def record(
        self,
        array: ValueId,
        lane: ValueId,
        field: int,
        out: list[Instruction],
        span: Span | None,
    ) -> ValueId:
        """A field of a lane's record in an array outside, written where the value was."""
        types = self.laning.arrays[array]
        return self.element(types, array, lane, field, out, span)

    def element(
        self,
        types: tuple[Type, ...],
        array: ValueId,
        lane: ValueId,
        field: int,
        out: list[Instruction],
        span: Span | None,
    ) -> ValueId:
        record = self.laning.carrier(types)[0]
        taken = self.add(record, ops.Subscript(array, lane), out)
        return self.add(types[field], ops.Extract(taken, field), out, span)

    def write(self, old: Instruction, out: list[Instruction], in_loop: bool = False) -> None:
        """Writes an instruction; ``in_loop``: whether a loop of the stretch itself is around."""
        match old.op:
            case ops.Exchange(_, lane):
                new = self.exchange(old, self.local[lane], out)
            case ops.Each(count, body) if old.id in self.laning.split:
                new = self.each(old, count, body, out)
            case ops.Carried() if not in_loop:
                ty = self.laning.loops[-1]
                array = self.add(self.laning.carrier((ty,))[1], ops.Carried(), out)
                lane = self.add(Type.INT, ops.Lane(), out)
                new = self.element((ty,), array, lane, 0, out, old.span)
            case _:
                new = self.copy(old, out, in_loop)
        self.local[old.id] = self.laning.where[old.id] = new

    def copy(self, old: Instruction, out: list[Instruction], in_loop: bool) -> ValueId:
        id, op = self.laning.fresh(), old.op
        if isinstance(op, ops.Spend):
            operands = [self.laning.where[op.value]]
        else:
            operands = [self.local[operand] for operand in op.operands()]
        blocks: list[Block] = []
        for block in op.blocks():
            body: list[Instruction] = []
            for inner in block.body:
                self.write(inner, body, in_loop or isinstance(op, ops.Loop))
            blocks.append(Block(tuple(body), self.local[block.result]))
        out.append(replace(old, id=id, op=op.with_operands(operands).with_blocks(blocks)))
        return id

    def exchange(self, old: Instruction, lane: ValueId, out: list[Instruction]) -> ValueId:
        """What the lane of that number, wrapped round the group's size, gave."""
        given, _ = self.laning.place[old.id]
        size = self.add(Type.INT, ops.Const(Value.of(Type.INT, self.laning.size)), out)
        rest = self.add(Type.INT, ops.Binary(BinaryOp.REM, lane, size), out)
        above = self.add(Type.INT, ops.Binary(BinaryOp.ADD, rest, size), out)
        wrapped = self.add(Type.INT, ops.Binary(BinaryOp.REM, above, size), out)
        return self.record(given, wrapped, 0, out, old.span)

    def each(self, old: Instruction, count: int, body: Block, out: list[Instruction]) -> ValueId:
        """This lane's element of each array of records that an Each outside built."""
        made, _ = self.laning.place[old.id]
        types = (self.laning.types[body.result],)
        id = self.laning.fresh()
        inner: list[Instruction] = []
        index = self.add(Type.INT, ops.Index(), inner)
        array = self.add(self.laning.carrier(types)[1], ops.Subscript(made, index), inner)
        lane = self.add(Type.INT, ops.Lane(), inner)
        result = self.element(types, array, lane, 0, inner, old.span)
        block = Block(tuple(inner), result)
        out.append(Instruction(id, old.ty, ops.Each(count, block), old.span))
        return id
