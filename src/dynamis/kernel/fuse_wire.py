"""Rewrites the functions of two kernels where one's output becomes the other's input.

In: the functions of a producer (a map of one output) and of a consumer, and what is known of the
wire between them (``Wire``). Out: the producer's entry as a helper that computes its element at any
address, clamped as a read is; and the consumer's functions reading the producer instead of the
input. The functions here recurse over blocks, which nest at most ``MAX_BLOCK_DEPTH`` deep.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from . import op as ops
from .fuse_parts import Transplant
from .manifest import Shape, index_type
from .module import Block, Function, Instruction, Span
from .op import Op, ValueId
from .renumber import renumbered_function
from .tables import BinaryOp
from .tables import Intrinsic as I
from .types import StructDef, Type, Value, part_at


@dataclass(slots=True)
class Writer:
    """Writes instructions with new ids, from ``next`` on. ``alias``: the new value of each old one
    that has another id now."""

    next: int = 0
    alias: dict[ValueId, ValueId] = field(default_factory=dict)

    def emit(self, body: list[Instruction], ty: Type, op: Op, span: Span | None = None) -> ValueId:
        id = self.next
        self.next += 1
        body.append(Instruction(id, ty, op, span))
        return id

    def constant(self, body: list[Instruction], ty: Type, number: float | int) -> ValueId:
        return self.emit(body, ty, ops.Const(Value.of(ty, [number] * ty.lanes)))

    def at(self, id: ValueId) -> ValueId:
        return self.alias[id]

    def rewrite(
        self,
        old: Sequence[Instruction],
        change: Callable[[list[Instruction], Instruction, Op], ValueId | None],
    ) -> list[Instruction]:
        """A block anew. ``change`` takes the block so far, an instruction and its operation reading
        new values; it gives the value that stands for it, or None to keep the instruction."""
        body: list[Instruction] = []
        for instruction in old:
            op = instruction.op
            operands, blocks = op.operands(), op.blocks()
            if operands:
                op = op.with_operands([self.alias[id] for id in operands])
            if blocks:
                op = op.with_blocks([self._block(block, change) for block in blocks])
            made = change(body, instruction, op)
            if made is None:
                made = self.emit(body, instruction.ty, op, instruction.span)
            self.alias[instruction.id] = made
        return body

    def _block(
        self, old: Block, change: Callable[[list[Instruction], Instruction, Op], ValueId | None]
    ) -> Block:
        body = self.rewrite(old.body, change)
        return Block(tuple(body), self.alias[old.result])


# Coordinates and extents as index values.


def clamped(
    writer: Writer, body: list[Instruction], shape: Shape, address: ValueId, extent: ValueId
) -> ValueId:
    """The address of the element that a read ``at`` an address gives: each component floored, NaN
    0, and clamped into 0 … extent - 1."""
    ty = index_type(shape)
    if shape is Shape.ROWS:
        one, zero = writer.constant(body, Type.INT, 1), writer.constant(body, Type.INT, 0)
        last = writer.emit(body, Type.INT, ops.Intrinsic(I.SUB_WRAP, (extent, one)))
        return writer.emit(body, ty, ops.Intrinsic(I.CLAMP, (address, zero, last)))
    floored = writer.emit(body, ty, ops.Intrinsic(I.FLOOR, (address,)))
    parts = []
    for k in range(ty.lanes):
        x = writer.emit(body, Type.FLOAT, ops.Extract(floored, k))
        whole = writer.emit(body, Type.INT, ops.Intrinsic(I.TO_INT, (x,)))  # NaN is 0
        parts.append(writer.emit(body, Type.FLOAT, ops.Intrinsic(I.TO_FLOAT, (whole,))))
    place = writer.emit(body, ty, ops.Construct(tuple(parts)))
    zero = writer.constant(body, Type.FLOAT, 0.0)
    one = writer.constant(body, Type.FLOAT, 1.0)
    last = writer.emit(body, ty, ops.Binary(BinaryOp.SUB, extent, one))
    return writer.emit(body, ty, ops.Intrinsic(I.CLAMP, (place, zero, last)))


def _ints(writer: Writer, body: list[Instruction], vector: ValueId, lanes: int) -> list[ValueId]:
    made = []
    for k in range(lanes):
        x = writer.emit(body, Type.FLOAT, ops.Extract(vector, k))
        made.append(writer.emit(body, Type.INT, ops.Intrinsic(I.TO_INT, (x,))))
    return made


def count_of(writer: Writer, body: list[Instruction], shape: Shape, extent: ValueId) -> ValueId:
    """The number of elements of an extent: below 2**31, so the products do not wrap."""
    if shape is Shape.ROWS:
        return extent
    first, *rest = _ints(writer, body, extent, shape.rank)
    for n in rest:
        first = writer.emit(body, Type.INT, ops.Intrinsic(I.MUL_WRAP, (first, n)))
    return first


def element_of(
    writer: Writer, body: list[Instruction], shape: Shape, place: ValueId, extent: ValueId
) -> ValueId:
    """The linear index of the element at a whole address inside an extent."""
    if shape is Shape.ROWS:
        return place
    places, sizes = (_ints(writer, body, v, shape.rank) for v in (place, extent))
    linear = places[-1]
    for at, size in reversed(list(zip(places[:-1], sizes[:-1], strict=True))):
        row = writer.emit(body, Type.INT, ops.Intrinsic(I.MUL_WRAP, (linear, size)))
        linear = writer.emit(body, Type.INT, ops.Intrinsic(I.ADD_WRAP, (row, at)))
    return linear


def producer_helper(entry: Function, name: str, shape: Shape, moved: Transplant) -> Function:
    """The producer's entry as a helper of an address and the domain's extent: its element at the
    address, which is clamped as a read is.

    ``entry`` is the producer's own; ``moved`` carries it into the whole."""
    writer, index = Writer(), index_type(shape)
    top: list[Instruction] = []
    address = writer.emit(top, index, ops.Arg(0))
    extent = writer.emit(top, index, ops.Arg(1))
    place = clamped(writer, top, shape, address, extent)

    def change(body: list[Instruction], old: Instruction, op: Op) -> ValueId | None:
        match op:
            case ops.Coord():
                return place
            case ops.Element():
                return element_of(writer, body, shape, place, extent)
            case ops.Domain():
                return extent
            case ops.Sample(input):
                op = ops.At(input, place)
            case ops.Part(input, None, path):
                op = ops.Part(input, place, path)
        return writer.emit(body, moved.type(old.ty), moved.op(op), old.span)

    body = writer.rewrite(entry.body, change)
    results = tuple(writer.at(id) for id in entry.results)
    bindings = tuple((writer.at(id), name) for id, name in entry.bindings)
    made = Function(name, (index, index), (*top, *body), results, bindings)
    return renumbered_function(made)


