"""Constants: a dtype and a value of it, or the Invalid sentinel."""

from __future__ import annotations

import math
import struct
from typing import Any, Final

from dynamis.dtype import Number, Val, bool_, truncate, weakint
from dynamis.uop.errors import UopError
from dynamis.uop.intern import intern

_set = object.__setattr__
_TABLE: Final = "constants"


class Invalid:
    """The type of `INVALID`, the value that stands for "no value here" in a gated index."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "INVALID"

    __str__ = __repr__

    def __copy__(self) -> Invalid:
        return self

    def __deepcopy__(self, memo: object) -> Invalid:
        return self

    def __reduce__(self) -> str:
        return "INVALID"


INVALID: Final = Invalid()
"""The Invalid sentinel."""


class Const:
    """The payload of CONST. Interned: equal constants are one object.

    The value is made one of the dtype: bool, int wrapped to the width, float rounded; NaN is the
    one NaN. 0.0 and -0.0 differ, as do 1, 1.0 and True, whose dtypes differ. INVALID is a value of
    every dtype. A vector dtype means the value in every lane.

    Raises UopError for void, for a NaN or infinity at an integer dtype, and for what is no number.
    """

    __slots__ = ("__weakref__", "dtype", "value")

    dtype: Val
    value: Any  # Number | Invalid; folding reads it after `is_invalid`

    def __new__(cls, dtype: Val, value: Number | Invalid) -> Const:
        """The constant, filed with its dtype."""
        if isinstance(value, Invalid):
            exact: Any = value
        elif not isinstance(value, (bool, int, float)):
            raise UopError(f"a constant is a Python number, not {value!r}")
        else:
            try:
                exact = truncate(value, dtype)
            except ValueError as error:
                raise UopError(f"{value!r} is no constant of {dtype}: {error}") from None
        table = dtype.tables.get(_TABLE)
        if table is None:
            table = dtype.tables.setdefault(_TABLE, {})
        # one dtype, so one kind of number: only the zeros and NaN need more than their value
        key: Any = exact
        if exact.__class__ is float and not exact > 0.0 and not exact < 0.0:
            key = struct.pack("<d", exact)
        ref = table.get(key)
        if ref is not None:
            found: Const | None = ref()
            if found is not None:
                return found
        made = object.__new__(cls)
        _set(made, "dtype", dtype)
        _set(made, "value", exact)
        return intern(table, key, made)

    # -- makers that say the kind of the value

    @classmethod
    def of_bool(cls, value: bool) -> Const:
        """A bool constant."""
        return cls(bool_, bool(value))

    @classmethod
    def of_int(cls, dtype: Val, value: int) -> Const:
        """An integer constant. Raises UopError unless `dtype` is a one-lane integer."""
        if not dtype.is_int or dtype.count != 1:
            raise UopError(f"{dtype} is no one-lane integer dtype")
        return cls(dtype, value)

    @classmethod
    def of_float(cls, dtype: Val, value: float) -> Const:
        """A float constant. Raises UopError unless `dtype` is a one-lane float."""
        if not dtype.is_float or dtype.count != 1:
            raise UopError(f"{dtype} is no one-lane float dtype")
        return cls(dtype, float(value))

    @classmethod
    def invalid(cls, dtype: Val | None = None) -> Const:
        """The Invalid sentinel at `dtype`, by default weakint."""
        return cls(weakint if dtype is None else dtype, INVALID)

    @classmethod
    def zero(cls, dtype: Val) -> Const:
        """0 of `dtype`."""
        return cls(dtype, 0)

    @classmethod
    def one(cls, dtype: Val) -> Const:
        """1 of `dtype`."""
        return cls(dtype, 1)

    @classmethod
    def min_value(cls, dtype: Val) -> Const:
        """The least value of `dtype`: the identity of a maximum."""
        return cls(dtype, dtype.min)

    @classmethod
    def max_value(cls, dtype: Val) -> Const:
        """The greatest value of `dtype`."""
        return cls(dtype, dtype.max)

    @property
    def is_invalid(self) -> bool:
        """Whether this is the Invalid sentinel."""
        return self.value is INVALID

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("constants do not change")

    @property
    def order(self) -> tuple[int, Number, int]:
        """A structural order of the constants of one dtype: by value, -0.0 first, NaN, Invalid."""
        v = self.value
        if v is INVALID:
            return (2, 0, 0)
        if v != v:
            return (1, 0.0, 0)
        return (0, v, 0 if v == 0 and math.copysign(1.0, v) < 0 else 1)

    def __str__(self) -> str:
        return f"{self.value}:{self.dtype}"

    def __repr__(self) -> str:
        return f"Const({self.dtype}, {self.value!r})"

    def __copy__(self) -> Const:
        return self

    def __deepcopy__(self, memo: object) -> Const:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return Const, (self.dtype, self.value)
