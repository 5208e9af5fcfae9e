"""The wrapper of native calls as text and as records: what LLVM and ctypes both must agree on."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dynamis as dy
from dynamis import Rows, f32
from dynamis.runtime import jit
from dynamis.runtime.native_call.assembler import assemble
from dynamis.runtime.native_call.layout import FUNCTIONS, RECORDS, Api, ObjectLayout, fields
from dynamis.runtime.native_call.python import api, object_layout, wrapper
from dynamis.runtime.native_call.wrapper import wrapper_text


@dy.kernel
def some_kernel(x: Rows[f32]) -> Rows[f32]:
    return x.sample()


def test_llvm_lays_the_records_out_as_ctypes_does() -> None:
    import llvmlite.binding as llvm

    module, machine = jit._parse(wrapper_text(ObjectLayout(1, 3, 4)), llvm.create_context())
    types = {ty.name: ty for ty in module.struct_types}
    for record in RECORDS:
        ty = types[record.__name__]
        assert machine.target_data.get_abi_size(ty) == ctypes.sizeof(record)
        for number, (name, _) in enumerate(fields(record)):
            offset = machine.target_data.get_element_offset(ty, number)
            assert offset == getattr(record, name).offset, (record, name)


def test_the_wrapper_stands_alone_and_holds_no_address() -> None:
    here = object_layout(type(some_kernel))
    assert here is not None
    text = wrapper_text(here)
    declared = [line for line in text.split("\n") if line.startswith("declare")]
    assert all("@llvm." in line for line in declared), "only what the processor does itself"
    assert "inttoptr" not in text
    assert "$" not in text
    table = api()
    assert not any(str(getattr(table, name)) in text for name, _ in fields(Api))
    assert list(wrapper(here).entries) == ["call"]


def test_every_function_of_python_is_called_somewhere() -> None:
    text = wrapper_text(ObjectLayout(1, 3, 4))
    for number, (name, _) in enumerate(fields(Api)):
        assert f"%Api, ptr %api, i32 0, i32 {number}\n" in text, name
    assert set(FUNCTIONS) < {name for name, _ in fields(Api)}


def test_a_stack_frame_fits_one_page() -> None:
    frame = next(record for record in RECORDS if record.__name__ == "Frame")
    assert ctypes.sizeof(frame) < 4096  # a larger one makes Windows code probe the stack by a call


def test_shorthand_becomes_llvm() -> None:
    assert assemble("  %n = get Buffer.len %view ; bytes").splitlines() == [
        "  %n.at0 = getelementptr inbounds %Buffer, ptr %view, i32 0, i32 2",
        "  %n = load i64, ptr %n.at0, align 8",
    ]
    assert assemble("\n  set Buffer.ndim %view, 3").splitlines() == [
        "  %set1 = getelementptr inbounds %Buffer, ptr %view, i32 0, i32 5",
        "  store i32 3, ptr %set1, align 4",
    ]
    assert assemble("  %p = item ptr %a, %i").splitlines() == [
        "  %p.at0 = getelementptr inbounds ptr, ptr %a, i64 %i",
        "  %p = load ptr, ptr %p.at0, align 8",
    ]
    assert assemble("  py Py_DecRef(%o)").splitlines()[-1] == "  call void %py0(ptr %o)"
    assert assemble("  ret void ; the end\n\n; only a comment") == "  ret void"


@pytest.mark.parametrize(
    "line",
    ["%n = get Buffer.size %v", "set Nothing.x %v, 1", "py PyObject_Nothing(%o)", "%o = object no"],
)
def test_shorthand_for_what_does_not_exist_is_an_error(line: str) -> None:
    with pytest.raises(KeyError):
        assemble(line)


def test_shorthand_with_a_wrong_number_of_arguments_is_an_error() -> None:
    with pytest.raises(ValueError, match="zip"):
        assemble("%r = py PyTuple_Size(%a, %b)")


KEPT = """
import sys
import numpy as np
import dynamis as dy
from dynamis import Rows, f32

@dy.kernel
def k(x: Rows[f32]) -> Rows[f32]:
    return x.sample() + 1.0

x = np.arange(20, dtype=np.float32)
assert all(np.array_equal(k(x), x + 1) for _ in range(4))
assert k._native_entry
print("compiled" if "llvmlite" in sys.modules else "kept")
"""


@pytest.mark.skipif(not jit.flat(), reason="this system's code is not kept")
def test_the_native_path_of_a_kept_kernel_needs_no_compiler(tmp_path: Path) -> None:
    file = tmp_path / "k.py"
    file.write_text(KEPT)
    environment = {**os.environ, "DYNAMIS_CACHE": str(tmp_path / "cache")}
    said = [
        subprocess.run(
            [sys.executable, str(file)],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        for _ in range(2)
    ]
    assert said == ["compiled", "kept"]
