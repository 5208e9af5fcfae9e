"""Random pairs of kernels that mostly fuse: a producer and the consumer of its one output, or two
maps over one domain.

At most one of a pair fails, mostly; every loop of both is short as written, so that their budgets
are sure to last.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from dynamis.kernel import op
from dynamis.kernel.fuse_parts import joined_structs, sized_by, written_work
from dynamis.kernel.input_use import InputUse, input_use, mapped
from dynamis.kernel.layout import part_types
from dynamis.kernel.manifest import Port, PortType, Shape
from dynamis.kernel.mode import ModeKind
from dynamis.kernel.module import Instruction, Module
from dynamis.kernel.tables import BinaryOp, Intrinsic
from dynamis.kernel.types import StructDef, Type, Value
from tests.kernel.scope import TOTAL, WHOLE, Scope
from tests.kernel.strategies import random_module

MOST_TRIPS = 6


def random_wire(rng: Random, indexed: bool) -> tuple[Module, Module, int]:
    """A producer, a consumer, and the consumer's input that the producer is for: one that it reads
    at addresses where ``indexed``, else one that it samples at the most."""
    first, second = _scopes(rng)
    modes = tuple(kind for kind in ModeKind if kind is not ModeKind.GROUP)
    second = replace(second, modes=modes)
    while True:
        consumer = _short(random_module(rng, rng.randint(8, 30), second))
        fits = [k for k in range(len(consumer.manifest.inputs)) if _may_be_wired(consumer, k)]
        fits = [k for k in fits if (input_use(consumer, k) > InputUse.SAMPLED) == indexed]
        if fits:
            break
    number = rng.choice(fits)
    inputs = list(consumer.manifest.inputs)
    plain = replace(inputs[number].ty, encoding=None)
    inputs[number] = replace(inputs[number], ty=plain)
    consumer = replace(consumer, manifest=replace(consumer.manifest, inputs=tuple(inputs)))
    producer = _map(rng, first, plain.shape)
    if consumer.manifest.mode.kind is not ModeKind.MAP:
        while sized_by(producer.manifest) != 0:
            producer = _map(rng, first, plain.shape)
    return _giving(rng, producer, plain, consumer.structs), consumer, number


def _may_be_wired(consumer: Module, input: int) -> bool:
    manifest = consumer.manifest
    port = manifest.inputs[input]
    free = port.name not in manifest.memories and manifest.mode.base != input
    sizes = manifest.mode.kind is ModeKind.MAP or input == 0
    return free and sizes and port.shape is manifest.domain


def random_maps(rng: Random) -> tuple[Module, Module]:
    """Two maps over domains of one shape."""
    shape = rng.choice(tuple(Shape))
    first, second = _scopes(rng)
    return _map(rng, first, shape), _map(rng, second, shape)


def _scopes(rng: Random) -> tuple[Scope, Scope]:
    """What each of a pair is made of: one that may fail and one that cannot, or two of these."""
    scopes = [rng.choice((WHOLE, TOTAL)), TOTAL]
    rng.shuffle(scopes)
    return scopes[0], scopes[1]


def _map(rng: Random, scope: Scope, shape: Shape) -> Module:
    scope = replace(scope, modes=(ModeKind.MAP,))
    if rng.random() < 0.7:
        scope = replace(scope, shapes=(shape,))
    made = random_module(rng, rng.randint(2, 20), scope)
    while made.manifest.domain is not shape:
        made = random_module(rng, rng.randint(2, 20), scope)
    return _short(made)


def _short(module: Module) -> Module:
    """The module with few iterations of each loop, and a budget for them all."""

    def change(operation: op.Op) -> op.Op:
        if isinstance(operation, op.Loop):
            return replace(operation, count=min(operation.count, MOST_TRIPS))
        return operation

    made = module.with_functions([mapped(f, change) for f in module.all_functions()])
    budget = max(1, written_work(made))
    return replace(made, manifest=replace(made.manifest, budget=budget))


def _giving(
    rng: Random, module: Module, wanted: PortType, structs: tuple[StructDef, ...]
) -> Module:
    """The map with one output of another type (of the table ``structs``), made of its results."""
    table, moved = joined_structs(module.structs, structs)
    element = wanted.element
    if element.is_struct:
        element = Type.struct(moved[element.index])
    maker = _Maker(rng, module, table)
    result = maker.value(element)
    entry = replace(module.entry, body=(*module.entry.body, *maker.body), results=(result,))
    outputs = (Port("made", PortType(element, wanted.shape)),)
    manifest = replace(module.manifest, outputs=outputs)
    return replace(module, manifest=manifest, structs=table, entry=entry)


class _Maker:
    """Instructions at the end of an entry that make values of other types from its results."""

    def __init__(self, rng: Random, module: Module, structs: tuple[StructDef, ...]):
        self.rng = rng
        self.structs = structs
        self.next = module.entry.slot_count
        self.body: list[Instruction] = []
        self.made: dict[Type, int] = {}
        self.scalars: list[tuple[int, Type]] = []
        for id in module.entry.results:
            ty = module.entry.type_of(id)
            assert ty is not None
            self._take_apart(id, ty)

    def emit(self, ty: Type, operation: op.Op) -> int:
        self.next += 1
        self.body.append(Instruction(self.next - 1, ty, operation))
        return self.next - 1

    def _take_apart(self, id: int, ty: Type) -> None:
        if ty.is_scalar:
            self.scalars.append((id, ty))
            return
        parts = part_types(self.structs, ty)
        for k in {0, self.rng.randrange(len(parts))}:
            self._take_apart(self.emit(parts[k], op.Extract(id, k)), parts[k])

    def value(self, ty: Type) -> int:
        """A value of ``ty``: at times one there is."""
        if ty in self.made and self.rng.random() < 0.5:
            return self.made[ty]
        if ty.is_scalar:
            made = self._scalar(ty, *self.rng.choice(self.scalars))
        else:
            parts = tuple(self.value(part) for part in part_types(self.structs, ty))
            made = self.emit(ty, op.Construct(parts))
        self.made[ty] = made
        return made

    def _scalar(self, ty: Type, id: int, of: Type) -> int:
        if ty == of:
            return id
        if ty == Type.BOOL:
            zero = self.emit(of, op.Const(Value.of(of, 0)))
            return self.emit(ty, op.Binary(BinaryOp.NOT_EQUAL, id, zero))
        if ty == Type.INT and of == Type.LONG:  # by way of Double, which saturates
            id = self.emit(Type.DOUBLE, op.Intrinsic(Intrinsic.TO_DOUBLE, (id,)))
        to = Intrinsic(f"to_{ty.name.lower()}")
        return self.emit(ty, op.Intrinsic(to, (id,)))
