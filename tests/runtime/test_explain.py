"""``kernel.explain()``: what it says of reads, loops, arms and checks of kernels that show it."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import dynamis as dy
from dynamis import Grid, Rows, f32, f64, i32, vec2, vec3, vec4
from dynamis.codegen import Options, compile_ast
from dynamis.kernel import validate
from dynamis.lower import CallClass
from dynamis.runtime.compiler import Compiler
from dynamis.runtime.facts import Kind, Place, find_facts

EXAMPLES = Path(__file__).parents[2] / "examples"


def said(kernel: dy.Kernel, width: int = 8) -> str:
    return str(kernel.options(width=width).explain())


def section(text: str, name: str) -> list[str]:
    """The lines of one section, without the margin."""
    lines = text.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(f"  {name}"))
    found = [lines[start][12:]]
    for line in lines[start + 1 :]:
        if line[2:11].strip():
            break
        found.append(line[12:])
    return found


@dy.kernel("test.stencil@1")
def stencil(image: Grid[f32], weights: Rows[f32]) -> Grid[f32]:
    total = 0.0
    for u in range(-1, 2):
        total += image.at(dy.coord() + vec2(u, 0)) * weights.at(u + 1)
    return total


def test_a_stencil_has_unit_strides_inside_and_single_elements_at_the_borders():
    text = said(stencil)
    assert text.splitlines()[0] == "test.stencil@1"
    reads = section(text, "reads")
    assert any(line.endswith("image.at(dy.coord() + vec2(u, 0))") for line in reads)
    assert "  inside: 3 × unit stride: whole vectors; at the borders: 3 × an element at a time" in (
        reads
    )
    assert "  once a block of rows: 3 × uniform: one load for all lanes" in reads
    assert (
        section(text, "columns")[0] == "inside, no clamp can bite: steps of 8 with plain addresses"
    )
    assert section(text, "loops")[0].endswith("for u in range(-1, 2) — unrolled")
    assert section(text, "checks") == ["nothing in this kernel can fail"]
    assert section(text, "writes")[1].startswith("past the caches in runs that read and write ")


def test_one_lane_is_an_element_at_a_time():
    text = said(stencil, width=1)
    assert section(text, "at once") == ["one element, without vectors"]
    assert section(text, "writes")[1].startswith("through the caches: without vectors")
    assert "  in every step: 3 × an element at a time" in section(text, "reads")


@dy.kernel
def table(x: Rows[i32], values: Rows[f32], chosen: Rows[bool]) -> Rows[f32]:
    followed = values.at(x.sample())
    halved = values.at(dy.element() // 2)
    doubled = values.at(dy.element() * 2)
    picked = values.at(dy.element() + (1 if chosen.sample() else 2))
    return followed + halved + doubled + picked


@dy.kernel
def zoom(image: Grid[f32]) -> Grid[f32]:
    return image.at(dy.coord() * 0.5)


def test_a_gather_says_why_it_is_one():
    reads = section(said(table), "reads")
    after = {a.partition(": ")[2]: b for a, b in zip(reads, reads[2:], strict=False)}
    assert "follows what is read by line" in after["values.at(x.sample())"]
    assert "is divided on the way" in after["values.at(dy.element() // 2)"]
    assert "its clamp can bite anywhere" in after["values.at(dy.element() * 2)"]
    assert "a gather because its column is not the element's own" in said(zoom)


@dy.kernel
def swap(image: Grid[vec4]) -> Grid[vec4]:
    return image.sample().bgra


@dy.kernel
def red(image: Grid[vec4]) -> Grid[f32]:
    return image.sample().r


@dy.kernel
def turned(flow: Grid[vec3]) -> Grid[vec3]:
    return flow.at(flow.sample().xy)


@dy.kernel
def wider(image: Rows[f32], wide: Rows[f64]) -> Rows[f64]:
    return wide.sample() + f64(image.linear(f32(dy.element()) * 0.5))


def test_elements_of_several_words_are_moved_by_whole_vectors():
    text = said(swap)
    moved = "elements of four words: whole vectors, shuffled"
    assert f"  in every step: 1 × {moved}" in section(text, "reads")
    assert section(text, "writes")[0] == f"out: 1 × {moved}"
    assert section(text, "writes")[1].startswith("past the caches in runs that read and write ")
    moved = "elements of four words, of which 1 used: whole vectors, shuffled"
    assert f"  in every step: 1 × {moved}" in section(said(red), "reads")


def test_words_of_one_address_are_gathered_together():
    reads = section(said(turned), "reads")
    moved = "gather of three words together: one by one, each at an address of its own"
    assert f"  in every step: 1 × {moved}" in reads
    assert "  in every step: 1 × elements of three words, of which 2 used: whole vectors" in (
        "\n".join(reads)
    )


def test_linear_reads_say_that_their_column_is_no_whole_number():
    reads = "\n".join(section(said(wider), "reads"))
    assert "2 × gather: one by one" in reads
    assert reads.count("a gather because its column is not the element's own") == 1


@dy.kernel
def halvings(x: Rows[f32]) -> Rows[i32]:
    value = x.sample()
    count = 0
    while count < 60:
        if value <= 1.0:
            break
        value = value / 2.0
        count += 1
    return count


@dy.kernel
def sums(x: Rows[i32], n: i32 = 3) -> Rows[i32]:
    total = x.sample()
    for k in range(n):
        total += k
    return total


@dy.kernel
def doublings(x: Rows[f32], n: i32 = 9) -> Rows[f32]:
    k = 1
    while k < n:
        k = k + k
    return x.sample() * f32(k)


def test_loops_are_divergent_or_uniform():
    (loop,) = section(said(halvings), "loops")
    assert loop.endswith(
        "while count < 60 — divergent, 60 times at most: goes on until every element of a step "
        "is done"
    )
    (loop,) = section(said(sums), "loops")
    assert loop.endswith("for k in range(n) — uniform: all elements go round as often")
    (loop,) = section(said(doublings), "loops")
    assert loop.endswith("while k < n — uniform: all elements leave it together")


def test_checks_are_proven_or_placed():
    checks = section(said(halvings), "checks")
    assert checks == ["1 of 1 possible failures are proven not to happen"]
    checks = section(said(sums), "checks")
    assert checks[0] == "0 of 1 possible failures are proven not to happen"
    assert checks[1].endswith("total += k — overflow, looked for in every vector")
    assert checks[2] == "iterations are counted against the budget of 1048576"


@dy.kernel
def scaled(x: Rows[i32], n: i32 = 3) -> Rows[i32]:
    return dy.add_wrap(x.sample(), n * n)


@dy.kernel
def inverse(x: Rows[i32]) -> Rows[i32]:
    return 100 // x.sample()


def test_a_check_on_a_parameter_is_made_once_and_one_on_an_element_in_each_vector():
    checks = section(said(scaled), "checks")
    assert checks[0] == "0 of 1 possible failures are proven not to happen"
    assert checks[1].endswith("n * n — overflow, looked for once a block of rows")
    checks = section(said(inverse), "checks")
    assert checks[0] == "1 of 2 possible failures are proven not to happen"
    assert checks[1].endswith("100 // x.sample() — division by zero, looked for in every vector")


@dy.kernel
def armed(x: Rows[f32]) -> Rows[f32]:
    value = x.sample()
    if value > 0.5:
        return dy.sqrt(dy.sqrt(value * 3.0) / value) / (value + 1.0) / (value + 2.0)
    return value


def test_a_dear_arm_is_named_with_its_lines():
    (arm,) = section(said(armed), "arms")
    line = next(k for k, text in enumerate(Path(__file__).read_text().splitlines(), 1)
                if "dy.sqrt(dy.sqrt(value" in text)  # fmt: skip
    assert arm.startswith(f"line {line}: ")
    assert arm.endswith("operations run only where any element of a step takes it, in every step")


@pytest.mark.parametrize(
    "name", ["blur", "life", "mandelbrot", "noise3d", "raymarch", "reaction_diffusion", "sobel"]
)
@pytest.mark.parametrize("width", [1, 8, 32])
def test_every_read_and_loop_of_the_examples_has_its_line(name, width, monkeypatch):
    monkeypatch.syspath_prepend(EXAMPLES)
    kernel = getattr(importlib.import_module(name), name)
    text = said(kernel, width)
    assert "made by the compiler" not in text
    assert f"{kernel.manifest.outputs[0].name}: " in section(text, "writes")[0]


def test_facts_are_those_of_the_program_that_is_rendered():
    compiler = Compiler(validate(stencil.module))
    ast = compiler.ast(CallClass((True, False))).root
    facts = find_facts(compile_ast(ast, Options(8)))
    assert [a.place for a in facts.writes] == [Place.BORDER, Place.INTERIOR]
    inside = [a for a in facts.reads if a.place is Place.INTERIOR]
    assert [a.kind for a in inside] == [Kind.UNIT] * 3
    assert facts.has_interior
    assert not facts.lanes_at_border
