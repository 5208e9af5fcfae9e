"""An error leaves a public function with one frame of the package at most, and no inner error."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, Rows, f32, i32, ivec2, vec2, vec3

PACKAGE = str(Path(dy.__file__).parent)


class BadInterface:
    """Says it is an array, and is none."""

    @property
    def __array_interface__(self):
        raise RuntimeError("no")


@dy.kernel
def wrong(a: Rows[f32]) -> Rows[f32]:
    return a.sample() + missing  # noqa: F821


@dy.kernel
def deep(a: Rows[f32]) -> Rows[f32]:
    return _helper(a.sample())


def _helper(x):
    return x + missing  # noqa: F821


@dy.kernel
def right(a: Rows[f32], v: vec2 = vec2(0, 0)) -> Rows[f32]:
    return a.sample() + v.x


@dy.kernel
def divide(a: Rows[i32]) -> Rows[i32]:
    return 1 // a.sample()


ROW = np.zeros(3, np.float32)
INTS = np.zeros(3, np.int32)

CALLS: dict[str, Callable[[], object]] = {
    "a wrong kernel": lambda: wrong(ROW),
    "a wrong helper": lambda: deep(ROW),
    "a wrong kernel's module": lambda: wrong.module,
    "a wrong kernel's manifest": lambda: wrong.manifest,
    "a wrong kernel's id": lambda: wrong.id,
    "a wrong kernel's ir": lambda: wrong.ir,
    "a wrong kernel's stage": lambda: wrong.show("asm"),
    "a wrong kernel's explanation": lambda: wrong.explain(),
    "a fault": lambda: divide(INTS),
    "a fault in the reference": lambda: divide(INTS, backend="reference"),
    "a dtype": lambda: right(INTS),
    "a missing input": lambda: right(),
    "a bad array interface": lambda: right(BadInterface()),
    "a class for an array": lambda: right(np.ndarray),
    "a parameter": lambda: right(ROW, v=3),
    "an array without axes for a vector": lambda: right(ROW, v=np.float32(1)),
    "an out": lambda: right(ROW, out=INTS),
    "a shape": lambda: right(ROW, shape="x"),
    "threads": lambda: right(ROW, threads="x"),
    "a backend": lambda: right(ROW, backend="gpu"),
    "progress": lambda: right(ROW, progress=3),
    "an option": lambda: right.options(width=3),
    "a stage": lambda: right.show("foo"),
    "an id": lambda: dy.kernel("a b@1"),
    "an id's type": lambda: dy.kernel(3),
    "a budget": lambda: dy.kernel(budget=-1),
    "a decorated class": lambda: dy.kernel("a@1")(int),
    "a decorated twice": lambda: dy.kernel(right),
    "unorm8 of a list": lambda: dy.unorm8([1]),
    "unorm8 of floats": lambda: dy.unorm8(ROW),
    "read_image": lambda: dy.read_image("/nowhere/nope.png"),
    "read_image of text": lambda: dy.read_image(__file__),
    "write_image": lambda: dy.write_image("/nowhere/nope.png", np.zeros((2, 2))),
    "write_image's suffix": lambda: dy.write_image("nope.xyz", np.zeros((2, 2))),
    "write_image of a row": lambda: dy.write_image("nope.png", ROW),
    "a vector": lambda: vec2(1, 2, 3),
    "a vector of text": lambda: vec3("a"),
    "a vector of large ints": lambda: ivec2(2**40),
    "an i32": lambda: i32(2**40),
    "an i32 of text": lambda: i32("x"),
    "a kernel function": lambda: dy.floor(1.0),
    "the coordinate": lambda: dy.coord(),
    "a port": lambda: Grid(),
}


@pytest.mark.parametrize("name", CALLS)
def test_an_error_shows_one_frame_of_the_package_and_no_other_error(name: str) -> None:
    with pytest.raises(dy.DynamisError) as caught:
        CALLS[name]()
    error = caught.value
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    assert sum(file.startswith(PACKAGE) for file in files) <= 1, files
    assert error.__cause__ is None
    assert error.__context__ is None or error.__suppress_context__
    assert "direct cause" not in "".join(traceback.format_exception(error))


def test_every_public_function_and_method_is_covered() -> None:
    # A new public name must be added to CALLS; the kernel functions are all of one class.
    functions = {
        name
        for name in dy.__all__
        if callable(getattr(dy, name)) and not isinstance(getattr(dy, name), type)
    }
    kernel_functions = {n for n in functions if type(getattr(dy, n)) is type(dy.floor)}
    assert functions - kernel_functions == {"kernel", "unorm8", "read_image", "write_image"}
    methods = {n for n in vars(dy.Kernel) if not n.startswith("_")}
    properties = {"module", "manifest", "id", "ir", "compile_seconds", "timings"}
    assert methods == properties | {"show", "explain", "options"}
