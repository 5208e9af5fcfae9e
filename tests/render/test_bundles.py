"""Accesses to neighbouring words are made together, and give the words that each would give."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, Rows, f32, ivec2, vec2, vec3, vec4
from dynamis.codegen import Options, compile_ast
from dynamis.dtype import int32
from dynamis.kernel import account
from dynamis.lower import CallClass, lower
from dynamis.render import render_llvm
from dynamis.render.analysis import rendered_nodes
from dynamis.render.bundles import Bundle, bundles
from dynamis.runtime.jit import host
from dynamis.uop import Uop, index, load
from tests.programs import column, map_ast, memory, run_ast

WIDTHS = (4, 8, 16, 32)
SIZES = (1, 8, 17, 32, 100)


@dy.kernel
def pairs(a: Rows[vec2]) -> Rows[vec2]:
    return a.sample().yx * 2.0


@dy.kernel
def triples(a: Rows[vec3]) -> Rows[vec3]:
    return a.sample().zxy + 1.0


@dy.kernel
def fours(a: Rows[vec4]) -> Rows[vec4]:
    return a.sample().wxzy - 1.0


@dy.kernel
def luma(a: Rows[vec4]) -> Rows[f32]:
    return dy.dot(a.sample().rgb, vec3(0.25, 0.5, 0.125))


@dy.kernel
def outer(a: Rows[vec4]) -> Rows[vec2]:
    c = a.sample()
    return vec2(c.w, c.x)


@dy.kernel
def middle(a: Rows[vec3]) -> Rows[f32]:
    return a.sample().y


@dy.kernel
def whole_pairs(a: Rows[ivec2]) -> Rows[ivec2]:
    return ivec2(dy.add_wrap(a.sample().y, 1), a.sample().x)


@dy.kernel
def picked(a: Grid[vec4], at: Rows[vec2]) -> Rows[vec4]:
    p = at.sample()
    return a.at(p) + vec4(a.at(p.yx).yz, a.at(p + 1.0).xw)


@dy.kernel
def picked_triples(a: Grid[vec3], at: Rows[vec2]) -> Rows[vec3]:
    return a.at(at.sample()) + a.linear(at.sample())


@dy.kernel
def picked_pairs(a: Grid[vec2], at: Rows[vec2]) -> Rows[vec2]:
    return a.at(at.sample()).yx - a.linear(at.sample())


STRIDED = [pairs, triples, fours, luma, outer, middle, whole_pairs]
GATHERED = [picked, picked_triples, picked_pairs]


def found(kernel: dy.Kernel, width: int = 8) -> list[Bundle]:
    """The bundles of a kernel's program, in program order."""
    module = account(kernel.module)
    same = tuple(p.shape is module.manifest.outputs[0].shape for p in module.manifest.inputs)
    program = compile_ast(lower(module, CallClass(same)).root, Options(width=width)).src
    needed, _ = rendered_nodes(program)
    by_member = bundles([u for u in program if u in needed])
    return list({id(b): b for b in by_member.values()}.values())


def shapes(kernel: dy.Kernel) -> list[tuple[str, int | None, tuple[int, ...]]]:
    """Of each bundle: its op, its step and the words it accesses."""
    return sorted(
        ((b.first.op.name, b.step, tuple(sorted(b.members))) for b in found(kernel)), key=str
    )


def test_words_at_a_stride_are_bundled_whichever_are_read() -> None:
    assert shapes(pairs) == [("LOAD", 2, (0, 1)), ("STORE", 2, (0, 1))]
    assert shapes(triples) == [("LOAD", 3, (0, 1, 2)), ("STORE", 3, (0, 1, 2))]
    assert shapes(fours) == [("LOAD", 4, (0, 1, 2, 3)), ("STORE", 4, (0, 1, 2, 3))]
    assert shapes(luma) == [("LOAD", 4, (0, 1, 2))]
    assert shapes(outer) == [("LOAD", 4, (0, 3)), ("STORE", 2, (0, 1))]
    assert shapes(middle) == [("LOAD", 3, (0,))]


def test_several_words_of_one_gathered_place_are_bundled() -> None:
    gathered = [words for op, step, words in shapes(picked) if op == "LOAD" and step is None]
    assert gathered == [(0, 1), (0, 1, 2, 3), (0, 3)]
    gathered = [words for _, step, words in shapes(picked_pairs) if step is None]
    assert gathered == [(0, 1)] * 4  # one of the four around is the one at p


@pytest.mark.parametrize("kernel", STRIDED[:3], ids=lambda k: k.__name__)
@pytest.mark.parametrize("width", WIDTHS)
def test_whole_elements_are_moved_by_vectors(kernel: dy.Kernel, width: int) -> None:
    module = account(kernel.module)
    program = compile_ast(lower(module, CallClass((True,))).root, Options(width=width))
    text = render_llvm(program, host()).split("define void @run")[0]
    assert "load float" not in text
    assert "store float" not in text
    assert "extractelement" not in text


@pytest.mark.parametrize("kernel", STRIDED, ids=lambda k: k.__name__)
def test_strided_words_agree(kernel: dy.Kernel) -> None:
    rng = np.random.default_rng(1)
    port = kernel.manifest.inputs[0]
    for n in SIZES:
        a = rng.integers(-(2**31), 2**31, (n, port.element.lanes), np.int32)
        a = a.view(np.float32) if port.element.component.name == "Float" else a
        want = kernel(a, backend="reference")
        for width in WIDTHS:
            assert kernel.options(width=width)(a).tobytes() == want.tobytes(), (n, width)


@pytest.mark.parametrize("kernel", GATHERED, ids=lambda k: k.__name__)
def test_gathered_words_agree(kernel: dy.Kernel) -> None:
    rng = np.random.default_rng(2)
    for n, extent in itertools.product((8, 33), [(1, 1), (3, 5), (1, 40)]):
        a = rng.random((*extent, kernel.manifest.inputs[0].element.lanes), np.float32)
        at = rng.uniform(-2, max(extent) + 1, (n, 2)).astype(np.float32)
        want = kernel(a, at, backend="reference")
        for width in WIDTHS:
            assert kernel.options(width=width)(a, at).tobytes() == want.tobytes(), (n, width)


@pytest.mark.parametrize("offsets", [(0,), (0, 1), (2, 1), (0, 2), (3, 1), (0, 1, 2, 3, 4, 5)])
@pytest.mark.parametrize("stride", [1, 2, 3, 4, 5, 8, -2])
def test_any_stride_and_any_offsets_give_their_words(stride: int, offsets: tuple[int, ...]) -> None:
    n, first = 32, max(0, -stride * 31)
    data = np.random.default_rng(3).integers(0, 1000, 31 * abs(stride) + max(offsets) + 1, np.int32)
    i = column()

    def total(one: Uop, _: Uop) -> Uop:
        places = [i * stride + (first + k) for k in offsets]
        words = [load(src=index(ptr=memory(1, int32), idxs=[place])) for place in places]
        return sum((word * 7**k for k, word in enumerate(words)), one)

    root = map_ast(total, [int32, int32], int32)
    at = first + stride * np.arange(n)
    wanted = sum(data[at + k] * 7**m for m, k in enumerate(offsets))
    for width in (4, 8, 32):
        out = np.zeros(n, np.int32)
        run_ast(root, [np.zeros(n, np.int32), data, out], width)
        assert np.array_equal(out, wanted), width
