"""Makes a module do less for the same words and the same failures.

In: a valid module, before ``account`` and ``lanes`` place their checks. Out: an equal one, to a
fixed point: constants folded, algebra simplified (``optimize_rules.py``), equal values shared, what
nothing needs dropped, values that no iteration changes computed before their loop, branches whose
condition is known replaced by their arm, small literal loops written out.

A round walks each function once, forward, making it anew (``optimize_walk.py``), then drops dead
code backward; rounds go on until one changes nothing. What keeps failures as they are: an
instruction that may fail never moves, is never dropped, and is shared only with one that ran before
it. In a module whose ``counts_work()`` holds, no loop runs more or less often, and what weighs
where ``account`` places its checks stays, dead or not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from . import op as ops
from .module import (
    MAX_EXPANDED,
    MAX_FRAME_WORDS,
    Block,
    Function,
    Instruction,
    Module,
)
from .optimize_facts import Facts
from .optimize_walk import DEAD, Walk
from .renumber import renumbered_function
from .types import Type, words
from .work import counts_work


def optimize(module: Module) -> Module:
    """``module`` with its functions optimised, to a fixed point; spans and bindings are kept (the
    name of a value that is gone is dropped). A module that holds its work checks or lanes already
    is given back as it is: passes come before them."""
    return optimize_noted(module)[0]


def optimize_noted(module: Module) -> tuple[Module, Counter[str]]:
    """``optimize``, and how often each rule fired, by its text."""
    noted: Counter[str] = Counter()
    if _placed(module):
        return module, noted
    unrolls = True
    while True:
        fired: Counter[str] = Counter()
        made = _round(module, unrolls, fired)
        if not _fits(made):
            if not unrolls:
                return module, noted
            unrolls = False
            continue
        noted += fired
        if _same(module, made):
            return made, noted
        module = made


def _placed(module: Module) -> bool:
    placed = (ops.Spend, ops.Look, ops.Lanes, ops.Meet)
    return any(isinstance(i.op, placed) for f in module.all_functions() for i in f.instructions())


def _round(module: Module, unrolls: bool, fired: Counter[str]) -> Module:
    """Each function walked once and rid of its dead code."""
    counted = counts_work(module)
    known: list[Facts] = []
    made: list[Function] = []
    for function in module.all_functions():
        walk = Walk(module, known, counted, unrolls and not counted, fired)
        walked = walk.function(function)
        wanted = set(walked.results)
        body = _live(walked.body, wanted, walk, counted)
        dropped = walk.emitted - sum(1 for _ in Function("", (), body, ()).instructions())
        fired[DEAD] += dropped
        known.append(walk.total)
        lean = Function(walked.name, walked.args, body, walked.results, walked.bindings)
        made.append(renumbered_function(lean))
    return module.with_functions(made)


def _live(
    body: Sequence[Instruction], wanted: set[ops.ValueId], walk: Walk, counted: bool
) -> tuple[Instruction, ...]:
    """The instructions of a block that must run or that something wants, whose operands are wanted
    in turn; ``wanted`` grows by them."""
    kept: list[Instruction] = []
    for instruction in reversed(body):
        if not (instruction.id in wanted or walk.facts[instruction.id].must_run(counted)):
            continue
        op, blocks = instruction.op, instruction.op.blocks()
        if blocks:
            wanted.update(block.result for block in blocks)
            lean = [Block(_live(b.body, wanted, walk, counted), b.result) for b in reversed(blocks)]
            op = op.with_blocks(lean[::-1])
            instruction = Instruction(instruction.id, instruction.ty, op, instruction.span)
        wanted.update(op.operands())
        kept.append(instruction)
    return tuple(kept[::-1])


def _same(old: Module, new: Module) -> bool:
    """Whether two modules of one manifest are equal, compared without recursion."""
    for a, b in zip(old.all_functions(), new.all_functions(), strict=True):
        if a.results != b.results or a.bindings != b.bindings:
            return False
        left, right = list(map(_shallow, a.instructions())), list(map(_shallow, b.instructions()))
        if left != right:
            return False
    return True


def _shallow(instruction: Instruction) -> tuple[object, ...]:
    """An instruction with the sizes and results of its blocks in place of what they hold."""
    op = instruction.op
    blocks = op.blocks()
    if not blocks:
        return instruction.id, instruction.ty, op
    empty = op.with_blocks([Block((), block.result) for block in blocks])
    return instruction.id, instruction.ty, empty, tuple(len(block.body) for block in blocks)


@dataclass(slots=True)
class _Sizes:
    """Instructions of each function, with calls inlined and Each multiplied."""

    functions: list[int]

    def of(self, body: Sequence[Instruction]) -> int:
        total = len(body)
        for instruction in body:
            op = instruction.op
            if isinstance(op, ops.Call):
                total += self.functions[op.function]
            inner = sum(self.of(block.body) for block in op.blocks())
            total += inner * (op.count if isinstance(op, ops.Each) else 1)
        return total


def _fits(module: Module) -> bool:
    """Whether the module is within the limits that writing out loops and constants could pass."""
    sizes = _Sizes([])
    widths = [words(module.structs, Type.struct(k)) for k in range(len(module.structs))]
    for function in module.all_functions():
        size = sizes.of(function.body)
        types = [*function.args, *(i.ty for i in function.instructions())]
        frame = sum(widths[ty.index] if ty.is_struct else ty.lanes for ty in types)
        if size > MAX_EXPANDED or frame > MAX_FRAME_WORDS:
            return False
        sizes.functions.append(size)
    return True
