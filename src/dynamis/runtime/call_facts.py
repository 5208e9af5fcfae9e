"""What a native call needs to know of a kernel: its manifest, and its programs so far."""

from __future__ import annotations

from typing import NamedTuple

from ..kernel.module import Manifest
from .code_image import Native
from .watchdog import Trust


class Limits(NamedTuple):
    """Elements of a run, ``brief``: up to which it keeps the GIL; ``alone``: up to which it is not
    worth another thread, if it does not take long; ``sure``: up to which it never does; ``soon``:
    up to which it does not as a rule. ``block``: the most of a block; ``segment``: the fewest of a
    part of a row."""

    brief: int
    alone: int
    sure: int
    soon: int
    block: int
    segment: int


class CallProgram(NamedTuple):
    """A compiled program and the calls it is for.

    ``same_extent``: which inputs have the domain's extent; ``columns``, ``rows``: the fewest and
    the most that the domain may have; ``together``: rows of a unit; ``arguments``: an array by
    number or a scalar by name; ``limits``: one each for the entries of ``Program.work``; ``width``:
    of a step; ``streaming``: whether results go past the caches."""

    code: Native
    same_extent: tuple[bool, ...]
    columns: tuple[int, int]
    rows: tuple[int, int]
    together: int
    arguments: tuple[int | str, ...]
    limits: tuple[Limits, ...]
    width: int
    streaming: bool


class CallFacts(NamedTuple):
    """What of a native kernel a call depends on."""

    manifest: Manifest
    trust: Trust
    programs: tuple[CallProgram, ...]
