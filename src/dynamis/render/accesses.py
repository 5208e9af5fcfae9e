"""Loads and stores of memory: one vector access, several words and shuffles, or one by one.

The class of an access is read off its index (``codegen/access.py`` gave it that form).
"""

from __future__ import annotations

from ..dtype import int32
from ..uop import Ops, Uop, UopError
from ..uop.storage import is_register, storage_of
from .analysis import byte_count, memory_type, strided, without_constant
from .bundles import Bundle, bundles
from .elements import (
    QUARTER,
    quarters_of_row,
    row_of_quarters,
    rows_of_words,
    words_of_rows,
)
from .known import never_negative
from .llvm_types import Machine, lanes_of, scalar_type, vector_type
from .masks import Masks
from .values import Parts


class Accesses(Masks):
    def __init__(self, program: Uop, machine: Machine, streaming: bool):
        super().__init__(program, machine)
        self.streaming = streaming
        self.bundles = bundles(self.rendered)
        self.reloaded: dict[Uop, Parts] = {}
        self.arms: list[set[Uop]] = []
        """For each open region: the loads made in it."""
        self.left: set[Uop] = set()
        """The loads made in regions that are closed: their addresses may be known there only."""
        self.doubled: dict[str, str] = {}
        """Parts of indices as i64 of two lanes each, in this block."""

    def load(self, u: Uop) -> Parts:
        place = u.src[0]
        target = storage_of(place)
        if is_register(target):
            if target in self.wide:
                self.wide[u] = self.wide[target]
            return self.here(target, self.registers[target])
        if len(u.src) != 1:
            raise UopError("no LLVM code is made for a gated load")
        lanes, scalar = lanes_of(u), memory_type(place)
        if lanes == 0:
            return [self._load_one(scalar, self._address(place, place.src[1]))]
        if self.arms:
            self.arms[-1].add(u)
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

    def again(self, u: Uop) -> Parts | None:
        """A region is seldom entered: what it reads of memory is loaded again there, so that no
        register holds it until then. Nothing that a run reads changes in it."""
        if not self.arms or u.op is not Ops.LOAD or u in self.bundles or is_register(storage_of(u)):
            return None
        form = strided(u.src[0].src[1])
        if form is None or form[1] != 1 or any(u in loads for loads in (*self.arms, self.left)):
            return None
        if u not in self.reloaded:
            self.reloaded[u] = self.load(u)
            self.arms[-1].discard(u)
        return self.reloaded[u]

    def enter(self, label: str) -> None:
        super().enter(label)
        self.reloaded.clear()
        self.doubled.clear()

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
            self._store_vectors(ty, parts, places, byte_count(scalar) * per)
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

    def _store_vectors(self, ty: str, words: Parts, places: Parts, size: int) -> None:
        """Store vectors of ``size`` bytes side by side; where they go past the caches, by streaming
        stores if they are aligned, which only the run can say."""
        stores = [f"store {ty} {word}, ptr {at}" for word, at in zip(words, places, strict=True)]
        if not self.streaming:
            for text in stores:
                self.out.line(f"{text}, align {size // int(ty[1:].split()[0])}")
            return
        here, past, after = self.label("cached"), self.label("past"), self.label("stored")
        number = self.out.value(f"ptrtoint ptr {places[0]} to i64")
        rest = self.out.value(f"and i64 {number}, {size - 1}")
        aligned = self.out.value(f"icmp eq i64 {rest}, 0")
        self.out.line(f"br i1 {aligned}, label %{past}, label %{here}")
        for label, how in ((past, f"align {size}, !nontemporal !0"), (here, "align 1")):
            self.start(label)
            for text in stores:
                self.out.line(f"{text}, {how}")
            self.out.line(f"br label %{after}")
        self.start(after)

    def load_bundle(self, bundle: Bundle) -> None:
        """Load a bundle's words, and define its members, where its first one stands."""
        scalar, lanes = memory_type(bundle.first.src[0]), lanes_of(bundle.first.src[0])
        per = self.part_lanes(bundle.first.dtype, lanes)
        load = self._gathered_rows if bundle.step is None else self._strided_rows
        rows = load(bundle, scalar, lanes, per)
        wanted = sorted(bundle.members)
        parts = [words_of_rows(self.out, scalar, part, per, wanted) for part in rows]
        for k, words in zip(wanted, zip(*parts, strict=True), strict=True):
            self.define(bundle.members[k], *words)

    def _strided_rows(self, bundle: Bundle, scalar: str, lanes: int, per: int) -> list[list[str]]:
        """The rows of each part, of elements that follow each other. No word behind the last that
        is accessed is touched: the last quarter ends with it."""
        step = bundle.step
        assert step is not None
        place = bundle.first.src[0]
        start = self._lane_addresses(place, 1, -bundle.word(bundle.first))[0]
        count, excess = step * lanes // QUARTER, step - bundle.words
        quarters = []
        for k in range(count):
            back = excess if k == count - 1 else 0
            quarter = self._load_words(
                scalar, self._offset(place, start, QUARTER * k - back), QUARTER
            )
            if back:
                ty, moved = vector_type(scalar, QUARTER), [*range(back, QUARTER), *range(back)]
                quarter = self.out.shuffle(ty, quarter, "poison", moved)
            quarters.append(quarter)
        size = step * per // QUARTER
        return [
            [
                row_of_quarters(self.out, scalar, quarters[n + k : n + size : step])
                for k in range(step)
            ]
            for n in range(0, count, size)
        ]

    def _gathered_rows(self, bundle: Bundle, scalar: str, lanes: int, per: int) -> list[list[str]]:
        """The rows of each part, of elements at places of their own."""
        words = bundle.words
        back = -bundle.word(bundle.first)
        addresses = self._lane_addresses(bundle.first.src[0], lanes, back)
        elements = [self._load_words(scalar, address, words) for address in addresses]
        ty = vector_type(scalar, words)
        if words == 2:
            pairs = zip(elements[::2], elements[1::2], strict=True)
            elements = [self.out.shuffle(ty, a, b, range(QUARTER)) for a, b in pairs]
        elif words == 3:
            elements = [self.out.shuffle(ty, e, "poison", [0, 1, 2, 3]) for e in elements]
        rows = 2 if words == 2 else QUARTER
        size = rows * per // QUARTER
        return [
            [
                row_of_quarters(self.out, scalar, elements[n + k : n + size : rows])
                for k in range(rows)
            ]
            for n in range(0, len(elements), size)
        ]

    def _load_words(self, scalar: str, address: str, words: int) -> str:
        return self.out.value(f"load <{words} x {scalar}>, ptr {address}, align 4")

    def store_bundle(self, bundle: Bundle) -> None:
        """Store a whole bundle, where its last member stands."""
        step = bundle.step
        assert step is not None
        place = bundle.members[0].src[0]
        scalar, lanes = memory_type(place), lanes_of(place)
        per = self.part_lanes(bundle.first.src[1].dtype, lanes)
        words = [self.use(bundle.members[k].src[1], lanes, per) for k in range(step)]
        start = self._lane_addresses(place, 1)[0]
        below: Parts = []
        for part in zip(*words, strict=True):
            rows = rows_of_words(self.out, scalar, part, per)
            quarters = [quarters_of_row(self.out, scalar, row, per) for row in rows]
            below += [one for group in zip(*quarters, strict=True) for one in group]
        places = self._steps(place, start, QUARTER, QUARTER * len(below))
        self._store_vectors(vector_type(scalar, QUARTER), below, places, 4 * QUARTER)

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

    def _lane_addresses(self, place: Uop, lanes: int, shift: int = 0) -> Parts:
        """The addresses of the first ``lanes`` lanes' words, or of those ``shift`` words further
        on: at constant offsets, or gathered."""
        form = strided(place.src[1])
        if form is not None:
            address = self._offset(place, self._address(place, form[0]), shift)
            return [self._offset(place, address, form[1] * k) for k in range(lanes)]
        at, constant = without_constant(place.src[1])
        base, scalar = self.names[storage_of(place)][0], scalar_type(at.dtype)
        per = self.part_lanes(at.dtype, lanes)
        parts = self.use(at, lanes, per)
        addresses = []
        pairs = at.dtype is int32 and per > 1 and never_negative(at)
        for k in range(lanes):
            if (at, k) not in self.extracted:
                if pairs:
                    self._extract_pair(at, parts[k // per], per, k)
                else:
                    ty = vector_type(scalar, per)
                    text = f"extractelement {ty} {parts[k // per]}, i32 {k % per}"
                    self.extracted[at, k] = self.out.value(text)
            element = f"{'i64' if pairs else scalar} {self.extracted[at, k]}"
            text = f"getelementptr {memory_type(place)}, ptr {base}, {element}"
            addresses.append(self._offset(place, self.out.value(text), constant + shift))
        return addresses

    def _extract_pair(self, at: Uop, part: str, per: int, k: int) -> None:
        """Lanes k and k + 1 of an index that is never negative, as i64: half the extractions, and
        nothing to widen."""
        ty = f"<{per // 2} x i64>"
        if part not in self.doubled:
            self.doubled[part] = self.out.value(f"bitcast <{per} x i32> {part} to {ty}")
        both = self.out.value(f"extractelement {ty} {self.doubled[part]}, i32 {k % per // 2}")
        self.extracted[at, k] = self.out.value(f"and i64 {both}, {2**32 - 1}")
        self.extracted[at, k + 1] = self.out.value(f"lshr i64 {both}, 32")
