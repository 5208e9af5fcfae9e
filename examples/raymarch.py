"""Ray-march a scene of signed distances, with soft shadows, ambient occlusion and one reflection.

A distance function says how far the nearest surface is; a ray advances by that much until it is
there (sphere tracing, Hart 1996). Soft shadows, occlusion and the filtered floor follow Quilez.

python examples/raymarch.py -o raymarch.png
dynamis run examples/raymarch.py -o raymarch.png --shape 540,960 --param eye=4,2,5
"""

import argparse

import dynamis as dy
from dynamis import Grid, f32, i32, vec2, vec3, vec4

FAR = 40.0
SUN = vec3(0.768, 0.512, 0.384)
GOLD, RED, TEAL = vec3(1.0, 0.66, 0.20), vec3(0.62, 0.05, 0.03), vec3(0.02, 0.30, 0.34)


def ball(p: vec3, centre: vec3, radius: f32) -> f32:
    return dy.distance(p, centre) - radius


def ring(p: vec3) -> f32:
    """A torus around the middle ball, leaning to one side."""
    q = p - vec3(0.0, 1.15, 0.0)
    up = dy.dot(q, vec3(-0.4, 0.9, 0.1732))
    across = dy.sqrt(dy.dot(q, q) - up * up) - 1.5
    return dy.length(vec2(across, up)) - 0.12


def cube(p: vec3) -> f32:
    """A rounded cube with a ball cut out of it."""
    q = dy.abs(p - vec3(-2.6, 0.75, 0.2)) - 0.63
    corner = dy.length(dy.max(q, vec3(0.0))) + dy.min(dy.max(q.x, dy.max(q.y, q.z)), 0.0) - 0.12
    return dy.max(corner, -ball(p, vec3(-2.6, 0.75, 0.2), 0.92))


def joined(a: f32, b: f32) -> f32:
    """The smaller of two distances, smooth where they are alike."""
    h = dy.max(0.5 - dy.abs(a - b), 0.0) / 0.5
    return dy.min(a, b) - h * h * 0.125


def drops(p: vec3) -> f32:
    """Three balls that run into each other."""
    low = joined(ball(p, vec3(2.4, 0.55, 0.3), 0.55), ball(p, vec3(3.1, 0.42, -0.35), 0.42))
    return joined(low, ball(p, vec3(2.45, 1.35, -0.15), 0.33))


def scene(p: vec3) -> f32:
    """How far the nearest surface is from p; the floor is at y = 0."""
    middle = dy.min(ball(p, vec3(0.0, 1.15, 0.0), 1.0), ring(p))
    return dy.min(dy.min(middle, p.y), dy.min(cube(p), drops(p)))


def march(origin: vec3, ray: vec3) -> f32:
    """How far the ray goes before it meets a surface; FAR if it meets none."""
    t = 0.02
    for _ in range(128):
        d = scene(origin + ray * t)
        if d < 0.0002 * t:
            return t
        t += d
        if t > FAR:
            break
    return FAR


def normal(p: vec3) -> vec3:
    """The direction in which the distance grows, from the corners of a small tetrahedron."""
    n = vec3(0.0)
    for k in range(4):
        corner = vec3(1.0 if k < 2 else -1.0, 1.0 if k % 3 == 0 else -1.0, 1.0 - 2.0 * f32(k % 2))
        n += corner * scene(p + 0.0005 * corner)
    return dy.normalize(n)


def sunlight(p: vec3) -> f32:
    """How much of the sun is seen from p: less, the closer a ray to it passes by a surface."""
    seen = 1.0
    t = 0.02
    for _ in range(48):
        d = scene(p + SUN * t)
        seen = dy.min(seen, 12.0 * d / t)
        t += dy.clamp(d, 0.02, 0.4)
        if seen < 0.004 or t > 9.0:
            break
    return dy.smoothstep(0.0, 1.0, seen)


def openness(p: vec3, n: vec3) -> f32:
    """How free p is: near surfaces are closer than the steps away from it."""
    hidden = 0.0
    weight = 1.0
    for k in range(1, 6):
        step = 0.09 * f32(k)
        hidden += weight * (step - scene(p + n * step))
        weight *= 0.65
    return dy.clamp(1.0 - 1.3 * hidden, 0.0, 1.0)


