"""Random kernels of nested dear arms, loops in arms and early returns: the reference's words."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

import dynamis as dy
from tests.frontend.support import load

SEED = 20261130
DEAR = (
    "dy.sqrt({a})",
    "{a} / {b}",
    "{a} * {b} - 1.5",
    "dy.mix({a}, {b}, 0.25)",
    "a.at(dy.element() + i32(dy.clamp({a}, -99.0, 99.0)))",
    "dy.floor({a} / 0.3)",
    "dy.smoothstep({a}, {b}, 0.7)",
    "{a} % 3.5",
)
NAMES = ("x", "y", "z")


def body(rng: Random, depth: int, indent: str) -> list[str]:
    """A few random statements over x, y and z."""
    lines = []
    for _ in range(rng.randint(1, 4)):
        target = rng.choice(NAMES)
        value = rng.choice(DEAR).format(a=rng.choice(NAMES), b=rng.choice(NAMES))
        value = rng.choice(DEAR).format(a=value, b=rng.choice(NAMES))
        test = f"{rng.choice(NAMES)} {rng.choice('<>')} {rng.choice((*NAMES, '0.0', '1.0'))}"
        kind = rng.random() if depth else 1.0
        if kind < 0.3:
            lines += [f"{indent}if {test}:", *body(rng, depth - 1, indent + "    ")]
            if rng.random() < 0.6:
                lines += [f"{indent}else:", *body(rng, depth - 1, indent + "    ")]
        elif kind < 0.45:
            count = f"{rng.randint(1, 3)} + (1 if {test} else 0)"
            lines += [f"{indent}for _ in range({count}):", *body(rng, depth - 1, indent + "    ")]
        elif kind < 0.55:
            lines.append(f"{indent}{target} = {value} if {test} else {target} * 0.5")
        elif kind < 0.65:
            lines.append(f"{indent}if {test}: return {value}")
        else:
            lines.append(f"{indent}{target} = {value}")
    return lines


def source(rng: Random) -> str:
    return "\n".join(
        [
            "import dynamis as dy",
            "from dynamis import Rows, f32, i32",
            "def kernel(a: Rows[f32], b: Rows[f32]) -> Rows[f32]:",
            "    x = a.sample()",
            "    y = b.sample()",
            "    z = x * 0.5",
            *body(rng, 3, "    "),
            "    return x + y + z",
            "",
        ]
    )


@pytest.mark.parametrize("first", range(0, 30, 10))
def test_random_arms_agree(first: int, tmp_path: Path) -> None:
    print("seeds", SEED + first, "to", SEED + first + 9)
    for seed in range(SEED + first, SEED + first + 10):
        text = source(Random(seed))
        kernel = dy.kernel(load(text, tmp_path).kernel)
        data = np.random.default_rng(seed).normal(0.3, 1.5, (2, 41)).astype(np.float32)
        want = kernel(*data, backend="reference")
        for width in (1, 8):
            got = kernel.options(width=width)(*data, threads=2)
            assert got.tobytes() == want.tobytes(), f"seed {seed}, width {width}\n{text}"
