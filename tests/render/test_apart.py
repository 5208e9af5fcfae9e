"""Rare arms: they stand apart as functions, their choices are made in them, and no word changes."""

from __future__ import annotations

import platform

import numpy as np
import pytest

import dynamis as dy
from dynamis import Rows, f32, i32
from dynamis.dtype import float32
from dynamis.render import Machine
from dynamis.runtime.jit import host
from dynamis.uop import Uop
from dynamis.uop.elementary import NODES, expanded
from tests.programs import map_ast, run_ast

SEED = 20261130
x86 = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="x86 forms")


@dy.kernel
def sines(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    return dy.sin(x) + dy.sin(x * 3.0)


@dy.kernel
def one_condition(a: Rows[f32]) -> Rows[f32]:
    """Both ask whether x is huge; the second usual value needs the first choice."""
    x = a.sample()
    return dy.cos(x) * dy.sin(x)


@dy.kernel
def chained(a: Rows[f32]) -> Rows[f32]:
    return dy.exp(dy.sin(dy.exp2(a.sample())))


@dy.kernel
def inside_an_arm(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    return dy.exp(x) + dy.sin(x) if x > 0.0 else x


@dy.kernel
def in_a_loop(a: Rows[f32], n: i32 = 4) -> Rows[f32]:
    x = a.sample()
    for _ in range(n):
        x = dy.sin(x) * 3.0 + dy.exp(-x)
        if x > 1.0e9:
            break
    return x


@dy.kernel
def of_doubles(a: Rows[f32]) -> Rows[f32]:
    return f32(dy.sin(dy.f64(a.sample())))


KERNELS = [sines, one_condition, chained, inside_an_arm, in_a_loop, of_doubles]


def data(kind: str) -> np.ndarray:
    rng = np.random.default_rng(SEED)
    x = rng.normal(0, 3, 1003).astype(np.float32)
    if kind == "all":
        x = np.exp(rng.uniform(30, 88, 1003)).astype(np.float32)
    if kind == "some":
        x[::37] = 1e30
        x[5], x[500], x[1002] = np.nan, np.inf, -np.inf
    return x


@pytest.mark.parametrize("kind", ["none", "some", "all"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_rare_arms_change_no_word(kernel: dy.Kernel, kind: str) -> None:
    x = data(kind)[:203]
    x[-1] = data(kind)[-1]
    want = kernel(x, backend="reference")
    for width in (1, 2, 8, 16, 64):
        assert kernel.options(width=width)(x).tobytes() == want.tobytes(), width


def parts(text: str) -> tuple[str, list[str]]:
    """The main function of a module, and those of its rare arms."""
    functions = [f.split("\n}\n")[0] for f in text.split("define ")[1:]]
    body = next(f for f in functions if "@body(" in f)
    return body, [f for f in functions if "@rare" in f.split("(")[0]]


def test_an_arm_is_written_once_however_many_vectors_are_in_flight() -> None:
    few, many = (parts(str(sines.options(width=w).show("llvm"))) for w in (16, 64))
    for body, arms in (few, many):
        assert len(arms) == 2
        assert body.count("call void @rare") == 2
        assert body.count("mul <8 x i64>") == 0
    assert [len(a.splitlines()) for a in few[1]] == [len(a.splitlines()) for a in many[1]]


def test_the_usual_value_is_the_choice_where_no_lane_needs_the_arm() -> None:
    body, _ = parts(str(sines.options(width=16).show("llvm")))
    lines = [line for line in body.splitlines() if " phi <16 x float>" in line]
    assert len(lines) == 2
    assert "zeroinitializer" not in "".join(lines)


def test_the_branch_to_an_arm_is_said_to_be_rare() -> None:
    text = str(sines.options(width=16).show("llvm"))
    assert text.count("!prof !1") == 2
    assert '!1 = !{!"branch_weights", i32 1, i32 2000}' in text


@x86
@pytest.mark.parametrize("width", [4, 8, 32])
@pytest.mark.parametrize("bytes_", [16, 32])
def test_narrower_machines_give_the_same_words(bytes_: int, width: int) -> None:
    machine = Machine(x86=True, mask_registers=False, vector_bytes=bytes_)
    if bytes_ > host().vector_bytes:
        pytest.skip("not this machine's")

    def body(x: Uop) -> Uop:
        y = expanded("sin", x) + expanded("exp", x) * expanded("tan", x)
        return y.eq(y).where(y, 7.0)  # which NaN it is, is nobody's business

    x = data("some")
    got = np.empty_like(x)
    run_ast(map_ast(body, [float32], float32), [x, got], width, machine=machine)
    want = np.empty_like(x)
    run_ast(map_ast(body, [float32], float32), [x, want], 1)
    assert got.tobytes() == want.tobytes()


def test_several_values_leave_one_arm() -> None:
    def body(x: Uop) -> Uop:
        w = NODES.wide(x)

        def dear() -> tuple[Uop, ...]:
            y = w
            for k in range(30):
                y = y * y + float(k)
                y = NODES.div(y, y + 1.0)
            return y, NODES.bits64(y) & 7, NODES.narrow(y)

        a, b, c = NODES.branch(x > 2.0, dear, lambda: (w, NODES.bits64(w) & 3, x))
        return NODES.narrow(a + NODES.wide(c) + NODES.real(NODES.i32(b)))

    x = np.linspace(-4, 4, 301, dtype=np.float32)
    words = []
    for width in (1, 8, 16, 64):
        got = np.empty_like(x)
        run_ast(map_ast(body, [float32], float32), [x, got], width)
        words.append(got.tobytes())
    assert len(set(words)) == 1
