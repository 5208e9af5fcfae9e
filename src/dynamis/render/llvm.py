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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..dtype import bool_
from ..uop import Ops, Uop, UopError, linear
from ..uop.abi import CORE_ID, RECORD
from ..uop.guards import canonical_of
from ..uop.storage import is_register, storage_of
from .analysis import escaping, is_address, loops_around_loops, register_uses
from .apart import Apart, Exchange, apart, narrowed, region_nodes, settled
from .driver import ARM64_MODE, DRIVER, X86_MODE
from .fused import negated
from .llvm_types import Machine, lanes_of, literal, scalar_type, splat_literal, vector_type
from .registers import Registers
from .runs import runs
from .values import Parts

LOOK_EVERY = 4096
"""Iterations of an innermost loop between two looks at the stop word; a power of two."""

_STACK_ALIGNMENT = 16
"""Bytes that a stack is aligned to in any case."""

SELDOM = '\n!1 = !{!"branch_weights", i32 1, i32 2000}'
"""A region is seldom entered: what its own code needs must not be paid for around it, in registers
that it takes and values that are kept in memory for it."""


def parameters(program: Uop) -> list[Uop]:
    """The parameters a caller fills in: memory by slot, then scalars by name."""
    found = [u for u in program.src if u.op is Ops.PARAM and u.arg.name not in (RECORD, CORE_ID)]
    memory = [u for u in found if u.dtype.is_ptr]
    scalars = [u for u in found if not u.dtype.is_ptr]
    return [
        *sorted(memory, key=lambda u: int(u.arg.slot)),
        *sorted(scalars, key=lambda u: str(u.arg.name)),
    ]


def render_llvm(program: Uop, machine: Machine, *, streaming: bool = False) -> str:
    """The module text of a LINEAR; ``streaming``: its vector stores go past the caches.

    Raises UopError for what has no LLVM rendering."""
    body = _Body(program, machine, streaming).render()
    declarations = "\n".join(sorted(body.out.declared.values()))
    if streaming:
        declarations += "\n!0 = !{i32 1}"
    declarations += SELDOM
    mode = X86_MODE if machine.x86 else ARM64_MODE if machine.arm64 else ("", "", "")
    driver = DRIVER.format(declare=mode[0], enter=mode[1], leave=mode[2])
    constants = body.constants.definitions()
    return "\n".join([*body.out.lines, *body.functions, *constants, declarations, driver])


@dataclass(frozen=True, slots=True)
class _Region:
    """An open region: its number, the block and the line that branch to it, and the words before
    it of the registers that it stores."""

    number: int
    before: str
    branch: int
    kept: dict[Uop, Parts]
    choices: list[Uop] | None
    """The rare choices that are all that uses what it makes, if so."""


@dataclass(slots=True)
class _Loop:
    """An open loop: its number, where its header's phis go, and its exits so far."""

    number: int
    counter: Uop
    before: str
    phi_line: int
    registers: list[Uop]
    entering: dict[Uop, Parts]
    header: dict[Uop, Parts]
    exits: list[tuple[str, dict[Uop, Parts]]] = field(default_factory=list)


