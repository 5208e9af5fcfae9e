"""``lanes`` and ``unlaned``: words and faults stay, and the way back is exact."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from dynamis.kernel import InputField, ValidationError, account, interpret, op, validate
from dynamis.kernel.interpret import Outcome
from dynamis.kernel.lanes import is_laned, lanes, unlaned
from dynamis.kernel.mode import ModeKind
from dynamis.kernel.module import Module
from tests.kernel.build import module
from tests.kernel.strategies import Run, random_module, random_run

SIMPLE = """
    %0: Int = sample 0
    %1: Int = lane
    %2: Int = const 1
    %3: Int = %1 + %2
    %4: Int = exchange %0 %3
    %5: Int = %4 - %0
    return %5
    let right = %4"""


def group(body: str, **more: object) -> Module:
    ports: dict[str, object] = {
        "mode": "group 4",
        "params": (),
        "inputs": ("xs: Rows<Int>",),
        "outputs": ("out: Rows<Int>",),
    }
    return module(body, **{**ports, **more})  # type: ignore[arg-type]


def group_modules(count: int) -> list[tuple[Module, Run]]:
    """Random modules of mode group, each with a run of it."""
    found: list[tuple[Module, Run]] = []
    seed = 0
    while len(found) < count:
        rng = Random(seed)
        made = random_module(rng)
        if made.manifest.mode.kind is ModeKind.GROUP:
            found.append((made, random_run(rng, made)))
        seed += 1
    return found


CASES = group_modules(25)


def shown(outcome: Outcome) -> tuple[object, ...]:
    """An outcome but for the numbers of instructions, which lanes changes."""
    fault = outcome.fault
    place = None if fault is None else (fault.element, fault.kind, repr(fault.operands))
    return repr(outcome.outputs), place


def test_an_exchange_is_a_meeting_between_two_stretches() -> None:
    body = lanes(group(SIMPLE)).entry.body
    kinds = [type(instruction.op) for instruction in body]
    assert kinds == [op.Lanes, op.Meet, op.Lanes, op.Meet]
    assert isinstance(body[1].op, op.Meet)
    assert body[1].op.value == body[0].id
    assert isinstance(body[3].op, op.Meet)
    assert body[3].op.value is None


def test_lanes_leaves_other_modes_and_its_own_work_alone() -> None:
    made = lanes(group(SIMPLE))
    assert lanes(made) is made
    plain = module("%0: Float = sample 0\nreturn %0", params=())
    assert lanes(plain) is plain
    assert unlaned(plain) is None


@pytest.mark.parametrize("case", range(len(CASES)))
def test_words_and_faults_stay_and_the_way_back_is_exact(case: int) -> None:
    made, data = CASES[case]
    plain = interpret(validate(made), data.inputs, data.params, data.extent)
    for before in (made, account(made)):
        laned = lanes(before)
        assert is_laned(laned)
        assert unlaned(laned) == before
        found = interpret(validate(laned), data.inputs, data.params, data.extent)
        assert shown(found) == shown(plain)


def test_random_groups_exchange_values_under_control() -> None:
    exchanges = nested = 0
    for made, _ in CASES:
        for instruction in made.entry.instructions():
            exchanges += isinstance(instruction.op, op.Exchange)
        laned = lanes(made)
        nested += any(
            isinstance(inner.op, op.Meet) and inner.op.value is not None
            for instruction in laned.entry.body
            for block in instruction.op.blocks()
            for inner in block.body
        )
    assert exchanges >= 20
    assert nested >= 3


def test_a_module_that_lanes_did_not_make_is_refused() -> None:
    made = lanes(group(SIMPLE))
    first, meet, *rest = made.entry.body
    swapped = replace(meet, op=op.Meet(None))
    broken = replace(made, entry=replace(made.entry, body=(first, swapped, *rest)))
    with pytest.raises(ValidationError, match="45"):
        validate(broken)
    shorter = replace(made, entry=replace(made.entry, body=(first, meet)))
    assert unlaned(shorter) is None


def test_a_run_is_bounded_alike_with_lanes_and_without() -> None:
    spin = (
        "%{a}: Int = loop 1073741824 bound %{n} init %{n} do {{\n"
        "%{b}: Int = index\nyield %{b}\n}}\n"
    )
    body = (
        "%0: Int = sample 0\n%1: Int = lane\n"
        + spin.format(a=2, b=3, n=0)
        + "%4: Int = exchange %0 %1\n%5: Int = %4 + %0\n"
        + spin.format(a=6, b=7, n=5)
        + "return %6"
    )
    made = group(body, budget=20000)
    xs = InputField((8,), [100, 3000, 0, 1500, 2100, 50, 1024, 1023])
    kinds = set()
    for bound in range(0, 30_000, 1024):
        found = [
            interpret(validate(m), [xs], (), (8,), max_work=bound) for m in (made, lanes(made))
        ]
        assert shown(found[0]) == shown(found[1])
        kinds.add(None if found[0].fault is None else found[0].fault.element)
    assert len(kinds) >= 4


def test_a_result_that_its_encoding_does_not_hold_fails_alike() -> None:
    body = (
        "%0: Int = sample 0\n%1: Int = lane\n%2: Int = exchange %0 %1\n%3: Int = %2 + %2\n"
        "return %0, %3"
    )
    made = group(body, outputs=("a: Rows<Int>", "b: Rows<Int, u8>"))
    xs = InputField((3,), [1, 127, 128])
    found = [interpret(validate(m), [xs], (), (3,)) for m in (made, lanes(made))]
    assert shown(found[0]) == shown(found[1])
    assert found[0].fault is not None
    assert (found[0].fault.element, found[0].fault.operands) == (2, (256,))


def test_an_each_that_reads_what_a_cut_loop_carries_is_no_reader_of_a_cut_each() -> None:
    body = """
        %0: Int = sample 0
        %1: Int = lane
        %2: Int = loop 2 init %0 do {
          %3: Int = carried
          %4: Int = exchange %3 %1
          %5: Struct0 = each 3 {
            %6: Int = index
            %7: Int = carried
            yield %7
          }
          %8: Struct0 = each 3 {
            %9: Int = index
            %10: Int = exchange %3 %9
            yield %10
          }
          %11: Int = subscript %5 %1
          %12: Int = subscript %8 %1
          %13: Int = %11 + %12
          yield %13
        }
        return %2"""
    made = group(body, structs=("array Int 3",))
    laned = lanes(made)
    assert unlaned(laned) == made
    xs = InputField((4,), [1, 10, 100, 1000])
    for module_ in (made, laned):
        outcome = interpret(validate(module_), [xs], (), (4,))
        # Lane 3 reads element 2 of the array, which lane 2 gave: subscripts clamp.
        assert outcome.outputs == ([4, 40, 400, 1000 + 100 + 200],)
