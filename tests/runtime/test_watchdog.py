"""Runs that may take long, on the calling thread: trusted, watched, stopped and done again."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from queue import Empty

import numpy as np
import pytest

import dynamis as dy
from dynamis import Rows, f32, i32
from dynamis.render import CONTROL
from dynamis.runtime import native_call, watchdog
from dynamis.runtime.callable_type import supported
from dynamis.runtime.watchdog import Trust, Watchdog
from tests.runtime.test_native import run_program

pytestmark = pytest.mark.skipif(not supported(), reason="this Python has no native call path")

SOON, LATE = watchdog.SOON / 2, watchdog.SOON * 2
STOP = CONTROL.index("stop")


@dy.kernel(budget=2**30)
def halvings(x: Rows[f32], least: f32 = 1.0, again: i32 = 1) -> Rows[f32]:
    count = 0.0
    for _ in range(again):
        value = x.sample()
        while value > least:
            value = value * 0.5
            count += 1.0
    return count


@dy.kernel
def quotients(x: Rows[i32], by: i32 = 3) -> Rows[i32]:
    value, total = x.sample(), 0
    while value > 0:
        total += 1000 // (value - by)
        value -= 1
    return total


X = np.random.default_rng(21).uniform(0.0, 100.0, 3000).astype(np.float32)


def trusted(monkeypatch: pytest.MonkeyPatch, kernel: dy.Kernel, x: np.ndarray) -> dy.Kernel:
    """The kernel anew, with runs on arrays like ``x`` on the calling thread."""
    fresh = dy.kernel(kernel.__wrapped__, budget=kernel.manifest.budget)
    with monkeypatch.context() as patch:
        patch.setattr(watchdog, "SOON", 1e9)
        while not (fresh._native_entry and fresh._source.native(None).trust.holds):
            fresh(x)
            fresh(x, out=np.empty_like(x))
    return fresh


def watched(run: Callable[[], object]) -> bool:
    """Whether a run was watched, with the watchdog awake."""
    watchdog.watchdog.wake()
    while not watchdog.watchdog.watch.awake:
        watchdog.watchdog.wake()
    before = watchdog.watchdog.watch.runs
    run()
    return watchdog.watchdog.watch.runs > before


def test_a_kernel_is_trusted_once_its_runs_are_over_soon() -> None:
    trust = Trust()
    seen = []
    for seconds in (SOON, LATE, SOON, SOON, LATE, SOON, SOON, SOON, SOON, LATE, LATE):
        trust.note(seconds)
        seen.append(trust.holds)
    # after each time that it was trusted and late, twice as many have to be soon
    want = [False, False, False, True, False, False, False, False, True, False, False]
    assert seen == want
    for _ in range(8):
        assert not trust.holds
        trust.note(SOON)
    assert trust.holds


def test_trust_that_native_code_took_back_has_to_be_earned_again() -> None:
    trust = Trust()
    for _ in range(2):
        trust.note(SOON)
    assert trust.holds
    trust.word.value = 0
    seen = []
    for _ in range(5):
        trust.note(SOON)  # the Python path has more threads: it is over soon there
        seen.append(trust.holds)
    assert seen == [False, False, False, False, True]


def test_a_kernel_that_is_never_soon_for_long_needs_a_thousand_runs_at_most() -> None:
    trust, tried = Trust(), []
    for _ in range(20):
        tried.append(0)
        while not trust.holds:
            trust.note(SOON)
            tried[-1] += 1
        trust.note(LATE)
    assert tried == [2 ** min(k + 1, 10) for k in range(20)]


def test_only_a_run_that_is_seen_twice_is_stopped() -> None:
    dog = Watchdog()
    watch = dog.watch
    assert dog.look(0) == 0
    assert not watch.control[STOP]
    watch.runs, watch.running = 1, 1
    assert dog.look(0) == 1
    assert not watch.control[STOP]
    watch.runs = 2  # the next
    assert dog.look(1) == 2
    assert not watch.control[STOP]
    watch.running = 0
    assert dog.look(2) == 2
    assert not watch.control[STOP]
    watch.running = 1
    assert dog.look(2) == 2
    assert watch.control[STOP]


class Ticks:
    """Stands for the queue that the watchdog waits at: ``step`` is called at each wait, and says
    with what it ends."""

    def __init__(self, step: Callable[[float | None], bool | None]) -> None:
        self._step = step

    def get(self, timeout: float | None) -> bool:
        call = self._step(timeout)
        if call is None:
            raise Empty
        return call


def test_a_watchdog_that_falls_asleep_sees_a_run_that_has_just_begun() -> None:
    dog, waits = Watchdog(), []
    watch = dog.watch

    def step(timeout: float | None) -> bool | None:
        waits.append(timeout)
        if len(waits) == 1:
            return True  # it is called
        if not watch.awake and not watch.runs:
            watch.runs, watch.running = 1, 1  # native code looked just before it said so
        if watch.control[STOP]:
            watch.running = 0
        return False if timeout is None else None

    dog._work(Ticks(step))
    assert watch.control[STOP]
    assert not watch.awake
    assert waits[-1] is None


def test_a_signal_handler_that_wakes_a_watchdog_as_it_starts_starts_no_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dog, started = Watchdog(), []
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        started.append(thread)
        dog.wake()
        start(thread)
        dog.wake()
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        dog.wake()
    dog.wake()
    assert len(started) == 1
    dog.close()
    assert not started[0].is_alive()
    assert not dog.watch.awake


def test_a_watchdog_whose_thread_cannot_start_stays_asleep(monkeypatch: pytest.MonkeyPatch) -> None:
    dog = Watchdog()

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        for _ in range(3):
            dog.wake()
    assert dog._thread is None
    assert dog._calls.empty()
    dog.wake()
    while not dog.watch.awake:
        pass
    dog.close()


def test_another_thread_does_not_wake_a_watchdog() -> None:
    dog = Watchdog()
    thread = threading.Thread(target=dog.wake)
    thread.start()
    thread.join()
    assert dog._thread is None
    dog.close()


@pytest.mark.parametrize("count", [1, 100, 3000, 100_000])
@pytest.mark.parametrize("threads", [1, 2, None])
def test_a_trusted_kernels_runs_are_watched_and_give_the_same_words(
    monkeypatch: pytest.MonkeyPatch, count: int, threads: int | None
) -> None:
    x = np.resize(X, count)
    kernel = trusted(monkeypatch, halvings, x)
    want, out = halvings.__call__(x).tobytes(), np.empty_like(x)
    if count < 100_000:  # else another thread has to be awake
        assert watched(lambda: kernel(x, out=out, threads=threads))
        assert out.tobytes() == want
    for _ in range(20):
        out[:] = -1.0
        kernel(x, out=out, threads=threads)
        assert out.tobytes() == want


def test_other_threads_runs_go_to_the_python_path(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, results, handed = trusted(monkeypatch, halvings, X), [], []
    kernel.__call__ = lambda *args: handed.append(args) or halvings.__call__(*args)
    thread = threading.Thread(target=lambda: results.append(kernel(X)))

    def run() -> None:
        thread.start()
        thread.join()

    assert not watched(run)
    assert len(handed) == 1
    assert results[0].tobytes() == halvings.__call__(X).tobytes()


def test_a_fault_is_that_of_the_python_path(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.arange(3000, dtype=np.int32) % 50
    kernel = trusted(monkeypatch, quotients, np.zeros_like(x))
    errors = []
    for run in (kernel, quotients.__call__):
        with pytest.raises(dy.KernelFault) as caught:
            run(x)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
    assert watched(lambda: kernel(np.zeros_like(x)))


@pytest.mark.parametrize("count", [3, 3000, 50_000])  # the last is several blocks
def test_a_run_that_is_stopped_is_done_again(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    x, handed = np.resize(X, count), []
    kernel = trusted(monkeypatch, halvings, x)
    again = 2**26 // count
    want = halvings.__call__(x, again=again).tobytes()
    kernel.__call__ = lambda *args, **keywords: (  # what the native path calls
        handed.append(keywords) or halvings.__call__(*args, **keywords)
    )
    while not handed:  # the run takes many ticks
        out = np.full_like(x, -1.0)
        assert watched(lambda out=out: kernel(x, again=again, out=out, threads=1))
        assert out.tobytes() == want


def test_a_kernel_whose_runs_take_long_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = dy.kernel(halvings.__wrapped__)
    monkeypatch.setattr(watchdog, "SOON", 0.0)
    for _ in range(5):
        kernel(X)
    assert not kernel._native_entry


def test_a_kernel_that_has_lost_its_trust_goes_to_the_python_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = trusted(monkeypatch, halvings, X)
    assert watched(lambda: kernel(X))
    kernel._source.native(None).trust.note(LATE)
    assert not watched(lambda: kernel(X))


def test_a_kernel_whose_runs_should_have_had_more_threads_loses_its_trust(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = X[:200]
    kernel = trusted(monkeypatch, halvings, x)
    trust = kernel._source.native(None).trust
    assert watched(lambda: kernel(x))
    assert trust.word.value == watchdog.TRUST
    again, left = 2**23 // x.size, []  # some milliseconds, less than a tick
    while trust.holds:
        kernel(x, again=again)
        left.append(trust.word.value)
    assert left == sorted(left, reverse=True)
    assert not watched(lambda: kernel(x))


def test_a_run_that_takes_long_as_a_rule_goes_to_the_python_path(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = trusted(monkeypatch, halvings, X)
    record = native_call.layout.Kernel.from_address(kernel._native_record)
    program = native_call.layout.Program.from_address(record.programs)
    limits = native_call.layout.Limits.from_address(program.limits)
    limits.soon = X.size
    assert watched(lambda: kernel(X))
    limits.soon = X.size - 1
    assert not watched(lambda: kernel(X))


CTRL_C = """
import os, signal, threading
import numpy as np
import pytest
from dynamis.runtime.watchdog import watchdog
from tests.runtime.test_watchdog import halvings, trusted

