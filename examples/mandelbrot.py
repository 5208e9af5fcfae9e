"""Draw the Mandelbrot set: how long each point of the plane stays near the origin.

python examples/mandelbrot.py -o mandelbrot.png
dynamis run examples/mandelbrot.py -o mandelbrot.png --shape 800,1200 --param span=0.1
"""

import argparse

import dynamis as dy
from dynamis import Grid, f32, vec2, vec3


@dy.kernel("fractal.mandelbrot@1")
def mandelbrot(centre: vec2 = vec2(-0.65, 0.0), span: f32 = 3.2) -> Grid[vec3]:
    """The plane around ``centre``, ``span`` wide; black inside the set."""
    size = dy.domain()
    c = centre + (dy.coord() + 0.5 - 0.5 * size) * (span / size.x)
    z = vec2(0.0)
    steps = 0.0
    for _ in range(256):
        if z.x * z.x + z.y * z.y > 4.0:
            break
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c
        steps += 1.0
    if steps == 256.0:
        return vec3(0.0)
    t = dy.sqrt(steps / 256.0)
    return vec3(t * t * t, t * t, dy.min(0.15 + 1.6 * t, 1.0))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", default="mandelbrot.png")
    parser.add_argument("--width", type=int, default=1200)
    parser.add_argument("--height", type=int, default=800)
    arguments = parser.parse_args()
    picture = mandelbrot(shape=(arguments.height, arguments.width))
    print(dy.write_image(arguments.output, picture))
