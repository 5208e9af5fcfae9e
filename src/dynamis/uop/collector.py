"""Pausing Python's cyclic collector while a graph is built.

Nodes hold no cycles, so counting references frees them; the cyclic collector finds nothing in
them, yet it looks at every new node again and again, and takes most of the time of building.
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
