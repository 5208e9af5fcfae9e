"""The reference interpreter: reads, control, work and faults, on kernels worked out by hand."""

from __future__ import annotations

import math
import struct
from dataclasses import replace
from random import Random

import pytest

from dynamis.kernel import InputField, Outcome, account, interpret, validate
from dynamis.kernel.fault import Fault, FaultKind
from dynamis.kernel.interpret import InvalidRun
from dynamis.kernel.module import (
    MAX_BLOCK_DEPTH,
    MAX_EXPANDED_DEPTH,
    Encoding,
    ModeKind,
    Module,
    Port,
    Span,
)
from dynamis.kernel.types import StructDef, Type, Value, word_types
from tests.kernel.build import module
from tests.kernel.strategies import Run, random_module, random_run

F, I = Type.FLOAT, Type.INT  # noqa: E741


def run(
    made: Module,
    *inputs: InputField,
    params: tuple[Value, ...] | None = None,
    extent: tuple[int, ...] = (1,),
    elements: list[int] | None = None,
) -> Outcome:
    given_params = params if params is not None else tuple(p.default for p in made.manifest.params)
    return interpret(validate(made), inputs, given_params, extent, elements)


def value_of(body: str, output: str = "Int", **more: object) -> list[object]:
    """What a kernel without inputs or parameters computes at its only element."""
    ports = {"inputs": (), "params": (), "outputs": (f"out: Rows<{output}>",)}
    made = module(body, **ports, **more)  # type: ignore[arg-type]
    outcome = run(made)
    assert outcome.fault is None
    assert outcome.outputs is not None
    return list(outcome.outputs[0])


def fault_of(outcome: Outcome) -> Fault:
    assert outcome.outputs is None
    assert outcome.fault is not None
    return outcome.fault


# Reads and places.


def test_rows_are_sampled_at_the_element_and_clamped_to_a_shorter_input() -> None:
    made = module("%0: Float = sample 0\nreturn %0", params=())
    outcome = run(made, InputField((3,), [1.0, 2.0, 3.0]), extent=(5,))
    assert outcome == Outcome(([1.0, 2.0, 3.0, 3.0, 3.0],), None)


def test_grids_are_sampled_at_row_and_column_each_clamped() -> None:
    made = module(
        "%0: Int = sample 0\nreturn %0",
        inputs=("g: Grid<Int>",),
        params=(),
        outputs=("out: Grid<Int>",),
    )
    outcome = run(made, InputField((2, 2), [1, 2, 3, 4]), extent=(3, 3))
    assert outcome.outputs == ([1, 2, 2, 3, 4, 4, 3, 4, 4],)


def test_coordinates_are_column_and_row_and_the_extent_is_width_and_height() -> None:
    made = module(
        "%0: Vec2 = coord\n%1: Vec2 = domain\n%2: Vec2 = size 0\n%3: Int = count 0\n"
        "%4: Int = element\nreturn %0, %1, %2, %3, %4",
        inputs=("g: Grid<Int>",),
        params=(),
        outputs=tuple(f"o{k}: Grid<{t}>" for k, t in enumerate(["Vec2"] * 3 + ["Int"] * 2)),
    )
    outcome = run(made, InputField((5, 4), [0] * 20), extent=(2, 3), elements=[4, 2])
    assert outcome.outputs == (
        [1.0, 1.0, 2.0, 0.0],
        [3.0, 2.0, 3.0, 2.0],
        [4.0, 5.0, 4.0, 5.0],
        [20, 20],
        [4, 2],
    )


def test_the_extent_of_rows_is_an_int() -> None:
    made = module(
        "%0: Int = domain\n%1: Int = size 0\nreturn %0, %1",
        params=(),
        outputs=("a: Rows<Int>", "b: Rows<Int>"),
    )
    outcome = run(made, InputField((7,), [0.0] * 7), extent=(2,))
    assert outcome.outputs == ([2, 2], [7, 7])


