"""Host arrays as a kernel AST sees them: the domain, its ranges, and where each word lies.

Memory slots are the inputs in order, the outputs in order, then the fault record. Extents are
runtime scalars; those of an input that has the domain's extent are the domain's own. Extents and
places are in NumPy order, (depth, height, width); coordinates and addresses are (x, y, z).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from ..dtype import AddrSpace, Ptr, Val, bool_, float32, float64, int32, int64, uint8
from ..kernel.limits import MAX_ELEMENTS, MAX_GRID_AXIS
from ..kernel.module import Manifest, Shape
from ..kernel.types import Type
from ..uop import (
    AxisType,
    Uop,
    cast,
    const_of_dtype,
    index,
    load,
    param,
    range_,
    stack,
    store,
    with_tag,
)
from ..uop.abi import RECORD
from ..uop.elementary import SELECT
from . import arithmetic as word
from .arithmetic import f32, i32
from .call_class import SIDES, CallClass

STORAGE = {Type.FLOAT: float32, Type.DOUBLE: float64, Type.INT: int32, Type.BOOL: uint8}
"""How a word lies in a host array: a Bool is one byte, true when non-zero."""

Words = tuple[Uop, ...]


def scalar_param(name: str, dtype: Val, low: int | None = None, high: int | None = None) -> Uop:
    """A runtime scalar of the program, bounded when it is an integer."""
    bounds = None if low is None or high is None else (low, high)
    return param(
        slot=-1, dtype=dtype, shape=stack(()), name=name, vmin_vmax=bounds, addrspace=AddrSpace.ALU
    )


def _memory(slot: int, dtype: Val, name: str | None = None) -> Uop:
    pointer = Ptr.create(dtype, addrspace=AddrSpace.GLOBAL, size=-1)
    return param(slot=slot, dtype=pointer, name=name)


class Host:
    """The domain of a kernel and the memory of its ports."""

    def __init__(self, manifest: Manifest, call: CallClass):
        self.manifest, self.call = manifest, call
        self.index_dtype = int64 if call.wide else int32
        self.extent = _extent(manifest.outputs[0].shape)
        self.ranges: list[Uop] = []
        for axis, size in enumerate(self.extent, 3 - len(self.extent)):
            opened = range_(
                size=size, axis=axis, kind=AxisType.GLOBAL, dtype=int32, parents=self.ranges[-1:]
            )
            self.ranges.append(opened)
        self.element = self._linear(self.ranges, self.extent)

    def record(self, k: int) -> Uop:
        """The place of word ``k`` of the fault record."""
        slot = len(self.manifest.inputs) + len(self.manifest.outputs)
        return index(ptr=_memory(slot, int32, RECORD), idxs=[i32(k)])

    def coordinate(self) -> Words:
        """(column, row) or (x, y, z) of the element as f32."""
        return tuple(cast(src=u, dtype=float32) for u in reversed(self.ranges))

    def domain(self) -> Words:
        """The domain's extent in its index type."""
        return _extent_words(self.extent)

    def size(self, k: int) -> Words:
        """The extent of an input in its index type."""
        return _extent_words(self._extent(k))

    def count(self, k: int) -> Uop:
        """The number of elements of an input."""
        return functools.reduce(word.mul, self._extent(k))

    def sample(self, k: int) -> Words:
        """The words of an input's element at the domain's own coordinate, clamped."""
        extent, place = self._extent(k), self.ranges
        if not self.call.same_extent[k]:
            place = [_below(u, size) for u, size in zip(place, extent, strict=True)]
        return self._read(k, place, extent)

    def at(self, k: int, address: Words) -> Words:
        """The words of an input's element at an address of its index type, clamped.

        A float address is floored and clamped; toward zero is as good as floor below zero, where
        both clamp to 0, and the saturating conversion sends NaN to 0."""
        extent = self._extent(k)
        place = [
            _clamped(cast(src=x, dtype=int32), size)
            for x, size in zip(reversed(address), extent, strict=True)
        ]
        return self._read(k, place, extent)

    def linear(self, k: int, address: Words) -> Words:
        """The words of an input at an address between its elements, clamped at the edges.

        Axis by axis, x first: ``a`` where the fraction f is 0, else a*(1 - f) + b*f."""
        extent = self._extent(k)
        axes = [_around(x, size) for x, size in zip(reversed(address), extent, strict=True)]

        def along(place: tuple[Uop, ...]) -> Words:
            if len(place) == len(axes):
                return self._read(k, place, extent)
            low, high, fraction = axes[len(place)]
            whole = word.eq(fraction, f32(0.0))
            rest = word.sub(f32(1.0), fraction)
            ends = zip(along((*place, low)), along((*place, high)), strict=True)
            mixed = ((a, word.add(word.mul(a, rest), word.mul(b, fraction))) for a, b in ends)
            # seldom whole: a branch around what is mixed in would only be in the way
            return tuple(with_tag(SELECT, word.where(whole, a, m)) for a, m in mixed)

        return along(())

    def output(self, k: int, words: Words) -> list[Uop]:
        """The stores of the element's words to output ``k``, NaNs canonical."""
        slot, element = len(self.manifest.inputs) + k, self.manifest.outputs[k].element
        stores = []
        for n, value in enumerate(map(word.canonical, words)):
            stored = cast(src=value, dtype=uint8) if value.dtype is bool_ else value
            stores.append(store(dst=self._place(slot, element, self.element, n), value=stored))
        return stores

    def _extent(self, k: int) -> list[Uop]:
        port = self.manifest.inputs[k]
        return self.extent if self.call.same_extent[k] else _extent(port.shape, f"{port.name}.")

    def _linear(self, place: Sequence[Uop], extent: Sequence[Uop]) -> Uop:
        """The number of the element at a place: each axis times the elements that it steps over."""
        *outer, at = (cast(src=u, dtype=self.index_dtype) for u in place)
        stride = const_of_dtype(self.index_dtype, 1)
        for u, size in zip(reversed(outer), reversed(extent), strict=False):
            stride = word.mul(stride, cast(src=size, dtype=self.index_dtype))
            at = word.add(word.mul(u, stride), at)
        return at

    def _place(self, slot: int, element: Type, at: Uop, k: int) -> Uop:
        if element.lanes > 1:
            lanes = const_of_dtype(self.index_dtype, element.lanes)
            offset = const_of_dtype(self.index_dtype, k)
            at = word.add(word.mul(at, lanes), offset)
        return index(ptr=_memory(slot, STORAGE[element.component]), idxs=[at])

    def _read(self, k: int, place: Sequence[Uop], extent: Sequence[Uop]) -> Words:
        element = self.manifest.inputs[k].element
        at = self._linear(place, extent)
        values = [load(src=self._place(k, element, at, n)) for n in range(element.lanes)]
        if element == Type.BOOL:
            return tuple(word.ne(v, const_of_dtype(uint8, 0)) for v in values)
        return tuple(values)


