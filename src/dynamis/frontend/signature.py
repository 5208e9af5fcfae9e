"""Annotations and signatures: which parameters are ports, which kernel parameters, what returns.

In: a ``SourceFunction``. Out: the ports and parameters of a kernel's manifest, or a helper's
declared types. Annotations are read from the syntax tree and looked up, never evaluated, so strings
and ``from __future__ import annotations`` mean the same.
"""

from __future__ import annotations

import ast
import inspect
import sys
import typing
from collections.abc import Callable
from dataclasses import dataclass

from ..kernel.module import Param, Port, PortType, Shape
from ..kernel.types import Type
from .diagnostics import suggestion
from .source import Node, SourceFunction, attribute_of, unparse
from .surface import NAMES as SURFACE
from .surface import TYPE_SPELLINGS, VALUE_TYPES, Grid, Rows, Volume
from .values import NotAConstant, constant_of, spell_port

RESERVED = ("out", "shape", "threads", "backend", "max_work", "progress")
"""Keyword arguments of every kernel call: no port or parameter can have their names."""

_SHAPES: dict[object, Shape] = {Rows: Shape.ROWS, Grid: Shape.GRID, Volume: Shape.VOLUME}
_PORT_WORDS = "Rows[T], Grid[T], Volume[T]"
_VALUE_WORDS = "f32, f64, i32, bool, vec2, vec3, vec4, ivec2, ivec3 or ivec4"


@dataclass(frozen=True, slots=True)
class KernelSignature:
    """A kernel's ports and parameters; ``several`` when it returns a tuple."""

    inputs: tuple[Port, ...]
    params: tuple[Param, ...]
    outputs: tuple[Port, ...]
    several: bool


def value_type(obj: object) -> Type | None:
    """The value type that an annotation object stands for."""
    try:
        return VALUE_TYPES.get(obj)
    except TypeError:
        return None


def annotation(source: SourceFunction, node: ast.expr) -> object:
    """The object that an annotation names. Raises KernelError on a name that means nothing."""
    return _evaluate(source, node, node, source.lookup)


def _evaluate(
    source: SourceFunction, node: ast.expr, at: Node, lookup: Callable[[str], object]
) -> object:
    match node:
        case ast.Constant(value=str() as text):
            try:
                inner = ast.parse(text.strip(), mode="eval").body
            except SyntaxError:
                source.fail(
                    at, f"the annotation {text!r} cannot be read", found=text, hint="Grid[f32]"
                )
            return _evaluate(source, inner, at, lookup)
        case ast.Constant():
            return node.value
        case ast.Name():
            try:
                return lookup(node.id)
            except KeyError:
                close = suggestion(node.id, SURFACE)
                if node.id in SURFACE:
                    close = f"from dynamis import {node.id}"
                source.fail(at, f"unknown name {node.id}", found=node.id, hint=close)
        case ast.Attribute():
            owner = _evaluate(source, node.value, at, lookup)
            try:
                return attribute_of(owner, node.attr)
            except KeyError:
                text = unparse(node)
                close = suggestion(node.attr, SURFACE)
                hint = f"{unparse(node.value)}.{close}" if close else ""
                source.fail(at, f"unknown name {text}", found=text, hint=hint)
        case ast.Tuple():
            return tuple(_evaluate(source, item, at, lookup) for item in node.elts)
        case ast.Subscript():
            base = _evaluate(source, node.value, at, lookup)
            argument = _evaluate(source, node.slice, at, lookup)
            arguments = argument if isinstance(argument, tuple) else (argument,)
            if base is tuple or typing.get_origin(base) is tuple:
                return tuple(arguments)
            return Subscripted(base, arguments)
    source.fail(
        at,
        f"{unparse(node)} is not an annotation kernels know",
        found=unparse(node),
        expected=f"{_PORT_WORDS}, {_VALUE_WORDS}",
        hint="f32 for a number, Grid[f32] for an array of them",
    )


@dataclass(frozen=True, slots=True)
class Subscripted:
    """``base[arguments]`` in an annotation."""

    base: object
    arguments: tuple[object, ...]


