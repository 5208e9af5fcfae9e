"""Compiled atan2 and pow: the nearest f32, the interpreter's words, and slow paths jumped over."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from dynamis.dtype import float32
from dynamis.elementary import SINGLE, on_numbers
from dynamis.uop import Ops, const_of_dtype, simplify
from dynamis.uop.elementary import expanded
from tests.elementary.pairs import KINDS, kernel_of, sample, ties, wrong

SEED = 20261130
ALL = [(name, kind) for name, kinds in KINDS.items() for kind in kinds]
kernel = cache(kernel_of)


@pytest.mark.parametrize(("name", "kind"), ALL)
def test_pairs_give_the_nearest_float(name: str, kind: str) -> None:
    messages, _ = wrong(name, kernel(name), *sample(name, kind, SEED, 50_000))
    assert messages == [], f"seed {SEED}"


def test_powers_that_are_ties_go_to_even() -> None:
    x, y = np.array(ties()[::23], np.float32).T
    messages, decided = wrong("pow", kernel("pow"), x.copy(), y.copy())
    assert messages == []
    assert decided == len(x), "a tie that is none"


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("name", KINDS)
def test_every_width_gives_the_words_of_the_interpreter(name: str, width: int) -> None:
    a, b = (
        np.concatenate(c)
        for c in zip(*(sample(name, kind, SEED, 60) for kind in KINDS[name]), strict=True)
    )
    if name == "pow":
        x, y = np.array(ties()[:: len(ties()) // 50], np.float32).T
        a, b = np.concatenate([a, x]), np.concatenate([b, y])
    want = [on_numbers(SINGLE[name])(*pair) for pair in zip(a.tolist(), b.tolist(), strict=True)]
    got = kernel(name).options(width=width)(a, b, threads=2)
    assert got.tobytes() == np.array(want, np.float32).tobytes()


@pytest.mark.parametrize("name", KINDS)
def test_the_slow_path_is_jumped_over(name: str) -> None:
    inside: list[str] = []
    outside: list[str] = []
    depth = 0
    for line in str(kernel(name).show("program")).splitlines():
        depth += ("Ops.IF " in line) - ("Ops.ENDIF " in line)
        (inside if depth else outside).append(line)
    steps = [sum("Ops.MULACC" in line for line in lines) for lines in (inside, outside)]
    assert steps[0] > 30, "pair arithmetic"
    assert 10 < steps[1] < 25, "two polynomials at most"


def test_constants_fold_to_the_same_words() -> None:
    for name, a, b in (("atan2", 1.0, -3.0), ("pow", 0.1, 2.5), ("pow", -3.0, 3.0)):
        nodes = (const_of_dtype(float32, float(np.float32(x))) for x in (a, b))
        folded = simplify(expanded(name, *nodes))
        assert folded.op is Ops.CONST
        assert folded.arg.value == on_numbers(SINGLE[name])(*(float(np.float32(x)) for x in (a, b)))
