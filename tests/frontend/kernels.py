"""Kernels that the frontend's tests compile and run."""

import math

from dynamis.frontend import surface as dy
from dynamis.frontend.surface import Grid, f32, i32, vec2, vec4


def blur(image: Grid[vec4], radius: i32 = 2) -> Grid[vec4]:
    total = vec4(0.0)
    for v in range(-radius, radius + 1):
        for u in range(-radius, radius + 1):
            total += image.at(dy.coord() + vec2(u, v))
    return total / f32((2 * radius + 1) ** 2)


def mandelbrot(centre: vec2 = vec2(-0.5, 0.0), scale: f32 = 3.0) -> Grid[i32]:
    size = dy.domain()
    c = centre + (dy.coord() + 0.5 - size / 2) * (scale / size.x)
    z = vec2(0.0)
    n = 0
    for _ in range(256):
        if dy.dot(z, z) > 4.0:
            break
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c
        n += 1
    return n


def luma(image, p):
    return dy.dot(image.at(p).rgb, LUMA)


LUMA = dy.vec3(0.2126, 0.7152, 0.0722)


def sobel(image: Grid[vec4], gain: f32 = 1.0) -> Grid[f32]:
    p = dy.coord()
    gx = 0.0
    gy = 0.0
    for k in range(-1, 2):
        w = 2.0 if k == 0 else 1.0
        gx += w * (luma(image, p + vec2(1, k)) - luma(image, p + vec2(-1, k)))
        gy += w * (luma(image, p + vec2(k, 1)) - luma(image, p + vec2(k, -1)))
    return dy.clamp(gain * math.sqrt(gx * gx + gy * gy), 0, 1)


def life(cells: Grid[bool]) -> Grid[bool]:
    size = cells.size
    x, y = dy.coord()
    neighbours = 0
    for dv in range(-1, 2):
        for du in range(-1, 2):
            if du == 0 and dv == 0:
                continue
            p = vec2((x + f32(du)) % size.x, (y + f32(dv)) % size.y)
            if cells.at(p):
                neighbours += 1
    return neighbours == 3 or (neighbours == 2 and cells.sample())
