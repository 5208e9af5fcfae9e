"""A random walk through the pairs of atan2 and pow, natively, against an independent reference.

    python -m tests.elementary.pairs [NAME …] [--pairs N] [--seed S] [--threads T]

2**64 pairs cannot be walked. Pairs of each kind (``KINDS``) are drawn, and every word is compared
with NumPy's f64 function rounded to f32, or, where a relative error of ``ERROR`` in that could
change the rounding or the words differ, with MPFR. All powers that are exactly the middle of two
f32 are among them (``ties``). Exits with 1 when a word is wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from functools import cache
from math import ldexp

import numpy as np
from numpy.typing import NDArray

import dynamis as dy
from dynamis import Rows, f32
from dynamis.kernel.types import float_bits
from tests.elementary.mpfr import nearest

ERROR = 2.0**-49
"""What NumPy's f64 functions are trusted to: 16 units in the last place."""
BLOCK = 1 << 20
KINDS = {
    "atan2": ("any words", "similar sizes", "whole numbers", "subnormal angles", "flat and steep"),
    "pow": ("any words", "finite powers", "base near 1", "subnormal powers", "small exponents",
            "negative base", "roots"),
}  # fmt: skip

Floats = NDArray[np.float32]


def sample(name: str, kind: str, seed: int, count: int) -> tuple[Floats, Floats]:
    """``count`` pairs of a kind."""
    rng = np.random.default_rng([seed, list(KINDS).index(name), KINDS[name].index(kind)])
    with np.errstate(all="ignore"):
        return _SAMPLES[name](kind, rng, count)


def _words(rng: np.random.Generator, count: int, low: int = 0, high: int = 1 << 32) -> Floats:
    return rng.integers(low, high, count, dtype=np.uint64).astype(np.uint32).view(np.float32)


def _signs(rng: np.random.Generator, count: int) -> Floats:
    return rng.choice(np.float32([-1.0, 1.0]), count)


def _angles(kind: str, rng: np.random.Generator, count: int) -> tuple[Floats, Floats]:
    positive = 1, 0x7F800000
    if kind == "any words":
        return _words(rng, count), _words(rng, count)
    if kind == "whole numbers":
        y, x = (rng.integers(-3000, 3000, count).astype(np.float32) for _ in "yx")
        return y, x
    x = _words(rng, count, *positive)
    if kind == "similar sizes":
        ratio = np.exp2(rng.uniform(-2.0, 2.0, count))
    elif kind == "subnormal angles":  # some quotients are middles: the angle is a little less
        x = np.ldexp(rng.integers(1, 128, count).astype(np.float32), rng.integers(0, 120, count))
        off = rng.uniform(-1.0, 1.0, count) * (rng.random(count) > 1 / 256)
        ratio = np.ldexp(1.0, -150) * (rng.integers(0, 1 << 17, count) + off)
        return (x * ratio).astype(np.float32) * _signs(rng, count), x
    else:  # angles whose difference from a multiple of pi/2 is still felt
        ratio = np.exp2(rng.uniform(-30.0, 30.0, count))
    return (x * ratio).astype(np.float32) * _signs(rng, count), x * _signs(rng, count)


def _powers(kind: str, rng: np.random.Generator, count: int) -> tuple[Floats, Floats]:
    if kind == "any words":
        return _words(rng, count), _words(rng, count)
    if kind == "small exponents":
        quarters = rng.integers(-64, 65, count).astype(np.float32) / 4
        return _words(rng, count, 0x38000000, 0x48000000), quarters
    if kind == "negative base":
        whole = rng.integers(-40, 41, count).astype(np.float32)
        return -_words(rng, count, 0x38000000, 0x48000000), whole
    if kind == "roots":
        return _words(rng, count, 1, 0x7F800000), np.float32(1.0) / rng.integers(
            1, 9, count
        ).astype(np.float32)
    x = _words(rng, count, 1, 0x7F800000)
    if kind == "base near 1":
        x = _words(rng, count, 0x3F7F0000, 0x3F810000)
    ends = (-150.5, -125.5) if kind == "subnormal powers" else (-150.5, 128.5)
    return x, (rng.uniform(*ends, count) / np.log2(x.astype(np.float64))).astype(np.float32)


_SAMPLES = {"atan2": _angles, "pow": _powers}


