"""Threads that stay awake for a moment after a run, and take the next one without being woken.

Waking a sleeping thread takes as long as a small run. A thread of the pool that has just run
something therefore waits in native code, awake and without the interpreter, for a run to be posted
in its *slot*; after ``LINGER`` looks it closes the slot and goes to sleep. Whoever has a task that
cannot be posted closes the slot at once. A slot is five words:

    state    0 closed, 1 idle, 2 being filled, 3 posted, 4 running
    ticket   how many runs were posted in it
    entry, args, control    of the run

Whoever changes the state from idle to being filled posts. What is posted is help: a run that nobody
takes is done by the thread that posted it, so taking a post back is always allowed.
"""

from __future__ import annotations

import ctypes
import functools
import os

from .code_image import Native, flat
from .kept_code import kept_code
from .locks import COMPILING

LINGER = 10_000
"""Looks at a slot before its thread goes to sleep: about 0.3 ms."""
MAX_CREW = 64
"""The most threads of a pool."""
SETTLE = 100_000
"""Looks at a slot whose run is about to end, before others may have the processor."""

_TEXT = """
declare void @llvm.x86.sse2.pause()

define void @linger(ptr %slot, i64 %looks) nounwind {
entry:
  %p.entry = getelementptr i64, ptr %slot, i64 2
  %p.args = getelementptr i64, ptr %slot, i64 3
  %p.control = getelementptr i64, ptr %slot, i64 4
  store atomic i64 1, ptr %slot release, align 8
  br label %look
look:
  %n = phi i64 [ 0, %entry ], [ %more, %wait ], [ 0, %run ]
  %state = load atomic i64, ptr %slot monotonic, align 8
  %posted = icmp eq i64 %state, 3
  br i1 %posted, label %take, label %other
other:
  %dismissed = icmp eq i64 %state, 0
  br i1 %dismissed, label %leave, label %none
take:
  %t = cmpxchg ptr %slot, i64 3, i64 4 acquire monotonic
  %taken = extractvalue { i64, i1 } %t, 1
  br i1 %taken, label %run, label %wait
run:
  %entry.at = load ptr, ptr %p.entry, align 8
  %args = load ptr, ptr %p.args, align 8
  %control = load ptr, ptr %p.control, align 8
  call void %entry.at(ptr %args, ptr %control)
  store atomic i64 1, ptr %slot release, align 8
  br label %look
none:
  %late = icmp uge i64 %n, %looks
  br i1 %late, label %close, label %wait
wait:
  call void @llvm.x86.sse2.pause()
  %more = add i64 %n, 1
  br label %look
close:
  %c = cmpxchg ptr %slot, i64 1, i64 0 monotonic monotonic
  %closed = extractvalue { i64, i1 } %c, 1
  br i1 %closed, label %leave, label %wait
leave:
  ret void
}

define i64 @post(ptr %slot, ptr %entry.at, ptr %args, ptr %control) nounwind {
entry:
  %c = cmpxchg ptr %slot, i64 1, i64 2 acquire monotonic
  %mine = extractvalue { i64, i1 } %c, 1
  br i1 %mine, label %fill, label %none
fill:
  %p.ticket = getelementptr i64, ptr %slot, i64 1
  %p.entry = getelementptr i64, ptr %slot, i64 2
  %p.args = getelementptr i64, ptr %slot, i64 3
  %p.control = getelementptr i64, ptr %slot, i64 4
  %last = load i64, ptr %p.ticket, align 8
  %ticket = add i64 %last, 1
  store atomic i64 %ticket, ptr %p.ticket monotonic, align 8
  store ptr %entry.at, ptr %p.entry, align 8
  store ptr %args, ptr %p.args, align 8
  store ptr %control, ptr %p.control, align 8
  store atomic i64 3, ptr %slot release, align 8
  ret i64 %ticket
none:
  ret i64 0
}

define void @dismiss(ptr %slot) nounwind {
  %c = cmpxchg ptr %slot, i64 1, i64 0 monotonic monotonic
  ret void
}

define i64 @settle(ptr %slot, i64 %ticket, i64 %looks) nounwind {
entry:
  %p.ticket = getelementptr i64, ptr %slot, i64 1
  %back = cmpxchg ptr %slot, i64 3, i64 1 acquire monotonic
  br label %look
look:
  %n = phi i64 [ 0, %entry ], [ %more, %wait ]
  %state = load atomic i64, ptr %slot acquire, align 8
  %now = load atomic i64, ptr %p.ticket monotonic, align 8
  %runs = icmp eq i64 %state, 4
  %same = icmp eq i64 %now, %ticket
  %busy = and i1 %runs, %same
  br i1 %busy, label %again, label %done
again:
  %late = icmp uge i64 %n, %looks
  br i1 %late, label %give, label %wait
wait:
  call void @llvm.x86.sse2.pause()
  %more = add i64 %n, 1
  br label %look
give:
  ret i64 0
done:
  ret i64 1
}
"""


