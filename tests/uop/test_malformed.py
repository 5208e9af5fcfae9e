"""Nodes that only `replace` makes: what is asked of them is answered, or refused by name."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from dynamis.dtype import (
    AddrSpace,
    Image,
    Ptr,
    bool_,
    float32,
    fp8e4m3,
    int8,
    int32,
    uint64,
    uint128,
    void,
    weakint,
)
from dynamis.uop import (
    INVALID,
    Arg,
    AxisType,
    CallInfo,
    Const,
    DeviceIndex,
    Group,
    KernelInfo,
    MultiDevice,
    OpDevice,
    Ops,
    Opt,
    ParamArg,
    ProgramInfo,
    RangeInfo,
    ReduceArg,
    ShapedWmmaInfo,
    SingleDevice,
    StageOpts,
    Uop,
    UopError,
    WmmaInfo,
    const_int,
    export,
    import_,
    noop,
    program_info_from_sink,
    replace,
    spec_full,
    spec_kernel,
    spec_program,
    spec_tensor,
    stack,
    toposort,
    uops_to_string,
    variable,
)
from dynamis.uop.accessors import Accessors
from dynamis.uop.contract import misfit

PAIR = MultiDevice(("a", "b"))
ONE = ((), (), ((0, 2),))
ARGS: dict[str, list[object]] = {
    "Empty": [None],
    "Int": [0, 1, -1, 2],
    "Ints": [(), (0,), (1, 0), (0, 1, 2)],
    "Bools": [(), (True,), (True, False)],
    "String": ["s", "gidx0", "lidx1", "idx2", "gidx99", b"b"],
    "Value": [Const(int32, 3), Const(weakint, -1), Const(float32, 1.5), Const(bool_, INVALID)],
    "Range_info": [RangeInfo(0, (), AxisType.LOOP)],
    "Param_arg": [
        ParamArg(0),
        ParamArg(-1, (0, 3), "n", AddrSpace.ALU),
        ParamArg(1, None, None, AddrSpace.LOCAL, 1, PAIR),
        ParamArg(-2, None, "core_id", AddrSpace.ALU),
    ],
    "Reduce_arg": [ReduceArg(Ops.ADD, (0,)), ReduceArg(Ops.ADD, ()), ReduceArg(Ops.SUB, (5,))],
    "Device": [SingleDevice("a"), PAIR, MultiDevice(()), DeviceIndex(1)],
    "Op_device": [OpDevice(Ops.ADD, PAIR)],
    "Stage_info": [StageOpts()],
    "Opts": [(Opt.nolocals(),)],
    "Kernel_info": [KernelInfo()],
    "Call_info": [CallInfo()],
    "Program_info": [ProgramInfo("p")],
    "Wmma_info": [WmmaInfo("w", (1, 1, 1), int8.scalar, int8.scalar, "d", 1, ONE)],
    "Shaped_wmma_info": [ShapedWmmaInfo((1, 1, 1), "d", 1)],
}
DTYPES = [
    void, weakint, bool_, int8, int32, uint64, uint128, float32, fp8e4m3, int32.vec(2),
    float32.vec(0), Ptr.create(int32, addrspace=AddrSpace.GLOBAL, size=4),
    Ptr.create(int32, addrspace=AddrSpace.REG, size=-1), Image.imageh((2, 3, 4)),
]  # fmt: skip


def asked() -> dict[str, Callable[[Uop], object]]:
    """Every property and every method without arguments, and what else is asked of a node."""
    questions: dict[str, Callable[[Uop], object]] = {}
    for name, member in vars(Accessors).items():
        if isinstance(member, property):
            questions[name] = lambda u, name=name: getattr(u, name)  # type: ignore[misc]  # bound
        elif name.startswith("as_"):
            questions[name] = lambda u, name=name: getattr(u, name)()  # type: ignore[misc]  # bound
    for spec in (spec_tensor, spec_kernel, spec_program, spec_full):
        questions[f"spec {spec.stage}"] = spec.verify
    questions |= {
        "repr": repr,
        "listing": lambda u: uops_to_string(toposort(u)),
        "program": program_info_from_sink,
        "export": lambda u: import_(export(u)),
    }
    return questions


QUESTIONS = asked()


def random_node(pool: list[Uop], rng: random.Random) -> Uop:
    """A node of any op with as many sources and such a payload as it has: all else is chance."""
    while True:
        op = rng.choice(Group.all)
        src = [rng.choice(pool[-12:]) for _ in range(rng.randrange(5))]
        arg = rng.choice(ARGS[rng.choice(Arg.kinds_of(op))])
        if misfit(op, arg, len(src)) is None:
            break
    dtype = src[0].dtype if src and rng.random() < 0.7 else rng.choice(DTYPES)
    if isinstance(arg, Const):
        dtype = arg.dtype
    return replace(pool[0], op=op, src=src, arg=arg, dtype=dtype)


@pytest.mark.parametrize("seed", range(8))
def test_every_question_is_answered_or_refused(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHECK_OOB", "1")
    rng = random.Random(seed)
    answered = refused = 0
    v = variable(name="v", min_val=0, max_val=3)
    for _ in range(4):
        pool = [noop(), stack([]), const_int(2), const_int(0), v]
        for _ in range(40):
            pool.append(random_node(pool, rng))
            for question in QUESTIONS.values():
                try:
                    question(pool[-1])
                    answered += 1
                except UopError:
                    refused += 1
    assert answered > 1000
    assert refused > 100
