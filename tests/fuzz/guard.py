"""What a case may do: end in time, and fail only as documented.

In: a case, run under ``within``. Out: ``Hang`` where it does not end, whatever it catches itself.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Hang(BaseException):
    """A case that did not end in time. No handler of ``Exception`` swallows it."""


@contextmanager
def within(seconds: float, what: str) -> Iterator[None]:
    """Raises Hang where the block takes longer. In the main thread of a POSIX system only."""

    def late(number: int, frame: FrameType | None) -> None:
        raise Hang(f"{what} took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def note(text: str) -> None:
    """A line of progress, which is not part of what is counted."""
    print(text, file=sys.stderr, flush=True)
