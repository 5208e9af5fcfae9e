"""The claim oracle: what validation says of a module, held against what the interpreter does.

In: a valid module and data for it. Out: ``check_claims``, which runs it and raises AssertionError
where an instruction computed words that are not of its type, a number out of its range, what needs
a capability that the manifest does not require, or more work than ``worst_work`` says; else what
ran.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

from dynamis.kernel import Outcome, Validated, account, capability_of, op
from dynamis.kernel.limits import LOOK_WORK
from dynamis.kernel.module import Instruction, Module
from dynamis.kernel.types import Type, bits_float, float_bits, word_types
from tests.fuzz.observe import Words, observed
from tests.kernel.random_data import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, Run


@dataclass(frozen=True)
class Seen:
    """A run that kept what validation said of its module."""

    outcome: Outcome
    accounted: Module
    """The module that ran."""
    executed: Counter[tuple[int, int]]
    """How often each of its (function, instruction) ran."""
    elements: int
    """The elements, or lanes of groups, that ran."""

    @property
    def steps(self) -> float:
        """Executed instructions an element."""
        return sum(self.executed.values()) / max(1, self.elements)


def is_word(ty: Type, word: object) -> bool:
    """Whether a Python number is one that a word of scalar type ``ty`` stands for."""
    if ty == Type.BOOL:
        return isinstance(word, bool)
    if ty in (Type.INT, Type.LONG):
        low, high = (INT_MIN, INT_MAX) if ty == Type.INT else (LONG_MIN, LONG_MAX)
        return isinstance(word, int) and not isinstance(word, bool) and low <= word <= high
    if not isinstance(word, float):
        return False
    return ty == Type.DOUBLE or math.isnan(word) or bits_float(float_bits(word)) == word


class _Claims:
    """What each instruction that runs is held against."""

    def __init__(self, module: Module, run: Run):
        self.module = module
        self.requires = module.manifest.requires
        self.size = math.prod(run.extent)
        self.group = module.manifest.mode.size or 1
        self.words: dict[Type, tuple[Type, ...]] = {}
        self.executed: Counter[tuple[int, int]] = Counter()
        self.elements: set[tuple[int, int]] = set()
        self.work: Counter[int] = Counter()
        """The loop iterations of each element, merge or init that has begun."""
        self.most = 0
        """The most of them."""

    def entered(self, number: int) -> None:
        self.work[number] = 0

    def told(
        self, run: Any, function: int, instruction: Instruction, words: Words, iterations: int
    ) -> None:
        self.executed[function, instruction.id] += 1
        if function == len(self.module.functions):
            self.elements.add((function, run.number))
        self.work[run.number] += iterations
        self.most = max(self.most, self.work[run.number])
        ty = instruction.ty
        if ty not in self.words:
            self.words[ty] = word_types(self.module.structs, ty)
        kinds = self.words[ty]
        where = (function, instruction.id, words)
        assert len(words) == len(kinds), where
        assert all(map(is_word, kinds, words)), where
        needed = capability_of(instruction.op)
        assert needed is None or needed in self.requires, where
        self._check_range(run, instruction.op, words, where)

    def _check_range(self, run: Any, operation: op.Op, words: Words, where: object) -> None:
        """Numbers that name a place are places that there are."""
        match operation:
            case op.Element():
                whole = -(-self.size // self.group) * self.group  # the last group runs whole
                assert 0 <= words[0] < whole, where
            case op.Lane():
                assert 0 <= words[0] < self.group, where
            case op.Coord():
                assert all(x >= 0 for x in words), where
            case op.Index():
                assert words[0] >= 0, where
            case op.Count():
                assert words[0] == run.inputs[operation.input].count, where


def check_claims(validated: Validated, run: Run) -> Seen:
    """Runs a module and holds it against its claims."""
    module = validated.module
    claims = _Claims(module, run)
    outcome = observed(validated, run, claims.told, claims.entered)
    assert claims.most <= module.worst_work(), (claims.most, module.worst_work())
    assert claims.most <= module.manifest.work_limit + LOOK_WORK, claims.most
    if not module.counts_work():
        assert claims.most <= module.manifest.work_limit, claims.most
    if outcome.fault is None:
        assert outcome.outputs is not None
        assert len(outcome.outputs) == len(module.manifest.outputs)
    else:
        assert 0 <= outcome.fault.function < len(module.all_functions())
    return Seen(outcome, account(module), claims.executed, len(claims.elements))
