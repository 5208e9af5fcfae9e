"""A kernel as native code: a program for each class of calls, run in blocks, searched on a fault.

The fast program only decides whether a block faulted. When one did, a second program, one lane
wide, runs that block alone to find the first failing element, the place and the operands.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from ..codegen import Options
from ..codegen.options import EXACT
from ..collector import collector_paused
from ..errors import DynamisError
from ..kernel import Module, Validated, account
from ..kernel.fault import Fault
from ..kernel.limits import MAX_ELEMENTS
from ..kernel.module import Port, Span
from ..kernel.types import Value, bits_number
from ..lower import SIDES, CallClass, require_supported
from ..render import RECORD_WORDS
from .arrays import host_dtype
from .call_facts import CallFacts, CallProgram, Limits
from .code_image import Native
from .locks import COMPILING
from .maker import Maker
from .plan import Plan, least_columns, most_elements, plan
from .program import FaultSite, Program, Work
from .stages import STAGES
from .streaming import line_scalars, streams
from .threads import Progress, run_blocks, run_one
from .timing import Timings
from .watchdog import Trust
from .width import columns_at, fitting_width

_SHORT_WORK, _SHORT_WORST = 2**19, 2**30
"""A run of fewer operations at worst, a lane of its vectors, is not interrupted: the calling thread
takes part in it, for well under a second. One of fewer operations as a rule is not worth another
thread."""
_SOON_WORK = 2**27
"""A run of fewer as a rule, a lane of its vectors, is over in some hundredths of a second."""
_LANES = 8
"""Lanes that operations are shared among at most, for these bounds."""
_BRIEF_WORK, _BRIEF_WORST = 2**15, 2**17
"""A run below both keeps the GIL: to let go of it would cost as much as the run."""

Array = NDArray[Any]


class StageError(DynamisError, ValueError):
    """A stage that does not exist."""


class InputChanged(DynamisError, RuntimeError):
    """An input array was changed by another thread while a kernel ran on it."""


class NativeKernel:
    """A validated kernel's native code. Safe to call from many threads.

    Without ``options`` they are chosen for the kernel and this machine.

    Raises UnsupportedKernel for a kernel that this backend does not run."""

    def __init__(
        self,
        validated: Validated,
        options: Options | None = None,
        *,
        keep: bool = False,
        timings: Timings | None = None,
    ):
        """``keep``: programs are looked for, and kept, in the disk cache. ``timings``: where the
        time of compiling is counted."""
        require_supported(validated.module)
        self.manifest = validated.module.manifest
        self.timings = timings or Timings()
        self._validated, self._options = validated, options
        self._module: Module | None = None
        self._maker = Maker(validated, self.timings, keep=keep)
        first = self.manifest.outputs[0].element
        self._element = first.lanes * host_dtype(first).itemsize
        self._programs: dict[tuple[CallClass, Options, bool], tuple[Program, Native]] = {}
        self.short_runs = 0
        """Runs so far that were too short to be interrupted, or of which enough were over soon."""
        self.trust = Trust()

    # What is made on demand is made under the lock, for another thread may fork meanwhile.

    @property
    def module(self) -> Module:
        """The module as it was written, accounted."""
        with COMPILING:
            if self._module is None:
                self._module = account(self._validated.module)
            return self._module

    @property
    def options(self) -> Options:
        """Those it was given, or that suit it, for domains of many rows."""
        with COMPILING:
            if self._options is None:
                self._options = Options(self._maker.preferred_width())
            return replace(self._options, rows=2)

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

        Arrays are contiguous and native-endian (float32, float64, int32, uint8 for bool), NumPy
        order, and no output shares memory with another array. ``progress(done, blocks)`` is called
        from the calling thread. ``outputs`` are unspecified after a fault.
        """
        call = self._class(inputs, outputs, extent)
        columns = extent[-1]
        preferred = self._options or self.options
        width = fitting_width(preferred.width, columns)
        streaming = width > 1 and streams(inputs, outputs, self._element)
        several = len(extent) != 2 or 2 <= extent[0] <= EXACT
        options = Options(width, 2 if several else 1, streaming)
        program, native = self._fast_program(call, options)
        sizes = (array.shape[: port.shape.rank] for port, array in self._given(inputs))
        work = program.work_for(max(map(math.prod, sizes), default=0))
        cut = plan(work.typical, extent, threads, options.width, program.rows)
        scalars = self._scalars(inputs, params, extent, cut)
        scalars |= line_scalars(outputs[0], self._element) if streaming else {}
        arrays = [*inputs, *outputs]
        args = _arguments(program, arrays, scalars)
        size = math.prod(extent)
        limits = _limits(work, options.width)
        short = size <= limits.sure
        if short and size <= limits.alone:
            threads = 1
        started = time.perf_counter()
        failed = run_blocks(
            native["run"],
            args,
            cut.blocks,
            threads,
            here=short,
            progress=progress,
            keep=(native, arrays),
        )
        if not short and size <= limits.soon:
            self.trust.note(time.perf_counter() - started)
        self.short_runs += short or self.trust.holds
        return None if failed is None else self._search(call, arrays, scalars, failed)

    @property
    def program_count(self) -> int:
        """How many programs exist by now."""
        return len(self._programs)

    def call_facts(self) -> CallFacts:
        """What the native call path needs to know, of the programs that exist by now."""
        programs = tuple(
            CallProgram(
                code=native,
                same_extent=call.same_extent,
                columns=columns_at(options.width, self.options.width),
                rows=_heights(program, options),
                together=program.rows,
                arguments=program.arguments,
                limits=tuple(_limits(work, options.width) for work in program.work),
                width=options.width,
                streaming=options.streaming,
            )
            for (call, options, search), (program, native) in self._programs.items()
            if not search and call == CallClass(call.same_extent)
        )
        return CallFacts(self.manifest, self.trust, programs)

    def stage(self, name: str) -> str:
        """The text of one of ``STAGES`` for inputs of the domain's extent. Raises StageError."""
        if name not in STAGES:
            raise StageError(f"{name!r} is no stage; the stages are {', '.join(STAGES)}")
        if name == "kernel":
            return str(self.module)
        with COMPILING:
            compiler = self._maker.compiler
        return compiler.stage(name, CallClass(tuple(self._same_shape())), self.options)

    def explain(self) -> str:
        """How it runs on inputs of the domain's extent: see ``explain.py``."""
        with COMPILING:
            compiler = self._maker.compiler
        return compiler.explain(CallClass(tuple(self._same_shape())), self.options)

    # --- compiling

    def _fast_program(self, call: CallClass, options: Options) -> tuple[Program, Native]:
        """The program of a run; where ``options`` are for one row only, that for several does if it
        takes them one at a time."""
        several = self._program(call, replace(options, rows=2), search=False)
        if options.rows == 2 or several[0].rows == 1:
            return several
        return self._program(call, options, search=False)

    def _program(
        self, call: CallClass, options: Options, *, search: bool
    ) -> tuple[Program, Native]:
        key = call, options, search
        if key not in self._programs:
            with COMPILING, collector_paused():
                if key not in self._programs:
                    self._programs[key] = self._maker.program(call, options, search=search)
        return self._programs[key]

    def _same_shape(self) -> list[bool]:
        whole = self.manifest.outputs[0].shape
        return [port.shape is whole for port in self.manifest.inputs]

    def _class(
        self, inputs: Sequence[Array], outputs: Sequence[Array], extent: tuple[int, ...]
    ) -> CallClass:
        same = [
            alike and array.shape[: len(extent)] == extent
            for alike, array in zip(self._same_shape(), inputs, strict=True)
        ]
        return CallClass(tuple(same), any(a.size >= 2**31 for a in (*inputs, *outputs)))

    # --- one call

    def _scalars(
        self,
        inputs: Sequence[Array],
        params: Sequence[Value],
        extent: tuple[int, ...],
        cut: Plan,
    ) -> dict[str, int]:
        """Each scalar parameter's 8-byte slot, by name."""
        scalars = {
            **_sides("", extent),
            **cut._asdict(),
        }
        for port, array in self._given(inputs):
            scalars |= _sides(f"{port.name}.", array.shape[: port.shape.rank])
        for declared, value in zip(self.manifest.params, params, strict=True):
            for k, bits in enumerate(value.words):
                scalars[f"{declared.name}.{k}"] = bits
        return scalars

    def _given(self, inputs: Sequence[Array]) -> Iterator[tuple[Port, Array]]:
        return zip(self.manifest.inputs, inputs, strict=True)

    def _search(
        self, call: CallClass, arrays: Sequence[Array], scalars: dict[str, int], block: int
    ) -> Fault:
        program, native = self._program(call, Options(1), search=True)
        args = _arguments(program, arrays, scalars)
        record = (ctypes.c_int32 * RECORD_WORDS)()
        run_one(native["one"], args, block, record, keep=(native, arrays))
        if record[0] == 0:
            raise InputChanged(
                f"{self.manifest.id} failed, but no element of it does now: another thread "
                "changed an input during the run; give each run arrays of its own"
            )
        site = program.sites[record[0] - 1]
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
            span=self._span(site),
        )

    def _span(self, site: FaultSite) -> Span | None:
        """Where a site was written. Programs have no spans: kernels of one text share them."""
        function = self.module.all_functions()[site.function]
        return next(i.span for i in function.instructions() if i.id == site.instruction)


