"""What a call costs: a product of 1024 f32 elements, three arrays, one thread, in one run.

    python benchmarks/calls.py [--rounds 101] [--elements 1024]

Every form computes ``out = x * y``, or ``out = a * x + y`` where it takes a parameter; answers are
compared first. Rounds are interleaved, so that a change of the machine's speed meets every form;
medians, fastest rounds and the ratios of both to Numba's (else NumPy's) are printed as Markdown.
Numba is optional.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import dynamis as dy
from dynamis import Rows, f32

ROUND_SECONDS = 0.002
"""How long one form runs in one round."""


@dy.kernel
def product(x: Rows[f32], y: Rows[f32]) -> Rows[f32]:
    return x.sample() * y.sample()


@dy.kernel
def axpy(x: Rows[f32], y: Rows[f32], a: f32 = 1.0) -> Rows[f32]:
    return a * x.sample() + y.sample()


@dy.kernel
def small_product(x: Rows[f32], y: Rows[f32]) -> Rows[f32]:
    """For all that is known before it, a run may take long."""
    xy = x.sample() * y.sample()
    while xy > 1000.0:
        xy = xy * 0.5
    return xy


@dataclass(frozen=True)
class Form:
    """A way to call. ``run(n)`` makes n calls; ``goal`` is in microseconds, on the machine of the
    table in docs/performance.md."""

    name: str
    run: Callable[[int], None]
    goal: float | None = None


@dataclass(frozen=True)
class Taken:
    """Microseconds a call, one number a round."""

    form: Form
    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    @property
    def fastest(self) -> float:
        return min(self.rounds)


def forms(elements: int, *, numba: bool = True) -> list[Form]:
    """Every form that can be had here, its code compiled and its answer checked.

    ``numba``: with those that need it, where it is installed."""
    rng = np.random.default_rng(5)
    x, y = (rng.standard_normal(elements, np.float32) for _ in range(2))
    out = np.empty_like(x)

    def into(n: int) -> None:
        for _ in range(n):
            product(x, y, out=out)

    def fresh(n: int) -> None:
        for _ in range(n):
            product(x, y)

    def with_parameter(n: int) -> None:
        for _ in range(n):
            axpy(x, y, a=3.0, out=out)

    def with_loop(n: int) -> None:
        for _ in range(n):
            small_product(x, y, out=out)

    def ufunc(n: int) -> None:
        for _ in range(n):
            np.multiply(x, y, out=out)

    def ufunc_fresh(n: int) -> None:
        for _ in range(n):
            np.multiply(x, y)

    found = [
        Form("Dynamis, `out=`", into, 0.6),
        Form("Dynamis, new result", fresh, 1.2),
        Form("Dynamis, `out=` and a parameter", with_parameter),
        Form("Dynamis, `out=`, a `while` in the kernel", with_loop),
        *(_numba_forms(x, y, out) if numba else ()),
        Form("NumPy ufunc, `out=`", ufunc),
        Form("NumPy ufunc, new result", ufunc_fresh),
    ]
    wanted = {with_parameter: np.float32(3) * x + y}
    for form in found:
        out[:] = np.nan
        form.run(3)
        if form.run not in (fresh, ufunc_fresh):
            assert np.array_equal(out, wanted.get(form.run, x * y)), form.name
    return found


def _numba_forms(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> list[Form]:
    try:
        import numba
    except ImportError:
        return []

    def body(x, y, out):
        for i in range(x.size):
            out[i] = x[i] * y[i]

    compiled = numba.njit(body)
    pointer = numba.types.CPointer(numba.float32)

    @numba.cfunc(numba.void(pointer, pointer, pointer, numba.int64))
    def foreign(x, y, out, n):
        for i in range(n):
            out[i] = x[i] * y[i]

    function, size = foreign.ctypes, x.size
    ready = [array.ctypes.data_as(function.argtypes[0]) for array in (x, y, out)]

    def njit(n: int) -> None:
        for _ in range(n):
            compiled(x, y, out)

    def ctypes_ready(n: int) -> None:
        for _ in range(n):
            function(*ready, size)

    return [
        Form("Numba `njit`, given output", njit),
        Form("ctypes, pointers ready", ctypes_ready),
    ]


def measure(found: list[Form], rounds: int) -> list[Taken]:
    """Microseconds a call of each form, in rounds of all forms, each in an order of its own."""
    counts = {form.name: _count(form) for form in found}
    taken: dict[str, list[float]] = {form.name: [] for form in found}
    rng = random.Random(1)
    for _ in range(rounds):
        for form in rng.sample(found, len(found)):
            count = counts[form.name]
            started = time.perf_counter()
            form.run(count)
            taken[form.name].append((time.perf_counter() - started) / count * 1e6)
    return [Taken(form, tuple(taken[form.name])) for form in found]


def _count(form: Form) -> int:
    """Calls that take about a round."""
    count = 16
    while True:
        started = time.perf_counter()
        form.run(count)
        seconds = time.perf_counter() - started
        if seconds > ROUND_SECONDS / 4:
            return max(int(count * ROUND_SECONDS / seconds), 1)
        count *= 4


def markdown(taken: list[Taken]) -> str:
    """A table: one row a form."""
    named = {t.form.name: t for t in taken}
    base = named.get("Numba `njit`, given output", named["NumPy ufunc, `out=`"])
    peer = base.form.name.split()[0].rstrip(",")
    lines = [
        f"| call | median µs | to {peer} | fastest round | to {peer} | goal µs |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for t in taken:
        goal = "" if t.form.goal is None else f"{t.form.goal:g}"
        median, fastest = t.median / base.median, t.fastest / base.fastest
        lines.append(
            f"| {t.form.name} | {t.median:.2f} | {median:.2f} | {t.fastest:.2f} | {fastest:.2f} "
            f"| {goal} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--elements", type=int, default=1024)
    arguments = parser.parse_args()
    print(markdown(measure(forms(arguments.elements), arguments.rounds)))


if __name__ == "__main__":
    main()
