"""Mutants aimed at the rules of the validator: for each rule, ways to break it and nothing before.

In: a random generator and a valid module. Out: ``AIMS``, by rule the mutators that aim at it; one
gives the broken module, or None where the module holds nothing that it could break.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from random import Random
from typing import Any

from dynamis.kernel import account, op
from dynamis.kernel.capability import Capabilities
from dynamis.kernel.encoding import Encoding
from dynamis.kernel.limits import (
    MAX_ARRAY_COUNT,
    MAX_BUDGET,
    MAX_EXPANDED_DEPTH,
    MAX_FRAME_WORDS,
    MAX_LOOP_COUNT,
    MAX_NAME,
    MAX_TABLE_FIELDS,
)
from dynamis.kernel.manifest import Port, PortType, Shape
from dynamis.kernel.mode import Combine, Mode, ModeKind
from dynamis.kernel.module import Block, Function, Instruction, Module
from dynamis.kernel.op_table import OPS, Role
from dynamis.kernel.tables import BinaryOp
from dynamis.kernel.types import Field, StructDef, Type, Value
from tests.fuzz.mutate import Path, at, with_at

Aim = Callable[[Random, Module], Module | None]
AIMS: dict[int, list[Aim]] = {}

F, I, B = Type.FLOAT, Type.INT, Type.BOOL  # noqa: E741
ZERO = op.Const(Value.of(F, 0.0))


def aims_at(rule: int) -> Callable[[Aim], Aim]:
    """Enters a mutator under the rule it aims at."""

    def enter(aim: Aim) -> Aim:
        AIMS.setdefault(rule, []).append(aim)
        return aim

    return enter


# Finding a place, and changing it.


def placed(module: Module) -> Iterator[tuple[Path, Instruction]]:
    """Every instruction with its path."""
    roots: list[tuple[Path, Any]] = [
        (("functions", k, "body"), f.body) for k, f in enumerate(module.functions)
    ]
    rest = (("entry", module.entry), ("merge", module.merge), ("init", module.init))
    stack = roots + [((name, "body"), f.body) for name, f in rest if f is not None]
    while stack:
        path, body = stack.pop()
        for k, instruction in enumerate(body):
            here = (*path, k)
            yield here, instruction
            stack += [((*here, "op", *p, "body"), b.body) for p, b in blocks(instruction.op)]


def blocks(operation: op.Op) -> list[tuple[Path, Block]]:
    """The blocks of an operation with their paths in it."""
    match operation:
        case op.If(_, then, otherwise):
            return [(("then",), then), (("otherwise",), otherwise)]
        case op.Match(_, arms, otherwise):
            listed = [(("arms", k, 1), block) for k, (_, block) in enumerate(arms)]
            return [*listed, (("otherwise",), otherwise)]
        case op.Loop(_, _, _, until, body):
            return [(("until",), until)] * (until is not None) + [(("body",), body)]
        case op.Each(_, body) | op.Lanes(body):
            return [(("body",), body)]
    return []


Holds = Callable[[Instruction], bool]


def pick(rng: Random, module: Module, holds: Holds) -> tuple[Path, Instruction] | None:
    """One of the instructions that ``holds``, and where it stands."""
    found = [(path, i) for path, i in placed(module) if holds(i)]
    return rng.choice(found) if found else None


def is_a(*kinds: type[op.Op]) -> Holds:
    return lambda instruction: isinstance(instruction.op, kinds)


def earlier(rng: Random, module: Module, path: Path, fits: Callable[[Type], bool]) -> int | None:
    """A value that an instruction may read, of a type that fits."""
    ids: list[int] = []
    for end in range(len(path)):
        step = path[end]
        if isinstance(step, int) and path[end - 1] == "body":
            body = at(module, path[:end])
            ids += [i.id for i in body[:step] if fits(i.ty)]
    return rng.choice(ids) if ids else None


def reading(
    kinds: Sequence[type[op.Op]], field: str, wrong: Callable[[Instruction, Type], bool]
) -> Aim:
    """Makes one field of an operation read a value of a type that is wrong there."""

    def aim(rng: Random, module: Module) -> Module | None:
        def has(instruction: Instruction) -> bool:
            return isinstance(instruction.op, tuple(kinds)) and (
                getattr(instruction.op, field) is not None
            )

        found = pick(rng, module, has)
        if found is None:
            return None
        path, instruction = found
        id = earlier(rng, module, path, lambda ty: wrong(instruction, ty))
        return None if id is None else with_at(module, (*path, "op", field), id)

    return aim


def setting(kinds: Sequence[type[op.Op]], **numbers: Sequence[Any]) -> Aim:
    """Sets one field of an operation to a value that is wrong there."""

    def aim(rng: Random, module: Module) -> Module | None:
        found = pick(rng, module, is_a(*kinds))
        if found is None:
            return None
        field = rng.choice(tuple(numbers))
        return with_at(module, (*found[0], "op", field), rng.choice(numbers[field]))

    return aim


def with_first(module: Module, function: str, operation: op.Op, ty: Type) -> Module:
    """The first instruction of a function replaced."""
    path = (function, "body", 0) if function != "helper" else ("functions", 0, "body", 0)
    return with_at(module, path, Instruction(0, ty, operation))


def manifest_with(module: Module, **changes: Any) -> Module:
    return replace(module, manifest=replace(module.manifest, **changes))


def with_structs(module: Module, *more: StructDef) -> Module:
    return replace(module, structs=(*module.structs, *more))


def with_helpers(module: Module, *more: Function) -> Module:
    return replace(module, functions=(*module.functions, *more))


def constant_function(args: tuple[Type, ...] = ()) -> Function:
    return Function("f", args, (Instruction(0, F, ZERO),), (0,))


# Structs.


def on_struct(rng: Random, module: Module, holds: Callable[[StructDef], bool]) -> Path | None:
    found = [("structs", k) for k, s in enumerate(module.structs) if holds(s)]
    return rng.choice(found) if found else None


@aims_at(1)
def _(rng: Random, module: Module) -> Module | None:
    return with_structs(module, StructDef("Empty", ()))


@aims_at(2)
def _(rng: Random, module: Module) -> Module | None:
    x = Field("x", F)
    bad = rng.choice((("a b", (x,)), ("R", (Field("0", F),)), ("R", (x, x)), ("", (x,))))
    return with_structs(module, StructDef(*bad))


@aims_at(3)
def _(rng: Random, module: Module) -> Module | None:
    own = len(module.structs)
    ty = rng.choice((Type.struct(own), Type.struct(own + 1), Type("Half"), Type("Struct", -1)))
    bad = rng.choice((StructDef.record("R", [Field("x", ty)]), StructDef.array(ty, "R", 2)))
    return with_structs(module, bad)


@aims_at(4)
def _(rng: Random, module: Module) -> Module | None:
    """Structs that double at each step, or nest too deep."""
    first, wide = len(module.structs), rng.random() < 0.5
    structs = [StructDef("R", (Field("x", F), Field("y", F)))]
    for k in range(70):
        inner = Type.struct(first + k)
        structs.append(StructDef("R", (Field("x", inner), Field("y", inner if wide else F))))
    return with_structs(module, *structs)


@aims_at(46)
def _(rng: Random, module: Module) -> Module | None:
    return with_structs(module, *_many_fields())


@cache
def _many_fields() -> tuple[StructDef, ...]:
    one = StructDef("Wide", tuple(Field(f"f{k}", F) for k in range(MAX_ARRAY_COUNT)))
    return (one,) * (MAX_TABLE_FIELDS // MAX_ARRAY_COUNT + 1)


@aims_at(47)
def _(rng: Random, module: Module) -> Module | None:
    path = rng.choice((("entry", "name"), ("manifest", "outputs", 0, "name")))
    return with_at(module, path, "x" * (MAX_NAME + 1))


@aims_at(48)
def _(rng: Random, module: Module) -> Module | None:
    path = on_struct(rng, module, lambda s: s.is_array)
    if path is None:
        return None
    wrong = [("name", "[Half; 2]"), ("name", "Array"), ("fields", 0), ("fields", -1)]
    field, value = rng.choice(wrong)
    if field == "name":
        return with_at(module, (*path, "name"), value)
    fields = at(module, path).fields
    renamed = tuple(replace(f, name=f"{value}{f.name}") for f in fields)
    return with_at(module, (*path, "fields"), renamed)


# Manifest.


@aims_at(5)
def _(rng: Random, module: Module) -> Module | None:
    if not module.manifest.inputs:
        return None
    others = [p.name for p in (*module.manifest.inputs[1:], *module.manifest.params)]
    name = rng.choice((*others, "a b", "", "1"))
    return with_at(module, ("manifest", "inputs", 0, "name"), name)


@aims_at(6)
def _(rng: Random, module: Module) -> Module | None:
    others = [p.name for p in module.manifest.outputs[1:]]
    return with_at(module, ("manifest", "outputs", 0, "name"), rng.choice((*others, "a b", "")))


@aims_at(7)
def _(rng: Random, module: Module) -> Module | None:
    if len(module.manifest.results) < 2:
        return None
    shape = module.manifest.results[0].shape
    other = rng.choice([s for s in Shape if s is not shape])
    return with_at(module, ("manifest", "outputs", 1, "ty", "shape"), other)


@aims_at(8)
def _(rng: Random, module: Module) -> Module | None:
    ty = rng.choice((Type("Half"), Type.struct(len(module.structs)), Type("Float", 5)))
    if module.manifest.params and rng.random() < 0.5:
        return with_at(module, ("manifest", "params", 0, "ty"), ty)
    return with_at(module, ("manifest", "outputs", 0, "ty", "element"), ty)


@aims_at(9)
def _(rng: Random, module: Module) -> Module | None:
    if not module.manifest.params:
        return None
    k = rng.randrange(len(module.manifest.params))
    default = module.manifest.params[k].default
    bad = rng.choice((
        Value(Type("Half"), default.words), Value(default.ty, (*default.words, 0)),
        Value(default.ty, (2**64,) * len(default.words)), Value(default.ty, ()),
    ))  # fmt: skip
    return with_at(module, ("manifest", "params", k, "default"), bad)


@aims_at(10)
def _(rng: Random, module: Module) -> Module | None:
    return manifest_with(module, budget=rng.choice((0, -1, MAX_BUDGET + 1, 2**70)))


@aims_at(11)
def _(rng: Random, module: Module) -> Module | None:
    left = Capabilities(c for c in module.manifest.requires if rng.random() < 0.5)
    return manifest_with(module, requires=left)


@aims_at(49)
def _(rng: Random, module: Module) -> Module | None:
    side = rng.choice(("inputs", "outputs"))
    ports: tuple[Port, ...] = getattr(module.manifest, side)
    if not ports:
        return None
    k = rng.randrange(len(ports))
    bad = [e for e in Encoding if not e.fits(ports[k].element, module.structs)]
    path = ("manifest", side, k, "ty", "encoding")
    return with_at(module, path, rng.choice(bad))


@aims_at(50)
def _(rng: Random, module: Module) -> Module | None:
    mode = module.manifest.mode
    bad = [Mode.GROUP(0), Mode.GROUP(257), Mode.SCATTER(99, Combine.MIN), Mode(ModeKind.PREFIX)]
    bad += [replace(mode, size=3 if mode.size is None else None)]
    bad += [replace(mode, base=0 if mode.base is None else None)]
    return manifest_with(module, mode=rng.choice(bad))


@aims_at(51)
def _(rng: Random, module: Module) -> Module | None:
    outputs = module.manifest.outputs
    if rng.random() < 0.5:
        return manifest_with(
            module, outputs=module.manifest.outputs[len(module.manifest.results) :]
        )
    return manifest_with(module, outputs=(replace(outputs[0], name="more"), *outputs))


@aims_at(52)
def _(rng: Random, module: Module) -> Module | None:
    if module.manifest.mode.kind not in (ModeKind.REDUCE, ModeKind.SCAN, ModeKind.PREFIX):
        return None
    shape = rng.choice((Shape.GRID, Shape.VOLUME))
    return with_at(module, ("manifest", "outputs", 0, "ty", "shape"), shape)


@aims_at(53)
def _(rng: Random, module: Module) -> Module | None:
    kind, inputs = module.manifest.mode.kind, module.manifest.inputs
    if kind in (ModeKind.MAP, ModeKind.GROUP):
        return None
    if rng.random() < 0.5 or kind not in (ModeKind.SCAN, ModeKind.PREFIX):
        memories = inputs[len(inputs) - len(module.manifest.memories) :]
        return manifest_with(module, inputs=memories)
    return with_at(module, ("manifest", "inputs", 0, "ty", "shape"), Shape.GRID)


@aims_at(54)
def _(rng: Random, module: Module) -> Module | None:
    if module.manifest.mode.kind is not ModeKind.SCATTER:
        return None
    ty = module.manifest.outputs[0].ty
    other = rng.choice((
        PortType(ty.element, rng.choice([s for s in Shape if s is not ty.shape])),
        PortType(Type.MAT2 if ty.element != Type.MAT2 else F, ty.shape),
    ))  # fmt: skip
    return with_at(module, ("manifest", "outputs", 0, "ty"), other)


@aims_at(55)
def _(rng: Random, module: Module) -> Module | None:
    mode = module.manifest.mode
    if mode.combine is None:
        return None
    rule = Combine.LAST if mode.kind is ModeKind.PREFIX else rng.choice(tuple(Combine))
    if rng.random() < 0.5 or mode.kind is ModeKind.SCATTER:
        changed = manifest_with(module, mode=replace(mode, combine=Combine.SUM))
        for port in ["outputs"] + ["inputs"] * (mode.base is not None):
            k = 0 if port == "outputs" else mode.base
            ty = PortType(rng.choice((B, F)), module.manifest.outputs[0].shape)
            changed = with_at(changed, ("manifest", port, k, "ty"), replace(ty, element=B))
        return changed
    return manifest_with(module, mode=replace(mode, combine=rule))


@aims_at(56)
def _(rng: Random, module: Module) -> Module | None:
    """A merge or an init where there should be none, none where there should be one, or one that
    takes or gives what it should not."""
    if module.merge is None and module.init is None:
        name = rng.choice(("merge", "init"))
        return replace(module, **{name: constant_function()})  # type: ignore[arg-type]
    name = "merge" if module.merge is not None else "init"
    function = getattr(module, name)
    bad = (None, replace(function, args=(*function.args, F)), replace(function, results=()))
    other = replace(constant_function(function.args), name=name)
    wrong = module.manifest.results[0].element != F
    return replace(module, **{name: rng.choice((*bad, *((other,) if wrong else ())))})


@aims_at(57)
def _(rng: Random, module: Module) -> Module | None:
    memories = module.manifest.memories
    if not memories:
        return manifest_with(module, memories=("in0",))
    ty = module.manifest.inputs[-1].ty
    other = PortType(Type.MAT3 if ty.element != Type.MAT3 else F, ty.shape)
    return rng.choice((
        manifest_with(module, memories=("other", *memories[1:])),
        manifest_with(module, memories=(*memories, "a", "b", "c", "d", "e", "f", "g")),
        with_at(module, ("manifest", "outputs", len(module.manifest.outputs) - 1, "ty"), other),
    ))  # fmt: skip


# Functions.


@aims_at(12)
def _(rng: Random, module: Module) -> Module | None:
    if rng.random() < 0.5:
        return with_helpers(module, constant_function((Type.struct(len(module.structs)),)))
    return with_at(module, ("entry", "name"), rng.choice(("", "a b", "1", "a..b")))


@aims_at(13)
def _(rng: Random, module: Module) -> Module | None:
    results = module.entry.results
    id = earlier(rng, module, ("entry", "body", len(module.entry.body)), lambda ty: True)
    bad = [
        (),
        results[1:],
        (*results, results[0]),
        *(((id, *results[1:]),) if id is not None else ()),
    ]
    if rng.random() < 0.2:
        return with_at(module, ("entry", "args"), (F,))
    return with_at(module, ("entry", "results"), rng.choice(bad))


@aims_at(14)
def _(rng: Random, module: Module) -> Module | None:
    helper = constant_function()
    return with_helpers(module, replace(helper, results=rng.choice(((), (0, 0)))))


@aims_at(15)
def _(rng: Random, module: Module) -> Module | None:
    nested = [i.id for path, i in placed(module) if path[0] == "entry" and len(path) > 3]
    id = rng.choice((*nested, -1, module.entry.slot_count, 2**70))
    return with_at(module, ("entry", "results", 0), id)


@aims_at(16)
def _(rng: Random, module: Module) -> Module | None:
    bad = rng.choice(((0, "a b"), (-1, "x"), (module.entry.slot_count, "x"), (0, "")))
    return with_at(module, ("entry", "bindings"), (bad,))


@aims_at(17)
def _(rng: Random, module: Module) -> Module | None:
    array = StructDef.array(F, "Float", MAX_ARRAY_COUNT)
    ty = Type.struct(len(module.structs))
    args = (ty,) * (MAX_FRAME_WORDS // MAX_ARRAY_COUNT + 1)
    return with_helpers(with_structs(module, array), constant_function(args))


def chain(module: Module, calls: int, width: int) -> Module:
    """Helpers of which each calls the one before it ``width`` times."""
    first = len(module.functions)
    made = [constant_function()]
    for k in range(calls - 1):
        body = tuple(Instruction(n, F, op.Call(first + k, ())) for n in range(width))
        made.append(Function("f", (), body, (0,)))
    return with_helpers(module, *made)


@aims_at(18)
def _(rng: Random, module: Module) -> Module | None:
    return chain(module, 40, 2)


@aims_at(18)
def _(rng: Random, module: Module) -> Module | None:
    """An Each of the largest count, in one of the largest count."""
    array = StructDef.array(F, "Float", MAX_ARRAY_COUNT)
    ty = Type.struct(len(module.structs))
    outer = StructDef.array(ty, array.name, 2)
    bodies = tuple(Instruction(k, F, ZERO) for k in range(2, 80))
    inner = Instruction(1, ty, op.Each(MAX_ARRAY_COUNT, Block(bodies, 79)))
    whole = Instruction(0, Type.struct(ty.index + 1), op.Each(2, Block((inner,), 1)))
    helper = Function("f", (), (whole,), (0,))
    return with_helpers(with_structs(module, array, outer), helper)


@aims_at(19)
def _(rng: Random, module: Module) -> Module | None:
    return chain(module, MAX_EXPANDED_DEPTH + 2, 1)


# Values and blocks.


@aims_at(20)
def _(rng: Random, module: Module) -> Module | None:
    found = pick(rng, module, lambda i: True)
    assert found is not None
    path, instruction = found
    return with_at(
        module, (*path, "id"), rng.choice((instruction.id + 1, instruction.id - 1, 2**70))
    )


@aims_at(21)
def _(rng: Random, module: Module) -> Module | None:
    found = pick(rng, module, lambda i: bool(i.op.operands()))
    if found is None:
        return None
    path, instruction = found
    ids = list(instruction.op.operands())
    k = rng.randrange(len(ids))
    ids[k] = rng.choice((instruction.id, instruction.id + 1, -1, 2**70))
    return with_at(module, (*path, "op"), instruction.op.with_operands(ids))


@aims_at(22)
def _(rng: Random, module: Module) -> Module | None:
    found = pick(rng, module, lambda i: bool(i.op.blocks()))
    if found is None:
        return None
    path, instruction = found
    inner, _ = rng.choice(blocks(instruction.op))
    bad = rng.choice((instruction.id, 2**31, -1))
    return with_at(module, (*path, "op", *inner, "result"), bad)


@aims_at(23)
def _(rng: Random, module: Module) -> Module | None:
    depth = 65
    block = Block((), 0)
    inner = Instruction(depth, B, op.If(0, block, block))
    for id in range(depth - 1, 0, -1):
        inner = Instruction(id, B, op.If(0, Block((inner,), id + 1), block))
    condition = Instruction(0, B, op.Const(Value.of(B, True)))
    return with_helpers(module, Function("f", (), (condition, inner), (0,)))


@aims_at(24)
def _(rng: Random, module: Module) -> Module | None:
    found = pick(rng, module, lambda i: True)
    assert found is not None
    ty = rng.choice(
        (Type.struct(len(module.structs)), Type("Half"), Type("Int", -7), Type("Struct"))
    )
    return with_at(module, (*found[0], "ty"), ty)


@aims_at(25)
def _(rng: Random, module: Module) -> Module | None:
    found = pick(rng, module, lambda i: True)
    assert found is not None
    return with_at(module, (*found[0], "op"), op.Op())


# Operations.


@aims_at(26)
def _(rng: Random, module: Module) -> Module | None:
    found = pick(rng, module, is_a(op.Binary, op.Unary, op.Intrinsic))
    if found is None:
        return None
    path, instruction = found
    a = earlier(rng, module, path, lambda ty: ty != B)
    if a is None:
        return None
    wrong = rng.choice((op.Binary(BinaryOp.AND, a, a), op.Unary(op.UnaryOp.NOT, a)))
    if isinstance(instruction.op, op.Intrinsic) and rng.random() < 0.5:
        args = instruction.op.args
        wrong = replace(instruction.op, args=rng.choice((args[1:], (*args, args[0]), ())))
    return with_at(module, (*path, "op"), wrong)


@aims_at(27)
def _(rng: Random, module: Module) -> Module | None:
    found = pick(rng, module, lambda i: not i.op.blocks() and not isinstance(i.op, op.Construct))
    if found is None:
        return None
    path, instruction = found
    return with_at(module, (*path, "ty"), rng.choice([t for t in (F, I, B) if t != instruction.ty]))


@aims_at(28)
def _(rng: Random, module: Module) -> Module | None:
    found = pick(rng, module, is_a(op.Const))
    if found is None or not isinstance(found[1].op, op.Const):
        return None
    value = found[1].op.value
    bad = rng.choice((
        Value(Type("Half"), value.words), Value(value.ty, (*value.words, 0)), Value(value.ty, ()),
        Value(value.ty, (2**64, *value.words[1:])), Value(value.ty, (-1, *value.words[1:])),
        Value(B, (2,)), Value(F, (0x7FC00001,)), Value(Type.DOUBLE, (0x7FF8000000000001,)),
    ))  # fmt: skip
    return with_at(module, (*found[0], "op", "value"), bad)


NUMBERED = (op.Param, op.Arg, op.Sample, op.At, op.AtLinear, op.Count, op.Size, op.Part, op.Put)


@aims_at(29)
def _(rng: Random, module: Module) -> Module | None:
    found = pick(rng, module, is_a(*NUMBERED))
    if found is None:
        return None
    field = "index" if isinstance(found[1].op, (op.Param, op.Arg)) else "input"
    return with_at(module, (*found[0], "op", field), rng.choice((-1, 9, 2**70)))


@aims_at(30)
def _(rng: Random, module: Module) -> Module | None:
    found = pick(rng, module, is_a(op.Construct))
    if found is None or not isinstance(found[1].op, op.Construct):
        return None
    path, instruction = found
    parts = found[1].op.parts
    other = earlier(rng, module, path, lambda ty: ty == Type.MAT4)
    bad = [parts[1:], (*parts, parts[0]), *([(other, *parts[1:])] if other is not None else [])]
    if rng.random() < 0.2:
        return with_at(module, path, replace(instruction, ty=rng.choice((F, I, B))))
    return with_at(module, (*path, "op", "parts"), rng.choice(bad))


AIMS[31] = [setting((op.Extract,), index=(-1, 4097, 2**70))]
AIMS[32] = [setting((op.Call,), function=(-1, 99, 2**70))]


@aims_at(33)
def _(rng: Random, module: Module) -> Module | None:
    found = pick(rng, module, is_a(op.Call))
    if found is None or not isinstance(found[1].op, op.Call):
        return None
    args = found[1].op.args
    bad = [(*args, 0)] + [args[1:]] * bool(args)
    return with_at(module, (*found[0], "op", "args"), rng.choice(bad))


def not_own(instruction: Instruction, ty: Type) -> bool:
    return ty != instruction.ty


def yielding(
    kind: type[op.Op], blocks_of: Sequence[str], fits: Callable[[Instruction, Type], bool]
) -> Aim:
    """Makes a block of an operation yield a value of a type that is wrong there."""

    def aim(rng: Random, module: Module) -> Module | None:
        found = pick(rng, module, is_a(kind))
        if found is None:
            return None
        path, instruction = found
        id = earlier(rng, module, path, lambda ty: fits(instruction, ty))
        inner = [p for p, _ in blocks(instruction.op) if p[0] in blocks_of]
        if id is None or not inner:
            return None
        return with_at(module, (*path, "op", *rng.choice(inner), "result"), id)

    return aim


AIMS[34] = [reading((op.If,), "condition", lambda i, ty: ty != B)]
AIMS[35] = [yielding(op.If, ("then", "otherwise"), not_own)]
AIMS[36] = [reading((op.Loop,), "init", not_own), yielding(op.Loop, ("body",), not_own)]
AIMS[37] = [yielding(op.Loop, ("until",), lambda i, ty: ty != B)]
AIMS[38] = [reading((op.Loop,), "bound", lambda i, ty: ty != I)]
AIMS[39] = [setting((op.Loop,), count=(0, -1, MAX_BUDGET + 1, 2**70))]
AIMS[62] = [reading((op.Match,), "scrutinee", lambda i, ty: ty != I)]
AIMS[64] = [setting((op.Each,), count=(0, -1, 6, MAX_LOOP_COUNT + 1, 2**70))]
AIMS[65] = [yielding(op.Each, ("body",), lambda i, ty: ty == i.ty or ty == Type.MAT4)]
AIMS[66] = [
    reading((op.Subscript,), "index", lambda i, ty: ty != I),
    reading((op.Subscript,), "value", lambda i, ty: ty.is_scalar),
]
AIMS[44] = [
    reading((op.At,), "address", lambda i, ty: ty not in (I, Type.VEC2, Type.VEC3)),
    reading((op.Part,), "at", lambda i, ty: ty not in (I, Type.VEC2, Type.VEC3)),
]
AIMS[69] = [
    reading((op.Button, op.Stick, op.Key, op.Typed), "value", lambda i, ty: ty != I),
    reading((op.Exchange,), "lane", lambda i, ty: ty != I),
]


@aims_at(39)
def _(rng: Random, module: Module) -> Module | None:
    found = pick(rng, module, lambda i: isinstance(i.op, op.Loop) and i.op.bound is None)
    return found and with_at(module, (*found[0], "op", "count"), MAX_LOOP_COUNT + 1)


@aims_at(40)
def _(rng: Random, module: Module) -> Module | None:
    function = "entry"
    if module.manifest.mode.kind is ModeKind.SCAN:
        function = "init"
    return with_first(module, function, *rng.choice(((op.Carried(), F), (op.Index(), I))))


@aims_at(41)
def _(rng: Random, module: Module) -> Module | None:
    """An operation in a function, or a mode, that it may not stand in."""
    kind = module.manifest.mode.kind
    bad: list[tuple[str, op.Op, Type]] = []
    roles = [("helper", Role.HELPER)] * bool(module.functions)
    roles += [("merge", Role.MERGE)] * (module.merge is not None)
    roles += [("init", Role.INIT)] * (module.init is not None)
    plain: tuple[tuple[op.Op, Type], ...] = (
        (op.Element(), I), (op.Domain(), I), (op.Sample(0), F), (op.Time(), F), (op.Pads(), I),
    )  # fmt: skip
    for function, role in roles:
        bad += [(function, o, ty) for o, ty in plain if role not in OPS[type(o)].roles]
    if kind is not ModeKind.GROUP:
        bad.append(("entry", op.Lane(), I))
    function, operation, ty = rng.choice(bad) if bad else ("entry", op.Emit(0), F)
    return with_first(module, function, operation, ty)


@aims_at(41)
def _(rng: Random, module: Module) -> Module | None:
    """A merge or an init that calls what it may not hold."""
    where = "merge" if module.merge is not None else "init"
    function = getattr(module, where)
    if function is None:
        return None
    body = (Instruction(0, I, op.Element()),)
    helper = Function("reads", (), body, (0,))
    call = Instruction(0, I, op.Call(len(module.functions), ()))
    return with_helpers(with_at(module, (where, "body", 0), call), helper)


@aims_at(42)
def _(rng: Random, module: Module) -> Module | None:
    if module.manifest.domain is not Shape.ROWS:
        return None
    return with_first(module, "entry", op.Coord(), Type.VEC2)


@aims_at(43)
def _(rng: Random, module: Module) -> Module | None:
    domain = module.manifest.domain
    taken = module.manifest.inputs[: len(module.manifest.inputs) - len(module.manifest.memories)]
    other = [k for k, p in enumerate(taken) if p.shape is not domain]
    if not other:
        return None
    k = rng.choice(other)
    return with_first(module, "entry", op.Sample(k), module.manifest.inputs[k].element)


@aims_at(45)
def _(rng: Random, module: Module) -> Module | None:
    """A check taken away, moved, or put where none belongs."""
    made = account(module)
    if made == module or rng.random() < 0.2:
        return with_first(module, "entry", op.Look(), B)
    found = pick(rng, made, is_a(op.Look, op.Spend))
    assert found is not None
    path, instruction = found
    other: tuple[Any, ...] = (ZERO, F) if isinstance(instruction.op, op.Look) else (op.Look(), B)
    return with_at(made, path, replace(instruction, op=other[0], ty=other[1]))


@aims_at(58)
def _(rng: Random, module: Module) -> Module | None:
    if not module.manifest.memories:
        return None
    k = len(module.manifest.inputs) - 1
    port = module.manifest.inputs[k]
    return with_first(module, "entry", op.Sample(k), port.element)


@aims_at(59)
def _(rng: Random, module: Module) -> Module | None:
    found = pick(rng, module, is_a(op.Put))
    if found is None:
        return None
    path, instruction = found
    field = rng.choice(("input", "address", "value"))
    if field == "input":
        return with_at(module, (*path, "op", "input"), 0)
    wrong = earlier(
        rng, module, path, lambda ty: ty not in (instruction.ty, I, Type.VEC2, Type.VEC3)
    )
    return None if wrong is None else with_at(module, (*path, "op", field), wrong)


@aims_at(60)
def _(rng: Random, module: Module) -> Module | None:
    """A scatter's entry that gives, or emits, no pair."""
    if module.manifest.mode.kind is not ModeKind.SCATTER:
        return None
    body = (Instruction(0, F, ZERO),)
    if rng.random() < 0.5:
        return replace(module, entry=replace(module.entry, body=body, results=(0,), bindings=()))
    emit = Instruction(1, F, op.Emit(0))
    return with_helpers(module, Function("f", (), (*body, emit), (0,)))


