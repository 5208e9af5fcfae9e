"""Whole elements of four words to vectors of one word each, and back, by shuffles.

Elements k, k + 4, k + 8, … stand in the 128-bit quarters of vector k of four, and a 4 x 4 transpose
in each quarter changes words for lanes: it never crosses a quarter, so every shuffle is one cheap
instruction, and lanes keep their natural order.
"""

from __future__ import annotations

from collections.abc import Sequence

from .llvm_ops import Emitter


def lanes_from_elements(out: Emitter, scalar: str, elements: Sequence[str]) -> list[str]:
    """Four vectors, of word 0…3 of each element; 4, 8 or 16 elements of type <4 x scalar>."""
    rows = []
    for k in range(4):
        quarters, lanes = list(elements[k::4]), 4
        while len(quarters) > 1:
            ty = f"<{lanes} x {scalar}>"
            pairs = zip(quarters[::2], quarters[1::2], strict=True)
            quarters = [out.shuffle(ty, low, high, range(2 * lanes)) for low, high in pairs]
            lanes *= 2
        rows += quarters
    return _transpose(out, scalar, rows, len(elements))


def elements_from_lanes(out: Emitter, scalar: str, words: Sequence[str], lanes: int) -> list[str]:
    """Each lane's element of four words; ``words`` are four vectors of 4, 8 or 16 lanes."""
    rows = _transpose(out, scalar, words, lanes)
    if lanes == 4:
        return rows
    ty = f"<{lanes} x {scalar}>"
    return [
        out.shuffle(ty, row, "poison", range(quarter, quarter + 4))
        for quarter in range(0, lanes, 4)
        for row in rows
    ]


def _transpose(out: Emitter, scalar: str, rows: Sequence[str], lanes: int) -> list[str]:
    """Four vectors, transposed within each quarter of four lanes; its own inverse."""
    ty, quarters = f"<{lanes} x {scalar}>", range(0, lanes, 4)

    def mixed(a: str, b: str, *picked: int) -> str:
        """Four lanes of each quarter: of ``a`` by 0…3, of ``b`` by 4…7."""
        mask = [q + k % 4 + (lanes if k >= 4 else 0) for q in quarters for k in picked]
        return out.shuffle(ty, a, b, mask)

    t = [
        mixed(rows[k], rows[k + 1], *picked)
        for k in (0, 2)
        for picked in ((0, 4, 1, 5), (2, 6, 3, 7))
    ]
    return [
        mixed(t[k], t[k + 2], *picked) for k in (0, 1) for picked in ((0, 1, 4, 5), (2, 3, 6, 7))
    ]
