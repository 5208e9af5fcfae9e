"""1 / s by multiplications, where s is a root: the same word without the unit that roots wait for.

A root and the quotient that divides 1 by it take one unit, one after the other, while the
multipliers idle. Of several vectors in flight one can do without the quotient: an estimate of 1 / s
good to 2**-14 (AVX-512's VRCP14PS), a Newton step to about 2**-28, and a second one in fused
multiply-adds, which rounds as division does (Markstein, 1990). The first step is rounded up: a
word below 1 / s would stay wrong where s is all ones. ``tests/render/test_reciprocal.py`` proves
this for every mantissa and every estimate within the bound, so for every processor's.

A root of f32 is zero, infinite, NaN, or between 2**-75 and 2**64: nothing over- or underflows on
the way, and one VFIXUPIMMPS puts the words of the other three in.
"""

from __future__ import annotations

from .llvm_ops import Emitter
from .llvm_types import vector_type

LANES = 16
"""Lanes of the instructions used here."""
ONE_IN = 4
"""Of so many vectors in flight, one does without the quotient."""

_UP = 2 | 8
"""Rounding towards +∞, and no exceptions."""
_QUIET, _SIGNED_INFINITY, _MINUS_ZERO, _ZERO = 2, 6, 7, 8
_FIXES = _QUIET | _QUIET << 4 | _SIGNED_INFINITY << 8 | _MINUS_ZERO << 16 | _ZERO << 20
"""VFIXUPIMMPS's answers for s quiet or signalling NaN, zero, −∞ and ∞; the rest stays."""


def reciprocal_of_root(out: Emitter, one: str, s: str) -> str:
    """``one`` / ``s`` in LANES lanes of f32: 1, and a root or its negative. AVX-512 only."""
    ty = vector_type("float", LANES)
    name = "@llvm.x86.avx512.rcp14.ps.512"
    out.declared[name] = f"declare {ty} {name}({ty}, {ty}, i16)"
    y = out.value(f"call {ty} {name}({ty} {s}, {ty} zeroinitializer, i16 -1)")
    minus = out.value(f"fneg {ty} {s}")
    fma, fma_up = f"@llvm.fma.v{LANES}f32", "@llvm.x86.avx512.vfmadd.ps.512"
    out.declared[fma] = f"declare {ty} {fma}({ty}, {ty}, {ty})"
    out.declared[fma_up] = f"declare {ty} {fma_up}({ty}, {ty}, {ty}, i32 immarg)"
    rest = out.value(f"call {ty} {fma}({ty} {minus}, {ty} {y}, {ty} {one})")
    y = out.value(f"call {ty} {fma_up}({ty} {y}, {ty} {rest}, {ty} {y}, i32 {_UP})")
    rest = out.value(f"call {ty} {fma}({ty} {minus}, {ty} {y}, {ty} {one})")
    y = out.value(f"call {ty} {fma}({ty} {y}, {ty} {rest}, {ty} {y})")
    fix, table = "@llvm.x86.avx512.mask.fixupimm.ps.512", f"<{LANES} x i32>"
    out.declared[fix] = f"declare {ty} {fix}({ty}, {ty}, {table}, i32 immarg, i16, i32 immarg)"
    fixes = f"{table} splat (i32 {_FIXES})"
    return out.value(f"call {ty} {fix}({ty} {y}, {ty} {s}, {fixes}, i32 0, i16 -1, i32 4)")
