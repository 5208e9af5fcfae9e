"""A kernel as native code: compiled for each class of calls, run in blocks, searched on a fault.

The fast program is made from the optimised module and only decides whether a block faulted. When
one did, a second program, one lane wide, is compiled on demand from the module as it was written
and runs that block alone to find the first failing element, the place and the operands.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from ..codegen import Options, compile_ast
from ..errors import DynamisError
from ..kernel import Module, Validated, account, op, optimize
from ..kernel.fault import Fault
from ..kernel.tables import BinaryOp
from ..kernel.types import Type, Value, bits_number
from ..lower import SIDES, CallClass, KernelAst, lower, require_supported
from ..render import RECORD_WORDS, parameters, render_llvm
from ..uop import Uop
from ..uop.render import uops_to_string
from .arrays import host_dtype
from .jit import Native, assembly, compile_llvm, host
from .locks import COMPILING
from .stages import STAGES
from .streaming import line_scalars, streams
from .threads import Progress, run_blocks, run_one
from .width import fitting_width, preferred_width

_BLOCK_WORK = 2**22
"""Operations a block should hold: long beside taking it, short beside a run."""
_SHORT_WORK, _SHORT_WORST = 2**19, 2**32
"""A run of fewer operations at worst is not interrupted: the calling thread takes part in it. One
of fewer operations as a rule is not worth another thread."""
_REMAINDER = 100
"""Operations that a float remainder counts as."""

Array = NDArray[Any]


class StageError(DynamisError, ValueError):
    """A stage that does not exist."""


class InputChanged(DynamisError, RuntimeError):
    """An input array was changed by another thread while a kernel ran on it."""


@dataclass(frozen=True, slots=True)
class _Program:
    """One compiled program and the order of its arguments."""

    native: Native
    parameters: Sequence[Uop]
    ast: KernelAst


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a domain is cut: see ``codegen.split``."""

    segments: int
    units: int
    unit_block: int
    blocks: int


