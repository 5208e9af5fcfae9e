"""Dear arms become regions that run only where some lane needs them; no word changes."""

from __future__ import annotations

import numpy as np
import pytest

import dynamis as dy
from dynamis import Rows, f32, i32
from dynamis.codegen import Options, compile_ast
from dynamis.kernel import account
from dynamis.lower import CallClass, lower
from dynamis.uop import Ops, Uop
from dynamis.uop.elementary import RARE


def dear(x: f32) -> f32:
    """Three roots and three quotients: more than a region's worth."""
    return dy.sqrt(x + 1.0) / (x + 2.0) + dy.sqrt(x + 3.0) / (x + 4.0) + dy.sqrt(x) / (x + 5.0)


@dy.kernel
def one_arm(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    return dear(x) if x > 0.5 else x


@dy.kernel
def other_arm(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    return x if x > 0.5 else dear(x)


@dy.kernel
def both_arms(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    return dear(x) if x > 0.5 else dear(x + 10.0)


@dy.kernel
def cheap(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    return x * 2.0 if x > 0.5 else x


@dy.kernel
def nested(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    y = x
    if x > 0.25:
        y = dear(x)
        if x > 0.75:
            y = y + dear(x + 20.0)
    return y


@dy.kernel
def again(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    y = x
    if x > 0.5:
        y = dear(x)
    z = y * 3.0
    if x > 0.5:
        z = dear(z)
    return z + y


@dy.kernel
def in_a_loop(a: Rows[f32], n: i32 = 5) -> Rows[f32]:
    x = a.sample()
    for k in range(n):
        if x > 0.5:
            x = dear(x) + 0.1 * f32(k)
        else:
            x = x + 0.2
        if x > 3.0:
            break
    return x


@dy.kernel
def between(a: Rows[f32]) -> Rows[f32]:
    return a.linear(0.7 * f32(dy.element()))


@dy.kernel
def gathering(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    return a.at(i32(x * 50.0)) if x > 0.9 else x


@dy.kernel
def used_twice(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    y = dear(x)
    return y + (y * 2.0 if x > 0.5 else x)


@dy.kernel
def mask_out(a: Rows[f32]) -> Rows[bool]:
    x = a.sample()
    return dear(x) > 0.7 if x > 0.5 else x < 0.1


def opened(kernel: dy.Kernel, width: int = 8) -> list[Uop]:
    module = account(kernel.module)
    call = CallClass((True,) * len(module.manifest.inputs))
    program = compile_ast(lower(module, call).root, Options(width=width)).src
    return [u for u in program if u.op is Ops.IF]


KERNELS = {
    one_arm: 1,
    other_arm: 1,
    both_arms: 2,
    cheap: 0,
    nested: 2,
    again: 2,
    in_a_loop: 1,
    between: 0,
    gathering: 1,
    used_twice: 0,
    mask_out: 1,
}


@pytest.mark.parametrize(("kernel", "count"), KERNELS.items(), ids=lambda k: str(k))
def test_each_dear_arm_is_a_region(kernel: dy.Kernel, count: int) -> None:
    assert len(opened(kernel)) == count


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
@pytest.mark.parametrize("kind", ["mixed", "all", "none", "one"])
def test_regions_change_no_word(kernel: dy.Kernel, kind: str) -> None:
    data = np.random.default_rng(6).random(77, np.float32)
    if kind != "mixed":
        data = np.full(77, 0.97 if kind == "all" else 0.01, np.float32)
    if kind == "one":
        data[40] = 0.8
    want = kernel(data, backend="reference")
    for width in (1, 4, 8, 16):
        assert kernel.options(width=width)(data).tobytes() == want.tobytes(), width


@dy.kernel
def inner_only(a: Rows[f32]) -> Rows[f32]:
    x, y = a.sample(), a.at(a.count - 1 - dy.element())
    return (dear(x) if x > 0.5 else x * 2.0) if y > 0.0 else x


def test_an_arm_around_a_dear_one_alone_is_a_region_too() -> None:
    assert len(opened(inner_only)) == 2
    a = np.linspace(-1, 2, 67, dtype=np.float32)
    assert inner_only(a).tobytes() == inner_only(a, backend="reference").tobytes()


@dy.kernel
def rare_arms(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    return dy.sin(x) * dy.cos(x) + dy.exp(dy.sin(x))


def test_the_other_value_of_a_rare_choice_is_ready_before_its_region() -> None:
    module = account(rare_arms.module)
    program = compile_ast(lower(module, CallClass((True,))).root, Options(width=8)).src
    place = {u: n for n, u in enumerate(program)}
    inside: dict[Uop, Uop] = {}
    opened: list[Uop] = []
    for u in program:
        if u.op is Ops.ENDIF:
            opened.pop()
        if opened:
            inside[u] = opened[-1]
        if u.op is Ops.IF:
            opened.append(u)
    choices = [u for u in program if u.op is Ops.WHERE and u.node_tag == RARE]
    assert len(choices) == 3
    for choice in choices:
        _, made, usual = choice.src
        assert usual not in inside
        assert place[usual] < place[inside[made]] < place[made] < place[choice]
