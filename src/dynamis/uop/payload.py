"""Payloads: what a node carries in `arg` besides its sources.

A payload is frozen and interned: two of equal fields are one object, so a payload compares and
hashes by identity, inside node tables too, and -0.0, NaN, True and 1 stay apart.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from dynamis.dtype import AddrSpace
from dynamis.uop.axis_type import AxisType
from dynamis.uop.intern import intern

if TYPE_CHECKING:
    from dynamis.uop.node import Uop


def _atom(value: Any) -> Any:
    """`value` as part of a key: hashed and compared in C, and never equal across kinds."""
    if value.__class__ is float:
        return ("float", "nan" if value != value else struct.pack("<d", value))
    if value.__class__ is bool:
        return ("bool", int(value))
    if value.__class__ is tuple:
        return tuple([_atom(v) for v in value])
    return value


class _Interned(type):
    """Makes calling a payload class return the one object with those fields."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        fresh: Payload = super().__call__(*args, **kwargs)
        return intern(fresh.table, fresh.key(), fresh)


class Payload(metaclass=_Interned):
    """Base of the payload dataclasses."""

    __slots__ = ()

    table: ClassVar[dict[Any, Any]] = {}

    def __init_subclass__(cls) -> None:
        cls.table = {}

    def values(self) -> tuple[Any, ...]:
        """The fields in order."""
        return tuple([getattr(self, f.name) for f in fields(self)])  # type: ignore[arg-type]  # subclasses are dataclasses

    def stated(self) -> list[tuple[str, Any]]:
        """The (name, value) of the fields that differ from their default."""
        told = fields(self)  # type: ignore[arg-type]  # as above
        pairs = [(f, getattr(self, f.name)) for f in told]
        return [(f.name, v) for f, v in pairs if v is not f.default]

    def key(self) -> tuple[Any, ...]:
        """The fields as an exact, hashable key."""
        return tuple([_atom(v) for v in self.values()])

    def __copy__(self) -> Payload:
        return self

    def __deepcopy__(self, memo: object) -> Payload:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self.values()


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class RangeInfo(Payload):
    """Payload of RANGE: schedule axis, sub-axis ids, kind."""

    axis: int
    sub: tuple[int, ...]
    kind: AxisType

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", int(self.axis))
        object.__setattr__(self, "sub", tuple([int(s) for s in self.sub]))


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class ParamArg(Payload):
    """Payload of PARAM and BUFFER.

    `slot` -1 is a symbolic variable; `vmin_vmax` are inclusive bounds when known; `addrspace`
    ALU is a scalar parameter; `axis` a sharding axis; `device` a placement.
    """

    slot: int
    vmin_vmax: tuple[int, int] | None = None
    name: str | None = None
    addrspace: AddrSpace = AddrSpace.GLOBAL
    axis: int | None = None
    device: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "slot", int(self.slot))
        if self.vmin_vmax is not None:
            low, high = self.vmin_vmax
            object.__setattr__(self, "vmin_vmax", (int(low), int(high)))


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Estimates(Payload):
    """Cost estimates of a kernel: each a count, or an expression over runtime variables."""

    ops: int | Uop = 0
    lds: int | Uop = 0
    mem: int | Uop = 0


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class KernelInfo(Payload):
    """Annotations of a kernel's SINK: they name and describe it, and do not change its meaning."""

    name: str = "test"
    axis_types: tuple[AxisType, ...] = ()
    dont_use_locals: bool = False
    applied_opts: tuple[Payload, ...] = ()
    opts_to_apply: tuple[Payload, ...] | None = None
    estimates: Estimates | None = None
    beam: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis_types", tuple(self.axis_types))
        object.__setattr__(self, "dont_use_locals", bool(self.dont_use_locals))
        object.__setattr__(self, "applied_opts", tuple(self.applied_opts))
        if self.opts_to_apply is not None:
            object.__setattr__(self, "opts_to_apply", tuple(self.opts_to_apply))
        object.__setattr__(self, "beam", int(self.beam))
