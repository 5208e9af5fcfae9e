"""``optimize``: what it does beside its algebra, and what it must leave as it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dynamis.kernel import FaultKind, InputField, Outcome, account, interpret, op, validate
from dynamis.kernel.module import Block, Function, Instruction, Module, Span
from dynamis.kernel.optimize import optimize, optimize_noted
from dynamis.kernel.optimize_walk import (
    BOOL_IF,
    CONSTANT_EACH,
    CONTROL_RULES,
    DEAD,
    EMPTY_ARM,
    FOLD,
    HOIST,
    KNOWN_BOUND,
    KNOWN_IF,
    KNOWN_MATCH,
    NEGATED_IF,
    NEVER_STOPS,
    NO_ITERATIONS,
    SAME_CARRIED,
    SAME_EACH,
    SAME_IF,
    SAME_MATCH,
    SAME_RESULT,
    SHARE,
    UNROLL,
)
from dynamis.kernel.types import Type, Value
from tests.kernel.build import module, with_manifest

INTS = ("xs: Rows<Int>",)
OUT = ("out: Rows<Int>",)
WORDS = (0, 1, -1, 2, 7, 100, -(2**31), 2**31 - 1)

CASES: dict[str, str] = {
    FOLD: "%0: Int = const 2\n%1: Int = const 3\n%2: Int = %0 * %1\nreturn %2",
    SHARE: "%0: Int = sample 0\n%1: Int = sample 0\n%2: Int = mulhi(%0, %1)\nreturn %2",
    DEAD: "%0: Int = sample 0\n%1: Int = count 0\nreturn %0",
    HOIST: """%0: Int = sample 0
        %1: Int = loop 40 init %0 do {
          %2: Int = carried
          %3: Int = mulhi(%0, %0)
          %4: Int = add_wrap(%2, %3)
          yield %4
        }
        return %1""",
    KNOWN_IF: """%0: Int = sample 0
        %1: Bool = %0 < %0
        %2: Int = if %1 then {
          yield %0
        } else {
          %3: Int = sub_wrap(%1, %0)
          yield %3
        }
        return %2""".replace("sub_wrap(%1, %0)", "mulhi(%0, %0)"),
    NEGATED_IF: """%0: Int = sample 0
        %1: Int = const 5
        %2: Bool = ult(%0, %1)
        %3: Bool = ! %2
        %4: Int = if %3 then {
          yield %0
        } else {
          yield %1
        }
        return %4""",
    SAME_IF: """%0: Int = sample 0
        %1: Int = const 5
        %2: Bool = %0 < %1
        %3: Int = if %2 then {
          %4: Int = const 9
          yield %4
        } else {
          %5: Int = const 9
          yield %5
        }
        return %3""",
    BOOL_IF: """%0: Int = sample 0
        %1: Int = const 5
        %2: Bool = %0 < %1
        %3: Bool = if %2 then {
          %4: Bool = const false
          yield %4
        } else {
          %5: Bool = const true
          yield %5
        }
        %6: Int = to_int(%3)
        return %6""",
    KNOWN_MATCH: """%0: Int = sample 0
        %1: Int = const 5
        %2: Int = match %1 case 1, 5 {
          yield %0
        } else {
          yield %1
        }
        return %2""",
    SAME_MATCH: """%0: Int = sample 0
        %1: Int = match %0 case 1, 5 {
          yield %0
        } else {
          yield %0
        }
        return %1""",
    EMPTY_ARM: """%0: Int = sample 0
        %1: Int = match %0 case 7 {
          %2: Int = const 1
          yield %2
        } else {
          yield %0
        }
        return %1""",
    KNOWN_BOUND: """%0: Int = sample 0
        %1: Int = const 3
        %2: Int = loop 50 bound %1 init %0 do {
          %3: Int = carried
          %4: Int = mul_wrap(%3, %3)
          yield %4
        }
        return %2""",
    NO_ITERATIONS: """%0: Int = sample 0
        %1: Int = const -3
        %2: Int = loop 50 bound %1 init %0 do {
          %3: Int = carried
          %4: Int = mul_wrap(%3, %3)
          yield %4
        }
        return %2""",
    NEVER_STOPS: """%0: Int = sample 0
        %1: Int = loop 30 init %0 until {
          %2: Int = carried
          %3: Bool = %2 != %2
          yield %3
        } do {
          %4: Int = carried
          %5: Int = mul_wrap(%4, %4)
          yield %5
        }
        return %1""",
    SAME_CARRIED: """%0: Int = sample 0
        %1: Int = loop 30 bound %0 init %0 do {
          %2: Int = carried
          yield %2
        }
        return %1""",
    SAME_RESULT: """%0: Int = sample 0
        %1: Int = count 0
        %2: Int = loop 30 init %0 do {
          yield %1
        }
        return %2""",
    UNROLL: """%0: Int = sample 0
        %1: Int = loop 3 init %0 do {
          %2: Int = carried
          %3: Int = index
          %4: Int = add_wrap(%2, %3)
          %5: Int = mul_wrap(%4, %4)
          yield %5
        }
        return %1""",
    SAME_EACH: """%0: Int = sample 0
        %1: Int = const 4
        %2: Struct0 = construct(%0, %1, %0)
        %3: Struct0 = each 3 {
          %4: Int = index
          %5: Int = subscript %2 %4
          yield %5
        }
        %6: Int = subscript %3 %0
        return %6""",
    CONSTANT_EACH: """%0: Int = sample 0
        %1: Struct0 = each 3 {
          %2: Int = const 4
          yield %2
        }
        %3: Int = subscript %1 %0
        return %3""",
}


def built(body: str, **more: object) -> Module:
    return module(body, inputs=INTS, outputs=OUT, params=(), structs=("array Int 3",), **more)  # type: ignore[arg-type]


def run(of: Module, words: tuple[int, ...] = WORDS, element: int | None = None) -> Outcome:
    chosen = None if element is None else [element]
    field = InputField((len(words),), words)
    return interpret(validate(of), [field], (), (len(words),), chosen)


def empty_armed(of: Module) -> Module:
    """The module with the values of its Match's first arm taken away: text has no such arm."""
    first, match, *rest = of.entry.body
    assert isinstance(match.op, op.Match)
    arms = (((), match.op.arms[0][1]),)
    changed = replace(match, op=replace(match.op, arms=arms))
    return replace(of, entry=replace(of.entry, body=(first, changed, *rest)))