def port_type(source: SourceFunction, obj: object, at: Node) -> PortType | None:
    """The port type that an annotation object stands for; None where it is no port."""
    if isinstance(obj, Subscripted):
        base, arguments = obj.base, obj.arguments
    else:
        base, arguments = typing.get_origin(obj), typing.get_args(obj)
    bare, shape = _shape(obj), _shape(base)
    if bare is not None:
        name = bare.value
        source.fail(at, f"{name} of what?", found=name, expected=f"{name}[T]", hint=f"{name}[f32]")
    if shape is None:
        return None
    elements = [value_type(a) for a in arguments]
    for k, a in enumerate(arguments):
        if isinstance(a, typing.ForwardRef):
            inner = ast.Constant(a.__forward_arg__)
            elements[k] = value_type(_evaluate(source, inner, at, source.lookup))
    if len(elements) != 1 or elements[0] is None:
        source.fail(
            at,
            f"{shape.value} holds values of one type",
            found=", ".join(getattr(a, "__name__", str(a)) for a in arguments),
            expected=_VALUE_WORDS,
            hint=f"{shape.value}[f32]",
        )
    return PortType(elements[0], shape)


def _shape(obj: object) -> Shape | None:
    """The shape that a port class stands for; None for anything else."""
    return next((shape for port, shape in _SHAPES.items() if obj is port), None)


def parameters(source: SourceFunction) -> list[ast.arg]:
    """The parameters of a function, in order. Raises KernelError on ``*args`` and ``**kwargs``."""
    arguments = source.tree.args
    for star, extra in (("*", arguments.vararg), ("**", arguments.kwarg)):
        if extra is not None:
            source.fail(
                extra,
                f"kernels do not have {star}{extra.arg}",
                found=f"{star}{extra.arg}",
                hint="name each parameter",
            )
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def default_objects(source: SourceFunction) -> dict[str, object]:
    """The defaults of a function's parameters, as Python made them."""
    arguments = source.tree.args
    positional = [*arguments.posonlyargs, *arguments.args]
    values = source.function.__defaults__ or ()
    found = {
        a.arg: v for a, v in zip(positional[len(positional) - len(values) :], values, strict=True)
    }
    return {**found, **(source.function.__kwdefaults__ or {})}


def default_nodes(source: SourceFunction) -> dict[str, ast.expr]:
    """Where each default is written."""
    arguments = source.tree.args
    positional = [*arguments.posonlyargs, *arguments.args]
    count = len(arguments.defaults)
    found = dict(
        zip([a.arg for a in positional[len(positional) - count :]], arguments.defaults, strict=True)
    )
    for argument, node in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if node is not None:
            found[argument.arg] = node
    return found


def kernel_signature(source: SourceFunction) -> KernelSignature:
    """The ports and parameters of a kernel. Raises KernelError."""
    inputs: list[Port] = []
    params: list[Param] = []
    defaults = default_nodes(source)
    for argument in source.tree.args.posonlyargs:
        source.fail(
            argument,
            f"{argument.arg} is positional-only: every argument of a kernel can be given by name",
            found=f"{argument.arg}, before /",
            hint=f"def {source.name}(…) without the /",
        )
    for argument in parameters(source):
        name = argument.arg
        _check_name(source, argument, name)
        if argument.annotation is None:
            source.fail(
                argument,
                f"the parameter {name} has no annotation",
                found=name,
                expected=f"a port ({_PORT_WORDS}) or a value type: {_VALUE_WORDS}",
                hint=f"{name}: Grid[f32]" if name not in defaults else f"{name}: f32 = …",
            )
        obj = annotation(source, argument.annotation)
        port = port_type(source, obj, argument.annotation)
        if port is not None:
            if name in defaults:
                source.fail(
                    defaults[name],
                    f"the input {name} cannot have a default",
                    found=unparse(defaults[name]),
                    hint=f"{name}: {unparse(argument.annotation)}",
                )
            inputs.append(Port(name, port))
        else:
            params.append(_param(source, argument, obj, defaults.get(name)))
    outputs, several = _outputs(source)
    return KernelSignature(tuple(inputs), tuple(params), tuple(outputs), several)


def _check_name(source: SourceFunction, argument: ast.arg, name: str) -> None:
    span = source.span(argument)
    at = type(span)(span.file, span.line, span.column, span.column + len(name))
    if name in RESERVED:
        source.fail(
            at,
            f"{name} is an argument of every kernel call and cannot be a parameter",
            found=name,
            expected=f"a name other than {', '.join(RESERVED)}",
            hint=f"{name}_",
        )


