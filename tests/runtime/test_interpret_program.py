"""The interpreter of linear programs: it gives native code's words, and refuses what does not run.

Kernels are compiled as for native code, at several widths, and their programs interpreted over
the same arrays. Programs built by hand show what each check says.
"""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, Rows, f32, i32, vec3
from dynamis.codegen import Options, compile_ast
from dynamis.dtype import AddrSpace, Ptr, bits_of, float32, float64, int32, uint64, value_of_bits
from dynamis.dtype import bool_ as bool_dtype
from dynamis.kernel import Validated, account, validate
from dynamis.kernel.types import Type, Value
from dynamis.lower import SIDES, CallClass, lower
from dynamis.runtime.interpret_program import ProgramError, interpret_program
from dynamis.runtime.native import NativeKernel
from dynamis.uop import (
    AxisType,
    Ops,
    Uop,
    alu_binary,
    barrier,
    break_,
    buffer,
    const_bool,
    const_of_dtype,
    end_,
    endif,
    if_,
    index,
    linear,
    load,
    param,
    range_,
    shape_arg,
    shrink,
    special,
    stack,
    store,
    toposort,
)
from dynamis.uop.abi import RECORD
from tests.kernel.strategies import NATIVE, random_module, random_run

SEED = 20261130
STORAGE = {
    Type.FLOAT: np.float32,
    Type.DOUBLE: np.float64,
    Type.INT: np.int32,
    Type.BOOL: np.uint8,
}
DTYPES = {Type.FLOAT: float32, Type.DOUBLE: float64, Type.INT: int32, Type.BOOL: bool_dtype}


def run_both(
    validated: Validated,
    inputs: list[np.ndarray],
    params: list[Value],
    extent: tuple[int, ...],
    width: int,
) -> bool:
    """Whether the run faulted; asserts that both ran, and gave the same words if neither did."""
    module = account(validated.module)
    manifest = module.manifest

    def empty() -> list[np.ndarray]:
        return [
            np.zeros(
                (*extent, p.element.lanes) if p.element.lanes > 1 else extent,
                STORAGE[p.element.component],
            )
            for p in manifest.outputs
        ]

    native, ours = empty(), empty()
    fault = NativeKernel(validated, Options(width=width)).run(inputs, params, native, extent, 1)

    same = tuple(
        port.shape is manifest.outputs[0].shape and a.shape[: len(extent)] == extent
        for port, a in zip(manifest.inputs, inputs, strict=True)
    )
    width = width if extent[-1] >= width else 1
    program = compile_ast(lower(module, CallClass(same)).root, Options(width=width))
    rows = math.prod(extent[:-1])
    scalars: dict[str, Any] = {"core_id": 0, "blocks": 1}
    scalars |= {"segments": 1, "segment_columns": extent[-1], "units": rows, "unit_block": rows}
    scalars |= dict(zip(SIDES[::-1], reversed(extent), strict=False))
    for port, a in zip(manifest.inputs, inputs, strict=True):
        own = zip(SIDES[::-1], reversed(a.shape[: port.shape.rank]), strict=False)
        scalars |= {f"{port.name}.{side}": n for side, n in own}
    for declared, value in zip(manifest.params, params, strict=True):
        dtype = DTYPES[declared.ty.component]
        for k, bits in enumerate(value.words):
            scalars[f"{declared.name}.{k}"] = value_of_bits(bits, dtype)
    record = [0] * 8
    memory: dict[int | str, Any] = {n: a.reshape(-1) for n, a in enumerate([*inputs, *ours])}
    interpret_program(program, memory | {RECORD: record}, scalars)

    assert (record[0] != 0) == (fault is not None)
    if fault is None:
        assert [a.tobytes() for a in ours] == [a.tobytes() for a in native]
    return fault is not None


@dy.kernel
def collatz(a: Rows[i32]) -> Rows[i32]:
    n = a.sample()
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@dy.kernel
def ratio(a: Rows[i32]) -> Rows[i32]:
    return 1000 // a.sample()


