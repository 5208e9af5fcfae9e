"""The disk cache as a folder of entries: whole or not there, private, bounded, never in the way."""

from __future__ import annotations

import os
import random
import stat
from collections.abc import Iterator
from pathlib import Path

import platformdirs
import pytest

from dynamis.runtime import disk_cache
from dynamis.runtime.disk_cache import Cache, Off, open_cache

KEY = "0123456789abcdef" * 4
OTHER = "fedcba9876543210" * 4


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "cache"
    monkeypatch.setenv("DYNAMIS_CACHE", str(path))
    yield path
    disk_cache._grown.clear()


def opened() -> Cache:
    cache = open_cache()
    assert isinstance(cache, Cache)
    return cache


def refused() -> str:
    off = open_cache()
    assert isinstance(off, Off)
    return off.reason


def test_what_was_stored_is_fetched_by_its_key_alone(folder: Path) -> None:
    assert opened().fetch(KEY) is None
    assert opened().store(KEY, b"content") is None
    assert opened().fetch(KEY) == b"content"
    assert opened().fetch(OTHER) is None
    assert opened().store(KEY, b"") is None
    assert opened().fetch(KEY) == b""


def test_the_folder_and_its_files_are_the_users_own(folder: Path) -> None:
    old = os.umask(0o002)
    try:
        opened().store(KEY, b"content")
    finally:
        os.umask(old)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / KEY).stat().st_mode) == 0o600
    assert opened().fetch(KEY) == b"content"
    assert os.listdir(folder) == [KEY]


def test_every_flipped_bit_and_every_cut_of_an_entry_is_noticed(folder: Path) -> None:
    content = random.Random(5).randbytes(300)
    opened().store(KEY, content)
    file = folder / KEY
    whole = file.read_bytes()
    for at in range(len(whole)):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << at % 8
        file.write_bytes(damaged)
        assert opened().fetch(KEY) is None, at
    for size in range(len(whole)):
        file.write_bytes(whole[:size])
        assert opened().fetch(KEY) is None, size
    file.write_bytes(whole + b"\0")
    assert opened().fetch(KEY) is None
    assert opened().store(KEY, content) is None
    assert opened().fetch(KEY) == content


def test_an_entry_under_another_key_is_not_taken(folder: Path) -> None:
    opened().store(KEY, b"content")
    os.rename(folder / KEY, folder / OTHER)
    assert opened().fetch(OTHER) is None


def test_things_that_are_no_entries_are_not_read(folder: Path, tmp_path: Path) -> None:
    cache = opened()
    cache.store(KEY, b"content")
    entry = (folder / KEY).read_bytes()
    (folder / KEY).unlink()
    (tmp_path / "elsewhere").write_bytes(entry)
    (folder / KEY).symlink_to(tmp_path / "elsewhere")
    assert cache.fetch(KEY) is None
    (folder / KEY).unlink()
    (folder / KEY).mkdir()
    assert cache.fetch(KEY) is None
    problem = cache.store(KEY, b"content")
    assert problem is not None
    assert "directory" in problem
    (folder / KEY).rmdir()
    os.mkfifo(folder / KEY)
    assert cache.fetch(KEY) is None  # and does not wait for a writer


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_a_folder_that_others_may_write_in_is_not_used(folder: Path, mode: int) -> None:
    opened().store(KEY, b"content")
    folder.chmod(mode)
    assert "may be written by, another user" in refused()


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_not_used(folder: Path, mode: int) -> None:
    opened().store(KEY, b"content")
    (folder / KEY).chmod(mode)
    assert opened().fetch(KEY) is None


def test_what_belongs_to_another_user_is_not_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = opened()
    cache.store(KEY, b"content")
    monkeypatch.setattr(os, "geteuid", lambda: os.stat(folder).st_uid + 1)
    assert "belongs to" in refused()
    assert cache.fetch(KEY) is None


