"""The compile benchmark runs, and shows every stage."""

from __future__ import annotations

import time

import pytest

from benchmarks import compile as benchmark
from benchmarks.rows import BY_NAME


def test_every_stage_of_a_row_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    benchmark.report([BY_NAME["gaussian3"]], rounds=1, peer=False, now=time.process_time)
    head, row, last = capsys.readouterr().out.splitlines()
    for stage in benchmark.STAGES:
        assert stage in head
    name, *cells = row.split()
    assert name == "gaussian3"
    assert len(cells) == len(benchmark.STAGES) + len(("rest", "total", "lines"))
    assert all(float(cell) > 0 for cell in cells[: len(benchmark.STAGES)])
    assert last.startswith("median ")


def test_an_unknown_row_is_an_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["compile", "gaussian33"])
    with pytest.raises(SystemExit):
        benchmark.main()
    assert "there is no row 'gaussian33'" in capsys.readouterr().err
