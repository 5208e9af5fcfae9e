"""Writing a file whole or not at all.

The bytes go to a new file beside the target, which takes the target's place at the end; on any
failure the target is as it was and nothing is left beside it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from ..errors import DynamisError


class FileError(DynamisError):
    """A file could not be read or written; the text names it and says why."""


def write_atomically(path: Path, write: Callable[[BinaryIO], None]) -> Path:
    """Let ``write`` fill the file at ``path``; returns its full path.

    Follows links, keeps the permissions of a file that was there. Raises FileError where the
    folder is missing, the target is no regular file, or the system refuses."""
    target = Path(os.path.realpath(path))
    mode = _mode(target)
    temporary = target.with_name(f".dynamis-{os.urandom(8).hex()}.tmp")
    try:
        with open(temporary, "xb") as file:
            try:
                write(file)
                if mode is not None:
                    os.chmod(temporary, mode)
                file.flush()
                os.replace(temporary, target)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary)
                raise
    except FileNotFoundError as error:
        raise FileError(f"cannot write {path}: there is no folder {target.parent}") from error
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror or error}") from error
    return target


def _mode(target: Path) -> int | None:
    """The permissions of the file to replace; None where there is none yet."""
    try:
        status = os.stat(target)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileError(f"cannot write {target}: {error.strerror or error}") from error
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        raise FileError(f"cannot write {target}: it is {kind}")
    return stat.S_IMODE(status.st_mode)
