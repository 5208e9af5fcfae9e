"""Compiling a kernel: its entry, the helpers it calls, the module they make.

In: a Python function, never called. Out: a ``kernel.Module``. Each helper is compiled once for each
combination of argument types (and of ports, which are no values), callees before callers.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import NoReturn

from ..errors import DynamisError, public
from ..kernel.module import (
    DEFAULT_BUDGET,
    MAX_BLOCK_DEPTH,
    MAX_BUDGET,
    Capabilities,
    Function,
    KernelId,
    Manifest,
    Mode,
    Module,
    PortType,
    capability_of,
)
from ..kernel.op import Arg, Construct, Param
from ..kernel.trips import counted_loops
from ..kernel.types import Type
from .builder import Builder
from .depth import MAX_CALL_DEPTH, checked_frames
from .draft import Build, Draft, Ref, Slot, may_fail
from .emit import Emitter, Records, field_name
from .flow import Flow
from .loops import Loops, literal_trips
from .room import with_room
from .signature import (
    annotation,
    default_objects,
    kernel_signature,
    parameters,
    port_type,
    value_type,
)
from .source import SourceFunction, unparse
from .statements import Results
from .values import Operand, PortOperand, Typed, describe, spell_port


@dataclass(frozen=True, slots=True)
class Helper:
    """A helper's source and declared signature; types are None where the call decides."""

    source: SourceFunction
    nodes: Mapping[str, ast.arg]
    positional: tuple[str, ...]
    positional_only: tuple[str, ...]
    types: Mapping[str, Type | PortType | None]
    defaults: Mapping[str, object]
    results: Results | None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.nodes)


@dataclass(frozen=True, slots=True)
class Target:
    """A compiled helper: its number, its result, the tuple's types if it returns one."""

    index: int
    result: Type
    parts: tuple[Type, ...] | None
    may_fail: bool


