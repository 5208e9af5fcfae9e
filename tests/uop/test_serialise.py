"""Export and import: what survives, what is refused, and what hostile bytes can do (nothing)."""

from __future__ import annotations

import math
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import dynamis
from dynamis.dtype import AddrSpace, Image, Ptr, bool_, float32, int8, int32, uint128, weakint
from dynamis.uop import (
    AxisType,
    CallInfo,
    Const,
    DeviceIndex,
    Estimates,
    Group,
    ImportGraphError,
    KernelInfo,
    Metadata,
    MultiDevice,
    Ops,
    Opt,
    ProgramInfo,
    StageOpts,
    Uop,
    UopError,
    WmmaInfo,
    allreduce,
    barrier,
    binary,
    bind,
    break_,
    buffer,
    call,
    const,
    const_float,
    const_int,
    const_of_dtype,
    contiguous,
    copy,
    custom,
    end_,
    export,
    flip,
    gettuple,
    group,
    import_,
    index,
    invalid,
    linear,
    load,
    mselect,
    mstack,
    multi,
    pad,
    param,
    permute,
    program,
    range_,
    reduce,
    reduce_axis,
    replace,
    reshape,
    rewrite_error,
    shape_arg,
    shaped_wmma,
    sink,
    slice_,
    source,
    special,
    stack,
    stage,
    store,
    toposort,
    tuple_,
    variable,
    wait,
    with_tag,
    wmma,
)
from dynamis.uop.codec import full_toposort, nodes_in
from dynamis.uop.serialise import _HEADER, seal
from tests.uop.graphs import leaf, memory

PACKAGE = Path(dynamis.__file__).parents[1]
x, i, b = leaf("x", float32), leaf("i"), leaf("b", bool_)
n = variable(name="n", min_val=1, max_val=9)
m = variable(name="m", min_val=0, max_val=4)
r = range_(size=4, axis=1, kind=AxisType.UNROLL, sub=[2, -3], dtype=int32)
t = buffer(slot=1, dtype=float32, shape=shape_arg([2, n]), device="CPU", name="t", axis=0)
GPUS = MultiDevice(("GPU:0", "GPU:1"))
info = WmmaInfo("w", (2, 4, 8), float32.scalar, float32.scalar, "GPU", 4, ((), ((1, 2),), ()), (1,))


def everything() -> Uop:
    """A graph of every kind of payload, dtype and embedded node."""
    place = index(ptr=memory(), idxs=[r])
    effects = [store(dst=place, value=x, gate=b), barrier(), custom(fmt="{0};", args=[x])]
    effects += [break_(done=b, loop=r, deps=[]), wait(src=barrier(), wait_for=barrier())]
    kernel = sink(
        [end_(value=group(effects), ranges=[r])],
        KernelInfo(
            "k",
            (AxisType.LOOP,),
            True,
            (Opt.nolocals(),),
            (Opt.upcast(axis=0, amount=4),),
            Estimates(n * 3, 2, m + n),
            3,
        ),
    )
    dims = (n + 1, 1.5, 3)
    told = ProgramInfo("p", dims, None, (n, m), (0, 1), (0,), (1,), ("aux",))
    values = [
        t,
        const_float(-0.0),
        const_float(math.nan),
        const_float(math.inf),
        const_int(-(10**40)),
        const_of_dtype(int8.vec(3), [1, 2, 3]),
        const_of_dtype(uint128, 2**100),
        invalid(),
        const(Const(bool_, True), [r]),
        bind(var=n, value=const_int(4)),
        special(name="gidx0", size=n),
        slice_(src=t, offset=n, size=2, dtype=float32),
        allreduce(src=t, device=GPUS, op=Ops.MAX),
        copy(src=t, device=DeviceIndex(2)),
        mselect(src=mstack([t, t]), index=1),
        multi(src=t, axis=1),
        reshape(src=t, shape=[n * 2]),
        permute(src=t, order=[1, 0]),
        flip(src=t, dims=[True, False]),
        pad(src=t, offset=[0, 0], size=[3, 12]),
        reduce_axis(src=t, op=Ops.ADD, axes=[1, 0]),
        reduce(src=x, ranges=[r], op=Ops.MUL, dtype=float32),
        stage(src=x, ranges=[r], opts=StageOpts(GPUS, AddrSpace.LOCAL, False)),
        contiguous(src=x, ranges=[r]),
        replace(contiguous(src=t, force=True), arg=(Opt.nolocals(),)),
        wmma(a=x, b=x, c=x, info=info, dtype=float32),
        rewrite_error(src=[x], msg="\ud800 né"),
        shaped_wmma(a=t, b=t, acc=t, dims=(1, 2, 3), device="GPU", threads=32, dtype=float32),
        gettuple(src=tuple_([x, t]), index=1),
        with_tag("a tag", x + x),
        replace(x, node_tag=""),
        param(slot=7, dtype=Image.imageh((4, 5, 4)).vec(2)),
        load(src=place, alt=x, gate=b),
        param(slot=8, dtype=Ptr.create_v(int8.vec(2), addrspace=AddrSpace.REG, size=10**30, v=3)),
        call(
            body=kernel,
            args=[t, n],
            info=CallInfo(None, (Metadata("a", "b", True),), "f", True, True, "aux"),
        ),
        program(
            sink=kernel, linear=linear([n]), source=source("é"), binary=binary(b"\0\xff"), info=told
        ),
    ]
    return tuple_(values)


