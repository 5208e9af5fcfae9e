"""The operations of the Kernel IR: one frozen class a variant, host access explicit and named.

An operation refers to values by id; its nested blocks are yielded by ``blocks``, through which
every walk over nested instructions goes. ``op_table.py`` holds what is known of each: its word in
text, typing, meaning, where it may stand, what it asks of the host and how it can fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from .op_base import OneOperand, Op, ValueId
from .op_context import (
    Button,
    Clock,
    Key,
    Pads,
    Pointer,
    PointerDown,
    Queued,
    Rate,
    Scale,
    Stick,
    Time,
    Typed,
    Wheel,
    Window,
)
from .tables import BinaryOp, UnaryOp
from .tables import Intrinsic as IntrinsicName
from .types import Value

if TYPE_CHECKING:
    from .module import Block

# fmt: off
__all__ = [
    "Arg", "At", "AtLinear", "Binary", "BinaryOp", "Button", "Call", "Carried", "Clock", "Const",
    "Construct", "Coord", "Count", "Domain", "Each", "Element", "Emit", "Exchange", "Extract",
    "FieldStep", "If", "Index", "IndexStep", "Intrinsic", "Key", "Lane", "Lanes", "Look", "Loop",
    "Match", "Meet", "Op", "Pads", "Param", "Part", "Pointer", "PointerDown", "Put", "Queued",
    "Rate", "Sample", "Scale", "Size", "Spend", "Step", "Stick", "Subscript", "Time", "Typed",
    "Unary", "UnaryOp", "ValueId", "Wheel", "Window",
]
# fmt: on


class Step:
    """One step from a whole value towards a part, as ``Part`` takes it: ``Step.Field(index)`` or
    ``Step.Index(value)``."""

    __slots__ = ()
    Field: ClassVar[type[FieldStep]]
    Index: ClassVar[type[IndexStep]]


@dataclass(frozen=True, slots=True)
class FieldStep(Step):
    """A field of a struct, column of a matrix or component of a vector: what Extract takes."""

    index: int

    def __str__(self) -> str:
        return f".{self.index:d}"


@dataclass(frozen=True, slots=True)
class IndexStep(Step):
    """The array element, matrix column or vector component at a clamped Int: what Subscript
    takes."""

    value: ValueId

    def __str__(self) -> str:
        return f"[%{self.value:d}]"


Step.Field = FieldStep
Step.Index = IndexStep


@dataclass(frozen=True, slots=True)
class Const(Op):
    """A literal."""

    value: Value


@dataclass(frozen=True, slots=True)
class Param(Op):
    """The kernel parameter at the given manifest index."""

    index: int


@dataclass(frozen=True, slots=True)
class Arg(Op):
    """The current function's argument at the given index."""

    index: int


@dataclass(frozen=True, slots=True)
class Unary(Op):
    """A unary operation."""

    op: UnaryOp
    a: ValueId

    def operands(self) -> tuple[ValueId, ...]:
        return (self.a,)

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        return Unary(self.op, *operands)


@dataclass(frozen=True, slots=True)
class Binary(Op):
    """A binary operation."""

    op: BinaryOp
    a: ValueId
    b: ValueId

    def operands(self) -> tuple[ValueId, ...]:
        return (self.a, self.b)

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        return Binary(self.op, *operands)


@dataclass(frozen=True, slots=True)
class Construct(Op):
    """Build a vector (from components), a matrix (from columns) or a struct (from fields or
    elements); the instruction's type says which."""

    parts: tuple[ValueId, ...]

    def operands(self) -> tuple[ValueId, ...]:
        return self.parts

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        return Construct(tuple(operands))


@dataclass(frozen=True, slots=True)
class Extract(Op):
    """A vector component, matrix column, struct field or array element at a constant index."""

    value: ValueId
    index: int

    def operands(self) -> tuple[ValueId, ...]:
        return (self.value,)

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        return Extract(operands[0], self.index)


@dataclass(frozen=True, slots=True)
class Subscript(Op):
    """The array element, matrix column or vector component at an Int index, clamped into range."""

    value: ValueId
    index: ValueId

    def operands(self) -> tuple[ValueId, ...]:
        return (self.value, self.index)

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        return Subscript(*operands)


@dataclass(frozen=True, slots=True)
class Call(Op):
    """Call helper ``function`` (an index into the module's functions, below the caller's own)."""

    function: int
    args: tuple[ValueId, ...]

    def operands(self) -> tuple[ValueId, ...]:
        return self.args

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        return Call(self.function, tuple(operands))