signal.signal(signal.SIGINT, signal.default_int_handler)  # the parent may have ignored it
x = np.full({count}, 2.0, np.float32)
kernel = trusted(pytest.MonkeyPatch(), halvings, x)
while not watchdog.watch.awake:
    pass
before = watchdog.watch.runs

def interrupt():
    while watchdog.watch.runs == before:
        pass
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    kernel(x, again=2**28, out=np.empty_like(x), threads={threads})
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize(("count", "threads"), [(3, 2), (5000, 1)])
def test_ctrl_c_reaches_a_run_on_the_main_thread(count: int, threads: int) -> None:
    assert run_program(CTRL_C.format(count=count, threads=threads)) == "interrupted\n"


FORK = """
import os, threading
import numpy as np
import pytest
from dynamis.runtime.watchdog import watchdog
from tests.runtime.test_watchdog import X, halvings, trusted, watched

kernel = trusted(pytest.MonkeyPatch(), halvings, X)
assert watched(lambda: kernel(X))
want = kernel(X).tobytes()

def child():
    assert not watchdog.watch.awake
    same = kernel(X).tobytes() == want
    os._exit(0 if same and watched(lambda: kernel(X)) else 1)

def fork():
    pid = os.fork()
    if pid == 0:
        child()
    statuses.append(os.waitpid(pid, 0)[1])

statuses = []
fork()
other = threading.Thread(target=fork)
other.start()
other.join()
print(statuses)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_has_a_watchdog_of_its_own() -> None:
    assert run_program(FORK) == "[0, 0]\n"
