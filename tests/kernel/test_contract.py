"""What the contract's page names and says of it in a line: values, manifests, modules, limits.

Every test reads what it shows when it runs, so that it notices when one of the names is gone
(``python -m tests.conformance --break kernel_ir``). ``test_contract_ops.py`` shows the operations.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dynamis import kernel as decorator
from dynamis.errors import DynamisError
from dynamis.kernel import (
    Block,
    Capabilities,
    Capability,
    Combine,
    Encoding,
    Field,
    Function,
    Instruction,
    InvalidKernelId,
    KernelId,
    Manifest,
    Mode,
    Module,
    NamedManifest,
    Number,
    Param,
    PartLayout,
    Port,
    PortType,
    Scalar,
    Schema,
    Shape,
    ShapeIndex,
    Step,
    StructDef,
    Type,
    Validated,
    ValidationError,
    Value,
    ValueId,
    account,
    elements_of,
    limits,
    linear_index_type,
    loop_looks,
    measure,
    measure_struct,
    number_names,
    op,
    part_at,
    part_layout,
    port_type_name,
    scalar_kind,
    schema_of,
    template,
    too_large,
    type_name,
    validate,
    value_as,
    words,
)
from tests.kernel.build import module

F, I, B = Type.FLOAT, Type.INT, Type.BOOL  # noqa: E741
BODY = "%0: Float = sample 0\n%1: Float = %0 + %0\nreturn %1\nlet twice = %1"
LOOPING = """\
%0: Int = param 0
%1: Float = const 0.0
%2: Float = loop {count} {bound}init %1 do {{
  %3: Float = carried
  yield %3
}}
return %2"""


def table() -> tuple[StructDef, ...]:
    """Ball: a Vec2 and an Int; three Balls; a record of those and a Mat2."""
    ball = StructDef.record("Ball", [Field("at", Type.VEC2), Field("n", I)])
    balls = StructDef.array(Type.struct(0), "Ball", 3)
    both = StructDef.record("Both", [Field("balls", Type.struct(1)), Field("turn", Type.MAT2)])
    return ball, balls, both


def looping(count: int, bound: str = "") -> Module:
    return module(LOOPING.format(count=count, bound=bound), budget=2**20)


# Identity, ports and manifest.


def test_an_id_is_made_of_a_name_and_a_version() -> None:
    id = KernelId.new("image.blur", 2)
    assert (id.name, id.version, str(id)) == ("image.blur", 2, "image.blur@2")
    assert KernelId.parse("image.blur@2") == id


def test_what_is_no_id_is_refused_with_the_text() -> None:
    with pytest.raises(InvalidKernelId) as raised:
        KernelId.new("a b", 1)
    assert "'a b@1' is not a kernel id" in raised.value.args[0]
    assert isinstance(raised.value, DynamisError)


def test_a_port_has_a_name_and_a_type_of_element_and_shape() -> None:
    port = Port("image", PortType(Type.VEC4, Shape.GRID, Encoding.UNORM8))
    assert (port.name, port.ty.encoding) == ("image", Encoding.UNORM8)
    assert (port.element, port.shape) == (Type.VEC4, Shape.GRID)
    assert str(port.ty) == "Grid<Vec4, unorm8>"


def test_a_parameter_has_a_name_a_type_and_a_default() -> None:
    param = Param("n", I, Value.of(I, 3))
    assert (param.name, param.ty, param.default.numbers) == ("n", I, (3,))


def test_a_manifest_says_all_that_a_runtime_needs() -> None:
    port = Port("xs", PortType(F, Shape.ROWS))
    made = Manifest(
        KernelId.new("k", 1),
        Mode.SCAN,
        Capabilities([Capability.FIELD_READ]),
        (port,),
        (Param("n", I, Value.of(I, 3)),),
        (port,),
        ("xs",),
        77,
    )
    assert (made.id.name, made.mode.name, made.budget) == ("k", "scan", 77)
    assert made.requires.includes(Capability.FIELD_READ)
    assert (made.inputs, made.outputs, made.memories) == ((port,), (port,), ("xs",))
    assert made.params[0].name == "n"


def test_a_named_manifest_prints_the_names_of_structs() -> None:
    port = Port("xs", PortType(Type.struct(0), Shape.ROWS))
    made = replace(module(BODY).manifest, inputs=(port,))
    named = made.named(table())
    assert isinstance(named, NamedManifest)
    assert "input     xs: Rows<Ball>" in str(named)
    assert port_type_name(port.ty, table()) == "Rows<Ball>"
    assert type_name(Type.struct(1), table()) == "[Ball; 3]"


def test_capabilities_include_unite_and_print() -> None:
    reads = Capabilities([Capability.FIELD_READ])
    both = reads.union([Capability.TIME_READ])
    assert both.includes(reads) and not reads.includes(both)
    assert str(both) == "field.read, time.read"
    assert Capability.parse("time.read") is Capability.TIME_READ


def test_shapes_have_index_types() -> None:
    assert [ShapeIndex.of(s).ty for s in Shape] == [I, Type.VEC2, Type.VEC3]
    assert [linear_index_type(s) for s in Shape] == [F, Type.VEC2, Type.VEC3]
    assert Encoding.parse("f16") is Encoding.F16


# Types and values.


def test_a_record_has_fields_and_an_array_elements() -> None:
    ball, balls, _ = table()
    assert (ball.name, ball.fields[0].name, ball.fields[1].ty) == ("Ball", "at", I)
    assert ball.element is None and not ball.is_array
    assert (balls.name, balls.element, balls.is_array) == ("[Ball; 3]", Type.struct(0), True)
    assert [field.name for field in balls.fields] == ["0", "1", "2"]


def test_scalars_are_kept_as_words_of_a_kind() -> None:
    assert scalar_kind(B) is Scalar.INT and scalar_kind(Type.MAT2) is Scalar.FLOAT
    assert scalar_kind(Type.struct(0)) is None
    assert [kind.bits for kind in Scalar] == [32, 64, 32, 64]
    expected: Schema = (Scalar.FLOAT, Scalar.FLOAT, Scalar.INT)
    assert schema_of(Type.struct(0), table()) == expected
    assert Schema == tuple[Scalar, ...]
    assert number_names(Type.struct(0), table()) == ["at.x", "at.y", "n"]


def test_a_template_is_zero_and_a_value_is_retyped_where_layouts_match() -> None:
    zero = template(Type.struct(0), table())
    assert zero.words == (0, 0, 0)
    assert value_as(Value.of(Type.VEC2, [1.0, 2.0]), Type.IVEC2, ()) == Value.of(Type.IVEC2, [1, 2])
    assert value_as(Value.of(F, 0.5), I, ()) is None


def test_a_number_is_a_word_with_its_kind() -> None:
    assert Number.of(Scalar.INT, 3).as_kind(Scalar.DOUBLE) == Number.of(Scalar.DOUBLE, 3.0)
    assert Number.of(Scalar.FLOAT, 0.5).as_kind(Scalar.INT) is None


def test_sizes_count_parts_and_depth() -> None:
    assert measure(table(), Type.struct(0)) == (4, 1)
    assert measure_struct(table()[1], lambda ty: (4, 1)) == (13, 2)
    assert too_large((limits.MAX_VALUE_PARTS, 1)) is None
    assert "parts" in str(too_large((limits.MAX_VALUE_PARTS + 1, 1)))
    assert "deep" in str(too_large((1, limits.MAX_TYPE_DEPTH + 1)))


def test_words_lie_end_to_end_and_parts_are_found_in_them() -> None:
    both = Type.struct(2)
    assert words(table(), both) == 13
    assert part_at(table(), both, 1) == (9, Type.MAT2)
    assert elements_of(table(), Type.struct(1)) == (Type.struct(0), 3, 3)


def test_a_path_leads_to_a_layout() -> None:
    path = (Step.Field(0), Step.Index(7), Step.Field(0), Step.Field(1))
    layout = part_layout(table(), Type.struct(2), path)
    assert isinstance(layout, PartLayout)
    assert (layout.base, layout.steps, layout.ty) == (1, ((7, 3, 3),), F)
    assert Step.Field(2).index == 2 and Step.Index(5).value == 5
    assert PartLayout(0, (), F).base == 0


# Functions and modules.


def test_values_are_named_by_their_place_in_pre_order() -> None:
    assert ValueId(3) == 3
    body = module(BODY).entry.body
    assert [i.id for i in body] == [ValueId(0), ValueId(1)]


def test_a_block_holds_instructions_and_yields_a_value() -> None:
    instruction = Instruction(0, F, op.Element())
    assert (instruction.id, instruction.ty, instruction.op) == (0, F, op.Element())
    block = Block((instruction,), 0)
    assert (block.body, block.result) == ((instruction,), 0)


def test_a_function_knows_its_values() -> None:
    entry = module(BODY).entry
    assert (entry.name, entry.args, entry.results) == ("main", (), (1,))
    assert entry.bindings == ((1, "twice"),)
    assert (len(entry.body), entry.slot_count) == (2, 2)
    assert (entry.type_of(1), entry.type_of(9), entry.result_type()) == (F, None, F)
    assert entry.any_type(lambda ty: ty == F) and not entry.any_type(lambda ty: ty == B)
    assert Function("f", (), (), ()).slot_count == 0


def test_a_module_is_a_manifest_structs_and_functions() -> None:
    made = module(BODY)
    assert (made.manifest.id.name, made.structs, made.functions) == ("test.kernel", (), ())
    assert (made.entry.name, made.merge, made.init) == ("main", None, None)
    assert made.holds(F) and not made.holds(Type.DOUBLE)
    assert Module(made.manifest, (), (), made.entry) == made


def test_worst_work_multiplies_loops_and_functions_have_theirs() -> None:
    made = looping(50)
    assert made.worst_work() == 50
    assert replace(made, functions=(made.entry,)).functions_work() == (50,)
    assert not made.counts_work() and looping(2000).counts_work()
    assert not made.accounted() and account(looping(2000)).accounted()


def test_typical_work_may_depend_on_parameters() -> None:
    assert looping(50).typical_work() == 53
    made = looping(50, "bound %0 ")
    assert made.typical_reads_params() and not looping(50).typical_reads_params()
    assert made.typical_work_given([Value.of(I, 7)]) == 10
    assert made.typical_work() == 3 + limits.TYPICAL_OPEN_LOOP


def test_a_loop_that_runs_past_look_work_looks() -> None:
    block = Block((), 0)
    assert not loop_looks(limits.LOOK_WORK, None, block, ())
    assert loop_looks(limits.LOOK_WORK + 1, None, block, ())


def test_only_what_is_valid_may_run() -> None:
    valid = validate(module(BODY))
    assert isinstance(valid, Validated) and valid.module == module(BODY)
    with pytest.raises(ValidationError) as raised:
        validate(replace(module(BODY), entry=Function("f", (), (), ())))
    assert (raised.value.rule, raised.value.path) == (13, "entry.results")


LIMITS = {
    "IR_VERSION": 1, "MAX_GROUP": 256, "MAX_ARRAY_COUNT": 4096, "MAX_VALUE_PARTS": 2**16,
    "MAX_TYPE_DEPTH": 64, "MAX_LOOP_COUNT": 65_536, "DEFAULT_BUDGET": 2**20,
    "MAX_BUDGET": 2**30, "WORK_BLOCK": 1024, "TYPICAL_OPEN_LOOP": 4, "LOOK_WORK": 2**16,
}  # fmt: skip


def test_limits_are_those_of_the_contract() -> None:
    from dynamis.kernel import limits as home

    found: dict[str, Any] = {name: getattr(home, name) for name in LIMITS}
    assert found == LIMITS
    assert callable(decorator)  # ``dynamis.kernel`` the decorator, and the package beside it


# Modes and rules.

MODES = (("MAP", "map", ()), ("REDUCE", "reduce", ()), ("SCAN", "scan", ())) + (
    ("SCATTER", "scatter 1 sum", (1, "SUM")), ("PREFIX", "prefix max", ("MAX",)),
    ("GROUP", "group 64", (64,)),
)  # fmt: skip


def test_each_mode_has_its_facts_and_its_spelling() -> None:
    for name, spelled, facts in MODES:
        made = getattr(Mode, name)
        given = [getattr(Combine, f) if isinstance(f, str) else f for f in facts]
        mode = made(*given) if facts else made
        assert str(mode) == spelled
        assert mode.name == spelled.partition(" ")[0]


def test_each_rule_has_its_spelling_and_says_whether_order_matters() -> None:
    free = {"SUM": (False, True), "MIN": (True, True), "MAX": (True, True), "LAST": (False, False)}
    for name, orders in free.items():
        rule = getattr(Combine, name)
        assert (rule.name, Combine.parse(name.lower())) == (name.lower(), rule)
        assert (rule.order_free(F, ()), rule.order_free(I, ())) == orders
