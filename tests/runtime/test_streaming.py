"""Results that go past the caches: the same words wherever an output starts."""

from __future__ import annotations

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, Rows, f32, i32, vec2, vec4
from dynamis.runtime import native, streaming


@dy.kernel
def shade(image: Grid[vec4]) -> Grid[vec4]:
    c = image.sample()
    return vec4(c.xyz * 0.5, c.w)


@dy.kernel
def smooth(image: Grid[f32]) -> Grid[f32]:
    c = dy.coord()
    return (image.at(c + vec2(-1, 0)) + image.at(c) + image.at(c + vec2(1, 1))) / 3.0


@dy.kernel
def halves(a: Rows[i32]) -> tuple[Rows[i32], Rows[f32]]:
    return a.sample() // 2, f32(a.sample()) * 0.5


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Every run counts as larger than the caches; what was decided for each."""
    decided: list[bool] = []
    asked = native.streams

    def streams(*args: object) -> bool:
        decided.append(asked(*args))  # type: ignore[arg-type]
        return decided[-1]

    monkeypatch.setattr(streaming, "last_level_cache", lambda: 0)
    monkeypatch.setattr(native, "streams", streams)
    return decided


def place(shape: tuple[int, ...], dtype: type, offset: int) -> np.ndarray:
    """An array that starts ``offset`` bytes past a cache line."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    room = np.zeros(size + 256, np.uint8)
    start = -room.ctypes.data % 64 + offset
    return room[start : start + size].view(dtype).reshape(shape)


@pytest.mark.parametrize("width", [8, 16, 64])
@pytest.mark.parametrize("offset", [0, 4, 16, 60])
def test_streamed_words_are_the_reference_s(width: int, offset: int, chosen: list[bool]) -> None:
    rng = np.random.default_rng(7)
    for shape in ((3, 64), (5, 131), (2, 200)):
        image = rng.standard_normal((*shape, 4), np.float32)
        out = place(image.shape, np.float32, offset // 16 * 16)
        shade.options(width=width)(image, out=out, threads=1)
        assert out.tobytes() == shade(image, backend="reference").tobytes()
        image = rng.standard_normal(shape, np.float32)
        out = place(shape, np.float32, offset)
        smooth.options(width=width)(image, out=out, threads=1)
        assert out.tobytes() == smooth(image, backend="reference").tobytes()
    assert all(chosen)


def test_streamed_rows_and_several_outputs(chosen: list[bool]) -> None:
    a = np.arange(-5000, 5001, dtype=np.int32)
    want = halves(a, backend="reference")
    for offset in (0, 4, 32):
        outs = place(a.shape, np.int32, offset), place(a.shape, np.float32, 12)
        halves(a, out=outs, threads=3)
        assert all(x.tobytes() == y.tobytes() for x, y in zip(outs, want, strict=True))
    assert all(chosen)


def test_runs_that_fit_the_caches_do_not_stream() -> None:
    a = np.zeros((64, 64, 4), np.float32)
    assert not streaming.streams([a], [a], 16)
    assert streaming.last_level_cache() >= 2**16


def test_elements_that_lines_do_not_hold_whole_do_not_stream(chosen: list[bool]) -> None:
    a = place((64, 3), np.float32, 0)
    assert not streaming.streams([a], [a], 12)
    b = place((64,), np.float32, 2)
    assert not streaming.streams([b], [b], 4)
