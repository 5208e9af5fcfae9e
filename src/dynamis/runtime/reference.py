"""The reference backend: the Kernel IR interpreter, on the same arrays as machine code.

In: a validated module and native arrays (``arrays.py``). Out: the same words and the same first
fault as the native backend, one element at a time in plain Python: thousands of times slower. Of
large domains ``ReferenceSample`` runs some elements, to hold machine code against.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from ..kernel import Validated, interpret
from ..kernel.fault import Fault
from ..kernel.interpret import InputField
from ..kernel.modes import PARTIAL
from ..kernel.module import Port
from ..kernel.types import Numeric, Type, Value
from .arrays import Array

_CHUNK = 1024
"""Elements between two reports of progress."""
_DTYPES: dict[Type, type[np.generic]] = {
    Type.FLOAT: np.float32,
    Type.DOUBLE: np.float64,
    Type.INT: np.int32,
    Type.LONG: np.int64,
    Type.BOOL: np.uint8,
}


class ReferenceKernel:
    """Runs a validated module through the interpreter; has the native kernel's ``run``."""

    def __init__(self, validated: Validated):
        self._validated = validated

    def run(
        self,
        inputs: Sequence[Array],
        params: Sequence[Value],
        outputs: Sequence[Array],
        extent: tuple[int, ...],
        threads: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> Fault | None:
        """Fill ``outputs``; returns the first fault in element order, or None.

        ``threads`` changes nothing: the interpreter uses the calling one."""
        manifest = self._validated.module.manifest
        fields = [_field(port, array) for port, array in zip(manifest.inputs, inputs, strict=True)]
        total = math.prod(extent)
        in_parts = progress is not None and manifest.mode.kind in PARTIAL
        chunks = range(0, max(total, 1), _CHUNK if in_parts else max(total, 1))
        for start in chunks:
            elements = range(start, min(start + chunks.step, total))
            chosen = elements if in_parts else None
            outcome = interpret(self._validated, fields, params, extent, chosen)
            if outcome.fault is not None:
                return outcome.fault
            assert outcome.outputs is not None  # the interpreter gives outputs or a fault
            for port, words, output in zip(manifest.outputs, outcome.outputs, outputs, strict=True):
                first = elements.start * port.element.lanes
                output.reshape(-1)[first : first + len(words)] = _words(port, words)
            if progress is not None:
                progress(start // chunks.step + 1, len(chunks))
        return None


class ReferenceSample:
    """Runs some elements of a domain through the interpreter, until ``seconds`` have passed.

    Has the native kernel's ``run``, but leaves the outputs alone: afterwards ``elements`` are the
    linear indices that ran and ``words`` what each output holds there, shaped (elements, words
    of one). The corners of the domain come first, then elements spread over it at random."""

    def __init__(self, validated: Validated, seconds: float, most: int = 4096):
        self._validated = validated
        self._seconds = seconds
        self._most = most
        self.elements: list[int] = []
        self.words: list[Array] = []

    def run(
        self,
        inputs: Sequence[Array],
        params: Sequence[Value],
        outputs: Sequence[Array],
        extent: tuple[int, ...],
        threads: int,
        progress: Callable[[int, int], None] | None = None,
    ) -> Fault | None:
        """Runs a sample; returns the first fault it meets, or None."""
        manifest = self._validated.module.manifest
        fields = [_field(port, array) for port, array in zip(manifest.inputs, inputs, strict=True)]
        chosen = _spread(extent, self._most)
        found: list[list[Numeric]] = [[] for _ in manifest.outputs]
        started, batch = time.perf_counter(), 1
        while len(self.elements) < len(chosen):
            some = chosen[len(self.elements) : len(self.elements) + batch]
            outcome = interpret(self._validated, fields, params, extent, some)
            if outcome.fault is not None:
                return outcome.fault
            assert outcome.outputs is not None  # the interpreter gives outputs or a fault
            for kept, words in zip(found, outcome.outputs, strict=True):
                kept += words
            self.elements += some
            spent = time.perf_counter() - started
            if 2 * spent > self._seconds:
                break
            batch *= 2
        self.words = [
            _words(port, words).reshape(len(self.elements), port.element.lanes)
            for port, words in zip(manifest.outputs, found, strict=True)
        ]
        return None


def _spread(extent: tuple[int, ...], most: int) -> list[int]:
    """Linear indices of at most ``most`` elements, each once: the corners, then random ones."""
    total = math.prod(extent)
    corners = itertools.product(*((0, n - 1) for n in extent))
    indices = [int(np.ravel_multi_index(corner, extent)) for corner in corners]
    indices += np.random.default_rng(0).integers(0, total, most).tolist()
    return list(dict.fromkeys(indices))[:most]


def _field(port: Port, array: Array) -> InputField:
    # A view: its items are Python's own numbers, made when they are read.
    stored = array.reshape(-1) != 0 if port.element == Type.BOOL else array.reshape(-1)
    return InputField(array.shape[: port.shape.rank], stored.data)


def _words(port: Port, words: Sequence[Numeric]) -> Array:
    """Words as a flat array; each NaN as the canonical quiet one, as every store writes it."""
    component = port.element.component
    array = np.array(words, _DTYPES[component])
    if component == Type.FLOAT:
        array[np.isnan(array)] = np.uint32(0x7FC00000).view(np.float32)
    elif component == Type.DOUBLE:
        array[np.isnan(array)] = np.uint64(0x7FF8000000000000).view(np.float64)
    return array