@pytest.mark.parametrize(
    ("address", "expected"),
    [(-(2**31), 10.0), (-1, 10.0), (0, 10.0), (1, 11.0), (2, 12.0), (3, 12.0), (2**31 - 1, 12.0)],
)
def test_rows_are_read_at_the_nearest_index(address: int, expected: float) -> None:
    made = module("%0: Int = param 0\n%1: Float = at 0 %0\nreturn %1")
    outcome = run(made, InputField((3,), [10.0, 11.0, 12.0]), params=(Value.of(I, address),))
    assert outcome.outputs == ([expected],)


@pytest.mark.parametrize(
    ("x", "column"),
    [
        (-math.inf, 0), (-1e30, 0), (-0.5, 0), (-0.0, 0), (0.0, 0), (0.999, 0), (1.0, 1),
        (1.9999999, 1), (2.0, 2), (2.5, 2), (3.0, 2), (1e30, 2), (math.inf, 2), (math.nan, 0),
    ],
)  # fmt: skip
def test_grids_are_read_at_floored_then_clamped_coordinates_and_nan_is_zero(
    x: float, column: int
) -> None:
    made = module(
        "%0: Vec2 = param 0\n%1: Int = at 0 %0\nreturn %1",
        inputs=("g: Grid<Int>",),
        params=("p: Vec2 = Vec2(0.0, 0.0)",),
        outputs=("out: Rows<Int>",),
    )
    square = InputField((3, 3), list(range(9)))
    for place, expected in (((x, 1.0), 3 + column), ((1.0, x), 3 * column + 1)):
        assert run(made, square, params=(Value.of(Type.VEC2, place),)).outputs == ([expected],)


@pytest.mark.parametrize("bits", [0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000020000000])
def test_every_nan_that_leaves_is_the_canonical_one(bits: int) -> None:
    (nan,) = struct.unpack("<d", bits.to_bytes(8, "little"))
    made = module(
        "%0: Float = sample 0\n%1: Float = - %0\n%2: Vec2 = construct(%0, %1)\nreturn %0, %2",
        params=(),
        outputs=("a: Rows<Float>", "b: Rows<Vec2>"),
    )
    outputs = run(made, InputField((1,), [nan])).outputs
    assert outputs is not None
    words = [*outputs[0], *outputs[1]]
    assert {struct.pack("<d", word) for word in words} == {struct.pack("<d", math.nan)}


def test_elements_are_computed_in_the_order_asked_for() -> None:
    made = module("%0: Float = sample 0\nreturn %0", params=())
    outcome = run(made, InputField((4,), [0.0, 1.0, 2.0, 3.0]), extent=(4,), elements=[3, 0, 3])
    assert outcome.outputs == ([3.0, 0.0, 3.0],)


def test_a_domain_without_elements_gives_empty_outputs_even_of_empty_inputs() -> None:
    made = module("%0: Float = sample 0\nreturn %0", params=())
    assert run(made, InputField((0,), []), extent=(0,)) == Outcome(([],), None)


# Values.


def test_a_scalar_beside_a_vector_meets_each_component() -> None:
    made = "%0: IVec3 = const IVec3(1, 2, 3)\n%1: Int = const 10\n%2: IVec3 = {}\nreturn %2"
    assert value_of(made.format("%1 - %0"), "IVec3") == [9, 8, 7]
    assert value_of(made.format("%0 - %1"), "IVec3") == [-9, -8, -7]
    assert value_of(made.format("clamp(%0, %1, %0)"), "IVec3") == [1, 2, 3]


@pytest.mark.parametrize(("other", "equal"), [("(1.0, -0.0)", True), ("(1.0, 2.0)", False)])
def test_vectors_are_equal_when_every_component_is(other: str, equal: bool) -> None:
    values = f"%0: Vec2 = const Vec2(1.0, 0.0)\n%1: Vec2 = const Vec2{other}\n"
    made = values + "%2: Bool = %0 {} %1\nreturn %2"
    assert value_of(made.format("=="), "Bool") == [equal]
    assert value_of(made.format("!="), "Bool") == [not equal]


def test_a_vector_with_a_nan_differs_from_itself() -> None:
    made = "%0: Vec2 = const Vec2(1.0, nan)\n%1: Bool = %0 {} %0\nreturn %1"
    assert value_of(made.format("=="), "Bool") == [False]
    assert value_of(made.format("!="), "Bool") == [True]