class Unit:
    """One module under construction."""

    def __init__(self, source: SourceFunction) -> None:
        self.root = source.function
        self.records = Records()
        self.functions: list[Function] = []
        self._helpers: dict[FunctionType, Helper] = {}
        self._targets: dict[tuple[object, ...], Target] = {}
        self._active: list[FunctionType] = [self.root]
        self._source = source
        self._signature = kernel_signature(self._source)
        self.shape = self._signature.outputs[0].shape

    def module(self, id: KernelId, budget: int) -> Module:
        """The finished module."""
        entry = with_room(checked_frames(self._source), self._entry)
        signature = self._signature
        functions = [*self.functions, entry]
        needs = {capability_of(i.op) for f in functions for i in f.instructions()}
        manifest = Manifest(
            id,
            Mode.MAP,
            Capabilities(c for c in needs if c is not None),
            signature.inputs,
            signature.params,
            signature.outputs,
            budget=budget,
        )
        return Module(manifest, tuple(self.records.structs), tuple(self.functions), entry)

    # Functions

    def _entry(self) -> Function:
        source, signature = self._source, self._signature
        ports = signature.outputs
        names = tuple(p.name for p in ports)
        results = Results(tuple(p.element for p in ports), signature.several, names)
        builder = Loops(self, source, Flow(source.tree, literal_trips), entry=True, results=results)
        nodes = {a.arg: a for a in parameters(source)}
        for k, port in enumerate(signature.inputs):
            builder.ports[port.name] = PortOperand(k, port)
        for k, param in enumerate(signature.params):
            node = nodes[param.name]
            builder.assign(node, param.name, builder.add(node, param.ty, (), _param(k)))
        refs = self._body(builder, source)
        emitter = Emitter(builder.types, self.records)
        return emitter.function("entry", (), builder.body, refs, builder.bindings)

    def _body(self, builder: Loops, source: SourceFunction) -> list[Ref]:
        """Compiles a function's statements; its results."""
        builder.block(source.tree.body)
        if builder.flow.falls_through or builder.results is None:
            returns = [n for n in ast.walk(source.tree) if isinstance(n, ast.Return)]
            what = "can reach its end without a return" if returns else "returns nothing"
            source.fail(
                source.name_span(),
                f"{source.name} {what}",
                found=f"a path through {source.name} that ends without return",
                expected="a return on every path",
                hint="return … as the last statement",
            )
        refs: list[Ref] = []
        for k in range(len(builder.results.types)):
            ref = builder.env[f"%result{k}"]
            assert isinstance(ref, Draft | Slot)
            refs.append(ref)
        return refs

    # Helpers

    def helper(self, caller: Builder, node: ast.Call, function: FunctionType) -> Helper:
        """The declared signature of a function that ``caller`` calls at ``node``."""
        if function in self._active:
            self.recursion(caller, node.func, function)
        if function.__name__ == "<lambda>":
            caller.fail(
                node.func,
                f"{unparse(node.func)} is a lambda",
                found="a lambda",
                expected="a plain function defined with def",
                hint=f"def {unparse(node.func)}(…): return …",
            )
        if len(self._active) > MAX_CALL_DEPTH:
            caller.fail(
                node,
                f"helpers call one another more than {MAX_CALL_DEPTH} deep",
                found=f"call {len(self._active)}, of {function.__name__}",
                hint="let one helper do the work of several, or call them one after the other",
            )
        if function not in self._helpers:
            self._helpers[function] = self._declare(function)
        return self._helpers[function]

    def _known(self, function: FunctionType) -> SourceFunction:
        return self._source if function is self.root else self._helpers[function].source

    def recursion(self, caller: Builder, node: ast.expr, function: FunctionType) -> NoReturn:
        """Raises KernelError naming the cycle that the call at ``node`` closes."""
        callee = self._known(function)
        start = self._active.index(function)
        cycle = [f.__name__ for f in self._active[start:]] + [callee.name]
        caller.fail(
            node,
            f"{callee.name} calls itself: kernels have no recursion",
            found=" -> ".join(cycle),
            expected="calls that never lead back",
            hint="a loop: while …, or for i in range(…)",
        )

    def _declare(self, function: FunctionType) -> Helper:
        source = SourceFunction(function)
        tree = source.tree
        if tree.decorator_list:
            source.fail(
                tree.decorator_list[0],
                f"the helper {source.name} has a decorator",
                found=f"@{unparse(tree.decorator_list[0])}",
                hint=f"a plain def {source.name}(…)",
            )
        types: dict[str, Type | PortType | None] = {}
        nodes = {a.arg: a for a in parameters(source)}
        for name, a in nodes.items():
            types[name] = None
            if a.annotation is not None:
                obj = annotation(source, a.annotation)
                found = value_type(obj) or port_type(source, obj, a.annotation)
                if found is None:
                    source.fail(
                        a.annotation,
                        f"{unparse(a.annotation)} is neither a value type nor a port",
                        found=unparse(a.annotation),
                        expected="f32, f64, i32, bool, a vector type, "
                        "Rows[T], Grid[T] or Volume[T]",
                        hint="no annotation: a helper takes what it is given",
                    )
                types[name] = found
        positional = [a.arg for a in (*tree.args.posonlyargs, *tree.args.args)]
        results = None if tree.returns is None else self._declared_results(source, tree.returns)
        only = tuple(a.arg for a in tree.args.posonlyargs)
        defaults = default_objects(source)
        return Helper(source, nodes, tuple(positional), only, types, defaults, results)

    def _declared_results(self, source: SourceFunction, node: ast.expr) -> Results:
        obj = annotation(source, node)
        several = isinstance(obj, tuple)
        found = [value_type(item) for item in (obj if isinstance(obj, tuple) else (obj,))]
        types = tuple(t for t in found if t is not None)
        if len(types) != len(found) or not types:
            source.fail(
                node,
                f"{unparse(node)} is not a type a helper can return",
                found=unparse(node),
                expected="f32, i32, bool, a vector type, or a tuple of these",
                hint="no annotation: a helper returns what it returns",
            )
        return Results(types, several, place=node)

    def specialise(
        self,
        caller: Builder,
        helper: Helper,
        operands: Mapping[str, Operand],
        places: Mapping[str, ast.expr],
    ) -> tuple[list[Ref], Target]:
        """The arguments of a call and the helper compiled for their types."""
        refs: list[Ref] = []
        actual: dict[str, Type | PortOperand] = {}
        for name in helper.names:
            operand = self._argument(caller, helper, name, operands[name], places[name])
            if isinstance(operand, PortOperand):
                actual[name] = operand
            else:
                actual[name] = operand.ty
                refs.append(operand.ref)
        key = (helper.source.function, *actual.values())
        if key not in self._targets:
            frames = checked_frames(helper.source)
            self._targets[key] = with_room(frames, lambda: self._compile(helper, actual))
        return refs, self._targets[key]

    def _argument(
        self, caller: Builder, helper: Helper, name: str, operand: Operand, place: ast.expr
    ) -> Typed | PortOperand:
        wanted = helper.types[name]
        what = f"the argument {name} of {helper.source.name}"
        if isinstance(wanted, Type):
            return caller.coerced(place, operand, wanted, what)
        if isinstance(operand, PortOperand) and wanted in (None, operand.port.ty):
            return operand
        if wanted is None and not isinstance(operand, PortOperand):
            return caller.typed(place, operand)
        spelling = spell_port(wanted) if isinstance(wanted, PortType) else str(wanted)
        caller.fail(
            place,
            f"{what} must be a port of {spelling}",
            found=describe(operand),
            expected=spelling,
            hint=f"{name}: {spell_port(operand.port.ty)}, or no annotation"
            if isinstance(operand, PortOperand)
            else "an input of the kernel",
        )

    def _compile(self, helper: Helper, actual: Mapping[str, Type | PortOperand]) -> Target:
        source = helper.source
        self._active.append(source.function)
        flow = Flow(source.tree, literal_trips)
        builder = Loops(self, source, flow, entry=False, results=helper.results)
        args: list[Type] = []
        for name, given in actual.items():
            node = helper.nodes[name]
            if isinstance(given, PortOperand):
                builder.ports[name] = given
            else:
                build = _arg(len(args))
                args.append(given)
                builder.assign(node, name, builder.add(node, given, (), build))
        refs = self._body(builder, source)
        assert builder.results is not None
        results = builder.results
        types, parts = results.types, None
        if results.several:
            record = self.records.of([(f"r{k}", t) for k, t in enumerate(types)])
            whole = builder.add(source.tree, record, tuple(refs), Construct)
            refs, parts = [whole.ref], types
        emitter = Emitter(builder.types, self.records)
        name = self._function_name(source.name)
        function = emitter.function(name, args, builder.body, refs, builder.bindings)
        self.functions.append(function)
        self._active.pop()
        result = record if results.several else types[0]
        return Target(len(self.functions) - 1, result, parts, may_fail(builder.body))

    def _function_name(self, name: str) -> str:
        """``name``, numbered where another specialisation has it already."""
        taken = {f.name for f in self.functions} | {"entry"}
        plain = field_name(name)
        found, k = plain, 1
        while found in taken:
            k += 1
            found = f"{plain}_{k}"
        return found


