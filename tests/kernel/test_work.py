"""Work: bounds, estimates, and where account places its checks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from dynamis.kernel import account, account_renumbered, op, parse, validate
from dynamis.kernel.module import LOOK_WORK, MAX_BUDGET, Block, Instruction, Module, Span
from dynamis.kernel.types import Type, Value
from dynamis.kernel.work import (
    SATURATED,
    Renumbering,
    loop_looks,
    loops_over_inputs,
    stripped,
    typical_work_given,
    worst_work_given,
)
from tests.kernel.build import module, with_manifest
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


# Every operation and mode.

ARMS = (
    "%1: Int = const 1\n%2: Float = match %1 case 0 {\n%3: Float = loop 4 init %0 do {\nyield %0\n}"
    "\nyield %3\n} case 5, 6 {\n%4: Float = loop 9 init %0 do {\nyield %0\n}\nyield %4\n} else {\n"
    "yield %0\n}"
)
EACH = (
    "%1: Struct0 = each 6 {\n%2: Float = loop 5 init %0 do {\nyield %0\n}\nyield %2\n}\n"
    "%3: Int = const 0\n%4: Float = subscript %1 %3"
)


def made_of(body: str, **more: object) -> Module:
    text = f"%0: Float = const 0.0\n{body}\nreturn %0"
    return module(text, budget=10**6, structs=("array Float 6",), **more)  # type: ignore[arg-type]


def test_the_dearest_arm_of_a_match_counts() -> None:
    assert made_of(ARMS).worst_work() == 9


def test_an_each_weighs_the_loops_in_it_and_not_itself() -> None:
    assert made_of(EACH).worst_work() == 6 * 5


def test_merge_and_init_have_budgets_of_their_own_and_the_worst_counts() -> None:
    spin = "%2: Int = loop 1500 init %0 do {\nyield %0\n}"
    made = module(
        "%0: Int = sample 0\nreturn %0",
        mode="reduce",
        inputs=("xs: Rows<Int>",),
        params=(),
        outputs=("o: Rows<Int>",),
        after=(f"merge m(Int, Int) {{\n%0: Int = arg 0\n%1: Int = arg 1\n{spin}\nreturn %2\n}}",),
    )
    assert made.worst_work() == 1500
    assert made.counts_work()
    assert made.functions_work() == ()
    assert made.typical_work() == 2 - 1 + (3 + 0) + 0
    placed = account(made)
    assert not any(isinstance(i.op, (op.Spend, op.Look)) for i in placed.entry.instructions())
    assert placed.merge is not None
    kinds = [type(i.op) for i in placed.merge.body]
    assert kinds == [op.Arg, op.Arg, op.Loop, op.Spend, op.Look]


def test_typical_work_counts_an_each_its_times_and_the_dearest_arm_once() -> None:
    assert made_of(EACH).typical_work() == 4 + 6 * (1 + 5 * 0)
    assert made_of(ARMS).typical_work() == 3 + 1


def counted_param(until: str = "", first: int = 3) -> Module:
    return module(
        f"%0: Float = const 0.0\n%1: Int = param 0\n%2: Float = loop 50 bound %1 init %0 {until}do "
        f"{{\n%{first}: Float = carried\n%{first + 1}: Float = carried\nyield %{first}\n}}\n"
        "return %2"
    )


@pytest.mark.parametrize(("n", "trips"), [(0, 0), (3, 3), (50, 50), (99, 50), (-4, 0)])
def test_a_loop_that_counts_a_parameter_runs_its_value_of_times(n: int, trips: int) -> None:
    made = counted_param()
    assert made.typical_reads_params()
    assert made.typical_work() == 3 + 4 * 2
    assert made.typical_work_given([Value.of(Type.INT, n)]) == 3 + 2 * trips


def test_a_loop_that_may_stop_early_does_not_read_its_parameter() -> None:
    made = counted_param("until {\n%3: Bool = const true\n%4: Bool = const true\nyield %4\n} ", 5)
    assert not made.typical_reads_params()
    assert made.typical_work_given([Value.of(Type.INT, 40)]) == made.typical_work()


def counted_elements(until: str = "", first: int = 3) -> Module:
    """A loop that runs as often as an input has elements, 2**20 times at most."""
    made = module(
        "%0: Float = const 0.0\n%1: Int = count 0\n"
        f"%2: Float = loop 1048576 bound %1 init %0 {until}do "
        f"{{\n%{first}: Float = carried\n%{first + 1}: Float = carried\nyield %{first}\n}}\n"
        "return %2"
    )
    assert loops_over_inputs(made)
    return made


@pytest.mark.parametrize(("n", "trips"), [(0, 0), (3, 3), (2**21, 2**20)])
def test_a_loop_over_an_input_runs_as_often_as_that_has_elements(n: int, trips: int) -> None:
    made = counted_elements()
    assert typical_work_given(made, count=n) == 3 + 2 * trips
    assert worst_work_given(made, n) == trips
    assert made.typical_work() == 3 + 4 * 2


def test_a_loop_over_an_input_that_may_stop_early_is_bounded_by_it_and_not_estimated() -> None:
    until = "until {\n%3: Bool = const true\n%4: Bool = const true\nyield %4\n} "
    made = counted_elements(until, 5)
    assert typical_work_given(made, count=1000) == made.typical_work()
    assert worst_work_given(made, 1000) == 1000


def test_other_loops_weigh_their_written_count_whatever_inputs_hold() -> None:
    made = counted_param()
    assert not loops_over_inputs(made)
    assert worst_work_given(made, 2) == 50


def test_loops_in_arms_of_a_match_and_in_an_each_are_accounted() -> None:
    for body in (ARMS, EACH):
        made = with_manifest(made_of(body), budget=5)
        placed = account(made)
        loops = [i.id for i in placed.entry.instructions() if isinstance(i.op, op.Loop)]
        spent = [i.op.value for i in placed.entry.instructions() if isinstance(i.op, op.Spend)]
        assert loops == spent
        assert stripped(placed) == made
