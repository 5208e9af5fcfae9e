"""Walks all 2**32 f32 through the native elementary functions and proves each result the nearest.

    python -m tests.elementary.exhaustive [NAME …] [--stride N] [--offset K] [--threads T]

The reference is independent: NumPy's f64 function, rounded to f32. Where a relative error of
``ERROR`` in it could change the rounded word (near the middle of two f32, at the ends of the
format) and wherever native code gives another word, MPFR decides. Words are compared, so the sign
of zero counts and a NaN has to be the canonical one. ``--hard FILE`` keeps the inputs near a
middle, with the words they must give, for ``tests.elementary.tune``.

Exits with 1 when a word is wrong.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

import dynamis as dy
from dynamis import Rows, f32
from dynamis.elementary import SINGLE
from dynamis.kernel.types import bits_float, float_bits
from tests.elementary.mpfr import nearest

UNARY = sorted(set(SINGLE) - {"atan2", "pow"})
ERROR = 2.0**-49
"""What NumPy's f64 functions are trusted to: 16 units in the last place."""
BLOCK = 1 << 15
"""Inputs at a time: few enough for a core's caches, and for memory that is used again."""
_SIGN, _NAN = np.uint32(1 << 31), np.uint32(0x7FC00000)
_NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}
_ODD = ("sin", "tan", "asin", "atan", "sinh", "tanh")
_EVEN = ("cos", "cosh")


@dataclass(slots=True)
class Report:
    """What a walk over one function found."""

    name: str
    inputs: int = 0
    decided_by_mpfr: int = 0
    seconds: float = 0.0
    wrong: list[tuple[int, int, int]] = field(default_factory=list)
    """(input, word given, nearest word)"""
    hard: list[tuple[int, int]] = field(default_factory=list)
    """(input, nearest word) of inputs near the middle of two f32"""

    def __str__(self) -> str:
        return (
            f"{self.name:6} {self.inputs:>13,} inputs  {len(self.wrong):>6,} wrong  "
            f"{self.decided_by_mpfr:>9,} decided by MPFR  {self.seconds:7.1f} s"
        )


def walked(name: str) -> dy.Kernel:
    """The kernel that applies one function."""
    function = getattr(dy, name)

    @dy.kernel
    def apply(x: Rows[f32]) -> Rows[f32]:
        return function(x.sample())

    return apply


def walk(
    name: str, stride: int = 1, offset: int = 0, threads: int = 1, error: float = ERROR
) -> Report:
    """Both signs of every ``stride``-th magnitude (NaNs too), from ``offset``."""
    started = time.perf_counter()
    report, kernel = Report(name), walked(name)
    kernel(np.zeros(8, np.float32))  # compiled once, before threads ask for it
    count = -(-(2**31 - offset) // stride)
    starts = range(0, count, BLOCK)

    def block(start: int) -> tuple[int, list[tuple[int, int, bool]]]:
        last = min(start + BLOCK, count)
        magnitudes = (np.arange(start, last, dtype=np.uint64) * stride + offset).astype(np.uint32)
        return _block(name, kernel, magnitudes, error)

    with ThreadPoolExecutor(threads) as pool:
        for inputs, suspects in pool.map(block, starts):
            report.inputs += inputs
            report.decided_by_mpfr += len(suspects)
            for word, given, near in suspects:
                right = _word(nearest(name, bits_float(word)))
                if given != right:
                    report.wrong.append((word, given, right))
                if near:
                    report.hard.append((word, right))
    report.seconds = time.perf_counter() - started
    return report


def _word(x: float) -> int:
    return float_bits(x) & 0xFFFFFFFF


def _block(
    name: str, kernel: dy.Kernel, magnitudes: np.ndarray, error: float
) -> tuple[int, list[tuple[int, int, bool]]]:
    """How many inputs, and those that MPFR must decide with the words given and whether they are
    near a middle."""
    found: list[tuple[int, int, bool]] = []
    negative = magnitudes | _SIGN
    given = _given(kernel, magnitudes)
    low, high = _nearest(name, magnitudes, error)
    _compare(found, magnitudes, given, low, high)
    if name in _ODD or name in _EVEN:  # all of it again, by symmetry
        flip = _SIGN if name in _ODD else np.uint32(0)
        low ^= flip
        high ^= flip
    else:
        low, high = _nearest(name, negative, error)
    _compare(found, negative, _given(kernel, negative), low, high)
    return 2 * len(magnitudes), found


def _given(kernel: dy.Kernel, words: np.ndarray) -> np.ndarray:
    """The words that native code gives."""
    result: np.ndarray = kernel(words.view(np.float32), threads=1)
    return result.view(np.uint32)


def _nearest(name: str, words: np.ndarray, error: float) -> tuple[np.ndarray, np.ndarray]:
    """The words between which the nearest one lies, by NumPy."""
    function: Callable[..., np.ndarray] = getattr(np, _NUMPY.get(name, name))
    ends = []
    with np.errstate(all="ignore"):
        true = words.view(np.float32).astype(np.float64)
        function(true, out=true)
        for factor in (1.0 - error, 1.0 + error):
            ends.append(np.multiply(true, factor, dtype=np.float64).astype(np.float32))
    return ends[0].view(np.uint32), ends[1].view(np.uint32)


def _compare(
    found: list[tuple[int, int, bool]],
    words: np.ndarray,
    given: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> None:
    """Add the inputs whose word is not sure to be right, a NaN being right where it is one."""
    unsure = np.flatnonzero((given != low) | (given != high))
    nan = np.isnan(low[unsure].view(np.float32)) & (given[unsure] == _NAN)
    for k in unsure[~nan]:
        found.append((int(words[k]), int(given[k]), bool(low[k] != high[k])))


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(UNARY)}")
    parser.add_argument("--stride", type=int, default=1, help="every N-th magnitude only")
    parser.add_argument("--offset", type=int, default=0, help="the first magnitude")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--error", type=float, default=-49.0, help="log2 of the error that NumPy is trusted to"
    )
    parser.add_argument("--hard", type=pathlib.Path, help="write the inputs near a middle here")
    given = parser.parse_args()
    unknown = set(given.names) - set(UNARY)
    if unknown:
        parser.error(f"no function {', '.join(sorted(unknown))}; there are {', '.join(UNARY)}")
    if given.stride < 1 or not 0 <= given.offset < 2**31 or given.threads < 1:
        parser.error("--stride and --threads are at least 1, --offset is below 2**31")
    hard: dict[str, list[tuple[int, int]]] = {}
    failed = False
    for name in given.names or UNARY:
        report = walk(name, given.stride, given.offset, given.threads, 2.0**given.error)
        print(report, flush=True)
        for word, got, right in report.wrong[:20]:
            print(f"       {name}({bits_float(word)!r}) [{word:08x}]: {got:08x}, not {right:08x}")
        hard[name] = report.hard
        failed |= bool(report.wrong)
    if given.hard:
        given.hard.write_text(json.dumps(hard))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
