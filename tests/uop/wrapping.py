"""The value of a graph over NumPy arrays: every assignment of its leaves at once.

Written beside `uop.arithmetic`, not from it: 8-bit integers are NumPy's own where NumPy wraps, and
what NumPy leaves open (division by 0, counts above the width, a float out of range) is spelled out.
A weakint is an int64 that is watched: a graph that could leave the exact range is `Unsupported`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from dynamis.dtype import (
    Val,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    weakint,
)
from dynamis.uop import Op, Ops, Uop, toposort

Array = np.ndarray[Any, Any]

NUMPY: Final[dict[Val, Any]] = {
    bool_: np.bool_, int8: np.int8, int16: np.int16, int32: np.int32, int64: np.int64,
    uint8: np.uint8, uint16: np.uint16, uint32: np.uint32, uint64: np.uint64,
    float16: np.float16, float32: np.float32, float64: np.float64, weakint: np.int64,
}  # fmt: skip
EXACT: Final = 2**53


class Unsupported(Exception):
    """The graph has an op or a width that arrays do not hold."""


def values(u: Uop, env: Mapping[Uop, Array]) -> tuple[Array, Array]:
    """The values of `u`, and where it has one: not where it comes from an Invalid.

    `env` gives each leaf an array of one length; lanes lie along a further axis in front.
    """
    known: dict[Uop, tuple[Array, Array]] = {n: (a, np.True_) for n, a in env.items()}  # type: ignore[misc]
    with np.errstate(all="ignore"):
        for n in toposort(u, gate=lambda n: n not in env):
            if n not in known:
                known[n] = _node(n, [known[s] for s in n.src if s in known])
    return known[u]


def _node(u: Uop, src: list[tuple[Array, Array]]) -> tuple[Array, Array]:
    dtype = u.dtype.scalarize()
    kind = NUMPY.get(dtype)
    if kind is None or len(src) != len(u.src):
        raise Unsupported(u.op.name)
    if u.op is Ops.CONST:
        if u.arg.is_invalid:
            return np.zeros((), kind), np.False_  # type: ignore[return-value]
        number = u.arg.value
        if dtype is weakint and abs(number) > EXACT:
            raise Unsupported("weakint")
        return np.array(number, kind), np.True_  # type: ignore[return-value]
    data, valid = [a for a, _ in src], [v for _, v in src]
    if u.op is Ops.WHERE:
        c, a, b = data
        return np.where(c, a, b), valid[0] & np.where(c, valid[1], valid[2])
    there = np.logical_and.reduce(np.broadcast_arrays(*valid)) if valid else np.True_
    if u.op is Ops.STACK:
        return np.stack(np.broadcast_arrays(*map(np.atleast_1d, data))), there
    if u.op is Ops.INDEX:
        lanes, at = data
        if np.ndim(at) == 2:  # lanes of numbers, which no environment changes
            return lanes[at[:, 0]], there
        return lanes[int(at)], there
    if u.op is Ops.CAST:
        return _cast(data[0], dtype, kind), there
    if u.op is Ops.BITCAST:
        return np.ascontiguousarray(data[0]).view(kind).reshape(data[0].shape), there
    fn = OPS.get(u.op)
    if fn is None:
        raise Unsupported(u.op.name)
    operands = u.src[-1].dtype.scalarize()
    if ("f" if operands.is_float else "b" if operands.is_bool else "i") not in u.op.kinds:
        raise Unsupported(f"{u.op.name} of {operands}")
    made = fn(operands, *data)
    if dtype is weakint:
        _watch(u.op, made, data)
    return made.astype(kind), there


def _watch(op: Op, made: Array, data: list[Array]) -> None:
    """Refuse where 64 bits may not have held the integer."""
    wide = [a.astype(np.float64) for a in data]
    about: Array = made.astype(np.float64)
    if op is Ops.MUL:
        about = wide[0] * wide[1]
    elif op is Ops.MULACC:
        about = np.abs(wide[0] * wide[1]) + np.abs(wide[2])
    if np.any(np.abs(about) > EXACT):
        raise Unsupported("weakint")


def _cast(a: Array, dtype: Val, kind: Any) -> Array:
    if dtype.is_bool:
        return np.not_equal(a, 0)
    if not dtype.is_int or a.dtype.kind != "f":
        return a.astype(kind)
    wide = np.nan_to_num(np.trunc(a.astype(np.float64)), nan=0.0, posinf=np.inf, neginf=-np.inf)
    if dtype.bits > 32:
        if np.any(np.abs(wide) > EXACT):
            raise Unsupported("a float beyond 64 bits")
        return wide.astype(kind)
    info = np.iinfo(kind)
    return np.clip(wide, info.min, info.max).astype(np.int64).astype(kind)


def _quotient(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """|a| / |b| and its rest, cut; the sign is to be put back. Where b is 0, of 1."""
    p, q = np.abs(a.astype(np.int64)), np.abs(np.where(b == 0, 1, b).astype(np.int64))
    down = p // q
    return down, p - down * q, (a < 0) != (b < 0)


def _cdiv(_: Val, a: Array, b: Array) -> Array:
    down, _rest, negative = _quotient(a, b)
    return np.where(b == 0, 0, np.where(negative, -down, down))


def _cmod(_: Val, a: Array, b: Array) -> Array:
    rest = _quotient(a, b)[1]
    return np.where(b == 0, a, np.where(a < 0, -rest, rest))


def _floordiv(_: Val, a: Array, b: Array) -> Array:
    down, rest, negative = _quotient(a, b)
    return np.where(b == 0, 0, np.where(negative, -down - (rest != 0), down))


def _floormod(d: Val, a: Array, b: Array) -> Array:
    wide = a.astype(np.int64)
    return np.where(b == 0, wide, wide - b.astype(np.int64) * _floordiv(d, a, b))


def _shl(d: Val, a: Array, n: Array) -> Array:
    count = n.astype(np.int64) % d.bits
    if d is weakint and np.any(count > 24):
        raise Unsupported("weakint")
    return a.astype(np.int64) << count if d.bits <= 32 or d is weakint else _no(d)


def _shr(d: Val, a: Array, n: Array) -> Array:
    return a.astype(np.int64) >> np.minimum(n.astype(np.int64) % d.bits, 63)


def _no(d: Val) -> Array:
    raise Unsupported(str(d))


def _maximum(d: Val, a: Array, b: Array) -> Array:
    if not d.is_float:
        return np.maximum(a, b)
    more = np.where((a == 0) & (b == 0), np.signbit(b), a > b)
    return np.where(np.isnan(a) | np.isnan(b), np.nan, np.where(more, a, b))


def _muladd(d: Val, a: Array, b: Array, c: Array) -> Array:
    if d.is_bool:
        return a & b | c
    if d.is_float:  # exact in a double for the graphs here: by 1, or plus a zero
        a, b, c = (v.astype(np.float64) for v in (a, b, c))
    return a * b + c


OPS: Final[dict[Op, Callable[..., Array]]] = {
    Ops.ADD: lambda d, a, b: a | b if d.is_bool else a + b,
    Ops.SUB: lambda d, a, b: a ^ b if d.is_bool else a - b,
    Ops.MUL: lambda d, a, b: a & b if d.is_bool else a * b,
    Ops.NEG: lambda d, a: a if d.is_bool else -a,
    Ops.MAX: _maximum,
    Ops.CMPLT: lambda d, a, b: a < b,
    Ops.CMPNE: lambda d, a, b: a != b,
    Ops.CMPEQ: lambda d, a, b: a == b,
    Ops.AND: lambda d, a, b: a & b,
    Ops.OR: lambda d, a, b: a | b,
    Ops.XOR: lambda d, a, b: a ^ b,
    Ops.SHL: _shl,
    Ops.SHR: _shr,
    Ops.CDIV: _cdiv,
    Ops.CMOD: _cmod,
    Ops.FLOORDIV: _floordiv,
    Ops.FLOORMOD: _floormod,
    Ops.MULACC: _muladd,
    Ops.TRUNC: lambda d, a: np.trunc(a) if d.is_float else a,
    Ops.SQRT: lambda d, a: np.sqrt(a),
    Ops.RECIPROCAL: lambda d, a: a.dtype.type(1) / a,
    Ops.FDIV: lambda d, a, b: a / b,
}
"""Every op with an evaluation, at the dtype of its operands."""


def equal(a: Array, b: Array) -> Array:
    """Where two arrays agree: a NaN is a NaN, -0.0 is not 0.0."""
    if a.dtype.kind != "f":
        return np.asarray(a == b)
    both = (a == b) & (np.signbit(a) == np.signbit(b))
    return both | (np.isnan(a) & np.isnan(b))
