"""The state of one function's compilation, and how instructions, branches and names are added.

``env`` says what each name is at this point of the source; ``body`` is the block being written.
Names that begin with % are the compiler's own: the flags of ``break``, ``continue`` and ``return``,
the results, loop counters and the values of conditional expressions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from ..kernel.module import MAX_BLOCK_DEPTH, Span
from ..kernel.op import Binary, Const
from ..kernel.tables import BinaryOp
from ..kernel.types import Type, Value
from .draft import Body, Build, Choice, Draft, End, Ref, Slot, may_fail
from .flow import Flow
from .source import Node, SourceFunction, unparse
from .values import (
    FLOATS,
    INT_MAX,
    INT_MIN,
    LARGEST,
    FloatLiteral,
    IntLiteral,
    NotAConstant,
    Operand,
    PortOperand,
    Several,
    Typed,
    as_float,
    describe,
    neighbour,
    spell,
)

if TYPE_CHECKING:
    from .unit import Unit

_SAYS_BITS = re.compile(r"0[xXbBoO]|<<|>>|[&|^~]")
"""Found in the text of a whole number that was written for its bits."""
RETURNED = "%returned"
NEST_LIMIT = MAX_BLOCK_DEPTH // 2
"""From this depth on, statements after a way out are guarded by a flag, not nested in an arm."""


class Builder:
    """Compiles one function; the classes that build on this one add expressions and statements."""

    def __init__(self, unit: Unit, source: SourceFunction, flow: Flow, *, entry: bool) -> None:
        self.unit = unit
        self.source = source
        self.flow = flow
        self.entry = entry
        self.body = Body()
        self.env: dict[str, End] = {RETURNED: False}
        self.ports: dict[str, PortOperand] = {}
        self.types: dict[str, Type] = {RETURNED: Type.BOOL}
        self.first_assigned: dict[str, Span] = {}
        self.bindings: list[tuple[Ref, str]] = []
        self.depth = 0
        self._fresh = 0

    # Messages

    def fail(
        self,
        node: Node | Span,
        message: str,
        *,
        found: str = "",
        expected: str = "",
        hint: str = "",
        note: tuple[str, Node | Span] | None = None,
    ) -> NoReturn:
        """Raises KernelError at ``node``."""
        self.source.fail(node, message, found=found, expected=expected, hint=hint, note=note)

    # Instructions

    def add(
        self, node: Node, ty: Type, operands: tuple[Ref, ...], build: Build, *, fails: bool = False
    ) -> Typed:
        """Appends one instruction."""
        draft = Draft(ty, self.source.span(node), operands, build, fails)
        self.body.items.append(draft)
        return Typed(ty, draft)

    def const(self, node: Node, value: Value) -> Typed:
        """Appends a constant."""
        return self.add(node, value.ty, (), lambda ids: Const(value))

    def integer(self, node: Node, n: int) -> Typed:
        """Appends an i32 constant."""
        return self.const(node, Value.of(Type.INT, n))

    def boolean(self, node: Node, b: bool) -> Typed:
        """Appends a bool constant."""
        return self.const(node, Value.of(Type.BOOL, b))

    def typed(self, node: Node, operand: Operand, beside: Type | None = None) -> Typed:
        """``operand`` as a run-time value; a number written out takes the type ``beside`` it."""
        match operand:
            case Typed():
                return operand
            case IntLiteral(n):
                if beside is not None and beside.component in FLOATS:
                    return self._float(node, n, beside.component)
                return self.integer(node, self.in_range(node, n))
            case FloatLiteral(x):
                return self._float(node, x, Type.DOUBLE if beside == Type.DOUBLE else Type.FLOAT)
        self.fail(node, "a value is needed here", found=describe(operand), hint=_use(operand))

    def in_range(self, node: Node, n: int) -> int:
        """``n``, which an i32 must hold."""
        if not INT_MIN <= n <= INT_MAX:
            text = self.source.quote(node)
            hint = f"{n}.0 for a float" if abs(n) < 2**128 else ""
            if 0 <= n < 2**32 and _SAYS_BITS.search(text):
                hint = f"{n - 2**32}, the i32 with these bits"
            self.fail(
                node,
                f"{n} does not fit in i32",
                found=f"{text} = {n}" if text and text != str(n) else str(n),
                expected=f"a whole number from {INT_MIN} to {INT_MAX}",
                hint=hint,
            )
        return n

    def _float(self, node: Node, x: float | int, ty: Type) -> Typed:
        """Appends a constant of the float type ``ty``, which must hold ``x``."""
        try:
            return self.const(node, Value.of(ty, as_float(x, ty)))
        except NotAConstant:
            text = unparse(node) if isinstance(node, ast.Constant) else repr(x)
            wide = ty == Type.FLOAT and abs(x) <= float(LARGEST[Type.DOUBLE])
            self.fail(
                node,
                f"{text} does not fit in {spell(ty)} (largest {LARGEST[ty]})",
                found=text,
                hint="math.inf for infinity" + (f", or f64({text})" if wide else ""),
            )

    def coerced(
        self,
        node: Node,
        operand: Operand,
        ty: Type,
        what: str,
        note: tuple[str, Node | Span] | None = None,
    ) -> Typed:
        """``operand`` as a value of type ``ty``, or an error that speaks of ``what``."""
        if _becomes(operand, ty):
            return self.typed(node, operand, ty)
        if isinstance(operand, PortOperand):
            use = _use(operand) if operand.port.element == ty else ""
            self.fail(
                node,
                f"{what} must be {spell(ty)}",
                found=describe(operand),
                expected=spell(ty),
                hint=use
                or f"{operand.port.name}.sample() is its element, of type "
                f"{spell(operand.port.element)}",
                note=note,
            )
        if isinstance(operand, Typed) and operand.ty == ty:
            return operand
        self.fail(
            node,
            f"{what} must be {spell(ty)}",
            found=describe(operand),
            expected=spell(ty),
            hint=self.conversion(node, operand, ty),
            note=note,
        )

    def conversion(self, node: Node, operand: Operand, ty: Type) -> str:
        """What to write to make ``operand`` a ``ty``; empty where no conversion does."""
        if not isinstance(node, ast.expr) or isinstance(operand, Several | PortOperand):
            return ""
        text = unparse(node)
        found = neighbour([operand]) or Type.INT
        if ty == Type.BOOL and found.is_scalar:
            return f"{text} != 0"
        if ty.lanes == found.lanes or found.is_scalar:
            return f"{spell(ty)}({text})"
        return f"{text}.x" if ty == found.component else ""

    # Names

    def fresh(self, stem: str, ty: Type) -> str:
        """A new name of the compiler's own."""
        self._fresh += 1
        name = f"%{stem}{self._fresh}"
        self.types[name] = ty
        return name

    def assign(self, node: Node, name: str, value: Operand, value_node: Node | None = None) -> None:
        """Binds ``name``, written at ``node``; its type is that of its first binding.

        ``value_node`` is where the value is written, if that is another place."""
        at = node if value_node is None else value_node
        span = self.source.span(node)
        known = self.types.get(name)
        if known is None:
            final = self.typed(at, value)
            self.types[name] = final.ty
            self.first_assigned[name] = span
        elif _becomes(value, known):
            final = self.typed(at, value, known)
        else:
            final = self.typed(at, value)
            if final.ty != known:
                self.retyped(node, name, final.ty, known)
        self.ports.pop(name, None)
        self.env[name] = final.ref
        self.bindings.append((final.ref, name))

    def retyped(self, node: Node, name: str, found: Type, known: Type) -> NoReturn:
        hint = f"use another name, or make both {spell(found)}"
        if {found, known} == {Type.FLOAT, Type.INT}:
            hint = f"start it as a float ({name} = 0.0), or convert: f32(…), i32(…)"
        elif found == Type.DOUBLE and known in (Type.FLOAT, Type.INT):
            hint = f"start it as an f64 ({name}: f64 = 0), or convert: {spell(known)}(…)"
        elif known == Type.DOUBLE and found in (Type.FLOAT, Type.INT):
            hint = "convert: f64(…)"
        elif known.is_scalar and found.is_vector:
            hint = f"start it as a vector: {name} = {spell(found)}(…)"
        self.fail(
            node,
            f"{name} is {spell(known)} and cannot become {spell(found)}: a name has one type",
            found=spell(found),
            expected=spell(known),
            hint=hint,
            note=(f"{name} is first given its type here", self.first_assigned[name]),
        )

    # Branches

    @contextmanager
    def inside(self, body: Body, node: Node) -> Iterator[None]:
        """Writes into ``body`` meanwhile; ``body.ends`` becomes the env at its end."""
        if self.depth >= MAX_BLOCK_DEPTH - 2:
            self.fail(
                node,
                f"blocks nest deeper than {MAX_BLOCK_DEPTH - 2}",
                hint="give the inner part a name on a line of its own"
                if isinstance(node, ast.expr)
                else "move the inner part into a helper function",
            )
        outer, env = self.body, self.env
        self.body, self.env = body, dict(env)
        self.depth += 1
        yield
        self.depth -= 1
        body.ends = self.env
        self.body, self.env = outer, env

    def choose(
        self,
        node: Node,
        condition: Ref,
        then: Callable[[], None],
        otherwise: Callable[[], None],
    ) -> Choice:
        """An If whose arms are written by two functions; ``env`` is merged after it."""
        arms = (Body(), Body())
        for arm, write in zip(arms, (then, otherwise), strict=True):
            with self.inside(arm, node):
                write()
        choice = Choice(self.source.span(node), condition, *arms)
        self.body.items.append(choice)
        one, two = arms[0].ends, arms[1].ends
        for name in {**one, **two}:
            a, b = one.get(name), two.get(name)
            self.env[name] = a if a == b else Slot(choice, "result", name)
        return choice

    def select(
        self,
        node: Node,
        condition: Ref,
        ty: Type,
        then: Callable[[], Ref],
        otherwise: Callable[[], Ref],
    ) -> Typed:
        """An If that yields one value of type ``ty``."""
        name = self.fresh("value", ty)

        def arm(write: Callable[[], Ref]) -> Callable[[], None]:
            def run() -> None:
                self.env[name] = write()

            return run

        self.choose(node, condition, arm(then), arm(otherwise))
        ref = self.env.pop(name)
        if not isinstance(ref, Draft | Slot):
            raise AssertionError("both arms of a select yield a value")
        return Typed(ty, ref)

    def trial(self, node: Node, write: Callable[[], Ref]) -> tuple[Body, Ref]:
        """Writes instructions into a block of their own, to be spliced in or made an arm."""
        body = Body()
        with self.inside(body, node):
            ref = write()
        return body, ref

    def logical(self, node: Node, op: BinaryOp, a: Ref, body: Body, b: Ref) -> Ref:
        """``a and b`` or ``a or b``, b computed by ``body``: an If only where that can fail."""
        if not may_fail(body):
            self.body.items += body.items
            return self.add(node, Type.BOOL, (a, b), lambda ids: Binary(op, ids[0], ids[1])).ref
        name = self.fresh("value", Type.BOOL)
        known = Body(ends={name: op is BinaryOp.OR})
        body.ends = {name: b}
        arms = (body, known) if op is BinaryOp.AND else (known, body)
        choice = Choice(self.source.span(node), a, *arms)
        self.body.items.append(choice)
        return Slot(choice, "result", name)


def _becomes(operand: Operand, ty: Type) -> bool:
    """Whether ``operand`` is a number written out that a ``ty`` may be written as."""
    if isinstance(operand, FloatLiteral):
        return ty in FLOATS
    return isinstance(operand, IntLiteral) and (ty == Type.INT or ty in FLOATS)


def _use(operand: Operand) -> str:
    if isinstance(operand, PortOperand):
        name = operand.port.name
        address = "coord()" if operand.port.shape.rank > 1 else "element()"
        return f"{name}.sample(), or {name}.at({address})"
    return "unpack it first: a, b = …"
