"""How a kernel uses its inputs, and its extents as parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from random import Random

import pytest

from dynamis.kernel import InputField, interpret, op, validate
from dynamis.kernel.input_use import (
    InputUse,
    counted,
    counts_only,
    extent_params,
    input_use,
    offset_read,
    samples_only,
)
from dynamis.kernel.module import Module
from dynamis.kernel.types import Type, Value
from tests.kernel.build import module
from tests.kernel.strategies import random_module, random_run
from tests.kernel.unchanged import run_of, shown

GRID = {"inputs": ("a: Grid<Float>", "b: Grid<Float>"), "outputs": ("out: Grid<Float>",)}
ROWS = {"inputs": ("a: Rows<Float>", "b: Rows<Float>"), "outputs": ("out: Rows<Float>",)}


def grid(*lines: str) -> Module:
    text = "\n".join(f"%{k}: {line.replace(': ', ' = ', 1)}" for k, line in enumerate(lines))
    return module(f"{text}\nreturn %{len(lines) - 1}", params=(), **GRID)  # type: ignore[arg-type]


def rows(*lines: str) -> Module:
    text = "\n".join(f"%{k}: {line.replace(': ', ' = ', 1)}" for k, line in enumerate(lines))
    return module(f"{text}\nreturn %{len(lines) - 1}", params=(), **ROWS)  # type: ignore[arg-type]


USES = {
    InputUse.UNUSED: grid("Float: sample 1"),
    InputUse.COUNTED: grid("Int: count 0", "Float: to_float(%0)"),
    InputUse.SAMPLED: grid("Vec2: size 0", "Float: sample 0"),
    InputUse.OFFSET: grid(
        "Float: sample 0", "Vec2: coord", "Vec2: const Vec2(1.0, 0.0)", "Vec2: %1 + %2",
        "Float: at 0 %3",
    ),
    InputUse.INDEXED: grid("Vec2: coord", "Vec2: %0 * %0", "Float: at 0 %1"),
    InputUse.LINEAR: grid("Vec2: coord", "Float: at 0 %0", "Float: at_linear 0 %0"),
}  # fmt: skip


@pytest.mark.parametrize("use", InputUse)
def test_the_hardest_use_counts(use: InputUse) -> None:
    validate(USES[use])
    assert input_use(USES[use], 0) is use
    assert samples_only(USES[use], 0) == (use <= InputUse.SAMPLED)
    assert counts_only(USES[use], 0) == (use is InputUse.COUNTED)
    assert counted(USES[use], 0) == (use in (InputUse.COUNTED, InputUse.SAMPLED))
    assert not counted(USES[use], 1)


def test_parts_are_read_like_their_elements() -> None:
    texts = ("part 0 .1", "part 0 at %0 .1")
    uses = []
    for text in texts:
        made = module(
            f"%0: Vec2 = coord\n%1: Float = {text}\nreturn %1",
            inputs=("a: Grid<Vec2>",),
            outputs=("out: Grid<Float>",),
            params=(),
        )
        uses.append(input_use(made, 0))
    assert uses == [InputUse.SAMPLED, InputUse.OFFSET]


def test_bases_and_memories_are_indexed() -> None:
    scatter = module(
        "%0: Int = element\n%1: Float = sample 0\n%2: Struct0 = construct(%0, %1)\nreturn %2",
        mode="scatter 1 last",
        inputs=("a: Rows<Float>", "base: Rows<Float>"),
        structs=("Pair(at: Int, value: Float)",),
        params=(),
    )
    assert [input_use(scatter, k) for k in (0, 1)] == [InputUse.SAMPLED, InputUse.INDEXED]
    scan = module(
        "%0: Float = sample 0\nreturn %0",
        mode="scan",
        inputs=("a: Rows<Float>", "m: Rows<Float>"),
        outputs=("out: Rows<Float>", "m: Rows<Float>"),
        memories=("m",),
        params=(),
        after=("init start() {\n%0: Float = const 0.0\nreturn %0\n}",),
    )
    assert input_use(scan, 1) is InputUse.INDEXED


def test_functions_count_whoever_calls_them() -> None:
    helper = "look() {\n%0: Int = const 0\n%1: Float = at 1 %0\nreturn %1\n}"
    made = module("%0: Float = sample 0\nreturn %0", functions=(helper,), params=(), **ROWS)  # type: ignore[arg-type]
    assert input_use(made, 1) is InputUse.INDEXED


OFFSETS: list[tuple[tuple[str, ...], tuple[float, ...] | None]] = [
    (("Vec2: coord", "Float: at 0 %0"), (0.0, 0.0)),
    (("Vec2: coord", "Vec2: const Vec2(1.0, -2.0)", "Vec2: %0 + %1", "Float: at 0 %2"), (1, -2)),
    (("Vec2: coord", "Vec2: const Vec2(1.0, -2.0)", "Vec2: %1 + %0", "Float: at 0 %2"), (1, -2)),
    (("Vec2: coord", "Vec2: const Vec2(1.0, -2.0)", "Vec2: %0 - %1", "Float: at 0 %2"), (-1, 2)),
    (("Vec2: coord", "Vec2: const Vec2(1.0, -2.0)", "Vec2: %1 - %0", "Float: at 0 %2"), None),
    (("Vec2: coord", "Float: const 3.0", "Vec2: %0 + %1", "Float: at 0 %2"), (3, 3)),
    (
        (
            "Vec2: coord", "Float: const 1.0", "Float: - %1", "Vec2: construct(%1, %2)",
            "Vec2: %0 + %3", "Float: at 0 %4",
        ),
        (1, -1),
    ),
    (("Vec2: coord", "Vec2: - %0", "Vec2: %0 + %1", "Float: at 0 %2"), None),
    (("Vec2: coord", "Float: sample 0", "Vec2: construct(%1, %1)", "Float: at 0 %2"), None),
    (("Float: sample 0",), None),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "offset"), OFFSETS)
def test_constant_offsets_are_found(
    lines: tuple[str, ...], offset: tuple[float, ...] | None
) -> None:
    assert offset_read(grid(*lines).entry, len(lines) - 1) == offset


def test_rows_are_offset_from_the_element() -> None:
    made = rows("Int: element", "Int: const -2", "Int: %0 + %1", "Float: at 0 %2")
    assert offset_read(made.entry, 3) == (-2,)
    assert offset_read(made.entry, 9) is None


def test_extents_become_parameters() -> None:
    made = module(
        "%0: Int = count 0\n%1: Float = to_float(%0)\n%2: Vec2 = size 0\n%3: Float = extract %2 1\n"
        "%4: Float = %1 + %3\n%5: Float = call 0()\n%6: Float = %4 + %5\nreturn %6",
        functions=("more() {\n%0: Int = count 1\n%1: Float = to_float(%0)\nreturn %1\n}",),
        params=("a_count: Float = 2.0",),
        **GRID,  # type: ignore[arg-type]
    )
    given = extent_params(made, 0)
    assert [p.name for p in given.manifest.params] == ["a_count", "a_count_", "a_size"]
    assert [p.ty for p in given.manifest.params] == [Type.FLOAT, Type.INT, Type.VEC2]
    assert input_use(given, 0) is InputUse.UNUSED
    assert input_use(given, 1) is InputUse.COUNTED
    assert not any(isinstance(i.op, op.Count) for i in given.entry.body)
    fields = [InputField((2, 3), (0.0,) * 6), InputField((1, 1), (0.0,))]
    own = [Value.of(Type.FLOAT, 2.0)]
    extent = [Value.of(Type.INT, 6), Value.of(Type.VEC2, (3.0, 2.0))]
    old = interpret(validate(made), fields, own, (2, 3))
    assert interpret(validate(given), fields, own + extent, (2, 3)) == old


def test_only_what_is_read_becomes_a_parameter() -> None:
    given = extent_params(USES[InputUse.COUNTED], 0)
    assert [p.name for p in given.manifest.params] == ["a_count"]
    assert extent_params(USES[InputUse.UNUSED], 0) == USES[InputUse.UNUSED]


def test_random_kernels_run_alike_with_their_extents_as_parameters() -> None:
    held = 0
    for seed in range(700, 760):
        rng = Random(seed)
        made = random_module(rng, 25)
        run = random_run(rng, made, 10)
        for input, field in enumerate(run.inputs):
            given = extent_params(made, input)
            assert not counted(given, input)
            more = [
                Value.of(p.ty, prod(field.extent) if "_count" in p.name else _index(field.extent))
                for p in given.manifest.params[len(made.manifest.params) :]
            ]
            params = (*run.params, *more)
            old = run_of(made, run)
            new = run_of(given, replace(run, params=params))
            assert shown(old, made) == shown(new, given), seed
            held += bool(more)
    assert held >= 20


def _index(extent: tuple[int, ...]) -> Sequence[float] | int:
    """An extent, in NumPy order, as its index type: one Int, or floats along x first."""
    return extent[0] if len(extent) == 1 else [float(n) for n in reversed(extent)]
