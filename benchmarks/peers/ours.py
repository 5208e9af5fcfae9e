"""Dynamis on the rows: `benchmarks.workloads`, into given outputs."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

import numpy as np

import dynamis as dy
from dynamis import Rows, f32

from .. import workloads
from ..rows import CONVOLVE5, Data, zeros
from . import Form


def _version() -> str:
    try:
        return f"Dynamis {version('dynamis')}"
    except PackageNotFoundError:
        return "Dynamis, from source"


VERSION = _version()


@dy.kernel
def _trivial(x: Rows[f32]) -> Rows[f32]:
    return x.sample() + 1.0


def warm() -> None:
    """Compiles something trivial."""
    _trivial(np.zeros(8, np.float32))


def _on(kernel: dy.Kernel, *arrays: str, extra: tuple[np.ndarray, ...] = ()) -> Callable:
    """A kernel whose one output has the shape of its first input."""

    def form(data: Data, threads: int) -> Form:
        inputs = [data[name] for name in arrays]
        out = zeros(inputs[0].shape)
        return Form(lambda: kernel(*inputs, *extra, out=out, threads=threads), lambda: out)

    return form


def _drawn(kernel: dy.Kernel, dtype: type) -> Callable:
    """A kernel without inputs over a square."""

    def form(data: Data, threads: int) -> Form:
        out = zeros((data.size, data.size), dtype)
        return Form(lambda: kernel(out=out, threads=threads), lambda: out)

    return form


def _nbody(data: Data, threads: int) -> Form:
    inputs = [data[name] for name in ("position", "velocity", "mass")]
    out = zeros((2, data.size, 3))
    both = out[0], out[1]
    return Form(lambda: workloads.nbody(*inputs, out=both, threads=threads), lambda: out)


FORMS = {
    "grayscale": {"": _on(workloads.grayscale, "image")},
    "fused": {"": _on(workloads.fused, "x")},
    "gaussian3": {"": _on(workloads.gaussian3, "image")},
    "convolve5": {"": _on(workloads.convolve5, "image", extra=(CONVOLVE5,))},
    "mandelbrot": {"": _drawn(workloads.mandelbrot, np.int32)},
    "raymarch": {"": _drawn(workloads.raymarch, np.float32)},
    "nbody": {"": _nbody},
    "median3": {"": _on(workloads.median3, "image")},
}
KERNELS = {name: getattr(workloads, name) for name in FORMS}
