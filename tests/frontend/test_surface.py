"""The surface names on the host: value types make constants, everything else says it is no use."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from dynamis.errors import DynamisError
from dynamis.frontend import HostValueError, OutsideKernelError, surface
from dynamis.frontend.surface import (
    Grid,
    Rows,
    Volume,
    f32,
    i32,
    ivec2,
    ivec3,
    vec2,
    vec3,
    vec4,
)


def test_vectors_are_made_of_numbers_and_vectors() -> None:
    assert tuple(vec2(1, 2)) == (1.0, 2.0)
    assert vec3(0.5) == vec3(0.5, 0.5, 0.5)
    assert vec4(vec3(1, 2, 3), 4) == vec4(1, vec2(2, 3), 4.0)
    assert tuple(ivec3(1, ivec2(2, 3))) == (1, 2, 3)
    assert tuple(vec2(ivec2(1, 2))) == (1.0, 2.0)
    assert vec2(np.float32(0.5), np.int64(2)) == vec2(0.5, 2)


def test_float_components_are_rounded_to_f32() -> None:
    assert vec2(0.1, 1e40).x == float(np.float32(0.1))
    assert vec2(0.1, 1e40).y == float("inf")
    assert f32(0.1) == float(np.float32(0.1))
    assert i32(-2.9) == -2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: vec2(1, 2, 3), "vec2 takes 2 numbers"),
        (lambda: vec4(vec2(1)), "vec4 takes 4 numbers"),
        (lambda: vec2(), "vec2 takes 2 numbers"),
        (lambda: vec2("a"), "vec2 takes numbers, not 'a'"),
        (lambda: vec2(True), "vec2 takes numbers, not True"),
        (lambda: ivec2(1.5), "ivec2 takes whole numbers, not 1.5"),
        (lambda: ivec2(2**31), "does not fit in ivec2"),
        (lambda: i32(2**31), "not 2147483648"),
        (lambda: i32(float("nan")), "i32 takes a number in its range"),
    ],
)
def test_what_does_not_fit_is_refused(make, message) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(HostValueError, match=message):
        make()


def test_vectors_have_components_and_swizzles() -> None:
    v = vec4(1, 2, 3, 4)
    assert (v.x, v.g, v[2], len(v)) == (1.0, 2.0, 3.0, 4)
    assert v.bgr == vec3(3, 2, 1)
    assert ivec2(7, 8).yx == ivec2(8, 7)
    for wrong in ("q", "xg", "xyzwx"):
        with pytest.raises(AttributeError):
            getattr(v, wrong)
    with pytest.raises(AttributeError):
        _ = vec2(1).z


def test_vectors_never_change_and_compare_by_type_and_value() -> None:
    v = vec2(1, 2)
    with pytest.raises(AttributeError):
        v.x = 3  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del v.x
    assert v == vec2(1.0, 2.0)
    assert v != ivec2(1, 2)
    assert v != (1.0, 2.0)
    assert len({v, vec2(1, 2), ivec2(1, 2)}) == 2
    assert repr(v) == "vec2(1.0, 2.0)"
    assert pickle.loads(pickle.dumps(v)) == v
    assert copy.deepcopy(v) == v


@pytest.mark.parametrize(
    "name", [n for n in surface.NAMES if isinstance(getattr(surface, n), surface.KernelFunction)]
)
def test_kernel_functions_say_that_they_are_for_kernels(name: str) -> None:
    function = getattr(surface, name)
    with pytest.raises(OutsideKernelError, match=rf"{name}\(\) has a meaning only inside a kernel"):
        function(1.0)
    assert issubclass(OutsideKernelError, DynamisError)
    assert function.__doc__.startswith(f"{name}(")
    assert repr(function) == f"<dynamis.{name}>"


def test_ports_are_annotations_only() -> None:
    for port in (Rows, Grid, Volume):
        with pytest.raises(OutsideKernelError):
            port[f32]()
    assert Grid[vec4] == Grid[vec4]
    assert Grid[vec4] != Rows[vec4]


def test_every_name_of_the_surface_is_there() -> None:
    assert len(set(surface.NAMES)) == len(surface.NAMES)
    assert all(hasattr(surface, name) for name in surface.NAMES)
    assert set(surface.NAMES) - set(surface.__all__) == set(surface.BUILTINS)