def test_every_rule_has_a_case() -> None:
    assert sorted(CONTROL_RULES) == sorted(CASES)


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_fires_and_keeps_every_word(rule: str) -> None:
    before = built(CASES[rule])
    if rule == EMPTY_ARM:
        before = empty_armed(before)
    after, noted = optimize_noted(before)
    assert noted[rule] >= 1
    assert run(before).outputs is not None
    assert run(before) == run(after)
    assert optimize(after) == after


def test_small_loops_become_straight_code() -> None:
    assert not any(isinstance(i.op, op.Loop) for i in optimize(built(CASES[UNROLL])).entry.body)


def test_an_inner_loop_is_written_out_before_the_one_around_it() -> None:
    body = """%0: Int = sample 0
        %1: Int = loop 3 init %0 do {
          %2: Int = carried
          %3: Int = loop 2 init %2 do {
            %4: Int = carried
            %5: Int = mul_wrap(%4, %0)
            yield %5
          }
          yield %3
        }
        return %1"""
    made = optimize(built(body))
    assert [type(i.op) for i in made.entry.body] == [op.Sample] + [op.Intrinsic] * 6
    assert run(made) == run(built(body))


# Failures.


def test_a_failure_that_nothing_reads_stays() -> None:
    before = built("%0: Int = sample 0\n%1: Int = - %0\n%2: Int = const 1\nreturn %2")
    made = optimize(before)
    assert any(isinstance(i.op, op.Unary) for i in made.entry.body)
    assert run(made).fault == run(before).fault
    assert run(made).fault is not None


def test_a_division_by_a_constant_cannot_fail_and_goes() -> None:
    before = built("%0: Int = sample 0\n%1: Int = const 3\n%2: Int = %0 / %1\nreturn %1")
    assert len(optimize(before).entry.body) == 1


def test_a_constant_failure_is_not_folded() -> None:
    before = built(
        "%0: Int = const 2147483647\n%1: Int = const 1\n%2: Int = %0 + %1\n%3: Int = sample 0\n"
        "return %3"
    )
    fault = run(optimize(before)).fault
    assert fault is not None
    assert fault.kind is FaultKind.OVERFLOW
    assert fault.operands == (2147483647, 1)


def test_what_may_fail_stays_in_its_loop() -> None:
    before = built("""%0: Int = sample 0
        %1: Int = const 0
        %2: Int = loop 40 bound %0 init %1 do {
          %3: Int = - %0
          %4: Int = carried
          %5: Int = add_wrap(%4, %3)
          yield %5
        }
        return %2""")
    made = optimize(before)
    assert run(made, (-(2**31), 5)) == run(before, (-(2**31), 5))
    assert run(made, (-(2**31), 5)).fault is None


