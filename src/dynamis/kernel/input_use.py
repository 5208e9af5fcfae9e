"""How a kernel uses its inputs: what decides whether another kernel's body can stand in for one.

In: a valid module and the number of an input. Out: ``InputUse`` and answers built on it; and
``extent_params``, which makes an input's count and size parameters, so that nothing but its
elements is read of it. Functions that nothing calls count too, as they do for capabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import IntEnum

from . import op as ops
from .module import Function, Instruction, Module, Param, Port, index_type
from .tables import BinaryOp, UnaryOp
from .types import Numeric, Type, template

Offset = tuple[Numeric, ...]
"""Whole elements from the current one: (rows), (columns, rows) or (x, y, z)."""


class InputUse(IntEnum):
    """The most that a kernel asks of one of its inputs; each is harder to meet than those before.

    UNUSED: nothing. COUNTED: only its count or size. SAMPLED: its element at the current
    coordinate. OFFSET: elements a constant away from it. INDEXED: elements at computed addresses,
    all of them as the base of a scatter, or writes as a memory. LINEAR: values between elements.
    """

    UNUSED = 0
    COUNTED = 1
    SAMPLED = 2
    OFFSET = 3
    INDEXED = 4
    LINEAR = 5


def input_use(module: Module, input: int) -> InputUse:
    """The hardest use of input ``input`` anywhere in the module."""
    manifest = module.manifest
    if manifest.mode.base == input or manifest.inputs[input].name in manifest.memories:
        use = InputUse.INDEXED
    else:
        use = InputUse.UNUSED
    for function in module.all_functions():
        for instruction, offset in _reads(function, input):
            use = max(use, _use(instruction.op, offset))
    return use


def _use(op: ops.Op, offset: Offset | None) -> InputUse:
    match op:
        case ops.Count() | ops.Size():
            return InputUse.COUNTED
        case ops.Sample() | ops.Part(at=None):
            return InputUse.SAMPLED
        case ops.At() | ops.Part():
            return InputUse.INDEXED if offset is None else InputUse.OFFSET
        case ops.AtLinear():
            return InputUse.LINEAR
    return InputUse.INDEXED


def _reads(function: Function, input: int) -> list[tuple[Instruction, Offset | None]]:
    """The instructions of a function that name the input, each with its constant offset."""
    named = (ops.Count, ops.Size, ops.Sample, ops.Part, ops.At, ops.AtLinear, ops.Put)
    found: list[tuple[Instruction, Offset | None]] = []
    defined: dict[ops.ValueId, Instruction] = {}
    for instruction in function.instructions():
        defined[instruction.id] = instruction
        if isinstance(instruction.op, named) and instruction.op.input == input:
            found.append((instruction, _offset(instruction.op, defined)))
    return found


def offset_read(function: Function, id: ops.ValueId) -> Offset | None:
    """The constant c where value ``id`` is an element read ``at(coord() + c)`` (over rows,
    ``at(element() + c)``); None where it is another value, or its address another.

    ``c`` may stand on either side, be taken away or be zero; over a grid it is (columns, rows)."""
    defined = {instruction.id: instruction for instruction in function.instructions()}
    return _offset(defined[id].op, defined) if id in defined else None


def _offset(op: ops.Op, defined: dict[ops.ValueId, Instruction]) -> Offset | None:
    address = op.address if isinstance(op, ops.At) else op.at if isinstance(op, ops.Part) else None
    if address is None:
        return None
    at = defined[address]
    if isinstance(at.op, (ops.Coord, ops.Element)):
        return (0.0,) * at.ty.lanes if at.ty.is_vector else (0,)
    if not isinstance(at.op, ops.Binary) or at.op.op not in (BinaryOp.ADD, BinaryOp.SUB):
        return None
    a, b = defined[at.op.a], defined[at.op.b]
    if isinstance(b.op, (ops.Coord, ops.Element)) and at.op.op is BinaryOp.ADD:
        a, b = b, a
    if not isinstance(a.op, (ops.Coord, ops.Element)):
        return None
    numbers = _numbers(b, defined)
    if numbers is None:
        return None
    sign = 1 if at.op.op is BinaryOp.ADD else -1
    return tuple(sign * n for n in numbers * (at.ty.lanes // len(numbers)))


def _numbers(
    value: Instruction, defined: dict[ops.ValueId, Instruction]
) -> tuple[Numeric, ...] | None:
    """The numbers of a constant, of one built of scalar constants, or of one of these negated."""
    match value.op:
        case ops.Const(constant) if not constant.ty.is_struct:
            return constant.numbers
        case ops.Construct(parts) if value.ty.is_vector:
            made: list[Numeric] = []
            for part in parts:
                numbers = _scalar(defined[part], defined)
                if numbers is None:
                    return None
                made += numbers
            return tuple(made)
        case ops.Unary(UnaryOp.NEG, a):
            inner = defined[a]
            if isinstance(inner.op, ops.Const) and not inner.ty.is_struct:
                return tuple(-n for n in inner.op.value.numbers)
    return None


def _scalar(
    value: Instruction, defined: dict[ops.ValueId, Instruction]
) -> tuple[Numeric, ...] | None:
    return None if isinstance(value.op, ops.Construct) else _numbers(value, defined)


def counted(module: Module, input: int) -> bool:
    """Whether the kernel reads how many elements the input has, or its extent."""
    return any(
        isinstance(instruction.op, (ops.Count, ops.Size))
        for function in module.all_functions()
        for instruction, _ in _reads(function, input)
    )


def counts_only(module: Module, input: int) -> bool:
    """Whether the kernel reads the input's count or size, and none of its elements."""
    return input_use(module, input) is InputUse.COUNTED