class _Body(Registers):
    def __init__(self, program: Uop, machine: Machine, streaming: bool):
        super().__init__(program, machine, streaming)
        self.loops: list[_Loop] = []
        self.stored, self.read_after = register_uses(self.program)
        self.around = loops_around_loops(self.program)
        self.escaping = escaping(self.rendered, self.reads)
        self.users: dict[Uop, list[Uop]] = {}
        for u, read in self.reads.items():
            for s, _ in read:
                self.users.setdefault(s, []).append(u)
        results = [u for u in self.rendered if canonical_of(u) is not None]
        self.lone_result = results[0] if len(results) == 1 and self._is_result(results[0]) else None
        """The only word with canonical NaNs, if it is a result. Where there are several, tests in
        between would keep their computations apart."""
        self.guards: list[_Region] = []
        self.settled = settled(self.rendered, self.reads, self.escaping)
        self.elsewhere: set[Uop] = set()
        """Nodes that are not to be written where they stand."""
        self.functions: list[str] = []
        self.memory = 0
        """Bytes in which words come to a function and back."""

    @property
    def _attributes(self) -> str:
        """Vectors for which there is no register lie on the stack, where one across two cache lines
        costs double."""
        wide = self.machine.vector_bytes
        return "noinline nounwind" + (f" alignstack({wide})" if wide > _STACK_ALIGNMENT else "")

    def render(self) -> _Body:
        arguments = "ptr %args, i64 %core_id, ptr %record, ptr %stop"
        head = f"define internal void @body({arguments}) {self._attributes}"
        self.out.lines.append(f"{head} {{\nentry:")
        top = len(self.out.lines)
        order = {u: k for k, u in enumerate(parameters(self.source))}
        for u in self.program:
            if u.op is Ops.PARAM and u in self.needed:
                self._parameter(order.get(u), u)
        self._nodes(self.rendered)
        self.out.line("br label %stopped")
        self.start("stopped")
        if self.streaming and self.machine.x86:
            self.out.declared["sfence"] = "declare void @llvm.x86.sse.sfence()"
            self.out.line("call void @llvm.x86.sse.sfence()")
        self.out.line("ret void")
        self.out.lines.append("}")
        self.out.lines[top:top] = self.constants.loads()
        if self.memory:
            self.out.lines.insert(top, f"  %memory = alloca [{self.memory} x i8], align 64")
        return self

    # --- nodes

    def _nodes(self, program: Sequence[Uop]) -> None:
        for arithmetic, nodes in runs(program, self.staggers):
            run = [u for u in nodes if u not in self.elsewhere]
            if arithmetic and run and self.staggers(run):
                self.staggered(run)
            else:
                for u in run:
                    if u not in self.elsewhere:
                        self._node(u)

    def _parameter(self, number: int | None, u: Uop) -> None:
        if number is None:
            self.define(u, f"%{u.arg.name}")
            return
        place = self.out.value(f"getelementptr i64, ptr %args, i64 {number}")
        if u.dtype.is_ptr:
            self.define(u, self.out.value(f"load ptr, ptr {place}, align 8"))
        elif u.dtype is bool_:
            byte = self.out.value(f"load i8, ptr {place}, align 8")
            self.define(u, self.out.value(f"icmp ne i8 {byte}, 0"))
        else:
            self.define(u, self.out.value(f"load {scalar_type(u.dtype)}, ptr {place}, align 8"))

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
            case Ops.STORE if u in self.bundles:
                if u is self.bundles[u].last:
                    self.store_bundle(self.bundles[u])
            case Ops.STORE if is_register(storage_of(u.src[0])):
                self.set_register(u)
            case Ops.STORE:
                self.store(u)
            case Ops.LOAD if u in self.bundles:
                if u is self.bundles[u].first:
                    self.load_bundle(self.bundles[u])
            case Ops.LOAD:
                self.define(u, *self.load(u))
            case Ops.STACK:
                self.define(u, *self.stack(u))
            case Ops.CONST | Ops.PARAM | Ops.BUFFER | Ops.AFTER | Ops.GROUP:
                pass
            case Ops.INDEX if is_address(u):
                pass
            case Ops.SINK:
                pass
            case Ops.WHERE if u is self.lone_result:
                self.define(u, *self.canonical(u))
            case _:
                self.define(u, *self.alu(u))

    # --- control flow

    def _open(self, u: Uop) -> None:
        self.labels += 1
        n = self.labels
        registers = [r for r in self.stored[u] if r in self.registers]
        entering = {r: self.crossing_words(r) for r in registers}
        before = self.block
        self.out.line(f"br label %loop{n}")
        self.start(f"loop{n}")
        phi_line = len(self.out.lines)
        header = {r: [self.out.fresh("r") for _ in entering[r]] for r in registers}
        loop = _Loop(n, u, before, phi_line, registers, entering, header)
        self.loops.append(loop)
        counter = f"%k{n}"
        size = self.scalar(u.src[0])
        more = self.out.value(f"icmp slt {scalar_type(u.dtype)} {counter}, {size}")
        self.out.line(f"br i1 {more}, label %do{n}, label %exit{n}")
        self.start(f"do{n}")
        self._look(u, counter)
        for r in registers:
            self.land(r, header[r])
        self.define(u, counter)

    def _look(self, u: Uop, counter: str) -> None:
        """Return if the stop word is set: in every iteration of a loop around others, now and then
        in a long innermost one, never in a short one."""
        if u not in self.around and u.src[0].vmax <= LOOK_EVERY:
            return
        if u not in self.around:
            ty, look, on = scalar_type(u.dtype), self.label("look"), self.label("on")
            passed = self.out.value(f"and {ty} {counter}, {LOOK_EVERY - 1}")
            due = self.out.value(f"icmp eq {ty} {passed}, 0")
            self.out.line(f"br i1 {due}, label %{look}, label %{on}")
            self.start(look)
        else:
            on = self.label("on")
        word = self.out.value("load atomic i64, ptr %stop monotonic, align 8")
        stop = self.out.value(f"icmp ne i64 {word}, 0")
        self.out.line(f"br i1 {stop}, label %stopped, label %{on}")
        self.start(on)

    def _leave(self, u: Uop) -> None:
        loop = self.loops[-1]
        if loop.counter is not u.src[1]:
            raise UopError("a break leaves the innermost open loop")
        done = u.src[0]
        crossing = {
            r: self.crossing_words(r) for r in loop.registers if r in self.read_after[loop.counter]
        }
        live = negated(done) if lanes_of(done) else None
        over = self.every_lane(done) if live is None else self.no_lane(live)
        stay = self.label("stay")
        loop.exits.append((self.block, crossing))
        self.out.line(f"br i1 {over}, label %exit{loop.number}, label %{stay}")
        self.start(stay)

    def _guard(self, u: Uop) -> None:
        """Enter a region if its condition holds in any lane."""
        self.labels += 1
        n = self.labels
        choices = self.settled.get(u)
        if choices and (self.stored[u] or not all(self._is_at_hand(c.src[2]) for c in choices)):
            choices = None
        gate, own = u.src[0], region_nodes(u, self.rendered) if choices else []
        region = self._apart(u, own, choices) if choices else None
        rare = {u, *(choices or ()), *own}.issuperset(self.users[gate])
        holds = self.any_quickly(gate) if choices and rare else self.any_lane(gate)
        kept = {r: self.crossing_words(r) for r in self.stored[u] if r in self.registers}
        self.guards.append(_Region(n, self.block, len(self.out.lines), kept, choices))
        self.out.line(f"br i1 {holds}, label %arm{n}, label %join{n}, !prof !1")
        self.start(f"arm{n}")
        self.arms.append(set())
        if region is not None:
            self._call(f"rare{n}", region, u.src[0])

    def _is_result(self, u: Uop) -> bool:
        """Whether a value of several parts is stored in memory, and nothing else done with it."""
        stored = (
            s.op is Ops.STORE and not is_register(storage_of(s.src[0])) for s in self.users[u]
        )
        return self.has_pairs(u) and all(stored)

    def _is_at_hand(self, u: Uop) -> bool:
        return u.op is Ops.CONST or u in self.names

    def _standing(self, u: Uop, lanes: int, per: int) -> Parts:
        """The parts of a value as they were made, wherever that was."""
        if u.op is Ops.CONST:
            return self.use(u, lanes, per)
        return self.names[u] if lanes_of(u) else self.splats[u]

    def _apart(self, u: Uop, own: list[Uop], choices: list[Uop]) -> Apart | None:
        region = apart(u, own, self.rendered, self.reads, choices)
        if region is not None:
            self.elsewhere.update(region.own)
        return region

    def _call(self, name: str, region: Apart, guard: Uop) -> None:
        """Call a region that is a function, with its inputs, and the lanes it is for, in memory."""
        lanes = lanes_of(guard)
        arm = _Arm(name, region, self.machine, self.part_lanes(guard.dtype, lanes), lanes)
        arm.render()
        self.out.declared |= arm.out.declared
        self.functions += arm.out.lines
        own, exchange = arm.lanes, arm.exchange
        self.memory = max(self.memory, lanes // own * exchange.stride)
        for k, u in enumerate(region.inputs):
            per = self.part_lanes(u.dtype, own)
            exchange.move(self.out, "%memory", k, u, per, self.use(u, lanes, per))
        bits = "0"
        for k, part in enumerate(self.use(guard, lanes, own)):
            word = self.out.value(f"bitcast <{own} x i1> {part} to i{own}")
            word = self.out.value(f"zext i{own} {word} to i64")
            word = self.out.value(f"shl i64 {word}, {k * own}")
            bits = self.out.value(f"or i64 {bits}, {word}")
        self.out.line(f"call void @{name}(ptr %memory, i64 {bits})")
        for k, choice in enumerate(region.choices, len(region.inputs)):
            made = choice.src[1]
            per = self.part_lanes(made.dtype, own)
            self.names[made] = exchange.move(self.out, "%memory", k, made, per, None)

    def _join(self, u: Uop) -> None:
        """Leave a region. Where it was not entered, registers are as before, a choice is its other
        value, and what else it made is zero, and not chosen."""
        region = self.guards.pop()
        if region.choices is not None:
            self._choose(region, region.choices)
            return
        self.left |= self.arms.pop()
        made = {e: rest for e, rest in self.escaping.get(u, {}).items() if e in self.names}
        words = {e: self._leaving(e, rest) for e, rest in made.items()}
        rests = self._before(region, lambda: {e: self._rest(e, made[e], words[e]) for e in made})
        entered = {
            r: self.crossing_words(r)
            for r in self.stored[u]
            if r in self.registers and (r in region.kept or r in self.read_after[u])
        }
        arm, n = self.block, region.number
        self.out.line(f"br label %join{n}")
        self.start(f"join{n}")

        def phis(ty: str, inside: Parts, outside: Parts) -> Parts:
            return [
                self.out.value(f"phi {ty} [ {a}, %{arm} ], [ {b}, %{region.before} ]")
                for a, b in zip(inside, outside, strict=True)
            ]

        values = {e: phis(self._word_type(e, len(words[e])), words[e], rests[e]) for e in made}
        registers = {}
        for r, parts in entered.items():
            ty = self.crossing_type(r)
            # another region of the same arm may read what this one set first
            registers[r] = phis(ty, parts, region.kept.get(r, ["poison"] * len(parts)))
        for e, names in values.items():
            if self.wide.pop(e, None) is not None:
                per = lanes_of(e) // len(names)
                names = [self.narrow(name, per) for name in names]
            self.define(e, *names)
        for r, names in registers.items():
            self.land(r, names)
        for r in self.stored[u]:
            if r not in registers:
                self.registers.pop(r, None)  # one of the region's own

    def _word_type(self, e: Uop, parts: int) -> str:
        scalar = "i32" if e in self.wide else scalar_type(e.dtype)
        return vector_type(scalar, lanes_of(e) // parts)

    def _leaving(self, e: Uop, rest: Uop | None) -> Parts:
        """A node's words at the end of its region; a mask in parts as its rest has, so that only
        the region cuts and joins them."""
        if e in self.wide:
            return self.wide[e].parts
        words, lanes = self.names[e], lanes_of(e)
        if lanes and e.dtype is bool_ and rest in self.names and lanes_of(rest) == lanes:
            return self.cut("i1", words, lanes // len(words), lanes // len(self.names[rest]))
        return words

    def _rest(self, e: Uop, rest: Uop | None, words: Parts) -> Parts:
        """What a node of a region is where that is not entered, in parts like ``words``."""
        lanes = lanes_of(e)
        if rest is None and e.dtype is not bool_:
            return ["poison"] * len(words)  # whoever reads it is a select, or is not entered either
        if rest is None or (rest.op is Ops.CONST and e.dtype is bool_ and not rest.arg.value):
            return [_zero(self._word_type(e, len(words)))] * len(words)
        if not lanes:
            return [self.scalar(rest)]
        parts = self.use(rest, lanes, lanes // len(words))
        return self.widened(parts, lanes).parts if e in self.wide else parts

    def _before(self, region: _Region, make: Callable[[], dict[Uop, Parts]]) -> dict[Uop, Parts]:
        """What ``make`` gives, its instructions put in front of a region's branch."""
        here, start = self.block, len(self.out.lines)
        self.enter(region.before)
        made = make()
        self.enter(here)
        lines = self.out.lines[start:]
        del self.out.lines[start:]
        self.out.lines[region.branch : region.branch] = lines
        return made

    def _choose(self, guard: _Region, choices: list[Uop]) -> None:
        """Leave a region with the choices made in it, else their other values."""
        rows: dict[Uop, tuple[str, list[tuple[str, str]]]] = {}
        for choice in choices:
            lanes, columns = lanes_of(choice), []
            per = self.part_lanes(choice.dtype, lanes)
            ty, mask = vector_type(scalar_type(choice.dtype), per), vector_type("i1", per)
            test, made, usual = choice.src
            if lanes:
                columns = [self.use(s, lanes, per) for s in (test, made)]
                columns.append(self._standing(usual, lanes, per))
            else:
                columns = [[self.scalar(s)] for s in choice.src]
            rows[choice] = (
                ty,
                [
                    (self.out.value(f"select {mask} {holds}, {ty} {a}, {ty} {b}"), b)
                    for holds, a, b in zip(*columns, strict=True)
                ],
            )
        self.left |= self.arms.pop()
        arm = self.block
        self.out.line(f"br label %join{guard.number}")
        self.start(f"join{guard.number}")
        for choice, (ty, pairs) in rows.items():
            names = [
                self.out.value(f"phi {ty} [ {chosen}, %{arm} ], [ {usual}, %{guard.before} ]")
                for chosen, usual in pairs
            ]
            self.elsewhere.add(choice)
            self.names[choice] = names
        for choice in rows:
            self.define(choice, *self.names[choice])

    def _close(self, loop: _Loop) -> None:
        n, ty = loop.number, scalar_type(loop.counter.dtype)
        latch = {r: self.crossing_words(r) for r in loop.registers}
        step = self.out.value(f"add nuw nsw {ty} %k{n}, 1")
        self.out.line(f"br label %loop{n}")
        phis = [f"  %k{n} = phi {ty} [ 0, %{loop.before} ], [ {step}, %{self.block} ]"]
        for r in loop.registers:
            rows = zip(loop.header[r], loop.entering[r], latch[r], strict=True)
            phis += [
                f"  {name} = phi {self.crossing_type(r)} "
                f"[ {before}, %{loop.before} ], [ {back}, %{self.block} ]"
                for name, before, back in rows
            ]
        self.out.lines[loop.phi_line : loop.phi_line] = phis
        self.start(f"exit{n}")
        crossed = {}
        for r in loop.registers:
            if r not in self.read_after[loop.counter]:
                del self.registers[r]
                continue
            crossed[r] = self._left(loop, r) if loop.exits else loop.header[r]
        for r, names in crossed.items():
            self.land(r, names)

    def _left(self, loop: _Loop, r: Uop) -> Parts:
        """A register's words after a loop that may be left early."""
        names = []
        for k, header in enumerate(loop.header[r]):
            edges = [f"[ {header}, %loop{loop.number} ]"]
            edges += [f"[ {words[r][k]}, %{label} ]" for label, words in loop.exits]
            names.append(self.out.value(f"phi {self.crossing_type(r)} {', '.join(edges)}"))
        return names


class _Arm(_Body):
    """A region as a function over the parts of vectors in memory, skipping those without a lane."""

    def __init__(self, name: str, region: Apart, machine: Machine, lanes: int, all_lanes: int):
        self.name, self.lanes, self.all_lanes = name, lanes, all_lanes
        self.inputs, nodes, self.results = narrowed(region, lanes)
        super().__init__(linear([*nodes, *self.results]), machine, False)
        results = [result.src[1] for result in self.results]
        self.exchange = Exchange([*self.inputs, *results], lanes)

    def render(self) -> _Arm:
        self.out.lines.append(
            f"define internal void @{self.name}(ptr %memory, i64 %lanes) {self._attributes} {{\n"
            f"entry:\n  br label %part\npart:\n  %k = phi i64 [ 0, %entry ], [ %next, %done ]\n"
            f"  %passed = mul i64 %k, {self.lanes}\n  %left = lshr i64 %lanes, %passed\n"
            f"  %own = trunc i64 %left to i{self.lanes}\n"
            f"  %none = icmp eq i{self.lanes} %own, 0\n"
            f"  br i1 %none, label %done, label %work"
        )
        self.start("work")
        self.out.line(f"%at = mul i64 %k, {self.exchange.stride}")
        self.out.line("%base = getelementptr i8, ptr %memory, i64 %at")
        for k, u in enumerate(self.inputs):
            per = self.part_lanes(u.dtype, self.lanes)
            self.names[u] = self.exchange.move(self.out, "%base", k, u, per, None)
        self._nodes([u for u in self.rendered if u.op is not Ops.STORE])
        for k, result in enumerate(self.results, len(self.inputs)):
            made = result.src[1]
            per = self.part_lanes(made.dtype, self.lanes)
            parts = self.use(made, self.lanes, per)
            self.exchange.move(self.out, "%base", k, made, per, parts)
        self.out.line("br label %done")
        self.start("done")
        self.out.line("%next = add i64 %k, 1")
        self.out.line(f"%more = icmp ult i64 %next, {self.all_lanes // self.lanes}")
        self.out.line("br i1 %more, label %part, label %leave")
        self.start("leave")
        self.out.line("ret void")
        self.out.lines.append("}")
        return self

    def operand_constant(self, u: Uop, per: int) -> str:
        """As LLVM keeps it, for an arm is seldom run: it has no vectors of its own in memory."""
        return splat_literal(scalar_type(u.dtype), literal(u.dtype, u.arg.value))

    def _apart(self, u: Uop, own: list[Uop], choices: list[Uop]) -> Apart | None:
        return None


def _zero(ty: str) -> str:
    if ty.startswith("<"):
        return "zeroinitializer"
    return {"float": "0.0", "double": "0.0", "i1": "false"}.get(ty, "0")
