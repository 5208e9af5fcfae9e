"""What a person sees while a command works: progress on long work, times, and errors."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from ..errors import DynamisError

_PATIENCE = 0.5
"""Seconds a run may take before a progress bar appears."""


class Progress:
    """A progress bar on standard error, shown only on a terminal and only for long work.

    A context manager; call it with the blocks done and the blocks in all."""

    def __init__(self, label: str):
        self._label = label
        self._start = time.monotonic()
        self._on = sys.stderr.isatty()
        self._bar: object = None

    def __enter__(self) -> Progress:
        return self

    def __call__(self, done: int, total: int) -> None:
        if not self._on or time.monotonic() - self._start < _PATIENCE:
            return
        from rich.console import Console
        from rich.progress import Progress as Bar

        if self._bar is None:
            self._bar = Bar(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._label, total=total)
        assert isinstance(self._bar, Bar)
        self._bar.update(self._task, completed=done, total=total)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        from rich.progress import Progress as Bar

        if isinstance(self._bar, Bar):
            self._bar.stop()


def print_error(error: DynamisError) -> None:
    """The error's text on standard error, its first word in colour on a terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, soft_wrap=True, highlight=False)
    console.print(Text.assemble(("error:", "bold red"), " ", str(error)))


def duration(seconds: float) -> str:
    """``3.2 s``, ``45 ms`` or ``0.8 ms``."""
    if seconds >= 1:
        return f"{seconds:.1f} s"
    milliseconds = seconds * 1000
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.1f} ms"
