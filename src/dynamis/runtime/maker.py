"""What native code is made of: from the disk cache, else compiled and kept there."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from ..codegen import Options
from ..kernel import Validated
from ..lower import CallClass
from . import cache_key
from .code_image import Native, flat, load
from .disk_cache import Cache, Off, open_cache
from .program import Program, from_bytes, to_bytes
from .timing import Timings

if TYPE_CHECKING:
    from .compiler import Compiler


class Maker:
    """Makes programs of one valid kernel, and counts the time that takes.

    ``keep``: looks for them in the disk cache first, and keeps there what it had to compile."""

    def __init__(self, validated: Validated, timings: Timings, *, keep: bool):
        self._validated, self._timings = validated, timings
        self._keep = keep and flat()

    @cached_property
    def compiler(self) -> Compiler:
        """The compiler of the kernel; loaded on demand, for what was kept needs none."""
        with self._timings.measured("import"):
            from . import jit
            from .compiler import Compiler

            jit.host()
        return Compiler(self._validated)

    def preferred_width(self) -> int:
        """The width that suits the kernel and this machine, one of ``codegen.WIDTHS``."""
        with self._timings.measured("cache"):
            kept = self._fetch("width")
        if kept is not None:
            return int(kept)
        compiler = self.compiler
        with self._timings.measured("lowering"):
            width = compiler.preferred_width()
        with self._timings.measured("cache"):
            self._store(str(width).encode(), "width")
        return width

    def program(self, call: CallClass, options: Options, *, search: bool) -> tuple[Program, Native]:
        """A program and its code in memory."""
        with self._timings.measured("cache"):
            kept = self._fetch(call, options, search)
        if kept is not None:
            with self._timings.measured("load"):
                program, image = from_bytes(kept)
                return program, load(image)
        compiler = self.compiler
        with self._timings.measured("lowering"):
            program, text = compiler.program(call, options, search=search)
        from . import jit

        if not flat():
            with self._timings.measured("LLVM"):
                return program, jit.link(text)
        with self._timings.measured("LLVM"):
            image = jit.compile_image(text)
        with self._timings.measured("cache"):
            self._store(to_bytes(program, image), call, options, search)
        with self._timings.measured("load"):
            return program, load(image)

    @cached_property
    def _cache(self) -> Cache | None:
        """The disk cache, where there is one for this kernel."""
        if not self._keep:
            return None
        cache = open_cache()
        if isinstance(cache, Off):
            self._timings.cache = f"off: {cache.reason}"
            return None
        try:
            cache_key.program_key(cache)
        except cache_key.NoKey as error:
            self._timings.cache = f"off: {error}"
            return None
        return cache

    @cached_property
    def _text(self) -> str:
        return str(self._validated.module)

    def _key(self, cache: Cache, what: tuple[object, ...]) -> str:
        # who asks for the checks of a compilation is not given a program that had none
        verified = bool(os.environ.get("DYNAMIS_VERIFY"))
        return cache_key.program_key(cache, self._text, verified, *what)

    def _fetch(self, *what: object) -> bytes | None:
        cache = self._cache
        if cache is None:
            return None
        kept = cache.fetch(self._key(cache, what))
        self._timings.cache = f"{'not yet' if kept is None else 'found'} in {cache.path}"
        return kept

    def _store(self, data: bytes, *what: object) -> None:
        cache = self._cache
        if cache is None:
            return
        try:
            cache_key.require_unchanged()
            problem = cache.store(self._key(cache, what), data)
        except cache_key.NoKey as error:
            problem = str(error)
        self._timings.cache = f"not kept: {problem}" if problem else f"kept in {cache.path}"
