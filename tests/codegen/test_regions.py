"""Dear arms become regions that run only where some lane needs them; no word changes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, Rows, f32, i32, vec2
from dynamis.codegen import Options, compile_ast
from dynamis.codegen.split import lowered_axis
from dynamis.kernel import account, optimize
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


def program_of(kernel: dy.Kernel, width: int = 8, rows: int = 1) -> Sequence[Uop]:
    module = account(optimize(kernel.module))
    call = CallClass((True,) * len(module.manifest.inputs))
    return compile_ast(lower(module, call).root, Options(width=width, rows=rows)).src


def opened(kernel: dy.Kernel, width: int = 8) -> list[Uop]:
    return [u for u in program_of(kernel, width) if u.op is Ops.IF]


def depths(program: Sequence[Uop]) -> dict[Uop, int]:
    """How many regions each node of a program stands in."""
    found, depth = {}, 0
    for u in program:
        depth -= u.op is Ops.ENDIF
        found[u] = depth
        depth += u.op is Ops.IF
    return found


def outside(kernel: dy.Kernel, *ops: Ops, width: int = 8, rows: int = 1) -> int:
    """How many nodes of some ops stand in no region."""
    found = depths(program_of(kernel, width, rows))
    return sum(u.op in ops and depth == 0 for u, depth in found.items())


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
def loop_arm(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    n = 0
    if x > 0.5:
        while x < 100.0 and n < 50:
            x = x * x + dy.sqrt(x) + 1.0
            n += 1
    return x + f32(n)


@dy.kernel
def counted_arm(a: Rows[f32], n: i32 = 4) -> Rows[f32]:
    x = a.sample()
    if x > 0.5:
        for k in range(n):
            x = dy.sqrt(x + f32(k))
    return x


def test_a_loop_in_an_arm_is_skipped_whole() -> None:
    for kernel in (loop_arm, counted_arm):
        found = depths(program_of(kernel))
        own = [u for u in found if u.op is Ops.RANGE and u.arg.axis < 1 << 20]
        assert own and all(found[u] == 1 for u in own)
        # so are the registers' first words, and what the loop is left with
        registers = [u for u in found if u.op is Ops.STORE and u.src[0].dtype is not f32]
        assert registers and outside(kernel, Ops.SQRT) == 0


@pytest.mark.parametrize("kernel", [loop_arm, counted_arm], ids=lambda k: k.__name__)
def test_loops_in_arms_change_no_word(kernel: dy.Kernel) -> None:
    for scale in (0.4, 1.0, 3.0):
        data = np.random.default_rng(7).random(77, np.float32) * np.float32(scale)
        want = kernel(data, backend="reference")
        for width in (1, 4, 8, 32):
            assert kernel.options(width=width)(data).tobytes() == want.tobytes(), (scale, width)


@dy.kernel
def failing_arm(a: Rows[i32]) -> Rows[i32]:
    n = a.sample()
    if n > 100:
        return n // (n - 107) + n * n
    return n ^ 5


def test_checks_of_an_arm_are_skipped_with_it_and_found_where_it_is_taken() -> None:
    assert outside(failing_arm, Ops.CDIV, Ops.CMOD, Ops.MUL) == outside(doubled, Ops.CDIV, Ops.MUL)
    data = np.arange(90, dtype=np.int32)
    assert np.array_equal(failing_arm(data), data ^ 5)
    for bad, what in ((107, "division by zero"), (2**17, "does not fit")):
        data[61] = bad
        with pytest.raises(dy.KernelFault, match=f"element 61: .*{what}"):
            failing_arm.options(width=8)(data)


@dy.kernel
def doubled(a: Rows[i32]) -> Rows[i32]:
    return a.sample() ^ 5


def test_a_choice_is_made_in_its_arm() -> None:
    found = depths(program_of(one_arm))
    chosen = [u for u in found if u.op is Ops.WHERE and u.src[1].op is Ops.ADD and u.dtype.is_float]
    assert [found[u] for u in chosen] == [1]


@dy.kernel
def invariant_arm(a: Rows[f32], limit: f32 = 2.0) -> Rows[f32]:
    x = a.sample()
    y = dy.sqrt(x)
    n = 0
    while x < 4.0 and n < 9:
        x = x * 1.5 + 0.1
        if x > limit:
            x = dy.sqrt(x + 1.0) / (y + 2.0) + dy.sqrt(x + 3.0) / (x + 4.0)
            x = x + dy.sqrt(x + 5.0) / (x + 7.0) + dy.sqrt(x + 9.0) / (x + 8.0)
        n += 1
    return x


def test_what_a_loop_does_not_change_is_computed_in_the_arm_that_alone_needs_it() -> None:
    assert outside(invariant_arm, Ops.SQRT, Ops.FDIV) == 0
    data = np.random.default_rng(8).random(77, np.float32)
    for limit in (0.5, 2.0, 50.0):
        want = invariant_arm(data, limit=limit, backend="reference")
        assert invariant_arm(data, limit=limit).tobytes() == want.tobytes()


@dy.kernel
def shared_by_arms(a: Rows[f32], b: Rows[f32]) -> Rows[f32]:
    x, y = a.sample(), b.sample()
    both = dear(x + y)
    total = x * y
    if x > 0.5:
        total += both + dear(y + 10.0)
    if y > 0.5:
        total -= both * 2.0 + dear(x + 20.0)
    return total


def test_what_two_arms_alone_need_runs_where_one_is_taken() -> None:
    assert outside(shared_by_arms, Ops.SQRT, Ops.FDIV) == 0
    assert max(depths(program_of(shared_by_arms)).values()) == 2  # one test skips both
    x, y = np.random.default_rng(9).random((2, 77), np.float32)
    for low in (x, np.minimum(x, 0.4)):
        for high in (y, np.minimum(y, 0.4)):
            want = shared_by_arms(low, high, backend="reference")
            assert shared_by_arms(low, high).tobytes() == want.tobytes()


@dy.kernel
def stencil(a: Grid[f32]) -> Grid[f32]:
    total = 0.0
    for v in range(-1, 2):
        for u in range(-1, 2):
            total += a.at(dy.coord() + vec2(u, v))
    if total > 6.0:
        for k in range(12):
            total += dy.sqrt(a.at(dy.coord() * f32(k)))
    return total


def test_arms_of_the_border_and_of_two_rows_have_values_of_their_own() -> None:
    assert sum(u.op is Ops.IF for u in program_of(stencil, rows=2)) > 2
    for rows in (1, 2):
        found = depths(program_of(stencil, rows=rows))
        # the addresses of the arm's reads are products with the column or the row
        products = [u for u in found if u.op is Ops.MUL and u.dtype.is_float]
        assert products and all(found[u] > 0 for u in products)
    for scale in (0.5, 1.0):
        image = np.random.default_rng(10).random((7, 90), np.float32) * np.float32(scale)
        want = stencil(image, backend="reference")
        for width in (1, 8, 32):
            assert stencil.options(width=width)(image).tobytes() == want.tobytes()


@dy.kernel
def looping_stencil(a: Grid[f32]) -> Grid[f32]:
    total = 0.0
    for v in range(-1, 2):
        for u in range(-1, 2):
            total += a.at(dy.coord() + vec2(u, v))
    if total > 6.0:
        for k in range(60):
            total += dy.sqrt(a.at(dy.coord() * f32(k) + vec2(k, 3)))
    return total


def test_rows_in_a_step_have_loops_of_their_own_in_their_arms() -> None:
    found = depths(program_of(looping_stencil, rows=2))
    loops = [u for u in found if u.op is Ops.RANGE and lowered_axis(u.arg.axis) is not None]
    assert len(loops) == 3  # the border's, and one for each of two rows inside
    assert all(found[u] > 0 for u in loops)
    for scale in (0.5, 1.0):
        image = np.random.default_rng(11).random((7, 90), np.float32) * np.float32(scale)
        want = looping_stencil(image, backend="reference")
        for width in (1, 8, 32):
            assert looping_stencil.options(width=width)(image).tobytes() == want.tobytes()


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
