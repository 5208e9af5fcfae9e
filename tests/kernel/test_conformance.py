"""The suite of edge values, run as kernels through the reference interpreter.

Every operation on every type, vectors and matrices too: their components take the cases one after
another, and each gives the word written down for it."""

from __future__ import annotations

from itertools import groupby

import pytest

from dynamis.kernel import InputField, Outcome, interpret, validate
from dynamis.kernel.arithmetic import Operation
from dynamis.kernel.fault import FaultKind
from dynamis.kernel.mode import ModeKind
from dynamis.kernel.tables import BinaryOp, Intrinsic, UnaryOp
from dynamis.kernel.types import PLAIN_TYPES, Type, word_bits
from tests.kernel.build import module
from tests.kernel.cases import Case, RunCase, load, load_runs

GROUPS = {
    key: list(cases) for key, cases in groupby(load(), lambda case: (case.operation, case.ty))
}
WHOLE = (BinaryOp.EQUAL, BinaryOp.NOT_EQUAL)


def result_of(operation: Operation, ty: Type, arity: int) -> Type | None:
    args = (ty,) * arity
    if isinstance(operation, Intrinsic):
        return operation.result_type(args)
    return operation.result_type(*args)


def spelled(operation: Operation, arity: int) -> str:
    args = [f"%{k}" for k in range(arity)]
    if isinstance(operation, Intrinsic):
        return f"{operation.value}({', '.join(args)})"
    return f"{operation.symbol} %0" if arity == 1 else f"%0 {operation.symbol} %1"


def run(operation: Operation, ty: Type, cases: list[Case]) -> tuple[Outcome, Type]:
    """The cases as elements of a map kernel, the components of one element taking several."""
    arity = len(cases[0].words)
    result = result_of(operation, ty, arity)
    assert result is not None
    loads = "".join(f"%{k}: {ty} = sample {k}\n" for k in range(arity))
    made = module(
        f"{loads}%{arity}: {result} = {spelled(operation, arity)}\nreturn %{arity}",
        inputs=tuple(f"x{k}: Rows<{ty}>" for k in range(arity)),
        params=(),
        outputs=(f"out: Rows<{result}>",),
    )
    padded = cases + cases[:1] * (-len(cases) % ty.lanes)
    count = len(padded) // ty.lanes
    columns = zip(*(case.operands for case in padded), strict=True)
    fields = [InputField((count,), list(column)) for column in columns]
    return interpret(validate(made), fields, (), (count,)), result


ALL = [
    (operation, ty)
    for (operation, component), cases in GROUPS.items()
    for ty in PLAIN_TYPES.values()
    if ty.component == component
    and operation not in (WHOLE if ty.lanes > 1 else ())
    and result_of(operation, ty, len(cases[0].words)) is not None
]


@pytest.mark.parametrize(
    ("operation", "ty"), ALL, ids=[f"{op.name.lower()}-{ty}" for op, ty in ALL]
)
def test_every_edge_value_gives_its_word_in_a_kernel(operation: Operation, ty: Type) -> None:
    cases = [c for c in GROUPS[operation, ty.component] if not isinstance(c.expected, FaultKind)]
    outcome, result = run(operation, ty, cases)
    assert outcome.outputs is not None
    found = [word_bits(result.component, number) for number in outcome.outputs[0]]
    assert found[: len(cases)] == [case.expected for case in cases]


FAILING = [
    (op, ty)
    for op, ty in ALL
    if any(isinstance(case.expected, FaultKind) for case in GROUPS[op, ty.component])
]


@pytest.mark.parametrize(
    ("operation", "ty"), FAILING, ids=[f"{op.name.lower()}-{ty}" for op, ty in FAILING]
)
def test_every_edge_value_that_fails_does_so_with_its_operands(
    operation: Operation, ty: Type
) -> None:
    good = next(c for c in GROUPS[operation, ty.component] if isinstance(c.expected, int))
    for case in GROUPS[operation, ty.component]:
        if isinstance(case.expected, FaultKind):
            # The failing word is the last component of the second element.
            outcome, _ = run(operation, ty, [good] * (2 * ty.lanes - 1) + [case])
            fault = outcome.fault
            assert fault is not None
            assert (fault.element, fault.kind) == (1, case.expected)
            assert fault.operands == case.operands


def test_matrices_scale_by_a_float_on_either_side_and_divide_by_one() -> None:
    for text, expected in (("%0 * %1", 2.0), ("%1 * %0", 2.0), ("%0 / %1", 0.5)):
        made = module(
            f"%0: Mat2 = sample 0\n%1: Float = const 2.0\n%2: Mat2 = {text}\nreturn %2",
            inputs=("m: Rows<Mat2>",),
            params=(),
            outputs=("out: Rows<Mat2>",),
        )
        field = InputField((1,), [1.0, 2.0, -3.0, 4.0])
        outcome = interpret(validate(made), [field], (), (1,))
        assert outcome.outputs == ([expected, 2 * expected, -3 * expected, 4 * expected],)


@pytest.mark.parametrize("ty", ["Vec3", "IVec2", "Mat2", "Mat4"])
def test_whole_values_are_equal_when_every_word_is(ty: str) -> None:
    lanes = PLAIN_TYPES[ty].lanes
    kind = float if PLAIN_TYPES[ty].component == Type.FLOAT else int
    same = [kind(k) for k in range(lanes)]
    other = [*same[:-1], kind(99)]
    for operator, expected in (("==", [True, False]), ("!=", [False, True])):
        made = module(
            f"%0: {ty} = sample 0\n%1: {ty} = sample 1\n%2: Bool = %0 {operator} %1\nreturn %2",
            inputs=(f"a: Rows<{ty}>", f"b: Rows<{ty}>"),
            params=(),
            outputs=("out: Rows<Bool>",),
        )
        fields = [InputField((2,), same * 2), InputField((2,), same + other)]
        assert interpret(validate(made), fields, (), (2,)).outputs == (expected,)


def test_every_operation_of_the_tables_is_in_the_suite() -> None:
    assert {operation for operation, _ in GROUPS} == {*BinaryOp, *UnaryOp, *Intrinsic}


RUNS = load_runs()


@pytest.mark.parametrize("case", RUNS, ids=[case.name for case in RUNS])
def test_every_run_gives_its_words_or_its_fault(case: RunCase) -> None:
    outcome = interpret(validate(case.module), case.inputs, (), case.extent)
    fault = outcome.fault
    found = None if fault is None else (fault.element, fault.kind, fault.operands)
    assert repr(outcome.outputs) == repr(case.outputs)
    assert found == case.fault


def test_the_runs_are_of_every_mode() -> None:
    assert {case.module.manifest.mode.kind for case in RUNS} == set(ModeKind)
