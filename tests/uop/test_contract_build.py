"""The contract's constructors: sources, dtype and payload of what each makes, and its errors."""

from __future__ import annotations

import math

import pytest

from dynamis.dtype import AddrSpace, bool_, float32, float64, int32, int64, void, weakint
from dynamis.uop import (
    AxisType,
    CallInfo,
    Const,
    KernelInfo,
    Ops,
    ParamArg,
    ProgramInfo,
    RangeInfo,
    ReduceArg,
    StageOpts,
    Uop,
    UopError,
    after,
    allreduce,
    alu_binary,
    alu_ternary,
    alu_unary,
    barrier,
    binary,
    bind,
    bitcast,
    broadcast,
    buffer,
    call,
    cast,
    const,
    const_bool,
    const_float,
    const_int,
    const_like,
    const_of_dtype,
    contiguous,
    contiguous_backward,
    copy,
    custom,
    custom_function,
    custom_inline,
    detach,
    end_,
    endif,
    expand,
    flip,
    fresh_buffer_slot,
    getaddr,
    gettuple,
    group,
    if_,
    index,
    ins,
    invalid,
    linear,
    load,
    mselect,
    mstack,
    multi,
    noop,
    pad,
    param,
    permute,
    program,
    range_,
    reduce,
    reduce_axis,
    replace,
    reserve_buffer_slots,
    reshape,
    rewrite_error,
    set_,
    shape_arg,
    shape_to_shape_arg,
    shaped_wmma,
    shrink,
    sink,
    slice_,
    source,
    special,
    stack,
    stage,
    store,
    tuple_,
    variable,
    wait,
    with_tag,
    wmma,
    zero_like,
)
from tests.uop.contract import ints, loop, memory, n, scalar, tensor, var
from tests.uop.test_contract_payload import WMMA

a, b, f = scalar("a"), scalar("b"), scalar("f", float32)
t = scalar("t", bool_)


def made(u: Uop, op: object, dtype: object, *src: Uop) -> Uop:
    """`u`, which has this op, dtype and these sources."""
    assert u.op is op
    assert u.dtype is dtype
    assert u.src == src
    return u


# -- structural


def test_sink_gathers_its_sources_and_carries_kernel_info() -> None:
    info = KernelInfo(name="k")
    assert made(sink([a, b], kernel_info=info), Ops.SINK, void, a, b).arg is info
    assert sink([a]).arg is None


def test_group_gathers_effects_and_is_its_single_element() -> None:
    made(group([a, b]), Ops.GROUP, void, a, b)
    assert group([a]) is a


def test_after_sequences_and_is_its_source_without_deps() -> None:
    made(after(src=f, deps=[a, b]), Ops.AFTER, float32, f, a, b)
    assert after(src=f, deps=[]) is f


def test_noop_has_an_optional_source_and_a_dtype() -> None:
    made(noop(src=a, dtype=int32), Ops.NOOP, int32, a)
    made(noop(dtype=float32), Ops.NOOP, float32)


def test_shape_to_shape_arg_is_the_shape_or_an_empty_void_noop() -> None:
    shape = shape_arg([2, 3])
    assert shape_to_shape_arg(shape) is shape
    made(shape_to_shape_arg(None), Ops.NOOP, void)


def test_linear_lists_its_sources() -> None:
    made(linear([a, b]), Ops.LINEAR, void, a, b)


# -- parameters and buffers


def test_param_carries_its_argument_and_one_shape_child() -> None:
    shape = shape_arg([4])
    u = param(slot=2, dtype=float32, shape=shape, device="A", vmin_vmax=(1, 5), name="p",
              addrspace=AddrSpace.ALU, axis=0)  # fmt: skip
    arg = made(u, Ops.PARAM, float32, shape).arg
    assert (arg.slot, arg.vmin_vmax, arg.name, arg.axis) == (2, (1, 5), "p", 0)
    assert arg.addrspace is AddrSpace.ALU
    made(param(slot=0, dtype=float32), Ops.PARAM, float32, shape_to_shape_arg(None))