def _param(k: int) -> Build:
    return lambda ids: Param(k)


def _arg(k: int) -> Build:
    return lambda ids: Arg(k)


@public
def compile_kernel(
    function: FunctionType | SourceFunction,
    *,
    id: str | KernelId | None = None,
    budget: int | None = None,
) -> Module:
    """Compiles a Python function to a Kernel IR module, from its source; it is never called.

    ``function`` may be one whose source has been read already. ``id`` is ``"name@version"``
    (default: the function's name, version 1); ``budget`` the loop iterations one element may run
    (default DEFAULT_BUDGET). Raises KernelError where the function is not a kernel,
    InvalidKernelId for a malformed id, DynamisError for a budget out of range or an object that
    is no function.
    """
    if not isinstance(function, FunctionType | SourceFunction):
        raise DynamisError(f"a kernel is made of a function defined with def, not of {function!r}")
    if isinstance(id, str):
        id = KernelId.parse(id)
    budget = DEFAULT_BUDGET if budget is None else budget
    if not 1 <= budget <= MAX_BUDGET:
        raise DynamisError(f"budget must be from 1 to {MAX_BUDGET}, not {budget}")
    source = SourceFunction(function) if isinstance(function, FunctionType) else function
    module = Unit(source).module(id or KernelId(source.name, 1), budget)
    return with_room(4 * MAX_BLOCK_DEPTH, lambda: counted_loops(module))
