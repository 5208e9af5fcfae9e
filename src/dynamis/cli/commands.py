"""What the commands do, once the command line has been read."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..api import BACKENDS, Kernel
from ..codegen import OptionError
from ..errors import DynamisError
from ..kernel.module import Manifest, Module, Port
from ..kernel.work import worst_work
from ..runtime import disk_cache
from ..runtime.arrays import Array
from ..runtime.code_image import flat
from ..runtime.disk_cache import LIMIT
from ..runtime.dispatch import thread_count
from ..runtime.errors import ArgumentError, did_you_mean
from ..runtime.names import AXES, spell_port
from ..runtime.stages import STAGES
from ..runtime.timing import Timings
from .fields import check_target, read_input, write_output
from .load import choose, load_kernels
from .report import Progress, duration, print_error
from .values import UsageError, parse_params, parse_shape


@dataclass(frozen=True, slots=True)
class Run:
    """What ``dynamis run`` was asked to do; the options as they were written."""

    file: Path
    inputs: Sequence[Path]
    outputs: Sequence[Path]
    params: Sequence[str]
    kernel: str | None
    shape: str | None
    threads: int | None
    backend: str
    width: int | None
    verbose: bool


_NOT_FLAT = "this system's code cannot be kept"


class Timer:
    """Times the calls of a kernel in its ``with`` block: seconds compiling, seconds running.

    ``compiled`` counts what was compiled before the block, too."""

    def __init__(self, kernel: Kernel):
        self._kernel = kernel
        self.compiled = self.ran = 0.0

    def __enter__(self) -> Timer:
        self._before = self._kernel.compile_seconds
        self._start = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        elapsed = time.perf_counter() - self._start
        self.compiled = self._kernel.compile_seconds
        self.ran = elapsed - (self.compiled - self._before)


class CheckFailed(DynamisError):
    """Some kernels of a file are wrong; each has been reported."""


def demo(output: Path) -> None:
    """Draw the packaged Mandelbrot kernel to ``output``."""
    from .demo import HEIGHT, WIDTH, mandelbrot

    _check_target(mandelbrot.manifest.outputs[0], output)
    with Timer(mandelbrot) as timer, Progress("drawing") as progress:
        picture = mandelbrot(shape=(HEIGHT, WIDTH), progress=progress)
    print(write_output(output, picture))
    print(_summary((HEIGHT, WIDTH), timer, thread_count(None)))


def run(request: Run) -> None:
    """Run one kernel of a file on files."""
    threads = checked_threads(request.threads)
    _one_of("--backend", "backend", request.backend, BACKENDS)
    kernel = find_kernel(request.file, request.kernel, request.width)
    manifest = kernel.manifest
    check_inputs(manifest, request.inputs)
    _check_outputs(manifest, request.outputs)
    params = parse_params(manifest, request.params)
    shape = wanted_shape(manifest, request.shape)
    inputs = [read_input(p, path) for p, path in zip(manifest.inputs, request.inputs, strict=True)]
    with Timer(kernel) as timer, Progress(manifest.id.name) as progress:
        result = kernel(
            **dict(zip((port.name for port in manifest.inputs), inputs, strict=True)),
            shape=shape,
            threads=threads,
            backend=request.backend,
            progress=progress,
            **params,
        )
    arrays: list[Array] = list(result) if isinstance(result, tuple) else [result]
    for path, array in zip(request.outputs, arrays, strict=True):
        print(write_output(path, array))
    extent = arrays[0].shape[: manifest.outputs[0].shape.rank]
    print(_summary(extent, timer, threads if request.backend == "cpu" else None))
    if request.verbose:
        print(_details(kernel.timings, timer.ran))


def check(file: Path, name: str | None) -> None:
    """Validate a file's kernels and print what each may do. Raises CheckFailed if any is wrong."""
    kernels = load_kernels(file)
    if name is not None:
        kernels = {name: choose(file, kernels, name)}
    wrong = []
    for key, kernel in kernels.items():
        try:
            print(_described(kernel.module))
        except DynamisError as error:
            print_error(error)
            wrong.append(key)
    if wrong:
        raise CheckFailed(f"{file}: wrong: {', '.join(wrong)} ({len(wrong)} of {len(kernels)})")


def show(file: Path, stage: str, name: str | None, width: int | None) -> None:
    """Print one stage of a kernel."""
    _one_of("--stage", "stage", stage, STAGES)
    print(find_kernel(file, name, width).show(stage))


def explain(file: Path, name: str | None, width: int | None) -> None:
    """Print how a kernel runs."""
    print(find_kernel(file, name, width).explain())