def test_variable_is_an_alu_param_with_bounds() -> None:
    u = variable(name="n", min_val=2, max_val=7)
    assert (u.op, u.dtype) == (Ops.PARAM, weakint)
    assert u.arg is ParamArg(-1, (2, 7), "n", AddrSpace.ALU)
    assert u.shape == ()
    assert variable(name="n", min_val=2, max_val=7, dtype=int32).dtype is int32


def test_buffer_carries_its_argument_and_one_shape_child() -> None:
    shape = shape_arg([4])
    u = buffer(slot=5, dtype=float32, shape=shape, name="b", addrspace=AddrSpace.LOCAL, axis=0,
               device="A")  # fmt: skip
    arg = made(u, Ops.BUFFER, float32, shape).arg
    assert (arg.slot, arg.name, arg.axis, arg.addrspace) == (5, "b", 0, AddrSpace.LOCAL)
    assert arg.device.name == "A"
    assert buffer(slot=5, dtype=float32).src == (shape_to_shape_arg(None),)


def test_fresh_buffer_slots_are_never_given_twice() -> None:
    slots = [fresh_buffer_slot() for _ in range(100)]
    assert len(set(slots)) == 100
    assert min(slots) >= 0


def test_reserved_slots_are_skipped_and_never_lowered() -> None:
    start = fresh_buffer_slot() + 1000
    reserve_buffer_slots(start)
    assert fresh_buffer_slot() == start
    reserve_buffer_slots(0)
    assert fresh_buffer_slot() == start + 1


def test_stage_materialises_a_source_over_ranges() -> None:
    opts, r = StageOpts(), loop()
    assert made(stage(src=f, ranges=[r], opts=opts), Ops.STAGE, float32, f, r).arg is opts


def test_slice_views_a_source_at_an_offset() -> None:
    u, at = tensor(10), var("at")
    assert made(slice_(src=u, offset=at, size=4, dtype=float32), Ops.SLICE, float32, u, at).arg == 4


# -- binds and constants


def test_bind_takes_a_value_inside_the_variables_bounds() -> None:
    v = var("v", 2, 5)
    made(bind(var=v, value=n(5)), Ops.BIND, weakint, v, n(5))
    made(bind(var=v, value=var("w")), Ops.BIND, weakint, v, var("w"))
    for outside in (1, 6):
        with pytest.raises(UopError, match="outside the bounds"):
            bind(var=v, value=n(outside))


def test_const_is_the_constant_at_its_own_dtype() -> None:
    value = Const(float32, 1.5)
    assert made(const(value), Ops.CONST, float32).arg is value
    made(const(value, srcs=[a]), Ops.CONST, float32, a)


def test_const_of_dtype_coerces_broadcasts_and_checks_lengths() -> None:
    assert const_of_dtype(int32, 2.9).arg.value == 2
    assert const_of_dtype(bool_, 7).arg.value is True
    vector = made(const_of_dtype(int32.vec(3), 5), Ops.CONST, int32.vec(3))
    assert vector.arg.value == 5
    lanes = const_of_dtype(int32.vec(2), (1, 2))
    assert [s.dtype for s in lanes.src] == [int32, int32]
    with pytest.raises(UopError):
        const_of_dtype(int32.vec(2), (1, 2, 3))
    shaped = const_of_dtype(float32, 1, shape=shape_arg([2, 3]))
    assert shaped.op is Ops.EXPAND
    assert ints(shaped.shape) == [2, 3]
    assert ints(shaped.src[0].shape) == [1, 1]
    assert const_of_dtype(float32, 1, shape=shape_arg([])) is const_of_dtype(float32, 1)


def test_invalid_is_a_constant_of_weakint_unless_told() -> None:
    assert made(invalid(), Ops.CONST, weakint).arg.is_invalid
    assert made(invalid(dtype=float32), Ops.CONST, float32).arg.is_invalid


