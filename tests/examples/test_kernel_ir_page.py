"""The page that teaches the Kernel IR prints what it shows, and its links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "kernel-ir.md"


def test_the_page_prints_what_it_shows(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    program = tmp_path / "page.py"
    program.write_text("\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)))
    command = [sys.executable, program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shown = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert len(shown) >= 6
    assert done.stdout == "".join(shown)


def test_the_links_of_the_page_lead_to_pages() -> None:
    links = re.findall(r"\]\(([^)]+)\)", PAGE.read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (PAGE.parent / link).is_file()] == []
