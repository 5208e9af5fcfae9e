"""A volume of noise, and a block of marble cut from it.

``noise3d`` fills a volume with Perlin's gradient noise (SIGGRAPH 2002), several octaves of it.
``block`` looks at the volume from outside: a cube whose near corner is gone, so that six slices
show, each point of them read between the volume's elements with ``linear``.

    python examples/noise3d.py -o marble.png
    dynamis run examples/noise3d.py -k noise3d -o noise.npy --shape 128,128,128
"""

import argparse

import dynamis as dy
from dynamis import Grid, Volume, f32, i32, ivec3, vec2, vec3, vec4


def mixed(h: i32) -> i32:
    """An integer whose bits all hang on all bits of ``h`` (Wellons, "hash prospector", 2018)."""
    h = dy.mul_wrap(h ^ dy.ushr(h, 16), 0x7FEB352D)
    h = dy.mul_wrap(h ^ dy.ushr(h, 15), -0x7B935975)
    return h ^ dy.ushr(h, 16)


def slope(h: i32, p: vec3) -> f32:
    """The dot product of p and one of the twelve directions to a cube's edges."""
    u = p.x if (h & 8) == 0 else p.y
    v = p.y if (h & 12) == 0 else (p.x if (h & 13) == 12 else p.z)
    return (u if (h & 1) == 0 else -u) + (v if (h & 2) == 0 else -v)


def corner(cell: ivec3, p: vec3, seed: i32, x: i32, y: i32, z: i32) -> f32:
    """What the corner (x, y, z) of p's cell gives to p: its direction comes from a hash."""
    h = mixed(dy.add_wrap(dy.add_wrap(cell.x, x), seed))
    h = mixed(dy.add_wrap(dy.add_wrap(cell.y, y), h))
    h = mixed(dy.add_wrap(dy.add_wrap(cell.z, z), h))
    return slope(h, p - vec3(x, y, z))


def noise(p: vec3, seed: i32) -> f32:
    """Gradient noise at p: smooth, 0 at whole coordinates, between -1 and 1."""
    base = dy.floor(p)
    cell = ivec3(base)
    q = p - base
    t = q * q * q * (q * (q * 6.0 - 15.0) + 10.0)
    near = dy.mix(
        dy.mix(corner(cell, q, seed, 0, 0, 0), corner(cell, q, seed, 1, 0, 0), t.x),
        dy.mix(corner(cell, q, seed, 0, 1, 0), corner(cell, q, seed, 1, 1, 0), t.x),
        t.y,
    )
    far = dy.mix(
        dy.mix(corner(cell, q, seed, 0, 0, 1), corner(cell, q, seed, 1, 0, 1), t.x),
        dy.mix(corner(cell, q, seed, 0, 1, 1), corner(cell, q, seed, 1, 1, 1), t.x),
        t.y,
    )
    return dy.mix(near, far, t.z)


@dy.kernel
def noise3d(scale: f32 = 3.0, octaves: i32 = 5, seed: i32 = 1) -> Volume[f32]:
    """``octaves`` of noise, each of twice the frequency and half the height of the one before;
    the first has ``scale`` cells across the volume's width."""
    p = (dy.coord() + 0.5) * (scale / dy.domain().x)
    total = 0.0
    height = 1.0
    for octave in range(octaves):
        total += height * noise(p, dy.add_wrap(seed, octave))
        p *= 2.0
        height *= 0.5
    return total


def marble(n: f32) -> vec3:
    """A colour for a height of the noise: jade, clouded, with thin bright veins."""
    c = dy.mix(vec3(0.02, 0.10, 0.10), vec3(0.10, 0.42, 0.34), dy.smoothstep(-0.6, 0.3, n))
    c = dy.mix(c, vec3(0.72, 0.86, 0.74), dy.smoothstep(0.15, 0.9, n))
    vein = dy.abs(2.0 * dy.fract(3.0 * n) - 1.0)
    return dy.mix(c, vec3(1.0, 0.84, 0.52), 0.8 * dy.smoothstep(0.86, 1.0, vein))


def least(v: vec3) -> f32:
    return dy.min(v.x, dy.min(v.y, v.z))


def seen(solid: Volume[f32], origin: vec3, ray: vec3) -> vec4:
    """The colour of the cube where a ray meets it, and 1; zeros where it passes by."""
    to_faces = (1.0 - origin) / ray
    t = -least(-to_faces)
    p = origin + ray * t
    if least(p) < -1.0:
        return vec4(0.0)
    sides = to_faces
    shade = 1.0
    if least(p) > 0.0:  # the corner that is gone: on to the wall behind it
        sides = origin / -ray
        t = least(sides)
        p = dy.max(origin + ray * t, vec3(0.0))
        shade = 0.5 + 0.5 * dy.smoothstep(0.0, 0.7, dy.sqrt(p.x * p.y + p.y * p.z + p.z * p.x))
    light = 0.62
    if sides.y == t:
        light = 1.0
    elif sides.x == t:
        light = 0.8
    return vec4(marble(solid.linear((0.5 * p + 0.5) * solid.size - 0.5)) * (light * shade), 1.0)


@dy.kernel
def block(solid: Volume[f32], samples: i32 = 2) -> Grid[vec3]:
    """The cube [-1, 1]³ without its corner [0, 1]³, seen along a diagonal."""
    size = dy.domain()
    ray = -dy.normalize(vec3(0.9, 0.72, 1.1))
    right = dy.normalize(dy.cross(ray, vec3(0.0, 1.0, 0.0)))
    up = dy.cross(right, ray)
    total = vec3(0.0)
    for v in range(samples):
        for u in range(samples):
            at = dy.coord() + (vec2(u, v) + 0.5) / f32(samples) - 0.5 * size
            q = at * (3.9 / size.y)
            found = seen(solid, q.x * right - q.y * up - 4.0 * ray, ray)
            around = dy.mix(vec3(0.90, 0.89, 0.86), vec3(0.55, 0.56, 0.58), 0.12 * dy.dot(q, q))
            total += found.xyz + (1.0 - found.w) * around
    return dy.sqrt(total / f32(samples * samples))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", default="noise3d.png")
    parser.add_argument("--width", type=int, default=960)
    parser.add_argument("--height", type=int, default=720)
    parser.add_argument("--elements", type=int, default=192, help="along each side of the volume")
    arguments = parser.parse_args()
    solid = noise3d(shape=(arguments.elements,) * 3)
    picture = block(solid, shape=(arguments.height, arguments.width))
    print(dy.write_image(arguments.output, picture))