WHOLE = everything()


def test_the_graph_comes_back_as_the_very_node() -> None:
    assert import_(export(WHOLE)) is WHOLE
    assert export(import_(export(WHOLE))) == export(WHOLE)
    ops = {u.op for u in full_toposort(WHOLE)}
    assert len(ops) > 40


@pytest.mark.parametrize("u", WHOLE.src, ids=lambda u: u.op.name)
def test_every_part_comes_back(u: Uop) -> None:
    assert import_(export(u)) is u
    assert import_(bytearray(export(u))).semantic_key == u.semantic_key


def test_a_new_process_reads_the_same_graph() -> None:
    script = """
import sys
from dynamis.uop import export, import_
data = sys.stdin.buffer.read()
u = import_(data)
call = u.src[-2]
assert call.src[0].arg.estimates.mem.src[0] is u.src[-1].arg.vars[1]  # m, in two payloads
assert call.src[0] is u.src[-1].src[0]
assert call.src[2] is u.src[-1].arg.vars[0] is u.src[9].src[0]  # n, in a payload and as a source
assert import_(export(u)) is u
print(u.semantic_key, export(u) == data)
"""
    env = {**os.environ, "PYTHONPATH": str(PACKAGE), "PYTHONHASHSEED": "7"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=export(WHOLE),
        capture_output=True,
        env=env,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode().split() == [WHOLE.semantic_key, "True"]


def test_metadata_stays_behind_and_tags_come_along() -> None:
    u = with_tag("seen", leaf("tagged") + 1)
    u.with_metadata([Metadata("relu")])
    data = export(u)
    del u
    assert import_(data).metadata == ()
    assert import_(data).node_tag == "seen"


def test_nodes_are_found_inside_payloads() -> None:
    arg = KernelInfo(estimates=Estimates(n, 1, m))
    assert list(nodes_in(arg)) == [n, m]
    order = full_toposort(sink([], arg))
    assert order.index(n) < len(order) - 1
    assert n not in toposort(sink([], arg))


def test_gradient_callbacks_are_refused() -> None:
    u = call(body=t, args=[], info=CallInfo(lambda *, grad_output, call: [None]))
    with pytest.raises(UopError, match="callback"):
        export(tuple_([u]))
    assert u.semantic_key == u.semantic_key


def test_malformed_nodes_are_refused() -> None:
    for bad in (
        replace(x, arg="text"),
        replace(x + x, src=[x]),
        replace(x, op=Ops.CONST, arg=None),
    ):
        with pytest.raises(UopError, match="not exported"):
            export(sink([bad]))


# -- internal buffers


def internal(*slots: int) -> Uop:
    return tuple_([buffer(slot=s, dtype=float32, shape=shape_arg([4])) for s in slots])


def slots_of(u: Uop) -> list[int]:
    return [s.arg.slot for s in u.src]


def test_internal_slots_are_fresh_and_equal_ones_stay_equal() -> None:
    u = internal(-900, 5, -901, -900)
    first, second = slots_of(import_(export(u))), slots_of(import_(export(u)))
    for got in (first, second):
        assert got[1] == 5
        assert got[0] == got[3] != got[2]
        assert max(got[0], got[2]) < -901  # below every slot that anyone was given
    assert not {first[0], first[2]} & {second[0], second[2]}


def test_internal_slots_are_numbered_by_first_appearance() -> None:
    u, v = internal(-900, 5, -901), internal(-7, 5, -3)
    assert export(u) == export(v)
    assert u.semantic_key == v.semantic_key
    assert internal(-1, 5, -1).semantic_key != u.semantic_key
    assert internal(-1, 6, -2).semantic_key != u.semantic_key
    assert slots_of(import_(export(u), keep_slots=True)) == [-1, 5, -2]


def test_kept_slots_are_not_given_again() -> None:
    data = export(internal(-1))
    assert slots_of(import_(data, keep_slots=True)) == [-1]
    assert slots_of(import_(data))[0] < -1


# -- the semantic key


def test_the_key_leaves_out_tags_and_metadata_only() -> None:
    u = x + 1.0
    key = u.semantic_key
    assert len(key) == 64
    assert with_tag("t", u).semantic_key == key
    assert u.with_metadata([Metadata("add")]).semantic_key == key
    u.with_metadata([])
    others = [
        x + 2.0,
        x - 1.0,
        1.0 + x,
        x + x,
        leaf("x2", float32) + 1.0,
        leaf("x") + 1,
        param(slot=0, dtype=memory().dtype),
        memory(size=3),
        memory(size=4),
        memory(slot=1),
        const_float(0.0),
        const_float(-0.0),
        const_float(math.nan),
        const_int(0),
        const_int(-1),
        const_int(-2),
        invalid(),
        invalid(int32),
        sink([u]),
        sink([u], KernelInfo()),
        sink([u, u]),
        sink([u], KernelInfo(estimates=Estimates(n))),
        sink([u], KernelInfo(estimates=Estimates(m))),
        call(body=t, args=[]),
        call(body=t, args=[], info=CallInfo(aux="a")),
        stack([x]),
        stack([x, x]),
        permute(src=t, order=[1, 0]),
        flip(src=t, dims=[True, False]),
    ]
    keys = {v.semantic_key for v in others}
    assert len(keys) == len(set(others))
    assert key not in keys


# -- bytes that are no graph


def refused(data: bytes) -> bool:
    try:
        import_(data)
    except ImportGraphError as error:
        return isinstance(error, ValueError)
    return False


def test_truncated_foreign_and_versioned_data_are_refused() -> None:
    data = export(WHOLE)
    assert all(refused(data[:k]) for k in range(0, len(data), 7))
    assert refused(data + b"\0")
    assert refused(b"")
    assert refused(b"PK\x03\x04" + data[4:])
    for at, text in (
        (0, "no exported graph"),
        (7, "another version"),
        (8, "bytes"),
        (20, "checksum"),
    ):
        bad = bytearray(data)
        bad[at] ^= 1
        with pytest.raises(ImportGraphError, match=text):
            import_(bytes(bad))
    with pytest.raises(ImportGraphError, match="bytes"):
        import_("text")  # type: ignore[arg-type]  # the mistake under test


def test_every_cut_of_the_body_is_refused_with_a_right_checksum_too() -> None:
    body = export(WHOLE)[_HEADER:]
    assert all(refused(seal(body[:k])) for k in range(len(body)))
    assert refused(seal(body + b"\0"))
    assert refused(seal(b""))


def test_changed_bodies_are_refused_or_are_graphs() -> None:
    body = export(WHOLE)[_HEADER:]
    rng = random.Random(3)
    graphs = 0
    for _ in range(4_000):
        bad = bytearray(body)
        for _ in range(rng.choice((1, 1, 1, 2, 8))):
            at = rng.randrange(len(bad))
            match rng.randrange(4):
                case 0:
                    bad[at] = rng.randrange(256)
                case 1:
                    bad[at] ^= 1 << rng.randrange(8)
                case 2:
                    del bad[at : at + rng.randrange(1, 9)]
                case _:
                    bad[at:at] = rng.randbytes(rng.randrange(1, 9))
        try:
            made = import_(seal(bytes(bad)))
        except ImportGraphError:
            continue
        graphs += 1
        assert import_(export(made)).semantic_key == made.semantic_key
    assert 0 < graphs < 4_000


def test_random_bodies_are_refused() -> None:
    rng = random.Random(4)
    assert all(refused(seal(rng.randbytes(rng.randrange(200)))) for _ in range(2_000))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"\xff" * 20, "too long"), (b"\xff\xff\xff\x7f", "ends early"), (b"\x00\x00", "no graph"),
        (b"\x01\x00\xff\x01\x01", "no scalar"), (b"\x01\x07\x01\x01", "no kind of dtype"),
        (b"\x01\x00\x01\x01\x01\xff\x01", "no op"),
    ],
)  # fmt: skip
def test_errors_say_what_is_wrong(body: bytes, text: str) -> None:
    with pytest.raises(ImportGraphError, match=text):
        import_(seal(body))


def test_deep_values_are_refused_without_recursion() -> None:
    nested = b"\x07\x01" * 100_000 + b"\x00"
    row = bytes([Ops.SINK.ordinal, 0, 0])
    with pytest.raises(ImportGraphError, match="nest too deep"):
        import_(seal(b"\x01\x00\x00\x01\x01" + row + nested))


@pytest.mark.parametrize("op", Group.all, ids=lambda op: op.name)
def test_nodes_without_payload_and_sources_are_refused_or_come_back(op: object) -> None:
    bare = replace(x, op=op, src=[], arg=None, dtype=weakint)  # type: ignore[arg-type]  # an Op
    try:
        data = export(bare)
    except UopError:
        return
    assert import_(data) is bare
