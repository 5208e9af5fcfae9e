"""Parameter values: Python and NumPy numbers, vectors and sequences become Kernel IR values.

An f32 or f64 parameter takes any real number and rounds it once; an i32 takes integers in range; a
bool takes truth values only; a vector takes a sequence with one number per component.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Set

import numpy as np

from ..errors import with_article
from ..kernel.module import Manifest, Param
from ..kernel.types import Numeric, Type, Value, bits_float, float_bits
from .errors import ArgumentTypeError, ArgumentValueError
from .names import spell_type

_INT_MIN, _INT_MAX = -(2**31), 2**31 - 1


def param_values(manifest: Manifest, given: Mapping[str, object]) -> tuple[Value, ...]:
    """One value per parameter, in the manifest's order; a default where none was given.

    Raises ArgumentTypeError or ArgumentValueError naming the parameter."""
    return tuple(
        _value(param, given[param.name]) if param.name in given else param.default
        for param in manifest.params
    )


def _value(param: Param, given: object) -> Value:
    ty = param.ty
    if not ty.is_vector:
        return Value.of(ty, _scalar(param, ty, given))
    parts = _components(param, given)
    if len(parts) != ty.lanes:
        raise ArgumentValueError(
            f"{_declared(param)}: it takes {ty.lanes} numbers, not {len(parts)}"
        )
    return Value.of(ty, [_scalar(param, ty.component, part) for part in parts])


def _components(param: Param, given: object) -> list[object]:
    unordered = isinstance(given, (Set, Mapping))
    if unordered or isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        raise _wrong_type(param, given)
    try:
        return list(given)
    except TypeError:  # a 0-d array has __iter__ but cannot be walked
        raise _wrong_type(param, given) from None


def _scalar(param: Param, ty: Type, given: object) -> Numeric:
    if isinstance(given, np.ndarray) and given.ndim == 0:
        given = given[()]
    if ty == Type.BOOL:
        if isinstance(given, (bool, np.bool_)):
            return bool(given)
    elif isinstance(given, (bool, np.bool_)):
        pass  # a truth value is no number
    elif ty == Type.INT:
        if isinstance(given, (int, np.integer)):
            return _int32(param, int(given))
    elif isinstance(given, (int, np.integer)):
        return _float(param, ty, int(given))
    elif isinstance(given, (float, np.floating)):
        return _float(param, ty, float(given))
    raise _wrong_type(param, given)


def _int32(param: Param, number: int) -> int:
    if not _INT_MIN <= number <= _INT_MAX:
        raise ArgumentValueError(
            f"{_declared(param)}: {_show(number)} is outside {_INT_MIN}…{_INT_MAX}"
        )
    return number


_LARGEST = {Type.FLOAT: "3.4028235e+38", Type.DOUBLE: "1.7976931348623157e+308"}


def _float(param: Param, ty: Type, number: float | int) -> float:
    """``number`` rounded once to f32 or f64. A finite number past the largest is refused."""
    if ty == Type.DOUBLE:
        rounded = _nearest_double(number)
    else:
        rounded = bits_float(float_bits(_to_double(number)))
    if math.isinf(rounded) and not (isinstance(number, float) and math.isinf(number)):
        raise ArgumentValueError(
            f"{_declared(param)}: {_show(number)} is beyond the largest {spell_type(ty)}, "
            f"{_LARGEST[ty]}; pass float('inf') if infinity is meant"
        )
    return rounded


def _nearest_double(number: float | int) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _to_double(number: float | int) -> float:
    """A double that rounds to the same f32 as ``number``: an int of many bits is rounded to odd."""
    if isinstance(number, float):
        return number
    excess = number.bit_length() - 53
    if excess <= 0:
        return float(number)
    if excess > 256:
        return math.inf if number > 0 else -math.inf
    kept = abs(number) >> excess
    sticky = int(kept << excess != abs(number))
    return math.copysign(math.ldexp(kept | sticky, excess), number)


def _wrong_type(param: Param, given: object) -> ArgumentTypeError:
    ty = param.ty
    if ty.is_vector:
        kind = "integers" if ty.component == Type.INT else "numbers"
        takes = f"a sequence of {ty.lanes} {kind}"
    elif ty == Type.BOOL:
        takes = "True or False"
    elif ty == Type.INT:
        takes = "an integer"
    else:
        takes = "a number"
    hint = ""
    if ty.component == Type.INT and isinstance(given, (float, np.floating)):
        hint = "; write int(x) to drop the fraction"
    return ArgumentTypeError(
        f"parameter {param.name!r} is {with_article(spell_type(ty))}: "
        f"it takes {takes}, not {_describe(given)}{hint}"
    )


def _declared(param: Param) -> str:
    return f"parameter {param.name!r} is {with_article(spell_type(param.ty))}"


def _show(number: float | int) -> str:
    """The number, unless it has so many digits that they would help nobody."""
    if isinstance(number, int) and number.bit_length() > 128:
        return f"an integer of {number.bit_length()} bits"
    return repr(number)


def _describe(given: object) -> str:
    name = type(given).__name__
    if isinstance(given, (int, float)):
        return f"{name} {_show(given)}"
    return (
        f"{name} {given!r}" if isinstance(given, str) and len(given) <= 40 else with_article(name)
    )
