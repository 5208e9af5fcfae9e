"""The semantic key: a digest of what a graph computes, the same in every process."""

from __future__ import annotations

import hashlib
from typing import Any

from dynamis.uop.codec import Writer, full_toposort, sized
from dynamis.uop.node import Uop
from dynamis.uop.ops import Ops
from dynamis.uop.payload import ParamArg


def internal_slots(order: list[Uop]) -> dict[int, int]:
    """New numbers, from -1 down, for the internal (negative) BUFFER slots, as they appear."""
    slots: dict[int, int] = {}
    for u in order:
        if u.op is Ops.BUFFER and isinstance(u.arg, ParamArg) and u.arg.slot < 0:
            slots.setdefault(u.arg.slot, -1 - len(slots))
    return slots


def with_slot(u: Uop, slots: dict[int, int]) -> Any:
    """u's payload, the slot of an internal BUFFER renumbered."""
    arg = u.arg
    if slots and u.op is Ops.BUFFER and isinstance(arg, ParamArg) and arg.slot in slots:
        fields = arg.values()
        return ParamArg(slots[arg.slot], *fields[1:])
    return arg


def semantic_key(root: Uop) -> str:
    """The digest of `root`, as hexadecimal text; see `Uop.semantic_key`."""
    order = full_toposort(root)
    slots = internal_slots(order)
    digests: dict[Uop, bytes] = {}
    writer = Writer(
        digests.__getitem__, lambda d: _text(repr(d.order)), lambda f: _text(str(id(f)))
    )
    for u in order:
        head = _text(u.op.name) + _text(repr(u.dtype.order))
        arg = b"" if u.arg is None else writer.value(with_slot(u, slots))
        sources = b"".join([digests[s] for s in u.src])
        digests[u] = hashlib.blake2b(head + sized(arg) + sources, digest_size=32).digest()
    return digests[root].hex()


def _text(text: str) -> bytes:
    return sized(text.encode())
