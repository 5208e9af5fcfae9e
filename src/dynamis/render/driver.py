"""The part of every native module that does not depend on the kernel: taking blocks of work.

``run(args, control)`` takes blocks in ascending order from one counter, several that follow each
other at a time: one part in ``parts`` of what is left, so that neighbouring rows stay in one core's
caches and the last blocks are still shared out singly (guided self-scheduling: Polychronopoulos and
Kuck, 1987). A block that faults records its number (atomic minimum); no block above the minimum is
started. ``one(args, block, record,
stop)`` runs a single block with the caller's record. The stop word is looked at before each block
and by ``body`` itself in its loops; once it is not zero everything returns.
Both set the rounding and denormal mode for the task and restore the caller's afterwards; ``body``
is never inlined, so no arithmetic moves across the change of mode.
"""

from __future__ import annotations

from typing import Final

CONTROL: Final = ("next", "blocks", "failed", "stop", "done", "parts")
"""The i64 words of a run's control record, in order."""
RECORD_WORDS: Final = 8
"""i32 words of a fault record."""

X86_MODE: Final = (
    """declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)""",
    """  %saved = alloca i32, align 4
  %mode = alloca i32, align 4
  call void @llvm.x86.sse.stmxcsr(ptr %saved)
  store i32 8064, ptr %mode, align 4
  call void @llvm.x86.sse.ldmxcsr(ptr %mode)""",
    "  call void @llvm.x86.sse.ldmxcsr(ptr %saved)",
)
"""Declarations, entering and leaving: 0x1F80 is nearest-even, subnormals kept, traps masked."""
ARM64_MODE: Final = (
    """declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)""",
    """  %saved = call i64 @llvm.aarch64.get.fpcr()
  call void @llvm.aarch64.set.fpcr(i64 0)""",
    "  call void @llvm.aarch64.set.fpcr(i64 %saved)",
)
"""The same, which 0 says in FPCR."""

DRIVER: Final = """
{declare}
define void @run(ptr %args, ptr %control) nounwind {{
entry:
  %record = alloca [8 x i32], align 32
{enter}
  %p.blocks = getelementptr i64, ptr %control, i64 1
  %p.failed = getelementptr i64, ptr %control, i64 2
  %p.stop = getelementptr i64, ptr %control, i64 3
  %p.done = getelementptr i64, ptr %control, i64 4
  %p.parts = getelementptr i64, ptr %control, i64 5
  %blocks = load i64, ptr %p.blocks, align 8
  %parts = load i64, ptr %p.parts, align 8
  br label %take
take:
  %next = load atomic i64, ptr %control monotonic, align 8
  %over = icmp uge i64 %next, %blocks
  br i1 %over, label %leave, label %claim
claim:
  %left = sub i64 %blocks, %next
  %part = udiv i64 %left, %parts
  %none = icmp eq i64 %part, 0
  %some = select i1 %none, i64 1, i64 %part
  %first = atomicrmw add ptr %control, i64 %some monotonic
  %after = add i64 %first, %some
  br label %each
each:
  %b = phi i64 [ %first, %claim ], [ %b.next, %count ]
  %stop = load atomic i64, ptr %p.stop monotonic, align 8
  %failed = load atomic i64, ptr %p.failed monotonic, align 8
  %stopped = icmp ne i64 %stop, 0
  %past = icmp uge i64 %b, %blocks
  %late = icmp ugt i64 %b, %failed
  %any = or i1 %stopped, %past
  %no = or i1 %any, %late
  br i1 %no, label %leave, label %work
work:
  store i32 0, ptr %record, align 32
  call void @body(ptr %args, i64 %b, ptr %record, ptr %p.stop)
  %flag = load i32, ptr %record, align 32
  %bad = icmp ne i32 %flag, 0
  br i1 %bad, label %fault, label %count
fault:
  %lowest = atomicrmw umin ptr %p.failed, i64 %b monotonic
  br label %count
count:
  %before = atomicrmw add ptr %p.done, i64 1 release
  %b.next = add i64 %b, 1
  %more = icmp ult i64 %b.next, %after
  br i1 %more, label %each, label %take
leave:
{leave}
  ret void
}}

define void @one(ptr %args, i64 %block, ptr %record, ptr %stop) nounwind {{
entry:
{enter}
  call void @body(ptr %args, i64 %block, ptr %record, ptr %stop)
{leave}
  ret void
}}
"""
