"""The elements of inputs and memories: where an address leads, and what is read and written there.

In: a port, its extent and its stored words. Out: elements as words, the kernel's numbers.

Extents are in NumPy order: (n,), (rows, columns) or (depth, height, width). Coordinates and
addresses run the other way: an Int, Vec2(column, row), Vec3(x, y, z).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .codec import decode, encode, encoding_fault
from .fault import FaultKind
from .float_arithmetic import SINGLE
from .manifest import Port, Shape
from .types import Numeric, StructDef, words

Words = tuple[Numeric, ...]


def extent_words(extent: tuple[int, ...]) -> Words:
    """An extent as a value of the index type: Int, Vec2(width, height) or Vec3."""
    return extent if len(extent) == 1 else tuple(float(size) for size in reversed(extent))


def position_of(element: int, extent: tuple[int, ...]) -> tuple[int, ...]:
    """The place, in NumPy order, of a linear index; past the end, the first axis goes on."""
    place: list[int] = []
    for size in reversed(extent[1:]):
        element, along = divmod(element, size)
        place.append(along)
    return (element, *reversed(place))


def canonical(value: Words) -> Words:
    """The words as they may be seen from outside: every NaN is the one canonical NaN."""
    return tuple(math.nan if word != word else word for word in value)


def linear_index(extent: tuple[int, ...], place: Sequence[int]) -> int:
    """The linear index of the element nearest to a place in NumPy order."""
    linear = 0
    for x, size in zip(place, extent, strict=True):
        linear = linear * size + min(max(x, 0), size - 1)
    return linear


def _floored(x: Numeric, size: int) -> int:
    """The whole coordinate in 0 … size-1 that an address component names: floored and clamped, NaN
    0."""
    if not x > 0:
        return 0
    return size - 1 if x >= size - 1 else int(x)


def read_index(extent: tuple[int, ...], address: Words) -> int:
    """The linear index of the element that is read at an address: floored, then clamped."""
    place = [_floored(x, size) for x, size in zip(reversed(address), extent, strict=True)]
    return linear_index(extent, place)


def write_index(extent: tuple[int, ...], address: Words) -> int | None:
    """The linear index of the element that a write at an address goes to: floored; None, for the
    write is dropped, where a component is NaN or outside."""
    linear = 0
    for x, size in zip(reversed(address), extent, strict=True):
        if not 0 <= x < size:  # so, too, a NaN; what is below size and not below 0 floors inside
            return None
        linear = linear * size + int(x)
    return linear


class StoredField:
    """One input, or one memory: its elements, decoded as they are read."""

    def __init__(
        self,
        port: Port,
        structs: Sequence[StructDef],
        extent: tuple[int, ...],
        stored: Sequence[Numeric],
    ):
        self.extent = extent
        self.count = math.prod(extent)
        self.is_rows = port.shape is Shape.ROWS
        self.encoding = port.ty.encoding
        self.stored = stored
        self.lanes = words(structs, port.element)

    def element(self, linear: int) -> Words:
        return self.part(linear, 0, self.lanes)

    def part(self, linear: int, start: int, size: int) -> Words:
        """``size`` words of an element, from its word ``start``; no others are looked at."""
        first = linear * self.lanes + start
        found = self.stored[first : first + size]
        if self.encoding is None:
            return tuple(found)
        encoding = self.encoding
        return tuple(decode(encoding, word) for word in found)

    def linear(self, address: Words) -> Words:
        """The value at an address between elements: along each axis, x first, ``a`` where the
        fraction f is 0, else a*(1 - f) + b*f; clamped to the outermost elements."""
        axes = [_between(x, size) for x, size in zip(reversed(address), self.extent, strict=True)]
        return self._along(axes, ())

    def _along(self, axes: Sequence[tuple[int, int, float]], place: tuple[int, ...]) -> Words:
        """The value at the given place along the outer axes, interpolated along the others."""
        if len(place) == len(axes):
            return self.element(linear_index(self.extent, place))
        low, high, fraction = axes[len(place)]
        below = self._along(axes, (*place, low))
        if fraction == 0.0:
            return below
        above = self._along(axes, (*place, high))
        return tuple(SINGLE.mix(a, b, fraction) for a, b in zip(below, above, strict=True))


def _between(x: Numeric, size: int) -> tuple[int, int, float]:
    """The two places around a coordinate clamped to 0 … size-1 (NaN: 0), and how far between."""
    last = size - 1
    inside = min(float(x), SINGLE.from_int(last)) if x > 0 else 0.0
    low = int(inside)
    return min(low, last), min(low + 1, last), inside - low


class Store:
    """How one port keeps words: what a store of a value fails with, and what it leaves behind."""

    def __init__(self, port: Port):
        self.encoding = port.ty.encoding

    def fault(self, value: Words) -> tuple[FaultKind, Words] | None:
        """The failure of the first word that the encoding does not hold, and that word."""
        if self.encoding is not None:
            for word in value:
                kind = encoding_fault(self.encoding, word)
                if kind is not None:
                    return kind, (word,)
        return None

    def words(self, value: Words) -> Words:
        """The words as stored, their NaNs canonical."""
        if self.encoding is None:
            return canonical(value)
        encoding = self.encoding
        return tuple(encode(encoding, word) for word in value)
