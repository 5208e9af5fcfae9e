"""Reaction and diffusion: two substances spread, one eats the other, and patterns grow.

The model is Gray and Scott's; Pearson (Science, 1993) mapped what grows at which rates. A step
reads one pair of arrays and writes the other, through ``out=``: nothing is allocated on the way.

    python examples/reaction_diffusion.py -o coral.png
    python examples/reaction_diffusion.py -o cells.png --feed 0.03 --kill 0.0625 --steps 12000
"""

import argparse
from typing import NamedTuple

import numpy as np

import dynamis as dy
from dynamis import Grid, f32, vec2, vec3


class Pair(NamedTuple):
    u: Grid[f32]
    v: Grid[f32]


def spread(a: Grid[f32], p: vec2) -> f32:
    """How much more of ``a`` there is around p than at p: the Laplacian over eight neighbours."""
    beside = (
        a.at(p - vec2(1, 0)) + a.at(p + vec2(1, 0)) + a.at(p - vec2(0, 1)) + a.at(p + vec2(0, 1))
    )
    across = (
        a.at(p - vec2(1, 1)) + a.at(p + vec2(1, -1)) + a.at(p - vec2(1, -1)) + a.at(p + vec2(1, 1))
    )
    return 0.2 * beside + 0.05 * across - a.at(p)


@dy.kernel
def reaction_diffusion(u: Grid[f32], v: Grid[f32], feed: f32 = 0.055, kill: f32 = 0.062) -> Pair:
    """One step: u is fed and eaten, v eats and dies, and both spread, u twice as fast."""
    p = dy.coord()
    a, b = u.sample(), v.sample()
    eaten = a * b * b
    return (
        a + spread(u, p) - eaten + feed * (1.0 - a),
        b + 0.5 * spread(v, p) + eaten - (feed + kill) * b,
    )


def tint(x: f32) -> vec3:
    """Deep blue through teal and sand to white."""
    c = dy.mix(vec3(0.01, 0.05, 0.16), vec3(0.01, 0.33, 0.42), dy.smoothstep(0.0, 0.4, x))
    c = dy.mix(c, vec3(0.96, 0.45, 0.20), dy.smoothstep(0.35, 0.8, x))
    return dy.mix(c, vec3(1.0, 0.90, 0.70), dy.smoothstep(0.75, 1.0, x))


@dy.kernel
def relief(v: Grid[f32], height: f32 = 7.0) -> Grid[vec3]:
    """v as a lit landscape, four pixels to a cell."""
    p = 0.5 * dy.coord() - 0.25
    slope = vec2(
        v.linear(p + vec2(0.5, 0.0)) - v.linear(p - vec2(0.5, 0.0)),
        v.linear(p + vec2(0.0, 0.5)) - v.linear(p - vec2(0.0, 0.5)),
    )
    n = dy.normalize(vec3(-height * slope, 1.0))
    light = dy.normalize(vec3(-0.5, -0.7, 0.6))
    shine = dy.max(dy.dot(n, dy.normalize(light + vec3(0.0, 0.0, 1.0))), 0.0) ** 40
    c = tint(2.7 * v.linear(p)) * (0.45 + 0.75 * dy.max(dy.dot(n, light), 0.0)) + 0.35 * shine
    return dy.clamp(c, vec3(0.0), vec3(1.0))


def grow(height: int, width: int, steps: int, **rates: float) -> Pair:
    """A field of u with some drops of v, after many steps."""
    rng = np.random.default_rng(7)
    u, v = np.ones((height, width), np.float32), np.zeros((height, width), np.float32)
    for y, x in rng.integers(0, (height, width), (height * width // 4000, 2)):
        u[y : y + 8, x : x + 8], v[y : y + 8, x : x + 8] = 0.5, 0.25
    here, there = Pair(u, v), Pair(u.copy(), v.copy())
    for _ in range(steps):
        here, there = reaction_diffusion(*here, out=there, **rates), here
    return here


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", default="reaction_diffusion.png")
    parser.add_argument("--width", type=int, default=480, help="in cells, of two by two pixels")
    parser.add_argument("--height", type=int, default=270)
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--feed", type=float, default=0.055)
    parser.add_argument("--kill", type=float, default=0.062)
    a = parser.parse_args()
    grown = grow(a.height, a.width, a.steps, feed=a.feed, kill=a.kill)
    print(dy.write_image(a.output, relief(grown.v, shape=(2 * a.height, 2 * a.width))))
