"""Value dtypes, pointer dtypes and promotion."""

from __future__ import annotations

import copy
import pickle

import pytest

from dynamis.dtype import (
    SCALARS,
    AddrSpace,
    DtypeError,
    Ptr,
    Val,
    bfloat16,
    bool_,
    can_lossless_cast,
    float16,
    float32,
    float64,
    fp8e4m3,
    fp8e5m2,
    int8,
    int16,
    int32,
    int64,
    least_upper_dtype,
    least_upper_float,
    scalar_of_name,
    sum_acc_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
    uint128,
    void,
    weakint,
)
from dynamis.errors import DynamisError

FIXED = [int8, int16, int32, int64, uint8, uint16, uint32, uint64]


def test_scalars_are_declared_in_order() -> None:
    names = (
        "void weakint bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 _uint128 _uint256 "
        "float16 bfloat16 float32 float64 fp8e4m3 fp8e5m2 fp8e4m3fnuz fp8e5m2fnuz"
    )
    assert [s.name for s in SCALARS] == names.split()
    assert [s.ordinal for s in SCALARS] == list(range(21))


def test_kinds_of_scalars() -> None:
    assert [s.name for s in SCALARS if s.is_int] == ["weakint", *(d.name for d in FIXED)]
    assert [s.name for s in SCALARS if s.is_unsigned] == ["uint8", "uint16", "uint32", "uint64"]
    assert [s.bits for s in SCALARS if s.is_float] == [16, 16, 32, 64, 8, 8, 8, 8]
    assert not uint128.is_int


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("FLOAT", float32), ("uchar", uint8), ("default_int", int32), ("Bf16", bfloat16)],
)
def test_names_are_read_in_any_case(name: str, dtype: Val) -> None:
    assert scalar_of_name(name) is dtype.scalar


def test_unknown_name_is_an_error_of_ours() -> None:
    with pytest.raises(DtypeError, match="float33") as caught:
        scalar_of_name("float33")
    assert isinstance(caught.value, DynamisError)
    assert isinstance(caught.value, ValueError)


def test_order_is_priority_then_width_then_declaration() -> None:
    assert bool_.order < weakint.order < int8.order < uint8.order < int16.order
    assert fp8e4m3.order < fp8e5m2.order < float16.order < bfloat16.order < float64.order


