"""The contract's payload types: each field holds what was given, in its exact type."""

from __future__ import annotations

import pytest

from dynamis.dtype import AddrSpace, float16, float32, int32
from dynamis.uop import (
    INVALID,
    Arg,
    AxisType,
    CallInfo,
    Device,
    DeviceIndex,
    Estimates,
    KernelInfo,
    Metadata,
    MultiDevice,
    NeverRealized,
    Ops,
    Opt,
    ParamArg,
    Payload,
    ProgramInfo,
    ReduceArg,
    RuntimeDependent,
    ShapedWmmaInfo,
    SingleDevice,
    StageOpts,
    Uop,
    UopError,
    WmmaInfo,
    alu_unary,
    buffer,
    call,
    const_int,
    const_of_dtype,
    copy,
    flip,
    mselect,
    mstack,
    param,
    permute,
    program,
    program_launch_dims,
    replace,
    sink,
    source,
    stage,
)
from tests.uop.contract import loop, memory, scalar, scratch, tensor, var


def test_a_single_device_is_named() -> None:
    placed = copy(src=memory(), device="GPU:1")
    assert placed.arg is SingleDevice("GPU:1")
    assert placed.arg.name == "GPU:1"


def test_a_multi_device_names_its_group() -> None:
    placed = copy(src=memory(), device=["A", "B"])
    assert placed.arg is MultiDevice(("A", "B"))
    assert placed.arg.names == ("A", "B")
    assert mselect(src=placed, index=1).device is SingleDevice("B")


def test_a_device_may_be_an_index() -> None:
    placed = copy(src=memory(), device=DeviceIndex(2))
    assert placed.device is DeviceIndex(2)
    assert placed.device.index == 2


def test_a_device_is_a_name_a_group_or_an_index() -> None:
    for device in (SingleDevice("A"), MultiDevice(("A", "B")), DeviceIndex(0)):
        assert isinstance(device, Device)
    assert not isinstance("A", Device)


def test_opt_options_are_told_by_kind_axis_and_numbers() -> None:
    assert str(Opt.upcast(axis=1, amount=4)) == "UPCAST:1:4"
    assert str(Opt.tc(axis=0, tc_select=-1, tc_opt=2, use_tc=1)) == "TC:0:-1:2:1"
    assert str(Opt.swap(axis=0, with_axis=2)) == "SWAP:0:2"
    assert str(Opt.nolocals()) == "NOLOCALS"
    assert Opt.local(axis=0, amount=8).with_amount(16) is Opt.local(axis=0, amount=16)
    assert Opt.nolocals().amount is None
    first = Opt.tc(axis=0, tc_select=0, tc_opt=0, use_tc=1)
    ordered = [first, Opt.upcast(axis=0, amount=2), Opt.upcast(axis=1, amount=2), Opt.nolocals()]
    assert sorted([ordered[k] for k in (2, 0, 3, 1)]) == ordered
    with pytest.raises(UopError):
        Opt("UPCAST", None, (1,))


def test_stage_opts() -> None:
    opts = StageOpts(device=SingleDevice("A"), addrspace=AddrSpace.LOCAL, removable=False)
    staged = stage(src=memory(), ranges=[loop()], opts=opts).arg
    assert staged is opts
    assert staged.device is SingleDevice("A")
    assert staged.addrspace is AddrSpace.LOCAL
    assert staged.removable is False


def test_metadata_fields() -> None:
    told = Metadata(name="relu", caller="net.py:3", backward=True)
    u = scalar("with_metadata").with_metadata([told])
    (found,) = u.metadata
    assert (found.name, found.caller, found.backward) == ("relu", "net.py:3", True)


def test_param_arg() -> None:
    device = SingleDevice("A")
    u = param(slot=3, dtype=int32, vmin_vmax=(0, 9), name="k", addrspace=AddrSpace.ALU, axis=1,
              device=device)  # fmt: skip
    arg = u.arg
    assert isinstance(arg, ParamArg)
    assert (arg.slot, arg.vmin_vmax, arg.name) == (3, (0, 9), "k")
    assert (arg.addrspace, arg.axis, arg.device) == (AddrSpace.ALU, 1, device)
    assert ParamArg(0).addrspace is AddrSpace.GLOBAL