@pytest.mark.parametrize("setting", ["0", "off", "OFF", " off "])
def test_the_variable_turns_it_off(monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    monkeypatch.setenv("DYNAMIS_CACHE", setting)
    assert refused() == f"DYNAMIS_CACHE={setting}"


def test_a_relative_folder_is_refused_for_it_would_move(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DYNAMIS_CACHE", "cache")
    assert refused() == "DYNAMIS_CACHE=cache is neither a full path nor 0 or off"


def test_without_the_variable_the_folder_is_the_platforms(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("DYNAMIS_CACHE")
    for base in (str(tmp_path / "xdg"), None, "relative"):
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        if base is None:
            monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        else:
            monkeypatch.setenv("XDG_CACHE_HOME", base)
        if base != "relative":  # the specification: "consider the path invalid and ignore it"
            assert opened().path == platformdirs.user_cache_dir("dynamis")
        else:
            assert opened().path == str(tmp_path / "home" / ".cache" / "dynamis")


def test_a_folder_that_cannot_be_made_turns_it_off(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DYNAMIS_CACHE", str(tmp_path / "file" / "cache"))
    assert "Not a directory" in refused()
    monkeypatch.setenv("DYNAMIS_CACHE", str(tmp_path / "file"))
    assert "File exists" in refused()
    monkeypatch.setenv("DYNAMIS_CACHE", "/proc/cache")  # root cannot write there either
    assert "/proc/cache: " in refused()


def test_a_write_that_fails_leaves_nothing_and_says_why(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = opened()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        assert cache.store(KEY, b"content") == f"{folder}: No space left on device"
    assert os.listdir(folder) == []
    assert cache.store(KEY, b"content") is None


def test_what_was_kept_can_be_read_where_nothing_can_be_written(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = opened()
    cache.store(KEY, b"content")
    os.utime(folder / KEY, (1000, 1000))  # long ago: a hit is to be noted

    def refuse(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "utime", refuse)
    assert cache.fetch(KEY) == b"content"


def test_a_full_disk_leaves_nothing_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    monkeypatch.setattr(disk_cache, "_owner_only", lambda path, flags: os.open(full, os.O_WRONLY))
    assert Cache("/nonexistent").store(KEY, b"content") == "/nonexistent: No space left on device"


def test_the_least_recently_used_entries_go_when_there_are_too_many(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_cache, "LIMIT", 10_000)
    monkeypatch.setattr(disk_cache, "_KEPT", 7_500)
    cache = opened()
    keys = [f"{k:064x}" for k in range(30)]
    for age, key in enumerate(keys):
        assert cache.store(key, bytes(900)) is None
        os.utime(folder / key, (1000 + age, 1000 + age))
        if age > 2:
            assert cache.fetch(keys[0]) == bytes(900)  # used, so not the oldest
        assert sum(entry.size for entry in cache.entries()) <= 10_000
    left = {Path(entry.path).name for entry in cache.entries()}
    assert keys[-1] in left
    assert keys[0] in left
    assert keys[1] not in left


def test_another_process_that_fills_the_folder_is_noticed_by_the_next(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_cache, "LIMIT", 10_000)
    monkeypatch.setattr(disk_cache, "_KEPT", 7_500)
    cache = opened()
    for k in range(10):
        cache.store(f"{k:064x}", bytes(900))
    disk_cache._grown.clear()  # as in a new process
    cache.store(KEY, bytes(900))
    assert sum(entry.size for entry in cache.entries()) <= 7_500
    assert cache.fetch(KEY) == bytes(900)


def test_an_entry_too_large_to_keep_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_cache, "_LARGEST", 1000)
    assert opened().store(KEY, bytes(1000)) == "1048 bytes are more than an entry may have"
    assert os.listdir(folder) == []


def test_clearing_removes_its_own_files_only(folder: Path) -> None:
    cache = opened()
    cache.store(KEY, b"content")
    cache.store(OTHER, b"content")
    for name in ("notes.txt", KEY[:-1], KEY + ".tmp", KEY.upper(), "a.b.tmp"):
        (folder / name).write_text("mine")
    (folder / f"{KEY}.0123456789abcdef.tmp").write_text("left by a process that was ended")
    assert cache.clear() == 3
    assert len(os.listdir(folder)) == 5
    assert cache.clear() == 0


def test_temporary_files_of_ended_processes_go_after_a_while(folder: Path) -> None:
    cache = opened()
    old, new = (folder / f"{KEY}.{mark * 16}.tmp" for mark in "ab")
    old.write_text("")
    new.write_text("")
    os.utime(old, (1000, 1000))
    cache.store(OTHER, b"content")
    assert not old.exists()
    assert new.exists()


def test_a_folder_that_vanishes_is_an_empty_cache(folder: Path) -> None:
    cache = opened()
    folder.rmdir()
    assert cache.fetch(KEY) is None
    assert cache.entries() == []
    assert cache.clear() == 0
    assert cache.store(KEY, b"content") == f"{folder}: No such file or directory"


def test_a_probe_says_whether_something_can_be_stored_and_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = opened()
    assert cache.probe() is None
    assert os.listdir(folder) == []
    folder.rmdir()
    assert cache.probe() == f"{folder}: No such file or directory"
