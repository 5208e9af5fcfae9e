"""Measures the error of the native f64 functions against MPFR, in units in the last place.

    python -m tests.elementary.ulps [NAME …] [--count N] [--seed S] [--width W]

For each function: edge values, then random arguments of every exponent, ordinary ones, and ones
near the places where its formulas change. An error is |given - true| over the last place of the
true value's binade (2**-1074 at least); an overflow counts as 2**1024. Signs of zeros, infinities
and NaNs of exact results must be MPFR's, which follow C23 Annex F: where they are not, the error is
infinite.

Where NumPy has a wider float of 64 bits or more (x87), its functions screen the random arguments:
MPFR then decides the edges, every tenth argument or so, what is not an ordinary number, and all
whose screened error comes within ``MARGIN`` of the greatest. Elsewhere MPFR decides all.

Prints the greatest error a function with its arguments. Exits with 1 where one is 1 ulp or more.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import dataclass

import gmpy2
import numpy as np
from gmpy2 import mpfr

import dynamis as dy
from dynamis import Rows, f64
from dynamis.elementary import DOUBLE

SEED = 20261130
PRECISION = 160
MARGIN = 0.02
"""Ulp that screening is trusted to; the functions it uses are good to about 0.002."""
_NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power"}
TWO = ("atan2", "pow")
EDGES = np.array(
    [0.0, 5e-324, 1.5e-323, 1e-310, 2.0**-1022, 2.0**-1000, 2.0**-600, 2.0**-54, 2.0**-27, 1e-8]
    + [0.1, 0.25, 0.35, 0.5, 2**-0.5, 0.72, 1 - 2.0**-53, 1.0, 1 + 2.0**-52, 2**0.5, 1.5, 2.0]
    + [3.0, math.pi / 4, math.pi / 2, math.pi, 4.0, 22.0, 40.0, 100.0, 700.0, 709.782712893384]
    + [709.7827128933841, 710.4758600739439, 710.475860073944, 745.1332191019411, 745.133219101942]
    + [746.0, 1023.0, 1024.0, 1074.0, 1075.0, 1076.0, 2.0**26, 2.0**40 - 1, 2.0**40, 2.0**51]
    + [2.0**52 - 0.5, 2.0**52, 2.0**53 - 1, 2.0**53, 2.0**53 + 2, 1e22, 2.0**66, 1e100, 2.0**900]
    + [
        6381956970095103.0 * 2.0**797,
        5371046280384745.0 * 2.0**-50,
        2.0**1023,
        1.7976931348623157e308,
    ]
    + [math.inf, math.nan]
)
EDGES = np.concatenate([EDGES, -EDGES])


@dataclass(frozen=True)
class Report:
    """What was found of one function."""

    name: str
    inputs: int
    decided: int
    error: float
    args: tuple[float, ...]
    seconds: float

    def __str__(self) -> str:
        where = ", ".join(map(repr, self.args))
        return (
            f"{self.name:6} {self.inputs:>10,} inputs  {self.decided:>9,} decided by MPFR  "
            f"{self.error:.4f} ulp at ({where})  {self.seconds:.1f} s"
        )


def applied(name: str, width: int) -> dy.Kernel:
    """The kernel that applies one function."""
    function = getattr(dy, name)
    if name in TWO:

        @dy.kernel
        def apply_two(x: Rows[f64], y: Rows[f64]) -> Rows[f64]:
            return function(x.sample(), y.sample())

        return apply_two.options(width=width)

    @dy.kernel
    def apply(x: Rows[f64]) -> Rows[f64]:
        return function(x.sample())

    return apply.options(width=width)


def arguments(name: str, count: int, seed: int) -> tuple[np.ndarray, ...]:
    """All edges (pairs of them, for two), then ``count`` random arguments."""
    rng = np.random.default_rng([seed, *name.encode()])
    if name in TWO:
        edges = [e.reshape(-1) for e in np.meshgrid(EDGES, EDGES)]
        random = _angle_pairs(rng, count) if name == "atan2" else _power_pairs(rng, count)
    else:
        edges, random = [EDGES], (_single(name, rng, count),)
    return tuple(np.concatenate(both) for both in zip(edges, random, strict=True))


def _spread(rng: np.random.Generator, count: int, low: int = -1074, high: int = 1024) -> np.ndarray:
    """Both signs and every exponent of low…high alike."""
    return np.ldexp(rng.uniform(-1, 1, count), rng.integers(low, high, count))


def _single(name: str, rng: np.random.Generator, count: int) -> np.ndarray:
    n = rng.uniform(-1, 1, count)
    tiny = _spread(rng, count, -60, 0)
    match name:
        case "sin" | "cos" | "tan":
            turns = rng.integers(1, 2**62, count) >> rng.integers(0, 61, count)
            kinds = [n * 10, n * 2.0**20, turns * (math.pi / 2), _spread(rng, count, 30)]
        case "asin" | "acos":
            kinds = [n, np.copysign(1 - abs(tiny), n), np.copysign(0.5, n) + tiny * 2.0**-20]
        case "log" | "log2":
            near = np.ldexp(1 + tiny, rng.integers(-3, 4, count))
            kinds = [
                abs(n * 4),
                abs(near),
                np.ldexp(2**0.5 + tiny * 2.0**-5, rng.integers(-9, 9, count)),
            ]
        case "exp" | "exp2" | "sinh" | "cosh" | "tanh":
            unit = 0.5 if name == "exp2" else math.log(2) / 2
            border = rng.integers(-60, 60, count) * unit + tiny * 2.0**-10
            kinds = [n * 1100, n * 3, border, n * 30, n * 0.5]
        case _:
            kinds = [n, n * 5, 1 / (n + tiny * 2.0**-20), np.copysign(0.25, n) * (1 + tiny)]
    kinds += [_spread(rng, count), tiny]
    return np.choose(rng.integers(0, len(kinds), count), kinds)


def _angle_pairs(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    exponent = rng.integers(-1074, 1024, count)
    apart = rng.integers(-4, 5, count) * (rng.random(count) < 0.7) * rng.integers(1, 30, count)
    other = np.clip(exponent + apart, -1080, 1024)
    return np.ldexp(rng.uniform(-1, 1, count), exponent), np.ldexp(rng.uniform(-1, 1, count), other)


def _power_pairs(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    bases = [abs(_spread(rng, count)), 1 + _spread(rng, count, -50, 0), rng.uniform(0, 4, count)]
    bases += [np.rint(rng.uniform(-40, 40, count))]
    x = np.choose(rng.integers(0, 4, count), bases)
    with np.errstate(divide="ignore", invalid="ignore"):
        full = rng.uniform(-1100, 1100, count) / np.log2(abs(x))  # results of every exponent
    full = np.where(np.isfinite(full), full, 1.0)
    exponents = [
        full,
        np.rint(full),
        rng.uniform(-8, 8, count),
        np.rint(rng.uniform(-9, 9, count)) / 2,
    ]
    return x, np.choose(rng.integers(0, 4, count), exponents)


def true_value(name: str, *args: float) -> mpfr:
    """The value to PRECISION bits, its exponent unbounded in practice."""
    given = [mpfr(x) for x in args]
    if name == "pow":
        return given[0] ** given[1]
    result: mpfr = getattr(gmpy2, name)(*given)
    return result


def error(name: str, given: float, *args: float) -> float:
    """How far ``given`` is from the true value, in ulp; in a context like ``wide()``."""
    true = true_value(name, *args)
    if gmpy2.is_nan(true) or math.isnan(given):
        return 0.0 if gmpy2.is_nan(true) and math.isnan(given) else math.inf
    if gmpy2.is_infinite(true) or gmpy2.is_zero(true):
        return 0.0 if float(true) == given and _signs(true, given) else math.inf
    if math.copysign(1.0, given) != gmpy2.sign(true):
        return math.inf
    limit = mpfr(2) ** 1024
    true = max(min(true, limit), -limit)
    value = gmpy2.copy_sign(limit, mpfr(given)) if math.isinf(given) else mpfr(given)
    last = min(max(gmpy2.get_exp(true) - 53, -1074), 971)
    return float(abs(value - true) * mpfr(2) ** -last)


def _signs(true: mpfr, given: float) -> bool:
    return bool(gmpy2.is_signed(true)) == (math.copysign(1.0, given) < 0)


def measure(name: str, count: int, seed: int = SEED, width: int = 8) -> Report:
    """The greatest error of one native function."""
    started = time.perf_counter()
    args = arguments(name, count, seed)
    found = applied(name, width)(*args)
    suspects = np.flatnonzero(_suspect(name, found, args, found.size - count))
    worst, where = -1.0, 0
    with wide():
        for k in suspects.tolist():
            e = error(name, float(found[k]), *(float(a[k]) for a in args))
            if e > worst:
                worst, where = e, k
    at = tuple(float(a[where]) for a in args)
    return Report(name, found.size, suspects.size, worst, at, time.perf_counter() - started)


def _suspect(name: str, found: np.ndarray, args: tuple[np.ndarray, ...], edges: int) -> np.ndarray:
    """Which results MPFR must decide; the first ``edges`` in any case."""
    if np.finfo(np.longdouble).nmant < 63:
        return np.ones(found.size, np.bool_)
    function = getattr(np, _NUMPY.get(name, name))
    with np.errstate(all="ignore"):
        true = function(*(a.astype(np.longdouble) for a in args))
        last = np.clip(np.frexp(true)[1] - 53, -1074, 971)
        errors = np.ldexp(np.abs(found - true), -last)
        ordinary = np.isfinite(errors) & (errors < 1)
        greatest = errors[ordinary].max(initial=0.0)
        chosen = ~ordinary | (errors > greatest - MARGIN)
    chosen[:edges] = True
    chosen[:: max(1, min(10, found.size // 10_000))] = True
    return np.asarray(chosen)


def wide() -> gmpy2.context:
    """The context that ``error`` needs: PRECISION bits, exponents that never overflow."""
    return gmpy2.context(precision=PRECISION, emin=-(2**40), emax=2**40)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=sorted(DOUBLE), metavar="NAME")
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--width", type=int, default=8)
    options = parser.parse_args()
    print(f"seed {options.seed}")
    worst = 0.0
    for name in options.names:
        report = measure(name, options.count, options.seed, options.width)
        print(report, flush=True)
        worst = max(worst, report.error)
    return int(worst >= 1.0)


if __name__ == "__main__":
    sys.exit(main())
