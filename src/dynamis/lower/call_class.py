"""What a compiled program assumes about the arrays of a call, beside their dtypes."""

from __future__ import annotations

from typing import NamedTuple


class CallClass(NamedTuple):
    """What a compiled program assumes about a call.

    ``same_extent``: inputs whose extent is the domain's (their samples need no clamp).
    ``wide``: some port holds 2**31 words or more, so indices are 64-bit."""

    same_extent: tuple[bool, ...]
    wide: bool = False
