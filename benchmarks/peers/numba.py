"""Numba: ``njit(parallel=True, error_model="numpy")``, with and without fast-math.

Loops are written out by hand as its users do: borders apart from the interior, and for the 5×5 a
row of weights at a time, which its vectoriser likes best.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace

import numba
import numpy as np
from numba import prange

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

VERSION = f"Numba {numba.__version__}"


def _kernels(fast: bool) -> SimpleNamespace:
    """Every row's function, compiled with or without fast-math."""
    par = numba.njit(parallel=True, fastmath=fast, error_model="numpy")
    inline = numba.njit(fastmath=fast, error_model="numpy", inline="always")

    red, green, blue = map(F, LUMA)

    @par
    def grayscale(image, out):
        for y in prange(image.shape[0]):
            for x in range(image.shape[1]):
                g = red * image[y, x, 0] + green * image[y, x, 1] + blue * image[y, x, 2]
                out[y, x, 0] = g
                out[y, x, 1] = g
                out[y, x, 2] = g
                out[y, x, 3] = image[y, x, 3]

    a, b = F(FUSED_A), F(FUSED_B)

    @par
    def fused(x, out):
        for i in prange(x.size):
            v = x[i]
            out[i] = a * v + b * math.sin(v) * math.exp(-v * v)

    @inline
    def clamped(image, weights, y, x):
        radius = weights.shape[0] // 2
        total = F(0)
        for v in range(weights.shape[0]):
            row = min(max(y + v - radius, 0), image.shape[0] - 1)
            for u in range(weights.shape[1]):
                column = min(max(x + u - radius, 0), image.shape[1] - 1)
                total += image[row, column] * weights[v, u]
        return total

    @par
    def gaussian3(image, weights, out):
        height, width = image.shape
        for y in prange(height):
            out[y, 0] = clamped(image, weights, y, 0)
            out[y, width - 1] = clamped(image, weights, y, width - 1)
            if 1 <= y < height - 1:
                for x in range(1, width - 1):
                    total = F(0)
                    for v in range(3):
                        for u in range(3):
                            total += image[y + v - 1, x + u - 1] * weights[v, u]
                    out[y, x] = total
            else:
                for x in range(1, width - 1):
                    out[y, x] = clamped(image, weights, y, x)

    @par
    def convolve5(image, weights, out):
        height, width = image.shape
        for y in prange(height):
            for x in (0, 1, width - 2, width - 1):
                out[y, x] = clamped(image, weights, y, x)
            inner = out[y, 2 : width - 2]
            for x in range(width - 4):
                inner[x] = F(0)
            for v in range(5):
                row = image[min(max(y + v - 2, 0), height - 1)]
                w0, w1, w2 = weights[v, 0], weights[v, 1], weights[v, 2]
                w3, w4 = weights[v, 3], weights[v, 4]
                for x in range(width - 4):
                    inner[x] += (
                        row[x] * w0
                        + row[x + 1] * w1
                        + row[x + 2] * w2
                        + row[x + 3] * w3
                        + row[x + 4] * w4
                    )

    x0, dx, y0, dy = F(PLANE[0]), F(PLANE[1] - PLANE[0]), F(PLANE[2]), F(PLANE[3] - PLANE[2])

    @par
    def mandelbrot(out):
        for row in prange(out.shape[0]):
            cy = y0 + dy * F(row) / F(out.shape[0])
            for column in range(out.shape[1]):
                cx = x0 + dx * F(column) / F(out.shape[1])
                x = F(0)
                y = F(0)
                count = 0
                while count < ITERATIONS:
                    xx = x * x
                    yy = y * y
                    if xx + yy > F(4):
                        break
                    xy = x * y
                    x = xx - yy + cx
                    y = xy + xy + cy
                    count += 1
                out[row, column] = count

    @inline
    def ball(x, y, z, bx, by, bz, radius):
        px = x - bx
        py = y - by
        pz = z - bz
        return math.sqrt(px * px + py * py + pz * pz) - radius

    (ax, ay, az, ar), (bx, by, bz, br), (cx, cy, cz, cr), (ex, ey, ez, er) = (
        map(F, numbers) for numbers in BALLS
    )

    @inline
    def scene(x, y, z):
        d = min(y, ball(x, y, z, ax, ay, az, ar))
        d = min(d, ball(x, y, z, bx, by, bz, br))
        d = min(d, ball(x, y, z, cx, cy, cz, cr))
        return min(d, ball(x, y, z, ex, ey, ez, er))

    lx, ly, lz = map(F, LIGHT)
    near, far, e = F(NEAR), F(FAR), F(DELTA)

    @par
    def raymarch(out):
        size = out.shape[0]
        for j in prange(size):
            v = F(1) - F(2) * (F(j) + F(0.5)) / F(size)
            for i in range(size):
                u = F(2) * (F(i) + F(0.5)) / F(size) - F(1)
                inverse = F(1) / math.sqrt(u * u + v * v + F(2.25))
                rx = u * inverse
                ry = v * inverse
                rz = F(1.5) * inverse
                t = F(0)
                hit = False
                for _ in range(STEPS):
                    d = scene(rx * t, F(1) + ry * t, F(-3) + rz * t)
                    if d < near:
                        hit = True
                        break
                    t += d
                    if t > far:
                        break
                colour = F(0)
                if hit:
                    x = rx * t
                    y = F(1) + ry * t
                    z = F(-3) + rz * t
                    nx = scene(x + e, y, z) - scene(x - e, y, z)
                    ny = scene(x, y + e, z) - scene(x, y - e, z)
                    nz = scene(x, y, z + e) - scene(x, y, z - e)
                    length = math.sqrt(nx * nx + ny * ny + nz * nz)
                    light = (nx * lx + ny * ly + nz * lz) / length
                    colour = F(0.1) + F(0.9) * max(light, F(0))
                out[j, i] = colour

    softening, dt = F(SOFTENING), F(TIME_STEP)

    @par
    def nbody(px, py, pz, velocity, mass, out):
        for i in prange(px.size):
            fx = F(0)
            fy = F(0)
            fz = F(0)
            x = px[i]
            y = py[i]
            z = pz[i]
            for j in range(px.size):
                qx = px[j] - x
                qy = py[j] - y
                qz = pz[j] - z
                r = F(1) / math.sqrt(qx * qx + qy * qy + qz * qz + softening)
                strength = mass[j] * r * r * r
                fx += qx * strength
                fy += qy * strength
                fz += qz * strength
            vx = velocity[i, 0] + dt * fx
            vy = velocity[i, 1] + dt * fy
            vz = velocity[i, 2] + dt * fz
            out[0, i, 0] = x + dt * vx
            out[0, i, 1] = y + dt * vy
            out[0, i, 2] = z + dt * vz
            out[1, i, 0] = vx
            out[1, i, 1] = vy
            out[1, i, 2] = vz

    @inline
    def median(p0, p1, p2, p3, p4, p5, p6, p7, p8):
        p1, p2 = min(p1, p2), max(p1, p2)
        p4, p5 = min(p4, p5), max(p4, p5)
        p7, p8 = min(p7, p8), max(p7, p8)
        p0, p1 = min(p0, p1), max(p0, p1)
        p3, p4 = min(p3, p4), max(p3, p4)
        p6, p7 = min(p6, p7), max(p6, p7)
        p1, p2 = min(p1, p2), max(p1, p2)
        p4, p5 = min(p4, p5), max(p4, p5)
        p7, p8 = min(p7, p8), max(p7, p8)
        p3 = max(p0, p3)
        p5 = min(p5, p8)
        p4, p7 = min(p4, p7), max(p4, p7)
        p6 = max(p3, p6)
        p4 = max(p1, p4)
        p2 = min(p2, p5)
        p4 = min(p4, p7)
        p4, p2 = min(p4, p2), max(p4, p2)
        p4 = max(p6, p4)
        return min(p4, p2)

    @inline
    def around(image, up, y, down, left, x, right):
        return median(
            image[up, left], image[up, x], image[up, right],
            image[y, left], image[y, x], image[y, right],
            image[down, left], image[down, x], image[down, right],
        )  # fmt: skip

    @par
    def median3(image, out):
        height, width = image.shape
        for y in prange(height):
            up = max(y - 1, 0)
            down = min(y + 1, height - 1)
            out[y, 0] = around(image, up, y, down, 0, 0, 1)
            out[y, width - 1] = around(image, up, y, down, width - 2, width - 1, width - 1)
            for x in range(1, width - 1):
                out[y, x] = around(image, up, y, down, x - 1, x, x + 1)

    return SimpleNamespace(
        grayscale=grayscale,
        fused=fused,
        gaussian3=gaussian3,
        convolve5=convolve5,
        mandelbrot=mandelbrot,
        raymarch=raymarch,
        nbody=nbody,
        median3=median3,
    )


