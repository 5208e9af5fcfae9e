"""The validator: each rule rejects what breaks it, names the place, and lets the rest pass."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings

from dynamis.kernel import op, validate
from dynamis.kernel import work as work_module
from dynamis.kernel.lanes import lanes
from dynamis.kernel.module import (
    MAX_ARRAY_COUNT,
    MAX_BLOCK_DEPTH,
    MAX_EXPANDED,
    MAX_EXPANDED_DEPTH,
    MAX_FRAME_WORDS,
    Block,
    Capabilities,
    Function,
    Instruction,
    Mode,
    ModeKind,
    Module,
)
from dynamis.kernel.op_table import OPS
from dynamis.kernel.types import Field, StructDef, Type, Value
from dynamis.kernel.validate import ValidationError
from dynamis.kernel.validate import __doc__ as RULES
from tests.kernel.build import module, with_manifest
from tests.kernel.cases import load_invalid
from tests.kernel.samples import samples
from tests.kernel.strategies import modules

F, I, B = Type.FLOAT, Type.INT, Type.BOOL  # noqa: E741
ZERO = "%0: Float = const 0.0\nreturn %0"


@dataclass(frozen=True)
class Bad:
    """A module that breaks one rule: which, where, and what the message must say."""

    rule: int
    path: str
    make: Callable[[], Module]
    says: str = ""


def entry(instructions: list[Instruction], results: tuple[int, ...] = (0,)) -> Module:
    """A module whose entry is built of instructions as they stand."""
    return replace(module(ZERO), entry=Function("main", (), tuple(instructions), results))


def one(ty: Type, operation: op.Op) -> Module:
    """A module whose entry is one instruction."""
    return entry([Instruction(0, ty, operation)])


def records(*structs: StructDef) -> Callable[[], Module]:
    return lambda: replace(module(ZERO), structs=structs)


def deep(depth: int) -> Module:
    """Ifs nested ``depth`` deep in one function."""
    condition = Instruction(0, B, op.Const(Value.of(B, True)))
    block = Block((), 0)
    inner = Instruction(depth, B, op.If(0, block, block))
    for id in range(depth - 1, 0, -1):
        inner = Instruction(id, B, op.If(0, Block((inner,), id + 1), block))
    zero = Instruction(depth + 1, F, op.Const(Value.of(F, 0.0)))
    return entry([condition, inner, zero], (depth + 1,))


def chain(calls: int, leaves: int, width: int = 1) -> Module:
    """Helpers of which each calls the one below ``width`` times; the lowest has ``leaves``
    constants."""
    constants = [Instruction(k, F, op.Const(Value.of(F, 0.0))) for k in range(leaves)]
    functions = [Function("f", (), tuple(constants), (0,))]
    for k in range(calls - 1):
        many = tuple(Instruction(n, F, op.Call(k, ())) for n in range(width))
        functions.append(Function("f", (), many, (0,)))
    top = Function("main", (), (Instruction(0, F, op.Call(calls - 1, ())),), (0,))
    return replace(module(ZERO), functions=tuple(functions), entry=top)


def nearly_full(more: int) -> Module:
    """261 calls of 1000 instructions, constants up to MAX_EXPANDED, and ``more`` of them."""
    base = chain(1, 1000)
    calls = [Instruction(k, F, op.Call(0, ())) for k in range(261)]
    ids = range(261, 261 + MAX_EXPANDED - 261 * 1001 + more)
    constants = [Instruction(k, F, op.Const(Value.of(F, 0.0))) for k in ids]
    return replace(base, entry=Function("main", (), (*calls, *constants), (0,)))


def wide_frame() -> Module:
    structs = [StructDef("R0", tuple(Field(f"f{k}", F) for k in range(1024)))]
    structs.append(StructDef("R1", tuple(Field(f"f{k}", Type.struct(0)) for k in range(32))))
    args = (Type.struct(1),) * (MAX_FRAME_WORDS // 2**15 + 1)
    helper = Function("f", args, (Instruction(0, F, op.Const(Value.of(F, 0.0))),), (0,))
    return replace(module(ZERO), structs=tuple(structs), functions=(helper,))


def eaches(count: int, leaves: int) -> Module:
    """An Each of ``count`` elements inside one of 1, its body ``leaves`` constants."""
    structs = (StructDef.array(F, "Float", count), StructDef.array(Type.struct(0), "", 1))
    structs = (structs[0], replace(structs[1], name=f"[{structs[0].name}; 1]"))
    zero = Instruction(0, F, op.Const(Value.of(F, 0.0)))
    body = [Instruction(k, F, op.Const(Value.of(F, 0.0))) for k in range(3, 3 + leaves)]
    inner = Instruction(2, Type.struct(0), op.Each(count, Block(tuple(body), 3)))
    outer = Instruction(1, Type.struct(1), op.Each(1, Block((inner,), 2)))
    return replace(entry([zero, outer]), structs=structs)


def met(base: Module) -> Module:
    """The module, a group, with a Meet at its entry's end."""
    last = Instruction(base.entry.slot_count, B, op.Meet(None))
    grouped = with_manifest(base, mode=Mode.GROUP(4))
    return replace(grouped, entry=replace(base.entry, body=(*base.entry.body, last)))


