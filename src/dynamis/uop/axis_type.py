"""The kinds of loop axes."""

from typing import ClassVar, Final


class AxisType:
    """What a RANGE stands for on the machine. Plain unique objects, ordered by `ordinal`.

    `to_pos` is the place of the kind in a kernel's loop order (a kernel's ranges are sorted by
    it, then by axis id), `letter` its short name.
    """

    __slots__ = ("letter", "name", "ordinal", "to_pos")

    GLOBAL: ClassVar["AxisType"]
    WARP: ClassVar["AxisType"]
    LOCAL: ClassVar["AxisType"]
    LOOP: ClassVar["AxisType"]
    GROUP_REDUCE: ClassVar["AxisType"]
    REDUCE: ClassVar["AxisType"]
    UPCAST: ClassVar["AxisType"]
    UNROLL: ClassVar["AxisType"]
    THREAD: ClassVar["AxisType"]
    PLACEHOLDER: ClassVar["AxisType"]

    def __init__(self, name: str, ordinal: int, to_pos: int, letter: str) -> None:
        self.name = name
        self.ordinal = ordinal
        self.to_pos = to_pos
        self.letter = letter

    def __str__(self) -> str:
        return self.name.lower()

    def __repr__(self) -> str:
        return f"AxisType.{self.name}"

    def __copy__(self) -> "AxisType":
        return self

    def __deepcopy__(self, memo: object) -> "AxisType":
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return getattr, (AxisType, self.name)


# name, position, letter. LOCAL and GROUP_REDUCE share a position on purpose.
_ROWS: Final = (
    ("GLOBAL", 0, "g"),
    ("WARP", 1, "w"),
    ("LOCAL", 2, "l"),
    ("LOOP", -1, "L"),
    ("GROUP_REDUCE", 2, "G"),
    ("REDUCE", 4, "R"),
    ("UPCAST", 3, "u"),
    ("UNROLL", 5, "r"),
    ("THREAD", 0, "t"),
    ("PLACEHOLDER", 6, "?"),
)

for _i, (_name, _pos, _letter) in enumerate(_ROWS):
    setattr(AxisType, _name, AxisType(_name, _i, _pos, _letter))

AXIS_TYPES: Final[tuple[AxisType, ...]] = tuple(getattr(AxisType, row[0]) for row in _ROWS)
"""Every kind, in declaration order."""