@dy.kernel
def gathered(a: Rows[f32], k: i32 = 3) -> Rows[f32]:
    total = 0.0
    for j in range(k):
        total += a.at(i32(a.sample()) * j - 2) / f32(j + 1)
    return total


@dy.kernel
def tinted(image: Grid[vec3], tint: vec3 = vec3(1.0, 0.5, 0.25)) -> Grid[vec3]:
    here = image.sample()
    return here * tint if here.x > here.y else tint - here


@pytest.mark.parametrize("width", [1, 4, 8])
def test_loops_that_diverge_give_native_words(width: int) -> None:
    data = np.arange(1, 24, dtype=np.int32)
    assert not run_both(validate(collatz.module), [data], [], (23,), width)


def test_a_fault_is_recorded_where_native_code_records_one() -> None:
    data = np.array([3, 1, 5, 7, 9, 0, 1, 1], np.int32)
    assert run_both(validate(ratio.module), [data], [], (8,), 4)


@pytest.mark.parametrize("width", [1, 8])
def test_gathers_and_parameters_give_native_words(width: int) -> None:
    data = np.linspace(-3, 12, 19, dtype=np.float32)
    params = [Value(Type.INT, (4,))]
    assert not run_both(validate(gathered.module), [data], params, (19,), width)


@pytest.mark.parametrize("width", [1, 4])
def test_vectors_on_a_grid_give_native_words(width: int) -> None:
    image = np.random.default_rng(SEED).random((3, 9, 3), np.float32)
    words = tuple(int(bits_of(x, float32)) for x in (1.0, 0.5, 0.25))
    params = [Value(tinted.module.manifest.params[0].ty, words)]
    assert not run_both(validate(tinted.module), [image], params, (3, 9), width)


@pytest.mark.parametrize("first", range(0, 60, 15))
def test_random_modules_give_native_words(first: int) -> None:
    faults = 0
    for seed in range(SEED + first, SEED + first + 15):
        print("seed", seed)
        rng = Random(seed)
        module = random_module(rng, scope=NATIVE)
        run = random_run(rng, module)

        def words(numbers: object, element: Type, extent: tuple[int, ...]) -> np.ndarray:
            shape = extent + ((element.lanes,) if element.lanes > 1 else ())
            return np.array(numbers, STORAGE[element.component]).reshape(shape)

        inputs = [
            words(field.words, port.element, field.extent)
            for port, field in zip(module.manifest.inputs, run.inputs, strict=True)
        ]
        faults += run_both(validate(module), inputs, list(run.params), run.extent, (1, 4)[seed % 2])
    assert faults < 15  # some runs give words


# -- programs by hand


def register(slot: int, size: int) -> Uop:
    dtype = Ptr.create(int32, addrspace=AddrSpace.REG, size=size)
    return buffer(slot=slot, dtype=dtype)


def memory_of(slot: int) -> Uop:
    return param(slot=slot, dtype=Ptr.create(int32, addrspace=AddrSpace.GLOBAL, size=-1))


def i(n: int) -> Uop:
    return const_of_dtype(int32, n)


def loop(size: int) -> Uop:
    return range_(size=size, axis=0, kind=AxisType.LOOP, dtype=int32)


def run(*effects: Uop, memory: dict[int | str, list[int]], **scalars: int) -> None:
    nodes = dict.fromkeys(u for effect in effects for u in toposort(effect))
    interpret_program(linear(nodes), memory, scalars, most_steps=200)


def test_a_loop_runs_its_body_once_for_each_value_of_its_range() -> None:
    out, r = [0] * 4, loop(4)
    write = store(dst=index(ptr=memory_of(0), idxs=[r]), value=r * r)
    run(end_(value=write, ranges=[r]), memory={0: out})
    assert out == [0, 1, 4, 9]


