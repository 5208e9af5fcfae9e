"""Checks one function of a module: rules 12 to 24 and 35 to 37, 56 and 65 of ``validate.py``, and
through ``check_operation.py`` those of its operations; without recursion.

In: the function, the module's manifest and checked structs, and the checks of the functions below.
Out: the function's result type and its size with every call inlined; or a ``ValidationError``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from . import op as ops
from .check_operation import Around, Operations
from .check_structs import Structs
from .limits import MAX_BLOCK_DEPTH, MAX_EXPANDED, MAX_EXPANDED_DEPTH, MAX_FRAME_WORDS
from .manifest import Manifest
from .mode import ModeKind
from .module import Block, Function, Instruction
from .op_table import OPS, Role
from .types import Type
from .violation import ValidationError, require, require_dotted, shown

_FRAME_LIMIT = f"at most {MAX_FRAME_WORDS} words in the function's arguments and values"
_SIZE_LIMIT = f"at most {MAX_EXPANDED} instructions, calls inlined and Eaches multiplied"


@dataclass(slots=True)
class _Open:
    """A block being walked: the one that ``name`` says of the operation at ``place``."""

    place: str
    name: str
    depth: int
    body: Iterator[Instruction]
    around: Around
    times: int = 1
    """How often the Eaches around it repeat it."""
    result: ops.ValueId | None = None
    yields: Type = Type.BOOL
    yield_rule: int = 0
    own: list[ops.ValueId] = field(default_factory=list)
    """The values defined in the block itself, which nothing after it sees."""
    pending: Instruction | None = None
    """The instruction whose blocks are being walked; it defines its value after them."""

    @property
    def path(self) -> str:
        return self.place + self.name


class FunctionCheck:
    """Checks one function; keeps what its callers need to know of it.

    ``size`` and ``depth`` are of the function with every call inlined. Spend and Look count in
    neither these nor the frame: a module may grow by them after it was accepted."""

    def __init__(
        self,
        manifest: Manifest,
        structs: Structs,
        below: Sequence[FunctionCheck],
        function: Function,
        path: str,
        role: Role,
    ):
        self.manifest = manifest
        self.structs = structs
        self.below = below
        self.function = function
        self.path = path
        self.role = role
        self.operations = Operations(manifest, structs, function, role, below)
        self.types: list[Type] = []
        self.visible: list[bool] = []
        self.frame_words = 0
        self.size = 0
        self.depth = 0
        self.result = Type.FLOAT

    @property
    def roles(self) -> frozenset[Role]:
        """The roles of functions that may call this one, by what it and those it calls hold."""
        return self.operations.roles

    def run(self) -> None:
        function, path = self.function, self.path
        require_dotted(12, f"{path}.name", function.name)
        for k, ty in enumerate(function.args):
            require(self.structs.known(ty), 12, f"{path}.args.{k}", ty, "a type that exists")
            self._hold(ty, f"{path}.args.{k}")
        self._check_arguments()
        self._walk()
        self._check_results()
        for k, (id, name) in enumerate(function.bindings):
            where = f"{path}.bindings.{k}"
            require(0 <= id < len(self.types), 16, where, id, "a value of the function")
            require_dotted(16, where, name)

    def _check_arguments(self) -> None:
        args, path = self.function.args, f"{self.path}.args"
        ty = self.manifest.results[0].element
        match self.role:
            case Role.ENTRY:
                require(not args, 13, path, len(args), "no arguments")
            case Role.MERGE:
                require(args == (ty, ty), 56, path, len(args), f"two arguments of type {ty}")
            case Role.INIT:
                require(not args, 56, path, len(args), "no arguments")

    def _check_results(self) -> None:
        results, path = self.function.results, f"{self.path}.results"
        outputs = self.manifest.results
        if self.role is Role.ENTRY:
            require(len(results) == len(outputs), 13, path, len(results), str(len(outputs)))
        else:
            require(len(results) == 1, 14, path, len(results), "one result")
        for k, id in enumerate(results):
            where = f"{path}.{k}"
            ty = self._read(15, where, id, "a value of the top-level block")
            if self.role is Role.HELPER:
                self.result = ty
            elif self.role is not Role.ENTRY:
                require(ty == outputs[k].element, 56, where, ty, str(outputs[k].element))
            elif self.manifest.mode.kind is ModeKind.SCATTER:
                self.operations.check_pair(ty, where)
            else:
                require(ty == outputs[k].element, 13, where, ty, str(outputs[k].element))

    # The walk: an explicit stack of open blocks, each instruction met once, in pre-order.

    def _walk(self) -> None:
        scan = self.role is Role.ENTRY and self.manifest.mode.kind is ModeKind.SCAN
        carried = self.manifest.results[0].element if scan else None
        stack = [_Open(self.path, "", 0, iter(self.function.body), Around(carried, scan))]
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
            self._enter(instruction, path, block)
            self._check_operation(instruction, path, block)
            inner = self._inner(instruction, path, block)
            if inner:
                block.pending = instruction
                stack.extend(reversed(inner))
            else:
                self._define(block, instruction)

    def _enter(self, instruction: Instruction, path: str, block: _Open) -> None:
        """Takes in an instruction's id and type; counts it."""
        id = instruction.id
        if id != len(self.types):
            raise ValidationError(20, path, f"%{shown(id)}", f"%{len(self.types)}")
        require(self.structs.known(instruction.ty), 24, path, instruction.ty, "a type that exists")
        self.types.append(instruction.ty)
        self.visible.append(False)
        if isinstance(instruction.op, (ops.Spend, ops.Look)):
            return
        self._hold(instruction.ty, path)
        self._expand(block.times, path)

    def _hold(self, ty: Type, path: str) -> None:
        self.frame_words += self.structs.words(ty)
        require(self.frame_words <= MAX_FRAME_WORDS, 17, path, "more", _FRAME_LIMIT)

    def _expand(self, instructions: int, path: str) -> None:
        self.size += instructions
        require(self.size <= MAX_EXPANDED, 18, path, "more", _SIZE_LIMIT)

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
        if not (0 <= id < len(self.types) and self.visible[id]):
            raise ValidationError(rule, path, f"%{shown(id)}", expected)
        return self.types[id]

    def _check_operation(self, instruction: Instruction, path: str, block: _Open) -> None:
        op = instruction.op
        require(type(op) in OPS, 25, path, type(op).__name__, "an operation of op.py")
        before = "a value defined before it, in its block or one around it"
        types = [self._read(21, path, id, before) for id in op.operands()]
        self.operations.check(instruction, types, path, block.around)
        if isinstance(op, ops.Call):
            callee = self.below[op.function]
            self._expand(callee.size * block.times, path)
            self._deepen(block.depth + 1 + callee.depth, path)

    def _inner(self, instruction: Instruction, path: str, block: _Open) -> list[_Open]:
        """The blocks of an operation, opened, in order."""
        op, ty = instruction.op, instruction.ty
        nested: list[tuple[str, Block, Around, int, Type, int]] = []
        match op:
            case ops.If(_, then, otherwise):
                nested.append(("then", then, block.around, 1, ty, 35))
                nested.append(("otherwise", otherwise, block.around, 1, ty, 35))
            case ops.Match(_, arms, otherwise):
                for k, (_, arm) in enumerate(arms):
                    nested.append((f"arms.{k}", arm, block.around, 1, ty, 35))
                nested.append(("otherwise", otherwise, block.around, 1, ty, 35))
            case ops.Loop(until=until, body=body):
                inside = Around(ty, True)
                if until is not None:
                    nested.append(("until", until, inside, 1, Type.BOOL, 37))
                nested.append(("body", body, inside, 1, ty, 36))
            case ops.Each(count, body):
                element = self.structs.element(ty) or ty
                inside = Around(block.around.carried, True)
                nested.append(("body", body, inside, count, element, 65))
        if not nested:
            return []
        depth = block.depth + 1
        limit = f"blocks nested at most {MAX_BLOCK_DEPTH} deep"
        require(depth <= MAX_BLOCK_DEPTH, 23, path, f"depth {depth}", limit)
        self._deepen(depth, path)
        return [
            _Open(
                path,
                f".{name}",
                depth,
                iter(inner.body),
                around,
                min(block.times * times, MAX_EXPANDED + 1),
                inner.result,
                yields,
                rule,
            )
            for name, inner, around, times, yields, rule in nested
        ]