def test_plain_constants_have_their_dtypes() -> None:
    assert made(const_int(2**70), Ops.CONST, weakint).arg.value == 2**70
    assert made(const_float(0.1), Ops.CONST, float32).arg.value == 0.10000000149011612
    assert made(const_bool(True), Ops.CONST, bool_).arg.value is True


def test_zero_like_is_zero_of_the_value_dtype() -> None:
    assert zero_like(f) is const_of_dtype(float32, 0)
    assert math.copysign(1, zero_like(f).arg.value) == 1
    with pytest.raises(UopError):
        zero_like(memory())


def test_const_like_is_an_integer_of_the_value_dtype() -> None:
    assert const_like(a, 7) is const_of_dtype(int32, 7)
    for wrong in (memory(), f, scalar("v", int32.vec(4))):
        with pytest.raises(UopError):
            const_like(wrong, 7)


# -- memory


def test_index_yields_the_element_the_pointer_or_a_lane() -> None:
    p, i, j = memory(), loop(), loop(axis=1)
    made(index(ptr=p, idxs=[i, j]), Ops.INDEX, float32, p, i, j)
    made(index(ptr=p, idxs=[i], as_ptr=True), Ops.INDEX, p.dtype, p, i)
    value = scalar("v", float32.vec(4))
    assert index(ptr=value, idxs=[i]).dtype is float32


def test_load_reads_through_a_pointer_and_takes_alt_and_gate_together() -> None:
    at, gate = index(ptr=memory(), idxs=[loop()], as_ptr=True), loop() < 2
    made(load(src=at), Ops.LOAD, float32, at)
    made(load(src=at, dtype=float64), Ops.LOAD, float64, at)
    made(load(src=at, alt=f, gate=gate), Ops.LOAD, float32, at, f, gate)
    for wrong in ({"alt": f}, {"gate": gate}):
        with pytest.raises(UopError, match="together"):
            load(src=at, **wrong)
    with pytest.raises(UopError, match="pointer"):
        load(src=f)


def test_store_writes_through_a_pointer() -> None:
    at, gate = index(ptr=memory(), idxs=[loop()]), loop() < 2
    made(store(dst=at, value=f), Ops.STORE, void, at, f)
    made(store(dst=at, value=f, gate=gate), Ops.STORE, void, at, f, gate)


# -- arithmetic


def test_alu_unary_inherits_its_sources_dtype() -> None:
    made(alu_unary(op=Ops.SQRT, src=f), Ops.SQRT, float32, f)


def test_alu_binary_inherits_lhs_and_compares_into_bool() -> None:
    made(alu_binary(op=Ops.SUB, lhs=a, rhs=b), Ops.SUB, int32, a, b)
    made(alu_binary(op=Ops.CMPLT, lhs=a, rhs=b), Ops.CMPLT, bool_, a, b)
    v = scalar("v", float32.vec(4))
    assert alu_binary(op=Ops.CMPNE, lhs=v, rhs=v).dtype is bool_.vec(4)
    for wrong, x in ((Ops.WHERE, a), (Ops.CMPLT, memory())):
        with pytest.raises(UopError):
            alu_binary(op=wrong, lhs=x, rhs=x)


def test_alu_ternary_inherits_b_for_where_and_a_otherwise() -> None:
    made(alu_ternary(op=Ops.WHERE, a=t, b=f, c=f), Ops.WHERE, float32, t, f, f)
    made(alu_ternary(op=Ops.MULACC, a=a, b=b, c=a), Ops.MULACC, int32, a, b, a)


def test_cast_adjusts_lanes_and_is_nothing_at_the_same_dtype() -> None:
    made(cast(src=a, dtype=float32), Ops.CAST, float32, a)
    assert cast(src=a, dtype=int32) is a
    v = scalar("v", int32.vec(4))
    assert cast(src=v, dtype=float32).dtype is float32.vec(4)
    assert cast(src=v, dtype=int32) is v


def test_bitcast_reinterprets_and_is_nothing_at_the_same_dtype() -> None:
    made(bitcast(src=f, dtype=int32), Ops.BITCAST, int32, f)
    assert bitcast(src=f, dtype=float32) is f