@cache
def ties() -> list[tuple[float, float]]:
    """The powers other than first ones that are the middle of two f32, but for signs.

    They are w**n * 2**k with an odd w, where w**n has 25 bits, or fewer and k = -150; y is n, or
    n / 2**b where x is a 2**b-th power of such a number."""
    exponents = [e for e in range(-149, 128) if e and not 75 * 64 % e]
    found = [(ldexp(1.0, e), -150.0 / e) for e in exponents]
    for b in range(4):
        for n in range(1 + (b == 0), 16, 1 + (b > 0)):
            for w in range(3, 1 << 13, 2):
                if w**n >= 1 << 25 or w ** (1 << b) >= 1 << 24:
                    break
                found += _exponents(w, n, b)
    return found


def _exponents(w: int, n: int, b: int) -> Iterator[tuple[float, float]]:
    """The ties of the bases w**(2**b) * 2**e for exponents n / 2**b."""
    base, y, bits = w ** (1 << b), n / (1 << b), (w**n).bit_length()
    normal = range(-125 - bits, 129 - bits) if bits == 25 else ()
    for shift in {*normal, -150}:
        e = shift / y
        if e == int(e) and -149 <= e <= 128 - base.bit_length():
            yield ldexp(float(base), int(e)), y


def kernel_of(name: str) -> dy.Kernel:
    """The kernel that applies a function of two."""
    function = getattr(dy, name)

    @dy.kernel
    def apply(a: Rows[f32], b: Rows[f32]) -> Rows[f32]:
        return function(a.sample(), b.sample())

    return apply


def wrong(
    name: str, kernel: dy.Kernel, a: Floats, b: Floats, threads: int = 1
) -> tuple[list[str], int]:
    """What is wrong about the kernel's words for the pairs, and how many MPFR had to decide."""
    given = kernel(a, b, threads=threads).view(np.uint32)
    with np.errstate(all="ignore"):
        function = np.arctan2 if name == "atan2" else np.power
        true = function(a.astype(np.float64), b.astype(np.float64))
        low, high = ((true * (1.0 + s)).astype(np.float32).view(np.uint32) for s in (-ERROR, ERROR))
    nan = np.isnan(true)
    low[nan] = high[nan] = 0x7FC00000
    doubtful = np.flatnonzero((low != high) | (given != low))
    messages = []
    for k in doubtful:
        x, y = a[k].item(), b[k].item()
        right = float_bits(nearest(name, x, y)) & 0xFFFFFFFF
        if int(given[k]) != right:
            messages.append(f"{name}({x!r}, {y!r}): {given[k]:08x}, not {right:08x}")
    return messages, len(doubtful)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=" or ".join(KINDS))
    parser.add_argument("--pairs", type=int, default=1 << 24, help="pairs of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    unknown = set(given.names) - set(KINDS)
    if unknown or given.pairs < 1 or given.threads < 1:
        parser.error(f"names are {', '.join(KINDS)}; --pairs and --threads are at least 1")
    failed = False
    for name in given.names or KINDS:
        kernel = kernel_of(name)
        batches = [(kind, given.pairs) for kind in KINDS[name]]
        for kind, count in batches:
            started, messages, decided = time.perf_counter(), [], 0
            for block, start in enumerate(range(0, count, BLOCK)):
                pairs = sample(name, kind, given.seed + 1000 * block, min(BLOCK, count - start))
                found, doubtful = wrong(name, kernel, *pairs, given.threads)
                messages, decided = messages + found, decided + doubtful
            failed |= _report(name, kind, count, messages, decided, started)
        if name == "pow":
            started = time.perf_counter()
            x, y = np.array(ties(), np.float32).T
            failed |= _report(name, "ties", len(x), *wrong(name, kernel, x, y), started)
    return int(failed)


def _report(
    name: str, kind: str, count: int, messages: list[str], decided: int, started: float
) -> bool:
    print(
        f"{name:5} {kind:17} {count:>13,} pairs  {len(messages):>6,} wrong  {decided:>9,} decided "
        f"by MPFR  {time.perf_counter() - started:7.1f} s",
        *messages[:20],
        sep="\n      ",
        flush=True,
    )
    return bool(messages)


if __name__ == "__main__":
    sys.exit(main())
