"""LLVM IR text → machine code in this process, through llvmlite (imported on first use).

No module passes run: the text is already simplified, hoisted and in vector form. Code is made for
the host CPU; on x86 AVX2 and FMA (x86-64-v3) are the floor.
"""

from __future__ import annotations

import functools
import platform
from dataclasses import dataclass
from typing import Any

from ..errors import DynamisError

_FLOOR = ("avx2", "bmi2", "f16c", "fma")


class UnsupportedCpu(DynamisError, RuntimeError):
    """This machine's processor lacks what native code needs."""


@dataclass(frozen=True, slots=True)
class Target:
    """The host, as LLVM sees it."""

    machine: Any
    triple: str
    x86: bool


@dataclass(frozen=True, slots=True)
class Native:
    """Machine code in memory: entry addresses, and what must outlive them."""

    run: int
    one: int
    engine: Any


@functools.cache
def host() -> Target:
    """The host's target machine. Raises UnsupportedCpu below x86-64-v3."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    features = llvm.get_host_cpu_features()
    if x86 and (missing := [name for name in _FLOOR if not features.get(name)]):
        raise UnsupportedCpu(
            f"the native backend needs an x86-64-v3 processor; this one lacks {', '.join(missing)}. "
            'backend="reference" runs anywhere, slowly'
        )
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=features.flatten(),
        opt=2,
        reloc="pic",
        codemodel="small",
    )
    return Target(machine, str(machine.triple), x86)


def _parse(text: str) -> Any:
    import llvmlite.binding as llvm

    target = host()
    module = llvm.parse_assembly(text, llvm.create_context())
    module.triple = target.triple
    module.data_layout = str(target.machine.target_data)
    module.verify()
    return module


def compile_llvm(text: str) -> Native:
    """Compile module text whose entries are ``run`` and ``one``."""
    import llvmlite.binding as llvm

    engine = llvm.create_mcjit_compiler(_parse(text), host().machine)
    engine.finalize_object()
    run, one = (engine.get_function_address(name) for name in ("run", "one"))
    return Native(run, one, engine)


def assembly(text: str) -> str:
    """The machine code of module text, as the target's assembly."""
    return str(host().machine.emit_assembly(_parse(text)))
