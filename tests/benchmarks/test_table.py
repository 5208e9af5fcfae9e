"""The benchmark's runs and tables: what they say about what they found. Nothing asserts on time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.measure import Measured, Result, Series, Settings, measure
from benchmarks.peers import BY_NAME as PEERS
from benchmarks.rows import BY_NAME as ROWS
from benchmarks.rows import Agreement
from benchmarks.table import BEGIN, END, insert, milliseconds, report, verdict

ROOT = Path(__file__).parents[2]
SAME = Agreement("exact", True)


def series(median: float, name: str = "", agreement: Agreement = SAME) -> Series:
    return Series(name, (median, median * 0.9, median * 1.2), median + 0.2, agreement)


def found(row: str, **seconds: float) -> Measured:
    results = {p: Result(PEERS[p], p, (series(s),), 10**8) for p, s in seconds.items()}
    return Measured(ROWS[row], 64, 16384, results, 0.0)


def test_a_goal_is_reached_beside_the_hand_written_program_of_the_same_run():
    assert verdict(found("raymarch", ours=0.79, hand=1.0)) == "reached"
    assert verdict(found("raymarch", ours=0.81, hand=1.0)) == "BELOW"
    assert verdict(found("raymarch", ours=0.79)) == "no hand C++ here"
    assert verdict(found("raymarch", hand=1.0)) == "—"


def test_only_a_memory_bound_row_may_tie_with_the_best_peer():
    assert verdict(found("grayscale", ours=1.04, hand=1.0, numba=1.0)) == "tie"
    assert verdict(found("grayscale", ours=1.06, hand=1.0, numba=1.0)) == "BELOW"
    assert verdict(found("raymarch", ours=1.04, hand=1.0, numba=1.0)) == "BELOW"


def test_a_formulation_that_does_other_work_is_no_peer():
    wrong = Agreement("50.00% differ", False)
    result = Result(PEERS["numba"], "x", (series(0.1, "fast-math", wrong), series(0.5, "exact")))
    measured = Measured(ROWS["raymarch"], 64, 1, {"numba": result}, 0.0)
    assert measured.best_peer[1].name == "exact"
    text = report([measured], [PEERS["numba"]], Settings(1, 1, False))
    assert "DISAGREES: 50.00% differ" in text


def test_a_report_has_every_table_and_says_who_is_absent():
    measured = found("median3", ours=1e-3, hand=1e-3, numpy=1e-2)
    measured.results["jax"] = Result(PEERS["jax"], absent="not installed (no jax)")
    peers = [PEERS[name] for name in ("ours", "hand", "numpy", "jax")]
    text = report([measured], peers, Settings(2, 3, False))
    assert "### Where others are ahead\n\nOn no row of this run was anybody faster." in text
    for part in ("best peer", "answers agree", "Compiling", "Peak memory", "Absent"):
        assert part in text
    assert "JAX: not installed (no jax)" in text
    assert "| NumPy 10.0 | 0.10 (0.10) |" in text
    assert "QUARTER" not in text
    assert "TOO BUSY" not in text


def test_a_report_names_who_is_faster():
    measured = found("median3", ours=2e-3, hand=1e-3, numpy=1e-2, halide=1.5e-3)
    text = report([measured], list(PEERS.values()), Settings(2, 3, False))
    assert (
        "- 3×3 median, clamped: hand C++ takes 0.50 of our time; Halide takes 0.75 of our time"
        in (text)
    )
    assert "| 0.50 (0.50) |" not in text
    assert "2.00 (2.00)" in text


def test_milliseconds_keep_three_digits():
    assert [milliseconds(s) for s in (1.234e-4, 0.01234, 0.1234)] == ["0.12", "12.3", "123"]


def test_a_table_goes_between_the_markers_of_a_document(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    insert(page, "new")
    insert(page, "newer")
    assert page.read_text(encoding="utf-8") == f"before\n{BEGIN}\nnewer\n{END}\nafter\n"
    fresh = tmp_path / "fresh.md"
    insert(fresh, "new")
    assert fresh.read_text(encoding="utf-8") == f"{BEGIN}\nnew\n{END}\n"


def test_peers_are_measured_in_processes_that_take_turns(monkeypatch):
    monkeypatch.setitem(PEERS, "nowhere", type(PEERS["numpy"])("nowhere", "Nowhere"))
    peers = [PEERS[name] for name in ("ours", "numpy", "nowhere")]
    settings = Settings(1, 2, False, seconds=0.0, rest=0.0, tiny=True)
    said: list[str] = []
    measured = measure(ROWS["median3"], peers, settings, said.append)
    for name in ("ours", "numpy"):
        best = measured.best(name)
        assert best.agreement.text == "exact"
        assert len(best.times) == 2  # one call a turn, two turns
        assert min(best.times) > 0.0
    assert measured.results["nowhere"].absent.startswith("not installed")
    assert measured.bytes == 2 * 4 * 37**2
    assert measured.results["ours"].kept > 0.0
    assert measured.results["numpy"].kept is None
    assert [s for s in said if "round" in s] == ["median3: round 1", "median3: round 2"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "there is no row nonsense; rows: grayscale"),
        (["--peers", "fortran"], "there is no peer fortran; peers: ours"),
        (["--rounds", "0"], "takes a whole number from 1, not '0'"),
    ],
)
def test_a_wrong_command_line_says_what_there_is(arguments, message):
    command = [sys.executable, "-m", "benchmarks", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