def warm() -> None:
    """Compiles something trivial and starts the threads."""

    @numba.njit(parallel=True)
    def trivial(x):
        for i in prange(x.size):
            x[i] += 1

    trivial(np.zeros(8))


KERNELS = {"exact": _kernels(fast=False), "fast-math": _kernels(fast=True)}
Factory = Callable[[Data, int], Form]


def _forms(make: Callable[[SimpleNamespace, Data], Form]) -> dict[str, Factory]:
    """Both formulations of a row, on a number of threads."""

    def form(kernels: SimpleNamespace) -> Factory:
        def factory(data: Data, threads: int) -> Form:
            numba.set_num_threads(threads)
            return make(kernels, data)

        return factory

    return {name: form(kernels) for name, kernels in KERNELS.items()}


def _from(name: str, array: str, *extra: Array) -> dict[str, Factory]:
    def make(kernels: SimpleNamespace, data: Data) -> Form:
        out = zeros(data[array].shape)
        return Form(lambda: getattr(kernels, name)(data[array], *extra, out), lambda: out)

    return _forms(make)


def _drawn(name: str, dtype: type) -> dict[str, Factory]:
    def make(kernels: SimpleNamespace, data: Data) -> Form:
        out = zeros((data.size, data.size), dtype)
        return Form(lambda: getattr(kernels, name)(out), lambda: out)

    return _forms(make)


def _nbody(kernels: SimpleNamespace, data: Data) -> Form:
    coordinates = [data["position"][:, k].copy() for k in range(3)]
    out = zeros((2, data.size, 3), F)
    arguments = *coordinates, data["velocity"], data["mass"], out
    return Form(lambda: kernels.nbody(*arguments), lambda: out)


FORMS = {
    "grayscale": _from("grayscale", "image"),
    "fused": _from("fused", "x"),
    "gaussian3": _from("gaussian3", "image", GAUSSIAN3),
    "convolve5": _from("convolve5", "image", CONVOLVE5),
    "mandelbrot": _drawn("mandelbrot", np.int32),
    "raymarch": _drawn("raymarch", F),
    "nbody": _forms(_nbody),
    "median3": _from("median3", "image"),
}
