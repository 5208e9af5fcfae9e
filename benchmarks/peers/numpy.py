"""NumPy: whole-array operations, into buffers kept between calls where a careful user would."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

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
    zeros,
)
from . import Form

VERSION = f"NumPy {np.__version__}"


def warm() -> None:
    """Nothing: NumPy does not compile."""


def grayscale(data: Data, threads: int) -> Form:
    """A product at a time into two planes, as the sum 0.299 r + 0.587 g + 0.114 b."""
    image = data["image"]
    out = zeros(image.shape)
    gray, term = np.zeros((2, *image.shape[:2]), F)

    def step() -> None:
        np.multiply(image[..., 0], F(LUMA[0]), out=gray)
        for k in 1, 2:
            np.multiply(image[..., k], F(LUMA[k]), out=term)
            np.add(gray, term, out=gray)
        out[..., :3] = gray[..., None]
        out[..., 3] = image[..., 3]

    return Form(step, lambda: out)


def fused(data: Data, threads: int) -> Form:
    x = data["x"]
    out, term, wave = (zeros(x.shape) for _ in range(3))

    def step() -> None:
        np.sin(x, out=wave)
        np.multiply(x, x, out=term)
        np.negative(term, out=term)
        np.exp(term, out=term)
        np.multiply(wave, F(FUSED_B), out=wave)
        np.multiply(wave, term, out=wave)
        np.multiply(x, F(FUSED_A), out=out)
        np.add(out, wave, out=out)

    return Form(step, lambda: out)


def convolution(weights: Array) -> Callable[[Data, int], Form]:
    radius = len(weights) // 2

    def form(data: Data, threads: int) -> Form:
        image = data["image"]
        height, width = image.shape
        out, term = zeros(image.shape), zeros(image.shape)

        def step() -> None:
            padded = np.pad(image, radius, mode="edge")
            out.fill(0)
            for (v, u), weight in np.ndenumerate(weights):
                np.multiply(padded[v : v + height, u : u + width], weight, out=term)
                np.add(out, term, out=out)

        return Form(step, lambda: out)

    return form


def mandelbrot(data: Data, threads: int) -> Form:
    """The points that are left are packed together after each iteration."""
    n = data.size
    x0, x1, y0, y1 = PLANE
    out = np.zeros(n * n, np.int32)

    def step() -> None:
        xs = F(x0) + F(x1 - x0) * np.arange(n, dtype=F) / F(n)
        ys = F(y0) + F(y1 - y0) * np.arange(n, dtype=F) / F(n)
        cx, cy = np.tile(xs, n), np.repeat(ys, n)
        index = np.arange(n * n)
        x, y = np.zeros_like(cx), np.zeros_like(cy)
        for count in range(ITERATIONS):
            xx, yy = x * x, y * y
            live = xx + yy <= 4
            if not live.all():
                out[index[~live]] = count
                index, cx, cy, x, y, xx, yy = (a[live] for a in (index, cx, cy, x, y, xx, yy))
                if index.size == 0:
                    break
            xy = x * y
            x = xx - yy + cx
            y = xy + xy + cy
        out[index] = ITERATIONS

    return Form(step, lambda: out.reshape(n, n))


def scene_distance(x: Array, y: Array, z: Array) -> Array:
    d = y
    for bx, by, bz, radius in BALLS:
        dx, dy, dz = x - F(bx), y - F(by), z - F(bz)
        d = np.minimum(d, np.sqrt(dx * dx + dy * dy + dz * dz) - F(radius))
    return d


def raymarch(data: Data, threads: int) -> Form:
    """The rays that are left are packed together after each step."""
    n = data.size
    out = np.zeros(n * n, F)

    def step() -> None:
        screen = F(2) * (np.arange(n, dtype=F) + F(0.5)) / F(n) - F(1)
        u, v = np.tile(screen, n), np.repeat(-screen, n)
        length = np.sqrt(u * u + v * v + F(2.25))
        rays = u / length, v / length, F(1.5) / length
        hit, reached = np.zeros(n * n, bool), np.zeros(n * n, F)
        index, t, (dx, dy, dz) = np.arange(n * n), np.zeros(n * n, F), rays
        for _ in range(STEPS):
            d = scene_distance(dx * t, F(1) + dy * t, F(-3) + dz * t)
            near = d < F(NEAR)
            hit[index[near]] = True
            reached[index[near]] = t[near]
            t = t + d
            live = ~near & (t <= F(FAR))
            index, t, dx, dy, dz = (a[live] for a in (index, t, dx, dy, dz))
            if index.size == 0:
                break
        where = np.flatnonzero(hit)
        t = reached[where]
        x, y, z = rays[0][where] * t, F(1) + rays[1][where] * t, F(-3) + rays[2][where] * t
        e = F(DELTA)
        nx = scene_distance(x + e, y, z) - scene_distance(x - e, y, z)
        ny = scene_distance(x, y + e, z) - scene_distance(x, y - e, z)
        nz = scene_distance(x, y, z + e) - scene_distance(x, y, z - e)
        length = np.sqrt(nx * nx + ny * ny + nz * nz)
        light = nx / length * F(LIGHT[0]) + ny / length * F(LIGHT[1]) + nz / length * F(LIGHT[2])
        out.fill(0)
        out[where] = F(0.1) + F(0.9) * np.maximum(light, F(0))

    return Form(step, lambda: out.reshape(n, n))


def nbody(data: Data, threads: int) -> Form:
    """256 bodies at a time, to stay in the cache."""
    position, velocity, mass = (data[name] for name in ("position", "velocity", "mass"))
    out = zeros((2, data.size, 3), F)
    pull = np.zeros_like(position)

    def step() -> None:
        for first in range(0, data.size, 256):
            some = slice(first, min(first + 256, data.size))
            dx, dy, dz = (position[:, k] - position[some, k, None] for k in range(3))
            inverse = 1 / np.sqrt(dx * dx + dy * dy + dz * dz + F(SOFTENING))
            strength = mass * inverse * inverse * inverse
            for k, d in enumerate((dx, dy, dz)):
                pull[some, k] = (d * strength).sum(axis=1)
        np.add(velocity, F(TIME_STEP) * pull, out=out[1])
        np.add(position, F(TIME_STEP) * out[1], out=out[0])

    return Form(step, lambda: out)


def median3(data: Data, threads: int) -> Form:
    image = data["image"]
    height, width = image.shape
    kept: dict[str, Array] = {}

    def step() -> None:
        padded = np.pad(image, 1, mode="edge")
        nine = [padded[v : v + height, u : u + width] for v in range(3) for u in range(3)]
        for i, j in EXCHANGES:
            nine[i], nine[j] = np.minimum(nine[i], nine[j]), np.maximum(nine[i], nine[j])
        kept["out"] = nine[4]

    return Form(step, lambda: kept["out"])


FORMS = {
    "grayscale": {"": grayscale},
    "fused": {"": fused},
    "gaussian3": {"": convolution(GAUSSIAN3)},
    "convolve5": {"": convolution(CONVOLVE5)},
    "mandelbrot": {"": mandelbrot},
    "raymarch": {"": raymarch},
    "nbody": {"": nbody},
    "median3": {"": median3},
}