def test_one_end_closes_loops_from_the_inside_out() -> None:
    out = [0] * 6
    outer = loop(2)
    inner = range_(size=3, axis=1, kind=AxisType.LOOP, dtype=int32, parents=[outer])
    write = store(dst=index(ptr=memory_of(0), idxs=[outer * 3 + inner]), value=outer * 10 + inner)
    run(end_(value=write, ranges=[outer, inner]), memory={0: out})
    assert out == [0, 1, 2, 10, 11, 12]


def test_an_empty_loop_is_passed_over() -> None:
    out, r = [7], loop(0)
    run(
        end_(value=store(dst=index(ptr=memory_of(0), idxs=[r]), value=r), ranges=[r]),
        memory={0: out},
    )
    assert out == [7]


def test_a_break_leaves_its_loop_once_done_holds_in_every_lane() -> None:
    out, r = [0] * 9, loop(9)
    done = stack([r > 1, r > 4])
    leave = break_(done=done, loop=r)
    write = store(dst=index(ptr=memory_of(0), idxs=[r]), value=i(1))
    closed = end_(value=write, ranges=[r])
    interpret_program(
        linear([*dict.fromkeys(toposort(leave) + toposort(write)), closed]), {0: out}, {}
    )
    assert out == [1] * 5 + [0] * 4


@pytest.mark.parametrize(("size", "stop", "expected"), [(0, 9, 0), (4, 9, 12), (4, 1, 6)])
def test_an_inner_loop_that_ends_early_lets_the_outer_one_go_on(
    size: int, stop: int, expected: int
) -> None:
    out, outer = [0], loop(3)
    inner = range_(size=size, axis=1, kind=AxisType.LOOP, dtype=int32, parents=[outer])
    place = index(ptr=memory_of(0), idxs=[i(0)])
    more = store(dst=place, value=load(src=place) + 1)
    leave = break_(done=inner.eq(stop), loop=inner, deps=[more])
    closed = end_(value=leave, ranges=[outer, inner])  # one END for both
    run(closed, memory={0: out})
    assert out == [expected]


def test_a_region_runs_where_any_lane_of_its_condition_holds() -> None:
    for first, expected in ((False, 0), (True, 5)):
        out = [0]
        place = index(ptr=memory_of(0), idxs=[i(0)])
        cond = stack([const_bool(False), const_bool(first)])
        opened = if_(cond=cond, idx_for_dedup=place)
        write = store(dst=place, value=i(5))
        program = [*toposort(opened), write, endif(if_=opened)]
        interpret_program(linear(program), {0: out}, {})
        assert out == [expected]


def test_what_a_skipped_region_would_have_made_is_zero_behind_it() -> None:
    for first, expected in ((False, [7, 0]), (True, [12, 5])):
        out = [7, 5]
        places = [index(ptr=memory_of(0), idxs=[i(k)]) for k in range(2)]
        cond = stack([const_bool(False), const_bool(first)])
        opened = if_(cond=cond, idx_for_dedup=places[0])
        here, made = load(src=places[0]), load(src=places[1])
        whole = here + made
        stores = [store(dst=places[0], value=whole), store(dst=places[1], value=made)]
        program = [*toposort(opened)[:-1], *places, here, opened, made, endif(if_=opened), whole]
        interpret_program(linear([*dict.fromkeys(program), *stores]), {0: out}, {})
        assert out == expected


def test_lanes_are_loaded_stored_and_gated_one_by_one() -> None:
    data, out = [10, 20, 30], [0, 0, 0]
    lanes = stack([i(2), i(1), i(7)])
    gate = lanes < 3  # the address 7 is outside, and not touched
    got = load(src=index(ptr=memory_of(0), idxs=[lanes]), alt=i(-1), gate=gate)
    places = index(ptr=memory_of(1), idxs=[stack([i(0), i(1), i(2)])])
    run(store(dst=places, value=got, gate=got < 25), memory={0: data, 1: out})
    assert out == [0, 20, -1]


