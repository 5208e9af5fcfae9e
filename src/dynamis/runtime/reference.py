"""The reference backend: the Kernel IR interpreter, on the same arrays as machine code.

In: a validated module and native arrays (``arrays.py``). Out: the same words and the same first
fault as the native backend, one element at a time in plain Python: thousands of times slower.
"""

from __future__ import annotations

import math
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


def _field(port: Port, array: Array) -> InputField:
    words: list[Numeric] = array.reshape(-1).tolist()
    if port.element == Type.BOOL:
        words = [word != 0 for word in words]
    return InputField(array.shape[: port.shape.rank], words)


def _words(port: Port, words: Sequence[Numeric]) -> Array:
    """Words as a flat array; each NaN as the canonical quiet one, as every store writes it."""
    component = port.element.component
    array = np.array(words, _DTYPES[component])
    if component == Type.FLOAT:
        array[np.isnan(array)] = np.uint32(0x7FC00000).view(np.float32)
    elif component == Type.DOUBLE:
        array[np.isnan(array)] = np.uint64(0x7FF8000000000000).view(np.float64)
    return array
