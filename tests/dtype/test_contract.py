"""The contract of pointer dtypes: each accessor, constructor, transformer, order and text."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from dynamis.dtype import (
    AddrSpace,
    DtypeError,
    Image,
    ImageKind,
    Ptr,
    compare,
    float16,
    float32,
    int8,
    int32,
)

GLOBAL, LOCAL, REG, ALU = AddrSpace.GLOBAL, AddrSpace.LOCAL, AddrSpace.REG, AddrSpace.ALU
p = Ptr.create(float32, addrspace=GLOBAL, size=-1)
q = Ptr.create_v(int32.vec(2), addrspace=LOCAL, size=4, v=8)
image = Image.imageh((8, 16, 4))


def test_a_pointer_is_made_once_with_at_least_one_lane() -> None:
    assert isinstance(q, Ptr)
    assert Ptr.create(float32, addrspace=GLOBAL, size=-1) is p
    for made in (p, q, image):
        assert made.v >= 1


def test_scalar_is_that_of_the_base() -> None:
    assert q.scalar is int32.scalar
    assert image.scalar is float32.scalar


def test_count_is_the_width_of_the_base() -> None:
    assert (p.count, q.count) == (1, 2)


def test_addrspace_is_the_memory_space() -> None:
    assert (p.addrspace, q.addrspace, image.addrspace) == (GLOBAL, LOCAL, GLOBAL)


def test_v_is_the_number_of_pointer_lanes() -> None:
    assert (p.v, q.v, image.v) == (1, 8, 1)


def test_size_is_the_element_count_or_minus_one() -> None:
    assert (p.size, q.size, image.size) == (-1, 4, 8 * 16 * 4)


def test_base_is_the_pointed_to_dtype() -> None:
    assert (p.base, q.base, image.base) == (float32, int32.vec(2), float32)


def test_value_is_the_dtype_read_and_keeps_pointer_lanes() -> None:
    assert p.value is float32
    assert p.vec(4).value is float32.vec(4)
    assert q.value is int32.vec(16)


def test_image_kind_is_of_images() -> None:
    assert image.image_kind is ImageKind.IMAGEH
    assert Image.imagef((2, 2, 4)).image_kind is ImageKind.IMAGEF
    assert p.image_kind is None


def test_image_shape_is_of_images() -> None:
    assert image.image_shape == (8, 16, 4)
    assert p.image_shape is None


def test_is_image_says_whether_there_is_image_metadata() -> None:
    assert image.is_image
    assert not p.is_image
    assert not image.with_size(3).is_image


def test_create_has_one_lane() -> None:
    made = Ptr.create(float16, addrspace=REG, size=3)
    assert (made.base, made.addrspace, made.size, made.v) == (float16, REG, 3, 1)


def test_create_v_has_the_lanes_given_and_refuses_none() -> None:
    made = Ptr.create_v(float16, addrspace=REG, size=3, v=2)
    assert (made.base, made.addrspace, made.size, made.v) == (float16, REG, 3, 2)
    for v in (0, -1):
        with pytest.raises(DtypeError) as caught:
            Ptr.create_v(float16, addrspace=REG, size=3, v=v)
        assert isinstance(caught.value, ValueError)


def test_scalarize_drops_both_lane_counts() -> None:
    one = q.scalarize()
    assert (one.base, one.v, one.addrspace, one.size) == (int32, 1, LOCAL, 4)


def test_vec_sets_the_lanes_once() -> None:
    made = p.vec(4)
    assert (made.v, made.base, made.addrspace, made.size) == (4, float32, GLOBAL, -1)
    for wrong in (lambda: p.vec(0), lambda: p.vec(-2), lambda: q.vec(2), lambda: q.vec(1)):
        with pytest.raises(DtypeError):
            wrong()


def test_with_base_keeps_the_rest_and_drops_image_metadata() -> None:
    made = q.with_base(float32)
    assert (made.base, made.addrspace, made.v, made.size) == (float32, LOCAL, 8, 4)
    assert image.with_base(float32).image_kind is None
    assert image.with_base(float32).size == image.size


def test_with_size_drops_image_metadata_when_the_size_differs() -> None:
    assert (q.with_size(9).size, q.with_size(9).v) == (9, 8)
    assert image.with_size(image.size) is image
    assert image.with_size(image.size + 1).image_shape is None


def test_bitsize_is_that_of_the_base_or_the_texel() -> None:
    assert (p.bitsize, q.bitsize) == (32, 64)
    assert (image.bitsize, Image.imagef((2, 2, 4)).bitsize) == (16, 32)


def test_itemsize_is_bitsize_in_whole_bytes() -> None:
    assert (p.itemsize, q.itemsize, image.itemsize) == (4, 8, 2)


def test_nbytes_is_size_times_itemsize() -> None:
    assert q.nbytes == 4 * 8
    assert image.nbytes == 8 * 16 * 4 * 2
    with pytest.raises(DtypeError) as caught:
        _ = p.nbytes
    assert isinstance(caught.value, ValueError)


def test_priority_is_the_bases_and_100_for_images() -> None:
    assert (p.priority, q.priority, image.priority) == (13, 5, 100)


def variants() -> list[Ptr]:
    fields = product((int8, int32, int32.vec(2)), (GLOBAL, ALU), (1, 4), (-1, 7))
    made = [Ptr.create_v(b, addrspace=a, size=n, v=v) for b, a, v, n in fields]
    return [*made, image, Image.imagef((8, 16, 4)), Image.imageh((16, 8, 4)), image.vec(2)]


def test_pointers_are_equal_when_every_field_is() -> None:
    all_of_them = variants()
    for i, a in enumerate(all_of_them):
        for j, b in enumerate(variants()):
            assert (a == b) == (i == j)
    assert not p == float32  # noqa: SIM201  # equality itself is asked


def test_compare_orders_by_priority_base_space_lanes_size_and_image() -> None:
    ordered = [
        Ptr.create(int8, addrspace=ALU, size=9),
        Ptr.create(int32, addrspace=GLOBAL, size=9),
        Ptr.create(int32.vec(2), addrspace=GLOBAL, size=-1),
        Ptr.create(int32.vec(2), addrspace=LOCAL, size=9),
        Ptr.create_v(int32.vec(2), addrspace=LOCAL, size=-1, v=2),
        Ptr.create_v(int32.vec(2), addrspace=LOCAL, size=4, v=2),
        p,
        Image.imageh((8, 16, 4)),
        Image.imagef((8, 16, 4)),
    ]
    assert [compare(a, b) for a, b in pairwise(ordered)] == [-1] * 8
    for a, b in product(variants(), variants()):
        assert compare(a, b) == -compare(b, a)
        assert (compare(a, b) == 0) == (a == b)


def test_str_is_for_people() -> None:
    assert str(p) == "f32* [global]"
    assert str(Ptr.create_v(int32, addrspace=LOCAL, size=4, v=4)) == "i32*.vec(4) [local]"
    assert str(image) == "imageh(8, 16, 4)"


def test_repr_is_tinygrads() -> None:
    assert repr(p) == "dtypes.float.ptr(-1)"
    two = Ptr.create_v(int32, addrspace=LOCAL, size=4, v=2)
    assert repr(two) == "dtypes.int.ptr(4, AddrSpace.LOCAL).vec(2)"
    assert repr(image) == "dtypes.imageh((8, 16, 4))"


def test_formatting_uses_str() -> None:
    for pointer in (p, q, image):
        assert f"{pointer}" == str(pointer)