def _extent(shape: Shape, prefix: str = "") -> list[Uop]:
    """The runtime scalars of an extent, in NumPy order."""
    limit = MAX_ELEMENTS if shape is Shape.ROWS else MAX_GRID_AXIS
    return [scalar_param(prefix + side, int32, 1, limit) for side in SIDES[-shape.rank :]]


def _extent_words(extent: Sequence[Uop]) -> Words:
    if len(extent) == 1:
        return tuple(extent)
    return tuple(cast(src=u, dtype=float32) for u in reversed(extent))


def _below(u: Uop, extent: Uop) -> Uop:
    """min(u, extent - 1)."""
    return word.minimum(u, word.sub(extent, i32(1)))


def _clamped(u: Uop, extent: Uop) -> Uop:
    return _below(word.maximum(u, i32(0)), extent)


def _around(x: Uop, extent: Uop) -> tuple[Uop, Uop, Uop]:
    """The two places around a float coordinate clamped to 0 … extent-1 (NaN: 0), and how far
    between. Past 2**24 the last place may round up to a whole number outside."""
    last = cast(src=word.sub(extent, i32(1)), dtype=float32)
    inside = word.where(word.lt(f32(0.0), x), x, f32(0.0))
    inside = word.where(word.lt(last, inside), last, inside)
    low = cast(src=inside, dtype=int32)
    fraction = word.sub(inside, cast(src=low, dtype=float32))
    if extent.vmax > MAX_GRID_AXIS:
        low = _below(low, extent)
    return low, _below(word.add(low, i32(1)), extent), fraction