def samples_only(module: Module, input: int) -> bool:
    """Whether each element the kernel reads of the input is the one at the current coordinate."""
    return input_use(module, input) <= InputUse.SAMPLED


def extent_params(module: Module, input: int) -> Module:
    """``module`` with what it reads of the input's extent made parameters, which whoever runs it
    gives: ``<input>_count``, an Int, and ``<input>_size``, of the input's index type; each where it
    is read, after the other parameters, with a default of zero. The input stays."""
    manifest = module.manifest
    port = manifest.inputs[input]
    kinds = {
        kind
        for function in module.all_functions()
        for instruction, _ in _reads(function, input)
        if isinstance(instruction.op, (ops.Count, ops.Size))
        for kind in (type(instruction.op),)
    }
    params = list(manifest.params)
    numbers: dict[type[ops.Op], int] = {}
    used = names_of(manifest.inputs, manifest.params)
    for kind, what, ty in (
        (ops.Count, "count", Type.INT),
        (ops.Size, "size", index_type(port.shape)),
    ):
        if kind in kinds:
            name = f"{port.name}_{what}"
            while name in used:
                name += "_"
            numbers[kind] = len(params)
            params.append(Param(name, ty, template(ty)))

    def changed(op: ops.Op) -> ops.Op:
        if isinstance(op, (ops.Count, ops.Size)) and op.input == input:
            return ops.Param(numbers[type(op)])
        return op

    functions = [mapped(function, changed) for function in module.all_functions()]
    made = module.with_functions(functions)
    return replace(made, manifest=replace(manifest, params=tuple(params)))


def names_of(ports: Sequence[Port], params: Sequence[Param]) -> set[str]:
    """The names that inputs and parameters take together."""
    return {port.name for port in ports} | {param.name for param in params}


def mapped(function: Function, change: Callable[[ops.Op], ops.Op]) -> Function:
    """The function with each operation replaced by what ``change`` makes of it, its blocks done
    before; recurses over blocks, which nest at most ``MAX_BLOCK_DEPTH`` deep."""

    def body(old: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
        made: list[Instruction] = []
        for instruction in old:
            op = instruction.op
            blocks = op.blocks()
            if blocks:
                op = op.with_blocks([replace(block, body=body(block.body)) for block in blocks])
            made.append(replace(instruction, op=change(op)))
        return tuple(made)

    return replace(function, body=body(function.body))
