"""What holds on every path through a function's statements: assignment, liveness, ways out.

In: a function's syntax tree. Out: the uses of names that some path reaches unassigned, the names
still to be read after each loop, whether the function can reach its end without ``return``.
The analyses are the standard forward (definite assignment) and backward (liveness) ones, walked
over the structured statements; statements the language lacks are passed over, for the compiler
refuses them when it comes to them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum

from .source import children

Loop = ast.For | ast.While
Names = frozenset[str]
Stmts = Sequence[ast.stmt]


class Leaves(Enum):
    """Whether running some statements ends before their end: by break, continue or return."""

    NEVER = 0
    PERHAPS = 1
    ALWAYS = 2


def is_true(test: ast.expr) -> bool:
    """Whether a condition is the literal True."""
    return isinstance(test, ast.Constant) and test.value is True


def stored(nodes: Iterable[ast.AST]) -> list[str]:
    """The names that ``nodes`` assign, in source order, once each."""
    found: dict[str, None] = {}
    for node in nodes:
        for child in _in_order(node):
            if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
                found[child.id] = None
            elif isinstance(child, ast.Attribute) and isinstance(child.ctx, ast.Store):
                if isinstance(child.value, ast.Name):
                    found[child.value.id] = None
    return list(found)


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """``node`` and what is below it, in source order; iterative."""
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        stack += reversed(children(top))


def loaded(nodes: Iterable[ast.AST | None]) -> list[ast.Name]:
    """The reads of names below ``nodes``."""
    return [
        child
        for node in nodes
        if node is not None
        for child in _in_order(node)
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load)
    ]


def own_exits(body: Stmts, kind: type[ast.stmt]) -> bool:
    """Whether ``body`` holds a Break or Continue (``kind``) of the loop it belongs to."""
    for s in body:
        if isinstance(s, kind):
            return True
        if isinstance(s, ast.If) and (own_exits(s.body, kind) or own_exits(s.orelse, kind)):
            return True
        if isinstance(s, Loop) and own_exits(s.orelse, kind):
            return True
    return False


def leaves(body: Stmts) -> Leaves:
    """Whether ``body`` ends early."""
    if not _completes(body):
        return Leaves.ALWAYS
    returns = any(isinstance(n, ast.Return) for s in body for n in _in_order(s))
    if returns or own_exits(body, ast.Break) or own_exits(body, ast.Continue):
        return Leaves.PERHAPS
    return Leaves.NEVER


def _completes(body: Stmts) -> bool:
    for s in body:
        match s:
            case ast.Return() | ast.Break() | ast.Continue():
                return False
            case ast.If() if not (_completes(s.body) or _completes(s.orelse)):
                return False
            case ast.While() if is_true(s.test) and not own_exits(s.body, ast.Break):
                return False
    return True


class Flow:
    """The facts about one function. ``trips`` gives the trip count of a loop over literals."""

    def __init__(self, function: ast.FunctionDef, trips: Callable[[ast.For], int | None]) -> None:
        self._trips = trips
        arguments = function.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        given = frozenset(a.arg for a in every)
        self.locals: Names = given | frozenset(
            n.id
            for n in _in_order(function)
            if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
        )
        """Every name the function binds: Python takes all uses of these as local."""
        self.unassigned: set[ast.Name] = set()
        """The uses that some path reaches before the name is assigned."""
        self.live_after: dict[Loop, Names] = {}
        """The names that may be read after a loop before they are assigned again."""
        self._loaded: dict[ast.AST, list[ast.Name]] = {}
        self._stored: dict[ast.AST, Names] = {}
        self._breaks: list[list[Names]] = []
        self._continues: list[list[Names]] = []
        self.falls_through = self._assigned(function.body, given) is not None
        self._live(function.body, frozenset(), frozenset(), frozenset())

    # Definite assignment, forward. None: no path comes here.

    def _read(self, state: Names, *nodes: ast.AST | None) -> None:
        for node in nodes:
            for name in self._loads(node):
                if name.id in self.locals and name.id not in state:
                    self.unassigned.add(name)

    # Both analyses ask for the names of one node, liveness once for each time round a loop.

    def _loads(self, node: ast.AST | None) -> list[ast.Name]:
        if node is None:
            return []
        if node not in self._loaded:
            self._loaded[node] = loaded([node])
        return self._loaded[node]

    def _ids(self, *nodes: ast.AST | None) -> Names:
        return frozenset([name.id for node in nodes for name in self._loads(node)])

    def _stores(self, node: ast.AST) -> Names:
        if node not in self._stored:
            self._stored[node] = frozenset(stored([node]))
        return self._stored[node]

    def _assigned(self, body: Stmts, state: Names | None) -> Names | None:
        for s in body:
            if state is None:
                return None
            state = self._after(s, state)
        return state

    def _after(self, s: ast.stmt, state: Names) -> Names | None:
        match s:
            case ast.If():
                self._read(state, s.test)
                return _meet(self._assigned(s.body, state), self._assigned(s.orelse, state))
            case ast.For():
                self._read(state, s.iter)
                ends = self._loop(s, state | self._stores(s.target))
                # A literal range that is not empty has run its body when it is exhausted.
                exhausted = _meet(*ends) if (self._trips(s) or 0) > 0 else state
                return self._leave(s, exhausted)
            case ast.While():
                self._read(state, s.test)
                self._loop(s, state)
                return self._leave(s, None if is_true(s.test) else state)
            case ast.Break() | ast.Continue():
                into = self._breaks if isinstance(s, ast.Break) else self._continues
                if into:
                    into[-1].append(state)
                return None
            case ast.Return():
                self._read(state, s.value)
                return None
            case ast.AugAssign():
                if isinstance(s.target, ast.Name) and s.target.id not in state:
                    self.unassigned.add(s.target)
                self._read(state, s.target, s.value)
                return state | self._stores(s.target)
            case ast.AnnAssign() if s.value is None:
                return state
            case ast.AnnAssign():
                self._read(state, s.value, s.target)
            case ast.Assign():
                self._read(state, s.value, *s.targets)
            case ast.Expr():
                self._read(state, s.value)
        return state | self._stores(s)

    def _loop(self, s: Loop, state: Names) -> list[Names | None]:
        """Walks a loop's body; the states at its end and at its ``continue``s."""
        self._breaks.append([])
        self._continues.append([])
        end = self._assigned(s.body, state)
        return [end, *self._continues.pop()]

    def _leave(self, s: Loop, exhausted: Names | None) -> Names | None:
        breaks = self._breaks.pop()
        return _meet(self._assigned(s.orelse, exhausted), *breaks)

    # Liveness, backward: the names that may be read before they are next assigned.

    def _live(self, body: Stmts, after: Names, at_break: Names, at_continue: Names) -> Names:
        for s in reversed(body):
            after = self._live_before(s, after, at_break, at_continue)
        return after

    def _live_before(self, s: ast.stmt, after: Names, brk: Names, cont: Names) -> Names:
        match s:
            case ast.If():
                arms = self._live(s.body, after, brk, cont) | self._live(s.orelse, after, brk, cont)
                return arms | self._ids(s.test)
            case ast.For():
                return self._live_loop(s, after, brk, cont) | self._ids(s.iter)
            case ast.While():
                return self._live_loop(s, after, brk, cont)
            case ast.Break():
                return brk
            case ast.Continue():
                return cont
            case ast.Return():
                return self._ids(s.value)
            case ast.AugAssign():
                return after | self._ids(s.value, s.target) | self._stores(s.target)
        return (after - self._stores(s)) | self._ids(s)

    def _live_loop(self, s: Loop, after: Names, brk: Names, cont: Names) -> Names:
        exhausted = self._live(s.orelse, after, brk, cont)
        self.live_after[s] = self.live_after.get(s, frozenset()) | after | exhausted
        target = self._stores(s.target) if isinstance(s, ast.For) else frozenset()
        head = exhausted if isinstance(s, ast.For) else exhausted | self._ids(s.test)
        while True:
            around = head | (self._live(s.body, head, after, head) - target)
            if around == head:
                return head
            head = around


def _meet(*states: Names | None) -> Names | None:
    """The names assigned in every state that a path reaches."""
    reached = [s for s in states if s is not None]
    return frozenset.intersection(*reached) if reached else None
