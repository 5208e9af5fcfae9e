"""The benchmark of calls runs, and its own calls are native. Nothing here looks at a time."""

from __future__ import annotations

import importlib.util
import pathlib
import sys

import pytest

FILE = pathlib.Path(__file__).parents[2] / "benchmarks" / "calls.py"


def test_the_benchmark_of_calls_prints_a_row_a_form(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("benchmark_calls", FILE)
    assert spec is not None and spec.loader is not None
    calls = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "benchmark_calls", calls)
    spec.loader.exec_module(calls)
    monkeypatch.setattr(calls, "ROUND_SECONDS", 1e-4)
    found = calls.forms(64, numba=False)
    lines = calls.markdown(calls.measure(found, rounds=2)).splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:]] == [form.name for form in found]
    assert all(line.count("|") == 7 for line in lines)
    for kernel in (calls.product, calls.axpy):
        assert kernel._native_entry
