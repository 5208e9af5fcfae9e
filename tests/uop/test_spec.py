"""Specs: each rule accepts its smallest legal node and names itself when it refuses one."""

from __future__ import annotations

import contextlib

import pytest

from dynamis.dtype import AddrSpace, Dtype, Ptr, bool_, float32, int8, int32, int64, uint32, void
from dynamis.errors import DynamisError
from dynamis.uop import (
    AxisType,
    Const,
    Group,
    KernelInfo,
    Ops,
    Spec,
    SpecError,
    Uop,
    after,
    barrier,
    break_,
    buffer,
    const,
    const_float,
    const_int,
    const_of_dtype,
    custom,
    custom_inline,
    end_,
    endif,
    group,
    if_,
    index,
    linear,
    load,
    noop,
    range_,
    replace,
    sink,
    spec_kernel,
    spec_program,
    spec_shared,
    special,
    stack,
    store,
    type_verify,
    verify_list,
)
from dynamis.uop.ops import Op
from tests.uop.graphs import leaf, memory

i, x, b = leaf("i"), leaf("x", float32), leaf("b", bool_)
place = index(ptr=memory(), idxs=[i])
s = store(dst=place, value=x)
r = range_(size=4, axis=0, kind=AxisType.LOOP, dtype=int32)
reg = buffer(slot=0, dtype=Ptr.create(int32, addrspace=AddrSpace.REG, size=1))
two, three = (stack([const_of_dtype(int32, k) for k in range(n)]) for n in (2, 3))


def raw(op: Op, dtype: Dtype, *src: Uop, arg: object = None) -> Uop:
    return replace(x, op=op, dtype=dtype, src=src, arg=arg)


LEGAL = [
    sink([s], KernelInfo()), noop(), group([s, s]), after(src=reg, deps=[s]), memory(), reg,
    const_float(1.0), stack([]), stack([x, x]), x + 1.0, (i < 3).where(i, 2), i << i,
    i << 1, raw(Ops.SHL, int32, i, const_of_dtype(uint32, 1)), i.cast(float32),
    x.bitcast(int32), r, special(name="gidx0", size=const_int(4)), end_(value=s, ranges=[r]),
    barrier([s]), custom(fmt="f", args=[]), custom_inline(fmt="f", args=[x], dtype=float32), place,
    load(src=place), load(src=place, alt=x, gate=b), s, store(dst=place, value=x, gate=b),
    two + i, load(src=index(ptr=memory(), idxs=[two]), alt=x, gate=two < 1),
]  # fmt: skip


@pytest.mark.parametrize("u", LEGAL, ids=lambda u: u.op.name)
def test_legal_at_every_stage(u: Uop) -> None:
    for spec in (spec_shared, spec_kernel):
        spec.verify(u)
    if u.dtype.scalar.name != "weakint":
        spec_program.verify(u)


ILLEGAL = [
    ("sink", raw(Ops.SINK, int8)), ("sink", raw(Ops.SINK, void, arg="text")),
    ("group", raw(Ops.GROUP, void, x, x)), ("after", raw(Ops.AFTER, float32, x)),
    ("after", raw(Ops.AFTER, float32, x + 1.0, s)), ("after", raw(Ops.AFTER, int8, reg, s)),
    ("param", raw(Ops.PARAM, int8)), ("param", raw(Ops.PARAM, int8, noop(), arg="n")),
    ("buffer", raw(Ops.BUFFER, int8)),
    ("buffer", buffer(slot=0, dtype=memory().dtype)), ("const", raw(Ops.CONST, int8)),
    ("const", const(Const(int8, 1), [x])), ("const", raw(Ops.CONST, int8, arg=Const(float32, 1))),
    ("stack", raw(Ops.STACK, int8)), ("stack", raw(Ops.STACK, int32, i, two)),
    ("stack", raw(Ops.STACK, float32, i, i)), ("alu", raw(Ops.ADD, int32, i)),
    ("alu", raw(Ops.ADD, float32, i, x)), ("alu", raw(Ops.ADD, float32, i, i)),
    ("alu", raw(Ops.AND, float32, x, x)), ("alu", raw(Ops.CDIV, float32, x, x)),
    ("alu", raw(Ops.SQRT, int32, i)), ("alu", raw(Ops.WHERE, int32, i, i, i)),
    ("alu", raw(Ops.WHERE, int32, b, i, x)), ("alu", raw(Ops.CMPLT, int32, i, i)),
    ("alu", raw(Ops.CMPLT, bool_, i, x)), ("alu", raw(Ops.SHL, int32, i, const_of_dtype(int64, 1))),
    ("alu", raw(Ops.SHL, int8, i, i)), ("alu", two + three), ("convert", raw(Ops.CAST, int8)),
    ("convert", raw(Ops.CAST, void, x)), ("convert", raw(Ops.CAST, int8, memory())),
    ("convert", raw(Ops.BITCAST, int8, x)), ("convert", raw(Ops.CAST, int8, x, arg="a")),
    ("range", raw(Ops.RANGE, int32, i)), ("range", replace(r, dtype=int64)),
    ("range", range_(size=x, axis=0, kind=AxisType.LOOP, dtype=float32)),
    ("range", range_(size=two, axis=0, kind=AxisType.LOOP, dtype=int32)),
    ("special", raw(Ops.SPECIAL, int32, i)), ("special", raw(Ops.SPECIAL, int32, x, arg="g")),
    ("special", special(name="g", size=i, dtype=int64)), ("end", raw(Ops.END, void, s)),
    ("end", raw(Ops.END, void, s, i)), ("barrier", raw(Ops.BARRIER, int8)),
    ("custom", raw(Ops.CUSTOM, void)), ("index", raw(Ops.INDEX, float32)),
    ("index", index(ptr=memory(), idxs=[x])), ("load", raw(Ops.LOAD, float32, place, x)),
    ("load", load(src=memory())), ("load", load(src=place, alt=i, gate=b)),
    ("load", load(src=place, alt=x, gate=i)), ("store", raw(Ops.STORE, void, place)),
    ("load", load(src=index(ptr=memory(), idxs=[two]), alt=x, gate=three < 1)),
    ("store", raw(Ops.STORE, int8, place, x)), ("store", store(dst=x, value=x)),
    ("store", store(dst=place, value=i)), ("store", store(dst=place, value=x, gate=i)),
    ("store", store(dst=index(ptr=memory(), idxs=[two]), value=x, gate=three < 1)),
    ("break", raw(Ops.BREAK, void, b)), ("break", raw(Ops.BREAK, void, i, r)),
    ("break", raw(Ops.BREAK, void, b, s)), ("break", raw(Ops.BREAK, int8, b, r)),
    ("known-op", raw(Ops.IF, void, b, place)), ("known-op", raw(Ops.WAIT, void)),
    ("known-op", raw(Ops.LINEAR, void)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "u"), ILLEGAL, ids=lambda v: v.op.name if isinstance(v, Uop) else v
)
def test_illegal_nodes_are_refused_by_the_named_rule(rule: str, u: Uop) -> None:
    with pytest.raises(SpecError, match=f"kernel rule '{rule}'"):
        spec_kernel.verify(u)


