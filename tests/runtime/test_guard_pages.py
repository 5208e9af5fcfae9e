"""No kernel touches memory outside its arrays, not by one byte, whatever the vector width.

Arrays are laid flush against pages that may not be touched, on either side, in a child process that
would be killed by the first access outside.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="uses mprotect")

PROGRAM = pathlib.Path(__file__).with_name("guarded_run.py")


def test_native_code_stays_inside_its_arrays() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", str(PROGRAM)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "640 runs inside their arrays\n"
