"""A slice of `python -m tests.uop.exhaustive`: every rule, a graph of each dtype, every pair."""

from __future__ import annotations

import pytest

from dynamis.dtype import Val, int8
from dynamis.uop import Ops, Uop, const_of_dtype, replace
from tests.uop.exhaustive import Made, Subject, main, operations, run, subjects
from tests.uop.graphs import leaf

SEED = 7
SUBJECTS = subjects()
NAMES = [f"{i}: {s.text}" for i, s in enumerate(SUBJECTS)]


def test_arrays_wrap_as_the_ops_do() -> None:
    counts = list(operations(step=61))
    assert len(counts) > 40
    assert [f for c in counts for f in c.failures] == []


@pytest.mark.parametrize(
    "subject", SUBJECTS, ids=[f"{i}: {s.text}" for i, s in enumerate(SUBJECTS)]
)
def test_rule_is_sound_on_every_pair(subject: Subject) -> None:
    print(f"seed {SEED}")
    count = run(subject, graphs=1, tries=1500, seed=SEED)
    assert count.failures == []


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x, y: (x + 1 < y + 1, x < y),  # but for 127
        lambda x, y: (_cdiv(x, y), x // y),  # but where the signs differ
        lambda x, y: ((x << y) >> y, x),
        lambda x, y: ((x // y) * y + x % y, y),
    ],
)
def test_an_unsound_rule_is_noticed(wrong: object) -> None:
    def make(_seed: int, dtype: Val) -> Made:
        return wrong(leaf("x", dtype, (-128, 127)), leaf("y", dtype, (-128, 127)))  # type: ignore[operator]

    def of_bytes(seed: int, _dtype: Val) -> Made:
        return make(seed, int8)

    count = run(Subject("unsound", of_bytes), graphs=1, tries=1, seed=SEED)
    assert count.of_every_pair > 0
    assert "at {" in count.failures[0]


def _cdiv(x: Uop, y: Uop) -> Uop:
    return replace(x, op=Ops.CDIV, src=[x, y], arg=None)


def test_a_rule_that_never_fires_is_noticed() -> None:
    nothing = Subject("nothing", lambda _seed, dtype: (const_of_dtype(dtype, 1), None))
    assert run(nothing, graphs=1, tries=5, seed=SEED).failures == ["it did not fire"]


def test_the_command_prints_what_it_counted(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--graphs", "2", "--tries", "200", "--seed", "3", "--rule", "x ^ x"]) == 0
    out = capsys.readouterr().out
    assert "seed 3" in out
    assert "x ^ x -> 0" in out
    assert "0 failures" in out
