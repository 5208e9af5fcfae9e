"""Blur a picture: the mean of the square of pixels around each pixel.

python examples/blur.py photo.png -o out.png --radius 3
dynamis run examples/blur.py photo.png -o out.png --param radius=3
"""

import argparse

import dynamis as dy
from dynamis import Grid, f32, i32, vec2, vec4


@dy.kernel("image.blur@1")
def blur(image: Grid[vec4], radius: i32 = 2) -> Grid[vec4]:
    total = vec4(0.0)
    for v in range(-radius, radius + 1):
        for u in range(-radius, radius + 1):
            total += image.at(dy.coord() + vec2(u, v))
    return total / f32((2 * radius + 1) ** 2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input", nargs="?", help="a picture; a drawn one without")
    parser.add_argument("-o", "--output", default="blur.png")
    parser.add_argument("--radius", type=int, default=2)
    arguments = parser.parse_args()
    if arguments.input is None:
        from raymarch import raymarch

        picture = raymarch(shape=(480, 640))
    else:
        picture = dy.read_image(arguments.input)
    print(dy.write_image(arguments.output, blur(picture, radius=arguments.radius)))
