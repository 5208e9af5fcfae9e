"""Whether a run's results go past the caches: worth it where they would not stay there anyway.

An ordinary store reads its cache line first; a streaming one does not, but the next reader finds
nothing in the caches. So a run streams when what it reads and writes is more than the last level of
cache, and only where every line is written whole: each element by a store of its own place, rows of
whole steps, arrays that start on a line.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from ..kernel import Module, op
from .arrays import Array

LINE = 64
"""Bytes of a cache line."""
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_DEFAULT_CACHE = 32 * 2**20


@functools.cache
def last_level_cache() -> int:
    """Bytes of this machine's last level of cache; 32 MiB where the system does not say."""
    sizes = []
    for file in _CACHES.glob("index*/size"):
        text = file.read_text().strip()
        unit = {"K": 2**10, "M": 2**20}.get(text[-1:], 1)
        digits = text.rstrip("KM")
        sizes.append(int(digits) * unit if digits.isdigit() else 0)
    return max(sizes, default=0) or _DEFAULT_CACHE


def reads_own_element_only(module: Module) -> bool:
    """Whether every read of a kernel is of the element's own place."""
    return not any(
        isinstance(i.op, (op.At, op.AtLinear, op.Part))
        for function in module.all_functions()
        for i in function.instructions()
    )


def streams(inputs: Sequence[Array], outputs: Sequence[Array], columns: int, width: int) -> bool:
    """Whether a run in steps of ``width`` over rows of ``columns`` elements is to stream."""
    if columns % width or width * min(a.itemsize for a in outputs) % LINE:
        return False
    if sum(a.nbytes for a in (*inputs, *outputs)) < last_level_cache():
        return False
    return all(a.ctypes.data % LINE == 0 for a in outputs)
