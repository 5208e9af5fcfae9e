"""Runs that may take long start on the calling thread, and are stopped there when they do.

How long a loop takes that ends at each element's time shows only while it runs. Ctrl-C reaches
Python code alone, so a long run belongs to threads of the pool while its caller waits in Python; to
hand over a short one so costs more than to run it. Where the last runs of a kernel were over soon
(``Trust``), the native call path therefore does the next one itself, and a thread that looks every
``TICK`` sets the stop word of a run that it sees twice. The Python path then does that run from the
start, as it would have at once; the kernel has to earn its trust again, each time with twice as
many runs. It also does where its runs take so long that other threads should have helped.

Only the main thread handles signals. So only its runs are watched, one at a time; those of other
threads go to the pool.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from queue import Empty, SimpleQueue

from ..render import CONTROL
from .callable_type import supported
from .locks import COMPILING

TICK = 0.02
"""Seconds between two looks."""
SOON = TICK / 2
"""Seconds within which runs are over that a kernel is trusted for."""
LATE = 2**21
"""Ticks of the processor's clock, about a millisecond, after which a run that had one thread only
should have had more."""
TRUST = 4
"""Such runs in a row that cost a kernel its trust: one may be the system's doing."""
_WANTED = (2, 2**10)
"""Runs in a row that have to be over soon, at first and at most."""
_IDLE = 50
"""Looks without a new run after which the thread sleeps."""
_STOP = CONTROL.index("stop")


class Watch(ctypes.Structure):
    """What the watchdog and native code share. ``awake``: whether the thread looks; ``main``: the
    main thread's state, which is 0 until it is known; ``runs``: how many were watched; ``running``:
    whether one is; ``control``: its control words."""

    _fields_ = [
        ("awake", ctypes.c_int64),
        ("main", ctypes.c_void_p),
        ("runs", ctypes.c_int64),
        ("running", ctypes.c_int64),
        ("control", ctypes.c_int64 * len(CONTROL)),
    ]


class Watchdog:
    """The thread that looks. Started with ``wake``, asleep again when there is nothing to see."""

    def __init__(self) -> None:
        self.watch = Watch()
        """Stays where it is as long as the process lives."""
        self._thread: threading.Thread | None = None
        self._calls: SimpleQueue[bool] = SimpleQueue()

    def wake(self) -> None:
        """Look from now on, if this is the main thread."""
        watch = self.watch
        if watch.awake or not supported():
            return
        if threading.current_thread() is not threading.main_thread():
            return
        watch.main = _thread_state()
        if self._thread is None:
            self._start()
        if self._thread is not None:
            self._calls.put(True)

    def _start(self) -> None:
        with COMPILING:  # another thread may fork meanwhile
            if self._thread is not None:
                return
            # known before it starts, in which a signal's handler may come here
            self._thread = threading.Thread(
                target=self._work, args=(self._calls,), name="dynamis-watch", daemon=True
            )
            try:
                self._thread.start()
            except RuntimeError:  # at the end of the process, and where there are too many
                self._thread = None

    def forget(self) -> None:
        """Be as new: a forked child has none of its parent's threads."""
        watch = self.watch
        watch.awake = watch.running = 0
        watch.main = None
        self._thread, self._calls = None, SimpleQueue()

    def close(self) -> None:
        """End the thread."""
        if self._thread is not None and self._thread.is_alive():
            self._calls.put(False)
            self._thread.join()

    def look(self, seen: int) -> int:
        """Stop the run that was going on when ``watch.runs`` was ``seen``, if it still is; that
        number now. Where it ends meanwhile the next may be stopped for nothing: that costs time, no
        more."""
        watch = self.watch
        if watch.running and watch.runs == seen:
            watch.control[_STOP] = 1
        return int(watch.runs)

    def _work(self, calls: SimpleQueue[bool]) -> None:
        watch = self.watch
        seen = idle = 0
        while True:
            try:
                if not calls.get(timeout=None if idle > _IDLE else TICK):
                    watch.awake = 0
                    return
                idle, watch.awake = 0, 1
            except Empty:
                before, seen = seen, self.look(seen)
                idle = 0 if watch.running or seen != before else idle + 1
                # It looks once more after it has said that it will not: a run may just have begun.
                watch.awake = idle < _IDLE


class Trust:
    """Whether a kernel's runs are over soon that may take long."""

    def __init__(self) -> None:
        self.word = ctypes.c_int64(0)
        """Not 0 where they are. Native code counts it down, and it is ``TRUST`` again after a run
        that was not late."""
        self._given = False
        self._soon, self._wanted = 0, _WANTED[0]

    @property
    def holds(self) -> bool:
        """Whether they are."""
        return bool(self.word.value)

    def note(self, seconds: float) -> None:
        """Such a run took so long on the Python path."""
        lost = self._given and not self.holds
        if lost or seconds >= SOON:
            if self._given:
                self._wanted = min(2 * self._wanted, _WANTED[1])
            self._soon = 0
        else:
            self._soon += 1
        self._given = self._soon >= self._wanted
        self.word.value = TRUST if self._given else 0
        if self._given:
            watchdog.wake()


watchdog = Watchdog()
atexit.register(watchdog.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=watchdog.forget)


def _thread_state() -> int:
    state = ctypes.pythonapi.PyThreadState_Get
    state.restype = ctypes.c_void_p
    return int(state())
