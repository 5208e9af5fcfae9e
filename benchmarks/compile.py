"""How long compiling takes, stage by stage, for the kernels of the table.

    python -m benchmarks compile [rows…] [--rounds 7] [--no-peer] [--cpu]

Each round compiles every kernel anew in this process, which has compiled each of them once before:
the cost of a further kernel, not that of loading the compiler. The disk cache is off. Shown are
medians in milliseconds: the front end (source to Kernel IR), validation, optimising with the
accounting of work, lowering, code generation, rendering, LLVM's reading and checking of the text,
LLVM's code generation and loading, and the rest of a first call: binding, allocating, running
on a small domain. ``total`` is measured apart: a first call of a fresh kernel, from its source to
its result. Last, where Numba is installed, its first call of the same kernel. On a machine that
others use, ``--cpu`` shows the time that this process computed, not what it waited.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import statistics
import time
from collections.abc import Callable
from typing import Any, TypeVar

import dynamis
from dynamis.codegen import Options, compile_ast
from dynamis.collector import collector_paused
from dynamis.frontend import compile_kernel
from dynamis.kernel import account, optimize, validate
from dynamis.lower import CallClass, lower
from dynamis.render import render_llvm
from dynamis.runtime.jit import compile_llvm, host
from dynamis.runtime.width import preferred_width

from . import workloads
from .rows import BY_NAME, CONVOLVE5, ROWS, Row

STAGES = ("front end", "validate", "optimise", "lower", "codegen", "render", "parse", "LLVM")
EXTRA = {"convolve5": (CONVOLVE5,)}
"""Inputs beside the row's own."""
MEDIAN, WORST = 100.0, 200.0
"""The goal, in milliseconds."""

T = TypeVar("T")
Milliseconds = dict[str, float]


class Clock:
    """Milliseconds by stage, by the clock ``now``, which counts seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self.spent: Milliseconds = {}

    def time(self, stage: str, f: Callable[..., T], *args: Any, **keywords: Any) -> T:
        started = self.now()
        made = f(*args, **keywords)
        self.spent[stage] = (self.now() - started) * 1e3
        return made


def staged(function: Callable[..., Any], clock: Clock) -> int:
    """One compilation by stages; the lines of its LLVM IR."""
    with collector_paused():
        module = clock.time("front end", compile_kernel, function)
        validated = clock.time("validate", validate, module)
        optimized = clock.time("optimise", lambda: account(optimize(validated.module)))
        manifest = optimized.manifest
        call = CallClass(tuple(p.shape is manifest.outputs[0].shape for p in manifest.inputs))
        options = Options(preferred_width(optimized, host()), rows=2)
        ast = clock.time("lower", lower, optimized, call)
        linear = clock.time("codegen", compile_ast, ast.root, options)
        text = clock.time("render", render_llvm, linear, host())
        clock.time("parse", _parse, text)
        clock.time("LLVM", compile_llvm, text)
    clock.spent["LLVM"] -= clock.spent["parse"]
    return text.count("\n")


def _parse(text: str) -> None:
    import llvmlite.binding as llvm

    llvm.parse_assembly(text, llvm.create_context()).verify()


def first_call(function: Callable[..., Any], row: Row, clock: Clock) -> None:
    """The first call of a fresh kernel, on the row's smallest size: the stage ``total``."""
    inputs = [*row.data(row.tiny).arrays.values(), *EXTRA.get(row.name, ())]
    keywords = {} if inputs else {"shape": (row.tiny, row.tiny)}
    fresh = dynamis.kernel(function)
    clock.time("total", fresh, *inputs, **keywords, threads=1)


def numba_calls(rows: list[Row], now: Callable[[], float]) -> Milliseconds:
    """Numba's first call of each row; none where it is not installed."""
    try:
        peer = importlib.import_module("benchmarks.peers.numba")
    except ImportError:
        return {}
    peer.warm()
    clock = Clock(now)
    for row in rows:
        make = next(iter(peer.FORMS[row.name].values()))
        clock.time(row.name, make(row.data(row.tiny), threads=1).step)
    return clock.spent


def report(rows: list[Row], rounds: int, peer: bool, now: Callable[[], float]) -> None:
    """Measures and prints the table."""
    spent: dict[str, list[Milliseconds]] = {row.name: [] for row in rows}
    lines: dict[str, int] = {}
    for k in range(rounds + 1):
        for row in rows:
            function, clock = getattr(workloads, row.name).__wrapped__, Clock(now)
            gc.collect()
            lines[row.name] = staged(function, clock)
            gc.collect()
            first_call(function, row, clock)
            if k:  # the first round warms the process
                spent[row.name].append(clock.spent)
    theirs = numba_calls(rows, now) if peer else {}
    columns = (*STAGES, "rest", "total", "lines", *(["Numba"] if theirs else []))
    print(f"{'ms':12}" + "".join(f"{c:>10}" for c in columns))
    medians = []
    for row in rows:
        name = row.name
        middle = {s: statistics.median(r[s] for r in spent[name]) for s in (*STAGES, "total")}
        rest = middle["total"] - sum(middle[s] for s in STAGES)
        medians.append(middle["total"])
        cells = [f"{middle[s]:10.1f}" for s in STAGES]
        cells += [f"{rest:10.1f}", f"{middle['total']:10.1f}", f"{lines[name]:10}"]
        cells += [f"{theirs[name]:10.0f}"] if theirs else []
        print(f"{name:12}" + "".join(cells))
    half, worst = statistics.median(medians), max(medians)
    reached = "reached" if half <= MEDIAN and worst <= WORST else "NOT reached"
    print(
        f"median {half:.1f} ms, worst {worst:.1f} ms; the goal of {MEDIAN:.0f} and {WORST:.0f} "
        f"is {reached}"
    )


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description="How long compiling takes, stage by stage, for the kernels of the table."
    )
    names = [row.name for row in ROWS]
    parser.add_argument("rows", nargs="*", metavar="row", help=f"of {', '.join(names)}")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--no-peer", action="store_true", help="leave Numba out")
    parser.add_argument("--cpu", action="store_true", help="computing time, not waiting time")
    options = parser.parse_args()
    unknown = [name for name in options.rows if name not in BY_NAME]
    if unknown:
        parser.error(f"there is no row {unknown[0]!r}; the rows are {', '.join(names)}")
    rows = [BY_NAME[name] for name in options.rows or names]
    for row in rows:
        if lacking := [name for name in row.needs if not hasattr(dynamis, name)]:
            print(f"{row.name} needs {', '.join(lacking)}")
    rows = [row for row in rows if all(hasattr(dynamis, name) for name in row.needs)]
    os.environ["DYNAMIS_CACHE"] = "off"
    now = time.process_time if options.cpu else time.perf_counter
    report(rows, max(options.rounds, 1), not options.no_peer, now)


if __name__ == "__main__":
    main()
