"""The rules of kernels and of linear programs."""

from __future__ import annotations

from typing import Final

from dynamis.dtype import uint64, void, weakint
from dynamis.uop.const import Const
from dynamis.uop.node import Uop
from dynamis.uop.ops import Ops
from dynamis.uop.payload import ProgramInfo, ReduceArg, StageOpts
from dynamis.uop.shape import dims_or_none
from dynamis.uop.spec_rule import OK, SpecRule, first, rule


@rule("break", Ops.BREAK)
def break_(u: Uop) -> str:
    return first(
        (u.dtype is not void, "a BREAK is void"),
        (len(u.src) < 2 or not u.src[0].dtype.is_bool, "a BREAK has a bool and its loop"),
        (len(u.src) > 1 and u.src[1].op is not Ops.RANGE, "a BREAK leaves a RANGE"),
    )


@rule("reduce", Ops.REDUCE)
def reduce(u: Uop) -> str:
    if not isinstance(u.arg, ReduceArg) or not u.src:
        return "a REDUCE carries ReduceArg and has a body"
    return first(
        (not u.arg.op.is_reduce, f"{u.arg.op.name} does not reduce"),
        (bool(u.arg.axes), "a kernel's REDUCE runs over ranges, not over axes"),
        (any(not r.dtype.is_int for r in u.src[1:]), "a REDUCE runs over ranges"),
    )


@rule("stage", Ops.STAGE)
def stage(u: Uop) -> str:
    return first(
        (not isinstance(u.arg, StageOpts), "a STAGE carries StageOpts"),
        (not u.src or u.src[0].dtype is not u.dtype, "a STAGE has its body's dtype"),
        (any(not r.dtype.is_int for r in u.src[1:]), "a STAGE is indexed by integers"),
    )


@rule("wait", Ops.WAIT)
def wait(u: Uop) -> str:
    legal = u.dtype is void and len(u.src) == 2
    return OK if legal else "a WAIT is void, over a source and what it waits for"


@rule("getaddr", Ops.GETADDR)
def getaddr(u: Uop) -> str:
    legal = u.dtype is uint64 and len(u.src) == 1
    return OK if legal else "a GETADDR is the uint64 address of one source"


_STORAGE: Final = (Ops.PARAM, Ops.BUFFER, Ops.AFTER)


@rule("shrink", Ops.SHRINK)
def shrink(u: Uop) -> str:
    return first(
        (len(u.src) != 3 or u.arg is not None, "a SHRINK has a source, an offset and a size"),
        (
            not (u.src and u.src[0].dtype.is_ptr and u.src[0].op in _STORAGE),
            "a kernel's SHRINK is over storage",
        ),
        (len(u.src) == 3 and not _fixed_size(u.src[2]), "the size of a SHRINK is a constant"),
    )


def _fixed_size(u: Uop) -> bool:
    return u.op is Ops.CONST or (u.op is Ops.STACK and all(s.op is Ops.CONST for s in u.src))


# -- programs only


@rule("fixed-width")
def fixed_width(u: Uop) -> str | None:
    return "a program has no weakint" if u.dtype.scalar is weakint.scalar else None


@rule("lanes-in-shape")
def lanes_in_shape(u: Uop) -> str | None:
    if u.dtype.is_ptr or u.dtype.count == 1 or u.op in (Ops.INS, Ops.NOOP):
        return None
    return None if dims_or_none(u) == (u.dtype.count,) else "a vector dtype has its lanes as shape"


@rule("valid", Ops.CONST)
def valid(u: Uop) -> str | None:
    invalid = isinstance(u.arg, Const) and u.arg.is_invalid
    return "a program has no Invalid" if invalid else None


@rule("linear", Ops.LINEAR)
def linear(u: Uop) -> str:
    return OK if u.dtype is void else "a LINEAR is void"


@rule("if", Ops.IF)
def if_(u: Uop) -> str:
    if u.dtype is not void or len(u.src) != 2:
        return "an IF is void and has 2 sources"
    return first(
        (not u.src[0].dtype.is_bool, "the condition of an IF is bool"),
        (
            u.src[1].op not in (Ops.CAST, Ops.INDEX, Ops.SHRINK, Ops.CONST),
            "an IF is told apart by an index or a number",
        ),
    )


@rule("endif", Ops.ENDIF)
def endif(u: Uop) -> str:
    legal = u.dtype is void and len(u.src) == 1 and u.src[0].op is Ops.IF
    return OK if legal else "an ENDIF is void and closes an IF"


@rule("program", Ops.PROGRAM)
def program(u: Uop) -> str:
    forms = (Ops.SINK, Ops.LINEAR, Ops.SOURCE, Ops.BINARY)
    return first(
        (u.dtype is not void, "a PROGRAM is void"),
        (not isinstance(u.arg, ProgramInfo), "a PROGRAM carries ProgramInfo"),
        (
            not u.src or tuple(s.op for s in u.src) != forms[: len(u.src)],
            "a PROGRAM's sources are SINK, LINEAR, SOURCE, BINARY, as far as it is compiled",
        ),
    )


@rule("text", Ops.SOURCE, Ops.BINARY)
def text(u: Uop) -> str:
    kind = str if u.op is Ops.SOURCE else bytes
    legal = u.dtype is void and not u.src and isinstance(u.arg, kind)
    return OK if legal else f"a {u.op.name} is void and carries {kind.__name__}"


@rule("ins", Ops.INS)
def ins(u: Uop) -> str:
    return OK if isinstance(u.arg, str) else "an INS carries its mnemonic"


KERNEL: Final[tuple[SpecRule, ...]] = (
    break_, reduce, stage, wait, getaddr, shrink,
)  # fmt: skip
PROGRAM: Final[tuple[SpecRule, ...]] = (
    fixed_width, lanes_in_shape, valid, break_, getaddr, shrink, linear,
    if_, endif, program, text, ins,
)  # fmt: skip
