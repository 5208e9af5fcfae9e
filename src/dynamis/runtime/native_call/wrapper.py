"""The native call path: one function, for every kernel, as LLVM text.

``call(self, args, keywords)`` is a ``METH_VARARGS | METH_KEYWORDS`` function: Python calls an
object whose type is written in Python with a tuple and a dict, and this form takes them as they
are. It holds no policy. Whatever it does not know exactly, an argument of another type, layout or
extent, a longer run, a fault, it leaves to the Python path: it gives back what it holds, clears the
error and calls that with the same arguments.

``self`` is a tuple: a bytes object that holds the address of the ``Kernel`` record, the Python
path, and what must live as long as they do. The two offsets are found out by ``python.py``.
"""

from __future__ import annotations

from typing import Final

from . import layout
from .assembler import assemble
from .layout import llvm_types

_C_CONTIGUOUS, _FORMAT, _WRITABLE = 0x38, 0x4, 0x1
"""PyBUF_C_CONTIGUOUS, PyBUF_FORMAT and PyBUF_WRITABLE."""
_EXACT: Final = 1 << 53
"""Integers up to here are doubles."""
_WORDS_LIMIT: Final = 31
"""A port of 2**31 words or more has programs of its own, with 64-bit indices."""


def wrapper_text(tuple_items: int, bytes_data: int) -> str:
    """The module text of ``call``; where items lie in a tuple object, and data in a bytes object.

    The text depends on nothing else of this process."""
    numbers = {name: value for name, value in vars(layout).items() if isinstance(value, int)}
    numbers |= {
        "TUPLE": tuple_items,
        "TUPLE_NEXT": tuple_items + 8,
        "BYTES": bytes_data,
        "READ": _C_CONTIGUOUS | _FORMAT,
        "WRITE": _C_CONTIGUOUS | _FORMAT | _WRITABLE,
        "EXACT": _EXACT,
        "EXACT_COUNT": 2 * _EXACT,
        "WORDS_LIMIT": _WORDS_LIMIT,
        "NARROW_BIT": layout.NARROW - 2**64,
    }
    body = "\n".join([_CALL, _BIND, _TAKE, _OUTPUTS, _CONVERT, _RUN])
    for name in sorted(numbers, key=len, reverse=True):
        body = body.replace(f"${name}", str(numbers[name]))
    return f"{llvm_types()}\n{assemble(body)}\n"


