"""Printing graphs: a listing of nodes, one a row, and expressions in infix form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dynamis.uop.axis_type import AxisType
from dynamis.uop.const import Const
from dynamis.uop.node import Uop
from dynamis.uop.ops import Op, Ops
from dynamis.uop.payload import ParamArg, Payload, RangeInfo
from dynamis.uop.range_set import ranges
from dynamis.uop.traverse import toposort


def uops_to_string(nodes: Uop | Sequence[Uop], header: str | None = None) -> str:
    """A listing of a graph (sources first), of a LINEAR (in its own order), or of a list.

    One row a node: number, op, open ranges, dtype, sources, payload. A constant source is shown
    as its quoted value, a source outside the list as quoted dashes. Ends without a newline.
    """
    if isinstance(nodes, Uop):
        nodes = nodes.src if nodes.op is Ops.LINEAR else toposort(nodes)
    number = {u: i for i, u in enumerate(nodes)}
    rows = [] if header is None else [header]
    for i, u in enumerate(nodes):
        sources = [_source(s, number) for s in u.src]
        within = "_".join(_axis_text(r) for r in sorted(ranges(u), key=_axis_key))
        row = (
            f"{i:4d} {'Ops.' + u.op.name:<20s}: {within:<10s} {_dtype_text(u):<40s} "
            f"{'[' + ', '.join(sources) + ']':<32s} {arg_text(u)}"
        )
        rows.append(row.rstrip())
    return "\n".join(rows)


def _source(s: Uop, number: dict[Uop, int]) -> str:
    if isinstance(s.arg, Const):
        return f"'{s.arg.value}'"
    return str(number[s]) if s in number else "'--'"


def _dtype_text(u: Uop) -> str:
    return repr(u.dtype) if u.dtype.scalar.repr_name else str(u.dtype)


def _axis_key(r: Uop) -> tuple[tuple[int, ...], int]:
    info = r.arg
    if not isinstance(info, RangeInfo):
        return (), 0
    return (info.axis, *info.sub), info.kind.ordinal


def _axis_text(r: Uop) -> str:
    if not isinstance(r.arg, RangeInfo):
        return "?"  # a malformed node: listings are printed in the errors that say so
    return "_".join(f"m{-a}" if a < 0 else str(a) for a in (r.arg.axis, *r.arg.sub))


def arg_text(u: Uop) -> str:
    """The payload and diagnostic tag of a node as the listing shows them."""
    tag = "" if u.node_tag is None else f" tag={u.node_tag!r}"
    if isinstance(u.arg, Payload):
        # only what differs from the payload's defaults: a listing is read by people
        shown = [f"{n}={_value_text(v)}" for n, v in u.arg.stated()]
        return f"{type(u.arg).__name__}({', '.join(shown)}){tag}"
    return _value_text(u.arg) + tag


def _value_text(value: object) -> str:
    if isinstance(value, Const):
        return repr(value.value)
    if isinstance(value, AxisType):
        return str(value)
    return repr(value)


# -- expressions

_INFIX: Final[dict[Op, tuple[str, int]]] = {
    Ops.MUL: ("*", 1),
    Ops.FDIV: ("/", 1),
    Ops.FLOORDIV: ("//", 1),
    Ops.FLOORMOD: ("%", 1),
    Ops.ADD: ("+", 2),
    Ops.SUB: ("-", 2),
    Ops.SHL: ("<<", 3),
    Ops.SHR: (">>", 3),
    Ops.AND: ("&", 4),
    Ops.XOR: ("^", 5),
    Ops.OR: ("|", 6),
    Ops.CMPLT: ("<", 99),
    Ops.CMPNE: ("!=", 99),
    Ops.CMPEQ: ("==", 99),
}
_CALLS: Final[dict[Op, str]] = {
    Ops.CDIV: "cdiv",
    Ops.CMOD: "cmod",
    Ops.MAX: "max",
    Ops.POW: "pow",
    Ops.THREEFRY: "threefry",
    Ops.MULACC: "mulacc",
    Ops.EXP2: "exp2",
    Ops.LOG2: "log2",
    Ops.SIN: "sin",
    Ops.SQRT: "sqrt",
    Ops.RECIPROCAL: "reciprocal",
    Ops.TRUNC: "trunc",
}


def expr_to_string(u: Uop, simplify: bool = False) -> str:
    """`u` as an infix expression, shared terms written out each time; for small terms.

    Parentheses are left out where precedence allows; comparisons keep theirs. With `simplify`
    the simplified form is printed.
    """
    if simplify:
        from dynamis.uop.symbolic import simplify as simplified  # it prints nodes in its errors

        u = simplified(u)
    text: dict[Uop, tuple[str, int]] = {}
    for n in toposort(u):
        text[n] = _expression(n, [text[s] for s in n.src])
    return text[u][0]


def _expression(u: Uop, parts: list[tuple[str, int]]) -> tuple[str, int]:
    """The text of a node and its precedence: 0 binds tightest, 100 is always in parentheses."""
    texts = [p[0] for p in parts]
    op = u.op
    if op in _INFIX:
        sign, level = _INFIX[op]
        left, right = parts
        a = left[0] if left[1] <= level < 99 or left[1] == 0 else f"({left[0]})"
        b = right[0] if right[1] < level < 99 or right[1] == 0 else f"({right[0]})"
        return f"{a}{sign}{b}", level
    if op in _CALLS:
        return f"{_CALLS[op]}({', '.join(texts)})", 0
    closed = [t if p == 0 else f"({t})" for t, p in parts]
    if op is Ops.CONST:
        value = u.arg.value
        return str(value), 0
    if op is Ops.WHERE:
        return f"{closed[1]} if {closed[0]} else {closed[2]}", 100
    if op is Ops.NEG:
        return f"-{closed[0]}", 1
    if op is Ops.CAST:
        return f"({u.dtype}){closed[0]}", 1
    if op is Ops.BITCAST:
        return f"bitcast<{u.dtype}>({texts[0]})", 0
    if op is Ops.STACK:
        return "{" + ", ".join(texts) + "}", 0
    if op is Ops.INDEX:
        return f"{closed[0]}[{', '.join(texts[1:])}]", 0
    if op is Ops.BIND:
        return parts[0]
    if isinstance(u.arg, RangeInfo):
        return f"{u.arg.kind.letter}{_axis_text(u)}", 0
    if isinstance(u.arg, ParamArg):
        return u.arg.name or f"{op.name.lower()}{u.arg.slot}", 0
    if op is Ops.SPECIAL:
        return str(u.arg), 0
    return f"{op.name}({', '.join(texts)})", 0
