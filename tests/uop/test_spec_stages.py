"""Which constructor is legal at which stage, tensor rules, and bounds of memory accesses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dynamis.uop as uop
from dynamis.dtype import AddrSpace, Image, Ptr, bool_, float32, int32, int64, void, weakint
from dynamis.uop import (
    AxisType,
    CallInfo,
    Const,
    Group,
    MultiDevice,
    Ops,
    ParamArg,
    ProgramInfo,
    ReduceArg,
    Spec,
    SpecError,
    StageOpts,
    Uop,
    WmmaInfo,
    after,
    buffer,
    call,
    const_int,
    const_of_dtype,
    index,
    invalid,
    linear,
    load,
    noop,
    param,
    program,
    range_,
    replace,
    reshape,
    shape_arg,
    sink,
    spec_full,
    spec_kernel,
    spec_movement,
    spec_program,
    spec_tensor,
    special,
    store,
    tuple_,
    type_verify,
    variable,
)
from dynamis.uop.stages import STAGES
from tests.uop.graphs import leaf, memory

GPUS = MultiDevice(("GPU:0", "GPU:1"))

i, x, b = leaf("i"), leaf("x", float32), leaf("b", bool_)
place = index(ptr=memory(), idxs=[i])
put = store(dst=place, value=x)
r = range_(size=4, axis=0, kind=AxisType.LOOP, dtype=int32)
reg = buffer(slot=0, dtype=Ptr.create(int32, addrspace=AddrSpace.REG, size=8))
v = variable(name="v", min_val=0, max_val=3)
t = buffer(slot=1, dtype=float32, shape=shape_arg([2, 4]), device="CPU")
shards = [buffer(slot=s, dtype=float32, shape=shape_arg([2, 4]), device=d)
          for s, d in enumerate(GPUS.names)]  # fmt: skip
stacked = uop.mstack(shards)
info = WmmaInfo("w", (2, 2, 2), float32.scalar, float32.scalar, "GPU", 4, ((), (), ((0, 2),)))
gate = uop.if_(cond=b, idx_for_dedup=place)

# the page's tag of each constructor, and its smallest node
SMALLEST: dict[str, tuple[str, Uop]] = {
    "sink": ("Shared", sink([])),
    "group": ("Shared", uop.group([put, put])),
    "after": ("Shared", after(src=reg, deps=[put])),
    "noop": ("Shared", noop()),  # Tensor, but a parameter's unknown shape is one at every stage
    "linear": ("Program", linear([])),
    "param": ("Shared", memory()),
    "variable": ("Shared", variable(name="n", min_val=0, max_val=3, dtype=int32)),
    "buffer": ("Shared", reg),  # of scratch; global ones are Tensor
    "stage": ("Kernel", uop.stage(src=x, ranges=[r], opts=StageOpts())),
    "slice_": ("Tensor", uop.slice_(src=t, offset=const_int(0), size=2, dtype=float32)),
    "bind": ("Tensor", uop.bind(var=v, value=const_int(2))),
    "const": ("Shared", uop.const(Const(int32, 1))),
    "const_of_dtype": ("Shared", const_of_dtype(int32, 1)),
    "invalid": ("Gated", invalid(int32)),
    "const_float": ("Shared", uop.const_float(1.0)),
    "const_bool": ("Shared", uop.const_bool(True)),
    "zero_like": ("Shared", uop.zero_like(x)),
    "const_like": ("Shared", uop.const_like(i, 1)),
    "index": ("Computing", place),
    "load": ("Computing", load(src=place)),
    "store": ("Shared", put),
    "alu_unary": ("Shared", uop.alu_unary(op=Ops.NEG, src=x)),
    "alu_binary": ("Shared", uop.alu_binary(op=Ops.ADD, lhs=x, rhs=x)),
    "alu_ternary": ("Shared", uop.alu_ternary(op=Ops.WHERE, a=b, b=x, c=x)),
    "cast": ("Shared", uop.cast(src=x, dtype=int32)),
    "bitcast": ("Shared", uop.bitcast(src=x, dtype=int32)),
    "stack": ("Shared", uop.stack([])),
    "getaddr": ("Computing", uop.getaddr(src=reg)),
    "broadcast": ("Shared", uop.broadcast(x, 2)),
    "range_": ("Shared", r),
    "end_": ("Computing", uop.end_(value=put, ranges=[r])),
    "if_": ("Program", gate),  # Kernel on the page, but our kernel AST is predicated
    "endif": ("Program", uop.endif(if_=gate)),
    "barrier": ("Computing", uop.barrier()),
    "wait": ("Kernel", uop.wait(src=put, wait_for=put)),
    "special": ("Computing", special(name="gidx0", size=i, dtype=int32)),
    "reduce": ("Kernel", uop.reduce(src=x, ranges=[r], op=Ops.ADD, dtype=float32)),
    "reduce_axis": ("Tensor", uop.reduce_axis(src=t, op=Ops.ADD, axes=[0])),
    "allreduce": ("Tensor", uop.allreduce(src=stacked, device=GPUS, op=Ops.ADD)),
    "multi": ("Tensor", uop.multi(src=stacked, axis=0)),
    "mstack": ("Tensor", stacked),
    "mselect": ("Tensor", uop.mselect(src=stacked, index=1)),
    "copy": ("Tensor", uop.copy(src=t, device="GPU")),
    "reshape": ("Tensor", reshape(src=t, shape=[8])),
    "expand": ("Tensor", uop.expand(src=t, shape=[2, 4])),
    "pad": ("Tensor", uop.pad(src=t, offset=[0, 1], size=[2, 6])),
    "shrink": ("Tensor", uop.shrink(src=t, offset=[0, 1], size=[2, 3])),
    "permute": ("Tensor", uop.permute(src=t, order=[1, 0])),
    "flip": ("Tensor", uop.flip(src=t, dims=[True, False])),
    "detach": ("Tensor", uop.detach(src=t)),
    "contiguous": ("Tensor", uop.contiguous(src=t, force=True)),
    "contiguous_backward": ("Tensor", uop.contiguous_backward(src=t)),
    "call": ("Tensor", call(body=sink([]), args=[t])),
    "tuple_": ("Tensor", tuple_([])),
    "gettuple": ("Tensor", uop.gettuple(src=tuple_([t]), index=0)),
    "program": ("Program", program(sink=sink([]), info=ProgramInfo("p"))),
    "set_": ("Shared", uop.set_(target=reg, value=x)),
    "shaped_wmma": ("Tensor", uop.shaped_wmma(a=t, b=t, acc=t, dims=(2, 2, 2), device="GPU",
                                              threads=4, dtype=float32)),
    "wmma": ("Computing", uop.wmma(a=x, b=x, c=x, info=info, dtype=float32)),
    "custom": ("Computing", uop.custom(fmt="f", args=[])),
    "custom_inline": ("Computing", uop.custom_inline(fmt="f", args=[], dtype=float32)),
    "source": ("Program", uop.source("")),
    "binary": ("Program", uop.binary(b"")),
    "rewrite_error": ("Shared", uop.rewrite_error(src=[], msg="no")),
    "ins": ("Program", uop.ins(mnemonic="nop", operands=[])),
    "custom_function": ("Tensor", uop.custom_function(name="f", srcs=[])),
    "break_": ("Computing", uop.break_(done=b, loop=r)),
}  # fmt: skip
ACCEPTS = {
    "Shared": {"tensor", "kernel", "program"},
    "Tensor": {"tensor"},
    "Kernel": {"kernel"},
    "Program": {"program"},
    "Gated": {"tensor", "kernel"},  # Shared on the page, but a program has no Invalid left
    "Computing": {
        "kernel",
        "program",
    },  # Kernel on the page: a program is a kernel's nodes in order
}
STAGE_SPECS = (spec_tensor, spec_kernel, spec_program)


def accepts(spec: Spec, u: Uop) -> bool:
    try:
        spec.verify(u)
    except SpecError:
        return False
    return True


@pytest.mark.parametrize("name", SMALLEST)
def test_each_constructors_smallest_node_is_legal_where_the_page_says(name: str) -> None:
    tag, node = SMALLEST[name]
    assert {s.stage for s in STAGE_SPECS if accepts(s, node)} == ACCEPTS[tag]
    assert accepts(spec_full, node)


def test_every_constructor_has_its_stage() -> None:
    sources = [Path(uop.__file__).with_name(f) for f in ("build.py", "build_tensor.py")]
    made = {n for f in sources for n in re.findall(r"^def ([a-z]\w*)", f.read_text(), re.M)}
    helpers = {
        "const_int", "fresh_buffer_slot", "fresh_internal_slot", "is_pointer", "replace",
        "reserve_buffer_slots", "reserve_internal_slot", "shape_to_shape_arg", "with_tag",
    }  # fmt: skip
    assert made - helpers == set(SMALLEST)
    assert set(STAGES) == set(Group.all)


def raw(op: object, dtype: object, *src: Uop, arg: object = None) -> Uop:
    return replace(x, op=op, dtype=dtype, src=src, arg=arg)  # type: ignore[arg-type]  # malformed too


ILLEGAL_TENSORS = [
    ("untagged", uop.with_tag("a", t)),
    ("buffer", replace(t, arg=ParamArg(0))), ("buffer", raw(Ops.BUFFER, float32, arg=ParamArg(0))),
    ("buffer", replace(t, arg=ParamArg(0, device=MultiDevice(())))),
    ("buffer", replace(t, arg=ParamArg(0, axis=0, device="CPU"))),
    ("buffer", replace(t, arg=ParamArg(0, axis=2, device=GPUS))),
    ("buffer", replace(t, src=[shape_arg([const_of_dtype(int32, 2)])])),
    ("buffer", replace(t, arg=ParamArg(0, addrspace=AddrSpace.ALU, device="CPU"))),
    ("const", raw(Ops.CONST, float32)), ("const", raw(Ops.CONST, float32, arg=Const(int32, 1))),
    ("custom-function", raw(Ops.CUSTOM_FUNCTION, void)), ("call", raw(Ops.CALL, void, t)),
    ("call", raw(Ops.CALL, void, t, arg=CallInfo())),
    ("call", raw(Ops.FUNCTION, void, sink([]), arg=CallInfo())),
    ("call", raw(Ops.CALL, void, sink([r]), arg=CallInfo())), ("tuple", raw(Ops.TUPLE, int32)),
    ("gettuple", raw(Ops.GETTUPLE, float32, tuple_([t]), arg=1)),
    ("gettuple", raw(Ops.GETTUPLE, int32, tuple_([t]), arg=0)),
    ("mselect", raw(Ops.MSELECT, float32, stacked)), ("mselect", uop.mselect(src=t, index=0)),
    ("mselect", uop.mselect(src=stacked, index=2)), ("mstack", raw(Ops.MSTACK, float32)),
    ("mstack", raw(Ops.MSTACK, int32, t)), ("mstack", uop.mstack([stacked])),
    ("mstack", uop.mstack([t, memory()])), ("bind", raw(Ops.BIND, int32, i)),
    ("bind", uop.bind(var=memory(), value=const_int(1))), ("bind", uop.bind(var=v, value=v)),
    ("bind", uop.bind(var=v, value=const_of_dtype(int32, 1))),
    ("bind", uop.bind(var=leaf("l", int64), value=const_of_dtype(int64, 1))),
    ("keeps-dtype", raw(Ops.DETACH, int32, t)), ("copy", raw(Ops.COPY, float32, t)),
    ("copy", replace(uop.copy(src=t, device="GPU"), dtype=int32)),
    ("allreduce", raw(Ops.ALLREDUCE, float32, t)),
    ("allreduce", uop.allreduce(src=stacked, device=GPUS, op=Ops.SUB)),
    ("allreduce", replace(uop.allreduce(src=stacked, device=GPUS, op=Ops.ADD), dtype=int32)),
    ("allreduce", uop.allreduce(src=stacked, device=uop.SingleDevice("CPU"), op=Ops.ADD)),
    ("multi", raw(Ops.MULTI, float32, t)), ("multi", uop.multi(src=t, axis=2)),
    ("reduce", raw(Ops.REDUCE, float32, t)),
    ("reduce", uop.reduce_axis(src=t, op=Ops.SUB, axes=[0])),
    ("reduce", uop.reduce(src=t, ranges=[r], op=Ops.ADD, dtype=float32)),
    ("reduce", raw(Ops.REDUCE, float32, t, arg=ReduceArg(Ops.ADD, (-1,)))),
    ("reduce", raw(Ops.REDUCE, int32, t, arg=ReduceArg(Ops.ADD, (0,)))),
    ("reduce", uop.reduce_axis(src=t, op=Ops.ADD, axes=[2])), ("slice", raw(Ops.SLICE, float32, t)),
    ("slice", uop.slice_(src=t, offset=x, size=1, dtype=float32)),
    ("slice", uop.slice_(src=x + x, offset=i, size=1, dtype=float32)),
    ("shaped-wmma", raw(Ops.SHAPED_WMMA, float32, t, t, t)),
    ("shaped-wmma", replace(SMALLEST["shaped_wmma"][1], src=[t])),
    ("store", store(dst=t, value=x, gate=b)), ("known-op", place), ("known-op", linear([])),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "u"), ILLEGAL_TENSORS, ids=lambda p: p.op.name if isinstance(p, Uop) else p
)
def test_illegal_tensors_are_refused_by_the_named_rule(rule: str, u: Uop) -> None:
    with pytest.raises(SpecError, match=f"tensor rule '{rule}'"):
        spec_tensor.verify(u)


BAD_MOVES = {
    "do not fill": reshape(src=t, shape=[9]),
    "is negative": reshape(src=t, shape=[-8, -1]),
    "does not expand to rank": uop.expand(src=t, shape=[1, 2, 4]),
    "does not expand to 8": uop.expand(src=t, shape=[2, 8]),
    "may leave 5": uop.pad(src=t, offset=[0, 2], size=[2, 5]),
    "may be negative": uop.shrink(src=t, offset=[-1, 0], size=[1, 4]),
    "may leave 4": uop.shrink(src=t, offset=[0, 2], size=[2, 3]),
    "bounds for 2 axes": uop.shrink(src=t, offset=[0], size=[1]),
    "no order of 2": uop.permute(src=t, order=[0, 0]),
    "flags for 2 axes": uop.flip(src=t, dims=[True]),
    "has its source's dtype": replace(reshape(src=t, shape=[8]), dtype=int32),
    "PERMUTE carries its movement argument": raw(Ops.PERMUTE, float32, t, arg="01"),
    "PAD carries its movement argument": uop.pad(src=t, offset=[0], size=[2, 4]),
    "are integers": reshape(src=t, shape=x),
    "has no shape": raw(Ops.RESHAPE, void, uop.barrier(), shape_arg([1])),
}


@pytest.mark.parametrize("text", BAD_MOVES)
def test_movement_that_does_not_fit_is_refused_with_the_reason(text: str) -> None:
    for spec in (spec_movement, spec_tensor):
        with pytest.raises(SpecError, match=f"'movement': .*{text}"):
            spec.verify(BAD_MOVES[text])


def test_movement_spec_knows_movement_only() -> None:
    spec_movement.verify(reshape(src=t, shape=[4, 2]))
    with pytest.raises(SpecError, match="known-op"):
        spec_movement.verify(x)


def test_bodies_of_calls_are_of_their_own_stage() -> None:
    kernel = sink([put])
    type_verify(call(body=kernel, args=[t]), spec_tensor)
    type_verify(call(body=t, args=[t]), spec_tensor)
    with pytest.raises(SpecError, match="known-op"):
        type_verify(call(body=load(src=place), args=[t]), spec_tensor)


def test_a_program_node_checks_each_of_its_forms() -> None:
    mem = memory()
    nodes = [*mem.src, mem, i.src[0], i, x, place, put]
    root = program(sink=sink([put]), linear=linear(nodes), info=ProgramInfo("p"))
    type_verify(root, spec_program)
    with pytest.raises(SpecError, match="defined-first"):
        type_verify(replace(root, src=[root.src[0], linear(nodes[::-1])]), spec_program)
    with pytest.raises(SpecError, match="kernel rule"):
        type_verify(replace(root, src=[sink([t])]), spec_program)


def test_the_full_spec_takes_every_stage_and_what_is_between() -> None:
    for loose in (
        raw(Ops.AFTER, float32, x), raw(Ops.END, void, x), raw(Ops.LOAD, float32, x),
        store(dst=x, value=x), uop.bind(var=v, value=v), raw(Ops.SLICE, float32, x, i, arg=2),
    ):  # fmt: skip
        assert not all(accepts(s, loose) for s in STAGE_SPECS)
        spec_full.verify(loose)
    for bad in (raw(Ops.ADD, float32, x), raw(Ops.SINK, int32), raw(Ops.BIND, float32, x, x)):
        assert not accepts(spec_full, bad)


# -- bounds of memory accesses

inside = variable(name="k", min_val=0, max_val=7)
wide = variable(name="w", min_val=-2, max_val=20)
eight = memory(size=8)
grid = param(slot=2, dtype=memory().dtype, shape=shape_arg([2, 4]))


def at(*idxs: Uop, ptr: Uop = eight) -> Uop:
    return index(ptr=ptr, idxs=idxs)


def gated(place: Uop, gate: Uop) -> Uop:
    return load(src=place, alt=x, gate=gate)


IN_BOUNDS = [
    load(src=at(inside)), store(dst=at(inside), value=x), load(src=at(wide, ptr=memory())),
    gated(at(wide), (wide < 8) & (const_int(-1) < wide)), gated(at(wide), wide.eq(3)),
    gated(at(wide), (wide < 8) & (wide < 0).logical_not()), gated(at(wide), const_int(0).eq(wide)),
    gated(at(wide), (const_int(7) < wide).logical_not() & (const_int(-1) < wide)),
    gated(at(wide), uop.const_bool(False)), gated(at(wide), (wide < 3) & (const_int(5) < wide)),
    load(src=at(variable(name="row", min_val=0, max_val=1), inside % 4, ptr=grid)),
    load(src=at(inside, ptr=grid)), load(src=at(invalid())),
    load(src=at((wide < 8).where(wide, invalid()) + 0)), load(src=at()),
    load(src=at(((wide < 8) & (const_int(-1) < wide)).where(wide, invalid()))),
    load(src=at(uop.stack([wide, wide]))), load(src=at(x.bitcast(int32))),
    load(src=at(wide, ptr=param(slot=3, dtype=Image.imagef((2, 2, 4))))),
    gated(at(wide), x.bitcast(int32).eq(1)), load(src=uop.shrink(src=reg, offset=[4], size=[4])),
]  # fmt: skip


@pytest.mark.parametrize("u", IN_BOUNDS)
def test_accesses_that_are_proven_or_cannot_be_modelled_pass(
    u: Uop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHECK_OOB", "1")
    if u is load(src=at((wide < 8).where(wide, invalid()) + 0)):
        with pytest.raises(SpecError, match="may leave"):
            spec_kernel.verify(u)  # the bounds of a sum over a gate say nothing of the gate
        return
    spec_kernel.verify(u)


OUT_OF_BOUNDS = [
    load(src=at(wide)), store(dst=at(wide), value=x), load(src=at(inside + 1)),
    gated(at(wide), wide < 8), gated(at(wide), const_int(-1) < wide),
    gated(at(wide), (wide < 9) & (const_int(-1) < wide)), gated(at(wide), inside < 3),
    store(dst=at(wide), value=x, gate=wide < 8), load(src=at(wide).cast(float32)),
    load(src=at(inside, inside % 4, ptr=grid)), load(src=uop.shrink(src=reg, offset=[5], size=[4])),
]  # fmt: skip


@pytest.mark.parametrize("u", OUT_OF_BOUNDS)
def test_accesses_that_are_not_proven_are_refused_when_asked_for(
    u: Uop, monkeypatch: pytest.MonkeyPatch
) -> None:
    for off in ("", "0", "false"):
        monkeypatch.setenv("CHECK_OOB", off)
        spec_kernel.verify(u)
    monkeypatch.setenv("CHECK_OOB", "1")
    with pytest.raises(SpecError, match="may leave a memory of"):
        spec_kernel.verify(u)


def test_every_tensor_rule_is_tested() -> None:
    tested = {rule for rule, _ in ILLEGAL_TENSORS} | {"movement", "weakint"}
    from dynamis.uop.spec_tensor import TENSOR

    assert {r.name for r in TENSOR} <= tested
    assert accepts(spec_tensor, raw(Ops.ADD, weakint, v, i))
    assert not accepts(spec_kernel, raw(Ops.ADD, weakint, v, i))