_CALL = """
define ptr @call(ptr %self, ptr %args, ptr %keywords) nounwind {
  %frame = alloca %Frame, align 32
  %holder.at = getelementptr i8, ptr %self, i64 $TUPLE
  %holder = load ptr, ptr %holder.at, align 8
  %kernel.at = getelementptr i8, ptr %holder, i64 $BYTES
  %kernel = load ptr, ptr %kernel.at, align 8
  %api = get Kernel.api %kernel
  set Frame.held %frame, 0
  set Frame.made %frame, 0
  %done = call i1 @attempt(ptr %kernel, ptr %api, ptr %frame, ptr %args, ptr %keywords)
  call void @release(ptr %api, ptr %frame)
  br i1 %done, label %fast, label %slow
fast:
  %result = call ptr @packed(ptr %kernel, ptr %api, ptr %frame)
  ret ptr %result
slow:
  call void @drop(ptr %api, ptr %frame)
  py PyErr_Clear()
  %python.at = getelementptr i8, ptr %self, i64 $TUPLE_NEXT
  %python = load ptr, ptr %python.at, align 8
  %answer = py PyObject_Call(%python, %args, %keywords)
  ret ptr %answer
}

; Everything up to the results. False: the Python path must take the call.
define internal i1 @attempt(ptr %k, ptr %api, ptr %frame, ptr %args, ptr %keywords) nounwind {
  %bound = call i1 @bind(ptr %k, ptr %api, ptr %frame, ptr %args, ptr %keywords)
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

_BIND = """
; Arguments by position and by name into Frame.given and Frame.out.
define internal i1 @bind(ptr %k, ptr %api, ptr %frame, ptr %args, ptr %keywords) nounwind {
entry:
  %position = alloca i64, align 8
  %key.place = alloca ptr, align 8
  %value.place = alloca ptr, align 8
  %given = at Frame.given %frame
  %count = get Kernel.arguments %k
  set Frame.out %frame, null
  br label %clear
clear:
  %c = phi i64 [ 0, %entry ], [ %c.next, %cleared ]
  %unclear = icmp ult i64 %c, %count
  br i1 %unclear, label %cleared, label %positions
cleared:
  put ptr null, %given, %c
  %c.next = add i64 %c, 1
  br label %clear
positions:
  %n = py PyTuple_Size(%args)
  %most = get Kernel.positions %k
  %places = get Kernel.places %k
  %many = icmp ugt i64 %n, %most
  br i1 %many, label %no, label %next
next:
  %i = phi i64 [ 0, %positions ], [ %i.next, %one ]
  %more = icmp ult i64 %i, %n
  br i1 %more, label %one, label %named
one:
  %argument = py PyTuple_GetItem(%args, %i)
  %place = item i64 %places, %i
  put ptr %argument, %given, %place
  %i.next = add i64 %i, 1
  br label %next
named:
  %none.named = icmp eq ptr %keywords, null
  br i1 %none.named, label %yes, label %walk
walk:
  %out.name = object out
  %none = object none
  store i64 0, ptr %position, align 8
  br label %keyword
keyword:
  %found = py PyDict_Next(%keywords, %position, %key.place, %value.place)
  %last = icmp eq i32 %found, 0
  br i1 %last, label %yes, label %which
which:
  %key = load ptr, ptr %key.place, align 8
  %value = load ptr, ptr %value.place, align 8
  %is.out = icmp eq ptr %key, %out.name
  br i1 %is.out, label %target, label %own
target:
  %absent = icmp eq ptr %value, %none
  br i1 %absent, label %keyword, label %present
present:
  set Frame.out %frame, %value
  br label %keyword
own:
  %at = call i64 @place_of(ptr %k, ptr %key)
  %unknown = icmp slt i64 %at, 0
  br i1 %unknown, label %no, label %known
known:
  %before = item ptr %given, %at
  %twice = icmp ne ptr %before, null
  br i1 %twice, label %no, label %store
store:
  put ptr %value, %given, %at
  br label %keyword
yes:
  ret i1 true
no:
  ret i1 false
}

; The argument with that very name object, or -1.
define internal i64 @place_of(ptr %k, ptr %key) nounwind {
entry:
  %count = get Kernel.arguments %k
  %names = get Kernel.names %k
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %other ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %one, label %none
one:
  %name = item ptr %names, %i
  %same = icmp eq ptr %name, %key
  br i1 %same, label %found, label %other
other:
  %i.next = add i64 %i, 1
  br label %next
found:
  ret i64 %i
none:
  ret i64 -1
}
"""

_TAKE = """
define internal ptr @type_of(ptr %api, ptr %object) nounwind {
  %type = py PyObject_Type(%object)
  py Py_DecRef(%type)
  ret ptr %type
}

define internal i1 @take_inputs(ptr %k, ptr %api, ptr %frame) nounwind {
entry:
  %count = get Kernel.inputs %k
  %ports = get Kernel.ports %k
  %given = at Frame.given %frame
  %ndarray = object ndarray
  %memoryview = object memoryview
  %array = object array
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %taken ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %one, label %yes
one:
  %object = item ptr %given, %i
  %missing = icmp eq ptr %object, null
  br i1 %missing, label %no, label %typed
typed:
  %type = call ptr @type_of(ptr %api, ptr %object)
  %is.ndarray = icmp eq ptr %type, %ndarray
  br i1 %is.ndarray, label %take, label %others
others:
  %is.memoryview = icmp eq ptr %type, %memoryview
  %is.array = icmp eq ptr %type, %array
  %is.other = or i1 %is.memoryview, %is.array
  br i1 %is.other, label %take, label %no
take:
  %port = getelementptr %Port, ptr %ports, i64 %i
  %ok = call i1 @take(ptr %api, ptr %frame, i64 %i, ptr %port, ptr %object, i32 $READ)
  br i1 %ok, label %taken, label %no
taken:
  %i.next = add i64 %i, 1
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}

