"""Registers as SSA values: a register is the words that were stored in it last.

Where control flow joins, phis give a register its words. Masks cross as i32 lanes on machines
without mask registers, as ``Values`` keeps them.
"""

from __future__ import annotations

from ..dtype import Ptr, int32
from ..uop import Ops, Uop
from ..uop.storage import storage_of
from .accesses import Accesses
from .llvm_types import lanes_of, scalar_type, vector_type
from .values import Parts, Wide


class Registers(Accesses):
    """What stores in registers, and joins, do to them."""

    def set_register(self, u: Uop) -> None:
        place, value, *gates = u.src
        target, lanes = storage_of(place), lanes_of(place)
        scalar, per = self.register_form(target)
        if not gates and (wide := self.wide_parts(value, per)):
            self.hold(target, self.here(value, self.names[value]), wide)
            return
        if gates and (wide := self.wide_parts(gates[0], per)) and self._counts(target, value):
            ty = vector_type(scalar, per)
            counts = zip(self.registers[target], wide, strict=True)
            self.hold(target, [self.out.value(f"sub {ty} {n}, {one}") for n, one in counts])
            return
        words = self.use(value, lanes, per) if per else [self.scalar(value)]
        for gate in gates:
            ty, mask = vector_type(scalar, per), vector_type("i1", per)
            holds = self.use(gate, lanes, per) if per else [self.scalar(gate)]
            rows = zip(holds, words, self.registers[target], strict=True)
            words = [
                self.out.value(f"select {mask} {hold}, {ty} {new}, {ty} {held}")
                for hold, new, held in rows
            ]
        self.hold(target, words)

    def _counts(self, target: Uop, value: Uop) -> bool:
        """Whether a value is a register's i32 and 1: minus the i32 lanes of a mask adds that."""
        if value.op is not Ops.ADD or value.dtype is not int32:
            return False
        word, one = value.src
        is_one = one.op is Ops.CONST and one.arg.value == 1
        return is_one and word.op is Ops.LOAD and self.names[word] == self.registers[target]

    def hold(self, target: Uop, words: Parts, wide: Parts | None = None) -> None:
        """Make ``words`` the register's, ``wide`` its i32 lanes where they exist already."""
        self.registers[target] = words
        self.narrowed.pop(target, None)
        if self.crosses_wide(target):
            dtype = target.dtype
            assert isinstance(dtype, Ptr)
            self.wide[target] = Wide(self.block, wide) if wide else self.widened(words, dtype.size)

    def register_form(self, target: Uop) -> tuple[str, int]:
        """The scalar type of a register, and the lanes of each part of it."""
        dtype = target.dtype
        assert isinstance(dtype, Ptr)
        lanes = dtype.size if dtype.size > 1 else 0
        return scalar_type(dtype.base), self.part_lanes(dtype.base, lanes)

    def crosses_wide(self, target: Uop) -> bool:
        """Whether a register goes through phis as i32 lanes."""
        scalar, per = self.register_form(target)
        return scalar == "i1" and per > 0 and not self.machine.mask_registers

    def crossing_type(self, target: Uop) -> str:
        """The type of a register's parts in a phi."""
        scalar, per = self.register_form(target)
        return vector_type("i32" if self.crosses_wide(target) else scalar, per)

    def crossing_words(self, target: Uop) -> Parts:
        """A register's words as they enter a phi."""
        return self.wide[target].parts if target in self.wide else self.registers[target]

    def land(self, target: Uop, phis: Parts) -> None:
        """Hold what phis gave a register."""
        if self.crosses_wide(target):
            per = self.register_form(target)[1]
            self.hold(target, [self.narrow(phi, per) for phi in phis], phis)
        else:
            self.hold(target, phis)
