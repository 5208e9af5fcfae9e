"""The typing rules of the op tables, against the whole list of what each allows."""

from __future__ import annotations

from itertools import product

import pytest

from dynamis.kernel.fault import FaultKind
from dynamis.kernel.tables import BINARY, SIGNATURES, UNARY, BinaryOp, Intrinsic, UnaryOp
from dynamis.kernel.types import PLAIN_TYPES, Type

F, I, B = Type.FLOAT, Type.INT, Type.BOOL  # noqa: E741
PLAIN = tuple(PLAIN_TYPES.values())
VECS = (Type.VEC2, Type.VEC3, Type.VEC4)
IVECS = (Type.IVEC2, Type.IVEC3, Type.IVEC4)
WITH_RECORD = (*PLAIN, Type.struct(0))


def pairs(scalar: Type, vectors: tuple[Type, ...]) -> dict[tuple[Type, Type], Type]:
    """Equal types, and a vector beside its scalar, with the type each gives."""
    table = {(t, t): t for t in (scalar, *vectors)}
    table |= {(v, scalar): v for v in vectors} | {(scalar, v): v for v in vectors}
    return table


D, L = Type.DOUBLE, Type.LONG
MATS = (Type.MAT2, Type.MAT3, Type.MAT4)
WIDE = {(D, D): D, (L, L): L}
NUMBERS = pairs(F, VECS) | pairs(I, IVECS) | WIDE
SUMS = NUMBERS | {(m, m): m for m in MATS}
SCALED = {(m, F): m for m in MATS}
BITS = pairs(I, IVECS) | {(L, L): L}
ORDER = {(t, t): B for t in (F, D, I, L)}
EQUALITY = {(t, t): B for t in PLAIN}
BOOLS = {(B, B): B}
EXPECTED = {
    **dict.fromkeys(["+", "-"], SUMS),
    "*": NUMBERS | SCALED | {(F, m): m for m in MATS},
    "/": NUMBERS | SCALED,
    "%": NUMBERS,
    **dict.fromkeys(["<", "<=", ">", ">="], ORDER),
    **dict.fromkeys(["==", "!="], EQUALITY),
    **dict.fromkeys(["&&", "||"], BOOLS),
    **dict.fromkeys(["&", "|", "^", "<<", ">>", ">>>"], BITS),
}


@pytest.mark.parametrize("operation", BinaryOp)
def test_binary_operations_take_exactly_the_pairs_of_the_rules(operation: BinaryOp) -> None:
    allowed = {
        (a, b): result
        for a, b in product(WITH_RECORD, repeat=2)
        if (result := operation.result_type(a, b)) is not None
    }
    assert allowed == EXPECTED[operation.symbol]


def test_unary_operations_take_numbers_or_bools_and_keep_the_type() -> None:
    numbers = {F, D, I, L, *VECS, *IVECS}
    assert {t for t in WITH_RECORD if UnaryOp.NEG.result_type(t) == t} == numbers
    refused = {t for t in WITH_RECORD if UnaryOp.NEG.result_type(t) is None}
    assert refused == {B, Type.struct(0), *MATS}
    assert [t for t in WITH_RECORD if UnaryOp.NOT.result_type(t) is not None] == [B]


