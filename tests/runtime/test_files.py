"""Files are replaced whole or left as they were."""

from __future__ import annotations

import os
import stat

import pytest

from dynamis.errors import DynamisError
from dynamis.runtime.files import FileError, write_atomically


def put(text: bytes):
    return lambda file: file.write(text)


def test_a_new_file_appears_whole_and_its_full_path_is_returned(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert write_atomically("a.txt", put(b"new")) == tmp_path / "a.txt"
    assert (tmp_path / "a.txt").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_failing_write_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    target = tmp_path / "a.txt"
    target.write_bytes(b"old")

    def fail(file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    with pytest.raises(FileError, match=r"a\.txt: No space left on device"):
        write_atomically(target, fail)
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_an_interrupted_write_leaves_nothing_beside_the_target(tmp_path):
    def interrupted(file):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "a.txt", interrupted)
    assert os.listdir(tmp_path) == []


def test_permissions_of_a_replaced_file_stay_and_a_new_one_follows_the_umask(tmp_path):
    old = tmp_path / "old"
    old.write_bytes(b"")
    old.chmod(0o640)
    write_atomically(old, put(b"x"))
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    umask = os.umask(0o027)
    try:
        new = write_atomically(tmp_path / "new", put(b"x"))
    finally:
        os.umask(umask)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640


def test_a_link_is_followed(tmp_path):
    real = tmp_path / "real"
    real.write_bytes(b"old")
    (tmp_path / "link").symlink_to(real)
    assert write_atomically(tmp_path / "link", put(b"new")) == real
    assert (tmp_path / "link").is_symlink()
    assert real.read_bytes() == b"new"


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(FileError, match="it is a folder"):
        write_atomically(tmp_path, put(b""))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="not a regular file"):
        write_atomically(tmp_path / "pipe", put(b""))
    with pytest.raises(FileError, match=r"there is no folder .*/nowhere"):
        write_atomically(tmp_path / "nowhere" / "a", put(b""))
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileError, match="Not a directory"):
        write_atomically(tmp_path / "file" / "a", put(b""))


def test_file_errors_are_errors_of_this_package():
    assert issubclass(FileError, DynamisError)
