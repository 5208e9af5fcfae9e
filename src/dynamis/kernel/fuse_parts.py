"""What the fusions share: why two kernels cannot become one, and how a part moves into the whole.

In: two valid modules. Out: ``FuseError`` where they do not fit; the fused manifest's names, budget
and struct table; and ``Transplant``, which carries the functions of one part over.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from ..errors import DynamisError
from . import op as ops
from .input_use import mapped
from .limits import MAX_BUDGET, MAX_NAME
from .manifest import KernelId, Manifest, Param, Port
from .mode import ModeKind
from .module import Function, Instruction, Module
from .optimize_facts import can_fail
from .types import Field, StructDef, Type, Value, type_name
from .validate import validate
from .violation import ValidationError
from .work import functions_work

_LIMITS = (17, 18, 19, 46, 47)
"""The rules of ``validate`` that two valid parts can break together: those of size."""


class FuseReason(Enum):
    """Why two kernels cannot be fused; the value says it in words."""

    MODE = "the mode of a part does not fuse"
    OUTPUTS = "the producer has not just one output"
    TYPE = "the wire joins two types"
    ENCODING = "the wire is encoded"
    DOMAIN = "the parts run over two domains"
    MEMORY = "the wired input is written"
    USE = "the consumer does not only read the wired input in the way that fuses"
    EXTENT = "the wired input's extent is read where the domain is not known"
    WORK = "a part's work may pass its budget"
    FAILURE = "which failure comes first could change"
    PLACED = "a part holds its work checks or lanes already"
    LIMIT = "the whole is past a limit of a module"


class FuseError(DynamisError, ValueError):
    """Two kernels cannot be fused: for ``reason``, in one sentence."""

    def __init__(self, reason: FuseReason, producer: Module, consumer: Module, detail: str):
        self.reason = reason
        names = f"{producer.manifest.id} and {consumer.manifest.id}"
        super().__init__(f"{names} do not fuse: {reason.value}: {detail}")


def fused_name(producer: KernelId, consumer: KernelId) -> KernelId:
    """The name of the fusion of two kernels, made from theirs, each with its version:
    ``image.blur.v1.then.image.threshold.v2@1``; a digest of it where it would be too long."""
    name = f"{producer.name}.v{producer.version}.then.{consumer.name}.v{consumer.version}"
    if len(name) > MAX_NAME:
        name = f"fused.h{hashlib.sha256(name.encode()).hexdigest()[:32]}"
    return KernelId(name, 1)


def written_work(module: Module) -> int:
    """The most loop iterations that one element can truly run, every loop at its ``count``, also
    one whose count is read at run time (``worst_work`` holds that to MAX_LOOP_COUNT)."""
    return max(functions_work(replace(module, functions=module.all_functions())))


def check_work(a: Module, b: Module) -> None:
    """Raises FuseError where a part may pass its budget."""
    for part in (a, b):
        work, limit = written_work(part), part.manifest.work_limit
        if work > limit:
            detail = f"{part.manifest.id} may run {work} iterations an element, past {limit}"
            raise FuseError(FuseReason.WORK, a, b, detail)


def check_failures(a: Module, b: Module) -> None:
    """Raises FuseError where both parts may fail."""
    if can_fail(a) and can_fail(b):
        detail = "both hold something that can fail, and one run reports one failure"
        raise FuseError(FuseReason.FAILURE, a, b, detail)


def check_plain(a: Module, b: Module) -> None:
    """Raises FuseError where a part holds what ``account`` or ``lanes`` places."""
    placed = (ops.Spend, ops.Look, ops.Lanes, ops.Meet)
    for part in (a, b):
        for function in part.all_functions():
            if any(isinstance(i.op, placed) for i in function.instructions()):
                detail = f"{part.manifest.id} was accounted; fuse before that"
                raise FuseError(FuseReason.PLACED, a, b, detail)


def sized_by(manifest: Manifest) -> int | None:
    """The number of the input whose extent is the kernel's domain where none is given; None where
    one must be."""
    if manifest.mode.kind not in (ModeKind.MAP, ModeKind.GROUP):
        return 0
    shape = manifest.domain
    return next((k for k, port in enumerate(manifest.inputs) if port.shape is shape), None)


def finished(a: Module, b: Module, fused: Module) -> Module:
    """The fused module with its budget, its worst work, which it can therefore not pass; valid.
    Raises FuseError where it is past a limit, ValidationError where a part was not valid."""
    worst = written_work(fused)
    if worst >= MAX_BUDGET:
        detail = f"together they may run {worst} iterations an element, past {MAX_BUDGET - 1}"
        raise FuseError(FuseReason.WORK, a, b, detail)
    manifest = replace(fused.manifest, budget=max(1, worst))
    try:
        return validate(replace(fused, manifest=manifest)).module
    except ValidationError as error:
        if error.rule not in _LIMITS:
            raise  # a part was no valid module
        raise FuseError(FuseReason.LIMIT, a, b, str(error)) from error


def distinct(names: Sequence[str], kernel: KernelId, used: set[str]) -> list[str]:
    """``names``, each that is ``used`` renamed after its kernel, the dots of both as underscores
    since ports have plain identifiers: ``radius`` of image.blur is ``image_blur_radius``. All are
    used then."""
    prefix = kernel.name.replace(".", "_")
    made = []
    for name in names:
        while name in used:
            name = f"{prefix}_{name}"
        used.add(name)
        made.append(name)
    return made


def joined_structs(
    a: Sequence[StructDef], b: Sequence[StructDef]
) -> tuple[tuple[StructDef, ...], list[int]]:
    """The table ``a`` and what ``b`` has beside it; and where each struct of ``b`` is in it."""
    table = list(a)
    places = {definition: k for k, definition in reversed(list(enumerate(a)))}
    moved: list[int] = []
    for definition in b:
        fields = tuple(Field(f.name, _moved(f.ty, moved)) for f in definition.fields)
        element = definition.element
        name = definition.name
        if element is not None:
            element = _moved(element, moved)
            name = f"[{type_name(element, table)}; {len(fields)}]"
        made = StructDef(name, fields, element)
        if made not in places:
            places[made] = len(table)
            table.append(made)
        moved.append(places[made])
    return tuple(table), moved


def _moved(ty: Type, structs: Sequence[int]) -> Type:
    return Type.struct(structs[ty.index]) if ty.is_struct else ty


@dataclass(frozen=True, slots=True)
class Transplant:
    """How one part moves into the whole. ``structs``, ``inputs``: where each struct and input is
    there (a wired input nowhere: -1); ``params``, ``functions``: where the part's first one is."""

    structs: Sequence[int]
    inputs: Sequence[int]
    params: int
    functions: int

    def type(self, ty: Type) -> Type:
        return _moved(ty, self.structs)

    def port(self, port: Port, name: str) -> Port:
        return Port(name, replace(port.ty, element=self.type(port.element)))

    def param(self, param: Param, name: str) -> Param:
        return Param(name, self.type(param.ty), self.value(param.default))

    def value(self, value: Value) -> Value:
        return Value(self.type(value.ty), value.words)

    def op(self, op: ops.Op) -> ops.Op:
        """An operation (its operands as they are) reading the whole's tables."""
        match op:
            case ops.Const(value):
                return ops.Const(self.value(value))
            case ops.Param(index):
                return ops.Param(index + self.params)
            case ops.Call(function, args):
                return ops.Call(function + self.functions, args)
        input = getattr(op, "input", None)
        return op if input is None else replace(op, input=self.inputs[input])  # type: ignore[type-var]  # every op is a dataclass

    def function(self, function: Function) -> Function:
        """A function that reads nothing of a wire."""
        moved = mapped(function, self.op)
        args = tuple(map(self.type, function.args))
        return replace(moved, args=args, body=self.retyped(moved.body))

    def retyped(self, body: Sequence[Instruction]) -> tuple[Instruction, ...]:
        """A block with the types of its instructions in the whole's table."""
        made: list[Instruction] = []
        for i in body:
            op, blocks = i.op, i.op.blocks()
            if blocks:
                op = op.with_blocks([replace(b, body=self.retyped(b.body)) for b in blocks])
            made.append(Instruction(i.id, self.type(i.ty), op, i.span))
        return tuple(made)
