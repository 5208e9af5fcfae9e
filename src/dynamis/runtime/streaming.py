"""Whether a run's results go past the caches: worth it where they would not stay there anyway.

An ordinary store reads its cache line first; a streaming one does not, but the next reader finds
nothing in the caches. So a run streams when what it reads and writes is more than the last level of
cache; its steps then start on lines, so that these are written whole.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from ..codegen.split import LINE
from .arrays import Array

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_DEFAULT_CACHE = 32 * 2**20
_CACHES_FULL = 1.5
"""A run of this many times the last level of cache finds little of its results there."""


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


def streams(inputs: Sequence[Array], outputs: Sequence[Array], element: int) -> bool:
    """Whether a run is to stream its results; ``element``: bytes of one of the first output's."""
    if LINE % element or outputs[0].ctypes.data % element:
        return False
    return sum(a.nbytes for a in (*inputs, *outputs)) >= _CACHES_FULL * last_level_cache()


def line_scalars(output: Array, element: int) -> dict[str, int]:
    """Where the cache lines of an output are, in elements: what a streaming program asks for."""
    mask = LINE // element - 1
    return {"line_mask": mask, "phase": output.ctypes.data // element & mask}
