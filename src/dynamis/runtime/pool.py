"""The threads that run native code: started when there is work for them, one pool a process.

``concurrent.futures`` does this and more, and takes longer to load than a kernel that was kept in
the disk cache takes to its first result.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

from .locks import COMPILING
from .relay import MAX_CREW, Slot, join, relays

Task = Callable[[], None]


def available_cpus() -> int:
    """CPUs that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Ends:
    """The ends of some tasks: None for each, or what it raised. Counted by the list alone, so that
    one whose wait is interrupted at any point loses none."""

    def __init__(self) -> None:
        self.noted: list[BaseException | None] = []
        self._news: SimpleQueue[None] = SimpleQueue()

    def note(self, error: BaseException | None) -> None:
        self.noted.append(error)
        self._news.put(None)

    def wait(self, seconds: float) -> None:
        """Wait until one more has ended, or for that long."""
        with contextlib.suppress(Empty):
            self._news.get(timeout=seconds)


class Pool:
    """Threads that take tasks in the order they were given."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[tuple[Task, Ends] | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.RLock()  # a signal's handler may run a kernel while it is held
        self._free = 0
        """Threads that wait for a task, less the tasks that wait for a thread."""
        self.awake: set[Slot] = set()
        """Slots in which a run may be posted; who takes one out puts it back."""

    def submit(self, task: Task, ends: Ends) -> None:
        """Run ``task`` on a thread; its end goes to ``ends``.

        Raises RuntimeError where not even one thread can be started."""
        for slot in tuple(self.awake):
            slot.dismiss()
        with self._lock:
            if self._free <= 0 and len(self._threads) < MAX_CREW:
                self._start()
            self._free -= 1
            self._tasks.put((task, ends))

    def _start(self) -> None:
        # A daemon, for it waits for tasks forever; ``close`` ends it when the process ends.
        thread = threading.Thread(target=self._work, name="dynamis", daemon=True)
        self._threads.append(thread)  # before it starts, in which this may be interrupted
        try:
            thread.start()
        except RuntimeError:
            self._threads.remove(thread)
            if not self._threads:
                raise
            return  # the others take its tasks
        self._free += 1

    def _work(self) -> None:
        slot: Slot | None = None
        while (item := self._tasks.get()) is not None:
            task, ends = item
            error: BaseException | None = None
            try:
                task()
            except BaseException as raised:  # for the thread that waits for the end
                error = raised
            del item, task
            with self._lock:
                self._free += 1
            ends.note(error)
            del ends, error
            if slot is None and relays():
                with COMPILING:  # its code may have to be made, and another thread may fork
                    slot = Slot()
                    join(slot, available_cpus())
            if slot is not None and self._tasks.empty():
                self.awake.add(slot)
                slot.linger()

    def close(self) -> None:
        """Let every task end, and every thread."""
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            if thread.is_alive():
                thread.join()


_pools: dict[int, Pool] = {}


def pool() -> Pool:
    """This process's pool: a forked child does not inherit its parent's threads."""
    pid = os.getpid()
    found = _pools.get(pid)
    if found is None:
        _pools.clear()
        found = _pools.setdefault(pid, Pool())
    return found


@atexit.register
def _close() -> None:
    own = _pools.pop(os.getpid(), None)  # who runs a kernel later still gets another
    if own is not None:
        own.close()
