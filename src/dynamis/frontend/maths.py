"""Math in kernels: dynamis' own functions, and Python's ``abs min max round`` and ``math.…``.

dynamis' functions are the intrinsics of the Kernel IR and what is written out of them. Python's own
mean what they mean in Python: ``math.floor`` and ``round`` give an i32 (saturated), ``min`` of
floats is ``b if b < a else a``, where ``dy.min`` propagates NaN and orders -0 below +0.
"""

from __future__ import annotations

import ast
import builtins
import math
from typing import NoReturn

from ..kernel.tables import SIGNATURES, BinaryOp, Rule
from ..kernel.tables import Intrinsic as IntrinsicName
from ..kernel.types import Type
from .diagnostics import suggestion
from .expressions import Expressions
from .operators import float_cast
from .source import unparse
from .surface import KernelFunction
from .values import FLOATS, IntLiteral, Operand, Typed, neighbour, spell

_REALS = {
    "sqrt": IntrinsicName.SQRT,
    "fabs": IntrinsicName.ABS,
    **{
        name: IntrinsicName(name)
        for name in (
            "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp",
            "exp2", "log", "log2", "pow",
        )
    },
}  # fmt: skip
"""The functions of Python's math that take and give floats."""

PYTHON_FUNCTIONS: dict[object, str] = {
    builtins.abs: "abs",
    builtins.min: "min",
    builtins.max: "max",
    builtins.round: "round",
    **{getattr(math, name): name for name in _REALS},
    math.floor: "floor",
    math.ceil: "ceil",
    math.trunc: "trunc",
}