def test_stack_has_the_lane_dtype_and_the_lanes_as_shape() -> None:
    u = made(stack([a, b, a]), Ops.STACK, int32, a, b, a)
    assert ints(u.shape) == [3]
    assert stack([a], dtype=int32.vec(4)).dtype is int32
    made(stack([]), Ops.STACK, void)


def test_getaddr_takes_the_address_of_its_source() -> None:
    p = memory()
    u = getaddr(src=p)
    assert (u.op, u.src) == (Ops.GETADDR, (p,))


def test_broadcast_repeats_into_a_stack() -> None:
    made(broadcast(f, 3), Ops.STACK, float32, f, f, f)
    assert broadcast(f, 1) is f
    assert broadcast(f, 0) is f


# -- control flow


def test_range_counts_over_its_size_under_its_parents() -> None:
    outer = loop(axis=5)
    u = range_(size=n(8), axis=1, kind=AxisType.GLOBAL, sub=[2], parents=[outer])
    assert made(u, Ops.RANGE, weakint, n(8), outer).arg is RangeInfo(1, (2,), AxisType.GLOBAL)
    assert (u.vmin, u.vmax) == (0, 7)
    plain = range_(size=a, axis=0, kind=AxisType.LOOP, dtype=int32)
    assert plain.dtype is int32
    assert plain.arg.sub == ()


def test_end_closes_ranges_and_is_its_value_without_any() -> None:
    r = loop()
    made(end_(value=f, ranges=[r]), Ops.END, float32, f, r)
    assert end_(value=f, ranges=[]) is f


def test_if_and_endif_open_and_close_a_region() -> None:
    at = index(ptr=memory(), idxs=[loop()])
    opened = made(if_(cond=t, idx_for_dedup=at), Ops.IF, void, t, at)
    made(endif(if_=opened), Ops.ENDIF, void, opened)


def test_barrier_waits_for_its_sources() -> None:
    made(barrier(srcs=[a, b]), Ops.BARRIER, void, a, b)
    made(barrier(), Ops.BARRIER, void)


def test_wait_sequences_its_source_on_another() -> None:
    made(wait(src=a, wait_for=b), Ops.WAIT, void, a, b)


def test_special_casts_its_size() -> None:
    assert made(special(name="gidx0", size=n(4)), Ops.SPECIAL, weakint, n(4)).arg == "gidx0"
    u = special(name="lidx1", size=n(4), dtype=int32)
    made(u, Ops.SPECIAL, int32, cast(src=n(4), dtype=int32))


# -- reduction and sharding


def test_reduce_reduces_over_loop_ranges() -> None:
    r = loop()
    u = reduce(src=f, ranges=[r], op=Ops.MAX, dtype=float64)
    assert made(u, Ops.REDUCE, float64, f, r).arg is ReduceArg(Ops.MAX, ())


def test_reduce_axis_reduces_over_tensor_axes() -> None:
    u = tensor(2, 3, 4)
    reduced = reduce_axis(src=u, op=Ops.ADD, axes=[0, 2])
    assert made(reduced, Ops.REDUCE, float32, u).arg is ReduceArg(Ops.ADD, (0, 2))
    assert ints(reduced.shape) == [3]
    assert reduce_axis(src=u, op=Ops.ADD, axes=[]) is u


def test_allreduce_reduces_across_devices() -> None:
    u = tensor(4, device=["A", "B"])
    found = made(allreduce(src=u, device="A", op=Ops.ADD), Ops.ALLREDUCE, float32, u)
    assert found.arg.op is Ops.ADD
    assert found.arg.device.name == "A"


def test_multi_distributes_along_an_axis() -> None:
    u = tensor(4, device=["A", "B"])
    assert made(multi(src=u, axis=0), Ops.MULTI, float32, u).arg == 0
    assert ints(multi(src=u, axis=0).shape) == [8]


