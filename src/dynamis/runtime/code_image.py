"""Machine code as bytes that run at any address, and loading it into this process.

A ``CodeImage`` comes from a compiler (``elf.py`` makes one of an object file) or from a file;
loading maps it, and needs no compiler. An image holds no address, calls nothing outside itself and
never changes, so one image serves any process on a processor of the same kind.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import sys
from collections.abc import Mapping
from typing import NamedTuple

from ..errors import DynamisError

ALIGNMENT = 4096
"""No part of an image asks for a stricter alignment: images are loaded at pages."""


class CodeRefused(DynamisError, OSError):
    """The system does not let this process run code that it has made."""


# NamedTuples and plain classes here and in what else a kept program needs: a frozen dataclass takes
# eight times as long to define, and a first result waits for them.


class CodeImage(NamedTuple):
    """``code``: instructions and constants. ``entries``: each function's offset, by name."""

    code: bytes
    entries: Mapping[str, int]


class Native:
    """Machine code in memory: the address of each entry. The code goes with this object, which
    must be held wherever an address may still be called; ``owner`` is what goes with it."""

    __slots__ = ("__weakref__", "_owner", "entries")

    def __init__(self, entries: Mapping[str, int], owner: object):
        self.entries = entries
        self._owner = owner

    def __getitem__(self, name: str) -> int:
        return self.entries[name]


def flat() -> bool:
    """Whether code is made as flat images here: on x86-64 systems with ELF objects."""
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    return x86 and sys.platform not in ("darwin", "win32", "cygwin")


def load(image: CodeImage) -> Native:
    """Map an image: writable while it is copied, executable after that, never both.

    Raises CodeRefused where the system forbids it."""
    try:
        area = mmap.mmap(
            -1,
            max(len(image.code), 1),
            flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
            prot=mmap.PROT_READ | mmap.PROT_WRITE,
        )
    except OSError as error:
        raise CodeRefused(f"no memory for machine code: {error.strerror}") from error
    area.write(image.code)
    base = ctypes.addressof(ctypes.c_char.from_buffer(area))
    libc = ctypes.CDLL(None, use_errno=True)
    protect = libc.mprotect
    protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    if protect(base, len(area), mmap.PROT_READ | mmap.PROT_EXEC):
        reason = os.strerror(ctypes.get_errno())
        raise CodeRefused(
            f"this system does not let a process run code that it makes ({reason}); "
            'backend="reference" runs without'
        )
    return Native({name: base + at for name, at in image.entries.items()}, area)
