"""From a drafted function to a ``kernel.Function``: what loops carry, records, numbering.

A name of a Choice or Repeat is carried only when something reads one of its slots. One carried name
travels bare, several in a record whose fields are named after them. Ids are given in pre-order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..kernel.module import Block, Function, Instruction, Span
from ..kernel.op import Carried, Const, Construct, Extract, If, Loop, Op, ValueId
from ..kernel.types import Field, StructDef, Type, Value, template
from .draft import UNTIL, Body, Choice, Draft, End, Item, Ref, Repeat, Slot, Where, walk

Owner = Choice | Repeat


class Records:
    """The module's struct table; equal records share one entry."""

    def __init__(self) -> None:
        self._found: dict[tuple[tuple[str, Type], ...], Type] = {}
        self.structs: list[StructDef] = []

    def of(self, fields: Sequence[tuple[str, Type]]) -> Type:
        """The record type with these fields, named after the variables they hold."""
        taken: set[str] = set()
        key = tuple((_unique(field_name(name), taken), ty) for name, ty in fields)
        if key not in self._found:
            self._found[key] = Type.struct(len(self.structs))
            name = f"Record{len(self.structs)}"
            self.structs.append(StructDef.record(name, [Field(n, ty) for n, ty in key]))
        return self._found[key]


def field_name(name: str) -> str:
    """The identifier for ``name``: the frontend's own names lose their %."""
    return name.lstrip("%")


