"""The op table: order, groups, and the meaning of each ALU op on Python numbers."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
import random
from fractions import Fraction

import numpy as np
import pytest

from dynamis.dtype import (
    Number,
    Val,
    bfloat16,
    bool_,
    finfo,
    float16,
    float32,
    float64,
    int8,
    int32,
    int64,
    round_float,
    truncate,
    uint8,
    uint32,
    weakint,
)
from dynamis.uop import (
    Group,
    Op,
    Ops,
    UopError,
    const_of_dtype,
    evaluate,
    has_evaluation,
    simplify,
)
from dynamis.uop.elementary import expanded

DECLARED = """
BIND SPECIAL BUFFER NOOP REWRITE_ERROR PARAM FUNCTION CALL PROGRAM LINEAR SOURCE BINARY SINK AFTER
GROUP STACK TUPLE GETTUPLE GETADDR INDEX SHRINK LOAD STORE WMMA SHAPED_WMMA CAST BITCAST EXP2 LOG2
SIN SQRT RECIPROCAL NEG TRUNC ADD MUL SHL SHR CDIV MAX CMOD CMPLT CMPNE CMPEQ XOR OR AND THREEFRY
SUB FDIV POW FLOORDIV FLOORMOD WHERE MULACC BARRIER RANGE IF END ENDIF WAIT CONST CUSTOM CUSTOMI
INS CONTIGUOUS CONTIGUOUS_BACKWARD DETACH STAGE COPY SLICE MSELECT MSTACK CUSTOM_FUNCTION RESHAPE
PERMUTE EXPAND PAD FLIP MULTI REDUCE ALLREDUCE BREAK
"""

GROUPS = {
    "unary": "EXP2 LOG2 SIN SQRT RECIPROCAL NEG TRUNC",
    "ternary": "WHERE MULACC",
    "defines": "BUFFER PARAM",
    "irreducible": "SPECIAL PARAM RANGE CONST",
    "movement": "SHRINK RESHAPE PERMUTE EXPAND PAD FLIP",
    "commutative": "ADD MUL MAX CMPNE CMPEQ XOR OR AND",
    "associative": "ADD MUL MAX OR AND",
    "idempotent": "MAX OR AND",
    "reduce": "ADD MUL MAX",
    "comparison": "CMPLT CMPNE CMPEQ",
    "binary": "ADD MUL SHL SHR CDIV MAX CMOD CMPLT CMPNE CMPEQ XOR OR AND THREEFRY SUB FDIV POW "
    "FLOORDIV FLOORMOD",
}


def test_ops_are_declared_in_order() -> None:
    assert [op.name for op in Group.all] == DECLARED.split()
    assert [op.ordinal for op in Group.all] == list(range(83))


@pytest.mark.parametrize("group", GROUPS)
def test_group_members_and_predicates_agree(group: str) -> None:
    members = getattr(Group, group)
    assert {op.name for op in members} == set(GROUPS[group].split())
    assert list(members) == sorted(members, key=lambda op: op.ordinal)
    assert [op for op in Group.all if getattr(op, f"is_{group}")] == list(members)


def test_derived_groups() -> None:
    alu = Group.union(Group.unary, Group.binary, Group.ternary)
    assert set(Group.alu) == set(alu)
    assert set(Group.elementwise) - set(Group.alu) == {Ops.CAST, Ops.BITCAST}
    broadcastable = set(Group.broadcastable)
    assert broadcastable == {Ops.GROUP, *Group.binary, *Group.ternary}
    assert Group.difference(Group.reduce, [Ops.MUL]) == (Ops.ADD, Ops.MAX)
    assert Group.union([Ops.MUL], Group.reduce) == (Ops.MUL, Ops.ADD, Ops.MAX)


def test_ops_are_themselves_after_copies_and_pickling() -> None:
    assert copy.deepcopy(Ops.ADD) is Ops.ADD
    assert pickle.loads(pickle.dumps(Ops.WHERE)) is Ops.WHERE


INTS8 = range(-128, 128)
SOME = [-128, -127, -8, -3, -1, 0, 1, 2, 7, 100, 127]


@pytest.mark.parametrize("b", SOME)
def test_divisions_of_all_dividends(b: int) -> None:
    for a in INTS8:
        cdiv, cmod = evaluate(Ops.CDIV, int8, (a, b)), evaluate(Ops.CMOD, int8, (a, b))
        fdiv, fmod = evaluate(Ops.FLOORDIV, int8, (a, b)), evaluate(Ops.FLOORMOD, int8, (a, b))
        if b == 0:
            assert (cdiv, cmod, fdiv, fmod) == (0, a, 0, a)
        elif (a, b) == (-128, -1):
            assert (cdiv, cmod, fdiv, fmod) == (-128, 0, -128, 0)
        else:
            assert (cdiv, cmod) == (math.trunc(Fraction(a, b)), math.fmod(a, b))
            assert (fdiv, fmod) == (a // b, a % b)


@pytest.mark.parametrize("dtype", [int8, uint8])
def test_integer_arithmetic_wraps_as_numpy_does(dtype: Val) -> None:
    kind = np.int8 if dtype is int8 else np.uint8
    values = np.arange(int(dtype.min), int(dtype.max) + 1)
    a, b = (g.ravel() for g in np.meshgrid(values, values[::7]))
    x, y = a.astype(kind), b.astype(kind)
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    for op, want in (
        (Ops.ADD, x + y), (Ops.SUB, x - y), (Ops.MUL, x * y), (Ops.AND, x & y), (Ops.OR, x | y),
        (Ops.XOR, x ^ y), (Ops.MAX, np.maximum(x, y)), (Ops.SHL, x << (y & 7)),
        (Ops.SHR, x >> (y & 7)), (Ops.CMPLT, x < y), (Ops.CMPNE, x != y), (Ops.CMPEQ, x == y),
    ):  # fmt: skip
        made = bool_ if op.is_comparison else dtype
        assert [evaluate(op, made, p) for p in pairs] == want.tolist()
    assert [evaluate(Ops.NEG, dtype, (n,)) for n in values.tolist()] == (
        -values.astype(kind)
    ).tolist()


def test_bool_arithmetic_is_logic() -> None:
    for a, b in itertools.product((False, True), repeat=2):
        assert evaluate(Ops.ADD, bool_, (a, b)) is (a or b)
        assert evaluate(Ops.MUL, bool_, (a, b)) is (a and b)
        assert evaluate(Ops.SUB, bool_, (a, b)) is (a != b)
        assert evaluate(Ops.MAX, bool_, (a, b)) is (a or b)
        assert evaluate(Ops.CMPLT, bool_, (a, b)) is (b and not a)


EDGES = [0.0, -0.0, 1.0, -1.5, 1e-45, -1e-40, 2.0**-126, 3e38, -3e38, math.inf, -math.inf, math.nan]


def floats(dtype: Val) -> list[float]:
    rng = random.Random(3)
    top = 14 if dtype is float16 else 120
    wide = [math.ldexp(rng.uniform(-2, 2), rng.randint(-top, top)) for _ in range(60)]
    return [float(truncate(x, dtype)) for x in [*EDGES, *wide]]


@pytest.mark.parametrize(("dtype", "kind"), [(float32, np.float32), (float16, np.float16)])
def test_float_arithmetic_rounds_as_numpy_does(dtype: Val, kind: type) -> None:
    values = floats(dtype)
    a, b = (g.ravel() for g in np.meshgrid(values, values))
    x, y = a.astype(kind), b.astype(kind)
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    with np.errstate(all="ignore"):
        for op, want in (
            (Ops.ADD, x + y), (Ops.SUB, x - y), (Ops.MUL, x * y), (Ops.FDIV, x / y),
        ):  # fmt: skip
            got = np.array([evaluate(op, dtype, p) for p in pairs]).astype(kind)
            assert same_floats(got, want)
        column = np.array(values).astype(kind)
        for op, want in (
            (Ops.SQRT, np.sqrt(column)), (Ops.RECIPROCAL, kind(1) / column),
            (Ops.TRUNC, np.trunc(column)), (Ops.NEG, -column),
        ):  # fmt: skip
            got = np.array([evaluate(op, dtype, (v,)) for v in values]).astype(kind)
            assert same_floats(got, want)


def same_floats(a: np.ndarray, b: np.ndarray) -> bool:
    return bool(
        np.array_equal(a, b, equal_nan=True)
        and np.array_equal(np.signbit(a)[~np.isnan(a)], np.signbit(b)[~np.isnan(b)])
    )


def test_comparisons_with_nan() -> None:
    nan = math.nan
    for a, b in ((nan, 1.0), (1.0, nan), (nan, nan)):
        assert evaluate(Ops.CMPLT, bool_, (a, b)) is False
        assert evaluate(Ops.CMPEQ, bool_, (a, b)) is False
        assert evaluate(Ops.CMPNE, bool_, (a, b)) is True


def test_maximum_is_that_of_ieee_754_2019() -> None:
    def top(a: float, b: float) -> float:
        return float(evaluate(Ops.MAX, float32, (a, b)))

    assert math.isnan(top(math.nan, 1.0))
    assert math.isnan(top(-math.inf, math.nan))
    assert math.copysign(1, top(-0.0, 0.0)) == 1
    assert math.copysign(1, top(0.0, -0.0)) == 1
    assert math.copysign(1, top(-0.0, -0.0)) == -1
    assert top(-3.0, 2.0) == 2.0


@pytest.mark.parametrize("dtype", [float32, float64, float16])
def test_fused_multiply_add_is_rounded_once(dtype: Val) -> None:
    rng = random.Random(11)
    exponents, mantissa = finfo(dtype)
    lowest = 2 - 2 ** (exponents - 1)
    for _ in range(400):
        a, b = (float(truncate(rng.uniform(-2, 2), dtype)) for _ in range(2))
        c = float(truncate(-a * b * (1 + rng.choice([0, 2.0**-12, 2.0**-30])), dtype))
        got = Fraction(float(evaluate(Ops.MULACC, dtype, (a, b, c))))
        want = Fraction(a) * Fraction(b) + Fraction(c)
        if want == 0:
            assert got == 0
            continue
        exponent = max(math.frexp(float(want))[1] - 1, lowest)
        assert abs(got - want) <= Fraction(2) ** (exponent - mantissa) / 2


@pytest.mark.parametrize(
    ("a", "b", "c", "want"),
    [
        (1e308, 1e308, -math.inf, -math.inf), (math.inf, 1.0, -math.inf, math.nan),
        (0.0, math.inf, 1.0, math.nan), (-0.0, 1.0, -0.0, -0.0), (-0.0, 1.0, 0.0, 0.0),
        (1.0, 1.0, -1.0, 0.0), (1e200, 1e200, 1.0, math.inf), (2.0, 3.0, math.nan, math.nan),
    ],
)  # fmt: skip
def test_fused_multiply_add_at_the_edges(a: float, b: float, c: float, want: float) -> None:
    got = float(evaluate(Ops.MULACC, float64, (a, b, c)))
    assert same_floats(np.array([got]), np.array([want]))


@pytest.mark.parametrize(
    ("value", "dtype", "want"),
    [
        (math.nan, int32, 0), (math.inf, int32, 2**31 - 1), (-1e30, int32, -(2**31)),
        (-1.9, int8, -1), (300.0, uint8, 255), (-3.0, uint8, 0), (300, int8, 44), (-1, uint8, 255),
        (math.nan, bool_, True), (-0.0, bool_, False), (True, float32, 1.0),
        (2**24 + 1, float32, 2.0**24),
        (1e200, weakint, int(1e200)), (0.1, float32, float(np.float32(0.1))), (2.5, int64, 2),
    ],
)  # fmt: skip
def test_casts(value: Number, dtype: Val, want: Number) -> None:
    got = evaluate(Ops.CAST, dtype, (value,))
    assert got == want
    assert type(got) is type(want)


def test_bitcasts() -> None:
    assert evaluate(Ops.BITCAST, int32, (-0.0,), source=float32) == -(2**31)
    assert evaluate(Ops.BITCAST, uint32, (-1,), source=int32) == 2**32 - 1
    assert evaluate(Ops.BITCAST, float32, (0x3F800000,), source=int32) == 1.0
    with pytest.raises(UopError, match="widths"):
        evaluate(Ops.BITCAST, int8, (1.0,), source=float32)
    with pytest.raises(UopError, match="source"):
        evaluate(Ops.BITCAST, int32, (1.0,))


def test_where_takes_the_chosen_arm() -> None:
    assert evaluate(Ops.WHERE, int8, (True, 1, 2)) == 1
    assert evaluate(Ops.WHERE, int8, (False, 1, 2)) == 2


@pytest.mark.parametrize(
    ("op", "dtype"),
    [(Ops.SQRT, int8), (Ops.CDIV, float32), (Ops.XOR, float32), (Ops.FDIV, int8), (Ops.SHL, bool_)],
)
def test_an_op_outside_its_kinds_is_an_error(op: Op, dtype: Val) -> None:
    assert not has_evaluation(op, dtype)
    with pytest.raises(UopError, match=op.name):
        evaluate(op, dtype, (1, 1) if op.is_binary else (1,))


@pytest.mark.parametrize("op", [Ops.THREEFRY, Ops.LOAD])
def test_ops_defined_elsewhere_have_no_evaluation(op: Op) -> None:
    with pytest.raises(UopError, match="no evaluation"):
        evaluate(op, float32, (1.0, 1.0))


def test_elementary_ops_are_the_elementary_functions() -> None:
    assert evaluate(Ops.EXP2, float32, (0.5,)) == float(np.float32(math.sqrt(2.0)))
    assert evaluate(Ops.SIN, float64, (1.0,)) == math.sin(1.0)


@pytest.mark.parametrize(
    ("op", "function"), [(Ops.SIN, np.sin), (Ops.EXP2, np.exp2), (Ops.LOG2, np.log2)]
)
def test_elementary_ops_on_narrow_floats_are_rounded_once(op: Op, function: np.ufunc) -> None:
    for bits in range(5, 1 << 16, 211):
        half = float(np.array(bits, np.uint16).view(np.float16))
        with np.errstate(all="ignore"):
            want = float(np.float16(function(np.float64(half))))
        got = evaluate(op, float16, (half,))
        assert has_evaluation(op, float16)
        assert got == want or (got != got and want != want), half
        brain = float(np.array(bits << 16, np.uint32).view(np.float32))
        got = evaluate(op, bfloat16, (brain,))
        with np.errstate(all="ignore"):
            want = round_float(float(function(np.float64(brain))), bfloat16)
        assert got == want or (got != got and want != want), brain


def test_an_elementary_op_on_narrow_floats_is_written_out_as_it_is_evaluated() -> None:
    for dtype in (float16, bfloat16):
        x = const_of_dtype(dtype, 0.75)
        written = simplify(expanded("sin", x))
        assert written.op is Ops.CONST
        assert written.dtype is dtype
        assert written.arg.value == evaluate(Ops.SIN, dtype, (0.75,))
