"""What a compiled program assumes about the arrays of a call beside their dtypes, and what it is
told of them."""

from __future__ import annotations

from typing import NamedTuple

SIDES = ("depth", "height", "width")
"""The runtime scalars of an extent; a shape of fewer axes has the last ones."""


class CallClass(NamedTuple):
    """What a compiled program assumes about a call.

    ``same_extent``: inputs whose extent is the domain's (their samples need no clamp).
    ``wide``: some port holds 2**31 words or more, so indices are 64-bit."""

    same_extent: tuple[bool, ...]
    wide: bool = False
