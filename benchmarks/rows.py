"""The rows of the table: what each computes, on what, how answers are compared, and the goal.

Plain NumPy only, so that a peer's process can read it without Dynamis. Sizes: `full` is the
table's, `quick` a quarter of the elements, `tiny` what the tests use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]
F = np.float32

LUMA = (0.299, 0.587, 0.114)
FUSED_A, FUSED_B = 1.5, 0.75
GAUSSIAN3 = (np.outer([1, 2, 1], [1, 2, 1]) / 16).astype(F)
CONVOLVE5 = np.random.default_rng(5).random((5, 5)).astype(F)
CONVOLVE5 = (CONVOLVE5 / CONVOLVE5.sum()).astype(F)
ITERATIONS = 256
PLANE = (-2.0, 0.5, -1.25, 1.25)
"""x0, x1, y0, y1 of the Mandelbrot row."""
BALLS = ((0.0, 1.0, 1.0, 1.0), (1.6, 0.6, 0.2, 0.6), (-1.5, 0.5, 0.4, 0.5), (0.4, 0.3, -0.6, 0.3))
"""x, y, z, radius; the scene's floor is y = 0."""
LIGHT = (0.4472136, 0.7155418, -0.5366563)
STEPS, NEAR, FAR, DELTA = 64, 0.001, 20.0, 0.001
TIME_STEP, SOFTENING = 0.01, 0.01
EXCHANGES = (
    (1, 2), (4, 5), (7, 8), (0, 1), (3, 4), (6, 7), (1, 2), (4, 5), (7, 8), (0, 3),
    (5, 8), (4, 7), (3, 6), (1, 4), (2, 5), (4, 7), (4, 2), (6, 4), (4, 2),
)  # fmt: skip
"""Smith's network: after these exchanges element 4 of nine is their median."""


@dataclass(frozen=True)
class Data:
    """A row's inputs at one size: named arrays, and the size itself."""

    size: int
    arrays: dict[str, Array]

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]


def zeros(shape: tuple[int, ...], dtype: type = F) -> Array:
    """Memory for an array, from a multiple of 64 on.

    Results have it because streaming stores ask for it, inputs because results have it: where an
    address read and one just written differ by a little more than a multiple of 4096, processors
    take one for the other, and a loop may take eight times as long."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.zeros(size + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size].view(dtype).reshape(shape)


@dataclass(frozen=True)
class Agreement:
    """How an answer compares with ours: a few words, and whether the peer did the same work."""

    text: str
    ok: bool


@dataclass(frozen=True)
class Goal:
    """Ours is to take at most `times` × what hand-written C++ takes in the same run.

    With `tie`, within 5 % of the best peer or of the machine's limit also counts."""

    times: float
    text: str
    tie: bool = False


@dataclass(frozen=True)
class Row:
    """One workload. `work` is what a run at the size does, in units of `rate`."""

    name: str
    title: str
    full: int
    quick: int
    tiny: int
    inputs: Callable[[int], dict[str, Array]]
    compare: Callable[[Array, Array], Agreement]
    goal: Goal
    rate: str
    work: Callable[[int], float]
    needs: tuple[str, ...] = ()
    """Functions the kernel calls that a version of Dynamis may lack."""
    square: bool = True
    """Whether the domain is size × size elements, or size."""

    def data(self, size: int) -> Data:
        arrays = {}
        for name, array in self.inputs(size).items():
            arrays[name] = zeros(array.shape, array.dtype.type)
            arrays[name][...] = array
        return Data(size, arrays)


# --- comparing answers


def ulps(a: Array, b: Array) -> int:
    """The largest distance in f32 steps between elements; two NaNs are equal."""
    both = np.stack([np.asarray(a, F).ravel(), np.asarray(b, F).ravel()])
    bits = both.view(np.int32).astype(np.int64)
    ordered = np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)
    ordered[:, np.isnan(both).all(axis=0)] = 0
    return int(np.abs(ordered[0] - ordered[1]).max(initial=0))


def within_ulps(most: int) -> Callable[[Array, Array], Agreement]:
    """Compares f32 answers by ulps; more than `most` is other work."""

    def compare(theirs: Array, ours: Array) -> Agreement:
        if theirs.shape != ours.shape:
            return Agreement(f"shape {theirs.shape}", False)
        far = ulps(theirs, ours)
        return Agreement("exact" if far == 0 else f"{far} ulp", far <= most)

    return compare


