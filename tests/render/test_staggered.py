"""Runs of roots and quotients are written one part after the other; the words stay."""

from __future__ import annotations

import re

import numpy as np
import pytest

import dynamis as dy
from dynamis import Rows, f32, i32


@dy.kernel
def roots(a: Rows[f32]) -> Rows[f32]:
    x, n = a.sample(), 0
    while n < 40:
        d = dy.min(dy.sqrt(x * x + 1.0) - 0.5, dy.sqrt(x * x + 4.0) - 1.0)
        d = dy.min(d, dy.sqrt(x * x + 9.0) / 3.0)
        if d < 0.51 or x > 30.0:
            break
        x = x - d * 0.25 + f32(n % 3) * 0.125
        n += 1
    return x + f32(n)


@dy.kernel
def mixed(a: Rows[f32]) -> tuple[Rows[f32], Rows[i32]]:
    x = a.sample()
    q = dy.sqrt(x) / (x + 1.0) + 1.0 / dy.sqrt(x + 2.0)
    return q, i32(q * 100.0) if q > 0.5 else i32(x)


@pytest.mark.parametrize("kernel", [roots, mixed])
def test_staggered_words_are_the_reference_s(kernel: dy.Kernel) -> None:
    rng = np.random.default_rng(11)
    a = np.concatenate([rng.standard_normal(301), [0.0, -0.0, np.nan, np.inf, -np.inf, 1e-40]])
    a = a.astype(np.float32)
    want = kernel(a, backend="reference")
    for width in (1, 8, 16, 32, 64):
        got = kernel.options(width=width)(a)
        for x, y in zip(np.atleast_2d(got), np.atleast_2d(want), strict=True):
            assert x.tobytes() == y.tobytes(), width


def test_the_roots_of_one_part_stand_together() -> None:
    text = str(mixed.options(width=64).show("llvm"))
    kinds = re.findall(r"= (fdiv <|call <\d+ x float> @llvm\.sqrt)", text)
    first = ["sqrt" in kind for kind in kinds][: len(kinds) // (64 // 16)]
    assert True in first and False in first
