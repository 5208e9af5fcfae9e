"""Finds the loops whose carried array is rebuilt one element at a time.

In: a function. Out: ``CarriedBuilder``s. ``a[i] = v`` is written as a new array,
``Each { Index == i ? v : Subscript(a, Index) }``. Where a loop carries ``a`` from one such update
to the next, and nothing reads a version of the array once the next is made, a backend keeps one
buffer and does one store for each update: its time does not grow with the array.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from . import op as ops
from .module import Function, Instruction
from .op import ValueId
from .tables import BinaryOp

_RESULT = -1
"""Stands for the function's end among the users of a value."""
_START = -2
"""Stands for the array as an iteration begins, whatever value it is."""
_MOST_ARMS = 64
"""The most arms that make the next version of one: each is held against each."""


@dataclass(frozen=True, slots=True)
class ElementUpdate:
    """One ``array[index] = value``: the Each ``each`` is the array after it, ``array`` the one
    before. It runs where the Each does."""

    each: ValueId
    array: ValueId
    index: ValueId
    value: ValueId


@dataclass(frozen=True, slots=True)
class CarriedBuilder:
    """A Loop ``loop`` that rebuilds an array it carries: the carried value itself where ``part`` is
    None, else that field of it. ``updates``: all that its body does to the array, in pre-order,
    those of loops inside it that go on building it included."""

    loop: ValueId
    part: int | None
    updates: tuple[ElementUpdate, ...]


def carried_builders(function: Function) -> tuple[CarriedBuilder, ...]:
    """The carried arrays of the function's loops that updates alone change, in pre-order of the
    loops. A loop whose array is only passed on, or made in another way, has none."""
    facts = _Facts(function)
    loops = [i for i in function.instructions() if isinstance(i.op, ops.Loop)]
    for loop in reversed(loops):  # inner loops first: outer ones may go on with what they build
        facts.find(loop)
    return tuple(sorted(facts.found.values(), key=lambda b: (b.loop, b.part or 0)))


@dataclass(slots=True)
class _Chain:
    """How one array goes from the start of an iteration to its end. ``versions``: the values that
    are the array at some point. ``makers``: a version, and the instruction that makes the next.
    ``passes``: (value, user): the users that make or pass on versions."""

    versions: set[ValueId] = field(default_factory=set)
    updates: list[ElementUpdate] = field(default_factory=list)
    makers: list[tuple[ValueId, ValueId]] = field(default_factory=list)
    passes: set[tuple[ValueId, ValueId]] = field(default_factory=set)


