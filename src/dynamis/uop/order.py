"""A total order of nodes by structure: the same in every run, whatever was built before."""

from __future__ import annotations

import functools
import weakref
from dataclasses import fields
from typing import Any, Final

from dynamis.dtype import AddrSpace
from dynamis.uop.axis_type import AxisType
from dynamis.uop.const import Const
from dynamis.uop.node import Uop
from dynamis.uop.ops import Op
from dynamis.uop.payload import Payload

# payloads are interned, so the key of one is made once
_payload_keys: Final[weakref.WeakKeyDictionary[Payload, tuple[Any, ...]]] = (
    weakref.WeakKeyDictionary()
)
_NONE: Final = (0,)
_payload_fields: Final[dict[type, tuple[str, ...]]] = {}


def compare_structure(a: Uop, b: Uop) -> int:
    """-1, 0 or 1: by op, dtype, payload, sources from the first on, their number, then tag.

    Sources are interned, so the first pair that differs decides: linear in depth.
    """
    while a is not b:
        if a.op is not b.op:
            return -1 if a.op.ordinal < b.op.ordinal else 1
        if a.dtype is not b.dtype:
            return -1 if a.dtype.order < b.dtype.order else 1
        if a.arg is not b.arg and (p := order_key(a.arg)) != (q := order_key(b.arg)):
            return -1 if p < q else 1
        for x, y in zip(a.src, b.src, strict=False):
            if x is not y:
                a, b = x, y
                break
        else:
            p, q = (len(a.src), a.node_tag or ""), (len(b.src), b.node_tag or "")
            return -1 if p < q else int(p > q)
    return 0


def order_key(arg: Any) -> tuple[Any, ...]:
    """A payload as a tuple that compares: kinds apart, None first, floats by value then sign."""
    if arg is None:
        return _NONE
    kind = arg.__class__
    if kind is int or kind is bool:
        return (1, int(arg))
    if kind is str:
        return (2, arg)
    if isinstance(arg, tuple):
        return (3, tuple([order_key(v) for v in arg]))
    if isinstance(arg, (Op, AxisType, AddrSpace)):
        return (4, arg.ordinal)
    if isinstance(arg, Const):
        return (5, arg.dtype.order, arg.order)
    if isinstance(arg, Payload):
        made = _payload_keys.get(arg)
        if made is None:
            names = _payload_fields.get(kind)
            if names is None:
                names = _payload_fields[kind] = tuple([f.name for f in fields(kind)])
            made = (6, kind.__name__, tuple([order_key(getattr(arg, n)) for n in names]))
            _payload_keys[arg] = made
        return made
    if isinstance(arg, Uop):
        return (7, functools.cmp_to_key(compare_structure)(arg))
    return (8, repr(arg))
