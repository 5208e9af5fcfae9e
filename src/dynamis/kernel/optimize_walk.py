"""The forward walk of ``optimize``: one function made anew, each instruction folded, simplified,
shared or moved out of its loop as it is met.

In: a function of a valid module. Out: the same function with new ids (in the order they were made,
not in pre-order), the facts of each value, dead code still in. Blocks are built on a stack of
scopes; a scope knows which values it has, by the operation that makes them, and how far out its
instructions reach: an instruction that reaches no further in than the block around its loop, and
may move, is placed there. The walk recurses over blocks, which nest at most ``MAX_BLOCK_DEPTH``
deep.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from . import op as ops
from .module import MAX_LOOP_COUNT, Block, Function, Instruction, Module, Span
from .op import Op, ValueId
from .optimize_facts import NOTHING, Facts, own_facts
from .optimize_fold import MAX_FOLDED_WORDS, folded
from .optimize_rules import Site, simplified
from .tables import BinaryOp, UnaryOp
from .tables import Intrinsic as I
from .types import Numeric, Type, Value

UNROLLED_COUNT = 16
"""The most iterations of a loop that is written out."""
UNROLLED_SIZE = 512
"""The most instructions that a loop written out takes."""

_COMMUTE: frozenset[object] = frozenset((
    BinaryOp.ADD, BinaryOp.MUL, BinaryOp.BIT_AND, BinaryOp.BIT_OR, BinaryOp.BIT_XOR, BinaryOp.AND,
    BinaryOp.OR, BinaryOp.EQUAL, BinaryOp.NOT_EQUAL, I.MIN, I.MAX, I.ADD_WRAP, I.MUL_WRAP, I.MULHI,
    I.UMULHI,
))  # fmt: skip

FOLD = "an operation on constants -> its value"
SHARE = "an operation done before -> its value"
HOIST = "what no iteration changes -> before the loop"
DEAD = "what nothing needs -> nothing"
KNOWN_IF = "if known -> its arm"
NEGATED_IF = "if !c then x else y -> if c then y else x"
SAME_IF = "if c then x else x -> x"
BOOL_IF = "if c then true else false -> c"
KNOWN_MATCH = "match known -> its arm"
SAME_MATCH = "match with one value in all arms -> it"
EMPTY_ARM = "an arm of no values -> nothing"
KNOWN_BOUND = "a loop bound by a constant -> a literal loop"
NO_ITERATIONS = "a loop of no iterations -> its initial value"
NEVER_STOPS = "until false -> no test"
SAME_CARRIED = "a loop that keeps its carried value -> its initial value"
SAME_RESULT = "a loop that yields one value -> it"
UNROLL = "a small literal loop -> its iterations"
SAME_EACH = "each element of x -> x"
CONSTANT_EACH = "each one constant -> a constant"
CONTROL_RULES = (
    FOLD, SHARE, HOIST, DEAD, KNOWN_IF, NEGATED_IF, SAME_IF, BOOL_IF, KNOWN_MATCH, SAME_MATCH,
    EMPTY_ARM, KNOWN_BOUND, NO_ITERATIONS, NEVER_STOPS, SAME_CARRIED, SAME_RESULT, UNROLL,
    SAME_EACH, CONSTANT_EACH,
)  # fmt: skip
"""What the walk does beside the algebra of ``optimize_rules.RULES``."""


@dataclass(slots=True)
class _Scope:
    """A block being made. ``repeats``: it is of a Loop or an Each, so that what it does not change
    may move out of it. ``reach``: the depth of the innermost scope around it that it reads from."""

    depth: int
    repeats: bool = False
    body: list[Instruction] = field(default_factory=list)
    values: dict[object, ValueId] = field(default_factory=dict)
    known: dict[ValueId, bool] = field(default_factory=dict)
    facts: Facts = NOTHING
    reach: int = 0


@dataclass(frozen=True, slots=True)
class _Turn:
    """What Index and Carried mean where the walk is. ``depth``: of the block they are of, 0 for a
    scan's entry; a loop that is being written out has values for them instead."""

    depth: int
    is_loop: bool
    index: ValueId | None = None
    carried: ValueId | None = None


