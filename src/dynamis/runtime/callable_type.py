"""Classes whose objects may be called as machine code, without a Python frame.

Goes in: a class written in Python, with a ``__call__``. Comes out: a subclass of it whose objects
have two words more: the address of a function that Python calls them through (its *vectorcall*),
none at first, and one for that function's own use. While the first is 0, and wherever ``__call__``
is named, ``__call__`` is what runs.

A class statement cannot say this, so the subclass is made from a type specification of Python's
stable C API, as an extension module would make it.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from typing import Final

_MEMBERS: Final = 72
"""``Py_tp_members``, a slot's number."""
_SIZE_MEMBER, _UNSIGNED_MEMBER, _READ_ONLY = 19, 18, 1
"""``Py_T_PYSSIZET``, ``Py_T_ULONGLONG`` and ``Py_READONLY``."""
_DEFAULT, _VECTORCALL = 1 << 18, 1 << 11
"""``Py_TPFLAGS_DEFAULT`` and ``Py_TPFLAGS_HAVE_VECTORCALL``."""
_WORD: Final = 8


class _Member(ctypes.Structure):
    """``PyMemberDef``."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


class _Slot(ctypes.Structure):
    """``PyType_Slot``."""

    _fields_ = [("slot", ctypes.c_int), ("pointer", ctypes.c_void_p)]


class _Spec(ctypes.Structure):
    """``PyType_Spec``."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.c_void_p),
    ]


def supported() -> bool:
    """Whether this Python has such classes: a 64-bit CPython."""
    return sys.implementation.name == "cpython" and struct.calcsize("P") == _WORD


def callable_type(base: type) -> type:
    """The subclass of ``base``, under its name; ``base`` itself where this Python has none.

    Its objects have ``_native_entry`` and ``_native_record``, the two addresses, as numbers."""
    if not supported():
        return base
    entry = base.__basicsize__
    members = (_Member * 4)(
        _Member(b"__vectorcalloffset__", _SIZE_MEMBER, entry, _READ_ONLY, None),
        _Member(b"_native_entry", _UNSIGNED_MEMBER, entry, 0, None),
        _Member(b"_native_record", _UNSIGNED_MEMBER, entry + _WORD, 0, None),
        _Member(),
    )
    slots = (_Slot * 2)(_Slot(_MEMBERS, ctypes.addressof(members)), _Slot())
    name = f"{base.__module__}.{base.__name__}".encode()
    size = entry + 2 * _WORD
    spec = _Spec(name, size, 0, _DEFAULT | _VECTORCALL, ctypes.addressof(slots))
    make = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object)(
        ("PyType_FromSpecWithBases", ctypes.pythonapi)
    )
    made: type = make(ctypes.addressof(spec), (base,))
    made.__qualname__, made.__doc__ = base.__qualname__, base.__doc__
    _kept.append(members)  # attributes of the class point at their names
    return made


_kept: list[object] = []
