"""Loading the user's Python file and choosing a kernel in it.

The file runs as a module would (``__name__`` is not ``"__main__"``), from its current text: no
bytecode is read or written. Whatever it raises is reported at the user's own line.
"""

from __future__ import annotations

import linecache
import os
import sys
import traceback
import types
from pathlib import Path

from ..api import Kernel
from ..errors import DynamisError
from ..frontend import KernelError
from ..kernel.fault import KernelFault
from ..runtime.errors import did_you_mean


class LoadError(DynamisError):
    """The user's file cannot be run, or holds no kernel that fits; the text says where or why."""


def load_kernels(path: Path) -> dict[str, Kernel]:
    """The kernels of a Python file by their names in it, in the order they were written.

    Kernels that the file imports count only where it defines none. Raises LoadError."""
    module = _run(path)
    found = {name: value for name, value in vars(module).items() if isinstance(value, Kernel)}
    own = {name: k for name, k in found.items() if k.__module__ == module.__name__}
    kernels = own or found
    if not kernels:
        raise LoadError(f"{path} holds no kernel: decorate a function with @dynamis.kernel")
    return kernels


def choose(path: Path, kernels: dict[str, Kernel], name: str | None) -> Kernel:
    """The kernel called ``name``, by its name in the file or its id; the last one without."""
    if name is None:
        return list(kernels.values())[-1]
    if name in kernels:
        return kernels[name]
    for kernel in kernels.values():
        if name in (kernel.__name__, _id_text(kernel)):
            return kernel
    hint = did_you_mean(name, kernels)
    raise LoadError(f"{path} holds no kernel {name!r}{hint or ':'} it holds {', '.join(kernels)}")


def _id_text(kernel: Kernel) -> str | None:
    try:
        return str(kernel.id)
    except DynamisError:  # it does not compile, so it has no id to be called by
        return None


def _run(path: Path) -> types.ModuleType:
    full = Path(os.path.realpath(path))  # a loop of links is left to reading it
    try:
        source = full.read_bytes()
    except OSError as error:
        raise LoadError(f"cannot read {path}: {error.strerror or error}") from error
    module = types.ModuleType(f"_dynamis_file_{full.stem}")
    module.__file__ = str(full)
    try:
        code = compile(source, str(full), "exec")
    except (SyntaxError, ValueError) as error:
        raise LoadError(_syntax_text(path, error)) from error
    linecache.checkcache(str(full))
    sys.modules[module.__name__] = module  # dataclasses and typing look their module up
    if str(full.parent) not in sys.path:
        sys.path.insert(0, str(full.parent))  # its own imports work as when it is run
    try:
        exec(code, module.__dict__)
    except (KernelError, KernelFault):
        raise  # they name the user's line themselves
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the file's own classes included
        raise LoadError(_failure_text(full, error)) from error
    return module


def _syntax_text(path: Path, error: SyntaxError | ValueError) -> str:
    if not isinstance(error, SyntaxError) or error.lineno is None:
        return f"{path} is not Python: {error}"
    text = f"{path}:{error.lineno}: {error.msg}"
    if error.text is not None and error.offset is not None:
        line = error.text.rstrip("\n")
        text += f"\n    {line}\n    {' ' * (error.offset - 1)}^"
    return text


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _failure_text(full: Path, error: BaseException) -> str:
    """What the file raised, at the deepest of its own lines that took part."""
    what = str(error) if isinstance(error, DynamisError) else _named(error)
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == str(full)]
    if not own:
        return f"{full} failed: {what}"
    place = own[-1]
    return f"{full}:{place.lineno} failed: {what}\n    {place.line}"