@pytest.mark.parametrize("op", Group.all, ids=lambda op: op.name)
def test_nodes_without_sources_are_legal_or_refused(op: Op) -> None:
    for dtype in (void, float32, bool_.vec(2), memory().dtype):
        for arg in (None, "text"):
            for u in (bare := raw(op, dtype, arg=arg), raw(op, dtype, bare)):
                for spec in (spec_shared, spec_kernel, spec_program):
                    with contextlib.suppress(SpecError):
                        spec.verify(u)


def test_every_rule_of_the_specs_is_tested() -> None:
    tested = {rule for rule, _ in ILLEGAL} | {"noop", "fixed-width", "lanes-in-shape", "linear"}
    tested |= {"if", "endif"}
    assert {r.name for spec in (spec_kernel, spec_program) for r in spec.rules} <= tested


def test_break_is_no_shared_node() -> None:
    with pytest.raises(SpecError, match="known-op"):
        spec_shared.verify(break_(done=b, loop=r))
    spec_kernel.verify(break_(done=b, loop=r))
    spec_program.verify(break_(done=b, loop=r))


PROGRAM_ONLY = [
    ("fixed-width", const_int(1)), ("linear", raw(Ops.LINEAR, int8)),
    ("lanes-in-shape", custom_inline(fmt="f", args=[], dtype=float32.vec(4))),
    ("if", raw(Ops.IF, void, i, place)), ("if", if_(cond=b, idx_for_dedup=x)),
    ("endif", raw(Ops.ENDIF, void, s)),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "u"), PROGRAM_ONLY, ids=[r for r, _ in PROGRAM_ONLY])
def test_program_rules(rule: str, u: Uop) -> None:
    with pytest.raises(SpecError, match=f"program rule '{rule}'"):
        spec_program.verify(u)


def test_an_error_says_rule_node_and_reason() -> None:
    bad = store(dst=place, value=i)
    with pytest.raises(SpecError) as caught:
        type_verify(sink([bad]), spec_kernel)
    text = str(caught.value)
    assert "kernel rule 'store': a STORE into f32 is given i32" in text
    assert "Ops.STORE" in text
    assert "Ops.INDEX" in text
    assert isinstance(caught.value, (ValueError, DynamisError))


def verified(root: Uop, spec: Spec) -> bool:
    type_verify(root, spec)
    return True


def test_whole_kernels() -> None:
    inside = store(dst=index(ptr=memory(), idxs=[r]), value=x)
    assert verified(sink([end_(value=inside, ranges=[r])]), spec_kernel)
    with pytest.raises(SpecError, match="'rooted'"):
        type_verify(end_(value=inside, ranges=[r]), spec_kernel)
    with pytest.raises(SpecError, match="'closed'"):
        type_verify(sink([inside]), spec_kernel)


def program() -> list[Uop]:
    at = index(ptr=memory(), idxs=[r])
    gate = if_(cond=b, idx_for_dedup=at)
    leave = break_(done=b, loop=r)
    write = store(dst=at, value=x)
    shapes = [u for p in (memory(), i, x, b) for u in (*p.src, p)]
    body = [at, gate, write, endif(if_=gate), leave]
    return [*dict.fromkeys(shapes), r, *body, end_(value=write, ranges=[r])]


def test_whole_programs() -> None:
    nodes = program()
    assert verified(linear(nodes), spec_program)
    verify_list(nodes, spec_program)


@pytest.mark.parametrize(
    ("rule", "damage"),
    [
        ("listed-once", lambda n: [*n, n[0]]),
        ("defined-first", lambda n: [n[-1], *n[:-1]]),
        ("nesting", lambda n: n[:-1]),
        ("nesting", lambda n: [u for u in n if u.op is not Ops.ENDIF]),
        ("break-in-loop", lambda n: [*(u for u in n if u.op is not Ops.BREAK),
                                     next(u for u in n if u.op is Ops.BREAK)]),
    ],
)  # fmt: skip
def test_damaged_programs_are_refused(rule: str, damage: object) -> None:
    with pytest.raises(SpecError, match=f"program rule '{rule}'"):
        verify_list(damage(program()), spec_program)  # type: ignore[operator]  # a function
