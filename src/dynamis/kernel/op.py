"""The operations of the Kernel IR: one frozen class a variant, host access explicit and named.

An operation refers to values by id; its nested blocks are yielded by ``blocks``, through which
every walk over nested instructions goes. The op tables (``tables.py``) give names and typing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .tables import BinaryOp, UnaryOp
from .tables import Intrinsic as IntrinsicName
from .types import Value

if TYPE_CHECKING:
    from .module import Block

ValueId = int
"""Index of a value in its function, in pre-order over instructions, nested blocks included."""


class Op:
    """Base of all operations."""

    __slots__ = ()

    def blocks(self) -> tuple[Block, ...]:
        """The nested blocks in order: an If's two; a Loop's test (where it has one), its body."""
        return ()

    def operands(self) -> tuple[ValueId, ...]:
        """The values the operation itself reads, in order, nested blocks not included."""
        return ()

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        """This operation reading ``operands`` (as many as ``operands()`` gives) instead."""
        return self

    def with_blocks(self, blocks: Sequence[Block]) -> Op:
        """This operation holding ``blocks`` (as many as ``blocks()`` gives) instead."""
        return self


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
    """Build a vector (from components) or a record (from fields), by the instruction's type."""

    parts: tuple[ValueId, ...]

    def operands(self) -> tuple[ValueId, ...]:
        return self.parts

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        return Construct(tuple(operands))


@dataclass(frozen=True, slots=True)
class Extract(Op):
    """A vector component or record field at a constant index."""

    value: ValueId
    index: int

    def operands(self) -> tuple[ValueId, ...]:
        return (self.value,)

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        return Extract(operands[0], self.index)


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
class Carried(Op):
    """The carried value of the innermost enclosing loop."""


@dataclass(frozen=True, slots=True)
class Index(Op):
    """The iteration index of the innermost enclosing loop, as Int."""


@dataclass(frozen=True, slots=True)
class Coord(Op):
    """The current element's coordinate, Vec2(column, row) over a grid. Entry only."""


@dataclass(frozen=True, slots=True)
class Domain(Op):
    """The domain's extent: Int for rows, Vec2(width, height) for a grid. Entry only."""


@dataclass(frozen=True, slots=True)
class Element(Op):
    """The current element's linear index, as Int. Entry only."""


@dataclass(frozen=True, slots=True)
class Sample(Op):
    """The element of an input at the current coordinate, clamped to the input's extent. Entry only.

    Host call: field.read."""

    input: int


@dataclass(frozen=True, slots=True)
class At(Op):
    """The element of an input at an address of its index type (Int over rows, Vec2 over a grid).

    A Float component is floored, NaN counts as 0, then it is clamped. Host call: field.read."""

    input: int
    address: ValueId

    def operands(self) -> tuple[ValueId, ...]:
        return (self.address,)

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        return At(self.input, operands[0])


@dataclass(frozen=True, slots=True)
class Count(Op):
    """Number of elements of an input, as Int. Host call: field.read."""

    input: int


@dataclass(frozen=True, slots=True)
class Size(Op):
    """Extent of an input as its index type. Host call: field.read."""

    input: int


@dataclass(frozen=True, slots=True)
class Spend(Op):
    """Yields, as Int, the iterations of the loop just before it (the operand), adding them to the
    element's work unless that loop's own Look does. Placed only by ``account``."""

    value: ValueId

    def operands(self) -> tuple[ValueId, ...]:
        return (self.value,)

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        return Spend(operands[0])


@dataclass(frozen=True, slots=True)
class Look(Op):
    """Checks the element's work, as Bool: true, and a failure, once it passes the kernel's budget.

    First in a loop's body it also adds that iteration. Placed only by ``account``."""
