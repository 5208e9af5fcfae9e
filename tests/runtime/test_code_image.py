"""Flat images: what an object becomes, what is refused, and the life of loaded code."""

from __future__ import annotations

import ctypes
import gc
import mmap
import os
import pathlib
import struct

import pytest

from dynamis.runtime import code_image, jit
from dynamis.runtime.code_image import CodeImage, CodeRefused, load
from dynamis.runtime.elf import ObjectRefused, image_of_object

pytestmark = pytest.mark.skipif(not jit.flat(), reason="flat images are for x86-64 ELF systems")

TABLE = """
@table = internal constant [4 x i32] [i32 7, i32 11, i32 13, i32 17], align 16
define internal i32 @inner(i32 %k) noinline nounwind {
  %p = getelementptr i32, ptr @table, i32 %k
  %v = load i32, ptr %p
  ret i32 %v
}
define i32 @pick(i32 %k) nounwind {
  %a = call i32 @inner(i32 %k)
  %b = call i32 @plain(i32 %a)
  ret i32 %b
}
define i32 @plain(i32 %a) noinline nounwind {
  %b = mul i32 %a, 3
  ret i32 %b
}
define double @half(double %x) nounwind {
  %y = fmul double %x, 0.3
  ret double %y
}
"""


def object_of(text: str) -> bytes:
    import llvmlite.binding as llvm

    module, machine = jit._parse(text, llvm.create_context())
    return bytes(machine.emit_object(module))


def function(native: code_image.Native, name: str, *types: type) -> ctypes._FuncPointer:
    return ctypes.CFUNCTYPE(*types)(native[name])


def test_calls_tables_and_constants_of_a_module_reach_each_other_wherever_it_is_loaded() -> None:
    image = jit.compile_image(TABLE)
    assert sorted(image.entries) == ["half", "pick", "plain"]
    copies = [load(image), load(image)]
    assert copies[0]["pick"] != copies[1]["pick"]
    for native in copies:
        pick = function(native, "pick", ctypes.c_int32, ctypes.c_int32)
        assert [pick(k) for k in range(4)] == [21, 33, 39, 51]
        assert function(native, "half", ctypes.c_double, ctypes.c_double)(10.0) == 10.0 * 0.3


def test_a_jump_table_is_part_of_the_image() -> None:
    cases = "\n".join(f"  i32 {k}, label %c{k}" for k in range(12))
    arms = "\n".join(f"c{k}:\n  ret i32 {(k * 7919) % 101}" for k in range(12))
    text = (
        "define i32 @choose(i32 %k, ptr %p) nounwind {\n"
        f"  switch i32 %k, label %other [\n{cases}\n  ]\n"
        # arms with an effect each are a table of jumps, not of values
        + arms.replace(":\n", ":\n  store volatile i32 1, ptr %p\n")
        + "\nother:\n  ret i32 -1\n}\n"
    )
    data = object_of(text)
    assert b".rodata" in data
    native = load(image_of_object(data))
    choose = function(native, "choose", ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p)
    word = ctypes.c_int32(0)
    assert [choose(k, ctypes.addressof(word)) for k in range(12)] == [
        (k * 7919) % 101 for k in range(12)
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "declare float @sinf(float)\n"
            "define float @f(float %x) {\n %y = call float @sinf(float %x)\n ret float %y\n}",
            "refers to 'sinf', which is not its own",
        ),
        (
            # a copy of this length is a call of memcpy
            "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
            "define void @f(ptr %a, ptr %b, i64 %n) {\n"
            " call void @llvm.memcpy.p0.p0.i64(ptr %a, ptr %b, i64 %n, i1 false)\n ret void\n}",
            "refers to 'memcpy', which is not its own",
        ),
        (
            "@state = internal global i32 3\n"
            "define i32 @f() {\n %y = load volatile i32, ptr @state\n"
            " store volatile i32 4, ptr @state\n ret i32 %y\n}",
            r"writable data \(\.data\)",
        ),
        (
            "@zeros = internal global [9 x i32] zeroinitializer\n"
            "define void @f() {\n store volatile i32 4, ptr @zeros\n ret void\n}",
            r"writable data \(\.bss\)",
        ),
        (
            "@place = internal constant ptr @f\n"
            "define ptr @f() {\n %y = load volatile ptr, ptr @place\n ret ptr %y\n}",
            "writable data|relocation type 1 ",
        ),
        (
            "@table = constant i32 3\n"
            "define i32 @f() {\n %y = load volatile i32, ptr @table\n ret i32 %y\n}",
            "functions and constants of a module must be internal",
        ),
        (
            '@big = internal constant [4 x i8] c"abcd", align 8192\n'
            "define ptr @f() {\n ret ptr @big\n}",
            "asks for alignment 8192",
        ),
    ],
)
def test_a_module_that_does_not_stand_alone_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ObjectRefused, match=reason):
        jit.compile_image(text)


