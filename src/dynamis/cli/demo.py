"""The kernel that ``dynamis demo`` draws: part of the edge of the Mandelbrot set, in colour.

Each pixel averages four points. A point is followed until it leaves a circle of radius 16; how
soon it does, with a fraction from how far outside it lands, picks its colour.
"""

from __future__ import annotations

from .. import api
from ..frontend.surface import (
    Grid,
    bits,
    clamp,
    coord,
    domain,
    f32,
    fract,
    i32,
    mix,
    smoothstep,
    vec2,
    vec3,
)

WIDTH, HEIGHT = 1920, 1200
"""The size of the picture in pixels."""


def log2_roughly(x: f32) -> f32:
    """log2 of a positive number, within 0.09: an f32's bits read as a number are its logarithm."""
    return f32(bits(x)) / 8388608.0 - 127.0


def escape(c: vec2) -> f32:
    """Steps of z -> z*z + c that the point c takes to leave, with a fraction; 0 if it stays."""
    x = 0.0
    y = 0.0
    steps = 0.0
    for _ in range(400):
        if x * x + y * y > 256.0:
            break
        t = x * x - y * y + c.x
        y = 2.0 * x * y + c.y
        x = t
        steps += 1.0
    if x * x + y * y <= 256.0:
        return 0.0
    return steps + 1.0 - log2_roughly(log2_roughly(x * x + y * y) / 8.0)


def palette(t: f32) -> vec3:
    """A colour for t on a circle of circumference 1: navy, blue, white, amber, black, navy."""
    navy = vec3(0.0, 0.03, 0.35)
    blue = vec3(0.12, 0.42, 0.80)
    white = vec3(0.95, 1.0, 1.0)
    amber = vec3(1.0, 0.62, 0.05)
    black = vec3(0.0, 0.01, 0.02)
    c = mix(navy, blue, smoothstep(0.0, 0.16, t))
    c = mix(c, white, smoothstep(0.16, 0.42, t))
    c = mix(c, amber, smoothstep(0.42, 0.64, t))
    c = mix(c, black, smoothstep(0.64, 0.86, t))
    return mix(c, navy, smoothstep(0.86, 1.0, t))


@api.kernel("demo.mandelbrot@1")
def mandelbrot(
    centre: vec2 = vec2(-0.7453, 0.1127), span: f32 = 0.0065, samples: i32 = 2
) -> Grid[vec3]:
    """The Mandelbrot set around ``centre``, ``span`` wide, ``samples`` squared points a pixel."""
    size = domain()
    total = vec3(0.0)
    for v in range(samples):
        for u in range(samples):
            p = coord() + (vec2(u, v) + 0.5) / f32(samples) - 0.5 * size
            steps = escape(centre + p * vec2(1.0, -1.0) * (span / size.x))
            if steps > 0.0:
                total += palette(fract(clamp(steps, 0.0, 400.0) / 60.0))
    return total / f32(samples * samples)