def called_in_each() -> Module:
    """An Each of 4096 elements that calls a function of 64 instructions, which makes it 2**18 and
    one."""
    base = chain(1, 64)
    call = Instruction(1, F, op.Call(0, ()))
    each = Instruction(0, Type.struct(0), op.Each(4096, Block((call,), 1)))
    zero = Instruction(2, F, op.Const(Value.of(F, 0.0)))
    return replace(
        base,
        structs=(StructDef.array(F, "Float", 4096),),
        entry=Function("main", (), (each, zero), (2,)),
    )


BAD = [
    Bad(2, "structs.0.name", records(StructDef("a b", (Field("x", F),))), "'a b'"),
    Bad(2, "structs.0.fields.0.name", records(StructDef("R", (Field("1", F),))), "'1'"),
    Bad(3, "structs.0.fields.0.ty", records(StructDef("R", (Field("x", Type("Half")),))), "Half"),
    Bad(
        4,
        "structs.64",
        records(
            StructDef("R", (Field("x", F),)),
            *(StructDef("R", (Field("x", Type.struct(k)),)) for k in range(65)),
        ),
        "65 deep",
    ),
    Bad(
        4,
        "structs.15",
        records(
            StructDef("R", (Field("x", F), Field("y", F))),
            *(StructDef("R", (Field("x", t := Type.struct(k)), Field("y", t))) for k in range(15)),
        ),
        "131071 parts",
    ),
    Bad(
        9,
        "manifest.params.0.default",
        lambda: with_manifest(
            base := module(ZERO),
            params=(replace(base.manifest.params[0], default=Value(I, (2**32,))),),
        ),
    ),
    Bad(12, "entry.name", lambda: replace(b := module(ZERO), entry=replace(b.entry, name="a-b"))),
    Bad(16, "entry.bindings.0", lambda: entry_named("a b"), "'a b'"),
    Bad(17, "functions.0.args.32", wide_frame),
    Bad(18, "functions.17.%1", lambda: chain(20, 1, 2)),
    Bad(18, f"entry.%{261 + MAX_EXPANDED - 261 * 1001}", lambda: nearly_full(1)),
    Bad(19, "entry.%0", lambda: chain(MAX_EXPANDED_DEPTH + 1, 1)),
    Bad(23, "entry." + "".join(f"%{k}.then." for k in range(1, 65)) + "%65", lambda: deep(65)),
    Bad(24, "entry.%0", lambda: one(Type("Float", -2), op.Element())),
    Bad(25, "entry.%0", lambda: one(F, op.Op())),
    Bad(28, "entry.%0", lambda: one(F, op.Const(Value(F, (0, 0)))), "2 words"),
    Bad(28, "entry.%0", lambda: one(F, op.Const(Value(F, (0x7FC00001,)))), "0x7fc00001"),
    Bad(28, "entry.%0", lambda: one(B, op.Const(Value(B, (2,)))), "found 0x2"),
    Bad(28, "entry.%0", lambda: one(I, op.Const(Value(I, (-1,))))),
    Bad(28, "entry.%0", lambda: one(I, op.Const(Value(I, (10**5000,)))), "bits"),
    Bad(28, "entry.%0", lambda: one(F, op.Const(Value(Type.struct(0), ())))),
    Bad(29, "entry.%0", lambda: one(I, op.Count(-1))),
    Bad(3, "structs.0.element", records(StructDef.array(Type.struct(0), "R", 2)), "Struct 0"),
    Bad(46, "structs.32", records(*[StructDef.array(F, "Float", MAX_ARRAY_COUNT)] * 33)),
    Bad(47, "structs.0.name", records(StructDef("R" * 257, (Field("x", F),))), "256"),
    Bad(47, "structs.0.fields.0.name", records(StructDef("R", (Field("x" * 257, F),)))),
    Bad(48, "structs.0", records(StructDef.array(F, "Float", MAX_ARRAY_COUNT + 1)), "4097"),
    Bad(48, "structs.0.fields.0", records(StructDef("[Float; 1]", (Field("x", F),), F)), "named 0"),
    Bad(48, "structs.0.fields.0", records(StructDef("[Float; 1]", (Field("0", I),), F))),
    Bad(48, "structs.0.name", records(StructDef.array(F, "Int", 2)), "'[Float; 2]'"),
    Bad(50, "manifest.mode", lambda: with_manifest(module(ZERO), mode=Mode(ModeKind.MAP, base=0))),
    Bad(50, "manifest.mode", lambda: with_manifest(module(ZERO), mode=Mode(ModeKind.PREFIX))),
    Bad(50, "manifest.mode", lambda: with_manifest(module(ZERO), mode=Mode(ModeKind.GROUP))),
    Bad(23, "entry", lambda: met(deep(MAX_BLOCK_DEPTH + 2)), "depth 66"),
    Bad(67, "entry.%0", lambda: one(F, op.Part(0, None, (op.Step(),))), "found -1"),
    Bad(18, "entry.%1.body.%2.body.%66", lambda: eaches(MAX_ARRAY_COUNT, 65)),
    Bad(18, "entry.%0.body.%1", called_in_each),
]
"""What text cannot spell; the rest is in ``cases/invalid.txt``."""