def cache(clear: bool) -> None:
    """Print what the disk cache is and holds; ``clear`` empties it first."""
    found = disk_cache.open_cache() if flat() else disk_cache.Off(_NOT_FLAT)
    if isinstance(found, disk_cache.Off):
        print(f"off: {found.reason}")
        return
    if clear:
        removed = found.clear()
        print(f"{found.path}: {removed} file{'' if removed == 1 else 's'} removed")
        return
    entries = found.entries()
    size = sum(entry.size for entry in entries)
    print(f"{found.path}: {len(entries)} entries, {size / 1e6:.1f} MB of {LIMIT / 1e6:.0f} MB")
    problem = found.probe()
    if problem is not None:
        print(f"nothing can be kept: {problem}")


def find_kernel(file: Path, name: str | None, width: int | None) -> Kernel:
    """A kernel of a file, with the options asked for. Raises LoadError or UsageError."""
    kernel = choose(file, load_kernels(file), name)
    if width is None:
        return kernel
    try:
        return kernel.options(width=width)
    except OptionError as error:
        raise UsageError("--width", str(error)) from error


def _one_of(option: str, what: str, given: str, known: Sequence[str]) -> None:
    if given not in known:
        raise UsageError(
            option, f"there is no {what} {given!r}{did_you_mean(given, known)} ({', '.join(known)})"
        )


def checked_threads(threads: int | None) -> int:
    """The number of threads that ``--threads`` means. Raises UsageError."""
    try:
        return thread_count(threads)
    except ArgumentError as error:
        raise UsageError("--threads", str(error)) from error


def wanted_shape(manifest: Manifest, text: str | None) -> tuple[int, ...] | None:
    """The extent that ``--shape`` gives, or None where an input gives it. Raises UsageError."""
    kind = manifest.outputs[0].shape
    if text is not None:
        return parse_shape(kind, text)
    if any(port.shape is kind for port in manifest.inputs):
        return None
    wanted = ",".join(AXES[kind])
    raise UsageError(
        "--shape",
        f"{manifest.id.name} has no {kind.value} input to take its size from: "
        f"write --shape {wanted}",
    )


def check_inputs(manifest: Manifest, paths: Sequence[Path]) -> None:
    """As many files as inputs, and there. Raises UsageError."""
    _check_count("INPUT", "input", manifest.inputs, paths)
    for path in paths:
        if not path.is_file():
            raise UsageError("INPUT", f"there is no file {path}")


def _check_outputs(manifest: Manifest, paths: Sequence[Path]) -> None:
    """As many files as outputs, each of a kind its port can take."""
    _check_count("--output", "output", manifest.outputs, paths)
    for port, path in zip(manifest.outputs, paths, strict=True):
        _check_target(port, path)
    if len({os.path.realpath(path) for path in paths}) < len(paths):
        raise UsageError("--output", "two outputs would go to one file")


def _check_target(port: Port, path: Path) -> None:
    try:
        check_target(port, path)
    except ArgumentError as error:
        raise UsageError("--output", str(error)) from error


def _check_count(option: str, what: str, ports: Sequence[Port], files: Sequence[Path]) -> None:
    if len(ports) != len(files):
        names = ", ".join(f"{p.name}: {spell_port(p)}" for p in ports)
        raise UsageError(
            option,
            f"one file per {what} ({names or 'none'}): {len(ports)} expected, {len(files)} given",
        )


def _described(module: Module) -> str:
    work = worst_work(module)
    budget = module.manifest.budget
    note = "" if work <= budget else f" (stopped at the budget, {budget})"
    return f"{module.manifest}\n  worst     {work} loop iterations an element{note}"


def _details(timings: Timings, ran: float) -> str:
    """Where the time went, a stage a line, and what the disk cache did."""
    lines = [f"  {stage:<10} {duration(spent)}" for stage, spent in timings.items()]
    lines.append(f"  {'run':<10} {duration(ran)}")
    if timings.cache:
        lines.append(f"cache {timings.cache}")
    return "\n".join(lines)


def spell_extent(extent: Sequence[int]) -> str:
    """``640×480 elements``, width first as people say it."""
    size = "×".join(str(n) for n in reversed(extent))
    return f"{size} {'element' if math.prod(extent) == 1 else 'elements'}"


def _summary(extent: Sequence[int], timer: Timer, threads: int | None) -> str:
    where = (
        "in the reference interpreter"
        if threads is None
        else f"on {threads} thread{'s' if threads > 1 else ''}"
    )
    return (
        f"{spell_extent(extent)}: compiled in {duration(timer.compiled)}, "
        f"ran in {duration(timer.ran)} {where}"
    )
