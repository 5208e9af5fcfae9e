"""A Python interpreter of linear programs: what native code is held against, one node at a time.

Goes in: a LINEAR program, its memory by slot (or name) and its scalars by name. Comes out: the
memory, written. A value is a Python number where it is uniform and a tuple, one number a lane,
where it is not. ALU ops mean what the op table says they mean. Everything that native code takes
for granted is checked: addresses are in bounds, registers are written before they are read, loops
and regions nest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, MutableSequence, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..dtype import AddrSpace, Number, Val, bool_
from ..errors import DynamisError
from ..uop import Ops, Uop, evaluate
from ..uop.guards import resting

Value = Number | tuple[Number, ...]
Memory = MutableSequence[Any]

_PASSED = frozenset((Ops.GROUP, Ops.SINK, Ops.NOOP, Ops.BARRIER, Ops.PARAM, Ops.BUFFER))
"""Ops that do nothing when they are reached: parameters are bound before the program runs."""


class ProgramError(DynamisError, ValueError):
    """A program that does not run: what it needs is not given, or it does what none may do."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The elements an address names: their storage, and one index or one a lane."""

    storage: Uop
    at: int | tuple[int, ...]


@dataclass(slots=True)
class _Loop:
    """An open loop: the position of its RANGE, its counter and its length."""

    start: int
    counter: int
    size: int


def interpret_program(
    program: Uop,
    memory: Mapping[int | str, Memory],
    scalars: Mapping[str, Number],
    *,
    most_steps: int = 10_000_000,
) -> None:
    """Run a LINEAR ``program`` once, on this thread.

    ``memory`` holds a flat, writable sequence of words for each pointer parameter, by its name or
    else by its slot; bool memory is bytes, as the program sees it. ``scalars`` holds a number for
    each other parameter and SPECIAL, by name. Raises ProgramError when one is missing, when an
    address is outside its memory, a register is read before it is written, loops do not nest or
    the program takes more than ``most_steps`` steps; UopError for an op without a Python meaning.
    """
    if program.op is not Ops.LINEAR:
        raise ProgramError(f"a program is a LINEAR, not {program.op.name}")
    _Run(program.src, memory, scalars).run(most_steps)


def _zero(u: Uop) -> Value:
    """What a node of a region that was not entered counts as; nobody chooses it."""
    zero: Number = False if u.dtype is bool_ else 0.0 if u.dtype.is_float else 0
    return (zero,) * math.prod(u.max_shape) if u.max_shape else zero


