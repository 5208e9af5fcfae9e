"""Checks one function of a module: rules 11 to 44 of ``validate.py``, without recursion.

In: the function, the module's manifest and checked records, and the checks of the functions below.
Out: the function's result type and its size with every call inlined; or a ``ValidationError``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from . import op as ops
from .check_manifest import Records, check_words
from .module import (
    MAX_BLOCK_DEPTH,
    MAX_BUDGET,
    MAX_EXPANDED,
    MAX_EXPANDED_DEPTH,
    MAX_FRAME_WORDS,
    MAX_LOOP_COUNT,
    Block,
    Function,
    Instruction,
    Manifest,
    Port,
    Shape,
    capability_of,
    index_type,
)
from .types import Type
from .violation import ValidationError, is_dotted, is_plain, require, shown

_T = TypeVar("_T")


@dataclass(slots=True)
class _Open:
    """A block being walked."""

    path: str
    depth: int
    body: Iterator[Instruction]
    carried: Type | None
    """The type of the innermost enclosing loop; None outside loops."""
    result: ops.ValueId | None = None
    yields: Type = Type.BOOL
    yield_rule: int = 0
    own: list[ops.ValueId] = field(default_factory=list)
    """The values defined in the block itself, which nothing after it sees."""
    pending: Instruction | None = None
    """The instruction whose blocks are being walked; it defines its value after them."""


class FunctionCheck:
    """Checks one function; keeps what its callers need to know of it.

    ``size`` and ``depth`` are of the function with every call inlined. Spend and Look count in
    neither these nor the frame: a module may grow by them after it was accepted."""

    def __init__(
        self,
        manifest: Manifest,
        records: Records,
        below: Sequence[FunctionCheck],
        function: Function,
        path: str,
        is_entry: bool,
    ):
        self.manifest = manifest
        self.records = records
        self.below = below
        self.function = function
        self.path = path
        self.is_entry = is_entry
        self.domain = manifest.outputs[0].shape
        self.types: list[Type] = []
        self.visible: list[bool] = []
        self.frame_words = 0
        self.size = 0
        self.depth = 0
        self.result = Type.FLOAT

    def run(self) -> None:
        function, path = self.function, self.path
        require(is_dotted(function.name), 12, f"{path}.name", repr(function.name), "a dotted name")
        for k, ty in enumerate(function.args):
            require(self.records.known(ty), 12, f"{path}.args.{k}", ty, "a type that exists")
            self._hold(ty, f"{path}.args.{k}")
        if self.is_entry:
            require(not function.args, 13, f"{path}.args", len(function.args), "no arguments")
        self._walk()
        self._check_results()
        for k, (id, name) in enumerate(function.bindings):
            where = f"{path}.bindings.{k}"
            require(0 <= id < len(self.types), 16, where, id, "a value of the function")
            require(is_dotted(name), 16, where, repr(name), "a dotted name")

    def _check_results(self) -> None:
        results, path = self.function.results, f"{self.path}.results"
        if self.is_entry:
            outputs = [port.element for port in self.manifest.outputs]
            require(len(results) == len(outputs), 13, path, len(results), str(len(outputs)))
        else:
            require(len(results) == 1, 14, path, len(results), "one result")
        for k, id in enumerate(results):
            ty = self._read(15, f"{path}.{k}", id, "a value of the top-level block")
            if self.is_entry:
                require(ty == outputs[k], 13, f"{path}.{k}", ty, str(outputs[k]))
            else:
                self.result = ty

    # The walk: an explicit stack of open blocks, each instruction met once, in pre-order.

    def _walk(self) -> None:
        stack = [_Open(self.path, 0, iter(self.function.body), None)]
        while stack:
            block = stack[-1]
            if block.pending is not None:
                self._define(block, block.pending)
                block.pending = None
            instruction = next(block.body, None)
            if instruction is None:
                self._close(block)
                stack.pop()
                continue
            path = f"{block.path}.%{shown(instruction.id)}"
            self._enter(instruction, path)
            self._check_operation(instruction, path, block)
            inner = self._inner(instruction, path, block)
            if inner:
                block.pending = instruction
                stack.extend(reversed(inner))
            else:
                self._define(block, instruction)

    def _enter(self, instruction: Instruction, path: str) -> None:
        """Gives the instruction its number and room; its value is not visible yet."""
        require(instruction.id == len(self.types), 20, path, instruction.id, f"{len(self.types)}")
        require(self.records.known(instruction.ty), 24, path, instruction.ty, "a type that exists")
        self.types.append(instruction.ty)
        self.visible.append(False)
        if isinstance(instruction.op, (ops.Spend, ops.Look)):
            return
        self._hold(instruction.ty, path)
        self._expand(1, path)

    def _hold(self, ty: Type, path: str) -> None:
        self.frame_words += self.records.size(ty)[0]
        limit = f"at most {MAX_FRAME_WORDS} words in the function's arguments and values"
        require(self.frame_words <= MAX_FRAME_WORDS, 17, path, "more", limit)

    def _expand(self, instructions: int, path: str) -> None:
        self.size += instructions
        limit = f"at most {MAX_EXPANDED} instructions with every call inlined"
        require(self.size <= MAX_EXPANDED, 18, path, "more", limit)

    def _deepen(self, depth: int, path: str) -> None:
        self.depth = max(self.depth, depth)
        limit = f"blocks and calls nested at most {MAX_EXPANDED_DEPTH} deep"
        require(depth <= MAX_EXPANDED_DEPTH, 19, path, f"depth {depth}", limit)

    def _define(self, block: _Open, instruction: Instruction) -> None:
        self.visible[instruction.id] = True
        block.own.append(instruction.id)

    def _close(self, block: _Open) -> None:
        """Checks what a nested block yields, and hides its values from what follows it."""
        if block.result is None:
            return
        path = f"{block.path}.result"
        ty = self._read(22, path, block.result, "a value of the block or one around it")
        require(ty == block.yields, block.yield_rule, path, ty, str(block.yields))
        for id in block.own:
            self.visible[id] = False

    def _read(self, rule: int, path: str, id: ops.ValueId, expected: str) -> Type:
        require(
            0 <= id < len(self.types) and self.visible[id], rule, path, f"%{shown(id)}", expected
        )
        return self.types[id]

    def _inner(self, instruction: Instruction, path: str, block: _Open) -> list[_Open]:
        """The blocks of an If or a Loop, opened, in order."""
        inner: list[_Open] = []
        depth = block.depth + 1

        def add(name: str, nested: Block, carried: Type | None, yields: Type, rule: int) -> None:
            body, where = iter(nested.body), f"{path}.{name}"
            inner.append(_Open(where, depth, body, carried, nested.result, yields, rule))

        match instruction.op:
            case ops.If(_, then, otherwise):
                add("then", then, block.carried, instruction.ty, 35)
                add("otherwise", otherwise, block.carried, instruction.ty, 35)
            case ops.Loop(until=until, body=body):
                if until is not None:
                    add("until", until, instruction.ty, Type.BOOL, 37)
                add("body", body, instruction.ty, instruction.ty, 36)
        if inner:
            limit = f"blocks nested at most {MAX_BLOCK_DEPTH} deep"
            require(depth <= MAX_BLOCK_DEPTH, 23, path, f"depth {depth}", limit)
            self._deepen(depth, path)
        return inner

    # One operation: its operands, its own facts, and the type it gives.

    def _check_operation(self, instruction: Instruction, path: str, block: _Open) -> None:
        op = instruction.op
        require(type(op) in _OPERATIONS, 25, path, type(op).__name__, "an operation of op.py")
        before = "a value defined before it, in its block or one around it"
        types = [self._read(21, path, id, before) for id in op.operands()]
        capability = capability_of(op)
        if capability is not None and capability not in self.manifest.requires:
            found = f"an instruction that needs {capability.value}"
            raise ValidationError(11, path, found, "a manifest that requires it")
        gives = self._gives(instruction, types, path, block)
        require(instruction.ty == gives, 27, path, instruction.ty, str(gives))

    def _gives(self, instruction: Instruction, types: list[Type], path: str, block: _Open) -> Type:
        """The type of the value the operation gives; checks everything else about it."""
        op = instruction.op
        match op:
            case ops.Const(value):
                require(is_plain(value.ty), 28, path, value.ty, "a plain type")
                check_words(28, path, value)
                return value.ty
            case ops.Param(index):
                return self._named(path, index, self.manifest.params, "parameter").ty
            case ops.Arg(index):
                return self._named(path, index, self.function.args, "argument")
            case ops.Unary(operation, _):
                return self._fitting(operation.result_type(*types), types, path)
            case ops.Binary(operation, _, _):
                return self._fitting(operation.result_type(*types), types, path)
            case ops.Intrinsic(intrinsic, args):
                arity = len(intrinsic.argument_names)
                require(len(args) == arity, 26, path, f"{len(args)} operands", f"{arity}")
                return self._fitting(intrinsic.result_type(types), types, path)
            case ops.Construct():
                require(
                    not instruction.ty.is_scalar, 30, path, instruction.ty, "a vector or a record"
                )
                self._check_parts(30, path, types, self.records.parts(instruction.ty))
                return instruction.ty
            case ops.Extract(_, index):
                parts = self.records.parts(types[0])
                require(0 <= index < len(parts), 31, path, index, f"one of {len(parts)} parts")
                return parts[index]
            case ops.Call(function, _):
                limit = f"one of the {len(self.below)} functions below"
                require(0 <= function < len(self.below), 32, path, function, limit)
                callee = self.below[function]
                self._check_parts(33, path, types, callee.function.args)
                self._expand(callee.size, path)
                self._deepen(block.depth + 1 + callee.depth, path)
                return callee.result
            case ops.If():
                require(types[0] == Type.BOOL, 34, path, types[0], "Bool")
                return instruction.ty
            case ops.Loop(count, bound):
                require(types[-1] == instruction.ty, 36, path, types[-1], str(instruction.ty))
                if bound is not None:
                    require(types[0] == Type.INT, 38, path, types[0], "Int")
                most = MAX_LOOP_COUNT if bound is None else MAX_BUDGET
                require(1 <= count <= most, 39, path, count, f"a count from 1 to {most}")
                return instruction.ty
            case ops.Carried() | ops.Index():
                if block.carried is None:
                    raise ValidationError(40, path, type(op).__name__, "a Loop around it")
                return block.carried if isinstance(op, ops.Carried) else Type.INT
            case ops.Spend():
                return Type.INT
            case ops.Look():
                return Type.BOOL
            case _:
                return self._reads(op, types, path)

    def _reads(self, op: ops.Op, types: list[Type], path: str) -> Type:
        """The operations on the element and the inputs."""
        if isinstance(op, (ops.Coord, ops.Domain, ops.Element, ops.Sample)) and not self.is_entry:
            raise ValidationError(41, path, type(op).__name__, "it in the entry only")
        match op:
            case ops.Coord():
                grid = Shape.GRID
                require(self.domain is grid, 42, path, self.domain.value, grid.value)
                return Type.VEC2
            case ops.Domain():
                return index_type(self.domain)
            case ops.Sample(index):
                port = self._input(path, index)
                domain = self.domain
                require(port.shape is domain, 43, path, port.shape.value, domain.value)
                return port.element
            case ops.At(index, _):
                port = self._input(path, index)
                address = index_type(port.shape)
                require(types[0] == address, 44, path, types[0], str(address))
                return port.element
            case ops.Size(index):
                return index_type(self._input(path, index).shape)
            case ops.Count(index):
                self._input(path, index)
        return Type.INT  # Count and Element

    def _input(self, path: str, index: int) -> Port:
        return self._named(path, index, self.manifest.inputs, "input")

    def _named(self, path: str, index: int, among: Sequence[_T], what: str) -> _T:
        limit = f"the number of one of {len(among)} {what}s"
        require(0 <= index < len(among), 29, path, index, limit)
        return among[index]

    def _fitting(self, result: Type | None, types: Sequence[Type], path: str) -> Type:
        if result is None:
            found = ", ".join(map(str, types))
            raise ValidationError(26, path, found, "operand types that fit the operation")
        return result

    def _check_parts(
        self, rule: int, path: str, types: Sequence[Type], parts: Sequence[Type]
    ) -> None:
        require(len(types) == len(parts), rule, path, len(types), f"{len(parts)} values")
        for found, expected in zip(types, parts, strict=True):
            require(found == expected, rule, path, found, str(expected))


# fmt: off
_OPERATIONS = frozenset((
    ops.Const, ops.Param, ops.Arg, ops.Unary, ops.Binary, ops.Construct, ops.Extract, ops.Call,
    ops.Intrinsic, ops.If, ops.Loop, ops.Carried, ops.Index, ops.Coord, ops.Domain, ops.Element,
    ops.Sample, ops.At, ops.Count, ops.Size, ops.Spend, ops.Look,
))
# fmt: on
