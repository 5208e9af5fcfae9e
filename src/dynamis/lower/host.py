"""Host arrays as a kernel AST sees them: the domain, its ranges, and where each word lies.

Memory slots are the inputs in order, the outputs in order, then the fault record. Extents are
runtime scalars; those of an input that has the domain's extent are the domain's own.
"""

from __future__ import annotations

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
)
from ..uop.abi import RECORD
from . import arithmetic as word
from .arithmetic import i32
from .call_class import CallClass

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
        grid = manifest.outputs[0].shape is Shape.GRID
        limit = MAX_GRID_AXIS if grid else MAX_ELEMENTS
        self.width = scalar_param("width", int32, 1, limit)
        self.height = scalar_param("height", int32, 1, limit) if grid else None
        self.row = None
        if self.height is not None:
            self.row = range_(size=self.height, axis=0, kind=AxisType.GLOBAL, dtype=int32)
        rows = [] if self.row is None else [self.row]
        self.column = range_(
            size=self.width, axis=1, kind=AxisType.GLOBAL, dtype=int32, parents=rows
        )
        self.ranges = [*rows, self.column]
        self.element = self._linear(self.row, self.column, self.width)

    def record(self, k: int) -> Uop:
        """The place of word ``k`` of the fault record."""
        slot = len(self.manifest.inputs) + len(self.manifest.outputs)
        return index(ptr=_memory(slot, int32, RECORD), idxs=[i32(k)])

    def coordinate(self) -> Words:
        """(column, row) of the element as f32."""
        assert self.row is not None
        return tuple(cast(src=u, dtype=float32) for u in (self.column, self.row))

    def domain(self) -> Words:
        """The domain's extent in its index type."""
        return _extent_words(self.width, self.height)

    def size(self, k: int) -> Words:
        """The extent of an input in its index type."""
        return _extent_words(*self._extent(k))

    def count(self, k: int) -> Uop:
        """The number of elements of an input."""
        width, height = self._extent(k)
        return width if height is None else word.mul(width, height)

    def sample(self, k: int) -> Words:
        """The words of an input's element at the domain's own coordinate, clamped."""
        width, height = self._extent(k)
        row, column = self.row, self.column
        if not self.call.same_extent[k]:
            column = _below(column, width)
            row = None if row is None or height is None else _below(row, height)
        return self._read(k, row, column, width)

    def at(self, k: int, address: Words) -> Words:
        """The words of an input's element at an address of its index type, clamped.

        A float address is floored and clamped; toward zero is as good as floor below zero, where
        both clamp to 0, and the saturating conversion sends NaN to 0."""
        width, height = self._extent(k)
        column = _clamped(cast(src=address[0], dtype=int32), width)
        row = None if height is None else _clamped(cast(src=address[1], dtype=int32), height)
        return self._read(k, row, column, width)

    def output(self, k: int, words: Words) -> list[Uop]:
        """The stores of the element's words to output ``k``, NaNs canonical."""
        slot, element = len(self.manifest.inputs) + k, self.manifest.outputs[k].element
        stores = []
        for n, value in enumerate(map(word.canonical, words)):
            stored = cast(src=value, dtype=uint8) if value.dtype is bool_ else value
            stores.append(store(dst=self._place(slot, element, self.element, n), value=stored))
        return stores

    def _extent(self, k: int) -> tuple[Uop, Uop | None]:
        port = self.manifest.inputs[k]
        if self.call.same_extent[k]:
            return self.width, self.height
        if port.shape is Shape.ROWS:
            return scalar_param(f"{port.name}.width", int32, 1, MAX_ELEMENTS), None
        width, height = (
            scalar_param(f"{port.name}.{side}", int32, 1, MAX_GRID_AXIS)
            for side in ("width", "height")
        )
        return width, height

    def _linear(self, row: Uop | None, column: Uop, width: Uop) -> Uop:
        column = cast(src=column, dtype=self.index_dtype)
        if row is None:
            return column
        row, width = (cast(src=u, dtype=self.index_dtype) for u in (row, width))
        return word.add(word.mul(row, width), column)

    def _place(self, slot: int, element: Type, at: Uop, k: int) -> Uop:
        if element.lanes > 1:
            lanes = const_of_dtype(self.index_dtype, element.lanes)
            offset = const_of_dtype(self.index_dtype, k)
            at = word.add(word.mul(at, lanes), offset)
        return index(ptr=_memory(slot, STORAGE[element.component]), idxs=[at])

    def _read(self, k: int, row: Uop | None, column: Uop, width: Uop) -> Words:
        element = self.manifest.inputs[k].element
        at = self._linear(row, column, width)
        values = [load(src=self._place(k, element, at, n)) for n in range(element.lanes)]
        if element == Type.BOOL:
            return tuple(word.ne(v, const_of_dtype(uint8, 0)) for v in values)
        return tuple(values)


def _extent_words(width: Uop, height: Uop | None) -> Words:
    if height is None:
        return (width,)
    return tuple(cast(src=u, dtype=float32) for u in (width, height))


def _below(u: Uop, extent: Uop) -> Uop:
    """min(u, extent - 1)."""
    return word.minimum(u, word.sub(extent, i32(1)))


def _clamped(u: Uop, extent: Uop) -> Uop:
    return _below(word.maximum(u, i32(0)), extent)
