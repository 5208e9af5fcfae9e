"""Roots that loops divide by, computed an iteration ahead: where that is done, and the words."""

from __future__ import annotations

from pathlib import Path
from random import Random

import numpy as np
import pytest

import dynamis as dy
from dynamis import Rows, f32, vec3
from tests.frontend.support import load

SEED = 20261130


def carried_roots(text: str) -> int:
    """The roots that a program computes in front of its loop as well as in it."""
    lines = text.splitlines()
    first = min((n for n, x in enumerate(lines) if "RangeInfo(axis=3," in x), default=0)
    return sum("Ops.SQRT" in x for x in lines[:first])


@dy.kernel
def pull(place: Rows[vec3], mass: Rows[f32]) -> Rows[vec3]:
    total = vec3(0.0)
    for j in range(place.count):
        d = place.at(j) - place.sample()
        r = 1.0 / dy.sqrt(dy.dot(d, d) + 0.01)
        total += d * (mass.at(j) * r * r * r)
    return total


@dy.kernel
def stopped(a: Rows[f32]) -> Rows[f32]:
    x = 0.0
    for j in range(a.count):
        if a.at(j) > 9.0:
            break
        x += 1.0 / dy.sqrt(a.sample() + a.at(j))
    return x


@dy.kernel
def carried(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    for j in range(a.count):
        x = 1.0 / dy.sqrt(x * x + a.at(j))
    return x


@dy.kernel
def short(a: Rows[f32]) -> Rows[f32]:
    x = 0.0
    for j in range(15):
        if a.at(j) > 9.0:
            break
        x += 1.0 / dy.sqrt(a.sample() + a.at(j))
    return x


@dy.kernel
def perhaps_none(a: Rows[f32], n: dy.i32 = 20) -> Rows[f32]:
    x = 0.0
    for j in range(n):
        x += 1.0 / dy.sqrt(a.sample() + a.at(j))
    return x


@dy.kernel
def chosen(a: Rows[f32]) -> Rows[f32]:
    x = 0.0
    for j in range(a.count):
        if a.at(j) > a.sample():
            x += 1.0 / dy.sqrt(a.sample() + a.at(j) * a.at(j))
    return x


@dy.kernel
def gathered(a: Rows[f32]) -> Rows[f32]:
    x = 0.0
    for j in range(a.count):
        x += 1.0 / dy.sqrt(a.at(j + dy.element() * 2) + 1.0)
    return x


@dy.kernel
def divergent(a: Rows[f32]) -> Rows[f32]:
    x = 0.0
    for j in range(a.count):
        if x > a.sample():
            break
        x += 1.0 / dy.sqrt(a.sample() + a.at(j))
    return x


@dy.kernel
def undivided(a: Rows[f32]) -> Rows[f32]:
    x = 0.0
    for j in range(a.count):
        x += dy.sqrt(a.sample() + a.at(j))
    return x


@dy.kernel
def no_loop(a: Rows[f32]) -> Rows[f32]:
    return 1.0 / dy.sqrt(a.sample())


def test_a_root_of_the_counter_and_what_the_loop_keeps_is_carried() -> None:
    assert carried_roots(str(stopped.options(width=32).show("program"))) == 1
    assert carried_roots(str(pull.options(width=32).show("program"))) == 1
    assert carried_roots(str(pull.options(width=64).show("program"))) == 1
    assert carried_roots(str(pull.options(width=16).show("program"))) == 0


@pytest.mark.parametrize(
    "kernel",
    [carried, short, perhaps_none, chosen, gathered, divergent, undivided, no_loop],
    ids=lambda kernel: str(kernel.module.manifest.id),
)
def test_other_roots_are_not(kernel: dy.Kernel) -> None:
    text = str(kernel.options(width=32).show("program"))
    assert text.count("Ops.SQRT") == 1


@pytest.mark.parametrize("n", [1, 2, 31, 32, 33, 64, 65, 200])
def test_the_words_are_the_reference_s(n: int) -> None:
    rng = np.random.default_rng(n)
    place, mass = rng.standard_normal((n, 3), np.float32), rng.random(n, np.float32)
    mass[n // 2] = np.inf
    want = pull(place, mass, backend="reference")
    for width in (1, 8, 16, 32, 64):
        assert pull.options(width=width)(place, mass).tobytes() == want.tobytes(), width


TERMS = ("a.at(j)", "a.at(j + 3)", "b.at(j - 1)", "x", "y", "0.5", "f32(j)", "b.at(k)", "f32(n)")
FAULTY = ("n += 1 << 27", "n += 100 // (60 - j)", "n += i32(1.0 / dy.sqrt({u})) // (90 - j - k)")


def body(rng: Random) -> list[str]:
    """Statements of a loop over j, in a loop over k or none."""
    u, v = (f"{rng.choice(TERMS)} * {rng.choice(TERMS)} + {rng.choice(TERMS)}" for _ in "uv")
    lines = [f"d = {u}", f"r = 1.0 / dy.sqrt(d * d + {rng.choice(TERMS)})"]
    if rng.random() < 0.4:
        lines.append(f"r = r * {rng.choice(TERMS)} / dy.sqrt({v})")
    if rng.random() < 0.3:
        lines.append(f"if {rng.choice(TERMS)} > {rng.choice(TERMS)}: r = 1.0 / dy.sqrt({u})")
    if rng.random() < 0.2:
        lines.append("if n > 40 and k > 0: break")
    if rng.random() < 0.3:
        lines.append(rng.choice(FAULTY).format(u=u))
    lines.append(f"total += {rng.choice(('r', 'd * r', 'r * r * d', 'r + total * 0.5'))}")
    if rng.random() < 0.2:
        lines.append("y = y * 0.5 + r")
    return lines


def loop(rng: Random) -> list[str]:
    """A loop of the body's, or several nested or one after the other."""
    count = rng.choice(("a.count", "dy.min(b.count, 61)", "a.count - 3", "b.count"))
    lines = [f"for j in range({count}):", *("    " + line for line in body(rng))]
    kind = rng.random()
    if kind < 0.3:
        return [f"for k in range({rng.randint(1, 3)}):", *("    " + line for line in lines)]
    return [*lines, "x = x + total", *loop(rng)] if kind < 0.6 else lines


def source(rng: Random) -> str:
    return "\n".join(
        [
            "import dynamis as dy",
            "from dynamis import Rows, f32, i32",
            "def kernel(a: Rows[f32], b: Rows[f32]) -> Rows[f32]:",
            "    x, y, total, n, k = a.sample(), b.sample(), 0.0, 0, 0",
            *("    " + line for line in loop(rng)),
            "    return total + f32(n)",
            "",
        ]
    )


def outcome(kernel: dy.Kernel, data: np.ndarray, **how: object) -> bytes | str:
    """A run's words, or what its fault says."""
    try:
        return kernel(*data, **how).tobytes()
    except dy.KernelFault as fault:
        return str(fault)


def test_words_and_faults_of_random_loops_are_the_reference_s(tmp_path: Path) -> None:
    print("seeds", SEED, "to", SEED + 29)
    ahead = faults = 0
    for seed in range(SEED, SEED + 30):
        text = source(Random(seed))
        kernel = dy.kernel(load(text, tmp_path).kernel)
        data = np.random.default_rng(seed).normal(0.5, 1.0, (2, 67)).astype(np.float32)
        want = outcome(kernel, data, backend="reference")
        faults += isinstance(want, str)
        for width in (32, 64):
            own = kernel.options(width=width)
            ahead += carried_roots(str(own.show("program"))) > 0
            assert outcome(own, data, threads=2) == want, f"seed {seed}, width {width}\n{text}"
    assert ahead > 10
    assert faults > 3
