"""``dynamis cache``, and what ``dynamis run -v`` says of the time and the cache."""

from __future__ import annotations

import math

import pytest

from dynamis.runtime import cache_key
from dynamis.runtime.code_image import flat

pytestmark = pytest.mark.skipif(not flat(), reason="programs are kept where code is flat images")


@pytest.fixture(autouse=True)
def sources_may_be_edited_meanwhile(monkeypatch):
    monkeypatch.setattr(cache_key, "LOADED_AT", math.inf)


RUN = ("run", "kernels.py", "-o", "out.npy", "--shape", "2,3")


def test_what_a_run_keeps_is_counted_and_cleared(run, tmp_path, monkeypatch):
    folder = tmp_path / "kept"
    monkeypatch.setenv("DYNAMIS_CACHE", str(folder))
    assert run("cache").out == f"{folder}: 0 entries, 0.0 MB of 67 MB\n"
    assert f"cache kept in {folder}" in run(*RUN, "-v").out
    assert f"cache found in {folder}" in run(*RUN, "--verbose").out
    assert run("cache").out == f"{folder}: 3 entries, 0.0 MB of 67 MB\n"
    assert run("cache", "--clear").out == f"{folder}: 3 files removed\n"
    assert run("cache").out == f"{folder}: 0 entries, 0.0 MB of 67 MB\n"
    assert f"cache kept in {folder}" in run(*RUN, "-v").out


def test_a_run_in_detail_says_how_long_each_stage_took(run):
    lines = run(*RUN, "-v").out.splitlines()
    stages = [line.split("  ")[1].rstrip() for line in lines if line.startswith("  ")]
    assert stages == ["front end", "import", "cache", "lowering", "LLVM", "load", "run"]
    assert lines[-1] == "cache off: DYNAMIS_CACHE=off"
    assert not any(line.startswith(("  ", "cache")) for line in run(*RUN).out.splitlines())


def test_a_cache_that_is_off_says_why(run, tmp_path, monkeypatch):
    assert run("cache").out == "off: DYNAMIS_CACHE=off\n"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DYNAMIS_CACHE", str(tmp_path / "file"))
    result = run("cache", "--clear")
    assert result.code == 0
    assert result.out == f"off: {tmp_path / 'file'}: File exists\n"


def test_a_cache_that_cannot_be_written_says_so(run, tmp_path, monkeypatch):
    folder = tmp_path / "kept"
    monkeypatch.setenv("DYNAMIS_CACHE", str(folder))

    def refuse(path: str, flags: int) -> int:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("dynamis.runtime.disk_cache._owner_only", refuse)
    assert f"nothing can be kept: {folder}: Read-only file system" in run("cache").out
    result = run(*RUN, "-v")
    assert result.code == 0
    assert result.out.splitlines()[-1] == f"cache not kept: {folder}: Read-only file system"


def test_where_code_cannot_be_kept_the_cache_is_off(run, monkeypatch):
    monkeypatch.setattr("dynamis.cli.commands.flat", lambda: False)
    assert run("cache").out == "off: this system's code cannot be kept\n"