def test_records_are_built_nested_and_taken_apart() -> None:
    made = (
        "%0: Int = const 7\n%1: Vec3 = const Vec3(1.0, 2.0, 3.0)\n%2: Struct0 = construct(%0, %1)\n"
        "%3: Struct1 = construct(%0, %2, %0)\n%4: Struct0 = extract %3 1\n%5: Vec3 = extract %4 1\n"
        "%6: Float = extract %5 2\nreturn %6"
    )
    structs = ("P(n: Int, v: Vec3)", "Q(a: Int, p: Struct0, b: Int)")
    assert value_of(made, "Float", structs=structs) == [3.0]


def test_helpers_take_arguments_and_call_helpers_below() -> None:
    double = "double(Int) {\n%0: Int = arg 0\n%1: Int = %0 + %0\nreturn %1\n}"
    less = """f(Int, Int) {
        %0: Int = arg 1
        %1: Int = call 0(%0)
        %2: Int = arg 0
        %3: Int = %1 - %2
        return %3
    }"""
    body = "%0: Int = const 5\n%1: Int = const 20\n%2: Int = call 1(%0, %1)\nreturn %2"
    assert value_of(body, functions=(double, less)) == [35]


def test_only_the_taken_arm_runs() -> None:
    made = (
        "%0: Int = const 0\n%1: Bool = const {}\n%2: Int = if %1 then {{\n%3: Int = const 3\n"
        "yield %3\n}} else {{\n%4: Int = %0 / %0\nyield %4\n}}\nreturn %2"
    )
    assert value_of(made.format("true")) == [3]
    broken = module(made.format("false"), inputs=(), params=(), outputs=("o: Rows<Int>",))
    assert fault_of(run(broken)).instruction == 4


# Loops.


def counted(
    count: int, bound: int = 0, limit: bool = False, stop: int | None = None
) -> list[object]:
    """How often a loop that adds 1 to 0 runs, as the Int it gives."""
    test, first = "", 4
    if stop is not None:
        test = f"until {{ %4: Int = index %5: Int = const {stop} %6: Bool = %4 >= %5 yield %6 }} "
        first = 7
    return value_of(
        f"""
        %0: Int = const 0
        %1: Int = const 1
        %2: Int = const {bound}
        %3: Int = loop {count} {"bound %2" if limit else ""} init %0 {test}do {{
          %{first}: Int = carried
          %{first + 1}: Int = %{first} + %1
          yield %{first + 1}
        }}
        return %3"""
    )


@pytest.mark.parametrize(
    ("count", "bound", "runs_"), [(9, 4, 4), (9, 9, 9), (9, 10, 9), (9, 0, 0), (9, -3, 0)]
)
def test_a_bound_is_clamped_to_zero_and_the_count(count: int, bound: int, runs_: int) -> None:
    assert counted(count, bound, limit=True) == [runs_]


def test_a_loop_without_a_bound_runs_its_count() -> None:
    assert counted(6) == [6]


@pytest.mark.parametrize(("stop", "runs_"), [(0, 0), (1, 1), (4, 4), (6, 6), (7, 6)])
def test_a_loop_stops_before_the_iteration_at_which_its_test_holds(stop: int, runs_: int) -> None:
    assert counted(6, stop=stop) == [runs_]


def test_the_test_sees_the_carried_value() -> None:
    body = (
        "%0: Float = const 1.0\n%1: Float = loop 100 init %0 until {\n%2: Float = carried\n"
        "%3: Float = const 50.0\n%4: Bool = %2 > %3\nyield %4\n} do {\n%5: Float = carried\n"
        "%6: Float = %5 + %5\nyield %6\n}\nreturn %1"
    )
    assert value_of(body, "Float") == [64.0]


FAILING_TEST = """
%0: Int = const 0
%1: Int = loop {count} init %0 until {{
  %2: Int = index
  %3: Int = const 3
  %4: Int = %3 - %2
  %5: Int = %3 / %4
  %6: Bool = %5 > %3
  yield %6
}} do {{
  %7: Int = carried
  yield %7
}}
return %1"""


