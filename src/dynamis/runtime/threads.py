"""Running native blocks: a pool of threads a process, and a caller that can be interrupted.

Each thread calls the native entry once; the entry takes blocks until none is left. The caller waits
in short steps, so that Ctrl-C reaches it; it then sets the stop word, which native code looks at
before blocks and in loops, and waits for the threads to leave, because they use its arrays.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from ..render import CONTROL

_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_ONE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p)
_STEP = 0.05
"""Seconds between looks at progress and signals."""
_MOST = 64
"""Most threads of a pool; more may be asked for, and take turns."""
_NEVER = 2**64 - 1

Progress = Callable[[int, int], None]

_pools: dict[int, ThreadPoolExecutor] = {}


def _pool() -> ThreadPoolExecutor:
    """This process's pool: a forked child does not inherit its parent's threads."""
    pid = os.getpid()
    if pid not in _pools:
        _pools.clear()
        _pools[pid] = ThreadPoolExecutor(_MOST, thread_name_prefix="dynamis")
    return _pools[pid]


def run_blocks(
    entry: int,
    args: ctypes.Array[ctypes.c_uint64],
    blocks: int,
    threads: int,
    *,
    here: bool,
    progress: Progress | None,
) -> int | None:
    """Run ``blocks`` blocks on ``threads`` threads; the lowest block that failed, or None.

    ``here``: the calling thread is one of them, for runs too short to be interrupted."""
    control = (ctypes.c_uint64 * len(CONTROL))(0, blocks, _NEVER, 0, 0)
    call, places = _ENTRY(entry), (ctypes.addressof(args), ctypes.addressof(control))
    others = min(threads, blocks) - here
    futures = [_pool().submit(call, *places) for _ in range(others)]
    if here:
        call(*places)
    _attend(futures, control, blocks, progress)
    failed = int(control[CONTROL.index("failed")])
    return None if failed == _NEVER else failed


def run_one(
    entry: int,
    args: ctypes.Array[ctypes.c_uint64],
    block: int,
    record: ctypes.Array[ctypes.c_int32],
) -> None:
    """Run one block with a record of its own, on a pool thread."""
    control = (ctypes.c_uint64 * len(CONTROL))()
    stop = ctypes.addressof(control) + 8 * CONTROL.index("stop")
    call = _ONE(entry)
    future = _pool().submit(call, ctypes.addressof(args), block, ctypes.addressof(record), stop)
    _attend([future], control, 1, None)


def _attend(
    futures: list[Future[None]],
    control: ctypes.Array[ctypes.c_uint64],
    blocks: int,
    progress: Progress | None,
) -> None:
    pending = set(futures)
    interrupted: BaseException | None = None
    while pending:
        try:
            pending = wait(pending, timeout=_STEP).not_done
            if progress is not None and interrupted is None:
                progress(int(control[CONTROL.index("done")]), blocks)
        except BaseException as error:  # Ctrl-C, or an error of the caller's progress function
            control[CONTROL.index("stop")] = 1
            interrupted = interrupted or error
    if interrupted is not None:
        raise interrupted
    for future in futures:
        future.result()
