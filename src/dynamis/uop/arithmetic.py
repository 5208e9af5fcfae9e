"""The Python evaluation of every ALU op: total, and bit-exact in the dtype.

Each function takes the dtype it computes in and Python numbers that are values of it. Integers
wrap (weakint does not), floats are computed exactly and rounded once. For + - * / and sqrt of
formats up to 24 significand bits a double is wide enough that rounding it again is exact
(Figueroa, "When is double rounding innocuous?", 1995); a fused multiply-add is not, so it goes
through exact integers.
"""

import math
from collections.abc import Callable

from dynamis.dtype import (
    Number,
    Val,
    bits_of,
    dyadic,
    float32,
    round_exact,
    round_float,
    value_of_bits,
    wrap,
)
from dynamis.elementary import DOUBLE, SINGLE, on_numbers
from dynamis.uop.errors import UopError


def fit(value: Number, dtype: Val) -> Number:
    """A computed value as the dtype holds it."""
    if dtype.is_float:
        return round_float(float(value), dtype)
    if dtype.is_bool:
        return value != 0
    return wrap(int(value), dtype)


def add(dtype: Val, a: Number, b: Number) -> Number:
    """a + b; on bool, or."""
    return fit(a + b, dtype)


def sub(dtype: Val, a: Number, b: Number) -> Number:
    """a - b; on bool, xor."""
    return fit(a - b, dtype)


def mul(dtype: Val, a: Number, b: Number) -> Number:
    """a * b; on bool, and."""
    return fit(a * b, dtype)


def neg(dtype: Val, a: Number) -> Number:
    """-a; the least integer gives itself, a bool gives itself."""
    return fit(-a, dtype)


def fdiv(dtype: Val, a: Number, b: Number) -> Number:
    """a / b in IEEE 754: division by zero gives an infinity, or NaN for 0/0."""
    a, b = float(a), float(b)
    if b == 0.0:
        if a == 0.0 or a != a:
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)
    return fit(a / b, dtype)


def reciprocal(dtype: Val, a: Number) -> Number:
    """1 / a, rounded once."""
    return fdiv(dtype, 1.0, a)


def sqrt(dtype: Val, a: Number) -> Number:
    """Square root: NaN below zero, -0.0 of -0.0."""
    if a < 0 or a != a:
        return math.nan
    return fit(math.sqrt(a), dtype)


def elementary(name: str) -> Callable[..., Number]:
    """An elementary function on floats: f32's and f64's own, on narrower ones f64's, rounded."""

    def evaluate(dtype: Val, *operands: Number) -> Number:
        table = SINGLE if dtype is float32 else DOUBLE if dtype.is_float else {}
        if name not in table:
            raise UopError(f"{name} is not defined on {dtype}")
        return fit(on_numbers(table[name])(*operands), dtype)

    return evaluate


def trunc(dtype: Val, a: Number) -> Number:
    """The integral value next to a, towards zero, with a's sign; integers are unchanged."""
    if not dtype.is_float or not math.isfinite(a):
        return a
    return math.copysign(float(math.trunc(a)), a)


def muladd(dtype: Val, a: Number, b: Number, c: Number) -> Number:
    """a * b + c, on floats rounded once."""
    if not dtype.is_float:
        return fit(a * b + c, dtype)
    a, b, c = float(a), float(b), float(c)
    if not (math.isfinite(a) and math.isfinite(b)):
        return a * b + c
    if not math.isfinite(c):
        return c
    if a == 0.0 or b == 0.0:
        return a * b + c  # a signed zero and c: exact
    (ma, ea), (mb, eb), (mc, ec) = dyadic(a), dyadic(b), dyadic(c)
    m, e = ma * mb, ea + eb
    low = min(e, ec)
    total = (m << (e - low)) + (mc << (ec - low))
    return round_exact(total, low, dtype)


def maximum(dtype: Val, a: Number, b: Number) -> Number:
    """IEEE 754-2019 maximum: NaN wins, -0.0 is below +0.0."""
    if a != a or b != b:
        return math.nan
    if a == b == 0 and dtype.is_float:
        return a if math.copysign(1.0, a) > 0 else b
    return a if a > b else b


def less(dtype: Val, a: Number, b: Number) -> Number:
    """a < b; false on NaN."""
    return a < b


def not_equal(dtype: Val, a: Number, b: Number) -> Number:
    """a != b; true on NaN."""
    return a != b


def equal(dtype: Val, a: Number, b: Number) -> Number:
    """a == b; false on NaN."""
    return a == b


def floordiv(dtype: Val, a: Number, b: Number) -> Number:
    """Floor of a / b; x // 0 is 0, MIN // -1 wraps."""
    return fit(int(a) // int(b), dtype) if b else 0


def floormod(dtype: Val, a: Number, b: Number) -> Number:
    """a - b * floor(a / b); x % 0 is x."""
    return int(a) % int(b) if b else a


def cdiv(dtype: Val, a: Number, b: Number) -> Number:
    """a / b cut towards zero; x / 0 is 0, MIN / -1 wraps."""
    if not b:
        return 0
    q = abs(int(a)) // abs(int(b))
    return fit(q if (a < 0) == (b < 0) else -q, dtype)


def cmod(dtype: Val, a: Number, b: Number) -> Number:
    """a - b * cdiv(a, b), with a's sign; x % 0 is x."""
    if not b:
        return a
    r = abs(int(a)) % abs(int(b))
    return -r if a < 0 else r


def shl(dtype: Val, a: Number, n: Number) -> Number:
    """a << n, the count taken modulo the width."""
    return fit(int(a) << (int(n) % dtype.bits), dtype)


def shr(dtype: Val, a: Number, n: Number) -> Number:
    """a >> n, arithmetic on signed and logical on unsigned; the count modulo the width."""
    return int(a) >> (int(n) % dtype.bits)


def bit_xor(dtype: Val, a: Number, b: Number) -> Number:
    """a ^ b."""
    return fit(int(a) ^ int(b), dtype)


def bit_or(dtype: Val, a: Number, b: Number) -> Number:
    """a | b."""
    return fit(int(a) | int(b), dtype)


def bit_and(dtype: Val, a: Number, b: Number) -> Number:
    """a & b."""
    return fit(int(a) & int(b), dtype)


def where(dtype: Val, c: Number, a: Number, b: Number) -> Number:
    """a when c is true, else b."""
    return a if c else b


def cast(dtype: Val, a: Number) -> Number:
    """a converted to `dtype`.

    int to int wraps; float to int cuts towards zero and saturates, NaN gives 0; to bool is
    `!= 0`; to float rounds to nearest-even, once.
    """
    if dtype.is_bool:
        return a != 0
    if dtype.is_int:
        if not isinstance(a, float):
            return wrap(int(a), dtype)
        if a != a:
            return 0
        low, high = int(dtype.min), int(dtype.max)
        if math.isinf(a):
            return high if a > 0 else low
        return min(max(math.trunc(a), low), high)
    if dtype.is_float:
        if isinstance(a, float):
            return round_float(a, dtype)
        if dtype.bits > 8:
            return round_exact(int(a), 0, dtype)
        return round_float(float(min(max(int(a), -(1 << 40)), 1 << 40)), dtype)
    raise UopError(f"nothing converts to {dtype}")


def bitcast(dtype: Val, a: Number, source: Val) -> Number:
    """The value of `dtype` with the bits of a, a value of `source`. Raises on unequal widths."""
    if dtype.bits != source.bits:
        raise UopError(f"bitcast between widths: {source} to {dtype}")
    return value_of_bits(bits_of(a, source), dtype)
