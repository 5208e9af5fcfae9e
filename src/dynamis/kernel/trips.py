"""Loops that count: how often a ``while`` with a counter can run, written into its loop.

In: a module as the frontend makes it, where a ``while`` is a loop at the loop limit around another.
Out: the same module where each such pair whose counter is provably bounded is one loop of that
many iterations. Its worst work is then known, and mostly nothing is left to be counted.

A loop counts where its test has a disjunct that compares a carried Int with a constant, and every
way through its body either moves that Int towards the constant or ends the loop by a carried Bool
that the test asks. Where each move is the same, the comparison first holds after just that many
iterations, so it is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from . import op as ir
from .induction import Moved, Way, Ways, iteration, kept
from .module import Block, Function, Instruction, Module, all_instructions
from .optimize_facts import Facts, function_facts, own_facts
from .renumber import renumbered_function
from .tables import BinaryOp, UnaryOp
from .types import Type, Value, part_at

_NEGATED = {
    BinaryOp.LESS: BinaryOp.GREATER_EQUAL,
    BinaryOp.LESS_EQUAL: BinaryOp.GREATER,
    BinaryOp.GREATER: BinaryOp.LESS_EQUAL,
    BinaryOp.GREATER_EQUAL: BinaryOp.LESS,
}
_SWAPPED = {
    BinaryOp.LESS: BinaryOp.GREATER,
    BinaryOp.LESS_EQUAL: BinaryOp.GREATER_EQUAL,
    BinaryOp.GREATER: BinaryOp.LESS,
    BinaryOp.GREATER_EQUAL: BinaryOp.LESS_EQUAL,
}


def counted_loops(module: Module) -> Module:
    """``module`` with every ``while`` that provably counts as one loop of known length."""
    facts = cache(lambda: function_facts(module))
    return module.with_functions(
        [_Counting(module, facts).function(f) for f in module.all_functions()]
    )


@dataclass(frozen=True, slots=True)
class _Trips:
    """A loop runs at most ``count`` times; ``spare`` is the test's part that then never holds."""

    count: int
    spare: int | None


class _Counting:
    def __init__(self, module: Module, facts: Callable[[], Sequence[Facts]]):
        self.module, self.facts, self.structs = module, facts, module.structs
        self.types: dict[int, Type] = {}
        self.ops: dict[int, ir.Op] = {}
        self.found = False

    def function(self, function: Function) -> Function:
        body = self._body(function.body)
        return renumbered_function(replace(function, body=body)) if self.found else function

    def _body(self, body: Sequence[Instruction]) -> tuple[Instruction, ...]:
        made = []
        for instruction in body:
            self.types[instruction.id], self.ops[instruction.id] = instruction.ty, instruction.op
            op = instruction.op
            if op.blocks():
                op = op.with_blocks([Block(self._body(b.body), b.result) for b in op.blocks()])
            if isinstance(op, ir.Loop):
                op = self._loop(op, instruction.ty)
            made.append(instruction if op is instruction.op else replace(instruction, op=op))
        return tuple(made)

    def _loop(self, outer: ir.Loop, ty: Type) -> ir.Loop:
        inner = self._rounds(outer, ty)
        if inner is None or inner.until is None:
            return outer
        loop = replace(inner, init=outer.init)
        trips = self._trips(loop, inner.until, ty)
        if trips is None or not 1 <= trips.count <= loop.count:
            return outer
        self.found = True
        return replace(loop, count=trips.count, until=_without(inner.until, trips.spare))

    def _rounds(self, outer: ir.Loop, ty: Type) -> ir.Loop | None:
        """The loop that does the iterating where ``outer`` only starts it again."""
        loops = [i for i in outer.body.body if isinstance(i.op, ir.Loop)]
        others = [i.op for i in outer.body.body if not isinstance(i.op, ir.Loop)]
        if len(loops) != 1 or outer.bound is not None or outer.until is None:
            return None
        if not all(isinstance(op, (ir.Carried, ir.Extract, ir.Construct)) for op in others):
            return None
        (instruction,) = loops
        inner = instruction.op
        assert isinstance(inner, ir.Loop)
        same = kept(self.structs, ty)
        ways = Ways(self.structs, dict(self.types), same)
        body = outer.body.body
        before, rest = body[: body.index(instruction)], [i for i in body if i is not instruction]
        if inner.bound is not None or inner.until is None or instruction.ty != ty:
            return None
        if ways.block(Block(before, inner.init)) != [same]:
            return None
        after = tuple(Moved(-1 - k, 0, 0) for k in range(len(same)))
        ways.values[instruction.id] = [after]
        if ways.block(Block(tuple(rest), outer.body.result)) != [after]:
            return None
        own = {i.id for i in rest}
        if own & _reads(inner.until) or own & _reads(inner.body):
            return None
        return inner if _alike(outer.until, inner.until) else None

    def _trips(self, loop: ir.Loop, until: Block, ty: Type) -> _Trips | None:
        if not self._only_computes(until):
            return None
        start = self._start(loop.init)
        ways = iteration(loop, ty, dict(self.types), self.structs)
        disjuncts = _disjuncts(until)
        stops = [w for u in disjuncts if (w := self._word(until, u, ty)) is not None]
        going = [way for way in ways if not any(way[k] is True for k in stops)]
        for id in disjuncts:
            test = self._comparison(until, id, ty)
            if test is None:
                continue
            operation, word, limit = test
            first = None if start is None else start[word]
            moves = [way[word] for way in going]
            if type(first) is not int or not all(
                isinstance(m, Moved) and m.word == word for m in moves
            ):
                continue
            steps = [m for m in moves if isinstance(m, Moved)]
            low = min((m.low for m in steps), default=1)
            high = max((m.high for m in steps), default=1)
            count = _count(operation, first, limit, low, high)
            if count is not None:
                return _Trips(count, id if low == high else None)
        return None

    def _only_computes(self, block: Block) -> bool:
        """Whether a block may run once more or less: it cannot fail and does nothing else."""
        types = dict(self.types)
        for instruction in all_instructions(block.body):
            types[instruction.id] = instruction.ty
            reads = instruction.op.operands()
            operand = types.get(reads[0]) if reads else None
            facts = own_facts(self.module, instruction.op, operand, self.facts())
            if facts.must_run(counted=True):
                return False
        return True

    def _start(self, init: int) -> Way | None:
        """What is known of the words of a value defined before the loop."""
        op, ways = self.ops[init], Ways(self.structs, dict(self.types), ())
        parts = op.parts if isinstance(op, ir.Construct) else ()
        for part in parts:
            if isinstance(self.ops[part], ir.Const):
                ways.block(Block((Instruction(part, self.types[part], self.ops[part]),), part))
        found = ways.block(Block((Instruction(init, self.types[init], op),), init))
        return found[0] if len(found) == 1 else None

    def _word(self, until: Block, id: int, ty: Type) -> int | None:
        """The word of the carried value that a value of the test is."""
        ops = {i.id: i.op for i in until.body}
        op = ops.get(id)
        if isinstance(op, ir.Carried):
            return 0 if ty.is_scalar else None
        if not isinstance(op, ir.Extract) or not isinstance(ops.get(op.value), ir.Carried):
            return None
        part = part_at(self.structs, ty, op.index)
        return part[0] if part is not None and part[1].is_scalar else None

    def _comparison(self, until: Block, id: int, ty: Type) -> tuple[BinaryOp, int, int] | None:
        """(operation, carried word, constant) of a disjunct that compares the two."""
        ops = {i.id: i.op for i in until.body}
        op, negated = ops[id], False
        if isinstance(op, ir.Unary) and op.op is UnaryOp.NOT and op.a in ops:
            op, negated = ops[op.a], True
        if not isinstance(op, ir.Binary) or op.op not in _NEGATED:
            return None
        operation, a, b = op.op, op.a, op.b
        if self._word(until, a, ty) is None:
            operation, a, b = _SWAPPED[operation], b, a
        word = self._word(until, a, ty)
        limit = ops.get(b) or self.ops.get(b)
        if word is None or not isinstance(limit, ir.Const) or limit.value.ty != Type.INT:
            return None
        return _NEGATED[operation] if negated else operation, word, int(limit.value.numbers[0])


