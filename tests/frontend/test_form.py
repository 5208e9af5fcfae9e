"""The form of the Kernel IR that the frontend writes: what loops carry, spans, names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dynamis.frontend import KernelError, NotAConstant, compile_kernel, host_value
from dynamis.frontend import surface as dy
from dynamis.frontend.surface import Grid, Rows, f32, i32, vec2
from dynamis.kernel import InputField, interpret, op, validate
from dynamis.kernel.module import DEFAULT_BUDGET, MAX_BUDGET, MAX_LOOP_COUNT, Instruction, KernelId
from dynamis.kernel.types import Type
from tests.frontend import kernels
from tests.frontend.support import compiled, load, run


def instructions(function: Callable[..., Any], kind: type) -> list[Instruction]:
    return [i for i in compiled(function).entry.instructions() if isinstance(i.op, kind)]


def loops(function: Callable[..., Any]) -> list[op.Loop]:
    found = [i.op for i in instructions(function, op.Loop)]
    return [o for o in found if isinstance(o, op.Loop)]


def carried(function: Callable[..., Any]) -> list[list[str]]:
    """The names that each loop carries in a record; the bare type's name for one value."""
    module = compiled(function)
    out = []
    for i in instructions(function, op.Loop):
        fields = module.structs[i.ty.index].fields if i.ty.is_struct else ()
        out.append([f.name for f in fields] or [i.ty.name])
    return out


def test_mandelbrot_is_one_loop_that_carries_z_and_n() -> None:
    (loop,) = loops(kernels.mandelbrot)
    assert (loop.count, loop.bound) == (256, None)
    assert loop.until is not None
    assert carried(kernels.mandelbrot) == [["z", "n"]]
    assert not instructions(kernels.mandelbrot, op.If)
    assert not instructions(kernels.mandelbrot, op.Index)


def test_blur_is_two_run_time_loops_that_carry_the_total_alone() -> None:
    assert carried(kernels.blur) == [["Vec4"], ["Vec4"]]
    for loop in loops(kernels.blur):
        assert (loop.count, loop.until) == (MAX_BUDGET, None)
        assert loop.bound is not None


def test_a_while_loop_is_rounds_with_one_test() -> None:
    def kernel(n: i32 = 0) -> Rows[i32]:
        while n < 100:
            n = n * 2 + 1
        return n

    outer, inner = loops(kernel)
    assert (outer.count, inner.count) == (MAX_LOOP_COUNT, MAX_LOOP_COUNT)
    assert outer.until is not None
    assert inner.until is not None
    assert [type(i.op) for i in outer.until.body] == [type(i.op) for i in inner.until.body]
    assert any(i.op is inner for i in outer.body.body)
    assert carried(kernel) == [["Int"], ["Int"]]


def test_a_break_elsewhere_is_a_carried_flag() -> None:
    def kernel(n: i32 = 0) -> Rows[i32]:
        total = 0
        for i in range(10):
            total += i
            if total > n:
                break
        return total

    assert carried(kernel) == [["total", "broke1"]]


def test_a_continue_and_guards_need_no_flag() -> None:
    def kernel(n: i32 = 0) -> Rows[i32]:
        if n < 0:
            return 0
        total = 0
        for i in range(10):
            if i == n:
                continue
            total += i
        return total

    assert carried(kernel) == [["Int"]]
    assert [i.ty for i in instructions(kernel, op.If)] == [Type.INT, Type.INT]


def test_values_that_nothing_reads_again_are_not_carried() -> None:
    def kernel(n: i32 = 0) -> Rows[i32]:
        total = 0
        for i in range(n):
            square = i * i
            total += square
        for i in range(n):
            square = i + 1
            total += square
        return total

    assert carried(kernel) == [["Int"], ["Int"]]


def test_a_loop_that_carries_nothing_still_runs_for_its_faults() -> None:
    def kernel(n: i32 = 0) -> Rows[i32]:
        for i in range(5):
            10 // (n - i)
        return n

    assert carried(kernel) == [["Bool"]]
    assert run(kernel, n=7) == 7
    assert run(kernel, n=3).operands == (10, 0)


def test_the_variable_is_carried_only_where_it_is_read_after_the_loop() -> None:
    def kernel(n: i32 = 0) -> Rows[i32]:
        for i in range(7):
            n += i
        return n + i

    assert carried(kernel) == [["n", "i"]]


def test_names_that_clash_with_flags_get_fields_of_their_own() -> None:
    def kernel(n: i32 = 0) -> Rows[i32]:
        broke1 = 0
        for i in range(9):
            broke1 += i
            if broke1 > n:
                break
        return broke1

    assert carried(kernel) == [["broke1", "broke1_"]]
    assert run(kernel, n=4) == 6


