"""Run by ``test_guard_pages.py`` in a process of its own: kernels on arrays between guard pages."""

from __future__ import annotations

import ctypes
import mmap
import os

import numpy as np

import dynamis as dy
from dynamis import Grid, f32, i32, vec2, vec3, vec4
from dynamis.codegen import Options
from dynamis.kernel import validate
from dynamis.runtime.native import NativeKernel

libc = ctypes.CDLL(None, use_errno=True)
PAGE = mmap.PAGESIZE
kept: list[mmap.mmap] = []


def guarded(array: np.ndarray, at_end: bool) -> np.ndarray:
    """A copy of ``array`` that starts, or ends, at a page that may not be touched."""
    data = np.ascontiguousarray(array)
    pages = -(-max(data.nbytes, 1) // PAGE)
    area = mmap.mmap(-1, (pages + 2) * PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(area))
    for outside in (start, start + (pages + 1) * PAGE):
        assert libc.mprotect(ctypes.c_void_p(outside), PAGE, 0) == 0
    offset = PAGE + (pages * PAGE - data.nbytes if at_end else 0)
    view = np.frombuffer(area, data.dtype, data.size, offset).reshape(data.shape)
    view[...] = data
    kept.append(area)
    return view


@dy.kernel
def four(a: Grid[vec4]) -> Grid[vec4]:
    p = dy.coord()
    return a.at(p + vec2(-1, 1)) + a.at(p + vec2(2, 0)) * a.sample()


@dy.kernel
def three(a: Grid[vec3]) -> Grid[vec3]:
    return a.at(dy.coord() + vec2(1, -1)) + a.sample()


@dy.kernel
def two(a: Grid[vec2]) -> Grid[vec2]:
    return a.at(a.sample() * 9.0) - a.sample()


@dy.kernel
def flags(a: Grid[bool]) -> Grid[bool]:
    return a.sample() != a.at(dy.coord() + vec2(3, 0))


@dy.kernel
def gathered(a: Grid[i32]) -> Grid[i32]:
    return a.at(vec2(f32(a.sample()), dy.coord().x))


def main() -> None:
    rng = np.random.default_rng(7)
    runs = 0
    for width in (1, 4, 8, 16):
        for kernel, last, dtype in (
            (four, (4,), np.float32),
            (three, (3,), np.float32),
            (two, (2,), np.float32),
            (flags, (), np.uint8),
            (gathered, (), np.int32),
        ):
            native = NativeKernel(validate(kernel.module), Options(width=width))
            for h, w in ((1, 1), (1, 7), (1, 8), (3, 9), (2, 16), (5, 17), (2, 33), (1, 200)):
                shape = (h, w, *last)
                data = (
                    rng.integers(0, 2, shape) if kernel is flags else rng.integers(-300, 300, shape)
                )
                results = []
                for at_end in (False, True):
                    source = guarded(data.astype(dtype), at_end)
                    out = guarded(np.zeros(shape, dtype), at_end)
                    assert native.run([source], [], [out], (h, w), 1) is None
                    results.append(out.tobytes())
                    runs += 1
                assert results[0] == results[1]
    print(runs, "runs inside their arrays", flush=True)


if __name__ == "__main__":
    main()
    os._exit(0)  # NumPy's views hold the areas: nothing may be unmapped under them
