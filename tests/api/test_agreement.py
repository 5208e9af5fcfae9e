"""The reference interpreter and native code give the same words and the same faults.

Three sources of kernels: the examples, kernels written to fault, and random modules. A NaN made by
arithmetic is canonical, so results are compared as words.
"""

from __future__ import annotations

import importlib.util
import itertools
import pathlib
import sys
from random import Random

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, Rows, f32, i32, ivec2, vec2
from dynamis.codegen import Options
from dynamis.kernel import FaultKind, interpret, validate
from dynamis.kernel.types import Type
from dynamis.render import Machine
from dynamis.runtime import compiler
from dynamis.runtime.native import NativeKernel
from tests.kernel.strategies import NATIVE, random_module, random_run

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
WIDTHS = (1, 3, 7, 8, 9, 31, 1000)
SEED = 20261130
FLOATS = np.array(
    [0.0, -0.0, 1.0, -1.0, 0.5, np.nan, np.inf, -np.inf, 1e-45, -1e-45, 1e-38, 3.4e38, -3.4e38]
    + [255.0, 16777217.0, -7.25, 2147483648.0],
    np.float32,
)
STORAGE = {
    Type.FLOAT: np.float32,
    Type.DOUBLE: np.float64,
    Type.INT: np.int32,
    Type.BOOL: np.uint8,
}


def example(name: str) -> dy.Kernel:
    """The kernel of an example file that has its file's name."""
    sys.path.insert(0, str(EXAMPLES))
    try:
        spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(EXAMPLES))
    kernel = getattr(module, name)
    assert isinstance(kernel, dy.Kernel)
    return kernel


