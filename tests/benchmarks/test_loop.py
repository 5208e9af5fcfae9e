"""The hot loop of a listing: the innermost one with the most vector instructions."""

from __future__ import annotations

from benchmarks.loop import hot_loop
from benchmarks.peers.ours import KERNELS

LISTING = """\
kernel:
\tmovl\t$8, %eax
.LBB0_1:
\tvaddps\t%ymm0, %ymm1, %ymm1
\tvaddps\t%ymm0, %ymm1, %ymm1
\tvaddps\t%ymm0, %ymm1, %ymm1
\tjmp\t.LBB0_3
.LBB0_2:
\tvmulps\t%ymm2, %ymm3, %ymm3
\tvmulps\t%ymm2, %ymm3, %ymm3
\tjmp\t.LBB0_4
.LBB0_3:
\tdecl\t%ecx
\tje\t.LBB0_5
\tjmp\t.LBB0_2
.LBB0_4:
\tjmp\t.LBB0_3
.LBB0_5:
\tdecl\t%eax
\tjne\t.LBB0_1
\tretq
.Lfunc_end0:
"""


def test_a_loop_is_found_by_its_jumps_not_by_where_it_lies():
    loop = hot_loop(LISTING)
    assert [line for line in loop if line.startswith(".")] == [".LBB0_2:", ".LBB0_3:", ".LBB0_4:"]
    assert sum("vmulps" in line for line in loop) == 2
    assert not any("vaddps" in line for line in loop)


def test_code_without_a_loop_has_none():
    assert hot_loop("f:\n\tvaddps\t%ymm0, %ymm1, %ymm1\n\tretq\n") == []


def test_the_loop_of_the_mandelbrot_row_squares_and_compares():
    loop = "\n".join(hot_loop(str(KERNELS["mandelbrot"].show("asm"))))
    assert "mul" in loop
    assert "cmp" in loop
