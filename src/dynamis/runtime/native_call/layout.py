"""The records that the native call path reads, each field described once.

Goes in: nothing. Comes out: ``ctypes`` structures, which Python fills, and the same structures as
LLVM types (``llvm_types``), which the code of ``wrapper.py`` reads. All records are immutable once
a call can see them.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Final

from ...render import CONTROL
from ..relay import MAX_CREW, Crew
from ..watchdog import Watch

MAX_ARRAYS: Final = 16
"""Most inputs and outputs together; a kernel with more keeps to the Python path, as past each of
these limits."""
MAX_ARGUMENTS: Final = 32
"""Most inputs and parameters together."""
MAX_VALUES: Final = 160
"""Most words of ``Frame.values``."""
MAX_SLOTS: Final = 96
"""Most arguments of a program."""

DIMENSIONS: Final = 3
"""Axes an extent is kept in, innermost first; those that a port lacks are 1."""

# Where things lie in Frame.values, which a program's arguments are gathered from: the address of
# each array, the domain, DIMENSIONS words for the extent of each array, and parameters' words.
DOMAIN: Final = MAX_ARRAYS
DOMAIN_WORDS: Final = (
    "width",
    "height",
    "depth",
    "segments",
    "units",
    "unit_block",
    "blocks",
    "segment_columns",
    "line_mask",
    "phase",
)
EXTENTS: Final = DOMAIN + len(DOMAIN_WORDS)
PARAMS: Final = EXTENTS + DIMENSIONS * MAX_ARRAYS

PLAIN, F32, F64, I32, BOOL = range(5)
"""How a parameter that is given becomes words; PLAIN ones are never given on the native path."""

_ptr, _i32, _i64 = ctypes.c_void_p, ctypes.c_int32, ctypes.c_int64


@dataclass(frozen=True, slots=True)
class ObjectLayout:
    """Where this Python's objects keep what is read of them, in words from their start.

    ``type``: any object its type; ``items``: a tuple its first item; ``record``: a kernel the
    address of its record. Found by looking (``python.py``): the code assumes none of it."""

    type: int
    items: int
    record: int


class Buffer(ctypes.Structure):
    """``Py_buffer``, part of Python's stable ABI since 3.11."""

    _fields_ = [
        ("buf", _ptr),
        ("obj", _ptr),
        ("len", _i64),
        ("itemsize", _i64),
        ("readonly", _i32),
        ("ndim", _i32),
        ("format", _ptr),
        ("shape", _ptr),
        ("strides", _ptr),
        ("suboffsets", _ptr),
        ("internal", _ptr),
    ]


class Port(ctypes.Structure):
    """An array that a kernel takes or gives.

    ``code`` and ``other`` are the format characters that an element's word may have, ``itemsize``
    its bytes, ``rank`` the axes of an extent, ``ndim`` those of the array, ``lanes`` the length of
    the last one where ``ndim`` is greater than ``rank``, ``limit`` the longest axis, ``alike``
    whether the extent is of the domain's shape, ``dtype`` NumPy's dtype of an output (borrowed)."""

    _fields_ = [
        ("code", _i32),
        ("other", _i32),
        ("itemsize", _i64),
        ("rank", _i64),
        ("ndim", _i64),
        ("lanes", _i64),
        ("limit", _i64),
        ("alike", _i64),
        ("dtype", _ptr),
    ]


class Param(ctypes.Structure):
    """A parameter: how it is converted, and where its first word lies in ``Frame.values``."""

    _fields_ = [("kind", _i64), ("place", _i64)]


class Limits(ctypes.Structure):
    """Of how many elements a run is what: ``call_facts.Limits``."""

    _fields_ = [
        ("brief", _i64),
        ("alone", _i64),
        ("sure", _i64),
        ("soon", _i64),
        ("block", _i64),
        ("segment", _i64),
    ]


class Program(ctypes.Structure):
    """Machine code for one class of calls.

    ``key`` has a bit for each input whose extent is the domain's; it is for domains of ``least`` to
    ``most`` columns and ``fewest`` to ``tallest`` rows, ``together`` of which are a unit; bit 0 of
    ``modes`` says that it is for runs in the caches, bit 1 for those past them. ``entry`` is
    ``one`` of the program, ``run`` its ``run``; ``slots`` says for each of its ``count`` arguments
    which of ``Frame.values`` it is. ``limits`` are ``sizes`` of ``Limits``, of which the k-th is
    for calls whose largest input has k bits of elements, and the last for larger ones. Runs of
    more than ``brief`` elements release the GIL. Those of up to ``alone`` are one block; others are
    shared with threads that are awake, in blocks of ``block`` elements at most, in parts of a row
    of ``segment`` at least, in steps of ``width``. Those of more than ``sure`` may take long, and
    those of more than ``soon`` do as a rule."""

    _fields_ = [
        ("key", _i64),
        ("least", _i64),
        ("most", _i64),
        ("fewest", _i64),
        ("tallest", _i64),
        ("together", _i64),
        ("modes", _i64),
        ("entry", _ptr),
        ("slots", _ptr),
        ("count", _i64),
        ("run", _ptr),
        ("limits", _ptr),
        ("sizes", _i64),
        ("width", _i64),
    ]


