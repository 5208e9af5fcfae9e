"""The random modules reach everything, and what they are run on makes a good part of them fail."""

from __future__ import annotations

from collections import Counter
from random import Random
from statistics import median

from dynamis.kernel import account, interpret, op, validate
from dynamis.kernel.encoding import Encoding
from dynamis.kernel.manifest import Shape
from dynamis.kernel.mode import Combine, ModeKind
from dynamis.kernel.module import Module
from dynamis.kernel.op_table import OPS
from dynamis.kernel.tables import BinaryOp, Intrinsic, UnaryOp
from dynamis.kernel.types import Type
from tests.kernel.scope import NATIVE, TOTAL, WHOLE, forms, kind_of
from tests.kernel.strategies import Wire, random_module, random_run

MODULES = [random_module(Random(seed)) for seed in range(400)]


def test_the_same_seed_makes_the_same_module() -> None:
    assert random_module(Random(11)) == random_module(Random(11))
    assert len({str(made) for made in MODULES}) == len(MODULES)


def test_every_operation_type_mode_shape_rule_and_encoding_occurs() -> None:
    kinds: Counter[object] = Counter()
    for made in MODULES:
        manifest = made.manifest
        kinds[manifest.mode.kind] += 1
        kinds[manifest.mode.combine] += 1
        for port in manifest.inputs:
            kinds[port.shape] += 1
            kinds[port.ty.encoding] += 1
        for function in made.all_functions():
            for instruction in function.instructions():
                kinds[type(instruction.op)] += 1
                kinds[kind_of(instruction.ty, made.structs)] += 1
                if isinstance(instruction.op, (op.Unary, op.Binary)):
                    kinds[instruction.op.op] += 1
                elif isinstance(instruction.op, op.Intrinsic):
                    kinds[instruction.op.intrinsic] += 1
    operations = [kind for kind, row in OPS.items() if not row.placed]
    types = [ty.name for ty in WHOLE.types] + ["record", "array"]
    often = [*operations, *BinaryOp, *UnaryOp, *Intrinsic, *types, *ModeKind, *Shape, *Combine]
    assert [kind for kind in often if kinds[kind] < 20] == []
    assert [encoding for encoding in Encoding if kinds[encoding] < 3] == []
    assert not any(made.accounted() for made in MODULES)


def test_modules_are_of_a_size_worth_running() -> None:
    assert median(made.entry.slot_count for made in MODULES) >= 50
    placed = [account(made) for made in MODULES]
    assert sum(made.accounted() for made in placed) >= len(MODULES) // 5
    assert sum(looks_inside(made) for made in placed) >= len(MODULES) // 12


def looks_inside(made: Module) -> bool:
    """Whether some loop checks its work at each iteration."""
    return any(
        isinstance(i.op, op.Loop) and any(isinstance(j.op, op.Look) for j in i.op.body.body)
        for function in made.all_functions()
        for i in function.instructions()
    )


def faulting(seeds: range, scope: object = WHOLE) -> int:
    """How many runs of random modules fault."""
    found = 0
    for seed in seeds:
        rng = Random(seed)
        made = random_module(rng, 30, scope)  # type: ignore[arg-type]
        run = random_run(rng, made, 8)
        outcome = interpret(validate(made), run.inputs, run.params, run.extent, context=run.context)
        found += outcome.fault is not None
    return found


def test_a_tenth_to_two_fifths_of_the_runs_fault() -> None:
    assert 15 <= faulting(range(150)) <= 60


def test_what_cannot_fail_does_not() -> None:
    assert faulting(range(60), TOTAL) == 0


def test_a_scope_keeps_to_its_types_modes_and_operations() -> None:
    for seed in range(60):
        made = random_module(Random(seed), 20, NATIVE)
        assert made.manifest.mode.kind is ModeKind.MAP
        for function in made.all_functions():
            for instruction in function.instructions():
                assert type(instruction.op) in NATIVE.operations
                assert instruction.ty.is_struct or instruction.ty in NATIVE.types


def test_a_wire_makes_a_map_of_its_one_output() -> None:
    port = MODULES[0].manifest.outputs[0].ty
    made = random_module(Random(5), 10, TOTAL, Wire(port, MODULES[0].structs))
    assert made.manifest.mode.kind is ModeKind.MAP
    assert [output.ty for output in made.manifest.outputs] == [port]
    validate(made)


def test_every_form_is_typed_as_it_says() -> None:
    for (operation, _), found in forms(WHOLE).items():
        assert all(operation.signature.result_type(args) == gives for args, gives in found)
    assert (BinaryOp.ADD, Type.MAT3) in forms(WHOLE)
