"""What the host tells a kernel: each operation, its default, and that a run samples once."""

from __future__ import annotations

import pytest

from dynamis.kernel import interpret, op, validate
from dynamis.kernel.context import ASKS, READS, HostContext, Script
from dynamis.kernel.op_table import OPS
from tests.kernel.build import module

BUSY = HostContext(
    clock=1.1,
    rate=48000.0,
    queued=7,
    pointer=(3.5, 4.1),
    buttons=frozenset({0, 2}),
    wheel=(0.0, -1.5),
    pads=2,
    sticks={1: (0.25, -1.0)},
    keys=frozenset({65}),
    typed="a😀",
    window=(800.0, 600.0),
    scale=1.5,
)
F41 = 4.099999904632568  # 4.1 as a Float
F11 = 1.100000023841858


def value(text: str, ty: str, context: HostContext | None) -> list[object]:
    made = module(
        f"%0: Int = param 0\n%1: {ty} = {text}\nreturn %1",
        inputs=(),
        params=("n: Int = 1",),
        outputs=(f"out: Rows<{ty}>",),
        requires="time.read, input.read",
    )
    params = [made.manifest.params[0].default]
    outcome = interpret(validate(made), (), params, (1,), context=context)
    assert outcome.outputs is not None
    return list(outcome.outputs[0])


@pytest.mark.parametrize(
    ("text", "ty", "busy", "headless"),
    [
        ("time", "Float", [F11], [0.0]),
        ("clock", "Double", [1.1], [0.0]),
        ("rate", "Float", [48000.0], [0.0]),
        ("queued", "Int", [7], [0]),
        ("pointer", "Vec2", [3.5, F41], [0.0, 0.0]),
        ("pointer_down", "Bool", [True], [False]),
        ("button %0", "Bool", [False], [False]),
        ("wheel", "Vec2", [0.0, -1.5], [0.0, 0.0]),
        ("pads", "Int", [2], [0]),
        ("stick %0", "Vec2", [0.25, -1.0], [0.0, 0.0]),
        ("window", "Vec2", [800.0, 600.0], [0.0, 0.0]),
        ("scale", "Float", [1.5], [1.0]),
        ("key %0", "Bool", [False], [False]),
        ("typed %0", "Int", [0x1F600], [0]),
    ],
)
def test_each_operation_reads_its_part_of_the_context(
    text: str, ty: str, busy: list[object], headless: list[object]
) -> None:
    assert value(text, ty, BUSY) == busy
    assert value(text, ty, None) == headless


@pytest.mark.parametrize("number", [-1, 3, 99, 2**31 - 1, -(2**31)])
def test_unknown_numbers_give_false_or_zero(number: int) -> None:
    assert BUSY.ask(op.Button, number) == BUSY.ask(op.Key, number) == (False,)
    assert BUSY.ask(op.Stick, number) == (0.0, 0.0)
    assert BUSY.ask(op.Typed, number) == (0,)


def test_known_numbers_are_held() -> None:
    assert BUSY.ask(op.Button, 2) == BUSY.ask(op.Key, 65) == (True,)
    assert [BUSY.ask(op.Typed, n) for n in (0, 1, 2)] == [(97,), (0x1F600,), (0,)]


def test_every_context_operation_of_the_table_has_a_reference_evaluation() -> None:
    reads = {kind for kind, row in OPS.items() if row.capability is not None
             and row.capability.value in ("time.read", "input.read")}  # fmt: skip
    assert {*READS, *ASKS} == reads


def test_a_run_samples_its_source_once_and_a_script_plays_on() -> None:
    made = module(
        "%0: Double = clock\nreturn %0",
        inputs=(),
        params=(),
        outputs=("out: Rows<Double>",),
        requires="time.read",
    )
    script = Script([HostContext(clock=1.0), HostContext(clock=2.0)])
    runs = [interpret(validate(made), (), (), (3,), context=script).outputs for _ in range(3)]
    assert runs == [([1.0] * 3,), ([2.0] * 3,), ([2.0] * 3,)]


def test_a_script_of_nothing_is_a_headless_host() -> None:
    assert Script([]).sample() == HostContext()
