"""Host arrays to native buffers: what a caller may pass, and the form the machine code reads.

In: any object with the buffer protocol, ``__array_interface__``, ``__array__`` or DLPack. Out: a
C-contiguous, aligned, native-endian NumPy array: float32, float64, int32, or uint8 of 0 and 1 for
bool, of shape ``extent`` for scalars and ``(*extent, lanes)`` for vectors. An array already in that
form is used where it lies; anything else is copied. Inputs are never written.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import a_kind, public, with_article
from ..kernel.limits import MAX_ELEMENTS, MAX_GRID_AXIS
from ..kernel.module import Port, Shape
from ..kernel.types import Type
from .errors import ArgumentTypeError, ArgumentValueError
from .names import PortName, spell_axes, spell_extent, spell_type

Array = npt.NDArray[Any]

_FLOAT32 = np.dtype(np.float32)
_HOST_DTYPES: dict[Type, np.dtype[Any]] = {
    Type.FLOAT: _FLOAT32,
    Type.DOUBLE: np.dtype(np.float64),
    Type.INT: np.dtype(np.int32),
    Type.BOOL: np.dtype(np.bool_),
}
# dtypes that widen into a port's without losing anything and without changing what they mean
_WIDENS = {
    Type.FLOAT: ("f2", "f4"),
    Type.DOUBLE: ("f2", "f4", "f8"),
    Type.INT: ("i1", "u1", "i2", "u2", "i4"),
    Type.BOOL: ("b1",),
}


def host_dtype(element: Type) -> np.dtype[Any]:
    """The NumPy dtype of one component of a port's elements."""
    return _HOST_DTYPES[element.component]


def host_shape(port: Port, extent: tuple[int, ...]) -> tuple[int, ...]:
    """The NumPy shape of a port's array: a vector adds a last axis of its components."""
    return (*extent, port.element.lanes) if port.element.is_vector else extent


def check_extent(what: object, shape: Shape, extent: tuple[int, ...]) -> None:
    """Refuse an extent that elements or coordinates could not number, naming the limit."""
    if shape is not Shape.ROWS and max(extent) > MAX_GRID_AXIS:
        raise ArgumentValueError(
            f"{what} has extent {spell_extent(extent)}: a {shape.value} axis is at most 2**24 = "
            f"{MAX_GRID_AXIS} long"
        )
    if math.prod(extent) > MAX_ELEMENTS:
        raise ArgumentValueError(
            f"{what} has extent {spell_extent(extent)}: a port holds at most 2**31 - 1 = "
            f"{MAX_ELEMENTS} elements"
        )


def as_array(what: object, given: object, dtype: np.dtype[Any] = _FLOAT32) -> Array:
    """``given`` as a NumPy array, without a copy where its protocol allows; never a subclass.
    ``dtype`` is what an error tells to write.

    Raises ArgumentTypeError for an object that offers no array protocol, or whose protocol
    fails (a tensor on another device, a buffer of a format NumPy cannot name)."""
    if is_masked(given):
        raise ArgumentTypeError(
            f"{what} is a masked array, whose mask a kernel cannot see: pass array.filled(value)"
        )
    if isinstance(given, np.ndarray):
        return np.asarray(given)
    if isinstance(given, type):  # it has its instances' protocols as attributes
        raise ArgumentTypeError(f"{what} is the class {given.__name__}, not an array")
    try:
        return _from_protocol(what, given, dtype)
    except ArgumentTypeError:
        raise
    except Exception as error:  # foreign code: whatever it raises, the caller sees one kind
        raise ArgumentTypeError(
            f"{what} is {a_kind(given)}, which could not be read as an array: {error}"
        ) from None


def is_masked(given: object) -> bool:
    """Whether ``given`` is a masked array; without loading their module, as ``np.ma`` would."""
    masked = getattr(sys.modules.get("numpy.ma"), "MaskedArray", ())
    return isinstance(given, masked)


