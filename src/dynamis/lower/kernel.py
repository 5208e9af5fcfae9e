"""Kernel IR → Uop kernel AST: one element's computation under the ranges of its domain.

Goes in: an accounted module. Comes out: a SINK over the predicated AST and what its parameters
mean (``KernelAst``). Values become one Uop a word; records and vectors exist only as tuples of
words; helpers are inlined. If yields WHERE and gates the effects of its arms; a Loop becomes RANGE,
registers for its carried words, BREAK for its early end, and END.

Faults: a *run* ORs every failing condition into one register and stores whether any held. A
*search* keeps the number of the first failing site in program order, its element and its operand
words; it is lowered from the same module, one lane wide.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..dtype import AddrSpace, Ptr, Val, bool_, float32, int32, int64, uint8
from ..kernel import op as ir
from ..kernel.fault import FaultKind
from ..kernel.module import Block, Function, Instruction, Module, Shape
from ..kernel.tables import BinaryOp
from ..kernel.types import Type, part_at, word_types, words
from ..kernel.work import counts_work
from ..uop import (
    AxisType,
    KernelInfo,
    Uop,
    bitcast,
    break_,
    cast,
    const_of_dtype,
    end_,
    group,
    index,
    load,
    param,
    range_,
    sink,
    stack,
    store,
)
from ..uop.abi import RECORD
from . import arithmetic as word
from .arithmetic import i32
from .effects import ZERO, Register, Site, unique
from .induction import growth

MAX_ROWS, MAX_AXIS = 2**31 - 1, 2**24
"""Most elements of a port, and the longest axis of a grid (coordinates are f32)."""

Words = tuple[Uop, ...]


@dataclass(frozen=True, slots=True)
class CallClass:
    """What a compiled program assumes about a call.

    ``same_extent``: inputs whose extent is the domain's (their samples need no clamp).
    ``wide``: some port holds 2**31 words or more, so indices are 64-bit."""

    same_extent: tuple[bool, ...]
    wide: bool = False


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


STORAGE = {Type.FLOAT: float32, Type.INT: int32, Type.BOOL: uint8}
"""How a word lies in a host array: a Bool is one byte, true when non-zero."""


def scalar_param(name: str, dtype: Val, low: int | None = None, high: int | None = None) -> Uop:
    """A runtime scalar of the program, bounded when it is an integer."""
    bounds = None if low is None or high is None else (low, high)
    return param(
        slot=-1, dtype=dtype, shape=stack(()), name=name, vmin_vmax=bounds, addrspace=AddrSpace.ALU
    )


@dataclass(slots=True)
class _Frame:
    """The function being lowered: its number, arguments, and what its instructions gave."""

    function: int
    args: Sequence[Words]
    values: dict[int, Words] = field(default_factory=dict)
    types: dict[int, Type] = field(default_factory=dict)
    carried: Words = ()
    index: Uop | None = None
    iterations: dict[int, tuple[Uop, bool]] = field(default_factory=dict)
    """For each loop: how often it ran, and whether its own Look counted that."""


class _Lowering:
    def __init__(self, module: Module, call: CallClass, search: bool):
        self.module, self.call, self.search = module, call, search
        self.index_dtype = int64 if call.wide else int32
        self.slots, self.axes = itertools.count(), itertools.count(2)
        self.scope: list[Uop] = []
        self.gate: Uop | None = None
        self.pending: list[Uop] = []
        self.sites: list[Site] = []
        manifest = module.manifest
        self.grid = manifest.outputs[0].shape is Shape.GRID
        limit = MAX_AXIS if self.grid else MAX_ROWS
        self.width = scalar_param("width", int32, 1, limit)
        self.height = scalar_param("height", int32, 1, limit)
        self.failed = Register(next(self.slots), int32 if search else bool_)
        self.work = Register(next(self.slots), int32)
        self.spent = Register(next(self.slots), bool_)
        operands = 2 if search else 0
        self.record = [Register(next(self.slots), int32) for _ in range(operands + search)]
        self.shared = [self.failed, self.work, self.spent, *self.record]
        self.counted = counts_work(module)

    # --- the domain

    def run(self) -> KernelAst:
        manifest = self.module.manifest
        outside: list[Uop] = []
        self.failed.write(const_of_dtype(self.failed.buffer.dtype.base, 0), outside)
        self.spent.write(const_of_dtype(bool_, False), outside)
        for register in self.record:
            register.write(ZERO, outside)
        row = (
            range_(size=self.height, axis=0, kind=AxisType.GLOBAL, dtype=int32)
            if self.grid
            else None
        )
        parents = [row] if row is not None else []
        column = range_(size=self.width, axis=1, kind=AxisType.GLOBAL, dtype=int32, parents=parents)
        self.row, self.column = row, column
        self.element = self._linear(row, column, self.width)
        opened = self._enter(column)
        self.scope = [column]
        if self.counted:
            self.work.write(ZERO, self.scope)
        frame = _Frame(len(self.module.functions), ())
        entry = self.module.entry
        self._body(entry.body, frame)
        self._flush()
        stores = []
        for k, (port, result) in enumerate(zip(manifest.outputs, entry.results, strict=True)):
            stores += self._output(len(manifest.inputs) + k, port.element, frame.values[result])
        domain = [column] if row is None else [row, column]
        done = self._leave(stores, domain, opened)
        return KernelAst(
            sink([self._report(done)], kernel_info=KernelInfo(name=manifest.id.name)),
            tuple(self.sites),
        )

    def _report(self, done: Uop) -> Uop:
        manifest = self.module.manifest
        slot = len(manifest.inputs) + len(manifest.outputs)
        memory = self._memory(slot, int32, RECORD)
        if self.search:
            words = [self.failed.read(), *(r.read() for r in self.record)]
            return group(
                [store(dst=index(ptr=memory, idxs=[i32(k)]), value=w) for k, w in enumerate(words)]
            )
        flags = [r.read() for r in (self.failed, self.spent) if done in r.deps]
        if not flags:  # nothing in the kernel can fail
            return done
        failed = flags[0] if len(flags) == 1 else word.or_(*flags)
        return store(dst=index(ptr=memory, idxs=[ZERO]), value=i32(1), gate=failed)

    def _linear(self, row: Uop | None, column: Uop, width: Uop) -> Uop:
        column = cast(src=column, dtype=self.index_dtype)
        if row is None:
            return column
        row, width = (cast(src=u, dtype=self.index_dtype) for u in (row, width))
        return word.add(word.mul(row, width), column)

    def _memory(self, slot: int, dtype: Val, name: str | None = None) -> Uop:
        pointer = Ptr.create(dtype, addrspace=AddrSpace.GLOBAL, size=-1)
        return param(slot=slot, dtype=pointer, name=name)

    def _place(self, slot: int, element: Type, at: Uop, k: int) -> Uop:
        lanes = const_of_dtype(self.index_dtype, element.lanes)
        offset = const_of_dtype(self.index_dtype, k)
        place = word.add(word.mul(at, lanes), offset)
        return index(ptr=self._memory(slot, STORAGE[element.component]), idxs=[place])

    def _output(self, slot: int, element: Type, words: Words) -> list[Uop]:
        stores = []
        for k, value in enumerate(words):
            value = word.canonical(value)
            if value.dtype is bool_:
                value = cast(src=value, dtype=uint8)
            stores.append(store(dst=self._place(slot, element, self.element, k), value=value))
        return stores

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
        effects = unique([*stores, *(d for r in inside for d in r.deps)])
        closed = end_(value=group(effects), ranges=closing)
        for register, deps in before:
            if register in inside:
                register.follow(closed)
            elif register.loads:
                register.follow(*deps, closed)
            else:
                register.deps = deps
        return closed

    def _loop(self, instruction: Instruction, loop: ir.Loop, frame: _Frame) -> Words:
        size: Uop = const_of_dtype(int32, loop.count)
        if loop.bound is not None:
            size = word.minimum(word.maximum(frame.values[loop.bound][0], ZERO), size)
        if self.gate is not None:
            size = word.where(self.gate, size, ZERO)
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
        looks = bool(loop.body.body) and isinstance(loop.body.body[0].op, ir.Look)
        done = self._spent() if looks else None
        if loop.until is not None:
            stop = self._block(loop.until, frame)[0]
            done = stop if done is None else word.or_(stop, done)
        if done is not None:
            self._flush()
            finished = [d for r in self.shared for d in r.deps if d is not k and k in d.ranges]
            self.scope = [break_(done=done, loop=k, deps=unique(finished))]
        if looks:
            look = loop.body.body[0]
            frame.values[look.id] = self._look(look, frame, counts=True)
        self._body(loop.body.body[looks:], frame)
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
        iterations = size if counter is None else counter.read()
        frame.iterations[instruction.id] = iterations, looks
        return tuple(
            start if new is old else register.read()
            for register, start, old, new in zip(
                registers, frame.values[loop.init], carried, results, strict=True
            )
        )

    def _carried_registers(
        self, ty: Type, loop: ir.Loop, size: Uop, frame: _Frame
    ) -> list[Register]:
        """A register a carried word, holding its start; counters have bounds."""
        structs = self.module.structs
        steps = growth(loop, ty, frame.types, structs)
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

    def _block(self, block: Block, frame: _Frame) -> Words:
        self._body(block.body, frame)
        return frame.values[block.result]

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
        if self.gate is not None:
            condition = word.and_(self.gate, condition)
        if not self.search:
            self.pending.append(condition)
            return
        self.sites.append(Site(frame.function, instruction.id, kind, types, instruction.span))
        first = word.and_(condition, word.eq(self.failed.read(), ZERO))
        self.failed.write(const_of_dtype(int32, len(self.sites)), self.scope, first)
        words = [cast(src=self.element, dtype=int32), *map(_as_int, operands)]
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
        for instruction in body:
            frame.values[instruction.id] = self._instruction(instruction, frame)
            frame.types[instruction.id] = instruction.ty

    def _instruction(self, instruction: Instruction, frame: _Frame) -> Words:
        values = frame.values
        match instruction.op:
            case ir.Const(value):
                dtype = word.DTYPES[value.ty.component]
                return tuple(const_of_dtype(dtype, n) for n in value.numbers)
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
            case ir.Call(function, args):
                return self._call(function, [values[a] for a in args])
            case ir.If(condition, then, otherwise):
                return self._if(values[condition][0], then, otherwise, frame)
            case ir.Loop() as loop:
                return self._loop(instruction, loop, frame)
            case ir.Carried():
                return frame.carried
            case ir.Index():
                assert frame.index is not None
                return (frame.index,)
            case ir.Coord():
                assert self.row is not None
                return tuple(cast(src=u, dtype=float32) for u in (self.column, self.row))
            case ir.Domain():
                return self._extent(self.width, self.height if self.grid else None)
            case ir.Element():
                return (cast(src=self.element, dtype=int32),)
            case ir.Sample(k):
                return self._sample(k)
            case ir.At(k, address):
                return self._at(k, values[address])
            case ir.Count(k):
                width, height = self._input_extent(k)
                return (width if height is None else word.mul(width, height),)
            case ir.Size(k):
                return self._extent(*self._input_extent(k))
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
            results.append(word.binary(op, x, y))
        if instruction.ty == Type.BOOL and lanes > 1:  # one answer over all components
            join = word.or_ if op is BinaryOp.NOT_EQUAL else word.and_
            for result in results[1:]:
                results[0] = join(results[0], result)
            return (results[0],)
        return tuple(results)

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

    def _if(self, condition: Uop, then: Block, otherwise: Block, frame: _Frame) -> Words:
        outer = self.gate
        arms = []
        for block, taken in ((then, condition), (otherwise, word.not_(condition))):
            self.gate = taken if outer is None else word.and_(outer, taken)
            arms.append(self._block(block, frame))
        self.gate = outer
        return tuple(
            a if a is b else word.where(condition, a, b) for a, b in zip(*arms, strict=True)
        )

    # --- host access

    def _extent(self, width: Uop, height: Uop | None) -> Words:
        if height is None:
            return (width,)
        return tuple(cast(src=u, dtype=float32) for u in (width, height))

    def _input_extent(self, k: int) -> tuple[Uop, Uop | None]:
        port = self.module.manifest.inputs[k]
        grid = port.shape is Shape.GRID
        if self.call.same_extent[k]:
            return self.width, self.height if grid else None
        limit = MAX_AXIS if grid else MAX_ROWS
        width = scalar_param(f"{port.name}.width", int32, 1, limit)
        return width, scalar_param(f"{port.name}.height", int32, 1, limit) if grid else None

    def _read(self, k: int, row: Uop | None, column: Uop, width: Uop) -> Words:
        element = self.module.manifest.inputs[k].element
        at = self._linear(row, column, width)
        values = [load(src=self._place(k, element, at, n)) for n in range(element.lanes)]
        if element == Type.BOOL:
            return tuple(word.ne(v, const_of_dtype(uint8, 0)) for v in values)
        return tuple(values)

    def _sample(self, k: int) -> Words:
        width, height = self._input_extent(k)
        row, column = self.row, self.column
        if not self.call.same_extent[k]:
            column = _below(column, width)
            row = None if row is None or height is None else _below(row, height)
        return self._read(k, row, column, width)

    def _at(self, k: int, address: Words) -> Words:
        # A float address is floored and clamped; toward zero is as good as floor below zero, where
        # both clamp to 0, and the saturating conversion sends NaN to 0.
        width, height = self._input_extent(k)
        column = _clamped(cast(src=address[0], dtype=int32), width)
        row = None if height is None else _clamped(cast(src=address[1], dtype=int32), height)
        return self._read(k, row, column, width)

    # --- work

    def _spend(self, loop_id: int, frame: _Frame) -> Words:
        iterations, looked = frame.iterations[loop_id]
        if not looked:
            self.work.write(word.add(self.work.read(), iterations), self.scope, self.gate)
        return (iterations,)

    def _look(self, instruction: Instruction, frame: _Frame, *, counts: bool) -> Words:
        """Test the element's work; ``counts`` adds the iteration that begins here."""
        if counts:
            self.work.write(word.add(self.work.read(), i32(1)), self.scope, self.gate)
        budget = i32(self.module.manifest.budget)
        over = word.lt(budget, self.work.read())
        if self.search:
            self._fault(instruction, frame, FaultKind.BUDGET, over, [budget], (Type.INT,))
        else:
            held = over if self.gate is None else word.and_(self.gate, over)
            self.spent.write(word.or_(self.spent.read(), held), self.scope)
        return (over,)


def _as_int(value: Uop) -> Uop:
    return (
        bitcast(src=value, dtype=int32) if value.dtype is float32 else cast(src=value, dtype=int32)
    )


def _below(u: Uop, extent: Uop) -> Uop:
    """min(u, extent - 1)."""
    return word.minimum(u, word.sub(extent, i32(1)))


def _clamped(u: Uop, extent: Uop) -> Uop:
    return _below(word.maximum(u, ZERO), extent)
