"""f64 in kernels: the same words on every backend, width and thread count; rules of the surface."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import dynamis as dy
from dynamis import Grid, Rows, f32, f64, i32, vec2

SEED = 20261130
TENTH = 0.1
EDGES = np.array(
    [0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 5e-324, -5e-324, 2.2250738585072014e-308]
    + [1e-310, 0.5, 1.5, 2.5, -2.5, 2.0**31, -(2.0**31), 2.0**31 - 1, -(2.0**31) - 0.5, 2.0**53]
    + [2.0**52 - 0.5, 2.0**52 + 1, 2.0**51 + 0.5, 1e300, 1.7e308, 1e-300, 3.4e38]
)


def hostile(n: int, rng: np.random.Generator) -> np.ndarray:
    """A third edge values, a third of every exponent, a third ordinary."""
    wide = np.ldexp(rng.random(n) * 2 - 1, rng.integers(-1074, 1024, n))
    kind = rng.integers(0, 3, n)
    return np.choose(kind, [rng.choice(EDGES, n), wide, rng.random(n) * 10 - 5])


@dy.kernel
def arithmetic(a: Rows[f64], b: Rows[f64], s: f64 = TENTH) -> tuple[Rows[f64], Rows[f64]]:
    x, y = a.sample(), b.sample()
    return x * 0.1 + y / 3 - s, dy.fma(x, y, 2.0 * s) + dy.sqrt(x) - -y


@dy.kernel
def rounding(a: Rows[f64]) -> tuple[Rows[f64], Rows[f64], Rows[f64], Rows[f64], Rows[f64]]:
    x = a.sample()
    return dy.floor(x), dy.ceil(x), dy.round(x), dy.trunc(x), dy.fract(x)


@dy.kernel
def choosing(a: Rows[f64], b: Rows[f64]) -> tuple[Rows[f64], Rows[f64], Rows[f64], Rows[f64]]:
    x, y = a.sample(), b.sample()
    low = dy.min(x, y) if x <= y else dy.abs(dy.max(y, 0.0))
    return low, dy.clamp(x, y, 1.0), dy.mix(x, y, 0.25), dy.smoothstep(0.0, x, y) + dy.step(x, y)


@dy.kernel
def converting(
    a: Rows[f64], n: Rows[i32], h: Rows[f32]
) -> tuple[Rows[i32], Rows[f32], Rows[f64], Rows[f64], Rows[bool], Rows[f64]]:
    x = a.sample()
    c = x > 0 or x != x
    return i32(x), f32(x), f64(n.sample()), f64(h.sample()), bool(x), dy.sign(x) + f64(c)


@dy.kernel
def remainders(a: Rows[f64], b: Rows[f64]) -> tuple[Rows[f64], Rows[f64], Rows[f64]]:
    x, y = a.sample(), b.sample()
    return dy.rem(x, y), x % y, x // y


@dy.kernel
def looping(a: Rows[f64], b: Rows[f64]) -> Rows[f64]:
    x, y, k = a.sample(), b.sample(), 0
    while x < 1e3 and k < 40:
        if y > 0:
            x = x * 1.5 + y % 0.75
        else:
            x += 0.125
        k += 1
    return x + a.at(dy.element() + 1) + a.at(dy.element() - 2)


@dy.kernel
def smooth(a: Grid[f64]) -> Grid[f64]:
    total = f64(0)
    for v in range(-1, 2):
        for u in range(-1, 2):
            total += a.at(dy.coord() + vec2(u, v)) / 9.0
    return total


def agree(kernel: dy.Kernel, *inputs: np.ndarray, **params: float) -> None:
    want = kernel(*inputs, backend="reference", **params)
    for width, threads in itertools.product((1, 4, 8, 16, 64), (1, 3)):
        got = kernel.options(width=width)(*inputs, threads=threads, **params)
        pairs = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
        for k, (g, w) in enumerate(pairs):
            assert g.dtype == w.dtype
            assert g.tobytes() == w.tobytes(), (width, threads, k)


@dy.kernel
def uniform(a: Rows[f64], s: f64 = 0.5, n: i32 = 3, t: f32 = 0.5) -> tuple[Rows[f64], Rows[f32]]:
    x = a.sample()
    y = x if s < 1 and n > 2 else -x
    return dy.pow(y, s) + (x if f64(t) > s else 1 / s), f32(x) * t if s > 0 else t / 3


@pytest.mark.parametrize("s", [-2.0, 0.5, 1.0, np.nan])
def test_what_is_the_same_for_all_elements_meets_what_is_not(s: float) -> None:
    a = hostile(300, np.random.default_rng(SEED + 8))
    a = np.where(np.abs(a) < 3e38, a, 1.0)
    for n in (1, 3):
        agree(uniform, a, s=s, n=n, t=0.75)


@pytest.mark.parametrize("n", [1, 7, 900])
@pytest.mark.parametrize("kernel", [arithmetic, choosing, remainders, looping], ids=repr)
def test_two_doubles_agree(kernel: dy.Kernel, n: int) -> None:
    rng = np.random.default_rng(SEED + n)
    agree(kernel, hostile(n, rng), hostile(n, rng))


def test_rounding_agrees_and_is_numpys() -> None:
    x = np.concatenate([EDGES, -EDGES, hostile(500, np.random.default_rng(SEED))])
    agree(rounding, x)
    for got, function in zip(rounding(x), (np.floor, np.ceil, np.rint, np.trunc), strict=False):
        assert np.array_equal(got, function(x), equal_nan=True), function
        keep = ~np.isnan(x)
        assert np.array_equal(np.signbit(got[keep]), np.signbit(x[keep])) or function is np.ceil


def test_conversions_agree() -> None:
    rng = np.random.default_rng(SEED + 3)
    x = np.concatenate([EDGES, hostile(500, rng)])
    n = rng.integers(-(2**31), 2**31, x.size).astype(np.int32)
    with np.errstate(over="ignore"):
        single = x.astype(np.float32)
    agree(converting, x, n, single)


def test_a_stencil_agrees() -> None:
    rng = np.random.default_rng(SEED + 4)
    for shape in ((1, 5), (5, 40), (9, 67)):
        agree(smooth, hostile(shape[0] * shape[1], rng).reshape(shape))


def test_rem_is_cs_fmod_whatever_the_exponents() -> None:
    rng = np.random.default_rng(SEED + 5)
    a, b = hostile(3000, rng), hostile(3000, rng)
    close = rng.random(3000) < 0.3  # quotients about 2**53, where a rounded one may be off by one
    b = np.where(close, a * np.ldexp(rng.random(3000) + 0.5, -rng.integers(50, 56, 3000)), b)
    with np.errstate(invalid="ignore"):
        want = np.fmod(a, b)
    want[np.isnan(want)] = np.nan
    assert remainders(a, b)[0].tobytes() == want.tobytes()


def test_floored_quotient_and_modulo_are_pythons() -> None:
    rng = np.random.default_rng(SEED + 6)
    a, b = hostile(2000, rng), hostile(2000, rng)
    _, modulo, quotient = remainders(a, b)
    for x, y, r, q in zip(a.tolist(), b.tolist(), modulo, quotient, strict=True):
        if y == 0.0:
            assert math.isnan(r) and math.isnan(q)
            continue
        for got, want in ((r, x % y), (q, x // y)):
            assert np.float64(got).tobytes() == np.float64(want).tobytes() or (
                math.isnan(got) and math.isnan(want)
            ), (x, y)


def test_a_stored_nan_is_the_canonical_one() -> None:
    x = np.array([0xFFF0000000000001, 0x7FFFFFFFFFFFFFFF], np.uint64).view(np.float64)
    for backend in ("cpu", "reference"):
        out = rounding(x, backend=backend)[0]
        assert out.view(np.uint64).tolist() == [0x7FF8000000000000] * 2


def test_a_number_written_out_beside_an_f64_is_an_f64() -> None:
    x = np.array([3.0])
    first, _ = arithmetic(x, x)
    assert first[0] == 3.0 * 0.1 + 3.0 / 3 - 0.1  # the doubles, not f32 0.1


@dy.kernel
def literals(a: Rows[f64]) -> tuple[Rows[f64], Rows[f64], Rows[f64], Rows[f64], Rows[bool]]:
    x = a.sample()
    y: f64 = 0.1
    y = -0.2
    z = 0.1 if x > 0 else x
    return f64(0.1), y, z, f64(1e300) * TENTH, 0.1 < x <= 0.30000000000000004


def test_literals_keep_all_their_digits_where_an_f64_is_meant() -> None:
    got = [o.tolist() for o in literals(np.array([0.1, -1.0, 0.3]))]
    assert got[0] == [0.1] * 3 and got[1] == [-0.2] * 3 and got[2] == [0.1, -1.0, 0.1]
    assert got[3] == [1e300 * 0.1] * 3 and got[4] == [False, False, True]


def test_narrower_floats_widen_into_an_f64_port_and_nothing_else_does() -> None:
    for dtype in (np.float16, np.float32, np.float64, ">f8", ">f4"):
        out = rounding(np.array([1.5, -2.5]).astype(dtype))[0]
        assert out.dtype == np.float64 and out.tolist() == [1.0, -3.0]
    with pytest.raises(dy.ArgumentError, match="takes float64 or float32 or float16, not int32"):
        rounding(np.array([1, 2], np.int32))
    with pytest.raises(dy.ArgumentError, match=r"astype\(np.float32\), which rounds"):
        converting(EDGES, np.zeros(EDGES.size, np.int32), EDGES)
    with pytest.raises(dy.ArgumentError, match="takes an array of float64, not float32"):
        smooth(np.zeros((2, 2)), out=np.zeros((2, 2), np.float32))


def test_an_f64_parameter_takes_any_real_number_rounded_once() -> None:
    x = np.array([0.0])
    for given, want in ((0.25, 0.25), (2**53 + 3, 2.0**53 + 4), (np.float32(0.5), 0.5), (7, 7.0)):
        assert arithmetic(x, x, s=given)[0][0] == -want
    with pytest.raises(dy.ArgumentError, match="beyond the largest f64, 1.797"):
        arithmetic(x, x, s=10**400)
    with pytest.raises(dy.ArgumentError, match="'s' is an f64: it takes a number, not str"):
        arithmetic(x, x, s="1")


def test_unaligned_strided_and_aliased_doubles_are_as_good_as_any() -> None:
    rng = np.random.default_rng(SEED + 7)
    x = hostile(64, rng)
    raw = np.zeros(64 * 8 + 3, np.uint8)
    odd = raw[3:].view(np.float64)
    odd[:] = x
    want = rounding(x)[0].tobytes()
    assert rounding(odd)[0].tobytes() == want
    assert rounding(np.repeat(x, 2)[::2])[0].tobytes() == want
    grid = x.reshape(8, 8).copy()
    fresh = smooth(grid.copy())
    assert smooth(grid, out=grid).tobytes() == fresh.tobytes()


def test_on_the_host_f64_is_float() -> None:
    assert f64(1) == 1.0 and isinstance(f64(1), float) and f64() == 0.0


def test_the_text_of_a_kernel_of_doubles_reads_back() -> None:
    from dynamis.kernel import parse

    assert parse(str(literals.ir)) == parse(str(parse(str(literals.ir))))
    assert "const Double(0.1)" in str(literals.ir)