class _Facts:
    """What defines and uses each value of a function, and the builders found so far."""

    def __init__(self, function: Function):
        self.defined: dict[ValueId, Instruction] = {}
        self.uses: dict[ValueId, list[ValueId]] = {}
        """The users of each value: instructions that read it, or that have a block yielding it."""
        self.loop_of: dict[ValueId, ValueId] = {}
        """The Loop that each Carried is of."""
        self.carried: dict[ValueId, list[ValueId]] = {}
        """The Carrieds of each Loop."""
        self.around: dict[ValueId, tuple[ValueId, int]] = {}
        """The instruction around each nested one, and which of its blocks it is in."""
        self.last: dict[ValueId, ValueId] = {}
        """The last value inside each instruction, itself where it has no blocks."""
        self.found: dict[tuple[ValueId, int | None], CarriedBuilder] = {}
        self.parts: dict[ValueId, list[int | None]] = {}
        """The parts of each loop's carried value that it builds."""
        self._walk(function.body, None)
        for id in function.results:
            self.uses.setdefault(id, []).append(_RESULT)

    def _walk(self, body: tuple[Instruction, ...], loop: ValueId | None) -> None:
        for instruction in body:
            id, op = instruction.id, instruction.op
            self.defined[id] = instruction
            self.last[id] = id
            for operand in op.operands():
                self.uses.setdefault(operand, []).append(id)
            if isinstance(op, ops.Carried) and loop is not None:
                self.loop_of[id] = loop
                self.carried.setdefault(loop, []).append(id)
            for k, block in enumerate(op.blocks()):
                self._walk(block.body, id if isinstance(op, ops.Loop) else loop)
                self.uses.setdefault(block.result, []).append(id)
                for inner in block.body:
                    self.around[inner.id] = id, k
                if block.body:
                    self.last[id] = self.last[block.body[-1].id]

    def find(self, loop: Instruction) -> None:
        """Notes the builders of one loop: of the value it carries, or of parts of a record."""
        assert isinstance(loop.op, ops.Loop)
        result = self.defined[loop.op.body.result]
        self._try(loop, None, result.id, loop.id)
        if isinstance(result.op, ops.Construct):
            for part, end in enumerate(result.op.parts):
                self._try(loop, part, end, result.id)
        elif isinstance(result.op, ops.Loop):  # rounds: the inner loop goes on with the record
            for built in self.parts.get(result.id, []):
                chain = _Chain(passes={(result.id, loop.id)})
                if built is not None and self._through(loop.id, built, result.id, built, chain):
                    self._note(loop.id, built, chain)

    def _try(self, loop: Instruction, part: int | None, end: ValueId, user: ValueId) -> None:
        """Notes a builder where updates alone lead to ``end``, which ``user`` yields or packs."""
        chain = _Chain(passes={(end, user)})
        waiting = [end]
        while waiting:
            id = waiting.pop()
            if id in chain.versions:
                continue
            if not loop.id < id <= self.last[loop.id]:
                return
            chain.versions.add(id)
            before = self._before(loop.id, part, self.defined[id], chain)
            if before is None:
                return
            waiting += before
        self._note(loop.id, part, chain)

    def _before(
        self, loop: ValueId, part: int | None, instruction: Instruction, chain: _Chain
    ) -> list[ValueId] | None:
        """The versions that this one is made of, an arm each; None where it is no version."""
        op = instruction.op
        if self._is_start(loop, part, instruction):
            return []
        if isinstance(op, (ops.If, ops.Match)):
            results = [block.result for block in op.blocks()]
            chain.passes.update((id, instruction.id) for id in results)
            return results
        made = self._update(instruction)
        if made is not None:
            update, reader = made
            chain.updates.append(update)
            chain.passes.add((update.array, reader))
            chain.makers.append((update.array, update.each))
            return [update.array]
        if isinstance(op, ops.Loop) and (instruction.id, None) in self.found:
            chain.updates += self.found[instruction.id, None].updates
            chain.passes.add((op.init, instruction.id))
            chain.makers.append((op.init, instruction.id))
            return [op.init]
        if isinstance(op, ops.Extract) and (op.value, op.index) in self.found:
            return self._packed(loop, part, op.value, op.index, chain)
        return None

    def _packed(
        self, loop: ValueId, part: int | None, inner: ValueId, field: int, chain: _Chain
    ) -> list[ValueId] | None:
        """The version before an inner loop that builds field ``field`` of its record."""
        op = self.defined[inner].op
        assert isinstance(op, ops.Loop)
        init = self.defined[op.init].op
        if not isinstance(init, ops.Construct):
            return [] if self._through(loop, part, inner, field, chain) else None
        chain.updates += self.found[inner, field].updates
        if self.uses[op.init] != [inner] or not self._taken_apart(inner, field, chain):
            return None
        chain.passes.add((init.parts[field], op.init))
        chain.makers.append((init.parts[field], inner))
        return [init.parts[field]]

    def _through(
        self, loop: ValueId, part: int | None, inner: ValueId, field: int, chain: _Chain
    ) -> bool:
        """Whether an inner loop goes on with the very record that ``loop`` carries."""
        op = self.defined[inner].op
        assert isinstance(op, ops.Loop)
        if self.loop_of.get(op.init) != loop or part != field:
            return False
        chain.updates += self.found[inner, field].updates
        chain.passes.add((op.init, inner))
        chain.makers.append((_START, inner))
        return self._taken_apart(inner, field, chain)

    def _taken_apart(self, record: ValueId, field: int, chain: _Chain) -> bool:
        """Whether an inner loop's record is only taken apart (or yielded whole, as rounds are); its
        array is a version."""
        for user in self.uses.get(record, ()):
            op = self.defined[user].op if user != _RESULT else None
            if isinstance(op, ops.Extract):
                chain.versions |= {user} if op.index == field else set()
            elif not (isinstance(op, ops.Loop) and op.body.result == record):
                return False
        return True

    def _starts(self, loop: ValueId, part: int | None) -> list[ValueId]:
        """Every value that is the array as an iteration begins."""
        wholes = self.carried.get(loop, [])
        if part is None:
            return wholes
        users = (self.defined[user] for id in wholes for user in self.uses.get(id, ()))
        return [user.id for user in users if self._is_start(loop, part, user)]

    def _is_start(self, loop: ValueId, part: int | None, instruction: Instruction) -> bool:
        op = instruction.op
        if part is None:
            return self.loop_of.get(instruction.id) == loop
        return (
            isinstance(op, ops.Extract)
            and op.index == part
            and (self.loop_of.get(op.value) == loop)
        )

    def _update(self, each: Instruction) -> tuple[ElementUpdate, ValueId] | None:
        """The update that an Each is, ``Index == i ? v : Subscript(a, Index)``, and the Subscript;
        ``i``, ``v`` and ``a`` are of before the Each."""
        if not isinstance(each.op, ops.Each):
            return None
        choice = self.defined[each.op.body.result]
        if not isinstance(choice.op, ops.If) or choice.id < each.id:
            return None
        test = self.defined[choice.op.condition].op
        reader = self.defined[choice.op.otherwise.result]
        if not (isinstance(test, ops.Binary) and test.op is BinaryOp.EQUAL):
            return None
        if not isinstance(reader.op, ops.Subscript) or reader.id < each.id:
            return None
        index = test.b if self._is_index(test.a, each) else test.a
        position = test.a if index == test.b else test.b
        array, value = reader.op.value, choice.op.then.result
        if not (self._is_index(position, each) and self._is_index(reader.op.index, each)):
            return None
        if max(index, array, value) > each.id or self.defined[array].ty != each.ty:
            return None
        return ElementUpdate(each.id, array, index, value), reader.id

    def _is_index(self, id: ValueId, each: Instruction) -> bool:
        """Whether a value is the Index of this Each: it may hold no other of its own."""
        inside = each.id < id <= self.last[each.id]
        return inside and isinstance(self.defined[id].op, ops.Index)

    def _note(self, loop: ValueId, part: int | None, chain: _Chain) -> None:
        """Notes a builder where one buffer can hold all versions in turn."""
        starts = set(self._starts(loop, part))  # they are one array
        chain.versions.update(starts)
        if part is not None:
            for whole in self.carried.get(loop, []):
                for user in self.uses.get(whole, ()):
                    taken = isinstance(self.defined[user].op, ops.Extract)
                    if not taken and (whole, user) not in chain.passes:
                        return
        makers: dict[ValueId, set[ValueId]] = {}
        for version, maker in chain.makers:
            makers.setdefault(_START if version in starts else version, set()).add(maker)
        for version in chain.versions:
            made = makers.get(_START if version in starts else version, set())
            if not self._in_turn(version, made, chain):
                return
        if chain.updates:
            updates = {update.each: update for update in chain.updates}
            ordered = tuple(updates[each] for each in sorted(updates))
            self.found[loop, part] = CarriedBuilder(loop, part, ordered)
            self.parts.setdefault(loop, []).append(part)

    def _in_turn(self, version: ValueId, makers: Iterable[ValueId], chain: _Chain) -> bool:
        """Whether a version is read only element by element, and not after the next is made; and no
        two are made of it."""
        made = sorted(makers)
        if len(made) > _MOST_ARMS:
            return False
        if any(not self._exclusive(a, b) for k, a in enumerate(made) for b in made[:k]):
            return False
        for user in self.uses.get(version, ()):
            if (version, user) in chain.passes:
                continue
            if user == _RESULT or not isinstance(
                self.defined[user].op, (ops.Subscript, ops.Extract)
            ):
                return False
            if any(user > self.last[m] and not self._exclusive(m, user) for m in made):
                return False
        return True

    def _exclusive(self, a: ValueId, b: ValueId) -> bool:
        """Whether two instructions stand in different arms of one If or Match."""
        arms: dict[ValueId, int] = {}
        while a in self.around:
            a, k = self.around[a]
            arms[a] = k
        while b in self.around:
            b, k = self.around[b]
            if arms.get(b, k) != k:
                return not isinstance(self.defined[b].op, ops.Loop)
        return False
