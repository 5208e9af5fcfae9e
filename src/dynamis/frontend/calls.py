"""Calls: conversions, vector constructors, math, reads of ports and context, helper functions.

A called object is looked up as Python would; what each may be is in the tables below. Python's own
``abs min max round int float bool`` and ``math.sqrt fabs floor ceil trunc`` mean what they mean in
Python: ``math.floor`` and ``round`` give an i32 (saturated), ``min`` of floats is ``b if b < a else
a``. ``dy.min`` and kin are the IR's: they propagate NaN and order -0 below +0.
"""

from __future__ import annotations

import ast
import builtins
import math
from types import FunctionType
from typing import NoReturn

from ..kernel.module import Shape, index_type
from ..kernel.op import At, Call, Coord, Domain, Element, Extract, Sample
from ..kernel.tables import BinaryOp
from ..kernel.tables import Intrinsic as IntrinsicName
from ..kernel.types import Type, vector_of
from . import surface
from .diagnostics import suggestion
from .draft import Ref
from .expressions import Expressions
from .surface import VALUE_TYPES, KernelFunction, Vector
from .values import IntLiteral, Operand, PortOperand, Several, Typed, describe, spell

_CONTEXT = ("coord", "element", "domain")
_PYTHON: dict[object, str] = {
    builtins.abs: "abs",
    builtins.min: "min",
    builtins.max: "max",
    builtins.round: "round",
    math.sqrt: "sqrt",
    math.fabs: "fabs",
    math.floor: "floor",
    math.ceil: "ceil",
    math.trunc: "trunc",
}
_INSTEAD = {
    "print": "dynamis trace, to see the values of an element",
    "len": "port.count for the elements of a port",
    "sum": "a for loop, or dy.dot(v, vec4(1.0))",
    "pow": "x ** 2, with a literal exponent",
    "divmod": "a // b and a % b",
    "range": "for i in range(n): a range stands only there",
    "isinstance": "",
    "any": "or",
    "all": "and",
}


