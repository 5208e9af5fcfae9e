"""Kernel IR → Uop kernel AST: one element's computation under the ranges of its domain.

Goes in: an accounted module. Comes out: a SINK over the predicated AST and what its parameters
mean (``KernelAst``). Values become one Uop a word; records and vectors exist only as tuples of
words; helpers are inlined. If yields WHERE and gates the effects of its arms; a Loop becomes RANGE,
registers for its carried words, BREAK for its early end, and END.

Faults: a *run* ORs every failing condition into one register and stores whether any held. A
*search* keeps the number of the first failing site in program order, its element and its operand
words; it is lowered from the module as it was written, one lane wide.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..dtype import bool_, float32, float64, int32
from ..kernel import op as ir
from ..kernel.fault import FaultKind
from ..kernel.induction import growth
from ..kernel.module import Function, Instruction, Module
from ..kernel.tables import BinaryOp
from ..kernel.types import Type, part_at, word_types, words
from ..kernel.work import counts_work, functions_work
from ..uop import (
    AxisType,
    KernelInfo,
    Ops,
    Uop,
    bitcast,
    break_,
    cast,
    const_of_dtype,
    end_,
    group,
    range_,
    sink,
    store,
)
from . import arithmetic as word
from .arithmetic import i32
from .call_class import CallClass
from .counted import counts_ahead, is_small
from .effects import ZERO, Register, Site, unique
from .host import Host, Words, scalar_param
from .remainder import REMAINDER


@dataclass(frozen=True, slots=True)
class KernelAst:
    """The AST and the meaning of its parameters.

    Memory slots are the inputs, the outputs, then the fault record. ``sites`` number the places a
    search reports, from 1; the record is [flag] for a run, [site, element, operands…] for a search.
    """

    root: Uop
    sites: tuple[Site, ...]


def lower(module: Module, call: CallClass, *, search: bool = False) -> KernelAst:
    """Lower an accounted module for calls of class ``call``; ``search`` for the first fault."""
    return _Lowering(module, call, search).run()


@dataclass(slots=True)
class _Frame:
    """The function being lowered: its number, arguments, and what its instructions gave."""

    function: int
    args: Sequence[Words]
    values: dict[int, Words] = field(default_factory=dict)
    types: dict[int, Type] = field(default_factory=dict)
    constants: dict[int, int] = field(default_factory=dict)
    """The constant Ints among the values."""
    carried: Words = ()
    index: Uop | None = None
    ahead: set[int] = field(default_factory=set)
    """The loops whose iterations are counted before they run."""
    iterations: dict[int, tuple[Uop, bool]] = field(default_factory=dict)
    """For each loop: how often it ran, and whether its own Look counted that."""


class _Lowering:
    def __init__(self, module: Module, call: CallClass, search: bool):
        self.module, self.search = module, search
        self.host = Host(module.manifest, call)
        self.slots = itertools.count()
        self.axes: Iterator[int] = itertools.count(3)
        self.scope: list[Uop] = []
        self.gate: Uop | None = None
        self.pending: list[Uop] = []
        self.sites: list[Site] = []
        self.failed = Register(next(self.slots), int32 if search else bool_)
        self.work = Register(next(self.slots), int32)
        self.spent = Register(next(self.slots), bool_)
        operands = 2 if search else 0
        self.record = [Register(next(self.slots), int32) for _ in range(operands + search)]
        self.shared = [self.failed, self.work, self.spent, *self.record]
        self.counted = counts_work(module)
        self.budget = i32(module.manifest.work_limit)
        self.functions = functions_work(module)

    # --- the domain

    def run(self) -> KernelAst:
        outside: list[Uop] = []
        self.failed.write(const_of_dtype(self.failed.buffer.dtype.base, 0), outside)
        self.spent.write(const_of_dtype(bool_, False), outside)
        for register in self.record:
            register.write(ZERO, outside)
        opened = self._enter(self.host.ranges[-1])
        self.scope = [self.host.ranges[-1]]
        if self.counted:
            self.work.write(ZERO, self.scope)
        frame = _Frame(len(self.module.functions), ())
        entry = self.module.entry
        self._body(entry.body, frame)
        self._flush()
        stores = [
            stored
            for k, result in enumerate(entry.results)
            for stored in self.host.output(k, frame.values[result])
        ]
        done = self._leave(stores, self.host.ranges, opened)
        return KernelAst(
            sink([self._report(done)], kernel_info=KernelInfo(name=self.module.manifest.id.name)),
            tuple(self.sites),
        )

    def _report(self, done: Uop) -> Uop:
        if self.search:
            words = [self.failed.read(), *(r.read() for r in self.record)]
            return group([store(dst=self.host.record(k), value=w) for k, w in enumerate(words)])
        flags = [r.read() for r in (self.failed, self.spent) if done in r.deps]
        if not flags:  # nothing in the kernel can fail
            return done
        failed = flags[0] if len(flags) == 1 else word.or_(*flags)
        return store(dst=self.host.record(0), value=i32(1), gate=failed)

    # --- loops and their effects

    def _enter(self, opened: Uop) -> list[tuple[Register, list[Uop]]]:
        """Open a range: from here each shared register's version is also made by ``opened``."""
        before = [(r, r.deps) for r in self.shared]
        for register in self.shared:
            register.deps = [*register.deps, opened]
        return before

    def _leave(
        self, stores: list[Uop], closing: list[Uop], before: list[tuple[Register, list[Uop]]]
    ) -> Uop:
        """Close ranges around ``stores`` and whatever happened to the shared registers."""
        inside = [r for r, deps in before if r.deps != [*deps, closing[-1]]]
        own = [d for r in inside for d in r.deps if d.op is not Ops.RANGE]
        effects = unique([*stores, *(d for d in own if closing[-1] in d.ranges)])
        closed = end_(value=group(effects), ranges=closing)
        for register, deps in before:
            if register in inside:
                register.follow(closed)
            elif register.loads:
                earlier = [u for u in register.loads if closing[-1] not in u.ranges]
                register.follow(*deps, closed)
                register.loads = earlier
            else:
                register.deps = deps
        return closed

    def _loop(self, instruction: Instruction, loop: ir.Loop, frame: _Frame) -> Words:
        if self.counted and not self.search and is_small(loop):
            return self._unrolled(instruction, loop, frame)
        looks = bool(loop.body.body) and isinstance(loop.body.body[0].op, ir.Look)
        size: Uop = const_of_dtype(int32, loop.count)
        if loop.bound is not None:
            size = word.minimum(word.maximum(frame.values[loop.bound][0], ZERO), size)
        if self.gate is not None:
            size = word.where(self.gate, size, ZERO)
        spent = size
        if looks and not self.search and counts_ahead(loop, self.functions):
            # an element that would run more than its budget fails, however often it does; not
            # never, for a loop that runs at least once is known to
            looks, size = False, word.where(word.lt(self.budget, size), i32(1), size)
            frame.ahead.add(instruction.id)
        registers = self._carried_registers(instruction.ty, loop, size, frame)
        counter = None
        if self.counted and loop.until is not None:
            counter = Register(next(self.slots), int32)
            counter.write(ZERO, self.scope)
        k = range_(
            size=size,
            axis=next(self.axes),
            kind=AxisType.LOOP,
            dtype=int32,
            parents=self.scope,
        )
        outer = self.scope, self.gate, self.pending, frame.carried, frame.index
        before = self._enter(k)
        own = registers if counter is None else [*registers, counter]
        for register in own:
            register.deps.append(k)
        self.scope, self.gate, self.pending = [k], None, []
        frame.carried, frame.index = tuple(r.read() for r in registers), k
        done = self._spent() if looks else None
        if loop.until is not None:
            self._body(loop.until.body, frame)
            stop = frame.values[loop.until.result][0]
            done = stop if done is None else word.or_(stop, done)
        if done is not None:
            self._flush()
            finished = [d for r in self.shared for d in r.deps if d is not k and k in d.ranges]
            self.scope = [break_(done=done, loop=k, deps=unique(finished))]
        if looks:
            look = loop.body.body[0]
            frame.values[look.id] = self._look(look, frame, counts=True)
        self._body(loop.body.body[looks or instruction.id in frame.ahead :], frame)
        self._flush()
        results = frame.values[loop.body.result]
        carried = frame.carried
        for register, old, new in zip(registers, carried, results, strict=True):
            if new is not old:
                register.write(new, self.scope)
        if counter is not None:
            counter.write(word.add(counter.read(), i32(1)), self.scope)
        stores = [d for r in own for d in r.deps if k in d.ranges and d is not k]
        closed = self._leave(unique([*stores, *(s for s in self.scope if s is not k)]), [k], before)
        self.scope, self.gate, self.pending, frame.carried, frame.index = outer
        for register in own:
            register.follow(closed)
        iterations = spent if counter is None else counter.read()
        frame.iterations[instruction.id] = iterations, looks
        return tuple(
            start if new is old else register.read()
            for register, start, old, new in zip(
                registers, frame.values[loop.init], carried, results, strict=True
            )
        )

    def _unrolled(self, instruction: Instruction, loop: ir.Loop, frame: _Frame) -> Words:
        """A small loop written out: no pass before does that where work is counted."""
        outer = frame.carried, frame.index
        carried = frame.values[loop.init]
        for k in range(loop.count):
            frame.carried, frame.index = carried, i32(k)
            self._body(loop.body.body, frame)
            carried = frame.values[loop.body.result]
        frame.carried, frame.index = outer
        frame.iterations[instruction.id] = i32(loop.count), False
        return carried

    def _carried_registers(
        self, ty: Type, loop: ir.Loop, size: Uop, frame: _Frame
    ) -> list[Register]:
        """A register a carried word, holding its start; counters have bounds."""
        structs = self.module.structs
        steps = growth(loop, ty, frame.types, structs, frame.constants)
        registers = []
        for t, step, start in zip(
            word_types(structs, ty), steps, frame.values[loop.init], strict=True
        ):
            bounds = None
            if step is not None and t == Type.INT:
                low = int(start.vmin + min(0, step[0] * size.vmax))
                high = int(start.vmax + max(0, step[1] * size.vmax))
                bounds = (low, high) if word.fits(low, high) else None
            register = Register(next(self.slots), word.DTYPES[t], bounds)
            register.write(start, self.scope)
            registers.append(register)
        return registers

    def _spent(self) -> Uop:
        if self.search:
            return word.ne(self.failed.read(), ZERO)
        return self.spent.read()

    # --- faults

    def _fault(
        self,
        instruction: Instruction,
        frame: _Frame,
        kind: FaultKind,
        condition: Uop,
        operands: Sequence[Uop],
        types: tuple[Type, ...],
    ) -> None:
        if not self.search:
            self.pending.append(condition)  # the arms around it ask for their gates
            return
        if self.gate is not None:
            condition = word.and_(self.gate, condition)
        self.sites.append(Site(frame.function, instruction.id, kind, types, instruction.span))
        first = word.and_(condition, word.eq(self.failed.read(), ZERO))
        self.failed.write(const_of_dtype(int32, len(self.sites)), self.scope, first)
        words = [cast(src=self.host.element, dtype=int32), *map(_as_int, operands)]
        for register, value in zip(self.record, words, strict=False):
            register.write(value, self.scope, first)

    def _checks(
        self,
        instruction: Instruction,
        frame: _Frame,
        checks: Sequence[word.Check],
        operands: Sequence[Uop],
    ) -> None:
        types = tuple(Type.INT for _ in operands)
        for kind, condition in checks:
            self._fault(instruction, frame, kind, condition, operands, types)

    def _flush(self) -> None:
        """OR the failing conditions met since the last flush into the run's flag."""
        if self.pending:
            flag = self.failed.read()
            for condition in self.pending:
                flag = word.or_(flag, condition)
            self.failed.write(flag, self.scope)
            self.pending = []

    # --- instructions

    def _body(self, body: Sequence[Instruction], frame: _Frame) -> None:
        """Lower instructions in order. Nesting takes two Python frames a level: it may be 256."""
        for instruction in body:
            match instruction.op:
                case ir.Call(function, args):
                    words = self._call(function, [frame.values[a] for a in args])
                case ir.If() as branch:
                    words = self._if(branch, frame)
                case ir.Loop() as loop:
                    words = self._loop(instruction, loop, frame)
                case _:
                    words = self._instruction(instruction, frame)
            frame.values[instruction.id] = words
            frame.types[instruction.id] = instruction.ty

    def _instruction(self, instruction: Instruction, frame: _Frame) -> Words:
        values = frame.values
        match instruction.op:
            case ir.Const(value):
                structs = self.module.structs
                types = word_types(structs, value.ty)
                numbers = value.numbers_in(structs)
                if value.ty == Type.INT:
                    frame.constants[instruction.id] = int(numbers[0])
                return tuple(
                    const_of_dtype(word.DTYPES[t], n) for t, n in zip(types, numbers, strict=True)
                )
            case ir.Param(k):
                return self._param(k)
            case ir.Arg(k):
                return frame.args[k]
            case ir.Unary(op, a):
                results = []
                for x in values[a]:
                    self._checks(instruction, frame, word.unary_checks(op, x), [x])
                    results.append(word.unary(op, x))
                return tuple(results)
            case ir.Binary(op, a, b):
                return self._binary(instruction, op, values[a], values[b], frame)
            case ir.Intrinsic(name, args):
                lanes = max(len(values[a]) for a in args)
                columns = [values[a] * (lanes // len(values[a])) for a in args]
                results = []
                for words in zip(*columns, strict=True):
                    checks = word.intrinsic_checks(name, words)
                    self._checks(instruction, frame, checks, words)
                    results.append(word.intrinsic(name, words))
                return tuple(results)
            case ir.Construct(parts):
                return tuple(w for part in parts for w in values[part])
            case ir.Extract(value, k):
                return self._extract(value, k, frame)
            case ir.Carried():
                return frame.carried
            case ir.Index():
                assert frame.index is not None
                return (frame.index,)
            case ir.Coord():
                return self.host.coordinate()
            case ir.Domain():
                return self.host.domain()
            case ir.Element():
                return (cast(src=self.host.element, dtype=int32),)
            case ir.Sample(k):
                return self.host.sample(k)
            case ir.At(k, address):
                return self.host.at(k, values[address])
            case ir.AtLinear(k, address):
                return self.host.linear(k, values[address])
            case ir.Count(k):
                return (self.host.count(k),)
            case ir.Size(k):
                return self.host.size(k)
            case ir.Spend(loop_id):
                return self._spend(loop_id, frame)
            case ir.Look():
                return self._look(instruction, frame, counts=False)
        raise AssertionError(f"validated modules hold no {type(instruction.op).__name__}")

    def _binary(
        self, instruction: Instruction, op: BinaryOp, a: Words, b: Words, frame: _Frame
    ) -> Words:
        lanes = max(len(a), len(b))
        pairs = list(zip(a * (lanes // len(a)), b * (lanes // len(b)), strict=True))
        results = []
        for x, y in pairs:
            self._checks(instruction, frame, word.binary_checks(op, x, y), [x, y])
            if op is BinaryOp.REM and x.dtype is float64:
                results.append(self._remainder(x, y, frame))
            else:
                results.append(word.binary(op, x, y))
        if instruction.ty == Type.BOOL and lanes > 1:  # one answer over all components
            join = word.or_ if op is BinaryOp.NOT_EQUAL else word.and_
            for result in results[1:]:
                results[0] = join(results[0], result)
            return (results[0],)
        return tuple(results)

    def _remainder(self, a: Uop, b: Uop, frame: _Frame) -> Uop:
        """C's fmod of two f64 words."""
        size = word.magnitude(b)
        inner = _Frame(frame.function, ((word.magnitude(a),), (size,)))
        self._body(REMAINDER.body, inner)
        (rest,) = inner.values[REMAINDER.results[0]]
        rest = word.where(word.lt(rest, word.like(rest, 0.0)), word.add(rest, size), rest)
        number = word.eq(b, b)
        return word.where(number, word.with_sign_of(rest, a), word.like(rest, math.nan))

    def _param(self, k: int) -> Words:
        declared = self.module.manifest.params[k]
        dtype = word.DTYPES[declared.ty.component]
        names = [f"{declared.name}.{n}" for n in range(declared.ty.lanes)]
        return tuple(scalar_param(name, dtype) for name in names)

    def _extract(self, value: int, k: int, frame: _Frame) -> Words:
        part = part_at(self.module.structs, frame.types[value], k)
        assert part is not None
        first, ty = part
        return frame.values[value][first : first + words(self.module.structs, ty)]

    def _call(self, function: int, args: Sequence[Words]) -> Words:
        callee: Function = self.module.functions[function]
        inner = _Frame(function, args)
        self._body(callee.body, inner)
        return inner.values[callee.results[0]]

    def _if(self, branch: ir.If, frame: _Frame) -> Words:
        outer, failing, condition = self.gate, self.pending, frame.values[branch.condition][0]
        arms = []
        for block, taken in (
            (branch.then, condition),
            (branch.otherwise, word.not_(condition)),
        ):
            self.gate = taken if outer is None else word.and_(outer, taken)
            self.pending = []
            self._body(block.body, frame)
            arms.append(frame.values[block.result])
            if self.pending:
                failing.append(word.and_(taken, functools.reduce(word.or_, self.pending)))
        self.gate, self.pending = outer, failing
        return tuple(
            a if a is b else word.where(condition, a, b) for a, b in zip(*arms, strict=True)
        )

    # --- work

    def _spend(self, loop_id: int, frame: _Frame) -> Words:
        iterations, looked = frame.iterations[loop_id]
        if loop_id in frame.ahead:  # the sum below may wrap, this does not
            left = word.sub(self.budget, self.work.read())
            self._over(word.lt(left, iterations))
        if not looked:
            self.work.write(word.add(self.work.read(), iterations), self.scope, self.gate)
        return (iterations,)

    def _look(self, instruction: Instruction, frame: _Frame, *, counts: bool) -> Words:
        """Test the element's work; ``counts`` adds the iteration that begins here."""
        if counts:
            self.work.write(word.add(self.work.read(), i32(1)), self.scope, self.gate)
        over = word.lt(self.budget, self.work.read())
        if self.search:
            self._fault(instruction, frame, FaultKind.BUDGET, over, [self.budget], (Type.INT,))
        else:
            self._over(over)
        return (over,)

    def _over(self, over: Uop) -> None:
        """Note where the element's work is past its budget."""
        self.spent.write(word.or_(self.spent.read(), over), self.scope, self.gate)


def _as_int(value: Uop) -> Uop:
    return (
        bitcast(src=value, dtype=int32) if value.dtype is float32 else cast(src=value, dtype=int32)
    )
