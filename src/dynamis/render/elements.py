"""Whole elements of four words to vectors of one word each, and back, by shuffles.

Elements k and k + 4 of eight stand in the halves of one 256-bit vector, and a 4 x 4 transpose in
each half changes words for lanes: it never crosses a half, so every shuffle is one cheap
instruction, and lanes keep their natural order.
"""

from __future__ import annotations

from collections.abc import Sequence

from .llvm_ops import Emitter

_UNPACK = ((0, 8, 1, 9, 4, 12, 5, 13), (2, 10, 3, 11, 6, 14, 7, 15))
_MOVE = ((0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15))


def lanes_from_elements(out: Emitter, scalar: str, elements: Sequence[str]) -> list[str]:
    """Four vectors, of word 0…3 of each element; 8 or 16 elements of type <4 x scalar>."""
    parts = []
    for n in range(0, len(elements), 8):
        rows = [
            _shuffle(out, f"<4 x {scalar}>", elements[n + k], elements[n + k + 4], range(8))
            for k in range(4)
        ]
        parts.append(_transpose(out, scalar, rows))
    if len(parts) == 1:
        return parts[0]
    ty = f"<8 x {scalar}>"
    return [_shuffle(out, ty, low, high, range(16)) for low, high in zip(*parts, strict=True)]


def elements_from_lanes(out: Emitter, scalar: str, words: Sequence[str], lanes: int) -> list[str]:
    """Each lane's element of four words; ``words`` are four vectors of 8 or 16 lanes."""
    elements: list[str] = []
    for n in range(0, lanes, 8):
        rows = list(words)
        if lanes > 8:
            ty = f"<{lanes} x {scalar}>"
            rows = [_shuffle(out, ty, w, "poison", range(n, n + 8)) for w in words]
        pairs = _transpose(out, scalar, rows)
        for half in (0, 4):
            ty, picked = f"<8 x {scalar}>", range(half, half + 4)
            elements += [_shuffle(out, ty, pair, "poison", picked) for pair in pairs]
    return elements


def _shuffle(out: Emitter, ty: str, a: str, b: str, picked: Sequence[int]) -> str:
    mask = ", ".join(f"i32 {k}" for k in picked)
    return out.value(f"shufflevector {ty} {a}, {ty} {b}, <{len(picked)} x i32> <{mask}>")


def _transpose(out: Emitter, scalar: str, rows: Sequence[str]) -> list[str]:
    """Four vectors of two halves of four, transposed within each half; its own inverse."""
    ty = f"<8 x {scalar}>"
    t = [_shuffle(out, ty, rows[k], rows[k + 1], m) for k in (0, 2) for m in _UNPACK]
    return [_shuffle(out, ty, t[k], t[k + 2], m) for k in (0, 1) for m in _MOVE]
