"""The rules that hold at every stage where an op is legal at all (which stages: `stages.py`)."""

from __future__ import annotations

from typing import Final

from dynamis.dtype import AddrSpace, Val, int32, uint32, void, weakint
from dynamis.uop.build import is_pointer
from dynamis.uop.const import Const
from dynamis.uop.memory import out_of_bounds
from dynamis.uop.node import Uop
from dynamis.uop.ops import Group, Ops
from dynamis.uop.payload import KernelInfo, ParamArg, RangeInfo, WmmaInfo
from dynamis.uop.shape import dims_or_none
from dynamis.uop.spec_rule import OK, SpecRule, first, kind, lanes_differ, rule

# -- structure


@rule("sink", Ops.SINK)
def sink(u: Uop) -> str:
    return first(
        (u.dtype is not void, "a SINK is void"),
        (u.arg is not None and not isinstance(u.arg, KernelInfo), "a SINK carries KernelInfo"),
    )


@rule("noop", Ops.NOOP)
def noop(u: Uop) -> str:
    return OK


@rule("group", Ops.GROUP)
def group(u: Uop) -> str:
    members = (Ops.GROUP, Ops.STORE, Ops.NOOP, Ops.INS, Ops.END, Ops.BREAK, Ops.AFTER, Ops.BARRIER)
    return first(
        (u.dtype is not void, "a GROUP is void"),
        (any(s.op not in members for s in u.src), "a GROUP gathers effects only"),
    )


_STORAGE: Final = (
    Ops.PARAM, Ops.BUFFER, Ops.AFTER, Ops.BITCAST, Ops.INS, Ops.CONTIGUOUS, Ops.MULTI,
    *Group.movement,
)  # fmt: skip


@rule("after", Ops.AFTER)
def after(u: Uop) -> str:
    if len(u.src) < 2:
        return "an AFTER has a source and something it waits for"
    return first(
        (u.src[0].dtype is not u.dtype, "an AFTER has its source's dtype"),
        (u.src[0].op not in _STORAGE, f"an AFTER is over storage, not {u.src[0].op.name}"),
    )


@rule("param", Ops.PARAM)
def param(u: Uop) -> str:
    return first(
        (not isinstance(u.arg, ParamArg), "a PARAM carries ParamArg"),
        (len(u.src) != 1, "a PARAM has one shape child"),
    )


@rule("buffer", Ops.BUFFER)
def scratch(u: Uop) -> str:
    if not isinstance(u.arg, ParamArg) or len(u.src) != 1:
        return "a BUFFER carries ParamArg and has one shape child"
    scratch = u.arg.addrspace in (AddrSpace.LOCAL, AddrSpace.REG)
    return OK if scratch else "a kernel's BUFFER is LOCAL or REG"


@rule("const", Ops.CONST)
def const(u: Uop) -> str:
    return first(
        (not isinstance(u.arg, Const), "a CONST carries a Const"),
        (bool(u.src), "a kernel's CONST has no sources"),
        (
            isinstance(u.arg, Const) and u.arg.dtype is not u.dtype,
            "a CONST has its payload's dtype",
        ),
    )


@rule("stack", Ops.STACK)
def stack(u: Uop) -> str:
    if not u.src:
        return OK if u.dtype is void else "an empty STACK is void"
    shapes = {dims_or_none(s) for s in u.src}
    return first(
        (len(shapes) != 1, "the sources of a STACK have one shape"),
        (any(s.dtype.scalar is not u.dtype.scalar for s in u.src), "a STACK has its lanes' dtype"),
    )


# -- arithmetic


@rule("alu")
def alu(u: Uop) -> str | None:
    op = u.op
    if not op.is_alu:
        return None
    count = 1 if op.is_unary else 2 if op.is_binary else 3
    if len(u.src) != count:
        return f"{op.name} has {count} sources"
    if lanes_differ(u.src):
        return f"the operands of {op.name} have lanes that do not match"
    if op is Ops.WHERE:
        return first(
            (not u.src[0].dtype.is_bool, "the condition of a WHERE is bool"),
            (any(s.dtype is not u.dtype for s in u.src[1:]), "both arms of a WHERE have its dtype"),
        )
    lhs = u.src[0].dtype
    if kind(lhs) not in op.kinds:
        return f"{op.name} is not defined on {lhs}"
    if op in (Ops.SHL, Ops.SHR):
        return first(
            (lhs is not u.dtype, f"{op.name} has its left operand's dtype"),
            (
                u.src[1].dtype not in (lhs, uint32),
                "a shift count has the value's dtype or uint32",
            ),
        )
    if any(s.dtype is not lhs for s in u.src):
        return f"the operands of {op.name} have one dtype"
    if op.is_comparison:
        same = u.dtype.is_bool and u.dtype.count == lhs.count
        return OK if same else f"{op.name} gives bool"
    return OK if u.dtype is lhs else f"{op.name} has its operands' dtype"


