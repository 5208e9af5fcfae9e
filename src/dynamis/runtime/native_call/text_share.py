"""The wrapper's part that shares a run: with threads of the pool that are awake (``relay.py``).

Goes in: nothing. Comes out: functions as shorthand LLVM text (``assembler.py``). The domain is cut
as ``plan.py`` cuts it. Where other threads are wanted and none is awake the Python path takes the
run, and wakes one.
"""

from __future__ import annotations

from typing import Final

SHARE: Final = """
; Run a program on this thread and others. False: the run failed or was stopped, or no other thread
; is awake; the Python path must take it.
define internal i1 @share(
    ptr %k, ptr %frame, ptr %program, ptr %limits, i64 %elements, ptr %control) nounwind {
entry:
  %crew = get Kernel.crew %k
  %alone = icmp eq ptr %crew, null
  br i1 %alone, label %no, label %number
number:
  %asked = get Frame.threads %frame
  %usual = get Crew.threads %crew
  %any = icmp eq i64 %asked, 0
  %threads = select i1 %any, i64 %usual, i64 %asked
  %unknown = icmp eq i64 %threads, 0
  br i1 %unknown, label %no, label %cut
cut:
  %blocks = call i64 @cut(
      ptr %program, ptr %limits, ptr %frame, i64 %elements, i64 %threads)
  call void @gather(ptr %program, ptr %frame)
  put i64 0, %control, 0
  put i64 %blocks, %control, 1
  put i64 -1, %control, 2
  put i64 0, %control, 3
  put i64 0, %control, 4
  %parts = mul i64 %threads, $PARTS_A_THREAD
  put i64 %parts, %control, 5
  %share = alloca %Share, align 8
  %slots = at Frame.slots %frame
  %helpers = sub i64 %threads, 1
  %posted = call i64 @post_to(
      ptr %crew, ptr %share, ptr %control, ptr %program, ptr %slots, i64 %helpers)
  %nobody = icmp eq i64 %posted, 0
  %several = icmp ne i64 %helpers, 0
  %lonely = and i1 %nobody, %several
  br i1 %lonely, label %no, label %run
run:
  %entry.point = get Program.run %program
  call void %entry.point(ptr %slots, ptr %control)
  call void @settle_all(ptr %crew, ptr %share, i64 %posted)
  %failed = item i64 %control, 2
  %stop = item i64 %control, 3
  %sound = icmp eq i64 %failed, -1
  %through = icmp eq i64 %stop, 0
  %fine = and i1 %sound, %through
  ret i1 %fine
no:
  ret i1 false
}

; Cut the domain; the number of blocks.
define internal i64 @cut(
    ptr %program, ptr %limits, ptr %frame, i64 %elements, i64 %threads) nounwind {
  %values = at Frame.values %frame
  %domain = getelementptr i64, ptr %values, i64 $DOMAIN
  %columns = item i64 %domain, 0
  %row.units = item i64 %domain, 4
  %most = get Limits.block %limits
  %width = get Program.width %program
  %parts = mul i64 %threads, $BLOCKS_A_THREAD
  %part = udiv i64 %elements, %parts
  %some = call i64 @greater(i64 %part, i64 1)
  %wanted = call i64 @less(i64 %some, i64 %most)
  %up = add i64 %columns, %wanted
  %up.less = sub i64 %up, 1
  %by.block = udiv i64 %up.less, %wanted
  %segment = get Limits.segment %limits
  %by.step = udiv i64 %columns, %segment
  %fewer = call i64 @less(i64 %by.block, i64 %by.step)
  %cuts = call i64 @greater(i64 %fewer, i64 1)
  %length = udiv i64 %columns, %cuts
  %steps = udiv i64 %length, %width
  %even = mul i64 %steps, %width
  %whole = icmp eq i64 %cuts, 1
  %each = select i1 %whole, i64 %columns, i64 %even
  %segments = udiv i64 %columns, %each
  %together = get Program.together %program
  %units = mul i64 %row.units, %segments
  %scaled = mul i64 %wanted, %segments
  %abreast = mul i64 %columns, %together
  %a.block = udiv i64 %scaled, %abreast
  %unit.block = call i64 @greater(i64 %a.block, i64 1)
  %over = add i64 %units, %unit.block
  %over.less = sub i64 %over, 1
  %blocks = udiv i64 %over.less, %unit.block
  put i64 %segments, %domain, 3
  put i64 %units, %domain, 4
  put i64 %unit.block, %domain, 5
  put i64 %blocks, %domain, 6
  put i64 %each, %domain, 7
  ret i64 %blocks
}

define internal i64 @less(i64 %a, i64 %b) nounwind {
  %is.less = icmp ult i64 %a, %b
  %value = select i1 %is.less, i64 %a, i64 %b
  ret i64 %value
}

define internal i64 @greater(i64 %a, i64 %b) nounwind {
  %is.less = icmp ult i64 %a, %b
  %value = select i1 %is.less, i64 %b, i64 %a
  ret i64 %value
}

; Post the run to as many threads as are awake, of so many at most; how many that were.
define internal i64 @post_to(
    ptr %crew, ptr %share, ptr %control, ptr %program, ptr %slots, i64 %most) nounwind {
entry:
  %count = get Crew.count %crew
  %post = get Crew.post %crew
  %crew.slots = at Crew.slots %crew
  %posted = at Share.posted %share
  %tickets = at Share.tickets %share
  %entry.point = get Program.run %program
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %one ], [ %i.next, %took ]
  %n = phi i64 [ 0, %entry ], [ %n, %one ], [ %n.next, %took ]
  %left = icmp ult i64 %i, %count
  %wanted = icmp ult i64 %n, %most
  %more = and i1 %left, %wanted
  br i1 %more, label %one, label %end
one:
  %i.next = add i64 %i, 1
  %slot = item ptr %crew.slots, %i
  %ticket = call i64 %post(ptr %slot, ptr %entry.point, ptr %slots, ptr %control)
  %took.it = icmp ne i64 %ticket, 0
  br i1 %took.it, label %took, label %next
took:
  put ptr %slot, %posted, %n
  put i64 %ticket, %tickets, %n
  %n.next = add i64 %n, 1
  br label %next
end:
  ret i64 %n
}

; Wait until nobody touches the run any more.
define internal void @settle_all(ptr %crew, ptr %share, i64 %count) nounwind {
entry:
  %settle = get Crew.settle %crew
  %posted = at Share.posted %share
  %tickets = at Share.tickets %share
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.next, %done ]
  %more = icmp ult i64 %i, %count
  br i1 %more, label %one, label %end
one:
  %slot = item ptr %posted, %i
  %ticket = item i64 %tickets, %i
  br label %look
look:
  %settled = call i64 %settle(ptr %slot, i64 %ticket, i64 $SETTLE)
  %free = icmp ne i64 %settled, 0
  br i1 %free, label %done, label %look
done:
  %i.next = add i64 %i, 1
  br label %next
end:
  ret void
}
"""