@pytest.mark.parametrize("dtype", FIXED)
def test_bounds_of_fixed_widths(dtype: Val) -> None:
    bits = dtype.bits
    if dtype.is_unsigned:
        assert (dtype.min, dtype.max) == (0, 2**bits - 1)
    else:
        assert (dtype.min, dtype.max) == (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def test_bounds_of_the_others() -> None:
    assert (bool_.min, bool_.max) == (0, 1)
    assert (float16.min, float16.max) == (float("-inf"), float("inf"))
    assert (weakint.min, weakint.max) == (-(2**799), 2**799 - 1)
    with pytest.raises(DtypeError, match="no values"):
        _ = void.min
    with pytest.raises(DtypeError, match="no bounds"):
        _ = void.scalar.min


def test_vec_and_scalarize() -> None:
    four = float32.vec(4)
    assert four is Val.of_scalar(float32.scalar).vec(4)
    assert four.scalarize() is float32
    assert (four.bitsize, four.itemsize, bool_.itemsize) == (128, 16, 1)
    assert float32.vec(1) is float32
    assert void.vec(3) is void
    assert int8.vec(0).count == 0
    assert four.with_scalar(int8.scalar) is int8.vec(4)
    assert (str(four), repr(four)) == ("f32×4", "dtypes.float.vec(4)")
    with pytest.raises(DtypeError, match="vectorised"):
        four.vec(2)
    with pytest.raises(DtypeError, match="not negative"):
        float32.vec(-1)


def test_wide_helper_has_no_repr() -> None:
    with pytest.raises(DtypeError, match="repr"):
        repr(uint128)


@pytest.mark.parametrize(
    ("pair", "join"),
    [
        ((int8, uint8), int16), ((int64, uint32), int64), ((int64, uint64), uint64),
        ((uint64, float16), float16), ((bfloat16, float16), float32), ((fp8e4m3, fp8e5m2), float16),
        ((weakint, int8), int8), ((weakint, uint64), uint64), ((bool_, float64), float64),
        ((uint128, uint128), uint128), ((float32.vec(4), int32), float32),
    ],
)  # fmt: skip
def test_least_upper_dtype(pair: tuple[Val, Val], join: Val) -> None:
    assert least_upper_dtype(pair) is join
    assert least_upper_dtype(reversed(pair)) is join


def test_promotion_without_a_join_is_an_error() -> None:
    with pytest.raises(DtypeError, match="no common"):
        least_upper_dtype((void, int8))
    with pytest.raises(DtypeError, match="no dtype"):
        least_upper_dtype(())


def test_lossless_casts_keep_every_value() -> None:
    for a in FIXED:
        for b in FIXED:
            inside = b.min <= a.min and a.max <= b.max
            assert can_lossless_cast(a, b) == inside
    assert can_lossless_cast(int16, float32)
    assert not can_lossless_cast(int32, float32)
    assert can_lossless_cast(uint32, float64)
    assert not can_lossless_cast(float32, float16)
    assert can_lossless_cast(bool_, float16)
    assert can_lossless_cast(uint64, weakint)
    assert not can_lossless_cast(weakint, int64)


def test_derived_dtypes() -> None:
    assert sum_acc_dtype(int8) is int32
    assert sum_acc_dtype(uint8.vec(2)) is uint32
    assert sum_acc_dtype(float16) is float32
    assert sum_acc_dtype(float64) is float64
    assert least_upper_float(int8) is float32
    assert least_upper_float(float16.vec(2)) is float16


def test_pointer_facts() -> None:
    p = Ptr.create_v(int32.vec(2), addrspace=AddrSpace.LOCAL, size=4, v=2)
    assert p is Ptr.create_v(int32.vec(2), addrspace=AddrSpace.LOCAL, size=4, v=2)
    assert p.value is int32.vec(4)
    assert (p.bitsize, p.itemsize, p.nbytes, p.priority) == (64, 8, 32, 5)
    assert p.scalarize() is Ptr.create(int32, addrspace=AddrSpace.LOCAL, size=4)
    assert p.with_base(float32).base is float32
    assert p.with_size(9).size == 9
    assert str(p) == "i32×2*.vec(2) [local]"
    assert not (p.is_int or p.is_float or p.is_bool)


def test_pointer_texts() -> None:
    p = Ptr.create(float32, addrspace=AddrSpace.GLOBAL, size=-1)
    assert (str(p), repr(p)) == ("f32* [global]", "dtypes.float.ptr(-1)")
    q = Ptr.create_v(int32, addrspace=AddrSpace.LOCAL, size=4, v=2)
    assert repr(q) == "dtypes.int.ptr(4, AddrSpace.LOCAL).vec(2)"


def test_pointer_errors() -> None:
    p = Ptr.create(float32, addrspace=AddrSpace.GLOBAL, size=-1)
    with pytest.raises(DtypeError, match="unbounded"):
        _ = p.nbytes
    with pytest.raises(DtypeError, match="at least one lane"):
        p.vec(0)
    with pytest.raises(DtypeError, match="vectorised"):
        p.vec(2).vec(1)
    with pytest.raises(DtypeError, match="at least -1"):
        p.with_size(-2)


def test_every_value_dtype_sorts_before_every_pointer() -> None:
    p = Ptr.create(bool_, addrspace=AddrSpace.GLOBAL, size=1)
    q = Ptr.create(bool_, addrspace=AddrSpace.REG, size=1)
    assert float64.vec(9).order < p.order < q.order


@pytest.mark.parametrize(
    "thing", [float32.vec(4), Ptr.create(int8, addrspace=AddrSpace.REG, size=3), AddrSpace.ALU]
)
def test_dtypes_are_themselves_after_copies_and_pickling(thing: object) -> None:
    assert copy.copy(thing) is thing
    assert copy.deepcopy([thing])[0] is thing
    assert pickle.loads(pickle.dumps(thing)) is thing