def within(most: float) -> Callable[[Array, Array], Agreement]:
    """Compares float answers by absolute difference."""

    def compare(theirs: Array, ours: Array) -> Agreement:
        if theirs.shape != ours.shape:
            return Agreement(f"shape {theirs.shape}", False)
        far = float(np.abs(theirs.astype(np.float64) - ours).max(initial=0.0))
        return Agreement("exact" if far == 0 else f"{far:.1e}", far <= most)

    return compare


def few_differ(most: float, by: float) -> Callable[[Array, Array], Agreement]:
    """Compares by the share of elements that differ by more than `by`: a loop that leaves one
    iteration later, or a ray that just misses, may change an element wholly."""

    def compare(theirs: Array, ours: Array) -> Agreement:
        if theirs.shape != ours.shape:
            return Agreement(f"shape {theirs.shape}", False)
        differ = np.abs(theirs.astype(np.float64) - ours) > by
        share = float(np.mean(differ))
        text = f"{share:.2%} differ" if share >= 1e-4 else f"{differ.sum()} differ"
        return Agreement(text if share else "exact", share <= most)

    return compare


# --- inputs


def _random() -> np.random.Generator:
    return np.random.default_rng(1234)


def _image(n: int) -> dict[str, Array]:
    return {"image": _random().random((n, n), dtype=F)}


def _rgba(n: int) -> dict[str, Array]:
    return {"image": _random().random((n, n, 4), dtype=F)}


def _line(n: int) -> dict[str, Array]:
    return {"x": (_random().random(n, dtype=F) * 6 - 3).astype(F)}


def _nothing(n: int) -> dict[str, Array]:
    return {}


def _bodies(n: int) -> dict[str, Array]:
    random = _random()
    return {
        "position": (random.random((n, 3), dtype=F) * 2 - 1).astype(F),
        "velocity": np.zeros((n, 3), F),
        "mass": ((random.random(n, dtype=F) + F(0.5)) / F(n)).astype(F),
    }


ROWS = (
    Row(
        "grayscale", "grayscale, RGBA → RGBA", 4096, 2048, 37, _rgba, within_ulps(4),
        Goal(0.95, "≤ 0.95 × hand C++, or a tie", tie=True), "GB/s", lambda n: 32e-9 * n * n,
    ),
    Row(
        "fused", "a·x + b·sin(x)·exp(−x²)", 1 << 24, 1 << 22, 1003, _line, within(2e-6),
        Goal(2.15, "≤ 2.15 × hand C++, correctly rounded"), "G elements/s",
        lambda n: 1e-9 * n,
        needs=("sin", "exp"), square=False,
    ),
    Row(
        "gaussian3", "3×3 Gaussian, clamped", 2048, 1024, 37, _image, within_ulps(8),
        Goal(0.85, "≤ 0.85 × hand C++"), "G pixels/s", lambda n: 1e-9 * n * n,
    ),
    Row(
        "convolve5", "5×5 convolution, clamped", 2048, 1024, 37, _image, within_ulps(32),
        Goal(0.7, "≤ 0.7 × hand C++"), "G pixels/s", lambda n: 1e-9 * n * n,
    ),
    Row(
        "mandelbrot", f"Mandelbrot, ≤ {ITERATIONS} iterations", 1024, 512, 40, _nothing,
        few_differ(0.02, 0.5),
        Goal(1.0, "≤ 1.0 × hand C++"), "G pixels/s", lambda n: 1e-9 * n * n,
    ),
    Row(
        "raymarch", f"ray marcher, ≤ {STEPS} steps", 512, 256, 40, _nothing,
        few_differ(0.01, 5e-3),
        Goal(0.8, "≤ 0.8 × hand C++"), "G pixels/s", lambda n: 1e-9 * n * n,
    ),
    Row(
        "nbody", "n-body step", 4096, 2048, 96, _bodies, within(1e-5),
        Goal(1.05, "≤ 1.05 × hand C++, exact"), "G pairs/s", lambda n: 1e-9 * n * n,
        square=False,
    ),
    Row(
        "median3", "3×3 median, clamped", 1024, 512, 37, _image, within_ulps(0),
        Goal(0.98, "≤ 0.98 × hand C++"), "G pixels/s", lambda n: 1e-9 * n * n,
    ),
)  # fmt: skip
BY_NAME = {row.name: row for row in ROWS}