def test_the_test_is_not_evaluated_after_the_last_iteration() -> None:
    assert value_of(FAILING_TEST.format(count=3)) == [0]


def test_a_fault_in_the_test_counts() -> None:
    made = module(FAILING_TEST.format(count=4), inputs=(), params=(), outputs=("out: Rows<Int>",))
    fault = fault_of(run(made))
    assert (fault.instruction, fault.kind) == (5, FaultKind.DIVISION_BY_ZERO)
    assert fault.operands == (3, 0)


def test_index_and_carried_are_those_of_the_innermost_loop() -> None:
    body = """
        %0: Int = const 0
        %1: Int = loop 3 init %0 do {
          %2: Int = carried
          %3: Int = index
          %4: Int = loop 2 init %2 do {
            %5: Int = carried
            %6: Int = index
            %7: Int = %3 * %3
            %8: Int = %5 + %7
            %9: Int = %8 + %6
            yield %9
          }
          %10: Int = %4 + %3
          yield %10
        }
        return %1"""
    expected = 0
    for i in range(3):
        for j in range(2):
            expected += i * i + j
        expected += i
    assert value_of(body) == [expected]


# Faults.


def test_the_first_element_that_fails_is_named_with_its_operands_and_span() -> None:
    made = module(
        "%0: Int = sample 0\n%1: Int = const 100\n%2: Int = %1 / %0\n%3: Int = %2 + %1\nreturn %3",
        inputs=("xs: Rows<Int>",),
        params=(),
        outputs=("out: Rows<Int>",),
    )
    span = Span("kernel.py", 3, 4, 9)
    body = tuple(replace(i, span=span) if i.id == 2 else i for i in made.entry.body)
    made = replace(made, entry=replace(made.entry, body=body))
    data = InputField((4,), [5, 1, 0, 0])
    fault = fault_of(run(made, data, extent=(4,)))
    assert fault == Fault(2, 0, 2, FaultKind.DIVISION_BY_ZERO, (100, 0), span)
    assert fault_of(run(made, data, extent=(4,), elements=[3, 2])).element == 3


def test_the_first_failing_component_gives_the_operands() -> None:
    made = module(
        """
        %0: IVec3 = const IVec3(1, 2147483647, 2147483646)
        %1: Int = const 5
        %2: IVec3 = %0 + %1
        return %2""",
        inputs=(),
        params=(),
        outputs=("out: Rows<IVec3>",),
    )
    fault = fault_of(run(made))
    assert (fault.kind, fault.operands) == (FaultKind.OVERFLOW, (2147483647, 5))


def test_a_fault_in_a_helper_names_the_helper() -> None:
    made = module(
        "%0: Int = const -2147483648\n%1: Int = call 0(%0)\nreturn %1",
        inputs=(),
        params=(),
        outputs=("out: Rows<Int>",),
        functions=("f(Int) {\n%0: Int = arg 0\n%1: Int = abs(%0)\nreturn %1\n}",),
    )
    assert fault_of(run(made)) == Fault(0, 0, 1, FaultKind.OVERFLOW, (-2147483648,), None)


def test_what_is_never_used_still_fails() -> None:
    made = module(
        "%0: Int = const 0\n%1: Int = %0 % %0\nreturn %0",
        inputs=(),
        params=(),
        outputs=("out: Rows<Int>",),
    )
    assert fault_of(run(made)).instruction == 1


# Work.


def spinning(count: int, budget: int, inner: int = 0) -> Module:
    """A loop of ``count`` iterations, each with a loop of ``inner`` where that is not 0."""
    nested = f"%3: Int = loop {inner} init %0 do {{\nyield %0\n}}\n" if inner else ""
    return module(
        f"%0: Int = const 0\n%1: Int = loop {count} init %0 do {{\n%2: Int = index\n{nested}"
        "yield %2\n}\nreturn %1",
        inputs=(),
        params=(),
        outputs=("out: Rows<Int>",),
        budget=budget,
    )