def test_a_scalar_parameter_and_a_special_have_the_values_given() -> None:
    out = [0]
    scalar = param(slot=-1, dtype=int32, shape=stack(()), name="n", addrspace=AddrSpace.ALU)
    lane = special(name="lidx0", size=i(8), dtype=int32)
    run(
        store(dst=index(ptr=memory_of(0), idxs=[i(0)]), value=scalar * lane),
        memory={0: out},
        n=6,
        lidx0=7,
    )
    assert out == [42]


def test_an_index_into_lanes_picks_one() -> None:
    out = [0]
    lanes = stack([i(4), i(5), i(6)]) + 1
    picked = index(ptr=lanes, idxs=[i(2)])
    run(store(dst=index(ptr=memory_of(0), idxs=[i(0)]), value=picked), memory={0: out})
    assert out == [7]


def test_a_shrink_of_storage_names_consecutive_elements() -> None:
    data, out = [1, 2, 3, 4, 5], [0] * 5
    source, target = memory_of(0), memory_of(1)
    for k, at in ((1, i(1)), (2, shape_arg([2]))):
        words = load(src=shrink(src=source, offset=at, size=i(3)))
        run(store(dst=shrink(src=target, offset=i(k), size=i(3)), value=words),
            memory={0: data, 1: out})  # fmt: skip
        assert out[k : k + 3] == data[k : k + 3]


def test_a_barrier_changes_nothing() -> None:
    out = [0]
    write = store(dst=index(ptr=memory_of(0), idxs=[i(0)]), value=i(3))
    run(barrier([write]), memory={0: out})
    assert out == [3]


def bad_programs() -> dict[str, tuple[list[Uop], str]]:
    place = index(ptr=memory_of(0), idxs=[i(0)])
    unread = load(src=index(ptr=register(0, 1), idxs=[i(0)]))
    outside = store(dst=index(ptr=memory_of(0), idxs=[i(4)]), value=i(1))
    below = load(src=index(ptr=memory_of(0), idxs=[i(-1)]))
    missing = store(dst=index(ptr=memory_of(5), idxs=[i(0)]), value=i(1))
    r = loop(1000)
    long = end_(value=store(dst=place, value=r), ranges=[r])
    other = range_(size=2, axis=7, kind=AxisType.LOOP, dtype=int32)
    lanes = stack([i(1), i(2)]) + stack([i(1), i(2), i(3)])
    named = param(slot=-1, dtype=int32, shape=stack(()), name="n", addrspace=AddrSpace.ALU)
    return {
        "a register": (toposort(unread), "read before it is written"),
        "above": (toposort(outside), "index 4 of 2"),
        "below": (toposort(below), "index -1 of 2"),
        "memory": (toposort(missing), "no memory is given"),
        "scalar": ([named], "no value is given for the parameter 'n'"),
        "long": (toposort(long), "more than 200 steps"),
        "unclosed": ([r, *toposort(break_(done=const_bool(True), loop=r))], "never closed"),
        "crossed": ([r, other, end_(value=i(0), ranges=[r])], "another loop than the innermost"),
        "unopened": ([end_(value=i(0), ranges=[r])], "no loop is open"),
        "no loop": ([r, other, break_(done=const_bool(True), loop=r)], "the innermost open loop"),
        "lanes": (toposort(lanes), "different lanes"),
        "order": ([named + 1, named][:1], "before it is computed"),
    }


@pytest.mark.parametrize("name", bad_programs())
def test_a_program_that_does_not_run_says_why(name: str) -> None:
    nodes, message = bad_programs()[name]
    with pytest.raises(ProgramError, match=message):
        interpret_program(linear(nodes), {0: [0, 0]}, {}, most_steps=200)


def test_only_a_linear_is_a_program() -> None:
    with pytest.raises(ProgramError, match="a program is a LINEAR, not ADD"):
        interpret_program(i(1) + i(2), {}, {})


def test_an_op_without_a_python_meaning_is_refused_by_name() -> None:
    word = const_of_dtype(uint64, 1)
    random = alu_binary(op=Ops.THREEFRY, lhs=word, rhs=word)
    with pytest.raises(ValueError, match="THREEFRY has no evaluation"):
        interpret_program(linear([random]), {}, {})
