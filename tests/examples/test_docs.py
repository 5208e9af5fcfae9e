"""The code in the README and the tutorial runs as it is printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np

import dynamis as dy

ROOT = Path(__file__).parents[2]


def run_blocks(page: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a page's Python blocks as one program, in ``folder``."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    program = folder / "page.py"
    program.write_text("\n".join(blocks))
    command = [sys.executable, program]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_readmes_python_runs(tmp_path):
    dy.write_image(tmp_path / "photo.png", np.full((20, 30, 4), 0.5, np.float32))
    done = run_blocks("README.md", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "kernel image.blur@1" in done.stdout
    assert dy.read_image(tmp_path / "out.png").shape == (20, 30, 4)


def test_the_tutorials_python_runs_up_to_its_fault(tmp_path):
    done = run_blocks("docs/tutorial.md", tmp_path)
    last = "KernelFault: halves@1 failed at element 2: division by zero (operands 100, 0)"
    assert last in done.stderr
    assert (tmp_path / "julia.png").is_file()
    assert last in (ROOT / "docs/tutorial.md").read_text()
    own = [line for line in done.stderr.splitlines() if "File " in line and "page.py" not in line]
    assert len(own) <= 1  # the call itself; no other frame of the package


def test_the_installed_command_and_the_module_are_one():
    project = (ROOT / "pyproject.toml").read_text()
    assert 'dynamis = "dynamis.cli:main"' in project
    for command in ("demo", "run", "check", "show"):
        assert f"dynamis {command}" in (ROOT / "README.md").read_text()