def _count(operation: BinaryOp, first: int, limit: int, low: int, high: int) -> int | None:
    """Iterations until ``operation`` holds between a counter and its limit, the counter moving by
    ``low`` at least and ``high`` at most; None where it may never."""
    if operation in (BinaryOp.LESS, BinaryOp.LESS_EQUAL):  # mirrored: the counter falls
        first, limit, low, high = -first, -limit, -high, -low
    if low < 1:
        return None
    past = operation in (BinaryOp.LESS, BinaryOp.GREATER)
    return max(-(-(limit + past - first) // low), 0)


def _disjuncts(until: Block) -> list[int]:
    """The values of a test any of which makes it hold."""
    ops = {i.id: i.op for i in until.body}
    pending, found = [until.result], []
    while pending:
        id = pending.pop()
        op = ops.get(id)
        if isinstance(op, ir.Binary) and op.op is BinaryOp.OR:
            pending += [op.b, op.a]
        elif op is not None:
            found.append(id)
    return found


def _without(until: Block, spare: int | None) -> Block | None:
    """A test whose part ``spare`` never holds; None where nothing else is asked."""
    if spare is None:
        return until
    if until.result == spare:
        return None
    never = ir.Const(Value(Type.BOOL, (0,)))
    return Block(
        tuple(replace(i, op=never) if i.id == spare else i for i in until.body), until.result
    )


def _reads(block: Block) -> set[int]:
    """Every value that the instructions of a block read."""
    results = [b.result for i in all_instructions(block.body) for b in i.op.blocks()]
    operands = [id for i in all_instructions(block.body) for id in i.op.operands()]
    return {block.result, *results, *operands}


def _alike(a: Block, b: Block) -> bool:
    """Whether two blocks without blocks of their own do the same."""
    if len(a.body) != len(b.body):
        return False
    ids: dict[int, int] = {}
    for x, y in zip(a.body, b.body, strict=True):
        op = x.op.with_operands([ids.get(id, id) for id in x.op.operands()])
        if x.ty != y.ty or x.op.blocks() or op != y.op:
            return False
        ids[x.id] = y.id
    return ids.get(a.result, a.result) == b.result
