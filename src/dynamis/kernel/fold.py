"""The one tree of every reduction, and what each rule of Combine does to a word.

The tree: values in order are cut into blocks of REDUCE_BLOCK (the last may be short); in a block,
lane j of REDUCE_LANES folds the values j, j + 32, j + 64 … in order; the lanes then fold pairwise,
j with j + 16, then + 8, + 4, + 2, + 1, a lane without a partner keeping its value; and the row of
the blocks' results is folded by the same rule again, until one value is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from .arithmetic import TABLE, Operation
from .int_arithmetic import INT, LONG, IntArithmetic
from .mode import Combine
from .tables import BinaryOp, Intrinsic
from .types import Numeric, Type

REDUCE_BLOCK = 4096
"""Values that are folded into one before the blocks' results are."""
REDUCE_LANES = 32
"""Runs of values, a lane apart, that a block is folded in."""

T = TypeVar("T")


def fold(values: Sequence[T], merge: Callable[[T, T], T]) -> T:
    """The value that the tree makes of one or more; ``merge`` has the lower values on its left."""
    while len(values) > 1:
        blocks = range(0, len(values), REDUCE_BLOCK)
        values = [_fold_block(values[k : k + REDUCE_BLOCK], merge) for k in blocks]
    return values[0]


def _fold_block(values: Sequence[T], merge: Callable[[T, T], T]) -> T:
    lanes = list(values[:REDUCE_LANES])
    for k in range(REDUCE_LANES, len(values)):
        lane = k % REDUCE_LANES
        lanes[lane] = merge(lanes[lane], values[k])
    distance = REDUCE_LANES // 2
    while distance:
        for lane in range(min(distance, len(lanes) - distance)):
            lanes[lane] = merge(lanes[lane], lanes[lane + distance])
        distance //= 2
    return lanes[0]


_WIDTHS: dict[Type, IntArithmetic] = {Type.INT: INT, Type.LONG: LONG}
_OPERATIONS: dict[Combine, Operation] = {
    Combine.SUM: BinaryOp.ADD,
    Combine.MIN: Intrinsic.MIN,
    Combine.MAX: Intrinsic.MAX,
}


def combine_word(rule: Combine, ty: Type) -> Callable[..., Numeric]:
    """What a rule makes of a word so far and the next one, of scalar type ``ty``.

    A sum of integers is exact: whether the total fits (``total_fits``) is asked of it later."""
    if rule is Combine.LAST:
        return lambda _, word: word
    return TABLE[_OPERATIONS[rule]][ty].evaluate


def total_fits(rule: Combine, ty: Type, total: Numeric) -> bool:
    """Whether a word that the rule has made fits its type; only sums of integers may not."""
    return rule is not Combine.SUM or ty not in _WIDTHS or _WIDTHS[ty].fits(int(total))
