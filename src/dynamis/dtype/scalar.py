"""The scalar table: one row for each scalar element type.

A `Scalar` is an identity with a name, a promotion priority, a width and a kind. Nothing in the
package tests a scalar's name: every question is a column of this table.
"""

from typing import Final

from dynamis.dtype.errors import DtypeError


class Scalar:
    """One scalar element type. Instances are unique: compare with `is`.

    `ordinal` is the place in the declaration, `priority` the promotion rank, `bits` the width.
    `kind` is one of "void", "bool", "int", "uint", "wide", "float". `weakint` is a signed
    integer without a width of its own: its arithmetic never wraps.
    """

    __slots__ = (
        "bits", "fmt", "is_bool", "is_float", "is_int", "is_unsigned", "kind", "name", "order",
        "ordinal", "other_names", "priority", "repr_name", "short",
    )  # fmt: skip

    def __init__(
        self, ordinal: int, name: str, priority: int, bits: int, kind: str, short: str,
        repr_name: str, fmt: str, other_names: tuple[str, ...],
    ) -> None:  # fmt: skip
        self.ordinal = ordinal
        self.name = name
        self.priority = priority
        self.bits = bits
        self.kind = kind
        self.short = short
        self.repr_name = repr_name
        self.fmt = fmt
        self.other_names = other_names
        self.is_bool = kind == "bool"
        self.is_float = kind == "float"
        self.is_int = kind in ("int", "uint")
        self.is_unsigned = kind == "uint"
        self.order = (priority, bits, ordinal)

    def __repr__(self) -> str:
        return self.name

    def __copy__(self) -> "Scalar":
        return self

    def __deepcopy__(self, memo: object) -> "Scalar":
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return scalar_of_name, (self.name,)

    @property
    def min(self) -> int | float:
        """Least value: an int for integers and bool, -infinity for floats.

        Raises DtypeError for void and the 128/256-bit helpers, which have no values of their own.
        """
        if self.is_float:
            return float("-inf")
        if self.kind == "int":
            return -(1 << (self.bits - 1))
        if self.kind in ("uint", "bool"):
            return 0
        raise DtypeError(f"{self.name} has no bounds")

    @property
    def max(self) -> int | float:
        """Greatest value, symmetric to `min`."""
        if self.is_float:
            return float("inf")
        if self.kind == "int":
            return (1 << (self.bits - 1)) - 1
        if self.kind in ("uint", "bool"):
            return (1 << self.bits) - 1
        raise DtypeError(f"{self.name} has no bounds")


# name, priority, bits, kind, short text, repr name, struct format, other accepted names
_ROWS: tuple[tuple[str, int, int, str, str, str, str, tuple[str, ...]], ...] = (
    ("void", -1, 0, "void", "void", "void", "", ()),
    ("weakint", 0, 800, "int", "weakint", "weakint", "", ()),
    ("bool", 0, 1, "bool", "bool", "bool", "?", ()),
    ("int8", 1, 8, "int", "i8", "char", "b", ("i8", "char")),
    ("int16", 3, 16, "int", "i16", "short", "h", ("i16", "short")),
    ("int32", 5, 32, "int", "i32", "int", "i", ("i32", "int", "default_int")),
    ("int64", 7, 64, "int", "i64", "long", "q", ("i64", "long")),
    ("uint8", 2, 8, "uint", "u8", "uchar", "B", ("u8", "uchar")),
    ("uint16", 4, 16, "uint", "u16", "ushort", "H", ("u16", "ushort")),
    ("uint32", 6, 32, "uint", "u32", "uint", "I", ("u32", "uint")),
    ("uint64", 8, 64, "uint", "u64", "ulong", "Q", ("u64", "ulong")),
    ("_uint128", 8, 128, "wide", "u128", "", "", ("u128",)),
    ("_uint256", 8, 256, "wide", "u256", "", "", ("u256",)),
    ("float16", 11, 16, "float", "f16", "half", "e", ("f16", "half")),
    ("bfloat16", 12, 16, "float", "bf16", "bfloat16", "H", ("bf16",)),
    ("float32", 13, 32, "float", "f32", "float", "f", ("f32", "float")),
    ("float64", 14, 64, "float", "f64", "double", "d", ("f64", "double")),
    ("fp8e4m3", 9, 8, "float", "fp8e4m3", "fp8e4m3", "B", ()),
    ("fp8e5m2", 10, 8, "float", "fp8e5m2", "fp8e5m2", "B", ()),
    ("fp8e4m3fnuz", 9, 8, "float", "fp8e4m3fnuz", "fp8e4m3fnuz", "B", ()),
    ("fp8e5m2fnuz", 10, 8, "float", "fp8e5m2fnuz", "fp8e5m2fnuz", "B", ()),
)

SCALARS: Final[tuple[Scalar, ...]] = tuple(Scalar(i, *row) for i, row in enumerate(_ROWS))
"""Every scalar, in declaration order."""

_BY_NAME: Final[dict[str, Scalar]] = {name: s for s in SCALARS for name in (s.name, *s.other_names)}


def scalar_of_name(name: str) -> Scalar:
    """The scalar called `name`, in any letter case. Raises DtypeError for an unknown name."""
    found = _BY_NAME.get(name.lower())
    if found is None:
        raise DtypeError(f"unknown scalar type {name!r}")
    return found
