"""Host arrays to native buffers: every form that goes in, and what each refused one is told."""

from __future__ import annotations

import array
import ctypes

import numpy as np
import pytest

from dynamis.kernel import Port, PortType, Shape, Type
from dynamis.runtime.arrays import (
    MAX_GRID_AXIS,
    as_array,
    check_extent,
    host_dtype,
    host_shape,
    input_extent,
    native_input,
    unorm8,
)
from dynamis.runtime.errors import ArgumentError, ArgumentTypeError, ArgumentValueError


def port(element: Type, shape: Shape = Shape.GRID) -> Port:
    return Port("image", PortType(element, shape))


GRID = port(Type.FLOAT)
ROWS = port(Type.FLOAT, Shape.ROWS)


def bound(given: object, to: Port) -> np.ndarray:
    """An argument as a call would pass it to machine code."""
    found = as_array("input", given)
    assert input_extent(to, found) == found.shape[: to.shape.rank]
    native = native_input(to, found)
    assert native.flags.c_contiguous
    assert native.flags.aligned
    assert native.dtype.isnative
    return native


class Interface:
    def __init__(self, values: np.ndarray):
        self._values = values
        self.__array_interface__ = values.__array_interface__


class Convertible:
    def __init__(self, values: np.ndarray):
        self._values = values

    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        return self._values


class Tensor:
    def __init__(self, values: np.ndarray):
        self._values = values

    def __dlpack__(self, **keywords: object) -> object:
        return self._values.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._values.__dlpack_device__()


class OtherDevice:
    def __array__(self, dtype: object = None, copy: bool | None = None) -> np.ndarray:
        raise RuntimeError("the tensor is on cuda:0")


@pytest.mark.parametrize(
    "wrap",
    [
        np.asarray,
        memoryview,
        lambda a: array.array("f", a.tolist()),
        lambda a: (ctypes.c_float * a.size)(*a.tolist()),
        Interface,
        Convertible,
        Tensor,
    ],
    ids=["ndarray", "memoryview", "array", "ctypes", "interface", "__array__", "dlpack"],
)
def test_every_array_protocol_goes_in(wrap):
    values = np.array([1.5, -0.0, 3.0], np.float32)
    assert bound(wrap(values), ROWS).tobytes() == values.tobytes()


def test_an_array_in_native_form_is_used_where_it_lies():
    values = np.ones((2, 3, 4), np.float32)
    assert np.shares_memory(bound(values, port(Type.VEC4)), values)
    flags = np.ones((2, 3), np.bool_)
    assert np.shares_memory(bound(flags, port(Type.BOOL)), flags)


class Subclass(np.ndarray):
    """Such as np.memmap."""


BASE = np.arange(24, dtype=np.float32).reshape(4, 6)


@pytest.mark.parametrize(
    "view",
    [
        BASE[::-1],
        BASE[:, ::-2],
        BASE[1:3, 2:5],
        BASE.T,
        np.asfortranarray(BASE),
        np.broadcast_to(np.float32(7), (5, 3)),
        np.broadcast_to(np.arange(3, dtype=np.float32), (4, 3)),
        BASE.astype(">f4"),
        np.frombuffer(b"\0" + BASE.tobytes(), np.float32, offset=1).reshape(4, 6),
        np.frombuffer(BASE.tobytes(), np.float32).reshape(4, 6),
        BASE[:0],
        BASE[:, :0],
        BASE.view(Subclass),
    ],
    ids=[
        "rows reversed",
        "negative column stride",
        "window",
        "transposed",
        "Fortran order",
        "zero strides",
        "one zero stride",
        "big-endian",
        "unaligned",
        "read-only",
        "no rows",
        "no columns",
        "subclass",
    ],
)
def test_any_layout_gives_the_same_elements_and_is_not_modified(view):
    before = np.array(view, np.float32)
    native = bound(view, GRID)
    assert native.shape == before.shape
    assert native.tobytes() == before.tobytes()
    assert np.array_equal(np.array(view, np.float32), before)


@pytest.mark.parametrize("code", ["i1", "u1", "i2", "u2", "i4", ">i2", ">i4"])
def test_integers_of_up_to_32_bits_widen_into_an_int_port(code):
    ends = np.array([np.iinfo(code).min, np.iinfo(code).max]).astype(code)
    assert bound(ends, port(Type.INT, Shape.ROWS)).tolist() == ends.tolist()


def test_float16_widens_into_a_float_port():
    halves = np.array([6e-8, -0.0, 65504, np.inf, 1 / 3], np.float16)
    assert bound(halves, ROWS).tobytes() == halves.astype(np.float32).tobytes()


def test_a_signalling_nan_keeps_its_bits():
    bits = np.array([0x7F800001, 0xFFC12345], np.uint32)
    assert bound(bits.view(np.float32), ROWS).tobytes() == bits.tobytes()


def test_a_bool_byte_that_is_neither_0_nor_1_is_true():
    odd = np.array([0, 1, 2, 255], np.uint8).view(np.bool_)
    assert bound(odd, port(Type.BOOL, Shape.ROWS)).tolist() == [0, 1, 1, 1]
    assert odd.view(np.uint8).tolist() == [0, 1, 2, 255]


