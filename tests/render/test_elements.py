"""The networks of shuffles: rows of quarters to words and back, followed lane by lane."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from dynamis.render.elements import (
    QUARTER,
    quarters_of_row,
    row_of_quarters,
    rows_of_words,
    words_of_rows,
)
from dynamis.render.llvm_ops import Emitter


class Lanes(Emitter):
    """An emitter whose vectors have lanes that are known, by name."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, list[object]] = {}

    def make(self, lanes: Sequence[object]) -> str:
        name = self.fresh()
        self.known[name] = list(lanes)
        return name

    def shuffle(self, ty: str, a: str, b: str, picked: Sequence[int]) -> str:
        first = self.known[a]
        assert ty == f"<{len(first)} x float>"
        second = [None] * len(first) if b == "poison" else self.known[b]
        assert len(first) == len(second)
        self.line("shuffle")
        return self.make([(first + second)[k] for k in picked])


def stored(words: int, lanes: int) -> list[tuple[int, int]]:
    """(lane, word) of each word in memory."""
    return list(itertools.product(range(lanes), range(words)))


def rows_in(out: Lanes, words: int, lanes: int) -> list[str]:
    memory = stored(words, lanes)
    quarters = [out.make(memory[k : k + QUARTER]) for k in range(0, len(memory), QUARTER)]
    return [row_of_quarters(out, "float", quarters[k::words]) for k in range(words)]


@pytest.mark.parametrize("lanes", [4, 8, 16])
@pytest.mark.parametrize("words", [2, 3, 4])
def test_rows_become_words_and_words_rows(words: int, lanes: int) -> None:
    out = Lanes()
    rows = rows_in(out, words, lanes)
    found = words_of_rows(out, "float", rows, lanes, range(words))
    for k, name in enumerate(found):
        assert out.known[name] == [(lane, k) for lane in range(lanes)]
    again = rows_of_words(out, "float", found, lanes)
    assert [out.known[row] for row in again] == [out.known[row] for row in rows]
    quarters = [quarters_of_row(out, "float", row, lanes) for row in again]
    below = [out.known[q] for group in zip(*quarters, strict=True) for q in group]
    assert [word for quarter in below for word in quarter] == stored(words, lanes)


@pytest.mark.parametrize("words", [2, 3, 4])
def test_only_the_shuffles_of_wanted_words_are_written(words: int) -> None:
    full = Lanes()
    words_of_rows(full, "float", rows_in(full, words, 4), 4, range(words))
    for k in range(words):
        out = Lanes()
        rows = rows_in(out, words, 4)
        (name,) = words_of_rows(out, "float", rows, 4, [k])
        assert out.known[name] == [(lane, k) for lane in range(4)]
        assert len(out.lines) < len(full.lines)


def test_no_shuffle_crosses_a_quarter() -> None:
    crossing = []

    class Watching(Lanes):
        def shuffle(self, ty: str, a: str, b: str, picked: Sequence[int]) -> str:
            lanes = len(self.known[a])
            crossing.extend(n for n, k in enumerate(picked) if k % lanes // 4 != n // 4)
            return super().shuffle(ty, a, b, picked)

    out = Watching()
    for words in (2, 3, 4):
        rows = [out.make([(words, k, n) for n in range(16)]) for k in range(words)]
        rows_of_words(out, "float", words_of_rows(out, "float", rows, 16, range(words)), 16)
    assert crossing == []
