"""Running native blocks: a pool of threads a process, and a caller that can be interrupted.

Each thread calls the native entry once; the entry takes blocks until none is left. The caller waits
in short steps, so that Ctrl-C reaches it; it then sets the stop word, which native code looks at
before blocks and in loops, and waits for the threads to leave, because they use its arrays.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from queue import Empty, SimpleQueue

from ..render import CONTROL
from .pool import Finished, pool

_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_ONE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p)
_STEP = 0.05
"""Seconds between looks at progress and signals."""
_NEVER = 2**64 - 1

Progress = Callable[[int, int], None]
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

    ``here``: run on the calling thread, for runs too short to hand over. ``keep``: what must live
    until the last thread has left: the code and the arrays."""
    control = (ctypes.c_uint64 * len(CONTROL))(0, blocks, _NEVER, 0, 0)
    call = _ENTRY(entry)
    if here:
        call(ctypes.addressof(args), ctypes.addressof(control))
    else:

        def task(_: object = keep) -> None:
            call(ctypes.addressof(args), ctypes.addressof(control))

        _run(task, min(threads, blocks), control, blocks, progress)
    failed = int(control[CONTROL.index("failed")])
    return None if failed == _NEVER else failed


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
    stop = 8 * CONTROL.index("stop")
    call = _ONE(entry)

    def task(_: object = keep) -> None:
        places = ctypes.addressof(record), ctypes.addressof(control) + stop
        call(ctypes.addressof(args), block, *places)

    _run(task, 1, control, 1, None)


def _run(
    task: Callable[[], None],
    count: int,
    control: Control,
    blocks: int,
    progress: Progress | None,
) -> None:
    """Run ``task`` on ``count`` threads and wait for all of them, whatever happens meanwhile."""
    finished: Finished = SimpleQueue()
    given = ended = 0
    interrupted: BaseException | None = None
    while ended < given or (given < count and interrupted is None):
        try:
            if given < count and interrupted is None:
                pool().submit(task, finished)
                given += 1
                continue
            try:
                error = finished.get(timeout=_STEP)
                ended += 1
                interrupted = interrupted or error
            except Empty:
                pass
            if progress is not None and interrupted is None:
                progress(int(control[CONTROL.index("done")]), blocks)
        except BaseException as error:  # Ctrl-C, or an error of the caller's progress function
            control[CONTROL.index("stop")] = 1
            interrupted = interrupted or error
    if interrupted is not None:
        raise interrupted
