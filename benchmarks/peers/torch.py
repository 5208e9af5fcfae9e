"""torch.compile: inductor's C++ and OpenMP, static shapes, into a given output where it can.

Divergent rows are compiled blocks of masked iterations with the elements that are left packed
together in between. Compiling the rows takes minutes.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch._inductor.config
import torch.nn.functional

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
)
from . import Form

VERSION = f"torch {torch.__version__}"
torch.set_grad_enabled(False)
torch._inductor.config.fx_graph_cache = False
torch._inductor.config.cpp_cache_precompile_headers = False


def warm() -> None:
    """Compiles something trivial."""
    torch.compile(lambda x: x + 1)(torch.zeros(8))


def _into(function: Callable[..., torch.Tensor], *names: str) -> Callable[[Data, int], Form]:
    """``function(*tensors)`` compiled, its result copied (fused) into a tensor that is kept: of
    the first input's shape, or one such for each of the row's two outputs."""

    def form(data: Data, threads: int) -> Form:
        torch.set_num_threads(threads)
        tensors = [torch.from_numpy(data[name]) for name in names]
        shape = tensors[0].shape
        out = torch.zeros(shape if function is not nbody else (2, *shape))

        def write(*given):
            given[-1].copy_(function(*given[:-1]))

        compiled = torch.compile(write, dynamic=False, fullgraph=True)
        return Form(lambda: compiled(*tensors, out), lambda: out.numpy())

    return form


def grayscale(image):
    gray = image[..., 0] * LUMA[0] + image[..., 1] * LUMA[1] + image[..., 2] * LUMA[2]
    return torch.stack([gray, gray, gray, image[..., 3]], -1)


def fused(x):
    return FUSED_A * x + FUSED_B * torch.sin(x) * torch.exp(-x * x)


def _padded(image, radius: int):
    edges = (radius, radius, radius, radius)
    return torch.nn.functional.pad(image[None, None], edges, mode="replicate")[0, 0]


def convolution(weights: Array) -> Callable:
    radius, table = len(weights) // 2, weights.astype(float).tolist()

    def convolve(image):
        padded = _padded(image, radius)
        height, width = image.shape
        total = 0.0
        for v, row in enumerate(table):
            for u, weight in enumerate(row):
                total = total + padded[v : v + height, u : u + width] * weight
        return total

    return convolve


def mandelbrot(data: Data, threads: int) -> Form:
    torch.set_num_threads(threads)
    n, block = data.size, 4  # sixteen take minutes to compile
    x0, x1, y0, y1 = PLANE
    kept: dict[str, torch.Tensor] = {}

    def iterate(cx, cy, x, y, counts):
        for _ in range(block):
            xx, yy, xy = x * x, y * y, x * y
            live = xx + yy <= 4
            counts = counts + live.to(torch.int32)
            x, y = torch.where(live, xx - yy + cx, x), torch.where(live, xy + xy + cy, y)
        return x, y, counts

    compiled = torch.compile(iterate, dynamic=True, fullgraph=True)

    def step() -> None:
        steps = torch.arange(n, dtype=torch.float32)
        cx = (x0 + (x1 - x0) * steps / n).repeat(n)
        cy = (y0 + (y1 - y0) * steps / n).repeat_interleave(n)
        out = torch.zeros(n * n, dtype=torch.int32)
        index, counts = torch.arange(n * n), out.clone()
        x, y = torch.zeros_like(cx), torch.zeros_like(cy)
        for done in range(block, ITERATIONS + 1, block):
            x, y, counts = compiled(cx, cy, x, y, counts)
            live = counts == done
            out[index[~live]] = counts[~live]
            index, cx, cy, x, y, counts = (a[live] for a in (index, cx, cy, x, y, counts))
            if index.numel() < 2:
                break
        out[index] = counts
        kept["out"] = out.view(n, n)

    return Form(step, lambda: kept["out"].numpy())


def scene(x, y, z):
    d = y
    for bx, by, bz, radius in BALLS:
        dx, dy, dz = x - bx, y - by, z - bz
        d = torch.minimum(d, torch.sqrt(dx * dx + dy * dy + dz * dz) - radius)
    return d


def shade(dx, dy, dz, t):
    x, y, z, e = dx * t, 1 + dy * t, -3 + dz * t, DELTA
    nx = scene(x + e, y, z) - scene(x - e, y, z)
    ny = scene(x, y + e, z) - scene(x, y - e, z)
    nz = scene(x, y, z + e) - scene(x, y, z - e)
    r = torch.rsqrt(nx * nx + ny * ny + nz * nz)
    light = (nx * LIGHT[0] + ny * LIGHT[1] + nz * LIGHT[2]) * r
    return 0.1 + 0.9 * torch.clamp_min(light, 0)


def raymarch(data: Data, threads: int) -> Form:
    torch.set_num_threads(threads)
    n, block = data.size, 8
    kept: dict[str, torch.Tensor] = {}

    def march(dx, dy, dz, t, live, hit):
        for _ in range(block):
            d = scene(dx * t, 1 + dy * t, -3 + dz * t)
            near = live & (d < NEAR)
            hit = hit | near
            live = live & ~near
            t = torch.where(live, t + d, t)
            live = live & (t <= FAR)
        return t, live, hit

    marched = torch.compile(march, dynamic=True, fullgraph=True)
    shaded = torch.compile(shade, dynamic=True)

    def step() -> None:
        screen = 2 * (torch.arange(n, dtype=torch.float32) + 0.5) / n - 1
        v, u = (a.reshape(-1) for a in torch.meshgrid(-screen, screen, indexing="ij"))
        inverse = torch.rsqrt(u * u + v * v + 2.25)
        rays = u * inverse, v * inverse, 1.5 * inverse
        struck, reached = torch.zeros(n * n, dtype=torch.bool), torch.zeros(n * n)
        index, t, (dx, dy, dz) = torch.arange(n * n), torch.zeros(n * n), rays
        for _ in range(STEPS // block):
            live = torch.ones_like(index, dtype=torch.bool)
            t, live, hit = marched(dx, dy, dz, t, live, torch.zeros_like(live))
            struck[index[hit]] = True
            reached[index[hit]] = t[hit]
            index, dx, dy, dz, t = (a[live] for a in (index, dx, dy, dz, t))
            if index.numel() < 2:
                break
        where = struck.nonzero()[:, 0]
        out = torch.zeros(n * n)
        out[where] = shaded(*(ray[where] for ray in rays), reached[where])
        kept["out"] = out.view(n, n)

    return Form(step, lambda: kept["out"].numpy())


def nbody(position, velocity, mass):
    dx, dy, dz = (position[None, :, k] - position[:, k, None] for k in range(3))
    r = torch.rsqrt(dx * dx + dy * dy + dz * dz + SOFTENING)
    s = mass * r * r * r
    pull = torch.stack([(dx * s).sum(1), (dy * s).sum(1), (dz * s).sum(1)], 1)
    v = velocity + TIME_STEP * pull
    return torch.stack([position + TIME_STEP * v, v])


def median3(image):
    padded = _padded(image, 1)
    height, width = image.shape
    nine = [padded[v : v + height, u : u + width] for v in range(3) for u in range(3)]
    for i, j in EXCHANGES:
        nine[i], nine[j] = torch.minimum(nine[i], nine[j]), torch.maximum(nine[i], nine[j])
    return nine[4]


FORMS = {
    "grayscale": {"": _into(grayscale, "image")},
    "fused": {"": _into(fused, "x")},
    "gaussian3": {"": _into(convolution(GAUSSIAN3), "image")},
    "convolve5": {"": _into(convolution(CONVOLVE5), "image")},
    "mandelbrot": {"": mandelbrot},
    "raymarch": {"": raymarch},
    "nbody": {"": _into(nbody, "position", "velocity", "mass")},
    "median3": {"": _into(median3, "image")},
}