def _unique(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


class _Needs:
    """Which names each Choice and Repeat must carry: those read, and those that feed them."""

    def __init__(self, body: Body, results: Iterable[Ref]) -> None:
        self.carried: dict[Owner, set[str]] = {}
        self.read: set[Slot] = set()
        self._pending: list[Slot] = []
        for item in walk(body):
            for ref in _operands(item):
                self._need(ref)
        for ref in results:
            self._need(ref)
        while self._pending:
            slot = self._pending.pop()
            for end in _sources(slot):
                self._need(end)

    def _need(self, end: End) -> None:
        if not isinstance(end, Slot) or end in self.read:
            return
        self.read.add(end)
        names = self.carried.setdefault(end.owner, set())
        if end.name not in names:
            names.add(end.name)
            self._pending.append(end)


def _operands(item: Item) -> tuple[End, ...]:
    match item:
        case Draft():
            return item.operands
        case Choice():
            return (item.condition,)
        case Repeat():
            return (item.bound, item.until.ends[UNTIL] if item.until else None)


def _sources(slot: Slot) -> tuple[End, ...]:
    owner, name = slot.owner, slot.name
    if isinstance(owner, Choice):
        return (owner.then.ends.get(name), owner.otherwise.ends.get(name))
    return (owner.init.get(name), owner.body.ends.get(name))


class Emitter:
    """Numbers one drafted function. ``types`` gives the type of every carried name."""

    def __init__(self, types: Mapping[str, Type], records: Records) -> None:
        self._types = types
        self._records = records
        self._order = {name: k for k, name in enumerate(types)}
        self._ids: dict[Draft | Slot, ValueId] = {}
        self._next = 0

    def function(
        self,
        name: str,
        args: Sequence[Type],
        body: Body,
        results: Sequence[Ref],
        bindings: Sequence[tuple[Ref, str]],
    ) -> Function:
        """The finished function."""
        self._needs = _Needs(body, results)
        out: list[Instruction] = []
        self._items(body, out)
        named = tuple((self._ids[ref], n) for ref, n in bindings if ref in self._ids)
        ids = tuple(self._ids[ref] for ref in results)
        return Function(name, tuple(args), tuple(out), ids, named)

    def _id(self) -> ValueId:
        self._next += 1
        return self._next - 1

    def _add(self, out: list[Instruction], ty: Type, op: Op, span: Span) -> ValueId:
        out.append(Instruction(self._id(), ty, op, span))
        return out[-1].id

    def _items(self, body: Body, out: list[Instruction]) -> None:
        for item in body.items:
            match item:
                case Draft():
                    op = item.build(tuple(self._ids[ref] for ref in item.operands))
                    self._ids[item] = self._add(out, item.ty, op, item.span)
                case Choice():
                    self._choice(item, out)
                case Repeat():
                    self._repeat(item, out)

    def _names(self, owner: Owner) -> list[str]:
        return sorted(self._needs.carried.get(owner, ()), key=self._order.__getitem__)

    def _type(self, names: Sequence[str]) -> Type:
        """The type that carries ``names``: a Bool where there are none."""
        match names:
            case []:
                return Type.BOOL
            case [name]:
                return self._types[name]
        return self._records.of([(name, self._types[name]) for name in names])

    def _gather(
        self, ends: Mapping[str, End], names: Sequence[str], out: list[Instruction], span: Span
    ) -> ValueId:
        """The one value that carries the ``names`` at a block's end."""
        if not names:
            return self._add(out, Type.BOOL, Const(Value.of(Type.BOOL, False)), span)
        parts = tuple(self._end(ends.get(name), self._types[name], out, span) for name in names)
        if len(names) == 1:
            return parts[0]
        return self._add(out, self._type(names), Construct(parts), span)

    def _end(self, end: End, ty: Type, out: list[Instruction], span: Span) -> ValueId:
        if end is None:  # never read on this path: any value of the type will do
            return self._add(out, ty, Const(template(ty)), span)
        if isinstance(end, bool):
            return self._add(out, ty, Const(Value.of(Type.BOOL, end)), span)
        return self._ids[end]

    def _spread(
        self,
        owner: Owner,
        where: Where,
        names: Sequence[str],
        value: ValueId,
        out: list[Instruction],
        span: Span,
    ) -> None:
        """Gives each slot that is read its id: the value itself, or a field of it."""
        for k, name in enumerate(names):
            slot = Slot(owner, where, name)
            if slot in self._needs.read:
                whole = len(names) == 1
                self._ids[slot] = (
                    value if whole else self._add(out, self._types[name], Extract(value, k), span)
                )

    def _choice(self, item: Choice, out: list[Instruction]) -> None:
        names = self._names(item)
        condition = self._ids[item.condition]
        id = self._id()
        blocks = []
        for arm in (item.then, item.otherwise):
            inner: list[Instruction] = []
            self._items(arm, inner)
            result = self._gather(arm.ends, names, inner, item.span)
            blocks.append(Block(tuple(inner), result))
        op = If(condition, blocks[0], blocks[1])
        out.append(Instruction(id, self._type(names), op, item.span))
        self._spread(item, "result", names, id, out, item.span)

    def _repeat(self, item: Repeat, out: list[Instruction]) -> None:
        names = self._names(item)
        ty = self._type(names)
        bound = None if item.bound is None else self._ids[item.bound]
        init = self._gather(item.init, names, out, item.span)
        id = self._id()
        until = None
        if item.until is not None:
            inner = self._carried_in(item, "until", names, ty)
            self._items(item.until, inner)
            stop = self._end(item.until.ends[UNTIL], Type.BOOL, inner, item.span)
            until = Block(tuple(inner), stop)
        inner = self._carried_in(item, "body", names, ty)
        self._items(item.body, inner)
        result = self._gather(item.body.ends, names, inner, item.span)
        op = Loop(item.count, bound, init, until, Block(tuple(inner), result))
        out.append(Instruction(id, ty, op, item.span))
        self._spread(item, "result", names, id, out, item.span)

    def _carried_in(
        self, item: Repeat, where: Where, names: Sequence[str], ty: Type
    ) -> list[Instruction]:
        """The opening of a loop's test or body: what it reads of the carried value."""
        inner: list[Instruction] = []
        if any(Slot(item, where, name) in self._needs.read for name in names):
            value = self._add(inner, ty, Carried(), item.span)
            self._spread(item, where, names, value, inner, item.span)
        return inner
