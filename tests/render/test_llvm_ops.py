"""Every ALU op that LLVM code is made for means natively what the op table says it means."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dynamis.dtype import Val, bool_, float32, int32, int64, uint8, uint32
from dynamis.uop import (
    Op,
    Ops,
    Uop,
    UopError,
    alu_binary,
    alu_ternary,
    alu_unary,
    bitcast,
    cast,
    evaluate,
)
from tests.programs import map_ast, run_ast

NUMPY = {
    float32: np.float32,
    int32: np.int32,
    uint32: np.uint32,
    int64: np.int64,
    uint8: np.uint8,
    bool_: np.uint8,
}
EDGES: dict[Val, list[float]] = {
    float32: [
        *(0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.5, 3.0, 1e-45, -1e-45, 1.1754944e-38, 16777217.0),
        *(2147483648.0, -2147483648.0, 4294967296.0, 3.4028235e38, math.inf, -math.inf, math.nan),
        *(-0.3, 8388609.0, 2147483520.0, -3e9),
    ],
    int32: [0, 1, -1, 2, -2, 3, 7, -7, 31, 32, 33, 2**31 - 1, -(2**31), 2**30, 65536, -65537],
    uint32: [0, 1, 2, 3, 7, 31, 32, 33, 2**31 - 1, 2**31, 2**32 - 1, 65536],
    int64: [0, 1, -1, 2, 7, -7, 63, 64, 2**31, -(2**31) - 1, 2**63 - 1, -(2**63)],
    uint8: [0, 1, 2, 127, 128, 255],
    bool_: [0, 1],
}
EDGES[float32] = [float(np.float32(x)) for x in EDGES[float32]]
INTEGERS = (int32, uint32, int64)
BINARY: list[tuple[Op, Val]] = [
    *((op, float32) for op in (Ops.ADD, Ops.SUB, Ops.MUL, Ops.FDIV, Ops.MAX)),
    *((op, d) for op in (Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ) for d in (float32, *INTEGERS, bool_)),
    *(
        (op, d)
        for op in (Ops.ADD, Ops.SUB, Ops.MUL, Ops.MAX, Ops.CDIV, Ops.CMOD, Ops.SHL, Ops.SHR)
        for d in INTEGERS
    ),
    *((op, d) for op in (Ops.FLOORDIV, Ops.FLOORMOD) for d in INTEGERS),
    *((op, d) for op in (Ops.AND, Ops.OR, Ops.XOR) for d in (*INTEGERS, bool_)),
]
UNARY: list[tuple[Op, Val]] = [
    *((op, float32) for op in (Ops.NEG, Ops.SQRT, Ops.TRUNC, Ops.RECIPROCAL)),
    *((Ops.NEG, d) for d in INTEGERS),
]
CASTS = [
    (a, b) for a, b in itertools.permutations((float32, int32, uint32, int64, uint8, bool_), 2)
]


def same_words(got: np.ndarray, want: np.ndarray) -> bool:
    """Equal bit for bit, any NaN equal to any."""
    if got.dtype.kind == "f":
        both = np.isnan(got) & np.isnan(want)
        got, want = np.where(both, 0, got), np.where(both, 0, want)
    return got.tobytes() == want.tobytes()


def check(body, sources: list[Val], result: Val, rows: list[tuple[float, ...]], expect) -> None:
    """``body`` over the rows gives ``expect(row)`` at one lane and at eight."""
    rows = rows * (-(-8 // len(rows)))
    columns = [np.array(c, NUMPY[d]) for c, d in zip(zip(*rows, strict=True), sources, strict=True)]
    want = np.array([expect(row) for row in rows], NUMPY[result])
    root = map_ast(body, sources, result)
    for width in (1, 8):
        out = np.zeros(len(rows), NUMPY[result])
        run_ast(root, [*columns, out], width)
        assert same_words(out, want), width


@pytest.mark.parametrize(("op", "dtype"), BINARY, ids=lambda x: getattr(x, "name", str(x)))
def test_binary_op_is_its_table_row(op: Op, dtype: Val) -> None:
    result = bool_ if op.is_comparison else dtype
    rows = list(itertools.product(EDGES[dtype], repeat=2))
    check(
        lambda a, b: alu_binary(op=op, lhs=a, rhs=b),
        [dtype, dtype],
        result,
        rows,
        lambda row: evaluate(op, result, row, source=dtype),
    )


@pytest.mark.parametrize(("op", "dtype"), UNARY, ids=lambda x: getattr(x, "name", str(x)))
def test_unary_op_is_its_table_row(op: Op, dtype: Val) -> None:
    rows = [(x,) for x in EDGES[dtype]]
    check(
        lambda a: alu_unary(op=op, src=a),
        [dtype],
        dtype,
        rows,
        lambda row: evaluate(op, dtype, row, source=dtype),
    )


@pytest.mark.parametrize("dtype", [float32, int32])
def test_mulacc_is_its_table_row(dtype: Val) -> None:
    rows = list(itertools.product(EDGES[dtype], EDGES[dtype][::2], EDGES[dtype][::3]))
    check(
        lambda a, b, c: alu_ternary(op=Ops.MULACC, a=a, b=b, c=c),
        [dtype] * 3,
        dtype,
        rows,
        lambda row: evaluate(Ops.MULACC, dtype, row),
    )


@pytest.mark.parametrize("dtype", [float32, int32, bool_])
def test_where_chooses_per_lane(dtype: Val) -> None:
    rows = list(itertools.product([0, 1], EDGES[dtype], EDGES[dtype]))
    check(
        lambda c, a, b: alu_ternary(op=Ops.WHERE, a=c, b=a, c=b),
        [bool_, dtype, dtype],
        dtype,
        rows,
        lambda row: row[1] if row[0] else row[2],
    )


@pytest.mark.parametrize(("source", "target"), CASTS, ids=str)
def test_cast_is_its_table_row(source: Val, target: Val) -> None:
    rows = [(x,) for x in EDGES[source]]
    check(
        lambda a: cast(src=a, dtype=target),
        [source],
        target,
        rows,
        lambda row: evaluate(Ops.CAST, target, row, source=source),
    )


@pytest.mark.parametrize(("source", "target"), [(float32, int32), (int32, float32)], ids=str)
def test_bitcast_keeps_the_bits(source: Val, target: Val) -> None:
    words = np.array(EDGES[source], NUMPY[source])
    root = map_ast(lambda a: bitcast(src=a, dtype=target), [source], target)
    for width in (1, 8):
        out = np.zeros(len(words), NUMPY[target])
        run_ast(root, [words, out], width)
        assert out.tobytes() == words.tobytes()


def test_an_op_without_a_rendering_is_named() -> None:
    def body(a: Uop) -> Uop:
        return alu_binary(op=Ops.THREEFRY, lhs=a, rhs=a)

    data = np.zeros(8, np.int32)
    with pytest.raises(UopError, match="THREEFRY"):
        run_ast(map_ast(body, [int32], int32), [data, data.copy()], 8)