def test_scratch_and_what_is_no_buffer_are_never_realized() -> None:
    for u in (scratch(), scalar("a") + 1, memory()):
        assert isinstance(u.runtime_realization_state, NeverRealized)


def test_a_buffer_and_a_stack_of_buffers_depend_on_the_runtime() -> None:
    a, b = tensor(4, slot=1), tensor(4, slot=2)
    found = mstack([a, b]).runtime_realization_state
    assert isinstance(found, RuntimeDependent)
    assert set(found.buffers) == {a, b}
    assert a.runtime_realization_state == RuntimeDependent((a,))


def test_reduce_arg() -> None:
    arg = ReduceArg(op=Ops.MAX, axes=(0, 2))
    assert arg.op is Ops.MAX
    assert arg.axes == (0, 2)
    assert ReduceArg(Ops.MAX, [0, 2]) is arg  # type: ignore[arg-type]  # any sequence is read


def test_a_scalar_constant_is_coerced_by_its_dtype() -> None:
    assert const_of_dtype(int32, 3.7).arg.value == 3
    assert const_of_dtype(float32, 1).arg.value == 1.0
    assert type(const_of_dtype(float32, 1).arg.value) is float


def test_the_invalid_constant_is_kept_at_every_dtype() -> None:
    for dtype in (int32, float32):
        u = const_of_dtype(dtype, INVALID)
        assert u.op is Ops.CONST
        assert u.arg.is_invalid
        assert u.dtype is dtype


def test_a_tuple_constant_is_a_stack_of_scalars() -> None:
    u = const_of_dtype(int32.vec(2), (1, 2))
    assert u.op is Ops.STACK
    assert u.dtype is int32.vec(2)
    assert [s.arg.value for s in u.src] == [1, 2]


def test_an_estimate_is_a_count_or_an_expression() -> None:
    n = var("n")
    told = Estimates(ops=n * 2, lds=0, mem=64)
    assert (told.ops, told.lds, told.mem) == (n * 2, 0, 64)
    with pytest.raises(UopError):
        Estimates(ops=1.5)  # type: ignore[arg-type]


def test_kernel_info_fields() -> None:
    applied, wanted = Opt.upcast(axis=0, amount=4), Opt.nolocals()
    told = Estimates(1, 2, 3)
    info = KernelInfo(name="k", axis_types=[AxisType.GLOBAL], dont_use_locals=True,
                      applied_opts=[applied], opts_to_apply=[wanted], estimates=told,
                      beam=2)  # type: ignore[arg-type]  # fmt: skip
    kept = sink([], kernel_info=info).as_kernel_info()
    assert kept is info
    assert (kept.name, kept.axis_types, kept.dont_use_locals) == ("k", (AxisType.GLOBAL,), True)
    assert (kept.applied_opts, kept.opts_to_apply) == ((applied,), (wanted,))
    assert (kept.estimates, kept.beam) == (told, 2)


def test_a_gradient_callback_is_kept_and_told_apart_by_identity() -> None:
    def first(*, grad_output: Uop, call: Uop) -> list[Uop | None]:
        return [grad_output, None]

    def second(*, grad_output: Uop, call: Uop) -> list[Uop | None]:
        return [grad_output, None]

    a = call(body=scalar("a"), args=[], info=CallInfo(grad_fxn=first))
    b = call(body=scalar("a"), args=[], info=CallInfo(grad_fxn=second))
    assert a is not b
    assert call(body=scalar("a"), args=[], info=CallInfo(grad_fxn=first)) is a
    info = a.as_call_info()
    assert info is not None
    assert info.grad_fxn is not None
    assert info.grad_fxn(grad_output=scalar("g"), call=a) == [scalar("g"), None]


def test_call_info_fields() -> None:
    told = Metadata("m")
    info = CallInfo(grad_fxn=None, metadata=[told], name="f", precompile=True,
                    precompile_backward=True, aux="x")  # type: ignore[arg-type]  # fmt: skip
    kept = call(body=sink([]), args=[], info=info).as_call_info()
    assert kept is info
    assert (kept.grad_fxn, kept.metadata, kept.name) == (None, (told,), "f")
    assert (kept.precompile, kept.precompile_backward, kept.aux) == (True, True, "x")


