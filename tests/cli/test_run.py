"""``dynamis run``: files in, files out, and what every wrong command line is told."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from dynamis.cli import commands, report


def pixels(path):
    return np.asarray(Image.open(path))


def test_a_picture_goes_in_and_a_picture_comes_out(run, folder):
    result = run("run", "kernels.py", "photo.png", "-o", "out.png", "--kernel", "invert")
    assert result.code == 0
    path, summary = result.out.splitlines()
    assert path == str(folder / "out.png")
    assert summary.startswith("3×2 elements: compiled in ")
    assert ", ran in " in summary
    before = pixels("photo.png")
    assert np.array_equal(pixels("out.png")[..., :3], 255 - before[..., :3])
    assert np.array_equal(pixels("out.png")[..., 3], before[..., 3])


def test_parameters_and_shape_reach_the_kernel_and_the_last_kernel_is_the_default(run):
    result = run(
        "run", "kernels.py", "-o", "out.npy", "--shape", "2,3",
        "--param", "offset=1,0.5", "-p", "steps=2", "--param", "flat=false",
    )  # fmt: skip
    assert result.code == 0
    x, y = np.meshgrid(np.arange(3), np.arange(2))
    wanted = ((x + y + 1.5) / 2).astype(np.float32)
    assert np.array_equal(np.load("out.npy"), wanted)
    run("run", "kernels.py", "-o", "out.npy", "--shape", "1,1", "-p", "flat=true")
    assert np.load("out.npy").tolist() == [[0.5]]


def test_backends_threads_and_widths_write_the_same_bytes(run, folder):
    written = set()
    for k, options in enumerate(
        ([], ["--backend", "reference"], ["--threads", 1], ["--threads", 3, "--width", 4])
    ):
        command = ["run", "kernels.py", "photo.png", "-o", f"{k}.npy", "-k", "test.invert@1"]
        assert run(*command, *options).code == 0
        written.add((folder / f"{k}.npy").read_bytes())
    assert len(written) == 1


def test_npy_files_go_in_and_out_as_they_are(run, folder):
    image = np.random.default_rng(0).random((4, 5, 4), np.float32)
    np.save("in.npy", image)
    assert run("run", "kernels.py", "in.npy", "-o", "out.npy", "-k", "invert").code == 0
    result = np.load("out.npy")
    assert np.array_equal(result[..., 3], image[..., 3])
    assert np.abs(result[..., :3] - (1 - image[..., :3])).max() < 1e-6


def test_several_inputs_and_outputs_go_to_files_in_order(run, write):
    write(
        "two.py",
        """
        import dynamis as dy
        from dynamis import Grid, vec4, f32
        @dy.kernel
        def two(a: Grid[vec4], b: Grid[f32]) -> tuple[Grid[f32], Grid[bool]]:
            return a.sample().a * b.sample(), b.sample() > 0.5
        """,
    )
    np.save("b.npy", np.array([[0, 1, 0.75], [1, 0, 0]], np.float32))
    result = run("run", "two.py", "photo.png", "b.npy", "-o", "p.npy", "-o", "q.png")
    assert result.code == 0
    assert [line.rsplit("/")[-1] for line in result.out.splitlines()[:2]] == ["p.npy", "q.png"]
    assert pixels("q.png").tolist() == [[0, 255, 255], [255, 0, 0]]


def test_volumes_are_made_and_read_as_npy_files(run, write, folder):
    result = run("run", "kernels.py", "-k", "cube", "-o", "cube.npy", "--shape", "2,3,4")
    assert result.code == 0
    assert result.out.splitlines()[1].startswith("4×3×2 elements: compiled in ")
    z, y, x = np.indices((2, 3, 4)).astype(np.float32)
    assert np.array_equal(np.load("cube.npy"), np.stack([x, y, z], axis=-1))
    write(
        "lengths.py",
        """
        import dynamis as dy
        from dynamis import Grid, Volume, vec3, f32
        @dy.kernel
        def lengths(cube: Volume[vec3]) -> Volume[f32]:
            return dy.dot(cube.sample(), cube.linear(cube.size - 1.5))
        """,
    )
    assert run("run", "lengths.py", "cube.npy", "-o", "out.npy", "--threads", 2).code == 0
    assert np.array_equal(np.load("out.npy"), 2.5 * x + 1.5 * y + 0.5 * z)
    result = run("run", "lengths.py", "photo.png", "-o", "out.npy")
    assert result.code == 2
    assert "input 'cube' (Volume[vec3]) takes a .npy file, not a picture" in result.said
    np.save("flat.npy", np.zeros((3, 4), np.float32))
    result = run("run", "lengths.py", "flat.npy", "-o", "out.npy")
    assert result.code == 1
    assert "takes an array of shape (depth, height, width, 3), not an array of" in result.said
    assert run("check", "lengths.py").out.count("Volume<Vec3>") == 1


def test_an_input_may_be_overwritten(run):
    before = pixels("photo.png")
    assert run("run", "kernels.py", "photo.png", "-o", "photo.png", "-k", "invert").code == 0
    assert np.array_equal(pixels("photo.png")[..., :3], 255 - before[..., :3])


@pytest.mark.parametrize(
    ("port", "body", "wanted"),
    [
        ("Grid[vec3]", "image.sample()", [[[255, 0, 0], [255, 255, 255]]]),
        ("Grid[vec4]", "image.sample()", [[[255, 0, 0, 255], [255, 255, 255, 255]]]),
        ("Grid[f32]", "image.sample()", [[54, 255]]),
        ("Grid[bool]", "image.sample()", [[0, 255]]),
        ("Grid[i32]", "image.sample()", [[54, 255]]),
        ("Grid[ivec3]", "image.sample()", [[[255, 0, 0], [255, 255, 255]]]),
        ("Grid[ivec4]", "image.sample()", [[[255, 0, 0, 255], [255, 255, 255, 255]]]),
    ],
)
def test_a_picture_is_read_as_its_port_asks_and_written_back(run, write, port, body, wanted):
    Image.fromarray(np.array([[[255, 0, 0], [255, 255, 255]]], np.uint8)).save("rgb.png")
    write(
        "copy.py",
        f"""
        import dynamis as dy
        from dynamis import *
        @dy.kernel
        def same(image: {port}) -> {port}:
            return {body}
        """,
    )
    assert run("run", "copy.py", "rgb.png", "-o", "out.png").code == 0
    assert pixels("out.png").tolist() == wanted


USAGE = [
    (["nothing.py", "-o", "o.png"], "ile 'nothing.py' does not exist"),
    (["kernels.py", "photo.png", "-o", "o.png"], "one file per input (none): 0 expected, 1 given"),
    (["kernels.py", "-k", "invert", "-o", "o.png"], "(image: Grid[vec4]): 1 expected, 0 given"),
    (["kernels.py", "nothing.png", "-k", "invert", "-o", "o.png"], "there is no file nothing.png"),
    (["kernels.py", ".", "-k", "invert", "-o", "o.png"], "there is no file ."),
    (["kernels.py", "--shape", "2,2"], "one file per output (out: Grid[f32]): 1 expected, 0 given"),
    (["kernels.py", "-o", "o.png"], "gradient has no Grid input to take its size from: write --sh"),
    (["kernels.py", "-o", "o.png", "--shape", "2"], "makes a Grid: write height,width"),
    (["kernels.py", "-o", "o.png", "--shape", "2,-2"], "makes a Grid: write height,width"),
    (["kernels.py", "-o", "o.png", "--shape", "a,b"], "'a,b' is not height,width"),
    (["kernels.py", "-k", "cube", "-o", "o.npy"], "cube has no Volume input to take its size from"),
    (["kernels.py", "-k", "cube", "-o", "o.npy", "-t", "1"], "write --shape depth,height,width"),
    (["kernels.py", "-k", "cube", "-o", "o.npy", "--shape", "2,2"], "write depth,height,width"),
    (["kernels.py", "-k", "cube", "-o", "o.npy", "--shape", "2,2,-1"], "makes a Volume: write de"),
    (["kernels.py", "-k", "cube", "-o", "o.npy", "--shape", "a"], "'a' is not depth,height,width"),
    (["kernels.py", "-k", "cube", "-o", "o.png", "--shape", "1,2,3"], "makes no picture: write a"),
    (["kernels.py", "-o", "o.gif", "--shape", "2,2"], "the suffix '.gif' names no format"),
    (["kernels.py", "-o", "o", "--shape", "2,2"], "(.png .jpg"),
    (["kernels.py", "-o", "no/o.png", "--shape", "2,2"], "there is no folder no"),
    (["kernels.py", "-o", "o.png", "--shape", "2,2", "-p", "setps=3"], "did you mean 'steps'?"),
    (["kernels.py", "-o", "o.png", "--shape", "2,2", "-p", "zzz=3"], "(it has offset: vec2, steps"),
    (["kernels.py", "-o", "o.png", "--shape", "2,2", "-p", "steps"], "not of the form name=value"),
    (["kernels.py", "-o", "o.png", "--shape", "2,2", "-p", "steps=1.5"], "'1.5' is not a whole"),
    (["kernels.py", "-o", "o.png", "--shape", "2,2", "-p", "flat=2"], "'2' is not true or false"),
    (["kernels.py", "-o", "o.png", "--shape", "2,2", "-p", "offset=1"], "write 2 numbers divided"),
    (["kernels.py", "-o", "o.png", "--shape", "2,2", "-p", "offset=1,x"], "'x' is not a number"),
    (["kernels.py", "-o", "o.png", "--shape", "2,2", "-p", "steps=1", "-p", "steps=2"], "twice"),
    (["kernels.py", "-o", "o.png", "--shape", "2,2", "--threads", "0"], "1…1024, not 0"),
    (["kernels.py", "-o", "o.png", "--shape", "2,2", "--threads", "x"], "'--threads'"),
    (["kernels.py", "-o", "o.png", "--shape", "2,2", "--width", "3"], "1, 2, 4, 8, 16"),
    (["kernels.py", "-o", "o.png", "--shape", "2,2", "--backend", "gpu"], "(cpu, reference)"),
    (["kernels.py", "-o", "o.png", "--shap", "2,2"], "--shap"),
]


@pytest.mark.parametrize(("arguments", "says"), USAGE, ids=[" ".join(a) for a, _ in USAGE])
def test_a_command_line_that_does_not_fit_exits_with_2(run, folder, arguments, says):
    before = sorted(p.name for p in folder.iterdir())
    result = run("run", *arguments)
    assert result.code == 2
    assert says in result.said
    assert result.out == ""
    assert sorted(p.name for p in folder.iterdir()) == before


def test_two_outputs_to_one_file_are_refused(run, write):
    write(
        "two.py",
        """
        import dynamis as dy
        from dynamis import Grid, f32
        @dy.kernel
        def two() -> tuple[Grid[f32], Grid[f32]]:
            return 0.0, 1.0
        """,
    )
    result = run("run", "two.py", "--shape", "2,2", "-o", "a.png", "-o", "./a.png")
    assert result.code == 2
    assert "two outputs would go to one file" in result.said


def test_outputs_that_make_no_picture_ask_for_npy(run, write):
    write(
        "rows.py",
        """
        import dynamis as dy
        from dynamis import Rows, Grid, f32, vec2
        @dy.kernel
        def rows(x: Rows[f32]) -> Rows[f32]:
            return x.sample()
        @dy.kernel
        def flow() -> Grid[vec2]:
            return dy.coord()
        """,
    )
    result = run("run", "rows.py", "photo.png", "-k", "rows", "-o", "o.npy")
    assert result.code == 2
    assert "input 'x' (Rows[f32]) takes a .npy file, not a picture" in result.said
    result = run("run", "rows.py", "photo.png", "-k", "rows", "-o", "o.png")
    assert "output 'out' (Rows[f32]) makes no picture: write a .npy file" in result.said
    result = run("run", "rows.py", "--shape", "2,2", "-k", "flow", "-o", "o.png")
    assert "output 'out' (Grid[vec2]) makes no picture" in result.said


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("def (", "bad.py:1: invalid syntax"),
        ("x = 1\n1 / 0\n", "bad.py:2 failed: ZeroDivisionError: division by zero"),
        ("import nothing_there", "bad.py:1 failed: ModuleNotFoundError: No module named"),
        ("raise SystemExit(3)", "bad.py:1 failed: SystemExit: 3"),
        ("x = 1", "bad.py holds no kernel: decorate a function with @dynamis.kernel"),
        ("import dynamis as dy\n@dy.kernel('a b')\ndef k(): pass\n", "'a b' is not a kernel id"),
        ("\0", "bad.py"),
        ("s = '\udcff'", "bad.py"),
    ],
)
def test_a_file_that_cannot_be_run_is_an_error_at_the_users_line(run, folder, source, says):
    (folder / "bad.py").write_bytes(source.encode("utf-8", "surrogateescape"))
    result = run("run", "bad.py", "-o", "o.png")
    assert result.code == 1
    assert says in result.said
    assert "dynamis/" not in result.said


def test_a_wrong_kernel_is_shown_with_its_line_and_a_caret(run, write):
    write(
        "bad.py",
        """
        import dynamis as dy
        from dynamis import Grid, f32
        @dy.kernel
        def k() -> Grid[f32]:
            return nothing + 1.0
        """,
    )
    result = run("run", "bad.py", "-o", "o.png", "--shape", "2,2")
    assert result.code == 1
    lines = result.error.splitlines()
    assert "bad.py:6:12: " in lines[0]
    assert lines[1].strip() == "return nothing + 1.0"
    assert lines[2].strip() == "^^^^^^^"


def test_a_fault_names_element_and_line_and_leaves_the_old_output(run, write, folder):
    write(
        "bad.py",
        """
        import dynamis as dy
        from dynamis import Grid, f32, i32
        @dy.kernel
        def k() -> Grid[i32]:
            return 7 // (3 - i32(dy.coord().x))
        """,
    )
    (folder / "o.png").write_bytes(b"old")
    result = run("run", "bad.py", "-o", "o.png", "--shape", "2,5")
    assert result.code == 1
    assert "k@1 failed at element 3 (column 3, row 0): division by zero" in result.said
    assert "return 7 // (3 - i32(dy.coord().x))" in result.said
    assert (folder / "o.png").read_bytes() == b"old"


def test_data_that_does_not_fit_exits_with_1(run, folder):
    np.save("wide.npy", np.zeros((2, 2, 4)))
    result = run("run", "kernels.py", "wide.npy", "-k", "invert", "-o", "o.png")
    assert result.code == 1
    assert "'image' (Grid[vec4]) takes float32 or float16, not float64" in result.said
    (folder / "junk.png").write_bytes(b"junk")
    result = run("run", "kernels.py", "junk.png", "-k", "invert", "-o", "o.png")
    assert result.code == 1
    assert "junk.png: it is not a picture that Pillow knows" in result.said
    result = run("run", "kernels.py", "-o", "o.png", "--shape", "1,99999999")
    assert result.code == 1
    assert "a Grid axis is at most 2**24" in result.said


def test_a_file_imports_its_neighbours_and_prefers_its_own_kernels(run, write):
    write("other.py", "from kernels import gradient\nfrom kernels import invert as last\n")
    result = run("run", "other.py", "-k", "gradient", "--shape", "1,1", "-o", "o.npy")
    assert result.code == 0
    write(
        "own.py",
        """
        import dynamis as dy
        from dynamis import Grid, vec4
        @dy.kernel
        def mine(image: Grid[vec4]) -> Grid[vec4]:
            return image.sample()
        from kernels import gradient
        """,
    )
    assert run("run", "own.py", "photo.png", "-o", "o.npy").code == 0


def test_an_unknown_kernel_is_told_which_there_are(run):
    result = run("run", "kernels.py", "-k", "invret", "-o", "o.png")
    assert result.code == 1
    assert "kernels.py holds no kernel 'invret'; did you mean 'invert'?" in result.said
    assert "it holds invert, cube, gradient" in result.said


def test_an_edited_file_is_run_as_it_is_now(run, write):
    text = """
        import dynamis as dy
        from dynamis import Grid, f32
        @dy.kernel
        def k() -> Grid[f32]:
            return {}.0
        """
    for number in (1, 2):
        write("k.py", text.format(number))
        assert run("run", "k.py", "--shape", "1,1", "-o", "o.npy").code == 0
        assert np.load("o.npy").tolist() == [[number]]


def test_an_interrupt_exits_quietly_with_130(run, monkeypatch):
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "run", interrupt)
    result = run("run", "kernels.py", "-o", "o.png")
    assert result.code == 130
    assert result.error == ""


def test_a_bug_of_this_package_is_one_line_unless_a_traceback_is_asked_for(run, monkeypatch):
    def fail(*_: object) -> None:
        raise AssertionError("impossible")

    monkeypatch.setattr(commands, "run", fail)
    result = run("run", "kernels.py", "-o", "o.png")
    assert result.code == 1
    assert "dynamis itself failed: AssertionError: impossible" in result.said
    monkeypatch.setenv("DYNAMIS_TRACEBACK", "1")
    with pytest.raises(AssertionError):
        run("run", "kernels.py", "-o", "o.png")


def test_a_missing_package_is_named_in_one_sentence(run, monkeypatch):
    def fail(*_: object) -> None:
        raise ModuleNotFoundError("No module named 'llvmlite'", name="llvmlite")

    monkeypatch.setattr(commands, "run", fail)
    result = run("run", "kernels.py", "-o", "o.png")
    assert result.code == 1
    assert "the package 'llvmlite' is missing: reinstall" in result.said


def test_progress_is_shown_on_a_terminal_for_long_work_only(monkeypatch, capsys):
    monkeypatch.setattr(report, "_PATIENCE", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    with report.Progress("drawing") as progress:
        progress(1, 2)
        progress(2, 2)
    assert "drawing" in capsys.readouterr().err
    monkeypatch.setattr(report, "_PATIENCE", 1000.0)
    with report.Progress("drawing") as progress:
        progress(1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(report, "_PATIENCE", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: False)
    with report.Progress("drawing") as progress:
        progress(1, 2)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0008, "0.8 ms"), (0.0451, "45 ms"), (3.21, "3.2 s"), (0, "0.0 ms")]
)
def test_times_are_printed_in_the_unit_that_reads_best(seconds, text):
    assert report.duration(seconds) == text


@pytest.mark.parametrize("suffix", ["png", "npy"])
def test_an_output_that_is_a_loop_of_links_is_refused_by_name(run, folder, suffix):
    (folder / f"loop.{suffix}").symlink_to(f"loop.{suffix}")
    result = run(
        "run", "kernels.py", "-o", f"loop.{suffix}", "--shape", "2,2", "-k", "gradient"
    )  # fmt: skip
    assert result.code == 1
    assert "cannot write" in result.said
    assert f"loop.{suffix}: Too many levels of symbolic links" in result.said
    assert "bug" not in result.said


def test_a_kernel_file_or_input_that_is_a_loop_of_links_is_refused(run, folder):
    for name in ("loop.py", "loop.png"):
        (folder / name).symlink_to(name)
    assert run("check", "loop.py").code == 2
    result = run("run", "kernels.py", "loop.png", "-o", "out.png", "-k", "invert")
    assert result.code == 2
    assert "there is no file loop.png" in result.said
