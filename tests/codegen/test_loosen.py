"""Words of an iteration that ends its loop are not kept where nobody reads them."""

from __future__ import annotations

import numpy as np
import pytest

import dynamis as dy
from dynamis import Rows, f32, i32


@dy.kernel
def escape(a: Rows[f32]) -> Rows[i32]:
    x, n = 0.0, 0
    for _ in range(60):
        if x > 2.0:
            break
        x = x * x + a.sample()
        n += 1
    return n


@dy.kernel
def last(a: Rows[f32]) -> Rows[f32]:
    x = 0.0
    for _ in range(60):
        if x > 2.0:
            break
        x = x * x + a.sample()
    return x


@dy.kernel
def nested(a: Rows[f32]) -> Rows[f32]:
    total, x = 0.0, 0.0
    for k in range(9):
        y = x
        for _ in range(12):
            if y > 3.0:
                break
            y = y * y + a.sample() * 0.125
        if total > 20.0:
            break
        total += y
        x = x * 0.5 + f32(k)
    return total


def test_a_word_only_the_loop_reads_is_not_kept_and_one_read_after_it_is() -> None:
    loose = str(escape.options(width=4).show("llvm"))
    kept = str(last.options(width=4).show("llvm"))
    assert "select <4 x i1>" in kept
    assert not [x for x in loose.split("\n") if "select" in x and "<4 x float>" in x]


@pytest.mark.parametrize("kernel", [escape, last, nested])
def test_the_words_are_the_same(kernel: dy.Kernel) -> None:
    a = np.array([*np.linspace(-2, 2, 41), np.nan, np.inf, -np.inf, 3e38], np.float32)
    want = kernel(a, backend="reference")
    assert len(np.unique(want)) > 4
    for width in (1, 4, 8, 32):
        assert kernel.options(width=width)(a).tobytes() == want.tobytes()
