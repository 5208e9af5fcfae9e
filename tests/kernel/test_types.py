"""Types and values: words, layout and the exactness of constants."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamis.kernel.types import (
    PLAIN_TYPES,
    Field,
    Scalar,
    StructDef,
    Type,
    Value,
    bits_float,
    bits_number,
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


def test_plain_types_know_their_components_and_lanes() -> None:
    shapes = {name: (str(ty.component), ty.lanes) for name, ty in PLAIN_TYPES.items()}
    assert shapes == {
        "Float": ("Float", 1), "Int": ("Int", 1), "Bool": ("Bool", 1),
        "Vec2": ("Float", 2), "Vec3": ("Float", 3), "Vec4": ("Float", 4),
        "IVec2": ("Int", 2), "IVec3": ("Int", 3), "IVec4": ("Int", 4),
    }  # fmt: skip
    for ty in PLAIN_TYPES.values():
        assert vector_of(ty.component, ty.lanes) == ty
        assert ty.is_vector != ty.is_scalar
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
