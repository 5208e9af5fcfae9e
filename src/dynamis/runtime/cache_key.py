"""Keys of the disk cache: equal only where compiling would give the same program.

In: a module's canonical text and what else chose its code. Out: a digest, found without compiling
or importing a compiler. Two texts of one key would have to share everything that code is made from:
the text, the class of calls, the options, this package's own sources, llvmlite, the processor.
"""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Iterable, Iterator

from ..errors import DynamisError
from . import LOADED_AT
from .cpu import processor
from .disk_cache import KEY_DIGITS, Cache

_NO_PART = ("cli", "frontend")
"""Folders of the package that come before the Kernel IR, or after the result."""


class NoKey(DynamisError):
    """It cannot be told what a program would be made from."""


_File = tuple[str, str, int, int, int, int, int]
"""A source's name in the package and its path; its size, times of modification and of change in
nanoseconds, inode and device. Without names, for each first call writes hundreds of them out."""


def program_key(cache: Cache, *parts: object) -> str:
    """The key of a program; ``parts`` say all that this process and machine do not.

    Raises NoKey."""
    return _digest(*parts, _environment(cache.path))


def require_unchanged() -> None:
    """Raises NoKey where the package's files are not those that this process runs any more."""
    _unchanged(_package())


@functools.lru_cache(maxsize=4)
def _environment(folder: str) -> str:
    """A digest of what is the same for every program of this process."""
    return _digest(_sources(Cache(folder)), _llvm(), processor())


def _digest(*parts: object) -> str:
    # repr, with a length before each part: no two lists of parts have one text
    texts = [repr(part).encode() for part in parts]
    text = b"".join(b"%d:%b" % (len(t), t) for t in texts)
    return hashlib.blake2b(text, digest_size=KEY_DIGITS // 2).hexdigest()


def _sources(cache: Cache) -> str:
    """A digest of this package's sources.

    Reading them takes longer than a small kernel's first run, so the digest itself is an entry of
    the cache, under the files' names, sizes, times and inodes: a change of any file changes its
    inode's change time, which no program can set."""
    files = _package()
    _unchanged(files)
    key = _digest("sources", files)
    known = cache.fetch(key)
    if known is not None:
        return known.decode()
    digest = hashlib.blake2b(digest_size=32)
    try:
        for name, path, *_ in files:
            with open(path, "rb") as source:
                content = source.read()
            digest.update(b"%b:%d:%b" % (name.encode(), len(content), content))
    except OSError as error:
        raise NoKey(f"{error.filename}: {error.strerror}") from error
    cache.store(key, digest.hexdigest().encode())
    return digest.hexdigest()


def _package() -> list[_File]:
    files = sorted(_files(os.path.dirname(os.path.dirname(__file__))))
    if not files:
        raise NoKey("the package's sources are not in plain files")
    return files


def _unchanged(files: Iterable[_File]) -> None:
    for name, _, _, _, changed, _, _ in files:
        if changed > LOADED_AT:
            raise NoKey(f"{name} has changed since this process loaded the package")


def _files(root: str, under: str = "") -> Iterator[_File]:
    """The sources under a folder of the package, by their names in the package."""
    try:
        with os.scandir(root) as listing:
            for file in listing:
                name = under + file.name
                if file.is_dir():
                    if name not in _NO_PART and file.name != "__pycache__":
                        yield from _files(file.path, name + "/")
                elif name.endswith(".py"):
                    s = file.stat()
                    times = s.st_mtime_ns, s.st_ctime_ns
                    yield name, file.path, s.st_size, *times, s.st_ino, s.st_dev
    except OSError as error:
        raise NoKey(f"{error.filename}: {error.strerror}") from error


def _llvm() -> tuple[object, ...]:
    """Which llvmlite is installed, and so which LLVM: its version file, its library."""
    finders = (finder.find_spec("llvmlite", None) for finder in sys.meta_path)
    spec = next(filter(None, finders), None)
    if spec is None or spec.origin is None:
        raise NoKey("llvmlite is not installed")
    folder = os.path.dirname(spec.origin)
    try:
        with open(os.path.join(folder, "_version.py"), "rb") as file:
            version = file.read()
        library = os.stat(os.path.join(folder, "binding", "libllvmlite.so"))
    except OSError as error:
        raise NoKey(f"{error.filename}: {error.strerror}") from error
    return version, library.st_size