def _sides(prefix: str, extent: tuple[int, ...]) -> dict[str, int]:
    """The scalars that hold an extent."""
    return {prefix + side: n for side, n in zip(SIDES[-len(extent) :], extent, strict=True)}


def _heights(program: Program, options: Options) -> tuple[int, int]:
    """The fewest and the most rows of the domains that a program is for."""
    if program.rows > 1:
        return program.rows, EXACT
    return 1, 1 if options.rows == 1 else MAX_ELEMENTS


def _limits(work: Work, width: int) -> Limits:
    """What elements of such work are run as, in steps of ``width``."""
    lanes = min(width, _LANES)
    return Limits(
        brief=min((_BRIEF_WORK - 1) // work.typical, (_BRIEF_WORST - 1) // work.worst),
        alone=(_SHORT_WORK - 1) // work.typical,
        sure=(_SHORT_WORST * lanes - 1) // work.worst,
        soon=(_SOON_WORK * lanes - 1) // work.typical,
        block=most_elements(work.typical),
        segment=least_columns(work.typical, width),
    )


def _arguments(
    program: Program, arrays: Sequence[Array], scalars: dict[str, int]
) -> ctypes.Array[ctypes.c_uint64]:
    slots = [
        arrays[which].ctypes.data if isinstance(which, int) else scalars[which]
        for which in program.arguments
    ]
    return (ctypes.c_uint64 * max(len(slots), 1))(*slots)
