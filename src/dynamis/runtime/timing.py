"""Where the time of compiling goes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Final

COMPILING_STAGES: Final = ("front end", "cache", "import", "lowering", "LLVM", "load")
"""Python source to validated module; looking up and storing in the disk cache; loading the compiler
and llvmlite into the process; optimising, lowering and rendering; LLVM; code into memory."""


class Timings:
    """Seconds spent in each of ``COMPILING_STAGES``."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(COMPILING_STAGES, 0.0)

    @contextlib.contextmanager
    def measured(self, stage: str) -> Iterator[None]:
        """Counts the time of its block."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += time.perf_counter() - started

    @property
    def total(self) -> float:
        return sum(self.seconds.values())
