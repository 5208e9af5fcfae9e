"""Memory accesses by class: uniform, unit stride, strided, gathered."""

from __future__ import annotations

import dynamis as dy
from dynamis import Grid, Rows, f32, i32, vec4
from dynamis.codegen import Options, compile_ast
from dynamis.kernel import account
from dynamis.lower import CallClass, lower
from dynamis.render.analysis import strided
from dynamis.uop import Ops, Uop, shape


def loads(kernel: dy.Kernel, same: bool = True) -> list[Uop]:
    """The indices of the program's loads from memory, vectors and uniform ones."""
    module = account(kernel.module)
    call = CallClass((same,) * len(module.manifest.inputs))
    program = compile_ast(lower(module, call).root, Options(width=8))
    return [
        u.src[0].src[1] for u in program.src if u.op is Ops.LOAD and u.src[0].src[0].op is Ops.PARAM
    ]


@dy.kernel
def plain(a: Rows[f32]) -> Rows[f32]:
    return a.sample() * 2.0


@dy.kernel
def pixels(a: Grid[vec4]) -> Grid[vec4]:
    return a.sample() * 2.0


@dy.kernel
def one(a: Rows[f32], k: i32 = 3) -> Rows[f32]:
    return a.at(k) + f32(dy.element())


@dy.kernel
def table(a: Rows[i32]) -> Rows[i32]:
    return a.at(a.sample())


def test_a_sample_of_the_domains_extent_has_unit_stride() -> None:
    (at,) = loads(plain)
    assert strided(at) is not None
    assert strided(at)[1] == 1


def test_interleaved_fields_have_their_stride() -> None:
    assert [strided(at)[1] for at in loads(pixels)] == [4, 4, 4, 4]


def test_an_address_that_no_lane_changes_is_uniform() -> None:
    (at,) = loads(one)
    assert shape(at) == ()


def test_an_address_from_data_is_gathered() -> None:
    assert [strided(at) is None for at in loads(table)] == [False, True]


def test_a_sample_of_another_extent_is_clamped_and_gathered() -> None:
    (at,) = loads(plain, same=False)
    assert shape(at) == (8,)
    assert strided(at) is None
