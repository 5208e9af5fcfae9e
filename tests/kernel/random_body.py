"""A random function being made: its instructions, its blocks, and where its values come from.

In: what the functions of a module share (``Source``), the function's role and arguments. Out: the
``Function`` that ``finish`` gives. What statements it holds is said in ``random_statements.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from dynamis.kernel import op
from dynamis.kernel.layout import part_types
from dynamis.kernel.manifest import Manifest, Port, index_type, linear_index_type
from dynamis.kernel.mode import Combine, ModeKind
from dynamis.kernel.module import Block, Function, Instruction, Span
from dynamis.kernel.op_table import OPS, Role
from dynamis.kernel.tables import BinaryOp, Intrinsic, UnaryOp
from dynamis.kernel.types import Numeric, StructDef, Type, Value, elements_of, word_types
from tests.kernel.random_data import INT_MAX, LONG_MAX, random_value
from tests.kernel.scope import Operation, Scope

F, I, B = Type.FLOAT, Type.INT, Type.BOOL  # noqa: E741

OVERFLOWS = (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL)
DIVIDES = (BinaryOp.DIV, BinaryOp.REM, Intrinsic.UDIV, Intrinsic.UREM)
UNTAMED = 0.3
"""How often integer arithmetic takes operands as they come."""
WRITTEN_OUT = 8
"""The most elements that an array built by Construct has."""
CONTEXT: dict[type[op.Op], Type] = {
    op.Time: F, op.Clock: Type.DOUBLE, op.Rate: F, op.Queued: I, op.Pointer: Type.VEC2,
    op.PointerDown: B, op.Button: B, op.Wheel: Type.VEC2, op.Pads: I, op.Stick: Type.VEC2,
    op.Window: Type.VEC2, op.Scale: F, op.Key: B, op.Typed: I,
}  # fmt: skip


@dataclass(frozen=True)
class Helper:
    """A finished helper: its function, what it gives, what a call costs, who may call it."""

    function: Function
    result: Type
    cost: int
    roles: frozenset[Role]


class Source:
    """What the functions of one module share."""

    def __init__(self, rng: Random, scope: Scope, structs: Sequence[StructDef], manifest: Manifest):
        self.rng = rng
        self.scope = scope
        self.structs = structs
        self.manifest = manifest
        self.kind = manifest.mode.kind
        self.domain = manifest.domain
        self.helpers: list[Helper] = []
        self.spans = rng.random() < 0.5
        self.pair: Type | None = None
        """What a scatter's entry gives."""
        self.result: Type | None = None
        """What a scan carries."""

    def any_type(self) -> Type:
        if self.structs and self.rng.random() < 0.2:
            return Type.struct(self.rng.randrange(len(self.structs)))
        return self.rng.choice(self.scope.types)

    @property
    def emits(self) -> bool:
        """Whether the kernel may emit pairs: its rule must be order-free."""
        rule = self.manifest.mode.combine
        element = self.manifest.outputs[0].element
        if self.kind is not ModeKind.SCATTER or rule is None:
            return False
        return rule is not Combine.LAST and rule.order_free(element, self.structs)

    def memories(self) -> range:
        """The numbers of the inputs that are memories."""
        count = len(self.manifest.inputs)
        return range(count - len(self.manifest.memories), count)

    def is_linear(self, port: Port) -> bool:
        """Whether the port can be read between its elements."""
        return set(word_types(self.structs, port.element)) == {F}