def test_a_failure_is_shared_only_with_one_before_it() -> None:
    arm = """%0: Int = sample 0
        %1: Int = const 5
        %2: Bool = %0 < %1
        %3: Int = if %2 then {
          %4: Int = - %0
          yield %4
        } else {
          yield %0
        }
        %5: Int = - %0
        %6: Int = - %0
        %7: Int = mulhi(%5, %6)
        %8: Int = mulhi(%7, %3)
        return %8"""
    made = optimize(built(arm))
    negations = [i for i in made.entry.instructions() if isinstance(i.op, op.Unary)]
    assert len(negations) == 2
    assert run(made, (3, 9)) == run(built(arm), (3, 9))


# Counted work.

COUNTED = """%0: Int = sample 0
    %1: Int = const 0
    %2: Int = loop 1000000 bound %0 init %1 do {
      %3: Int = carried
      yield %3
    }
    return %1"""


def test_where_work_is_counted_no_loop_runs_less() -> None:
    before = built(COUNTED, budget=50)
    assert before.counts_work()
    made = optimize(before)
    assert any(isinstance(i.op, op.Loop) for i in made.entry.body)
    fault = run(made, (3, 51)).fault
    assert fault is not None
    assert (fault.element, fault.kind) == (1, FaultKind.BUDGET)


def test_where_work_is_not_counted_a_loop_for_nothing_goes() -> None:
    before = built(COUNTED.replace("1000000", "1000"))
    assert not before.counts_work()
    assert len(optimize(before).entry.body) == 1


def test_where_work_is_counted_a_loop_that_never_runs_keeps_its_weight() -> None:
    body = """%0: Int = sample 0
        %1: Bool = %0 < %0
        %2: Int = loop 100 init %0 do {
          %3: Int = carried
          %4: Int = if %1 then {
            %5: Int = loop 60000 init %3 do {
              %6: Int = carried
              yield %6
            }
            yield %5
          } else {
            %7: Int = - %3
            yield %7
          }
          yield %4
        }
        return %2"""
    before = built(body, budget=10)
    made = optimize(before)
    places = [
        [type(i.op) for i in m.entry.instructions() if isinstance(i.op, (op.Loop, op.Look))]
        for m in (account(before), account(made))
    ]
    assert places[0] == places[1]
    assert run(before, (5,)).fault == replace(
        run(made, (5,)).fault, instruction=run(before, (5,)).fault.instruction
    )


def test_a_module_with_its_work_checks_is_given_back() -> None:
    placed = account(built(COUNTED, budget=50))
    assert placed.accounted()
    assert optimize(placed) is placed


# Effects.


def test_writes_and_reads_of_memories_stay_in_order() -> None:
    before = module(
        """%0: Int = const 0
        %1: Int = at 1 %0
        %2: Int = sample 0
        %3: Int = put 1 %0 %2
        %4: Int = at 1 %0
        %5: Int = sub_wrap(%4, %1)
        return %5""",
        mode="scan",
        inputs=("xs: Rows<Int>", "m: Rows<Int>"),
        outputs=("out: Rows<Int>", "m: Rows<Int>"),
        memories=("m",),
        params=(),
        requires="field.read, field.write",
        after=("init start() {\n%0: Int = const 0\nreturn %0\n}",),
    )
    made = optimize(before)
    kinds = [type(i.op) for i in made.entry.body]
    assert kinds.count(op.At) == 2
    assert kinds.count(op.Put) == 1
    fields = [InputField((3,), (4, 5, 6)), InputField((1,), (1,))]
    old = interpret(validate(before), fields, (), (3,))
    assert interpret(validate(made), fields, (), (3,)) == old


def test_exchanges_stay_each() -> None:
    before = module(
        """%0: Int = sample 0
        %1: Int = const 1
        %2: Int = exchange %0 %1
        %3: Int = exchange %0 %1
        return %0""",
        mode="group 4",
        inputs=INTS,
        outputs=OUT,
        params=(),
    )
    assert [type(i.op) for i in optimize(before).entry.body].count(op.Exchange) == 2


# What passes keep.


def test_spans_and_names_follow_their_values() -> None:
    before = built(
        "%0: Int = sample 0\n%1: Int = const 0\n%2: Int = %0 + %1\n%3: Int = - %2\n"
        "%4: Int = count 0\nreturn %3\nlet x = %0\nlet y = %2\nlet z = %3\nlet gone = %4"
    )
    body = tuple(replace(i, span=Span("f.py", i.id, 0, 1)) for i in before.entry.body)
    made = optimize(replace(before, entry=replace(before.entry, body=body)))
    assert made.entry.bindings == ((0, "x"), (0, "y"), (1, "z"))
    assert [i.span.line for i in made.entry.body if i.span] == [0, 3]