def hostile(shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Random floats, a third of them edge values."""
    ordinary = rng.random(shape, np.float32) * 4 - 1
    return np.where(rng.random(shape) < 0.33, rng.choice(FLOATS, shape), ordinary)


def same(kernel: dy.Kernel, *inputs: np.ndarray, **keywords: object) -> None:
    want = kernel(*inputs, backend="reference", **keywords)
    for threads in (1, 2, 3):
        got = kernel(*inputs, threads=threads, **keywords)
        assert got.tobytes() == want.tobytes(), threads


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["blur", "sobel", "life"])
def test_an_example_agrees_on_hostile_inputs(name: str, width: int) -> None:
    rng = np.random.default_rng(SEED + width)
    shape = (1 if width > 100 else 3, width)
    if name == "life":
        same(example(name), rng.random(shape) < 0.4)
        return
    image = hostile((*shape, 4), rng).astype(np.float32)
    same(example(name), image, **({"radius": 1} if name == "blur" else {}))


@pytest.mark.parametrize("width", WIDTHS)
def test_a_generated_example_agrees(width: int) -> None:
    same(example("mandelbrot"), shape=(1 if width > 100 else 5, width))


@pytest.mark.parametrize("width", [1, 9, 31])
def test_a_ray_marched_example_agrees(width: int) -> None:
    same(example("raymarch"), shape=(2, width), samples=1)


@pytest.mark.parametrize("width", [1, 7, 8, 31])
def test_the_examples_of_a_volume_and_of_two_outputs_agree(width: int) -> None:
    rng = np.random.default_rng(SEED + width)
    same(example("noise3d"), shape=(2, 3, width), octaves=2)
    u, v = (hostile((3, width), rng).astype(np.float32) for _ in range(2))
    kernel = example("reaction_diffusion")
    want = kernel(u, v, backend="reference")
    for threads in (1, 2, 3):
        got = kernel(u, v, threads=threads)
        assert [a.tobytes() for a in got] == [a.tobytes() for a in want]


@dy.kernel
def accumulate(a: Rows[i32], limit: i32 = 40) -> Rows[i32]:
    total = a.sample()
    for k in range(limit):
        if total > 2_000_000_000:
            break
        total = total * 3 + a.at(dy.element() + k - 2) // (k - a.sample())
    return total


@dy.kernel(budget=3000)
def halving(a: Rows[f32]) -> Rows[i32]:
    x = a.sample()
    n = 0
    while x > 1.0:
        x = x * 0.5
        n += 1
    return n


@dy.kernel(budget=3000)
def spin(a: Rows[i32]) -> Rows[i32]:
    n = a.sample()
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@dy.kernel
def growing(a: Rows[f32]) -> Rows[f32]:
    x, k = a.sample(), 0
    while x < 1e3 and k < 40:
        x = x * 1.5 + a.at(dy.element() + 1)
        k += 1
    return x + a.at(dy.element() - 2)


@pytest.mark.parametrize("size", WIDTHS)
def test_a_loop_that_ends_early_agrees_beside_near_reads(size: int) -> None:
    data = hostile((size,), np.random.default_rng(SEED + size)).astype(np.float32)
    want = growing(data, backend="reference")
    for width in (1, 2, 8, 16):
        assert growing.options(width=width)(data).tobytes() == want.tobytes(), width


def outcome(kernel: dy.Kernel, data: np.ndarray, **keywords: object) -> object:
    try:
        return kernel(data, **keywords).tobytes()
    except dy.KernelFault as error:
        return error.fault, error.coordinate, str(error)


@pytest.mark.parametrize("size", WIDTHS)
@pytest.mark.parametrize("kernel", [accumulate, halving, spin], ids=lambda k: k.__name__)
def test_faults_and_words_agree(kernel: dy.Kernel, size: int) -> None:
    rng = np.random.default_rng(SEED + size)
    for attempt in range(4):
        if kernel is halving:
            data = hostile((size,), rng).astype(np.float32)
        else:
            data = rng.integers(1 - (attempt == 3), 30, size).astype(np.int32)
        want = outcome(kernel, data, backend="reference")
        for threads, width in itertools.product((1, 2, 3), (1, 8)):
            got = outcome(kernel.options(width=width), data, threads=threads)
            assert got == want, (threads, width)


def test_an_infinite_loop_is_a_budget_fault_at_the_first_element_that_has_it() -> None:
    data = np.full(1000, 8, np.int32)
    data[[500, 700]] = 0  # 0 halves to 0 for ever
    with pytest.raises(dy.KernelFault) as caught:
        spin(data)
    assert caught.value.fault.kind is FaultKind.BUDGET
    assert caught.value.fault.element == 500
    assert "while n != 1" in str(caught.value)


@dy.kernel
def corners(a: Grid[i32], b: Grid[i32]) -> tuple[Grid[ivec2], Grid[vec2]]:
    x, y = a.sample(), b.sample()
    q = ivec2(x // y, x % y)
    return q, vec2(f32(x) / f32(y), f32(x) % f32(y))


def test_division_agrees_over_all_pairs_of_edges() -> None:
    edges = np.array([0, 1, -1, 2, -2, 3, 7, -7, 2**31 - 1, -(2**31), 65536, -65537], np.int32)
    a, b = np.meshgrid(edges, edges)
    for x, y in zip(a.reshape(-1, 1, 1), b.reshape(-1, 1, 1), strict=True):
        results = []
        for backend in ("reference", "cpu"):
            try:
                results.append([r.tobytes() for r in corners(x, y, backend=backend)])
            except dy.KernelFault as error:
                results.append([error.fault])
        assert results[0] == results[1], (x, y)


def run_random(seed: int, widths: tuple[int, ...]) -> bool:
    """Whether the random run faulted; asserts that every width agrees with the reference."""
    rng = Random(seed)
    module = random_module(rng, scope=NATIVE)
    run = random_run(rng, module)
    validated = validate(module)
    want = interpret(validated, run.inputs, run.params, run.extent)

    def words(numbers: object, element: Type, extent: tuple[int, ...]) -> np.ndarray:
        shape = extent + ((element.lanes,) if element.lanes > 1 else ())
        return np.array(numbers, STORAGE[element.component]).reshape(shape)

    inputs = [
        words(field.words, port.element, field.extent)
        for port, field in zip(module.manifest.inputs, run.inputs, strict=True)
    ]
    for width, threads in itertools.product(widths, (1, 2)):
        kernel = NativeKernel(validated, Options(width=width))
        outputs = [
            words(np.zeros(int(np.prod(run.extent)) * p.element.lanes), p.element, run.extent)
            for p in module.manifest.outputs
        ]
        fault = kernel.run(inputs, run.params, outputs, run.extent, threads)
        assert fault == want.fault, (seed, width, threads)
        if want.outputs is not None:
            for port, got, numbers in zip(
                module.manifest.outputs, outputs, want.outputs, strict=True
            ):
                expected = words(numbers, port.element, run.extent)
                assert got.tobytes() == expected.tobytes(), (seed, width, threads)
    return want.fault is not None


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_random_modules_agree(first: int) -> None:
    print("seeds", SEED + first, "to", SEED + first + 19)
    faults = sum(
        run_random(SEED + first + k, ((1, 8), (4,), (32,), (16,), (2, 64))[k % 5])
        for k in range(20)
    )
    assert faults < 20  # some runs give words


@pytest.mark.parametrize("vector_bytes", [16, 32, 64])
@pytest.mark.parametrize("mask_registers", [False, True])
def test_random_modules_agree_however_vectors_and_masks_are_kept(
    mask_registers: bool, vector_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x86 = compiler.host().x86
    monkeypatch.setattr(compiler, "host", lambda: Machine(x86, mask_registers, vector_bytes))
    for k in range(12):
        run_random(SEED + 500 + k, ((8,), (16,), (32,))[k % 3])
    want = spin.options(width=1)(np.arange(1, 90, dtype=np.int32))
    assert np.array_equal(spin.options(width=4)(np.arange(1, 90, dtype=np.int32)), want)
