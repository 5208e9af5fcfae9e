"""The contract's analyses: bounds, factors, symbolic integers."""

from __future__ import annotations

import pytest

from dynamis.dtype import bool_, float32, int32, uint8, weakint
from dynamis.uop import (
    AxisType,
    Ops,
    Uop,
    UopError,
    alu_binary,
    bind,
    broadcast_shape,
    cast,
    const_bool,
    const_factor,
    const_int,
    const_like,
    const_of_dtype,
    divide_exact,
    divides,
    gcd,
    index,
    load,
    pop_const,
    range_,
    resolve,
    simplify,
    simplify_ref,
    smax,
    smin,
    special,
    split_uop,
    sprod,
    stack,
    unbind,
    uprod,
    usum,
)
from tests.uop.contract import ints, memory, n, scalar, var

x, y, z = var("x", 0, 10), var("y", -3, 5), var("z", 2, 4)


def bounds(u: Uop) -> tuple[object, object]:
    return u.vmin, u.vmax


BOUNDS = {
    "const": (n(7), (7, 7)),
    "param": (y, (-3, 5)),
    "range": (range_(size=n(8), axis=0, kind=AxisType.LOOP), (0, 7)),
    "special": (special(name="gidx0", size=n(4)), (0, 3)),
    "bind": (bind(var=x, value=n(3)), (0, 10)),
    "stack": (stack([n(3), n(-2), n(9)]), (-2, 9)),
    "cast": (cast(src=y, dtype=int32), (-3, 5)),
    "where": ((x < 3).where(y, z), (-3, 5)),
    "neg": (-y, (-5, 3)),
    "add": (x + y, (-3, 15)),
    "sub": (x - y, (-5, 13)),
    "mul": (x * y, (-30, 50)),
    "max": (y.maximum(z), (2, 5)),
    "cmod": (alu_binary(op=Ops.CMOD, lhs=y, rhs=n(4)), (-3, 3)),
    "cdiv": (alu_binary(op=Ops.CDIV, lhs=y, rhs=n(2)), (-1, 2)),
    "floordiv": (y // 2, (-2, 2)),
    "floormod": (y % 4, (0, 3)),
    "shl": (x << 2, (0, 40)),
    "shr": (x >> 1, (0, 5)),
    "and": (x & 6, (0, 6)),
    "xor": (x ^ -1, (-11, -1)),
    "or": (const_bool(True) | (x < 3), (True, True)),
    "cmplt": (x < 11, (True, True)),
    "cmpne": (x.ne(20), (True, True)),
    "empty": (range_(size=n(0), axis=0, kind=AxisType.LOOP), (0, -1)),
    "exact": (const_int(2**80) + 1, (2**80 + 1, 2**80 + 1)),
    "unanalysed": (load(src=index(ptr=memory(base=uint8), idxs=[n(0)])), (0, 255)),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_vmin_is_a_lower_bound(name: str) -> None:
    u, (low, _) = BOUNDS[name]
    assert u.vmin == low


@pytest.mark.parametrize("name", BOUNDS)
def test_vmax_is_an_upper_bound(name: str) -> None:
    u, (_, high) = BOUNDS[name]
    assert u.vmax == high


def test_const_int_value_is_of_scalar_integer_constants() -> None:
    assert n(7).const_int_value == 7
    assert const_of_dtype(int32, -1).const_int_value == -1
    for other in (x, const_of_dtype(float32, 1), const_bool(True), const_of_dtype(int32.vec(2), 1)):
        assert other.const_int_value is None


def test_const_factor_divides_every_value() -> None:
    assert const_factor(n(12)) == 12
    assert const_factor(x * 6) == 6
    assert const_factor(x * 6 + 9) == 3
    assert const_factor(stack([n(8), x * 12])) == 4
    assert const_factor(stack([])) == 0
    assert const_factor(x) == 1


def test_divides_gives_the_quotient_where_it_is_provable() -> None:
    assert divides(n(12), 4) is n(3)
    assert divides(n(13), 4) is None
    for u in (x * 6 + 9, stack([x * 6, n(9)]), x * 12, (x * 6) * y):
        quotient = divides(u, 3)
        assert quotient is not None
        assert bounds(quotient * 3 if u.op is not Ops.STACK else u) == bounds(u)
    assert divides(x, 3) is None
    assert divides(x + 3, 3) is None
    assert divides(x, 1) is x


def test_pop_const_splits_the_constant_off() -> None:
    assert pop_const(x + 5) == (x, 5)
    assert pop_const(x) == (x, 0)
    assert pop_const(x * 5) == (x * 5, 0)


def test_split_uop_flattens_a_tree_of_one_op() -> None:
    assert list(split_uop((x + y) + (z + x), Ops.ADD)) == [x, y, z, x]
    assert list(split_uop(x * y, Ops.ADD)) == [x * y]


def test_usum_folds_from_the_left() -> None:
    assert usum([x, y, z]) is (x + y) + z
    assert usum([x]) is x
    with pytest.raises(UopError):
        usum([])


def test_uprod_folds_from_the_left() -> None:
    assert uprod([x, y, z]) is (x * y) * z
    assert uprod([x]) is x
    with pytest.raises(UopError):
        uprod([])


def test_divide_exact_by_numbers_and_by_symbols() -> None:
    assert divide_exact(x, x) is const_like(x, 1)
    assert divide_exact(x * 6, n(3)) is divides(x * 6, 3)
    quotient = divide_exact(x * y * 4 + y * 2, y * 2)
    assert quotient is not None
    assert simplify(quotient) is simplify(x * 2 + 1)
    assert divide_exact(x + y, y) is None


def test_gcd_is_of_numbers_and_common_factors() -> None:
    assert simplify(gcd([x * 6, x * y * 9])) is simplify(x * 3)
    assert simplify(gcd([n(12), n(18)])) is n(6)
    assert simplify(gcd([x, y])) is n(1)
    with pytest.raises(UopError):
        gcd([])


def test_simplify_reaches_a_fixed_point() -> None:
    assert simplify(x * 0 + y + 0) is y
    assert simplify((x * 4 + 3) // 4) is x
    once = simplify((x + y) * 3 + x * 2 - 1)
    assert simplify(once) is once


def test_the_simplifier_can_be_replaced() -> None:
    before = simplify_ref.value
    simplify_ref.value = lambda u: z
    try:
        assert simplify(x + 0) is z
    finally:
        simplify_ref.value = before
    assert simplify(x + 0) is x


def test_resolve_decides_by_bounds_or_by_default() -> None:
    assert resolve(x < 11)
    assert not resolve(x < 0)
    assert resolve(x < 5)
    assert not resolve(x < 5, default=False)
    with pytest.raises(UopError):
        resolve(x)


def test_smax_is_decided_or_symbolic() -> None:
    assert smax([n(3), n(8), n(5)]) is n(8)
    assert smax([x, n(20)]) is n(20)
    assert bounds(smax([x, n(5)])) == (5, 10)
    with pytest.raises(UopError):
        smax([])


def test_smin_is_decided_or_symbolic() -> None:
    assert smin([n(3), n(8), n(5)]) is n(3)
    assert smin([x, n(20)]) is x
    assert bounds(smin([x, n(5)])) == (0, 5)
    with pytest.raises(UopError):
        smin([])


def test_sprod_is_simplified() -> None:
    assert sprod([]) is n(1)
    assert sprod([n(2), n(3)]) is n(6)
    assert sprod([x, n(1)]) is x


def test_broadcast_shape_aligns_from_the_last_axis() -> None:
    assert ints(broadcast_shape([[n(3), n(1)], [n(4)]])) == [3, 4]
    assert ints(broadcast_shape([[n(0), n(2)], [n(1), n(2)]])) == [0, 2]
    assert ints(broadcast_shape([[x, n(2)], [n(1), n(2)], [x, n(1)]])) == [x, 2]
    for wrong in ([[n(3)], [n(4)]], [[x], [y]]):
        with pytest.raises(UopError):
            broadcast_shape(wrong)


def test_unbind_gives_variable_and_value() -> None:
    assert unbind(bind(var=x, value=n(3))) == (x, 3)
    for wrong in (x, bind(var=x, value=z)):
        with pytest.raises(UopError):
            unbind(wrong)


def test_bounds_of_what_is_no_integer_are_infinite() -> None:
    f = scalar("f", float32)
    assert bounds(f) == (float("-inf"), float("inf"))
    assert bounds(scalar("t", bool_)) == (False, True)
    assert x.dtype is weakint
