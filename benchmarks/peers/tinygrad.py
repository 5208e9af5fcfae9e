"""tinygrad: ``Tensor`` programs under ``TinyJit`` on its CPU device, default optimisations.

Divergent rows have no early exit: blocks of masked iterations, as many as the bound asks.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version

import numpy as np
from tinygrad import Device, Tensor, TinyJit, dtypes

from ..rows import (
    BALLS,
    CONVOLVE5,
    DELTA,
    EXCHANGES,
    FAR,
    FUSED_A,
    FUSED_B,
    GAUSSIAN3,
    ITERATIONS,
    LIGHT,
    LUMA,
    NEAR,
    PLANE,
    SOFTENING,
    STEPS,
    TIME_STEP,
    Array,
    Data,
    F,
)
from . import Form

VERSION = f"tinygrad {version('tinygrad')}"


def warm() -> None:
    """Compiles something trivial."""
    (Tensor.zeros(8).contiguous() + 1).realize()


def _tensor(array: Array) -> Tensor:
    return Tensor(np.ascontiguousarray(array)).contiguous().realize()


def _form(run: Callable[[], Tensor]) -> Form:
    kept: dict[str, Tensor] = {}

    def step() -> None:
        kept["out"] = run()
        Device["CPU"].synchronize()

    return Form(step, lambda: kept["out"].numpy())


def _jit(function: Callable[..., Tensor], *names: str) -> Callable[[Data, int], Form]:
    def form(data: Data, threads: int) -> Form:
        arrays = [_tensor(data[name]) for name in names]
        compiled = TinyJit(lambda *given: function(*given).realize())
        return _form(lambda: compiled(*arrays))

    return form


def grayscale(image: Tensor) -> Tensor:
    gray = image[..., 0] * LUMA[0] + image[..., 1] * LUMA[1] + image[..., 2] * LUMA[2]
    return Tensor.stack(gray, gray, gray, image[..., 3], dim=-1)


def fused(x: Tensor) -> Tensor:
    return FUSED_A * x + FUSED_B * x.sin() * (-x * x).exp()


def convolution(weights: Array) -> Callable[[Tensor], Tensor]:
    radius, side = len(weights) // 2, len(weights)
    kernel = _tensor(weights.reshape(1, 1, side, side))

    def convolve(image: Tensor) -> Tensor:
        edges = (radius, radius, radius, radius)
        padded = image.reshape(1, 1, *image.shape).pad(edges, mode="replicate").contiguous()
        return padded.conv2d(kernel).reshape(*image.shape)

    return convolve


def mandelbrot(data: Data, threads: int) -> Form:
    n, block = data.size, 16
    x0, x1, y0, y1 = PLANE
    xs = F(x0) + F(x1 - x0) * np.arange(n, dtype=F) / F(n)
    ys = F(y0) + F(y1 - y0) * np.arange(n, dtype=F) / F(n)
    cx = _tensor(np.broadcast_to(xs, (n, n)))
    cy = _tensor(np.broadcast_to(ys[:, None], (n, n)))

    @TinyJit
    def iterate(x, y, counts):
        for _ in range(block):
            xx, yy, xy = x * x, y * y, x * y
            live = xx + yy <= 4
            counts = counts + live.cast(dtypes.int32)
            x, y = live.where(xx - yy + cx, x), live.where(xy + xy + cy, y)
        return x.realize(), y.realize(), counts.realize()

    def run() -> Tensor:
        x, y = (Tensor.zeros(n, n).contiguous().realize() for _ in range(2))
        counts = Tensor.zeros(n, n, dtype=dtypes.int32).contiguous().realize()
        for _ in range(ITERATIONS // block):
            x, y, counts = (t.clone().realize() for t in iterate(x, y, counts))
        return counts

    return _form(run)


def scene(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    d = y
    for bx, by, bz, radius in BALLS:
        dx, dy, dz = x - bx, y - by, z - bz
        d = d.minimum((dx * dx + dy * dy + dz * dz).sqrt() - radius)
    return d


def raymarch(data: Data, threads: int) -> Form:
    n, block = data.size, 4
    screen = (F(2) * (np.arange(n, dtype=F) + F(0.5)) / F(n) - F(1)).astype(F)
    u, v = np.meshgrid(screen, -screen)
    inverse = F(1) / np.sqrt(u * u + v * v + F(2.25))
    dx, dy, dz = (_tensor(a.astype(F)) for a in (u * inverse, v * inverse, F(1.5) * inverse))

    @TinyJit
    def march(t, state):  # 0: on its way, 1: has hit, 2: is past the far limit
        for _ in range(block):
            d = scene(dx * t, 1 + dy * t, -3 + dz * t)
            live = state == 0
            near = live & (d < NEAR)
            on = live & ~near
            t = on.where(t + d, t)
            state = near.where(1, (on & (t > FAR)).where(2, state))
        return t.realize(), state.realize()

    @TinyJit
    def shade(t, state):
        x, y, z, e = dx * t, 1 + dy * t, -3 + dz * t, DELTA
        nx = scene(x + e, y, z) - scene(x - e, y, z)
        ny = scene(x, y + e, z) - scene(x, y - e, z)
        nz = scene(x, y, z + e) - scene(x, y, z - e)
        r = (nx * nx + ny * ny + nz * nz).rsqrt()
        light = (nx * LIGHT[0] + ny * LIGHT[1] + nz * LIGHT[2]) * r
        return (state == 1).where(0.1 + 0.9 * light.maximum(0), 0.0).realize()

    def run() -> Tensor:
        t = Tensor.zeros(n, n).contiguous().realize()
        state = Tensor.zeros(n, n, dtype=dtypes.int32).contiguous().realize()
        for _ in range(STEPS // block):
            t, state = (a.clone().realize() for a in march(t, state))
        return shade(t, state)

    return _form(run)


def nbody(position: Tensor, velocity: Tensor, mass: Tensor) -> Tensor:
    n = position.shape[0]
    axes = [position[:, k].contiguous() for k in range(3)]
    d = [axis.reshape(1, n) - axis.reshape(n, 1) for axis in axes]
    r = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + SOFTENING).rsqrt()
    s = mass.reshape(1, n) * r * r * r
    v = velocity + TIME_STEP * Tensor.stack(*[(q * s).sum(1) for q in d], dim=1)
    return Tensor.stack(position + TIME_STEP * v, v)


def median3(image: Tensor) -> Tensor:
    padded = image.pad((1, 1, 1, 1), mode="replicate").contiguous()
    height, width = image.shape
    nine = [padded[v : v + height, u : u + width] for v in range(3) for u in range(3)]
    for i, j in EXCHANGES:
        nine[i], nine[j] = nine[i].minimum(nine[j]), nine[i].maximum(nine[j])
    return nine[4]


FORMS = {
    "grayscale": {"": _jit(grayscale, "image")},
    "fused": {"": _jit(fused, "x")},
    "gaussian3": {"": _jit(convolution(GAUSSIAN3), "image")},
    "convolve5": {"": _jit(convolution(CONVOLVE5), "image")},
    "mandelbrot": {"": mandelbrot},
    "raymarch": {"": raymarch},
    "nbody": {"": _jit(nbody, "position", "velocity", "mass")},
    "median3": {"": _jit(median3, "image")},
}
