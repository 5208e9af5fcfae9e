"""Types and values: words, layout and the exactness of constants."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamis.kernel.types import (
    PLAIN_TYPES,
    Field,
    Number,
    Scalar,
    StructDef,
    Type,
    Value,
    bits_float,
    bits_number,
    elements_of,
    float_bits,
    part_at,
    scalar_kind,
    template,
    type_name,
    vector_of,
    word_bits,
    word_types,
    words,
)

F, I, B = Type.FLOAT, Type.INT, Type.BOOL  # noqa: E741
RECORDS = (
    StructDef.record("Inner", [Field("n", I), Field("v", Type.VEC3)]),
    StructDef.record("Outer", [Field("flag", B), Field("inner", Type.struct(0)), Field("x", F)]),
)


@given(st.integers(0, 2**32 - 1))
def test_the_bits_of_a_float_survive_but_for_the_payload_of_a_nan(bits: int) -> None:
    back = float_bits(bits_float(bits))
    assert back == (0x7FC00000 if bits & 0x7FFFFFFF > 0x7F800000 else bits)


@pytest.mark.parametrize(
    ("x", "bits"),
    [(1e39, 0x7F800000), (-1e39, 0xFF800000), (1e-46, 0), (-1e-46, 0x80000000), (0.1, 0x3DCCCCCD)],
)
def test_a_double_becomes_the_nearest_f32(x: float, bits: int) -> None:
    assert float_bits(x) == bits


@pytest.mark.parametrize(
    ("ty", "number", "bits"),
    [
        (I, -1, 0xFFFFFFFF),
        (I, -(2**31), 0x80000000),
        (Type.LONG, -1, 2**64 - 1),
        (Type.LONG, 2**63 - 1, 2**63 - 1),
        (Type.DOUBLE, 0.1, 0x3FB999999999999A),
        (Type.DOUBLE, -math.inf, 0xFFF0000000000000),
        (B, True, 1),
        (B, False, 0),
        (F, -0.0, 1 << 31),
    ],
)
def test_words_and_numbers_are_one_to_one(ty: Type, number: float, bits: int) -> None:
    assert word_bits(ty, number) == bits
    assert bits_number(ty, bits) == number
    assert type(bits_number(ty, bits)) is type(number)


def test_values_compare_bit_by_bit() -> None:
    assert Value.of(F, 0.0) != Value.of(F, -0.0)
    assert Value.of(F, math.nan) == Value.of(F, -math.nan)
    assert Value.of(F, 1.0) != Value.of(I, 1)
    assert Value.of(Type.DOUBLE, math.nan).words == (0x7FF8000000000000,)
    assert len({Value.of(B, True), Value.of(I, 1), Value.of(F, 1.0)}) == 3


def test_a_value_takes_one_number_a_lane() -> None:
    assert Value.of(Type.VEC2, [1, 2.5]).numbers == (1.0, 2.5)
    for ty, numbers in ((Type.VEC2, [1.0]), (F, [1.0, 2.0]), (Type.struct(0), [1.0])):
        with pytest.raises(ValueError, match="takes"):
            Value.of(ty, numbers)


def test_values_print_as_literals() -> None:
    assert str(Value.of(B, True)) == "true"
    assert str(Value.of(I, -3)) == "-3"
    assert str(Value.of(F, -0.0)) == "-0.0"
    assert str(Value.of(Type.IVEC2, [1, -1])) == "IVec2(1, -1)"
    assert str(Value.of(Type.LONG, -3)) == "Long(-3)"
    assert str(Value.of(Type.DOUBLE, math.inf)) == "Double(inf)"
    assert str(Value.of(Type.MAT2, [1, 0, 0, 1])) == "Mat2(1.0, 0.0, 0.0, 1.0)"


def test_a_value_of_a_struct_holds_a_number_a_word_and_prints_by_its_table() -> None:
    outer = Value.of(Type.struct(1), [True, 7, 1.0, 2.0, 3.0, 0.5], RECORDS)
    assert outer.numbers_in(RECORDS) == (True, 7, 1.0, 2.0, 3.0, 0.5)
    assert outer.text(RECORDS) == "Struct1(true, 7, 1.0, 2.0, 3.0, 0.5)"
    assert str(outer).startswith("Struct1(0x1, 0x7, 0x3f800000")
    assert outer.text(RECORDS[:1]) == str(outer)
    assert template(Type.struct(1), RECORDS) == Value(Type.struct(1), (0,) * 6)


@pytest.mark.parametrize(
    ("kind", "number", "other", "kept"),
    [
        (Scalar.INT, 3, Scalar.FLOAT, 3.0), (Scalar.INT, 2**24 + 1, Scalar.FLOAT, None),
        (Scalar.INT, 2**24 + 1, Scalar.DOUBLE, 16777217.0), (Scalar.LONG, 2**31, Scalar.INT, None),
        (Scalar.LONG, 2**53 + 1, Scalar.DOUBLE, None), (Scalar.LONG, -5, Scalar.INT, -5),
        (Scalar.FLOAT, 0.5, Scalar.INT, None), (Scalar.FLOAT, -2.0, Scalar.LONG, -2),
        (Scalar.FLOAT, -0.0, Scalar.INT, None), (Scalar.FLOAT, 0.0, Scalar.INT, 0),
        (Scalar.FLOAT, math.inf, Scalar.INT, None),
        (Scalar.FLOAT, math.inf, Scalar.DOUBLE, math.inf),
        (Scalar.DOUBLE, 0.1, Scalar.FLOAT, None), (Scalar.DOUBLE, 1e300, Scalar.FLOAT, None),
        (Scalar.DOUBLE, 2.0**31, Scalar.INT, None), (Scalar.DOUBLE, 2.0**63, Scalar.LONG, None),
    ],
)  # fmt: skip
def test_a_word_takes_another_kind_where_that_holds_its_value(
    kind: Scalar, number: float, other: Scalar, kept: float | None
) -> None:
    result = Number.of(kind, number).as_kind(other)
    assert result == (None if kept is None else Number.of(other, kept))


def test_a_nan_is_kept_by_both_float_kinds_and_by_no_other() -> None:
    nan = Number.of(Scalar.FLOAT, math.nan)
    assert nan.as_kind(Scalar.DOUBLE) == Number.of(Scalar.DOUBLE, math.nan)
    assert nan.as_kind(Scalar.LONG) is None
    assert nan.as_kind(Scalar.FLOAT) is nan
    assert str(Number.of(Scalar.LONG, 4)) == "Long(4)"


def test_plain_types_know_their_components_and_lanes() -> None:
    shapes = {name: (str(ty.component), ty.lanes) for name, ty in PLAIN_TYPES.items()}
    assert shapes == {
        "Float": ("Float", 1), "Double": ("Double", 1), "Int": ("Int", 1), "Long": ("Long", 1),
        "Bool": ("Bool", 1),
        "Vec2": ("Float", 2), "Vec3": ("Float", 3), "Vec4": ("Float", 4),
        "IVec2": ("Int", 2), "IVec3": ("Int", 3), "IVec4": ("Int", 4),
        "Mat2": ("Float", 4), "Mat3": ("Float", 9), "Mat4": ("Float", 16),
    }  # fmt: skip
    for ty in PLAIN_TYPES.values():
        assert ty.is_matrix or vector_of(ty.component, ty.lanes) == ty
        assert ty.is_vector + ty.is_scalar + ty.is_matrix == 1
        assert not ty.is_struct
        assert template(ty).words == (0,) * ty.lanes


def test_a_bool_is_kept_as_an_int_word_and_a_record_has_no_one_kind() -> None:
    assert scalar_kind(B) is Scalar.INT
    assert scalar_kind(Type.IVEC3) is Scalar.INT
    assert scalar_kind(Type.VEC3) is Scalar.FLOAT
    assert scalar_kind(Type.struct(0)) is None


def test_records_lie_field_after_field() -> None:
    outer = Type.struct(1)
    assert words(RECORDS, outer) == 6
    assert word_types(RECORDS, outer) == (B, I, F, F, F, F)
    assert [part_at(RECORDS, outer, k) for k in range(-1, 4)] == [
        None, (0, B), (1, Type.struct(0)), (5, F), None,
    ]  # fmt: skip
    assert part_at(RECORDS, Type.VEC2, 1) == (1, F)
    assert part_at(RECORDS, Type.VEC2, 2) is None
    assert part_at(RECORDS, F, 0) is None
    assert type_name(outer, RECORDS) == "Outer"
    assert type_name(F, RECORDS) == "Float"
    assert part_at(RECORDS, Type.MAT3, 2) == (6, Type.VEC3)
    assert part_at(RECORDS, Type.MAT3, 3) is None


ARRAYS = (
    *RECORDS,
    StructDef.array(Type.struct(0), "Inner", 3),
    StructDef.array(Type.struct(2), "[Inner; 3]", 2),
)


def test_arrays_lie_element_after_element() -> None:
    twice = Type.struct(3)
    assert ARRAYS[3].is_array and not RECORDS[0].is_array
    assert type_name(twice, ARRAYS) == "[[Inner; 3]; 2]"
    assert [f.name for f in ARRAYS[2].fields] == ["0", "1", "2"]
    assert words(ARRAYS, twice) == 24
    assert word_types(ARRAYS, Type.struct(2)) == (I, F, F, F) * 3
    assert elements_of(ARRAYS, twice) == (Type.struct(2), 2, 12)
    assert elements_of(ARRAYS, Type.MAT4) == (Type.VEC4, 4, 4)
    assert elements_of(ARRAYS, Type.IVEC2) == (I, 2, 1)
    assert elements_of(ARRAYS, Type.struct(0)) is None
    assert elements_of(ARRAYS, Type.DOUBLE) is None
    assert part_at(ARRAYS, twice, 1) == (12, Type.struct(2))
    assert part_at(ARRAYS, twice, 2) is None
