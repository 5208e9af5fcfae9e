"""Random kernels of nested dear arms, loops in arms, failing integers and early returns: the
reference's words, and its first fault.

    python -m tests.codegen.test_random_arms [--count 300] [--seed N]

runs as many as asked.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from random import Random

import numpy as np
import pytest

import dynamis as dy
from tests.frontend.support import load

SEED = 20261130
WIDTHS = (1, 8, 32)
DEAR = (
    "dy.sqrt({a})",
    "{a} / {b}",
    "{a} * {b} - 1.5",
    "dy.mix({a}, {b}, 0.25)",
    "a.at(dy.element() + i32(dy.clamp({a}, -99.0, 99.0)))",
    "dy.floor({a} / 0.3)",
    "dy.smoothstep({a}, {b}, 0.7)",
    "{a} % 3.5",
    "f32(n) * {a}",
)
WHOLE = (
    "n * 3 - m",
    "n + i32(dy.clamp({a}, -9.0, 9.0))",
    "m ^ (n << 2)",
    "n // (m + 17)",
    "m % (n + 5) + n",
    "n * n",
    "dy.clamp(n, -50, 50)",
    "m + k",
)
NAMES = ("x", "y", "z")


def body(rng: Random, depth: int, indent: str) -> list[str]:
    """A few random statements over x, y, z and the integers n and m."""
    lines = []
    for _ in range(rng.randint(1, 4)):
        target = rng.choice(NAMES)
        value = rng.choice(DEAR).format(a=rng.choice(NAMES), b=rng.choice(NAMES))
        value = rng.choice(DEAR).format(a=value, b=rng.choice(NAMES))
        test = f"{rng.choice(NAMES)} {rng.choice('<>')} {rng.choice((*NAMES, '0.0', '1.0', 'p'))}"
        if rng.random() < 0.2:
            test += f" {rng.choice(('and', 'or'))} n {rng.choice('<>')} {rng.choice('m3k')}"
        inner = indent + "    "
        kind = rng.random() if depth else 0.6 + 0.4 * rng.random()
        if kind < 0.3:
            lines += [f"{indent}if {test}:", *body(rng, depth - 1, inner)]
            if rng.random() < 0.6:
                lines += [f"{indent}else:", *body(rng, depth - 1, inner)]
        elif kind < 0.42:
            count = f"{rng.randint(1, 3)} + (1 if {test} else 0)"
            count = rng.choice((count, str(rng.randint(1, 4)), "k"))
            lines += [f"{indent}for _ in range({count}):", *body(rng, depth - 1, inner)]
            if rng.random() < 0.3:
                lines.append(f"{inner}if {test}: {rng.choice(('break', 'continue'))}")
        elif kind < 0.5:
            left = f"w{depth}"
            lines += [
                f"{indent}{left} = {rng.choice(('0', 'n & 3', 'k'))}",
                f"{indent}while {left} < 5 and {test}:",
                f"{inner}{left} += 1",
                *body(rng, depth - 1, inner),
            ]
        elif kind < 0.58:
            lines.append(f"{indent}{target} = {value} if {test} else {target} * 0.5")
        elif kind < 0.65:
            lines.append(f"{indent}if {test}: return {value}, {rng.choice('nm')}")
        elif kind < 0.78:
            whole = rng.choice(WHOLE).format(a=rng.choice(NAMES))
            lines.append(f"{indent}{rng.choice('nm')} = {whole}")
        else:
            lines.append(f"{indent}{target} = {value}")
    return lines


def source(rng: Random) -> str:
    return "\n".join(
        [
            "import dynamis as dy",
            "from dynamis import Rows, f32, i32",
            "def kernel(",
            "    a: Rows[f32], b: Rows[f32], k: i32 = 2, p: f32 = 0.25",
            ") -> tuple[Rows[f32], Rows[i32]]:",
            "    x = a.sample()",
            "    y = b.sample()",
            "    z = x * 0.5",
            "    n = i32(x * 7.0)",
            "    m = dy.element() - 20",
            *body(rng, 3, "    "),
            "    return x + y + z, n",
            "",
        ]
    )


def outcome(kernel: dy.Kernel, data: np.ndarray, k: int, **kwargs: object) -> object:
    """The words of a run, or where and how it failed."""
    try:
        return [out.tobytes() for out in kernel(*data, k=k, **kwargs)]
    except dy.KernelFault as fault:
        return str(fault)


def hold(seed: int, folder: Path) -> bool:
    """Compare the kernel of a seed with the reference; whether it failed."""
    text = source(Random(seed))
    kernel = dy.kernel(budget=2000)(load(text, folder).kernel)
    rng = np.random.default_rng(seed)
    data = rng.normal(0.3, 1.5, (2, 41)).astype(np.float32)
    data *= rng.choice((1.0, 1.0, 0.01))  # so that some arms are taken nowhere
    k = int(rng.integers(0, 4))
    want = outcome(kernel, data, k, backend="reference")
    for width in WIDTHS:
        got = outcome(kernel.options(width=width), data, k, threads=2)
        assert got == want, f"seed {seed}, width {width}\n{text}"
    return isinstance(want, str)


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_arms_agree(first: int, tmp_path: Path) -> None:
    print("seeds", SEED + first, "to", SEED + first + 9)
    for seed in range(SEED + first, SEED + first + 10):
        hold(seed, tmp_path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=SEED)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        failed = sum(
            hold(seed, Path(folder)) for seed in range(asked.seed, asked.seed + asked.count)
        )
    print(f"{asked.count} kernels, {failed} of them failing, agree at widths {WIDTHS}")


if __name__ == "__main__":
    main()
