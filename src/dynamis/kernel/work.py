"""Work accounting: how many loop iterations an element may run, and where that is checked.

In: a valid module. Out: bounds and estimates of its work, and ``account``, which places ``Spend``
and ``Look``: the instructions that count an element's iterations and fail it past its budget.

The weight of a loop of n iterations is W = n * (1 + W(body) + W(until)); of an If or a Match, that
of its dearest arm; of an Each of n elements, n times that of its body, for its runs are no work
themselves; of Lanes, that of its body, for each lane's work is its own; of a call, that of its
function. Sums saturate at 2**64 - 1. The functions here recurse over blocks, which a valid module
nests at most ``MAX_BLOCK_DEPTH`` deep.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from .module import (
    LOOK_WORK,
    MAX_LOOP_COUNT,
    TYPICAL_OPEN_LOOP,
    WORK_BLOCK,
    Block,
    Function,
    Instruction,
    Module,
)
from .op import Call, Count, Each, If, Lanes, Look, Loop, Match, Op, Param, Spend, ValueId
from .types import Type, Value

SATURATED = 2**64 - 1
"""Where work stops growing."""


def _written(loop: Loop) -> int:
    """Iterations a loop weighs where checks are placed: its own count, with a bound or without."""
    return loop.count


def _bounded(loop: Loop) -> int:
    """Iterations a loop weighs in ``worst_work``: MAX_LOOP_COUNT at most for a run-time count."""
    return loop.count if loop.bound is None else min(loop.count, MAX_LOOP_COUNT)


def _weight(
    body: Sequence[Instruction], functions: Sequence[int], trips: Callable[[Loop], int]
) -> int:
    """W of a run of instructions; ``functions`` holds W of each function they may call."""
    total = 0
    for instruction in body:
        match instruction.op:
            case Call(function=callee):
                total += functions[callee]
            case If() | Match() | Each() | Loop() | Lanes() as op:
                inner = [_weight(block.body, functions, trips) for block in op.blocks()]
                total += _of_blocks(op, inner, trips)
    return min(total, SATURATED)


def _of_blocks(op: Op, inner: Sequence[int], trips: Callable[[Loop], int]) -> int:
    """The weight of an operation with blocks of the weights ``inner``."""
    match op:
        case Loop():
            return trips(op) * (1 + sum(inner))
        case Each(count):
            return count * sum(inner)
    return max(inner)


def _weights(module: Module, trips: Callable[[Loop], int], count: int | None = None) -> list[int]:
    """W of each of ``all_functions``: helpers first (they call only helpers below). With ``count``,
    loops over an input's elements run that often at most."""
    weights: list[int] = []
    for function in module.all_functions():
        own = trips
        if count is not None:
            own = _capped(trips, _counts(function), count)
        weights.append(_weight(function.body, weights, own))
    return weights


def _capped(
    trips: Callable[[Loop], int], counts: Collection[ValueId], count: int
) -> Callable[[Loop], int]:
    return lambda loop: min(trips(loop), count) if loop.bound in counts else trips(loop)


def _counts(function: Function) -> set[ValueId]:
    """The values of a function that are an input's number of elements."""
    return {i.id for i in function.instructions() if isinstance(i.op, Count)}


def _worst(module: Module, trips: Callable[[Loop], int], count: int | None = None) -> int:
    """The greatest W of entry, merge and init, each of which has a budget of its own."""
    return max(_weights(module, trips, count)[len(module.functions) :])


def worst_work(module: Module) -> int:
    """The most loop iterations one element (a scan's init, a reduction's merge) can run: every loop
    at its bound (MAX_LOOP_COUNT at most for a run-time count), nested loops multiplied, the longer
    arm, calls counted where made. Saturates."""
    return _worst(module, _bounded)


def loops_over_inputs(module: Module) -> bool:
    """Whether some loop runs as often as an input has elements."""
    return any(
        isinstance(i.op, Loop) and i.op.bound in counts
        for function in module.all_functions()
        for counts in [_counts(function)]
        for i in function.instructions()
    )


def worst_work_given(module: Module, count: int) -> int:
    """The most loop iterations one element can run where no input has more than ``count`` elements:
    a bound, with every other loop at its ``count``. Saturates."""
    return _worst(module, _written, count)


def functions_work(module: Module) -> tuple[int, ...]:
    """For each helper, the most loop iterations one call may run, every loop at its ``count``."""
    return tuple(_weights(module, _written)[: len(module.functions)])


