"""Calls on real arrays: every form of input and output, on both backends, with equal words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, Rows, f32, i32, ivec2, vec2, vec3, vec4
from dynamis.runtime.errors import ArgumentTypeError, ArgumentValueError


@dy.kernel
def shifted(image: Grid[f32], by: i32 = 1) -> Grid[f32]:
    return image.at(dy.coord() + vec2(by, 0)) + 0.5 * image.sample()


@dy.kernel
def mean(image: Grid[vec4]) -> Grid[f32]:
    c = image.sample()
    return (c.r + c.g + c.b + c.a) / 4.0


@dy.kernel
def ramp(start: f32 = 0.0) -> Rows[f32]:
    return start + f32(dy.element())


@dy.kernel
def positions() -> Grid[ivec2]:
    p = dy.coord()
    return ivec2(i32(p.x), i32(p.y))


@dy.kernel
def divide(a: Rows[i32], b: Rows[i32]) -> Rows[i32]:
    return a.sample() // b.sample()


@dy.kernel
def divided_grid(a: Grid[i32], by: i32 = 1) -> Grid[i32]:
    return by // a.sample()


@dy.kernel
def flip(flags: Rows[bool]) -> Rows[bool]:
    return not flags.sample()


@dy.kernel
def pair(x: Rows[f32]) -> tuple[Rows[f32], Rows[bool]]:
    return x.sample() * 2.0, x.sample() > 0.0


class Polar(NamedTuple):
    length: Rows[f32]
    unit: Rows[vec2]


@dy.kernel
def polar(v: Rows[vec2]) -> Polar:
    n = dy.length(v.sample())
    return Polar(n, v.sample() / n)


@dy.kernel
def single(x: Rows[f32]) -> tuple[Rows[f32]]:
    return (x.sample() + 1.0,)


BACKENDS = pytest.mark.parametrize("backend", ["cpu", "reference"])
BASE = np.random.default_rng(7).standard_normal((5, 12), np.float32)


def expected(image: np.ndarray, by: int = 1) -> np.ndarray:
    image = np.array(image, np.float32)
    columns = np.clip(np.arange(image.shape[1]) + by, 0, image.shape[1] - 1)
    return image[:, columns] + np.float32(0.5) * image


@BACKENDS
@pytest.mark.parametrize(
    "image",
    [
        BASE,
        BASE[::-1],
        BASE[:, ::-3],
        BASE.T,
        np.asfortranarray(BASE),
        BASE.astype(">f4"),
        BASE.astype(np.float16),
        np.broadcast_to(BASE[0], (4, 12)),
        np.broadcast_to(BASE[:, :1], (5, 9)),
        np.frombuffer(BASE.tobytes(), np.float32).reshape(5, 12),
        BASE[:1],
        BASE[:, :1],
    ],
    ids=[
        "contiguous",
        "reversed",
        "negative stride",
        "transposed",
        "Fortran order",
        "big-endian",
        "float16",
        "zero row stride",
        "zero column stride",
        "read-only",
        "one row",
        "one column",
    ],
)
def test_any_layout_of_an_input_gives_the_same_result(image, backend):
    before = image.tobytes()
    result = shifted(image, backend=backend)
    assert result.dtype == np.float32
    assert result.tobytes() == expected(image).tobytes()
    assert image.tobytes() == before


@BACKENDS
def test_zero_size_arrays_give_zero_size_results(backend):
    for shape in ((0, 3), (3, 0), (0, 0)):
        result = shifted(np.zeros(shape, np.float32), backend=backend)
        assert result.shape == shape
        out = np.zeros(shape, np.float32)
        assert shifted(np.zeros(shape, np.float32), out=out, backend=backend) is out
    assert ramp(shape=0, backend=backend).shape == (0,)


@BACKENDS
def test_an_empty_input_in_a_run_with_elements_is_refused(backend):
    with pytest.raises(ArgumentValueError, match=r"'image' \(Grid\[f32\]\) has no elements"):
        shifted(np.zeros((0, 3), np.float32), shape=(2, 2), backend=backend)


@BACKENDS
@pytest.mark.parametrize(
    "out",
    [
        np.zeros((5, 12), np.float32),
        np.zeros((12, 5), np.float32).T,
        np.zeros((5, 24), np.float32)[:, ::2],
        np.zeros((5, 12), np.float32)[::-1, ::-1],
        np.zeros((5, 12), ">f4"),
    ],
    ids=["contiguous", "transposed", "strided", "negative strides", "big-endian"],
)
def test_out_takes_the_result_in_any_layout_and_is_returned(out, backend):
    assert shifted(BASE, out=out, backend=backend) is out
    assert np.array_equal(out, expected(BASE))


@BACKENDS
@pytest.mark.parametrize("by", [-3, 1, 4])
def test_an_out_that_overlaps_an_input_gets_what_separate_memory_would(by, backend):
    buffer = np.array(np.broadcast_to(BASE[0], (6, 12)))
    buffer += np.arange(6, dtype=np.float32)[:, None]
    wanted = expected(buffer[:5], by)
    assert np.array_equal(shifted(buffer[:5], by, out=buffer[1:], backend=backend), wanted)
    same = np.array(BASE)
    assert np.array_equal(shifted(same, by, out=same, backend=backend), expected(BASE, by))
    turned = np.array(BASE[:, :5])
    assert np.array_equal(
        shifted(turned, by, out=turned.T, backend=backend), expected(BASE[:, :5], by)
    )


@BACKENDS
def test_several_outputs_come_as_a_tuple_and_go_into_one(backend):
    x = np.array([-1.0, 2.0], np.float32)
    result = pair(x, backend=backend)
    assert type(result) is tuple
    doubled, positive = result
    assert doubled.tolist() == [-2.0, 4.0]
    assert positive.dtype == np.bool_
    assert positive.tolist() == [False, True]
    outs = (np.zeros(2, np.float32), np.zeros(4, np.bool_)[::2])
    assert pair(x, out=outs, backend=backend)[1] is outs[1]
    assert outs[1].tolist() == [False, True]


@BACKENDS
def test_a_named_tuple_of_outputs_comes_back_as_that_class(backend):
    result = polar(np.array([[3.0, 4.0]], np.float32), backend=backend)
    assert type(result) is Polar
    assert result.length.tolist() == [5.0]
    assert result.unit.tobytes() == (np.array([[3, 4]], np.float32) / np.float32(5)).tobytes()
    assert [p.name for p in polar.manifest.outputs] == ["length", "unit"]


def test_a_tuple_of_one_output_stays_a_tuple():
    result = single(np.zeros(1, np.float32), backend="reference")
    assert isinstance(result, tuple)
    assert result[0].tolist() == [1.0]


@BACKENDS
def test_bools_go_in_as_any_byte_and_come_out_as_numpy_bools(backend):
    odd = np.array([0, 1, 7, 0], np.uint8).view(np.bool_)
    result = flip(odd, backend=backend)
    assert result.dtype == np.bool_
    assert result.view(np.uint8).tolist() == [1, 0, 0, 1]


@BACKENDS
def test_small_integers_widen_into_an_int_port(backend):
    a = np.array([200, 100, 7], np.uint8)
    b = np.array([-3, 7, -2], ">i2")
    result = divide(a, b, backend=backend)
    assert result.dtype == np.int32
    assert result.tolist() == [-67, 14, -4]


@BACKENDS
def test_vectors_lie_along_the_last_axis(backend):
    image = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 4)
    assert mean(image, backend=backend).tolist() == image.mean(axis=-1).tolist()
    result = positions(shape=(2, 3), backend=backend)
    assert result.shape == (2, 3, 2)
    assert result[1, 2].tolist() == [2, 1]


@BACKENDS
def test_bytes_go_through_unorm8(backend):
    image = np.random.default_rng(1).integers(0, 256, (3, 4, 4), np.uint8)
    with pytest.raises(ArgumentTypeError, match=r"write dy\.unorm8\(array\)"):
        mean(image, backend=backend)
    values = dy.unorm8(image)
    assert mean(image=values, backend=backend).shape == (3, 4)


@BACKENDS
def test_shape_sizes_a_kernel_without_inputs(backend):
    assert ramp(shape=3, start=2, backend=backend).tolist() == [2.0, 3.0, 4.0]
    assert ramp(2.5, shape=(2,), backend=backend).tolist() == [2.5, 3.5]
    assert ramp(out=np.zeros(2, np.float32), backend=backend).tolist() == [0.0, 1.0]
    with pytest.raises(ArgumentTypeError, match=r"ramp has no input .* pass shape=n, or out="):
        ramp(backend=backend)


@BACKENDS
def test_shape_may_differ_from_the_inputs_extent(backend):
    image = np.array([[1, 2]], np.float32)
    result = shifted(image, 0, shape=(2, 3), backend=backend)
    assert result.tolist() == [[1.5, 3.0, 3.0]] * 2


@BACKENDS
def test_a_fault_names_kernel_element_place_and_operands(backend):
    a = np.array([[4, 2, 1], [5, 0, 0]], np.int32)
    for threads in (1, 2, 3):
        with pytest.raises(dy.KernelFault) as caught:
            divided_grid(a, by=100, threads=threads, backend=backend)
        text = str(caught.value)
        assert "divided_grid@1 failed at element 4 (column 1, row 1): division by zero" in text
        assert "return by // a.sample()" in text
        assert caught.value.coordinate == (1, 1)
        assert caught.value.fault.operands == (100, 0)


def test_no_fault_is_raised_for_a_run_without_elements():
    assert divide(np.zeros(0, np.int32), np.zeros(0, np.int32)).shape == (0,)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"threads": 0}, "threads= takes a whole number in 1…1024, not 0"),
        ({"threads": -2}, "not -2"),
        ({"threads": 5000}, "not 5000"),
        ({"threads": 1.5}, "not a float"),
        ({"threads": True}, "not a bool"),
        ({"threads": "2"}, "not a str"),
        ({"backend": "gpu"}, "there is no backend 'gpu'"),
        ({"backend": "Reference"}, "did you mean 'reference'?"),
        ({"backend": None}, "there is no backend None"),
        ({"radius": 3}, "shifted has no input or parameter 'radius': it takes"),
        ({"bye": 3}, "did you mean 'by'?"),
        ({"image": BASE}, "shifted got 'image' twice"),
        ({"by": 2**31}, "parameter 'by' is an i32"),
        ({"shape": 3}, "shape= takes (height, width)"),
        ({"out": np.zeros((5, 12))}, "an array of float32, not float64"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_runs(options, says):
    with pytest.raises(dy.ArgumentError) as caught:
        shifted(BASE, **options)
    assert says in str(caught.value)


def test_a_missing_input_is_named():
    with pytest.raises(TypeError, match=r"shifted is missing its input image: Grid\[f32\]"):
        shifted()


def test_float64_is_refused_with_what_to_write():
    with pytest.raises(TypeError, match=r"write array\.astype\(np\.float32\)"):
        shifted(np.zeros((2, 2)))


def test_threads_never_change_a_result():
    image = np.random.default_rng(3).standard_normal((67, 301), np.float32)
    results = {shifted(image, 3, threads=n).tobytes() for n in (None, 1, 2, 3, np.int64(7))}
    assert results == {expected(image, 3).tobytes()}


@BACKENDS
def test_progress_ends_at_the_whole(backend):
    @dy.kernel
    def long(x: Rows[f32]) -> Rows[f32]:
        total = 0.0
        for i in range(40 if dy.element() >= 0 else 1):
            total += x.sample() * f32(i)
        return total

    seen: list[tuple[int, int]] = []
    count = 400_000 if backend == "cpu" else 100
    x = np.ones(count, np.float32)
    result = long(x, backend=backend, progress=lambda done, total: seen.append((done, total)))
    assert (result == 780).all()
    assert seen
    assert seen == sorted(seen)
    assert all(total == seen[0][1] and 0 <= done <= total for done, total in seen)


def test_an_error_of_the_progress_function_reaches_the_caller():
    class Stop(Exception):
        pass

    def stop(done: int, total: int) -> None:
        raise Stop

    with pytest.raises(Stop):
        shifted(BASE, backend="reference", progress=stop)


def test_vec3_pictures_are_accepted_where_vec3_is_asked():
    @dy.kernel
    def red(image: Grid[vec3]) -> Grid[f32]:
        return image.sample().r

    image = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
    assert red(image).tolist() == [[0, 3], [6, 9]]


@dy.kernel
def by_name(a: Rows[i32], *, r: i32 = 2) -> Rows[i32]:
    return a.sample() * r


@dy.kernel
def all_by_name(*, r: i32 = 2, a: Rows[i32]) -> Rows[i32]:
    return a.sample() * r


def test_keyword_only_arguments_are_given_by_name_only():
    row = np.arange(4, dtype=np.int32)
    assert by_name(row, r=3).tolist() == [0, 3, 6, 9]
    assert all_by_name(a=row).tolist() == [0, 2, 4, 6]
    with pytest.raises(ArgumentTypeError, match="by_name takes 1 argument by position, but 2"):
        by_name(row, 3)
    with pytest.raises(ArgumentTypeError, match=r"takes no arguments by position.*write a=…, r=…"):
        all_by_name(row)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
@pytest.mark.parametrize("size", [0, 1, 5000])
def test_progress_ends_with_all_done_on_every_run_that_succeeds(backend, size):
    seen: list[tuple[int, int]] = []
    row = np.ones(size, np.int32)
    by_name(row, backend=backend, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] > 0
    assert seen.count(seen[-1]) == 1


@pytest.mark.parametrize("progress", [3, "bar", (1, 2)])
def test_a_progress_that_is_no_function_is_refused_before_anything_runs(progress):
    with pytest.raises(ArgumentTypeError, match="progress= takes a function"):
        divide(np.ones(3, np.int32), np.zeros(3, np.int32), progress=progress)


def test_a_class_given_for_an_array_is_named_as_what_it_is():
    with pytest.raises(ArgumentTypeError, match="is the class ndarray, not an array"):
        divide(np.ndarray, np.ndarray)


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_a_fault_names_the_users_function_and_types(backend):
    large = np.full(2, 2**30, np.int32)
    with pytest.raises(dy.KernelFault, match=r"does not fit its type(?s:.)*, in by_name\n"):
        by_name(large, r=4, backend=backend)
