"""Help for tests on graphs: leaves, and the value of a graph by the ops' own evaluation."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence

from dynamis.dtype import AddrSpace, Number, Ptr, Val, float32, int32
from dynamis.uop import Ops, Uop, evaluate, param, stack, toposort

Value = Number | tuple[Number, ...]


def leaf(name: str, dtype: Val = int32, bounds: tuple[int, int] | None = None) -> Uop:
    """A scalar parameter."""
    return param(
        slot=-1,
        dtype=dtype,
        shape=stack(()),
        name=name,
        vmin_vmax=bounds,
        addrspace=AddrSpace.ALU,
    )


def memory(slot: int = 0, dtype: Val = float32, size: int = -1) -> Uop:
    """A pointer parameter."""
    return param(slot=slot, dtype=Ptr.create(dtype, addrspace=AddrSpace.GLOBAL, size=size))


def value_of(u: Uop, env: Mapping[Uop, Value]) -> Value:
    """The value of `u`: a number, or one for each lane. `env` gives the leaves."""
    known: dict[Uop, Value] = dict(env)
    for n in toposort(u, gate=lambda n: n not in env):
        if n not in known:
            known[n] = _value(n, [known.get(s, 0) for s in n.src])
    return known[u]


def _value(u: Uop, src: Sequence[Value]) -> Value:
    if u.op is Ops.CONST:
        return u.arg.value
    if u.op is Ops.STACK:
        return tuple(s for s in src if not isinstance(s, tuple))
    if u.op is Ops.INDEX:
        lanes, at = src
        assert isinstance(lanes, tuple)
        if isinstance(at, tuple):
            return tuple(lanes[int(k)] for k in at)
        assert isinstance(at, int)
        return lanes[at]
    if not u.op.is_elementwise:
        return 0  # shapes and the like: nothing reads them
    assert isinstance(u.dtype, Val)
    source = u.src[-1].dtype
    assert isinstance(source, Val)
    widths = {len(s) for s in src if isinstance(s, tuple)}
    if not widths:
        return evaluate(u.op, u.dtype, src, source=source)  # type: ignore[arg-type]  # no tuple in it
    (n,) = widths
    lanes = [[s[k] if isinstance(s, tuple) else s for s in src] for k in range(n)]
    return tuple(evaluate(u.op, u.dtype, lane, source=source) for lane in lanes)


def bits(value: Number) -> object:
    """A number up to what is observable of it: -0.0 and 0.0 differ, every NaN is one."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("<d", value)
    return int(value)


def same(a: Value, b: Value) -> bool:
    """Whether two values agree in every lane; a number stands for all lanes."""
    n = max(len(v) if isinstance(v, tuple) else 1 for v in (a, b))
    spread = [v if isinstance(v, tuple) else (v,) * n for v in (a, b)]
    return [bits(x) for x in spread[0]] == [bits(y) for y in spread[1]]
