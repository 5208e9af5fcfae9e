"""Damaged payloads are refused with the documented error only."""

from __future__ import annotations

from dynamis.uop import export, import_
from tests.uop.mutate import corpus, run


def test_every_graph_of_the_corpus_comes_back() -> None:
    for u in corpus():
        assert import_(export(u), keep_slots=True) is u


def test_mutated_payloads_are_refused_or_are_whole_graphs() -> None:
    told = run(count=3000, seed=20261130)
    assert told.total() == 3000
    assert told["a whole graph"] < 1500  # most damage is seen
    assert len(told) >= 10  # and reaches many checks, not the checksum alone