def _from_protocol(what: object, given: object, dtype: np.dtype[Any]) -> Array:
    buffer = _buffer(given)
    if buffer is not None:
        return np.asarray(buffer)
    if hasattr(given, "__array_interface__") or hasattr(given, "__array__"):
        return np.asarray(given)
    if hasattr(given, "__dlpack__"):
        return np.from_dlpack(given)
    name = "bool_" if dtype == np.bool_ else dtype.name
    hint = f"; write np.asarray(..., dtype=np.{name})" if isinstance(given, (list, tuple)) else ""
    raise ArgumentTypeError(
        f"{what} is {a_kind(given)}: an array is expected (NumPy, the buffer protocol, "
        f"__array_interface__, __array__ or DLPack){hint}"
    )


def _buffer(given: object) -> memoryview | None:
    try:
        return memoryview(given)  # type: ignore[arg-type]  # TypeError if it is none
    except (TypeError, BufferError):
        return None


def input_extent(port: Port, array: Array) -> tuple[int, ...]:
    """The extent of an input's array, after its dtype, rank and size are found to fit the port."""
    what = PortName("input", port)
    _check_dtype(what, port.element, array.dtype)
    rank = port.shape.rank
    lanes = (port.element.lanes,) if port.element.is_vector else ()
    fits = array.ndim == rank + len(lanes) and array.shape[rank:] == lanes
    if not fits:
        found = "a 0-d array" if array.ndim == 0 else f"an array of shape {array.shape}"
        expected = spell_axes(port.shape, *lanes)
        raise ArgumentValueError(f"{what} takes an array of shape {expected}, not {found}")
    extent = array.shape[:rank]
    check_extent(what, port.shape, extent)
    return extent


def native_input(port: Port, array: Array) -> Array:
    """The array in the form machine code reads; a view of ``array`` where that form allows."""
    if port.element == Type.BOOL:
        return _truth(array)
    dtype, flags = host_dtype(port.element), array.flags
    if array.dtype is dtype and flags.c_contiguous and flags.aligned:
        return array
    return np.require(array, dtype, ["C_CONTIGUOUS", "ALIGNED"])


def _truth(array: Array) -> Array:
    """Bool bytes as 0 and 1. A byte that a view made neither counts as true."""
    octets = np.ascontiguousarray(array).view(np.uint8)
    if octets.size and int(octets.max()) > 1:
        octets = np.not_equal(octets, 0).view(np.uint8)
    return octets


@public
def unorm8(array: object) -> npt.NDArray[np.float32]:
    """Bytes 0…255 as f32 0…1: each u / 255, one correctly rounded division.

    ``array``: uint8 of any shape and layout, in any form an input may have. Returns a new float32
    array of the same shape. Raises ArgumentTypeError for any other dtype."""
    octets = as_array("unorm8's argument", array)
    if octets.dtype != np.uint8:
        raise ArgumentTypeError(f"unorm8 takes an array of uint8, not {octets.dtype}")
    return np.divide(octets, np.float32(255), dtype=np.float32)


def _check_dtype(what: object, element: Type, dtype: np.dtype[Any]) -> None:
    component = element.component
    if dtype is _HOST_DTYPES[component]:  # the plain case, told at once
        return
    if dtype.newbyteorder("=").str[1:] in _WIDENS[component] and dtype.fields is None:
        return
    target = host_dtype(element).name
    lossless = " or ".join(np.dtype(code).name for code in reversed(_WIDENS[component]))
    raise ArgumentTypeError(
        f"{what} takes {lossless}, not {dtype}{_dtype_hint(component, dtype, target)}"
    )


def _dtype_hint(component: Type, dtype: np.dtype[Any], target: str) -> str:
    if dtype.fields is not None or dtype.kind not in "biuf":
        return ""
    if component == Type.FLOAT and dtype == np.uint8:
        return ": write dy.unorm8(array) for 0…1, or array.astype(np.float32) to keep 0…255"
    if component == Type.BOOL:
        return ": write array != 0"
    lossy = "" if np.can_cast(dtype, target) else ", which rounds or wraps what does not fit"
    return f" ({with_article(spell_type(component))} port): write array.astype(np.{target}){lossy}"