; Array i: its buffer, checked against the port; its address and extent.
define internal i1 @take(ptr %api, ptr %frame, i64 %i, ptr %port, ptr %object, i32 %flags) nounwind {
entry:
  %views = at Frame.views %frame
  %values = at Frame.values %frame
  %view = getelementptr %Buffer, ptr %views, i64 %i
  %got = py PyObject_GetBuffer(%object, %view, %flags)
  %refused = icmp ne i32 %got, 0
  br i1 %refused, label %no, label %form
form:
  %held = add i64 %i, 1
  set Frame.held %frame, %held
  %format = get Buffer.format %view
  %dims = get Buffer.ndim %view
  %dims.wide = sext i32 %dims to i64
  %ndim = get Port.ndim %port
  %size = get Buffer.itemsize %view
  %itemsize = get Port.itemsize %port
  %named = icmp ne ptr %format, null
  %flat = icmp eq i64 %dims.wide, %ndim
  %sized = icmp eq i64 %size, %itemsize
  %form.1 = and i1 %named, %flat
  %form.2 = and i1 %form.1, %sized
  br i1 %form.2, label %code, label %no
code:
  %c = load i8, ptr %format, align 1
  %c.wide = zext i8 %c to i32
  %code.one = get Port.code %port
  %code.two = get Port.other %port
  %is.one = icmp eq i32 %c.wide, %code.one
  %is.two = icmp eq i32 %c.wide, %code.two
  %is.code = or i1 %is.one, %is.two
  br i1 %is.code, label %whole, label %no
whole:
  %end.at = getelementptr i8, ptr %format, i64 1
  %end = load i8, ptr %end.at, align 1
  %ends = icmp eq i8 %end, 0
  %base = get Buffer.buf %view
  %address = ptrtoint ptr %base to i64
  %low = sub i64 %itemsize, 1
  %crooked = and i64 %address, %low
  %aligned = icmp eq i64 %crooked, 0
  %length = get Buffer.len %view
  %bound = shl i64 %itemsize, $WORDS_LIMIT
  %short = icmp ult i64 %length, %bound
  %whole.1 = and i1 %ends, %aligned
  %whole.2 = and i1 %whole.1, %short
  br i1 %whole.2, label %lanes, label %no
lanes:
  put i64 %address, %values, %i
  %shape = get Buffer.shape %view
  %rank = get Port.rank %port
  %limit = get Port.limit %port
  %vector = icmp ugt i64 %ndim, %rank
  br i1 %vector, label %components, label %extent
components:
  %last = item i64 %shape, %rank
  %lanes.wanted = get Port.lanes %port
  %fits = icmp eq i64 %last, %lanes.wanted
  br i1 %fits, label %extent, label %no
extent:
  %first = mul i64 %i, $DIMENSIONS
  %first.at = add i64 %first, $EXTENTS
  br label %axis
axis:
  %j = phi i64 [ 0, %extent ], [ %j.next, %stored ]
  %left = phi i64 [ %rank, %extent ], [ %below, %stored ]
  %open = icmp ult i64 %j, $DIMENSIONS
  br i1 %open, label %which, label %yes
which:
  %below = sub i64 %left, 1
  %real = icmp sge i64 %below, 0
  br i1 %real, label %read, label %stored
read:
  %axis.length = item i64 %shape, %below
  %positive = icmp sgt i64 %axis.length, 0
  %within = icmp sle i64 %axis.length, %limit
  %good = and i1 %positive, %within
  br i1 %good, label %stored, label %no
stored:
  %along = phi i64 [ 1, %which ], [ %axis.length, %read ]
  %place = add i64 %first.at, %j
  put i64 %along, %values, %place
  %j.next = add i64 %j, 1
  br label %axis
yes:
  ret i1 true
no:
  ret i1 false
}

; Whether the extents of two arrays are equal.
define internal i1 @same_extent(ptr %frame, i64 %one, i64 %two) nounwind {
entry:
  %values = at Frame.values %frame
  %one.first = mul i64 %one, $DIMENSIONS
  %two.first = mul i64 %two, $DIMENSIONS
  br label %axis
axis:
  %j = phi i64 [ 0, %entry ], [ %j.next, %next ]
  %open = icmp ult i64 %j, $DIMENSIONS
  br i1 %open, label %compare, label %yes
compare:
  %at = add i64 %j, $EXTENTS
  %one.at = add i64 %one.first, %at
  %two.at = add i64 %two.first, %at
  %a = item i64 %values, %one.at
  %b = item i64 %values, %two.at
  %same = icmp eq i64 %a, %b
  br i1 %same, label %next, label %no
next:
  %j.next = add i64 %j, 1
  br label %axis
yes:
  ret i1 true
no:
  ret i1 false
}

