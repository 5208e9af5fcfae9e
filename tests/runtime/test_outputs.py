"""Where results go: which ``out=`` arrays are written in place, which through a copy, which not."""

from __future__ import annotations

import numpy as np
import pytest

from dynamis.kernel import Port, PortType, Shape, Type
from dynamis.runtime.errors import ArgumentTypeError, ArgumentValueError
from dynamis.runtime.outputs import out_arrays, prepare_outputs

F = Port("f", PortType(Type.FLOAT, Shape.GRID))
B = Port("b", PortType(Type.BOOL, Shape.GRID))
V = Port("v", PortType(Type.VEC2, Shape.GRID))


def written(port: Port, out: np.ndarray, inputs: list[np.ndarray] | None = None) -> bool:
    """Write 1, 2, 3 … (or alternating bools) through ``out=``; whether it was in place."""
    arrays = out_arrays([port], out)
    assert arrays is not None
    [output] = prepare_outputs([port], out.shape[: port.shape.rank], arrays, inputs or [])
    count = output.buffer.size
    assert output.buffer.flags.c_contiguous
    assert output.buffer.dtype.isnative
    values = np.arange(1, count + 1) % 2 if port is B else np.arange(1, count + 1)
    output.buffer.reshape(-1)[:] = values
    result = output.finish()
    assert result is out
    assert result.reshape(-1).astype(int).tolist() == values.tolist()
    return not output.copies


def test_a_contiguous_out_is_written_in_place():
    assert written(F, np.zeros((2, 3), np.float32))
    assert written(B, np.zeros((2, 3), np.bool_))
    assert written(V, np.zeros((2, 3, 2), np.float32))


@pytest.mark.parametrize(
    "out",
    [
        np.zeros((4, 3), np.float32)[::2],
        np.zeros((2, 3), np.float32)[:, ::-1],
        np.zeros((2, 3), np.float32, order="F"),
        np.zeros((2, 3), ">f4"),
        np.frombuffer(bytearray(25), np.uint8)[1:].view(np.float32).reshape(2, 3),
    ],
    ids=["strided", "negative stride", "Fortran order", "big-endian", "unaligned"],
)
def test_any_other_layout_is_written_through_a_copy(out):
    assert not written(F, out)


def test_a_strided_bool_out_holds_truth_values():
    assert not written(B, np.zeros((2, 6), np.bool_)[:, ::2])


def test_an_out_that_shares_memory_with_an_input_is_written_at_the_end():
    buffer = np.zeros((3, 3), np.float32)
    [output] = prepare_outputs([F], (2, 3), [buffer[1:]], [buffer[:2]])
    output.buffer[...] = 5
    assert not buffer.any()
    output.finish()
    assert buffer.tolist() == [[0] * 3, [5] * 3, [5] * 3]


def test_without_out_results_are_fresh_arrays_of_the_host_dtype():
    outputs = prepare_outputs([F, B, V], (2, 3), None, [])
    results = [output.finish() for output in outputs]
    assert [r.dtype.name for r in results] == ["float32", "bool", "float32"]
    assert [r.shape for r in results] == [(2, 3), (2, 3), (2, 3, 2)]


def strided(shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray:
    return np.lib.stride_tricks.as_strided(np.zeros(64, np.float32), shape, strides)


@pytest.mark.parametrize(
    ("out", "says"),
    [
        (np.zeros((2, 3), np.float64), "an array of float32, not float64"),
        (np.zeros((2, 3), np.int32), "an array of float32, not int32"),
        (np.zeros((2, 3, 1), np.float32), "shape (height, width), not (2, 3, 1)"),
        (np.zeros(3, np.float32), "shape (height, width), not (3,)"),
        ([[1.0]], "a NumPy array, not a list"),
        (memoryview(b"1234"), "a NumPy array, not a memoryview"),
        (np.ma.zeros((2, 3), np.float32), "a NumPy array, not a MaskedArray"),
        (strided((3, 4), (0, 4)), "overlaps itself"),
        (strided((3, 4), (4, 4)), "overlaps itself"),
        (strided((3, 4), (8, 4)), "overlaps itself"),
        (strided((2, 2), (2, 8)), "overlaps itself"),
        (strided((2, 3), (12, 8)), "cannot be told not to"),
        (strided((2**30, 2**30), (12, 8)), "cannot be told not to"),
    ],
)
def test_an_out_that_cannot_hold_the_result_is_refused_by_name(out, says):
    with pytest.raises((ArgumentTypeError, ArgumentValueError)) as caught:
        out_arrays([F], out)
    assert str(caught.value).startswith("out= for 'f' (Grid[f32]) ")
    assert says in str(caught.value)


def test_a_read_only_out_is_refused_by_name():
    out = np.zeros((2, 3), np.float32)
    out.flags.writeable = False
    with pytest.raises(ArgumentValueError, match="'f'.*read-only"):
        out_arrays([F], out)


@pytest.mark.parametrize("strides", [(20, 4), (4, 16), (-16, 4), (0, 4)])
def test_strange_strides_without_overlap_are_accepted(strides):
    shape = (1, 3) if 0 in strides else (2, 3)
    base = np.zeros(64, np.float32)[32:]
    out = np.lib.stride_tricks.as_strided(base, shape, strides)
    assert out_arrays([F], out)[0] is out


def test_several_outputs_take_a_tuple():
    f, b = np.zeros((2, 3), np.float32), np.zeros((2, 3), np.bool_)
    assert out_arrays([F, B], (f, b)) is not None
    with pytest.raises(ArgumentTypeError, match=r"tuple of 2 arrays, for \(f, b\)"):
        out_arrays([F, B], f)
    with pytest.raises(ArgumentTypeError, match=r"for \(f, b\), not 1"):
        out_arrays([F, B], (f,))
    with pytest.raises(ArgumentTypeError, match="takes one array, for 'f', not 2"):
        out_arrays([F], (f, f))
    with pytest.raises(ArgumentTypeError, match="'b'.*not a NoneType"):
        out_arrays([F, B], (f, None))


def test_outputs_of_two_extents_are_refused():
    with pytest.raises(ArgumentValueError, match=r"'f' has extent \(2, 3\) and for 'b' \(2, 4\)"):
        out_arrays([F, B], (np.zeros((2, 3), np.float32), np.zeros((2, 4), np.bool_)))


def test_outputs_that_share_memory_are_refused_by_name():
    buffer = np.zeros((3, 3), np.float32)
    with pytest.raises(ArgumentValueError, match="'f' and for 'g' share memory"):
        out_arrays([F, Port("g", F.ty)], (buffer[:2], buffer[1:]))


def test_interleaved_outputs_share_no_byte_and_are_accepted():
    buffer = np.zeros((2, 3, 2), np.float32)
    arrays = out_arrays([F, Port("g", F.ty)], (buffer[..., 0], buffer[..., 1]))
    assert arrays is not None


def test_an_output_past_memory_is_refused_by_name(monkeypatch):
    def refuse(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(np, "empty", refuse)
    with pytest.raises(ArgumentValueError, match="'f' of extent \\(9, 9\\) does not fit in memory"):
        prepare_outputs([F], (9, 9), None, [])