def test_launch_dimensions_are_integers_floats_or_expressions() -> None:
    n = var("n")
    info = ProgramInfo(name="p", global_size=(4, 2.5, n + 1), local_size=None, vars=(n,))
    assert info.global_size == (4, 2.5, n + 1)
    sizes, local = program_launch_dims(info, var_vals={"n": 6})
    assert sizes == (4, 2.5, 7)
    assert [type(s) for s in sizes] == [int, float, int]
    assert local is None
    with pytest.raises(UopError):
        ProgramInfo(name="p", global_size=("4",))  # type: ignore[arg-type]


def test_program_info_fields() -> None:
    n = var("n")
    info = ProgramInfo(name="p q", global_size=(8, 1, 1), local_size=(2, 1, 1), vars=(n,),
                       globals=(0, 1), outs=(0,), ins=(1,), aux=("x",))  # fmt: skip
    kept = program(sink=sink([]), info=info).as_program_info()
    assert kept is info
    assert (kept.name, kept.global_size, kept.local_size) == ("p q", (8, 1, 1), (2, 1, 1))
    assert (kept.vars, kept.globals, kept.outs, kept.ins) == ((n,), (0, 1), (0,), (1,))
    assert kept.aux == ("x",)


WMMA = WmmaInfo(
    name="WMMA_8_16_16", dims=(8, 16, 16), dtype_in=float16.scalar, dtype_out=float32.scalar,
    device="CUDA", threads=32, upcast_axes=(((0, 2),), ((1, 2),), ((0, 2), (1, 2))),
    reduce_axes=(5,),
)  # fmt: skip


def test_wmma_info_fields() -> None:
    assert (WMMA.name, WMMA.dims) == ("WMMA_8_16_16", (8, 16, 16))
    assert (WMMA.dtype_in, WMMA.dtype_out) == (float16.scalar, float32.scalar)
    assert (WMMA.device, WMMA.threads) == ("CUDA", 32)
    assert WMMA.upcast_axes == (((0, 2),), ((1, 2),), ((0, 2), (1, 2)))
    assert WMMA.reduce_axes == (5,)


def test_shaped_wmma_info_fields() -> None:
    info = ShapedWmmaInfo(dims=(8, 16, 16), device="CUDA", threads=32)
    assert (info.dims, info.device, info.threads) == ((8, 16, 16), "CUDA", 32)


def test_payloads_are_interned_and_exact() -> None:
    assert isinstance(ParamArg(1), Payload)
    assert ParamArg(1) is ParamArg(1)
    assert ParamArg(1) is not ParamArg(2)
    assert ProgramInfo("p", (0.0,)) is not ProgramInfo("p", (-0.0,))
    assert ProgramInfo("p", (1,)) is not ProgramInfo("p", (1.0,))
    assert {f for f, _ in ParamArg(1, name="a").stated()} == {"slot", "name"}
    with pytest.raises(AttributeError):
        ParamArg(1).slot = 2  # type: ignore[misc]


def test_the_payload_is_part_of_a_nodes_identity() -> None:
    a, b = buffer(slot=0, dtype=float32), buffer(slot=1, dtype=float32)
    assert a is not b
    assert a.arg is ParamArg(0)
    assert replace(b, arg=ParamArg(0)) is a
    assert alu_unary(op=Ops.NEG, src=const_int(1)).arg is None


def test_arg_reads_a_payload_by_its_kind() -> None:
    assert Arg.as_int(mselect(src=tensor(2), index=1).arg) == 1
    assert Arg.as_ints(permute(src=tensor(2, 3), order=[1, 0]).arg) == (1, 0)
    assert Arg.as_bools(flip(src=tensor(2), dims=[True]).arg) == (True,)
    assert Arg.as_string(source("text").arg) == "text"
    assert Arg.as_value(const_int(3).arg) is const_int(3).arg
    assert Arg.as_param_arg(tensor(2).arg) is tensor(2).arg
    for read in (Arg.as_int, Arg.as_bools, Arg.as_string, Arg.as_value, Arg.as_param_arg):
        assert read(None) is None
    assert Arg.as_int(True) is None
    assert Arg.compare(1, "a") == -1
    assert Arg.equal((1, 2), (1, 2))
    assert not Arg.equal(1, True)
