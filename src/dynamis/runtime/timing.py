"""Where the time of compiling goes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from typing import Final

COMPILING_STAGES: Final = ("front end", "import", "cache", "lowering", "LLVM", "load")
"""Python source to validated module; loading the compiler and llvmlite into the process; the disk
cache; optimising, lowering and rendering; LLVM; code into memory."""


class Timings(Mapping[str, float]):
    """Seconds spent so far in each of ``COMPILING_STAGES``. ``cache``: what the disk cache had or
    did at the last look, in words; empty before that."""

    def __init__(self) -> None:
        self._seconds = dict.fromkeys(COMPILING_STAGES, 0.0)
        self.cache = ""

    @contextlib.contextmanager
    def measured(self, stage: str) -> Iterator[None]:
        """Counts the time of its block."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self._seconds[stage] += time.perf_counter() - started

    def __getitem__(self, stage: str) -> float:
        return self._seconds[stage]

    def __iter__(self) -> Iterator[str]:
        return iter(self._seconds)

    def __len__(self) -> int:
        return len(self._seconds)

    def __repr__(self) -> str:
        parts = ", ".join(f"{stage} {1e3 * spent:.1f} ms" for stage, spent in self.items())
        return f"<timings: {parts}; cache {self.cache or 'not asked'}>"

    @property
    def total(self) -> float:
        """Seconds in all."""
        return sum(self._seconds.values())
