"""Loads and stores of memory: one vector access, whole elements and shuffles, or one by one.

The class of an access is read off its index (``codegen/access.py`` gave it that form).
"""

from __future__ import annotations

from ..uop import Uop, UopError
from ..uop.storage import is_register, storage_of
from .analysis import Quad, byte_count, memory_type, quads, strided, without_constant
from .elements import elements_from_lanes, lanes_from_elements
from .llvm_types import Machine, lanes_of, scalar_type, vector_type
from .values import Parts, Values


class Accesses(Values):
    def __init__(self, program: Uop, machine: Machine, streaming: bool):
        super().__init__(program, machine)
        self.streaming = streaming
        self.quads = quads(self.rendered)

    def load(self, u: Uop) -> Parts:
        place = u.src[0]
        target = storage_of(place)
        if is_register(target):
            return self.here(target, self.registers[target])
        if len(u.src) != 1:
            raise UopError("no LLVM code is made for a gated load")
        lanes, scalar = lanes_of(u), memory_type(place)
        if lanes == 0:
            return [self._load_one(scalar, self._address(place, place.src[1]))]
        per = self.part_lanes(u.dtype, lanes)
        form = strided(place.src[1])
        if form is not None and form[1] == 1:
            ty, address = vector_type(scalar, per), self._address(place, form[0])
            return [
                self.out.value(f"load {ty}, ptr {at}, align {byte_count(scalar)}")
                for at in self._steps(place, address, per, lanes)
            ]
        words = [self._load_one(scalar, a) for a in self._lane_addresses(place, lanes)]
        return [self.gathered(scalar, words[k : k + per]) for k in range(0, lanes, per)]

    def store(self, u: Uop) -> None:
        place, value = u.src[:2]
        gate = u.src[2] if len(u.src) == 3 else None
        lanes, scalar = lanes_of(place), memory_type(place)
        if lanes == 0:
            self._store_one(place, value, gate)
            return
        if gate is not None:
            raise UopError("no LLVM code is made for a gated vector store to memory")
        per = self.part_lanes(value.dtype, lanes)
        ty, parts = vector_type(scalar, per), self.use(value, lanes, per)
        form = strided(place.src[1])
        if form is not None and form[1] == 1:
            places = self._steps(place, self._address(place, form[0]), per, lanes)
            for at, part in zip(places, parts, strict=True):
                self._store_vector(ty, part, at, byte_count(scalar), per)
            return
        for k, address in enumerate(self._lane_addresses(place, lanes)):
            one = self.out.value(f"extractelement {ty} {parts[k // per]}, i32 {k % per}")
            self.out.line(f"store {scalar} {one}, ptr {address}, align {byte_count(scalar)}")

    def _store_one(self, place: Uop, value: Uop, gate: Uop | None) -> None:
        """Store to one address, where the gate holds in any lane."""
        if lanes_of(value):
            raise UopError("lanes that differ cannot be stored to one address")
        scalar = memory_type(place)
        after = None
        if gate is not None:
            holds, inside, after = self.any_lane(gate), self.label("do"), self.label("skip")
            self.out.line(f"br i1 {holds}, label %{inside}, label %{after}")
            self.start(inside)
        address = self._address(place, place.src[1])
        self.out.line(
            f"store {scalar} {self.scalar(value)}, ptr {address}, align {byte_count(scalar)}"
        )
        if after is not None:
            self.out.line(f"br label %{after}")
            self.start(after)

    def _store_vector(self, ty: str, word: str, at: str, size: int, lanes: int) -> None:
        """Store ``lanes`` words of ``size`` bytes."""
        how = f"align {size * lanes}, !nontemporal !0" if self.streaming else f"align {size}"
        self.out.line(f"store {ty} {word}, ptr {at}, {how}")

    def load_quad(self, quad: Quad) -> None:
        if quad.members[0] in self.names:
            return
        place = quad.first.src[0]
        scalar, lanes = memory_type(place), lanes_of(place)
        per = self.part_lanes(quad.first.dtype, lanes)
        back = -quad.members.index(quad.first)
        elements = [
            self.out.value(f"load <4 x {scalar}>, ptr {self._offset(place, a, back)}, align 4")
            for a in self._lane_addresses(place, lanes)
        ]
        parts = [
            lanes_from_elements(self.out, scalar, elements[k : k + per])
            for k in range(0, lanes, per)
        ]
        for member, words in zip(quad.members, zip(*parts, strict=True), strict=True):
            self.define(member, *words)

    def store_quad(self, quad: Quad) -> None:
        place = quad.members[0].src[0]
        scalar, lanes = memory_type(place), lanes_of(place)
        per = self.part_lanes(quad.first.src[1].dtype, lanes)
        words = [self.use(member.src[1], lanes, per) for member in quad.members]
        addresses = self._lane_addresses(place, lanes)
        for k, part in enumerate(zip(*words, strict=True)):
            elements = elements_from_lanes(self.out, scalar, part, per)
            for address, one in zip(addresses[k * per :], elements, strict=False):
                self._store_vector(f"<4 x {scalar}>", one, address, 4, 4)

    # --- addresses

    def _load_one(self, scalar: str, address: str) -> str:
        return self.out.value(f"load {scalar}, ptr {address}, align {byte_count(scalar)}")

    def _address(self, place: Uop, at: Uop) -> str:
        base = self.names[storage_of(place)][0]
        index = f"{scalar_type(at.dtype)} {self.scalar(at)}"
        return self.out.value(f"getelementptr {memory_type(place)}, ptr {base}, {index}")

    def _steps(self, place: Uop, address: str, words: int, until: int) -> Parts:
        """The address and those that follow in steps of ``words``."""
        return [self._offset(place, address, k) for k in range(0, until, words)]

    def _offset(self, place: Uop, address: str, words: int) -> str:
        """The address ``words`` words further on."""
        if words == 0:
            return address
        return self.out.value(f"getelementptr {memory_type(place)}, ptr {address}, i64 {words}")

    def _lane_addresses(self, place: Uop, lanes: int) -> Parts:
        """The address of each lane's element: at constant offsets, or gathered."""
        form = strided(place.src[1])
        if form is not None:
            return self._steps(place, self._address(place, form[0]), form[1], form[1] * lanes)
        at, constant = without_constant(place.src[1])
        base, scalar = self.names[storage_of(place)][0], scalar_type(at.dtype)
        per = self.part_lanes(at.dtype, lanes)
        parts = self.use(at, lanes, per)
        addresses = []
        for k in range(lanes):
            if (at, k) not in self.extracted:
                text = f"extractelement {vector_type(scalar, per)} {parts[k // per]}, i32 {k % per}"
                self.extracted[at, k] = self.out.value(text)
            element = f"{scalar} {self.extracted[at, k]}"
            text = f"getelementptr {memory_type(place)}, ptr {base}, {element}"
            addresses.append(self._offset(place, self.out.value(text), constant))
        return addresses
