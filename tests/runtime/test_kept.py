"""Kernels that the disk cache keeps: found by another process, the same in every word and fault."""

from __future__ import annotations

import math
import os
import pathlib
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, Rows, f32, i32, vec2
from dynamis.kernel import validate
from dynamis.runtime import cache_key, code_image
from dynamis.runtime.code_image import flat
from dynamis.runtime.native import NativeKernel

pytestmark = pytest.mark.skipif(not flat(), reason="programs are kept where code is flat images")


def blur(a: Grid[f32], bias: f32 = 0.25) -> Grid[f32]:
    total = bias
    for v in range(-1, 2):
        for u in range(-1, 2):
            total += a.at(dy.coord() + vec2(u, v)) * f32(3 - u * v)
    return total / 9.0


def quotients(a: Rows[i32], b: Rows[i32]) -> Rows[i32]:
    return a.sample() // b.sample() + a.sample()


PROGRAM = """
import sys
import numpy as np
import dynamis as dy
from tests.runtime.test_kept import blur, quotients

kernel, failing = dy.kernel(blur), dy.kernel(quotients)
a = np.linspace(-3, 7, 40 * 61, dtype=np.float32).reshape(40, 61)
print(kernel(a, 0.5).tobytes().hex()[:4000])
numbers, zeros = np.arange(50, dtype=np.int32), np.ones(50, np.int32)
print(failing(numbers, zeros).tobytes().hex())
zeros[33] = 0
try:
    failing(numbers, zeros)
except dy.KernelFault as error:
    print(error)
print("llvmlite" in sys.modules, "dynamis.uop" in sys.modules, file=sys.stderr)
print(kernel.timings.cache.split(" in ")[0], file=sys.stderr)
"""
ROOT = pathlib.Path(__file__).parents[2]


def started(folder: Path | str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "DYNAMIS_CACHE": str(folder)},
    )


