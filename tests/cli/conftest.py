"""Running commands in this process, in a folder of their own."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import dynamis
from dynamis.cli import main

KERNELS = """
import dynamis as dy
from dynamis import Grid, Rows, Volume, f32, i32, vec2, vec3, vec4, ivec3

@dy.kernel("test.invert@1")
def invert(image: Grid[vec4], amount: f32 = 1.0) -> Grid[vec4]:
    c = image.sample()
    return vec4(dy.mix(c.rgb, 1.0 - c.rgb, amount), c.a)

@dy.kernel
def cube() -> Volume[vec3]:
    return dy.coord()

@dy.kernel
def gradient(offset: vec2 = vec2(0, 0), steps: i32 = 4, flat: bool = False) -> Grid[f32]:
    p = dy.coord() + offset
    return 0.5 if flat else (p.x + p.y) / f32(steps)
"""


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    error: str

    @property
    def said(self) -> str:
        """What standard error says, freed of the frame and line breaks of a usage error."""
        plain = "".join(c if c.isprintable() and c not in "│╭╮╰╯─" else " " for c in self.error)
        return " ".join(plain.split())


Run = Callable[..., Result]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder holding kernels.py, a picture and no more."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(Path(dynamis.__file__).parents[1]))  # for child processes
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    (tmp_path / "kernels.py").write_text(KERNELS)
    pixels = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4) * 10
    Image.fromarray(pixels).save(tmp_path / "photo.png")
    return tmp_path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs ``dynamis`` with the given arguments."""

    def run(*arguments: object) -> Result:
        capsys.readouterr()
        code = main([str(a) for a in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture
def write(folder: Path) -> Callable[[str, str], Path]:
    """Writes a file of the working folder."""

    def write(name: str, text: str) -> Path:
        path = folder / name
        path.write_text(textwrap.dedent(text))
        return path

    return write


@pytest.fixture(autouse=True)
def _path_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line puts a kernel file's folder on the path, for as long as its process lives;
    here that is one test."""
    monkeypatch.setattr(sys, "path", list(sys.path))
