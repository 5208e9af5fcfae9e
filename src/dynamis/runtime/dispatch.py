"""The one path every call takes, whatever backend runs it.

In: a validated module, the call's arguments and options, and a runner (the native kernel, or the
reference interpreter). Out: one NumPy array per output. Everything is checked before anything
runs; a fault of the kernel is raised as KernelFault.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from ..errors import a_kind
from ..kernel import Validated
from ..kernel.fault import Fault, KernelFault
from ..kernel.types import Value
from .arrays import Array, as_array, host_dtype, input_extent, native_input
from .bind import bind
from .domain import run_domain
from .errors import ArgumentTypeError, ArgumentValueError
from .names import PortName
from .outputs import out_arrays, prepare_outputs
from .params import param_values
from .pool import available_cpus

Progress = Callable[[int, int], None]
"""Called from the calling thread with the blocks done and the blocks in all."""

OPTIONS = ("out", "shape", "threads", "backend", "progress")
"""The keywords of a call that are not the kernel's own."""

MAX_THREADS = 1024
"""The most threads a call may ask for."""


class Runner(Protocol):
    """What runs a module: writes the output arrays and returns the first fault, or None."""

    def run(
        self,
        inputs: Sequence[Array],
        params: Sequence[Value],
        outputs: Sequence[Array],
        extent: tuple[int, ...],
        threads: int,
        progress: Progress | None = None,
    ) -> Fault | None: ...


def call(
    validated: Validated,
    runner: Callable[[], Runner],
    args: Sequence[object],
    keywords: Mapping[str, object],
    *,
    name: str | None = None,
    positional: Sequence[str] | None = None,
    out: object = None,
    shape: object = None,
    threads: object = None,
    progress: Progress | None = None,
) -> tuple[Array, ...]:
    """Run a kernel over its domain and return one array per output.

    ``name`` is what a fault calls the kernel's own function (default: its id's name);
    ``positional`` the arguments that may be given by position (default: all).
    ``runner`` is asked for only once the arguments have been found to fit, so that a wrong call
    costs no compilation. Raises ArgumentError for arguments that do not fit and KernelFault for a
    failure of the kernel, after which the contents of ``out`` are unspecified."""
    module = validated.module
    manifest = module.manifest
    count = thread_count(threads)
    report = _Report.of(progress)
    bound = bind(manifest, args, keywords, OPTIONS, positional)
    params = param_values(manifest, bound.params)
    given = [
        as_array(PortName("input", port), value, host_dtype(port.element))
        for port, value in zip(manifest.inputs, bound.inputs, strict=True)
    ]
    extents = [input_extent(p, a) for p, a in zip(manifest.inputs, given, strict=True)]
    targets = out_arrays(manifest.outputs, out)
    extent = run_domain(manifest, extents, targets, shape)
    inputs = [native_input(p, a) for p, a in zip(manifest.inputs, given, strict=True)]
    outputs = prepare_outputs(manifest.outputs, extent, targets, inputs)
    if math.prod(extent):
        buffers = [output.buffer for output in outputs]
        fault = runner().run(inputs, params, buffers, extent, count, report)
        if fault is not None:
            where = name or manifest.id.name
            if fault.function < len(module.functions):
                where = module.functions[fault.function].name
            raise KernelFault(manifest.id, fault, extent, where)
    if report is not None:
        report.complete()
    return tuple(output.finish() for output in outputs)


class _Report:
    """A caller's ``progress``, which is told of the end of every run, short ones included."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._last: tuple[int, int] | None = None

    @classmethod
    def of(cls, progress: object) -> _Report | None:
        """The report to ``progress``, if there is one. Raises ArgumentTypeError."""
        if progress is None:
            return None
        if not callable(progress):
            found = a_kind(progress)
            raise ArgumentTypeError(
                f"progress= takes a function, called as progress(done, total), not {found}"
            )
        return cls(progress)

    def __call__(self, done: int, total: int) -> None:
        self._last = (done, total)
        self._progress(done, total)

    def complete(self) -> None:
        """Says that all is done, where that was not the last thing said."""
        total = 1 if self._last is None else self._last[1]
        if self._last != (total, total):
            self(total, total)


def thread_count(threads: object) -> int:
    """The number of threads to use: as asked, or one per CPU that this process may run on.

    Raises ArgumentTypeError for anything but a whole number, ArgumentValueError outside
    1…MAX_THREADS."""
    if threads is None:
        return available_cpus()
    try:
        if isinstance(threads, bool):
            raise TypeError
        count = operator.index(threads)  # type: ignore[arg-type]  # TypeError if it is none
    except TypeError:
        raise ArgumentTypeError(
            f"threads= takes a whole number in 1…{MAX_THREADS}, not {a_kind(threads)}"
        ) from None
    if not 1 <= count <= MAX_THREADS:
        raise ArgumentValueError(f"threads= takes a whole number in 1…{MAX_THREADS}, not {count}")
    return count
