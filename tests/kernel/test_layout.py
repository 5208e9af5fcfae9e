"""What follows from how a value lies in words: schemas, names, sizes, paths, values retyped."""

from __future__ import annotations

import pytest

from dynamis.kernel.layout import (
    PartLayout,
    measure,
    number_names,
    part_layout,
    part_types,
    schema_of,
    too_large,
    value_as,
)
from dynamis.kernel.limits import MAX_TYPE_DEPTH, MAX_VALUE_PARTS
from dynamis.kernel.op import FieldStep, IndexStep, Step
from dynamis.kernel.types import Field, Scalar, StructDef, Type, Value

F, I = Type.FLOAT, Type.INT  # noqa: E741
RECORD, ARRAY, OUTER = Type.struct(0), Type.struct(1), Type.struct(2)
TABLE = (
    StructDef.record("Body", [Field("mass", Type.DOUBLE), Field("at", Type.VEC2)]),
    StructDef.array(RECORD, "Body", 3),
    StructDef.record(
        "World", [Field("all", ARRAY), Field("turn", Type.MAT2), Field("on", Type.BOOL)]
    ),
)


def test_a_schema_is_the_kind_of_each_word() -> None:
    body = (Scalar.DOUBLE, Scalar.FLOAT, Scalar.FLOAT)
    assert schema_of(OUTER, TABLE) == (*body * 3, *(Scalar.FLOAT,) * 4, Scalar.INT)
    assert schema_of(Type.LONG, ()) == (Scalar.LONG,)
    assert schema_of(Type.struct(3), TABLE) is None


def test_numbers_are_named_by_the_path_to_them() -> None:
    assert number_names(RECORD, TABLE) == ["mass", "at.x", "at.y"]
    assert number_names(OUTER, TABLE) == [
        "all.0.mass", "all.0.at.x", "all.0.at.y", "all.1.mass", "all.1.at.x", "all.1.at.y",
        "all.2.mass", "all.2.at.x", "all.2.at.y", "turn.0", "turn.1", "turn.2", "turn.3", "on",
    ]  # fmt: skip
    assert number_names(Type.IVEC3, ()) == ["x", "y", "z"]
    assert number_names(F, ()) == [""]
    assert number_names(Type.struct(3), TABLE) is None


def test_parts_count_words_and_the_structs_around_them() -> None:
    assert measure(TABLE, Type.MAT3) == (9, 0)
    assert measure(TABLE, RECORD) == (4, 1)
    assert measure(TABLE, ARRAY) == (13, 2)
    assert measure(TABLE, OUTER) == (1 + 13 + 4 + 1, 3)


def test_too_large_says_which_limit_is_passed() -> None:
    assert too_large((MAX_VALUE_PARTS, MAX_TYPE_DEPTH)) is None
    assert "parts" in (too_large((MAX_VALUE_PARTS + 1, 1)) or "")
    assert "deep" in (too_large((1, MAX_TYPE_DEPTH + 1)) or "")


@pytest.mark.parametrize(
    ("path", "layout"),
    [
        ((), PartLayout(0, (), OUTER)),
        ((FieldStep(1),), PartLayout(9, (), Type.MAT2)),
        ((FieldStep(1), FieldStep(1), FieldStep(0)), PartLayout(11, (), F)),
        ((FieldStep(0), IndexStep(7), FieldStep(1)), PartLayout(1, ((7, 3, 3),), Type.VEC2)),
        ((FieldStep(0), FieldStep(2), FieldStep(0)), PartLayout(6, (), Type.DOUBLE)),
        ((FieldStep(1), IndexStep(4), IndexStep(5)), PartLayout(9, ((4, 2, 2), (5, 2, 1)), F)),
        ((FieldStep(3),), None),
        ((IndexStep(0),), None),
        ((FieldStep(2), FieldStep(0)), None),
        ((Step(),), None),
    ],
)
def test_a_path_leads_to_a_part_or_fits_nothing(
    path: tuple[Step, ...], layout: PartLayout | None
) -> None:
    assert part_layout(TABLE, OUTER, path) == layout


def test_steps_are_reached_by_the_names_of_their_kinds() -> None:
    assert Step.Field(2) == FieldStep(2)
    assert Step.Index(2) == IndexStep(2)
    assert (str(FieldStep(2)), str(IndexStep(2))) == (".2", "[%2]")


def test_the_parts_of_a_type_are_fields_columns_or_components() -> None:
    assert part_types(TABLE, RECORD) == (Type.DOUBLE, Type.VEC2)
    assert part_types(TABLE, Type.MAT2) == (Type.VEC2, Type.VEC2)
    assert part_types(TABLE, Type.IVEC2) == (I, I)
    assert part_types(TABLE, F) == ()


@pytest.mark.parametrize(
    ("value", "ty", "numbers"),
    [
        (Value.of(I, 3), F, 3.0),
        (Value.of(Type.IVEC2, [1, 2]), Type.VEC2, (1.0, 2.0)),
        (Value.of(Type.VEC3, [1, 2, 3]), RECORD, (1.0, 2.0, 3.0)),
        (Value.of(I, 1), Type.BOOL, True),
        (Value.of(I, 2), Type.BOOL, None),
        (Value.of(F, 0.5), I, None),
        (Value.of(Type.VEC2, [1, 2]), Type.VEC3, None),
        (Value.of(Type.VEC4, [1, 2, 3, 4]), Type.MAT2, (1.0, 2.0, 3.0, 4.0)),
        (Value(F, ()), F, None),
        (Value.of(F, 1.0), Type.struct(9), None),
    ],
)
def test_a_value_is_retyped_word_by_word_where_every_word_fits(
    value: Value, ty: Type, numbers: object
) -> None:
    made = value_as(value, ty, TABLE)
    if numbers is None:
        assert made is None
    else:
        assert made == Value.of(ty, numbers, TABLE)  # type: ignore[arg-type]
