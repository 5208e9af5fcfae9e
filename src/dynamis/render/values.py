"""Values of a linear program as LLVM operands.

A uniform value is one scalar. A shaped value is a list of *parts*: vectors of the machine's own
width, or one narrower vector. No type wider than the machine's is ever written, and every node is
emitted for all parts before the next node, so as many independent vectors are in flight as a value
has parts. How many lanes a part has follows from the width of its dtype; a mask keeps the parts of
the comparison that made it. Where one node mixes parts of different lanes they are cut or joined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..dtype import Dtype, Ptr, bool_, float32
from ..uop import Ops, Uop
from ..uop.storage import is_register, storage_of
from .analysis import crossing_masks, rendered_nodes
from .constants import Constants
from .fused import Fused, fused
from .llvm_ops import Emitter, Select
from .llvm_types import Machine, lanes_of, literal, scalar_type, splat_literal, vector_type
from .lookups import looked_up
from .reciprocal import LANES, ONE_IN, reciprocal_of_root

Parts = list[str]

WAITS = 2
"""Roots and quotients from which a run of nodes is worth staggering."""
PLAIN = {Ops.ADD, Ops.SUB, Ops.AND, Ops.OR, Ops.XOR, Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ}
"""Operations on integers that cost the same whatever the constant; LLVM rewrites others for it."""


@dataclass(frozen=True, slots=True)
class Wide:
    """A mask as i32 lanes, and the block in which it also exists as i1."""

    block: str
    parts: Parts


class Values:
    """What each node, splat and register is called, and in which form."""

    def __init__(self, program: Uop, machine: Machine):
        self.source, self.machine = program, machine
        self.program: Sequence[Uop] = program.src
        self.out = Emitter()
        self.groups: dict[Uop, Fused | None] = {}
        self.names: dict[Uop, Parts] = {}
        self.splats: dict[Uop, Parts] = {}
        self.registers: dict[Uop, Parts] = {}
        self.block = "entry"
        self.labels = 0
        self.needed, self.reads = rendered_nodes(self.program)
        self.rendered = [u for u in self.program if u in self.needed]
        self.crossing = (
            set() if machine.mask_registers else crossing_masks(self.rendered, self.reads)
        )
        self.stored_values: dict[Uop, list[Uop]] = {}
        for u in self.program:
            if u.op is Ops.STORE:
                self.stored_values.setdefault(storage_of(u.src[0]), []).append(u.src[1])
        self.constants = Constants()
        self.wide: dict[Uop, Wide] = {}
        # what has been written in this block already:
        self.narrowed: dict[Uop, Parts] = {}
        self.recut: dict[tuple[str, int], Parts] = {}
        self.extracted: dict[tuple[Uop, int], str] = {}

    # --- blocks

    def label(self, hint: str) -> str:
        self.labels += 1
        return f"{hint}{self.labels}"

    def start(self, label: str) -> None:
        self.out.lines.append(f"{label}:")
        self.enter(label)

    def enter(self, label: str) -> None:
        """Write in a block from here on; what was written in another is not at hand."""
        self.block = label
        self.narrowed.clear()
        self.recut.clear()
        self.extracted.clear()

    # --- parts

    def part_lanes(self, dtype: Dtype, lanes: int) -> int:
        """Lanes of each part of a value of ``lanes`` lanes; masks go with 32-bit lanes."""
        return min(lanes, self.machine.vector_bytes * 8 // max(32, dtype.bitsize))

    def cut(self, scalar: str, parts: Parts, have: int, want: int) -> Parts:
        """Parts of ``have`` lanes as parts of ``want`` lanes."""
        if have == want:
            return parts
        if have > want:
            return [piece for part in parts for piece in self._pieces(scalar, part, have, want)]
        ty, both = vector_type(scalar, have), range(2 * have)
        joined = [
            self.out.shuffle(ty, low, high, both)
            for low, high in zip(parts[::2], parts[1::2], strict=True)
        ]
        return self.cut(scalar, joined, 2 * have, want)

    def _pieces(self, scalar: str, part: str, have: int, want: int) -> Parts:
        if (part, want) not in self.recut:
            ty = vector_type(scalar, have)
            self.recut[part, want] = [
                self.out.shuffle(ty, part, "poison", range(k, k + want))
                for k in range(0, have, want)
            ]
        return self.recut[part, want]

    # --- nodes

    def define(self, u: Uop, *parts: str) -> None:
        """Name the parts of ``u`` (of a uniform node: its one scalar)."""
        self.names[u] = list(parts)
        lanes = self.needed[u]
        if lanes:
            per = self.part_lanes(u.dtype, lanes)
            self.splats[u] = [self._splat(scalar_type(u.dtype), parts[0], per)] * (lanes // per)
        if u in self.crossing and u not in self.wide:
            self.wide[u] = self.widened(self.names[u], lanes_of(u))

    def _splat(self, scalar: str, name: str, lanes: int) -> str:
        ty = vector_type(scalar, lanes)
        one = self.out.value(f"insertelement {ty} poison, {scalar} {name}, i32 0")
        return self.out.shuffle(ty, one, "poison", [0] * lanes)

    def scalar(self, u: Uop) -> str:
        """The operand text of a uniform node."""
        return literal(u.dtype, u.arg.value) if u.op is Ops.CONST else self.names[u][0]

    def use(self, u: Uop, lanes: int, per: int) -> Parts:
        """``u`` in ``lanes`` lanes, in parts of ``per``."""
        scalar = scalar_type(u.dtype)
        if u.op is Ops.CONST:
            return [splat_literal(scalar, literal(u.dtype, u.arg.value))] * (lanes // per)
        if lanes_of(u) == 0:
            splat = self.splats[u]
            own = self.part_lanes(u.dtype, self.needed[u])
            part = self.cut(scalar, splat[:1], own, per)[:1] if own > per else splat[:1]
            return part * (lanes // per)
        parts = self.here(u, self.again(u) or self.names[u])
        return self.cut(scalar, parts, lanes // len(parts), per)

    def again(self, u: Uop) -> Parts | None:
        """The parts of ``u`` made anew where that is better than keeping them; else None."""
        return None

    def alu(self, u: Uop) -> Parts:
        """An arithmetic node, one part after the other."""
        lanes, per = lanes_of(u), self._common_lanes(u)
        if u.op is Ops.AND and any(self.wide_parts(s, per) for s in u.src):
            return self._both(u, lanes, per)
        if lanes:
            columns = [self._operand(u, s, lanes, per) for s in self._operands(u)]
        else:
            columns = [[self.scalar(s)] for s in self._operands(u)]
        parts = [self._one(u, args, per, k) for k, args in enumerate(zip(*columns, strict=True))]
        if u.dtype is bool_ or not lanes:
            return parts
        return self.cut(scalar_type(u.dtype), parts, per, self.part_lanes(u.dtype, lanes))

    def _one(self, u: Uop, args: Sequence[str], per: int, k: int) -> str:
        """An arithmetic node over part ``k`` of each operand, of ``per`` lanes."""
        enough = per == LANES and lanes_of(u) >= ONE_IN * LANES
        if enough and k % ONE_IN == 0 and self._inverts_root(u):
            return reciprocal_of_root(self.out, *args)
        group = self._fused(u)
        if group is None:
            return Select(self.out, u, list(args), per).emit()
        if group.name == "lookup":
            return looked_up(self.out, self.machine, group.table, args[0], per)
        ty = vector_type(scalar_type(group.operands[0].dtype), per)
        if group.name == "ole":
            return self.out.value(f"fcmp ole {ty} {args[0]}, {args[1]}")
        return self.out.call(group.name, ty, [(ty, a) for a in args])

    def _inverts_root(self, u: Uop) -> bool:
        """Whether ``u`` is 1 / s of a root s, which the machine can do without dividing."""
        if u.op is not Ops.FDIV or u.dtype is not float32 or not self.machine.mask_registers:
            return False
        one, s = u.src
        return one.op is Ops.CONST and one.arg.value == 1.0 and self._is_root(s)

    def _is_root(self, u: Uop) -> bool:
        """Whether a value is a root, or a register's word that can only be one."""
        if u.op is Ops.LOAD and is_register(target := storage_of(u)):
            return all(v.op is Ops.SQRT for v in self.stored_values[target])
        return u.op is Ops.SQRT

    def staggered(self, run: Sequence[Uop]) -> None:
        """Arithmetic nodes that follow each other, all of them for one part before the next.

        Where a run waits for its roots and quotients, of which the machine does one at a time, the
        parts then wait at different times, and each has the unit while the others compute."""
        shaped = [u for u in run if lanes_of(u)]
        for u in run:
            if not lanes_of(u):
                self.define(u, *self.alu(u))
        per = self._common_lanes(shaped[0])
        for u in shaped:
            self.names[u] = []
        for k in range(lanes_of(shaped[0]) // per):
            for u in shaped:
                args = [self._part(u, s, per, k) for s in self._operands(u)]
                self.names[u].append(self._one(u, args, per, k))
        for u in shaped:
            self.define(u, *self.names[u])

    def _part(self, u: Uop, s: Uop, per: int, k: int) -> str:
        """Part ``k`` of an operand of ``u``, of which a run in the making may have no more."""
        made, lanes = self.names.get(s, []), lanes_of(u)
        if lanes_of(s) and k < len(made) < lanes // per:
            return made[k]
        return self._operand(u, s, lanes, per)[k]

    def _operand(self, u: Uop, s: Uop, lanes: int, per: int) -> Parts:
        """The operand ``s`` of an arithmetic node ``u``."""
        plain = u.op in PLAIN or (s.dtype.is_float and u.op is not Ops.WHERE)
        if s.op is Ops.CONST and plain and s.arg.value not in (0, -1):  # these two take no memory
            return [self.operand_constant(s, per)] * (lanes // per)
        return self.use(s, lanes, per)

    def operand_constant(self, u: Uop, per: int) -> str:
        """A constant in ``per`` lanes, of an operation that takes it from memory as well."""
        return self.constants.vector(u.dtype, u.arg.value, per)

    def staggers(self, run: Sequence[Uop]) -> bool:
        """Whether a run of arithmetic nodes is worth staggering, and its parts are of one kind."""
        shaped = [u for u in run if lanes_of(u)]
        if sum(u.op in (Ops.SQRT, Ops.FDIV) for u in shaped) < WAITS:
            return False
        bits = {
            s.dtype.bitsize for u in shaped for s in (u, *self._operands(u)) if s.dtype is not bool_
        }
        lanes = lanes_of(shaped[0])
        return bits == {32} and lanes > self.part_lanes(float32, lanes)

    def _common_lanes(self, u: Uop) -> int:
        """The lanes of a part in which every operand of a node, and its result, fits a vector."""
        lanes, operands = lanes_of(u), self._operands(u)
        if not lanes:
            return 0
        wide = [s.dtype for s in (u, *operands) if s.dtype is not bool_]
        if wide:
            return min(self.part_lanes(dtype, lanes) for dtype in wide)
        shaped = [lanes // len(self.names[s]) for s in operands if s in self.names and lanes_of(s)]
        return min([*shaped, self.part_lanes(bool_, lanes)])

    def stack(self, u: Uop) -> Parts:
        """Lanes written one by one."""
        scalar, lanes = scalar_type(u.dtype), len(u.src)
        per = self.part_lanes(u.dtype, lanes)
        groups = [u.src[k : k + per] for k in range(0, lanes, per)]
        if all(s.op is Ops.CONST for s in u.src):
            return [
                "<" + ", ".join(f"{scalar} {literal(u.dtype, s.arg.value)}" for s in group) + ">"
                for group in groups
            ]
        return [self.gathered(scalar, [self.scalar(s) for s in group]) for group in groups]

    def gathered(self, scalar: str, words: Sequence[str]) -> str:
        """One vector of scalars."""
        ty, name = vector_type(scalar, len(words)), "poison"
        for k, word in enumerate(words):
            name = self.out.value(f"insertelement {ty} {name}, {scalar} {word}, i32 {k}")
        return name

    # --- masks
    # Where masks have no registers of their own, one that is used in another block than its own
    # goes there as i32 lanes: as i1 it would be packed and unpacked on the way.

    def widened(self, parts: Parts, lanes: int) -> Wide:
        per = lanes // len(parts)
        text = f"<{per} x i1> %s to <{per} x i32>"
        return Wide(self.block, [self.out.value("sext " + text % part) for part in parts])

    def narrow(self, part: str, lanes: int) -> str:
        return self.out.value(f"icmp slt <{lanes} x i32> {part}, zeroinitializer")

    def wide_parts(self, u: Uop, per: int) -> Parts | None:
        """The i32 lanes of a mask in parts of ``per`` lanes, where it has these."""
        wide = self.wide.get(u)
        return wide.parts if wide and self._lanes(u) == len(wide.parts) * per else None

    def _both(self, u: Uop, lanes: int, per: int) -> Parts:
        """An AND of masks in i32 lanes: so it stays in these from one iteration to the next."""
        a, b = (
            self.wide_parts(s, per) or self.widened(self.use(s, lanes, per), lanes).parts
            for s in u.src
        )
        rows = zip(a, b, strict=True)
        both = [self.out.value(f"and <{per} x i32> {one}, {other}") for one, other in rows]
        self.wide[u] = Wide(self.block, both)
        return [self.narrow(part, per) for part in both]

    def here(self, u: Uop, parts: Parts) -> Parts:
        """The mask ``parts`` of a node or register; in a new block made again from i32 lanes."""
        wide = self.wide.get(u)
        if wide is None or wide.block == self.block:
            return parts
        if u not in self.narrowed:
            per = self._lanes(u) // len(wide.parts)
            self.narrowed[u] = [self.narrow(part, per) for part in wide.parts]
        return self.narrowed[u]

    def _lanes(self, u: Uop) -> int:
        return u.dtype.size if isinstance(u.dtype, Ptr) else lanes_of(u)

    def _fused(self, u: Uop) -> Fused | None:
        """``fused`` of a node, which is asked again and again."""
        if u not in self.groups:
            self.groups[u] = fused(u)
        return self.groups[u]

    def _operands(self, u: Uop) -> Sequence[Uop]:
        """What an arithmetic node, with the nodes that it is fused with, computes on."""
        group = self._fused(u)
        return u.src if group is None else group.operands
