"""Neighbouring words to vectors of one word each, and back, by shuffles.

Four lanes' elements of n words fill n *quarters* of 128 bits. Quarter k of every four lanes stand
in row k, one below the other; a network of shuffles within each quarter changes rows for words. It
never crosses a quarter, so every shuffle is one cheap instruction, and lanes keep their natural
order. The network of three words is that of S. Melax, "3D Vector Normalization Using 256-Bit Intel
AVX", 2011.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from .llvm_ops import Emitter

QUARTER = 4
"""Words of 128 bits."""


class _Network(NamedTuple):
    """Shuffles of two earlier vectors each: the inputs have the first numbers, then each shuffle
    the next. It picks four words a quarter, of the first vector by 0…3, of the second by 4…7."""

    shuffles: tuple[tuple[int, int, tuple[int, int, int, int]], ...]
    outputs: tuple[int, ...]


_EVEN, _ODD = (0, 2, 4, 6), (1, 3, 5, 7)
_LOW, _HIGH = (0, 4, 1, 5), (2, 6, 3, 7)
_TRANSPOSE = _Network(
    (
        *((a, a + 1, picked) for a in (0, 2) for picked in (_LOW, _HIGH)),
        *((a, a + 2, picked) for a in (4, 5) for picked in ((0, 1, 4, 5), (2, 3, 6, 7))),
    ),
    (8, 9, 10, 11),
)
_TO_WORDS = {
    2: _Network(((0, 1, _EVEN), (0, 1, _ODD)), (2, 3)),
    3: _Network(
        (
            (1, 2, (2, 3, 5, 6)),  # x2 y2 x3 y3
            (0, 1, (1, 2, 4, 5)),  # y0 z0 y1 z1
            (0, 3, (0, 3, 4, 6)),
            (4, 3, (0, 2, 5, 7)),
            (4, 2, (1, 3, 4, 7)),
        ),
        (5, 6, 7),
    ),
    4: _TRANSPOSE,
}
_TO_ROWS = {
    2: _Network(((0, 1, _LOW), (0, 1, _HIGH)), (2, 3)),
    3: _Network(
        (
            (0, 1, _EVEN),  # x0 x2 y0 y2
            (1, 2, _ODD),  # y1 y3 z1 z3
            (2, 0, (0, 2, 5, 7)),  # z0 z2 x1 x3
            (3, 5, _EVEN),
            (4, 3, (0, 2, 5, 7)),
            (5, 4, _ODD),
        ),
        (6, 7, 8),
    ),
    4: _TRANSPOSE,
}


def words_of_rows(
    out: Emitter, scalar: str, rows: Sequence[str], lanes: int, wanted: Iterable[int]
) -> list[str]:
    """The ``wanted`` words of elements in rows of quarters: vectors of ``lanes`` lanes."""
    network = _TO_WORDS[len(rows)]
    return _run(out, scalar, network, rows, lanes, [network.outputs[k] for k in wanted])


def rows_of_words(out: Emitter, scalar: str, words: Sequence[str], lanes: int) -> list[str]:
    """The rows of quarters of elements whose words are given: vectors of ``lanes`` lanes."""
    network = _TO_ROWS[len(words)]
    return _run(out, scalar, network, words, lanes, network.outputs)


def row_of_quarters(out: Emitter, scalar: str, quarters: Sequence[str]) -> str:
    """Vectors of a quarter each, one below the other."""
    parts, lanes = list(quarters), QUARTER
    while len(parts) > 1:
        ty = f"<{lanes} x {scalar}>"
        pairs = zip(parts[::2], parts[1::2], strict=True)
        parts = [out.shuffle(ty, low, high, range(2 * lanes)) for low, high in pairs]
        lanes *= 2
    return parts[0]


def quarters_of_row(out: Emitter, scalar: str, row: str, lanes: int) -> list[str]:
    """The quarters of a row."""
    if lanes == QUARTER:
        return [row]
    ty = f"<{lanes} x {scalar}>"
    return [out.shuffle(ty, row, "poison", range(k, k + QUARTER)) for k in range(0, lanes, QUARTER)]


def _run(
    out: Emitter,
    scalar: str,
    network: _Network,
    inputs: Sequence[str],
    lanes: int,
    wanted: Sequence[int],
) -> list[str]:
    """The vectors of the given numbers; shuffles that none of them needs are not written."""
    first = len(inputs)
    needed = set(wanted)
    for n in range(first + len(network.shuffles) - 1, first - 1, -1):
        if n in needed:
            needed.update(network.shuffles[n - first][:2])
    found = dict(enumerate(inputs))
    ty, quarters = f"<{lanes} x {scalar}>", range(0, lanes, QUARTER)
    for n, (a, b, picked) in enumerate(network.shuffles, first):
        if n in needed:
            mask = [
                q + k % QUARTER + (lanes if k >= QUARTER else 0) for q in quarters for k in picked
            ]
            found[n] = out.shuffle(ty, found[a], found[b], mask)
    return [found[n] for n in wanted]