class Crew(ctypes.Structure):
    """The threads of this process's pool that may be awake, for native code: ``count`` slots, the
    functions ``post`` and ``settle``, and how many ``threads`` a run has that asks for none."""

    _fields_ = [
        ("count", ctypes.c_int64),
        ("threads", ctypes.c_int64),
        ("post", ctypes.c_void_p),
        ("settle", ctypes.c_void_p),
        ("slots", ctypes.c_void_p * MAX_CREW),
    ]


@functools.cache
def _code() -> Native:
    return kept_code(lambda: _TEXT, "relay")


class Slot:
    """Where a run is posted for one thread of the pool, which calls ``linger`` alone."""

    def __init__(self) -> None:
        self.code = code = _code()  # held here: two threads may have made one each
        self._words = (ctypes.c_uint64 * 5)()
        self.address = ctypes.addressof(self._words)
        self._keep: object = None
        pointer, number = ctypes.c_void_p, ctypes.c_uint64
        self._linger = ctypes.CFUNCTYPE(None, pointer, number)(code["linger"])
        self._post = ctypes.CFUNCTYPE(number, pointer, pointer, pointer, pointer)(code["post"])
        self._settle = ctypes.CFUNCTYPE(number, pointer, number, number)(code["settle"])
        self._dismiss = ctypes.CFUNCTYPE(None, pointer)(code["dismiss"])

    def linger(self) -> None:
        """Take runs as they are posted, until none has been for a while."""
        self._linger(self.address, LINGER)

    def post(self, entry: int, args: int, control: int, keep: object) -> int:
        """Post a run; its ticket, or 0 where the thread sleeps or has another one. ``keep`` lives
        until the run has ended, whether it is waited for or not."""
        before = self._keep
        self._keep = before, keep
        ticket = int(self._post(self.address, entry, args, control))
        self._keep = keep if ticket else before
        return ticket

    def dismiss(self) -> None:
        """Let the thread go at once to what else it has to do, unless a run is posted for it."""
        self._dismiss(self.address)

    def settled(self, ticket: int) -> bool:
        """Whether the run of that ticket is not touched any more, taken back if need be; after
        waiting for that a while."""
        return bool(self._settle(self.address, ticket, SETTLE))


crew = Crew()
"""Only ever grows, and is empty again in a forked child, which has none of its parent's threads."""
_members: list[Slot] = []


def join(slot: Slot, threads: int) -> None:
    """Make a slot known to native code, for as long as the process lives."""
    with COMPILING:
        if crew.count < MAX_CREW:
            _members.append(slot)
            code = slot.code
            crew.post, crew.settle, crew.threads = code["post"], code["settle"], threads
            crew.slots[crew.count] = slot.address
            crew.count += 1


def _leave_all() -> None:
    crew.count = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_all)


def relays() -> bool:
    """Whether there are slots: on x86-64, where the pause between looks is spelled as above."""
    return flat()
