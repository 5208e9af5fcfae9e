"""The wrapper's part about results: ``out=`` or new arrays, apart from all others.

Goes in: nothing. Comes out: functions as shorthand LLVM text (``assembler.py``).
"""

from __future__ import annotations

from typing import Final

RESULTS: Final = """
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
  %type = item ptr %out, $TYPE
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
  %first = getelementptr ptr, ptr %out, i64 $ITEMS
  %length = py PyTuple_Size(%out)
  %complete = icmp eq i64 %length, %count
  br i1 %complete, label %next, label %no
next:
  %i = phi i64 [ 0, %several ], [ %i.next, %keep ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %one, label %yes
one:
  %array = item ptr %first, %i
  %kind = item ptr %array, $TYPE
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
