"""Run by ``test_guard_pages.py`` in a process of its own: kernels on arrays between guard pages."""

from __future__ import annotations

import ctypes
import mmap
import os

import numpy as np

import dynamis as dy
from dynamis import Grid, f32, i32, vec2, vec3, vec4
from dynamis.codegen import Options
from dynamis.kernel import Port, validate
from dynamis.kernel.types import Type
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


def form(port: Port, extent: tuple[int, ...]) -> tuple[tuple[int, ...], type[np.generic]]:
    """The shape and the dtype of the array of a port."""
    dtypes = {Type.FLOAT: np.float32, Type.INT: np.int32, Type.BOOL: np.uint8}
    lanes = (port.element.lanes,) if port.element.is_vector else ()
    return (*extent, *lanes), dtypes[port.element.component]


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


@dy.kernel
def first(a: Grid[vec4]) -> Grid[f32]:
    return a.sample().x + a.at(dy.coord() + vec2(1, 0)).y


@dy.kernel
def last(a: Grid[vec3]) -> Grid[vec2]:
    return a.sample().yz + a.at(a.sample().xy * 0.1).yz


@dy.kernel
def even(a: Grid[vec2]) -> Grid[f32]:
    return a.sample().x - a.at(a.sample()).y


@dy.kernel
def between(a: Grid[vec3]) -> Grid[vec3]:
    return a.linear(a.sample().xy * 0.1) + a.linear(dy.coord() + 0.5)


@dy.kernel
def some(a: Grid[vec4]) -> Grid[vec3]:
    return a.at(a.sample().xy).yzw + a.at(a.sample().zw).xyz


def main() -> None:
    rng = np.random.default_rng(7)
    runs = 0
    for width in (1, 4, 8, 16):
        for kernel in (four, three, two, flags, gathered, first, last, even, between, some):
            native = NativeKernel(validate(kernel.module), Options(width=width))
            for extent in ((1, 1), (1, 7), (1, 8), (3, 9), (2, 16), (5, 17), (2, 33), (1, 200)):
                shape, dtype = form(kernel.manifest.inputs[0], extent)
                data = (
                    rng.integers(0, 2, shape) if kernel is flags else rng.integers(-300, 300, shape)
                )
                results = []
                for at_end in (False, True):
                    source = guarded(data.astype(dtype), at_end)
                    out = guarded(np.zeros(*form(kernel.manifest.outputs[0], extent)), at_end)
                    assert native.run([source], [], [out], extent, 1) is None
                    results.append(out.tobytes())
                    runs += 1
                assert results[0] == results[1]
    print(runs, "runs inside their arrays", flush=True)


if __name__ == "__main__":
    main()
    os._exit(0)  # NumPy's views hold the areas: nothing may be unmapped under them
