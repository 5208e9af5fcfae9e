"""Module, operations and faults: walks, identity and the words of a failure."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from dynamis.errors import DynamisError
from dynamis.kernel import op
from dynamis.kernel.fault import Fault, FaultKind, KernelFault
from dynamis.kernel.module import (
    Capability,
    Instruction,
    InvalidKernelId,
    KernelId,
    Module,
    Shape,
    Span,
    capability_of,
    index_type,
)
from dynamis.kernel.types import Type
from tests.kernel.build import module
from tests.kernel.strategies import modules


@pytest.mark.parametrize("text", ["a@0", "image.blur@1", "_x.y_2@4294967295"])
def test_kernel_ids_read_back(text: str) -> None:
    assert str(KernelId.parse(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "@1",
        "a@",
        "a@01",
        "a@-1",
        "a@4294967296",
        "1a@1",
        "a..b@1",
        "a b@1",
        "é@1",
        "a@1\n",
    ],
)
def test_other_text_is_no_kernel_id_and_the_error_shows_how_to_write_one(text: str) -> None:
    with pytest.raises(InvalidKernelId, match="name@version"):
        KernelId.parse(text)
    assert issubclass(InvalidKernelId, DynamisError)


def test_kernel_ids_are_checked_when_built_of_parts() -> None:
    with pytest.raises(InvalidKernelId):
        KernelId("a b", 1)
    assert KernelId("a", 1) < KernelId("a", 2)


def test_only_reads_need_a_capability() -> None:
    for read in (op.Sample(0), op.At(0, 0), op.Count(0), op.Size(0)):
        assert capability_of(read) is Capability.FIELD_READ
    for pure in (op.Coord(), op.Element(), op.Domain(), op.Index(), op.Arg(0)):
        assert capability_of(pure) is None


def test_addresses_are_ints_over_rows_and_vec2_over_grids() -> None:
    assert {shape: index_type(shape) for shape in Shape} == {
        Shape.ROWS: Type.INT,
        Shape.GRID: Type.VEC2,
    }


@settings(max_examples=80, deadline=None)
@given(modules())
def test_instructions_walk_in_pre_order(made: Module) -> None:
    for function in made.all_functions():
        ids = [instruction.id for instruction in function.instructions()]
        assert ids == list(range(function.slot_count))


@settings(max_examples=80, deadline=None)
@given(modules())
def test_an_operation_given_its_own_operands_and_blocks_is_itself(made: Module) -> None:
    for function in made.all_functions():
        for instruction in function.instructions():
            operation = instruction.op
            assert operation.with_operands(operation.operands()) == operation
            assert operation.with_blocks(operation.blocks()) == operation
            moved = operation.with_operands([id + 7 for id in operation.operands()])
            assert moved.operands() == tuple(id + 7 for id in operation.operands())


def test_a_function_knows_the_types_of_its_values() -> None:
    made = module("%0: Int = const 1\n%1: Float = to_float(%0)\nreturn %1")
    assert made.entry.type_of(0) == Type.INT
    assert made.entry.type_of(2) is None
    assert made.entry.result_type() == Type.FLOAT


def test_spans_are_no_part_of_identity() -> None:
    plain = Instruction(0, Type.INT, op.Element())
    assert plain == Instruction(0, Type.INT, op.Element(), Span("k.py", 1, 2, 3))


def test_a_fault_names_kernel_element_place_operands_and_source(tmp_path: Path) -> None:
    source = tmp_path / "kernel.py"
    source.write_text("def f(a, b):\n    return a / b\n", encoding="utf-8")
    span = Span(str(source), 2, 11, 16)
    fault = Fault(7, 0, 2, FaultKind.DIVISION_BY_ZERO, (3, 0), span)
    error = KernelFault(KernelId("demo", 1), fault, (4, 3), "f")
    assert error.coordinate == (1, 2)
    assert str(error) == (
        "demo@1 failed at element 7 (column 1, row 2): division by zero (operands 3, 0)\n"
        f"  {source}:2, in f\n        return a / b\n               ^^^^^"
    )


def test_a_fault_over_rows_has_one_coordinate_and_needs_no_source() -> None:
    fault = Fault(7, 0, 2, FaultKind.BUDGET, (100,), None)
    error = KernelFault(KernelId("demo", 1), fault, (9,), "main")
    assert error.coordinate == (7,)
    assert str(error) == (
        "demo@1 failed at element 7: the work budget is spent (100 loop iterations); "
        "raise it with budget= if this is meant, in main"
    )