@pytest.mark.parametrize(
    ("name", "args", "result"),
    [
        ("floor", (Type.VEC3,), Type.VEC3), ("floor", (I,), None), ("floor", (F, F), None),
        ("abs", (Type.IVEC2,), Type.IVEC2), ("abs", (B,), None), ("sqrt", (I,), None),
        ("min", (F, Type.VEC2), Type.VEC2), ("min", (F, I), None), ("max", (I, I), I),
        ("clamp", (Type.VEC2, F, Type.VEC2), Type.VEC2), ("clamp", (F, Type.VEC2, F), None),
        ("mix", (Type.VEC2, Type.VEC2, F), Type.VEC2), ("mix", (F, Type.VEC2, Type.VEC2), None),
        ("mix", (Type.VEC2, F, F), Type.VEC2), ("step", (F, Type.VEC4), Type.VEC4),
        ("step", (Type.VEC4, F), None), ("smoothstep", (F, F, Type.VEC3), Type.VEC3),
        ("smoothstep", (Type.VEC3, F, F), None), ("fma", (Type.VEC2,) * 3, Type.VEC2),
        ("fma", (Type.VEC2, F, Type.VEC2), None), ("add_wrap", (I, I), I),
        ("add_wrap", (Type.IVEC2, Type.IVEC2), None), ("ult", (I, I), B), ("udiv", (I, I), I),
        ("to_float", (B,), F), ("to_float", (F,), F), ("to_float", (Type.IVEC2,), None),
        ("to_int", (F,), I), ("to_int", (B,), I), ("bits", (F,), I), ("bits", (I,), None),
        ("from_bits", (I,), F), ("from_bits", (F,), None), ("bits", (D,), None),
        ("sin", (D,), D), ("tanh", (Type.VEC4,), Type.VEC4), ("log2", (L,), None),
        ("pow", (Type.VEC2, F), Type.VEC2), ("pow", (F, Type.VEC2), None), ("pow", (D, D), D),
        ("pow", (D, F), None), ("atan2", (D, D), D), ("atan2", (Type.VEC2, F), None),
        ("min", (L, L), L), ("abs", (L,), L), ("abs", (Type.MAT2,), None),
        ("clamp", (Type.IVEC2, I, I), Type.IVEC2), ("clamp", (D, D, D), D),
        ("popcount", (I,), I), ("clz", (L,), None), ("ctz", (I,), I), ("rotl", (I, I), I),
        ("rotr", (I, L), None), ("mulhi", (I, I), I), ("umulhi", (L, L), None),
        ("to_float", (D,), F), ("to_float", (L,), F), ("to_int", (L,), I), ("to_int", (D,), I),
        ("to_double", (B,), D), ("to_double", (D,), D), ("to_double", (Type.VEC2,), None),
        ("to_long", (F,), L), ("to_long", (L,), L), ("to_long", (Type.struct(0),), None),
    ],
)  # fmt: skip
def test_intrinsics_are_typed_by_their_rule(
    name: str, args: tuple[Type, ...], result: Type | None
) -> None:
    intrinsic = Intrinsic.from_name(name)
    assert intrinsic is not None
    assert intrinsic.result_type(args) == result


def test_every_intrinsic_has_a_signature_and_is_found_by_name() -> None:
    assert set(SIGNATURES) == set(Intrinsic)
    for intrinsic in Intrinsic:
        assert Intrinsic.from_name(intrinsic.value) is intrinsic
        assert intrinsic.describe.endswith(".")
        assert intrinsic.result_type([]) is None
        assert intrinsic.name == intrinsic.value
    assert Intrinsic.from_name("sinc") is None


def test_every_operator_has_a_row() -> None:
    assert set(UNARY) == set(UnaryOp) and set(BINARY) == set(BinaryOp)
    for operation in (*UnaryOp, *BinaryOp):
        assert operation.describe.endswith(".")
        assert operation.signature.result_type([]) is None


def test_only_integers_fail_and_a_conversion_only_from_long() -> None:
    overflow, zero = FaultKind.OVERFLOW, FaultKind.DIVISION_BY_ZERO
    assert BinaryOp.DIV.signature.faults(Type.IVEC2) == (zero, overflow)
    assert BinaryOp.REM.signature.faults(L) == (zero,)
    assert BinaryOp.ADD.signature.faults(F) == BinaryOp.ADD.signature.faults(Type.MAT2) == ()
    assert UnaryOp.NEG.signature.faults(L) == (overflow,)
    assert Intrinsic.TO_INT.signature.faults(L) == (overflow,)
    assert Intrinsic.TO_INT.signature.faults(F) == Intrinsic.TO_LONG.signature.faults(D) == ()
    failing = {o for o in (*BinaryOp, *UnaryOp, *Intrinsic) if o.signature.fails}
    assert failing == {
        BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.DIV, BinaryOp.REM, UnaryOp.NEG,
        Intrinsic.ABS, Intrinsic.UDIV, Intrinsic.UREM, Intrinsic.TO_INT,
    }  # fmt: skip
