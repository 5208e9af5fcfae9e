"""The 8-bit floats, as bytes and as values.

Four formats: e4m3 and e5m2 after the OCP proposal, and their "fnuz" variants, which have no
infinity, no negative zero, and the one NaN 0x80. Rounding is to nearest, ties to even; what is too
large becomes the largest finite value.
"""

import math
from typing import Final, NamedTuple

from dynamis.dtype.rounding import dyadic, round_dyadic
from dynamis.dtype.val import Val


class Format(NamedTuple):
    """Exponent bias, fraction bits, and the byte of the largest finite value."""

    bias: int
    fraction: int
    largest: int


FP8: Final[dict[str, Format]] = {
    "fp8e4m3": Format(7, 3, 0x7E),
    "fp8e5m2": Format(15, 2, 0x7B),
    "fp8e4m3fnuz": Format(8, 3, 0x7F),
    "fp8e5m2fnuz": Format(16, 2, 0x7F),
}


def fp8_value(pattern: int, dtype: Val) -> float:
    """The value of a byte."""
    name = dtype.scalar.name
    form = FP8[name]
    sign = -1.0 if pattern & 0x80 else 1.0
    if name.endswith("fnuz"):
        if pattern == 0x80:
            return math.nan
    elif (pattern & 0x7F) > form.largest:
        infinite = name == "fp8e5m2" and pattern & 0x7F == 0x7C
        return sign * math.inf if infinite else math.nan
    exponent = (pattern & 0x7F) >> form.fraction
    fraction = pattern & ((1 << form.fraction) - 1)
    if exponent:
        fraction += 1 << form.fraction
    return sign * math.ldexp(fraction, max(exponent, 1) - form.bias - form.fraction)


def fp8_bits(x: float, dtype: Val) -> int:
    """The byte of `x` rounded to the format."""
    name = dtype.scalar.name
    form = FP8[name]
    fnuz = name.endswith("fnuz")
    sign = 0x80 if math.copysign(1.0, x) < 0 else 0
    if not math.isfinite(x):
        if fnuz:
            return 0x80
        return sign | (0x7C if name == "fp8e5m2" and math.isinf(x) else 0x7F)
    y = abs(round_dyadic(*dyadic(x), form.fraction, 1 - form.bias, 1 << 12))
    if y >= fp8_value(form.largest, dtype):
        return sign | form.largest
    if y == 0.0:
        return 0 if fnuz else sign
    mantissa, exponent = math.frexp(y)  # y = mantissa * 2**exponent, mantissa in [0.5, 1)
    biased = exponent - 1 + form.bias
    if biased > 0:
        steps = int(math.ldexp(mantissa, form.fraction + 1)) + ((biased - 1) << form.fraction)
    else:
        steps = int(math.ldexp(y, form.fraction + form.bias - 1))
    return sign | steps