@dataclass(frozen=True, slots=True)
class Intrinsic(Op):
    """A pure intrinsic."""

    intrinsic: IntrinsicName
    args: tuple[ValueId, ...]

    def operands(self) -> tuple[ValueId, ...]:
        return self.args

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        return Intrinsic(self.intrinsic, tuple(operands))


@dataclass(frozen=True, slots=True)
class If(Op):
    """Yield ``then`` or ``otherwise`` by a Bool; only the taken block runs."""

    condition: ValueId
    then: Block
    otherwise: Block

    def blocks(self) -> tuple[Block, ...]:
        return (self.then, self.otherwise)

    def operands(self) -> tuple[ValueId, ...]:
        return (self.condition,)

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        return replace(self, condition=operands[0])

    def with_blocks(self, blocks: Sequence[Block]) -> Op:
        return If(self.condition, *blocks)


@dataclass(frozen=True, slots=True)
class Match(Op):
    """Yield the arm whose values hold the Int ``scrutinee``, else ``otherwise``; only that block
    runs. No value appears in two arms."""

    scrutinee: ValueId
    arms: tuple[tuple[tuple[int, ...], Block], ...]
    otherwise: Block

    def blocks(self) -> tuple[Block, ...]:
        return (*(block for _, block in self.arms), self.otherwise)

    def operands(self) -> tuple[ValueId, ...]:
        return (self.scrutinee,)

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        return replace(self, scrutinee=operands[0])

    def with_blocks(self, blocks: Sequence[Block]) -> Op:
        arms = tuple((values, b) for (values, _), b in zip(self.arms, blocks[:-1], strict=True))
        return Match(self.scrutinee, arms, blocks[-1])


@dataclass(frozen=True, slots=True)
class Loop(Op):
    """Run ``body`` n times, threading one carried value from ``init``; yields the final value.

    n is ``count`` without ``bound``, else ``bound`` (an Int) clamped to 0…``count``. Before each
    iteration ``until`` is tested on the carried value and stops the loop when it holds.
    """

    count: int
    bound: ValueId | None
    init: ValueId
    until: Block | None
    body: Block

    def blocks(self) -> tuple[Block, ...]:
        return (self.body,) if self.until is None else (self.until, self.body)

    def operands(self) -> tuple[ValueId, ...]:
        return (self.init,) if self.bound is None else (self.bound, self.init)

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        bound = None if self.bound is None else operands[0]
        return replace(self, bound=bound, init=operands[-1])

    def with_blocks(self, blocks: Sequence[Block]) -> Op:
        return replace(self, until=None if self.until is None else blocks[0], body=blocks[-1])


@dataclass(frozen=True, slots=True)
class Each(Op):
    """Build an array of ``count`` elements: ``body`` runs once for each, in order, Index its
    position, and yields that element. Its runs are not loop iterations and count as no work."""

    count: int
    body: Block

    def blocks(self) -> tuple[Block, ...]:
        return (self.body,)

    def with_blocks(self, blocks: Sequence[Block]) -> Op:
        return Each(self.count, *blocks)


@dataclass(frozen=True, slots=True)
class Carried(Op):
    """The carried value of the innermost enclosing Loop (an Each carries none), or, outside any, in
    a scan's entry, the scan's carried value."""


@dataclass(frozen=True, slots=True)
class Index(Op):
    """The iteration of the innermost enclosing Loop or position of the innermost enclosing Each, as
    Int, or, outside both, in a scan's entry, the element index."""


@dataclass(frozen=True, slots=True)
class Coord(Op):
    """The current element's coordinate: Vec2(column, row) over a grid, Vec3(x, y, z) over a volume.
    Entry only; rows have Element instead."""


@dataclass(frozen=True, slots=True)
class Domain(Op):
    """The domain's extent: Int for rows, Vec2(width, height) for a grid, Vec3 for a volume. Entry
    only."""


@dataclass(frozen=True, slots=True)
class Element(Op):
    """The current element's linear index, as Int. Entry only."""


@dataclass(frozen=True, slots=True)
class Lane(Op):
    """The current element's place in its group, 0 … size - 1, as Int. A group's entry only."""


