"""The page that teaches the Uop IR: its Python runs, and prints what the page says it prints."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "uop.md"
BLOCK = re.compile(r"```python\n(.*?)```\n(?:```text\n(.*?)```\n)?", re.S)


def test_every_block_prints_what_stands_under_it() -> None:
    scope: dict[str, object] = {}
    blocks = BLOCK.findall(PAGE.read_text())
    assert len(blocks) == PAGE.read_text().count("```python")
    for code, expected in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(PAGE), "exec"), scope)
        assert printed.getvalue().splitlines() == expected.splitlines(), code
