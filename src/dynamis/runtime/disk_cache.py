"""A folder of entries that outlives the process: what was compiled once is found again.

In: a key (``KEY_DIGITS`` hexadecimal digits) and bytes. Out: the same bytes later, or nothing. An
entry is either whole or not there: it is written beside its place and moved into it, and its
checksum covers the key and the content, so one that was cut short, changed or renamed is not there
either. Nothing here raises for a folder that cannot be used or a file that cannot be read or
written; such a cache is off, and ``open_cache`` says why. POSIX only, like the code kept in it.

The folder is ``$XDG_CACHE_HOME/dynamis``, else ``~/.cache/dynamis``; ``DYNAMIS_CACHE`` names
another by its full path, or turns the cache off with ``0`` or ``off``. It is used only if it
belongs to this user and nobody else may write in it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import time
from collections.abc import Iterator
from typing import Final, NamedTuple

VARIABLE: Final = "DYNAMIS_CACHE"
KEY_DIGITS: Final = 64
LIMIT: Final = 64 * 2**20
"""Bytes that entries take at most, as their files are long; the least recently used go first."""
_LARGEST: Final = LIMIT // 16
"""Bytes of the largest entry that is kept."""
_KEPT: Final = 3 * LIMIT // 4
"""Bytes that are left when entries have to go, so that the next ones do not have to look again."""
_MAGIC: Final = b"dynamis entry 1\n"
_CHECKSUM: Final = 32
_HEXADECIMAL: Final = frozenset("0123456789abcdef")
_LONG_AGO: Final = 3600.0
"""Seconds after which a temporary file belongs to a process that was ended, and after which a
hit is noted in an entry's time."""


class Off(NamedTuple):
    """No cache, and why."""

    reason: str


class Entry(NamedTuple):
    """A file of the cache: its size, and when it was last used."""

    path: str
    size: int
    used: float


def open_cache() -> Cache | Off:
    """The cache that the environment names, its folder made and checked."""
    setting = os.environ.get(VARIABLE, "")
    if setting.strip().lower() in ("0", "off"):
        return Off(f"{VARIABLE}={setting}")
    path = os.path.expanduser(setting) if setting else _standard_folder()
    if not os.path.isabs(path):
        return Off(f"{VARIABLE}={setting} is neither a full path nor 0 or off")
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        found = os.stat(path)
    except OSError as error:
        return Off(f"{path}: {error.strerror}")
    if not stat.S_ISDIR(found.st_mode):
        return Off(f"{path} is no folder")
    if not _private(found):
        return Off(f"{path} belongs to, or may be written by, another user")
    return Cache(path)


def _standard_folder() -> str:
    """By the XDG Base Directory Specification."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "dynamis")


def _private(found: os.stat_result) -> bool:
    """Whether only this user can have made or changed a file or folder."""
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022


class Cache(NamedTuple):
    """The entries of one folder."""

    path: str

    def fetch(self, key: str) -> bytes | None:
        """The content of an entry that is whole."""
        try:
            with open(self._place(key), "rb", opener=_no_link) as file:
                found = os.fstat(file.fileno())
                if not (stat.S_ISREG(found.st_mode) and _private(found)):
                    return None
                data = file.read(_LARGEST + 1)
                if time.time() - found.st_mtime > _LONG_AGO:
                    with contextlib.suppress(OSError):  # the folder may be read-only
                        os.utime(file.fileno())
        except OSError:
            return None
        content = data[len(_MAGIC) + _CHECKSUM :]
        return content if data == _entry(key, content) else None

    def store(self, key: str, content: bytes) -> str | None:
        """Keep ``content``; why not, if it could not be kept."""
        data = _entry(key, content)
        if len(data) > _LARGEST:
            return f"{len(data)} bytes are more than an entry may have"
        place = self._place(key)
        temporary = f"{place}.{os.urandom(8).hex()}.tmp"
        try:
            self._make_room(len(data))
            with open(temporary, "xb", opener=_owner_only) as file:
                try:
                    file.write(data)
                    file.flush()
                    os.replace(temporary, place)
                except BaseException:
                    with contextlib.suppress(OSError):
                        os.unlink(temporary)
                    raise
        except OSError as error:
            return f"{self.path}: {error.strerror or error}"
        _grown[self.path] = _grown.get(self.path, 0) + len(data)
        return None

    def probe(self) -> str | None:
        """Why nothing can be stored now; None if something can."""
        key = "0" * KEY_DIGITS
        problem = self.store(key, b"")
        with contextlib.suppress(OSError):
            os.unlink(self._place(key))
        return problem

    def entries(self) -> list[Entry]:
        """The entries, the least recently used first."""
        found = [entry for entry in self._files() if not entry.path.endswith(".tmp")]
        return sorted(found, key=lambda entry: entry.used)

    def clear(self) -> int:
        """Remove every file of the cache; how many there were. Others in the folder stay."""
        return sum(_removed(entry) for entry in self._files())

    def _place(self, key: str) -> str:
        return os.path.join(self.path, key)

    def _files(self) -> Iterator[Entry]:
        """The files that this module has written, whole or not."""
        try:
            with os.scandir(self.path) as listing:
                for file in listing:
                    if _is_ours(file.name) and file.is_file(follow_symlinks=False):
                        found = file.stat(follow_symlinks=False)
                        yield Entry(file.path, found.st_size, found.st_mtime)
        except OSError:
            return  # the folder, or a file in it, has gone meanwhile

    def _make_room(self, size: int) -> None:
        """Remove what is too old to keep beside ``size`` new bytes.

        Looks at the folder at a process's first store, and again when as much has been stored as
        was free then."""
        if self.path in _grown and _grown[self.path] + size <= LIMIT:
            return
        for entry in self._files():
            if entry.path.endswith(".tmp") and time.time() - entry.used > _LONG_AGO:
                _removed(entry)
        entries = self.entries()
        total = sum(entry.size for entry in entries)
        if total + size > LIMIT:
            for entry in entries:
                if total + size <= _KEPT:
                    break
                total -= entry.size
                _removed(entry)
        _grown[self.path] = total


_grown: dict[str, int] = {}
"""For each folder this process has stored in, how large its entries were, and have become."""


def _entry(key: str, content: bytes) -> bytes:
    checksum = hashlib.blake2b(content, digest_size=_CHECKSUM, key=key.encode()[:64]).digest()
    return _MAGIC + checksum + content


def _is_ours(name: str) -> bool:
    """Whether a file's name is a key, or one and the mark of a temporary file."""
    key, *mark = name.split(".")
    return (
        len(key) == KEY_DIGITS
        and _HEXADECIMAL.issuperset(key)
        and (not mark or (len(mark) == 2 and mark[1] == "tmp"))
    )


def _removed(entry: Entry) -> bool:
    try:
        os.unlink(entry.path)
    except OSError:
        return False  # another process was faster, or the folder cannot be written
    return True


def _no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)


def _owner_only(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
