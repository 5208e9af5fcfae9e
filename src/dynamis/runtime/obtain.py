"""A kernel's program for one class of calls: from the disk cache, else compiled and kept there."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..codegen import Options
from ..kernel import Module
from ..lower import CallClass
from . import cache_key, disk_cache
from .code_image import Native, flat, load
from .program import NO_PROGRAM, Program, from_bytes, to_bytes
from .timing import Timings

if TYPE_CHECKING:
    from .compiler import Compiler


def obtain(
    module: Module,
    compiler: Callable[[], Compiler],
    call: CallClass,
    options: Options,
    timings: Timings,
    *,
    search: bool,
    keep: bool,
) -> tuple[Program, Native]:
    """The program of a valid ``module`` and its code in memory.

    ``compiler`` makes it where the disk cache has it not, or is not asked (``keep``)."""
    place = None
    if keep and flat():
        with timings.measured("cache"):
            verified = bool(os.environ.get("DYNAMIS_VERIFY"))  # asks for a compilation's checks
            place = _Place.of(str(module), call, options, search, verified)
            data = None if place is None else place.fetch()
            if data is not None:
                program, image = from_bytes(data)
        if data is not None:
            with timings.measured("load"):
                return program, load(image)
    with timings.measured("import"):
        from . import jit

        compiling = compiler()
        jit.host()
    with timings.measured("lowering"):
        program, text = compiling.program(call, options, search=search)
    if not flat():
        with timings.measured("LLVM"):
            return program, jit.link(text)
    with timings.measured("LLVM"):
        image = jit.compile_image(text)
    if place is not None:
        with timings.measured("cache"):
            place.store(to_bytes(program, image))
    with timings.measured("load"):
        return program, load(image)


def obtain_code(text: Callable[[], str], *parts: object) -> Native:
    """Code that is no kernel's, from the disk cache where it is there.

    ``text`` makes its module text, from this package's sources and ``parts`` alone."""
    place = _Place.of(*parts) if flat() else None
    data = None if place is None else place.fetch()
    if data is not None:
        return load(from_bytes(data)[1])
    from . import jit

    if not flat():
        return jit.link(text())
    image = jit.compile_image(text())
    if place is not None:
        place.store(to_bytes(NO_PROGRAM, image))
    return load(image)


class _Place:
    """Where the disk cache has, or may have, one program."""

    def __init__(self, cache: disk_cache.Cache, key: str):
        self._cache, self._key = cache, key

    @classmethod
    def of(cls, *parts: object) -> _Place | None:
        """None where the cache is off, or a key cannot be made."""
        cache = disk_cache.open_cache()
        if isinstance(cache, disk_cache.Off):
            return None
        try:
            key = cache_key.program_key(cache, *parts)
        except cache_key.NoKey:
            return None
        return cls(cache, key)

    def fetch(self) -> bytes | None:
        return self._cache.fetch(self._key)

    def store(self, data: bytes) -> None:
        try:
            cache_key.require_unchanged()
        except cache_key.NoKey:
            return
        self._cache.store(self._key, data)
