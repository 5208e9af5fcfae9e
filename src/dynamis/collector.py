"""Pausing Python's cyclic collector while a kernel is compiled or a graph is built.

Neither IR holds cycles, so counting references frees them; the cyclic collector finds nothing in
them, yet it looks at every new object again and again, and at all of the host's objects with them.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator
from typing import Final


class _Pauses:
    """How many pauses are in force, and whether the first of them stopped the collector."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.depth = 0
        self.stopped = False


_pauses: Final = _Pauses()


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """No cyclic collection inside, in any thread; on again when the last pause ends.

    Pauses nest, and those of several threads overlap. A collector that was off stays off.
    """
    with _pauses.lock:
        if _pauses.depth == 0:
            _pauses.stopped = gc.isenabled()
            gc.disable()
        _pauses.depth += 1
    try:
        yield
    finally:
        with _pauses.lock:
            _pauses.depth -= 1
            if _pauses.depth == 0 and _pauses.stopped:
                gc.enable()
