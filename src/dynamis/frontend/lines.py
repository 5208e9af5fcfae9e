"""The lines of a function in its file.

In: a function. Out: the lines of its definition, decorators included, and the number of the first.
``inspect`` finds them too, but walks every loaded module on the way, which takes longer than
compiling a small kernel.
"""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Sequence
from types import FunctionType


def lines_from(function: FunctionType) -> tuple[list[str], int]:
    """The lines of a function's file from its definition on, and the number of the first.

    Raises OSError where there is no such file, or it is shorter by now."""
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    rest = lines[code.co_firstlineno - 1 :]
    if not rest:
        raise OSError(f"no source for {function.__qualname__} in {code.co_filename}")
    return rest, code.co_firstlineno


def indented_block(lines: Sequence[str]) -> list[str]:
    """The definition that ``lines`` begin with, judged by indentation alone.

    Right whenever it parses: a definition ends before the first line that is indented no deeper
    than it, and a line in the middle of a string, of brackets or after a backslash leaves a text
    before it that does not parse. ``whole_block`` is right always."""
    end, inside = 0, False
    depth = len(lines[0]) - len(lines[0].lstrip())
    for k, line in enumerate(lines):
        text = line.lstrip()
        if not text or text.startswith("#"):
            continue
        if inside and len(line) - len(text) <= depth and text[0] not in ")]}":
            break
        inside = inside or text.startswith(("def ", "async "))
        end = k + 1
    return list(lines[:end])


def whole_block(lines: Sequence[str]) -> list[str]:
    """The definition that ``lines`` begin with, by its tokens."""
    return inspect.getblock(list(lines))
