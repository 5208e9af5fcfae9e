"""The modes: what each makes of its elements, its faults and their order, the bound on a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamis.kernel import Fault, FaultKind, InputField, Outcome, interpret, validate
from dynamis.kernel.fold import REDUCE_BLOCK, fold
from dynamis.kernel.interpret import InvalidRun
from dynamis.kernel.module import WORK_BLOCK, Module
from tests.kernel.build import module


def run(
    made: Module, *inputs: InputField, extent: tuple[int, ...] | None = None, **more: Any
) -> Outcome:
    params = [param.default for param in made.manifest.params]
    return interpret(validate(made), inputs, params, extent or inputs[0].extent, **more)


def rows(*numbers: float | int | bool) -> InputField:
    return InputField((len(numbers),), list(numbers))


def words(outcome: Outcome, output: int = 0) -> list[object]:
    assert outcome.outputs is not None, outcome.fault
    return list(outcome.outputs[output])


def fault_of(outcome: Outcome) -> Fault:
    assert outcome.outputs is None
    assert outcome.fault is not None
    return outcome.fault


# Reduce.


SAMPLED = "%0: {ty} = sample 0\nreturn %0"


def reduction(ty: str, merge: str, entry: str = SAMPLED, **more: Any) -> Module:
    return module(
        entry.format(ty=ty),
        mode="reduce",
        inputs=(f"xs: Rows<{ty}>",),
        params=(),
        outputs=(f"out: Rows<{ty}>",),
        after=(
            f"merge m({ty}, {ty}) {{\n%0: {ty} = arg 0\n%1: {ty} = arg 1\n{merge}\nreturn %2\n}}",
        ),
        **more,
    )


def tree_sum(xs: Sequence[float]) -> np.float32:
    """The fixed tree, written with NumPy: blocks of 4096 in 32 lanes, then halves."""
    row = np.array(xs, np.float32)
    while len(row) > 1:
        blocks = []
        for start in range(0, len(row), 4096):
            block = row[start : start + 4096]
            lanes = block[:32].copy()
            for k in range(32, len(block), 32):
                part = block[k : k + 32]
                lanes[: len(part)] += part
            for half in (16, 8, 4, 2, 1):
                upper = lanes[half : 2 * half]
                lanes[: len(upper)] += upper
                lanes = lanes[:half]
            blocks.append(lanes[0])
        row = np.array(blocks, np.float32)
    return row[0]


@pytest.mark.parametrize("n", [1, 2, 3, 17, 31, 32, 33, 64, 100, 4095, 4096, 4097, 9000])
def test_a_reduction_folds_in_the_one_tree(n: int) -> None:
    rng = np.random.default_rng(n)
    xs = (rng.standard_normal(n) * 10.0 ** rng.integers(-6, 6, n)).astype(np.float32)
    made = reduction("Float", "%2: Float = %0 + %1")
    assert words(run(made, rows(*map(float, xs)))) == [float(tree_sum(list(xs)))]


def test_the_lower_elements_are_on_the_left_of_a_merge() -> None:
    order = fold([str(k) for k in range(70)], lambda a, b: f"({a} {b})")
    lane_0 = "((0 32) 64)"
    assert order.startswith(f"((((({lane_0} (16 48))")
    assert fold(list(range(3 * REDUCE_BLOCK)), lambda a, b: a) == 0
    assert fold(["a"], lambda a, b: a + b) == "a"


def test_a_reduction_of_nothing_is_refused() -> None:
    with pytest.raises(InvalidRun, match="no elements"):
        run(reduction("Int", "%2: Int = %0 + %1"), rows())


def test_entry_faults_come_before_merge_faults() -> None:
    entry = "%0: {ty} = sample 0\n%1: Int = const 7\n%2: Int = %1 / %0\nreturn %0"
    made = reduction("Int", "%2: Int = %0 + %1", entry)
    big = 2**31 - 1
    assert fault_of(run(made, rows(big, big, 0, 5))).element == 2
    found = fault_of(run(made, rows(1, big, 5, 5)))
    assert (found.function, found.instruction, found.kind) == (1, 2, FaultKind.OVERFLOW)


def test_a_merge_fault_names_the_lowest_element_of_its_right_operand() -> None:
    made = reduction("Int", "%2: Int = %0 + %1")
    big = 2**31 - 1
    xs = [0] * 64
    xs[5] = xs[37] = big  # lane 5 folds them: the right one is 37
    assert fault_of(run(made, rows(*xs))).element == 37
    xs[0] = xs[2] = big  # lanes 0 and 2 meet later, at 2: lower, so it is the one reported
    found = fault_of(run(made, rows(*xs)))
    assert (found.element, found.operands) == (2, (big, big))


def test_a_merge_with_a_failed_operand_does_not_run() -> None:
    made = reduction("Int", "%2: Int = %0 / %1")
    xs = [1] * 34
    xs[32] = 0  # lane 0 fails at 32; what would merge with it later does not run
    found = fault_of(run(made, rows(*xs)))
    assert (found.element, found.kind) == (32, FaultKind.DIVISION_BY_ZERO)


# Scan.

SCAN = {"mode": "scan", "params": (), "inputs": ("xs: Rows<Int>",), "outputs": ("o: Rows<Int>",)}
ZERO = "init i() {\n%0: Int = const 100\nreturn %0\n}"


def test_a_scan_carries_each_result_to_the_next_row() -> None:
    made = module(
        "%0: Int = carried\n%1: Int = sample 0\n%2: Int = %0 + %1\n%3: Int = index\n"
        "%4: Int = %2 + %3\nreturn %4",
        after=(ZERO,), **SCAN,
    )  # fmt: skip
    assert words(run(made, rows(1, 2, 3))) == [101, 104, 109]


def test_a_scan_of_no_rows_does_not_run_its_init() -> None:
    failing = "init i() {\n%0: Int = const 0\n%1: Int = %0 / %0\nreturn %1\n}"
    made = module("%0: Int = carried\nreturn %0", after=(failing,), **SCAN)
    assert words(run(made, rows())) == []
    found = fault_of(run(made, rows(4, 5)))
    assert (found.element, found.function, found.instruction) == (0, 1, 1)


def test_what_is_carried_is_the_result_before_it_is_encoded() -> None:
    made = module(
        "%0: Float = carried\n%1: Float = sample 0\n%2: Float = %0 + %1\nreturn %2",
        mode="scan", params=(), inputs=("xs: Rows<Float>",), outputs=("o: Rows<Float, unorm8>",),
        after=("init i() {\n%0: Float = const 0.0\nreturn %0\n}",),
    )  # fmt: skip
    assert words(run(made, rows(0.001, 0.001, 0.001))) == [0, 1, 1]


MEMORY = {
    "mode": "scan",
    "params": (),
    "inputs": ("xs: Rows<Int>", "table: Rows<Int>"),
    "outputs": ("o: Rows<Int>", "table: Rows<Int>"),
    "memories": ("table",),
    "requires": "field.read, field.write",
    "after": (ZERO,),
}
COUNTING = (
    "%0: Int = sample 0\n%1: Int = at 1 %0\n%2: Int = const 1\n%3: Int = %1 + %2\n"
    "%4: Int = put 1 %0 %3\n%5: Int = at 1 %0\nreturn %5"
)


def test_later_reads_see_what_was_put_and_the_memory_goes_out_at_the_end() -> None:
    given = rows(0, 0, 0)
    outcome = run(module(COUNTING, **MEMORY), rows(1, 1, 2, 1), given)
    assert words(outcome) == [1, 2, 1, 3]
    assert words(outcome, 1) == [0, 3, 1]
    assert given.words == [0, 0, 0]


def test_a_put_outside_is_dropped() -> None:
    outcome = run(module(COUNTING, **MEMORY), rows(-1, 3, 0), rows(5, 6, 7))
    assert words(outcome) == [5, 7, 6]
    assert words(outcome, 1) == [6, 6, 7]


def test_a_put_is_stored_as_the_memory_keeps_it() -> None:
    text = (
        "%0: Float = sample 0\n%1: Int = const 0\n%2: Float = put 1 %1 %0\n"
        "%3: Float = at 1 %1\nreturn %3"
    )
    made = module(text, **{
        **MEMORY, "inputs": ("xs: Rows<Float>", "m: Rows<Float, f16>"),
        "outputs": ("o: Rows<Float>", "m: Rows<Float, f16>"), "memories": ("m",),
        "after": ("init i() {\n%0: Float = const 0.0\nreturn %0\n}",),
    })  # fmt: skip
    outcome = run(made, rows(0.1, math.nan), rows(0, 0x1234))
    assert words(outcome)[0] == float(np.float16(np.float32(0.1)))
    assert words(outcome, 1) == [0x7E00, 0x1234]


# Scatter.


def scatter(rule: str, ty: str = "Int", emits: str = "", **more: Any) -> Module:
    pair = f"%2: Struct0 = construct(%0, %1)\n{emits}return %2"
    ports: dict[str, Any] = {
        "mode": f"scatter 2 {rule}",
        "params": (),
        "inputs": ("to: Rows<Int>", f"xs: Rows<{ty}>", f"base: Rows<{ty}>"),
        "outputs": (f"out: Rows<{ty}>",),
        "structs": (f"Pair(to: Int, value: {ty})",),
        "requires": "field.read, field.write",
    }
    return module(f"%0: Int = sample 0\n%1: {ty} = sample 1\n{pair}", **{**ports, **more})


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("sum", [14, 20, 37]), ("min", [4, 20, 2]), ("max", [10, 20, 30]), ("last", [4, 20, 2])],
)
def test_scattered_values_meet_by_the_rule_and_outside_ones_are_dropped(
    rule: str, expected: list[int]
) -> None:
    outcome = run(scatter(rule), rows(0, 2, 3, -1, 2), rows(4, 5, 6, 7, 2), rows(10, 20, 30))
    assert words(outcome) == expected


def test_float_sums_add_in_element_order() -> None:
    xs = [1e8, 1.0, -1e8, 1.0]
    outcome = run(scatter("sum", "Float"), rows(0, 0, 0, 0), rows(*xs), rows(0.0))
    expected = np.float32(0)
    for x in xs:
        expected += np.float32(x)
    assert words(outcome) == [float(expected)]


def test_integer_totals_are_whole_and_fail_only_at_the_end() -> None:
    big = 2**31 - 1
    outcome = run(scatter("sum"), rows(0, 0, 0), rows(big, big, -big), rows(0))
    assert words(outcome) == [big]
    fault = fault_of(run(scatter("sum"), rows(2, 1, 2, 1), rows(big, big, 2, 1), rows(0, 1, 0)))
    assert (fault.element, fault.kind, fault.operands) == (1, FaultKind.SCATTER_TOTAL, (big + 2,))
    longs = run(scatter("sum", "Long"), rows(0, 0), rows(2**63 - 1, 1), rows(5))
    assert fault_of(longs).operands == (2**63 + 5,)


def test_totals_are_not_asked_when_an_element_failed() -> None:
    big = 2**31 - 1
    failing = "%3: Int = const 1\n%4: Int = %3 / %1\n"
    made = scatter("sum", emits=failing)
    assert fault_of(run(made, rows(0, 0, 0), rows(big, big, 0), rows(0))).element == 2


def test_an_element_gives_what_it_emits_in_order_and_then_what_it_returns() -> None:
    helper = (
        "twice(Struct0) {\n%0: Struct0 = arg 0\n%1: Struct0 = emit %0\n"
        "%2: Struct0 = emit %1\nreturn %2\n}"
    )
    made = scatter("sum", emits="%3: Struct0 = call 0(%2)\n", functions=(helper,))
    assert words(run(made, rows(0, 1), rows(5, 7), rows(0, 100))) == [15, 121]


def test_words_that_no_pair_touched_keep_their_bits() -> None:
    made = scatter("max", "Float")
    odd = float(np.uint32(0xFFC01234).view(np.float32))
    base = rows(odd, odd)
    out = words(run(made, rows(0), rows(1.0), base))
    assert math.isnan(out[0]) and out[1] is base.words[1]  # type: ignore[arg-type]
    assert math.copysign(1.0, out[0]) == 1.0  # type: ignore[arg-type]


def test_a_scatter_over_nothing_gives_its_base() -> None:
    assert words(run(scatter("sum"), rows(), rows(), rows(1, 2))) == [1, 2]


# Prefix.


def prefix(rule: str, ty: str = "Int", output: str = "Rows<Int>", entry: str = "") -> Module:
    text = entry or f"%0: {ty} = sample 0\nreturn %0"
    return module(
        text, mode=f"prefix {rule}", params=(), inputs=(f"xs: Rows<{ty}>",),
        outputs=(f"out: {output}",),
    )  # fmt: skip


def test_a_prefix_combines_each_row_with_all_before_it() -> None:
    xs = rows(3, 1, 4, 1, 5)
    assert words(run(prefix("sum"), xs)) == [3, 4, 8, 9, 14]
    assert words(run(prefix("min"), xs)) == [3, 1, 1, 1, 1]
    assert words(run(prefix("max"), xs)) == [3, 3, 4, 4, 5]
    assert words(run(prefix("sum"), rows())) == []


def test_a_row_fails_when_its_inclusive_total_does_not_fit() -> None:
    big = 2**31 - 1
    fault = fault_of(run(prefix("sum"), rows(big, -5, 6, 0)))
    assert fault == Fault(2, 0, 0, FaultKind.OVERFLOW, (big - 5, 6), None)
    failing = "%0: Int = sample 0\n%1: Int = const 1\n%2: Int = %1 / %0\nreturn %0"
    found = run(prefix("sum", entry=failing), rows(big, 1, 0))
    assert fault_of(found).element == 1  # before the division by zero at 2


def test_the_total_is_carried_on_before_it_is_encoded() -> None:
    made = prefix("sum", output="Rows<Int, u8>")
    fault = fault_of(run(made, rows(200, 55, 1)))
    assert (fault.element, fault.operands) == (2, (256,))


# Group.


def group(size: int, body: str, **more: Any) -> Module:
    ports: dict[str, Any] = {
        "mode": f"group {size}",
        "params": (),
        "inputs": ("xs: Rows<Int>",),
        "outputs": ("out: Rows<Int>",),
    }
    return module(body, **{**ports, **more})


def test_lanes_take_what_the_others_gave_wrapped_round_the_size() -> None:
    body = (
        "%0: Int = sample 0\n%1: Int = lane\n%2: Int = const {}\n%3: Int = %1 + %2\n"
        "%4: Int = exchange %0 %3\nreturn %4"
    )
    xs = rows(*range(10, 18))
    assert words(run(group(4, body.format(1)), xs)) == [11, 12, 13, 10, 15, 16, 17, 14]
    assert words(run(group(4, body.format(-1)), xs)) == [13, 10, 11, 12, 17, 14, 15, 16]
    assert words(run(group(4, body.format(-5)), xs)) == [13, 10, 11, 12, 17, 14, 15, 16]
    # The last group runs whole: its lane past the end samples the last element.
    assert words(run(group(3, body.format(1)), xs)) == [11, 12, 10, 14, 15, 13, 17, 17]


SUMMED = """
    %0: Int = sample 0
    %1: Int = loop 2 init %0 do {
      %2: Int = carried
      %3: Int = index
      %4: Int = const 1
      %5: Int = %4 << %3
      %6: Int = lane
      %7: Int = %6 ^ %5
      %8: Int = exchange %2 %7
      %9: Int = %2 + %8
      yield %9
    }
    return %1"""


def test_a_butterfly_in_a_loop_sums_each_group() -> None:
    assert words(run(group(4, SUMMED), rows(*range(8)))) == [6] * 4 + [22] * 4


def test_only_the_groups_asked_for_run_and_in_the_order_asked_for() -> None:
    outcome = run(group(4, SUMMED), rows(*range(12)), elements=[9, 1, 8])
    assert words(outcome) == [38, 6, 38]


FAULTY = """
    %0: Int = sample 0
    %1: Int = const 60
    %2: Int = const 1
    %3: Int = %0 - %2
    %4: Int = %1 / %3
    %5: Int = lane
    %6: Int = exchange %0 %5
    %7: Int = %1 / %0
    return %7"""


def test_the_earliest_stretch_fails_first_and_in_it_the_lowest_lane() -> None:
    made = group(4, FAULTY)  # fails at 1 before the exchange, at 0 after it
    found = fault_of(run(made, rows(0, 2, 1, 1, 1, 1, 1, 1)))
    assert (found.element, found.instruction) == (2, 4)
    found = fault_of(run(made, rows(3, 0, 0, 2, 1, 1, 1, 1)))
    assert (found.element, found.instruction) == (1, 7)


def test_lanes_past_the_end_fail_too() -> None:
    body = "%0: Int = element\n%1: Int = const 5\n%2: Int = %1 - %0\n%3: Int = %1 / %2\nreturn %3"
    made = group(4, body)
    assert fault_of(run(made, rows(1, 1, 1, 1, 1))).element == 5
    assert words(run(made, rows(1, 1, 1, 1))) == [1, 1, 1, 2]


# The bound on a run.


def spinning(mode: str = "map", **more: Any) -> Module:
    body = (
        "%0: Int = sample 0\n%1: Int = loop 1073741824 bound %0 init %0 do {\n"
        "%2: Int = index\nyield %2\n}\nreturn %1"
    )
    ports: dict[str, Any] = {
        "mode": mode, "params": (), "inputs": ("xs: Rows<Int>",), "outputs": ("o: Rows<Int>",),
        "budget": 5000,
    }  # fmt: skip
    return module(body, **{**ports, **more})


@pytest.mark.parametrize("mode", ["map", "prefix max", "group 1"])
def test_a_run_is_bounded_by_the_whole_blocks_its_elements_fill(mode: str) -> None:
    made = spinning(mode)
    xs = rows(WORK_BLOCK - 1, 2 * WORK_BLOCK + 500, 700, WORK_BLOCK, 0)
    assert run(made, xs, max_work=3 * WORK_BLOCK).fault is None
    found = fault_of(run(made, xs, max_work=3 * WORK_BLOCK - 1))
    assert (found.element, found.kind) == (3, FaultKind.RUN_BOUND)
    assert found.operands == (3 * WORK_BLOCK - 1,)
    assert fault_of(run(made, xs, max_work=WORK_BLOCK)).element == 1


def test_the_bound_and_the_budget_are_reported_whichever_comes_first() -> None:
    made = spinning()
    found = run(made, rows(4000, 5001, 4000), max_work=2**40)
    assert fault_of(found).kind is FaultKind.BUDGET
    found = run(made, rows(4000, 4000, 5001), max_work=4 * WORK_BLOCK)
    assert (fault_of(found).element, fault_of(found).kind) == (1, FaultKind.RUN_BOUND)


def test_merges_have_a_budget_of_their_own_and_count_for_the_run() -> None:
    spin = "%2: Int = loop 1073741824 bound %1 init %0 do {\n%3: Int = index\nyield %0\n}"
    made = reduction("Int", spin, budget=3000)
    assert words(run(made, rows(7, 3000, 3000))) == [7]
    found = fault_of(run(made, rows(7, 3001, 3000)))
    assert (found.element, found.kind, found.function) == (1, FaultKind.BUDGET, 1)
    bounded = fault_of(run(made, rows(7, 3000, 3000), max_work=3 * WORK_BLOCK))
    assert bounded.kind is FaultKind.RUN_BOUND


# What is refused.


@pytest.mark.parametrize(
    ("made", "inputs", "more", "says"),
    [
        (prefix("sum"), (rows(1),), {"extent": (2,)}, "is input xs's"),
        (prefix("sum"), (rows(1),), {"elements": [0]}, "all its elements or none"),
        (scatter("sum"), (rows(1), rows(1), rows(1)), {"extent": (3,)}, "is input to's"),
        (spinning(), (rows(1),), {"extent": (2**31,)}, "past 2147483647 elements"),
        (
            module("%0: Vec2 = coord\nreturn %0", inputs=(), outputs=("o: Grid<Vec2>",)),
            (), {"extent": (1, 2**24 + 1)}, "past 16777216 along an axis",
        ),
    ],
)  # fmt: skip
def test_runs_that_do_not_fit_the_mode_are_refused(
    made: Module, inputs: tuple[InputField, ...], more: dict[str, Any], says: str
) -> None:
    with pytest.raises(InvalidRun, match=says):
        run(made, *inputs, **more)


@given(st.lists(st.integers(-50, 50), max_size=40))
def test_a_prefix_is_a_scan_of_its_rule(xs: list[int]) -> None:
    made = module(
        "%0: Int = carried\n%1: Int = sample 0\n%2: Int = max(%0, %1)\nreturn %2",
        **{**SCAN, "after": ("init i() {\n%0: Int = const -51\nreturn %0\n}",)},
    )
    assert words(run(made, rows(*xs))) == words(run(prefix("max"), rows(*xs)))
