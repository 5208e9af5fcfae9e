"""``dynamis bench``: how long a user's kernel takes on their data, and whether it is right.

In: a kernel's file, input files, parameters. Out: lines on standard output: the first call with
its compiling, later calls, rates, and agreement with the reference interpreter at a sample of
elements of the same run. Later calls go into arrays that are there already: what is measured is
the kernel, not the system handing out fresh memory.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..api import Kernel
from ..errors import DynamisError
from ..kernel import validate
from ..runtime import dispatch
from ..runtime.arrays import Array
from ..runtime.reference import ReferenceSample
from .commands import (
    Timer,
    check_inputs,
    checked_threads,
    find_kernel,
    spell_extent,
    wanted_shape,
)
from .fields import read_input
from .report import Progress, duration
from .values import UsageError, parse_params

FEWEST, MOST = 5, 100_000
"""Later calls that are timed, whatever they take."""
SAMPLE_SECONDS = 0.5
"""How long the reference may compute."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What ``dynamis bench`` was asked to do; the options as they were written."""

    file: Path
    inputs: Sequence[Path]
    params: Sequence[str]
    kernel: str | None
    shape: str | None
    threads: int | None
    width: int | None
    seconds: float


class Disagreement(DynamisError):
    """Machine code and the reference interpreter gave different words: a bug of this package."""


def bench(request: Bench) -> None:
    """Times one kernel of a file and prints what was found. Raises Disagreement."""
    if not 0 <= request.seconds < math.inf:
        raise UsageError("--seconds", f"takes a number from 0, not {request.seconds}")
    threads = checked_threads(request.threads)
    kernel = find_kernel(request.file, request.kernel, request.width)
    manifest = kernel.manifest
    check_inputs(manifest, request.inputs)
    keywords: dict[str, Any] = dict(parse_params(manifest, request.params))
    shape = wanted_shape(manifest, request.shape)
    inputs = [
        np.ascontiguousarray(read_input(port, path))
        for port, path in zip(manifest.inputs, request.inputs, strict=True)
    ]
    keywords |= dict(zip((port.name for port in manifest.inputs), inputs, strict=True))
    with Timer(kernel) as first, Progress(manifest.id.name) as progress:
        result = kernel(**keywords, shape=shape, threads=threads, progress=progress)
    outputs: list[Array] = list(result) if isinstance(result, tuple) else [result]
    extent = outputs[0].shape[: manifest.outputs[0].shape.rank]
    total = math.prod(extent)
    times = _time(kernel, keywords, result, threads, request.seconds)
    median = statistics.median(times)
    data = sum(a.nbytes for a in (*inputs, *outputs))
    lines = [
        ("", f"{manifest.id} on {spell_extent(extent)}, {_counted(threads, 'thread')}"),
        ("first call", f"{duration(first.compiled)} compiling, {duration(first.ran)} running"),
        ("compiling", _stages(kernel)),
        ("later calls", _spread(times)),
        ("elements", f"{_rate(total / median).strip()} elements a second"),
        ("arrays", f"{_rate(data)}B in and out, {_rate(data / median)}B a second"),
        ("agreement", _agreement(kernel, keywords, extent, outputs)),
    ]
    for name, text in lines:
        print(f"  {name:12} {text}" if name else text)


def _time(
    kernel: Kernel, keywords: dict[str, Any], out: object, threads: int, seconds: float
) -> list[float]:
    """Seconds of calls into the same outputs, for about ``seconds`` altogether."""
    times: list[float] = []
    started = time.perf_counter()
    while len(times) < FEWEST or (time.perf_counter() - started < seconds and len(times) < MOST):
        before = time.perf_counter()
        kernel(**keywords, out=out, threads=threads)
        times.append(time.perf_counter() - before)
    return times


def _agreement(
    kernel: Kernel,
    keywords: dict[str, Any],
    extent: tuple[int, ...],
    outputs: Sequence[Array],
) -> str:
    """Holds a sample of the outputs' elements against the reference. Raises Disagreement."""
    validated = validate(kernel.module)
    sample = ReferenceSample(validated, SAMPLE_SECONDS)
    dispatch.call(validated, lambda: sample, (), keywords, shape=extent)
    total = math.prod(extent)
    if not sample.elements:
        return "there is no element to compare"
    for port, output, words in zip(kernel.manifest.outputs, outputs, sample.words, strict=True):
        flat = output.reshape(total, port.element.lanes)[sample.elements]
        same = (_bits(flat) == _bits(words)).all(axis=1)
        if not same.all():
            where = sample.elements[int(np.flatnonzero(~same)[0])]
            raise Disagreement(
                f"output {port.name!r} is not what the reference gives at element {where}: this "
                "is a bug of Dynamis; please report it with the kernel and its data"
            )
    what = f"{len(sample.elements):,} of {total:,}" if len(sample.elements) < total else "all"
    return f"the reference gives the same words at {what} elements"


def _bits(words: Array) -> Array:
    """Words as integers, so that NaNs and zeros compare by their bits."""
    return np.ascontiguousarray(words).view(f"u{words.itemsize}")


def _stages(kernel: Kernel) -> str:
    """The stages of compiling that took any time, and what the disk cache did."""
    timings = kernel.timings
    parts = ", ".join(f"{stage} {duration(spent)}" for stage, spent in timings.items() if spent)
    return f"{parts}; {timings.cache}" if timings.cache else parts


def _spread(times: Sequence[float]) -> str:
    low, high = _precise(min(times)), _precise(max(times))
    return f"{_precise(statistics.median(times))}, the median of {len(times):,} ({low} … {high})"


def _precise(seconds: float) -> str:
    """Three digits in the unit that fits."""
    for limit, unit in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= limit:
            return f"{seconds / limit:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' if n != 1 else ''}"


def _rate(value: float) -> str:
    """``1.23 G``, ``45.6 M``, ``789 k``: three digits and a prefix, for a unit to follow."""
    for limit, prefix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g} {prefix}"
    return f"{value:.3g} "
