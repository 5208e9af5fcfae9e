"""What the machine code of a divergent loop is made of, read off the assembly it prints."""

from __future__ import annotations

import platform
import re

import pytest

import dynamis as dy
from dynamis import Rows, f32
from tests.api.test_agreement import example

x86 = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="reads x86 assembly")


def innermost_loop(assembly: str) -> list[str]:
    """The instructions of the last label up to the jump back to it, of those that multiply."""
    loops = []
    lines = assembly.split("\n")
    labels = {line[:-1]: n for n, line in enumerate(lines) if re.match(r"\.LBB\d+_\d+:$", line)}
    for n, line in enumerate(lines):
        jump = re.match(r"\tj\w+\t(\.LBB\d+_\d+)$", line)
        if jump and labels.get(jump[1], n) < n:
            body = [x.strip() for x in lines[labels[jump[1]] + 1 : n + 1] if x.startswith("\t")]
            if any("mulp" in x for x in body):
                loops.append(body)
    return min(loops, key=len)


@x86
def test_the_mandelbrot_loop_is_packed_arithmetic_in_registers() -> None:
    kernel: dy.Kernel = example("mandelbrot").options(width=8)
    body = innermost_loop(str(kernel.show("asm")))
    text = "\n".join(body)
    assert len([x for x in body if re.match(r"v?mulps\b", x)]) >= 3, text
    assert not re.search(r"\bv?(add|sub|mul|div|sqrt|min|max)ss\b", text), text
    assert "call" not in text, text
    assert not re.search(r"%r[sb]p", text), text


@dy.kernel
def crowded(a: Rows[f32]) -> Rows[f32]:
    """More vectors in use at once than any machine has registers."""
    x = a.sample()
    x1, x2, x3, x4 = x * x, x * 3.0, x + 2.0, x * x + 3.0
    x5, x6, x7, x8 = x3 * x4, x3 + x4, x2 * x3, x1 * x4
    y = ((((((x1 + x2) * x3 + x4) * x5 + x6) * x7 + x8) * x1 + x2) * x3 + x4) * x5 + x6
    return ((y * x8 + x7) * x6 + x5) * x4 + x3 + x2 * x1


@x86
def test_a_vector_on_the_stack_is_within_cache_lines() -> None:
    text = str(crowded.options(width=64).show("asm"))
    body = text[text.index("\nbody:") : text.index("\nrun:")]
    moves = re.findall(r"\tvmov\w+\t%([yz])mm\d+, (\d*)\(%rsp\)", body)
    assert moves, "nothing is kept on the stack"
    size = 64 if moves[0][0] == "z" else 32
    assert f"\tandq\t$-{size}, %rsp" in body
    assert {int(at or 0) % size for _, at in moves} == {0}