def test_every_instruction_points_at_what_it_was_written_for() -> None:
    module = compile_kernel(kernels.mandelbrot)
    with open(kernels.__file__, encoding="utf-8") as file:
        lines = file.read().split("\n")
    texts = {}
    for i in module.entry.instructions():
        assert i.span is not None
        assert i.span.file == kernels.__file__
        texts[type(i.op).__name__, lines[i.span.line - 1][i.span.column : i.span.end_column]] = i
    assert ("Domain", "dy.domain()") in texts
    assert ("Binary", "z.x * z.x - z.y * z.y") in texts
    assert ("Binary", "dy.dot(z, z) > 4.0") in texts
    assert ("Const", "256") not in texts


def test_bindings_name_values_in_source_order() -> None:
    names = [name for _, name in compile_kernel(kernels.mandelbrot).entry.bindings]
    assert names == ["centre", "scale", "size", "c", "z", "n", "z", "n"]
    functions = compile_kernel(kernels.sobel).functions
    assert [(f.name, f.args) for f in functions] == [("luma", (Type.VEC2,))]


def test_a_manifest_says_what_the_kernel_needs() -> None:
    manifest = compile_kernel(kernels.blur, id="image.blur@3", budget=77).manifest
    assert str(manifest) == (
        "kernel image.blur@3\n"
        "  mode      map\n"
        "  input     image: Grid<Vec4>\n"
        "  param     radius: Int = 2\n"
        "  output    out: Grid<Vec4>\n"
        "  requires  field.read\n"
        "  budget    77"
    )
    manifest = compile_kernel(kernels.mandelbrot).manifest
    assert (manifest.id, manifest.budget) == (KernelId("mandelbrot", 1), DEFAULT_BUDGET)
    assert not manifest.requires


def test_a_kernel_never_runs_while_it_is_compiled() -> None:
    calls = []

    def helper(x):  # type: ignore[no-untyped-def]
        return x + calls.count(x)

    def kernel(x: f32 = 1.0) -> Rows[f32]:
        return helper(x)

    with pytest.raises(KernelError, match="calls"):
        compile_kernel(kernel)
    assert calls == []


def test_many_guards_do_not_nest_without_end(tmp_path: Path) -> None:
    lines = [f"    if n == {k}:\n        return {k * k}\n" for k in range(100)]
    text = "def kernel(n: i32 = 0) -> Rows[i32]:\n" + "".join(lines) + "    return -1\n"
    kernel = load("from dynamis.frontend.surface import *\n" + text, tmp_path).kernel
    for n in (0, 7, 40, 99, 100):
        assert run(kernel, n=n) == (n * n if n < 100 else -1)


def outcome(function: Callable[..., Any], inputs: list[InputField], extent: tuple[int, int]) -> Any:
    module = compiled(function)
    values = [p.default for p in module.manifest.params]
    result = interpret(validate(module), inputs, values, extent)
    assert result.outputs is not None
    return result.outputs[0]


def test_life_turns_a_blinker() -> None:
    row = [k // 5 == 2 and 1 <= k % 5 <= 3 for k in range(25)]
    column = [k % 5 == 2 and 1 <= k // 5 <= 3 for k in range(25)]
    assert outcome(kernels.life, [InputField((5, 5), row)], (5, 5)) == column
    assert outcome(kernels.life, [InputField((5, 5), column)], (5, 5)) == row


def test_sobel_sees_an_edge_and_nothing_else() -> None:
    words = [float(k % 6 >= 3) for k in range(24) for _ in range(4)]
    found = outcome(kernels.sobel, [InputField((4, 6), words)], (4, 6))
    assert found == [0.0, 0.0, 1.0, 1.0, 0.0, 0.0] * 4


def test_blur_of_one_colour_is_that_colour() -> None:
    words = [0.25, 0.5, 1.0, 1.0] * 6
    assert outcome(kernels.blur, [InputField((2, 3), words)], (2, 3)) == words


def test_host_value_takes_what_a_parameter_takes() -> None:
    assert host_value(vec2(1, 2), Type.VEC2).numbers == (1.0, 2.0)
    assert host_value(3, Type.FLOAT).numbers == (3.0,)
    for wrong, ty in ((1.5, Type.INT), (True, Type.INT), (1, Type.BOOL), (2**31, Type.INT)):
        with pytest.raises(NotAConstant):
            host_value(wrong, ty)


def shapes(cells: Rows[i32], picture: Grid[f32]) -> Grid[f32]:
    return f32(cells.at(i32(dy.coord().x))) + picture.sample() + f32(picture.count) + dy.domain().y


def test_inputs_of_other_shapes_are_read_by_address() -> None:
    inputs = [InputField((2,), [5, 7]), InputField((1, 1), [0.5])]
    assert outcome(shapes, inputs, (1, 3)) == [7.5, 9.5, 9.5]
