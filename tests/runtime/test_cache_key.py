"""Keys of kept programs: what they tell apart, and when there is none."""

from __future__ import annotations

import math
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dynamis.runtime import cache_key
from dynamis.runtime.cache_key import NoKey, program_key, require_unchanged
from dynamis.runtime.code_image import flat
from dynamis.runtime.cpu import processor
from dynamis.runtime.disk_cache import Cache

pytestmark = pytest.mark.skipif(not flat(), reason="programs are kept where code is flat images")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cache]:
    monkeypatch.setattr(cache_key, "LOADED_AT", math.inf)  # who edits sources meanwhile may
    cache_key._environment.cache_clear()
    yield Cache(str(tmp_path))
    cache_key._environment.cache_clear()


def test_parts_cannot_run_into_each_other(cache: Cache) -> None:
    parts = [("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ("a", "b", "c"), (1,), ("1",), ()]
    assert len({program_key(cache, *p) for p in parts}) == len(parts)
    assert program_key(cache, "a", 1) == program_key(cache, "a", 1)


def copied(tmp_path: Path) -> Path:
    """The package in a folder of its own."""
    source = Path(cache_key.__file__).parents[1]
    target = tmp_path / "copy" / "dynamis"
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    return target


KEY = """
import sys
from dynamis.runtime.cache_key import program_key
from dynamis.runtime.disk_cache import Cache
print(program_key(Cache(sys.argv[1]), "x"), "llvmlite" in sys.modules)
"""


def key_of(package: Path, folder: Path) -> str:
    """The key that another process computes with that copy of the package."""
    env = {**os.environ, "PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", KEY, str(folder)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    key, loaded = done.stdout.split()
    assert loaded == "False"
    return key


def test_a_key_is_of_the_sources_wherever_they_lie_and_whenever_they_were_written(
    tmp_path: Path,
) -> None:
    package = copied(tmp_path)
    here = key_of(Path(cache_key.__file__).parents[1], tmp_path)
    assert key_of(package, tmp_path) == here
    assert key_of(package, tmp_path) == here  # by the digest that was kept
    file = package / "codegen" / "split.py"
    text = file.read_text()
    times = file.stat()
    file.write_text(text.replace("a", "b", 1))  # as long as before, and as old
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    changed = key_of(package, tmp_path)
    assert changed != here
    file.write_text(text)
    assert key_of(package, tmp_path) == here
    (package / "render" / "more.py").write_text("")
    assert key_of(package, tmp_path) not in (here, changed)


def test_what_does_not_make_code_is_no_part_of_a_key(tmp_path: Path) -> None:
    package = copied(tmp_path)
    before = key_of(package, tmp_path)
    (package / "frontend" / "more.py").write_text("")
    (package / "cli" / "more.py").write_text("")
    (package / "notes.txt").write_text("")
    assert key_of(package, tmp_path) == before


def test_a_damaged_digest_of_the_sources_is_made_again(tmp_path: Path) -> None:
    package = copied(tmp_path)
    before = key_of(package, tmp_path)
    (kept,) = [file for file in tmp_path.iterdir() if file.is_file()]
    kept.write_bytes(kept.read_bytes()[:-1] + b"0")
    assert key_of(package, tmp_path) == before


def test_sources_that_changed_since_the_process_loaded_them_have_no_key(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_unchanged()
    monkeypatch.setattr(cache_key, "LOADED_AT", 0.0)
    with pytest.raises(NoKey, match="has changed since this process loaded the package"):
        require_unchanged()
    with pytest.raises(NoKey):
        program_key(cache, "x")


def test_without_llvmlite_there_is_no_key(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", [])
    with pytest.raises(NoKey, match="llvmlite is not installed"):
        program_key(cache, "x")


def test_another_llvmlite_or_processor_is_another_key(
    cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {program_key(cache, "x")}
    for name, other in (("_llvm", lambda: (b"0.0.1", 7)), ("processor", lambda: (1, 2, 3))):
        with monkeypatch.context() as patch:
            patch.setattr(cache_key, name, other)
            cache_key._environment.cache_clear()
            keys.add(program_key(cache, "x"))
    assert len(keys) == 3


def test_the_processor_says_what_the_system_says_of_it() -> None:
    words = processor()
    vendor = b"".join(words[k].to_bytes(4, "little") for k in (1, 3, 2))
    text = pathlib.Path("/proc/cpuinfo").read_text()
    assert vendor.decode() in text
    flags = next(line for line in text.splitlines() if line.startswith("flags")).split()
    leaf1_c, leaf7_b = words[5], words[8]
    assert bool(leaf1_c >> 12 & 1) == ("fma" in flags)
    assert bool(leaf7_b >> 5 & 1) == ("avx2" in flags)
    assert bool(leaf7_b >> 16 & 1) == ("avx512f" in flags)


def test_every_core_gives_the_same_answer() -> None:
    cores = os.sched_getaffinity(0)
    answers = set()
    try:
        for core in cores:
            os.sched_setaffinity(0, {core})
            processor.cache_clear()
            answers.add(processor())
    finally:
        os.sched_setaffinity(0, cores)
    assert len(answers) == 1