class Maths(Expressions):
    """Adds math functions to expressions."""

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
                self.fail(
                    keyword, f"{name} is given {key} twice", found=key, hint=f"only one {key}"
                )
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
            found=unparse(node),
            expected=f"{name}({', '.join(wanted)})",
            hint=f"{unparse(node.func)}({', '.join(wanted)})",
        )

    def in_order(self, node: ast.Call, arguments: list[ast.expr]) -> list[Operand]:
        """Evaluates arguments in source order; gives their values in the order of ``arguments``."""
        source = [*node.args, *(k.value for k in node.keywords)]
        done = {a: self.expression(a) for a in source}
        return [done[a] for a in arguments]

    # Surface functions

    def surface_function(self, node: ast.Call, function: KernelFunction) -> Operand:
        name = function.name
        if name in ("min", "max") and not node.keywords and len(node.args) > 2:
            return self._fold(node, IntrinsicName(name))
        arguments = self.bind(node, name, function.arguments)
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
        beside = neighbour(operands)
        values = [self.typed(s, x, beside) for s, x in zip(node.args, operands, strict=True)]
        first = values[0]
        for argument, value in zip(node.args, values, strict=True):
            if op.result_type([first.ty, value.ty]) is None:
                self._no_signature(node, op, [first, value], [node.args[0], argument])
        total = first
        for argument, value in zip(node.args[1:], values[1:], strict=True):
            total = self.math(node, op, [total, value], [node, argument])
        return total

    def math(
        self, node: ast.expr, op: IntrinsicName, operands: list[Operand], sides: list[ast.expr]
    ) -> Typed:
        """An intrinsic; whole numbers are floats beside floats, or where it needs floats."""
        beside = neighbour(operands)
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
            kind, text = value.ty.component, unparse(side)
            cast = float_cast(value.ty, Type.DOUBLE if Type.DOUBLE in kinds else Type.FLOAT)
            if floats and kind == Type.INT and (not ints or kinds & {*FLOATS}):
                hint, where = f"{cast}({text})", side
                break
            if not floats and kind in FLOATS:
                hint, where = f"i32({text})", side
                break
            if kinds == {Type.FLOAT, Type.DOUBLE} and kind == Type.FLOAT:
                hint, where = f"f64({text})", side
                break
            if op is IntrinsicName.BITS and kind == Type.DOUBLE:
                hint, where = f"f32({text})", side
                break
        self.fail(
            where,
            f"{op.value} does not take ({found})",
            found=f"{op.value}({found})",
            expected=f"{op.value}({', '.join(op.argument_names)}) of {_RULES[SIGNATURES[op].rule]}",
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
            hint = f"{name} of {shape}"
            for value, side in zip(values, sides, strict=True):
                if value.ty.is_vector and value.ty.component == Type.INT:
                    hint = f"vec{value.ty.lanes}({unparse(side)})"
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
            node,
            BinaryOp.MUL,
            self.swizzled(node, a, "yzx").ref,
            self.swizzled(node, b, "zxy").ref,
            ty,
        )
        two = self.binary(
            node,
            BinaryOp.MUL,
            self.swizzled(node, a, "zxy").ref,
            self.swizzled(node, b, "yzx").ref,
            ty,
        )
        return Typed(ty, self.binary(node, BinaryOp.SUB, one, two, ty))

    def _plain_binary(
        self, node: ast.Call, name: str, operands: list[Operand], sides: list[ast.expr]
    ) -> Typed:
        op = {"div": BinaryOp.DIV, "rem": BinaryOp.REM, "ushr": BinaryOp.USHR}[name]
        beside = neighbour(operands)
        a, b = (self.typed(s, x, beside) for s, x in zip(sides, operands, strict=True))
        ty = op.result_type(a.ty, b.ty)
        if ty is None:
            found = f"{spell(a.ty)}, {spell(b.ty)}"
            kind = "whole numbers" if name == "ushr" else "two values of one type"
            hint = ""
            if name != "ushr":
                hint = self.meeting(a, b, (sides[0], sides[1]))
            self.fail(
                node, f"{name} does not take ({found})", found=found, expected=kind, hint=hint
            )
        return Typed(ty, self.binary(node, op, a.ref, b.ref, ty))

    # Python's own functions

    def python_function(self, node: ast.Call, name: str) -> Operand:
        if node.keywords:
            self.fail(
                node.keywords[0],
                f"{name} takes no keyword arguments here",
                hint=f"{unparse(node.func)}({unparse(node.keywords[0].value)})",
            )
        if name in ("min", "max"):
            return self._python_extreme(node, name)
        if name == "round" and len(node.args) == 2:
            self.fail(
                node.args[1], "round takes no count of digits in a kernel", hint="dy.round(x)"
            )
        if name in _REALS:
            return self._real_function(node, name, _REALS[name])
        (argument,) = self.bind(node, name, ("x",))
        operand = self.expression(argument)
        if name == "abs":
            return self.math(node, IntrinsicName.ABS, [operand], [argument])
        if isinstance(operand, IntLiteral):
            return operand
        if isinstance(operand, Typed) and operand.ty == Type.INT:
            return operand
        value = self._one_float(argument, operand, f"the argument of {name}")
        whole = self.intrinsic(node, IntrinsicName(name), value.ty, value.ref)
        return Typed(Type.INT, self.intrinsic(node, IntrinsicName.TO_INT, Type.INT, whole))

    def _one_float(self, node: ast.expr, operand: Operand, what: str) -> Typed:
        """``operand`` as the f64 that it is, else as an f32."""
        own = neighbour([operand])
        return self.coerced(node, operand, own if own in FLOATS else Type.FLOAT, what)

    def _real_function(self, node: ast.Call, name: str, op: IntrinsicName) -> Typed:
        if name == "log" and len(node.args) == 2:
            x, base = (unparse(a) for a in node.args)
            self.fail(
                node.args[1],
                "log takes no base in a kernel",
                found=unparse(node),
                hint=f"dy.log({x}) / dy.log({base})",
            )
        arguments = self.bind(node, name, op.argument_names)
        operands = self.in_order(node, arguments)
        own = neighbour(operands)
        ty = own if own in FLOATS else Type.FLOAT
        what = f"the argument of math.{name}" if len(arguments) == 1 else f"math.{name}"
        values = [
            self.coerced(side, operand, ty, what)
            for side, operand in zip(arguments, operands, strict=True)
        ]
        return Typed(ty, self.intrinsic(node, op, ty, *(v.ref for v in values)))

    def _python_extreme(self, node: ast.Call, name: str) -> Operand:
        if len(node.args) < 2:
            self.fail(
                node,
                f"{name} takes two or more values here",
                found=unparse(node),
                hint=f"{name}(a, b)",
            )
        operands = [self.expression(a) for a in node.args]
        beside = neighbour(operands)
        if beside is not None and beside.is_vector:
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


_RULES = {
    Rule.FLOATS: "f32, f64 or vectors of f32, a scalar standing for all components",
    Rule.SAME_FLOATS: "f32, f64, or vectors of f32 of one length",
    Rule.NUMBERS: "numbers of one type, or vectors, a scalar standing for all components",
    Rule.INT: "i32",
    Rule.INT_BOOL: "i32",
    Rule.TO_FLOAT: "f32, f64, i32 or bool",
    Rule.TO_DOUBLE: "f32, f64, i32 or bool",
    Rule.TO_INT: "f32, f64, i32 or bool",
    Rule.BITS: "f32",
    Rule.FROM_BITS: "i32",
}
"""What an intrinsic takes, in the words a user writes types with."""
