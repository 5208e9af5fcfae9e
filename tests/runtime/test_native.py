"""Native kernels as objects: threads, forks, interruption, floating-point modes, stages, faults."""

from __future__ import annotations

import ctypes
import ctypes.util
import gc
import os
import pathlib
import subprocess
import sys
import threading

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, Rows, f32, i32
from dynamis.kernel import FaultKind, validate
from dynamis.lower import CallClass, lower
from dynamis.runtime.native import InputChanged, NativeKernel, StageError
from dynamis.runtime.stages import STAGES
from tests.programs import run_ast


@dy.kernel
def thirds(a: Rows[f32]) -> Rows[f32]:
    return a.sample() / 3.0 + a.sample() * 0.1


@dy.kernel(budget=2**30)
def slow(n: i32 = 100) -> Grid[f32]:
    x = 0.0
    for _ in range(n):
        x = x * 0.5 + dy.coord().x
    return x


@dy.kernel
def steps(a: Rows[i32], k: i32 = 1) -> Rows[i32]:
    total = 0
    for j in range(k):
        total += a.at(dy.element() + j)
    return total


def native(kernel: dy.Kernel) -> NativeKernel:
    return NativeKernel(validate(kernel.module))


def test_many_threads_call_one_kernel_at_once() -> None:
    data = np.arange(50_000, dtype=np.int32) % 100
    want = steps(data, k=5)
    results: list[bytes] = []

    def call() -> None:
        results.append(steps(data, k=5, threads=2).tobytes())

    callers = [threading.Thread(target=call) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert results == [want.tobytes()] * 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_makes_a_pool_of_its_own() -> None:
    data = np.arange(300_000, dtype=np.int32) % 100
    want = steps(data, k=3, threads=2)  # the parent's pool now exists
    pid = os.fork()
    if pid == 0:
        same = steps(data, k=3, threads=2).tobytes() == want.tobytes()
        os._exit(0 if same else 1)
    assert os.waitpid(pid, 0)[1] == 0


def test_an_error_of_the_progress_function_stops_the_run_and_reaches_the_caller() -> None:
    kernel = native(slow)
    out = np.zeros((400, 400), np.float32)

    def progress(done: int, blocks: int) -> None:
        raise RuntimeError("enough")

    params = [p.default for p in kernel.module.manifest.params]
    with pytest.raises(RuntimeError, match="enough"):
        kernel.run([], params, [out], out.shape, 2, progress)
    assert kernel.run([], params, [out], out.shape, 2) is None  # the pool still works


def test_progress_counts_blocks_up_to_all_of_them() -> None:
    kernel = native(slow)
    seen: list[tuple[int, int]] = []
    out = np.zeros((500, 500), np.float32)
    params = [p.default for p in kernel.module.manifest.params]
    kernel.run([], params, [out], out.shape, 2, lambda done, all: seen.append((done, all)))
    assert seen
    assert seen[-1][0] == seen[-1][1]
    assert [d for d, _ in seen] == sorted(d for d, _ in seen)


@dy.kernel(budget=2**30)
def remainders(n: i32 = 100) -> Rows[f32]:
    x = f32(dy.element())
    for _ in range(n):
        x = (x * 1.7) % 3.1 + (x % 0.7) % 0.3
    return x


CTRL_C = """
import os, signal
from tests.runtime.test_native import remainders, slow

signal.signal(signal.SIGINT, signal.default_int_handler)  # the parent may have ignored it
kernel, keywords = {call}
kernel(**{{**keywords, "n": 1}})
try:
    kernel(**keywords, progress=lambda done, blocks: os.kill(os.getpid(), signal.SIGINT))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.parametrize(
    "call",
    [
        "slow, dict(n=1_000_000, shape=(4000, 4000), threads=2)",  # many blocks
        "remainders, dict(n=2**29, shape=(20_000,), threads=2)",  # a block takes hours
        "remainders, dict(n=2**29, shape=(3,), threads=1)",  # so does an element
    ],
)
def test_ctrl_c_ends_a_run_that_would_take_hours(call: str) -> None:
    assert run_program(CTRL_C.format(call=call)) == "interrupted\n"


FORK = """
import os, threading
import numpy as np
from tests.runtime.test_native import remainders, steps

busy = threading.Event()

def compile_often():
    for width in (1, 2, 4, 8, 16):
        busy.set()
        remainders.options(width=width)(n=1, shape=(50,))

worker = threading.Thread(target=compile_often)
worker.start()
busy.wait()
statuses = []
for _ in range(4):
    pid = os.fork()
    if pid == 0:
        data = np.arange(100, dtype=np.int32)
        os._exit(0 if steps.options(width=2)(data, k=2).shape == (100,) else 1)
    statuses.append(os.waitpid(pid, 0)[1])
worker.join()
print(statuses)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_forked_while_another_thread_compiles_can_compile_and_call() -> None:
    assert run_program(FORK) == "[0, 0, 0, 0]\n"


def run_program(text: str) -> str:
    """What a program prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", text],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=pathlib.Path(__file__).parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_input_that_changes_during_a_run_is_named_as_the_cause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = native(second_word)
    failing, sound = np.full(40, 4, np.int32), np.zeros(40, np.int32)
    out = np.zeros(40, np.int32)
    search = kernel._search
    # another thread writes between the run and the search
    monkeypatch.setattr(
        kernel, "_search", lambda call, arrays, *rest: search(call, [sound, out], *rest)
    )
    with pytest.raises(InputChanged, match="another thread changed an input"):
        kernel.run([failing], [], [out], (40,), 1)


def test_the_callers_rounding_mode_neither_reaches_a_kernel_nor_is_lost() -> None:
    name = ctypes.util.find_library("m")
    assert name is not None
    libm = ctypes.CDLL(name)
    upward = 0x800 if sys.platform != "darwin" and os.uname().machine == "x86_64" else 0x400000
    data = np.linspace(0.1, 7, 64, dtype=np.float32)
    want = thirds(data)
    nearest = libm.fegetround()
    assert libm.fesetround(upward) == 0
    try:
        got = thirds(data, threads=1)
        kept = libm.fegetround()
    finally:
        libm.fesetround(nearest)
    assert kept == upward
    assert got.tobytes() == want.tobytes()


def test_subnormals_are_kept() -> None:
    data = np.full(40, 1e-45, np.float32)
    assert np.array_equal(thirds(data) > 0, np.zeros(40, bool))
    assert (dy.kernel(halve_subnormal)(np.full(40, 4e-45, np.float32)) > 0).all()


def halve_subnormal(a: Rows[f32]) -> Rows[f32]:
    return a.sample() * 0.5


def test_each_stage_prints_its_own_language() -> None:
    kernel = native(steps)
    texts = {name: kernel.stage(name) for name in STAGES}
    assert "kernel steps@1" in texts["kernel"]
    assert "Ops.SINK" in texts["uop"]
    assert "Ops.END" in texts["program"]
    assert "define internal void @body" in texts["llvm"]
    assert "body:" in texts["asm"]


def test_a_stage_that_does_not_exist_is_refused() -> None:
    with pytest.raises(StageError, match="kernel, uop, program, llvm, asm"):
        native(steps).stage("wasm")


def test_dropping_kernels_frees_their_code_in_any_order() -> None:
    for _ in range(10):
        kernel = native(thirds)
        cycle: list[object] = [kernel]
        cycle.append(cycle)
        out = np.zeros(16, np.float32)
        kernel.run([np.ones(16, np.float32)], [], [out], (16,), 1)
        del kernel, cycle
    gc.collect()
    assert thirds(np.ones(8, np.float32)).shape == (8,)


@dy.kernel
def second_word(a: Rows[i32]) -> Rows[i32]:
    x = a.sample() + 1
    return 100 // (x - 5) + 2_000_000_000 * x


def test_the_first_fault_of_the_lowest_element_is_found_with_its_operands() -> None:
    data = np.zeros(5000, np.int32)
    data[3000:] = 4  # divides by zero
    data[4000:] = 2**31 - 1  # would overflow first
    with pytest.raises(dy.KernelFault) as caught:
        second_word(data, threads=3)
    fault = caught.value.fault
    assert (fault.element, fault.kind) == (3000, FaultKind.DIVISION_BY_ZERO)
    assert fault.operands == (100, 0)
    data[10] = 2**31 - 1
    with pytest.raises(dy.KernelFault) as caught:
        second_word(data, threads=3)
    fault = caught.value.fault
    assert (fault.element, fault.kind) == (10, FaultKind.OVERFLOW)
    assert fault.operands == (2**31 - 1, 1)
    assert "a.sample() + 1" in str(caught.value)


def test_wide_indices_give_the_same_words() -> None:
    module = gather.module
    data = np.linspace(-5, 120, 100, dtype=np.float32)
    for width in (1, 8):
        out = np.zeros(100, np.float32)
        run_ast(lower(module, CallClass((True,), wide=True)).root, [data, out], width)
        assert out.tobytes() == gather(data).tobytes()


@dy.kernel
def gather(a: Rows[f32]) -> Rows[f32]:
    return a.at(i32(a.sample())) + a.sample()


@dy.kernel(budget=2**30)
def endless(a: Rows[i32]) -> Rows[i32]:
    n = a.sample()
    for _ in range(n):
        n = dy.add_wrap(n, 3)
    return n


def test_a_loop_that_reaches_the_largest_budget_fails_and_is_not_cut_short() -> None:
    with pytest.raises(dy.KernelFault) as caught:
        endless(np.full(8, 2**30, np.int32))
    assert caught.value.fault.kind is FaultKind.BUDGET
    assert caught.value.fault.operands == (2**30 - 1,)
