"""The command line: ``dynamis demo | run | bench | check | explain | show``.

``main`` is the entry point. Exit codes: 0 done; 1 a fault in the user's kernel, data or file; 2 a
command line that does not fit; 130 interrupted. Nothing is imported before it is needed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

_TRACEBACK = "DYNAMIS_TRACEBACK"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. ``arguments`` defaults to the process's own.

    An error of this package itself is reported in one line; with DYNAMIS_TRACEBACK=1 in the
    environment its traceback is shown instead."""
    try:
        from .app import invoke

        return invoke(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:
        return 130
    except ModuleNotFoundError as error:
        if os.environ.get(_TRACEBACK):
            raise
        print(
            f"error: the package {error.name!r} is missing: reinstall with pip install dynamis",
            file=sys.stderr,
        )
        return 1
    except Exception as error:
        if os.environ.get(_TRACEBACK):
            raise
        print(
            f"error: dynamis itself failed: {type(error).__name__}: {error}\n"
            f"This is a bug; {_TRACEBACK}=1 shows where it happened.",
            file=sys.stderr,
        )
        return 1
