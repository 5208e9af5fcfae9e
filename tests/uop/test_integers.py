"""Symbolic integers: factors, divisibility, sums and products, extremes, broadcasting."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from dynamis.dtype import int8, int32, weakint
from dynamis.uop import (
    Ops,
    Uop,
    UopError,
    bind,
    broadcast_shape,
    const_factor,
    const_int,
    const_of_dtype,
    divide_exact,
    divides,
    gcd,
    pop_const,
    simplify,
    simplify_ref,
    smax,
    smin,
    split_uop,
    sprod,
    stack,
    unbind,
    uprod,
    usum,
    variable,
)
from tests.uop.graphs import leaf, value_of

a, b, c = (leaf(n, weakint, (-4, 4)) for n in "abc")
n = variable(name="n", min_val=1, max_val=9)
one, two, zero = const_int(1), const_int(2), const_int(0)


def test_const_factor() -> None:
    assert const_factor(const_int(-6)) == -6
    assert const_factor(zero) == 0
    assert const_factor(a * 6) == 6
    assert const_factor(const_int(4) * (a * 3)) == 4
    assert const_factor(a * 6 + b * 4) == 2
    assert const_factor(a * 6 + 3) == 3
    assert const_factor(a + b * 4) == 1
    assert const_factor(stack([const_int(8), const_int(12)])) == 4
    assert const_factor(stack([])) == 0
    assert const_factor(a) == 1


def test_divides() -> None:
    assert divides(a, 1) is a
    assert divides(a, 2) is None
    assert divides(const_int(-6), 3) is const_int(-2)
    assert divides(const_int(7), 3) is None
    assert divides(a * 6 + b * 4, 2) is a * 3 + b * 2
    assert divides(a * 6 + b, 2) is None
    assert divides((a * 4) * (b * 2), 4) is (a * 1) * (b * 2)
    assert divides(b * (a * 4), 4) is b * (a * 1)
    assert divides(a << 3, 4) is a * 2
    assert divides(a << 1, 4) is None
    assert divides(stack([const_int(4), const_int(6)]), 2) is stack([two, const_int(3)])
    assert divides(stack([const_int(4), const_int(5)]), 2) is None
    with pytest.raises(UopError, match="0"):
        divides(a, 0)


def test_division_is_exact_for_random_expressions() -> None:
    rng = random.Random(3)
    proved = 0
    for _ in range(400):
        u = rng.choice([a, b, const_int(rng.randint(-8, 8))])
        for _ in range(rng.randint(1, 4)):
            k = const_int(rng.randint(-6, 6))
            v = rng.choice([a, b, c])
            u = rng.choice([u * k, u + v * k, u + k, u * v])
        m = rng.choice([2, 3, -2, 4])
        d = rng.choice([a, b * 2, a * b, const_int(m)])
        for q, by in ((divides(u, m), const_int(m)), (divide_exact(u, d), d)):
            if q is None:
                continue
            proved += 1
            for row in itertools.product(range(-4, 5, 2), repeat=3):
                env = dict(zip((a, b, c), row, strict=True))
                assert value_of(q * by, env) == value_of(u, env)
    assert proved > 100


def test_pop_const() -> None:
    assert pop_const(a + 5) == (a, 5)
    assert pop_const(const_int(5) + a) == (const_int(5) + a, 0)
    assert pop_const(a * 5) == (a * 5, 0)


def test_split_sum_and_product() -> None:
    assert split_uop((a + b) + (c + 1), Ops.ADD) == [a, b, c, one]
    assert split_uop(a * b, Ops.ADD) == [a * b]
    assert usum([a, b, c]) is (a + b) + c
    assert uprod([a, b, c]) is (a * b) * c
    assert usum([a]) is a
    for f in (usum, uprod, smax, smin, gcd):
        with pytest.raises(UopError, match="nothing"):
            f([])


def test_divide_exact() -> None:
    assert divide_exact(a, a) is one
    assert divide_exact(a * b * 6, b * 2) is a * 3
    assert divide_exact(a * b + b, b) is a + 1
    assert divide_exact(a * b + c, b) is None
    assert divide_exact(a * b, b * b) is None
    assert divide_exact(a * 6, const_int(3)) is a * 2
    assert divide_exact(a * 3, a * 2) is None


def test_gcd() -> None:
    assert gcd([a * 6, a * 4]) is a * 2
    assert gcd([a * b * 6, b * 9]) is b * 3
    assert gcd([a * a, a * a * b]) is a * a
    assert gcd([const_int(12), const_int(18)]) is const_int(6)
    assert gcd([zero, a]) is one
    assert gcd([a, b]) is one


def test_smax_and_smin() -> None:
    assert smax([const_int(3), const_int(5), two]) is const_int(5)
    assert smin([const_int(3), const_int(5), two]) is two
    assert smax([n, zero]) is n
    assert smin([n, const_int(9)]) is n
    assert smax([n, const_int(5)]).op is Ops.MAX
    p, q = leaf("p", int8), leaf("q", int8)
    for f, g in ((smax, max), (smin, min)):
        for x, y in itertools.product((-128, -1, 0, 127), repeat=2):
            assert value_of(f([p, q]), {p: x, q: y}) == g(x, y)
        for x, y in itertools.product(range(-4, 5), repeat=2):
            assert value_of(f([a, b]), {a: x, b: y}) == g(x, y)


def test_sprod() -> None:
    assert sprod([]) is one
    assert sprod([two, const_int(3)]) is const_int(6)
    assert sprod([n, two]) is n * 2


def test_broadcast_shape() -> None:
    three = const_int(3)
    assert broadcast_shape([]) == ()
    assert broadcast_shape([[three], [two, one]]) == (two, three)
    assert broadcast_shape([[one], [zero]]) == (zero,)
    assert broadcast_shape([[n, one], [n, n]]) == (n, n)
    assert broadcast_shape([[one], [one]]) == (one,)
    assert broadcast_shape([[n + 1 - 1], [n]]) == (n,)
    for bad in ([[two], [three]], [[n], [two]], [[zero], [two]]):
        with pytest.raises(UopError, match="broadcast"):
            broadcast_shape(bad)


def test_unbind() -> None:
    assert unbind(bind(var=n, value=const_int(4))) == (n, 4)
    for u in (n, const_int(4)):
        with pytest.raises(UopError, match="binds no variable"):
            unbind(u)


def test_deep_and_shared_expressions() -> None:
    u: Uop = a
    for k in range(50_000):
        u = u + b * 2 if k % 2 else u + u
        if k > 200:
            u = u + 4
    assert const_factor(u) == 1
    assert divides(u, 2) is None
    v = a * 2
    for _ in range(50_000):
        v = v + b * 4
    assert const_factor(v) == 2
    half = divides(v, 2)
    assert half is not None
    assert divide_exact(v, const_int(2)) is half
    assert len(split_uop(v, Ops.ADD)) == 50_001


def test_simplify_goes_through_its_hook() -> None:
    u = leaf("hooked", int32) + const_of_dtype(int32, 0)
    installed = simplify_ref.value
    try:
        simplify_ref.value = lambda u: u
        assert simplify(u) is u
    finally:
        simplify_ref.value = installed
    assert simplify(u) is u.src[0]
    assert math.isfinite(u.vmin)
