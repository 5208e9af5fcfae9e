"""What an instruction may do beside giving its value: what every pass asks before it moves, shares
or drops one.

In: operations and the module they stand in. Out: ``Facts``. They are bounds: an instruction that
``fails`` may never fail, one that does not never does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import op as ops
from .encoding import ENCODINGS
from .mode import COMBINES, ModeKind
from .module import Module
from .tables import BinaryOp
from .types import Numeric, Type, word_types


@dataclass(frozen=True, slots=True)
class Facts:
    """What may happen when an instruction, with all in its blocks, runs.

    ``fails``: it may fail, its element's work aside. ``acts``: it writes, emits or meets other
    lanes, so it runs exactly where it stands. ``reads_memory``: its value depends on earlier Puts.
    ``loops``: it may run loop iterations, which are counted where the module's work is."""

    fails: bool = False
    acts: bool = False
    reads_memory: bool = False
    loops: bool = False

    def __or__(self, other: Facts) -> Facts:
        return Facts(
            self.fails or other.fails,
            self.acts or other.acts,
            self.reads_memory or other.reads_memory,
            self.loops or other.loops,
        )

    def must_run(self, counted: bool) -> bool:
        """Whether the instruction must stay even where nothing reads its value; ``counted``:
        whether the module's work is counted."""
        return self.fails or self.acts or (self.loops and counted)

    def moves(self, counted: bool) -> bool:
        """Whether it may run earlier, or for a like one too."""
        return not (self.reads_memory or self.must_run(counted))


NOTHING = Facts()
_FAILS = Facts(fails=True)
_ACTS = Facts(acts=True)
_READS = Facts(reads_memory=True)
_LOOPS = Facts(loops=True)
_ACTING = (ops.Put, ops.Emit, ops.Exchange, ops.Spend, ops.Look, ops.Lanes, ops.Meet)
_READING = (ops.Sample, ops.At, ops.Part, ops.AtLinear)

Numbers = Callable[[ops.ValueId], Sequence[Numeric] | None]
"""The words of a value that is known before the run, as numbers; None of another."""


def _unknown(_: ops.ValueId) -> Sequence[Numeric] | None:
    return None


def own_facts(
    module: Module,
    op: ops.Op,
    operand: Type | None,
    functions: Sequence[Facts],
    numbers: Numbers = _unknown,
) -> Facts:
    """The facts of one operation, those of its blocks not included.

    ``operand``: the type of the first value it reads; ``functions``: the facts of the functions it
    may call; ``numbers``: what is known of values, which clears some divisions."""
    match op:
        case ops.Binary(BinaryOp.DIV | BinaryOp.REM as operation, _, b) if operand is not None:
            fails = operation.signature.faults(operand) and not _divides_safely(op, numbers(b))
            return _FAILS if fails else NOTHING
        case ops.Unary(operation) | ops.Binary(operation) if operand is not None:
            return _FAILS if operation.signature.faults(operand) else NOTHING
        case ops.Intrinsic(intrinsic) if operand is not None:
            return _FAILS if intrinsic.signature.faults(operand) else NOTHING
        case ops.Call(function, _):
            return functions[function]
        case ops.Loop():
            return _LOOPS
    if isinstance(op, _ACTING):
        return _ACTS
    if isinstance(op, _READING):
        first = len(module.manifest.inputs) - len(module.manifest.memories)
        return _READS if op.input >= first else NOTHING
    return NOTHING


def _divides_safely(op: ops.Binary, divisor: Sequence[Numeric] | None) -> bool:
    """Whether an integer division by this known divisor never fails."""
    unsafe = (0, -1) if op.op is BinaryOp.DIV else (0,)
    return divisor is not None and not any(n in unsafe for n in divisor)


def function_facts(module: Module) -> list[Facts]:
    """The facts of each of ``module.all_functions()``."""
    known: list[Facts] = []
    for function in module.all_functions():
        types: dict[ops.ValueId, Type] = {}
        facts = NOTHING
        for instruction in function.instructions():
            types[instruction.id] = instruction.ty
            reads = instruction.op.operands()
            operand = types[reads[0]] if reads else None
            facts |= own_facts(module, instruction.op, operand, known)
        known.append(facts)
    return known


def can_fail(module: Module) -> bool:
    """Whether a run may fail by other than spent work: by an instruction, by what its mode does
    with the entry's results, or by storing them."""
    manifest = module.manifest
    if any(facts.fails for facts in function_facts(module)):
        return True
    if any(p.ty.encoding and ENCODINGS[p.ty.encoding].fails for p in manifest.outputs):
        return True
    combine = manifest.mode.combine
    if combine is None:
        return False
    words = word_types(module.structs, manifest.results[0].element)
    whole = any(word in (Type.INT, Type.LONG) for word in words)
    adds = manifest.mode.kind in (ModeKind.SCATTER, ModeKind.PREFIX)
    return bool(COMBINES[combine].fails) and adds and whole
