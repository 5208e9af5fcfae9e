"""Tables of constants: an INDEX into a STACK of them → the machine's own permutation.

In: such an INDEX. Out: where it looks and the table, and the instructions that read the table in
the lanes of an index: a permutation of one or two registers where x86 has it, pieces of the table
and selects where those are too short, else one load a lane.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

from ..dtype import float32
from ..uop import Ops, Uop
from .llvm_ops import Emitter
from .llvm_types import Machine, literal, vector_type

_FLOATS_AVX2, _FLOATS_AVX512 = 8, 16


class Lookup(NamedTuple):
    """The entry of ``table`` that the low bits of ``at`` say."""

    at: Uop
    table: tuple[float, ...]


def lookup(u: Uop) -> Lookup | None:
    """What ``u`` looks up, where it is an INDEX into a table of f32 by 32 bits, masked."""
    if u.op is not Ops.INDEX or u.src[0].op is not Ops.STACK or u.dtype is not float32:
        return None
    entries, masked = u.src[0].src, u.src[1]
    if masked.op is not Ops.AND or masked.dtype.bitsize != 32:
        return None
    at, mask = masked.src
    if mask.op is not Ops.CONST or mask.arg.value != len(entries) - 1:
        return None
    if len(entries) & (len(entries) - 1) or any(s.op is not Ops.CONST for s in entries):
        return None
    return Lookup(at, tuple(float(s.arg.value) for s in entries))


def looked_up(
    out: Emitter, machine: Machine, table: Sequence[float], index: str, lanes: int
) -> str:
    """The entries of ``table`` at the i32 lanes of ``index``; ``lanes`` 0: at one index."""
    native = machine.vector_bytes // 4
    if not machine.x86 or lanes < 2 or native not in (_FLOATS_AVX2, _FLOATS_AVX512):
        return _loaded(out, table, index, lanes)
    whole = index
    if lanes < native:
        whole = out.shuffle(vector_type("i32", lanes), index, "poison", _stretched(lanes, native))
    found = _permuted(out, table, whole, native)
    if lanes < native:
        found = out.shuffle(vector_type("float", native), found, "poison", range(lanes))
    return found


def _stretched(lanes: int, native: int) -> list[int]:
    return [min(k, lanes - 1) for k in range(native)]


def _permuted(out: Emitter, table: Sequence[float], index: str, lanes: int) -> str:
    """The entries at an index of the machine's own width."""
    floats, words = vector_type("float", lanes), vector_type("i32", lanes)
    entries = [table[k % len(table)] for k in range(max(lanes, len(table)))]
    pieces = [_vector(entries[k : k + lanes]) for k in range(0, len(entries), lanes)]
    size = lanes
    if lanes == _FLOATS_AVX512 and len(pieces) > 1:
        pairs = zip(pieces[::2], pieces[1::2], strict=True)
        found = [
            _call(
                out, "avx512.vpermi2var.ps.512", floats, [(floats, a), (words, index), (floats, b)]
            )
            for a, b in pairs
        ]
        size *= 2
    elif lanes == _FLOATS_AVX512:
        found = [_call(out, "avx512.permvar.sf.512", floats, [(floats, pieces[0]), (words, index)])]
    else:
        found = [_call(out, "avx2.permps", floats, [(floats, a), (words, index)]) for a in pieces]
    while len(found) > 1:
        masked = out.value(f"and {words} {index}, splat (i32 {size})")
        holds = out.value(f"icmp ne {words} {masked}, zeroinitializer")
        mask = vector_type("i1", lanes)
        found = [
            out.value(f"select {mask} {holds}, {floats} {b}, {floats} {a}")
            for a, b in zip(found[::2], found[1::2], strict=True)
        ]
        size *= 2
    return found[0]


def _call(out: Emitter, name: str, result: str, args: Sequence[tuple[str, str]]) -> str:
    full = f"@llvm.x86.{name}"
    out.declared[full] = f"declare {result} {full}({', '.join(ty for ty, _ in args)})"
    return out.value(f"call {result} {full}({', '.join(f'{ty} {a}' for ty, a in args)})")


def _vector(entries: Sequence[float]) -> str:
    return "<" + ", ".join(f"float {literal(float32, x)}" for x in entries) + ">"


def _loaded(out: Emitter, table: Sequence[float], index: str, lanes: int) -> str:
    """The same by loads from a constant in memory."""
    bits = struct.pack(f"<{len(table)}f", *table).hex()
    name, ty = f"@table.{bits[:16]}.{len(table)}", f"[{len(table)} x float]"
    for n in range(16, len(bits) + 1, 8):  # as much of its content as tells it from others
        name = f"@table.{bits[:n]}.{len(table)}"
        text = f"{name} = internal unnamed_addr constant {ty} [{_vector(table)[1:-1]}], align 4"
        if out.declared.setdefault(name, text) == text:
            break
    words = vector_type("i32", lanes)
    last = f"splat (i32 {len(table) - 1})" if lanes else str(len(table) - 1)
    within = out.value(f"and {words} {index}, {last}")
    if not lanes:
        return _entry(out, ty, name, within)
    floats, found = vector_type("float", lanes), "poison"
    for k in range(lanes):
        at = out.value(f"extractelement {words} {within}, i32 {k}")
        entry = _entry(out, ty, name, at)
        found = out.value(f"insertelement {floats} {found}, float {entry}, i32 {k}")
    return found


def _entry(out: Emitter, ty: str, name: str, at: str) -> str:
    wide = out.value(f"zext i32 {at} to i64")
    place = out.value(f"getelementptr {ty}, ptr {name}, i64 0, i64 {wide}")
    return out.value(f"load float, ptr {place}, align 4")
