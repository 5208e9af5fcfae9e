"""The wrapper's part that runs: the domain, the program for it and that program's arguments.

Goes in: nothing. Comes out: functions as shorthand LLVM text (``assembler.py``). A run is one block
on the calling thread, of a size that ``NativeKernel`` would run there too, or goes on to
``text_share.py``.
"""

from __future__ import annotations

from typing import Final

RUN: Final = """
; Find the program for the call's class, gather its arguments and run it as one block.
define internal i1 @run(ptr %k, ptr %api, ptr %frame) nounwind {
entry:
  %inputs = get Kernel.inputs %k
  %values = at Frame.values %frame
  %slots = at Frame.slots %frame
  %record = at Frame.record %frame
  %stop = at Frame.stop %frame
  %elements = call i64 @elements(ptr %frame, i64 %inputs)
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
  %streams = call i64 @place_lines(ptr %k, ptr %frame)
  %program = call ptr @program_for(ptr %k, ptr %frame, i64 %width, i64 %rows, i64 %streams)
  %unknown = icmp eq ptr %program, null
  br i1 %unknown, label %no, label %known
known:
  %together = get Program.together %program
  %up = add i64 %rows, %together
  %up.less = sub i64 %up, 1
  %units = udiv i64 %up.less, %together
  put i64 1, %to, 3
  put i64 %units, %to, 4
  put i64 %units, %to, 5
  put i64 1, %to, 6
  put i64 %width, %to, 7
  %limits = call ptr @limits_for(ptr %program, ptr %frame, i64 %inputs)
  %longest = get Limits.longest %limits
  %brief = get Limits.brief %limits
  %long = icmp ugt i64 %elements, %longest
  br i1 %long, label %share, label %gather
share:
  %shared = call i1 @share(
      ptr %k, ptr %api, ptr %frame, ptr %program, ptr %limits, i64 %elements)
  ret i1 %shared
gather:
  %entry.point = get Program.entry %program
  call void @gather(ptr %program, ptr %frame)
  br label %ready
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

; A program's arguments, from the frame's values.
define internal void @gather(ptr %program, ptr %frame) nounwind {
entry:
  %values = at Frame.values %frame
  %slots = at Frame.slots %frame
  %from = get Program.slots %program
  %count = get Program.count %program
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %one ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %one, label %end
one:
  %source = item i64 %from, %i
  %value = item i64 %values, %source
  put i64 %value, %slots, %i
  %i.next = add i64 %i, 1
  br label %next
end:
  ret void
}

; The limits of a program that go with the largest input's number of elements.
define internal ptr @limits_for(ptr %program, ptr %frame, i64 %inputs) nounwind {
entry:
  %limits = get Program.limits %program
  %sizes = get Program.sizes %program
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %one ]
  %most = phi i64 [ 0, %entry ], [ %more.now, %one ]
  %more = icmp ult i64 %i, %inputs
  br i1 %more, label %one, label %bits
one:
  %elements = call i64 @elements(ptr %frame, i64 %i)
  %more.now = call i64 @greater(i64 %elements, i64 %most)
  %i.next = add i64 %i, 1
  br label %next
bits:
  %size = phi i64 [ 0, %next ], [ %size.next, %larger ]
  %left = phi i64 [ %most, %next ], [ %half, %larger ]
  %size.next = add i64 %size, 1
  %counted = icmp eq i64 %left, 0
  %last = icmp eq i64 %size.next, %sizes
  %done = or i1 %counted, %last
  br i1 %done, label %end, label %larger
larger:
  %half = lshr i64 %left, 1
  br label %bits
end:
  %found = getelementptr %Limits, ptr %limits, i64 %size
  ret ptr %found
}

; Put where the cache lines of the first output are, for a run of these arrays that streams its
; results; whether it does. As ``streaming.py``.
define internal i64 @place_lines(ptr %k, ptr %frame) nounwind {
entry:
  %bytes = call i64 @bytes(ptr %frame)
  %cached = get Kernel.cached %k
  %fits = icmp ult i64 %bytes, %cached
  br i1 %fits, label %no, label %place
place:
  %inputs = get Kernel.inputs %k
  %values = at Frame.values %frame
  %address = item i64 %values, %inputs
  %element = get Kernel.element_shift %k
  %number = lshr i64 %address, %element
  %back = shl i64 %number, %element
  %aligned = icmp eq i64 %back, %address
  br i1 %aligned, label %yes, label %no
yes:
  %of.line = lshr i64 $LINE, %element
  %mask = sub i64 %of.line, 1
  %phase = and i64 %number, %mask
  %to = getelementptr i64, ptr %values, i64 $DOMAIN
  put i64 %mask, %to, $LINE_MASK
  put i64 %phase, %to, $PHASE
  ret i64 1
no:
  ret i64 0
}

; The bytes of all arrays.
define internal i64 @bytes(ptr %frame) nounwind {
entry:
  %held = get Frame.held %frame
  %views = at Frame.views %frame
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %one ]
  %sum = phi i64 [ 0, %entry ], [ %sum.next, %one ]
  %more = icmp ult i64 %i, %held
  br i1 %more, label %one, label %end
one:
  %view = getelementptr %Buffer, ptr %views, i64 %i
  %length = get Buffer.len %view
  %sum.next = add i64 %sum, %length
  %i.next = add i64 %i, 1
  br label %next
end:
  ret i64 %sum
}

; The program for the inputs whose extent is the domain's, its columns and rows, and whether the run
; streams; or null.
define internal ptr @program_for(
    ptr %k, ptr %frame, i64 %width, i64 %rows, i64 %streams) nounwind {
entry:
  %inputs = get Kernel.inputs %k
  %ports = get Kernel.ports %k
  %programs = get Kernel.programs %k
  %count = get Kernel.program_count %k
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %one ]
  %key = phi i64 [ 0, %entry ], [ %longer, %one ]
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
  %least = get Program.least %program
  %most = get Program.most %program
  %alike.key = icmp eq i64 %its, %key
  %enough = icmp uge i64 %width, %least
  %few = icmp ule i64 %width, %most
  %found.1 = and i1 %alike.key, %enough
  %found.2 = and i1 %found.1, %few
  %fewest = get Program.fewest %program
  %tallest = get Program.tallest %program
  %tall = icmp uge i64 %rows, %fewest
  %low = icmp ule i64 %rows, %tallest
  %found.3 = and i1 %found.2, %tall
  %found.4 = and i1 %found.3, %low
  %modes = get Program.modes %program
  %mode = lshr i64 %modes, %streams
  %fits = trunc i64 %mode to i1
  %found = and i1 %found.4, %fits
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
