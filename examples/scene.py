"""A test picture drawn by a kernel: what the other examples use when they are given no picture.

python examples/scene.py -o scene.png
dynamis run examples/scene.py -o scene.png --shape 480,640
"""

import argparse

import dynamis as dy
from dynamis import Grid, f32, vec2, vec3, vec4


def disc(p: vec2, centre: vec2, radius: f32) -> f32:
    """1 inside a disc, 0 outside, over an edge two pixels wide."""
    return 1.0 - dy.smoothstep(radius - 1.0, radius + 1.0, dy.distance(p, centre))


@dy.kernel
def scene() -> Grid[vec4]:
    """A chequered floor under a sky, a sun, and three balls."""
    size = dy.domain()
    p = dy.coord()
    unit = size.y / 12.0
    horizon = 0.55 * size.y
    colour = dy.mix(vec3(0.20, 0.45, 0.85), vec3(0.85, 0.93, 1.0), p.y / horizon)
    colour = dy.mix(colour, vec3(1.0, 0.95, 0.70), disc(p, 0.2 * size, 1.2 * unit))
    if p.y > horizon:
        depth = unit / (p.y - horizon + 1.0)
        square = dy.floor(0.02 * (p.x - 0.5 * size.x) * depth) + dy.floor(8.0 * depth)
        if dy.fract(0.5 * square) > 0.25:
            colour = vec3(0.85, 0.80, 0.70)
        else:
            colour = vec3(0.25, 0.16, 0.12)
    for i in range(3):
        centre = size * vec2(0.3 + 0.22 * f32(i), 0.55 + 0.08 * f32(i))
        radius = unit * (1.0 + 0.5 * f32(i))
        light = 1.0 - dy.distance(p, centre - 0.4 * radius) / (1.8 * radius)
        ball = vec3(0.9 - 0.35 * f32(i), 0.25 + 0.2 * f32(i), 0.2 + 0.3 * f32(i))
        colour = dy.mix(colour, ball * dy.clamp(light, 0.1, 1.0), disc(p, centre, radius))
    return vec4(colour, 1.0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", default="scene.png")
    arguments = parser.parse_args()
    print(dy.write_image(arguments.output, scene(shape=(480, 640))))
