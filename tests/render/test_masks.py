"""Questions to all lanes at once: the same words whichever lane says yes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import dynamis as dy
from dynamis import Rows, f32, f64
from dynamis.dtype import float32, int32
from dynamis.uop import Uop
from dynamis.uop.elementary import NODES
from tests.programs import map_ast, run_ast

STEP = 64
CONDITIONS: dict[str, Callable[[Uop, Uop], Uop]] = {
    "below": lambda x, i: i < -5,
    "above": lambda x, i: i > -5,
    "not below": lambda x, i: (i < 5).logical_not(),
    "not above": lambda x, i: (i > 5).logical_not(),
    "unsigned below": lambda x, i: NODES.u32(i) < 7,
    "unsigned above": lambda x, i: NODES.u32(i) > 7,
    "equal": lambda x, i: i.eq(3),
    "not equal": lambda x, i: i.ne(3),
    "words apart": lambda x, i: NODES.bits32(x).ne(NODES.bits32(x * x)),
    "float": lambda x, i: x < 0.5,
    "at most": lambda x, i: (x < 0.5) | x.eq(0.5),
    "several": lambda x, i: (x < 0.5) | (i > 5) | (i < -5) | NODES.bits32(x).ne(0x3F800000),
}


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
def test_a_rare_arm_is_entered_wherever_its_lane_is(condition: Callable[[Uop, Uop], Uop]) -> None:
    def body(x: Uop, i: Uop) -> Uop:
        def dear() -> tuple[Uop]:
            y = NODES.wide(x)
            for k in range(30):
                y = y * y + float(k)
                y = NODES.div(y, y + 1.0)
            return (NODES.narrow(y),)

        return NODES.branch(condition(x, i), dear, lambda: (x,))[0]

    # each step of elements is alike, but for one
    numbers = np.array([-(2**31), -6, -5, -4, 0, 3, 4, 5, 6, 7, 8, 2**31 - 1], np.int32)
    floats = np.array([0.0, 0.5, -1.0, 2.0, np.nan, np.inf], np.float32)
    places = (0, 15, 16, 31, 40, 63)
    i = np.repeat(numbers, len(places) * STEP).reshape(-1, STEP)
    x = np.ones(i.shape, np.float32)
    for k, row in enumerate(zip(i, x, strict=True)):
        place = places[k % len(places)]
        row[0][place], row[1][place] = numbers[k % 11], floats[k // 6 % 6]
    words = []
    for width in (1, 8, 16, STEP):
        got = np.empty(x.size, np.float32)
        run_ast(map_ast(body, [float32, int32], float32), [x.ravel(), i.ravel(), got], width)
        words.append(got.tobytes())
    assert len(set(words)) == 1
    assert words[0] != x.tobytes()


@dy.kernel
def half(a: Rows[f32]) -> Rows[f32]:
    return a.sample() * 0.5


@dy.kernel
def half_of_doubles(a: Rows[f64]) -> Rows[f64]:
    return a.sample() * 0.5


@dy.kernel
def halves(a: Rows[f32]) -> tuple[Rows[f32], Rows[f32]]:
    return a.sample() * 0.5, a.sample() - 1.0


@pytest.mark.parametrize("kernel", [half, half_of_doubles, halves])
def test_every_nan_is_the_canonical_one(kernel: dy.Kernel) -> None:
    wide = kernel is half_of_doubles
    a = np.arange(5 * STEP + 7, dtype=np.float64 if wide else np.float32)
    words = a.view(np.uint64 if wide else np.uint32)
    loud = 0xFFF123456789ABCD if wide else 0xFFB12345  # negative, signalling, with a payload
    plain = np.asarray(kernel(a, backend="reference")).tobytes()
    for width in (1, 16, 32, STEP):
        assert np.asarray(kernel.options(width=width)(a)).tobytes() == plain
    for place in range(2 * STEP, 3 * STEP):
        kept, words[place] = words[place], loud
        want = np.asarray(kernel(a[place - 2 : place + 2], backend="reference"))
        for width in (16, 32, STEP):
            got = np.asarray(kernel.options(width=width)(a))
            assert got[..., place - 2 : place + 2].tobytes() == want.tobytes()
            whole = np.frombuffer(plain, got.dtype).reshape(got.shape).copy()
            whole[..., place] = want[..., 2]
            assert got.tobytes() == whole.tobytes()
        words[place] = kept
