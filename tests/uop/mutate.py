"""Damaged serialised graphs: each is refused with the documented error, or is a whole graph.

`python -m tests.uop.mutate --count 100000` runs as many as asked and prints what became of them;
the test suite runs a slice. Mutations are of bytes; most are sealed again with a right checksum,
so that they reach the reader.
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from random import Random

from dynamis.dtype import AddrSpace, Image, Ptr, float16, float32, int32
from dynamis.uop import (
    INVALID,
    AxisType,
    CallInfo,
    Estimates,
    ImportGraphError,
    KernelInfo,
    Metadata,
    Ops,
    Opt,
    ProgramInfo,
    StageOpts,
    Uop,
    WmmaInfo,
    bind,
    buffer,
    call,
    const_of_dtype,
    contiguous,
    copy,
    custom,
    end_,
    expand,
    export,
    flip,
    gettuple,
    import_,
    index,
    ins,
    linear,
    load,
    mselect,
    multi,
    pad,
    param,
    permute,
    program,
    range_,
    reduce_axis,
    replace,
    reshape,
    shape_arg,
    shaped_wmma,
    sink,
    slice_,
    special,
    stack,
    stage,
    store,
    toposort,
    with_tag,
    wmma,
)
from dynamis.uop.serialise import seal
from tests.uop.contract import loop, memory, n, scalar, scratch, tensor, var

HEADER = len(seal(b""))


def corpus() -> list[Uop]:
    """Graphs that hold every kind of payload and of dtype."""
    m, a, f = var("m"), scalar("a"), scalar("f", float32)
    r = range_(size=m + 4, axis=-2, kind=AxisType.UPCAST, sub=[1, 2], parents=[loop(axis=9)])
    at = index(ptr=memory(3, size=16), idxs=[r], as_ptr=True)
    gated = load(src=at, alt=const_of_dtype(float32, -0.0), gate=r < 3)
    info = KernelInfo(
        name="k", axis_types=(AxisType.GLOBAL,), applied_opts=(Opt.upcast(axis=0, amount=4),),
        opts_to_apply=(Opt.nolocals(),), estimates=Estimates(ops=m * 3, lds=2, mem=m),
    )  # fmt: skip
    kernel = sink([end_(value=store(dst=at, value=gated * f), ranges=[r])], kernel_info=info)
    shape = ProgramInfo(
        name="p", global_size=(m + 1, 2.5, 3), local_size=None, vars=(m,), globals=(0, 1),
        outs=(0,), ins=(1,), aux=("x", "y"),
    )  # fmt: skip
    cores = WmmaInfo("w", (8, 16, 16), float16.scalar, float32.scalar, "C", 32,
                     (((0, 2),), (), ((1, 2), (2, 4))), (5,))  # fmt: skip
    t = tensor(4, 6, device=["A", "B"], axis=0)
    moved = flip(src=permute(src=t, order=[1, 0]), dims=[True, False])
    moved = pad(src=moved, offset=shape_arg([0, 1]), size=shape_arg([6, 9]))
    moved = reduce_axis(src=moved, op=Ops.MAX, axes=[1])
    called = call(
        body=moved, args=[t], info=CallInfo(metadata=(Metadata("m", "c", True),), aux="z")
    )
    return [
        program(sink=kernel, linear=linear(toposort(kernel)), info=shape),
        gettuple(src=called, index=0) + 1.0,
        wmma(a=f, b=f, c=f, info=cores, dtype=float32),
        shaped_wmma(a=t, b=t, acc=t, dims=(4, 6, 6), device="C", threads=32, dtype=float32),
        stage(src=f, ranges=[loop()], opts=StageOpts(addrspace=AddrSpace.LOCAL, removable=False)),
        multi(src=mselect(src=copy(src=t, device="C"), index=0), axis=1),
        slice_(src=t, offset=bind(var=m, value=n(3)), size=4, dtype=float32),
        expand(src=reshape(src=t, shape=shape_arg([1, 24])), shape=shape_arg([m, 24])),
        replace(contiguous(src=t + t), arg=(Opt.swap(axis=0, with_axis=1),)),
        with_tag("tag", stack([a, const_of_dtype(int32, -1), const_of_dtype(int32, INVALID)])),
        custom(fmt="f({0})", args=[ins(mnemonic="mov", operands=[a], dtype=int32)]),
        param(slot=7, dtype=Image.imageh((8, 16, 4)), name="picture"),
        buffer(slot=-1, dtype=Ptr.create_v(int32.vec(2), addrspace=AddrSpace.REG, size=4, v=2)),
        sink([scratch(), special(name="gidx0", size=n(2**70)), const_of_dtype(float32, math.nan)]),
    ]  # fmt: skip


def mutated(rng: Random, whole: bytes, other: bytes) -> bytes:
    """`whole` with one to four changes of its bytes, sealed again two times in three."""
    header, body = whole[:HEADER], bytearray(whole[HEADER:])
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(body) + 1)
        length = rng.choice((1, 1, 1, 2, 8, 40))
        match rng.randrange(7):
            case 0:  # flip a bit
                if place < len(body):
                    body[place] ^= 1 << rng.randrange(8)
            case 1:  # overwrite with bytes that mean something
                edges = rng.choices((0, 1, 2, 0x7F, 0x80, 0xFF, rng.randrange(256)), k=length)
                body[place : place + length] = bytes(edges)
            case 2:  # cut out
                del body[place : place + length]
            case 3:  # put in
                body[place:place] = rng.randbytes(length)
            case 4:  # repeat
                body[place:place] = body[place : place + length]
            case 5:  # take from another graph
                start = rng.randrange(len(other))
                body[place : place + length] = other[start : start + length]
            case 6:  # end early
                del body[place:]
        if not body:
            break
    if rng.randrange(3):
        return seal(bytes(body))
    damaged = bytearray(header + body)
    if damaged:
        damaged[rng.randrange(min(len(damaged), HEADER))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def run(count: int, seed: int) -> Counter[str]:
    """What became of `count` mutated graphs: errors by what they say, and the whole ones.

    Any other exception than ImportGraphError leaves this function, with the payload in a note.
    """
    rng = Random(seed)
    graphs = [export(u) for u in corpus()]
    told: Counter[str] = Counter()
    for _ in range(count):
        data = mutated(rng, rng.choice(graphs), rng.choice(graphs))
        try:
            made = import_(data)
        except ImportGraphError as error:
            told[" ".join(str(error).split()[:4])] += 1
            continue
        except BaseException as error:
            error.add_note(f"import_(bytes.fromhex({data.hex()!r}))")
            raise
        assert import_(export(made), keep_slots=True).semantic_key == made.semantic_key
        told["a whole graph"] += 1
    return told


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m tests.uop.mutate", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=20261130)
    options = parser.parse_args()
    told = run(options.count, options.seed)
    for text, n_of in told.most_common(30):
        print(f"{n_of:8d}  {text}")
    print(f"{told.total()} mutated payloads, {told['a whole graph']} of them whole graphs")


if __name__ == "__main__":
    main()