def sky(ray: vec3) -> vec3:
    height = dy.smoothstep(-0.08, 0.5, ray.y)
    colour = dy.mix(vec3(0.80, 0.68, 0.58), vec3(0.05, 0.16, 0.42), height)
    glow = dy.max(dy.dot(ray, SUN), 0.0) ** 16
    return colour + vec3(1.0, 0.75, 0.45) * (0.25 * glow + 6.0 * glow**32)


def tiles(p: vec2, size: f32) -> f32:
    """A chequered floor, 0 and 1, averaged over a square of ``size``."""
    w = size + 0.001
    low, high = dy.fract(0.5 * p - 0.25 * w), dy.fract(0.5 * p + 0.25 * w)
    side = 2.0 * (dy.abs(low - 0.5) - dy.abs(high - 0.5)) / w
    return 0.5 - 0.5 * side.x * side.y


def surface(p: vec3, size: f32) -> vec4:
    """The colour of the surface nearest to p, and how much of a mirror it is."""
    found = vec4(0.0)
    if p.y < 0.01:
        found = vec4(
            dy.mix(vec3(0.04, 0.04, 0.05), vec3(0.50, 0.47, 0.42), tiles(p.xz, size)), 0.12
        )
    elif ball(p, vec3(0.0, 1.15, 0.0), 1.0) < 0.01:
        found = vec4(vec3(0.05), 0.75)
    elif ring(p) < 0.01:
        found = vec4(GOLD, 0.35)
    elif drops(p) < 0.01:
        found = vec4(TEAL, 0.12)
    else:
        found = vec4(RED, 0.05)
    return found


def light(origin: vec3, direction: vec3, pixel: f32) -> vec3:
    """What comes along a ray: the surface it meets, and what that reflects."""
    colour = vec3(0.0)
    share = vec3(1.0)
    p = origin
    ray = direction
    for _ in range(2):
        t = march(p, ray)
        if t >= FAR:
            colour += share * sky(ray)
            share = vec3(0.0)
            break
        p += ray * t
        n = normal(p)
        found = surface(p, pixel * t / dy.max(-ray.y, 0.1))
        facing = dy.clamp(1.0 + dy.dot(n, ray), 0.0, 1.0)
        mirror = dy.mix(found.w, 1.0, 0.6 * facing**5)
        direct = 2.1 * dy.max(dy.dot(n, SUN), 0.0) * sunlight(p + n * 0.002)
        around = openness(p, n) * (0.45 + 0.3 * n.y)
        seen = found.xyz * (vec3(1.0, 0.88, 0.70) * direct + vec3(0.42, 0.55, 0.80) * around)
        fog = dy.smoothstep(6.0, FAR, t)
        colour += share * dy.mix(seen * (1.0 - mirror), sky(ray), fog)
        share *= (1.0 - fog) * mirror * dy.mix(vec3(1.0), found.xyz, 0.5 - 0.5 * facing)
        ray = ray - 2.0 * dy.dot(ray, n) * n
        p += n * 0.002
    return colour + share * sky(ray)


@dy.kernel
def raymarch(
    eye: vec3 = vec3(-1.6, 2.6, 7.4), target: vec3 = vec3(0.2, 0.95, 0.0), samples: i32 = 2
) -> Grid[vec4]:
    """The scene as seen from ``eye``; a pixel is the mean of ``samples`` squared rays."""
    size = dy.domain()
    forward = dy.normalize(target - eye)
    right = dy.normalize(dy.cross(forward, vec3(0.0, 1.0, 0.0)))
    up = dy.cross(right, forward)
    total = vec3(0.0)
    for v in range(samples):
        for u in range(samples):
            at = dy.coord() + (vec2(u, v) + 0.5) / f32(samples) - 0.5 * size
            q = at / size.y
            ray = dy.normalize(1.6 * forward + q.x * right - q.y * up)
            total += light(eye, ray, 0.7 / size.y)
    c = total / f32(samples * samples)
    c = c * (2.51 * c + 0.03) / (c * (2.43 * c + 0.59) + 0.14)  # a film's curve (Narkowicz 2015)
    return vec4(dy.sqrt(dy.clamp(c, vec3(0.0), vec3(1.0))), 1.0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", default="raymarch.png")
    parser.add_argument("--width", type=int, default=960)
    parser.add_argument("--height", type=int, default=540)
    arguments = parser.parse_args()
    picture = raymarch(shape=(arguments.height, arguments.width))
    print(dy.write_image(arguments.output, picture))
