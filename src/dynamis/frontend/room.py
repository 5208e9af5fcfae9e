"""Room on the stack: a kernel compiles, or does not, however deep in calls its user stands.

In: some work and the most Python frames it stacks up. Out: its result, or its exception.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import TypeVar

R = TypeVar("R")


def with_room(frames: int, work: Callable[[], R]) -> R:
    """``work()``, on this thread where its stack has room for that many more frames, else on the
    fresh stack of a thread of its own."""
    depth, frame = 0, sys._getframe()
    while frame.f_back is not None:
        depth, frame = depth + 1, frame.f_back
    if depth + frames < sys.getrecursionlimit():
        return work()
    results: list[R] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # raised again below, on the thread that waits for it
            failures.append(error)

    thread = threading.Thread(target=run, name="dynamis-frontend")
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
    return results[0]