def test_mstack_stacks_shards() -> None:
    u, v = tensor(4, slot=1, device="A"), tensor(4, slot=2, device="B")
    made(mstack([u, v]), Ops.MSTACK, float32, u, v)
    with pytest.raises(UopError):
        mstack([])


def test_mselect_selects_a_shard() -> None:
    u = tensor(4, device=["A", "B"])
    assert made(mselect(src=u, index=1), Ops.MSELECT, float32, u).arg == 1


def test_copy_copies_to_a_device() -> None:
    u = tensor(4, device="A")
    assert made(copy(src=u, device="B"), Ops.COPY, float32, u).arg.name == "B"


# -- movement


def test_reshape_rearranges() -> None:
    u, to = tensor(2, 6), shape_arg([3, 4])
    assert ints(made(reshape(src=u, shape=to), Ops.RESHAPE, float32, u, to).shape) == [3, 4]


def test_expand_broadcasts() -> None:
    u, to = tensor(1, 6), shape_arg([5, 6])
    assert ints(made(expand(src=u, shape=to), Ops.EXPAND, float32, u, to).shape) == [5, 6]


def test_pad_pads_to_a_size_at_an_offset() -> None:
    u, at, size = tensor(2, 3), shape_arg([1, 0]), shape_arg([4, 3])
    assert ints(made(pad(src=u, offset=at, size=size), Ops.PAD, float32, u, at, size).shape) == [
        4, 3,
    ]  # fmt: skip


def test_shrink_slices_a_size_from_an_offset() -> None:
    u, at, size = tensor(4, 3), shape_arg([1, 0]), shape_arg([2, 3])
    found = made(shrink(src=u, offset=at, size=size), Ops.SHRINK, float32, u, at, size)
    assert ints(found.shape) == [2, 3]


def test_permute_reorders_axes() -> None:
    u = tensor(2, 3, 4)
    found = made(permute(src=u, order=[2, 0, 1]), Ops.PERMUTE, float32, u)
    assert found.arg == (2, 0, 1)
    assert ints(found.shape) == [4, 2, 3]


def test_flip_reverses_flagged_axes() -> None:
    u = tensor(2, 3)
    found = made(flip(src=u, dims=[False, True]), Ops.FLIP, float32, u)
    assert found.arg == (False, True)
    assert ints(found.shape) == [2, 3]


# -- scheduling and calls


def test_detach_marks_its_source() -> None:
    made(detach(src=f), Ops.DETACH, float32, f)


def test_contiguous_is_dropped_where_it_says_nothing() -> None:
    u, r = tensor(4) + tensor(4, slot=1), loop()
    once = made(contiguous(src=u), Ops.CONTIGUOUS, float32, u)
    assert contiguous(src=once) is once
    assert contiguous(src=tensor(4)) is tensor(4)
    made(contiguous(src=tensor(4), force=True), Ops.CONTIGUOUS, float32, tensor(4))
    made(contiguous(src=tensor(4), ranges=[r]), Ops.CONTIGUOUS, float32, tensor(4), r)


def test_contiguous_backward_marks_its_source() -> None:
    made(contiguous_backward(src=f), Ops.CONTIGUOUS_BACKWARD, float32, f)


def test_call_is_opaque_or_a_function_of_a_tuple() -> None:
    info, opaque = CallInfo(name="f"), sink([])
    assert made(call(body=opaque, args=[a], info=info), Ops.CALL, void, opaque, a).arg is info
    made(call(body=f, args=[a], info=info), Ops.FUNCTION, void, tuple_([f]), a)
    both = tuple_([f, a])
    made(call(body=both, args=[], info=info), Ops.FUNCTION, void, both)
    with pytest.raises(UopError, match="open ranges"):
        call(body=loop() + 1, args=[], info=info)


def test_tuple_is_void_over_its_sources() -> None:
    made(tuple_([a, f]), Ops.TUPLE, void, a, f)


