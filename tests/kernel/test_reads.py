"""Reads by address, by path and between elements; structs, arrays and matrices; Match and Each."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dynamis.kernel import FaultKind, InputField, Outcome, interpret, validate
from dynamis.kernel.reads import position_of, read_index, write_index
from dynamis.kernel.types import Type, Value
from tests.kernel.build import module

VOLUME = InputField((2, 3, 4), list(range(24)))  # depth, height, width


def run(
    text: str,
    output: str,
    *inputs: InputField,
    extent: tuple[int, ...] = (1,),
    **ports: Any,
) -> Outcome:
    ports.setdefault("params", ())
    made = module(text, outputs=(f"out: {output}",), **ports)
    params = [param.default for param in made.manifest.params]
    return interpret(validate(made), inputs, params, extent)


def words(outcome: Outcome) -> list[object]:
    assert outcome.outputs is not None
    return list(outcome.outputs[0])


# Volumes.


def test_a_volume_is_depth_height_width_and_its_coordinates_x_y_z() -> None:
    text = "%0: Vec3 = coord\n%1: Vec3 = domain\n%2: Vec3 = size 0\nreturn %0"
    outcome = run(text, "Volume<Vec3>", VOLUME, extent=(2, 1, 2), inputs=("v: Volume<Int>",))
    assert words(outcome) == [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0]
    for k, expected in ((1, [2.0, 1.0, 2.0]), (2, [4.0, 3.0, 2.0])):
        outcome = run(
            text.replace("return %0", f"return %{k}"),
            "Volume<Vec3>", VOLUME, extent=(2, 1, 2), inputs=("v: Volume<Int>",),
        )  # fmt: skip
        assert words(outcome)[:3] == expected


def test_a_volume_is_sampled_clamped_and_read_at_floored_addresses() -> None:
    outcome = run("%0: Int = sample 0\nreturn %0", "Volume<Int>", VOLUME, extent=(3, 1, 5),
                  inputs=("v: Volume<Int>",))  # fmt: skip
    assert words(outcome) == [0, 1, 2, 3, 3, 12, 13, 14, 15, 15, 12, 13, 14, 15, 15]
    outcome = run(
        "%0: Vec3 = const Vec3(2.9, 1.0, 7.0)\n%1: Int = at 0 %0\nreturn %1",
        "Rows<Int>", VOLUME, inputs=("v: Volume<Int>",),
    )  # fmt: skip
    assert words(outcome) == [12 + 4 + 2]


def test_a_linear_index_past_the_end_goes_on_along_the_first_axis() -> None:
    assert position_of(23, (2, 3, 4)) == (1, 2, 3)
    assert position_of(25, (2, 3, 4)) == (2, 0, 1)
    assert position_of(7, (5,)) == (7,)


# Addresses.


@pytest.mark.parametrize(
    ("x", "read", "written"),
    [(-1.0, 0, None), (-0.5, 0, None), (-0.0, 0, 0), (2.99, 2, 2), (3.0, 2, None),
     (math.nan, 0, None), (math.inf, 2, None), (-math.inf, 0, None), (1e30, 2, None)],
)  # fmt: skip
def test_reads_clamp_and_writes_drop(x: float, read: int, written: int | None) -> None:
    assert read_index((1, 3), (x, 0.0)) == read
    assert write_index((1, 3), (x, 0.0)) == written
    assert read_index((3, 1), (0.0, x)) == read
    assert write_index((3, 1), (0.0, x)) == written


def test_rows_are_addressed_by_ints() -> None:
    assert [read_index((3,), (n,)) for n in (-5, 0, 2, 3)] == [0, 0, 2, 2]
    assert [write_index((3,), (n,)) for n in (-5, 0, 2, 3)] == [None, 0, 2, None]


# Between elements.


@pytest.mark.parametrize(
    ("p", "expected"),
    [(0.0, 10.0), (0.25, 12.5), (1.0, 20.0), (1.5, 30.0), (2.0, 40.0), (9.0, 40.0), (-1.0, 10.0),
     (math.nan, 10.0), (math.inf, 40.0), (1.75, 35.0)],
)  # fmt: skip
def test_rows_are_read_between_elements(p: float, expected: float) -> None:
    made = module(
        "%0: Float = param 0\n%1: Float = at_linear 0 %0\nreturn %1",
        params=("p: Float = 0.0",),
    )
    data = InputField((3,), [10.0, 20.0, 40.0])
    outcome = interpret(validate(made), [data], [Value.of(Type.FLOAT, p)], (1,))
    assert words(outcome) == [expected]


def test_a_place_on_an_element_reads_no_other() -> None:
    data = InputField((2, 2), [1.0, math.inf, math.nan, 5.0])
    for x, y, expected in ((0.0, 0.0, 1.0), (1.0, 1.0, 5.0), (1.0, 0.0, math.inf)):
        text = f"%0: Vec2 = const Vec2({x}, {y})\n%1: Float = at_linear 0 %0\nreturn %1"
        assert words(run(text, "Rows<Float>", data, inputs=("g: Grid<Float>",))) == [expected]


def test_grids_are_interpolated_along_x_then_y() -> None:
    data = InputField((2, 2), [1.0, 2.0, 3.0, 4.0] + [10.0, 20.0, 30.0, 40.0])
    text = "%0: Vec2 = const Vec2(0.5, 0.25)\n%1: Vec2 = at_linear 0 %0\nreturn %1"
    top, bottom = (2.0, 3.0), (20.0, 30.0)
    expected = [a * 0.75 + b * 0.25 for a, b in zip(top, bottom, strict=True)]
    assert words(run(text, "Rows<Vec2>", data, inputs=("g: Grid<Vec2>",))) == expected


def test_volumes_are_interpolated_along_all_three_axes() -> None:
    data = InputField((2, 2, 2), [0.0, 1.0, 10.0, 11.0, 100.0, 101.0, 110.0, 111.0])
    text = "%0: Vec3 = const Vec3(0.5, 0.25, 0.125)\n%1: Float = at_linear 0 %0\nreturn %1"
    outcome = run(text, "Rows<Float>", data, inputs=("v: Volume<Float>",))
    assert words(outcome) == [0.5 + 2.5 + 12.5]


# Structs, arrays, matrices.

PARTICLE = ("array Float 3", "P(pos: Vec2, hist: Struct0, m: Mat2, id: Long)")
ONE = [1.0, 2.0, 10.0, 11.0, 12.0, 5.0, 6.0, 7.0, 8.0, 2**40]
TWO = [3.0, 4.0, 20.0, 21.0, 22.0, 50.0, 60.0, 70.0, 80.0, -1]


def test_structs_come_in_and_go_out_word_by_word() -> None:
    outcome = run("%0: Struct1 = sample 0\nreturn %0", "Rows<Struct1>", InputField((2,), ONE + TWO),
                  extent=(2,), inputs=("p: Rows<Struct1>",), structs=PARTICLE)  # fmt: skip
    assert words(outcome) == ONE + TWO


@pytest.mark.parametrize(
    ("path", "ty", "expected"),
    [(".0", "Vec2", [3.0, 4.0]), (".0 .1", "Float", [4.0]), (".1 [%1]", "Float", [22.0]),
     (".2 [%1]", "Vec2", [70.0, 80.0]), (".2 .0 [%2]", "Float", [50.0]), (".3", "Long", [-1])],
)  # fmt: skip
def test_a_part_is_read_along_its_path_at_clamped_indices(
    path: str, ty: str, expected: list[object]
) -> None:
    text = (
        "%0: Int = const 1\n%1: Int = const 99\n%2: Int = const -7\n"
        f"%3: {ty} = part 0 at %0 {path}\n%4: {ty} = part 0 {path}\nreturn %3"
    )
    data = InputField((2,), ONE + TWO)
    more = {"inputs": ("p: Rows<Struct1>",), "structs": PARTICLE}
    assert words(run(text, f"Rows<{ty}>", data, **more)) == expected
    own = run(text.replace("return %3", "return %4"), f"Rows<{ty}>", data, extent=(2,), **more)
    assert words(own)[len(expected) :] == expected


@pytest.mark.parametrize(("index", "expected"), [(-1, 10.0), (0, 10.0), (2, 12.0), (3, 12.0)])
def test_subscripts_are_clamped(index: int, expected: float) -> None:
    text = (
        f"%0: Struct0 = sample 0\n%1: Int = const {index}\n%2: Float = subscript %0 %1\nreturn %2"
    )
    outcome = run(text, "Rows<Float>", InputField((1,), [10.0, 11.0, 12.0]),
                  inputs=("a: Rows<Struct0>",), structs=("array Float 3",))  # fmt: skip
    assert words(outcome) == [expected]


def test_a_matrix_has_columns() -> None:
    text = (
        "%0: Vec2 = const Vec2(1.0, 2.0)\n%1: Vec2 = const Vec2(3.0, 4.0)\n"
        "%2: Mat2 = construct(%0, %1)\n%3: Vec2 = extract %2 1\n%4: Int = const 1\n"
        "%5: Vec2 = subscript %2 %4\n%6: Bool = %3 == %5\n%7: Float = extract %3 0\nreturn %7"
    )
    assert words(run(text, "Rows<Float>", inputs=())) == [3.0]
    assert words(run(text.replace("return %7", "return %6"), "Rows<Bool>", inputs=())) == [True]


def test_parameters_may_be_structs() -> None:
    outcome = run("%0: Struct0 = param 0\n%1: Long = extract %0 1\nreturn %1", "Rows<Long>",
                  inputs=(), structs=("R(a: Bool, n: Long)",),
                  params=("r: Struct0 = Struct0(true, Long(9))",))  # fmt: skip
    assert words(outcome) == [9]


# Match and Each.


@pytest.mark.parametrize(("n", "expected"), [(1, 10), (2, 10), (-3, 20), (0, 30), (7, 30)])
def test_a_match_runs_the_arm_that_holds_its_value_and_only_it(n: int, expected: int) -> None:
    text = f"""
        %0: Int = const {n}
        %1: Int = const 0
        %2: Int = match %0 case 1, 2 {{ %3: Int = const 10 yield %3 }}
          case -3 {{ %4: Int = const 20 yield %4 }}
          else {{ %5: Int = const 30 yield %5 }}
        return %2"""
    assert words(run(text, "Rows<Int>", inputs=())) == [expected]


def test_an_unused_match_still_fails_where_its_arm_does() -> None:
    text = """
        %0: Int = const 1
        %1: Int = const 0
        %2: Int = match %0 case 1 { %3: Int = %0 / %1 yield %3 } else { yield %0 }
        return %0"""
    fault = run(text, "Rows<Int>", inputs=()).fault
    assert fault is not None
    assert (fault.instruction, fault.kind) == (3, FaultKind.DIVISION_BY_ZERO)


def test_an_each_builds_an_array_and_rebinds_the_index_only() -> None:
    text = """
        %0: Int = const 100
        %1: Int = loop 2 init %0 do {
          %2: Int = index
          %3: Struct0 = each 3 {
            %4: Int = index
            %5: Int = carried
            %6: Int = %4 + %5
            yield %6
          }
          %7: Int = subscript %3 %2
          yield %7
        }
        %8: Struct0 = each 3 {
          %9: Int = index
          %10: Int = %9 + %1
          yield %10
        }
        return %8"""
    outcome = run(text, "Rows<Struct0>", inputs=(), structs=("array Int 3",))
    assert words(outcome) == [101, 102, 103]


def test_an_each_is_no_work_but_loops_in_it_are() -> None:
    text = """
        %0: Int = const 0
        %1: Struct0 = each 5 {
          %2: Int = loop 3 init %0 do { %3: Int = index yield %3 }
          yield %2
        }
        return %1"""
    ports = {"inputs": (), "structs": ("array Int 5",)}
    assert words(run(text, "Rows<Struct0>", budget=15, **ports)) == [2] * 5
    fault = run(text, "Rows<Struct0>", budget=14, **ports).fault
    assert fault is not None
    assert fault.kind is FaultKind.BUDGET
