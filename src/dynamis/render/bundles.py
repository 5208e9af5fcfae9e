"""Accesses to neighbouring words, which are best made together: bundles.

In: the nodes of a program. Out: for each access in a bundle, its bundle. The words of vectors lie
beside each other, so the lanes of one word are two, three or four words apart (*strided*), or each
lane's words are at a place of its own (*gathered*). A strided bundle is moved by whole vectors and
shuffles, a gathered one by an access of several words a lane.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..uop import Op, Ops, Uop
from ..uop.storage import is_register, storage_of
from .analysis import (
    byte_count,
    lanes_or_zero,
    memory_type,
    starts_block,
    strided,
    without_constant,
)

MOST = 4
"""Words a 128-bit vector holds: the most that are moved together, and the largest stride."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """Vector accesses of one kind, in one block, to words of one place a lane.

    ``members`` by word, counted from the lowest that is accessed: word 0 is. ``step``: words from
    lane to lane, or None where each lane has its own place. ``first`` and ``last`` in program
    order."""

    members: dict[int, Uop]
    step: int | None
    first: Uop
    last: Uop

    @property
    def words(self) -> int:
        """Words from the lowest to the highest."""
        return max(self.members) + 1

    def word(self, member: Uop) -> int:
        """The word that a member accesses."""
        return next(k for k, u in self.members.items() if u is member)


class _Group(NamedTuple):
    """What the accesses of a bundle have in common. ``stride``: words from lane to lane, None where
    it varies."""

    block: int
    op: Op
    storage: Uop
    stride: int | None
    at: Uop

    @property
    def step(self) -> int | None:
        """The stride, where vectors and shuffles serve it."""
        return self.stride if self.stride in range(1, MOST + 1) else None


def bundles(program: Sequence[Uop]) -> dict[Uop, Bundle]:
    """The bundles of a program, by member."""
    groups: dict[_Group, dict[int, Uop]] = {}
    order = {u: n for n, u in enumerate(program)}
    block = 0
    for u in program:
        if starts_block(u):
            block += 1
        elif u.op is Ops.LOAD or u.op is Ops.STORE:
            place = u.src[0]
            lanes = lanes_or_zero(place) if not is_register(storage_of(place)) else 0
            if lanes == 0 or lanes % MOST or byte_count(memory_type(place)) != 4:
                continue
            form = strided(place.src[1])
            stride = None if form is None else form[1]
            at, constant = without_constant(place.src[1] if form is None else form[0])
            key = _Group(block, u.op, storage_of(place), stride, at)
            groups.setdefault(key, {})[constant] = u
    found: dict[Uop, Bundle] = {}
    for key, accesses in groups.items():
        for constants in _windows(sorted(accesses), key.step):
            if _is_bundle(key, constants):
                members = {c - constants[0]: accesses[c] for c in constants}
                ends = sorted(members.values(), key=order.__getitem__)
                found.update(dict.fromkeys(ends, Bundle(members, key.step, ends[0], ends[-1])))
    return found


def _is_bundle(key: _Group, constants: Sequence[int]) -> bool:
    """Whether accesses at these offsets are best made together: all words of the elements that are
    stored, some that are loaded, or several of each lane's place."""
    if key.step is None:
        return key.op is Ops.LOAD and len(constants) > 1
    return key.step > 1 and (key.op is Ops.LOAD or len(constants) == key.step)


def _windows(constants: Iterable[int], step: int | None) -> list[list[int]]:
    """Ascending offsets in the groups that make a bundle each: those of one element at a stride,
    else the next few from the lowest that is left."""
    windows: list[list[int]] = []
    for c in constants:
        if windows:
            start = windows[-1][0]
            if c // step == start // step if step is not None else c - start < MOST:
                windows[-1].append(c)
                continue
        windows.append([c])
    return windows
