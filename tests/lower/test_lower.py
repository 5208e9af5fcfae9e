"""Lowering: a legal AST, checks only where bounds do not prove them away, sites in order."""

from __future__ import annotations

import dataclasses

import pytest

import dynamis as dy
from dynamis import Grid, Rows, f32, i32
from dynamis.kernel import FaultKind, account, op
from dynamis.kernel.induction import growth
from dynamis.kernel.types import Field, StructDef, Type
from dynamis.lower import CallClass, KernelAst, lower
from dynamis.uop import Ops, spec_kernel, toposort, type_verify


@dy.kernel
def counter(a: Rows[f32]) -> Rows[i32]:
    n = 0
    for _ in range(256):
        if a.sample() > 4.0:
            break
        n += 1
    return n


@dy.kernel
def total(a: Rows[i32]) -> Rows[i32]:
    s = 0
    for k in range(10):
        s += a.at(k)
    return s


@dy.kernel
def bounded(n: i32 = 4) -> Grid[f32]:
    s = 0.0
    for v in range(n):
        for u in range(n):
            s += f32(u * v)
    return s


@dy.kernel
def idle_sum(a: Rows[i32]) -> Rows[i32]:
    k = 0
    for j in range(3):
        k = k + j
    return a.sample() + 0 * k


def ast(kernel: dy.Kernel, *, search: bool = False) -> KernelAst:
    module = account(kernel.module)
    call = CallClass((True,) * len(module.manifest.inputs))
    return lower(module, call, search=search)


KERNELS = [counter, total, bounded, idle_sum]


@pytest.mark.parametrize("search", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_an_ast_meets_the_kernel_spec(kernel: dy.Kernel, search: bool) -> None:
    type_verify(ast(kernel, search=search).root, spec_kernel)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_lowering_twice_gives_the_same_node(kernel: dy.Kernel) -> None:
    assert ast(kernel).root is ast(kernel).root


def reports(found: KernelAst) -> bool:
    return any(u.arg.name == "record" for u in toposort(found.root) if u.op is Ops.PARAM)


def test_a_counter_of_a_bounded_loop_needs_no_check() -> None:
    assert not reports(ast(counter))


def test_a_sum_of_data_is_checked() -> None:
    assert reports(ast(total))


def test_sites_are_numbered_in_program_order_with_their_places() -> None:
    sites = ast(total, search=True).sites
    assert [s.kind for s in sites] == [FaultKind.OVERFLOW]
    assert sites[0].span is not None
    assert sites[0].operand_types == (Type.INT, Type.INT)
    kinds = [s.kind for s in ast(bounded, search=True).sites]
    assert kinds.count(FaultKind.BUDGET) >= 2
    assert kinds.index(FaultKind.BUDGET) < kinds.index(FaultKind.OVERFLOW)  # u * v


def loop_of(kernel: dy.Kernel) -> tuple[op.Loop, Type, dict[int, Type]]:
    types: dict[int, Type] = {}
    for instruction in kernel.module.entry.instructions():
        if isinstance(instruction.op, op.Loop):
            return instruction.op, instruction.ty, types
        types[instruction.id] = instruction.ty
    raise AssertionError("no loop")


@dy.kernel
def walk(a: Rows[f32]) -> Rows[i32]:
    up, down, both, free = 0, 0, 0, 1
    for _ in range(100):
        up += 3
        down -= 2
        if a.sample() > 0.0:
            both += 1
        else:
            both -= 4
        free = free * 2
        if a.sample() > 9.0:
            break
    return up + down + both + free


def test_growth_is_what_an_iteration_adds_at_least_and_at_most() -> None:
    loop, ty, types = loop_of(walk)
    structs = walk.module.structs
    names = [f.name for f in structs[ty.index].fields]
    found = dict(zip(names, growth(loop, ty, types, structs), strict=True))
    assert found["up"] == (3, 3)
    assert found["down"] == (-2, -2)
    assert found["both"] == (-4, 1)
    assert found["free"] is None


def test_growth_knows_constants_defined_before_the_loop() -> None:
    loop, ty, types = loop_of(walk)
    body = loop.body.body
    inside = {i.id: i.op.value for i in body if isinstance(i.op, op.Const) and i.ty == Type.INT}
    hoisted = dataclasses.replace(
        loop, body=dataclasses.replace(loop.body, body=tuple(i for i in body if i.id not in inside))
    )
    structs = walk.module.structs
    types = {**types, **dict.fromkeys(inside, Type.INT)}
    known = {id: int(value.numbers_in(structs)[0]) for id, value in inside.items()}
    assert 3 in known.values()
    assert growth(hoisted, ty, types, structs, known) == growth(loop, ty, types, structs)
    assert growth(hoisted, ty, types, structs)[0] is None


def test_growth_knows_nothing_of_a_swapped_word() -> None:
    record = StructDef.record("r", [Field("a", Type.INT), Field("b", Type.INT)])
    ty = Type.struct(0)
    ir = dy.kernel(swap).module
    loop = next(i.op for i in ir.entry.instructions() if isinstance(i.op, op.Loop))
    assert growth(loop, ty, {}, (record,)) == [None, None]


def swap(a: Rows[i32]) -> Rows[i32]:
    x, y = 0, 1
    for _ in range(5):
        x, y = y, x
    return x * 2 + y