@dataclass(slots=True)
class Wire:
    """A producer in place of input ``input`` of a consumer.

    ``shape``, ``element``: of the port, the element's type in the whole's table ``structs``.
    ``helper``: the producer's helper, None where nothing reads it at an address. ``extended``: the
    consumer's functions (by their own numbers) that take the domain's extent as a last argument.
    ``moved``: how the consumer moves into the whole."""

    input: int
    shape: Shape
    element: Type
    structs: Sequence[StructDef]
    helper: int | None
    extended: set[int]
    moved: Transplant

    @property
    def index(self) -> Type:
        """The type of the domain's extent and of addresses in it."""
        return index_type(self.shape)

    def samples(self, instruction: Instruction) -> bool:
        """Whether a consumer's instruction reads the wired input at the current element."""
        match instruction.op:
            case ops.Sample(self.input) | ops.Part(self.input, None, _):
                return True
        return False

    def rewrite(
        self, function: Function, writer: Writer, own: ValueId | None, extent: Op | None
    ) -> tuple[Function, list[Instruction]]:
        """A consumer's function reading the producer; its body apart.

        ``own``: the producer's value at the current element, where the function is the entry.
        ``extent``: what gives the domain's extent in this function; None where nothing asks."""

        def domain(body: list[Instruction]) -> ValueId:
            assert extent is not None
            return writer.emit(body, self.index, extent)

        def change(body: list[Instruction], old: Instruction, op: Op) -> ValueId | None:
            ty, span = self.moved.type(old.ty), old.span
            match op:
                case ops.Sample(self.input) | ops.Part(self.input, None, ()):
                    assert own is not None
                    return own
                case ops.Part(self.input, None, path):
                    assert own is not None
                    return self._part(writer, body, own, path, span)
                case ops.At(self.input, address):
                    return self._at(writer, body, address, domain(body), span)
                case ops.Part(self.input, int(address), path):
                    whole = self._at(writer, body, address, domain(body), span)
                    return self._part(writer, body, whole, path, span)
                case ops.Size(self.input):
                    return domain(body)
                case ops.Count(self.input):
                    return count_of(writer, body, self.shape, domain(body))
                case ops.Call(callee, args) if callee in self.extended:
                    op = ops.Call(callee, (*args, domain(body)))
            return writer.emit(body, ty, self.moved.op(op), span)

        body = writer.rewrite(function.body, change)
        results = tuple(writer.at(id) for id in function.results)
        bindings = tuple((writer.at(id), name) for id, name in function.bindings)
        args = tuple(map(self.moved.type, function.args))
        return replace(function, args=args, results=results, bindings=bindings), body

    def _at(
        self,
        writer: Writer,
        body: list[Instruction],
        address: ValueId,
        extent: ValueId,
        span: Span | None,
    ) -> ValueId:
        assert self.helper is not None
        return writer.emit(body, self.element, ops.Call(self.helper, (address, extent)), span)

    def _part(
        self,
        writer: Writer,
        body: list[Instruction],
        whole: ValueId,
        path: Sequence[ops.Step],
        span: Span | None,
    ) -> ValueId:
        """A part of the producer's element, taken step by step."""
        ty = self.element
        for step in path:
            op: Op
            if isinstance(step, ops.IndexStep):
                op, k = ops.Subscript(whole, step.value), 0
            else:
                assert isinstance(step, ops.FieldStep)
                op, k = ops.Extract(whole, step.index), step.index
            part = part_at(self.structs, ty, k)
            assert part is not None
            ty = part[1]
            whole = writer.emit(body, ty, op, span)
        return whole


def asks_extent(function: Function, input: int, extended: set[int]) -> bool:
    """Whether a consumer's function needs the domain's extent where ``input`` is wired: it reads
    the input's, or an address in it, or calls one that does."""
    for instruction in function.instructions():
        match instruction.op:
            case ops.Count(index) | ops.Size(index) if index == input:
                return True
            case ops.At(index, _) if index == input:
                return True
            case ops.Part(index, at, _) if index == input and at is not None:
                return True
            case ops.Call(callee, _) if callee in extended:
                return True
    return False
