"""Parameter values: which Python and NumPy values each parameter type takes, and which not."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest

from dynamis.frontend.surface import ivec2, vec2
from dynamis.kernel import KernelId, Manifest, Mode, Param, Port, PortType, Shape, Type, Value
from dynamis.runtime.errors import ArgumentTypeError, ArgumentValueError
from dynamis.runtime.params import param_values


def manifest(*params: tuple[str, Type]) -> Manifest:
    return Manifest(
        id=KernelId("k", 1),
        mode=Mode.MAP,
        requires=frozenset(),
        inputs=(),
        params=tuple(Param(name, ty, Value(ty, (0,) * ty.lanes)) for name, ty in params),
        outputs=(Port("out", PortType(Type.FLOAT, Shape.ROWS)),),
    )


def value(ty: Type, given: object) -> Value:
    [result] = param_values(manifest(("p", ty)), {"p": given})
    assert result.ty == ty
    return result


@pytest.mark.parametrize(
    "given", [3, True + 2, np.int8(3), np.uint64(3), np.int64(3), np.array(3)], ids=repr
)
def test_an_i32_takes_any_integer(given):
    assert value(Type.INT, given).numbers == (3,)


def test_an_i32_takes_its_whole_range_and_no_more():
    assert value(Type.INT, -(2**31)).numbers == (-(2**31),)
    assert value(Type.INT, 2**31 - 1).numbers == (2**31 - 1,)
    for outside in (2**31, -(2**31) - 1, np.uint32(2**31)):
        with pytest.raises(ArgumentValueError, match="'p' is an i32: .* is outside"):
            value(Type.INT, outside)
    with pytest.raises(ArgumentValueError, match="an integer of 40001 bits is outside"):
        value(Type.INT, 2**40000)


@pytest.mark.parametrize(
    "given", [1.5, np.float16(1.5), np.float32(1.5), np.float64(1.5), np.array(1.5)], ids=repr
)
def test_an_f32_takes_any_real_number(given):
    assert value(Type.FLOAT, given).numbers == (1.5,)
    assert value(Type.FLOAT, 3).numbers == (3.0,)


def test_an_f32_is_rounded_once():
    assert value(Type.FLOAT, 0.1).numbers == (struct.unpack("f", struct.pack("f", 0.1))[0],)
    # past a tie by one unit in 2**60: a rounding to double first would lose it
    assert value(Type.FLOAT, 2**60 + 2**36 + 1).numbers == (float(2**60 + 2**37),)
    assert value(Type.FLOAT, -(2**60 + 2**36 + 1)).numbers == (-float(2**60 + 2**37),)
    assert value(Type.FLOAT, 2**60 + 2**36).numbers == (float(2**60),)


@pytest.mark.parametrize("number", [0, 1, -7, 2**24 + 1, 2**24 + 3, 10**20, -(10**30), 2**127])
def test_an_integer_becomes_the_nearest_f32(number):
    [found] = value(Type.FLOAT, number).numbers
    step = Fraction(2) ** max(abs(number).bit_length() - 24, 0)
    assert abs(Fraction(found) - number) * 2 <= step


def test_an_f32_takes_infinity_and_nan_but_no_finite_number_past_it():
    assert value(Type.FLOAT, -math.inf).numbers == (-math.inf,)
    assert math.isnan(value(Type.FLOAT, math.nan).numbers[0])
    for outside in (1e39, -1e300, 2**128, 10**5000):
        with pytest.raises(ArgumentValueError, match="'p' is an f32: .* beyond the largest f32"):
            value(Type.FLOAT, outside)


def test_a_bool_takes_truth_values_only():
    assert value(Type.BOOL, True).numbers == (True,)
    assert value(Type.BOOL, np.bool_(False)).numbers == (False,)
    for other in (1, 0.0, "true", None):
        with pytest.raises(ArgumentTypeError, match="'p' is a bool: it takes True or False"):
            value(Type.BOOL, other)


@pytest.mark.parametrize(
    "given", [(1, 2.5), [1, 2.5], np.array([1, 2.5]), vec2(1, 2.5), iter([1, 2.5])], ids=type
)
def test_a_vector_takes_a_sequence(given):
    assert value(Type.VEC2, given).numbers == (1.0, 2.5)


def test_an_integer_vector_takes_integers():
    assert value(Type.IVEC2, ivec2(3, -4)).numbers == (3, -4)
    with pytest.raises(ArgumentTypeError, match="write int"):
        value(Type.IVEC2, vec2(3, -4))


@pytest.mark.parametrize(
    ("ty", "given", "says"),
    [
        (Type.INT, 3.0, "takes an integer, not float 3.0; write int(x)"),
        (Type.INT, True, "takes an integer, not bool True"),
        (Type.INT, "3", "takes an integer, not str '3'"),
        (Type.INT, None, "takes an integer, not a NoneType"),
        (Type.FLOAT, True, "takes a number, not bool True"),
        (Type.FLOAT, np.bool_(True), "takes a number, not a bool"),
        (Type.FLOAT, 1j, "takes a number, not a complex"),
        (Type.FLOAT, [1.0], "takes a number, not a list"),
        (Type.FLOAT, np.ones(1), "takes a number, not an ndarray"),
        (Type.VEC3, 1.0, "takes a sequence of 3 numbers, not float 1.0"),
        (Type.VEC2, {1.0, 2.0}, "takes a sequence of 2 numbers, not a set"),
        (Type.VEC2, frozenset((1, 2)), "takes a sequence of 2 numbers, not a frozenset"),
        (Type.IVEC2, {1: 2, 3: 4}, "takes a sequence of 2 integers, not a dict"),
        (Type.IVEC2, {1: 2, 3: 4}.keys(), "takes a sequence of 2 integers, not a dict_keys"),
        (Type.VEC3, "abc", "takes a sequence of 3 numbers, not str 'abc'"),
        (Type.VEC2, (1.0, "x"), "takes a sequence of 2 numbers, not str 'x'"),
        (Type.IVEC3, np.array(1), "takes a sequence of 3 integers, not an ndarray"),
    ],
)
def test_a_value_of_a_wrong_type_is_refused_naming_the_parameter(ty, given, says):
    with pytest.raises(ArgumentTypeError) as caught:
        value(ty, given)
    assert str(caught.value).startswith("parameter 'p' is a")
    assert says in str(caught.value)


def test_a_vector_of_a_wrong_length_is_refused():
    with pytest.raises(ArgumentValueError, match="'p' is a vec3: it takes 3 numbers, not 2"):
        value(Type.VEC3, (1, 2))


def test_parameters_keep_the_manifests_order_and_their_defaults():
    values = param_values(manifest(("a", Type.INT), ("b", Type.INT)), {"b": 5})
    assert [v.numbers for v in values] == [(0,), (5,)]
