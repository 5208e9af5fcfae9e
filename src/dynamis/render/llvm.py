"""Linear program → LLVM IR text.

Goes in: a LINEAR of Uops. Comes out: ``body``, which runs one block, and the entries ``run``, which
takes blocks from a counter until none is left, and ``one``, which runs a single block. No external
function is declared but LLVM intrinsics. Shaped values have vector types. Registers never touch
memory: control flow is structured, so each loop header and exit gets a phi for every register that
the loop stores.

``args`` holds one 8-byte slot a parameter, in the order of ``parameters``; the block number
(``core_id``) and the fault record come beside it. ``control`` is the words of ``CONTROL``, as i64.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..dtype import Ptr, bool_
from ..uop import Ops, Uop, UopError
from ..uop.abi import CORE_ID, RECORD
from ..uop.storage import is_register, storage_of
from .analysis import (
    Quad,
    byte_count,
    crossing_masks,
    escaping,
    loops_around_loops,
    memory_type,
    quads,
    register_uses,
    rendered_nodes,
    strided,
    without_constant,
)
from .driver import DRIVER, X86_MODE
from .elements import elements_from_lanes, lanes_from_elements
from .fused import fused, negated
from .llvm_ops import Emitter, Select
from .llvm_types import Machine, lanes_of, literal, scalar_type, splat_literal, vector_type

LOOK_EVERY = 4096
"""Iterations of an innermost loop between two looks at the stop word; a power of two."""


def parameters(program: Uop) -> list[Uop]:
    """The parameters a caller fills in: memory by slot, then scalars by name."""
    found = [u for u in program.src if u.op is Ops.PARAM and u.arg.name not in (RECORD, CORE_ID)]
    memory = [u for u in found if u.dtype.is_ptr]
    scalars = [u for u in found if not u.dtype.is_ptr]
    return [
        *sorted(memory, key=lambda u: int(u.arg.slot)),
        *sorted(scalars, key=lambda u: str(u.arg.name)),
    ]


def render_llvm(program: Uop, machine: Machine) -> str:
    """The module text of a LINEAR. Raises UopError for what has no LLVM rendering."""
    body = _Body(program, machine).render()
    declarations = "\n".join(sorted(body.out.declared.values()))
    mode = X86_MODE if machine.x86 else ("", "", "")
    driver = DRIVER.format(declare=mode[0], enter=mode[1], leave=mode[2])
    return "\n".join([*body.out.lines, declarations, driver])


@dataclass(slots=True)
class _Loop:
    """An open loop: its number, where its header's phis go, and its exits so far."""

    number: int
    counter: Uop
    before: str
    phi_line: int
    registers: list[Uop]
    entering: dict[Uop, str]
    header: dict[Uop, str]
    exits: list[tuple[str, dict[Uop, str]]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Wide:
    """A mask as i32 lanes, and the block in which it also exists as i1."""

    block: str
    name: str


class _Body:
    def __init__(self, program: Uop, machine: Machine):
        self.source, self.machine = program, machine
        self.program: Sequence[Uop] = program.src
        self.out = Emitter()
        self.names: dict[Uop, str] = {}
        self.splats: dict[Uop, str] = {}
        self.registers: dict[Uop, str] = {}
        self.extracted: dict[tuple[Uop, int], str] = {}
        self.loops: list[_Loop] = []
        self.block = "entry"
        self.labels = 0
        self.stored, self.read_after = register_uses(self.program)
        self.around = loops_around_loops(self.program)
        self.needed = rendered_nodes(self.program)
        rendered = [u for u in self.program if u in self.needed]
        self.crossing = set() if machine.mask_registers else crossing_masks(rendered)
        self.quads = quads(rendered)
        self.escaping = escaping(rendered)
        self.guards: dict[Uop, tuple[int, str]] = {}
        self.wide: dict[Uop, _Wide] = {}
        self.narrowed: dict[Uop, str] = {}

    def render(self) -> _Body:
        arguments = "ptr %args, i64 %core_id, ptr %record, ptr %stop"
        head = f"define internal void @body({arguments}) noinline nounwind"
        self.out.lines.append(f"{head} {{\nentry:")
        order = {u: k for k, u in enumerate(parameters(self.source))}
        for u in self.program:
            if u.op is Ops.PARAM and u in self.needed:
                self._parameter(order.get(u), u)
        for u in self.program:
            if u in self.needed:
                self._node(u)
        self.out.line("ret void")
        self._start("stopped")
        self.out.line("ret void")
        self.out.lines.append("}")
        return self

    # --- values

    def _define(self, u: Uop, name: str) -> None:
        self.names[u] = name
        lanes = self.needed[u]
        if lanes:
            self.splats[u] = self._splat(scalar_type(u.dtype), name, lanes)
        if u in self.crossing:
            self.wide[u] = self._widened(name, lanes_of(u))

    def _splat(self, scalar: str, name: str, lanes: int) -> str:
        ty = vector_type(scalar, lanes)
        one = self.out.value(f"insertelement {ty} poison, {scalar} {name}, i32 0")
        return self.out.value(
            f"shufflevector {ty} {one}, {ty} poison, <{lanes} x i32> zeroinitializer"
        )

    def _use(self, u: Uop, lanes: int) -> str:
        """The operand text of ``u`` in ``lanes`` lanes (0: as a scalar)."""
        if u.op is Ops.CONST:
            text = literal(u.dtype, u.arg.value)
            return splat_literal(scalar_type(u.dtype), text, lanes) if lanes else text
        if lanes and lanes_of(u) == 0:
            return self.splats[u]
        return self._here(u, self.names[u])

    # Where masks have no registers of their own, one that is used in another block than its own
    # goes there as i32 lanes: as i1 it would be packed and unpacked on the way.

    def _widened(self, name: str, lanes: int) -> _Wide:
        return _Wide(self.block, self.out.value(f"sext <{lanes} x i1> {name} to <{lanes} x i32>"))

    def _here(self, u: Uop, name: str) -> str:
        """The mask ``name`` of a node or register, made again from its i32 lanes in a new block."""
        wide = self.wide.get(u)
        if wide is None or wide.block == self.block:
            return name
        if u not in self.narrowed:
            ty = f"<{lanes_of(u)} x i32>"
            self.narrowed[u] = self.out.value(f"icmp slt {ty} {wide.name}, zeroinitializer")
        return self.narrowed[u]

    # --- nodes

    def _parameter(self, number: int | None, u: Uop) -> None:
        if number is None:
            self._define(u, f"%{u.arg.name}")
            return
        place = self.out.value(f"getelementptr i64, ptr %args, i64 {number}")
        if u.dtype.is_ptr:
            self._define(u, self.out.value(f"load ptr, ptr {place}, align 8"))
        elif u.dtype is bool_:
            byte = self.out.value(f"load i8, ptr {place}, align 8")
            self._define(u, self.out.value(f"icmp ne i8 {byte}, 0"))
        else:
            self._define(u, self.out.value(f"load {scalar_type(u.dtype)}, ptr {place}, align 8"))

    def _node(self, u: Uop) -> None:
        match u.op:
            case Ops.RANGE:
                self._open(u)
            case Ops.END:
                self._close(self.loops.pop())
            case Ops.BREAK:
                self._leave(u)
            case Ops.IF:
                self._guard(u)
            case Ops.ENDIF:
                self._join(u.src[0])
            case Ops.STORE if u in self.quads:
                if u is self.quads[u].last:
                    self._store_quad(self.quads[u])
            case Ops.STORE:
                self._store(u)
            case Ops.LOAD if u in self.quads:
                self._load_quad(self.quads[u])
            case Ops.LOAD:
                self._define(u, self._load(u))
            case Ops.STACK:
                self._define(u, self._stack(u))
            case Ops.CONST | Ops.PARAM | Ops.BUFFER | Ops.AFTER | Ops.GROUP | Ops.INDEX:
                pass
            case Ops.SINK:
                pass
            case _:
                self._define(u, self._alu(u))

    def _alu(self, u: Uop) -> str:
        lanes = lanes_of(u)
        group = fused(u)
        if group is None:
            return Select(self.out, u, [self._use(s, lanes) for s in u.src]).emit()
        args = [self._use(s, lanes) for s in group.operands]
        ty = vector_type(scalar_type(group.operands[0].dtype), lanes)
        if group.name == "ole":
            return self.out.value(f"fcmp ole {ty} {args[0]}, {args[1]}")
        return self.out.call(group.name, ty, [(ty, a) for a in args])

    def _stack(self, u: Uop) -> str:
        scalar, lanes = scalar_type(u.dtype), len(u.src)
        if all(s.op is Ops.CONST for s in u.src):
            return "<" + ", ".join(f"{scalar} {literal(u.dtype, s.arg.value)}" for s in u.src) + ">"
        ty, name = vector_type(scalar, lanes), "poison"
        for k, s in enumerate(u.src):
            name = self.out.value(f"insertelement {ty} {name}, {scalar} {self._use(s, 0)}, i32 {k}")
        return name

    # --- memory

    def _load(self, u: Uop) -> str:
        place = u.src[0]
        target = storage_of(place)
        if is_register(target):
            return self._here(target, self.registers[target])
        if len(u.src) != 1:
            raise UopError("no LLVM code is made for a gated load")
        lanes, scalar = lanes_of(u), memory_type(place)
        if lanes == 0:
            return self._load_one(scalar, self._address(place, place.src[1]))
        form = strided(place.src[1])
        ty = vector_type(scalar, lanes)
        if form is not None and form[1] == 1:
            address = self._address(place, form[0])
            return self.out.value(f"load {ty}, ptr {address}, align {byte_count(scalar)}")
        result = "poison"
        for k, address in enumerate(self._lane_addresses(place, lanes)):
            one = self._load_one(scalar, address)
            result = self.out.value(f"insertelement {ty} {result}, {scalar} {one}, i32 {k}")
        return result

    def _load_one(self, scalar: str, address: str) -> str:
        return self.out.value(f"load {scalar}, ptr {address}, align {byte_count(scalar)}")

    def _address(self, place: Uop, at: Uop) -> str:
        base = self.names[storage_of(place)]
        index = f"{scalar_type(at.dtype)} {self._use(at, 0)}"
        return self.out.value(f"getelementptr {memory_type(place)}, ptr {base}, {index}")

    def _offset(self, place: Uop, address: str, words: int) -> str:
        """The address ``words`` words further on."""
        if words == 0:
            return address
        return self.out.value(f"getelementptr {memory_type(place)}, ptr {address}, i64 {words}")

    def _lane_addresses(self, place: Uop, lanes: int) -> list[str]:
        """The address of each lane's element: at constant offsets, or gathered."""
        form = strided(place.src[1])
        if form is not None:
            address = self._address(place, form[0])
            return [self._offset(place, address, form[1] * k) for k in range(lanes)]
        at, constant = without_constant(place.src[1])
        base, scalar = self.names[storage_of(place)], scalar_type(at.dtype)
        addresses = []
        for k in range(lanes):
            if (at, k) not in self.extracted:
                ty = vector_type(scalar, lanes)
                text = f"extractelement {ty} {self._use(at, lanes)}, i32 {k}"
                self.extracted[at, k] = self.out.value(text)
            element = f"{scalar} {self.extracted[at, k]}"
            text = f"getelementptr {memory_type(place)}, ptr {base}, {element}"
            addresses.append(self._offset(place, self.out.value(text), constant))
        return addresses

    def _store(self, u: Uop) -> None:
        place, value = u.src[:2]
        gate = u.src[2] if len(u.src) == 3 else None
        target = storage_of(place)
        if is_register(target):
            self._set_register(target, lanes_of(place), value, gate)
            return
        lanes, scalar = lanes_of(place), memory_type(place)
        if lanes == 0:
            self._store_one(place, value, gate)
            return
        if gate is not None:
            raise UopError("no LLVM code is made for a gated vector store to memory")
        ty, form, words = vector_type(scalar, lanes), strided(place.src[1]), self._use(value, lanes)
        if form is not None and form[1] == 1:
            address = self._address(place, form[0])
            self.out.line(f"store {ty} {words}, ptr {address}, align {byte_count(scalar)}")
            return
        for k, address in enumerate(self._lane_addresses(place, lanes)):
            one = self.out.value(f"extractelement {ty} {words}, i32 {k}")
            self.out.line(f"store {scalar} {one}, ptr {address}, align {byte_count(scalar)}")

    def _load_quad(self, quad: Quad) -> None:
        if quad.members[0] in self.names:
            return
        place = quad.first.src[0]
        scalar, lanes = memory_type(place), lanes_of(place)
        back = -quad.members.index(quad.first)
        elements = [
            self.out.value(f"load <4 x {scalar}>, ptr {self._offset(place, a, back)}, align 4")
            for a in self._lane_addresses(place, lanes)
        ]
        words = lanes_from_elements(self.out, scalar, elements)
        for member, name in zip(quad.members, words, strict=True):
            self._define(member, name)

    def _store_quad(self, quad: Quad) -> None:
        place = quad.members[0].src[0]
        scalar, lanes = memory_type(place), lanes_of(place)
        words = [self._use(member.src[1], lanes) for member in quad.members]
        elements = elements_from_lanes(self.out, scalar, words, lanes)
        for address, one in zip(self._lane_addresses(place, lanes), elements, strict=True):
            self.out.line(f"store <4 x {scalar}> {one}, ptr {address}, align 4")

    def _store_one(self, place: Uop, value: Uop, gate: Uop | None) -> None:
        """Store to one address, where the gate holds in any lane."""
        if lanes_of(value):
            raise UopError("lanes that differ cannot be stored to one address")
        scalar = memory_type(place)
        after = None
        if gate is not None:
            any_lane, inside, after = self._any(gate), self._label("do"), self._label("skip")
            self.out.line(f"br i1 {any_lane}, label %{inside}, label %{after}")
            self._start(inside)
        address = self._address(place, place.src[1])
        text = f"store {scalar} {self._use(value, 0)}, ptr {address}, align {byte_count(scalar)}"
        self.out.line(text)
        if after is not None:
            self.out.line(f"br label %{after}")
            self._start(after)

    # --- registers and control flow

    def _set_register(self, target: Uop, lanes: int, value: Uop, gate: Uop | None) -> None:
        words = self._use(value, lanes)
        if gate is not None:
            ty = self._register_type(target)
            mask = vector_type("i1", lanes)
            held = self.registers[target]
            words = self.out.value(
                f"select {mask} {self._use(gate, lanes)}, {ty} {words}, {ty} {held}"
            )
        self._hold(target, words)

    def _hold(self, target: Uop, name: str, wide: str | None = None) -> None:
        """Make ``name`` the register's word, ``wide`` its i32 lanes where they exist already."""
        self.registers[target] = name
        self.narrowed.pop(target, None)
        if self._register_type(target) != self._crossing_type(target):
            made = _Wide(self.block, wide) if wide else self._widened(name, lanes_of(target))
            self.wide[target] = made

    def _register_type(self, target: Uop) -> str:
        dtype = target.dtype
        assert isinstance(dtype, Ptr)
        return vector_type(scalar_type(dtype.base), dtype.size if dtype.size > 1 else 0)

    def _crossing_type(self, target: Uop) -> str:
        """The type a register has in a phi."""
        ty = self._register_type(target)
        return ty if self.machine.mask_registers else ty.replace("x i1>", "x i32>")

    def _crossing(self, target: Uop) -> str:
        """A register's word as it enters a phi."""
        return self.wide[target].name if target in self.wide else self.registers[target]

    def _land(self, target: Uop, phi: str) -> None:
        """Hold what a phi gave a register."""
        ty = self._crossing_type(target)
        if ty == self._register_type(target):
            self._hold(target, phi)
        else:
            self._hold(target, self.out.value(f"icmp slt {ty} {phi}, zeroinitializer"), phi)

    def _label(self, hint: str) -> str:
        self.labels += 1
        return f"{hint}{self.labels}"

    def _start(self, label: str) -> None:
        self.out.lines.append(f"{label}:")
        self.block = label
        self.extracted.clear()
        self.narrowed.clear()

    def _open(self, u: Uop) -> None:
        self.labels += 1
        n = self.labels
        registers = [r for r in self.stored[u] if r in self.registers]
        entering = {r: self._crossing(r) for r in registers}
        before = self.block
        self.out.line(f"br label %loop{n}")
        self._start(f"loop{n}")
        phi_line = len(self.out.lines)
        header = {r: self.out.fresh("r") for r in registers}
        loop = _Loop(n, u, before, phi_line, registers, entering, header)
        self.loops.append(loop)
        counter = f"%k{n}"
        size = self._use(u.src[0], 0)
        more = self.out.value(f"icmp slt {scalar_type(u.dtype)} {counter}, {size}")
        self.out.line(f"br i1 {more}, label %do{n}, label %exit{n}")
        self._start(f"do{n}")
        self._look(u, counter)
        for r in registers:
            self._land(r, header[r])
        self._define(u, counter)

    def _look(self, u: Uop, counter: str) -> None:
        """Return if the stop word is set: in every iteration of a loop around others, now and then
        in a long innermost one, never in a short one."""
        if u not in self.around and u.src[0].vmax <= LOOK_EVERY:
            return
        if u not in self.around:
            ty, look, on = scalar_type(u.dtype), self._label("look"), self._label("on")
            passed = self.out.value(f"and {ty} {counter}, {LOOK_EVERY - 1}")
            due = self.out.value(f"icmp eq {ty} {passed}, 0")
            self.out.line(f"br i1 {due}, label %{look}, label %{on}")
            self._start(look)
        else:
            on = self._label("on")
        word = self.out.value("load atomic i64, ptr %stop monotonic, align 8")
        stop = self.out.value(f"icmp ne i64 {word}, 0")
        self.out.line(f"br i1 {stop}, label %stopped, label %{on}")
        self._start(on)

    def _leave(self, u: Uop) -> None:
        loop = self.loops[-1]
        if loop.counter is not u.src[1]:
            raise UopError("a break leaves the innermost open loop")
        done = u.src[0]
        crossing = {
            r: self._crossing(r) for r in loop.registers if r in self.read_after[loop.counter]
        }
        every = self._all(done)
        stay = self._label("stay")
        loop.exits.append((self.block, crossing))
        self.out.line(f"br i1 {every}, label %exit{loop.number}, label %{stay}")
        self._start(stay)

    def _guard(self, u: Uop) -> None:
        """Enter a region if its condition holds in any lane."""
        self.labels += 1
        n = self.labels
        holds = self._any(u.src[0])
        self.guards[u] = (n, self.block)
        self.out.line(f"br i1 {holds}, label %arm{n}, label %join{n}")
        self._start(f"arm{n}")

    def _join(self, u: Uop) -> None:
        """Leave a region: what it made is zero, and not chosen, where it was not entered."""
        n, before = self.guards.pop(u)
        made = [e for e in self.escaping.get(u, ()) if e in self.names]
        words = {e: self.wide[e].name if e in self.wide else self.names[e] for e in made}
        arm = self.block
        self.out.line(f"br label %join{n}")
        self._start(f"join{n}")
        phis = {}
        for e in made:
            ty = vector_type(scalar_type(e.dtype), lanes_of(e))
            if e in self.wide:
                ty = ty.replace("x i1>", "x i32>")
            phis[e] = (
                ty,
                self.out.value(f"phi {ty} [ {words[e]}, %{arm} ], [ {_zero(ty)}, %{before} ]"),
            )
        for e, (ty, name) in phis.items():
            if self.wide.pop(e, None) is not None:
                name = self.out.value(f"icmp slt {ty} {name}, zeroinitializer")
            self._define(e, name)

    def _close(self, loop: _Loop) -> None:
        n, ty = loop.number, scalar_type(loop.counter.dtype)
        latch = {r: self._crossing(r) for r in loop.registers}
        step = self.out.value(f"add nuw nsw {ty} %k{n}, 1")
        self.out.line(f"br label %loop{n}")
        phis = [f"  %k{n} = phi {ty} [ 0, %{loop.before} ], [ {step}, %{self.block} ]"]
        for r in loop.registers:
            before = f"[ {loop.entering[r]}, %{loop.before} ]"
            back = f"[ {latch[r]}, %{self.block} ]"
            phis.append(f"  {loop.header[r]} = phi {self._crossing_type(r)} {before}, {back}")
        self.out.lines[loop.phi_line : loop.phi_line] = phis
        self._start(f"exit{n}")
        crossed = {}
        for r in loop.registers:
            if r not in self.read_after[loop.counter]:
                del self.registers[r]
                continue
            name = loop.header[r]
            if loop.exits:
                name = self.out.fresh("x")
                edges = [f"[ {loop.header[r]}, %loop{n} ]"]
                edges += [f"[ {words[r]}, %{label} ]" for label, words in loop.exits]
                self.out.line(f"{name} = phi {self._crossing_type(r)} {', '.join(edges)}")
            crossed[r] = name
        for r, name in crossed.items():
            self._land(r, name)

    def _all(self, done: Uop) -> str:
        """Whether ``done`` holds in every lane: whether its negation holds in none."""
        lanes = lanes_of(done)
        if lanes == 0:
            return self._use(done, 0)
        live = negated(done)
        if live is None:
            return self.out.value(f"icmp eq i{lanes} {self._bits(done)}, -1")
        return self.out.value(f"icmp eq i{lanes} {self._bits(live)}, 0")

    def _any(self, gate: Uop) -> str:
        """Whether ``gate`` holds in any lane."""
        lanes = lanes_of(gate)
        if lanes == 0:
            return self._use(gate, 0)
        return self.out.value(f"icmp ne i{lanes} {self._bits(gate)}, 0")

    def _bits(self, mask: Uop) -> str:
        """A mask as an integer of one bit a lane."""
        lanes = lanes_of(mask)
        name = self._use(mask, lanes)
        if not self.machine.mask_registers:  # test i32 lanes by their sign: one movmsk
            wide = self.out.value(f"sext <{lanes} x i1> {name} to <{lanes} x i32>")
            name = self.out.value(f"icmp slt <{lanes} x i32> {wide}, zeroinitializer")
        return self.out.value(f"bitcast <{lanes} x i1> {name} to i{lanes}")


def _zero(ty: str) -> str:
    if ty.startswith("<"):
        return "zeroinitializer"
    return {"float": "0.0", "double": "0.0", "i1": "false"}.get(ty, "0")
