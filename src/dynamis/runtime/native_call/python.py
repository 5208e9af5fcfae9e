"""This process's Python, as the native call path sees it.

Goes in: nothing. Comes out: the table of its functions and types, where its objects keep what is
read of them (found by looking, not assumed), and the machine code of the wrapper. Subinterpreters
and threads are no matter: each interpreter that imports the package makes a table of its own.
"""

from __future__ import annotations

import array
import ctypes
import functools
import sys
from typing import Any, Final

import numpy as np

from ..code_image import Native
from .layout import FUNCTIONS, Api, ObjectLayout

_WORD: Final = 8
_MARK: Final = 0x5DEECE66D5DEECE6


@functools.cache
def api() -> Api:
    """The table of functions and objects; it lives as long as the process."""
    constants = {
        "none": None,
        "true": True,
        "false": False,
        "numpy_true": np.True_,
        "numpy_false": np.False_,
        "out": sys.intern("out"),
        "threads": sys.intern("threads"),
        "call": sys.intern("__call__"),
        "empty": np.empty,
        "ndarray": np.ndarray,
        "memoryview": memoryview,
        "array": array.array,
        "tuple": tuple,
        "int": int,
        "int32": np.int32,
        "int64": np.int64,
        "float": float,
        "float32": np.float32,
        "float64": np.float64,
    }
    table = Api()
    for name in FUNCTIONS:
        function = getattr(ctypes.pythonapi, name)
        setattr(table, name, ctypes.cast(function, ctypes.c_void_p).value)
    for name, thing in constants.items():
        setattr(table, name, id(thing))
    table.kept = constants  # the table's references are borrowed from here
    return table


@functools.cache
def wrapper(objects: ObjectLayout) -> Native:
    """The machine code of ``call``; it lives as long as the process."""
    from ..kept_code import kept_code

    def text() -> str:
        from .wrapper import wrapper_text  # on demand: code that was kept needs no text

        return wrapper_text(objects)

    return kept_code(text, "native call", objects)


@functools.cache
def object_layout(kind: type) -> ObjectLayout | None:
    """Where objects of this Python keep what the wrapper reads, of kernels of the class ``kind``
    (``callable_type.py``); None where there is no such place."""
    if not hasattr(kind, "_native_record"):
        return None
    pair = (object(), object())
    kernel: Any = object.__new__(kind)
    kernel._native_record = _MARK
    found = (
        _find(pair[0], [id(object)], object.__basicsize__),
        _find(pair, [id(pair[0]), id(pair[1])], tuple.__basicsize__ + 2 * _WORD),
        _find(kernel, [_MARK], kind.__basicsize__),
    )
    return None if None in found else ObjectLayout(*found)  # type: ignore[arg-type]  # none is None


def _find(thing: object, words: list[int], size: int) -> int | None:
    """Where an object of ``size`` bytes holds consecutive words, in words from its start; None
    where it does not."""
    held = (ctypes.c_uint64 * (size // _WORD)).from_address(id(thing))
    places = range(len(held) - len(words) + 1)
    return next((k for k in places if held[k : k + len(words)] == words), None)