@dataclass(slots=True)
class _Run:
    """One run: where it is, what is known so far."""

    nodes: Sequence[Uop]
    memory: Mapping[int | str, Memory]
    scalars: Mapping[str, Number]
    values: dict[Uop, Value] = field(default_factory=dict)
    registers: dict[Uop, list[Number | None]] = field(default_factory=dict)
    loops: list[_Loop] = field(default_factory=list)
    closing: dict[Uop, int] = field(default_factory=dict)

    def run(self, most_steps: int) -> None:
        for n, u in enumerate(self.nodes):
            if u.op is Ops.END:
                self.closing.update(dict.fromkeys(u.src[1:], n))
            elif u.op is Ops.ENDIF:
                self.closing[u.src[0]] = n
            elif u.op is Ops.PARAM and isinstance(u.dtype, Val):
                self.values[u] = self._scalar(str(u.arg.name))
        at = steps = 0
        while at < len(self.nodes):
            steps += 1
            if steps > most_steps:
                raise ProgramError(f"the program takes more than {most_steps} steps")
            at = self._step(at)

    def _step(self, at: int) -> int:
        """Run the node at a position; the position of the next."""
        u = self.nodes[at]
        match u.op:
            case Ops.RANGE:
                return self._open(at, u)
            case Ops.END:
                return self._end(at, u)
            case Ops.BREAK:
                if all(_lanes(self._value(u.src[0]))):
                    return self._leave(u)
            case Ops.IF:
                if not any(_lanes(self._value(u.src[0]))):
                    closing = self._closing(u)
                    made = self.nodes[at + 1 : closing]
                    for skipped in filter(self._computes, made):
                        self.values[skipped] = self._rest(skipped, u.src[0], set(made))
                    return closing + 1
            case Ops.STORE:
                self._store(u)
            case _ if self._computes(u):
                self.values[u] = self._compute(u)
        return at + 1

    def _rest(self, u: Uop, condition: Uop, made: set[Uop]) -> Value:
        """What a node of a region that was not entered counts as."""
        rest = resting(u, condition, made)
        if rest is None:
            return _zero(u)
        value = self._value(rest)
        if u.max_shape and not isinstance(value, tuple):
            return (value,) * math.prod(u.max_shape)
        return value

    def _computes(self, u: Uop) -> bool:
        """Whether running a node gives a value and does nothing else."""
        if u.op in _PASSED or u.op in (Ops.ENDIF, Ops.IF, Ops.STORE, Ops.RANGE, Ops.END, Ops.BREAK):
            return False
        return not self._is_address(u)

    # -- loops and regions

    def _closing(self, opened: Uop) -> int:
        if opened not in self.closing:
            raise ProgramError(f"this {opened.op.name} is never closed: {opened!r}")
        return self.closing[opened]

    def _open(self, at: int, u: Uop) -> int:
        size = self._value(u.src[0])
        if isinstance(size, tuple):
            raise ProgramError(f"a loop's length is uniform, not {size}")
        self.loops.append(_Loop(at, 0, int(size)))
        self.values[u] = 0
        # the END ends an empty loop: it may close outer ones too, which go on
        return at + 1 if size > 0 else self._closing(u)

    def _leave(self, u: Uop) -> int:
        if not self.loops or self.nodes[self.loops[-1].start] is not u.src[1]:
            raise ProgramError(f"a BREAK leaves the innermost open loop: {u!r}")
        self.loops[-1].counter = self.loops[-1].size
        return self._closing(u.src[1])

    def _end(self, at: int, u: Uop) -> int:
        for _ in u.src[1:]:  # innermost first, whatever the order they are named in
            if not self.loops:
                raise ProgramError(f"no loop is open here: {u!r}")
            loop = self.loops[-1]
            opened = self.nodes[loop.start]
            if opened not in u.src[1:]:
                raise ProgramError(f"this END closes another loop than the innermost: {u!r}")
            loop.counter += 1
            if loop.counter < loop.size:
                self.values[opened] = loop.counter
                return loop.start + 1
            self.loops.pop()
        return at + 1

    # -- values

    def _scalar(self, name: str) -> Number:
        if name not in self.scalars:
            raise ProgramError(f"no value is given for the parameter {name!r}")
        return self.scalars[name]

    def _value(self, u: Uop) -> Value:
        if u.op is Ops.CONST:
            number: Number = u.arg.value
            return number if u.dtype.count == 1 else (number,) * u.dtype.count
        if u not in self.values:
            if u.op is not Ops.STACK or any(s.op is not Ops.CONST for s in u.src):
                raise ProgramError(f"used before it is computed: {u!r}")
            self.values[u] = self._compute(u)  # a STACK of constants is not listed
        return self.values[u]

    def _compute(self, u: Uop) -> Value:
        match u.op:
            case Ops.CONST:
                return self._value(u)
            case Ops.LOAD:
                return self._load(u)
            case Ops.AFTER:
                return self._value(u.src[0])
            case Ops.SPECIAL:
                return self._scalar(str(u.arg))
            case Ops.STACK:
                return tuple(_uniform(self._value(s)) for s in u.src)
            case Ops.INDEX:
                return self._lane(u)
        operands = [self._value(s) for s in self._chosen(u)]
        lanes = max((len(v) for v in operands if isinstance(v, tuple)), default=0)
        if lanes == 0:
            return self._number(u, operands)
        spread = [v if isinstance(v, tuple) else (v,) * lanes for v in operands]
        if any(len(v) != lanes for v in spread):
            raise ProgramError(f"operands of different lanes: {u!r}")
        return tuple(self._number(u, column) for column in zip(*spread, strict=True))

    def _chosen(self, u: Uop) -> Sequence[Uop]:
        """The operands of a node; of a WHERE, without the arm that no lane chooses: it may be made
        in a region that was not entered."""
        if u.op is not Ops.WHERE or all(s in self.values or s.op is Ops.CONST for s in u.src):
            return u.src
        condition, a, b = u.src
        chosen = set(map(bool, _lanes(self._value(condition))))
        return (
            (condition, a, a)
            if chosen == {True}
            else (condition, b, b)
            if chosen == {False}
            else u.src
        )

    def _number(self, u: Uop, operands: Sequence[Any]) -> Number:
        """The op's meaning on one lane. Comparisons and the rest compute in their own dtype."""
        dtype = u.dtype
        if not isinstance(dtype, Val):
            raise ProgramError(f"no arithmetic on pointers: {u!r}")
        source = u.src[0].dtype if u.op is Ops.BITCAST else None
        return evaluate(u.op, dtype, operands, source=source if isinstance(source, Val) else None)

    def _lane(self, u: Uop) -> Value:
        """An INDEX into a value: its lanes at the index."""
        value, (at,) = self._value(u.src[0]), [self._value(i) for i in u.src[1:]]
        lanes = _lanes(value)
        found = [_checked(lanes, i, u) for i in _lanes(at)]
        return tuple(found) if isinstance(at, tuple) else found[0]

    # -- memory

    def _is_address(self, u: Uop) -> bool:
        """Whether ``u`` names storage or a place in it: nothing to compute until it is used."""
        while u.op in (Ops.INDEX, Ops.AFTER, Ops.SHRINK, Ops.CAST):
            u = u.src[0]
        return u.dtype.is_ptr and u.op in (Ops.PARAM, Ops.BUFFER)

    def _place(self, u: Uop) -> _Place:
        if u.op is Ops.CAST:
            u = u.src[0]
        if u.op is Ops.SHRINK:
            # one axis; its offset and size may be written as shape arguments of one dimension
            start, width = (int(_only(self._value(s), u)) for s in u.src[1:])
            return _Place(_storage(u), tuple(range(start, start + width)))
        if u.op is not Ops.INDEX or len(u.src) != 2:
            raise ProgramError(f"an address is an INDEX by one number: {u!r}")
        at = self._value(u.src[1])
        return _Place(_storage(u), tuple(map(int, at)) if isinstance(at, tuple) else int(at))

    def _words(self, storage: Uop) -> Memory:
        if storage.op is Ops.PARAM:
            for key in (storage.arg.name, storage.arg.slot):
                if key in self.memory:
                    return self.memory[key]
            raise ProgramError(f"no memory is given for {storage.arg}")
        if storage not in self.registers:
            scratch = storage.arg.addrspace in (AddrSpace.REG, AddrSpace.LOCAL)
            size = getattr(storage.dtype, "size", -1)
            if not scratch or size < 0:
                raise ProgramError(f"a program's BUFFER is REG or LOCAL, and bounded: {storage!r}")
            self.registers[storage] = [None] * size
        return self.registers[storage]

    def _load(self, u: Uop) -> Value:
        place = self._place(u.src[0])
        words = self._words(place.storage)
        gates = _lanes(self._value(u.src[2])) if len(u.src) == 3 else [True]
        others = _lanes(self._value(u.src[1])) if len(u.src) == 3 else [0]
        lanes = max(len(_lanes(place.at)), len(gates), len(others))
        columns = [_spread(v, lanes, u) for v in (_lanes(place.at), gates, others)]
        found = [
            _known(_checked(words, i, u), u) if gate else other
            for i, gate, other in zip(*columns, strict=True)
        ]
        return found[0] if lanes == 1 and not isinstance(place.at, tuple) else tuple(found)

    def _store(self, u: Uop) -> None:
        place = self._place(u.src[0])
        words, value = self._words(place.storage), _lanes(self._value(u.src[1]))
        gates = _lanes(self._value(u.src[2])) if len(u.src) == 3 else [True]
        if not isinstance(place.at, tuple):  # one element: where the gate holds in any lane
            gates = [any(gates)]
        lanes = len(_lanes(place.at))
        columns = [_spread(v, lanes, u) for v in (_lanes(place.at), value, gates)]
        for i, word, gate in zip(*columns, strict=True):
            if gate:
                _checked(words, i, u)
                words[i] = word


