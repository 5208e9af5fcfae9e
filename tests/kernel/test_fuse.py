"""Two kernels as one: what they compute together, and every reason why they cannot be one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from dynamis.kernel import InputField, Numeric, Outcome, account, interpret, op, validate
from dynamis.kernel.capability import Capabilities, Capability
from dynamis.kernel.encoding import Encoding
from dynamis.kernel.fault import FaultKind
from dynamis.kernel.fuse import (
    FuseError,
    FuseReason,
    fuse,
    fuse_indexed,
    fuse_outputs,
    fused_name,
)
from dynamis.kernel.manifest import KernelId
from dynamis.kernel.module import Module
from dynamis.kernel.types import Type, Value
from tests.kernel.build import module, with_manifest


def named(name: str, of: Module, **changes: object) -> Module:
    return with_manifest(of, id=KernelId.parse(name), **changes)


BLUR = named(
    "image.blur@2",
    module(
        """%0: Vec2 = coord
        %1: Float = const 0.0
        %2: Float = param 0
        %3: Float = loop 3 init %1 do {
          %4: Float = carried
          %5: Int = index
          %6: Float = loop 3 init %4 do {
            %7: Float = carried
            %8: Int = index
            %9: Float = to_float(%8)
            %10: Float = to_float(%5)
            %11: Vec2 = construct(%9, %10)
            %12: Float = const 1.0
            %13: Vec2 = %11 - %12
            %14: Vec2 = %0 + %13
            %15: Float = at 0 %14
            %16: Float = %7 + %15
            yield %16
          }
          yield %6
        }
        %17: Float = %3 * %2
        return %17
        let total = %3""",
        inputs=("image: Grid<Float>",),
        outputs=("blurred: Grid<Float>",),
        params=("level: Float = 0.25",),
    ),
)
THRESHOLD = named(
    "image.threshold@1",
    module(
        """%0: Float = sample 0
        %1: Float = param 0
        %2: Float = step(%1, %0)
        return %2
        let x = %0""",
        inputs=("image: Grid<Float>",),
        outputs=("mask: Grid<Float>",),
        params=("level: Float = 0.5",),
    ),
)
SHARPEN = named(
    "image.sharpen@1",
    module(
        """%0: Float = sample 0
        %1: Vec2 = coord
        %2: Vec2 = sample 1
        %3: Vec2 = %1 + %2
        %4: Float = at 0 %3
        %5: Float = %0 - %4
        %6: Float = call 1(%3)
        %7: Float = %5 + %6
        return %7""",
        inputs=("image: Grid<Float>", "where: Grid<Vec2>"),
        outputs=("out: Grid<Float>",),
        params=(),
        functions=(
            "near(Vec2) {\n%0: Vec2 = arg 0\n%1: Float = at 0 %0\n%2: Vec2 = size 0\n"
            "%3: Float = extract %2 0\n%4: Float = %1 - %3\nreturn %4\n}",
            "far(Vec2) {\n%0: Vec2 = arg 0\n%1: Float = call 0(%0)\n%2: Int = count 0\n"
            "%3: Float = to_float(%2)\n%4: Float = %1 * %3\nreturn %4\n}",
        ),
    ),
)


def floats(count: int, seed: int = 1) -> list[Numeric]:
    return [float((k * 37 + seed * 11) % 64) / 8.0 for k in range(count)]


def run(
    of: Module, fields: Sequence[InputField], params: Sequence[float], extent: tuple[int, ...]
) -> Outcome:
    values = [Value.of(Type.FLOAT, p) for p in params]
    return interpret(validate(of), fields, values, extent)


def words(outcome: Outcome) -> list[Numeric]:
    assert outcome.outputs is not None
    return outcome.outputs[0]


def test_blur_and_threshold_fuse_into_one_kernel_with_the_result_of_the_two() -> None:
    extent = (7, 9)
    image = InputField(extent, floats(63))
    blurred = InputField(extent, words(run(BLUR, [image], [0.125], extent)))
    mask = run(THRESHOLD, [blurred], [4.5], extent)
    fused = fuse(BLUR, THRESHOLD, 0)
    assert validate(fused)
    assert run(fused, [image], [0.125, 4.5], extent) == mask
    assert 0 < sum(map(float, words(mask))) < 63
    assert not any(isinstance(i.op, op.Call) for i in fused.entry.instructions())


def test_the_fused_manifest_is_made_of_both() -> None:
    wide = with_manifest(BLUR, requires=Capabilities([Capability.FIELD_READ, Capability.TIME_READ]))
    manifest = fuse(wide, THRESHOLD, 0).manifest
    assert str(manifest.id) == "image.blur.v2.then.image.threshold.v1@1"
    assert [p.name for p in manifest.inputs] == ["image"]
    assert [p.name for p in manifest.params] == ["image_blur_level", "level"]
    assert [p.name for p in manifest.outputs] == ["mask"]
    assert str(manifest.requires) == "field.read, time.read"
    assert manifest.budget == 12
    assert fuse(THRESHOLD, THRESHOLD, 0).manifest.budget == 1


def test_names_of_values_and_spans_are_kept() -> None:
    assert [name for _, name in fuse(BLUR, THRESHOLD, 0).entry.bindings] == ["total", "x"]


def test_names_too_long_are_digests() -> None:
    long = KernelId("a" * 200, 1)
    made = fused_name(long, long)
    assert len(made.name) < 60
    assert made != fused_name(long, KernelId("a" * 200, 2))
    assert str(fused_name(KernelId("a", 1), KernelId("b", 3))) == "a.v1.then.b.v3@1"


def test_reads_at_addresses_compute_the_producer_again_clamped() -> None:
    extent, consumer = (4, 5), SHARPEN
    image = InputField(extent, floats(20))
    offsets: list[Numeric] = [
        x
        for k in range(20)
        for x in ((math.nan, -0.5, 1.0, 99.0, -math.inf, 0.75)[k % 6], (-1.5, 1.0, math.inf)[k % 3])
    ]
    where = InputField(extent, offsets)
    blurred = InputField(extent, words(run(BLUR, [image], [0.125], extent)))
    both = run(consumer, [blurred, where], [], extent)
    fused = fuse_indexed(BLUR, consumer, 0)
    assert run(fused, [image, where], [0.125], extent) == both
    assert fused.functions[0].name == "image.blur"
    assert [len(f.args) for f in fused.functions] == [2, 2, 2]


@pytest.mark.parametrize("shape", ["Rows", "Volume"])
def test_every_shape_is_computed_again(shape: str) -> None:
    index = {"Rows": "Int", "Volume": "Vec3"}[shape]
    place = {"Rows": "element", "Volume": "coord"}[shape]
    far = {"Rows": "Int: const -3", "Volume": "Vec3: const Vec3(1.5, -1.0, 1.0)"}[shape]
    producer = module(
        "%0: Float = sample 0\n%1: Int = element\n%2: Float = to_float(%1)\n%3: Float = %0 + %2\n"
        "return %3",
        inputs=(f"a: {shape}<Float>",),
        outputs=(f"out: {shape}<Float>",),
        params=(),
    )
    gives, constant = far.split(": ")
    consumer = module(
        f"%0: {index} = {place}\n%1: {gives} = {constant}\n%2: {index} = "
        + ("add_wrap(%0, %1)" if shape == "Rows" else "%0 + %1")
        + "\n%3: Float = at 0 %2\n%4: Int = count 0\n%5: Float = to_float(%4)\n%6: Float = %3 + %5"
        + "\nreturn %6",
        inputs=(f"a: {shape}<Float>",),
        outputs=(f"out: {shape}<Float>",),
        params=(),
    )
    extent = (7,) if shape == "Rows" else (2, 3, 4)
    field = InputField(extent, floats(math.prod(extent)))
    wire = InputField(extent, words(run(producer, [field], [], extent)))
    fused = fuse_indexed(producer, consumer, 0)
    assert run(fused, [field], [], extent) == run(consumer, [wire], [], extent)


def test_parts_of_the_wired_element_are_taken_of_the_producer() -> None:
    producer = module(
        "%0: Float = sample 0\n%1: Float = - %0\n%2: Vec2 = construct(%0, %1)\n"
        "%3: Vec2 = construct(%1, %1)\n%4: Struct0 = construct(%2, %3)\nreturn %4",
        outputs=("out: Rows<Struct0>",),
        params=(),
        structs=("array Vec2 2",),
    )
    consumer = module(
        "%0: Int = element\n%1: Float = part 0 [%0] .1\n%2: Vec2 = part 0 at %0 .0\n"
        "%3: Float = extract %2 0\n%4: Struct1 = part 0\n%5: Vec2 = extract %4 1\n"
        "%6: Float = extract %5 0\n%7: Float = %1 * %3\n%8: Float = %7 + %6\nreturn %8",
        inputs=("a: Rows<Struct1>",),
        params=(),
        structs=("Other(x: Int)", "array Vec2 2"),
    )
    field = InputField((5,), floats(5))
    wire = InputField((5,), words(run(producer, [field], [], (5,))))
    fused = fuse_indexed(producer, consumer, 0)
    assert [s.name for s in fused.structs] == ["[Vec2; 2]", "Other"]
    assert run(fused, [field], [], (5,)) == run(consumer, [wire], [], (5,))


DOUBLE = module("%0: Float = sample 0\n%1: Float = %0 + %0\nreturn %1", params=())
INDEX = named(
    "index@1",
    module(
        "%0: Float = sample 0\n%1: Int = element\n%2: Int = const 2147483644\n%3: Int = %1 + %2\n"
        "%4: Float = to_float(%3)\n%5: Float = %0 * %4\nreturn %5",
        params=(),
    ),
)
"""Fails at element 4."""


@pytest.mark.parametrize("pair", [(INDEX, DOUBLE), (DOUBLE, INDEX)])
def test_the_failure_of_one_part_is_the_failure_of_the_whole(pair: tuple[Module, Module]) -> None:
    fused = fuse(*pair, 0)
    outcome = run(fused, [InputField((9,), floats(9))], [], (9,))
    assert outcome.fault is not None
    assert (outcome.fault.element, outcome.fault.kind) == (4, FaultKind.OVERFLOW)


def test_a_producer_that_can_fail_runs_even_where_nothing_reads_it() -> None:
    blind = module("%0: Float = const 1.0\nreturn %0", params=())
    outcome = run(fuse(INDEX, blind, 0), [InputField((9,), floats(9))], [], (9,))
    assert outcome.fault is not None
    assert outcome.fault.element == 4


def folding(mode: str, *more: str) -> Module:
    return module("%0: Float = sample 0\nreturn %0", mode=mode, params=(), after=more)


MERGE = (
    "merge add(Float, Float) {\n%0: Float = arg 0\n%1: Float = arg 1\n%2: Float = %0 + %1\n"
    "return %2\n}"
)
INIT = "init none() {\n%0: Float = const 0.0\nreturn %0\n}"


@pytest.mark.parametrize(
    "consumer",
    [folding("reduce", MERGE), folding("scan", INIT), folding("prefix max")],
    ids=["reduce", "scan", "prefix"],
)
def test_consumers_of_other_modes_fuse(consumer: Module) -> None:
    field = InputField((70,), floats(70))
    wire = InputField((70,), words(run(DOUBLE, [field], [], (70,))))
    assert run(fuse(DOUBLE, consumer, 0), [field], [], (70,)) == run(consumer, [wire], [], (70,))


def test_a_scatter_keeps_its_base() -> None:
    consumer = module(
        "%0: Float = sample 0\n%1: Int = element\n%2: Struct0 = construct(%1, %0)\nreturn %2",
        mode="scatter 1 last",
        inputs=("a: Rows<Float>", "base: Rows<Float>"),
        params=(),
        structs=("Pair(at: Int, value: Float)",),
    )
    two = module(
        "%0: Float = sample 0\n%1: Float = sample 1\n%2: Float = %0 - %1\nreturn %2",
        inputs=("a: Rows<Float>", "b: Rows<Float>"),
        params=(),
    )
    fields = [InputField((5,), floats(5)), InputField((5,), floats(5, 3))]
    base = InputField((8,), floats(8, 2))
    wire = InputField((5,), words(run(two, fields, [], (5,))))
    fused = fuse(two, consumer, 0)
    assert fused.manifest.mode.base == 2
    assert run(fused, [*fields, base], [], (5,)) == run(consumer, [wire, base], [], (5,))


def test_outputs_of_two_maps_stand_side_by_side() -> None:
    both = fuse_outputs(BLUR, THRESHOLD)
    assert [p.name for p in both.manifest.inputs] == ["image_blur_image", "image"]
    assert [p.name for p in both.manifest.outputs] == ["blurred", "mask"]
    fields = [InputField((3, 4), floats(12)), InputField((3, 4), floats(12, 5))]
    whole = run(both, fields, [0.5, 2.0], (3, 4))
    left, right = run(BLUR, fields[:1], [0.5], (3, 4)), run(THRESHOLD, fields[1:], [2.0], (3, 4))
    assert whole.outputs == (words(left), words(right))
    twice = fuse_outputs(THRESHOLD, THRESHOLD)
    assert [p.name for p in twice.manifest.outputs] == ["image_threshold_mask", "mask"]


def test_a_caller_may_vouch_for_the_domain() -> None:
    blend = module(
        "%0: Float = sample 0\n%1: Float = sample 1\n%2: Float = %0 * %1\nreturn %2",
        inputs=("a: Rows<Float>", "b: Rows<Float>"),
        params=(),
    )
    fields = [InputField((4,), floats(4)), InputField((4,), floats(4, 2))]
    wire = InputField((4,), words(run(DOUBLE, fields[1:], [], (4,))))
    fused = fuse(DOUBLE, blend, 1, same_domain=True)
    assert [p.name for p in fused.manifest.inputs] == ["xs", "a"]
    old = run(blend, [fields[0], wire], [], (4,))
    assert run(fused, [fields[1], fields[0]], [], (4,)) == old


# Why not.

_LOOPING = module(
    "%0: Float = sample 0\n%1: Float = loop 2000 init %0 do {\n%2: Float = carried\nyield %2\n}\n"
    "return %1",
    params=(),
)
_CHAIN = "\n".join(f"%{k}: Float = call 0(%{k - 1})" for k in range(1, 1000))
_LONG = module(
    f"%0: Float = sample 0\n{_CHAIN}\nreturn %999",
    params=(),
    functions=(
        "long(Float) {\n%0: Float = arg 0\n"
        + "\n".join(f"%{k}: Float = - %{k - 1}" for k in range(1, 200))
        + "\nreturn %199\n}",
    ),
)


def shaped(body: str, shape: str, **more: object) -> Module:
    return module(
        body, inputs=(f"a: {shape}<Float>",), outputs=(f"o: {shape}<Float>",), params=(), **more
    )  # type: ignore[arg-type]


_GRID = shaped("%0: Float = sample 0\nreturn %0", "Grid")
_MANY = module(
    "%0: Float = sample 0\nreturn %0, %0",
    params=(),
    outputs=("a: Rows<Float>", "b: Rows<Float>"),
)
_VEC = module(
    "%0: Vec2 = sample 0\n%1: Float = extract %0 0\nreturn %1", inputs=("a: Rows<Vec2>",), params=()
)
_MIX = module(
    "%0: Float = sample 1\nreturn %0", inputs=("g: Grid<Float>", "a: Rows<Float>"), params=()
)
_MEMORY = module(
    "%0: Float = sample 0\nreturn %0",
    mode="scan",
    inputs=("a: Rows<Float>", "m: Rows<Float>"),
    outputs=("out: Rows<Float>", "m: Rows<Float>"),
    memories=("m",),
    params=(),
    after=(INIT,),
)
_GROUP = module("%0: Float = sample 0\nreturn %0", mode="group 4", params=())
_INDEXED = module("%0: Int = count 0\n%1: Float = at 0 %0\nreturn %1", params=())
_LINEAR = module("%0: Float = sample 0\n%1: Float = at_linear 0 %0\nreturn %1", params=())
_BASE = module(
    "%0: Float = sample 0\n%1: Int = element\n%2: Struct0 = construct(%1, %0)\nreturn %2",
    mode="scatter 0 last",
    params=(),
    structs=("Pair(at: Int, value: Float)",),
)
_COUNTING = folding(
    "reduce",
    "merge m(Float, Float) {\n%0: Int = count 0\n%1: Float = to_float(%0)\nreturn %1\n}",
)
_STORED = with_manifest(
    DOUBLE,
    inputs=(replace(DOUBLE.manifest.inputs[0], ty=replace(
        DOUBLE.manifest.inputs[0].ty, encoding=Encoding.F16)),),
)  # fmt: skip
_PREFIX = module(
    "%0: Int = const 1\nreturn %0",
    mode="prefix sum",
    outputs=("out: Rows<Int>",),
    params=(),
)
_TWO = module(
    "%0: Float = sample 0\nreturn %0", inputs=("a: Rows<Float>", "b: Rows<Float>"), params=()
)

REFUSED = [
    (fuse, FuseReason.MODE, folding("prefix max"), DOUBLE, "is a prefix; a producer is a map"),
    (fuse, FuseReason.MODE, DOUBLE, _GROUP, "past the domain's end"),
    (fuse, FuseReason.OUTPUTS, _MANY, DOUBLE, "has 2"),
    (fuse, FuseReason.TYPE, DOUBLE, _VEC, "Rows<Float> to Rows<Vec2>"),
    (fuse, FuseReason.ENCODING, DOUBLE, _STORED, "Rows<Float, f16>"),
    (fuse, FuseReason.DOMAIN, _GRID, _MIX, "over a Grid, test.kernel@1 over a Rows"),
    (fuse, FuseReason.USE, DOUBLE, _INDEXED, "xs is indexed, not only sampled"),
    (fuse, FuseReason.USE, DOUBLE, _BASE, "is the base"),
    (fuse_indexed, FuseReason.USE, DOUBLE, _LINEAR, "at_linear"),
    (fuse, FuseReason.EXTENT, DOUBLE, _COUNTING, "in merge; extent_params"),
    (fuse, FuseReason.WORK, _LOOPING, DOUBLE, "may run 2000 iterations an element, past 1000"),
    (fuse, FuseReason.FAILURE, INDEX, INDEX, "both hold something that can fail"),
    (fuse, FuseReason.FAILURE, INDEX, _PREFIX, "both hold something that can fail"),
    (fuse_indexed, FuseReason.FAILURE, INDEX, _INDEXED, "computed again at other elements"),
    (fuse, FuseReason.PLACED, account(with_manifest(_LOOPING, budget=3000)), DOUBLE, "fuse before"),
    (fuse, FuseReason.LIMIT, _LONG, _LONG, "rule 18"),
]  # fmt: skip


@pytest.mark.parametrize(("fusion", "reason", "producer", "consumer", "says"), REFUSED)
def test_a_fusion_that_cannot_be_done_says_why(
    fusion: object, reason: FuseReason, producer: Module, consumer: Module, says: str
) -> None:
    validate(producer)
    validate(consumer)
    with pytest.raises(FuseError) as caught:
        fusion(producer, consumer, 0)  # type: ignore[operator]
    assert caught.value.reason is reason
    assert says in str(caught.value)
    assert reason.value in str(caught.value)


def test_a_memory_is_not_wired() -> None:
    with pytest.raises(FuseError, match="is a memory") as caught:
        fuse(DOUBLE, _MEMORY, 1)
    assert caught.value.reason is FuseReason.MEMORY


def test_an_input_that_does_not_size_the_domain_needs_a_word() -> None:
    with pytest.raises(FuseError, match="has the extent of its input a, not of b") as caught:
        fuse(DOUBLE, _TWO, 1)
    assert caught.value.reason is FuseReason.DOMAIN


def test_a_fold_needs_a_producer_that_its_first_input_sizes() -> None:
    table = module(
        "%0: Float = sample 1\nreturn %0", inputs=("g: Grid<Float>", "a: Rows<Float>"), params=()
    )
    with pytest.raises(FuseError, match="a reduce runs over its first input") as caught:
        fuse(table, folding("reduce", MERGE), 0)
    assert caught.value.reason is FuseReason.DOMAIN


def test_an_input_that_is_not_there_is_not_wired() -> None:
    with pytest.raises(FuseError, match="has no input 7"):
        fuse(DOUBLE, DOUBLE, 7)


def test_every_reason_is_shown() -> None:
    assert {reason for _, reason, *_ in REFUSED} | {FuseReason.MEMORY} == set(FuseReason)


def test_outputs_fuse_over_one_kind_of_domain_and_of_maps_only() -> None:
    with pytest.raises(FuseError, match="over a Grid"):
        fuse_outputs(_GRID, DOUBLE)
    with pytest.raises(FuseError, match="both are maps"):
        fuse_outputs(DOUBLE, folding("prefix max"))
    with pytest.raises(FuseError, match="both hold something"):
        fuse_outputs(INDEX, INDEX)
