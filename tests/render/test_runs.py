"""Straight stretches in runs of arithmetic and of the rest: nothing is lost, and order holds."""

from __future__ import annotations

import itertools
from pathlib import Path
from random import Random

import pytest

import dynamis as dy
from benchmarks import workloads
from dynamis import Rows, f32
from dynamis.codegen import Options, compile_ast
from dynamis.kernel import Module, account, optimize
from dynamis.lower import CallClass, lower
from dynamis.render.analysis import operands, rendered_nodes, starts_block
from dynamis.render.runs import is_arithmetic, runs
from dynamis.uop import Ops, Uop
from dynamis.uop.storage import is_register, storage_of
from tests.api.test_agreement import example
from tests.codegen.test_ahead import source
from tests.frontend.support import load
from tests.render.test_staggered import mixed, roots

SEED = 20261130


def rendered(module: Module, width: int) -> list[Uop]:
    whole = module.manifest.outputs[0].shape
    same = tuple(port.shape is whole for port in module.manifest.inputs)
    program = compile_ast(lower(module, CallClass(same)).root, Options(width))
    needed, _ = rendered_nodes(program.src)
    return [u for u in program.src if u in needed]


def check(nodes: list[Uop]) -> int:
    """Hold the runs of ``nodes`` against their order; how many nodes moved."""
    found = list(runs(nodes, bool))
    flat = [u for _, run in found for u in run]
    assert len(flat) == len(nodes)
    assert set(flat) == set(nodes)
    assert all(is_arithmetic(u) == arithmetic for arithmetic, run in found for u in run)
    place = {u: n for n, u in enumerate(flat)}
    before = {u: n for n, u in enumerate(nodes)}
    for u in flat:
        read = [s for s, _ in operands(u)]
        assert all(place[s] < place[u] for s in (*read, *u.src) if s in place)
    edges = [u for u in nodes if starts_block(u)]
    assert edges == [u for u in flat if starts_block(u)]
    touched: dict[Uop, list[Uop]] = {}
    for u in nodes:
        if u.op in (Ops.LOAD, Ops.STORE) and is_register(storage_of(u.src[0])):
            touched.setdefault(storage_of(u.src[0]), []).append(u)
    for uses in touched.values():
        for a, b in itertools.pairwise(uses):
            if Ops.STORE in (a.op, b.op):
                assert place[a] < place[b]
    return sum(place[u] != before[u] for u in nodes)


@dy.kernel
def floors(a: Rows[f32], b: Rows[f32]) -> Rows[f32]:
    """Operations that are several nodes and one instruction, of which the inner are not written."""
    x, y = a.sample(), b.at(dy.i32(dy.floor(b.sample() / 3.0)))
    lower = dy.min(1.0 / dy.sqrt(x), dy.floor(y) - dy.ceil(x))
    return lower / dy.sqrt(y) if lower <= y else b.at(dy.i32(dy.min(lower, x)))


@pytest.mark.parametrize("width", [1, 16, 64])
def test_kernels_that_wait_for_roots_keep_their_order(width: int) -> None:
    kernels = [workloads.nbody, workloads.raymarch, roots, mixed, floors, example("raymarch")]
    moved = [check(rendered(account(optimize(k.module)), width)) for k in kernels]
    assert (moved[0] > 0) == (width > 1)


def test_random_loops_with_roots_keep_their_order(tmp_path: Path) -> None:
    print("seeds", SEED, "to", SEED + 29)
    moved = 0
    for seed in range(SEED, SEED + 30):
        kernel = dy.kernel(load(source(Random(seed)), tmp_path).kernel)
        moved += check(rendered(account(optimize(kernel.module)), 32)) > 0
    assert moved > 10
