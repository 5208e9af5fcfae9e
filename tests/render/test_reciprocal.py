"""1 / s of a root without dividing: the proof, the code, and the words that s may be."""

from __future__ import annotations

import numpy as np
import pytest

import dynamis as dy
from dynamis import Rows, f32
from dynamis.codegen import Options, compile_ast
from dynamis.kernel import account, optimize
from dynamis.lower import CallClass, lower
from dynamis.render import Machine, render_llvm
from dynamis.runtime.jit import host

F32, F64 = np.float32, np.float64
ESTIMATE = 2.0**-14
"""The relative error that VRCP14PS promises."""
SLACK = 2.0**-36
"""More than the rounding of the first step's remainder adds: that is below 2**-14 * 2**-24."""


@dy.kernel
def inverse(a: Rows[f32]) -> Rows[f32]:
    return 1.0 / dy.sqrt(a.sample())


def fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c of f32, rounded once: the f64 sum rounded to odd (Boldo and Melquiond, 2008)."""
    product, c = a.astype(F64) * b.astype(F64), c.astype(F64)
    total = product + c
    moved = total - product
    rest = (product - (total - moved)) + (c - moved)
    bits = total.view(np.int64)
    away = np.where((rest > 0) == (total > 0), 1, -1)
    odd = np.where((rest != 0) & (bits % 2 == 0), bits + away, bits)
    return odd.view(F64).astype(F32)


def steps_down(y: np.ndarray, n: int) -> np.ndarray:
    return (y.view(np.int32) - np.int32(n)).view(F32)


def wrong(s: np.ndarray) -> int:
    """How often the second step can miss 1 / s, for s in [1, 2) and any estimate in bounds.

    Exactly, the first step gives (1 - e**2) / s for an estimate that is off by e, and rounds that
    up: every word it may give is tried."""
    quotient = 1.0 / s.astype(F64)
    want = quotient.astype(F32)
    low, high = quotient * (1 - ESTIMATE**2 - SLACK), quotient * (1 + SLACK)
    assert np.all(steps_down(want, 2) < low)
    assert np.all(steps_down(want, -1) >= high)
    count = 0
    for n in (-1, 0, 1):  # a word is the first at or above something from low to high
        y = steps_down(want, n)
        possible = (y >= low) & (steps_down(y, 1) < high)
        rest = fma(-s, y, np.ones_like(s))
        count += int(np.sum(possible & (fma(y, rest, y) != want)))
    return count


def test_the_second_step_rounds_as_division_does_whatever_the_estimate_was() -> None:
    for first in range(0, 2**23, 2**20):
        mantissas = np.arange(first, first + 2**20, dtype=np.uint32)
        assert wrong((mantissas | 0x3F800000).view(F32)) == 0


def test_a_first_step_that_is_not_rounded_up_could_be_wrong_where_s_is_all_ones() -> None:
    s = np.array([0x3FFFFFFF], np.uint32).view(F32)
    y = np.array([0.5], F32)  # below 1 / s by less than a unit in the last place
    assert fma(y, fma(-s, y, np.ones_like(s)), y) != (1.0 / s.astype(F64)).astype(F32)


@pytest.mark.parametrize(
    ("width", "masks", "size", "count"),
    [(64, True, 64, 1), (32, True, 64, 0), (64, False, 32, 0), (64, False, 16, 0)],
)
def test_one_vector_in_four_of_a_machine_that_can_divides_so(
    width: int, masks: bool, size: int, count: int
) -> None:
    module = account(optimize(inverse.module))
    program = compile_ast(lower(module, CallClass((True,))).root, Options(width))
    text = render_llvm(program, Machine(x86=True, mask_registers=masks, vector_bytes=size))
    body = text[: text.index("declare")]
    assert body.count("@llvm.x86.avx512.rcp14") == count
    assert body.count("@llvm.x86.avx512.mask.fixupimm") == count
    assert body.count(" fdiv ") == width * 4 // size - count


@pytest.mark.skipif(not host().mask_registers, reason="no AVX-512")
def test_words_are_those_of_dividing() -> None:
    rng = np.random.default_rng(7)
    exponents = np.arange(2**8, dtype=np.uint32) << 23
    edges = [0, 1, 2, 0x7FFFFE, 0x7FFFFF, 0x400000, 0x7FFFFD]  # roots that are all ones among them
    bits = np.concatenate([*(exponents | edge for edge in edges), rng.integers(0, 2**32, 2**20)])
    bits = np.concatenate([bits, bits | 0x80000000]).astype(np.uint32)
    a = np.resize(np.repeat(bits, 2), 64 * -(-2 * bits.size // 64))
    a = np.concatenate([np.roll(a, 16 * k) for k in range(4)]).view(F32)  # every place of a step
    with np.errstate(all="ignore"):
        want = F32(1.0) / np.sqrt(a)
    want[np.isnan(want)] = np.nan
    assert "rcp14" in str(inverse.options(width=64).show("llvm"))
    got = inverse.options(width=64)(a)
    assert got.tobytes() == want.tobytes()