@pytest.mark.parametrize(
    ("count", "inner"), [(50, 0), (2000, 0), (10, 9), (65536, 0), (700, 99), (2, 65536)]
)
def test_an_element_fails_exactly_when_its_work_exceeds_its_budget(count: int, inner: int) -> None:
    work = count * (1 + inner)
    outcome = run(spinning(count, work, inner))
    assert outcome == Outcome(([count - 1],), None)
    fault = fault_of(run(spinning(count, work - 1, inner)))
    assert (fault.kind, fault.operands) == (FaultKind.BUDGET, (work - 1,))


def test_a_budget_fault_is_at_the_look_of_the_accounted_module() -> None:
    made = spinning(65536, 100, 2)
    fault = fault_of(run(made))
    look = list(account(made).entry.instructions())[fault.instruction]
    assert str(account(made).entry).splitlines()[3] == f"    %{look.id}: Bool = look"


def test_each_element_has_its_own_budget() -> None:
    made = spinning(50, 50)
    assert run(made, extent=(30,)).fault is None


def test_the_iterations_that_ran_count_not_those_that_could() -> None:
    body = (
        "%0: Int = const 0\n%1: Int = sample 0\n%2: Int = loop 1073741824 bound %1 init %0 do {\n"
        "%3: Int = index\nyield %3\n}\nreturn %2"
    )
    made = module(
        body, inputs=("xs: Rows<Int>",), params=(), outputs=("out: Rows<Int>",), budget=10
    )
    outcome = run(made, InputField((4,), [0, 10, 3, -1]), extent=(4,))
    assert outcome.outputs == ([0, 9, 2, 0],)
    assert fault_of(run(made, InputField((4,), [0, 10, 11, 99]), extent=(4,))).element == 2


def test_a_calls_work_adds_to_the_element_that_calls() -> None:
    spin = "spin() {\n%0: Int = const 0\n%1: Int = loop 6 init %0 do {\nyield %0\n}\nreturn %1\n}"
    body = "%0: Int = call 0()\n%1: Int = call 0()\nreturn %1"

    def made(budget: int) -> Module:
        return module(
            body,
            inputs=(),
            params=(),
            outputs=("out: Rows<Int>",),
            budget=budget,
            functions=(spin,),
        )

    assert run(made(12)).fault is None
    assert fault_of(run(made(11))).function == 0


def test_the_deepest_valid_modules_run() -> None:
    calls = ["f() {\n%0: Int = const 5\nreturn %0\n}"]
    calls += [f"f() {{\n%0: Int = call {k}()\nreturn %0\n}}" for k in range(MAX_EXPANDED_DEPTH - 1)]
    last = f"%0: Int = call {len(calls) - 1}()\nreturn %0"
    assert value_of(last, functions=tuple(calls)) == [5]
    loops = "".join(f"%{k}: Int = loop 1 init %0 do {{\n" for k in range(1, MAX_BLOCK_DEPTH + 1))
    ends = "".join(f"yield %{k}\n}}\n" for k in range(MAX_BLOCK_DEPTH, 1, -1))
    body = f"%0: Int = const 5\n{loops}yield %0\n}}\n{ends}return %1"
    assert value_of(body, budget=MAX_BLOCK_DEPTH) == [5]


# What is refused before anything runs.


@pytest.mark.parametrize(
    ("inputs", "params", "extent", "elements", "says"),
    [
        ((), None, (1,), None, "takes 1 inputs and 1 parameters, not 0 and 1"),
        (None, (), (1,), None, "takes 1 inputs and 1 parameters, not 1 and 0"),
        (None, (Value.of(F, 1.0),), (1,), None, "parameter n is of type Int, not Float"),
        (None, None, (1, 1), None, "not an extent"),
        (None, None, (-1,), None, "not an extent"),
        (None, None, (2,), [2], "outside the domain"),
        (None, None, (2,), [-1], "outside the domain"),
        ((InputField((2, 2), [0.0] * 4),), None, (1,), None, "not its extent"),
        ((InputField((3,), [0.0] * 2),), None, (1,), None, "has 2 words, not 3"),
        ((InputField((0,), []),), None, (1,), None, "no elements, but the run has"),
    ],
)
def test_a_run_that_does_not_fit_the_manifest_is_refused(
    inputs: tuple[InputField, ...] | None,
    params: tuple[Value, ...] | None,
    extent: tuple[int, ...],
    elements: list[int] | None,
    says: str,
) -> None:
    made = module("%0: Float = sample 0\nreturn %0")
    fields = inputs if inputs is not None else (InputField((2,), [0.0, 1.0]),)
    with pytest.raises(InvalidRun, match=says):
        run(made, *fields, params=params, extent=extent, elements=elements)