def test_a_loop_written_out_names_each_copy() -> None:
    made = optimize(built(CASES[UNROLL] + "\nlet square = %5"))
    assert [name for _, name in made.entry.bindings] == ["square"] * 3


def test_a_known_branch_makes_the_same_test_inside_it_known() -> None:
    body = """%0: Int = sample 0
        %1: Int = const 5
        %2: Bool = %0 < %1
        %3: Int = if %2 then {
          %4: Int = if %2 then {
            yield %0
          } else {
            yield %1
          }
          yield %4
        } else {
          yield %1
        }
        return %3"""
    made = optimize(built(body))
    assert sum(isinstance(i.op, op.If) for i in made.entry.instructions()) == 1


# Size and depth.


def wide(count: int) -> Function:
    """A chain of additions and a mulhi of each with the first."""
    body = [Instruction(0, Type.INT, op.Sample(0))]
    for k in range(1, count):
        operation = op.Intrinsic(op.IntrinsicName.ADD_WRAP, (k - 1, 0))
        body.append(Instruction(k, Type.INT, operation))
    return Function("main", (), tuple(body), (count - 1,))


def deep(levels: int) -> Function:
    """Loops in loops, as deep as blocks may nest, something to move out of each."""
    body = (
        Instruction(levels + 1, Type.INT, op.Carried()),
        Instruction(levels + 2, Type.INT, op.Intrinsic(op.IntrinsicName.MULHI, (0, 0))),
        Instruction(
            levels + 3, Type.INT, op.Intrinsic(op.IntrinsicName.ADD_WRAP, (levels + 1, levels + 2))
        ),
    )
    result = levels + 3
    for k in range(levels, 0, -1):
        loop = op.Loop(1, None, 0, None, Block(body, result))
        body, result = (Instruction(k, Type.INT, loop),), k
    first = Instruction(0, Type.INT, op.Sample(0))
    return Function("main", (), (first, *body), (1,))


@pytest.mark.parametrize("budget", [1000, 10])
def test_blocks_at_the_limit_of_depth_are_walked(budget: int) -> None:
    before = with_manifest(replace(built(CASES[FOLD]), entry=deep(64)), budget=budget)
    validate(before)
    made = optimize(before)
    assert run(made, (3,)) == run(before, (3,))
    assert len(made.entry.body) == (2 + 1 if budget == 1000 else 3)


def test_a_long_function_is_walked() -> None:
    before = replace(built(CASES[FOLD]), entry=wide(20_000))
    assert optimize(before) == before


def test_writing_loops_out_does_not_pass_the_limits_of_a_module() -> None:
    """The Each alone is nearly as large as a function may be; the loops would be too much."""
    lines = ["%0: Int = sample 0", "%1: Struct0 = each 4096 {", "%2: Int = index"]
    lines += [f"%{k}: Int = mulhi(%{k - 1}, %0)" for k in range(3, 62)]
    lines += ["yield %61", "}", "%62: Int = subscript %1 %0"]
    next, last = 63, 62
    for _ in range(500):
        lines += [f"%{next}: Int = loop 2 init %{last} do {{", f"%{next + 1}: Int = carried"]
        lines += [f"%{k}: Int = mulhi(%{k - 1}, %0)" for k in range(next + 2, next + 20)]
        lines += [f"yield %{next + 19}", "}"]
        next, last = next + 20, next
    before = module(
        "\n".join([*lines, f"return %{last}"]),
        inputs=INTS,
        outputs=OUT,
        params=(),
        structs=("array Int 4096",),
        budget=2**20,
    )
    validate(before)
    assert not before.counts_work()
    made = optimize(before)
    validate(made)
    assert sum(isinstance(i.op, op.Loop) for i in made.entry.body) == 500


def test_large_arrays_are_not_written_as_constants() -> None:
    before = module(
        """%0: Int = sample 0
        %1: Struct0 = each 300 {
          %2: Int = const 4
          yield %2
        }
        %3: Int = subscript %1 %0
        return %3""",
        inputs=INTS,
        outputs=OUT,
        params=(),
        structs=("array Int 300",),
    )
    made = optimize(before)
    assert any(isinstance(i.op, op.Each) for i in made.entry.body)


def test_a_struct_constant_is_taken_apart() -> None:
    value = Value(Type.struct(0), (1, 2, 3))
    before = built(CASES[FOLD])
    body = (
        Instruction(0, Type.struct(0), op.Const(value)),
        Instruction(1, Type.INT, op.Extract(0, 2)),
    )
    made = optimize(replace(before, entry=replace(before.entry, body=body, results=(1,))))
    assert made.entry.body == (Instruction(0, Type.INT, op.Const(Value.of(Type.INT, 3))),)
