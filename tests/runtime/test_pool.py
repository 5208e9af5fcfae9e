"""The pool of threads: every task runs, its end is told, and no thread is left behind."""

from __future__ import annotations

import subprocess
import sys
import threading
import weakref

import pytest

from dynamis.runtime import pool as pools
from dynamis.runtime.pool import Ends, Pool
from tests.runtime.test_native import run_program


def all_of(ends: Ends, count: int) -> list[BaseException | None]:
    while len(ends.noted) < count:
        ends.wait(60)
    return ends.noted


def test_tasks_run_side_by_side_and_more_than_threads_take_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pools, "MAX_CREW", 3)
    pool, ends = Pool(), Ends()
    together = threading.Barrier(3, timeout=60)
    names: list[str] = []

    def task() -> None:
        together.wait()
        names.append(str(threading.get_ident()))

    for _ in range(9):
        pool.submit(task, ends)
    assert all_of(ends, 9) == [None] * 9
    assert len(set(names)) == 3
    pool.close()


def test_a_thread_that_is_free_is_taken_before_one_is_started() -> None:
    pool, ends = Pool(), Ends()
    for k in range(20):
        pool.submit(lambda: None, ends)
        all_of(ends, k + 1)
    assert len(pool._threads) == 1
    pool.close()
    assert not pool._threads[0].is_alive()


def test_a_signal_handler_may_submit_while_its_thread_does() -> None:
    pool, ends = Pool(), Ends()
    with pool._lock:  # as where the handler interrupts ``submit``
        pool.submit(lambda: None, ends)
    assert all_of(ends, 1) == [None]
    pool.close()


def test_a_thread_whose_start_was_interrupted_is_closed_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool, ends = Pool(), Ends()
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        start(thread)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            pool.submit(lambda: None, ends)
    (thread,) = pool._threads
    pool.close()
    assert not thread.is_alive()


AT_EXIT = """
import atexit
import numpy as np

def last():
    print(halvings(x).tobytes() == want)

atexit.register(last)  # before the package's own
from tests.runtime.test_watchdog import halvings

x = np.full(5000, 3.0, np.float32)
want = halvings(x).tobytes()
"""


def test_a_kernel_runs_in_a_process_that_has_closed_its_pool() -> None:
    assert run_program(AT_EXIT) == "True\n"


def test_what_a_task_raises_is_told_and_its_thread_goes_on() -> None:
    pool, ends = Pool(), Ends()

    def fail() -> None:
        raise SystemExit("enough")

    pool.submit(fail, ends)
    assert isinstance(all_of(ends, 1)[0], SystemExit)
    pool.submit(lambda: None, ends)
    assert all_of(ends, 2)[1] is None
    pool.close()


def test_where_no_thread_can_be_started_the_others_take_the_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool, ends = Pool(), Ends()
    release = threading.Event()

    def wait() -> None:
        release.wait(60)

    pool.submit(wait, ends)

    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        pool.submit(lambda: None, ends)
        release.set()
        assert all_of(ends, 2) == [None, None]
        with pytest.raises(RuntimeError, match="can't start"):
            Pool().submit(lambda: None, ends)
    pool.close()


def test_a_process_ends_while_its_threads_wait_for_work() -> None:
    text = (
        "from dynamis.runtime.pool import Ends, pool\n"
        "done = Ends()\n"
        "for _ in range(4): pool().submit(lambda: None, done)\n"
        "for _ in range(4): done.wait(60)\n"
        "pool().submit(lambda: print('last'), done)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "last\n", "")


def test_tasks_are_let_go_when_they_end() -> None:
    class Held:
        pass

    pool, ends = Pool(), Ends()
    held = Held()
    seen = weakref.ref(held)

    def task(_: object = held) -> None:
        pass

    pool.submit(task, ends)
    all_of(ends, 1)
    del task, held
    assert seen() is None
    pool.close()
