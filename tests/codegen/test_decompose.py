"""Ops that no machine has are written out, with the same meaning, lanes or none."""

from __future__ import annotations

import pytest

from dynamis.codegen.decompose import decompose
from dynamis.dtype import float16, float32, float64, int32
from dynamis.uop import (
    Op,
    Ops,
    UopError,
    alu_unary,
    const_of_dtype,
    evaluate,
    simplify,
    stack,
    substitute,
    toposort,
    variable,
)
from dynamis.uop.elementary import expanded

WRITTEN_OUT = [Ops.SIN, Ops.EXP2, Ops.LOG2]
x = variable(name="x", min_val=0, max_val=9, dtype=int32).cast(float32)


@pytest.mark.parametrize("op", WRITTEN_OUT)
def test_an_elementary_op_becomes_the_elementary_function(op: Op) -> None:
    written = decompose(alu_unary(op=op, src=x))
    assert not any(u.op in WRITTEN_OUT for u in toposort(written))
    for value in (0.3, 0.75, 100.0, 2.0**100):
        found = simplify(substitute([(x, const_of_dtype(float32, value))], written))
        number = const_of_dtype(float32, value).arg.value
        assert found.arg.value == evaluate(op, float32, [number])


@pytest.mark.parametrize("op", WRITTEN_OUT)
def test_lanes_are_written_out_as_one(op: Op) -> None:
    values = (0.25, 3.0, 2.0**80)
    lanes = decompose(alu_unary(op=op, src=stack([x, x + 1.0, x + 2.0])))
    assert lanes.max_shape == (3,)
    constants = stack([const_of_dtype(float32, v) for v in values])
    found = simplify(decompose(alu_unary(op=op, src=constants)))
    assert [u.arg.value for u in found.src] == [evaluate(op, float32, [v]) for v in values]


def test_an_elementary_op_on_narrow_floats_is_that_of_f64_rounded() -> None:
    half = x.cast(float16)
    wide = decompose(alu_unary(op=Ops.SIN, src=half.cast(float64)))
    assert decompose(alu_unary(op=Ops.SIN, src=half)) is wide.cast(float16)


def test_a_dtype_without_elementary_functions_is_refused() -> None:
    with pytest.raises(UopError, match="there is no sin of i32"):
        expanded("sin", const_of_dtype(int32, 1))
