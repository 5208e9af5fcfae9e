"""Value dtypes: a scalar and a lane count.

Every `Val` is made once, so `is` compares. The compiler's own pipeline keeps `count` at 1 (lanes
live in a node's shape); vector dtypes exist for callers that spell them.
"""

import threading
import weakref
from typing import Any, Final

from dynamis.dtype.errors import DtypeError
from dynamis.dtype.scalar import SCALARS, Scalar, scalar_of_name


class Val:
    """A value dtype (scalar, count). Make one with `Val.of_scalar` or `vec`; compare with `is`.

    `lane` is the same scalar with one lane. `order` is a key of the total order over dtypes:
    every `Val` comes before every `Ptr`.
    `tables` belongs to the layer above: the node tables of this dtype hang there.
    """

    __slots__ = (
        "__weakref__", "bits", "count", "is_bool", "is_float", "is_int", "is_unsigned", "lane",
        "max", "min", "order", "scalar", "tables",
    )  # fmt: skip

    scalar: Scalar
    count: int
    lane: "Val"
    order: tuple[Any, ...]
    tables: dict[Any, dict[Any, Any]]
    is_bool: bool
    is_float: bool
    is_int: bool
    is_unsigned: bool
    bits: int
    min: int | float
    max: int | float

    is_ptr: Final = False

    @staticmethod
    def of_scalar(scalar: Scalar) -> "Val":
        """The one-lane dtype of `scalar`."""
        return _intern(scalar, 1)

    @property
    def name(self) -> str:
        """The scalar's name, with the lane count when it is not one."""
        return self.scalar.name if self.count == 1 else f"{self.scalar.name}x{self.count}"

    @property
    def priority(self) -> int:
        """Promotion priority of the scalar."""
        return self.scalar.priority

    @property
    def vcount(self) -> int:
        """The lane count; `Ptr.vcount` is the number of pointer lanes."""
        return self.count

    @property
    def base(self) -> "Val":
        """Itself; `Ptr.base` is what a pointer points to."""
        return self

    @property
    def bitsize(self) -> int:
        """Width in bits: scalar bits times lanes."""
        return self.scalar.bits * self.count

    @property
    def itemsize(self) -> int:
        """Width in whole bytes, rounded up."""
        return (self.bitsize + 7) // 8

    def scalarize(self) -> "Val":
        """The same scalar with one lane."""
        return self.lane

    def vec(self, n: int) -> "Val":
        """The same scalar with `n` lanes; void and n = 1 are unchanged, n = 0 is allowed.

        Raises DtypeError when already vectorised or `n` is negative.
        """
        if self.count != 1:
            raise DtypeError(f"{self} is vectorised already")
        if n < 0:
            raise DtypeError(f"a lane count is not negative: {n}")
        return self if n == 1 or self.scalar.kind == "void" else _intern(self.scalar, n)

    def with_scalar(self, scalar: Scalar) -> "Val":
        """The same lane count with another scalar."""
        return _intern(scalar, self.count)

    def __str__(self) -> str:
        return self.scalar.short if self.count == 1 else f"{self.scalar.short}\u00d7{self.count}"

    def __repr__(self) -> str:
        if not self.scalar.repr_name:
            raise DtypeError(f"{self.scalar.name} has no repr name")
        text = f"dtypes.{self.scalar.repr_name}"
        return text if self.count == 1 else f"{text}.vec({self.count})"

    def __copy__(self) -> "Val":
        return self

    def __deepcopy__(self, memo: object) -> "Val":
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.scalar.name, self.count)


class _Void(Val):
    """void: the dtype of what has no value, so also no least and greatest one."""

    __slots__ = ()

    @property
    def min(self) -> int | float:  # type: ignore[override]  # a slot of all others
        """Raises DtypeError."""
        raise DtypeError("void has no values")

    @property
    def max(self) -> int | float:  # type: ignore[override]  # as above
        """Raises DtypeError."""
        raise DtypeError("void has no values")


# Weak, for lane counts are without number; the one-lane dtypes are named below, and stay.
_VALS: Final[weakref.WeakValueDictionary[tuple[int, int], Val]] = weakref.WeakValueDictionary()
_making: Final = threading.Lock()


def _intern(scalar: Scalar, count: int) -> Val:
    found = _VALS.get((scalar.ordinal, count))
    if found is not None:
        return found
    val = object.__new__(_Void if scalar.kind == "void" else Val)
    val.scalar = scalar
    val.count = count
    val.lane = val if count == 1 else _intern(scalar, 1)  # a cycle, of dtypes that stay
    val.order = (0, *scalar.order, count)
    val.tables = {}
    val.is_bool = scalar.is_bool
    val.is_float = scalar.is_float
    val.is_int = scalar.is_int
    val.is_unsigned = scalar.is_unsigned
    val.bits = scalar.bits
    if scalar.kind != "void":
        # the wide helpers have no values of their own: false..true, as the table page says
        val.min = 0 if scalar.kind == "wide" else scalar.min
        val.max = 1 if scalar.kind == "wide" else scalar.max
    with _making:  # a weak dictionary's `setdefault` is no single step
        return _VALS.setdefault((scalar.ordinal, count), val)


def _rebuild(name: str, count: int) -> Val:
    return _intern(scalar_of_name(name), count)


(
    void, weakint, bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, uint128,
    uint256, float16, bfloat16, float32, float64, fp8e4m3, fp8e5m2, fp8e4m3fnuz, fp8e5m2fnuz,
) = (Val.of_scalar(s) for s in SCALARS)  # fmt: skip

default_int: Final = int32