def counts_work(module: Module) -> bool:
    """Whether the module's work is counted as it runs: the worst case of entry, merge or init,
    every loop at its ``count``, can pass the budget or fill a WORK_BLOCK."""
    worst = _worst(module, _written)
    return worst > module.manifest.budget or worst >= WORK_BLOCK


def loop_looks(count: int, until: Block | None, body: Block, functions: Sequence[int]) -> bool:
    """Whether a loop of ``count`` iterations checks its element's work at each iteration;
    ``functions`` is ``functions_work``. See LOOK_WORK."""
    loop = Loop(count, None, 0, until, body)
    inner = sum(_weight(block.body, functions, _written) for block in loop.blocks())
    return count * (1 + inner) > LOOK_WORK


def typical_work(module: Module) -> int:
    """The operations one element takes as a rule, at least one.

    Each instruction is one; a loop of a written count runs its blocks that many times, one whose
    count is read at run time or that may stop early TYPICAL_OPEN_LOOP times at most, and one that
    counts rounds of the loop limit once; an Each its count; the dearest arm; a call what its
    function takes; a reduction's merge once. An estimate, for choosing where a run goes, never a
    bound. Saturates."""
    return _typical_work(module, None, None)


def typical_work_given(
    module: Module, params: Sequence[Value] | None = None, count: int | None = None
) -> int:
    """``typical_work`` for a run given ``params``, or whose largest input has ``count`` elements: a
    loop without a test whose bound is a parameter, or an input's number of elements, runs that
    often, clamped to its count."""
    return _typical_work(module, params, count)


def typical_reads_params(module: Module) -> bool:
    """Whether ``typical_work_given`` depends on parameters: some loop counts one."""
    return any(
        isinstance(instruction.op, Loop) and _counted_param(instruction.op, counted) is not None
        for function in module.all_functions()
        for counted in [_params_of(function)]
        for instruction in function.instructions()
    )


def _typical_work(module: Module, params: Sequence[Value] | None, count: int | None) -> int:
    typical: list[int] = []
    for function in module.all_functions():
        counts = frozenset() if count is None else frozenset(_counts(function))
        estimate = _Typical(typical, _params_of(function), params, counts, count or 0)
        typical.append(estimate.of(function.body))
    entry = len(module.functions)
    total = typical[entry] + (0 if module.merge is None else typical[entry + 1])
    return max(1, min(total, SATURATED))


def _params_of(function: Function) -> dict[ValueId, int]:
    """The number of the parameter that each value of a function is, of those that are one."""
    return {i.id: i.op.index for i in function.instructions() if isinstance(i.op, Param)}


def _counted_param(loop: Loop, counted: Mapping[ValueId, int]) -> int | None:
    """The parameter that says how often a loop without a test runs, where one does."""
    return counted.get(loop.bound) if loop.until is None and loop.bound is not None else None


@dataclass(frozen=True, slots=True)
class _Typical:
    """Typical work in one function: that of the functions below, its parameters, their values; the
    values that are an input's number of elements, and what they are."""

    functions: Sequence[int]
    counted: Mapping[ValueId, int]
    params: Sequence[Value] | None
    counts: frozenset[ValueId] = frozenset()
    count: int = 0

    def of(self, body: Sequence[Instruction]) -> int:
        total = len(body)
        for instruction in body:
            match instruction.op:
                case Call(function=callee):
                    total += self.functions[callee]
                case If() | Match() as op:
                    total += max(self.of(block.body) for block in op.blocks())
                case Loop() | Each() | Lanes() as op:
                    total += self.trips(op) * sum(self.of(block.body) for block in op.blocks())
        return min(total, SATURATED)

    def trips(self, op: Loop | Each | Lanes) -> int:
        if isinstance(op, Lanes):
            return 1
        if isinstance(op, Each) or (op.bound is None and op.until is None):
            return op.count
        param = _counted_param(op, self.counted)
        if param is not None and self.params is not None:
            return min(max(int(self.params[param].numbers[0]), 0), op.count)
        if op.until is None and op.bound in self.counts:
            return min(self.count, op.count)
        if _open_ended(op) and any(
            i.id == op.body.result and isinstance(i.op, Loop) and _open_ended(i.op)
            for i in op.body.body
        ):
            return (
                1  # rounds: a loop at the limit around one at the limit, which does the iterating
            )
        return min(op.count, TYPICAL_OPEN_LOOP)


