"""Expressions: literals, names, swizzles, operators, comparisons, ``and``/``or``, conditionals.

Operands are evaluated in CPython's order. A name is a local, or else what the function's closure,
module or builtins hold: numbers, bools and host vectors there are constants of the kernel.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable
from typing import NoReturn

from ..errors import a_kind
from ..kernel.module import index_type
from ..kernel.op import Count, Size
from ..kernel.tables import BinaryOp
from ..kernel.types import Type, Value, vector_of
from . import surface
from .diagnostics import suggestion
from .draft import Draft, Ref, Slot
from .operators import Operators
from .source import Node, attribute_of, unparse
from .surface import swizzle
from .values import (
    ADDRESSES,
    FloatLiteral,
    IntLiteral,
    NotAConstant,
    Operand,
    PortOperand,
    Several,
    Typed,
    literal_of,
    neighbour,
    spell,
)

_UNSUPPORTED: dict[type[ast.expr], tuple[str, str]] = {
    ast.Lambda: ("lambda", "a function defined with def"),
    ast.Dict: ("a dictionary", "separate names, or if / elif"),
    ast.Set: ("a set", "separate names"),
    ast.List: ("a list", "a vector (vec4(…)), or separate names"),
    ast.ListComp: ("a list comprehension", "a for loop over range(…)"),
    ast.SetComp: ("a set comprehension", "a for loop over range(…)"),
    ast.DictComp: ("a dictionary comprehension", "a for loop over range(…)"),
    ast.GeneratorExp: ("a generator expression", "a for loop over range(…)"),
    ast.JoinedStr: ("an f-string", "a number, and the text on the host"),
    ast.NamedExpr: ("an assignment inside an expression (:=)", "assign on a line of its own"),
    ast.Await: ("await", "a plain expression"),
    ast.Yield: ("yield", "return"),
    ast.YieldFrom: ("yield from", "return"),
    ast.Starred: ("unpacking with *", "write the values out one by one"),
    ast.Slice: ("a slice", "a swizzle, like v.xy"),
}
_NO_LITERAL: dict[type, str] = {
    str: "a number that stands for it: MODE = 0, and if mode == MODE: …",
    bytes: "a number, or an input: Rows[i32]",
    type(None): "a value that means none, such as -1, or a bool beside it",
    type(...): "0, or the value that belongs here",
}
# fmt: off
LATER = frozenset([
    "popcount", "clz", "ctz", "rotl", "rotr", "mulhi", "umulhi",
    "time", "clock", "pointer", "key",
])
# fmt: on
"""Functions that kernels are to have and do not have yet."""


class Expressions(Operators):
    """Adds expressions to operators."""

    @abstractmethod
    def call(self, node: ast.Call) -> Operand:
        """The value of a call; ``calls.py`` has it."""

    def expression(self, node: ast.expr) -> Operand:
        """Writes the instructions of an expression and gives its value."""
        match node:
            case ast.Constant():
                return self._literal_operand(node)
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.BinOp():
                return self._operation(node)
            case ast.UnaryOp():
                return self.unary(node, node.op, self.expression(node.operand), node.operand)
            case ast.BoolOp():
                return Typed(Type.BOOL, self._bool_op(node, node.values))
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp():
                return self._conditional(node)
            case ast.Tuple():
                for item in node.elts:
                    if isinstance(item, ast.Starred):
                        self.unsupported(item)
                return Several(tuple(self.expression(item) for item in node.elts), tuple(node.elts))
            case ast.Call():
                return self.call(node)
            case ast.Subscript():
                self._subscript(node)
        self.unsupported(node)

    def _operation(self, node: ast.BinOp) -> Operand:
        # a + b + c + … leans to the left, however long: from the inside out, without recursion.
        spine = [node]
        while isinstance(spine[-1].left, ast.BinOp):
            spine.append(spine[-1].left)
        a = self.expression(spine[-1].left)
        for inner in reversed(spine):
            b = self.expression(inner.right)
            a = self.operate(inner, inner.op, a, b, (inner.left, inner.right))
        return a

    def value(self, node: ast.expr) -> Typed:
        """An expression's value, whole numbers as i32."""
        return self.typed(node, self.expression(node))

    def unsupported(self, node: ast.expr) -> NoReturn:
        """Raises KernelError for syntax that kernels do not have."""
        what, hint = _UNSUPPORTED.get(type(node), (type(node).__name__, ""))
        self.fail(node, f"kernels do not have {what}", found=what, hint=hint)

    # Literals and names

    def _literal_operand(self, node: ast.Constant) -> Operand:
        match node.value:
            case bool():
                return self.boolean(node, node.value)
            case int():
                return IntLiteral(node.value)
            case float():
                return FloatLiteral(node.value)
        kind = {str: "a string", bytes: "bytes", complex: "complex numbers", type(None): "None"}
        what = kind.get(type(node.value), "...")
        self.fail(
            node,
            f"kernels do not have {what if what != 'a string' else 'strings'}",
            found=what,
            expected="a number, True or False",
            hint=_NO_LITERAL.get(type(node.value), "two floats: vec2(re, im)"),
        )

    def _name(self, node: ast.Name) -> Operand:
        name = node.id
        if name.startswith("%") or name in self.flow.locals:
            if node in self.flow.unassigned:
                self._unassigned(node)
            if name in self.ports:
                return self.ports[name]
            ref = self.env.get(name)
            if isinstance(ref, Draft | Slot):
                return Typed(self.types[name], ref)
            self._unassigned(node)
        return self.constant(node, self.static(node))

    def _unassigned(self, node: ast.Name) -> NoReturn:
        name = node.id
        elsewhere = [
            n
            for n in ast.walk(self.source.tree)
            if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
        ]
        elsewhere.sort(key=lambda n: (n.lineno, n.col_offset))
        note = (f"{name} is assigned here, which not every path passes", elsewhere[0])
        self.fail(
            node,
            f"{name} may have no value here",
            found=f"a path to this use on which {name} is not assigned",
            hint=f"give {name} a value before, on every path: {name} = …",
            note=note if elsewhere[0] is not node else None,
        )

    def static(self, node: ast.expr) -> object:
        """The host object that a name, or an attribute of a module, stands for."""
        if isinstance(node, ast.Name):
            try:
                return self.source.lookup(node.id)
            except KeyError:
                self._unknown(node)
        if isinstance(node, ast.Attribute):
            owner = self.static(node.value)
            try:
                return attribute_of(owner, node.attr)
            except KeyError:
                self._unknown_attribute(node, owner)
        self.unsupported(node)

    def is_static(self, node: ast.expr) -> bool:
        """Whether ``node`` is a name from outside the function, or an attribute of one."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id not in self.flow.locals

    def _unknown(self, node: ast.Name) -> NoReturn:
        if node.id == self.source.name:
            self.unit.recursion(self, node, self.source.function)
        words = [
            *self.flow.locals,
            *self.source.visible(),
            *surface.NAMES,
            "range",
            "float",
            "int",
        ]
        close = suggestion(node.id, [w for w in words if not w.startswith("__")])
        if node.id in surface.NAMES:
            close = f"dynamis.{node.id} (from dynamis import {node.id})"
        self.fail(
            node,
            f"unknown name {node.id}",
            found=node.id,
            expected="a name assigned in the kernel, a constant, or a function it can call",
            hint=close or f"give it a value first: {node.id} = …",
        )

    def _unknown_attribute(self, node: ast.Attribute, owner: object) -> NoReturn:
        text = unparse(node.value)
        place = self.source.attribute_span(node)
        if not hasattr(owner, "__spec__"):
            self.fail(
                place,
                f"{text} is {a_kind(owner)}: kernels read attributes of modules only",
                found=unparse(node),
                hint="put the value in a constant of its own: NAME = …",
            )
        close = suggestion(node.attr, dir(owner))
        hint = f"{text}.{close}" if close else ""
        if node.attr in LATER and hasattr(owner, "vec2"):
            hint = f"{node.attr} is not in this version"
        self.fail(place, f"{text} has no {node.attr}", found=unparse(node), hint=hint)

    def constant(self, node: ast.expr, obj: object) -> Operand:
        """A host object as a constant of the kernel."""
        try:
            found = literal_of(obj)
        except NotAConstant as error:
            what = unparse(node)
            hint = "pass arrays as inputs: a parameter annotated Rows[…], Grid[…] or Volume[…]"
            if callable(obj):
                hint = f"call it: {what}(…)"
            self.fail(
                node,
                f"{what} cannot be used as a value: {error}",
                found=f"{what}, {a_kind(obj)}",
                expected="a number, a bool or a vector",
                hint=hint,
            )
        return self.const(node, found) if isinstance(found, Value) else found

    # Parts

    def _attribute(self, node: ast.Attribute) -> Operand:
        if self.is_static(node):
            owner = self.static(node.value)
            if not isinstance(owner, surface.Vector):
                return self.constant(node, self.static(node))
        operand = self.expression(node.value)
        if isinstance(operand, PortOperand):
            return self._port_attribute(node, operand)
        value = self.typed(node.value, operand)
        return self.swizzled(node, value, node.attr)

    def _port_attribute(self, node: ast.Attribute, operand: PortOperand) -> Operand:
        index, port = operand.index, operand.port
        if node.attr == "count":
            return self.add(node, Type.INT, (), lambda ids: Count(index))
        if node.attr == "size":
            return self.add(node, index_type(port.shape), (), lambda ids: Size(index))
        name = port.name
        close = suggestion(node.attr, ["count", "size", "sample", "at", "linear"])
        hint = {
            "shape": f"{name}.size",
            "sample": f"{name}.sample()",
            "at": f"{name}.at(p)",
            "linear": f"{name}.linear(p)",
        }.get(node.attr, f"{name}.{close}" if close else "")
        self.fail(
            self.source.attribute_span(node),
            f"a port has no value {node.attr}",
            found=f"{name}.{node.attr}",
            expected="count, size, sample(), at(p) or linear(p)",
            hint=hint,
        )

    def swizzled(self, node: Node, value: Typed, letters: str) -> Typed:
        """Components of a vector by their letters."""
        where = self.components(node, value.ty, letters)
        refs: list[Ref] = [self.part(node, value, k).ref for k in where]
        return self.construct(node, vector_of(value.ty.component, len(where)), refs)

    def components(self, node: Node, ty: Type, letters: str) -> tuple[int, ...]:
        """The component numbers that ``letters`` name in a vector of type ``ty``."""
        where = swizzle(letters)
        if ty.is_vector and where is not None and max(where) < ty.lanes:
            return where
        lanes = ty.lanes
        place = self.source.attribute_span(node)
        if not ty.is_vector:
            self.fail(
                place,
                f"{spell(ty)} has no parts",
                found=f".{letters} of {spell(ty)}",
                expected="a vector before the dot",
                hint="the value itself, without the dot"
                if len(letters) == 1
                else f"{spell(vector_of(ty, min(len(letters), 4)))}(…) repeats it",
            )
        letters_there = f"{'xyzw'[:lanes]} or {'rgba'[:lanes]}"
        self.fail(
            place,
            f"{spell(ty)} has no component {letters}",
            found=f".{letters}",
            expected=f"one to four letters of {letters_there}, not mixed",
            hint=f".{'xyzw'[: min(lanes, max(1, len(letters)))]}",
        )

    def _subscript(self, node: ast.Subscript) -> NoReturn:
        text = unparse(node.value)
        operand = self.expression(node.value)
        hint = ""
        if isinstance(operand, PortOperand):
            address = ADDRESSES.get(index_type(operand.port.shape), unparse(node.slice))
            hint = f"{text}.at({address})"
        elif isinstance(operand, Typed) and operand.ty.is_vector:
            last = "xyzw"[operand.ty.lanes - 1]
            hint = f"{text}.x … {text}.{last}, chosen by if / elif on the index"
            match node.slice:
                case ast.Constant(value=int() as k) if -operand.ty.lanes <= k < operand.ty.lanes:
                    hint = f"{text}.{'xyzw'[: operand.ty.lanes][k]}"
        self.fail(node, "kernels do not have subscripts", found=unparse(node), hint=hint)

    # Conditions

    def condition(self, node: ast.expr) -> Ref:
        """An expression that must be a bool."""
        return self.truth(node, self.expression(node))

    def _bool_op(self, node: ast.BoolOp, values: list[ast.expr]) -> Ref:
        op = BinaryOp.AND if isinstance(node.op, ast.And) else BinaryOp.OR
        first = self.condition(values[0])
        if len(values) == 1:
            return first
        # ((a and b) and c): the left part is complete before the next is looked at.
        result = first
        for value in values[1:]:
            result = self.short_circuit(node, op, result, self._later(value))
        return result

    def _later(self, node: ast.expr) -> Callable[[], Ref]:
        return lambda: self.condition(node)

    def short_circuit(self, node: Node, op: BinaryOp, a: Ref, write: Callable[[], Ref]) -> Ref:
        """``a and b`` or ``a or b`` where ``write`` writes b."""
        body, b = self.trial(node, write)
        return self.logical(node, op, a, body, b)

    def _comparison(self, node: ast.Compare) -> Typed:
        for op, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot):
                self._no_comparison(node, op, right)
        left = self.expression(node.left)
        return Typed(Type.BOOL, self._chain(node, left, 0))

    def _no_comparison(self, node: ast.Compare, op: ast.cmpop, right: ast.expr) -> NoReturn:
        word = {ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not"}[type(op)]
        same = isinstance(op, ast.In | ast.Is)
        left, symbol = unparse(node.left), "==" if same else "!="
        if isinstance(op, ast.Is | ast.IsNot) and isinstance(right, ast.Constant):
            self.expression(right)  # None, ... and strings have an error of their own
        hint = f"{left} {symbol} {unparse(right)}"
        if isinstance(op, ast.In | ast.NotIn):
            hint = f"{left} {symbol} each in turn, or bounds: a <= {left} < b"
            if isinstance(right, ast.Tuple | ast.List | ast.Set) and right.elts:
                join = " or " if same else " and "
                hint = join.join(f"{left} {symbol} {unparse(item)}" for item in right.elts)
        self.fail(node, f"{word} has no meaning in a kernel", found=unparse(node), hint=hint)

    def _chain(self, node: ast.Compare, left: Operand, k: int) -> Ref:
        """The comparisons of a chain from number ``k`` on; each operand is evaluated once."""
        sides = ([node.left, *node.comparators][k], node.comparators[k])
        right = self.expression(sides[1])
        beside = neighbour((left, right))
        a, b = self.typed(sides[0], left, beside), self.typed(sides[1], right, beside)
        holds = self.compare(node, node.ops[k], a, b, sides)
        if k + 1 == len(node.ops):
            return holds
        return self.short_circuit(
            node, BinaryOp.AND, holds, lambda: self._chain(node, right, k + 1)
        )

    def _conditional(self, node: ast.IfExp) -> Operand:
        condition = self.condition(node.test)
        # The arms' types must be known before either is finished, for a whole number takes the
        # type of the other arm: each is written on its own first.
        arms = (node.body, node.orelse)
        found: list[Operand] = []

        def write(arm: ast.expr) -> Callable[[], None]:
            return lambda: found.append(self.expression(arm))

        choice = self.choose(node, condition, write(node.body), write(node.orelse))
        blocks = (choice.then, choice.otherwise)
        beside = neighbour(found)
        values: list[Typed] = []
        for arm, operand, body in zip(arms, found, blocks, strict=True):
            outer, self.body = self.body, body
            values.append(self.typed(arm, operand, beside))
            self.body = outer
        if values[0].ty != values[1].ty:
            a, b = (spell(v.ty) for v in values)
            self.fail(
                node,
                "the two sides of a conditional expression must have one type",
                found=f"{a} if … else {b}",
                hint=self.conversion(node.orelse, values[1], values[0].ty),
            )
        name = self.fresh("value", values[0].ty)
        for body, value in zip(blocks, values, strict=True):
            body.ends[name] = value.ref
        return Typed(values[0].ty, Slot(choice, "result", name))
