"""Hand-built kernel ASTs for tests: one-dimensional maps over memory, compiled and run."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from dynamis.codegen import Options, compile_ast
from dynamis.dtype import AddrSpace, Ptr, Val, bool_, int32, uint8
from dynamis.render import RECORD_WORDS, Machine, parameters, render_llvm
from dynamis.runtime.jit import compile_llvm, host
from dynamis.uop import (
    AxisType,
    Uop,
    cast,
    const_of_dtype,
    end_,
    index,
    load,
    param,
    range_,
    sink,
    stack,
    store,
)

ONE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p)


def memory(slot: int, dtype: Val) -> Uop:
    """The memory parameter of a slot."""
    return param(slot=slot, dtype=Ptr.create(dtype, addrspace=AddrSpace.GLOBAL, size=-1))


def column() -> Uop:
    """The domain range of a one-dimensional kernel."""
    space = AddrSpace.ALU
    width = param(
        slot=-1, dtype=int32, shape=stack(()), name="width", vmin_vmax=(1, 2**20), addrspace=space
    )
    return range_(size=width, axis=1, kind=AxisType.GLOBAL, dtype=int32)


def map_ast(body: Callable[..., Uop], sources: Sequence[Val], result: Val) -> Uop:
    """The AST of ``out[i] = body(in0[i], in1[i], …)``; bools are bytes in memory."""
    i = column()
    words = []
    for slot, dtype in enumerate(sources):
        stored = uint8 if dtype is bool_ else dtype
        word = load(src=index(ptr=memory(slot, stored), idxs=[i]))
        words.append(word.ne(const_of_dtype(uint8, 0)) if dtype is bool_ else word)
    value = body(*words)
    stored = uint8 if result is bool_ else result
    value = cast(src=value, dtype=stored)
    out = store(dst=index(ptr=memory(len(sources), stored), idxs=[i]), value=value)
    return sink([end_(value=out, ranges=[i])])


def run_ast(
    root: Uop, arrays: Sequence[NDArray[np.generic]], width: int, machine: Machine | None = None
) -> None:
    """Run an AST over its arrays (slot order, one length), in one block, rendered for a machine
    that this one can stand for; None: for this one."""
    program = compile_ast(root, Options(width=width))
    native = compile_llvm(render_llvm(program, machine or host()))
    n = arrays[0].size
    scalars = {
        "width": n,
        "segments": 1,
        "segment_columns": n,
        "units": 1,
        "unit_block": 1,
        "blocks": 1,
    }
    slots = [
        arrays[u.arg.slot].ctypes.data if u.dtype.is_ptr else scalars[str(u.arg.name)]
        for u in parameters(program)
    ]
    args = (ctypes.c_uint64 * len(slots))(*slots)
    record = (ctypes.c_int32 * RECORD_WORDS)()
    stop = ctypes.c_uint64(0)
    call = ONE(native["one"])
    call(ctypes.addressof(args), 0, ctypes.addressof(record), ctypes.addressof(stop))
