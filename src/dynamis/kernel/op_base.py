"""What every operation of the Kernel IR is: what it reads, what blocks it holds.

``op.py`` and ``op_context.py`` hold the operations themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .module import Block

ValueId = int
"""Index of a value in its function, in pre-order over instructions, nested blocks included."""


class Op:
    """Base of all operations; ``str`` gives one as module text spells it."""

    __slots__ = ()

    def blocks(self) -> tuple[Block, ...]:
        """The nested blocks in order: an If's two; a Match's arms, then its default; a Loop's test
        (where it has one), then its body; the body of an Each or a Lanes."""
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

    def __str__(self) -> str:
        from .text import operation_text

        return operation_text(self)


class OneOperand(Op):
    """An operation whose one field is the one value it reads."""

    __slots__ = ()

    def operands(self) -> tuple[ValueId, ...]:
        value: ValueId = self.value  # type: ignore[attr-defined]  # each subclass has it
        return (value,)

    def with_operands(self, operands: Sequence[ValueId]) -> Op:
        return type(self)(*operands)