; The number of elements of an array's extent.
define internal i64 @elements(ptr %frame, i64 %i) nounwind {
entry:
  %values = at Frame.values %frame
  %first = mul i64 %i, $DIMENSIONS
  %first.at = add i64 %first, $EXTENTS
  br label %axis
axis:
  %j = phi i64 [ 0, %entry ], [ %j.next, %next ]
  %product = phi i64 [ 1, %entry ], [ %longer, %next ]
  %open = icmp ult i64 %j, $DIMENSIONS
  br i1 %open, label %next, label %end
next:
  %at = add i64 %first.at, %j
  %along = item i64 %values, %at
  %longer = mul i64 %product, %along
  %j.next = add i64 %j, 1
  br label %axis
end:
  ret i64 %product
}
"""

_OUTPUTS = """
; The outputs, given or made, in Frame.results, and their buffers; all of one extent.
define internal i1 @take_outputs(ptr %k, ptr %api, ptr %frame) nounwind {
entry:
  %inputs = get Kernel.inputs %k
  %count = get Kernel.outputs %k
  %ports = get Kernel.ports %k
  %results = at Frame.results %frame
  %out = get Frame.out %frame
  %unset = icmp eq ptr %out, null
  br i1 %unset, label %fresh, label %given
fresh:
  %made = call i1 @make_outputs(ptr %k, ptr %api, ptr %frame)
  br i1 %made, label %next, label %no
given:
  %referred = call i1 @given_outputs(ptr %k, ptr %api, ptr %frame, ptr %out)
  br i1 %referred, label %next, label %no
next:
  %i = phi i64 [ 0, %fresh ], [ 0, %given ], [ %i.next, %taken ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %one, label %yes
one:
  %result = item ptr %results, %i
  %at = add i64 %inputs, %i
  %port = getelementptr %Port, ptr %ports, i64 %at
  %ok = call i1 @take(ptr %api, ptr %frame, i64 %at, ptr %port, ptr %result, i32 $WRITE)
  br i1 %ok, label %compare, label %no
compare:
  %same = call i1 @same_extent(ptr %frame, i64 %inputs, i64 %at)
  br i1 %same, label %taken, label %no
taken:
  %i.next = add i64 %i, 1
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}

; out=: one ndarray, or a tuple of them.
define internal i1 @given_outputs(ptr %k, ptr %api, ptr %frame, ptr %out) nounwind {
entry:
  %count = get Kernel.outputs %k
  %results = at Frame.results %frame
  %ndarray = object ndarray
  %tuple = object tuple
  %type = call ptr @type_of(ptr %api, ptr %out)
  %is.tuple = icmp eq ptr %type, %tuple
  br i1 %is.tuple, label %several, label %single
single:
  %is.one = icmp eq i64 %count, 1
  %is.array = icmp eq ptr %type, %ndarray
  %fits = and i1 %is.one, %is.array
  br i1 %fits, label %hold, label %no
hold:
  py Py_IncRef(%out)
  put ptr %out, %results, 0
  set Frame.made %frame, 1
  ret i1 true
several:
  %length = py PyTuple_Size(%out)
  %complete = icmp eq i64 %length, %count
  br i1 %complete, label %next, label %no
next:
  %i = phi i64 [ 0, %several ], [ %i.next, %keep ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %one, label %yes
one:
  %array = py PyTuple_GetItem(%out, %i)
  %kind = call ptr @type_of(ptr %api, ptr %array)
  %right = icmp eq ptr %kind, %ndarray
  br i1 %right, label %keep, label %no
keep:
  py Py_IncRef(%array)
  put ptr %array, %results, %i
  %i.next = add i64 %i, 1
  set Frame.made %frame, %i.next
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}

; New arrays of the extent of the input that sizes the domain.
define internal i1 @make_outputs(ptr %k, ptr %api, ptr %frame) nounwind {
entry:
  %inputs = get Kernel.inputs %k
  %count = get Kernel.outputs %k
  %ports = get Kernel.ports %k
  %longest = get Kernel.longest %k
  %sizing = get Kernel.sizing %k
  %results = at Frame.results %frame
  %unsized = icmp slt i64 %sizing, 0
  br i1 %unsized, label %no, label %size
size:
  %elements = call i64 @elements(ptr %frame, i64 %sizing)
  %long = icmp ugt i64 %elements, %longest
  br i1 %long, label %no, label %next
next:
  %i = phi i64 [ 0, %size ], [ %i.next, %keep ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %one, label %yes
one:
  %at = add i64 %inputs, %i
  %port = getelementptr %Port, ptr %ports, i64 %at
  %array = call ptr @make(ptr %api, ptr %frame, ptr %port, i64 %sizing)
  %failed = icmp eq ptr %array, null
  br i1 %failed, label %no, label %keep
keep:
  put ptr %array, %results, %i
  %i.next = add i64 %i, 1
  set Frame.made %frame, %i.next
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}

; numpy.empty for a port, of the extent of array %sizing; null with an exception set if it fails.
define internal ptr @make(ptr %api, ptr %frame, ptr %port, i64 %sizing) nounwind {
entry:
  %call = alloca [2 x ptr], align 8
  %values = at Frame.values %frame
  %first = mul i64 %sizing, $DIMENSIONS
  %first.at = add i64 %first, $EXTENTS
  %ndim = get Port.ndim %port
  %rank = get Port.rank %port
  %lanes = get Port.lanes %port
  %shape = py PyTuple_New(%ndim)
  %lost = icmp eq ptr %shape, null
  br i1 %lost, label %fail, label %axis
axis:
  %j = phi i64 [ 0, %entry ], [ %j.next, %set ]
  %open = icmp ult i64 %j, %ndim
  br i1 %open, label %which, label %ready
which:
  %real = icmp ult i64 %j, %rank
  br i1 %real, label %read, label %number
read:
  %above = sub i64 %rank, %j
  %inner = sub i64 %above, 1
  %at = add i64 %first.at, %inner
  %length = item i64 %values, %at
  br label %number
number:
  %n = phi i64 [ %lanes, %which ], [ %length, %read ]
  %boxed = py PyLong_FromLongLong(%n)
  %unboxed = icmp eq ptr %boxed, null
  br i1 %unboxed, label %give, label %set
set:
  %ignored = py PyTuple_SetItem(%shape, %j, %boxed)
  %j.next = add i64 %j, 1
  br label %axis
ready:
  %empty = object empty
  %dtype = get Port.dtype %port
  put ptr %shape, %call, 0
  put ptr %dtype, %call, 1
  %array = py PyObject_Vectorcall(%empty, %call, 2, null)
  py Py_DecRef(%shape)
  ret ptr %array
give:
  py Py_DecRef(%shape)
  ret ptr null
fail:
  ret ptr null
}

; Whether no output shares a byte with an input or another output.
define internal i1 @separate(ptr %k, ptr %frame) nounwind {
entry:
  %inputs = get Kernel.inputs %k
  %outputs = get Kernel.outputs %k
  %count = add i64 %inputs, %outputs
  %views = at Frame.views %frame
  br label %next
next:
  %i = phi i64 [ %inputs, %entry ], [ %i.next, %clear ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %one, label %yes
one:
  %view = getelementptr %Buffer, ptr %views, i64 %i
  %base = get Buffer.buf %view
  %length = get Buffer.len %view
  %stop = getelementptr i8, ptr %base, i64 %length
  br label %against
against:
  %j = phi i64 [ 0, %one ], [ %j.next, %apart ]
  %open = icmp ult i64 %j, %i
  br i1 %open, label %compare, label %clear
compare:
  %other = getelementptr %Buffer, ptr %views, i64 %j
  %other.base = get Buffer.buf %other
  %other.length = get Buffer.len %other
  %other.stop = getelementptr i8, ptr %other.base, i64 %other.length
  %starts = icmp ult ptr %base, %other.stop
  %ends = icmp ult ptr %other.base, %stop
  %shared = and i1 %starts, %ends
  br i1 %shared, label %no, label %apart
apart:
  %j.next = add i64 %j, 1
  br label %against
clear:
  %i.next = add i64 %i, 1
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}
"""

_CONVERT = """
; The parameters' words: defaults, then those that were given.
define internal i1 @convert_params(ptr %k, ptr %api, ptr %frame) nounwind {
entry:
  %words = get Kernel.words %k
  %defaults = get Kernel.defaults %k
  %params = get Kernel.params %k
  %inputs = get Kernel.inputs %k
  %count = get Kernel.parameters %k
  %given = at Frame.given %frame
  %values = at Frame.values %frame
  br label %default
default:
  %w = phi i64 [ 0, %entry ], [ %w.next, %copy ]
  %left = icmp ult i64 %w, %words
  br i1 %left, label %copy, label %next
copy:
  %word = item i64 %defaults, %w
  %at = add i64 %w, $PARAMS
  put i64 %word, %values, %at
  %w.next = add i64 %w, 1
  br label %default
next:
  %i = phi i64 [ 0, %default ], [ %i.next, %done ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %one, label %yes
one:
  %argument = add i64 %inputs, %i
  %object = item ptr %given, %argument
  %absent = icmp eq ptr %object, null
  br i1 %absent, label %done, label %convert
convert:
  %param = getelementptr %Param, ptr %params, i64 %i
  %kind = get Param.kind %param
  %place = get Param.place %param
  %target = getelementptr i64, ptr %values, i64 %place
  %ok = call i1 @convert(ptr %api, ptr %object, i64 %kind, ptr %target)
  br i1 %ok, label %done, label %no
done:
  %i.next = add i64 %i, 1
  br label %next
yes:
  ret i1 true
no:
  ret i1 false
}

; One number, as runtime/params.py converts it; what that would refuse or convert otherwise: false.
define internal i1 @convert(ptr %api, ptr %object, i64 %kind, ptr %target) nounwind {
entry:
  %type = call ptr @type_of(ptr %api, ptr %object)
  %int = object int
  %float = object float
  %is.int = icmp eq ptr %type, %int
  %is.float = icmp eq ptr %type, %float
  switch i64 %kind, label %no [
    i64 $F32, label %real
    i64 $F64, label %real
    i64 $I32, label %whole
    i64 $BOOL, label %truth
  ]
truth:
  %true = object true
  %false = object false
  %is.true = icmp eq ptr %object, %true
  %is.false = icmp eq ptr %object, %false
  %is.truth = or i1 %is.true, %is.false
  %bit = zext i1 %is.true to i64
  store i64 %bit, ptr %target, align 8
  ret i1 %is.truth
whole:
  br i1 %is.int, label %integer, label %no
real:
  br i1 %is.float, label %double, label %maybe
maybe:
  br i1 %is.int, label %integer, label %no
integer:
  %n = py PyLong_AsLongLong(%object)
  %suspect = icmp eq i64 %n, -1
  br i1 %suspect, label %doubt, label %sure
doubt:
  %error = py PyErr_Occurred()
  %overflow = icmp ne ptr %error, null
  br i1 %overflow, label %no, label %sure
sure:
  %is.whole = icmp eq i64 %kind, $I32
  br i1 %is.whole, label %narrow, label %exact
narrow:
  %half = trunc i64 %n to i32
  %again = sext i32 %half to i64
  %holds = icmp eq i64 %again, %n
  %bits = zext i32 %half to i64
  store i64 %bits, ptr %target, align 8
  ret i1 %holds
exact:
  %shifted = add i64 %n, $EXACT
  %is.exact = icmp ule i64 %shifted, $EXACT_COUNT
  br i1 %is.exact, label %from, label %no
from:
  %converted = sitofp i64 %n to double
  br label %number
double:
  %plain = py PyFloat_AsDouble(%object)
  br label %number
number:
  %x = phi double [ %converted, %from ], [ %plain, %double ]
  %is.number = fcmp ord double %x, 0.0
  br i1 %is.number, label %format, label %no
format:
  %is.f64 = icmp eq i64 %kind, $F64
  br i1 %is.f64, label %f64, label %f32
f64:
  store double %x, ptr %target, align 8
  ret i1 true
f32:
  %rounded = fptrunc double %x to float
  %back = fpext float %rounded to double
  %distance = fsub double %back, %back
  %finite = fcmp ord double %distance, 0.0
  %kept = fcmp oeq double %back, %x
  %fits = or i1 %finite, %kept
  %word = bitcast float %rounded to i32
  %wide = zext i32 %word to i64
  store i64 %wide, ptr %target, align 8
  ret i1 %fits
no:
  ret i1 false
}
"""

_RUN = """
; Find the program for the call's class, gather its arguments and run it as one block.
define internal i1 @run(ptr %k, ptr %api, ptr %frame) nounwind {
entry:
  %inputs = get Kernel.inputs %k
  %longest = get Kernel.longest %k
  %brief = get Kernel.brief %k
  %values = at Frame.values %frame
  %slots = at Frame.slots %frame
  %record = at Frame.record %frame
  %stop = at Frame.stop %frame
  %elements = call i64 @elements(ptr %frame, i64 %inputs)
  %long = icmp ugt i64 %elements, %longest
  br i1 %long, label %no, label %domain
domain:
  %first = mul i64 %inputs, $DIMENSIONS
  %width.at = add i64 %first, $EXTENTS
  %height.at = add i64 %width.at, 1
  %depth.at = add i64 %width.at, 2
  %width = item i64 %values, %width.at
  %height = item i64 %values, %height.at
  %depth = item i64 %values, %depth.at
  %rows = mul i64 %height, %depth
  %to = getelementptr i64, ptr %values, i64 $DOMAIN
  put i64 %width, %to, 0
  put i64 %height, %to, 1
  put i64 %depth, %to, 2
  put i64 1, %to, 3
  put i64 %rows, %to, 4
  put i64 %rows, %to, 5
  put i64 1, %to, 6
  %program = call ptr @program_for(ptr %k, ptr %frame, i64 %width)
  %unknown = icmp eq ptr %program, null
  br i1 %unknown, label %no, label %gather
gather:
  %entry.point = get Program.entry %program
  %from = get Program.slots %program
  %count = get Program.count %program
  br label %next
next:
  %i = phi i64 [ 0, %gather ], [ %i.next, %one ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %one, label %ready
one:
  %source = item i64 %from, %i
  %value = item i64 %values, %source
  put i64 %value, %slots, %i
  %i.next = add i64 %i, 1
  br label %next
ready:
  store i32 0, ptr %record, align 32
  set Frame.stop %frame, 0
  %is.brief = icmp ule i64 %elements, %brief
  br i1 %is.brief, label %hold, label %yield
hold:
  call void %entry.point(ptr %slots, i64 0, ptr %record, ptr %stop)
  br label %end
yield:
  %thread = py PyEval_SaveThread()
  call void %entry.point(ptr %slots, i64 0, ptr %record, ptr %stop)
  py PyEval_RestoreThread(%thread)
  br label %end
end:
  %flag = load i32, ptr %record, align 32
  %fine = icmp eq i32 %flag, 0
  ret i1 %fine
no:
  ret i1 false
}

; The program for the inputs whose extent is the domain's, and the domain's width; or null.
define internal ptr @program_for(ptr %k, ptr %frame, i64 %width) nounwind {
entry:
  %inputs = get Kernel.inputs %k
  %ports = get Kernel.ports %k
  %columns = get Kernel.columns %k
  %programs = get Kernel.programs %k
  %count = get Kernel.program_count %k
  %is.narrow = icmp ult i64 %width, %columns
  %narrow = select i1 %is.narrow, i64 $NARROW_BIT, i64 0
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %one ]
  %key = phi i64 [ %narrow, %entry ], [ %longer, %one ]
  %more = icmp ult i64 %i, %inputs
  br i1 %more, label %one, label %look
one:
  %port = getelementptr %Port, ptr %ports, i64 %i
  %alike = get Port.alike %port
  %is.alike = icmp ne i64 %alike, 0
  %same = call i1 @same_extent(ptr %frame, i64 %inputs, i64 %i)
  %both = and i1 %is.alike, %same
  %bit = zext i1 %both to i64
  %placed = shl i64 %bit, %i
  %longer = or i64 %key, %placed
  %i.next = add i64 %i, 1
  br label %next
look:
  %p = phi i64 [ 0, %next ], [ %p.next, %other ]
  %left = icmp ult i64 %p, %count
  br i1 %left, label %compare, label %none
compare:
  %program = getelementptr %Program, ptr %programs, i64 %p
  %its = get Program.key %program
  %found = icmp eq i64 %its, %key
  br i1 %found, label %yes, label %other
other:
  %p.next = add i64 %p, 1
  br label %look
yes:
  ret ptr %program
none:
  ret ptr null
}
"""
