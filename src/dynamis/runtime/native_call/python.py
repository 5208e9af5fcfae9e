"""This process's Python, as the native call path sees it.

Goes in: nothing. Comes out: the table of its functions and types, where a tuple and a bytes object
keep what they hold (found by looking, not assumed), and built-in functions around machine code.
Subinterpreters and threads are no matter: each interpreter that imports the package makes a table
of its own. What is not a 64-bit CPython has no native call path.
"""

from __future__ import annotations

import array
import ctypes
import functools
import struct
import sys
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..code_image import Native
from .layout import FUNCTIONS, Api, Method, ObjectLayout

_VARARGS, _KEYWORDS = 0x1, 0x2
_WORD: Final = struct.calcsize("P")
_HEADER_WORDS: Final = 16
"""Words of an object in which its contents are looked for."""
_MARK: Final = 0x5DEECE66D5DEECE6


def supported() -> bool:
    """Whether calls can be native here."""
    return sys.implementation.name == "cpython" and _WORD == 8 and object_layout() is not None


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
def wrapper() -> Native:
    """The machine code of ``call``."""
    from ..kept_code import kept_code

    objects = object_layout()
    assert objects is not None  # asked before

    def text() -> str:
        from .wrapper import wrapper_text  # on demand: code that was kept needs no text

        return wrapper_text(objects)

    return kept_code(text, "native call", objects)


def builtin(
    name: str, code: Native, slow: Callable[..., Any], record: ctypes.Structure
) -> Callable[..., Any]:
    """A built-in function that runs ``code`` on ``record`` and falls back to ``slow``.

    It keeps all of them alive, and whatever the record's ``kept`` holds."""
    method = Method(name.encode(), code["call"], _VARARGS | _KEYWORDS, None)
    address = struct.pack("P", ctypes.addressof(record))
    own = (address, slow, record, method, code, api())
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)(
        ("PyCFunction_NewEx", ctypes.pythonapi)
    )
    made: Callable[..., Any] = make(ctypes.addressof(method), own, None)
    return made


@functools.cache
def object_layout() -> ObjectLayout | None:
    """Where objects of this Python keep what the wrapper reads; None where it is not found."""
    mark = struct.pack("P", _MARK)
    pair = (object(), object())
    found = (
        _find(pair[0], [id(object)]),
        _find(pair, [id(pair[0]), id(pair[1])]),
        _find(mark, [_MARK]),
    )
    return None if None in found else ObjectLayout(*found)  # type: ignore[arg-type]


def _find(thing: object, words: list[int]) -> int | None:
    """Where an object holds consecutive words, in words from its start; None where it does not."""
    for at in range(1, _HEADER_WORDS):
        found = (ctypes.c_uint64 * len(words)).from_address(id(thing) + at * _WORD)
        if list(found) == words:
            return at
    return None