def _param(
    source: SourceFunction, argument: ast.arg, obj: object, default: ast.expr | None
) -> Param:
    name, node = argument.arg, argument.annotation
    assert node is not None
    ty = value_type(obj)
    if ty is None:
        source.fail(
            node,
            f"{unparse(node)} is neither a port nor a value type",
            found=unparse(node),
            expected=f"{_PORT_WORDS}, {_VALUE_WORDS}",
            hint=suggestion(unparse(node), SURFACE)
            or f"{name}: Grid[f32] for an array, {name}: f32 = 0.0 for a number",
        )
    spelling = TYPE_SPELLINGS[ty]
    if default is None:
        source.fail(
            argument,
            f"the parameter {name} has no default",
            found=f"{name}: {unparse(node)}",
            expected=f"a default, which a call may override (or a port: {_PORT_WORDS})",
            hint=f"{name}: {unparse(node)} = {zero(ty)}",
        )
    try:
        return Param(name, ty, constant_of(default_objects(source)[name], ty))
    except NotAConstant as error:
        source.fail(
            default,
            f"the default of {name} must be {spelling}: {error}",
            found=unparse(default),
            expected=spelling,
            hint=f"{name}: {spelling} = {spelling}(…)"
            if ty.is_vector
            else f"{name}: {spelling} = {zero(ty)}",
        )


def zero(ty: Type) -> str:
    """The zero of a type, as a user writes it."""
    words = {Type.BOOL: "False", Type.INT: "0", Type.FLOAT: "0.0", Type.DOUBLE: "0.0"}
    return words.get(ty, f"{TYPE_SPELLINGS[ty]}(0)")


def _outputs(source: SourceFunction) -> tuple[list[Port], bool]:
    node = source.tree.returns
    if node is None:
        source.fail(
            source.name_span(),
            f"{source.name} does not say what it returns",
            found=f"def {source.name}(…):",
            expected=f"a return annotation: {_PORT_WORDS}, a tuple or a NamedTuple of them",
            hint=f"def {source.name}(…) -> Grid[f32]:",
        )
    obj = annotation(source, node)
    if isinstance(obj, type) and issubclass(obj, tuple) and hasattr(obj, "_fields"):
        named, several = _named_fields(source, obj, node), True
    elif isinstance(obj, tuple) or typing.get_origin(obj) is tuple:
        items = obj if isinstance(obj, tuple) else typing.get_args(obj)
        named, several = [(f"out{k}", item) for k, item in enumerate(items)], True
    else:
        named, several = [("out", obj)], False
    outputs: list[Port] = []
    for name, item in named:
        port = port_type(source, item, node)
        if port is None:
            ty = value_type(item)
            source.fail(
                node,
                f"the output {name} is not a port",
                found=unparse(node),
                expected="Rows[T], Grid[T] or Volume[T]",
                hint=f"Grid[{TYPE_SPELLINGS[ty]}]" if ty is not None else "",
            )
        outputs.append(Port(name, port))
    if not outputs:
        source.fail(
            node, "a kernel has at least one output", found=unparse(node), hint="-> Grid[f32]"
        )
    if len({p.shape for p in outputs}) > 1:
        source.fail(
            node,
            "all outputs have one shape: Rows, Grid or Volume",
            found=", ".join(spell_port(p.ty) for p in outputs),
            hint="a kernel for each shape",
        )
    return outputs, several


def _named_fields(source: SourceFunction, cls: type, at: Node) -> list[tuple[str, object]]:
    """The fields of a NamedTuple class with their annotation objects."""
    module = sys.modules.get(cls.__module__)

    def lookup(name: str) -> object:
        if module is not None and name in vars(module):
            return vars(module)[name]
        return source.lookup(name)

    found = []
    for name, obj in inspect.get_annotations(cls).items():
        text = obj.__forward_arg__ if isinstance(obj, typing.ForwardRef) else obj
        if isinstance(text, str):
            obj = _evaluate(source, ast.Constant(text), at, lookup)
        found.append((name, obj))
    return found
