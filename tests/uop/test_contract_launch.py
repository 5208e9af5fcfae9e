"""The contract's program metadata: names for functions, and what a launch needs."""

from __future__ import annotations

import pytest

from dynamis.dtype import AddrSpace, float32, int32
from dynamis.uop import (
    KernelInfo,
    ProgramInfo,
    Uop,
    UopError,
    UopNotFound,
    index,
    kernel_function_name,
    load,
    param,
    program_function_name,
    program_info_from_sink,
    program_launch_dims,
    program_runtimevars,
    program_vals,
    sanitize_function_name,
    sink,
    special,
    stack,
    store,
    variable,
)
from tests.uop.contract import memory, n, var


def core_id() -> Uop:
    return variable(name="core_id", min_val=0, max_val=7)


def test_sanitized_names_are_c_identifiers() -> None:
    assert sanitize_function_name("add_1") == "add_1"
    assert sanitize_function_name("a+b") == "a2Bb"
    assert sanitize_function_name("é") == "E9"
    assert sanitize_function_name("xλ") == "x3BB"
    assert sanitize_function_name("1st") == "_1st"
    assert sanitize_function_name("") == "_"


def test_the_function_name_of_a_kernel_is_its_name_sanitized() -> None:
    assert kernel_function_name(KernelInfo(name="r_4 4")) == "r_4204"


def test_the_function_name_of_a_program_is_its_name_sanitized() -> None:
    assert program_function_name(ProgramInfo(name="r_4 4")) == "r_4204"


def kernel(*extra: Uop) -> Uop:
    gid, lid = special(name="gidx1", size=n(6)), special(name="lidx0", size=n(4))
    value = load(src=index(ptr=memory(2), idxs=[gid]))
    return sink([store(dst=index(ptr=memory(1), idxs=[lid]), value=value), *extra],
                kernel_info=KernelInfo(name="k"))  # fmt: skip


def test_program_info_is_read_off_a_sink() -> None:
    info = program_info_from_sink(kernel(var("m"), var("m")), aux=["x"])
    assert info.name == "k"
    assert info.global_size == (1, 6, 1)
    assert info.local_size == (4, 1, 1)
    assert info.vars == (var("m"),)
    assert (info.globals, info.outs, info.ins) == ((1, 2), (1,), (2,))
    assert info.aux == ("x",)
    assert program_info_from_sink(sink([])).aux == ()


def test_program_info_refuses_what_no_launch_has() -> None:
    with pytest.raises(UopError, match="axes"):
        program_info_from_sink(sink([special(name="gidx3", size=n(4))]))
    with pytest.raises(UopError, match="local"):
        program_info_from_sink(sink([special(name="lidx0", size=var("m"))]))


def test_the_runtime_owns_core_id() -> None:
    info = ProgramInfo(name="p", vars=(var("m"), core_id()))
    assert dict(program_runtimevars(info)) == {"core_id": 1}


def test_launch_dims_are_evaluated_over_the_variables() -> None:
    m = var("m", 0, 100)
    info = ProgramInfo(
        name="p", global_size=((m + 3) // 4, 2, m.maximum(n(5))), local_size=(8, 1, 1)
    )
    assert program_launch_dims(info, var_vals={"m": 9}) == ((3, 2, 9), (8, 1, 1))
    with pytest.raises(UopNotFound) as caught:
        program_launch_dims(info, var_vals={})
    assert isinstance(caught.value, KeyError)
    unknown = load(src=index(ptr=memory(0, base=int32), idxs=[n(0)]))
    with pytest.raises(UopNotFound):
        program_launch_dims(ProgramInfo(name="p", global_size=(unknown,)), var_vals={})


def test_program_vals_are_in_order_and_none_for_the_runtimes_own() -> None:
    info = ProgramInfo(name="p", vars=(core_id(), var("m"), var("k")))
    assert tuple(program_vals(info, var_vals={"k": 3, "m": 9})) == (None, 9, 3)
    with pytest.raises(UopNotFound) as caught:
        program_vals(info, var_vals={"k": 3})
    assert isinstance(caught.value, KeyError)


def test_scalar_parameters_are_variables_and_memory_is_global() -> None:
    alu = param(slot=0, dtype=float32, shape=stack([]), name="s", addrspace=AddrSpace.ALU)
    info = program_info_from_sink(sink([alu, memory(4)]))
    assert info.vars == (alu,)
    assert info.globals == (4,)
