"""Specs: which nodes are legal at which stage.

A spec is an ordered list of rules. A rule looks at a node and answers None for "not mine", "" for
"legal", or the reason why it is not. The first rule that answers decides; a node that no rule
answers for is not legal. Ops are checked for shape and dtype of their own operands only; what
holds between nodes (loops that close, the order of a program) is checked for the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from dynamis.dtype import AddrSpace, Val, int32, uint32, void, weakint
from dynamis.uop.build import is_pointer
from dynamis.uop.const import Const
from dynamis.uop.errors import SpecError
from dynamis.uop.node import Uop
from dynamis.uop.ops import Op, Ops
from dynamis.uop.payload import KernelInfo, ParamArg, RangeInfo
from dynamis.uop.range_set import ranges
from dynamis.uop.render import uops_to_string
from dynamis.uop.shape import shape_or_none
from dynamis.uop.traverse import toposort

Check = Callable[[Uop], str | None]

OK: Final = ""


@dataclass(frozen=True, slots=True)
class SpecRule:
    """A named rule: `check` answers None (not mine), "" (legal) or why the node is not legal."""

    name: str
    check: Check


@dataclass(frozen=True, slots=True)
class Spec:
    """The rules of a stage, in the order in which they are asked."""

    stage: str
    rules: tuple[SpecRule, ...]

    def verify(self, u: Uop) -> None:
        """Raises SpecError, naming the rule, the node and the reason, unless `u` is legal."""
        for rule in self.rules:
            reason = rule.check(u)
            if reason is None:
                continue
            if reason:
                raise self.error(rule.name, u, reason)
            return
        raise self.error("known-op", u, f"{u.op.name} is not legal here")

    def error(self, rule: str, u: Uop, reason: str) -> SpecError:
        """The error for a node that breaks `rule`; it prints the node and its sources."""
        listing = uops_to_string([*dict.fromkeys(u.src), u])
        return SpecError(f"{self.stage} rule {rule!r}: {reason}\n{listing}")


def _for(*ops: Op) -> Callable[[Check], Check]:
    """Makes a check answer None for all other ops."""
    mine = frozenset(ops)

    def wrap(check: Check) -> Check:
        return lambda u: check(u) if u.op in mine else None

    return wrap


def _first(*failures: tuple[bool, str]) -> str:
    """The text of the first that failed, or OK."""
    return next((text for failed, text in failures if failed), OK)


def _lanes_differ(us: Sequence[Uop]) -> bool:
    """Whether shapes that are known do not stretch to one another."""
    shapes = [s for s in map(shape_or_none, us) if s is not None]
    for a in shapes:
        for b in shapes:
            for p, q in zip(reversed(a), reversed(b), strict=False):
                if isinstance(p, int) and isinstance(q, int) and p != q and 1 not in (p, q):
                    return True
    return False


# -- structure


@_for(Ops.SINK)
def _sink(u: Uop) -> str:
    return _first(
        (u.dtype is not void, "a SINK is void"),
        (u.arg is not None and not isinstance(u.arg, KernelInfo), "a SINK carries KernelInfo"),
    )


@_for(Ops.NOOP)
def _noop(u: Uop) -> str:
    return OK


@_for(Ops.GROUP)
def _group(u: Uop) -> str:
    members = (Ops.GROUP, Ops.STORE, Ops.NOOP, Ops.INS, Ops.END, Ops.BREAK, Ops.AFTER, Ops.BARRIER)
    return _first(
        (u.dtype is not void, "a GROUP is void"),
        (any(s.op not in members for s in u.src), "a GROUP gathers effects only"),
    )


_STORAGE: Final = (Ops.PARAM, Ops.BUFFER, Ops.AFTER, Ops.BITCAST, Ops.INS)


@_for(Ops.AFTER)
def _after(u: Uop) -> str:
    if len(u.src) < 2:
        return "an AFTER has a source and something it waits for"
    return _first(
        (u.src[0].dtype is not u.dtype, "an AFTER has its source's dtype"),
        (u.src[0].op not in _STORAGE, f"an AFTER is over storage, not {u.src[0].op.name}"),
    )


@_for(Ops.PARAM)
def _param(u: Uop) -> str:
    return _first(
        (not isinstance(u.arg, ParamArg), "a PARAM carries ParamArg"),
        (len(u.src) != 1, "a PARAM has one shape child"),
    )


@_for(Ops.BUFFER)
def _scratch(u: Uop) -> str:
    if not isinstance(u.arg, ParamArg) or len(u.src) != 1:
        return "a BUFFER carries ParamArg and has one shape child"
    scratch = u.arg.addrspace in (AddrSpace.LOCAL, AddrSpace.REG)
    return OK if scratch else "a kernel's BUFFER is LOCAL or REG"


@_for(Ops.CONST)
def _const(u: Uop) -> str:
    return _first(
        (not isinstance(u.arg, Const), "a CONST carries a Const"),
        (bool(u.src), "a kernel's CONST has no sources"),
        (
            isinstance(u.arg, Const) and u.arg.dtype is not u.dtype,
            "a CONST has its payload's dtype",
        ),
    )


@_for(Ops.STACK)
def _stack(u: Uop) -> str:
    if not u.src:
        return OK if u.dtype is void else "an empty STACK is void"
    shapes = {shape_or_none(s) for s in u.src}
    return _first(
        (len(shapes) != 1, "the sources of a STACK have one shape"),
        (any(s.dtype.scalar is not u.dtype.scalar for s in u.src), "a STACK has its lanes' dtype"),
    )


# -- arithmetic


def _kind(dtype: object) -> str:
    if not isinstance(dtype, Val):
        return "-"
    return "f" if dtype.is_float else "i" if dtype.is_int else "b" if dtype.is_bool else "-"


def _alu(u: Uop) -> str | None:
    op = u.op
    if not op.is_alu:
        return None
    count = 1 if op.is_unary else 2 if op.is_binary else 3
    if len(u.src) != count:
        return f"{op.name} has {count} sources"
    if _lanes_differ(u.src):
        return f"the operands of {op.name} have lanes that do not match"
    if op is Ops.WHERE:
        return _first(
            (not u.src[0].dtype.is_bool, "the condition of a WHERE is bool"),
            (any(s.dtype is not u.dtype for s in u.src[1:]), "both arms of a WHERE have its dtype"),
        )
    first = u.src[0].dtype
    if _kind(first) not in op.kinds:
        return f"{op.name} is not defined on {first}"
    if op in (Ops.SHL, Ops.SHR):
        return _first(
            (first is not u.dtype, f"{op.name} has its left operand's dtype"),
            (
                u.src[1].dtype not in (first, uint32),
                "a shift count has the value's dtype or uint32",
            ),
        )
    if any(s.dtype is not first for s in u.src):
        return f"the operands of {op.name} have one dtype"
    if op.is_comparison:
        same = u.dtype.is_bool and u.dtype.count == first.count
        return OK if same else f"{op.name} gives bool"
    return OK if u.dtype is first else f"{op.name} has its operands' dtype"


@_for(Ops.CAST, Ops.BITCAST)
def _convert(u: Uop) -> str:
    if len(u.src) != 1 or u.arg is not None:
        return f"{u.op.name} has one source and no payload"
    a, b = u.src[0].dtype, u.dtype
    if u.op is Ops.BITCAST:
        return OK if a.is_ptr or b.is_ptr or a.bitsize == b.bitsize else "a BITCAST keeps the width"
    legal = a.is_ptr == b.is_ptr and (a.is_ptr or (_kind(a) != "-" and _kind(b) != "-"))
    return OK if legal else f"nothing converts {a} to {b}"


# -- loops and effects


@_for(Ops.RANGE)
def _range(u: Uop) -> str:
    return _first(
        (not isinstance(u.arg, RangeInfo), "a RANGE carries RangeInfo"),
        (not u.src or u.src[0].dtype is not u.dtype, "a RANGE's size has its dtype"),
        (not u.dtype.is_int, "a RANGE counts in integers"),
        (bool(u.src) and bool(shape_or_none(u.src[0])), "a RANGE's size is uniform"),
    )


@_for(Ops.SPECIAL)
def _special(u: Uop) -> str:
    return _first(
        (not isinstance(u.arg, str), "a SPECIAL carries its name"),
        (len(u.src) != 1 or u.src[0].dtype is not u.dtype, "a SPECIAL's size has its dtype"),
        (u.dtype not in (weakint, int32), "a SPECIAL is weakint or int32"),
    )


@_for(Ops.END)
def _end(u: Uop) -> str:
    return _first(
        (len(u.src) < 2, "an END closes at least one range"),
        (any(s.op is not Ops.RANGE for s in u.src[1:]), "an END closes RANGEs"),
    )


@_for(Ops.BREAK)
def _break(u: Uop) -> str:
    return _first(
        (u.dtype is not void, "a BREAK is void"),
        (len(u.src) < 2 or not u.src[0].dtype.is_bool, "a BREAK has a bool and its loop"),
        (len(u.src) > 1 and u.src[1].op is not Ops.RANGE, "a BREAK leaves a RANGE"),
    )


@_for(Ops.BARRIER)
def _barrier(u: Uop) -> str:
    return OK if u.dtype is void else "a BARRIER is void"


@_for(Ops.CUSTOM, Ops.CUSTOMI)
def _custom(u: Uop) -> str:
    return OK if isinstance(u.arg, str) else f"{u.op.name} carries its template"


# -- memory


@_for(Ops.INDEX)
def _index(u: Uop) -> str:
    return _first(
        (not u.src, "an INDEX has something to index"),
        (any(not i.dtype.is_int for i in u.src[1:]), "an INDEX is by integers"),
    )


def _address(u: Uop) -> bool:
    """Whether `u` is an address: an INDEX into storage, or one CAST over it."""
    place = u.src[0] if u.op is Ops.CAST else u
    return place.op in (Ops.INDEX, Ops.SHRINK) and is_pointer(place)


@_for(Ops.LOAD)
def _load(u: Uop) -> str:
    if len(u.src) not in (1, 3):
        return "a LOAD has 1 source or 3"
    if not _address(u.src[0]):
        return "a LOAD reads through an INDEX of storage"
    if len(u.src) == 1:
        return OK
    return _first(
        (u.src[1].dtype is not u.dtype, "the alternative of a LOAD has its dtype"),
        (not u.src[2].dtype.is_bool, "the gate of a LOAD is bool"),
        (_lanes_differ(u.src), "the operands of a LOAD have lanes that do not match"),
    )


@_for(Ops.STORE)
def _store(u: Uop) -> str:
    if u.dtype is not void or len(u.src) not in (2, 3):
        return "a STORE is void and has 2 sources or 3"
    place, value = u.src[0], u.src[1]
    element = place.dtype if isinstance(place.dtype, Val) else place.dtype.value
    return _first(
        (not _address(place), "a STORE writes through an INDEX of storage"),
        (value.dtype is not element, f"a STORE into {element} is given {value.dtype}"),
        (len(u.src) == 3 and not u.src[2].dtype.is_bool, "the gate of a STORE is bool"),
        (_lanes_differ(u.src), "the operands of a STORE have lanes that do not match"),
    )


# -- program only


def _fixed_width(u: Uop) -> str | None:
    return "a program has no weakint" if u.dtype.scalar is weakint.scalar else None


def _lanes_in_shape(u: Uop) -> str | None:
    if u.dtype.is_ptr or u.dtype.count == 1 or u.op in (Ops.INS, Ops.NOOP):
        return None
    return None if shape_or_none(u) == (u.dtype.count,) else "a vector dtype has its lanes as shape"


@_for(Ops.LINEAR)
def _linear(u: Uop) -> str:
    return OK if u.dtype is void else "a LINEAR is void"


@_for(Ops.IF)
def _if(u: Uop) -> str:
    if u.dtype is not void or len(u.src) != 2:
        return "an IF is void and has 2 sources"
    return _first(
        (not u.src[0].dtype.is_bool, "the condition of an IF is bool"),
        (u.src[1].op not in (Ops.CAST, Ops.INDEX, Ops.SHRINK), "an IF is told apart by an index"),
    )


@_for(Ops.ENDIF)
def _endif(u: Uop) -> str:
    legal = u.dtype is void and len(u.src) == 1 and u.src[0].op is Ops.IF
    return OK if legal else "an ENDIF is void and closes an IF"


def _rules(*checks: Check) -> tuple[SpecRule, ...]:
    return tuple(SpecRule(_NAMES[c], c) for c in checks)


_NAMES: Final[dict[Check, str]] = {
    _sink: "sink", _noop: "noop", _group: "group", _after: "after", _param: "param",
    _scratch: "buffer", _const: "const", _stack: "stack", _alu: "alu", _convert: "convert",
    _range: "range", _special: "special", _end: "end", _break: "break", _barrier: "barrier",
    _custom: "custom", _index: "index", _load: "load", _store: "store",
    _fixed_width: "fixed-width", _lanes_in_shape: "lanes-in-shape", _linear: "linear",
    _if: "if", _endif: "endif",
}  # fmt: skip

spec_shared: Final = Spec(
    "shared",
    _rules(
        _sink, _noop, _group, _after, _param, _scratch, _const, _stack, _alu, _convert, _range,
        _special, _end, _barrier, _custom, _index, _load, _store,
    ),
)  # fmt: skip
"""What is legal at every stage."""

spec_kernel: Final = Spec("kernel", (*_rules(_break), *spec_shared.rules))
"""The kernel AST: predicated, so it holds no IF; a BREAK names the loop that it leaves."""

spec_program: Final = Spec(
    "program",
    (*_rules(_fixed_width, _lanes_in_shape, _break, _linear, _if, _endif), *spec_shared.rules),
)
"""The linear program: fixed widths, RANGE/END and IF/ENDIF properly nested."""


def type_verify(root: Uop, spec: Spec) -> None:
    """Check every node under `root`, sources first, and the graph as a whole.

    A LINEAR root's sources are checked as a list, in their order. Raises SpecError at the first
    node that is not legal.
    """
    if root.op is Ops.LINEAR and spec is spec_program:
        verify_list(root.src, spec)
        spec.verify(root)
        return
    order = toposort(root)
    for u in order:
        spec.verify(u)
    if spec is spec_kernel:
        if root.op is not Ops.SINK:
            raise spec.error("rooted", root, "a kernel is rooted in a SINK")
        if open_loops := ranges(root):
            raise spec.error("closed", open_loops[0], "this RANGE is never closed")


def verify_list(nodes: Sequence[Uop], spec: Spec) -> None:
    """Check nodes in the order given; for `spec_program` also that the list runs.

    Every source is listed before its use; loops and IF regions close in the order opposite to
    how they opened, and each is closed; a BREAK stands in a loop. Raises SpecError.
    """
    for u in nodes:
        spec.verify(u)
    if spec is spec_program:
        _verify_order(nodes, spec)


def _unlisted(u: Uop) -> bool:
    """Whether a listed node may use `u` without its being listed: constants and shapes."""
    if u.op is Ops.STACK:
        return all(s.op is Ops.CONST for s in u.src)
    return u.op in (Ops.CONST, Ops.NOOP)


def _verify_order(nodes: Sequence[Uop], spec: Spec) -> None:
    listed: set[Uop] = set()
    opened: list[Uop] = []
    for u in nodes:
        if u in listed:
            raise spec.error("listed-once", u, "a node is listed twice")
        for s in u.src:
            if s not in listed and not _unlisted(s):
                raise spec.error("defined-first", u, f"its source {s.op.name} is not listed before")
        listed.add(u)
        if u.op in (Ops.RANGE, Ops.IF):
            opened.append(u)
        elif u.op is Ops.END:
            for r in u.src[1:]:
                _close(opened, r, u, spec)
        elif u.op is Ops.ENDIF:
            _close(opened, u.src[0], u, spec)
        elif u.op is Ops.BREAK:
            loops = [o for o in opened if o.op is Ops.RANGE]
            if not loops or loops[-1] is not u.src[1]:
                raise spec.error("break-in-loop", u, "a BREAK leaves the innermost open RANGE")
    if opened:
        raise spec.error("nesting", opened[-1], f"this {opened[-1].op.name} is never closed")


def _close(opened: list[Uop], what: Uop, u: Uop, spec: Spec) -> None:
    if not opened or opened[-1] is not what:
        raise spec.error("nesting", u, f"{u.op.name} does not close what was opened last")
    opened.pop()
