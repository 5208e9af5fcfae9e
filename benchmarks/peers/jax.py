"""JAX: ``jax.jit`` on the CPU. It returns fresh arrays; its process asks for huge pages.

Divergent rows go a row of the picture at a time (``lax.map``), so that a row stops early.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

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

VERSION = f"JAX {jax.__version__}"


def warm() -> None:
    """Compiles something trivial."""
    jax.block_until_ready(jax.jit(lambda x: x + 1)(jnp.zeros(8)))


def _jit(function: Callable, *names: str) -> Callable[[Data, int], Form]:
    """``function(size, *arrays)`` compiled for a size; the arrays are JAX's own beforehand."""

    def form(data: Data, threads: int) -> Form:
        arrays = jax.block_until_ready([jnp.asarray(data[name]) for name in names])
        compiled = jax.jit(lambda *given: function(data.size, *given))
        kept = {}

        def step() -> None:
            kept["out"] = jax.block_until_ready(compiled(*arrays))

        return Form(step, lambda: np.asarray(kept["out"]))

    return form


def grayscale(n, image):
    gray = image[..., 0] * LUMA[0] + image[..., 1] * LUMA[1] + image[..., 2] * LUMA[2]
    return jnp.stack([gray, gray, gray, image[..., 3]], -1)


def fused(n, x):
    return FUSED_A * x + FUSED_B * jnp.sin(x) * jnp.exp(-x * x)


def convolution(weights: Array) -> Callable:
    radius = len(weights) // 2

    def convolve(n, image):
        padded = jnp.pad(image, radius, mode="edge")
        height, width = image.shape
        return sum(
            lax.slice(padded, (v, u), (v + height, u + width)) * weight
            for (v, u), weight in np.ndenumerate(weights)
        )

    return convolve


def mandelbrot(n):
    x0, x1, y0, y1 = PLANE
    cx = F(x0) + F(x1 - x0) * jnp.arange(n, dtype=F) / F(n)

    def row(cy):
        def more(state):
            count, _, _, _, live = state
            return (count < ITERATIONS) & jnp.any(live)

        def step(state):
            count, x, y, counts, live = state
            xx, yy, xy = x * x, y * y, x * y
            live = live & (xx + yy <= 4)
            x, y = jnp.where(live, xx - yy + cx, x), jnp.where(live, xy + xy + cy, y)
            return count + 1, x, y, counts + live.astype(jnp.int32), live

        zero = jnp.zeros(n, F)
        start = 0, zero, zero, jnp.zeros(n, jnp.int32), jnp.ones(n, bool)
        return lax.while_loop(more, step, start)[3]

    return lax.map(row, F(y0) + F(y1 - y0) * jnp.arange(n, dtype=F) / F(n))


def scene(x, y, z):
    d = y
    for bx, by, bz, radius in BALLS:
        dx, dy, dz = x - bx, y - by, z - bz
        d = jnp.minimum(d, jnp.sqrt(dx * dx + dy * dy + dz * dz) - radius)
    return d


def raymarch(n):
    screen = F(2) * (jnp.arange(n, dtype=F) + F(0.5)) / F(n) - 1
    u, v = jnp.broadcast_to(screen, (n, n)), jnp.broadcast_to(-screen[:, None], (n, n))
    inverse = 1 / jnp.sqrt(u * u + v * v + F(2.25))
    dx, dy, dz = u * inverse, v * inverse, F(1.5) * inverse

    def more(state):
        return (state[0] < STEPS) & jnp.any(state[2])

    def step(state):
        count, t, live, hit = state
        d = scene(dx * t, 1 + dy * t, -3 + dz * t)
        near = live & (d < NEAR)
        live &= ~near
        t = jnp.where(live, t + d, t)
        return count + 1, t, live & (t <= FAR), hit | near

    start = 0, jnp.zeros((n, n), F), jnp.ones((n, n), bool), jnp.zeros((n, n), bool)
    _, t, _, hit = lax.while_loop(more, step, start)
    x, y, z, e = dx * t, 1 + dy * t, -3 + dz * t, DELTA
    nx = scene(x + e, y, z) - scene(x - e, y, z)
    ny = scene(x, y + e, z) - scene(x, y - e, z)
    nz = scene(x, y, z + e) - scene(x, y, z - e)
    length = jnp.sqrt(nx * nx + ny * ny + nz * nz)
    light = (nx * LIGHT[0] + ny * LIGHT[1] + nz * LIGHT[2]) / length
    return jnp.where(hit, F(0.1) + F(0.9) * jnp.maximum(light, 0), 0)


def nbody(n, position, velocity, mass):
    px, py, pz = position[:, 0], position[:, 1], position[:, 2]

    def pull(p):
        dx, dy, dz = px - p[0], py - p[1], pz - p[2]
        r = lax.rsqrt(dx * dx + dy * dy + dz * dz + F(SOFTENING))
        s = mass * r * r * r
        return jnp.stack([jnp.sum(dx * s), jnp.sum(dy * s), jnp.sum(dz * s)])

    v = velocity + F(TIME_STEP) * lax.map(pull, position, batch_size=min(64, n))
    return jnp.stack([position + F(TIME_STEP) * v, v])


def median3(n, image):
    padded = jnp.pad(image, 1, mode="edge")
    height, width = image.shape
    nine = [padded[v : v + height, u : u + width] for v in range(3) for u in range(3)]
    for i, j in EXCHANGES:
        nine[i], nine[j] = jnp.minimum(nine[i], nine[j]), jnp.maximum(nine[i], nine[j])
    return nine[4]


FORMS = {
    "grayscale": {"": _jit(grayscale, "image")},
    "fused": {"": _jit(fused, "x")},
    "gaussian3": {"": _jit(convolution(GAUSSIAN3), "image")},
    "convolve5": {"": _jit(convolution(CONVOLVE5), "image")},
    "mandelbrot": {"": _jit(mandelbrot)},
    "raymarch": {"": _jit(raymarch)},
    "nbody": {"": _jit(nbody, "position", "velocity", "mass")},
    "median3": {"": _jit(median3, "image")},
}
