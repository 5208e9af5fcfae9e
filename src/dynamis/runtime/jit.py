"""LLVM IR text → machine code, through llvmlite (imported on first use).

No module passes run: the text is already simplified, hoisted and in vector form. Code is made for
the host CPU; on x86 AVX2 and FMA (x86-64-v3) are the floor. On x86-64 systems with ELF objects the
result is a flat image, which needs llvmlite no more; elsewhere LLVM's own linker holds the code.
"""

from __future__ import annotations

import functools
import platform
import weakref
from typing import Any

from ..errors import DynamisError
from ..render import Machine
from .code_image import CodeImage, Native, flat, load
from .elf import image_of_object

_FLOOR = ("avx2", "bmi2", "f16c", "fma")
_WIDE = ("avx512f", "avx512vl", "avx512dq", "avx512bw")


class UnsupportedCpu(DynamisError, RuntimeError):
    """This machine's processor lacks what native code needs."""


@functools.cache
def host() -> Machine:
    """What rendering asks about this processor. Raises UnsupportedCpu below x86-64-v3."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    name = platform.machine().lower()
    x86 = name in ("x86_64", "amd64")
    features = llvm.get_host_cpu_features()
    if x86 and (missing := [feature for feature in _FLOOR if not features.get(feature)]):
        raise UnsupportedCpu(
            "the native backend needs an x86-64-v3 processor, and this one lacks "
            f'{", ".join(missing)}; backend="reference" runs anywhere, slowly'
        )
    wide = all(features.get(feature) for feature in _WIDE)
    return Machine(
        x86=x86,
        mask_registers=wide,
        vector_bytes=64 if wide else 32 if x86 else 16,
        arm64=name in ("aarch64", "arm64"),
    )


def _parse(text: str, context: Any) -> tuple[Any, Any]:
    """The module of ``text`` and a target machine for it (an engine takes its machine over)."""
    import llvmlite.binding as llvm

    host()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=2,
        reloc="pic",
        codemodel="small",
    )
    module = llvm.parse_assembly(text, context)
    module.triple = str(machine.triple)
    module.data_layout = str(machine.target_data)
    module.verify()
    return module, machine


def compile_image(text: str) -> CodeImage:
    """The image of module text, where ``flat``; its entries are the external functions.

    Raises ObjectRefused for a module that does not stand alone."""
    import llvmlite.binding as llvm

    context = llvm.create_context()
    module, machine = _parse(text, context)
    return image_of_object(machine.emit_object(module))


def compile_llvm(text: str) -> Native:
    """Module text as code in this process; its entries are the external functions."""
    return load(compile_image(text)) if flat() else link(text)


def link(text: str) -> Native:
    """Module text as code that LLVM's own linker holds, for systems without flat images."""
    import llvmlite.binding as llvm

    context = llvm.create_context()
    module, machine = _parse(text, context)
    names = [
        f.name for f in module.functions if not f.is_declaration and f.linkage.name == "external"
    ]
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    native = Native({name: engine.get_function_address(name) for name in names}, None)
    # An engine must go before its context. Python's cycle collector finalises in no order, so
    # neither may ever be part of a cycle: only this finaliser holds them.
    weakref.finalize(native, _free, engine, context).atexit = False
    return native


def _free(engine: Any, context: Any) -> None:
    engine.close()
    context.close()


def assembly(text: str) -> str:
    """The machine code of module text, as the target's assembly."""
    import llvmlite.binding as llvm

    module, machine = _parse(text, llvm.create_context())
    return str(machine.emit_assembly(module))
