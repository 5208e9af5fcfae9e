"""Constants: a dtype and a value of it."""

from __future__ import annotations

import math
import struct
from typing import Any, Final

from dynamis.dtype import Number, Val, truncate
from dynamis.uop.errors import UopError
from dynamis.uop.intern import intern

_set = object.__setattr__
_TABLE: Final = "constants"


class Const:
    """The payload of CONST. Interned: equal constants are one object.

    The value is made one of the dtype: bool, int wrapped to the width, float rounded; NaN is the
    one NaN. 0.0 and -0.0 differ, as do 1, 1.0 and True, whose dtypes differ. A vector dtype means
    the value in every lane.

    Raises UopError for void, for a NaN or infinity at an integer dtype, and for what is no number.
    """

    __slots__ = ("__weakref__", "dtype", "value")

    dtype: Val
    value: Number

    def __new__(cls, dtype: Val, value: Number) -> Const:
        """The constant, filed with its dtype."""
        if not isinstance(value, (bool, int, float)):
            raise UopError(f"a constant is a Python number, not {value!r}")
        try:
            value = truncate(value, dtype)
        except ValueError as error:
            raise UopError(f"{value!r} is no constant of {dtype}: {error}") from None
        table = dtype.tables.get(_TABLE)
        if table is None:
            table = dtype.tables.setdefault(_TABLE, {})
        # one dtype, so one kind of number: only the zeros and NaN need more than their value
        key: Any = value
        if dtype.is_float and not value > 0.0 and not value < 0.0:
            key = struct.pack("<d", value)
        ref = table.get(key)
        if ref is not None:
            found: Const | None = ref()
            if found is not None:
                return found
        made = object.__new__(cls)
        _set(made, "dtype", dtype)
        _set(made, "value", value)
        return intern(table, key, made)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("constants do not change")

    @property
    def order(self) -> tuple[int, Number, int]:
        """A structural order of the constants of one dtype: by value, -0.0 first, NaN last."""
        v = self.value
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
