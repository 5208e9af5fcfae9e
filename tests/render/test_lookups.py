"""Tables of constants: what is recognised as one, and that every machine's form reads the entry."""

from __future__ import annotations

import platform
from random import Random

import numpy as np
import pytest

from dynamis.dtype import float32, int32, uint32, uint64
from dynamis.render.llvm_types import Machine
from dynamis.render.lookups import Lookup, lookup
from dynamis.runtime.jit import host
from dynamis.uop import Ops, Uop, cast, const_of_dtype, load, replace, simplify, stack
from dynamis.uop import index as at
from dynamis.uop.elementary import NODES
from tests.programs import map_ast, memory, run_ast

SEED = 20261130
x86 = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="x86 forms")


def entries(count: int) -> tuple[float, ...]:
    rng = Random(SEED)
    return tuple(float(np.float32(rng.uniform(-9, 9))) for _ in range(count))


def tree(count: int) -> tuple[Uop, Uop]:
    index = load(src=at(ptr=memory(0, uint32), idxs=[const_of_dtype(int32, 0)]))
    return NODES.lookup(index, entries(count)), index


@pytest.mark.parametrize("count", [2, 4, 16, 32, 64])
def test_a_lookup_is_recognised_whatever_simplifying_did(count: int) -> None:
    root, index = tree(count)
    assert lookup(root) == Lookup(index, entries(count))
    assert lookup(simplify(root)) == Lookup(index, entries(count))


def test_what_is_no_lookup_is_none() -> None:
    root, index = tree(4)
    table, masked = root.src
    assert lookup(masked) is None
    assert lookup(at(ptr=memory(1, float32), idxs=[masked])) is None
    assert lookup(replace(root, src=(table, index))) is None
    assert lookup(replace(root, src=(table, index & 7))) is None
    assert lookup(replace(root, src=(table, cast(src=index, dtype=uint64) & 3))) is None
    mixed = stack([*table.src[:3], load(src=at(ptr=memory(1, float32), idxs=[index]))])
    assert lookup(replace(root, src=(mixed, masked))) is None
    assert lookup(at(ptr=stack(table.src[:3]), idxs=[index & 2])) is None


MACHINES = {
    "host": None,
    "AVX2": Machine(x86=True, mask_registers=False, vector_bytes=32),
    "SSE": Machine(x86=True, mask_registers=False, vector_bytes=16),
}


@x86
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize("count", [2, 8, 16, 32, 64])
@pytest.mark.parametrize("name", MACHINES)
def test_the_low_bits_of_an_index_say_the_entry(name: str, count: int, width: int) -> None:
    machine = MACHINES[name] or host()
    if machine.vector_bytes > host().vector_bytes:
        pytest.skip("not this machine's")
    table = entries(count)
    rng = np.random.default_rng(SEED)
    index = rng.integers(0, 2**32, 101, np.uint32, endpoint=False)
    ast = map_ast(lambda x: NODES.lookup(x, table), [uint32], float32)
    got = np.empty(index.size, np.float32)
    run_ast(ast, [index, got], width, machine=machine)
    assert got.tobytes() == np.array(table, np.float32)[index % count].tobytes()


def test_two_tables_with_one_beginning_are_two() -> None:
    first = entries(4)
    second = (*first[:3], 77.0)
    ast = map_ast(
        lambda x: NODES.lookup(x, first) + NODES.lookup(x, second) * 1000.0, [uint32], float32
    )
    index, got = np.array([3, 2], np.uint32), np.empty(2, np.float32)
    run_ast(ast, [index, got], 1)
    want = [np.float32(first[k]) + np.float32(second[k]) * np.float32(1000) for k in (3, 2)]
    assert got.tolist() == want


def test_a_constant_index_is_a_constant() -> None:
    found = simplify(NODES.lookup(const_of_dtype(uint32, 13 + 32), entries(16)))
    assert found.op is Ops.CONST
    assert found.arg.value == entries(16)[13]