def test_an_object_that_is_cut_short_or_not_one_is_refused() -> None:
    data = object_of(TABLE)
    for size in (0, 3, 40, 63, 64, len(data) // 2, len(data) - 1):
        with pytest.raises(ObjectRefused):
            image_of_object(data[:size])
    with pytest.raises(ObjectRefused, match="not a relocatable x86-64"):
        image_of_object(pathlib.Path(os.path.realpath("/proc/self/exe")).read_bytes()[:4096])


def test_an_unknown_relocation_is_refused() -> None:
    data = bytearray(object_of(TABLE))
    at = struct.unpack_from("<Q", data, 40)[0]  # the section headers
    changed = 0
    for k in range(struct.unpack_from("<H", data, 60)[0]):
        kind, offset = (struct.unpack_from("<IIQQQ", data, at + 64 * k)[n] for n in (1, 4))
        if kind == 4:
            data[offset + 8] = 42  # R_X86_64_REX_GOTPCRELX
            changed += 1
    assert changed
    with pytest.raises(ObjectRefused, match="relocation type 42"):
        image_of_object(bytes(data))


def test_loaded_code_cannot_be_written() -> None:
    native = load(jit.compile_image(TABLE))
    lines = pathlib.Path("/proc/self/maps").read_text().splitlines()
    rights = {
        line.split()[1]
        for line in lines
        if int(line.split("-")[0], 16) <= native["pick"] < int(line.split()[0].split("-")[1], 16)
    }
    assert rights == {"r-xp"}


def mapped(address: int) -> bool:
    """Whether a page is mapped, as mincore says."""
    libc = ctypes.CDLL(None, use_errno=True)
    page = address // mmap.PAGESIZE * mmap.PAGESIZE
    seen = (ctypes.c_ubyte * 1)()
    return bool(libc.mincore(ctypes.c_void_p(page), ctypes.c_size_t(1), seen) == 0)


def test_code_goes_with_its_native_object_and_only_in_the_process_that_drops_it() -> None:
    native = load(jit.compile_image(TABLE))
    address = native["pick"]
    assert mapped(address)
    pid = os.fork()
    if pid == 0:
        del native
        gc.collect()
        os._exit(int(mapped(address)))
    assert os.waitpid(pid, 0)[1] == 0
    assert mapped(address)
    cycle: list[object] = [native]
    cycle.append(cycle)
    del native, cycle
    gc.collect()
    assert not mapped(address)


def test_a_system_that_forbids_made_code_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_image.mmap, "PROT_EXEC", 1 << 20)  # no such right: mprotect fails
    with pytest.raises(CodeRefused, match="does not let a process run code that it makes"):
        load(CodeImage(b"\xc3", {"f": 0}))


def test_llvms_own_linker_gives_the_same_results_where_there_are_no_flat_images() -> None:
    native = jit.link(TABLE)
    pick = function(native, "pick", ctypes.c_int32, ctypes.c_int32)
    assert [pick(k) for k in range(4)] == [21, 33, 39, 51]
    assert sorted(native.entries) == ["half", "pick", "plain"]
