"""The valid modules of ``cases/samples.txt``: together every operation, mode, type and encoding."""

from __future__ import annotations

from pathlib import Path

from dynamis.kernel.module import Module
from dynamis.kernel.parse import parse

_FIRST = "dynamis kernel ir 1\n"
_FILE = Path(__file__).parent / "cases" / "samples.txt"


def sample_texts() -> list[str]:
    """The text of each sample, as ``str`` gives it."""
    _, *texts = _FILE.read_text(encoding="ascii").split("\n" + _FIRST)
    return [_FIRST + text for text in texts]


def samples() -> list[Module]:
    """Each sample."""
    return [parse(text) for text in sample_texts()]
