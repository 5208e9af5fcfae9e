"""What an arm that is never taken costs: a kernel with one beside the kernel without it.

    python -m benchmarks arms [--rounds 15]

The arm is dear (loops, roots and quotients, elementary functions, divisions that may fail) and is
never taken; but for one its condition depends on the element, so that every vector tests it. Rounds
of the two kernels take turns; medians, and that of the rounds' ratios, are printed. The goal: 1.10.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import dataclass

import numpy as np

import dynamis as dy
from dynamis import Grid, Rows, f32, f64, i32, vec2

from .rows import zeros

GOAL = 1.10


@dy.kernel
def scaled(a: Rows[f32]) -> Rows[f32]:
    return a.sample() * 1.5 + 0.25


@dy.kernel
def scaled_or_loop(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    if x > 2.0:
        for k in range(20):
            x = dy.sqrt(x + 1.0) / (x + f32(k) + 1.0)
        return x
    return x * 1.5 + 0.25


@dy.kernel
def scaled_or_roots(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    if x > 2.0:
        return dy.sqrt(x + 1.0) / (x + 2.0) + dy.sqrt(x + 3.0) / (x + 4.0) + dy.sqrt(x) / (x + 5.0)
    return x * 1.5 + 0.25


@dy.kernel
def smooth(a: Grid[f32]) -> Grid[f32]:
    total = 0.0
    for v in range(-1, 2):
        for u in range(-1, 2):
            total += a.at(dy.coord() + vec2(u, v))
    return total / 9.0


@dy.kernel
def smooth_or_far(a: Grid[f32]) -> Grid[f32]:
    total = 0.0
    for v in range(-1, 2):
        for u in range(-1, 2):
            total += a.at(dy.coord() + vec2(u, v))
    if total > 100.0:
        far = 0.0
        for k in range(12):
            far += dy.sqrt(a.at(dy.coord() * f32(k)))
        return far
    return total / 9.0


@dy.kernel
def scaled_or_while(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    if x > 2.0:
        while x < 100.0:
            x = x * x + dy.sqrt(x)
        return x
    return x * 1.5 + 0.25


@dy.kernel
def scaled_or_powers(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    if x > 2.0:
        return dy.atan2(x, dy.pow(x, x))
    return x * 1.5 + 0.25


@dy.kernel
def scaled_or_loop_by_param(a: Rows[f32], k: f32 = 1.0) -> Rows[f32]:
    x = a.sample()
    if k > 2.0:
        for j in range(40):
            x = dy.sqrt(x + k) / (x + f32(j))
        return x
    return x * 1.5 + 0.25


@dy.kernel
def doubled(a: Rows[f64]) -> Rows[f64]:
    return a.sample() * f64(1.5) + f64(0.25)


@dy.kernel
def doubled_or_elementary(a: Rows[f64]) -> Rows[f64]:
    x = a.sample()
    if x > f64(2.0):
        return dy.sin(x) + dy.exp(x)
    return x * f64(1.5) + f64(0.25)


@dy.kernel
def tripled(a: Rows[i32]) -> Rows[i32]:
    return a.sample() * 3 ^ 5


@dy.kernel
def tripled_or_divided(a: Rows[i32]) -> Rows[i32]:
    n = a.sample()
    if n > 100_000:
        return n // (n - 7) * 5 + n % (n - 9) + n * n
    return n * 3 ^ 5


@dy.kernel
def grown(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    n = 0
    while x < 4.0 and n < 64:
        x = x * 1.25 + 0.01
        n += 1
    return x + f32(n)


@dy.kernel
def grown_or_roots(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    y = x * 0.5
    n = 0
    while x < 4.0 and n < 64:
        x = x * 1.25 + 0.01
        if x > 30.0:
            x = dy.sqrt(x + 1.0) / (y + 2.0) + dy.sqrt(x + 3.0) / (x + 4.0)
            x = dy.sqrt(y) / (x + 5.0)
        n += 1
    return x + f32(n)


def common(x: f32, y: f32) -> f32:
    return x * 1.5 + y


def rare(x: f32, y: f32) -> f32:
    if x > 2.0:
        return dy.sqrt(x + 1.0) / (y + 2.0) + dy.sqrt(x + 3.0) / (x + 4.0)
    return x * 1.5 + y


@dy.kernel
def helped(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    return common(common(x, x * 0.3) * 0.5, x)


@dy.kernel
def helped_or_roots(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    return rare(rare(x, x * 0.3) * 0.5, x)


@dataclass(frozen=True)
class Pair:
    """A kernel without an arm and with it, and what both run on."""

    name: str
    without: dy.Kernel
    with_arm: dy.Kernel
    shape: tuple[int, ...] = (1 << 22,)
    dtype: type = np.float32
    scale: float = 1.0

    def data(self) -> np.ndarray:
        values = zeros(self.shape, self.dtype)
        values[...] = np.random.default_rng(1).random(self.shape, np.float32) * self.scale
        return values


PAIRS = (
    Pair("map of rows, arm of a loop", scaled, scaled_or_loop),
    # such a run may take long, for all that is known before it
    Pair("map of rows, arm of a loop that may end early", scaled, scaled_or_while),
    Pair("the same on few elements", scaled, scaled_or_while, (1 << 14,)),
    Pair("the same on many", scaled, scaled_or_while, (1 << 24,)),
    Pair("map of rows, arm of roots", scaled, scaled_or_roots),
    Pair("map of rows, arm of powers", scaled, scaled_or_powers),
    Pair("map of rows, arm by a parameter", scaled, scaled_or_loop_by_param),
    Pair("two calls of a helper with an arm", helped, helped_or_roots),
    Pair("doubles, arm of elementary functions", doubled, doubled_or_elementary, dtype=np.float64),
    Pair("integers, arm that may fail", tripled, tripled_or_divided, dtype=np.int32, scale=1e3),
    Pair("arm in a loop that ends at each element's time", grown, grown_or_roots, (1 << 18,)),
    Pair("3×3 mean, arm of gathers in a loop", smooth, smooth_or_far, (1024, 1024)),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print("| kernel | without ms | with ms | ratio | goal 1.10 |\n|---|---:|---:|---:|---|")
    for pair in PAIRS:
        data = pair.data()
        out = zeros(pair.shape, pair.dtype)
        expected = pair.without(data).tobytes()
        assert pair.with_arm(data, out=out).tobytes() == expected, "the arm was taken"
        repeats = max(1, (1 << 23) // data.size)
        taken: dict[dy.Kernel, list[float]] = {pair.without: [], pair.with_arm: []}
        for _ in range(rounds):
            for kernel, seconds in taken.items():
                started = time.perf_counter()
                for _ in range(repeats):
                    kernel(data, out=out, threads=1)
                seconds.append((time.perf_counter() - started) / repeats)
        without, with_arm = (statistics.median(s) * 1e3 for s in taken.values())
        ratio = statistics.median(b / a for a, b in zip(*taken.values(), strict=True))
        verdict = "reached" if ratio <= GOAL else "BELOW"
        print(f"| {pair.name} | {without:.3f} | {with_arm:.3f} | {ratio:.2f} | {verdict} |")


if __name__ == "__main__":
    main()
