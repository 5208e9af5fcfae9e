"""The extent of a run: where it comes from, and what is refused before anything runs."""

from __future__ import annotations

import numpy as np
import pytest

from dynamis.kernel import KernelId, Manifest, Mode, Port, PortType, Shape, Type
from dynamis.runtime.domain import run_domain
from dynamis.runtime.errors import ArgumentTypeError, ArgumentValueError

G = PortType(Type.FLOAT, Shape.GRID)
R = PortType(Type.FLOAT, Shape.ROWS)
V = PortType(Type.FLOAT, Shape.VOLUME)


def manifest(output: PortType, *inputs: PortType) -> Manifest:
    return Manifest(
        id=KernelId("k", 1),
        mode=Mode.MAP,
        requires=frozenset(),
        inputs=tuple(Port(f"in{i}", ty) for i, ty in enumerate(inputs)),
        params=(),
        outputs=(Port("out", output),),
    )


def test_the_first_input_of_the_outputs_shape_gives_the_extent():
    extents = [(9,), (2, 3), (4, 5)]
    assert run_domain(manifest(G, R, G, G), extents, None, None) == (2, 3)
    assert run_domain(manifest(V, R, G, V), [*extents[:2], (4, 5, 6)], None, None) == (4, 5, 6)


def test_shape_and_out_come_before_the_inputs():
    out = (np.zeros((6, 7), np.float32),)
    assert run_domain(manifest(G, G), [(2, 3)], None, (4, 5)) == (4, 5)
    assert run_domain(manifest(G, G), [(2, 3)], out, None) == (6, 7)
    assert run_domain(manifest(G, G), [(2, 3)], out, (6, 7)) == (6, 7)
    with pytest.raises(ArgumentValueError, match=r"\(4, 5\) differs .* of out=, \(6, 7\)"):
        run_domain(manifest(G, G), [(2, 3)], out, (4, 5))


@pytest.mark.parametrize("shape", [5, (5,), [5], np.int64(5), np.array([5])[0]])
def test_rows_take_one_number_as_shape(shape):
    assert run_domain(manifest(R), [], None, shape) == (5,)


@pytest.mark.parametrize(
    ("output", "shape", "says"),
    [
        (G, 5, "takes (height, width) for a Grid output, not 1 numbers"),
        (G, (1, 2, 3), "not 3 numbers"),
        (V, (1, 2), "takes (depth, height, width) for a Volume output, not 2 numbers"),
        (V, (2**24 + 1, 1, 1), "a Volume axis is at most 2**24"),
        (V, (2**11, 2**10, 2**10), "at most 2**31 - 1"),
        (R, (1, 2), "takes n or (n,) for a Rows output, not 2 numbers"),
        (G, (-1, 2), "no negative number, not (-1, 2)"),
        (G, (1.5, 2), "in whole numbers, not a float"),
        (G, (True, 2), "in whole numbers, not a bool"),
        (R, "5", "in whole numbers, not a str"),
        (G, (1, 2**24 + 1), "a Grid axis is at most 2**24"),
        (R, 2**31, "at most 2**31 - 1"),
        (G, (2**20, 2**20), "the domain of k has extent (1048576, 1048576)"),
    ],
)
def test_a_shape_that_is_none_is_refused(output, shape, says):
    with pytest.raises((ArgumentTypeError, ArgumentValueError)) as caught:
        run_domain(manifest(output), [], None, shape)
    assert says in str(caught.value)


def test_without_any_source_of_an_extent_the_error_asks_for_shape():
    with pytest.raises(ArgumentTypeError, match=r"k has no input .* shape=\(height, width\)"):
        run_domain(manifest(G), [], None, None)
    with pytest.raises(ArgumentTypeError, match=r"k has no Rows input .* shape=n"):
        run_domain(manifest(R, G), [(2, 2)], None, None)


def test_an_empty_input_in_a_run_with_elements_is_refused_by_name():
    with pytest.raises(ArgumentValueError, match=r"'in1' \(Grid\[f32\]\) has no elements"):
        run_domain(manifest(G, G, G), [(2, 3), (0, 3)], None, None)


def test_an_empty_input_in_an_empty_run_is_accepted():
    assert run_domain(manifest(G, G), [(0, 3)], None, None) == (0, 3)
