"""What the form of a float says of its value, and the conversions that rest on it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dynamis.codegen import Options, compile_ast
from dynamis.dtype import AddrSpace, Val, float32, int8, int32, int64, uint8
from dynamis.render import render_llvm
from dynamis.render.known import interval, never_negative
from dynamis.runtime.jit import host
from dynamis.uop import Ops, Uop, cast, const_of_dtype, evaluate, param, stack
from tests.programs import map_ast, run_ast

INF = math.inf
EDGES = [0.0, -0.0, 1.5, -1.5, 3.0, 7.0, -7.0, 255.0, 256.0, 3e9, -3e9, INF, -INF, math.nan]


def f32(x: float) -> Uop:
    return const_of_dtype(float32, x)


def scalar(dtype: Val, bounds: tuple[int, int] | None = None) -> Uop:
    """A parameter."""
    space = AddrSpace.ALU
    shape = stack(())
    return param(slot=-1, dtype=dtype, shape=shape, name="x", vmin_vmax=bounds, addrspace=space)


def forms(x: Uop) -> list[tuple[Uop, tuple[float, float] | None]]:
    """Floats made of ``x``, and what is known of each."""
    above = (f32(0.0) < x).where(x, f32(0.0))  # NaN gives 0
    below = (x < f32(7.0)).where(x, f32(7.0))  # NaN gives 7
    return [
        (x, None),
        (above, (0.0, INF)),
        ((f32(7.0) < above).where(f32(7.0), above), (0.0, 7.0)),
        ((above < f32(7.0)).where(above, f32(7.0)), (0.0, 7.0)),
        ((x < f32(0.0)).where(f32(0.0), x), None),  # NaN stays
        (below, None),
        ((x < f32(3.0)).where(f32(1.5), f32(-1.5)), (-1.5, 1.5)),
        ((x < f32(3.0)).where(above, f32(-1.5)), (-1.5, INF)),
        ((x < f32(3.0)).where(f32(math.nan), f32(-1.5)), None),
    ]


def value(u: Uop, leaf: Uop, x: float) -> float:
    if u is leaf:
        return x
    if not u.src:
        return u.arg.value
    return evaluate(u.op, u.dtype, [value(s, leaf, x) for s in u.src], source=None)


def test_an_index_of_terms_that_are_never_negative_is_known() -> None:
    x, n = scalar(float32), scalar(int32)
    size = scalar(int32, (1, 2**24))
    column = cast(src=(f32(0.0) < x).where(x, f32(0.0)), dtype=int32)
    raised = n.maximum(const_of_dtype(int32, 0))
    for index in (size, column, raised, column + raised * size, (size < n).where(column, raised)):
        assert never_negative(index)
        assert never_negative(cast(src=index * 3 + 2, dtype=int64))
    for index in (n, size - 2, column - 1, column * -1, n + column, cast(src=x, dtype=int32)):
        assert not never_negative(index)
    long = column
    for _ in range(2000):  # what is made of it has no share in the time it takes
        long = long + long
    assert not never_negative(long)


def test_an_interval_holds_every_value_and_no_nan() -> None:
    x = scalar(float32)
    for u, known in forms(x):
        assert interval(u) == known
        if known is not None:
            assert all(known[0] <= value(u, x, edge) <= known[1] for edge in EDGES), u
    whole = cast(src=scalar(int32, (-5, 9)), dtype=float32)
    assert interval(whole) == (-5.0, 9.0)


@pytest.mark.parametrize("width", [1, 8])
@pytest.mark.parametrize("target", [int32, uint8, int8], ids=str)
def test_a_conversion_of_a_known_number_is_one_instruction(width: int, target: Val) -> None:
    x = np.array(EDGES, np.float32)
    for k in range(len(forms(f32(0.0)))):
        root = map_ast(
            lambda a, k=k: cast(src=cast(src=forms(a)[k][0], dtype=target), dtype=int32),
            [float32],
            int32,
        )
        text = render_llvm(compile_ast(root, Options(width=width)), host())
        known = forms(scalar(float32))[k][1]
        fits = known is not None and target.min <= known[0] and known[1] <= target.max
        assert ("fcmp uno" not in text) == fits, k
        out = np.zeros(x.size, np.int32)
        run_ast(root, [x, out], width)
        for edge, word in zip(EDGES, out.tolist(), strict=True):
            leaf = scalar(float32)
            converted = evaluate(
                Ops.CAST, target, [value(forms(leaf)[k][0], leaf, edge)], source=None
            )
            assert word == converted, (k, edge)