class Calls(Expressions):
    """Adds calls to expressions."""

    def call(self, node: ast.Call) -> Operand:
        """The value of a call."""
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                self.unsupported(argument)
        for keyword in node.keywords:
            if keyword.arg is None:
                self.fail(keyword.value, "kernels do not have ** arguments", hint="name=value")
        if not self.is_static(node.func):
            return self._method(node)
        target = self.static(node.func)
        try:
            known = target in VALUE_TYPES or target in _PYTHON
        except TypeError:
            known = False
        if isinstance(target, KernelFunction):
            return self._surface_call(node, target)
        if known and target in VALUE_TYPES:
            return self._convert(node, VALUE_TYPES[target])
        if known:
            return self._python_call(node, _PYTHON[target])
        if isinstance(target, FunctionType):
            return self._helper(node, target)
        if isinstance(target, type) and issubclass(target, tuple) and hasattr(target, "_fields"):
            return self._named_tuple(node, target)
        self._not_callable(node, target)

    def _not_callable(self, node: ast.Call, target: object) -> NoReturn:
        text = ast.unparse(node.func)
        if getattr(target, "function", None) is self.unit.root:
            self.unit.recursion(self, node.func, self.source)
        last = text.rpartition(".")[2]
        hint = _INSTEAD.get(last, "")
        if not hint and last in surface.__all__:
            hint = f"dy.{last}"
        elif not hint and callable(target):
            close = suggestion(last, surface.__all__)
            hint = f"dy.{close}" if close else "a plain Python function defined with def"
        kind = "class" if isinstance(target, type) else type(target).__name__
        self.fail(
            node.func,
            f"{text} cannot be called in a kernel",
            found=f"{text}, a {kind}",
            expected="a function of dynamis, a value type, or a plain function defined with def",
            hint=hint,
        )

    # Arguments

    def bind(self, node: ast.Call, name: str, wanted: tuple[str, ...]) -> list[ast.expr]:
        """The argument expressions in the order of the names ``wanted``."""
        given: dict[str, ast.expr] = dict(zip(wanted, node.args, strict=False))
        if len(node.args) > len(wanted):
            self._argument_count(node, name, wanted, len(node.args), node.args[len(wanted)])
        for keyword in node.keywords:
            key = keyword.arg or ""
            if key not in wanted:
                self.fail(
                    keyword,
                    f"{name} has no argument {key}",
                    found=key,
                    expected=", ".join(wanted) or "no arguments",
                    hint=suggestion(key, wanted),
                )
            if key in given:
                self.fail(keyword, f"{name} is given {key} twice", found=key)
            given[key] = keyword.value
        if len(given) < len(wanted):
            self._argument_count(node, name, wanted, len(given), node)
        return [given[w] for w in wanted]

    def _argument_count(
        self, node: ast.Call, name: str, wanted: tuple[str, ...], found: int, where: ast.expr
    ) -> NoReturn:
        plural = "argument" if len(wanted) == 1 else "arguments"
        self.fail(
            where,
            f"{name} takes {len(wanted)} {plural}, not {found}",
            found=ast.unparse(node),
            expected=f"{name}({', '.join(wanted)})",
            hint=f"{ast.unparse(node.func)}({', '.join(wanted)})",
        )

    def in_order(self, node: ast.Call, arguments: list[ast.expr]) -> list[Operand]:
        """Evaluates arguments in source order; gives their values in the order of ``arguments``."""
        source = [*node.args, *(k.value for k in node.keywords)]
        done = {a: self.expression(a) for a in source}
        return [done[a] for a in arguments]

    # Surface functions

    def _surface_call(self, node: ast.Call, function: KernelFunction) -> Operand:
        name = function.name
        if name in ("min", "max") and not node.keywords and len(node.args) > 2:
            return self._fold(node, IntrinsicName(name))
        arguments = self.bind(node, name, function.arguments)
        if name in _CONTEXT:
            return self._context(node, name)
        operands = self.in_order(node, arguments)
        sides = list(arguments)
        match name:
            case "dot" | "length" | "normalize" | "cross" | "distance":
                return self._geometry(node, name, operands, sides)
            case "div" | "rem" | "ushr":
                return self._plain_binary(node, name, operands, sides)
        return self.math(node, IntrinsicName(name), operands, sides)

    def _fold(self, node: ast.Call, op: IntrinsicName) -> Operand:
        operands = [self.expression(a) for a in node.args]
        beside = next((x.ty for x in operands if isinstance(x, Typed)), Type.INT)
        total: Operand = self.typed(node.args[0], operands[0], beside)
        for argument, operand in zip(node.args[1:], operands[1:], strict=True):
            total = self.math(node, op, [total, operand], [node, argument])
        return total

    def math(
        self, node: ast.expr, op: IntrinsicName, operands: list[Operand], sides: list[ast.expr]
    ) -> Typed:
        """An intrinsic; whole numbers written out are floats beside floats, or where it needs them."""
        beside = next((x.ty for x in operands if isinstance(x, Typed)), None)
        if beside is None:
            takes_ints = op.result_type([Type.INT] * len(operands)) is not None
            beside = Type.INT if takes_ints and op is not IntrinsicName.TO_FLOAT else Type.FLOAT
        values = [self.typed(s, x, beside) for s, x in zip(sides, operands, strict=True)]
        ty = op.result_type([v.ty for v in values])
        if ty is None:
            self._no_signature(node, op, values, sides)
        return Typed(ty, self.intrinsic(node, op, ty, *(v.ref for v in values)))

    def _no_signature(
        self, node: ast.expr, op: IntrinsicName, values: list[Typed], sides: list[ast.expr]
    ) -> NoReturn:
        found = ", ".join(spell(v.ty) for v in values)
        hint, where = "", node
        floats = op.result_type([Type.FLOAT] * len(values)) is not None
        ints = op.result_type([Type.INT] * len(values)) is not None
        kinds = {v.ty.component for v in values}
        for value, side in zip(values, sides, strict=True):
            kind, text = value.ty.component, ast.unparse(side)
            cast = spell(vector_of(Type.FLOAT, value.ty.lanes))
            if floats and kind == Type.INT and (not ints or kinds == {Type.INT, Type.FLOAT}):
                hint, where = f"{cast}({text})", side
                break
            if not floats and kind == Type.FLOAT:
                hint, where = f"i32({text})", side
                break
        from_table = surface_rule(op)
        self.fail(
            where,
            f"{op.value} does not take ({found})",
            found=f"{op.value}({found})",
            expected=f"{op.value}({', '.join(op.argument_names)}): {from_table}",
            hint=hint,
        )

    def _geometry(
        self, node: ast.Call, name: str, operands: list[Operand], sides: list[ast.expr]
    ) -> Typed:
        values = [self.typed(s, x) for s, x in zip(sides, operands, strict=True)]
        a, b = values[0], values[-1]
        allowed = [Type.VEC3] if name == "cross" else [Type.VEC2, Type.VEC3, Type.VEC4]
        if a.ty != b.ty or a.ty not in allowed:
            found = ", ".join(spell(v.ty) for v in values)
            shape = "vec3" if name == "cross" else "vectors of floats of one length"
            hint = ""
            for value, side in zip(values, sides, strict=True):
                if value.ty.is_vector and value.ty.component == Type.INT:
                    hint = f"vec{value.ty.lanes}({ast.unparse(side)})"
            self.fail(
                node, f"{name} does not take ({found})", found=found, expected=shape, hint=hint
            )
        match name:
            case "dot":
                return self._dot(node, a, b)
            case "cross":
                return self._cross(node, a, b)
            case "distance":
                a = Typed(a.ty, self.binary(node, BinaryOp.SUB, a.ref, b.ref, a.ty))
        squared = self._dot(node, a, a)
        size = self.intrinsic(node, IntrinsicName.SQRT, Type.FLOAT, squared.ref)
        if name != "normalize":
            return Typed(Type.FLOAT, size)
        return Typed(a.ty, self.binary(node, BinaryOp.DIV, a.ref, size, a.ty))

    def _dot(self, node: ast.Call, a: Typed, b: Typed) -> Typed:
        products = Typed(a.ty, self.binary(node, BinaryOp.MUL, a.ref, b.ref, a.ty))
        first, *rest = self.parts(node, products)
        total = first.ref
        for product in rest:
            total = self.binary(node, BinaryOp.ADD, total, product.ref, Type.FLOAT)
        return Typed(Type.FLOAT, total)

    def _cross(self, node: ast.Call, a: Typed, b: Typed) -> Typed:
        # (a.yzx * b.zxy) - (a.zxy * b.yzx)
        ty = a.ty
        one = self.binary(
            node, BinaryOp.MUL, self.swizzled(node, a, "yzx").ref, self.swizzled(node, b, "zxy").ref, ty
        )
        two = self.binary(
            node, BinaryOp.MUL, self.swizzled(node, a, "zxy").ref, self.swizzled(node, b, "yzx").ref, ty
        )
        return Typed(ty, self.binary(node, BinaryOp.SUB, one, two, ty))

    def _plain_binary(
        self, node: ast.Call, name: str, operands: list[Operand], sides: list[ast.expr]
    ) -> Typed:
        op = {"div": BinaryOp.DIV, "rem": BinaryOp.REM, "ushr": BinaryOp.USHR}[name]
        beside = next((x.ty for x in operands if isinstance(x, Typed)), Type.INT)
        a, b = (self.typed(s, x, beside) for s, x in zip(sides, operands, strict=True))
        ty = op.result_type(a.ty, b.ty)
        if ty is None:
            found = f"{spell(a.ty)}, {spell(b.ty)}"
            kind = "whole numbers" if name == "ushr" else "two values of one type"
            hint = ""
            if {a.ty, b.ty} == {Type.FLOAT, Type.INT} and name != "ushr":
                hint = f"f32({ast.unparse(sides[0 if a.ty == Type.INT else 1])})"
            self.fail(node, f"{name} does not take ({found})", found=found, expected=kind, hint=hint)
        return Typed(ty, self.binary(node, op, a.ref, b.ref, ty))

    def _context(self, node: ast.Call, name: str) -> Typed:
        self.entry_only(node, f"{name}()")
        shape = self.unit.shape
        if name == "element":
            return self.add(node, Type.INT, (), lambda ids: Element())
        if name == "domain":
            return self.add(node, index_type(shape), (), lambda ids: Domain())
        if shape is Shape.ROWS:
            self.fail(
                node,
                "coord() is for kernels over a Grid",
                found="coord() in a kernel whose outputs are Rows",
                hint="element(), the index in the row",
            )
        return self.add(node, Type.VEC2, (), lambda ids: Coord())

    def entry_only(self, node: ast.expr, what: str) -> None:
        """Refuses ``what`` in a helper function."""
        if not self.entry:
            self.fail(
                node,
                f"{what} is known in the kernel itself, not in the helper {self.source.name}",
                found=what,
                hint=f"pass it as an argument: {self.source.name}(…, {what})",
            )

    # Python's own functions

    def _python_call(self, node: ast.Call, name: str) -> Operand:
        if node.keywords:
            self.fail(node.keywords[0], f"{name} takes no keyword arguments here")
        if name in ("min", "max"):
            return self._python_extreme(node, name)
        if name == "round" and len(node.args) == 2:
            self.fail(node.args[1], "round takes no count of digits in a kernel", hint="dy.round(x)")
        (argument,) = self.bind(node, name, ("x",))
        operand = self.expression(argument)
        if name == "abs":
            return self.math(node, IntrinsicName.ABS, [operand], [argument])
        if name in ("sqrt", "fabs"):
            intrinsic = IntrinsicName.SQRT if name == "sqrt" else IntrinsicName.ABS
            if isinstance(operand, IntLiteral):
                operand = self.typed(argument, operand, Type.FLOAT)
            value = self.coerced(argument, operand, Type.FLOAT, f"the argument of math.{name}")
            return Typed(Type.FLOAT, self.intrinsic(node, intrinsic, Type.FLOAT, value.ref))
        if isinstance(operand, IntLiteral) or operand == Typed(Type.INT, getattr(operand, "ref", None)):
            return operand
        value = self.coerced(argument, operand, Type.FLOAT, f"the argument of {name}")
        whole = self.intrinsic(node, IntrinsicName(name), Type.FLOAT, value.ref)
        return Typed(Type.INT, self.intrinsic(node, IntrinsicName.TO_INT, Type.INT, whole))

    def _python_extreme(self, node: ast.Call, name: str) -> Operand:
        if len(node.args) < 2:
            self.fail(
                node,
                f"{name} takes two or more values here",
                found=ast.unparse(node),
                hint=f"{name}(a, b)",
            )
        operands = [self.expression(a) for a in node.args]
        beside = next((x.ty for x in operands if isinstance(x, Typed)), Type.INT)
        if beside.is_vector:
            self.fail(
                node,
                f"Python's {name} has no meaning on vectors",
                found=spell(beside),
                hint=f"dy.{name}(a, b), component by component",
            )
        first, *rest = [self.typed(s, x, beside) for s, x in zip(node.args, operands, strict=True)]
        total = first
        for side, value in zip(node.args[1:], rest, strict=True):
            if total.ty != value.ty or total.ty == Type.BOOL:
                self.math(node, IntrinsicName(name), [total, value], [node.args[0], side])
            total = self._extreme(node, name, total, value)
        return total

    def _extreme(self, node: ast.Call, name: str, a: Typed, b: Typed) -> Typed:
        if a.ty == Type.INT:
            return self.math(node, IntrinsicName(name), [a, b], [node, node])
        order = BinaryOp.LESS if name == "min" else BinaryOp.GREATER
        beyond = self.binary(node, order, b.ref, a.ref, Type.BOOL)
        return self.select(node, beyond, a.ty, lambda: b.ref, lambda: a.ref)

    # Conversions and constructors

    def _convert(self, node: ast.Call, ty: Type) -> Operand:
        if ty.is_vector:
            return self._construct_vector(node, ty)
        (argument,) = self.bind(node, spell(ty), ("x",))
        operand = self.expression(argument)
        value = self.typed(argument, operand, Type.FLOAT if ty == Type.FLOAT else Type.INT)
        if not value.ty.is_scalar:
            self.fail(
                argument,
                f"{spell(ty)} converts scalars",
                found=spell(value.ty),
                hint=self.conversion(argument, value, vector_of(ty, value.ty.lanes))
                if ty != Type.BOOL
                else "",
            )
        return self.convert(node, value, ty)

    def convert(self, node: ast.expr, value: Typed, ty: Type) -> Typed:
        """A scalar as another scalar type."""
        if value.ty == ty:
            return value
        if ty == Type.BOOL:
            zero = self.typed(node, IntLiteral(0), value.ty)
            return Typed(ty, self.binary(node, BinaryOp.NOT_EQUAL, value.ref, zero.ref, ty))
        op = IntrinsicName.TO_FLOAT if ty == Type.FLOAT else IntrinsicName.TO_INT
        return Typed(ty, self.intrinsic(node, op, ty, value.ref))

    def _construct_vector(self, node: ast.Call, ty: Type) -> Typed:
        name = spell(ty)
        if node.keywords:
            self.fail(node.keywords[0], f"{name} takes no keyword arguments", hint=f"{name}(…)")
        values = [
            self.typed(a, self.expression(a), ty) for a in node.args
        ]
        conversion = len(values) == 1 and values[0].ty.lanes == ty.lanes
        refs: list[Ref] = []
        for argument, value in zip(node.args, values, strict=True):
            kind = value.ty.component
            if kind == Type.BOOL or (kind == Type.FLOAT != ty.component and not conversion):
                text = ast.unparse(argument)
                cast = "f32" if ty.component == Type.FLOAT else "i32"
                if value.ty.is_vector:
                    cast = f"ivec{value.ty.lanes}"
                self.fail(
                    argument,
                    f"{name} is made of {spell(ty.component)}",
                    found=spell(value.ty),
                    hint=f"{cast}({text})",
                )
            for part in self.parts(argument, value):
                refs.append(self.convert(argument, part, ty.component).ref)
        if len(refs) == 1:
            refs *= ty.lanes
        if len(refs) != ty.lanes:
            self.fail(
                node,
                f"{name} takes {ty.lanes} components, not {len(refs)}",
                found=ast.unparse(node),
                expected=f"{ty.lanes} components in all, or one for every place",
                hint=self._cut(node, values, ty, len(refs)),
            )
        return self.construct(node, ty, refs)

    def _cut(self, node: ast.Call, values: list[Typed], ty: Type, found: int) -> str:
        if len(values) == 1 and found > ty.lanes:
            return f"{ast.unparse(node.args[0])}.{'xyzw'[: ty.lanes]}"
        if found in (2, 3, 4):
            return f"{spell(vector_of(ty.component, found))}(…) holds {found}"
        return ""

    # Methods of ports

    def _method(self, node: ast.Call) -> Operand:
        if not isinstance(node.func, ast.Attribute):
            if isinstance(node.func, ast.Name):
                self.expression(node.func)
            self.fail(
                node.func,
                f"{ast.unparse(node.func)} is a value, not a function",
                expected="a function of dynamis or a plain function defined with def",
            )
        operand = self.expression(node.func.value)
        name = node.func.attr
        if not isinstance(operand, PortOperand):
            self.fail(
                node.func,
                f"{describe(operand)} has no method {name}",
                found=ast.unparse(node.func),
                hint=f"dy.{name}(…)" if name in surface.__all__ else "",
            )
        index, port = operand.index, operand.port
        if name == "sample":
            self.bind(node, "sample", ())
            self.entry_only(node, f"{port.name}.sample()")
            if port.shape is not self.unit.shape:
                self.fail(
                    node,
                    f"{port.name} is {port.shape.value} and the kernel runs over {self.unit.shape.value}",
                    found=ast.unparse(node),
                    hint=f"{port.name}.at(…) with an address",
                )
            return self.add(node, port.element, (), lambda ids: Sample(index))
        if name == "at":
            ref = self._address(node, operand)
            return self.add(node, port.element, (ref,), lambda ids: At(index, ids[0]))
        if name in ("count", "size"):
            self.fail(node, f"{name} is a value, not a method", hint=f"{port.name}.{name}")
        known = {"linear": "interpolated reads are not in this version; at(p) reads one element"}
        close = suggestion(name, ["sample", "at", "count", "size"])
        self.fail(
            node.func,
            f"a port has no method {name}",
            found=ast.unparse(node.func),
            expected="sample(), at(p), count or size",
            hint=known.get(name, f"{port.name}.{close}" if close else ""),
        )

    def _address(self, node: ast.Call, operand: PortOperand) -> Ref:
        port = operand.port
        two = port.shape is Shape.GRID
        if two and len(node.args) == 2:
            x, y = (ast.unparse(a) for a in node.args)
            self.fail(
                node.args[1],
                "at takes one address",
                found=ast.unparse(node),
                expected="vec2(column, row)",
                hint=f"{port.name}.at(vec2({x}, {y}))",
            )
        (argument,) = self.bind(node, "at", ("p",))
        value = self.typed(argument, self.expression(argument))
        if two and value.ty == Type.IVEC2:
            refs = [self.convert(argument, p, Type.FLOAT).ref for p in self.parts(argument, value)]
            return self.construct(argument, Type.VEC2, refs).ref
        wanted = index_type(port.shape)
        if value.ty != wanted:
            text = ast.unparse(argument)
            hint = f"i32({text})" if not two and value.ty == Type.FLOAT else ""
            if two and value.ty.is_scalar:
                hint = "vec2(column, row)"
            elif two or value.ty.is_vector:
                hint = f"{text}.xy" if two else f"{text}.x"
            self.fail(
                argument,
                f"an address in {port.name} is {spell(wanted)}",
                found=spell(value.ty),
                expected=spell(wanted),
                hint=hint,
            )
        return value.ref

    # Helpers and tuples

    def _named_tuple(self, node: ast.Call, target: type) -> Several:
        fields: tuple[str, ...] = target._fields  # type: ignore[attr-defined]
        arguments = self.bind(node, target.__name__, fields)
        return Several(tuple(self.in_order(node, arguments)))

    def _helper(self, node: ast.Call, function: FunctionType) -> Operand:
        helper = self.unit.helper(self, node, function)
        name = function.__name__
        wanted = helper.names
        given = dict(zip(wanted, node.args, strict=False))
        if len(node.args) > len(helper.positional):
            self._argument_count(node, name, wanted, len(node.args), node.args[len(helper.positional)])
        for keyword in node.keywords:
            key = keyword.arg or ""
            if key not in wanted:
                self.fail(
                    keyword,
                    f"{name} has no argument {key}",
                    found=key,
                    expected=", ".join(wanted) or "no arguments",
                    hint=suggestion(key, wanted),
                )
            if key in given:
                self.fail(keyword, f"{name} is given {key} twice", found=key)
            given[key] = keyword.value
        source = [*node.args, *(k.value for k in node.keywords)]
        done = {a: self.expression(a) for a in source}
        operands: dict[str, Operand] = {}
        places: dict[str, ast.expr] = {}
        for w in wanted:
            places[w] = given.get(w, node)
            if w in given:
                operands[w] = done[given[w]]
            elif w in helper.defaults:
                operands[w] = self.constant(node, helper.defaults[w])
            else:
                self._argument_count(node, name, wanted, len(given), node)
        refs, target = self.unit.specialise(self, helper, operands, places)
        result = self.add(
            node,
            target.result,
            tuple(refs),
            lambda ids: Call(target.index, ids),
            fails=target.may_fail,
        )
        if target.parts is None:
            return result
        return Several(
            tuple(
                self.add(node, ty, (result.ref,), _extractor(k))
                for k, ty in enumerate(target.parts)
            )
        )


def _extractor(k: int):  # type: ignore[no-untyped-def]
    return lambda ids: Extract(ids[0], k)


def surface_rule(op: IntrinsicName) -> str:
    """The typing rule of an intrinsic in the words a user writes types with."""
    from ..kernel.tables import SIGNATURES

    text = SIGNATURES[op].rule.value
    for old, new in (("Floats", "f32s"), ("Float", "f32"), ("Ints", "i32s"), ("Int", "i32")):
        text = text.replace(old, new)
    return text.replace("Vecs", "vectors").replace("Bool", "bool")
