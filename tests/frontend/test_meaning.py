"""Expressions, assignments and helpers mean what they mean in Python, or what the docs say."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from dynamis.frontend import surface as dy
from dynamis.frontend.surface import Grid, Rows, f32, i32, ivec2, vec2, vec3, vec4
from dynamis.kernel import InputField
from dynamis.kernel.fault import FaultKind
from dynamis.kernel.module import Capability
from tests.frontend.support import compiled, fault_of, load, run

INT_MIN, INT_MAX = -(2**31), 2**31 - 1
INTS = [INT_MIN, INT_MIN + 1, -8, -7, -3, -1, 0, 1, 2, 3, 7, 8, INT_MAX - 1, INT_MAX]
NAN, INF = math.nan, math.inf
FLOATS = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 0.1, -7.25, 1e-45, 3e38, -3e38, INF, -INF, NAN]


def floor_divide(a: i32 = 0, b: i32 = 1) -> Rows[i32]:
    return a // b


def modulo(a: i32 = 0, b: i32 = 1) -> Rows[i32]:
    return a % b


@pytest.mark.parametrize("function", [floor_divide, modulo])
def test_int_floor_division_and_modulo_are_pythons(function: Callable[[int, int], int]) -> None:
    for a in INTS:
        for b in INTS:
            if b == 0:
                assert fault_of(function, a=a, b=b).kind is FaultKind.DIVISION_BY_ZERO
            elif function(a, b) > INT_MAX:
                assert fault_of(function, a=a, b=b).kind is FaultKind.OVERFLOW
            else:
                assert run(function, a=a, b=b) == function(a, b), (a, b)


def vector_floor(a: i32 = 0, b: i32 = 1) -> Rows[i32]:
    q = ivec2(a, -a) // ivec2(b, 5)
    r = ivec2(a, -a) % b
    return (q.x * 31 + q.y) * 31 + r.x * 7 + r.y


def test_int_vectors_floor_component_by_component() -> None:
    for a in (-9, -8, 0, 5, 100):
        for b in (-4, -1, 3, 7):
            wanted = ((a // b) * 31 + -a // 5) * 31 + (a % b) * 7 + -a % b
            assert run(vector_floor, a=a, b=b) == wanted


def float_floor_divide(a: f32 = 0.0, b: f32 = 1.0) -> Rows[f32]:
    return a // b


def float_modulo(a: f32 = 0.0, b: f32 = 1.0) -> Rows[f32]:
    return a % b


def same(a: float, b: float) -> bool:
    return (a != a and b != b) or (a == b and math.copysign(1, a) == math.copysign(1, b))


def test_float_floor_division_and_modulo_follow_cpythons_algorithm_in_f32() -> None:
    # NumPy's float32 divmod is that algorithm in f32, for a divisor that is not zero.
    with np.errstate(all="ignore"):
        for a in FLOATS:
            for b in FLOATS:
                x, y = np.float32(a), np.float32(b)
                quotient = run(float_floor_divide, a=a, b=b)
                remainder = run(float_modulo, a=a, b=b)
                if b == 0:
                    assert math.isnan(quotient)
                    assert math.isnan(remainder)
                else:
                    assert same(quotient, float(x // y)), (a, b)
                    assert same(remainder, float(x % y)), (a, b)


def vector_modulo(a: f32 = 0.0) -> Rows[vec2]:
    return vec2(a, -a) % 3 + vec2(a, -a) // 3


def test_float_vectors_floor_component_by_component() -> None:
    assert run(vector_modulo, a=-7.5) == [-7.5 % 3 + -7.5 // 3, 7.5 % 3 + 7.5 // 3]


def powers(a: i32 = 0) -> Rows[i32]:
    return a**5 - a**3 * 2 + a**2 + a**1 - a**0


def thirty_first(a: i32 = 0) -> Rows[i32]:
    return a**31


def float_power(x: f32 = 0.0) -> Rows[f32]:
    return x**3


def test_powers_are_checked_products() -> None:
    for a in (-20, -1, 0, 1, 3, 50):
        assert run(powers, a=a) == powers(a)
    assert run(thirty_first, a=-2) == INT_MIN
    assert fault_of(thirty_first, a=2).kind is FaultKind.OVERFLOW
    x = np.float32(1.1)
    assert run(float_power, x=1.1) == float(x * x * x)


def bits(a: i32 = 0, b: i32 = 0) -> Rows[i32]:
    return ((a & b) | (a ^ 85)) + (~b >> 3) + (a << 2) % 64


def test_bit_operators_are_pythons_where_nothing_is_dropped() -> None:
    for a in (-9, -1, 0, 5, 1000):
        for b in (-77, 0, 3, 4096):
            assert run(bits, a=a, b=b) == bits(a, b)


def chained(a: i32 = 0, b: i32 = 0) -> Rows[i32]:
    total = 0
    if a < b < 10 // b:
        total += 1
    if 0 <= a <= b != 4:
        total += 2
    if not a == b == 3:
        total += 4
    return total


def test_chained_comparisons_stop_at_the_first_that_fails() -> None:
    for a in range(-2, 5):
        for b in (1, 2, 3, 4):
            assert run(chained, a=a, b=b) == chained(a, b)
    assert run(chained, a=5, b=0) == 4  # 10 // b is not reached
    assert fault_of(chained, a=-1, b=0).kind is FaultKind.DIVISION_BY_ZERO


def circuits(a: i32 = 0, b: i32 = 0) -> Rows[i32]:
    both = b != 0 and a // b > 2
    either = b == 0 or a % b == 1
    return (1 if both else 0) + (2 if either else 0) + (4 if (a > 0 and b > 0) or a == b else 0)


def test_and_or_are_short_circuits() -> None:
    for a in (-3, 0, 3, 7):
        for b in (-2, 0, 2):
            assert run(circuits, a=a, b=b) == circuits(a, b)


def test_what_cannot_fail_is_no_branch_under_and() -> None:
    def pure(a: f32 = 0.0, b: f32 = 0.0) -> Rows[bool]:
        return a > 0.0 and b > a

    assert "if" not in str(compiled(pure)).split()


def order(a: i32 = 0, b: i32 = 0) -> Rows[i32]:
    return (a + INT_MAX) * (1 // b)


def test_the_left_operand_fails_before_the_right_one() -> None:
    assert fault_of(order, a=1, b=0).kind is FaultKind.OVERFLOW
    fault = fault_of(order, a=0, b=0)
    assert (fault.kind, fault.operands) == (FaultKind.DIVISION_BY_ZERO, (1, 0))
    assert fault.span is not None
    assert (fault.span.column, fault.span.end_column) == (28, 34)


def add(a: i32, b: i32) -> i32:
    return a + b


def argument_order(a: i32 = 0, b: i32 = 0) -> Rows[i32]:
    return add(b=a + INT_MAX, a=1 // b)


def test_keyword_arguments_are_evaluated_as_they_are_written() -> None:
    assert fault_of(argument_order, a=1, b=0).kind is FaultKind.OVERFLOW


def conditional(a: i32 = 0, b: i32 = 0) -> Rows[i32]:
    return 7 if b == 0 else a // b


def test_only_the_chosen_side_of_a_conditional_runs() -> None:
    assert run(conditional, a=5, b=0) == 7
    assert run(conditional, a=5, b=2) == 2


def augmented(a: i32 = 0, b: i32 = 0) -> Rows[i32]:
    a += b
    a *= 3
    a -= 1
    a //= 2
    a %= 11
    a <<= 2
    a |= 1
    a ^= b
    a &= 255
    a >>= 1
    a **= 2
    b = a = a + b
    c: i32 = a
    c, b = b, c + 1
    return a + b * 1000 + c


def test_augmented_and_chained_assignment_is_pythons() -> None:
    for a in (-5, 0, 9):
        for b in (-3, 0, 8):
            assert run(augmented, a=a, b=b) == augmented(a, b)


def extremes(a: f32 = 0.0, b: f32 = 0.0) -> Rows[f32]:
    return min(a, b) * 100 + max(a, b, 0)


def test_min_and_max_of_python_are_pythons_on_floats_too() -> None:
    for a in FLOATS:
        for b in FLOATS:
            with np.errstate(all="ignore"):
                x, y = np.float32(a), np.float32(b)
                wanted = float(min(x, y) * np.float32(100) + max(x, y, np.float32(0)))
            assert same(run(extremes, a=a, b=b), wanted), (a, b)


def whole_numbers(a: f32 = 0.0) -> Rows[i32]:
    n = math.floor(a) + 10 * math.ceil(a) + 100 * math.trunc(a) + 1000 * round(a)
    return n + 10000 * int(a) + (5 if bool(a) else 3) + abs(int(a)) + int(a > 0) + 3


def test_pythons_rounding_functions_give_ints() -> None:
    for a in (-2.5, -1.5, -0.25, 0.0, 0.5, 1.5, 2.75):
        assert run(whole_numbers, a=a) == whole_numbers(a)


def test_conversion_saturates_and_takes_nan_to_zero() -> None:
    def kernel(x: f32 = 0.0) -> Rows[i32]:
        return i32(x)

    assert [run(kernel, x=x) for x in (3e9, -3e9, NAN, -2.9)] == [INT_MAX, INT_MIN, 0, -2]


def literals(x: f32 = 2.0) -> Rows[f32]:
    return 3 * x + 1 - -2 / x + (1 if x > 1 else 0.5) + SIX * x


SIX = 6
HALF = 0.5
TINT = vec3(0.25, 0.5, 1)
NUMPY = (np.float32(0.75), np.int64(3), np.bool_(True))
QUARTERS, THREE, YES = NUMPY


def test_whole_numbers_beside_floats_are_floats() -> None:
    assert run(literals, x=2.0) == literals(2.0)


def constants(x: f32 = 1.0) -> Rows[vec3]:
    return TINT * HALF + math.pi * x if YES else vec3(QUARTERS) * THREE + TINT.b


def test_module_constants_are_captured() -> None:
    pi = np.float32(math.pi)
    wanted = [float(np.float32(t) * np.float32(0.5) + pi) for t in (0.25, 0.5, 1)]
    assert run(constants) == wanted


def closure(scale: float, offset: vec2) -> Callable[..., Any]:
    def kernel(x: f32 = 1.0) -> Rows[vec2]:
        return x * scale + offset

    return kernel


def test_closure_constants_are_captured() -> None:
    assert run(closure(3, vec2(1, 2)), x=2.0) == [7.0, 8.0]
    assert run(closure(0.5, vec2(0)), x=2.0) == [1.0, 1.0]


def vectors(x: f32 = 1.0) -> Rows[vec4]:
    v = vec4(vec2(x, 2), 3, 4).abgr
    v.x = 10
    v.y += 0.5
    v.zw *= 2.0
    v.rb = v.br
    a, b = v.xy
    (c, d), e = v.zw, a + b
    return vec4(a, b, c, d) + vec4(0, vec3(e) - e)


def test_swizzles_components_and_unpacking() -> None:
    assert run(vectors, x=1.0) == [4.0, 3.5, 10.0, 2.0]


def geometry(x: f32 = 3.0) -> Rows[f32]:
    v = vec2(x, 4)
    n = dy.normalize(v)
    c = dy.cross(vec3(1, 0, 0), vec3(0, 1, 0))
    return dy.length(v) + dy.distance(v, vec2(x)) + dy.dot(n, v) + c.z


def test_geometry_functions() -> None:
    assert run(geometry) == pytest.approx(5 + 1 + 5 + 1)


def truncating(a: i32 = 0, b: i32 = 1) -> Rows[i32]:
    return dy.div(a, b) * 100 + dy.rem(a, b) + dy.ushr(a, 28)


def test_div_and_rem_truncate() -> None:
    assert run(truncating, a=-7, b=2) == -301 + 15


WEIGHTS = vec3(0.5, 0.25, 0.25)


def luminance(c: vec3, weights=WEIGHTS):  # type: ignore[no-untyped-def]
    """Helpers may have a docstring, defaults and inferred types."""
    return dy.dot(c, weights)


def spread(a, b=2):  # type: ignore[no-untyped-def]
    if a > b:
        return a, b
    return b, a


def helpers(x: f32 = 1.0, n: i32 = 1) -> Rows[f32]:
    high, low = spread(x, b=0.5)
    top, bottom = spread(n)
    again, _ = spread(n, 7)
    return luminance(vec3(x, high, low)) + f32(top * 100 + bottom * 10 + again)


def test_helpers_are_specialised_by_type_and_shared() -> None:
    module = compiled(helpers)
    assert [f.name for f in module.functions] == ["spread", "spread_2", "luminance"]
    assert run(helpers, x=2.0, n=5) == 0.5 * 2 + 0.25 * 2 + 0.25 * 0.5 + 527


def neighbour(cells, k):  # type: ignore[no-untyped-def]
    return cells.at(dy.clamp(k, 0, cells.count - 1))


def ports(a: Rows[i32], b: Rows[i32]) -> Rows[i32]:
    i = dy.element()
    return neighbour(a, i + 1) * 100 + neighbour(b, i - 1) + a.sample() * 10000 + dy.domain()


def test_helpers_read_the_ports_they_are_given() -> None:
    a, b = InputField((3,), [1, 2, 3]), InputField((3,), [4, 5, 6])
    wanted = [10000 + 204 + 3, 20000 + 304 + 3, 30000 + 305 + 3]
    assert run(ports, inputs=[a, b], extent=(3,)) == wanted
    assert compiled(ports).manifest.requires == {Capability.FIELD_READ}


def grid(image: Grid[vec2]) -> Grid[vec2]:
    return image.at(ivec2(i32(dy.coord().x) - 1, 1)) + image.size


def test_a_grid_takes_int_addresses_and_has_a_size() -> None:
    image = InputField((2, 3), [float(k) for k in range(12)])
    wanted = [float(w) for w in (6 + 3, 7 + 2, 6 + 3, 7 + 2, 8 + 3, 9 + 2)]
    assert run(grid, inputs=[image], extent=(1, 3)) == wanted


class Split(NamedTuple):
    """Two outputs by name."""

    low: Rows[i32]
    high: Rows[bool]


def named(a: i32 = 0) -> Split:
    if a > 5:
        return Split(high=True, low=a % 5)
    return a, False  # type: ignore[return-value]


def numbered(a: i32 = 0) -> tuple[Rows[i32], Rows[f32]]:
    return a, 1


def test_outputs_are_named_by_the_return_annotation() -> None:
    assert [p.name for p in compiled(named).manifest.outputs] == ["low", "high"]
    assert run(named, a=8) == ([3], [True])
    assert run(named, a=2) == ([2], [False])
    assert [p.name for p in compiled(numbered).manifest.outputs] == ["out0", "out1"]
    assert run(numbered, a=2) == ([2], [1.0])
    assert [p.name for p in compiled(modulo).manifest.outputs] == ["out"]


def keyword_only(*, gain: float = 2, steps: int = 3, on: bool = True) -> Rows[f32]:
    return gain * f32(steps) if on else 0


def test_pythons_own_types_are_value_types() -> None:
    assert run(keyword_only) == 6.0
    assert run(keyword_only, on=False) == 0.0


def test_flags_combine_as_bools() -> None:
    def kernel(a: i32 = 0, b: i32 = 0) -> Rows[i32]:
        p, q = a > 0, b > 0
        return int(p & q) + 2 * int(p | q) + 4 * int(p ^ q) + 8 * int(p == q) + 16 * int(not p)

    for a in (0, 1):
        for b in (0, 1):
            assert run(kernel, a=a, b=b) == kernel(a, b)


def folded(n: i32 = 0) -> Rows[i32]:
    return n + (2**31 - 1)


LITERALS = [
    "2**31 - 1", "-2**31", "-(2**31)", "65536 * 65536 // 65536", "(1 << 31) - 1", "7 // -2",
    "-7 // 2", "7 % -3", "-7 % 3", "~(1 << 30)", "0xFFFFFFFF >> 1", "0xFF00 & 0x0FF0 | 3 ^ 9",
    "2**40 // 2**20", "-(3 - 5) ** 2", "0 << 10**9", "1 >> 10**9", "0**0", "1**10**9", "+5 - -3",
]  # fmt: skip


@pytest.mark.parametrize("text", LITERALS)
def test_whole_numbers_written_out_are_computed_as_python_does(text: str, tmp_path: Path) -> None:
    head = "from dynamis.frontend.surface import *\n"
    source = f"def kernel(n: i32 = 0) -> Rows[i32]:\n    return n * 0 + ({text})\n"
    wanted = eval(text)
    assert run(load(head + source, tmp_path).kernel) == wanted
    named = f"S = {text}\ndef kernel(n: i32 = 0) -> Rows[i32]:\n    return n * 0 + S\n"
    assert run(load(head + named, tmp_path).kernel) == wanted


def test_a_large_whole_number_beside_a_float_is_that_float() -> None:
    def kernel(x: f32 = 0.5) -> Rows[f32]:
        return x * (2**100) / 2**99

    assert run(kernel) == 0.5 * 2


def test_a_keyword_only_argument_of_a_helper_is_given_by_name() -> None:
    def kernel(n: i32 = 3) -> Rows[i32]:
        return _by_name(n, k=2)

    assert run(kernel) == 32


def _by_name(a, /, *, k):
    return a * 10 + k


def test_float_floor_division_and_modulo_by_zero_are_nan_as_the_tutorial_says() -> None:
    for a in FLOATS:
        for zero in (0.0, -0.0):
            assert math.isnan(run(float_floor_divide, a=a, b=zero))
            assert math.isnan(run(float_modulo, a=a, b=zero))
