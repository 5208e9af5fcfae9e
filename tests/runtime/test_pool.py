"""The pool of threads: every task runs, its end is told, and no thread is left behind."""

from __future__ import annotations

import subprocess
import sys
import threading
import weakref
from queue import SimpleQueue

import pytest

from dynamis.runtime import pool as pools
from dynamis.runtime.pool import Pool


def test_tasks_run_side_by_side_and_more_than_threads_take_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pools, "_MOST", 3)
    pool, finished = Pool(), SimpleQueue[BaseException | None]()
    together = threading.Barrier(3, timeout=60)
    names: list[str] = []

    def task() -> None:
        together.wait()
        names.append(str(threading.get_ident()))

    for _ in range(9):
        pool.submit(task, finished)
    assert [finished.get(timeout=60) for _ in range(9)] == [None] * 9
    assert len(set(names)) == 3
    pool.close()


def test_a_thread_that_is_free_is_taken_before_one_is_started() -> None:
    pool, finished = Pool(), SimpleQueue[BaseException | None]()
    for _ in range(20):
        pool.submit(lambda: None, finished)
        finished.get(timeout=60)
    assert len(pool._threads) == 1
    pool.close()
    assert not pool._threads[0].is_alive()


def test_what_a_task_raises_is_told_and_its_thread_goes_on() -> None:
    pool, finished = Pool(), SimpleQueue[BaseException | None]()

    def fail() -> None:
        raise SystemExit("enough")

    pool.submit(fail, finished)
    error = finished.get(timeout=60)
    assert isinstance(error, SystemExit)
    pool.submit(lambda: None, finished)
    assert finished.get(timeout=60) is None
    pool.close()


def test_where_no_thread_can_be_started_the_others_take_the_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pool, finished = Pool(), SimpleQueue[BaseException | None]()
    release = threading.Event()

    def wait() -> None:
        release.wait(60)

    pool.submit(wait, finished)

    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        pool.submit(lambda: None, finished)
        release.set()
        assert [finished.get(timeout=60), finished.get(timeout=60)] == [None, None]
        with pytest.raises(RuntimeError, match="can't start"):
            Pool().submit(lambda: None, finished)
    pool.close()


def test_a_process_ends_while_its_threads_wait_for_work() -> None:
    text = (
        "from queue import SimpleQueue\n"
        "from dynamis.runtime.pool import pool\n"
        "done = SimpleQueue()\n"
        "for _ in range(4): pool().submit(lambda: None, done)\n"
        "for _ in range(4): done.get()\n"
        "pool().submit(lambda: print('last'), done)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "last\n", "")


def test_tasks_are_let_go_when_they_end() -> None:
    class Held:
        pass

    pool, finished = Pool(), SimpleQueue[BaseException | None]()
    held = Held()
    seen = weakref.ref(held)

    def task(_: object = held) -> None:
        pass

    pool.submit(task, finished)
    finished.get(timeout=60)
    del task, held
    assert seen() is None
    pool.close()
