"""One peer on one row, in a process of its own.

``python -m benchmarks.child PEER ROW SIZE THREADS`` reads one JSON object a line from standard
input and answers each by one on standard output:

- at the start it prepares every formulation, runs each once and answers with the version, the
  seconds of each first call, files with the results, and the process's peak memory;
- ``{"seconds": s, "calls": n}`` times every formulation for about s seconds and n calls at most;
- the end of the input ends the process.

What libraries print goes to standard error.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any, TextIO

import numpy as np

from .rows import BY_NAME, Data

SLOW = 0.05
"""Seconds from which a call needs no other call before it to find its data in the cache."""


def main(peer: str, row: str, size: str, threads: str) -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(threads)])
    try:
        module = importlib.import_module(f"benchmarks.peers.{peer}")
        makers = module.FORMS.get(row)
        if makers is None:
            _answer(answers, {"absent": "not expressed"})
            return
        limit = getattr(module, "LIMITS", {}).get(row)
        if limit is not None:
            makers = {**makers, "limit": limit}
        module.warm()
        _serve(answers, module.VERSION, makers, BY_NAME[row].data(int(size)), int(threads))
    except ImportError as error:
        _answer(answers, {"absent": f"not installed ({error})"})
    except Exception as error:  # a peer that fails is a fact of the table, not the end of the run
        _answer(answers, {"failed": f"{type(error).__name__}: {str(error)[:300]}"})


def _serve(
    answers: TextIO, version: str, makers: dict[str, Callable], data: Data, threads: int
) -> None:
    forms = {name: make(data, threads) for name, make in makers.items()}
    first = {name: _seconds(form.step) for name, form in forms.items()}
    peak = _peak_bytes()
    files = {name: _saved(form.result()) for name, form in forms.items()}
    _answer(answers, {"version": version, "first": first, "results": files, "peak": peak})
    last = first
    for line in sys.stdin:
        order = json.loads(line)
        taken = {}
        for name, form in forms.items():
            taken[name] = _round(form.step, order["seconds"], order["calls"], last[name])
        last = {name: min(times) for name, times in taken.items()}
        _answer(answers, {"times": taken})


def _round(step: Callable[[], object], seconds: float, calls: int, last: float) -> list[float]:
    """Times of some calls; one that is not counted goes before quick ones."""
    if last < SLOW:
        step()
    times: list[float] = []
    started = time.perf_counter()
    while not times or (len(times) < calls and time.perf_counter() - started < seconds):
        times.append(_seconds(step))
    return times


def _seconds(step: Callable[[], object]) -> float:
    started = time.perf_counter()
    step()
    return time.perf_counter() - started


def _saved(result: np.ndarray) -> str:
    handle, path = tempfile.mkstemp(suffix=".npy")
    with os.fdopen(handle, "wb") as file:
        np.save(file, result)
    return path


def _peak_bytes() -> int | None:
    """The process's peak memory so far, where the system tells (Linux)."""
    try:
        with open("/proc/self/status") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def _answer(answers: TextIO, what: dict[str, Any]) -> None:
    print(json.dumps(what), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:5])
    os._exit(0)  # some libraries' threads outlive the interpreter's end
