"""Ops that no machine has, written in ops that rendering knows, with the same total meaning."""

from __future__ import annotations

from ..uop import Ops, Uop, alu_binary, graph_rewrite
from ..uop.elementary import expanded

_ELEMENTARY = {Ops.EXP2: "exp2", Ops.LOG2: "log2", Ops.SIN: "sin", Ops.POW: "pow"}


def decompose(root: Uop) -> Uop:
    """``root`` without FLOORDIV, FLOORMOD, EXP2, LOG2, SIN and POW."""
    return graph_rewrite(_decompose, root, name="decompose")


def _decompose(u: Uop) -> Uop | None:
    if u.op in _ELEMENTARY:
        return expanded(_ELEMENTARY[u.op], *u.src)
    if u.op not in (Ops.FLOORDIV, Ops.FLOORMOD):
        return None
    a, b = u.src
    quotient = alu_binary(op=Ops.CDIV, lhs=a, rhs=b)
    rest = alu_binary(op=Ops.CMOD, lhs=a, rhs=b)
    if a.vmin >= 0 and b.vmin >= 0:
        return quotient if u.op is Ops.FLOORDIV else rest
    # truncation and floor differ where a rest is left and the signs of rest and divisor differ
    apart = rest.ne(0) & (rest < 0).ne(b < 0)
    if u.op is Ops.FLOORMOD:
        return apart.where(rest + b, rest)  # x % 0 is x, as it should be: b adds nothing
    return (apart & b.ne(0)).where(quotient - 1, quotient)