def _open_ended(loop: Loop) -> bool:
    return loop.count == MAX_LOOP_COUNT and loop.bound is None and loop.until is not None


@dataclass(frozen=True, slots=True)
class Renumbering:
    """Where a pass moved values: for each of ``all_functions()``, the new id of each old one."""

    functions: tuple[tuple[ValueId, ...], ...]

    def new(self, function: int, id: ValueId) -> ValueId:
        """The id after the pass of what was ``id`` before it."""
        return self.functions[function][id]

    def old(self, function: int, id: ValueId) -> ValueId | None:
        """The id before the pass of what is ``id`` after it; None for what the pass placed."""
        ids = self.functions[function]
        return next((k for k, moved in enumerate(ids) if moved == id), None)


def account(module: Module) -> Module:
    """``module`` with its work checks placed; itself when it does not count or has them already.

    Placed are a Spend right after every Loop, a Look first in the body of every loop that looks,
    and a Look after each outermost Spend. They take their loop's span; ids stay in pre-order."""
    return account_renumbered(module)[0]


def account_renumbered(module: Module) -> tuple[Module, Renumbering]:
    """``account``, and where each value went."""
    if module.accounted() or not counts_work(module):
        same = tuple(tuple(range(f.slot_count)) for f in module.all_functions())
        return module, Renumbering(same)
    functions = functions_work(module)
    return _rebuilt(module, lambda loop: loop_looks(loop.count, loop.until, loop.body, functions))


def stripped(module: Module) -> Module | None:
    """``module`` without its Spends and Looks; None when something reads what one yields."""
    try:
        return _rebuilt(module, None)[0]
    except KeyError:
        return None


def _rebuilt(module: Module, looks: Callable[[Loop], bool] | None) -> tuple[Module, Renumbering]:
    """The module without its work checks, then with them placed when ``looks`` says which loops
    look. KeyError when a value that is left reads a Spend or a Look."""
    moved = [_Rebuild(looks) for _ in module.all_functions()]
    functions = [r.function(f) for r, f in zip(moved, module.all_functions(), strict=True)]
    rebuilt = module.with_functions(functions)
    return rebuilt, Renumbering(tuple(tuple(r.ids.values()) for r in moved))


class _Rebuild:
    """One function written anew in pre-order: ``ids`` maps each old id that is left to its new."""

    def __init__(self, looks: Callable[[Loop], bool] | None):
        self.looks = looks
        self.ids: dict[ValueId, ValueId] = {}
        self.count = 0

    def function(self, old: Function) -> Function:
        body = self.body(old.body, in_loop=False)
        results = tuple(self.ids[r] for r in old.results)
        bindings = tuple((self.ids[id], name) for id, name in old.bindings)
        return replace(old, body=tuple(body), results=results, bindings=bindings)

    def body(self, old: Sequence[Instruction], in_loop: bool) -> list[Instruction]:
        new: list[Instruction] = []
        for instruction in old:
            op = instruction.op
            if isinstance(op, (Spend, Look)):
                continue
            id = self.ids[instruction.id] = self.fresh()
            op = op.with_operands([self.ids[operand] for operand in op.operands()])
            if not isinstance(op, Loop):
                blocks = [self.block(b, in_loop) for b in op.blocks()]
                new.append(replace(instruction, id=id, op=op.with_blocks(blocks)))
                continue
            until = None if op.until is None else self.block(op.until, in_loop=True)
            look = self.looks is not None and self.looks(op)
            first = [self.placed(Type.BOOL, Look(), instruction)] if look else []
            body = self.block(op.body, in_loop=True)
            body = replace(body, body=(*first, *body.body))
            new.append(replace(instruction, id=id, op=replace(op, until=until, body=body)))
            if self.looks is not None:
                new.append(self.placed(Type.INT, Spend(id), instruction))
                if not in_loop:
                    new.append(self.placed(Type.BOOL, Look(), instruction))
        return new

    def block(self, old: Block, in_loop: bool) -> Block:
        body = self.body(old.body, in_loop)
        return Block(tuple(body), self.ids[old.result])

    def placed(self, ty: Type, op: Op, loop: Instruction) -> Instruction:
        return Instruction(self.fresh(), ty, op, loop.span)

    def fresh(self) -> ValueId:
        self.count += 1
        return self.count - 1
