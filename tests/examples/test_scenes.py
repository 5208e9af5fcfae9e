"""The larger examples mean what they say: each beside a plain-NumPy formulation."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import dynamis as dy
from dynamis.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
F32 = np.float32


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)


def example(name: str) -> ModuleType:
    return importlib.import_module(name)


# Noise


def mixed(h: np.ndarray) -> np.ndarray:
    h = (h ^ (h >> 16)) * np.uint32(0x7FEB352D)
    h = (h ^ (h >> 15)) * np.uint32(0x846CA68B)
    return h ^ (h >> 16)


def noise(p: np.ndarray, seed: int) -> np.ndarray:
    """Perlin's gradient noise at f32 points of shape (…, 3), in f32."""
    cell, q = np.floor(p).astype(np.int64), p - np.floor(p)
    t = q * q * q * (q * (q * F32(6) - F32(15)) + F32(10))
    total = {}
    for corner in np.ndindex(2, 2, 2):  # z, y, x
        at = (cell + corner[::-1]).astype(np.uint32)
        h = mixed(np.uint32(seed) + at[..., 0])
        h = mixed(h + at[..., 1])
        h = mixed(h + at[..., 2])
        x, y, z = np.moveaxis(q - np.array(corner[::-1], F32), -1, 0)
        low = h & 15
        u = np.where(low < 8, x, y)
        v = np.where(low < 4, y, np.where((low == 12) | (low == 14), x, z))
        total[corner] = np.where(low & 1, -u, u) + np.where(low & 2, -v, v)
    for axis in range(3):  # x, y, z
        f = t[..., axis]
        total = {
            k[:-1]: total[(*k[:-1], 0)] * (F32(1) - f) + total[(*k[:-1], 1)] * f for k in total
        }
    return total[()]


@pytest.mark.parametrize("seed", [1, -5])
def test_noise3d_is_octaves_of_gradient_noise(seed):
    shape, scale = (5, 6, 11), 3.0
    z, y, x = np.indices(shape).astype(F32)
    p = (np.stack([x, y, z], axis=-1) + F32(0.5)) * (F32(scale) / F32(shape[2]))
    wanted = sum(F32(0.5**k) * noise(p * F32(2**k), (seed + k) % 2**32) for k in range(3))
    got = example("noise3d").noise3d(shape=shape, scale=scale, octaves=3, seed=seed)
    assert np.abs(got - wanted).max() < 1e-6
    assert got.std() > 0.1


def test_noise_is_zero_at_whole_coordinates_and_smooth_between():
    line = example("noise3d").noise3d(shape=(1, 1, 4096), scale=8.0, octaves=1)[0, 0]
    assert np.abs(np.diff(line)).max() < 0.01
    cube = example("noise3d").noise3d(shape=(64, 64, 64), scale=4.0, octaves=1)
    assert 0.2 < cube.std() < 0.4
    assert abs(cube.mean()) < 0.1
    assert np.abs(cube).max() <= 1.0


def test_the_block_shows_its_outer_faces_and_the_walls_behind_its_corner():
    n = 16
    z, y, x = np.indices((n, n, n)).astype(F32)
    picture = {}
    for axis, solid in (("x", x), ("y", y), ("z", z)):
        bright = (solid > n / 2 - 1) & (solid < n / 2 + 1)  # the slices beside the middle
        run = example("noise3d").block
        plain, marked = (
            run(s.astype(F32), shape=(120, 120), samples=1) for s in (0 * solid, bright)
        )
        picture[axis] = np.abs(plain - marked).max(axis=-1) > 0.02
    # each wall of the gap lies in such a slice; a face shows it as a stripe only
    whole = [np.count_nonzero(p) for p in picture.values()]
    assert min(whole) > 300
    walls = [picture[a] & ~picture[b] & ~picture[c] for a, b, c in ("xyz", "yzx", "zxy")]
    assert min(np.count_nonzero(w) for w in walls) > 200
    assert not (picture["x"] & picture["y"] & picture["z"])[:10].any()


def test_noise_runs_from_the_command_line_into_an_array(tmp_path, capsys):
    path = tmp_path / "noise.npy"
    file = str(EXAMPLES / "noise3d.py")
    arguments = ["-k", "noise3d", "-o", str(path), "--shape", "3,4,5", "-p", "octaves=2"]
    assert main(["run", file, *arguments]) == 0
    assert np.array_equal(np.load(path), example("noise3d").noise3d(shape=(3, 4, 5), octaves=2))
    assert "5×4×3 elements" in capsys.readouterr().out


# Reaction and diffusion


def spread(a: np.ndarray) -> np.ndarray:
    w = np.pad(a.astype(np.float64), 1, mode="edge")
    beside = w[1:-1, :-2] + w[1:-1, 2:] + w[:-2, 1:-1] + w[2:, 1:-1]
    across = w[:-2, :-2] + w[:-2, 2:] + w[2:, :-2] + w[2:, 2:]
    return 0.2 * beside + 0.05 * across - a


def test_reaction_diffusion_follows_its_equations():
    rng = np.random.default_rng(4)
    u, v = rng.random((2, 20, 33), np.float32)
    step = example("reaction_diffusion").reaction_diffusion
    feed, kill = 0.04, 0.06
    here, there = (u.copy(), v.copy()), (np.empty_like(u), np.empty_like(v))
    u, v = u.astype(np.float64), v.astype(np.float64)
    for _ in range(20):
        here, there = step(*here, out=there, feed=feed, kill=kill), here
        eaten = u * v * v
        u, v = (
            u + spread(u) - eaten + feed * (1 - u),
            v + 0.5 * spread(v) + eaten - (feed + kill) * v,
        )
    assert np.abs(here.u - u).max() < 1e-5
    assert np.abs(here.v - v).max() < 1e-5


