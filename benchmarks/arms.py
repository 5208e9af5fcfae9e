"""What an arm that is never taken costs: a kernel with one beside the kernel without it.

    python -m benchmarks arms [--rounds 15]

The arm is dear (a loop of roots and quotients, or an elementary function's worth of arithmetic) and
its condition depends on the element, so that it is tested for every vector and never holds. Rounds
of the two kernels take turns; the medians' ratio is printed. The goal is 1.10.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np

import dynamis as dy
from dynamis import Grid, Rows, f32, vec2

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


PAIRS = (
    ("map of rows, arm of a loop", scaled, scaled_or_loop, (1 << 22,)),
    ("map of rows, arm of roots", scaled, scaled_or_roots, (1 << 22,)),
    ("3×3 mean, arm of gathers in a loop", smooth, smooth_or_far, (1024, 1024)),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print("| kernel | without ms | with ms | ratio | goal 1.10 |\n|---|---:|---:|---:|---|")
    for name, plain, armed, shape in PAIRS:
        data = np.random.default_rng(1).random(shape, np.float32)
        out = np.empty_like(data)
        expected = plain(data).tobytes()
        assert armed(data, out=out).tobytes() == expected, "the arm was taken"
        repeats = max(1, (1 << 23) // data.size)
        taken: dict[dy.Kernel, list[float]] = {plain: [], armed: []}
        for _ in range(rounds):
            for kernel, seconds in taken.items():
                started = time.perf_counter()
                for _ in range(repeats):
                    kernel(data, out=out, threads=1)
                seconds.append((time.perf_counter() - started) / repeats)
        without, with_arm = (statistics.median(s) * 1e3 for s in taken.values())
        ratio = with_arm / without
        verdict = "reached" if ratio <= GOAL else "BELOW"
        print(f"| {name} | {without:.3f} | {with_arm:.3f} | {ratio:.2f} | {verdict} |")


if __name__ == "__main__":
    main()
