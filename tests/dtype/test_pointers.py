"""Pointers, images, and dtypes of either kind."""

from __future__ import annotations

import copy
import gc
import itertools
import math
import pickle
import threading
from collections.abc import Callable

import pytest

from dynamis.dtype import (
    AddrSpace,
    Dtype,
    DtypeError,
    Image,
    ImageKind,
    Ptr,
    compare,
    default_float,
    float16,
    float32,
    int8,
    int32,
    int64,
    least_upper_dtype,
    least_upper_float,
    sum_acc_dtype,
    uint8,
    uint128,
    val_of_name,
    void,
)
from dynamis.dtype.environment import read_default_float

p = Ptr.create(float32, addrspace=AddrSpace.GLOBAL, size=8)
local = Ptr.create_v(int32.vec(2), addrspace=AddrSpace.LOCAL, size=4, v=4)
image = Image.imagef((8, 16, 4))
half = Image.imageh((8, 16, 4))


def test_accessors() -> None:
    got = (local.scalar, local.count, local.addrspace, local.v, local.size, local.base)
    assert got == (int32.scalar, 2, AddrSpace.LOCAL, 4, 4, int32.vec(2))
    assert p.v == 1
    assert Ptr.create(float32, addrspace=AddrSpace.REG, size=-1).size == -1
    assert p.vec(4).value is float32.vec(4)
    assert local.value is int32.vec(8)
    assert (p.is_image, p.image_kind, p.image_shape) == (False, None, None)
    assert (image.is_image, image.image_kind) == (True, ImageKind.IMAGEF)
    assert image.image_shape == (8, 16, 4)
    assert (local.vcount, int32.vec(3).vcount) == (4, 3)


def test_images_are_global_float32_of_their_shape() -> None:
    assert (image.base, image.addrspace, image.size) == (float32, AddrSpace.GLOBAL, 512)
    assert (image.priority, p.priority, half.priority) == (100, 13, 100)
    assert (image.bitsize, half.bitsize, half.itemsize, half.nbytes) == (32, 16, 2, 1024)
    assert (image.is_float, p.is_float, image.is_int, image.is_bool) == (True, False, False, False)
    assert (image.min, image.max, p.min, p.max) == (-math.inf, math.inf, 0, 1)
    assert Image.kind(half) is ImageKind.IMAGEH
    assert (Image.shape(half), Image.base(half), Image.size(half)) == ((8, 16, 4), float32, 512)
    assert Image.addrspace(half) is AddrSpace.GLOBAL
    assert Image.vec(half, 4).v == 4
    with pytest.raises(DtypeError, match="negative"):
        Image.imagef((2, -1, 4))


@pytest.mark.parametrize(
    "read", [Image.kind, Image.shape, Image.base, Image.size, Image.addrspace, Image.pitch]
)
def test_what_only_images_have(read: Callable[[Ptr], object]) -> None:
    with pytest.raises(DtypeError, match="no image"):
        read(p)
    with pytest.raises(DtypeError, match="no image"):
        Image.vec(p, 4)


def test_pitch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.system", lambda: "Linux")
    assert Image.pitch(image) == 16 * 4 * 4
    assert Image.pitch(half) == 16 * 4 * 2
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    assert Image.pitch(half) == 256 * 4 * 2
    with pytest.raises(DtypeError, match="no rows"):
        Image.pitch(Image.imagef((8,)))


def test_transformers() -> None:
    flat = Ptr.create(int32, addrspace=AddrSpace.LOCAL, size=4)
    assert local.scalarize() is flat
    assert local.with_base(int8) is Ptr.create_v(int8, addrspace=AddrSpace.LOCAL, size=4, v=4)
    assert p.with_size(9) is Ptr.create(float32, addrspace=AddrSpace.GLOBAL, size=9)
    assert image.with_size(512) is image
    assert not image.with_size(511).is_image
    assert not image.with_base(float32).is_image
    assert image.scalarize() is image
    assert image.vec(4).image_shape == (8, 16, 4)
    for n, text in ((0, "at least one lane"), (-1, "at least one lane")):
        with pytest.raises(DtypeError, match=text):
            p.vec(n)
        with pytest.raises(DtypeError, match=text):
            Ptr.create_v(int8, addrspace=AddrSpace.REG, size=1, v=n)
    with pytest.raises(DtypeError, match="vectorised"):
        local.vec(1)


def test_bytes() -> None:
    assert (local.bitsize, local.itemsize, local.nbytes) == (64, 8, 32)
    with pytest.raises(DtypeError, match="unbounded"):
        _ = p.with_size(-1).nbytes


