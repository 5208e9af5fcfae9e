"""Find the edges in a picture: the length of the brightness gradient, by Sobel's operator.

python examples/sobel.py photo.png -o edges.png
dynamis run examples/sobel.py photo.png -o edges.png --param strength=2
"""

import argparse

import dynamis as dy
from dynamis import Grid, f32, vec2, vec4


def luma(c: vec4) -> f32:
    """Brightness of a colour (Rec. ITU-R BT.709)."""
    return 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b


@dy.kernel("image.sobel@1")
def sobel(image: Grid[vec4], strength: f32 = 1.0) -> Grid[f32]:
    """One gray channel: 0 where the picture is flat, 1 at a step from black to white."""
    p = dy.coord()
    gradient = vec2(0.0)
    for k in range(-1, 2):
        weight = f32(2 - abs(k))
        gradient += weight * vec2(
            luma(image.at(p + vec2(1, k))) - luma(image.at(p + vec2(-1, k))),
            luma(image.at(p + vec2(k, 1))) - luma(image.at(p + vec2(k, -1))),
        )
    return dy.min(strength * dy.length(gradient) / 4.0, 1.0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input", nargs="?", help="a picture; a drawn one without")
    parser.add_argument("-o", "--output", default="sobel.png")
    parser.add_argument("--strength", type=float, default=1.0)
    arguments = parser.parse_args()
    if arguments.input is None:
        from raymarch import raymarch

        picture = raymarch(shape=(480, 640))
    else:
        picture = dy.read_image(arguments.input)
    print(dy.write_image(arguments.output, sobel(picture, strength=arguments.strength)))
