"""The examples run from the command line, write pictures, and mean what they say."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dynamis as dy
from dynamis.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = ("raymarch", "blur", "sobel", "mandelbrot", "life")
"""The examples whose kernel makes a picture by itself."""
PARAMS = {"raymarch": {"samples": 1}}


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)


def kernel(name: str) -> dy.Kernel:
    found = getattr(importlib.import_module(name), name)
    assert isinstance(found, dy.Kernel)
    return found


@pytest.mark.parametrize("name", [*NAMES, "reaction_diffusion", "noise3d"])
def test_each_runs_from_the_command_line_and_writes_a_picture(name, tmp_path):
    command = [sys.executable, EXAMPLES / f"{name}.py", "-o", tmp_path / "out.png"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{tmp_path / 'out.png'}\n"
    picture = dy.read_image(tmp_path / "out.png")
    assert picture.shape[0] >= 480
    assert picture[..., :3].std() > 0.05


@pytest.mark.parametrize("name", NAMES)
def test_each_runs_under_dynamis_run(name, tmp_path, capsys):
    arguments = ["--shape", "40,60"]
    if kernel(name).manifest.inputs:
        dy.write_image(tmp_path / "in.png", kernel("raymarch")(shape=(40, 60)))
        arguments = [str(tmp_path / "in.png")]
    output = tmp_path / "out.png"
    assert main(["run", str(EXAMPLES / f"{name}.py"), *arguments, "-o", str(output)]) == 0
    assert dy.read_image(output).shape == (40, 60, 4)


@pytest.mark.parametrize("name", NAMES)
def test_each_agrees_with_the_reference_word_for_word(name):
    run = kernel(name)
    rng = np.random.default_rng(5)
    arguments = []
    for port in run.manifest.inputs:
        if port.element.name == "Bool":
            arguments.append(rng.random((7, 11)) < 0.4)
        else:
            arguments.append(rng.random((7, 11, port.element.lanes), np.float32))
    shape, params = None if arguments else (7, 11), PARAMS.get(name, {})
    reference = run(*arguments, shape=shape, backend="reference", **params)
    for threads in (1, 2, 3):
        result = run(*arguments, shape=shape, threads=threads, **params)
        assert result.tobytes() == reference.tobytes()


def padded(image: np.ndarray, by: int) -> np.ndarray:
    return np.pad(image, [(by, by), (by, by)] + [(0, 0)] * (image.ndim - 2), mode="edge")


@pytest.mark.parametrize("radius", [0, 1, 3])
def test_blur_is_the_mean_of_a_square_of_pixels(radius):
    image = np.random.default_rng(1).random((17, 23, 4), np.float32)
    result = kernel("blur")(image, radius=radius)
    wide = padded(image.astype(np.float64), radius)
    window = (2 * radius + 1,) * 2
    mean = np.lib.stride_tricks.sliding_window_view(wide, window, (0, 1)).mean((-2, -1))
    assert np.abs(result - mean).max() < 1e-6


def test_sobel_is_the_length_of_the_gradient():
    image = np.random.default_rng(2).random((17, 23, 4), np.float32)
    result = kernel("sobel")(image, strength=0.5)
    g = padded(image[..., :3].astype(np.float64) @ [0.2126, 0.7152, 0.0722], 1)
    across = g[:, 2:] - g[:, :-2]
    down = g[2:] - g[:-2]
    gx = across[:-2] + 2 * across[1:-1] + across[2:]
    gy = down[:, :-2] + 2 * down[:, 1:-1] + down[:, 2:]
    assert np.abs(result - np.minimum(0.5 * np.hypot(gx, gy) / 4, 1)).max() < 1e-6


def test_life_agrees_with_a_plain_numpy_formulation_on_the_torus():
    cells = np.random.default_rng(3).random((16, 21)) < 0.35
    step = kernel("life")
    for _ in range(5):
        neighbours = sum(
            np.roll(cells, (v, u), (0, 1)).astype(int)
            for v in (-1, 0, 1)
            for u in (-1, 0, 1)
            if u or v
        )
        wanted = (neighbours == 3) | ((neighbours == 2) & cells)
        cells = step(cells)
        assert np.array_equal(cells, wanted)
    assert cells.any()


def test_a_glider_comes_back_after_crossing_the_torus():
    cells = np.zeros((8, 8), np.bool_)
    cells[[0, 1, 2, 2, 2], [1, 2, 0, 1, 2]] = True
    later = cells
    for _ in range(4 * 8):
        later = kernel("life")(later)
    assert np.array_equal(later, cells)


def test_mandelbrot_is_black_inside_the_set_and_blue_outside():
    run = kernel("mandelbrot")
    assert run(shape=(1, 1), centre=(0.0, 0.0)).tolist() == [[[0.0, 0.0, 0.0]]]
    assert run(shape=(1, 1), centre=(-1.0, 0.0)).tolist() == [[[0.0, 0.0, 0.0]]]
    [[outside]] = run(shape=(1, 1), centre=(2.0, 2.0))
    assert outside[2] > outside[1] > outside[0] > 0


def test_mandelbrot_escapes_when_numpy_says_so():
    height, width = 30, 40
    span = np.float32(3.2)
    x, y = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
    half = np.float32(0.5)
    scale = span / np.float32(width)
    cx = np.float32(-0.65) + (x + half - half * np.float32(width)) * scale
    cy = (y + half - half * np.float32(height)) * scale
    zx, zy, steps = np.zeros_like(cx), np.zeros_like(cx), np.zeros(cx.shape, int)
    for _ in range(256):
        live = ~(zx * zx + zy * zy > 4)
        nx, ny = zx * zx - zy * zy + cx, np.float32(2) * zx * zy + cy
        zx, zy = np.where(live, nx, zx), np.where(live, ny, zy)
        steps += live
    picture = kernel("mandelbrot")(shape=(height, width))
    assert np.array_equal((picture == 0).all(axis=-1), steps == 256)
    assert 0.1 < (steps == 256).mean() < 0.5
