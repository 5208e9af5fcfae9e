"""Taichi on the CPU, over NumPy arrays in place, with its default fast-math.

Stencils and the median have a parallel loop over rows and a plain one inside, which lets its LLVM
vectorise the inner one; the others are ``ndrange`` loops. It does not cache between processes here.
"""

# No `from __future__ import annotations`: Taichi reads the annotations as they are.

from collections.abc import Callable

import numpy as np
import taichi as ti

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

ti.init(arch=ti.cpu, offline_cache=False, default_fp=ti.f32, default_ip=ti.i32, log_level=ti.ERROR)
VERSION = "Taichi " + ".".join(map(str, ti.__version__))

F1, F2, F3 = (ti.types.ndarray(dtype=ti.f32, ndim=n) for n in (1, 2, 3))
I2 = ti.types.ndarray(dtype=ti.i32, ndim=2)
LEFT, WIDE, TOP, HIGH = PLANE[0], PLANE[1] - PLANE[0], PLANE[2], PLANE[3] - PLANE[2]


@ti.kernel
def grayscale(image: F3, out: F3):
    for y, x in ti.ndrange(image.shape[0], image.shape[1]):
        g = LUMA[0] * image[y, x, 0] + LUMA[1] * image[y, x, 1] + LUMA[2] * image[y, x, 2]
        out[y, x, 0] = g
        out[y, x, 1] = g
        out[y, x, 2] = g
        out[y, x, 3] = image[y, x, 3]


@ti.kernel
def fused(x: F1, out: F1):
    for i in range(x.shape[0]):
        v = x[i]
        out[i] = FUSED_A * v + FUSED_B * ti.sin(v) * ti.exp(-v * v)


def convolution(weights: Array) -> Callable:
    radius, side = len(weights) // 2, len(weights)
    table = weights.astype(float).tolist()

    @ti.kernel
    def convolve(image: F2, out: F2):
        for y in range(image.shape[0]):
            height, width = image.shape[0], image.shape[1]
            for x in range(radius, width - radius):
                total = 0.0
                for v in ti.static(range(side)):
                    row = ti.math.clamp(y + v - radius, 0, height - 1)
                    for u in ti.static(range(side)):
                        total += image[row, x + u - radius] * table[v][u]
                out[y, x] = total
            for e in range(2 * radius):
                x = e if e < radius else width - 1 - (e - radius)
                total = 0.0
                for v in ti.static(range(side)):
                    row = ti.math.clamp(y + v - radius, 0, height - 1)
                    for u in ti.static(range(side)):
                        column = ti.math.clamp(x + u - radius, 0, width - 1)
                        total += image[row, column] * table[v][u]
                out[y, x] = total

    return convolve


@ti.kernel
def mandelbrot(out: I2):
    for row, column in ti.ndrange(out.shape[0], out.shape[1]):
        cx = LEFT + WIDE * ti.cast(column, ti.f32) / out.shape[1]
        cy = TOP + HIGH * ti.cast(row, ti.f32) / out.shape[0]
        x = 0.0
        y = 0.0
        count = 0
        while count < ITERATIONS:
            xx = x * x
            yy = y * y
            if xx + yy > 4.0:
                break
            xy = x * y
            x = xx - yy + cx
            y = xy + xy + cy
            count += 1
        out[row, column] = count


@ti.func
def scene(x, y, z):
    d = y
    for b in ti.static(BALLS):
        dx = x - b[0]
        dy = y - b[1]
        dz = z - b[2]
        d = ti.min(d, ti.sqrt(dx * dx + dy * dy + dz * dz) - b[3])
    return d


