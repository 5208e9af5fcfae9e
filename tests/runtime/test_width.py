"""How many elements run side by side suits what a kernel does, and how long its rows are."""

from __future__ import annotations

import pytest

import dynamis as dy
from benchmarks import workloads
from dynamis.kernel import account, optimize
from dynamis.render import Machine
from dynamis.runtime.width import columns_at, fitting_width, preferred_width

LINE = Machine(x86=True, mask_registers=True, vector_bytes=64)
HALF = Machine(x86=True, mask_registers=False, vector_bytes=32)


@pytest.mark.parametrize(
    ("kernel", "line", "half"),
    [
        (workloads.grayscale, 16, 32),  # whole elements of four words
        (workloads.fused, 64, 32),  # long chains of multiply-adds
        (workloads.gaussian3, 32, 32),  # two rows at once
        (workloads.convolve5, 32, 32),
        (workloads.mandelbrot, 64, 16),  # a short loop that diverges
        (workloads.raymarch, 32, 16),  # a long one
        (workloads.nbody, 64, 32),  # divides by roots in a loop
        (workloads.median3, 32, 16),
    ],
)
def test_widths_suit_kernels_and_machines(kernel: dy.Kernel, line: int, half: int) -> None:
    module = account(optimize(kernel.module))
    assert preferred_width(module, LINE) == line
    assert preferred_width(module, HALF) == half


def test_short_rows_run_at_a_width_they_fill() -> None:
    assert [fitting_width(32, n) for n in (1, 7, 8, 31, 32, 1000)] == [1, 1, 8, 8, 32, 32]
    assert columns_at(8, 32) == (8, 31)
    assert columns_at(1, 32) == (1, 7)
