"""The error a wrong kernel gets: where, what was found, what was expected, what to write instead.

In: a message and a place in the user's source. Out: ``KernelError``, whose text shows the source
line with a caret under the fault. Nothing of the package's own files appears in it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..errors import DynamisError
from ..kernel.module import Span


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a source file and the text of its line."""

    span: Span
    text: str

    def __str__(self) -> str:
        """The line, and under it the caret."""
        start, end = self.span.column, max(self.span.end_column, self.span.column + 1)
        # A tab stays a tab under itself, so that the caret stands where the terminal puts the text.
        indent = "".join("\t" if c == "\t" else " " for c in self.text[:start])
        return f"    {self.text}\n    {indent}{'^' * (end - start)}"


@dataclass(frozen=True, slots=True)
class Note:
    """A second place that a message speaks of."""

    message: str
    place: Place


class KernelError(DynamisError):
    """A kernel cannot be compiled as it is written.

    ``file``, 1-based ``line``, 0-based ``column`` and ``end_column`` in characters say where;
    ``message`` what is wrong; ``found``, ``expected`` and ``hint`` (what to write instead) may be
    empty; ``notes`` are further places. The text shows columns counted from 1, as editors do.
    """

    def __init__(
        self,
        message: str,
        place: Place,
        *,
        found: str = "",
        expected: str = "",
        hint: str = "",
        notes: Sequence[Note] = (),
    ) -> None:
        self.message = message
        self.place = place
        self.found = found
        self.expected = expected
        self.hint = hint
        self.notes = tuple(notes)
        self.file = place.span.file
        self.line = place.span.line
        self.column = place.span.column
        self.end_column = place.span.end_column
        super().__init__(self._text())

    def _text(self) -> str:
        lines = [f"{self.file}:{self.line}:{self.column + 1}: {self.message}"]
        if self.place.text:
            lines.append(str(self.place))
        lines += [f"  found: {self.found}"] if self.found else []
        lines += [f"  expected: {self.expected}"] if self.expected else []
        for note in self.notes:
            span = note.place.span
            lines += [f"  {note.message} ({span.file}:{span.line}:{span.column + 1})"]
            lines += [str(note.place)]
        lines += [f"  instead: {self.hint}"] if self.hint else []
        return "\n".join(lines)


def suggestion(name: str, candidates: Iterable[str]) -> str:
    """The candidate closest to ``name`` in spelling, or nothing; of two letters, a beginning."""
    others = sorted(set(candidates) - {name})
    if len(name) < 3:
        return next((c for c in others if len(name) == 2 and c.startswith(name)), "")
    close = difflib.get_close_matches(name, others, n=1, cutoff=0.6)
    return close[0] if close else ""
