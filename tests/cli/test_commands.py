"""``dynamis check``, ``show``, ``demo``, help and version."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import dynamis as dy
from dynamis.cli import demo as demo_kernels
from dynamis.kernel import parse


def test_check_prints_manifest_capabilities_and_worst_work_of_every_kernel(run):
    result = run("check", "kernels.py")
    assert result.code == 0
    assert "kernel test.invert@1" in result.out
    assert "kernel gradient@1" in result.out
    assert "requires  field.read" in result.out
    assert "requires  nothing" in result.out
    assert "worst     0 loop iterations an element" in result.out
    only = run("check", "kernels.py", "--kernel", "invert")
    assert "gradient" not in only.out


def test_check_says_where_a_kernel_is_stopped(run, write):
    write(
        "loops.py",
        """
        import dynamis as dy
        from dynamis import Rows, i32
        @dy.kernel("loops@1", budget=1000)
        def loops(x: Rows[i32]) -> Rows[i32]:
            n = 0
            while n < x.sample():
                n += 1
            return n
        """,
    )
    assert "(stopped at the budget, 1000)" in run("check", "loops.py").out


def test_check_reports_every_wrong_kernel_and_exits_with_1(run, write):
    write(
        "bad.py",
        """
        import dynamis as dy
        from dynamis import Rows, f32
        @dy.kernel
        def wrong(x: Rows[f32]) -> Rows[f32]:
            return x.sample() + "a"
        @dy.kernel
        def right(x: Rows[f32]) -> Rows[f32]:
            return x.sample()
        @dy.kernel
        def unknown(x: Rows[f32]) -> Rows[f32]:
            return y
        """,
    )
    result = run("check", "bad.py")
    assert result.code == 1
    assert "kernel right@1" in result.out
    assert "bad.py:6:" in result.said
    assert "bad.py:12:12: " in result.said
    assert "wrong: wrong, unknown (2 of 3)" in result.said


@pytest.mark.parametrize("stage", ["kernel", "uop", "program", "llvm", "asm"])
def test_show_prints_each_stage(run, stage):
    result = run("show", "kernels.py", "--stage", stage, "--kernel", "invert")
    assert result.code == 0
    assert len(result.out.splitlines()) > 5
    if stage == "kernel":
        assert str(parse(result.out.rstrip("\n") + "\n").manifest.id) == "test.invert@1"


def test_show_width_reaches_the_code_generator(run):
    one = run("show", "kernels.py", "-s", "llvm", "--width", 1)
    eight = run("show", "kernels.py", "-s", "llvm", "--width", 8)
    assert "<8 x float>" in eight.out
    assert "x float>" not in one.out


def test_show_refuses_an_unknown_stage(run):
    result = run("show", "kernels.py", "--stage", "assembly")
    assert result.code == 2
    assert "there is no stage 'assembly'" in result.said


def test_demo_writes_a_picture_and_says_where_and_how_long(run, folder, monkeypatch):
    monkeypatch.setattr(demo_kernels, "WIDTH", 96)
    monkeypatch.setattr(demo_kernels, "HEIGHT", 60)
    result = run("demo")
    assert result.code == 0
    path, summary = result.out.splitlines()
    assert path == str(folder / "dynamis-demo.png")
    assert summary.startswith("96×60 elements: compiled in ")
    picture = np.asarray(Image.open(path))
    assert picture.shape == (60, 96, 3)
    colours = len(np.unique(picture.reshape(-1, 3), axis=0))
    assert colours > 1000


def test_demo_writes_where_it_is_told_and_refuses_what_it_cannot(run, folder, monkeypatch):
    monkeypatch.setattr(demo_kernels, "WIDTH", 8)
    monkeypatch.setattr(demo_kernels, "HEIGHT", 8)
    assert run("demo", "-o", "a.jpg").code == 0
    assert (folder / "a.jpg").is_file()
    assert run("demo", "-o", "a.txt").code == 2
    assert run("demo", "-o", "nowhere/a.png").code == 2


def test_the_demo_kernel_agrees_with_the_reference():
    shape = (6, 10)
    native = demo_kernels.mandelbrot(shape=shape)
    assert native.tobytes() == demo_kernels.mandelbrot(shape=shape, backend="reference").tobytes()


def test_help_lists_the_commands_and_each_has_its_own(run):
    result = run("--help")
    assert result.code == 0
    for command in ("demo", "run", "check", "show"):
        assert command in result.out
        own = run(command, "--help")
        assert own.code == 0
        assert "Example" in own.out


def test_no_arguments_print_the_help(run):
    result = run()
    assert result.code in (0, 2)  # click's own choice has changed over versions
    assert "Usage: dynamis" in result.out + result.error


def test_version_is_the_packages(run):
    result = run("--version")
    assert (result.code, result.out) == (0, f"dynamis {dy.__version__}\n")


def test_an_unknown_command_exits_with_2(run):
    result = run("paint")
    assert result.code == 2
    assert "No such command 'paint'" in result.said


def test_the_module_runs_as_a_program(folder):
    done = subprocess.run(
        [sys.executable, "-m", "dynamis", "run", "kernels.py", "--shape", "2,2", "-o", "o.png"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[0] == str(folder / "o.png")


def test_output_into_a_closed_pipe_ends_without_a_traceback(folder):
    done = subprocess.run(
        f"{sys.executable} -m dynamis show kernels.py --stage asm | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(done.stdout.splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_the_version_is_that_of_the_project():
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert project["project"]["version"] == dy.__version__


@pytest.mark.parametrize("base", ["BaseException", "GeneratorExit", "SystemExit", "Exception"])
def test_whatever_a_kernel_file_raises_is_reported_at_its_line(run, folder, base):
    (folder / "own.py").write_text(f"class Own({base}):\n    pass\n\nraise Own('mine')\n")
    result = run("check", "own.py")
    assert result.code == 1
    assert "own.py:4 failed: Own: mine" in result.said
    assert "Traceback" not in result.error


def test_explain_says_how_a_kernel_runs(run):
    result = run("explain", "kernels.py", "--kernel", "invert", "--width", 8)
    assert result.code == 0
    assert result.out.startswith("test.invert@1\n  at once ")
    assert "image.sample()\n" in result.out
    assert "elements of four words: whole vectors, shuffled" in result.out
    assert run("explain", "kernels.py", "--kernel", "invart").code == 1