def run(folder: Path | str) -> tuple[str, list[str]]:
    """What a process that uses the cache prints: its results, and what it loaded and found."""
    process = started(folder)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out, err.split()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder that one process has filled, and what that process printed."""
    folder = tmp_path_factory.mktemp("kept") / "cache"
    out, told = run(folder)
    assert told == ["True", "True", "kept"]
    return folder, out


def copied(kept: tuple[Path, str], tmp_path: Path) -> tuple[Path, str]:
    folder = tmp_path / "cache"
    shutil.copytree(kept[0], folder)
    folder.chmod(0o700)
    return folder, kept[1]


def test_another_process_finds_programs_and_loads_no_compiler(kept: tuple[Path, str]) -> None:
    folder, out = kept
    assert run(folder) == (out, ["False", "False", "found"])
    assert "33" in out
    assert "division by zero" in out
    assert "a.sample() // b.sample()" in out


def test_without_the_cache_the_results_are_the_same(kept: tuple[Path, str]) -> None:
    out, told = run("off")
    assert out == kept[1]
    assert told == ["True", "True", "off:", "DYNAMIS_CACHE=off"]


def test_damaged_entries_are_rebuilt(kept: tuple[Path, str], tmp_path: Path) -> None:
    folder, out = copied(kept, tmp_path)
    rng = random.Random(11)
    files = sorted(folder.iterdir())
    whole = {file: file.read_bytes() for file in files}
    for k, file in enumerate(files):
        data = bytearray(whole[file])
        if k % 3 == 0:
            del data[rng.randrange(len(data)) :]
        elif k % 3 == 1:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        else:
            data[:] = rng.randbytes(len(data))
        file.write_bytes(data)
    assert run(folder) == (out, ["True", "True", "kept"])
    assert run(folder) == (out, ["False", "False", "found"])
    assert {file: file.read_bytes() for file in folder.iterdir()} == whole


def test_entries_swapped_with_each_other_are_rebuilt(
    kept: tuple[Path, str], tmp_path: Path
) -> None:
    folder, out = copied(kept, tmp_path)
    files = sorted(folder.iterdir())
    contents = [file.read_bytes() for file in files]
    for file, content in zip(files, contents[1:] + contents[:1], strict=True):
        file.write_bytes(content)
    assert run(folder) == (out, ["True", "True", "kept"])


def test_an_unusable_folder_only_turns_the_cache_off(
    kept: tuple[Path, str], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    out, told = run(tmp_path / "file" / "cache")
    assert out == kept[1]
    assert told[:3] == ["True", "True", "off:"]
    folder, _ = copied(kept, tmp_path)
    folder.chmod(0o777)
    out, told = run(folder)
    assert out == kept[1]
    assert told[:3] == ["True", "True", "off:"]


def test_ten_processes_at_once_on_an_empty_cache_all_give_the_same(
    kept: tuple[Path, str], tmp_path: Path
) -> None:
    folder = tmp_path / "cache"
    processes = [started(folder) for _ in range(10)]
    for process in processes:
        out, err = process.communicate(timeout=600)
        assert process.returncode == 0, err
        assert out == kept[1]
    assert {f.name: f.read_bytes() for f in folder.iterdir()} == {
        f.name: f.read_bytes() for f in kept[0].iterdir()
    }
    assert run(folder) == (kept[1], ["False", "False", "found"])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "cache"
    monkeypatch.setenv("DYNAMIS_CACHE", str(path))
    monkeypatch.setattr(cache_key, "LOADED_AT", math.inf)  # who edits sources meanwhile may
    return path


DATA = np.arange(24, dtype=np.float32).reshape(4, 6)


def test_a_disk_that_fills_up_costs_nothing_but_the_entry(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    kernel = dy.kernel(blur)
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        first = kernel(DATA)
    assert kernel.timings.cache == f"not kept: {folder}: No space left on device"
    assert os.listdir(folder) == []
    assert first.tobytes() == dy.kernel(blur)(DATA).tobytes()
    assert kernel.timings["LLVM"] > 0


def test_a_kernel_of_the_same_text_elsewhere_names_its_own_line(folder: Path) -> None:
    def again(a: Rows[i32], b: Rows[i32]) -> Rows[i32]:
        # some lines further down
        return a.sample() // b.sample() + a.sample()

    zeros = np.zeros(9, np.int32)
    spans = []
    for function in (quotients, again):
        kernel = dy.kernel("test.same@1")(function)
        with pytest.raises(dy.KernelFault) as caught:
            kernel(zeros, zeros)
        assert caught.value.fault.span is not None
        spans.append(caught.value.fault.span.line - function.__code__.co_firstlineno)
        told = kernel.timings.cache
    assert told.startswith("found in ")
    assert spans == [1, 2]


def test_other_options_calls_and_constants_are_other_programs(folder: Path) -> None:
    def offset(a: Grid[f32]) -> Grid[f32]:
        return a.sample() + 1.0

    def other(a: Grid[f32]) -> Grid[f32]:
        return a.sample() + 2.0

    makes = [
        dy.kernel("test.offset@1")(offset),
        dy.kernel("test.offset@1")(other),
        dy.kernel("test.offset@1")(offset).options(width=4),
        dy.kernel("test.offset@1", budget=7)(offset),
    ]
    results = [kernel(DATA).tobytes() for kernel in makes]
    assert all(kernel.timings["LLVM"] > 0 for kernel in makes)
    assert results[0] == results[2] == results[3] != results[1]


def test_a_program_made_without_the_checks_is_not_given_to_who_asks_for_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DYNAMIS_VERIFY", raising=False)
    dy.kernel(blur)(DATA)
    monkeypatch.setenv("DYNAMIS_VERIFY", "1")
    kernel = dy.kernel(blur)
    kernel(DATA)
    assert kernel.timings["LLVM"] > 0
    found = dy.kernel(blur)
    found(DATA)
    assert found.timings["LLVM"] == 0


def test_nothing_is_kept_of_sources_that_have_changed_under_the_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = dy.kernel(blur)

    def changed() -> None:
        raise cache_key.NoKey("split.py has changed")

    monkeypatch.setattr(cache_key, "require_unchanged", changed)
    kernel(DATA)
    assert kernel.timings.cache == "not kept: split.py has changed"


def test_kernels_used_without_the_decorator_leave_the_cache_alone(folder: Path) -> None:
    native = NativeKernel(validate(dy.kernel(blur).module))
    out = np.zeros_like(DATA)
    params = [p.default for p in native.manifest.params]
    assert native.run([DATA], params, [out], DATA.shape, 1) is None
    assert native.timings.cache == ""
    assert not folder.exists()


def test_where_code_is_not_flat_nothing_is_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    want = dy.kernel(blur)(DATA)
    shutil.rmtree(folder)
    for module in ("maker", "jit"):
        monkeypatch.setattr(f"dynamis.runtime.{module}.flat", lambda: False)
    assert code_image.flat()
    kernel = dy.kernel(blur)
    assert kernel(DATA).tobytes() == want.tobytes()
    assert not folder.exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_finds_and_keeps_programs(folder: Path) -> None:
    want = dy.kernel(blur)(DATA).tobytes()
    pid = os.fork()
    if pid == 0:
        found, made = dy.kernel(blur), dy.kernel(blur).options(width=4)
        same = found(DATA).tobytes() == made(DATA).tobytes() == want
        os._exit(0 if same and found.timings["LLVM"] == 0 < made.timings["LLVM"] else 1)
    assert os.waitpid(pid, 0)[1] == 0
    kernel = dy.kernel(blur).options(width=4)
    assert kernel(DATA).tobytes() == want
    assert kernel.timings["LLVM"] == 0


def test_importing_touches_no_file_of_the_cache(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    subprocess.run(
        [sys.executable, "-c", "import dynamis"],
        env={**os.environ, "DYNAMIS_CACHE": str(folder)},
        check=True,
    )
    assert not folder.exists()
