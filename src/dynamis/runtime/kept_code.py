"""Machine code that is no kernel's: from the disk cache, else compiled and kept there."""

from __future__ import annotations

from collections.abc import Callable

from . import cache_key
from .code_image import Native, flat, load
from .disk_cache import Cache, Off, open_cache
from .locks import COMPILING
from .program import NO_PROGRAM, from_bytes, to_bytes


def kept_code(text: Callable[[], str], *parts: object) -> Native:
    """The code of a module, in memory, made under the lock of all compiling.

    ``text`` makes the module's text, of this package's sources and ``parts`` alone."""
    with COMPILING:
        return _code(text, parts)


def _code(text: Callable[[], str], parts: tuple[object, ...]) -> Native:
    if not flat():
        from . import jit  # brings the compiler: on demand

        return jit.link(text())
    place = _place(parts)
    kept = None if place is None else place[0].fetch(place[1])
    if kept is not None:
        return load(from_bytes(kept)[1])
    from . import jit

    image = jit.compile_image(text())
    if place is not None:
        _keep(*place, to_bytes(NO_PROGRAM, image))
    return load(image)


def _place(parts: tuple[object, ...]) -> tuple[Cache, str] | None:
    """The disk cache and a key in it; None where it is off or no key can be made."""
    cache = open_cache()
    if isinstance(cache, Off):
        return None
    try:
        return cache, cache_key.program_key(cache, *parts)
    except cache_key.NoKey:
        return None


def _keep(cache: Cache, key: str, data: bytes) -> None:
    try:
        cache_key.require_unchanged()
    except cache_key.NoKey:
        return
    cache.store(key, data)