def test_nothing_grows_without_the_eater_and_a_pattern_grows_with_it():
    module = example("reaction_diffusion")
    still = module.reaction_diffusion(np.ones((9, 9), F32), np.zeros((9, 9), F32))
    assert (still.u == 1).all()
    assert (still.v == 0).all()
    grown = module.grow(64, 96, 2500, feed=0.055, kill=0.062)
    assert 0.1 < (grown.v > 0.15).mean() < 0.7
    flat = module.relief(np.full((4, 5), 0.2, F32), shape=(8, 10))
    assert np.ptp(flat, axis=(0, 1)).max() == 0


# The ray-marched scene


def distances(p: np.ndarray) -> np.ndarray:
    """The scene's five distances at points of shape (…, 3), in f64."""

    def ball(centre, radius):
        return np.linalg.norm(p - np.array(centre), axis=-1) - radius

    def joined(a, b):
        h = np.maximum(0.5 - np.abs(a - b), 0) / 0.5
        return np.minimum(a, b) - h * h * 0.125

    q = p - [0, 1.15, 0]
    up = q @ np.array([-0.4, 0.9, 0.1732])
    across = np.sqrt((q * q).sum(-1) - up * up) - 1.5
    ring = np.hypot(across, up) - 0.12
    q = np.abs(p - [-2.6, 0.75, 0.2]) - 0.63
    cube = np.linalg.norm(np.maximum(q, 0), axis=-1) + np.minimum(q.max(-1), 0) - 0.12
    cube = np.maximum(cube, -ball((-2.6, 0.75, 0.2), 0.92))
    low = joined(ball((2.4, 0.55, 0.3), 0.55), ball((3.1, 0.42, -0.35), 0.42))
    drops = joined(low, ball((2.45, 1.35, -0.15), 0.33))
    return np.stack([p[..., 1], ball((0, 1.15, 0), 1.0), ring, cube, drops])


def primary(height: int, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Eye, rays, and which surface each ray meets: 0…4, or -1 for the sky."""
    eye, target = np.array([-1.6, 2.6, 7.4]), np.array([0.2, 0.95, 0.0])
    forward = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(forward, [0, 1, 0])
    right /= np.linalg.norm(right)
    y, x = np.indices((height, width)) + 0.5
    q = np.stack([x - width / 2, height / 2 - y], axis=-1)[..., None] / height
    rays = 1.6 * forward + q[..., 0, :] * right + q[..., 1, :] * np.cross(right, forward)
    rays /= np.linalg.norm(rays, axis=-1, keepdims=True)
    t = np.full((height, width), 0.02)
    for _ in range(400):
        t += np.where(t < 40, distances(eye + rays * t[..., None]).min(axis=0), 0)
    found = distances(eye + rays * t[..., None]).argmin(axis=0)
    return eye, rays, np.where(t < 40, found, -1)


def test_the_sky_is_where_numpys_rays_meet_nothing_and_has_its_colour():
    height, width = 54, 96
    picture = example("raymarch").raymarch(shape=(height, width), samples=1)[..., :3]
    _, rays, found = primary(height, width)
    share = np.clip((rays[..., 1] + 0.08) / 0.58, 0, 1)
    share = (share * share * (3 - 2 * share))[..., None]
    sky = (1 - share) * [0.80, 0.68, 0.58] + share * np.array([0.05, 0.16, 0.42])
    glow = np.maximum(rays @ np.array([0.768, 0.512, 0.384]), 0)[..., None] ** 16
    sky = sky + [1.0, 0.75, 0.45] * (0.25 * glow + 6 * glow**32)
    sky = np.sqrt(np.clip(sky * (2.51 * sky + 0.03) / (sky * (2.43 * sky + 0.59) + 0.14), 0, 1))
    clear = np.abs(picture - sky).max(axis=-1) < 1e-3
    away = rays[..., 1] > -0.03  # below, fog takes the floor's place by and by
    assert (clear == (found == -1))[away].mean() > 0.99
    assert 0.1 < (found == -1).mean() < 0.4


def test_each_surface_has_its_colour_where_numpys_rays_meet_it():
    picture = example("raymarch").raymarch(shape=(54, 96), samples=1)[..., :3]
    _, _, found = primary(54, 96)
    red, green, blue = np.moveaxis(picture, -1, 0)
    assert min(np.count_nonzero(found == k) for k in range(5)) > 50
    assert (red > 1.3 * green)[found == 3].mean() > 0.8  # the cube
    assert (blue > 1.3 * red)[found == 4].mean() > 0.8  # the drops
    assert (red > 1.1 * blue)[found == 2].mean() > 0.5  # the ring, half of it in the ball's shadow


def test_the_sun_casts_soft_shadows():
    raymarch = example("raymarch")
    sunlight = raymarch.sunlight

    @dy.kernel
    def lit(points: dy.Rows[dy.vec3]) -> dy.Rows[dy.f32]:
        return sunlight(points.sample())

    sun = np.array([0.768, 0.512, 0.384])
    behind = np.array([0, 1.15, 0]) - sun * (1.15 / 0.512)  # on the floor, in the ball's shadow
    along = np.linspace(0, 3, 60)
    points = behind + along[:, None] * np.array([-0.447, 0, 0.894]) + [0, 0.002, 0]
    light = lit(points.astype(F32))
    assert light[0] < 0.01
    assert light[-1] > 0.95
    assert ((light > 0.1) & (light < 0.9)).any()
    assert np.allclose(list(raymarch.SUN), sun)
