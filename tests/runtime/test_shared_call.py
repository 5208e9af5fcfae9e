"""Runs that the native call path shares with threads that are awake."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, Rows, f32, i32, vec2, vec3, vec4
from dynamis.runtime import dispatch, native, relay, streaming
from dynamis.runtime.plan import least_columns, plan

pytestmark = pytest.mark.skipif(not relay.relays(), reason="no relay on this machine")


@dy.kernel
def smooth(image: Grid[f32]) -> Grid[f32]:
    c = dy.coord()
    total = image.at(c)
    for k in range(12):
        total += dy.sqrt(dy.abs(image.at(c + vec2(k % 3 - 1, k % 5 - 2))))
    return total


@dy.kernel
def rooted(a: Rows[f32]) -> Rows[f32]:
    x = a.sample()
    for _ in range(30):
        x = dy.sqrt(x * x + 1.0)
    return x


@dy.kernel
def inverse(a: Rows[i32]) -> Rows[i32]:
    total = 0
    for k in range(1, 25):
        total += 1000 // (a.sample() + k)
    return total


@dy.kernel
def near(a: Rows[f32], b: Rows[f32]) -> Rows[f32]:
    total = 0.0
    for j in range(b.count):
        total += dy.abs(a.sample() - b.at(j))
    return total


@pytest.fixture
def helper() -> Iterator[relay.Slot]:
    """The only thread of the crew; it is awake while the test runs."""
    crew, over, slot = relay.crew, threading.Event(), relay.Slot()
    before = crew.count, crew.threads, crew.slots[0]
    crew.count = 0
    relay.join(slot, 2)

    def stay() -> None:
        while not over.is_set():
            slot.linger()

    thread = threading.Thread(target=stay)
    thread.start()
    yield slot
    over.set()
    thread.join()
    crew.slots[0] = before[2]
    crew.count, crew.threads = before[:2]


def tickets(slot: relay.Slot) -> int:
    """How many runs were posted to a thread."""
    return int(slot._words[1])


def warm(kernel: dy.Kernel, a: np.ndarray) -> None:
    """Let a kernel go native for calls of this kind."""
    for _ in range(3):
        kernel(a, threads=1)


@pytest.mark.parametrize("shape", [(517, 1031), (3, 200_000), (4000, 130), (1, 400_001), (900, 40)])
def test_shared_runs_give_the_words_of_one_thread(
    shape: tuple[int, int], helper: relay.Slot
) -> None:
    image = np.random.default_rng(5).random(shape, np.float32)
    want = smooth(image, threads=1)
    warm(smooth, image)
    for _ in range(200):
        assert smooth(image, threads=2).tobytes() == want.tobytes()
        if tickets(helper):
            break
    assert tickets(helper)


def all_near(a: np.ndarray, **how: object) -> np.ndarray:
    """A run that takes long only because an input has many elements."""
    return near(a, np.resize(a, 3000), **how)


@pytest.mark.parametrize(("kernel", "n"), [(rooted, 100_003), (all_near, 700)])
def test_a_shared_run_of_rows_needs_no_python(
    helper: relay.Slot, monkeypatch: pytest.MonkeyPatch, kernel: dy.Kernel, n: int
) -> None:
    a = np.random.default_rng(6).random(n, np.float32)
    want, out = kernel(a, threads=1), np.empty_like(a)
    warm(kernel, a)
    called: list[int] = []
    original = dispatch.call
    monkeypatch.setattr(dispatch, "call", lambda *x, **y: (called.append(1), original(*x, **y))[1])
    for k in range(200):
        before = tickets(helper)
        out[:] = 0.0
        assert kernel(a, out=out, threads=None if k % 2 else 7) is out
        assert out.tobytes() == want.tobytes()
        if tickets(helper) > before and not called:
            return
        called.clear()
    raise AssertionError("no run was shared natively")


def test_a_long_run_on_one_thread_needs_no_python(monkeypatch: pytest.MonkeyPatch) -> None:
    a = np.random.default_rng(6).random(100_003, np.float32)
    want = rooted(a, threads=2)
    warm(rooted, a)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a call took the Python path")

    monkeypatch.setattr(dispatch, "call", refuse)
    assert rooted(a, threads=1).tobytes() == want.tobytes()


@dy.kernel
def graded(image: Grid[vec4], gain: f32 = 2.0) -> Grid[vec4]:
    return image.sample() * gain


@dy.kernel
def divided(a: Rows[i32]) -> tuple[Rows[i32], Rows[vec3]]:
    return a.sample() // 3, vec3(f32(a.sample()))


def misplaced(like: np.ndarray, offset: int) -> np.ndarray:
    """An array of the same form that starts ``offset`` bytes past a cache line."""
    room = np.zeros(like.nbytes + 256, np.uint8)
    start = -room.ctypes.data % 64 + offset
    return room[start : start + like.nbytes].view(like.dtype).reshape(like.shape)


@pytest.mark.parametrize("offset", [0, 4, 16, 52])
def test_runs_that_stream_need_no_python(offset: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(9)
    image, a = rng.random((40, 71, 4), np.float32), rng.integers(-9, 9, 5003).astype(np.int32)
    narrow = rng.random((500, 3, 4), np.float32)  # takes a program of one lane
    want = (
        graded(image, backend="reference"),
        graded(narrow, backend="reference"),
        *divided(a, backend="reference"),
    )
    monkeypatch.setattr(streaming, "last_level_cache", lambda: 0)
    decided: list[bool] = []
    asked = native.streams

    def streams(*arrays: object) -> bool:
        decided.append(asked(*arrays))  # type: ignore[arg-type]
        return decided[-1]

    monkeypatch.setattr(native, "streams", streams)
    grade, divide = (k.options(width=16) for k in (graded, divided))  # not native yet
    outs = tuple(misplaced(wanted, offset) for wanted in want)

    def run() -> None:
        grade(image, out=outs[0], threads=1)
        grade(narrow, out=outs[1], threads=1)
        divide(a, out=outs[2:], threads=1)

    for _ in range(3):
        run()
    # an output that starts within an element does not stream
    assert set(decided) == ({True} if offset % 16 == 0 else {True, False})

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a call took the Python path")

    monkeypatch.setattr(dispatch, "call", refuse)
    for out in outs:
        out[:] = 0
    run()
    assert all(out.tobytes() == wanted.tobytes() for out, wanted in zip(outs, want, strict=True))


def test_a_fault_of_a_shared_run_is_the_first_one(helper: relay.Slot) -> None:
    a = np.full(200_000, 5, np.int32)
    warm(inverse, a)
    a[[70_007, 150_000]] = -3
    for _ in range(200):
        with pytest.raises(dy.KernelFault, match="70007"):
            inverse(a, threads=2)
        if tickets(helper):
            break
    assert tickets(helper)


def test_without_a_thread_that_is_awake_the_python_path_runs() -> None:
    a = np.random.default_rng(7).random(100_003, np.float32)
    warm(rooted, a)
    assert rooted(a, threads=2).tobytes() == rooted(a, threads=1).tobytes()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_has_no_crew(helper: relay.Slot) -> None:
    assert relay.crew.count == 1
    child = os.fork()
    if child == 0:
        os._exit(10 + relay.crew.count)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 10
    assert relay.crew.count == 1


def test_a_plan_covers_the_domain_once() -> None:
    rng = np.random.default_rng(8)
    for _ in range(500):
        rows, columns = int(rng.integers(1, 5000)), int(rng.integers(1, 5000))
        width = int(rng.choice([w for w in (1, 8, 32, 64) if w <= columns]))
        typical, threads, together = (int(rng.integers(1, n)) for n in (3000, 9, 3))
        cut = plan(typical, (rows, columns), threads, width, together)
        assert cut.units == -(-rows // together) * cut.segments
        assert (cut.blocks - 1) * cut.unit_block < cut.units <= cut.blocks * cut.unit_block
        last = columns - (cut.segments - 1) * cut.segment_columns
        assert last >= cut.segment_columns >= min(width, columns)


@pytest.mark.parametrize(
    ("typical", "least"), [(1, 8 * 64), (128, 8 * 64), (200, 6 * 64), (1024, 64), (10**9, 64)]
)
def test_a_part_of_a_row_is_long_beside_starting_it(typical: int, least: int) -> None:
    assert least_columns(typical, 64) == least
    assert plan(typical, (64 * 100,), 8, 64).segment_columns >= least