@rule("convert", Ops.CAST, Ops.BITCAST)
def convert(u: Uop) -> str:
    if len(u.src) != 1 or u.arg is not None:
        return f"{u.op.name} has one source and no payload"
    a, b = u.src[0].dtype, u.dtype
    if u.op is Ops.BITCAST:
        return OK if a.is_ptr or b.is_ptr or a.bitsize == b.bitsize else "a BITCAST keeps the width"
    legal = a.is_ptr == b.is_ptr and (a.is_ptr or (kind(a) != "-" and kind(b) != "-"))
    return OK if legal else f"nothing converts {a} to {b}"


# -- loops and effects


@rule("range", Ops.RANGE)
def range_(u: Uop) -> str:
    return first(
        (not isinstance(u.arg, RangeInfo), "a RANGE carries RangeInfo"),
        (not u.src or u.src[0].dtype is not u.dtype, "a RANGE's size has its dtype"),
        (not u.dtype.is_int, "a RANGE counts in integers"),
        (bool(u.src) and bool(dims_or_none(u.src[0])), "a RANGE's size is uniform"),
    )


@rule("special", Ops.SPECIAL)
def special(u: Uop) -> str:
    return first(
        (not isinstance(u.arg, str), "a SPECIAL carries its name"),
        (len(u.src) != 1 or u.src[0].dtype is not u.dtype, "a SPECIAL's size has its dtype"),
        (u.dtype not in (weakint, int32), "a SPECIAL is weakint or int32"),
    )


@rule("end", Ops.END)
def end(u: Uop) -> str:
    return first(
        (len(u.src) < 2, "an END closes at least one range"),
        (any(s.op is not Ops.RANGE for s in u.src[1:]), "an END closes RANGEs"),
    )


@rule("barrier", Ops.BARRIER)
def barrier(u: Uop) -> str:
    return OK if u.dtype is void else "a BARRIER is void"


@rule("custom", Ops.CUSTOM, Ops.CUSTOMI)
def custom(u: Uop) -> str:
    return OK if isinstance(u.arg, str) else f"{u.op.name} carries its template"


# -- memory


@rule("index", Ops.INDEX)
def index(u: Uop) -> str:
    return first(
        (not u.src, "an INDEX has something to index"),
        (any(not i.dtype.is_int for i in u.src[1:]), "an INDEX is by integers"),
    )


def is_address(u: Uop) -> bool:
    """Whether `u` is an address: an INDEX into storage, or one CAST over it."""
    place = u.src[0] if u.op is Ops.CAST else u
    return place.op in (Ops.INDEX, Ops.SHRINK) and is_pointer(place)


@rule("load", Ops.LOAD)
def load(u: Uop) -> str:
    if len(u.src) not in (1, 3):
        return "a LOAD has 1 source or 3"
    if not is_address(u.src[0]):
        return "a LOAD reads through an INDEX of storage"
    if len(u.src) == 1:
        return out_of_bounds(u.src[0], None) or OK
    return first(
        (u.src[1].dtype is not u.dtype, "the alternative of a LOAD has its dtype"),
        (not u.src[2].dtype.is_bool, "the gate of a LOAD is bool"),
        (lanes_differ(u.src), "the operands of a LOAD have lanes that do not match"),
    ) or (out_of_bounds(u.src[0], u.src[2]) or OK)


@rule("store", Ops.STORE)
def store(u: Uop) -> str:
    if u.dtype is not void or len(u.src) not in (2, 3):
        return "a STORE is void and has 2 sources or 3"
    place, value = u.src[0], u.src[1]
    element = place.dtype if isinstance(place.dtype, Val) else place.dtype.value
    return first(
        (not is_address(place), "a STORE writes through an INDEX of storage"),
        (value.dtype is not element, f"a STORE into {element} is given {value.dtype}"),
        (len(u.src) == 3 and not u.src[2].dtype.is_bool, "the gate of a STORE is bool"),
        (lanes_differ(u.src), "the operands of a STORE have lanes that do not match"),
    ) or (out_of_bounds(place, u.src[2] if len(u.src) == 3 else None) or OK)


# -- what a kernel keeps of tensor cores, and failures


@rule("wmma", Ops.WMMA)
def wmma(u: Uop) -> str:
    return first(
        (not isinstance(u.arg, WmmaInfo), "a WMMA carries WmmaInfo"),
        (len(u.src) != 3, "a WMMA has three operands"),
    )


@rule("rewrite-error", Ops.REWRITE_ERROR)
def rewrite_error(u: Uop) -> str:
    legal = u.dtype is void and isinstance(u.arg, str)
    return OK if legal else "a REWRITE_ERROR is void and carries its message"


SHARED: Final[tuple[SpecRule, ...]] = (
    sink, noop, group, after, param, scratch, const, stack, alu, convert, range_, special, end,
    barrier, custom, index, load, store, wmma, rewrite_error,
)  # fmt: skip