@ti.kernel
def raymarch(out: F2):
    for j, i in ti.ndrange(out.shape[0], out.shape[1]):
        n = out.shape[0]
        u = 2.0 * (ti.cast(i, ti.f32) + 0.5) / n - 1.0
        v = 1.0 - 2.0 * (ti.cast(j, ti.f32) + 0.5) / n
        inverse = 1.0 / ti.sqrt(u * u + v * v + 2.25)
        rx = u * inverse
        ry = v * inverse
        rz = 1.5 * inverse
        t = 0.0
        hit = 0
        step = 0
        while step < STEPS:
            d = scene(rx * t, 1.0 + ry * t, -3.0 + rz * t)
            if d < NEAR:
                hit = 1
                break
            t += d
            if t > FAR:
                break
            step += 1
        colour = 0.0
        if hit:
            x = rx * t
            y = 1.0 + ry * t
            z = -3.0 + rz * t
            nx = scene(x + DELTA, y, z) - scene(x - DELTA, y, z)
            ny = scene(x, y + DELTA, z) - scene(x, y - DELTA, z)
            nz = scene(x, y, z + DELTA) - scene(x, y, z - DELTA)
            length = ti.sqrt(nx * nx + ny * ny + nz * nz)
            light = (nx * LIGHT[0] + ny * LIGHT[1] + nz * LIGHT[2]) / length
            colour = 0.1 + 0.9 * ti.max(light, 0.0)
        out[j, i] = colour


@ti.kernel
def nbody(px: F1, py: F1, pz: F1, velocity: F2, mass: F1, out: F3):
    for i in range(px.shape[0]):
        ax = 0.0
        ay = 0.0
        az = 0.0
        x = px[i]
        y = py[i]
        z = pz[i]
        for j in range(px.shape[0]):
            dx = px[j] - x
            dy = py[j] - y
            dz = pz[j] - z
            r = ti.rsqrt(dx * dx + dy * dy + dz * dz + SOFTENING)
            s = mass[j] * r * r * r
            ax += dx * s
            ay += dy * s
            az += dz * s
        vx = velocity[i, 0] + TIME_STEP * ax
        vy = velocity[i, 1] + TIME_STEP * ay
        vz = velocity[i, 2] + TIME_STEP * az
        out[0, i, 0] = x + TIME_STEP * vx
        out[0, i, 1] = y + TIME_STEP * vy
        out[0, i, 2] = z + TIME_STEP * vz
        out[1, i, 0] = vx
        out[1, i, 1] = vy
        out[1, i, 2] = vz


@ti.kernel
def median3(image: F2, out: F2):
    for y in range(image.shape[0]):
        for x in range(image.shape[1]):
            p = ti.Vector([0.0] * 9)
            for k in ti.static(range(9)):
                row = ti.math.clamp(y + k // 3 - 1, 0, image.shape[0] - 1)
                p[k] = image[row, ti.math.clamp(x + k % 3 - 1, 0, image.shape[1] - 1)]
            for q in ti.static(EXCHANGES):
                low = ti.min(p[q[0]], p[q[1]])
                p[q[1]] = ti.max(p[q[0]], p[q[1]])
                p[q[0]] = low
            out[y, x] = p[4]


@ti.kernel
def trivial(x: F1):
    for i in range(x.shape[0]):
        x[i] += 1.0


def warm() -> None:
    """Compiles something trivial."""
    trivial(np.zeros(8, F))


def _call(kernel: Callable, out: Array, *arguments: Array) -> Form:
    def step() -> None:
        kernel(*arguments, out)
        ti.sync()

    return Form(step, lambda: out)


def _from(kernel: Callable, name: str) -> Callable[[Data, int], Form]:
    return lambda data, threads: _call(kernel, zeros(data[name].shape), data[name])


def _drawn(kernel: Callable, dtype: type) -> Callable[[Data, int], Form]:
    return lambda data, threads: _call(kernel, zeros((data.size, data.size), dtype))


def _nbody(data: Data, threads: int) -> Form:
    coordinates = [data["position"][:, k].copy() for k in range(3)]
    out = zeros((2, data.size, 3), F)
    return _call(nbody, out, *coordinates, data["velocity"], data["mass"])


FORMS = {
    "grayscale": {"": _from(grayscale, "image")},
    "fused": {"": _from(fused, "x")},
    "gaussian3": {"": _from(convolution(GAUSSIAN3), "image")},
    "convolve5": {"": _from(convolution(CONVOLVE5), "image")},
    "mandelbrot": {"": _drawn(mandelbrot, np.int32)},
    "raymarch": {"": _drawn(raymarch, F)},
    "nbody": {"": _nbody},
    "median3": {"": _from(median3, "image")},
}
