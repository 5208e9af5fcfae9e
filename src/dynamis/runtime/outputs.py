"""Where results go: fresh arrays, or the caller's ``out=`` arrays, whatever their layout.

Machine code writes C-contiguous, native-endian buffers that share no byte with an input or with
each other. An ``out=`` array in that form is written in place; any other is written through a
temporary and copied at the end, so results are always as if every input was read first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import a_kind
from ..kernel.module import Port
from ..kernel.types import Type
from .arrays import Array, host_dtype, host_shape, is_masked
from .errors import ArgumentTypeError, ArgumentValueError
from .names import PortName, spell_axes, spell_extent


@dataclass(frozen=True, slots=True)
class Output:
    """One output of one call: the buffer that is written, and the array that is returned."""

    buffer: Array
    result: Array
    copies: bool

    def finish(self) -> Array:
        """The returned array, holding what the buffer holds."""
        if self.copies:
            self.result[...] = self.buffer.view(np.bool_) if self._is_bool else self.buffer
        return self.result

    @property
    def _is_bool(self) -> bool:
        return self.result.dtype == np.bool_


def out_arrays(ports: Sequence[Port], out: object) -> tuple[Array, ...] | None:
    """The ``out=`` arrays, one per output, their dtype, rank and layout checked; None without.

    Raises ArgumentTypeError or ArgumentValueError naming the output."""
    if out is None:
        return None
    if isinstance(out, (tuple, list)):
        given = list(out)
    elif len(ports) == 1:
        given = [out]
    else:
        raise ArgumentTypeError(_wants_tuple(ports))
    if len(given) != len(ports):
        raise ArgumentTypeError(f"{_wants_tuple(ports)}, not {len(given)}")
    arrays = tuple(_checked(port, array) for port, array in zip(ports, given, strict=True))
    extents = [array.shape[: port.shape.rank] for port, array in zip(ports, arrays, strict=True)]
    for port, extent in zip(ports[1:], extents[1:], strict=True):
        if extent != extents[0]:
            raise ArgumentValueError(
                f"the outputs share one domain, but out= for {ports[0].name!r} has extent "
                f"{spell_extent(extents[0])} and for {port.name!r} {spell_extent(extent)}"
            )
    for i, a in enumerate(arrays):
        for j in range(i):
            if _shares_bytes(arrays[j], a):
                raise ArgumentValueError(
                    f"out= for {ports[j].name!r} and for {ports[i].name!r} share memory: "
                    "give each output its own"
                )
    return arrays


def prepare_outputs(
    ports: Sequence[Port],
    extent: tuple[int, ...],
    out: Sequence[Array] | None,
    inputs: Sequence[Array],
) -> tuple[Output, ...]:
    """Buffers for a run over ``extent``; ``inputs`` are the native arrays it will read.

    Raises ArgumentValueError where memory does not suffice."""
    if out is None:
        return tuple(_fresh(port, extent) for port in ports)
    return tuple(_into(port, array, inputs) for port, array in zip(ports, out, strict=True))


def _fresh(port: Port, extent: tuple[int, ...]) -> Output:
    result = _empty(port, extent)
    return Output(_octets(port, result), result, copies=False)


def _into(port: Port, out: Array, inputs: Sequence[Array]) -> Output:
    direct = (
        out.flags.c_contiguous
        and out.flags.aligned
        and out.dtype.isnative
        and not any(np.may_share_memory(out, array) for array in inputs)
    )
    if direct:
        return Output(_octets(port, out.view(np.ndarray)), out, copies=False)
    buffer = _empty(port, out.shape[: port.shape.rank])
    return Output(_octets(port, buffer), out, copies=True)


def _empty(port: Port, extent: tuple[int, ...]) -> Array:
    try:
        return np.empty(host_shape(port, extent), host_dtype(port.element))
    except MemoryError:
        raise ArgumentValueError(
            f"output {port.name!r} of extent {spell_extent(extent)} does not fit in memory"
        ) from None


def _octets(port: Port, array: Array) -> Array:
    """Machine code writes a bool as a byte of 0 or 1."""
    return array.view(np.uint8) if port.element == Type.BOOL else array


def _wants_tuple(ports: Sequence[Port]) -> str:
    if len(ports) == 1:
        return f"out= takes one array, for {ports[0].name!r}"
    names = ", ".join(p.name for p in ports)
    return f"out= takes a tuple of {len(ports)} arrays, for ({names})"


def _checked(port: Port, out: object) -> Array:
    what = PortName("out= for", port)
    if not isinstance(out, np.ndarray) or is_masked(out):
        raise ArgumentTypeError(f"{what} takes a NumPy array, not {a_kind(out)}")
    dtype = host_dtype(port.element)
    if out.dtype.newbyteorder("=") != dtype:
        raise ArgumentTypeError(f"{what} takes an array of {dtype}, not {out.dtype}")
    rank = port.shape.rank
    lanes = (port.element.lanes,) if port.element.is_vector else ()
    fits = out.ndim == rank + len(lanes) and out.shape[rank:] == lanes
    if not fits:
        expected = spell_axes(port.shape, *lanes)
        raise ArgumentValueError(f"{what} takes an array of shape {expected}, not {out.shape}")
    if not out.flags.writeable:
        raise ArgumentValueError(f"{what} is read-only")
    if not _is_nested(out):
        raise ArgumentValueError(
            f"{what} overlaps itself, or cannot be told not to: some axis of its strides "
            f"{out.strides} steps inside what its shorter axes span; write into an array of its "
            "own and copy"
        )
    return out


def _shares_bytes(a: Array, b: Array) -> bool:
    """Whether two arrays share a byte; True where finding out would take too long."""
    try:
        return bool(np.shares_memory(a, b, max_work=100_000))  # type: ignore[arg-type]  # the stubs know -1 and 0 only
    except np.exceptions.TooHardError:
        return True


def _is_nested(array: Array) -> bool:
    """Whether each axis steps past all that the shorter ones span: no two elements share a byte.

    Sufficient, not necessary: strides that interleave without meeting are not nested. Finding out
    about those takes work without bound."""
    if array.size <= 1:
        return True
    reach = array.itemsize  # bytes spanned by the axes walked so far
    for stride, n in sorted(zip(map(abs, array.strides), array.shape, strict=True)):
        if n > 1:
            if stride < reach:
                return False
            reach += stride * (n - 1)
    return True