class Walk:
    """One function's walk. ``facts``: of each new value. ``total``: of the whole function.
    ``emitted``: how many instructions were made."""

    def __init__(
        self,
        module: Module,
        functions: Sequence[Facts],
        counted: bool,
        unrolls: bool,
        fired: Counter[str],
    ):
        self.module = module
        self.functions = functions
        self.counted = counted
        self.unrolls = unrolls
        self.fired = fired
        self.types: list[Type] = []
        self.ops: list[Op] = []
        self.facts: list[Facts] = []
        self.levels: list[int] = []
        self.env: dict[ValueId, ValueId] = {}
        self.moved: dict[ValueId, list[ValueId]] = {}
        """Every new value of each old one: several where a loop was written out."""
        self.sizes: dict[ValueId, int] = {}
        """Instructions of each old instruction with blocks, itself included."""
        self.looping: set[ValueId] = set()
        """The old instructions that may run loop iterations."""
        self.scopes: list[_Scope] = []
        self.turns: list[_Turn] = [_Turn(0, True)]
        self.emitted = 0
        self.total = NOTHING

    def function(self, old: Function) -> Function:
        self._measure(old.body)
        self.scopes.append(_Scope(0))
        self._body(old.body)
        top = self.scopes.pop()
        self.total = top.facts
        results = tuple(self.env[id] for id in old.results)
        self._name_results(old, top.body)
        bindings = tuple((new, n) for id, n in old.bindings for new in self.moved.get(id, ()))
        return replace(old, body=tuple(top.body), results=results, bindings=bindings)

    def _name_results(self, old: Function, body: list[Instruction]) -> None:
        """Gives what a function's results are now the spans of what they were: a failure of storing
        one names it. What may fail itself keeps its own."""
        spans = {i.id: i.span for i in old.body}
        named = {self.env[id]: spans[id] for id in reversed(old.results)}
        for k, instruction in enumerate(body):
            if instruction.id in named and not self.facts[instruction.id].fails:
                body[k] = replace(instruction, span=named[instruction.id])

    def _measure(self, body: Sequence[Instruction]) -> int:
        """Fills ``sizes`` and ``looping``; the instructions of a block."""
        total = 0
        for instruction in body:
            op = instruction.op
            size, loops = 1, isinstance(op, ops.Loop)
            for block in op.blocks():
                size += self._measure(block.body)
                loops = loops or self._loops(block)
            if isinstance(op, ops.Call):
                loops = self.functions[op.function].loops
            if loops:
                self.looping.add(instruction.id)
            if size > 1:
                self.sizes[instruction.id] = size
            total += size
        return total

    def _loops(self, block: Block) -> bool:
        """Whether an old block may run loop iterations."""
        return not self.looping.isdisjoint(i.id for i in block.body)

    # Instructions and blocks.

    def _body(self, body: Sequence[Instruction]) -> None:
        for old in body:
            new = self.env[old.id] = self._instruction(old)
            self.moved.setdefault(old.id, []).append(new)

    def _instruction(self, old: Instruction) -> ValueId:
        op = old.op
        match op:
            case ops.Carried():
                turn = next(t for t in reversed(self.turns) if t.is_loop)
                if turn.carried is not None:
                    return turn.carried
                return self._place(old.ty, op, old.span, ("carried", id(turn)), turn.depth)
            case ops.Index():
                turn = self.turns[-1]
                if turn.index is not None:
                    return turn.index
                return self._place(old.ty, op, old.span, ("index", id(turn)), turn.depth)
            case ops.If():
                return self._if(old, op)
            case ops.Match():
                return self._match(old, op)
            case ops.Loop():
                return self._loop(old, op)
            case ops.Each():
                return self._each(old, op)
        operands = op.operands()
        if operands:
            op = op.with_operands([self.env[id] for id in operands])
        return self._value(old.ty, op, old.span)

    def _value(self, ty: Type, op: Op, span: Span | None) -> ValueId:
        """The value of an operation without blocks: what it folds or simplifies to, or itself."""
        while True:
            operands = op.operands()
            constants = [self._constant(id) for id in operands]
            known = [value for value in constants if value is not None]
            if operands and len(known) == len(operands):
                value = folded(op, ty, known, self.module.structs)
                if value is not None:
                    self.fired[FOLD] += 1
                    op = ops.Const(value)
                    break

            def make(ty: Type, number: Numeric) -> ValueId:
                return self._value(ty, ops.Const(Value.of(ty, [number] * ty.lanes)), span)

            site = Site(op, ty, operands, self.types, self.ops, self.module, make)
            simple = simplified(site)
            if simple is None:
                break
            rule, answer = simple
            self.fired[rule.text] += 1
            if isinstance(answer, int):
                return answer
            op = answer
        return self._place(ty, op, span, self._key(op, ty), 0)

    def _key(self, op: Op, ty: Type) -> object:
        """What two operations that give one value have in common."""
        operation = getattr(op, "op", None) or getattr(op, "intrinsic", None)
        if operation in _COMMUTE:
            return operation, frozenset(op.operands())
        return op, ty

    def _place(self, ty: Type, op: Op, span: Span | None, key: object, reach: int) -> ValueId:
        """The value of an operation without blocks: one there is already, or a new instruction,
        which reads nothing from scopes deeper than ``reach`` but its operands."""
        operands = op.operands()
        first = self.types[operands[0]] if operands else None
        facts = own_facts(self.module, op, first, self.functions, self._numbers)
        shared = not (facts.acts or facts.reads_memory or (facts.loops and self.counted))
        if shared:
            for scope in reversed(self.scopes):
                found = scope.values.get(key)
                if found is not None:
                    self.fired[SHARE] += 1
                    return found
        reach = max((reach, *(self.levels[id] for id in operands)))
        id, scope = self._emit(ty, op, span, facts, reach)
        if shared:
            scope.values[key] = id
        return id

    def _emit(
        self, ty: Type, op: Op, span: Span | None, facts: Facts, reach: int
    ) -> tuple[ValueId, _Scope]:
        """A new instruction, in the innermost scope or, where it may move, outside the loops around
        it that it does not depend on."""
        scope = self.scopes[-1]
        if facts.moves(self.counted):
            while scope.repeats and reach < scope.depth:
                self.fired[HOIST] += 1
                scope = self.scopes[scope.depth - 1]
        id = len(self.types)
        self.types.append(ty)
        self.ops.append(op)
        self.facts.append(facts)
        self.levels.append(scope.depth)
        self.emitted += 1
        scope.body.append(Instruction(id, ty, op, span))
        scope.facts |= facts
        scope.reach = max(scope.reach, min(reach, scope.depth - 1))
        return id, scope

    def _constant(self, id: ValueId) -> Value | None:
        op = self.ops[id]
        return op.value if isinstance(op, ops.Const) else None

    def _numbers(self, id: ValueId) -> Sequence[Numeric] | None:
        value = self._constant(id)
        return None if value is None or value.ty.is_struct else value.numbers

    def _nested(
        self, old: Block, repeats: bool = False, known: dict[ValueId, bool] | None = None
    ) -> tuple[Block, _Scope]:
        """A block made anew in a scope of its own."""
        scope = _Scope(len(self.scopes), repeats, known=known or {})
        self.scopes.append(scope)
        self._body(old.body)
        self.scopes.pop()
        result = self.env[old.result]
        if self.levels[result] < scope.depth:
            scope.reach = max(scope.reach, self.levels[result])
        return Block(tuple(scope.body), result), scope

    def _compound(
        self, old: Instruction, op: Op, scopes: Sequence[_Scope], own: Facts = NOTHING
    ) -> ValueId:
        """An instruction with blocks, of these scopes."""
        facts, reach = own, 0
        for scope in scopes:
            facts |= scope.facts
            reach = max(reach, scope.reach)
        reach = max((reach, *(self.levels[id] for id in op.operands())))
        return self._emit(old.ty, op, old.span, facts, reach)[0]

    def _clean(self, *scopes: _Scope) -> bool:
        """Whether nothing but their values would be missed of these blocks."""
        return not any(scope.facts.must_run(self.counted) for scope in scopes)

    def _may_go(self, *blocks: Block) -> bool:
        """Whether old blocks that never run may go: where work is counted, what loops weighs."""
        return not (self.counted and any(map(self._loops, blocks)))

    def _inline(self, rule: str, block: Block) -> ValueId:
        self.fired[rule] += 1
        self._body(block.body)
        return self.env[block.result]

    def _equal(self, results: Sequence[ValueId]) -> Value | ValueId | None:
        """The one value that all of ``results`` are: an id, or a constant; None if they differ."""
        if len(set(results)) == 1:
            return results[0]
        constants = {self._constant(id) for id in results}
        return constants.pop() if len(constants) == 1 else None

    def _one(self, old: Instruction, results: Sequence[ValueId]) -> ValueId | None:
        """``_equal`` as a value that the scope around the blocks has."""
        equal = self._equal(results)
        if isinstance(equal, Value):
            return self._value(old.ty, ops.Const(equal), old.span)
        return equal

    # Branches.

    def _truth(self, condition: ValueId) -> bool | None:
        """What is known of a Bool: a constant, or the condition of a branch around."""
        value = self._constant(condition)
        if value is not None:
            return bool(value.words[0])
        for scope in reversed(self.scopes):
            if condition in scope.known:
                return scope.known[condition]
        return None

    def _if(self, old: Instruction, op: ops.If) -> ValueId:
        condition = self.env[op.condition]
        then, otherwise = op.then, op.otherwise
        negated = self.ops[condition]
        if isinstance(negated, ops.Unary) and negated.op is UnaryOp.NOT:
            self.fired[NEGATED_IF] += 1
            condition, then, otherwise = negated.a, otherwise, then
        truth = self._truth(condition)
        if truth is not None:
            taken, other = (then, otherwise) if truth else (otherwise, then)
            if self._may_go(other):
                return self._inline(KNOWN_IF, taken)
        yes, first = self._nested(then, known={condition: True})
        no, second = self._nested(otherwise, known={condition: False})
        if self._clean(first, second):
            one = self._one(old, (yes.result, no.result))
            if one is not None:
                self.fired[SAME_IF] += 1
                return one
            if old.ty == Type.BOOL:
                truths = [self._constant(yes.result), self._constant(no.result)]
                if truths == [Value(Type.BOOL, (1,)), Value(Type.BOOL, (0,))]:
                    self.fired[BOOL_IF] += 1
                    return condition
                if truths == [Value(Type.BOOL, (0,)), Value(Type.BOOL, (1,))]:
                    self.fired[BOOL_IF] += 1
                    return self._value(Type.BOOL, ops.Unary(UnaryOp.NOT, condition), old.span)
        return self._compound(old, ops.If(condition, yes, no), (first, second))

    def _match(self, old: Instruction, op: ops.Match) -> ValueId:
        scrutinee = self.env[op.scrutinee]
        value = self._constant(scrutinee)
        if value is not None:
            number = value.numbers[0]
            taken = next((b for numbers, b in op.arms if number in numbers), op.otherwise)
            if self._may_go(*(block for block in op.blocks() if block is not taken)):
                return self._inline(KNOWN_MATCH, taken)
        arms = [(numbers, b) for numbers, b in op.arms if numbers or not self._may_go(b)]
        self.fired[EMPTY_ARM] += len(op.arms) - len(arms)
        if not arms:
            return self._inline(KNOWN_MATCH, op.otherwise)
        made = [self._nested(block) for _, block in arms]
        otherwise, last = self._nested(op.otherwise)
        scopes = [scope for _, scope in made] + [last]
        if self._clean(*scopes):
            one = self._one(old, [*(block.result for block, _ in made), otherwise.result])
            if one is not None:
                self.fired[SAME_MATCH] += 1
                return one
        kept = tuple((n, block) for (n, _), (block, _) in zip(arms, made, strict=True))
        return self._compound(old, ops.Match(scrutinee, kept, otherwise), scopes)

    # Loops.

    def _loop(self, old: Instruction, op: ops.Loop) -> ValueId:
        init = self.env[op.init]
        count, bound = op.count, None if op.bound is None else self.env[op.bound]
        known = None if bound is None else self._constant(bound)
        if known is not None and not self.counted:
            trips = min(max(int(known.numbers[0]), 0), count)
            if trips == 0:
                self.fired[NO_ITERATIONS] += 1
                return init
            if trips <= MAX_LOOP_COUNT:
                self.fired[KNOWN_BOUND] += 1
                count, bound = trips, None
        if bound is None and op.until is None and self._is_small(old, op, count):
            return self._unrolled(op.body, count, init)
        until, test = None, None
        depth = len(self.scopes)
        if op.until is not None:
            until, test = self._turned(op.until, is_loop=True)
            stops = self._constant(until.result)
            if stops is not None and self._clean(test) and self._may_go(op.until):
                if stops.words[0] and not self.counted:
                    self.fired[NO_ITERATIONS] += 1
                    return init
                if not stops.words[0]:
                    self.fired[NEVER_STOPS] += 1
                    until, test = None, None
        body, scope = self._turned(op.body, is_loop=True)
        scopes = [scope] if test is None else [test, scope]
        if not self.counted and self._clean(*scopes):
            result = self.ops[body.result]
            if isinstance(result, ops.Carried) and self.levels[body.result] == depth:
                self.fired[SAME_CARRIED] += 1
                return init
            if bound is None and until is None and self.levels[body.result] < depth:
                self.fired[SAME_RESULT] += 1
                return body.result
        return self._compound(old, ops.Loop(count, bound, init, until, body), scopes, _LOOPS)

    def _is_small(self, old: Instruction, op: ops.Loop, count: int) -> bool:
        """Whether a literal loop is written out: few iterations of a short body without loops, so
        that the inner ones go first and each adds but little."""
        small = count == 1 or (
            count <= UNROLLED_COUNT and count * self.sizes.get(old.id, 1) <= UNROLLED_SIZE
        )
        return self.unrolls and small and not self._loops(op.body)

    def _unrolled(self, body: Block, count: int, init: ValueId) -> ValueId:
        self.fired[UNROLL] += 1
        value = init
        for k in range(count):
            index = self._value(Type.INT, ops.Const(Value.of(Type.INT, k)), None)
            self.turns.append(_Turn(len(self.scopes) - 1, True, index, value))
            self._body(body.body)
            self.turns.pop()
            value = self.env[body.result]
        return value

    def _turned(self, block: Block, is_loop: bool) -> tuple[Block, _Scope]:
        """A block that repeats."""
        self.turns.append(_Turn(len(self.scopes), is_loop))
        made = self._nested(block, repeats=True)
        self.turns.pop()
        return made

    def _each(self, old: Instruction, op: ops.Each) -> ValueId:
        body, scope = self._turned(op.body, is_loop=False)
        if self._clean(scope):
            value = self._constant(body.result)
            if value is not None and len(value.words) * op.count <= MAX_FOLDED_WORDS:
                self.fired[CONSTANT_EACH] += 1
                return self._value(old.ty, ops.Const(Value(old.ty, value.words * op.count)), None)
            element = self.ops[body.result]
            if isinstance(element, ops.Subscript) and self._is_index(element.index, scope.depth):
                whole = element.value
                if self.types[whole] == old.ty and self.levels[whole] < scope.depth:
                    self.fired[SAME_EACH] += 1
                    return whole
        return self._compound(old, ops.Each(op.count, body), (scope,))

    def _is_index(self, id: ValueId, depth: int) -> bool:
        """Whether a value is the Index of the Each whose block is at ``depth``."""
        return isinstance(self.ops[id], ops.Index) and self.levels[id] == depth


_LOOPS = Facts(loops=True)