class NativeKernel:
    """A validated kernel's native code. Safe to call from many threads.

    Without ``options`` they are chosen for the kernel and this machine.

    Raises UnsupportedKernel for a kernel that this backend does not run."""

    def __init__(self, validated: Validated, options: Options | None = None):
        require_supported(validated.module)
        self.module = account(validated.module)
        self._optimized = account(optimize(validated.module))
        self.options = options or Options(preferred_width(self._optimized, host()))
        self.compile_seconds = 0.0
        self._programs: dict[tuple[CallClass, Options, bool], _Program] = {}
        first = self.module.manifest.outputs[0].element
        self._element = first.lanes * host_dtype(first).itemsize
        self._typical = max(1, self.module.typical_work())
        limit = self.module.manifest.work_limit
        iterations = limit if self.module.counts_work() else min(self.module.worst_work(), limit)
        self._worst = (1 + iterations) * _operations(self.module)

    def run(
        self,
        inputs: Sequence[Array],
        params: Sequence[Value],
        outputs: Sequence[Array],
        extent: tuple[int, ...],
        threads: int,
        progress: Progress | None = None,
    ) -> Fault | None:
        """Fill ``outputs`` over a domain of ``extent``; the first fault, or None.

        Arrays are contiguous and native-endian (float32, int32, uint8 for bool), NumPy order, and
        no output shares memory with another array. ``progress(done, blocks)`` is called from the
        calling thread. ``outputs`` are unspecified after a fault.
        """
        call = self._class(inputs, outputs, extent)
        columns = extent[-1]
        width = fitting_width(self.options.width, columns)
        streaming = width > 1 and streams(inputs, outputs, self._element)
        options = replace(self.options, width=width, streaming=streaming)
        plan = self._plan(extent, threads, options.width)
        program = self._program(call, options, search=False)
        scalars = self._scalars(inputs, params, extent, plan)
        scalars |= line_scalars(outputs[0], self._element) if streaming else {}
        arrays = [*inputs, *outputs]
        args = _arguments(program.parameters, arrays, scalars)
        size = math.prod(extent)
        short = size * self._worst < _SHORT_WORST
        if short and size * self._typical < _SHORT_WORK:
            threads = 1
        failed = run_blocks(
            program.native.run, args, plan.blocks, threads, here=short, progress=progress
        )
        return None if failed is None else self._search(call, arrays, scalars, failed)

    def stage(self, name: str) -> str:
        """The text of one of ``STAGES`` for inputs of the domain's extent. Raises StageError."""
        call = CallClass(tuple(self._same_shape()))
        match name:
            case "kernel":
                return str(self.module)
            case "uop":
                return uops_to_string(lower(self._optimized, call).root)
            case "program":
                return uops_to_string(list(self._linear(call).src))
            case "llvm":
                return render_llvm(self._linear(call), host())
            case "asm":
                return assembly(self.stage("llvm"))
        raise StageError(f"{name!r} is no stage; the stages are {', '.join(STAGES)}")

    def _linear(self, call: CallClass) -> Uop:
        return compile_ast(lower(self._optimized, call).root, self.options)

    # --- compiling

    def _program(self, call: CallClass, options: Options, *, search: bool) -> _Program:
        key = call, options, search
        if key not in self._programs:
            with COMPILING:
                if key not in self._programs:
                    started = time.perf_counter()
                    module = self.module if search else self._optimized
                    self._programs[key] = _compile(module, call, options, search)
                    self.compile_seconds += time.perf_counter() - started
        return self._programs[key]

    def _same_shape(self) -> list[bool]:
        manifest = self.module.manifest
        return [port.shape is manifest.outputs[0].shape for port in manifest.inputs]

    def _class(
        self, inputs: Sequence[Array], outputs: Sequence[Array], extent: tuple[int, ...]
    ) -> CallClass:
        same = [
            alike and array.shape[: len(extent)] == extent
            for alike, array in zip(self._same_shape(), inputs, strict=True)
        ]
        return CallClass(tuple(same), any(a.size >= 2**31 for a in (*inputs, *outputs)))

    # --- one call

    def _plan(self, extent: tuple[int, ...], threads: int, width: int) -> _Plan:
        rows, columns = math.prod(extent[:-1]), extent[-1]
        wanted = max(_BLOCK_WORK // self._typical, 1)
        wanted = min(wanted, max(rows * columns // (64 * threads), 1))
        segments = max(min(-(-columns // wanted), columns // (8 * width)), 1)
        units = rows * segments
        unit_block = max(wanted * segments // columns, 1)
        return _Plan(segments, units, unit_block, -(-units // unit_block))

    def _scalars(
        self,
        inputs: Sequence[Array],
        params: Sequence[Value],
        extent: tuple[int, ...],
        plan: _Plan,
    ) -> dict[str, int]:
        """Each scalar parameter's 8-byte slot, by name."""
        scalars = {
            **_sides("", extent),
            "segments": plan.segments,
            "units": plan.units,
            "unit_block": plan.unit_block,
            "blocks": plan.blocks,
        }
        for port, array in zip(self.module.manifest.inputs, inputs, strict=True):
            scalars |= _sides(f"{port.name}.", array.shape[: port.shape.rank])
        for declared, value in zip(self.module.manifest.params, params, strict=True):
            for k, bits in enumerate(value.words):
                scalars[f"{declared.name}.{k}"] = bits
        return scalars

    def _search(
        self, call: CallClass, arrays: Sequence[Array], scalars: dict[str, int], block: int
    ) -> Fault:
        program = self._program(call, replace(self.options, width=1), search=True)
        args = _arguments(program.parameters, arrays, scalars)
        record = (ctypes.c_int32 * RECORD_WORDS)()
        run_one(program.native.one, args, block, record)
        if record[0] == 0:
            raise InputChanged(
                f"{self.module.manifest.id} failed, but no element of it does now: another thread "
                "changed an input during the run; give each run arrays of its own"
            )
        site = program.ast.sites[record[0] - 1]
        words = record[2 : 2 + len(site.operand_types)]
        return Fault(
            element=record[1],
            function=site.function,
            instruction=site.instruction,
            kind=site.kind,
            operands=tuple(
                bits_number(ty, w & 0xFFFFFFFF)
                for ty, w in zip(site.operand_types, words, strict=True)
            ),
            span=site.span,
        )


def _sides(prefix: str, extent: tuple[int, ...]) -> dict[str, int]:
    """The scalars that hold an extent."""
    return {prefix + side: n for side, n in zip(SIDES[-len(extent) :], extent, strict=True)}


def _operations(module: Module) -> int:
    """About how many operations all instructions take that run once each."""
    total = 0
    for function in module.all_functions():
        for instruction in function.instructions():
            match instruction.op:
                case op.Binary(BinaryOp.REM) if instruction.ty.component == Type.FLOAT:
                    total += _REMAINDER * instruction.ty.lanes
                case _:
                    total += instruction.ty.lanes
    return total


def _compile(module: Module, call: CallClass, options: Options, search: bool) -> _Program:
    ast = lower(module, call, search=search)
    linear = compile_ast(ast.root, options)
    native = compile_llvm(render_llvm(linear, host(), streaming=options.streaming))
    return _Program(native, parameters(linear), ast)


def _arguments(
    order: Sequence[Uop], arrays: Sequence[Array], scalars: dict[str, int]
) -> ctypes.Array[ctypes.c_uint64]:
    slots = [
        arrays[u.arg.slot].ctypes.data if u.dtype.is_ptr else scalars[str(u.arg.name)]
        for u in order
    ]
    return (ctypes.c_uint64 * max(len(slots), 1))(*slots)
