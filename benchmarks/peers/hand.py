"""The hand-written C++ of `benchmarks/native/hand.cpp`: the limit that the goals are set against.

Built on first use into a temporary folder with the system's clang++, else with g++.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..rows import (
    BALLS,
    CONVOLVE5,
    DELTA,
    FAR,
    FUSED_A,
    FUSED_B,
    GAUSSIAN3,
    ITERATIONS,
    LIGHT,
    NEAR,
    PLANE,
    SOFTENING,
    STEPS,
    TIME_STEP,
    Array,
    Data,
    zeros,
)
from . import Form

SOURCE = Path(__file__).parent.parent / "native" / "hand.cpp"
COMPILERS = ("clang++", *(f"clang++-{n}" for n in range(24, 13, -1)), "g++")
FLAGS = ["-O3", "-march=native", "-ffast-math", "-fopenmp", "-fPIC", "-shared"]

assert len(BALLS) == 4  # the scene of hand.cpp


def _build() -> tuple[ctypes.CDLL, str]:
    """The library, and which compiler made it. Raises OSError where none can."""
    for compiler in COMPILERS:
        path = shutil.which(compiler)
        if path is None:
            continue
        folder = tempfile.mkdtemp(prefix="dynamis-hand-")
        try:
            library = Path(folder) / "hand.so"
            # clang looks for its own OpenMP runtime beside itself only
            beside = Path(path).resolve().parent.parent / "lib"
            command = [path, *FLAGS, "-w", f"-L{beside}", str(SOURCE), "-o", str(library)]
            if subprocess.run(command, capture_output=True).returncode == 0:
                return ctypes.CDLL(str(library)), compiler
        finally:
            shutil.rmtree(folder)  # a loaded library stays loaded
    raise OSError(f"no C++ compiler with OpenMP among {', '.join(COMPILERS)}")


LIBRARY, COMPILER = _build()
VERSION = f"{COMPILER} {' '.join(FLAGS[:4])}"

Int, Long, Float = ctypes.c_int, ctypes.c_int64, ctypes.c_float


def warm() -> None:
    """Nothing: the library is built."""


def _form(function: Callable, out: Array, threads: int, *arguments: object) -> Form:
    """Calls a function of the library; arrays go in as their addresses."""
    LIBRARY.set_threads(threads)
    keep = [np.ascontiguousarray(a) if isinstance(a, np.ndarray) else a for a in arguments]
    passed = [ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else a for a in keep]

    def step() -> object:
        assert keep  # the arrays live as long as their addresses
        return function(*passed)

    return Form(step, lambda: out)


def _copy(data: Data, threads: int) -> Form:
    image = data["image"]
    out = zeros(image.shape)
    return _form(LIBRARY.copy, out, threads, image, out, Long(image.size // 8 * 8))


def _grayscale(data: Data, threads: int) -> Form:
    image = data["image"]
    out = zeros(image.shape)
    if image.size // 4 % 2:
        raise ValueError("the hand-written grayscale takes an even number of pixels")
    return _form(LIBRARY.grayscale, out, threads, image, out, Long(image.size // 4))


def _fused(data: Data, threads: int) -> Form:
    out = zeros((data.size,))
    last = Long(data.size), Float(FUSED_A), Float(FUSED_B)
    return _form(LIBRARY.fused, out, threads, data["x"], out, *last)


def _convolution(name: str, weights: Array | None) -> Callable[[Data, int], Form]:
    def form(data: Data, threads: int) -> Form:
        image = data["image"]
        out = zeros(image.shape)
        height, width = image.shape
        last = [] if weights is None else [weights]
        function = getattr(LIBRARY, name)
        return _form(function, out, threads, image, out, Long(height), Long(width), *last)

    return form


def _mandelbrot(data: Data, threads: int) -> Form:
    out = zeros((data.size, data.size), np.int32)
    last = Int(data.size), Int(ITERATIONS), *map(Float, PLANE)
    return _form(LIBRARY.mandelbrot, out, threads, out, *last)


def _raymarch(data: Data, threads: int) -> Form:
    out = zeros((data.size, data.size))
    last = map(Float, (NEAR, FAR, *LIGHT, DELTA))
    return _form(LIBRARY.raymarch, out, threads, out, Int(data.size), Int(STEPS), *last)


def _nbody(data: Data, threads: int) -> Form:
    out = zeros((2, data.size, 3))
    coordinates = [data["position"][:, k].copy() for k in range(3)]
    arrays = *coordinates, data["velocity"], data["mass"], out[0], out[1]
    last = Int(data.size), Float(SOFTENING), Float(TIME_STEP)
    return _form(LIBRARY.nbody, out, threads, *arrays, *last)


FORMS = {
    "grayscale": {"": _grayscale},
    "fused": {"": _fused},
    "gaussian3": {"": _convolution("gaussian3", GAUSSIAN3)},
    "convolve5": {"": _convolution("convolve5", CONVOLVE5)},
    "mandelbrot": {"": _mandelbrot},
    "raymarch": {"": _raymarch},
    "nbody": {"": _nbody},
    "median3": {"": _convolution("median3", None)},
}
LIMITS = {"grayscale": _copy}
"""What bounds a row whatever its arithmetic: measured beside the row, not a peer."""
