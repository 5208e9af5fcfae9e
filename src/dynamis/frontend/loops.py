"""``for … in range(…)`` and ``while`` as bounded loops of the Kernel IR.

A literal count is the Loop's own; a run-time count is its ``bound``, computed exactly in wrapping
Int arithmetic (a trip count past MAX_BUDGET saturates: the budget stops such a loop). ``while``, and
a literal count past MAX_LOOP_COUNT, run in *rounds*: a Loop of MAX_LOOP_COUNT whose body is a Loop
of MAX_LOOP_COUNT, both with the same ``until``. ``if …: break`` at the head of a body joins
``until``; any other way out is a carried flag that ``until`` tests first.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..kernel.module import MAX_BUDGET, MAX_LOOP_COUNT
from ..kernel.op import Index
from ..kernel.tables import BinaryOp
from ..kernel.tables import Intrinsic as IntrinsicName
from ..kernel.types import Type
from .builder import RETURNED
from .draft import UNTIL, Body, Choice, Draft, Ref, Repeat, Slot, may_fail
from .flow import is_true, loaded, stored
from .source import Node
from .statements import LoopFlags, Statements
from .values import INT_MAX, INT_MIN, IntLiteral, Typed, describe

Test = Callable[[], Ref]
"""Writes one reason to stop a loop, as a Bool."""


@dataclass(frozen=True, slots=True)
class _Head:
    """The ``if …: break`` statements that open a body, and the statements after them."""

    tests: list[ast.expr]
    rest: list[ast.stmt]


def _head(body: Sequence[ast.stmt]) -> _Head:
    tests: list[ast.expr] = []
    rest = list(body)
    while rest and isinstance(rest[0], ast.If) and _is_break(rest[0].body):
        s = rest.pop(0)
        tests.append(s.test)
        if s.orelse:
            return _Head(tests, [*s.orelse, *rest])
    return _Head(tests, rest)


def _is_break(body: Sequence[ast.stmt]) -> bool:
    return len(body) == 1 and isinstance(body[0], ast.Break)


def literal_range(node: ast.expr) -> range | None:
    """The range that ``range(…)`` of literal ints is."""
    if not isinstance(node, ast.Call) or node.keywords or not 1 <= len(node.args) <= 3:
        return None
    numbers = []
    for argument in node.args:
        sign, inner = 1, argument
        if isinstance(inner, ast.UnaryOp) and isinstance(inner.op, ast.USub):
            sign, inner = -1, inner.operand
        if not isinstance(inner, ast.Constant) or type(inner.value) is not int:
            return None
        numbers.append(sign * inner.value)
    return range(*numbers) if len(numbers) < 3 or numbers[2] else None


def literal_trips(s: ast.For) -> int | None:
    """The trip count of a loop over literals, for the flow analysis."""
    found = literal_range(s.iter)
    return None if found is None else len(found)


class Loops(Statements):
    """Adds loops to statements: with this class a function can be compiled whole."""

    def loop(self, s: ast.For | ast.While, rest: list[ast.stmt]) -> list[ast.stmt]:
        """Writes a loop; its ``else`` runs where no ``break`` was taken."""
        flags = LoopFlags(self.fresh("broke", Type.BOOL), self.fresh("continued", Type.BOOL))
        if isinstance(s, ast.For):
            self._for(s, flags)
        else:
            self._while(s, flags)
        broke = self.env.pop(flags.broke, False)
        if not s.orelse:
            return rest
        if isinstance(broke, Draft | Slot):
            returned = self.env[RETURNED]
            if isinstance(returned, Draft | Slot):
                broke = self.either(s, [broke, returned])
            return self.branch(s, broke, [], s.orelse, rest)
        return [*s.orelse, *rest]
