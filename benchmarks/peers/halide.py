"""Halide with schedules by hand: eight lanes, rows in parallel.

No divergent rows: it has no loop that a pixel leaves early.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version

import halide as hl
import numpy as np

from ..rows import (
    CONVOLVE5,
    EXCHANGES,
    FUSED_A,
    FUSED_B,
    GAUSSIAN3,
    LUMA,
    SOFTENING,
    TIME_STEP,
    Array,
    Data,
    F,
    zeros,
)
from . import Form

VERSION = f"Halide {version('halide')}"
x, y, c, i, yo, yi, io, ii = (hl.Var(n) for n in ("x", "y", "c", "i", "yo", "yi", "io", "ii"))


def number(value: float) -> hl.Expr:
    return hl.f32(float(value))


def _realized(make: Callable[..., hl.Func], name: str) -> Callable[[Data, int], Form]:
    """``make(buffer)`` gives the scheduled function; it is compiled at the first step."""

    def form(data: Data, threads: int) -> Form:
        out = zeros(data[name].shape)
        given, taken = hl.Buffer(data[name]), hl.Buffer(out)
        kept: dict[str, hl.Func] = {}

        def step() -> None:
            if not kept:
                kept["function"] = make(given)
                kept["function"].compile_jit()
            kept["function"].realize(taken)

        return Form(step, lambda: out)

    return form


def grayscale(image: hl.Buffer) -> hl.Func:
    gray, out = hl.Func("gray"), hl.Func("grayscale")
    red, green, blue = (number(LUMA[k]) * image[k, x, y] for k in range(3))
    gray[x, y] = red + green + blue
    out[c, x, y] = hl.select(c < 3, gray[x, y], image[c, x, y])
    out.bound(c, 0, 4).vectorize(c).unroll(x, 4).parallel(y, 16)
    return out


def fused(line: hl.Buffer) -> hl.Func:
    out = hl.Func("fused")
    v = line[i]
    out[i] = number(FUSED_A) * v + number(FUSED_B) * hl.sin(v) * hl.exp(-v * v)
    size = min(1 << 16, line.width())
    out.split(i, io, ii, size, hl.TailStrategy.GuardWithIf).vectorize(ii, 8).parallel(io)
    return out


def convolution(weights: Array, *, staged: bool) -> Callable[[hl.Buffer], hl.Func]:
    """``staged``: rows are clamped and copied once into a rolling buffer."""
    radius = len(weights) // 2

    def make(image: hl.Buffer) -> hl.Func:
        out, rows = hl.Func("convolve"), hl.Func("rows")
        edges = hl.BoundaryConditions.repeat_edge(image)
        rows[x, y] = edges[x, y]
        source = rows if staged else edges
        out[x, y] = sum(
            (
                source[x + u - radius, y + v - radius] * number(weight)
                for (v, u), weight in np.ndenumerate(weights)
            ),
            start=number(0),
        )
        out.split(y, yo, yi, 64 if staged else 32, hl.TailStrategy.GuardWithIf)
        out.vectorize(x, 8).parallel(yo)
        if staged:
            rows.store_at(out, yo).compute_at(out, yi).vectorize(x, 8)
        return out

    return make


def median3(image: hl.Buffer) -> hl.Func:
    out, rows = hl.Func("median"), hl.Func("rows")
    rows[x, y] = hl.BoundaryConditions.repeat_edge(image)[x, y]
    nine = [rows[x + u - 1, y + v - 1] for v in range(3) for u in range(3)]
    for a, b in EXCHANGES:
        nine[a], nine[b] = hl.min(nine[a], nine[b]), hl.max(nine[a], nine[b])
    out[x, y] = nine[4]
    out.split(y, yo, yi, 32, hl.TailStrategy.GuardWithIf).vectorize(x, 8).parallel(yo)
    rows.store_at(out, yo).compute_at(out, yi).vectorize(x, 8)
    return out


def _pull(position: list[hl.Buffer], mass: hl.Buffer, n: int) -> hl.Func:
    """The accelerations, (n, 3), by the approximate inverse root."""
    other = hl.RDom([(0, n)])
    d = [axis[other.x] - axis[i] for axis in position]
    r = hl.fast_inverse_sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + number(SOFTENING))
    s = mass[other.x] * r * r * r
    total, out = hl.Func("total"), hl.Func("pull")
    total[i] = tuple(number(0) for _ in d)
    total[i] = tuple(total[i][k] + d[k] * s for k in range(3))
    out[i, c] = hl.mux(c, [total[i][k] for k in range(3)])
    out.bound(c, 0, 3).split(i, io, ii, 32).reorder(ii, c, io).unroll(c).vectorize(ii, 8)
    out.parallel(io)
    total.compute_at(out, io).vectorize(i, 8).unroll(i)
    total.update().reorder(i, other.x).vectorize(i, 8).unroll(i)
    return out


def nbody(data: Data, threads: int) -> Form:
    position = [hl.Buffer(data["position"][:, k].copy()) for k in range(3)]
    mass = hl.Buffer(data["mass"])
    pull, out = np.zeros((3, data.size), F), np.zeros((2, data.size, 3), F)
    taken = hl.Buffer(pull)
    kept: dict[str, hl.Func] = {}

    def step() -> None:
        if not kept:
            kept["function"] = _pull(position, mass, data.size)
            kept["function"].compile_jit()
        kept["function"].realize(taken)
        np.add(data["velocity"], F(TIME_STEP) * pull.T, out=out[1])
        np.add(data["position"], F(TIME_STEP) * out[1], out=out[0])

    return Form(step, lambda: out)


def warm() -> None:
    """Compiles something trivial."""
    out = hl.Func("trivial")
    out[i] = number(1) + hl.cast(hl.Float(32), i)
    out.realize([8])


FORMS = {
    "grayscale": {"": _realized(grayscale, "image")},
    "fused": {"": _realized(fused, "x")},
    "gaussian3": {"": _realized(convolution(GAUSSIAN3, staged=True), "image")},
    "convolve5": {"": _realized(convolution(CONVOLVE5, staged=False), "image")},
    "nbody": {"": nbody},
    "median3": {"": _realized(median3, "image")},
}
