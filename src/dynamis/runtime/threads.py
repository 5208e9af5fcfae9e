"""Running native blocks: a pool of threads a process, and a caller that can be interrupted.

Each thread calls the native entry once; the entry takes blocks until none is left. The caller waits
in short steps, so that Ctrl-C reaches it; it then sets the stop word, which native code looks at
before blocks and in loops, and waits for the threads to leave, because they use its arrays.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

from ..render import CONTROL
from .plan import PARTS_A_THREAD
from .pool import Ends, pool
from .relay import Slot

_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_ONE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p)
_STEP = 0.05
"""Seconds between looks at progress and signals."""
_NEVER = 2**64 - 1
_DONE = CONTROL.index("done")

Progress = Callable[[int, int], None]
Posted = list[tuple[Slot, int]]
Control = ctypes.Array[ctypes.c_uint64]


def run_blocks(
    entry: int,
    args: ctypes.Array[ctypes.c_uint64],
    blocks: int,
    threads: int,
    *,
    here: bool,
    progress: Progress | None,
    keep: object,
) -> int | None:
    """Run ``blocks`` blocks on ``threads`` threads; the lowest block that failed, or None.

    ``here``: the calling thread is one of them, for runs too short to be interrupted. ``keep``:
    what must live until the last thread has left: the code and the arrays."""
    control = (ctypes.c_uint64 * len(CONTROL))(0, blocks, _NEVER, 0, 0, PARTS_A_THREAD * threads)
    call, places = _ENTRY(entry), (ctypes.addressof(args), ctypes.addressof(control))
    count = min(threads, blocks)

    def task(_: object = (args, control, keep)) -> None:
        call(*places)

    if here and count == 1:
        task()
    else:
        posted = _post(entry, places, count - 1, (args, control, keep)) if here else []
        _run(task, count - len(posted), control, blocks, progress, here=here, posted=posted)
    failed = int(control[CONTROL.index("failed")])
    return None if failed == _NEVER else failed


def _post(entry: int, places: tuple[int, int], count: int, keep: object) -> Posted:
    """Post a run to at most ``count`` threads that are awake; their slots, and the tickets."""
    posted: Posted = []
    awake = pool().awake
    while awake and len(posted) < count:
        try:
            slot = awake.pop()
        except KeyError:  # another thread was faster
            break
        if ticket := slot.post(entry, *places, keep):
            posted.append((slot, ticket))
    return posted


def run_one(
    entry: int,
    args: ctypes.Array[ctypes.c_uint64],
    block: int,
    record: ctypes.Array[ctypes.c_int32],
    *,
    keep: object,
) -> None:
    """Run one block with a record of its own, on a pool thread; ``keep`` as in ``run_blocks``."""
    control = (ctypes.c_uint64 * len(CONTROL))()
    stop = ctypes.addressof(control) + 8 * CONTROL.index("stop")
    call = _ONE(entry)

    def task(_: object = (args, control, record, keep)) -> None:
        call(ctypes.addressof(args), block, ctypes.addressof(record), stop)

    _run(task, 1, control, 1, None, here=False, posted=[])


def _run(
    task: Callable[[], None],
    count: int,
    control: Control,
    blocks: int,
    progress: Progress | None,
    *,
    here: bool,
    posted: Posted,
) -> None:
    """Run ``task`` ``count`` times at once, and wait until every block is done or all have ended,
    and until what is ``posted`` has.

    ``here``: one of them on the calling thread, the others on threads of the pool, as all are
    else. ``task`` holds what it works on: a thread that is given it and not waited for, because
    others did every block before it woke or the caller was interrupted, still has that, and finds
    nothing left to do or the stop word set."""
    ends = Ends()
    given, wanted = 0, count - here
    told = here
    interrupted: BaseException | None = None
    while True:
        try:
            if interrupted is None and given < wanted:
                pool().submit(task, ends)
                given += 1
            elif interrupted is None and here:
                here = False
                task()
            elif len(ends.noted) < given and control[_DONE] < blocks:
                ends.wait(_STEP)
                if progress is not None and interrupted is None:
                    told = True
                    progress(int(control[_DONE]), blocks)
            elif progress is not None and interrupted is None and not told:
                told = True  # it was over before it was looked at
                progress(int(control[_DONE]), blocks)
            elif not posted:
                break
            elif posted[-1][0].settled(posted[-1][1]):
                pool().awake.add(posted.pop()[0])
            else:
                time.sleep(0)
        except BaseException as error:  # Ctrl-C, or an error of the caller's progress function
            control[CONTROL.index("stop")] = 1
            interrupted = interrupted or error
    failures = [error for error in (interrupted, *ends.noted) if error is not None]
    if failures:
        raise failures[0]
