"""Registers and faults: the effects of a kernel AST, kept in program order through AFTER.

A register is one mutable word in REG storage. Each store to it depends on the store or loop end
that made the version it overwrites and on every load of that version, so no order is implied by
position. Inside a loop, effects depend on the loop's RANGE, or on its BREAK once that is built.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from ..dtype import AddrSpace, Ptr, Val, int32
from ..kernel.fault import FaultKind
from ..kernel.module import Span
from ..kernel.types import Type
from ..uop import Uop, after, buffer, const_of_dtype, index, load, replace, store

ZERO = const_of_dtype(int32, 0)


def unique(nodes: Sequence[Uop]) -> list[Uop]:
    """``nodes`` without repetitions, in order of first appearance."""
    return list(dict.fromkeys(nodes))


class Register:
    """One mutable word. ``deps`` make its present version; ``loads`` have read that version."""

    def __init__(self, slot: int, dtype: Val, bounds: tuple[int, int] | None = None):
        storage = buffer(slot=slot, dtype=Ptr.create(dtype, addrspace=AddrSpace.REG, size=1))
        self.buffer = replace(storage, arg=dataclasses.replace(storage.arg, vmin_vmax=bounds))
        self.deps: list[Uop] = []
        self.loads: list[Uop] = []

    def _word(self, deps: Sequence[Uop]) -> Uop:
        return index(ptr=after(src=self.buffer, deps=unique(deps)), idxs=[ZERO])

    def read(self) -> Uop:
        """The word as it stands at this point of the program."""
        value = load(src=self._word(self.deps))
        self.loads.append(value)
        return value

    def write(self, value: Uop, scope: Sequence[Uop], gate: Uop | None = None) -> None:
        """Replace the word where ``gate`` holds, inside ``scope`` (its RANGE or BREAK)."""
        target = self._word([*self.deps, *self.loads, *scope])
        self.follow(store(dst=target, value=value, gate=gate))

    def follow(self, *deps: Uop) -> None:
        """From here on the version is the one that ``deps`` made."""
        self.deps, self.loads = list(deps), []


@dataclass(frozen=True, slots=True)
class Site:
    """One way in which a word of an instruction can fail; the fault search reports its number."""

    function: int
    instruction: int
    kind: FaultKind
    operand_types: tuple[Type, ...]
    span: Span | None