POINTERS = [
    p, local, image, half, image.vec(2), Image.imagef((16, 8, 4)), p.vec(2), p.with_size(9),
    Ptr.create(float32, addrspace=AddrSpace.REG, size=8), p.with_base(int8), p.with_base(uint8),
    p.with_base(float32.vec(2)),
]  # fmt: skip


def test_pointers_are_made_once_and_every_field_tells_them_apart() -> None:
    assert len(set(POINTERS)) == len(POINTERS)
    again = Ptr.create(float32, addrspace=AddrSpace.GLOBAL, size=8)
    assert again is p
    for q in POINTERS:
        assert pickle.loads(pickle.dumps(q)) is q
        assert copy.deepcopy(q) is q
    assert Image.imagef([8, 16, 4]) is image


def test_the_order_of_dtypes() -> None:
    everything: list[Dtype] = [int8, float32, int8.vec(2), void, *POINTERS]
    for a, b in itertools.product(everything, repeat=2):
        assert compare(a, b) == -compare(b, a)
        assert (compare(a, b) == 0) == (a is b)
    ordered = [
        void, int8, int8.vec(2), float32, p.with_base(int8), p.with_base(uint8), p, p.with_size(9),
        p.vec(2), Ptr.create(float32, addrspace=AddrSpace.REG, size=8), p.with_base(float32.vec(2)),
        half, Image.imagef((8, 16, 4)), Image.imagef((16, 8, 4)), image.vec(2),
    ]  # fmt: skip
    assert all(compare(a, b) == -1 for a, b in itertools.pairwise(ordered))


def test_printed_forms() -> None:
    f = Ptr.create(float32, addrspace=AddrSpace.GLOBAL, size=-1)
    assert str(f) == "f32* [global]"
    assert str(Ptr.create_v(int32, addrspace=AddrSpace.LOCAL, size=4, v=4)) == "i32*.vec(4) [local]"
    assert repr(f) == "dtypes.float.ptr(-1)"
    made = Ptr.create_v(int32, addrspace=AddrSpace.LOCAL, size=4, v=2)
    assert repr(made) == "dtypes.int.ptr(4, AddrSpace.LOCAL).vec(2)"
    assert repr(half) == "dtypes.imageh((8, 16, 4))"
    assert repr(Image.imagef((8,)).vec(2)) == "dtypes.imagef((8,)).vec(2)"
    assert str(half) == "imageh(8, 16, 4)"
    assert f"{f}" == "f32* [global]"


def test_promotion_with_pointers() -> None:
    assert least_upper_dtype([int8, image, half]) is image
    assert least_upper_float(image) is image
    assert least_upper_float(int8) is default_float is float32
    assert least_upper_float(float16.vec(2)) is float16
    for refused in ([p], [int8, p]):
        with pytest.raises(DtypeError, match="pointer"):
            least_upper_dtype(refused)
    with pytest.raises(DtypeError, match="pointer"):
        least_upper_float(p)
    with pytest.raises(DtypeError, match="no dtype"):
        least_upper_dtype([])


def test_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUM_DTYPE", "Float64")
    assert sum_acc_dtype(float16) is val_of_name("float64")
    assert sum_acc_dtype(int64) is int64
    monkeypatch.setenv("SUM_DTYPE", "decimal")
    with pytest.raises(DtypeError, match="SUM_DTYPE=decimal"):
        sum_acc_dtype(float16)
    monkeypatch.setenv("DEFAULT_FLOAT", "half")
    assert read_default_float() is float16
    monkeypatch.setenv("DEFAULT_FLOAT", "int8")
    with pytest.raises(DtypeError, match="no float"):
        read_default_float()
    assert val_of_name("DEFAULT_FLOAT") is default_float
    assert val_of_name("Int8") is int8


def test_pointers_without_a_user_are_forgotten() -> None:
    from dynamis.dtype import ptr

    before = len(ptr._PTRS)
    made = [p.with_size(n) for n in range(10_000, 10_100)]
    assert len(ptr._PTRS) == before + 100
    del made
    gc.collect()
    assert len(ptr._PTRS) <= before


def test_threads_make_one_pointer() -> None:
    for turn in range(50):
        start = threading.Barrier(4)
        made: list[Ptr] = []

        def work(turn: int = turn, start: threading.Barrier = start, made: list = made) -> None:
            start.wait()
            made.append(p.with_size(50_000 + turn))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert len(made) == 4
        assert len(set(made)) == 1


def test_void_has_no_bounds_and_the_wide_helpers_those_of_bool() -> None:
    for side in ("min", "max"):
        with pytest.raises(DtypeError, match="no values"):
            getattr(void, side)
    assert (uint128.min, uint128.max) == (0, 1)
    assert pickle.loads(pickle.dumps(void)) is void
