"""Work: bounds, estimates, and where account places its checks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from dynamis.kernel import account, account_renumbered, op, parse, validate
from dynamis.kernel.module import LOOK_WORK, MAX_BUDGET, Block, Instruction, Module, Span
from dynamis.kernel.types import Type
from dynamis.kernel.work import SATURATED, Renumbering, loop_looks, stripped
from tests.kernel.build import module
from tests.kernel.strategies import modules


def loop(count: int, inner: str = "", bound: str = "", until: str = "") -> str:
    """A Loop of the value %0, as value %1, whose body and test hold the given instructions."""
    test = f"until {{\n{until}\n}} " if until else ""
    return f"%1: Float = loop {count} {bound} init %0 {test}do {{\n{inner or 'yield %0'}\n}}\n"


def of(*statements: str, budget: int = 10**6, functions: tuple[str, ...] = ()) -> Module:
    """A module of statements after a constant %0."""
    text = "\n".join(["%0: Float = const 0.0", *statements, "return %0"])
    return module(text, budget=budget, functions=functions)


NEST = """\
%1: Float = loop 10 init %0 do {
  %2: Float = carried
  %3: Float = loop 20 init %2 do {
    %4: Float = carried
    yield %4
  }
  yield %3
}"""
HELPER = (
    "spin(Float) {\n%0: Float = arg 0\n%1: Float = loop 7 init %0 do {\nyield %0\n}\nreturn %1\n}"
)


def test_nested_loops_multiply_and_count_themselves() -> None:
    assert of(NEST).worst_work() == 10 * (1 + 20)


def test_a_test_block_counts_its_own_loops() -> None:
    until = "%2: Float = loop 3 init %0 do {\nyield %0\n}\n%3: Bool = const false\nyield %3"
    assert of(loop(5, until=until)).worst_work() == 5 * (1 + 3)


def test_the_dearer_arm_counts() -> None:
    arms = (
        "%1: Bool = const true\n%2: Float = if %1 then {\n%3: Float = loop 4 init %0 do {\n"
        "yield %0\n}\nyield %3\n} else {\n%4: Float = loop 9 init %0 do {\nyield %0\n}\nyield %4\n}"
    )
    assert of(arms).worst_work() == 9


def test_calls_count_where_they_are_made() -> None:
    calls = "%1: Float = call 0(%0)\n%2: Float = call 0(%0)"
    made = of(calls, functions=(HELPER,))
    assert made.functions_work() == (7,)
    assert made.worst_work() == 14


def test_a_run_time_count_weighs_the_loop_limit_in_worst_work_and_its_count_in_functions_work() -> (
    None
):
    bound = f"%1: Int = param 0\n%2: Float = loop {MAX_BUDGET} bound %1 init %0 do {{\nyield %0\n}}"
    made = of(bound, functions=(f"f() {{\n%0: Float = const 0.0\n{bound}\nreturn %2\n}}",))
    assert made.worst_work() == 65536
    assert made.functions_work() == (MAX_BUDGET,)
    assert of(bound.replace(str(MAX_BUDGET), "10")).worst_work() == 10


def test_work_saturates() -> None:
    text = "yield %0"
    for id in range(6, 0, -1):
        text = f"%{id}: Float = loop 65536 init %0 do {{\n{text}\n}}\nyield %{id}"
    made = of(text.removesuffix("\nyield %1"))
    assert made.worst_work() == SATURATED


@pytest.mark.parametrize(
    ("count", "budget", "counts"),
    [(5, 4, True), (5, 5, False), (1023, 2000, False), (1024, 2000, True)],
)
def test_a_module_counts_when_it_can_pass_its_budget_or_fill_a_block(
    count: int, budget: int, counts: bool
) -> None:
    assert of(loop(count), budget=budget).counts_work() is counts


def test_a_loop_looks_past_look_work_and_not_before() -> None:
    plain = Block((), 0)
    assert not loop_looks(LOOK_WORK, None, plain, ())
    assert loop_looks(LOOK_WORK + 1, None, plain, ())
    inner = Block((Instruction(1, Type.FLOAT, op.Loop(2, None, 0, None, plain)),), 0)
    assert loop_looks(LOOK_WORK // 2, None, inner, ())
    assert loop_looks(2, inner, plain, ()) is False
    called = Block((Instruction(1, Type.FLOAT, op.Call(0, (0,))),), 0)
    assert loop_looks(2, None, called, (LOOK_WORK,))


def test_typical_work_counts_instructions_loops_arms_and_calls() -> None:
    assert of().typical_work() == 1
    assert module("return", outputs=("o: Rows<Int>",)).typical_work() == 1
    assert of(NEST).typical_work() == 2 + 10 * (2 + 20 * 1)
    assert of("%1: Float = call 0(%0)", functions=(HELPER,)).typical_work() == 2 + 2
    until = "%2: Bool = const false\nyield %2"
    assert of(loop(100, until=until)).typical_work() == 2 + 4 * 1
    assert of(loop(3, until=until)).typical_work() == 2 + 3 * 1


def test_typical_work_runs_the_outer_loop_of_rounds_once() -> None:
    until = "until {{\n%{}: Bool = const false\nyield %{}\n}} do {{\n"
    inner = "%3: Float = loop 65536 init %0 " + until.format(4, 4) + "yield %0\n}"
    rounds = "%1: Float = loop 65536 init %0 " + until.format(2, 2) + inner + "\nyield %3\n}"
    assert of(rounds).typical_work() == 2 + (1 + (1 + 4 * 1))


def ops_of(made: Module) -> list[str]:
    return [type(i.op).__name__ for i in made.entry.instructions()]


def test_a_module_that_does_not_count_is_returned_itself() -> None:
    made = of(NEST)
    assert account(made) is made
    assert not made.accounted()


def test_short_loops_get_a_spend_and_one_look_after_the_outermost() -> None:
    placed = account(of(NEST, budget=100))
    assert ops_of(placed) == [
        "Const",
        "Loop",
        "Carried",
        "Loop",
        "Carried",
        "Spend",
        "Spend",
        "Look",
    ]
    assert placed.accounted()


def test_a_loop_that_looks_begins_its_body_with_a_look_after_its_test() -> None:
    until = "%2: Bool = const false\nyield %2"
    outer = loop(65536, "%3: Float = loop 2 init %0 do {\nyield %0\n}\nyield %3", until=until)
    placed = account(of(outer))
    assert ops_of(placed) == ["Const", "Loop", "Const", "Look", "Loop", "Spend", "Spend", "Look"]
    assert placed.entry.body[1].op.body.body[0].op == op.Look()  # type: ignore[attr-defined]


def test_helpers_are_accounted_on_their_own() -> None:
    placed = account(of("%1: Float = call 0(%0)", functions=(HELPER,), budget=2))
    assert [type(i.op).__name__ for i in placed.functions[0].instructions()] == [
        "Arg", "Loop", "Spend", "Look",
    ]  # fmt: skip


def test_checks_take_the_span_of_their_loop_and_others_keep_theirs() -> None:
    made = of(loop(9), budget=2)
    spans = [Span("k.py", line, 0, 1) for line in (1, 2)]
    body = tuple(
        Instruction(i.id, i.ty, i.op, span) for i, span in zip(made.entry.body, spans, strict=True)
    )
    entry = type(made.entry)("main", (), body, (0,))
    placed = account(Module(made.manifest, (), (), entry))
    assert [i.span for i in placed.entry.body] == [spans[0], spans[1], spans[1], spans[1]]


def test_renumbering_tells_where_each_value_went_and_moves_bindings() -> None:
    made = module(
        f"%0: Float = const 0.0\n{loop(9)}%2: Float = %1 + %1\nreturn %2\nlet sum = %2", budget=2
    )
    placed, moved = account_renumbered(made)
    assert moved == Renumbering(((0, 1, 4),))
    assert (moved.new(0, 2), moved.old(0, 4), moved.old(0, 3)) == (4, 2, None)
    assert placed.entry.bindings == ((4, "sum"),)
    assert placed.entry.results == (4,)


@settings(max_examples=150, deadline=None)
@given(modules())
def test_account_is_idempotent_reversible_and_keeps_pre_order(made: Module) -> None:
    placed, moved = account_renumbered(made)
    assert placed.accounted() == (made.counts_work() and any("Loop" in t for t in all_ops(made)))
    assert account(placed) is placed
    assert stripped(placed) == made
    assert parse(str(placed)) == placed
    validate(placed)
    for function, old, ids in zip(
        placed.all_functions(), made.all_functions(), moved.functions, strict=True
    ):
        assert [i.id for i in function.instructions()] == list(range(function.slot_count))
        new = {i.id: i for i in function.instructions()}
        assert [new[ids[i.id]].ty for i in old.instructions()] == [i.ty for i in old.instructions()]
        assert [new[ids[i.id]].span for i in old.instructions()] == [
            i.span for i in old.instructions()
        ]


def all_ops(made: Module) -> list[str]:
    return [type(i.op).__name__ for f in made.all_functions() for i in f.instructions()]


@settings(max_examples=150, deadline=None)
@given(modules())
def test_worst_work_never_passes_what_placing_assumes(made: Module) -> None:
    assert made.worst_work() <= SATURATED
    if made.worst_work() > made.manifest.budget:
        assert made.counts_work()


def test_stripping_gives_up_when_a_check_is_read() -> None:
    made = module(f"%0: Float = const 0.0\n{loop(9)}%2: Int = spend %1\n%3: Int = - %2\nreturn %0")
    assert stripped(made) is None