class Body:
    """One function being made. Ids are given in pre-order; ``scopes`` hold the values in view."""

    def __init__(self, source: Source, role: Role, args: tuple[Type, ...]):
        self.source = source
        self.rng = source.rng
        self.role = role
        self.args = args
        self.types: list[Type] = []
        self.alike: list[bool] = []
        """Whether each value is the same in every lane of a group, as far as is known here."""
        self.scopes: list[list[int]] = [[]]
        self.blocks: list[list[Instruction]] = [[]]
        self.carried: list[Type] = []
        self.positions: list[bool] = []
        """The Loops and Eaches around: whether the index of each is alike in every lane."""
        self.converged = True
        """Whether every lane of a group comes here alike."""
        self.times = 1
        self.cost = 0

    def finish(self, name: str, results: Sequence[Type]) -> Function:
        ids = tuple(self.recent(ty) for ty in results)
        bound = self.rng.sample(
            range(len(self.types)), self.rng.randint(0, min(3, len(self.types)))
        )
        bindings = tuple((id, f"name{id}") for id in bound)
        return Function(name, self.args, tuple(self.blocks[0]), ids, bindings)

    def may_hold(self, kind: type[op.Op]) -> bool:
        """Whether the operation may stand in this function, in this mode, in this scope."""
        row, source = OPS[kind], self.source
        if kind not in source.scope.operations or self.role not in row.roles:
            return False
        return source.kind in row.modes and (kind is not op.Emit or source.emits)

    def callable(self, helper: Helper) -> bool:
        return self.role in helper.roles

    # Instructions and blocks.

    def reserve(self, ty: Type) -> int:
        self.types.append(ty)
        self.alike.append(False)
        self.cost += self.times
        return len(self.types) - 1

    def place(self, id: int, operation: op.Op) -> int:
        span = Span("random.py", id + 1, 4, 9) if self.source.spans else None
        self.blocks[-1].append(Instruction(id, self.types[id], operation, span))
        self.scopes[-1].append(id)
        self.alike[id] = self._is_alike(operation)
        return id

    def _is_alike(self, operation: op.Op) -> bool:
        """Whether the operation gives every lane of a group the same; in doubt not."""
        if type(operation) in CONTEXT or isinstance(
            operation, (op.Const, op.Param, op.Count, op.Size, op.Domain)
        ):
            return all(self.alike[a] for a in operation.operands())
        if isinstance(operation, op.Index):
            return bool(self.positions) and self.positions[-1]
        if isinstance(
            operation,
            (op.Unary, op.Binary, op.Intrinsic, op.Construct, op.Extract, op.Subscript, op.At),
        ):
            return all(self.alike[a] for a in operation.operands())
        return False

    def emit(self, ty: Type, operation: op.Op) -> int:
        return self.place(self.reserve(ty), operation)

    def open(self) -> None:
        self.scopes.append([])
        self.blocks.append([])

    def close(self, result: int) -> Block:
        self.scopes.pop()
        return Block(tuple(self.blocks.pop()), result)

    # Values.

    def in_view(self) -> list[int]:
        return [id for scope in self.scopes for id in scope]

    def visible(self, ty: Type) -> list[int]:
        return [id for id in self.in_view() if self.types[id] == ty]

    def recent(self, ty: Type) -> int:
        """A value of ``ty``, the newer the likelier."""
        ids = self.visible(ty)
        return self.rng.choice(ids[-3:]) if ids else self.new(ty)

    def value(self, ty: Type) -> int:
        """A value of ``ty``: mostly one there is."""
        ids = self.visible(ty)
        if not ids or self.rng.random() < 0.15:
            return self.new(ty)
        return self.rng.choice(ids[-6:] if self.rng.random() < 0.7 else ids)

    def alike_value(self, ty: Type) -> int:
        """A value of ``ty`` that is the same in every lane of a group."""
        ids = [id for id in self.visible(ty) if self.alike[id]]
        if ids and self.rng.random() < 0.7:
            return self.rng.choice(ids)
        return self.constant(ty, None)

    def new(self, ty: Type) -> int:
        """A new value of ``ty`` from outside the function, or built of parts, or a constant."""
        choices = self._sources(ty)
        if choices and self.rng.random() < 0.8:
            return self.emit(ty, self.rng.choice(choices)())
        return self.built(ty)

    def _sources(self, ty: Type) -> list[Callable[[], op.Op]]:
        """Operations that give a ``ty`` from outside the function; each makes what it reads."""
        source, manifest = self.source, self.source.manifest
        found: list[op.Op] = [op.Arg(k) for k, a in enumerate(self.args) if a == ty]
        found += [op.Param(k) for k, p in enumerate(manifest.params) if p.ty == ty]
        in_scan = self.role is Role.ENTRY and source.kind is ModeKind.SCAN
        if (self.carried and self.carried[-1] == ty) or (
            not self.carried and in_scan and source.result == ty
        ):
            found += [op.Carried()] * 2
        if ty == I and (self.positions or in_scan):
            found.append(op.Index())
        if ty == I:
            found += [kind() for kind in (op.Element, op.Lane) if self.may_hold(kind)]
        if ty == index_type(source.domain):
            found += [op.Domain()] * self.may_hold(op.Domain)
            found += [op.Coord()] * 2 * (self.may_hold(op.Coord) and source.domain.rank > 1)
        made: list[Callable[[], op.Op]] = [lambda o=o: o for o in found]
        made += [
            lambda kind=kind: kind(*(self.value(I) for _ in OPS[kind].slots))
            for kind, gives in CONTEXT.items()
            if gives == ty and self.may_hold(kind)
        ]
        for k in range(len(manifest.inputs)):
            made += self._reads(k, ty)
        return made

    def _reads(self, k: int, ty: Type) -> list[Callable[[], op.Op]]:
        """Reads of input ``k`` that give a ``ty``, its parts not included."""
        port = self.source.manifest.inputs[k]
        made: list[Callable[[], op.Op]] = []
        if ty == I and self.may_hold(op.Count):
            made.append(lambda: op.Count(k))
        if ty == index_type(port.shape) and self.may_hold(op.Size):
            made.append(lambda: op.Size(k))
        if port.element != ty:
            return made
        if self.may_hold(op.Sample) and self.is_own(k):
            made += [lambda: op.Sample(k)] * 2
        if self.may_hold(op.At):
            made += [lambda: op.At(k, self.value(index_type(port.shape)))] * 2
        if self.may_hold(op.AtLinear) and self.source.is_linear(port):
            made += [lambda: op.AtLinear(k, self.value(linear_index_type(port.shape)))] * 2
        return made

    def is_own(self, k: int) -> bool:
        """Whether input ``k`` has an element of this element's own."""
        port = self.source.manifest.inputs[k]
        return port.shape is self.source.domain and k not in self.source.memories()

    def built(self, ty: Type) -> int:
        """A new value of ``ty``: built of parts, or a constant."""
        structs = self.source.structs
        parts = part_types(structs, ty)
        if ty.is_struct and structs[ty.index].is_array and len(self.scopes) < 8:
            if len(parts) > WRITTEN_OUT or self.rng.random() < 0.5:
                return self.each(ty)
        often = 0.4 if not ty.is_struct else 0.7 if self.source.scope.structured else 1.0
        if parts and len(parts) <= WRITTEN_OUT and self.rng.random() < often:
            return self.emit(ty, op.Construct(tuple(self.value(part) for part in parts)))
        return self.constant(ty, None)

    def each(self, ty: Type) -> int:
        """An array whose elements a block makes."""
        found = elements_of(self.source.structs, ty)
        assert found is not None
        element, count, _ = found
        id = self.reserve(ty)
        self.times *= count
        self.positions.append(self.converged)
        self.open()
        if self.rng.random() < 0.7:
            self.emit(I, op.Index())
        body = self.close(self.value(element) if self.rng.random() < 0.5 else self.new(element))
        self.positions.pop()
        self.times //= count
        return self.place(id, op.Each(count, body))

    def constant(self, ty: Type, number: Numeric | None) -> int:
        if number is None:
            value = random_value(self.rng, ty, self.source.structs)
        else:
            value = Value.of(ty, [number] * ty.lanes)
        return self.emit(ty, op.Const(value))

    # Integers brought into bounds, so that most of what is computed does not fail.

    def tame(self, id: int, mask: int) -> int:
        """An integer value (Int, Long or a vector of Ints) brought into 0 … mask."""
        limit = self.constant(self.types[id].component, mask)
        return self.emit(self.types[id], op.Binary(BinaryOp.BIT_AND, id, limit))

    def nonzero(self, id: int) -> int:
        one = self.constant(self.types[id].component, 1)
        return self.emit(self.types[id], op.Binary(BinaryOp.BIT_OR, self.tame(id, 15), one))

    def operands(self, operation: Operation, types: Sequence[Type]) -> list[int]:
        """Values for an operation's operands, integers mostly such that it does not fail."""
        ids = [self.value(ty) for ty in types]
        kind = types[0].component
        if kind not in (I, Type.LONG) or self.rng.random() < UNTAMED:
            return ids
        if operation in OVERFLOWS:
            masks = (255, 4095, 32767) if kind == I else (255, 2**20 - 1, 2**31 - 1)
            return [self.tame(id, self.rng.choice(masks)) for id in ids]
        if operation in DIVIDES:
            return [ids[0], self.nonzero(ids[1])]
        if operation in (UnaryOp.NEG, Intrinsic.ABS):
            return [self.tame(ids[0], INT_MAX if kind == I else LONG_MAX)]
        if operation is Intrinsic.TO_INT:
            return [self.tame(ids[0], INT_MAX)] if kind == Type.LONG else ids
        return ids
