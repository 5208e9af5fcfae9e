"""The random modules reach everything; what they are mutated into is refused or runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, replace
from random import Random
from statistics import median

from dynamis.kernel import Module, ValidationError, account, interpret, op, validate
from dynamis.kernel.check_function import _OPERATIONS
from dynamis.kernel.interpret import InvalidRun
from dynamis.kernel.module import Block, Function, Instruction
from dynamis.kernel.types import Type
from tests.kernel.strategies import (
    BINARY_FORMS,
    INTRINSIC_FORMS,
    PLAIN,
    UNARY_FORMS,
    random_module,
    random_run,
)

MODULES = [random_module(Random(seed)) for seed in range(500)]


def test_the_same_seed_makes_the_same_module() -> None:
    assert random_module(Random(11)) == random_module(Random(11))
    assert len({str(made) for made in MODULES}) == len(MODULES)


def test_every_operation_and_type_occurs() -> None:
    kinds: Counter[object] = Counter()
    types: Counter[Type] = Counter()
    for made in MODULES:
        for function in made.all_functions():
            for instruction in function.instructions():
                kinds[type(instruction.op)] += 1
                types[instruction.ty] += 1
                if isinstance(instruction.op, (op.Unary, op.Binary)):
                    kinds[instruction.op.op] += 1
                elif isinstance(instruction.op, op.Intrinsic):
                    kinds[instruction.op.intrinsic] += 1
    table = {*BINARY_FORMS, *UNARY_FORMS, *INTRINSIC_FORMS}
    assert min(kinds[k] for k in (_OPERATIONS - {op.Spend, op.Look}) | table) >= 50
    assert min(types[t] for t in PLAIN) >= 50
    assert any(ty.is_struct for ty in types)
    assert not any(made.accounted() for made in MODULES)


def test_modules_are_of_a_size_worth_running() -> None:
    assert median(made.entry.slot_count for made in MODULES) >= 50
    placed = [account(made) for made in MODULES]
    assert sum(made.accounted() for made in placed) >= len(MODULES) // 4
    assert sum(looks_inside(made) for made in placed) >= len(MODULES) // 10


def looks_inside(made: Module) -> bool:
    """Whether some loop checks its work at each iteration."""
    return any(
        isinstance(i.op, op.Loop) and any(isinstance(j.op, op.Look) for j in i.op.body.body)
        for function in made.all_functions()
        for i in function.instructions()
    )


def mutated(rng: Random, made: Module) -> Module:
    """The module with one field of one instruction, or a result, changed."""
    where = rng.randrange(len(made.all_functions()))
    function = made.all_functions()[where]
    target = rng.randrange(max(1, function.slot_count))

    def changed(instruction: Instruction) -> Instruction:
        names = [f.name for f in fields(instruction.op)]  # type: ignore[arg-type]
        roll = rng.random()
        if roll < 0.2 or not names:
            return replace(instruction, ty=rng.choice((*PLAIN, Type.struct(1))))
        if roll < 0.3:
            return replace(instruction, id=instruction.id + rng.choice((-1, 1, 1000)))
        name = rng.choice(names)
        value = getattr(instruction.op, name)
        if isinstance(value, int):
            value = rng.choice((value - 1, value + 1, -1, 0, 2**31, instruction.id))
        elif isinstance(value, tuple):
            value = value[1:] if rng.random() < 0.5 else (*value, rng.randrange(instruction.id + 1))
        elif isinstance(value, Block):
            value = replace(value, result=rng.randrange(instruction.id + 5))
        elif value in table:
            value = rng.choice(table)
        return replace(instruction, op=replace(instruction.op, **{name: value}))  # type: ignore[type-var]

    table = list(op.BinaryOp)

    def walk(body: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
        new = []
        for instruction in body:
            blocks = [replace(b, body=walk(b.body)) for b in instruction.op.blocks()]
            instruction = replace(instruction, op=instruction.op.with_blocks(blocks))
            new.append(changed(instruction) if instruction.id == target else instruction)
        return tuple(new)

    body, results = walk(function.body), function.results
    if rng.random() < 0.1:
        results = tuple(rng.randrange(-1, function.slot_count + 1) for _ in results)
    return with_function(made, where, replace(function, body=body, results=results))


def with_function(made: Module, where: int, function: Function) -> Module:
    functions = [*made.all_functions()]
    functions[where] = function
    manifest = replace(made.manifest, budget=min(made.manifest.budget, 300))
    return Module(manifest, made.structs, tuple(functions[:-1]), functions[-1])


def test_mutated_modules_are_refused_with_a_path_or_run_to_an_outcome() -> None:
    refused: Counter[int] = Counter()
    ran = 0
    for seed in range(1500):
        rng = Random(seed)
        made = mutated(rng, random_module(rng, 12))
        try:
            valid = validate(made)
        except ValidationError as error:
            refused[error.rule] += 1
            continue
        data = random_run(rng, made)
        try:
            interpret(valid, data.inputs, data.params, data.extent, [0])
        except InvalidRun as error:
            raise AssertionError(f"seed {seed}") from error
        ran += 1
    assert ran >= 100
    assert len(refused) >= 15, refused