# Properties over random modules.

SEEDS = range(150)


def random_case(seed: int) -> tuple[Module, Run]:
    rng = Random(seed)
    made = random_module(rng)
    return made, random_run(rng, made)


def outcome_of(made: Module, data: Run, elements: list[int] | None = None) -> Outcome:
    return interpret(validate(made), data.inputs, data.params, data.extent, elements)


@pytest.fixture(scope="module")
def outcomes() -> list[tuple[Module, Run, Outcome]]:
    """Random modules of every mode, each with what a run of it gave."""
    cases = [random_case(seed) for seed in SEEDS]
    return [(made, data, outcome_of(made, data)) for made, data in cases]


Outcomes = list[tuple[Module, Run, Outcome]]


def stored_kinds(port: Port, structs: tuple[StructDef, ...]) -> list[type]:
    """What each stored word of an element of a port is in Python."""
    kinds = {F: float, Type.DOUBLE: float, I: int, Type.LONG: int, Type.BOOL: bool}
    encoding = port.ty.encoding
    if encoding in (None, Encoding.F32, Encoding.F64):
        return [kinds[ty] for ty in word_types(structs, port.element)]
    return [int for _ in word_types(structs, port.element)]


def test_outputs_are_words_of_their_ports(outcomes: Outcomes) -> None:
    for made, data, outcome in outcomes:
        assert (outcome.outputs is None) == (outcome.fault is not None)
        if outcome.outputs is None:
            continue
        memories = dict(zip((p.name for p in made.manifest.inputs), data.inputs, strict=True))
        for port, found in zip(made.manifest.outputs, outcome.outputs, strict=True):
            kinds = stored_kinds(port, made.structs)
            count = math.prod(data.extent)
            if made.manifest.mode.kind is ModeKind.REDUCE:
                count = 1
            if made.manifest.mode.base is not None:
                count = math.prod(data.inputs[made.manifest.mode.base].extent)
            if port.name in made.manifest.memories:
                count = math.prod(memories[port.name].extent)
            assert len(found) == count * len(kinds)
            assert [type(word) for word in found] == kinds * count


def test_a_run_of_the_accounted_module_is_the_same_run(outcomes: Outcomes) -> None:
    for made, data, outcome in outcomes:
        assert repr(outcome_of(account(made), data)) == repr(outcome)


def test_an_element_alone_gives_what_it_gives_among_others(outcomes: Outcomes) -> None:
    tested = 0
    for made, data, whole in outcomes:
        if made.manifest.mode.kind is not ModeKind.MAP:
            continue
        last = math.prod(data.extent) - 1
        if whole.fault is not None:
            alone = outcome_of(made, data, [whole.fault.element])
            assert repr(alone.fault) == repr(whole.fault)
        elif whole.outputs is not None:
            alone = outcome_of(made, data, [last])
            assert alone.outputs is not None
            for port, one, many in zip(
                made.manifest.outputs, alone.outputs, whole.outputs, strict=True
            ):
                size = len(word_types(made.structs, port.element))
                assert repr(one) == repr(many[-size:])
        tested += 1
    assert tested >= 15


def test_random_runs_are_of_every_mode_and_some_fail(outcomes: Outcomes) -> None:
    assert {made.manifest.mode.kind for made, _, _ in outcomes} == set(ModeKind)
    failed = sum(outcome.fault is not None for _, _, outcome in outcomes)
    assert len(outcomes) // 10 <= failed <= 2 * len(outcomes) // 5


def test_inputs_are_not_changed(outcomes: Outcomes) -> None:
    for seed, (_, data, _) in zip(SEEDS, outcomes, strict=True):
        assert repr(data) == repr(random_case(seed)[1])
