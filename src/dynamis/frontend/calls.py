"""Calls: what is called is looked up as Python would, then compiled as what it is.

A value type converts or constructs, a function of dynamis or of Python's math computes, a plain
Python function is a helper: it is compiled for the types of its arguments and called.
"""

from __future__ import annotations

import ast
from types import FunctionType
from typing import NoReturn

from ..errors import with_article
from ..kernel.op import Call, Extract
from ..kernel.types import Value
from . import surface
from .diagnostics import suggestion
from .draft import Build
from .expressions import LATER
from .maths import PYTHON_FUNCTIONS
from .reads import CONTEXT, Reads
from .source import unparse
from .surface import VALUE_TYPES, KernelFunction
from .values import NotAConstant, Operand, Several, literal_of

_INSTEAD = {
    "print": "return the value as one more output, and print that",
    "len": "port.count for the elements of a port",
    "sum": "a for loop, or dy.dot(v, vec4(1.0))",
    "pow": "x ** y, or dy.pow(x, y)",
    "divmod": "a // b and a % b",
    "range": "for i in range(n): a range stands only there",
    "isinstance": "",
    "any": "or",
    "all": "and",
}


class Calls(Reads):
    """Adds calls to what they can call."""

    def call(self, node: ast.Call) -> Operand:
        """The value of a call."""
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                self.unsupported(argument)
        for keyword in node.keywords:
            if keyword.arg is None:
                self.fail(keyword.value, "kernels do not have ** arguments", hint="name=value")
        if not self.is_static(node.func):
            return self.method(node)
        target = self.static(node.func)
        try:
            known = target in VALUE_TYPES or target in PYTHON_FUNCTIONS
        except TypeError:
            known = False
        if isinstance(target, KernelFunction):
            if target.name in CONTEXT:
                self.bind(node, target.name, ())
                return self.context(node, target.name)
            return self.surface_function(node, target)
        if known and target in VALUE_TYPES:
            return self.conversion_call(node, VALUE_TYPES[target])
        if known:
            return self.python_function(node, PYTHON_FUNCTIONS[target])
        if isinstance(target, FunctionType):
            return self._helper(node, target)
        if isinstance(target, type) and issubclass(target, tuple) and hasattr(target, "_fields"):
            return self._named_tuple(node, target)
        self._not_callable(node, target)

    def _not_callable(self, node: ast.Call, target: object) -> NoReturn:
        text = unparse(node.func)
        wrapped = getattr(target, "__wrapped__", None)
        if wrapped is self.unit.root:
            self.unit.recursion(self, node.func, wrapped)
        last = text.rpartition(".")[2]
        hint = _INSTEAD.get(last, "")
        if last in LATER:
            hint = f"{last} is not in this version"
        elif isinstance(wrapped, FunctionType):
            hint = "put what both need into a plain function, and call that"
        elif not hint and last in surface.NAMES:
            hint = f"dy.{last}"
        elif not hint and callable(target):
            close = suggestion(last, surface.NAMES)
            hint = f"dy.{close}" if close else "a plain Python function defined with def"
        kind = "class" if isinstance(target, type) else type(target).__name__
        self.fail(
            node.func,
            f"{text} cannot be called in a kernel",
            found=f"{text}, {with_article(kind)}",
            expected="a function of dynamis, a value type, or a plain function defined with def",
            hint=hint,
        )

    # Helpers and tuples

    def _named_tuple(self, node: ast.Call, target: type) -> Several:
        fields: tuple[str, ...] = target._fields  # type: ignore[attr-defined]  # a NamedTuple class
        arguments = self.bind(node, target.__name__, fields)
        return Several(tuple(self.in_order(node, arguments)), tuple(arguments))

    def _helper(self, node: ast.Call, function: FunctionType) -> Operand:
        helper = self.unit.helper(self, node, function)
        name = function.__name__
        wanted = helper.names
        given = dict(zip(wanted, node.args, strict=False))
        if len(node.args) > len(helper.positional):
            self._argument_count(
                node, name, wanted, len(node.args), node.args[len(helper.positional)]
            )
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
            if key in helper.positional_only:
                self.fail(
                    keyword,
                    f"{key} of {name} is given by position only",
                    found=f"{key}={unparse(keyword.value)}",
                    hint=f"{unparse(node.func)}({', '.join(wanted)})",
                )
            if key in given:
                self.fail(
                    keyword, f"{name} is given {key} twice", found=key, hint=f"only one {key}"
                )
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
                operands[w] = self._default(node, name, w, helper.defaults[w])
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

    def _default(self, node: ast.Call, name: str, argument: str, obj: object) -> Operand:
        try:
            found = literal_of(obj)
        except NotAConstant as error:
            self.fail(
                node,
                f"the default of {argument} of {name} cannot be used: {error}",
                found=repr(obj),
                expected="a number, a bool or a vector",
                hint=f"{unparse(node.func)}(…, {argument}=…)",
            )
        return self.const(node, found) if isinstance(found, Value) else found


def _extractor(k: int) -> Build:
    return lambda ids: Extract(ids[0], k)
