"""Linearising: order, nesting, and what leaves a loop by construction."""

from __future__ import annotations

import pytest

import dynamis as dy
from dynamis import Rows, f32, i32
from dynamis.codegen import Options, compile_ast
from dynamis.codegen.linearize import linearize
from dynamis.codegen.prune import prune_registers
from dynamis.dtype import AddrSpace, Ptr, int32
from dynamis.kernel import account
from dynamis.lower import CallClass, lower
from dynamis.uop import (
    AxisType,
    Ops,
    Uop,
    UopError,
    after,
    buffer,
    const_of_dtype,
    end_,
    group,
    index,
    load,
    range_,
    sink,
    spec_program,
    store,
    toposort,
    verify_list,
)
from tests.programs import column, memory


@dy.kernel
def invariant(a: Rows[f32], n: i32 = 3, x: f32 = 2.0) -> Rows[f32]:
    total = a.sample()
    for _ in range(n):
        total = total + dy.sqrt(x) * a.sample()
    return total


def program(kernel: dy.Kernel, width: int = 8) -> list[Uop]:
    module = account(kernel.module)
    call = CallClass((True,) * len(module.manifest.inputs))
    return list(compile_ast(lower(module, call).root, Options(width=width)).src)


@pytest.mark.parametrize("width", [1, 8])
def test_every_node_comes_after_its_sources(width: int) -> None:
    seen: set[Uop] = set()
    for u in program(invariant, width):
        assert all(s in seen for s in u.src), u
        seen.add(u)


@pytest.mark.parametrize("width", [1, 8])
def test_ranges_nest_and_close(width: int) -> None:
    opened: list[Uop] = []
    for u in program(invariant, width):
        if u.op is Ops.RANGE:
            opened.append(u)
        elif u.op is Ops.END:
            assert u.src[1:] == (opened.pop(),)
    assert opened == []


@pytest.mark.parametrize("width", [1, 8])
def test_a_linear_program_meets_its_spec(width: int) -> None:
    verify_list(program(invariant, width), spec_program)


def test_what_a_loop_does_not_change_is_computed_outside_it() -> None:
    depth, at = 0, {}
    for u in program(invariant):
        depth += (u.op is Ops.RANGE) - (u.op is Ops.END)
        at[u.op] = depth
    assert at[Ops.SQRT] == 0  # sqrt of a parameter leaves all loops


def test_a_loop_that_is_never_closed_is_refused() -> None:
    i = column()
    out = store(dst=index(ptr=memory(0, int32), idxs=[i]), value=i)
    with pytest.raises(UopError, match="never closed"):
        linearize(sink([out]))


def word(slot: int, *deps: Uop) -> Uop:
    target = buffer(slot=slot, dtype=Ptr.create(int32, addrspace=AddrSpace.REG, size=1))
    return index(ptr=after(src=target, deps=deps), idxs=[const_of_dtype(int32, 0)])


def test_a_register_that_nothing_reads_loses_its_stores() -> None:
    i = column()
    loop = range_(
        size=const_of_dtype(int32, 3), axis=5, kind=AxisType.LOOP, dtype=int32, parents=[i]
    )
    one = const_of_dtype(int32, 1)
    stores = []
    for slot in (0, 1):
        init = store(dst=word(slot, i), value=const_of_dtype(int32, 0))
        old = load(src=word(slot, init, loop))
        stores.append(store(dst=word(slot, init, loop, old), value=old + one))
    done = end_(value=group(stores), ranges=[loop])
    read = load(src=word(0, done))
    out = store(dst=index(ptr=memory(0, int32), idxs=[i]), value=read)
    root = sink([end_(value=out, ranges=[i])])
    kept = {
        u.src[0].src[0].src[0].arg.slot
        for u in toposort(prune_registers(root))
        if u.op is Ops.STORE and u.src[0].src[0].op is Ops.AFTER
    }
    assert kept == {0}
