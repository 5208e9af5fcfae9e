"""A clamp of a float before its conversion is the clamp of the whole number after it."""

from __future__ import annotations

import numpy as np
import pytest

from dynamis.codegen.decompose import decompose
from dynamis.dtype import float32, int32
from dynamis.uop import Ops, Uop, cast, const_of_dtype, sink, toposort
from tests.programs import column, map_ast, run_ast

X = [0.0, -0.0, 1e-45, 0.99999994, 1.0, 1.5, 6.0, 6.9999995, 7.0, 7.5, 8.0, -0.5, -1.0, -7.0]
X += [16777215.0, 16777216.0, 2147483520.0, 2147483648.0, 3e38, -3e38, np.inf, -np.inf, np.nan]


def clamped(x: Uop, limit: Uop) -> Uop:
    raised = cast(src=x, dtype=int32).maximum(const_of_dtype(int32, 0))
    return (limit < raised).where(limit, raised)


def conversions(root: Uop) -> list[Uop]:
    """What is under each conversion of a float to an int."""
    found = [u.src[0] for u in toposort(root) if u.op is Ops.CAST and u.dtype is int32]
    return [x for x in found if x.dtype is float32]


@pytest.mark.parametrize("limit", [0, 1, 7, 2**24 - 1, 2**24])
@pytest.mark.parametrize("width", [1, 8])
def test_a_clamped_conversion_has_its_words(limit: int, width: int) -> None:
    x = np.array([*X, float(limit)], np.float32)
    root = map_ast(lambda a: clamped(a, const_of_dtype(int32, limit)), [float32], int32)
    assert all(u.op is Ops.WHERE for u in conversions(decompose(root)))
    out = np.zeros(x.size, np.int32)
    run_ast(root, [x, out], width)
    with np.errstate(invalid="ignore"):
        wanted = np.where(np.isnan(x), 0, np.clip(np.floor(x.astype(np.float64)), 0, limit))
    assert np.array_equal(out, wanted)


def test_a_limit_that_no_float_is_or_that_may_be_negative_is_left() -> None:
    i = column()
    for limit in (const_of_dtype(int32, 2**24 + 1), const_of_dtype(int32, -1), i - 1):
        root = map_ast(lambda a, limit=limit: clamped(a, limit), [float32], int32)
        assert [x.op for x in conversions(decompose(root))] == [Ops.LOAD]
    assert decompose(sink([])) is sink([])