class Kernel(ctypes.Structure):
    """All that a call needs to know of a kernel.

    ``names`` are interned strings of the ``arguments`` (inputs, then parameters); ``places`` gives
    the argument of each of the ``positions``; ``ports`` are inputs, then outputs; ``sizing`` is the
    input that the domain is taken from, or -1; ``defaults`` are ``words`` words of the parameters;
    ``longest`` is the most elements that any program may be given, ``cached`` the bytes of arrays
    from which runs stream, if the first output starts at a multiple of an element, which has
    ``2**element_shift`` bytes, where lines hold whole ones; ``pack`` is the type of the result
    where that is not one array (borrowed, or null); ``crew`` are the threads to share runs with (or
    null); ``trust`` is the word that says whether runs that may take long are over soon, ``watch``
    where such a run is seen."""

    _fields_ = [
        ("api", _ptr),
        ("names", _ptr),
        ("places", _ptr),
        ("ports", _ptr),
        ("params", _ptr),
        ("defaults", _ptr),
        ("programs", _ptr),
        ("pack", _ptr),
        ("crew", _ptr),
        ("trust", _ptr),
        ("watch", _ptr),
        ("arguments", _i64),
        ("positions", _i64),
        ("inputs", _i64),
        ("outputs", _i64),
        ("parameters", _i64),
        ("words", _i64),
        ("program_count", _i64),
        ("sizing", _i64),
        ("longest", _i64),
        ("cached", _i64),
        ("element_shift", _i64),
    ]


class Share(ctypes.Structure):
    """The working memory of a shared run: the slots that it was ``posted`` in, its ``tickets``."""

    _fields_ = [
        ("posted", _ptr * MAX_CREW),
        ("tickets", _i64 * MAX_CREW),
    ]


class Frame(ctypes.Structure):
    """The working memory of one call, on its stack.

    ``held`` buffers of ``views`` are to be released and ``made`` references of ``results`` to be
    dropped or given away; ``given`` are borrowed arguments, null where none was given, ``out``
    that of ``out=``; ``threads`` is what was asked for, 0 for as many as there are CPUs."""

    _fields_ = [
        ("record", _i32 * 8),
        ("control", _i64 * len(CONTROL)),
        ("threads", _i64),
        ("held", _i64),
        ("made", _i64),
        ("out", _ptr),
        ("given", _ptr * MAX_ARGUMENTS),
        ("results", _ptr * MAX_ARRAYS),
        ("views", Buffer * MAX_ARRAYS),
        ("values", _i64 * MAX_VALUES),
        ("slots", _i64 * MAX_SLOTS),
    ]


FUNCTIONS: Final = {
    "PyObject_GetBuffer": ("i32", ("ptr", "ptr", "i32")),
    "PyBuffer_Release": ("void", ("ptr",)),
    "PyObject_GetAttr": ("ptr", ("ptr", "ptr")),
    "PyObject_Call": ("ptr", ("ptr", "ptr", "ptr")),
    "PyObject_Vectorcall": ("ptr", ("ptr", "ptr", "i64", "ptr")),
    "PyTuple_New": ("ptr", ("i64",)),
    "PyTuple_Size": ("i64", ("ptr",)),
    "PyTuple_SetItem": ("i32", ("ptr", "i64", "ptr")),
    "PyLong_FromLongLong": ("ptr", ("i64",)),
    "PyLong_AsLongLong": ("i64", ("ptr",)),
    "PyFloat_AsDouble": ("double", ("ptr",)),
    "PyErr_Occurred": ("ptr", ()),
    "PyErr_Clear": ("void", ()),
    "PyEval_SaveThread": ("ptr", ()),
    "PyEval_RestoreThread": ("void", ("ptr",)),
    "Py_IncRef": ("void", ("ptr",)),
    "Py_DecRef": ("void", ("ptr",)),
}
"""The functions of Python's stable ABI that are called: result and argument types."""

ARRAYS: Final = ("ndarray", "memoryview", "array")
REALS: Final = ("float", "float64", "float32")
INTEGERS: Final = ("int", "int64", "int32")
TYPES: Final = (*ARRAYS, *REALS, *INTEGERS, "tuple")
"""Types that arguments are held against, by identity: Python's and NumPy's."""

CONSTANTS: Final = (
    "none",
    "true",
    "false",
    "numpy_true",
    "numpy_false",
    "out",
    "threads",
    "call",
    "empty",
)
"""``None``, truth values, the interned strings ``"out"``, ``"threads"`` and ``"__call__"``, and
``numpy.empty``."""


class Api(ctypes.Structure):
    """Addresses of this process's Python: functions, types and constants (borrowed)."""

    _fields_ = [(name, _ptr) for name in (*FUNCTIONS, *TYPES, *CONSTANTS)]


RECORDS: Final[tuple[type[ctypes.Structure], ...]] = (
    Crew,
    Watch,
    Share,
    Buffer,
    Port,
    Param,
    Limits,
    Program,
    Kernel,
    Frame,
    Api,
)


def fields(record: type[ctypes.Structure]) -> list[tuple[str, Any]]:
    """Name and ctypes type of each field of a record, in order."""
    return [(field[0], field[1]) for field in record._fields_]


def llvm_type(ty: Any) -> str:
    """The LLVM type of a field."""
    if issubclass(ty, ctypes.Array):
        return f"[{ty._length_} x {llvm_type(ty._type_)}]"
    if issubclass(ty, ctypes.Structure):
        return f"%{ty.__name__}"
    return {_ptr: "ptr", _i32: "i32", _i64: "i64"}[ty]


def llvm_types() -> str:
    """The records as LLVM type definitions, laid out as ctypes lays them out."""
    lines = []
    for record in RECORDS:
        parts = ", ".join(llvm_type(ty) for _, ty in fields(record))
        lines.append(f"%{record.__name__} = type {{ {parts} }}")
    return "\n".join(lines)