def _storage(u: Uop) -> Uop:
    """The PARAM or BUFFER behind an address."""
    while u.op in (Ops.INDEX, Ops.AFTER, Ops.SHRINK, Ops.CAST):
        u = u.src[0]
    if u.op not in (Ops.PARAM, Ops.BUFFER):
        raise ProgramError(f"an address is in a PARAM or BUFFER: {u!r}")
    return u


def _lanes(value: Any) -> Sequence[Any]:
    return value if isinstance(value, tuple) else [value]


def _spread(lanes: Sequence[Any], count: int, u: Uop) -> Sequence[Any]:
    """``lanes`` as ``count`` of them: one is repeated."""
    if len(lanes) not in (1, count):
        raise ProgramError(f"operands of different lanes: {u!r}")
    return lanes if len(lanes) == count else list(lanes) * count


def _only(value: Value, u: Uop) -> Number:
    """A number, or the one number of a tuple of one."""
    if isinstance(value, tuple):
        if len(value) != 1:
            raise ProgramError(f"a SHRINK of storage has one axis: {u!r}")
        return value[0]
    return value


def _uniform(value: Value) -> Number:
    if isinstance(value, tuple):
        raise ProgramError(f"a uniform value is needed, not {value}")
    return value


def _checked(words: Sequence[Any], at: int, u: Uop) -> Any:
    """The word at an index that must be in bounds, as a Python number."""
    if not 0 <= at < len(words):
        raise ProgramError(f"index {at} of {len(words)}: {u!r}")
    word = words[at]
    return word.item() if hasattr(word, "item") else word  # NumPy's numbers


def _known(word: Any, u: Uop) -> Number:
    if word is None:
        raise ProgramError(f"a register is read before it is written: {u!r}")
    number: Number = word
    return number
