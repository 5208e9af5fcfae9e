"""Runs handed to threads that are still awake."""

from __future__ import annotations

import ctypes
import threading

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, f32, vec2
from dynamis.runtime import relay
from dynamis.runtime.pool import Ends, Pool, pool

pytestmark = pytest.mark.skipif(not relay.relays(), reason="no relay on this machine")

ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


def entry_of(function: ENTRY) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value


def test_nothing_is_posted_to_a_thread_that_sleeps() -> None:
    slot = relay.Slot()
    assert slot.post(1, 2, 3, "kept") == 0
    slot._words[0] = 4  # another run is on it
    assert slot.post(1, 2, 3, "kept") == 0
    assert slot._keep is None


def test_a_post_that_nobody_takes_is_taken_back() -> None:
    slot = relay.Slot()
    slot._words[0] = 1
    ticket = slot.post(1, 2, 3, "kept")
    assert (ticket, slot._words[0], slot._keep) == (1, 3, "kept")
    assert slot.settled(ticket)
    assert slot._words[0] == 1


def test_a_run_is_waited_for_and_an_older_ticket_is_not() -> None:
    slot = relay.Slot()
    slot._words[:2] = 4, 7  # the run of ticket 7 goes on
    assert not slot.settled(7)
    assert slot.settled(6)


def test_a_lingering_thread_takes_what_is_posted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "LINGER", 10_000_000)
    slot, seen, both = relay.Slot(), [], threading.Event()

    def note(args: int, control: int) -> None:
        seen.append((args, control))
        if len(seen) == 2:
            both.set()

    function = ENTRY(note)
    thread = threading.Thread(target=slot.linger)
    thread.start()
    for k in (1, 2):
        while not (ticket := slot.post(entry_of(function), 16 * k, 16 * k + 8, function)):
            pass
        while len(seen) < k:
            pass
        while not slot.settled(ticket):
            pass
    assert both.wait(10)
    assert seen == [(16, 24), (32, 40)]
    thread.join()
    assert slot._words[0] == 0


def test_a_lingering_thread_takes_a_task_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "LINGER", 2**62)
    made, ends, taken = Pool(), Ends(), threading.Event()
    made.submit(lambda: None, ends)
    while not [slot for slot in tuple(made.awake) if slot._words[0] == 1]:
        pass
    monkeypatch.setattr(relay, "LINGER", 1)
    made.submit(taken.set, ends)
    assert taken.wait(30)
    made.close()


@dy.kernel
def smooth(image: Grid[f32]) -> Grid[f32]:
    c = dy.coord()
    return (image.at(c + vec2(-1, 0)) + image.at(c) + image.at(c + vec2(1, 1))) / 3.0


def test_runs_from_many_threads_in_a_row_give_the_same_words() -> None:
    image = np.random.default_rng(3).standard_normal((700, 900), np.float32)
    want, wrong = smooth(image, threads=1), []

    def many() -> None:
        for threads in (2, 3, 2, 1, 2, 5, 2, 2):
            if smooth(image, threads=threads).tobytes() != want.tobytes():
                wrong.append(threads)

    callers = [threading.Thread(target=many) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert wrong == []
    assert all(slot._words[0] in (0, 1) for slot in pool().awake)
