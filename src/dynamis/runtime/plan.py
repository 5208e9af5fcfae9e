"""How a run is cut into blocks: see ``codegen.split``. ``native_call`` cuts in the same way.

In: an estimate of an element's work, the domain and the threads. Out: the words of the cut.
"""

from __future__ import annotations

import math
from typing import NamedTuple

_BLOCK_WORK = 2**22
"""Operations a block should hold: long beside taking it, short beside a run."""
BLOCKS_A_THREAD = 64
"""Blocks that a thread should have, so that none waits long for the last ones."""
PARTS_A_THREAD = 8
"""Parts of the blocks that are left, a thread, of which it takes one at a time."""
_SEGMENT_WORK, _SEGMENT_STEPS = 2**16, 8
"""Operations from which a segment of a row is long beside starting it, and steps from which it is
whatever they do."""


class Plan(NamedTuple):
    """The cut of a domain, by the names of the program's scalars."""

    segments: int
    segment_columns: int
    units: int
    unit_block: int
    blocks: int


def most_elements(typical: int) -> int:
    """The most elements of a block, where each takes about ``typical`` operations."""
    return max(_BLOCK_WORK // typical, 1)


def least_columns(typical: int, width: int) -> int:
    """The fewest columns of a segment of a row, whole steps of ``width``."""
    return width * min(-(-_SEGMENT_WORK // (typical * width)), _SEGMENT_STEPS)


def plan(
    typical: int, extent: tuple[int, ...], threads: int, width: int, together: int = 1
) -> Plan:
    """The cut of a domain for so many threads, in steps of ``width`` columns, ``together`` rows in
    a unit."""
    rows, columns = math.prod(extent[:-1]), extent[-1]
    share = max(rows * columns // (BLOCKS_A_THREAD * threads), 1)
    wanted = min(most_elements(typical), share)
    segments = max(min(-(-columns // wanted), columns // least_columns(typical, width)), 1)
    each = columns if segments == 1 else columns // segments // width * width
    segments = columns // each
    units = -(-rows // together) * segments
    unit_block = max(wanted * segments // (columns * together), 1)
    return Plan(segments, each, units, unit_block, -(-units // unit_block))
