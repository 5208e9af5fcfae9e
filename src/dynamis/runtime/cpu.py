"""Which processor this is, as exactly as a compiler can ask it.

Two machines with the same ``processor`` get the same code from LLVM, which chooses by what CPUID
and XGETBV say and by nothing else. Operating systems list features too, but only those they know.
x86-64 only: the instructions are run from an image of their own.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Final

from .code_image import CodeImage, load

_CPUID: Final = bytes.fromhex(
    "53"  # push rbx
    "89f8"  # mov eax, edi: the leaf
    "89f1"  # mov ecx, esi: the subleaf
    "4989d0"  # mov r8, rdx: where the answer goes
    "0fa2"  # cpuid
    "418900"  # mov [r8], eax
    "41895804"  # mov [r8+4], ebx
    "41894808"  # mov [r8+8], ecx
    "4189500c"  # mov [r8+12], edx
    "5b"  # pop rbx
    "c3"  # ret
)
_XGETBV: Final = bytes.fromhex(
    "89f9"  # mov ecx, edi
    "0f01d0"  # xgetbv
    "48c1e220"  # shl rdx, 32
    "4809d0"  # or rax, rdx
    "c3"  # ret
)
_IMAGE: Final = CodeImage(_CPUID + _XGETBV, {"cpuid": 0, "xgetbv": len(_CPUID)})

_LEAVES: Final = (
    (0x0, 0, "abcd"),  # vendor
    (0x1, 0, "acd"),  # family, model, features; EBX names the core that answers
    (0x7, 0, "abcd"),
    (0x7, 1, "abcd"),
    (0xD, 1, "a"),  # EBX is the size of a state area
    (0x14, 0, "b"),
    (0x19, 0, "b"),
    (0x1E, 1, "a"),
    (0x24, 0, "b"),
    (0x80000000, 0, "a"),
    (0x80000001, 0, "abcd"),
    (0x80000008, 0, "b"),  # the rest are sizes and counts
    (0x80000021, 0, "a"),
)
"""Leaf, subleaf and the registers that tell kinds of processors, and what they may run, apart."""
_OSXSAVE: Final = 1 << 27


@functools.cache
def processor() -> tuple[int, ...]:
    """The words that CPUID and XGETBV answer: equal for processors that LLVM cannot tell apart."""
    native = load(_IMAGE)
    cpuid = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)(
        native["cpuid"]
    )
    xgetbv = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_uint32)(native["xgetbv"])
    answer = (ctypes.c_uint32 * 4)()

    def ask(leaf: int, subleaf: int) -> dict[str, int]:
        cpuid(leaf, subleaf, ctypes.addressof(answer))
        return dict(zip("abcd", answer, strict=True))

    most = {0: ask(0, 0)["a"], 0x80000000: ask(0x80000000, 0)["a"]}
    words = []
    for leaf, subleaf, registers in _LEAVES:
        known = leaf <= most[leaf & 0x80000000]
        found = ask(leaf, subleaf) if known else dict.fromkeys("abcd", 0)
        words += [found[register] for register in registers]
    if ask(1, 0)["c"] & _OSXSAVE:
        words.append(xgetbv(0))  # which registers the system saves
    return tuple(words)
