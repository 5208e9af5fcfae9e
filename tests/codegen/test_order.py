"""Networks of minima and maxima: quick where it cannot matter, exact where it can."""

from __future__ import annotations

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, f32, vec2, vec4

SEED = 20261130
EDGES = np.array(
    [0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1e-45, -1e-45, 1.0, -1.0, 3.4e38], np.float32
)


def ordered(a: vec2) -> vec2:
    return vec2(dy.min(a.x, a.y), dy.max(a.x, a.y))


@dy.kernel
def ends(image: Grid[f32]) -> tuple[Grid[f32], Grid[f32]]:
    """The least and the greatest of nine, and arithmetic on what a network gives."""
    c = dy.coord()
    low, high = image.at(c), image.at(c)
    for v in range(-1, 2):
        for u in range(-1, 2):
            low = dy.min(low, image.at(c + vec2(u, v)))
            high = dy.max(high, -image.at(c + vec2(u, v)))
    return low, high - low


@dy.kernel
def sorted_five(image: Grid[f32]) -> Grid[f32]:
    """The median of a cross, by exchanges that share both ends."""
    c = dy.coord()
    p, q = image.at(c + vec2(-1, 0)), image.at(c + vec2(1, 0))
    r, s, t = image.at(c + vec2(0, -1)), image.at(c + vec2(0, 1)), image.at(c)
    a, b = ordered(vec2(p, q)), ordered(vec2(r, s))
    x, y = dy.max(a.x, b.x), dy.min(a.y, b.y)
    m = ordered(vec2(x, y))
    return dy.max(m.x, dy.min(m.y, t))


@pytest.mark.parametrize("share", [1.0, 0.3, 0.02, 0.0])
@pytest.mark.parametrize("kernel", [ends, sorted_five])
def test_networks_give_the_reference_s_words(kernel: dy.Kernel, share: float) -> None:
    print("seed", SEED)
    rng = np.random.default_rng(SEED)
    for shape in ((12, 70), (3, 33)):
        image = rng.standard_normal(shape, np.float32)
        chosen = rng.random(shape) < share
        image[chosen] = rng.choice(EDGES, int(chosen.sum()))
        want = kernel(image, backend="reference")
        for width in (1, 8, 16, 64):
            got = kernel.options(width=width)(image)
            for a, b in zip(np.atleast_3d(got), np.atleast_3d(want), strict=True):
                assert a.tobytes() == b.tobytes(), (shape, width)


def test_a_network_picks_with_one_instruction_outside_its_region() -> None:
    text = str(ends.options(width=4).show("llvm"))
    assert "llvm.maximum" not in text
    assert "fcmp olt <4 x float>" in text
    assert "br i1" in text and "arm" in text


@dy.kernel
def three_small(image: Grid[vec4]) -> Grid[vec4]:
    """Three minima of four words, one of them in all: 9 minima, but no network of 8."""
    a = image.sample()
    p = dy.min(dy.min(a.x, a.y), dy.min(a.z, a.w))
    q = dy.min(dy.min(a.x, a.y + 1.0), dy.min(a.z + 1.0, a.w + 1.0))
    r = dy.min(dy.min(a.x, a.y + 2.0), dy.min(a.z + 2.0, a.w + 2.0))
    return vec4(p, q, r, a.w)


def test_small_networks_that_share_a_word_stay_small() -> None:
    text = str(three_small.options(width=4).show("llvm"))
    assert "or <4 x i32>" in text
    assert "arm" not in text
