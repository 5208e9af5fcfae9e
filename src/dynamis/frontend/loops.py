"""``for … in range(…)`` and ``while`` as bounded loops of the Kernel IR.

A literal count is the Loop's own; a run-time count is its ``bound``, computed exactly in wrapping
Int arithmetic (a trip count past MAX_BUDGET saturates: the budget stops such a loop). ``while``,
and a literal count past MAX_LOOP_COUNT, run in *rounds*: a Loop of MAX_LOOP_COUNT whose body is a
Loop of MAX_LOOP_COUNT, both with the same ``until``. ``if …: break`` at the head of a body joins
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
from .draft import UNTIL, Body, Draft, Ref, Repeat, Slot
from .flow import is_true, loaded, stored
from .source import Node, unparse
from .statements import LoopFlags, Statements
from .values import INT_MAX, INT_MIN, IntLiteral, Operand, Typed

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
    while rest and isinstance(s := rest[0], ast.If) and _is_break(s.body):
        rest.pop(0)
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
        if not s.orelse:
            self.env.pop(flags.broke)
            return rest
        match self.env[flags.broke]:
            case True:
                return rest
            case False:
                return [*s.orelse, *rest]
        # What follows sees the flag under its name, and may itself stand under other flags.
        test = ast.copy_location(ast.Name(flags.broke, ast.Load()), s)
        choice = ast.If(test, [ast.copy_location(ast.Pass(), s)], s.orelse)
        return [ast.copy_location(choice, s), *rest]

    # while

    def _while(self, s: ast.While, flags: LoopFlags) -> None:
        tests: list[Test] = []
        if not is_true(s.test):
            tests.append(lambda: self._fails(s.test))
        head = _Head([], s.body) if s.orelse else _head(s.body)
        tests += [self._holds(test) for test in head.tests]
        self._repeat(
            s,
            flags,
            Repeat(self.source.span(s), MAX_LOOP_COUNT),
            True,
            tests,
            lambda: None,
            lambda: self.block(head.rest),
        )

    def _fails(self, test: ast.expr) -> Ref:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.condition(test.operand)
        return self.inverse(test, self.condition(test))

    def _holds(self, test: ast.expr) -> Test:
        return lambda: self.condition(test)

    # for

    def _for(self, s: ast.For, flags: LoopFlags) -> None:
        target = s.target
        if not isinstance(target, ast.Name):
            self.fail(
                target,
                "a for loop has one name",
                found=unparse(target),
                hint="for i in range(…)",
            )
        call = self._range_call(s)
        operands = [self.expression(a) for a in call.args]
        span = self.source.span(s)
        start, stop, step = self._range_operands(call, operands)
        known = None
        if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
            known = len(range(start, stop, step))
        rounds = known is not None and known > MAX_LOOP_COUNT
        if known is None:
            repeat = Repeat(span, MAX_BUDGET, self._trips(call, start, stop, step))
        elif known == 0:
            repeat = Repeat(span, 1, self.integer(call, 0).ref)
        else:
            repeat = Repeat(span, min(known, MAX_LOOP_COUNT))
        first = start if isinstance(start, int) else self._ref(call, start)
        stride = step if isinstance(step, int) else self._ref(call, step)
        live = target.id in self.flow.live_after[s]
        head = _Head([], s.body) if s.orelse or live else _head(s.body)
        counter = ""
        tests = [self._holds(test) for test in head.tests]
        if rounds and known is not None:
            counter = self.fresh("k", Type.INT)
            self.env[counter] = self.integer(call, 0).ref
            limit = self.integer(call, known if known <= INT_MAX else known - 2**32).ref
            tests.insert(0, lambda: self._counted_out(call, counter, limit))

        def bind() -> None:
            k = self._counter(call, counter)
            self.store(target, Typed(Type.INT, self._element(call, first, stride, k)), target)

        def body() -> None:
            if live or _reads(head.rest, target.id):
                bind()
            self.block(head.rest)
            if counter:
                one = self.integer(call, 1).ref
                k = self._counter(call, counter)
                self.env[counter] = self.intrinsic(call, IntrinsicName.ADD_WRAP, Type.INT, k, one)

        def opening() -> None:
            if _reads(head.tests, target.id):
                bind()
                self.bindings.pop()

        self._repeat(s, flags, repeat, rounds, tests, opening, body, [counter] if counter else [])

    def _range_call(self, s: ast.For) -> ast.Call:
        call = s.iter
        if not (
            isinstance(call, ast.Call)
            and self.is_static(call.func)
            and self.static(call.func) is builtins.range
        ):
            text = unparse(call)
            hint = f"for {unparse(s.target)} in range(…)"
            if isinstance(call, ast.Name) and call.id in self.ports:
                hint = f"for {unparse(s.target)} in range({text}.count)"
            self.fail(
                call, "a for loop runs over range(…)", found=text, expected="range(…)", hint=hint
            )
        for keyword in call.keywords:
            self.fail(keyword, "range takes no keyword arguments", hint="range(start, stop, step)")
        for argument in call.args:
            if isinstance(argument, ast.Starred):
                self.unsupported(argument)
        if not 1 <= len(call.args) <= 3:
            self.fail(
                call,
                f"range takes 1 to 3 arguments, not {len(call.args)}",
                found=unparse(call),
                expected="range(stop), range(start, stop) or range(start, stop, step)",
                hint="range(start, stop, step)",
            )
        return call

    def _range_operands(
        self, call: ast.Call, operands: Sequence[Operand]
    ) -> tuple[int | Ref, int | Ref, int | Ref]:
        """start, stop and step, each a literal or a value."""
        found: list[int | Ref] = []
        for node, operand in zip(call.args, operands, strict=True):
            if isinstance(operand, IntLiteral):
                found.append(self.in_range(node, operand.value))
            else:
                found.append(self.coerced(node, operand, Type.INT, "an argument of range").ref)
        if len(found) == 3 and isinstance(found[2], int) and found[2] == 0:
            self.fail(
                call.args[2],
                "range has a step of 0",
                found="0",
                expected="a step that is not 0",
                hint="1 to count up, -1 to count down",
            )
        match found:
            case [stop]:
                return 0, stop, 1
            case [start, stop]:
                return start, stop, 1
        return found[0], found[1], found[2]

    def _ref(self, node: Node, value: int | Ref) -> Ref:
        return self.integer(node, value).ref if isinstance(value, int) else value

    def _trips(self, call: ast.Call, start: int | Ref, stop: int | Ref, step: int | Ref) -> Ref:
        """The trip count as a loop's bound: ceil(distance / |step|), 0 where stop lies behind."""
        if start == 0 and step == 1:
            return self._ref(call, stop)
        a, b = self._ref(call, start), self._ref(call, stop)

        def wrap(x: Ref, y: Ref) -> Ref:
            return self.intrinsic(call, IntrinsicName.SUB_WRAP, Type.INT, x, y)

        # The distance is 0 to 2**32 - 1, exact as an unsigned word.
        def upward() -> Ref:
            return wrap(self.intrinsic(call, IntrinsicName.MAX, Type.INT, a, b), a)

        def downward() -> Ref:
            return wrap(a, self.intrinsic(call, IntrinsicName.MIN, Type.INT, a, b))

        if isinstance(step, int):
            distance = upward() if step > 0 else downward()
            size = abs(step)
            if size == 1:
                if step == 1 and isinstance(start, int) and start >= 0:
                    return distance
                return self._saturated(call, distance)
            stride = self.integer(call, size if size <= INT_MAX else INT_MIN).ref
        else:
            zero = self.integer(call, 0).ref
            up = self.binary(call, BinaryOp.GREATER, step, zero, Type.BOOL)
            distance = self.select(call, up, Type.INT, upward, downward).ref
            stride = self.select(call, up, Type.INT, lambda: step, lambda: wrap(zero, step)).ref
        whole = self.intrinsic(call, IntrinsicName.UDIV, Type.INT, distance, stride)
        over = self.intrinsic(call, IntrinsicName.UREM, Type.INT, distance, stride)
        some = self.binary(call, BinaryOp.NOT_EQUAL, over, self.integer(call, 0).ref, Type.BOOL)
        one = self.intrinsic(call, IntrinsicName.TO_INT, Type.INT, some)
        return self._saturated(
            call, self.intrinsic(call, IntrinsicName.ADD_WRAP, Type.INT, whole, one)
        )

    def _saturated(self, call: ast.Call, n: Ref) -> Ref:
        """An unsigned count as a bound: past 2**31 - 1 it is MAX_BUDGET."""
        below = self.binary(call, BinaryOp.LESS, n, self.integer(call, 0).ref, Type.BOOL)
        return self.select(
            call, below, Type.INT, lambda: self.integer(call, MAX_BUDGET).ref, lambda: n
        ).ref

    def _counter(self, call: ast.Call, counter: str) -> Ref:
        """The number of the iteration: the loop's Index, or in rounds a carried count."""
        if not counter:
            return self.add(call, Type.INT, (), lambda ids: Index()).ref
        end = self.env[counter]
        assert isinstance(end, Draft | Slot)
        return end

    def _counted_out(self, call: ast.Call, counter: str, limit: Ref) -> Ref:
        k = self._counter(call, counter)
        within = self.intrinsic(call, IntrinsicName.ULT, Type.BOOL, k, limit)
        return self.inverse(call, within)

    def _element(self, call: ast.Call, start: int | Ref, step: int | Ref, k: Ref) -> Ref:
        """start + k*step, exact in wrapping arithmetic, for the value itself fits."""
        value = k
        if step != 1:
            stride = self._ref(call, step)
            value = self.intrinsic(call, IntrinsicName.MUL_WRAP, Type.INT, value, stride)
        if start != 0:
            first = self._ref(call, start)
            value = self.intrinsic(call, IntrinsicName.ADD_WRAP, Type.INT, first, value)
        return value

    # Both

    def _repeat(
        self,
        s: ast.For | ast.While,
        flags: LoopFlags,
        repeat: Repeat,
        rounds: bool,
        tests: list[Test],
        opening: Callable[[], None],
        body: Callable[[], None],
        hidden: Sequence[str] = (),
    ) -> None:
        """Writes a loop; ``opening`` comes before the tests, ``hidden`` are carried names."""
        before = dict(self.env)
        before[flags.broke] = False
        names = [*stored([s]), *hidden]
        outer = Repeat(repeat.span, MAX_LOOP_COUNT) if rounds else repeat
        owners = [outer, repeat] if rounds else [repeat]
        stops = [self._tests(s, owner, names, tests, opening) for owner in owners]
        self.depth += len(owners) - 1
        with self.inside(repeat.body, s):
            for name in names:
                self.env[name] = Slot(repeat, "body", name)
            self.env[flags.broke] = self.env[flags.continued] = False
            at_start = dict(self.env)
            self.loops.append(flags)
            body()
            self.loops.pop()
        self.depth -= len(owners) - 1
        ends = repeat.body.ends
        del ends[flags.continued]
        carried = [*names, *(n for n in ends if n not in names and ends[n] != at_start.get(n))]
        for owner, stop in zip(owners, stops, strict=True):
            waysout = [n for n in (flags.broke, RETURNED) if n in carried]
            owner.until = self._until(s, [Slot(owner, "until", n) for n in waysout], stop)
        self.env = before
        for name in carried:
            outer.init[name] = before.get(name)
            if rounds:
                repeat.init[name] = Slot(outer, "body", name)
                outer.body.ends[name] = Slot(repeat, "result", name)
            self.env[name] = Slot(outer, "result", name)
        if rounds:
            outer.body.items.append(repeat)
        for name in hidden:
            del self.env[name]
        self.body.items.append(outer)

    def _tests(
        self,
        s: ast.For | ast.While,
        owner: Repeat,
        names: Sequence[str],
        tests: list[Test],
        opening: Callable[[], None],
    ) -> Body | None:
        """The source's own reasons to stop, as a block."""
        if not tests:
            return None
        body = Body()
        with self.inside(body, s):
            for name in names:
                self.env[name] = Slot(owner, "until", name)
            opening()
            stop = tests[0]()
            for test in tests[1:]:
                stop = self.short_circuit(s, BinaryOp.OR, stop, test)
        body.ends = {UNTIL: stop}
        return body

    def _until(self, s: Node, flags: Sequence[Ref], tests: Body | None) -> Body | None:
        """The whole ``until``: the flags first, then the source's own tests."""
        if not flags:
            return tests
        until, outer = Body(), self.body
        self.body = until
        stop = self.either(s, flags)
        if tests is not None:
            own = tests.ends[UNTIL]
            assert isinstance(own, Draft | Slot)
            stop = self.logical(s, BinaryOp.OR, stop, tests, own)
        self.body = outer
        until.ends = {UNTIL: stop}
        return until


def _reads(nodes: Sequence[ast.AST], name: str) -> bool:
    return any(n.id == name for n in loaded(nodes)) or any(
        isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name) and n.target.id == name
        for node in nodes
        for n in ast.walk(node)
    )
