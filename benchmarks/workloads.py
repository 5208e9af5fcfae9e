"""The map rows of the performance table, as a user of Dynamis would write them.

Goes in: arrays as `benchmarks.rows` makes them. Comes out: what every peer of the row computes, in
the order of operations a reader expects; nothing here is arranged for the compiler.
"""

from __future__ import annotations

from typing import NamedTuple

import dynamis as dy
from dynamis import Grid, Rows, f32, i32, vec2, vec3, vec4


@dy.kernel("bench.grayscale@1")
def grayscale(image: Grid[vec4]) -> Grid[vec4]:
    """Brightness (Rec. ITU-R BT.601 weights) in all three colours; alpha stays."""
    c = image.sample()
    return vec4(vec3(0.299 * c.r + 0.587 * c.g + 0.114 * c.b), c.a)


@dy.kernel("bench.fused@1")
def fused(x: Rows[f32], a: f32 = 1.5, b: f32 = 0.75) -> Rows[f32]:
    """a·x + b·sin(x)·exp(-x²)."""
    v = x.sample()
    return a * v + b * dy.sin(v) * dy.exp(-v * v)


@dy.kernel("bench.gaussian3@1")
def gaussian3(image: Grid[f32]) -> Grid[f32]:
    """3×3 binomial weights (1 2 1)ᵀ(1 2 1)/16, edges repeated."""
    total = 0.0
    for v in range(-1, 2):
        for u in range(-1, 2):
            weight = f32((2 - abs(u)) * (2 - abs(v))) / 16.0
            total += image.at(dy.coord() + vec2(u, v)) * weight
    return total


@dy.kernel("bench.convolve5@1")
def convolve5(image: Grid[f32], weights: Grid[f32]) -> Grid[f32]:
    """Any 5×5 weights, edges repeated."""
    total = 0.0
    for v in range(5):
        for u in range(5):
            total += image.at(dy.coord() + vec2(u - 2, v - 2)) * weights.at(vec2(u, v))
    return total


@dy.kernel("bench.mandelbrot@1")
def mandelbrot(low: vec2 = vec2(-2.0, -1.25), high: vec2 = vec2(0.5, 1.25)) -> Grid[i32]:
    """How many of 256 iterations a point between ``low`` and ``high`` stays within 2 of 0."""
    c = low + (high - low) * dy.coord() / dy.domain()
    x = 0.0
    y = 0.0
    n = 0
    while n < 256:
        xx = x * x
        yy = y * y
        if xx + yy > 4.0:
            break
        xy = x * y
        x = xx - yy + c.x
        y = xy + xy + c.y
        n += 1
    return n


LIGHT = vec3(0.4472136, 0.7155418, -0.5366563)
"""(0.5, 0.8, -0.6) at unit length."""


def scene_distance(p: vec3) -> f32:
    """From ``p`` to the nearest surface: a floor and four balls."""
    d = p.y
    d = dy.min(d, dy.distance(p, vec3(0.0, 1.0, 1.0)) - 1.0)
    d = dy.min(d, dy.distance(p, vec3(1.6, 0.6, 0.2)) - 0.6)
    d = dy.min(d, dy.distance(p, vec3(-1.5, 0.5, 0.4)) - 0.5)
    return dy.min(d, dy.distance(p, vec3(0.4, 0.3, -0.6)) - 0.3)


@dy.kernel("bench.raymarch@1")
def raymarch() -> Grid[f32]:
    """The scene from (0, 1, -3), at most 64 steps a ray; normals by central differences."""
    screen = 2.0 * (dy.coord() + 0.5) / dy.domain() - 1.0
    eye = vec3(0.0, 1.0, -3.0)
    ray = dy.normalize(vec3(screen.x, -screen.y, 1.5))
    t = 0.0
    hit = False
    for _ in range(64):
        d = scene_distance(eye + ray * t)
        if d < 0.001:
            hit = True
            break
        t += d
        if t > 20.0:
            break
    if not hit:
        return 0.0
    p = eye + ray * t
    dx = vec3(0.001, 0.0, 0.0)
    normal = dy.normalize(
        vec3(
            scene_distance(p + dx) - scene_distance(p - dx),
            scene_distance(p + dx.yxz) - scene_distance(p - dx.yxz),
            scene_distance(p + dx.yzx) - scene_distance(p - dx.yzx),
        )
    )
    return 0.1 + 0.9 * dy.max(dy.dot(normal, LIGHT), 0.0)


class Bodies(NamedTuple):
    """The bodies a time step later."""

    position: Rows[vec3]
    velocity: Rows[vec3]


@dy.kernel("bench.nbody@1")
def nbody(
    position: Rows[vec3],
    velocity: Rows[vec3],
    mass: Rows[f32],
    dt: f32 = 0.01,
    softening: f32 = 0.01,
) -> Bodies:
    """Every body attracts every other; ``softening`` is added to each squared distance."""
    p = position.sample()
    acceleration = vec3(0.0)
    for j in range(position.count):
        d = position.at(j) - p
        r = 1.0 / dy.sqrt(dy.dot(d, d) + softening)
        acceleration += d * (mass.at(j) * r * r * r)
    v = velocity.sample() + dt * acceleration
    return Bodies(p + dt * v, v)


@dy.kernel("bench.median3@1")
def median3(image: Grid[f32]) -> Grid[f32]:
    """The median of 3×3, edges repeated: a network of minima and maxima (Smith 1996)."""
    c = dy.coord()
    p0, p1, p2 = image.at(c + vec2(-1, -1)), image.at(c + vec2(0, -1)), image.at(c + vec2(1, -1))
    p3, p4, p5 = image.at(c + vec2(-1, 0)), image.at(c), image.at(c + vec2(1, 0))
    p6, p7, p8 = image.at(c + vec2(-1, 1)), image.at(c + vec2(0, 1)), image.at(c + vec2(1, 1))
    p1, p2 = dy.min(p1, p2), dy.max(p1, p2)
    p4, p5 = dy.min(p4, p5), dy.max(p4, p5)
    p7, p8 = dy.min(p7, p8), dy.max(p7, p8)
    p0, p1 = dy.min(p0, p1), dy.max(p0, p1)
    p3, p4 = dy.min(p3, p4), dy.max(p3, p4)
    p6, p7 = dy.min(p6, p7), dy.max(p6, p7)
    p1, p2 = dy.min(p1, p2), dy.max(p1, p2)
    p4, p5 = dy.min(p4, p5), dy.max(p4, p5)
    p7, p8 = dy.min(p7, p8), dy.max(p7, p8)
    p3 = dy.max(p0, p3)
    p5 = dy.min(p5, p8)
    p4, p7 = dy.min(p4, p7), dy.max(p4, p7)
    p6 = dy.max(p3, p6)
    p4 = dy.max(p1, p4)
    p2 = dy.min(p2, p5)
    p4 = dy.min(p4, p7)
    p4, p2 = dy.min(p4, p2), dy.max(p4, p2)
    p4 = dy.max(p6, p4)
    return dy.min(p4, p2)
