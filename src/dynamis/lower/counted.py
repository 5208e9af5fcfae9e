"""Loops that count, in a run of a module whose work is counted.

In: a Loop of an accounted module. Out: how a run may have it. Passes on the Kernel IR leave such a
module's loops alone, and a search has them as they were written; a run only says whether something
failed, so it may add up work in any order, as long as too much is found in the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..kernel import op as ir
from ..kernel.module import Block
from ..kernel.optimize_walk import UNROLLED_COUNT, UNROLLED_SIZE
from ..kernel.work import block_work


def is_small(loop: ir.Loop) -> bool:
    """Whether a run writes a loop out: few iterations, their number written, of a short body."""
    if loop.bound is not None or loop.until is not None:
        return False
    return loop.count <= UNROLLED_COUNT and loop.count * _size(loop.body) <= UNROLLED_SIZE


def _size(block: Block) -> int:
    """The instructions of a block, small loops written out; too many where one is not small."""
    total = 0
    for instruction in block.body:
        match instruction.op:
            case ir.Loop() as loop if is_small(loop):
                total += loop.count * _size(loop.body)
            case ir.Loop() | ir.Call():
                total += UNROLLED_SIZE + 1
            case other:
                total += 1 + sum(map(_size, other.blocks()))
    return total


def counts_ahead(loop: ir.Loop, functions: Sequence[int]) -> bool:
    """Whether how much a loop spends is known before it runs: it ends by its count alone and runs
    no loop inside. ``functions`` is ``functions_work``."""
    return loop.until is None and block_work(loop.body, functions) == 0
