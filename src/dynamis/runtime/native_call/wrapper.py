"""The native call path: one function, for every kernel, as LLVM text.

``call(self, args, count, names)`` is a vectorcall: Python calls a kernel through it with an array
of arguments and a tuple of the names of the last ones, and makes no other tuple and no dict. It
holds no policy. Whatever it does not know exactly, an argument of another type, layout or extent, a
longer run, a fault, it leaves to the Python path: it gives back what it holds, clears the error and
calls the kernel's ``__call__`` with the same arguments.

``self`` is a kernel whose class ``callable_type.py`` has made; the address of its ``Kernel`` record
stands in the object.
"""

from __future__ import annotations

from typing import Final

from ...codegen.options import LINE
from ..dispatch import MAX_THREADS
from ..plan import BLOCKS_A_THREAD, PARTS_A_THREAD
from ..relay import SETTLE
from ..watchdog import LATE, TRUST
from . import layout
from .assembler import assemble
from .layout import ObjectLayout, llvm_types
from .text_arguments import BIND, CONVERT
from .text_arrays import TAKE
from .text_results import RESULTS
from .text_run import RUN
from .text_share import SHARE

_C_CONTIGUOUS, _FORMAT, _WRITABLE = 0x38, 0x4, 0x1
"""PyBUF_C_CONTIGUOUS, PyBUF_FORMAT and PyBUF_WRITABLE."""
_EXACT: Final = 1 << 53
"""Integers up to here are doubles."""
_WORDS_LIMIT: Final = 31
"""A port of 2**31 words or more has programs of its own, with 64-bit indices."""


def wrapper_text(objects: ObjectLayout) -> str:
    """The module text of ``call``. It depends on nothing else of this process."""
    numbers = {name: value for name, value in vars(layout).items() if isinstance(value, int)}
    numbers |= {
        "TYPE": objects.type,
        "ITEMS": objects.items,
        "RECORD": objects.record,
        "MOST_ARGUMENTS": 2**63 - 1,
        "READ": _C_CONTIGUOUS | _FORMAT,
        "WRITE": _C_CONTIGUOUS | _FORMAT | _WRITABLE,
        "MAX_THREADS": MAX_THREADS,
        "EXACT": _EXACT,
        "EXACT_COUNT": 2 * _EXACT,
        "WORDS_LIMIT": _WORDS_LIMIT,
        "SETTLE": SETTLE,
        "LATE": LATE,
        "TRUST": TRUST,
        "LINE": LINE,
        "LINE_MASK": layout.DOMAIN_WORDS.index("line_mask"),
        "PHASE": layout.DOMAIN_WORDS.index("phase"),
        "BLOCKS_A_THREAD": BLOCKS_A_THREAD,
        "PARTS_A_THREAD": PARTS_A_THREAD,
    }
    body = "\n".join([_CALL, BIND, TAKE, RESULTS, CONVERT, RUN, SHARE])
    for name in sorted(numbers, key=len, reverse=True):
        body = body.replace(f"${name}", str(numbers[name]))
    return f"{llvm_types()}\n{assemble(body)}\n"


_CALL: Final = """
define ptr @call(ptr %self, ptr %args, i64 %flagged, ptr %names) nounwind {
  %frame = alloca %Frame, align 32
  %kernel = item ptr %self, $RECORD
  %api = get Kernel.api %kernel
  set Frame.held %frame, 0
  set Frame.made %frame, 0
  set Frame.threads %frame, 0
  %count = and i64 %flagged, $MOST_ARGUMENTS
  %done = call i1 @attempt(ptr %kernel, ptr %api, ptr %frame, ptr %args, i64 %count, ptr %names)
  call void @release(ptr %api, ptr %frame)
  br i1 %done, label %fast, label %slow
fast:
  %result = call ptr @packed(ptr %kernel, ptr %api, ptr %frame)
  ret ptr %result
slow:
  call void @drop(ptr %api, ptr %frame)
  py PyErr_Clear()
  %method = object call
  %python = py PyObject_GetAttr(%self, %method)
  %none = icmp eq ptr %python, null
  br i1 %none, label %lost, label %found
found:
  %answer = py PyObject_Vectorcall(%python, %args, %flagged, %names)
  py Py_DecRef(%python)
  ret ptr %answer
lost:
  ret ptr null
}

; Everything up to the results. False: the Python path must take the call.
define internal i1 @attempt(ptr %k, ptr %api, ptr %frame, ptr %args, i64 %count, ptr %names)
    nounwind {
  %bound = call i1 @bind(ptr %k, ptr %api, ptr %frame, ptr %args, i64 %count, ptr %names)
  br i1 %bound, label %in, label %no
in:
  %taken = call i1 @take_inputs(ptr %k, ptr %api, ptr %frame)
  br i1 %taken, label %out, label %no
out:
  %sized = call i1 @take_outputs(ptr %k, ptr %api, ptr %frame)
  br i1 %sized, label %apart, label %no
apart:
  %separate = call i1 @separate(ptr %k, ptr %frame)
  br i1 %separate, label %params, label %no
params:
  %converted = call i1 @convert_params(ptr %k, ptr %api, ptr %frame)
  br i1 %converted, label %run, label %no
run:
  %ran = call i1 @run(ptr %k, ptr %api, ptr %frame)
  ret i1 %ran
no:
  ret i1 false
}

define internal void @release(ptr %api, ptr %frame) nounwind {
entry:
  %held = get Frame.held %frame
  %views = at Frame.views %frame
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %one ]
  %more = icmp ult i64 %i, %held
  br i1 %more, label %one, label %end
one:
  %view = getelementptr %Buffer, ptr %views, i64 %i
  py PyBuffer_Release(%view)
  %i.next = add i64 %i, 1
  br label %next
end:
  ret void
}

; Give up the references to the results.
define internal void @drop(ptr %api, ptr %frame) nounwind {
entry:
  %made = get Frame.made %frame
  %results = at Frame.results %frame
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %one ]
  %more = icmp ult i64 %i, %made
  br i1 %more, label %one, label %end
one:
  %result = item ptr %results, %i
  py Py_DecRef(%result)
  %i.next = add i64 %i, 1
  br label %next
end:
  ret void
}

; The results as the call returns them; null with an exception set where that fails.
define internal ptr @packed(ptr %k, ptr %api, ptr %frame) nounwind {
entry:
  %pack = get Kernel.pack %k
  %results = at Frame.results %frame
  %bare = icmp eq ptr %pack, null
  br i1 %bare, label %single, label %several
single:
  %array = item ptr %results, 0
  ret ptr %array
several:
  %count = get Kernel.outputs %k
  %made = py PyTuple_New(%count)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %lost, label %next
next:
  %i = phi i64 [ 0, %several ], [ %i.next, %one ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %one, label %filled
one:
  %result = item ptr %results, %i
  %ignored = py PyTuple_SetItem(%made, %i, %result)
  %i.next = add i64 %i, 1
  br label %next
filled:
  %tuple = object tuple
  %plain = icmp eq ptr %pack, %tuple
  br i1 %plain, label %whole, label %named
whole:
  ret ptr %made
named:
  %value = py PyObject_Call(%pack, %made, null)
  py Py_DecRef(%made)
  ret ptr %value
lost:
  call void @drop(ptr %api, ptr %frame)
  ret ptr null
}
"""
