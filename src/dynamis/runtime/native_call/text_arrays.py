"""The wrapper's part about arrays: buffers of arguments and their extents.

Goes in: nothing. Comes out: functions as shorthand LLVM text (``assembler.py``). An array is taken
where it lies: a C-contiguous, aligned buffer of the port's own format, of at least one element.
"""

from __future__ import annotations

from typing import Final

TAKE: Final = """
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
  %type = item ptr %object, $TYPE
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
define internal i1 @take(ptr %api, ptr %frame, i64 %i, ptr %port, ptr %object, i32 %flags)
    nounwind {
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