@dataclass(frozen=True, slots=True)
class Exchange(Op):
    """The ``value`` that lane ``lane`` of this group gave at this point, the lane wrapped round the
    group's size. Every lane reaches it alike. A group's entry only."""

    value: ValueId
    lane: ValueId

    def operands(self) -> tuple[ValueId, ...]:
        return (self.value, self.lane)

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        return Exchange(*operands)


@dataclass(frozen=True, slots=True)
class Sample(Op):
    """The element of an input at the current coordinate, clamped to the input's extent. Entry only.

    Host call: field.read."""

    input: int


@dataclass(frozen=True, slots=True)
class At(Op):
    """The element of an input at an address of its index type (Int, Vec2 or Vec3).

    A Float component is floored, NaN counts as 0, then it is clamped. Host call: field.read."""

    input: int
    address: ValueId

    def operands(self) -> tuple[ValueId, ...]:
        return (self.address,)

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        return At(self.input, operands[0])


@dataclass(frozen=True, slots=True)
class Part(Op):
    """Part of one input element, named by a path; a backend reads only the words it names.

    The element is the one ``at`` an address, as At takes it, or else this element's own, as Sample
    reads it (entry only). Host call: field.read."""

    input: int
    at: ValueId | None
    path: tuple[Step, ...]

    def operands(self) -> tuple[ValueId, ...]:
        address = () if self.at is None else (self.at,)
        return (*address, *(step.value for step in self.path if isinstance(step, IndexStep)))

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        left = iter(operands)
        at = None if self.at is None else next(left)
        path = (IndexStep(next(left)) if isinstance(s, IndexStep) else s for s in self.path)
        return Part(self.input, at, tuple(path))


@dataclass(frozen=True, slots=True)
class AtLinear(Op):
    """The input's value at an address of its linear index type (Float, Vec2 or Vec3), interpolated
    linearly along each axis, clamped at the edges. All-Float elements only. Host call: field.read.
    """

    input: int
    address: ValueId

    def operands(self) -> tuple[ValueId, ...]:
        return (self.address,)

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        return AtLinear(self.input, operands[0])


@dataclass(frozen=True, slots=True)
class Count(Op):
    """Number of elements of an input, as Int. Host call: field.read."""

    input: int


@dataclass(frozen=True, slots=True)
class Size(Op):
    """Extent of an input as its index type. Host call: field.read."""

    input: int


@dataclass(frozen=True, slots=True)
class Put(Op):
    """Write ``value`` into a memory (a number of an input) at an address of its index type, in step
    order; later reads see it, an address outside is dropped. Yields the value. A scan's entry only.

    Host call: field.write."""

    input: int
    address: ValueId
    value: ValueId

    def operands(self) -> tuple[ValueId, ...]:
        return (self.address, self.value)

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        return Put(self.input, *operands)


@dataclass(frozen=True, slots=True)
class Emit(OneOperand):
    """Emit one more scatter pair (a record of address and value, as the entry returns). Yields the
    pair. A scatter's entry and its callees, under an order-free rule. Host call: field.write."""

    value: ValueId


@dataclass(frozen=True, slots=True)
class Spend(OneOperand):
    """Yields, as Int, the iterations of the loop just before it (the operand), adding them to the
    element's work unless that loop's own Look does. Placed only by ``account``."""

    value: ValueId


@dataclass(frozen=True, slots=True)
class Look(Op):
    """Checks the element's work, as Bool: true, and a failure, once it passes the kernel's budget
    or its run the host's bound.

    First in a loop's body it also adds that iteration. Placed only by ``account``."""


@dataclass(frozen=True, slots=True)
class Lanes(Op):
    """Run ``body`` once for each lane of the group, in lane order, as that lane; yields the array
    of the lanes' results. A lane that fails is held until the next Meet. Placed only by
    ``lanes``."""

    body: Block

    def blocks(self) -> tuple[Block, ...]:
        return (self.body,)

    def with_blocks(self, blocks: Sequence[Block]) -> Op:
        return Lanes(*blocks)


@dataclass(frozen=True, slots=True)
class Meet(Op):
    """The end of a stretch of the group between exchanges: once a lane has failed, the run fails
    here with the lowest lane held. At an exchange ``value`` is the array of what the lanes give; at
    the entry's end there is none. Yields true. Placed only by ``lanes``."""

    value: ValueId | None

    def operands(self) -> tuple[ValueId, ...]:
        return () if self.value is None else (self.value,)

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        return Meet(operands[0] if operands else None)
