"""A kernel's record for the native call path, from its manifest and its compiled programs.

Goes in: what a call depends on, of a native kernel with the programs it has compiled so far. Comes
out: the addresses that Python calls the kernel through, or None where the kernel, or this Python,
keeps to the Python path.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...kernel.limits import MAX_ELEMENTS, MAX_GRID_AXIS
from ...kernel.module import Manifest, Port, Shape
from ...kernel.types import Type
from .. import relay, streaming, watchdog
from ..arrays import host_dtype
from ..call_facts import CallFacts, CallProgram, Limits
from . import layout, python
from .layout import DOMAIN, DOMAIN_WORDS, EXTENTS, PARAMS

_CODES = {
    Type.FLOAT: ("f", "f", 4),
    Type.DOUBLE: ("d", "d", 8),
    Type.INT: ("i", "l", 4),
    Type.BOOL: ("?", "?", 1),
}
"""The format characters that a word may have, and its bytes."""
_NEVER = 2**63 - 1
"""More bytes than there are."""
_EITHER = 0b11
"""Programs of one lane are for runs in the caches and past them."""
_KINDS = {
    Type.FLOAT: layout.F32,
    Type.DOUBLE: layout.F64,
    Type.INT: layout.I32,
    Type.BOOL: layout.BOOL,
}


@dataclass(frozen=True, slots=True)
class NativeCall:
    """A way to call a kernel: ``entry``, the address of the function, and ``record``, that of the
    record it reads. ``kept`` must live as long as the kernel does."""

    entry: int
    record: int
    kept: object


def native_call(
    kind: type, facts: CallFacts, positional: Sequence[str], pack: type | None
) -> NativeCall | None:
    """How to call a kernel of class ``kind`` natively; None where that is not to be had.

    ``positional`` are the arguments that may be given by position; ``pack`` is the type of the
    result, None for a bare array."""
    objects = python.object_layout(kind)
    if objects is None or not _fits(facts):
        return None
    code, record = python.wrapper(objects), _record(facts, positional, pack)
    return NativeCall(code["call"], ctypes.addressof(record), (code, record))


def _fits(facts: CallFacts) -> bool:
    manifest = facts.manifest
    ports = [*manifest.inputs, *manifest.outputs]
    words = sum(len(p.default.words) for p in manifest.params)
    return (
        len(ports) <= layout.MAX_ARRAYS
        and len(manifest.inputs) + len(manifest.params) <= layout.MAX_ARGUMENTS
        and PARAMS + words <= layout.MAX_VALUES
        and all(port.element.component in _CODES for port in ports)
        and all(len(p.arguments) <= layout.MAX_SLOTS for p in facts.programs)
    )


def _record(facts: CallFacts, positional: Sequence[str], pack: type | None) -> layout.Kernel:
    """The record of a kernel, which keeps alive all that it points at."""
    manifest = facts.manifest
    names = [sys.intern(name) for name in _argument_names(manifest)]
    first = manifest.outputs[0]
    whole, element = first.shape, first.element.lanes * _CODES[first.element.component][2]
    dtypes = [host_dtype(port.element) for port in manifest.outputs]
    ports = [_port(p, p.shape is whole, None) for p in manifest.inputs]
    ports += [_port(p, True, d) for p, d in zip(manifest.outputs, dtypes, strict=True)]
    defaults = [word for p in manifest.params for word in p.default.words]
    params = _params(manifest)
    slots = _slots(facts)
    limits = [_limits(p.limits) for p in facts.programs]
    programs = [_program(*x) for x in zip(facts.programs, slots, limits, strict=True)]
    tables: dict[str, ctypes.Array[Any]] = {
        "names": (ctypes.c_void_p * len(names))(*map(id, names)),
        "places": _words([names.index(name) for name in positional]),
        "ports": (layout.Port * len(ports))(*ports),
        "params": (layout.Param * len(params))(*params),
        "defaults": _words(defaults),
        "programs": (layout.Program * len(programs))(*programs),
    }
    record = layout.Kernel(
        api=ctypes.addressof(python.api()),
        pack=None if pack is None else id(pack),
        arguments=len(names),
        positions=len(positional),
        inputs=len(manifest.inputs),
        outputs=len(manifest.outputs),
        parameters=len(params),
        words=len(defaults),
        program_count=len(programs),
        sizing=next((k for k, p in enumerate(manifest.inputs) if p.shape is whole), -1),
        longest=max((max(r.sure, r.soon) for p in facts.programs for r in p.limits), default=0),
        cached=streaming.streams_from() if streaming.fills_lines(element) else _NEVER,
        element_shift=element.bit_length() - 1,
        crew=ctypes.addressof(relay.crew) if relay.relays() else None,
        trust=ctypes.addressof(facts.trust.word),
        watch=ctypes.addressof(watchdog.watchdog.watch),
        **{name: ctypes.addressof(table) for name, table in tables.items()},
    )
    codes = [p.code for p in facts.programs]
    record.kept = (tables, slots, limits, names, dtypes, pack, codes, facts.trust)
    return record


def _argument_names(manifest: Manifest) -> list[str]:
    """Inputs, then parameters: the order of ``Frame.given``."""
    return [p.name for p in manifest.inputs] + [p.name for p in manifest.params]


def _params(manifest: Manifest) -> list[layout.Param]:
    params, place = [], PARAMS
    for p in manifest.params:
        params.append(layout.Param(_KINDS.get(p.ty, layout.PLAIN), place))
        place += len(p.default.words)
    return params


def _slots(facts: CallFacts) -> list[ctypes.Array[ctypes.c_uint64]]:
    at = value_places(facts.manifest)
    return [_words([at[name] for name in p.arguments]) for p in facts.programs]


def _limits(rows: Sequence[Limits]) -> ctypes.Array[layout.Limits]:
    return (layout.Limits * len(rows))(*(layout.Limits(*row) for row in rows))


def _program(
    program: CallProgram,
    slots: ctypes.Array[ctypes.c_uint64],
    limits: ctypes.Array[layout.Limits],
) -> layout.Program:
    least, most = program.columns
    fewest, tallest = program.rows
    return layout.Program(
        key=sum(1 << k for k, same in enumerate(program.same_extent) if same),
        least=least,
        most=most,
        fewest=fewest,
        tallest=tallest,
        together=program.together,
        modes=_EITHER if program.width == 1 else 1 << program.streaming,
        entry=program.code["one"],
        slots=ctypes.addressof(slots),
        count=len(program.arguments),
        run=program.code["run"],
        limits=ctypes.addressof(limits),
        sizes=len(limits),
        width=program.width,
    )


def value_places(manifest: Manifest) -> dict[int | str, int]:
    """Where in ``Frame.values`` the native path puts each argument of a program: arrays by number,
    scalars by name."""
    arrays = len(manifest.inputs) + len(manifest.outputs)
    places: dict[int | str, int] = {k: k for k in range(arrays)}
    places |= {name: DOMAIN + k for k, name in enumerate(DOMAIN_WORDS)}
    for k, port in enumerate(manifest.inputs):
        first = EXTENTS + k * layout.DIMENSIONS
        places |= {f"{port.name}.{side}": first + j for j, side in enumerate(DOMAIN_WORDS[:3])}
    words = [f"{p.name}.{k}" for p in manifest.params for k in range(len(p.default.words))]
    return places | {name: PARAMS + k for k, name in enumerate(words)}


def _port(port: Port, alike: bool, dtype: object) -> layout.Port:
    one, other, size = _CODES[port.element.component]
    rank, vector = port.shape.rank, port.element.is_vector
    return layout.Port(
        code=ord(one),
        other=ord(other),
        itemsize=size,
        rank=rank,
        ndim=rank + vector,
        lanes=port.element.lanes,
        limit=MAX_ELEMENTS if port.shape is Shape.ROWS else MAX_GRID_AXIS,
        alike=alike,
        dtype=None if dtype is None else id(dtype),
    )


def _words(numbers: Sequence[int]) -> ctypes.Array[ctypes.c_uint64]:
    return (ctypes.c_uint64 * max(len(numbers), 1))(*numbers)