@aims_at(61)
def _(rng: Random, module: Module) -> Module | None:
    if pick(rng, module, is_a(op.Emit)) is None:
        return None
    return manifest_with(module, mode=replace(module.manifest.mode, combine=Combine.LAST))


@aims_at(63)
def _(rng: Random, module: Module) -> Module | None:
    found = pick(rng, module, lambda i: isinstance(i.op, op.Match) and bool(i.op.arms))
    if found is None or not isinstance(found[1].op, op.Match):
        return None
    (values, block), *rest = found[1].op.arms
    bad = rng.choice(((*values, values[0]), (2**31,), (-(2**31) - 1,), (2**70,)))
    return with_at(module, (*found[0], "op", "arms"), ((bad, block), *rest))


@aims_at(67)
def _(rng: Random, module: Module) -> Module | None:
    found = pick(rng, module, is_a(op.Part))
    if found is None or not isinstance(found[1].op, op.Part):
        return None
    path = found[1].op.path
    deep = op.Step.Field(0)
    bad = [(*path, deep, deep, deep, deep, deep, deep), (op.Step.Field(99), *path[1:])]
    wrong = earlier(rng, module, found[0], lambda ty: ty != I)
    bad += [(op.Step.Index(wrong),)] * (wrong is not None)
    return with_at(module, (*found[0], "op", "path"), rng.choice(bad))


@aims_at(68)
def _(rng: Random, module: Module) -> Module | None:
    """An address that does not fit, or an input whose words are no Floats."""
    found = pick(rng, module, is_a(op.At, op.AtLinear))
    if found is None or not isinstance(found[1].op, (op.At, op.AtLinear)):
        return None
    operation = found[1].op
    return with_at(module, (*found[0], "op"), op.AtLinear(operation.input, operation.address))


@aims_at(70)
def _(rng: Random, module: Module) -> Module | None:
    """An exchange in a branch, or a loop, that the lanes of a group may not take alike."""
    if module.manifest.mode.kind is not ModeKind.GROUP:
        return None
    nested = [p for p, _ in placed(module) if p[0] == "entry" and len(p) > 3]
    if not nested:
        return None
    path = rng.choice(nested)
    lane = earlier(rng, module, path, lambda ty: ty == I)
    instruction: Instruction = at(module, path)
    value = earlier(rng, module, path, lambda ty: ty == instruction.ty)
    if lane is None or value is None or instruction.op.blocks():
        return None
    return with_at(module, (*path, "op"), op.Exchange(value, lane))