WRITTEN = [Bad(rule, path, lambda m=made: m, says) for rule, path, says, made in load_invalid()]


def entry_named(name: str) -> Module:
    base = module(ZERO)
    return replace(base, entry=replace(base.entry, bindings=((0, name),)))


@pytest.mark.parametrize("bad", [*BAD, *WRITTEN], ids=lambda bad: f"rule{bad.rule}-{bad.path}")
def test_a_broken_rule_is_named_with_its_path(bad: Bad) -> None:
    with pytest.raises(ValidationError) as raised:
        validate(bad.make())
    assert (raised.value.rule, raised.value.path) == (bad.rule, bad.path), str(raised.value)
    assert bad.says in str(raised.value)
    assert f"(rule {bad.rule})" in str(raised.value)


def test_every_rule_of_the_docstring_has_a_module_that_breaks_it() -> None:
    numbers = [int(n) for n in re.findall(r"^ ?(\d+)\. ", RULES or "", re.M)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert {bad.rule for bad in (*BAD, *WRITTEN)} == set(numbers)


@pytest.mark.parametrize("made", samples(), ids=lambda made: str(made.manifest.mode))
def test_modules_of_every_mode_are_valid(made: Module) -> None:
    assert validate(made).module is made


def test_the_samples_hold_every_operation_that_a_source_may() -> None:
    held = {
        type(i.op) for made in samples() for f in made.all_functions() for i in f.instructions()
    }
    assert held == {kind for kind, row in OPS.items() if not row.placed}
    assert {made.manifest.mode.kind for made in samples()} == set(ModeKind)


LANED = lanes(next(made for made in samples() if made.manifest.mode.kind is ModeKind.GROUP))


def test_a_module_is_valid_with_its_lanes_where_lanes_places_them() -> None:
    assert any(isinstance(i.op, op.Lanes) for i in LANED.entry.instructions())
    assert validate(LANED).module is LANED


def test_a_laned_module_is_held_to_the_rules_of_the_module_it_was_made_of() -> None:
    with pytest.raises(ValidationError) as raised:
        validate(with_manifest(LANED, requires=Capabilities()))
    assert raised.value.rule == 11


@pytest.mark.parametrize("place", range(LANED.entry.slot_count))
def test_a_laned_module_changed_anywhere_is_not_what_lanes_makes(place: int) -> None:
    """Each instruction in turn is given a type that it has not."""

    def changed(body: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
        new = []
        for instruction in body:
            ty = Type.MAT3 if instruction.id == place else instruction.ty
            blocks = [replace(b, body=changed(b.body)) for b in instruction.op.blocks()]
            new.append(replace(instruction, ty=ty, op=instruction.op.with_blocks(blocks)))
        return tuple(new)

    body = changed(LANED.entry.body)
    with pytest.raises(ValidationError):
        validate(replace(LANED, entry=replace(LANED.entry, body=body)))


def test_structs_that_lanes_did_not_add_are_not_taken_for_its_own() -> None:
    more = (*LANED.structs, StructDef.record("More", [Field("x", F)]))
    with pytest.raises(ValidationError) as raised:
        validate(replace(LANED, structs=more))
    assert raised.value.rule == 45


def test_limits_are_reached_without_complaint() -> None:
    validate(eaches(MAX_ARRAY_COUNT, 63))
    validate(deep(MAX_BLOCK_DEPTH))
    validate(chain(MAX_EXPANDED_DEPTH, 1))
    validate(nearly_full(0))


def test_a_module_nested_without_bound_is_refused_without_recursion() -> None:
    with pytest.raises(ValidationError) as raised:
        validate(deep(100_000))
    assert raised.value.rule == 23


def test_a_block_shared_by_two_to_the_64_paths_is_refused_at_once() -> None:
    block = Block((Instruction(5, B, op.Const(Value.of(B, True))),), 5)
    for _ in range(64):
        block = Block((Instruction(5, B, op.If(0, block, block)),), 5)
    condition = Instruction(0, B, op.Const(Value.of(B, True)))
    with pytest.raises(ValidationError) as raised:
        validate(entry([condition, Instruction(1, B, op.If(0, block, block))]))
    assert raised.value.rule == 20


def test_records_that_double_at_each_step_are_refused_by_their_size() -> None:
    structs = [StructDef("R", (Field("x", F),))]
    for k in range(62):
        structs.append(StructDef("R", (Field("x", Type.struct(k)), Field("y", Type.struct(k)))))
    with pytest.raises(ValidationError) as raised:
        validate(replace(module(ZERO), structs=tuple(structs)))
    assert raised.value.rule == 4


def test_calls_that_double_at_each_step_are_refused_by_their_size() -> None:
    with pytest.raises(ValidationError) as raised:
        validate(chain(200, 1, 2))
    assert raised.value.rule == 18


@pytest.mark.parametrize("huge", [10**5000, -(10**5000)], ids=["above", "below"])
def test_numbers_of_any_size_are_answered(huge: int) -> None:
    broken = [
        entry([Instruction(huge, F, op.Const(Value.of(F, 0.0)))]),
        entry([Instruction(0, F, op.Sample(huge))]),
        entry([Instruction(0, F, op.Unary(op.UnaryOp.NEG, huge))]),
        entry([Instruction(0, Type("Struct", huge), op.Element())]),
        entry([Instruction(0, F, op.Const(Value.of(F, 0.0)))], (huge,)),
        entry([Instruction(0, F, op.Call(huge, ()))]),
        with_manifest(module(ZERO), budget=huge),
    ]
    for bad in broken:
        with pytest.raises(ValidationError):
            validate(bad)


@settings(max_examples=100, deadline=None)
@given(modules())
def test_random_modules_are_valid_and_stay_so_when_accounted(made: Module) -> None:
    assert validate(made).module is made
    validate(work_module.account(made))


def test_an_unused_capability_may_be_required() -> None:
    assert validate(module(ZERO, requires="field.read")).module.manifest.requires
