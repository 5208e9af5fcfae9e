"""The wrapper's part that runs: the domain, the program for it and that program's arguments.

Goes in: nothing. Comes out: functions as shorthand LLVM text (``assembler.py``). A run that is
not worth another thread, or is given none, is one block on the calling one; others go on to
``text_share.py``. One that may take long is done only where the kernel is trusted and the watchdog
looks (``watchdog.py``); what that stops is the Python path's.
"""

from __future__ import annotations

from typing import Final

RUN: Final = """
declare i64 @llvm.readcyclecounter()

; Find the program for the call's class and run it.
define internal i1 @run(ptr %k, ptr %api, ptr %frame) nounwind {
entry:
  %inputs = get Kernel.inputs %k
  %values = at Frame.values %frame
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
  %own = at Frame.control %frame
  %brief.most = get Limits.brief %limits
  %sure.most = get Limits.sure %limits
  %brief = icmp ule i64 %elements, %brief.most
  %sure = icmp ule i64 %elements, %sure.most
  br i1 %brief, label %hold, label %yield
hold:
  %done = call i1 @spread(
      ptr %k, ptr %frame, ptr %program, ptr %limits, i64 %elements, ptr %own)
  ret i1 %done
yield:
  %thread = py PyEval_SaveThread()
  br i1 %sure, label %plain, label %judge
plain:
  %short = call i1 @spread(
      ptr %k, ptr %frame, ptr %program, ptr %limits, i64 %elements, ptr %own)
  br label %resume
judge:
  %over.soon = call i1 @watched(
      ptr %k, ptr %frame, ptr %program, ptr %limits, i64 %elements, ptr %thread)
  br label %resume
resume:
  %fine = phi i1 [ %short, %plain ], [ %over.soon, %judge ]
  py PyEval_RestoreThread(%thread)
  ret i1 %fine
no:
  ret i1 false
}

; Do a run that may take long, if the kernel is trusted, this is the main thread and the watchdog
; looks. Where others might have helped, one that is late costs trust; so does one that is stopped.
; Only where there are relays, which is x86-64: elsewhere a task may not read the clock.
define internal i1 @watched(
    ptr %k, ptr %frame, ptr %program, ptr %limits, i64 %elements, ptr %thread) nounwind {
entry:
  %crew = get Kernel.crew %k
  %nowhere = icmp eq ptr %crew, null
  br i1 %nowhere, label %no, label %judge
judge:
  %trust = get Kernel.trust %k
  %trusted = load i64, ptr %trust, align 8
  %distrusted = icmp eq i64 %trusted, 0
  %soon.most = get Limits.soon %limits
  %long = icmp ugt i64 %elements, %soon.most
  %watch = get Kernel.watch %k
  %main = get Watch.main %watch
  %other = icmp ne ptr %thread, %main
  %no.1 = or i1 %distrusted, %long
  %no.2 = or i1 %no.1, %other
  br i1 %no.2, label %no, label %announce
announce:
  %runs = get Watch.runs %watch
  %runs.now = add i64 %runs, 1
  set Watch.runs %watch, %runs.now
  set Watch.running %watch, 1
  fence seq_cst
  %awake = get Watch.awake %watch
  %seen = icmp ne i64 %awake, 0
  br i1 %seen, label %run, label %over
run:
  %control = at Watch.control %watch
  %begun = call i64 @llvm.readcyclecounter()
  %fine = call i1 @spread(
      ptr %k, ptr %frame, ptr %program, ptr %limits, i64 %elements, ptr %control)
  %ended = call i64 @llvm.readcyclecounter()
  %stop = item i64 %control, 3
  %stopped = icmp ne i64 %stop, 0
  br i1 %stopped, label %lose, label %time
lose:
  store i64 0, ptr %trust, align 8
  br label %over
time:
  %taken = sub i64 %ended, %begun
  %late = icmp ugt i64 %taken, $LATE
  %alone.most = get Limits.alone %limits
  %few = icmp ule i64 %elements, %alone.most
  %threads = get Frame.threads %frame
  %several = icmp ne i64 %threads, 1
  %unhelped = and i1 %few, %several
  %dear = and i1 %late, %unhelped
  %less = sub i64 %trusted, 1
  %left = select i1 %dear, i64 %less, i64 $TRUST
  store i64 %left, ptr %trust, align 8
  br label %over
over:
  %ran = phi i1 [ false, %announce ], [ false, %lose ], [ %fine, %time ]
  set Watch.running %watch, 0
  ret i1 %ran
no:
  ret i1 false
}

; Run a program by these control words, without the GIL or for a moment: as one block on this
; thread, or as several and on threads. False where it failed or was stopped, and as @share.
define internal i1 @spread(
    ptr %k, ptr %frame, ptr %program, ptr %limits, i64 %elements, ptr %control) nounwind {
entry:
  %alone = get Limits.alone %limits
  %threads = get Frame.threads %frame
  %few = icmp ule i64 %elements, %alone
  %single = icmp eq i64 %threads, 1
  %apart = or i1 %few, %single
  br i1 %apart, label %one, label %share
share:
  %shared = call i1 @share(
      ptr %k, ptr %frame, ptr %program, ptr %limits, i64 %elements, ptr %control)
  ret i1 %shared
one:
  %slots = at Frame.slots %frame
  %record = at Frame.record %frame
  %stop = getelementptr i64, ptr %control, i64 3
  %entry.point = get Program.entry %program
  call void @gather(ptr %program, ptr %frame)
  store i32 0, ptr %record, align 32
  store i64 0, ptr %stop, align 8
  call void %entry.point(ptr %slots, i64 0, ptr %record, ptr %stop)
  %flag = load i32, ptr %record, align 32
  %stopped = load i64, ptr %stop, align 8
  %sound = icmp eq i32 %flag, 0
  %through = icmp eq i64 %stopped, 0
  %fine = and i1 %sound, %through
  ret i1 %fine
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
