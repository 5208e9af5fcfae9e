"""What every module has besides its kernel: each task sets the mode of its arithmetic."""

from __future__ import annotations

import pytest

import dynamis as dy
from dynamis import Rows, f32
from dynamis.codegen import Options, compile_ast
from dynamis.lower import CallClass, lower
from dynamis.render import Machine, render_llvm


@dy.kernel
def halved(a: Rows[f32]) -> Rows[f32]:
    return a.sample() * 0.5


@pytest.mark.parametrize(
    ("machine", "entered"),
    [
        (Machine(x86=True, mask_registers=False), "@llvm.x86.sse.ldmxcsr"),
        (Machine(x86=False, mask_registers=False, vector_bytes=16, arm64=True), "aarch64.set.fpcr"),
        (Machine(x86=False, mask_registers=False, vector_bytes=16), None),
    ],
)
def test_both_ways_into_a_kernel_set_the_mode_and_restore_it(
    machine: Machine, entered: str | None
) -> None:
    program = compile_ast(lower(halved.module, CallClass((True,))).root, Options(width=4))
    text = render_llvm(program, machine)
    calls = [line for line in text.split("\n") if "call void" in line]
    modes = [line for line in calls if "ldmxcsr" in line or "set.fpcr" in line]
    assert len(modes) == (4 if entered else 0)
    assert all(entered in line for line in modes if entered)
