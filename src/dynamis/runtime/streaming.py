"""Whether a run's results go past the caches: worth it where they would not stay there anyway.

An ordinary store reads its cache line first; a streaming one does not, but the next reader finds
nothing in the caches. So a run streams when what it reads and writes is more than the last level of
cache; its steps then start on lines, so that these are written whole.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Sequence

from ..codegen.options import LINE
from .arrays import Array

_CACHES = "/sys/devices/system/cpu/cpu0/cache"
_DEFAULT_CACHE = 32 * 2**20
_CACHES_FULL = 1.5
"""A run of this many times the last level of cache finds little of its results there."""


@functools.cache
def last_level_cache() -> int:
    """Bytes of this machine's last level of cache; 32 MiB where the system does not say."""
    sizes = [0]
    with contextlib.suppress(OSError):
        for index in os.listdir(_CACHES):
            if index.startswith("index"):
                with open(f"{_CACHES}/{index}/size") as file:
                    text = file.read().strip()
                digits = text.rstrip("KM")
                unit = {"K": 2**10, "M": 2**20}.get(text[-1:], 1)
                sizes.append(int(digits) * unit if digits.isdigit() else 0)
    return max(sizes) or _DEFAULT_CACHE


def streams_from() -> int:
    """The bytes that a run reads and writes from which its results go past the caches."""
    return int(_CACHES_FULL * last_level_cache())


def fills_lines(element: int) -> bool:
    """Whether elements of so many bytes end where cache lines end."""
    return LINE % element == 0


def streams(inputs: Sequence[Array], outputs: Sequence[Array], element: int) -> bool:
    """Whether a run is to stream its results; ``element``: bytes of one of the first output's."""
    if not fills_lines(element) or outputs[0].ctypes.data % element:
        return False
    return sum(a.nbytes for a in (*inputs, *outputs)) >= streams_from()


def line_scalars(output: Array, element: int) -> dict[str, int]:
    """Where the cache lines of an output are, in elements: what a streaming program asks for."""
    mask = LINE // element - 1
    return {"line_mask": mask, "phase": output.ctypes.data // element & mask}
