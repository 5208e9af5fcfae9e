"""Checks single operations: rules 11, 25 to 34, 38 to 44 and 58 to 69 of ``validate.py``.

In: an instruction, the types of its operands, what the blocks around it give it. Out: nothing, or a
``ValidationError``; over a whole function also the roles that its operations leave to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol, TypeVar

from . import op as ops
from .check_structs import Structs
from .limits import MAX_BUDGET, MAX_LOOP_COUNT
from .manifest import Manifest, Port, Shape, index_type, linear_index_type
from .mode import ModeKind
from .module import Function, Instruction
from .op_table import OPS, Role
from .types import Type
from .violation import ValidationError, require, shown

_T = TypeVar("_T")

_ENTRY_ONLY = frozenset({Role.ENTRY})


class Callee(Protocol):
    """What a caller needs to know of a function below it."""

    function: Function
    result: Type

    @property
    def roles(self) -> frozenset[Role]: ...


@dataclass(frozen=True, slots=True)
class Around:
    """What the blocks around an instruction give it: the type of Carried, None where there is none,
    and whether there is an Index."""

    carried: Type | None
    indexed: bool


class Operations:
    """The operations of one function. ``roles``: those that every operation so far may stand in."""

    def __init__(
        self,
        manifest: Manifest,
        structs: Structs,
        function: Function,
        role: Role,
        below: Sequence[Callee],
    ):
        self.manifest = manifest
        self.structs = structs
        self.function = function
        self.role = role
        self.below = below
        self.domain = manifest.domain
        self.first_memory = len(manifest.inputs) - len(manifest.memories)
        self.roles = frozenset(Role)

    def check(self, instruction: Instruction, types: list[Type], path: str, around: Around) -> None:
        op = instruction.op
        row = OPS[type(op)]
        name, mode = type(op).__name__, self.manifest.mode
        self._limit_roles(row.roles, name, path)
        if mode.kind not in row.modes:
            raise ValidationError(41, path, f"{name} in a {mode.name}", _listed(row.modes))
        if row.capability is not None:
            held = row.capability in self.manifest.requires
            found = f"an instruction that needs {row.capability.value}"
            require(held, 11, path, found, "a manifest that requires it")
        gives = self._gives(instruction, types, path, around)
        if instruction.ty != gives:
            raise ValidationError(27, path, shown(instruction.ty), str(gives))

    def _limit_roles(self, roles: frozenset[Role], what: str, path: str) -> None:
        if self.role not in roles:
            allowed = f"one that stands in {_listed(roles)}"
            raise ValidationError(41, path, f"{what} in {self.role.value}", allowed)
        self.roles &= roles

    def _gives(
        self, instruction: Instruction, types: list[Type], path: str, around: Around
    ) -> Type:
        """The type of the value the operation gives; checks everything else about it."""
        op = instruction.op
        match op:
            case ops.Const(value):
                require(self.structs.known(value.ty), 28, path, value.ty, "a type that exists")
                self.structs.check_value(28, path, value)
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
                parts = self.structs.parts(instruction.ty)
                require(len(parts) > 0, 30, path, instruction.ty, "a type that has parts")
                _check_parts(30, path, types, parts)
                return instruction.ty
            case ops.Extract(_, index):
                parts = self.structs.parts(types[0])
                require(0 <= index < len(parts), 31, path, index, f"one of {len(parts)} parts")
                return parts[index]
            case ops.Subscript():
                return self._subscript(66, types[0], types[1], path)
            case ops.Call(function, _):
                limit = f"one of the {len(self.below)} functions below"
                require(0 <= function < len(self.below), 32, path, function, limit)
                callee = self.below[function]
                _check_parts(33, path, types, callee.function.args)
                self._limit_roles(callee.roles, "a call of this function", path)
                return callee.result
            case ops.Carried():
                if around.carried is None:
                    raise ValidationError(
                        40, path, "Carried", "a Loop around it, or a scan's entry"
                    )
                return around.carried
            case ops.Index():
                where = "a Loop or an Each around it, or a scan's entry"
                require(around.indexed, 40, path, "Index", where)
                return Type.INT
            case ops.If() | ops.Match() | ops.Loop() | ops.Each():
                self._check_control(op, instruction.ty, types, path)
                return instruction.ty
            case ops.Spend():
                return Type.INT
            case ops.Look():
                return Type.BOOL
            case ops.Put() | ops.Emit() | ops.Exchange():
                return self._effect(op, types, path)
            case _ if type(op) in _CONTEXT:
                for ty in types:
                    require(ty == Type.INT, 69, path, ty, "an Int")
                return _CONTEXT[type(op)]
        return self._read(op, types, path)

    def _check_control(self, op: ops.Op, ty: Type, types: list[Type], path: str) -> None:
        match op:
            case ops.If():
                require(types[0] == Type.BOOL, 34, path, types[0], "Bool")
            case ops.Match(_, arms, _):
                require(types[0] == Type.INT, 62, path, types[0], "Int")
                seen: set[int] = set()
                for value in (value for values, _ in arms for value in values):
                    require(-(2**31) <= value < 2**31, 63, path, value, "an Int")
                    require(value not in seen, 63, path, value, "a value in one arm only")
                    seen.add(value)
            case ops.Loop(count, bound):
                require(types[-1] == ty, 36, path, types[-1], str(ty))
                if bound is not None:
                    require(types[0] == Type.INT, 38, path, types[0], "Int")
                most = MAX_LOOP_COUNT if bound is None else MAX_BUDGET
                require(1 <= count <= most, 39, path, count, f"a count from 1 to {most}")
            case ops.Each(count, _):
                element = self.structs.array_of(ty, count)
                require(element is not None, 64, path, ty, "an array of as many elements")

    def _effect(self, op: ops.Op, types: list[Type], path: str) -> Type:
        """Put, Emit and Exchange."""
        match op:
            case ops.Put(index):
                port = self._input(path, index)
                require(self._is_memory(index), 59, path, port.name, "a memory")
                address = index_type(port.shape)
                require(types[0] == address, 59, path, types[0], str(address))
                require(types[1] == port.element, 59, path, types[1], str(port.element))
                return types[1]
            case ops.Emit():
                self.check_pair(types[0], path)
                combine = self.manifest.mode.combine
                scalars = self.structs.scalars(self.manifest.results[0].element)
                free = combine is not None and combine.order_free_words(scalars)
                require(free, 61, path, f"Emit under {combine}", "an order-free rule")
                return types[0]
        require(types[1] == Type.INT, 69, path, types[1], "an Int lane")
        return types[0]

    def check_pair(self, ty: Type, path: str) -> None:
        """Rule 60: a scatter's pair is a record of an address into the output and a value."""
        port = self.manifest.results[0]
        pair = (index_type(port.shape), port.element)
        is_record = ty.is_struct and self.structs.element(ty) is None
        found = self.structs.parts(ty)
        expected = f"a record of {pair[0]} and {pair[1]}"
        require(is_record and found == pair, 60, path, ty, expected)

    def _read(self, op: ops.Op, types: list[Type], path: str) -> Type:
        """The operations on the element and the inputs."""
        match op:
            case ops.Coord():
                grid = f"{Shape.GRID.value} or {Shape.VOLUME.value}"
                require(self.domain is not Shape.ROWS, 42, path, self.domain.value, grid)
                return index_type(self.domain)
            case ops.Domain():
                return index_type(self.domain)
            case ops.Sample(index):
                return self._own(path, index).element
            case ops.At(index, _):
                port = self._input(path, index)
                self._check_address(44, index_type(port.shape), types[0], path)
                return port.element
            case ops.AtLinear(index, _):
                port = self._input(path, index)
                self._check_address(68, linear_index_type(port.shape), types[0], path)
                floats = self.structs.scalars(port.element) == {Type.FLOAT}
                require(floats, 68, path, port.element, "an input whose words are Floats")
                return port.element
            case ops.Part(index, at, steps):
                if at is None:
                    self._limit_roles(_ENTRY_ONLY, "Part without an address", path)
                    return self._path(self._own(path, index).element, steps, types, path)
                port = self._input(path, index)
                self._check_address(44, index_type(port.shape), types[0], path)
                return self._path(port.element, steps, types[1:], path)
            case ops.Size(index):
                return index_type(self._input(path, index).shape)
            case ops.Count(index):
                self._input(path, index)
        return Type.INT  # Count, Element and Lane

    def _check_address(self, rule: int, expected: Type, found: Type, path: str) -> None:
        require(found == expected, rule, path, found, str(expected))

    def _own(self, path: str, index: int) -> Port:
        """An input that is read at the domain's element."""
        port = self._input(path, index)
        memory = self._is_memory(index)
        require(not memory, 58, path, f"the memory {port.name}", "an input that is no memory")
        domain = self.domain
        require(port.shape is domain, 43, path, port.shape.value, domain.value)
        return port

    def _path(
        self, element: Type, steps: Sequence[ops.Step], indices: Sequence[Type], path: str
    ) -> Type:
        """Where a Part's path leads; ``indices`` are the types of its index steps' values."""
        left = iter(indices)
        for step in steps:
            if isinstance(step, ops.IndexStep):
                element = self._subscript(67, element, next(left), path)
                continue
            parts = self.structs.parts(element)
            index = step.index if isinstance(step, ops.FieldStep) else -1
            require(0 <= index < len(parts), 67, path, index, f"one of {len(parts)} parts")
            element = parts[index]
        return element

    def _subscript(self, rule: int, whole: Type, index: Type, path: str) -> Type:
        part = self.structs.element(whole)
        if part is None:
            raise ValidationError(rule, path, str(whole), "an array, a matrix or a vector")
        require(index == Type.INT, rule, path, index, "an Int index")
        return part

    def _is_memory(self, index: int) -> bool:
        return index >= self.first_memory

    def _input(self, path: str, index: int) -> Port:
        return self._named(path, index, self.manifest.inputs, "input")

    def _named(self, path: str, index: int, among: Sequence[_T], what: str) -> _T:
        limit = f"the number of one of {len(among)} {what}s"
        require(0 <= index < len(among), 29, path, index, limit)
        return among[index]

    def _fitting(self, result: Type | None, types: Sequence[Type], path: str) -> Type:
        if result is None:
            found = ", ".join(map(str, types[:4])) or "no operands"
            raise ValidationError(26, path, found, "operand types that fit the operation")
        return result


def _check_parts(rule: int, path: str, types: Sequence[Type], parts: Sequence[Type]) -> None:
    require(len(types) == len(parts), rule, path, len(types), f"{len(parts)} values")
    for found, expected in zip(types, parts, strict=True):
        require(found == expected, rule, path, found, str(expected))


@cache
def _listed(among: frozenset[Role] | frozenset[ModeKind]) -> str:
    return ", ".join(sorted(item.value for item in among))


_CONTEXT: dict[type[ops.Op], Type] = {
    ops.Time: Type.FLOAT,
    ops.Clock: Type.DOUBLE,
    ops.Rate: Type.FLOAT,
    ops.Queued: Type.INT,
    ops.Pointer: Type.VEC2,
    ops.PointerDown: Type.BOOL,
    ops.Button: Type.BOOL,
    ops.Wheel: Type.VEC2,
    ops.Pads: Type.INT,
    ops.Stick: Type.VEC2,
    ops.Window: Type.VEC2,
    ops.Scale: Type.FLOAT,
    ops.Key: Type.BOOL,
    ops.Typed: Type.INT,
}
"""What the operations on the host's context give."""
