"""Small nodes that the contract tests start from."""

from __future__ import annotations

from dynamis.dtype import AddrSpace, Ptr, Val, float32, int32
from dynamis.uop import (
    AxisType,
    Uop,
    buffer,
    const_int,
    param,
    range_,
    shape_arg,
    stack,
    variable,
)


def scalar(name: str, dtype: Val = int32) -> Uop:
    """An ALU parameter without bounds."""
    return param(slot=-1, dtype=dtype, shape=stack([]), name=name, addrspace=AddrSpace.ALU)


def var(name: str, low: int = 0, high: int = 10) -> Uop:
    """A bounded weakint variable."""
    return variable(name=name, min_val=low, max_val=high)


def loop(size: int | Uop = 4, axis: int = 0, kind: AxisType = AxisType.LOOP) -> Uop:
    """A weakint RANGE."""
    return range_(size=size, axis=axis, kind=kind)


def memory(slot: int = 0, size: int = -1, base: Val = float32) -> Uop:
    """A global pointer parameter."""
    return param(slot=slot, dtype=Ptr.create(base, addrspace=AddrSpace.GLOBAL, size=size))


def scratch(slot: int = 0, size: int = 4, space: AddrSpace = AddrSpace.REG) -> Uop:
    """Scratch storage."""
    return buffer(slot=slot, dtype=Ptr.create(float32, addrspace=space, size=size))


def tensor(*dims: int | Uop, slot: int = 0, device: object = "CPU", axis: int | None = None) -> Uop:
    """A tensor-stage buffer of a shape."""
    return buffer(slot=slot, dtype=float32, shape=shape_arg(dims), device=device, axis=axis)


def ints(us: object) -> list[int | Uop]:
    """Dimensions with constants as ints."""
    return [u if u.const_int_value is None else u.const_int_value for u in us]  # type: ignore[attr-defined]


def n(value: int) -> Uop:
    """A weakint constant."""
    return const_int(value)
