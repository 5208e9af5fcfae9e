"""Conway's Game of Life on a torus: a live cell stays with two or three neighbours, one is born
with three.

    python examples/life.py -o life.png --generations 200
    dynamis run examples/life.py cells.png -o next.png
"""

import argparse

import numpy as np

import dynamis as dy
from dynamis import Grid, f32, vec2


def wrapped(x: f32, size: f32) -> f32:
    """x, one step outside 0…size at most, brought in again from the other side."""
    if x < 0.0:
        return x + size
    return x - size if x >= size else x


@dy.kernel("life@1")
def life(cells: Grid[bool]) -> Grid[bool]:
    """One generation."""
    p = dy.coord()
    size = cells.size
    neighbours = 0
    for v in range(-1, 2):
        for u in range(-1, 2):
            q = vec2(wrapped(p.x + f32(u), size.x), wrapped(p.y + f32(v), size.y))
            if (u != 0 or v != 0) and cells.at(q):
                neighbours += 1
    return neighbours == 3 or (neighbours == 2 and cells.sample())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("input", nargs="?", help="a picture, bright where cells live")
    parser.add_argument("-o", "--output", default="life.png")
    parser.add_argument("--generations", type=int, default=200)
    parser.add_argument("--scale", type=int, default=3, help="pixels per cell")
    arguments = parser.parse_args()
    if arguments.input is None:
        cells = np.random.default_rng(1).random((240, 320)) < 0.3
    else:
        cells = dy.read_image(arguments.input)[..., :3].mean(axis=-1) >= 0.5
    for _ in range(arguments.generations):
        cells = life(cells)
    print(dy.write_image(arguments.output, np.kron(cells, np.ones([arguments.scale] * 2, bool))))