def test_gettuple_projects_an_element() -> None:
    both = tuple_([a, f])
    assert made(gettuple(src=both, index=1), Ops.GETTUPLE, float32, both).arg == 1
    function = call(body=both, args=[], info=CallInfo())
    made(gettuple(src=function, index=0), Ops.GETTUPLE, int32, function)
    with pytest.raises(UopError):
        gettuple(src=both, index=2)
    with pytest.raises(UopError):
        gettuple(src=a, index=0)


def test_program_holds_the_forms_it_has() -> None:
    info, root, lin = ProgramInfo(name="p"), sink([]), linear([])
    text, code = source("int x;"), binary(b"\x90")
    assert made(program(sink=root, info=info), Ops.PROGRAM, void, root).arg is info
    u = program(sink=root, linear=lin, source=text, binary=code, info=info)
    made(u, Ops.PROGRAM, void, root, lin, text, code)
    with pytest.raises(UopError):
        program(sink=root, source=text, info=info)


def test_set_stores_and_sequences() -> None:
    target = memory()
    u = set_(target=target, value=f, extras=[a])
    made(u, Ops.AFTER, target.dtype, target, store(dst=target, value=f), a)


# -- tensor cores and escapes


def test_shaped_wmma_carries_its_dimensions() -> None:
    p, q, r = tensor(8, 16), tensor(16, 16, slot=1), tensor(8, 16, slot=2)
    u = shaped_wmma(a=p, b=q, acc=r, dims=(8, 16, 16), device="CUDA", threads=32, dtype=float32)
    arg = made(u, Ops.SHAPED_WMMA, float32, p, q, r).arg
    assert (arg.dims, arg.device, arg.threads) == ((8, 16, 16), "CUDA", 32)
    assert u.shape == r.shape


def test_wmma_carries_its_configuration() -> None:
    assert (
        made(wmma(a=a, b=b, c=f, info=WMMA, dtype=float32), Ops.WMMA, float32, a, b, f).arg is WMMA
    )


def test_custom_is_a_statement_and_custom_inline_a_value() -> None:
    assert made(custom(fmt="f({0})", args=[a]), Ops.CUSTOM, void, a).arg == "f({0})"
    u = custom_inline(fmt="g({0})", args=[a], dtype=int64)
    assert made(u, Ops.CUSTOMI, int64, a).arg == "g({0})"


def test_source_and_binary_carry_what_was_rendered_and_compiled() -> None:
    assert made(source("int x;"), Ops.SOURCE, void).arg == "int x;"
    assert made(binary(b"\x00\xff"), Ops.BINARY, void).arg == b"\x00\xff"


def test_rewrite_error_records_a_failure() -> None:
    assert made(rewrite_error(src=(a, b), msg="no"), Ops.REWRITE_ERROR, void, a, b).arg == "no"


def test_ins_is_a_machine_instruction() -> None:
    assert made(ins(mnemonic="vaddps", operands=[a, b]), Ops.INS, void, a, b).arg == "vaddps"
    assert ins(mnemonic="mov", operands=[a], dtype=float32).dtype is float32


def test_custom_function_is_known_by_name() -> None:
    assert made(custom_function(name="fft", srcs=[f]), Ops.CUSTOM_FUNCTION, void, f).arg == "fft"


# -- replacing


def test_replace_overrides_what_is_given_and_keeps_the_rest() -> None:
    u = with_tag("here", a + b)
    assert replace(u) is u
    assert replace(u, op=Ops.ADD, src=[a, b], dtype=int32) is u
    made(replace(u, op=Ops.MUL, src=[b, a], dtype=int64), Ops.MUL, int64, b, a)
    assert replace(u, op=Ops.MUL).node_tag == "here"
    assert replace(u, node_tag=None) is a + b
    assert replace(tensor(4), arg=ParamArg(9)).arg is ParamArg(9)


def test_with_tag_sets_the_tag() -> None:
    u = with_tag("here", a + b)
    assert u.node_tag == "here"
    assert with_tag("here", a + b) is u
    assert u is not a + b
    assert (u.op, u.src) == (Ops.ADD, (a, b))
