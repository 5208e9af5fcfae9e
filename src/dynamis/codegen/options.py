"""What a caller may choose about the generated code; no choice changes a result."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import DynamisError

EXACT = 2**23
"""Rows or columns whose numbers, and sums of them and offsets, are exact in f32."""
WIDTHS = (1, 2, 4, 8, 16, 32, 64)
LINE = 64
"""Bytes of a cache line, and the most elements of one."""


class OptionError(DynamisError, ValueError):
    """A code generation option that does not exist."""


@dataclass(frozen=True, slots=True)
class Options:
    """``width``: elements that run side by side, one of ``WIDTHS``. ``rows``: rows that a step may
    take together, 1 or 2; the domain has at least as many, and at most ``EXACT``. ``streaming``:
    results go past the caches. Raises OptionError."""

    width: int
    rows: int = 1
    streaming: bool = False

    def __post_init__(self) -> None:
        if self.width not in WIDTHS:
            widths = ", ".join(map(str, WIDTHS))
            raise OptionError(f"width is {self.width!r}; it must be one of {widths}")
        if self.rows not in (1, 2):
            raise OptionError(f"rows is {self.rows!r}; it must be 1 or 2")