@pytest.mark.parametrize(
    ("dtype", "element", "says"),
    [
        ("f8", Type.FLOAT, "write array.astype(np.float32), which rounds"),
        ("g", Type.FLOAT, "write array.astype(np.float32)"),
        ("u1", Type.FLOAT, "write dy.unorm8(array) for 0…1"),
        ("i2", Type.FLOAT, "write array.astype(np.float32)"),
        ("?", Type.FLOAT, "write array.astype(np.float32)"),
        ("i8", Type.INT, "write array.astype(np.int32), which rounds or wraps"),
        ("u4", Type.INT, "write array.astype(np.int32)"),
        ("f4", Type.INT, "write array.astype(np.int32)"),
        ("?", Type.INT, "write array.astype(np.int32)"),
        ("u1", Type.BOOL, "write array != 0"),
        ("f4", Type.BOOL, "write array != 0"),
        ("c8", Type.FLOAT, "takes float32 or float16, not complex64"),
        ("O", Type.FLOAT, "takes float32 or float16, not object"),
        ("M8[s]", Type.INT, "not datetime64[s]"),
        ("f4,f4", Type.FLOAT, "takes float32 or float16, not ["),
        ("S3", Type.FLOAT, "not |S3"),
    ],
)
def test_a_dtype_that_could_lose_something_is_refused_with_what_to_write(dtype, element, says):
    with pytest.raises(ArgumentTypeError) as caught:
        input_extent(port(element), np.zeros((2, 2), dtype))
    assert says in str(caught.value)
    assert "input 'image'" in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "to", "says"),
    [
        ((), GRID, "(height, width), not a 0-d array"),
        ((3,), GRID, "(height, width), not an array of shape (3,)"),
        ((2, 3, 4), GRID, "(height, width), not an array of shape (2, 3, 4)"),
        ((2, 3), port(Type.VEC4), "(height, width, 4), not an array of shape (2, 3)"),
        ((2, 3, 3), port(Type.VEC4), "(height, width, 4), not an array of shape (2, 3, 3)"),
        ((2, 3), ROWS, "(n,), not an array of shape (2, 3)"),
        ((6,), port(Type.VEC2, Shape.ROWS), "(n, 2), not an array of shape (6,)"),
        ((2, 3), port(Type.FLOAT, Shape.VOLUME), "(depth, height, width), not an array of shape"),
        ((2, 3, 3), port(Type.VEC3, Shape.VOLUME), "(depth, height, width, 3), not an array"),
    ],
)
def test_a_wrong_rank_or_lane_count_is_refused_by_name(shape, to, says):
    with pytest.raises(ArgumentValueError) as caught:
        input_extent(to, np.zeros(shape, np.float32))
    assert says in str(caught.value)


def test_sizes_past_the_limits_are_refused_naming_port_extent_and_limit():
    wide = np.broadcast_to(np.float32(0), (1, MAX_GRID_AXIS + 1))
    with pytest.raises(ArgumentValueError, match=r"'image'.*\(1, 16777217\).*2\*\*24"):
        input_extent(GRID, wide)
    many = np.broadcast_to(np.float32(0), (2**31,))
    with pytest.raises(ArgumentValueError, match=r"'image'.*\(2147483648,\).*2\*\*31 - 1"):
        input_extent(ROWS, many)
    square = np.broadcast_to(np.float32(0), (2**16, 2**15))
    with pytest.raises(ArgumentValueError, match=r"2\*\*31 - 1"):
        input_extent(GRID, square)


def test_the_largest_sizes_are_accepted():
    check_extent("it", Shape.GRID, (1, MAX_GRID_AXIS))
    check_extent("it", Shape.ROWS, (2**31 - 1,))
    check_extent("it", Shape.GRID, (0, 0))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([1.0, 2.0], "list: an array is expected"),
        ((1.0,), "np.asarray(..., dtype=np.float32)"),
        ("picture.png", "a str: an array is expected"),
        (None, "a NoneType: an array is expected"),
        (3.0, "a float: an array is expected"),
        (OtherDevice(), "could not be read as an array: the tensor is on cuda:0"),
        (np.ma.masked_array([1.0], [True]), "array.filled(value)"),
    ],
)
def test_what_is_no_array_is_refused_by_name(given, says):
    with pytest.raises(ArgumentTypeError) as caught:
        as_array("input 'x' (Rows[f32])", given)
    assert str(caught.value).startswith("input 'x' (Rows[f32]) is a")
    assert says in str(caught.value)


def test_argument_errors_are_type_and_value_errors_too():
    assert issubclass(ArgumentTypeError, TypeError)
    assert issubclass(ArgumentValueError, ValueError)
    assert issubclass(ArgumentTypeError, ArgumentError)


def test_unorm8_divides_by_255_rounding_once():
    octets = np.arange(256, dtype=np.uint8).reshape(16, 16).T
    exact = (octets.astype(np.float64) / 255).astype(np.float32)
    assert unorm8(octets).tobytes() == exact.tobytes()
    assert unorm8(b"\0\xff").tolist() == [0.0, 1.0]


def test_unorm8_takes_bytes_only():
    with pytest.raises(ArgumentTypeError, match="uint8, not uint16"):
        unorm8(np.zeros(3, np.uint16))


def test_host_form_follows_the_element_type():
    assert host_shape(port(Type.IVEC3), (2, 5)) == (2, 5, 3)
    assert host_shape(port(Type.BOOL, Shape.ROWS), (7,)) == (7,)
    assert [host_dtype(t).name for t in (Type.VEC2, Type.IVEC4, Type.BOOL)] == [
        "float32",
        "int32",
        "bool",
    ]
