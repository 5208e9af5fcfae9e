"""Module, operations and faults: walks, identity and the words of a failure."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from dynamis.errors import DynamisError
from dynamis.kernel import op
from dynamis.kernel.encoding import ENCODINGS
from dynamis.kernel.fault import Fault, FaultKind, KernelFault
from dynamis.kernel.module import (
    Capabilities,
    Capability,
    Combine,
    Encoding,
    Instruction,
    InvalidKernelId,
    KernelId,
    Mode,
    ModeKind,
    Module,
    Port,
    PortType,
    Shape,
    ShapeIndex,
    Span,
    capability_of,
    index_type,
    linear_index_type,
    port_type_name,
)
from dynamis.kernel.op_base import OneOperand
from dynamis.kernel.op_table import OPS
from dynamis.kernel.types import Field, StructDef, Type
from tests.kernel.build import module
from tests.kernel.samples import samples
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
    for version in (-1, 2**32, 10**5000):
        with pytest.raises(InvalidKernelId):
            KernelId.new("a", version)
    assert KernelId.new("a.b", 7) == KernelId.parse("a.b@7")
    assert KernelId("a", 1) < KernelId("a", 2)


def test_host_access_needs_its_capability_and_nothing_else_does() -> None:
    needs = {
        Capability.FIELD_READ: {op.Sample, op.At, op.Part, op.AtLinear, op.Count, op.Size},
        Capability.FIELD_WRITE: {op.Put, op.Emit},
        Capability.TIME_READ: {op.Time, op.Clock, op.Rate, op.Queued},
        Capability.INPUT_READ: {
            op.Pointer, op.PointerDown, op.Button, op.Wheel, op.Pads, op.Stick, op.Window,
            op.Scale, op.Key, op.Typed,
        },
    }  # fmt: skip
    for capability, kinds in needs.items():
        assert {kind for kind, row in OPS.items() if row.capability is capability} == kinds
    assert capability_of(op.Sample(0)) is Capability.FIELD_READ
    assert capability_of(op.Coord()) is None
    assert capability_of(op.Op()) is None


def test_capabilities_are_a_set_that_includes_unites_and_prints() -> None:
    both = Capabilities([Capability.TIME_READ]) | Capabilities([Capability.FIELD_READ])
    assert str(both) == "field.read, time.read"
    assert str(Capabilities()) == "nothing"
    assert both.includes(Capability.TIME_READ) and not both.includes(Capability.INPUT_READ)
    assert both.includes(Capabilities([Capability.TIME_READ])) and both.includes(Capabilities())
    assert not Capabilities([Capability.TIME_READ]).includes(both)
    assert both.union([Capability.INPUT_READ]) == {*both, Capability.INPUT_READ}
    assert isinstance(both.union(), Capabilities)
    assert Capability.parse("input.read") is Capability.INPUT_READ
    assert Capability.parse("disk.read") is None


def test_modes_and_rules_have_stable_spellings() -> None:
    modes = [
        Mode.MAP, Mode.REDUCE, Mode.SCAN, Mode.SCATTER(1, Combine.SUM), Mode.PREFIX(Combine.MAX),
        Mode.GROUP(64),
    ]  # fmt: skip
    assert [str(mode) for mode in modes] == [
        "map", "reduce", "scan", "scatter 1 sum", "prefix max", "group 64",
    ]  # fmt: skip
    assert [mode.name for mode in modes] == [kind.value for kind in ModeKind]
    assert all(Combine.parse(rule.name) is rule for rule in Combine)
    assert Combine.parse("mean") is None


def test_a_rule_is_order_free_unless_it_adds_floats_or_keeps_the_last() -> None:
    for element, free in ((Type.IVEC2, True), (Type.FLOAT, False), (Type.DOUBLE, False)):
        assert Combine.SUM.order_free(element) is free
        assert Combine.MIN.order_free(element) and Combine.MAX.order_free(element)
        assert not Combine.LAST.order_free(element)
    assert not Combine.SUM.takes_words({Type.BOOL, Type.INT})
    assert Combine.LAST.takes_words({Type.BOOL})


def test_encodings_know_the_words_they_store() -> None:
    assert Encoding.parse("unorm8") is Encoding.UNORM8
    assert Encoding.parse("half") is None
    assert Encoding.UNORM8.fits(Type.VEC4) and not Encoding.UNORM8.fits(Type.INT)
    assert Encoding.U16.fits(Type.IVEC2) and Encoding.F64.fits(Type.DOUBLE)
    assert {e.name: e.bits for e in Encoding} == {
        "f32": 32, "f64": 64, "i32": 32, "i64": 64, "f16": 16, "bf16": 16, "i8": 8, "u8": 8,
        "i16": 16, "u16": 16, "bool": 8, "unorm8": 8, "unorm16": 16, "snorm8": 8, "snorm16": 16,
    }  # fmt: skip
    assert set(ENCODINGS) == set(Encoding)


def test_a_port_prints_its_struct_by_number_or_by_name() -> None:
    table = (StructDef.record("Body", [Field("x", Type.FLOAT)]),)
    ty = PortType(Type.struct(0), Shape.VOLUME, Encoding.F16)
    assert str(ty) == "Volume<Struct0, f16>"
    assert port_type_name(ty, table) == "Volume<Body, f16>"
    assert Port("p", ty).shape is Shape.VOLUME and Port("p", ty).element == Type.struct(0)


def test_a_named_manifest_prints_the_names_of_structs() -> None:
    made = samples()[0]
    named = str(made.manifest.named(made.structs))
    assert "records: Rows<Outer>" in named
    assert "start: Outer = Outer(1, 0.5, 0.0, -1.0, Long(-3), Double(0.25), 1.0" in named
    assert "Struct" not in named
    assert str(made.manifest).count("Struct1") == 4


def test_a_module_knows_what_scalars_it_is_made_of() -> None:
    everything, scan, *_ = samples()
    scalars = (Type.FLOAT, Type.DOUBLE, Type.INT, Type.LONG, Type.BOOL)
    assert all(everything.holds(scalar) for scalar in scalars)
    assert scan.holds(Type.FLOAT) and not scan.holds(Type.DOUBLE)
    assert scan.entry.any_type(lambda ty: ty == Type.VEC2)
    assert not scan.entry.any_type(lambda ty: ty == Type.BOOL)
    assert everything.functions[0].any_type(lambda ty: ty == Type.struct(2))


def test_the_functions_of_a_module_are_numbered_helpers_entry_merge_init() -> None:
    everything, scan, reduction, *_ = samples()
    paths = [
        [made.function_path(k) for k in range(len(made.all_functions()))]
        for made in (everything, scan, reduction)
    ]
    assert paths == [["functions.0", "entry"], ["entry", "init"], ["entry", "merge"]]
    for made in (everything, scan, reduction):
        assert made.with_functions(made.all_functions()) == made


def test_every_operation_has_a_row_and_every_row_an_operation() -> None:
    kinds = {
        kind
        for kind in vars(op).values()
        if isinstance(kind, type) and issubclass(kind, op.Op) and kind is not op.Op
    }
    assert set(OPS) == kinds - {OneOperand}
    words = [row.word for row in OPS.values() if row.word]
    assert len(words) == len(set(words))
    assert all(row.meaning.endswith(".") for row in OPS.values())


@pytest.mark.parametrize("made", samples(), ids=lambda made: str(made.manifest.mode))
def test_an_operation_of_a_sample_given_its_own_operands_and_blocks_is_itself(made: Module) -> None:
    for function in made.all_functions():
        assert [i.id for i in function.instructions()] == list(range(function.slot_count))
        for instruction in function.instructions():
            operation = instruction.op
            assert operation.with_operands(operation.operands()) == operation
            assert operation.with_blocks(operation.blocks()) == operation
            moved = operation.with_operands([id + 7 for id in operation.operands()])
            assert moved.operands() == tuple(id + 7 for id in operation.operands())


def test_addresses_are_ints_over_rows_and_vec2_over_grids() -> None:
    assert {shape: index_type(shape) for shape in Shape} == {
        Shape.ROWS: Type.INT,
        Shape.GRID: Type.VEC2,
        Shape.VOLUME: Type.VEC3,
    }
    assert [linear_index_type(shape) for shape in Shape] == [Type.FLOAT, Type.VEC2, Type.VEC3]
    for shape in Shape:
        assert ShapeIndex.of(shape).ty == index_type(shape)
        assert ShapeIndex.of(shape).rank == shape.rank


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


def test_a_fault_over_a_volume_names_three_axes() -> None:
    fault = Fault(23, 0, 2, FaultKind.SCATTER_TOTAL, (2**31,), None)
    error = KernelFault(KernelId("demo", 1), fault, (2, 3, 4), "main")
    assert error.coordinate == (3, 2, 1)
    assert "element 23 (x 3, y 2, z 1)" in str(error)
    assert "(total 2147483648)" in str(error)


def test_a_run_past_its_bound_says_how_to_raise_it() -> None:
    fault = Fault(2, 0, 2, FaultKind.RUN_BOUND, (5,), None)
    assert "max_work=" in str(KernelFault(KernelId("demo", 1), fault, (4,), "main"))
