"""The reference arithmetic, word for word, against the committed table of edge values."""

import math
from fractions import Fraction
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamis.kernel import arithmetic
from dynamis.kernel.arithmetic import INT_MAX, INT_MIN, TABLE, f32, wrap
from dynamis.kernel.fault import FaultKind
from dynamis.kernel.tables import BinaryOp, Intrinsic, UnaryOp
from dynamis.kernel.types import PLAIN_TYPES, Type, bits_float, float_bits, word_bits
from tests.kernel.cases import Case, load

CASES = load()
GROUPS = {
    f"{operation.name.lower()}-{ty}": list(cases)
    for (operation, ty), cases in groupby(CASES, lambda case: (case.operation, case.ty))
}

FLOATS = st.integers(0, 2**32 - 1).map(bits_float)
INTS = st.integers(INT_MIN, INT_MAX)


def outcome(case: Case) -> int | FaultKind:
    row = TABLE[case.operation][case.ty]
    kind = None if row.fault is None else row.fault(*case.operands)
    return kind if kind is not None else word_bits(case.result_type, row.evaluate(*case.operands))


@pytest.mark.parametrize("name", GROUPS)
def test_each_edge_value_gives_its_written_word(name: str) -> None:
    wrong = [
        f"{[f'{w:08x}' for w in case.words]} gives {outcome(case)}, expected {case.expected}"
        for case in GROUPS[name]
        if outcome(case) != case.expected
    ]
    assert wrong == []


def test_every_operation_on_every_component_type_has_edge_values() -> None:
    tested = {(case.operation, case.ty) for case in CASES}
    assert tested == {(operation, ty) for operation, rows in TABLE.items() for ty in rows}


def test_the_table_has_a_row_wherever_the_typing_rules_allow_scalars() -> None:
    scalars = [ty for ty in PLAIN_TYPES.values() if ty.is_scalar]
    for operation in (*BinaryOp, *UnaryOp, *Intrinsic):
        for ty in scalars:
            if isinstance(operation, Intrinsic):
                allowed = operation.result_type([ty] * len(operation.argument_names))
            elif isinstance(operation, BinaryOp):
                allowed = operation.result_type(ty, ty)
            else:
                allowed = operation.result_type(ty)
            assert (allowed is not None) == (ty in TABLE[operation]), (operation, ty)


def test_the_tables_say_which_operations_fail_and_on_which_types() -> None:
    for operation, rows in TABLE.items():
        for ty, row in rows.items():
            assert (row.fault is not None) == bool(operation.signature.faults(ty)), (operation, ty)


def test_results_are_numbers_of_their_type_and_floats_are_exact_f32() -> None:
    kinds = {Type.FLOAT: float, Type.DOUBLE: float, Type.INT: int, Type.LONG: int, Type.BOOL: bool}
    for case in CASES:
        if isinstance(case.expected, FaultKind):
            continue
        result = TABLE[case.operation][case.ty].evaluate(*case.operands)
        assert type(result) is kinds[case.result_type]
        if case.result_type == Type.INT:
            assert INT_MIN <= result <= INT_MAX
        if case.result_type == Type.LONG:
            assert -(2**63) <= result < 2**63
        if case.result_type == Type.FLOAT:
            assert math.isnan(result) or bits_float(float_bits(result)) == result


def nearest(q: Fraction) -> int:
    """The bits of the f32 nearest to q, ties to even, found by comparing neighbours."""
    if q == 0:
        return 0
    magnitude = abs(q)
    low, high = 0, 0x7F800000  # bit patterns: low <= magnitude < high
    while high - low > 1:
        middle = (low + high) // 2
        if Fraction(bits_float(middle)) <= magnitude:
            low = middle
        else:
            high = middle
    above = Fraction(2**128) if high == 0x7F800000 else Fraction(bits_float(high))
    below = Fraction(bits_float(low))
    up = (above - magnitude, high & 1) < (magnitude - below, low & 1)
    return (high if up else low) | (0x80000000 if q < 0 else 0)


finite = FLOATS.filter(math.isfinite)


@given(finite, finite, finite)
def test_fma_rounds_the_exact_value_once(a: float, b: float, c: float) -> None:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact != 0:
        assert float_bits(arithmetic.TABLE[Intrinsic.FMA][Type.FLOAT].evaluate(a, b, c)) == nearest(
            exact
        )


@given(st.integers(0, 2**24 - 1), st.integers(0, 2**24 - 1), st.integers(-60, 60), st.booleans())
def test_fma_decides_ties_by_the_smallest_term(m: int, n: int, shift: int, minus: bool) -> None:
    a, b = f32(float(m)), math.ldexp(float(n), -40)
    c = math.ldexp(1.0, shift) * (-1.0 if minus else 1.0)
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact != 0:
        result = TABLE[Intrinsic.FMA][Type.FLOAT].evaluate(a, b, c)
        assert float_bits(result) == nearest(exact)


@pytest.mark.parametrize(
    ("operation", "exact"),
    [
        (BinaryOp.ADD, lambda a, b: a + b),
        (BinaryOp.SUB, lambda a, b: a - b),
        (BinaryOp.MUL, lambda a, b: a * b),
        (BinaryOp.DIV, lambda a, b: a / b),
    ],
)
@given(a=finite, b=finite.filter(lambda b: b != 0.0))
def test_float_arithmetic_rounds_the_exact_value_once(operation, exact, a, b) -> None:  # type: ignore[no-untyped-def]
    value = exact(Fraction(a), Fraction(b))
    if value != 0:
        assert float_bits(TABLE[operation][Type.FLOAT].evaluate(a, b)) == nearest(value)


@given(INTS, INTS.filter(lambda b: b != 0))
def test_quotient_and_remainder_recompose_the_dividend(a: int, b: int) -> None:
    quotient = TABLE[BinaryOp.DIV][Type.INT].evaluate(a, b)
    remainder = TABLE[BinaryOp.REM][Type.INT].evaluate(a, b)
    assert quotient * b + remainder == a
    assert abs(remainder) < abs(b)
    assert remainder == 0 or (remainder < 0) == (a < 0)


@given(INTS)
def test_wrap_keeps_every_int(x: int) -> None:
    assert wrap(x) == wrap(x + 2**32) == wrap(x - 2**32) == x
