"""What a kernel reads besides its values: conversions to a type, ports, the domain and coordinate.

``port.sample()`` and the context functions are known to the entry alone; ``port.at(p)`` and
``port.linear(p)`` anywhere.
"""

from __future__ import annotations

import ast

from ..kernel.module import Port, Shape, index_type, linear_index_type
from ..kernel.op import At, AtLinear, Coord, Domain, Element, Sample
from ..kernel.tables import BinaryOp
from ..kernel.tables import Intrinsic as IntrinsicName
from ..kernel.types import Type, vector_of
from . import surface
from .diagnostics import suggestion
from .draft import Ref
from .maths import Maths
from .source import unparse
from .values import ADDRESSES, FLOATS, IntLiteral, Operand, PortOperand, Typed, describe, spell

CONTEXT = ("coord", "element", "domain")
_CONVERSIONS = {
    Type.FLOAT: IntrinsicName.TO_FLOAT,
    Type.DOUBLE: IntrinsicName.TO_DOUBLE,
    Type.INT: IntrinsicName.TO_INT,
}


class Reads(Maths):
    """Adds conversions, ports and context to math."""

    # Conversions and constructors

    def conversion_call(self, node: ast.Call, ty: Type) -> Operand:
        if ty.is_vector:
            return self._construct_vector(node, ty)
        (argument,) = self.bind(node, spell(ty), ("x",))
        operand = self.expression(argument)
        value = self.typed(argument, operand, ty if ty in FLOATS else None)
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
        return Typed(ty, self.intrinsic(node, _CONVERSIONS[ty], ty, value.ref))

    def _construct_vector(self, node: ast.Call, ty: Type) -> Typed:
        name = spell(ty)
        if node.keywords:
            self.fail(node.keywords[0], f"{name} takes no keyword arguments", hint=f"{name}(…)")
        values = [self.typed(a, self.expression(a), ty) for a in node.args]
        conversion = len(values) == 1 and values[0].ty.lanes == ty.lanes
        refs: list[Ref] = []
        for argument, value in zip(node.args, values, strict=True):
            kind = value.ty.component
            narrows = kind == Type.FLOAT != ty.component and not conversion
            if kind in (Type.BOOL, Type.DOUBLE) or narrows:
                text = unparse(argument)
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
                found=unparse(node),
                expected=f"{ty.lanes} components in all, or one for every place",
                hint=self._cut(node, values, ty, len(refs)),
            )
        return self.construct(node, ty, refs)

    def _cut(self, node: ast.Call, values: list[Typed], ty: Type, found: int) -> str:
        if len(values) == 1 and found > ty.lanes:
            return f"{unparse(node.args[0])}.{'xyzw'[: ty.lanes]}"
        if found in (2, 3, 4):
            return f"{spell(vector_of(ty.component, found))}(…) holds {found}"
        return ""

    # Methods of ports

    def method(self, node: ast.Call) -> Operand:
        if not isinstance(node.func, ast.Attribute):
            if isinstance(node.func, ast.Name):
                self.expression(node.func)
            self.fail(
                node.func,
                f"{unparse(node.func)} is a value, not a function",
                found=describe(self.expression(node.func)),
                expected="a function of dynamis or a plain function defined with def",
                hint=f"{unparse(node.func)} * …, to multiply",
            )
        operand = self.expression(node.func.value)
        name = node.func.attr
        if not isinstance(operand, PortOperand):
            self.fail(
                self.source.attribute_span(node.func),
                f"{describe(operand)} has no method {name}",
                found=unparse(node.func),
                hint=f"dy.{name}(…)" if name in surface.NAMES else "",
            )
        index, port = operand.index, operand.port
        if name == "sample":
            self.bind(node, "sample", ())
            self.entry_only(node, f"{port.name}.sample()")
            if port.shape is not self.unit.shape:
                self.fail(
                    node,
                    f"{port.name} is {port.shape.value}, the domain is {self.unit.shape.value}",
                    found=unparse(node),
                    hint=f"{port.name}.at(…) with an address",
                )
            return self.add(node, port.element, (), lambda ids: Sample(index))
        if name == "at":
            ref = self._address(node, port, name, index_type(port.shape))
            return self.add(node, port.element, (ref,), lambda ids: At(index, ids[0]))
        if name == "linear":
            if port.element.component != Type.FLOAT:
                self.fail(
                    node,
                    f"linear() reads between floats, and {port.name} holds {spell(port.element)}",
                    found=unparse(node),
                    expected=f"a port of f32, vec2, vec3 or vec4: {port.shape.value}[f32]",
                    hint=f"{port.name}.at(…), one element",
                )
            ref = self._address(node, port, name, linear_index_type(port.shape))
            return self.add(node, port.element, (ref,), lambda ids: AtLinear(index, ids[0]))
        if name in ("count", "size"):
            self.fail(node, f"{name} is a value, not a method", hint=f"{port.name}.{name}")
        close = suggestion(name, ["sample", "at", "linear", "count", "size"])
        self.fail(
            self.source.attribute_span(node.func),
            f"a port has no method {name}",
            found=unparse(node.func),
            expected="sample(), at(p), linear(p), count or size",
            hint=f"{port.name}.{close}" if close else "",
        )

    def _address(self, node: ast.Call, port: Port, method: str, wanted: Type) -> Ref:
        """The one argument of ``port.at(p)`` or ``port.linear(p)``, of the type ``wanted``."""
        if wanted.is_vector and len(node.args) > 1:
            parts = ", ".join(unparse(a) for a in node.args)
            self.fail(
                node.args[1],
                f"{method} takes one address",
                found=unparse(node),
                expected=ADDRESSES[wanted],
                hint=f"{port.name}.{method}({spell(wanted)}({parts}))",
            )
        (argument,) = self.bind(node, method, ("p",))
        operand = self.expression(argument)
        value = self.typed(argument, operand, Type.INT if wanted.is_vector else wanted)
        if wanted.is_vector and value.ty == vector_of(Type.INT, wanted.lanes):
            refs = [self.convert(argument, p, Type.FLOAT).ref for p in self.parts(argument, value)]
            return self.construct(argument, wanted, refs).ref
        if value.ty != wanted:
            self.fail(
                argument,
                f"an address in {port.name} is {spell(wanted)}",
                found=spell(value.ty),
                expected=ADDRESSES.get(wanted, spell(wanted)),
                hint=_as_address(unparse(argument), value.ty, wanted),
            )
        return value.ref

    # Context

    def context(self, node: ast.Call, name: str) -> Typed:
        self.entry_only(node, f"{name}()")
        shape = self.unit.shape
        if name == "element":
            return self.add(node, Type.INT, (), lambda ids: Element())
        if name == "domain":
            return self.add(node, index_type(shape), (), lambda ids: Domain())
        if shape is Shape.ROWS:
            self.fail(
                node,
                "coord() is for kernels over a Grid or a Volume",
                found="coord() in a kernel whose outputs are Rows",
                hint="element(), the index in the row",
            )
        return self.add(node, index_type(shape), (), lambda ids: Coord())

    def entry_only(self, node: ast.expr, what: str) -> None:
        """Refuses ``what`` in a helper function."""
        if not self.entry:
            self.fail(
                node,
                f"{what} is known in the kernel itself, not in the helper {self.source.name}",
                found=what,
                hint=f"pass it as an argument: {self.source.name}(…, {what})",
            )


def _as_address(text: str, ty: Type, wanted: Type) -> str:
    """What to write for ``text`` of a wrong type where an address is wanted; nothing if unknown."""
    if not wanted.is_vector:
        if ty.is_vector:
            return f"{text}.x"
        return f"{spell(wanted)}({text})" if ty != Type.BOOL else ""
    if ty.is_scalar:
        return ADDRESSES[wanted]
    if ty.lanes < wanted.lanes:
        return f"{spell(wanted)}({text}, z)"
    return f"{text}.{'xyzw'[: wanted.lanes]}"
