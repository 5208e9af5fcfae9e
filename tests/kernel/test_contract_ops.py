"""What the contract's page says of operations and transforms, each shown by a run of it.

Every test reads what it shows when it runs (see ``test_contract.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from dynamis.kernel import (
    Carried,
    FuseError,
    HostContext,
    InputField,
    InputUse,
    Module,
    Renumbering,
    Sizes,
    Type,
    Value,
    account,
    account_renumbered,
    carried,
    carried_builders,
    counted,
    counts_only,
    extent_params,
    fuse,
    fuse_indexed,
    fuse_outputs,
    fused_name,
    group_fault,
    input_use,
    interpret,
    lanes,
    offset_read,
    op,
    optimize,
    renumbered,
    samples_only,
    sizes,
    validate,
)
from dynamis.kernel.arithmetic import TABLE
from dynamis.kernel.tables import BinaryOp, Intrinsic, UnaryOp
from tests.kernel.build import module

F, I, B = Type.FLOAT, Type.INT, Type.BOOL  # noqa: E741

HOST = HostContext(
    clock=1.5, rate=48000.0, queued=7, pointer=(3.0, 4.0), buttons=frozenset({0, 2}),
    wheel=(0.0, -1.0), pads=1, sticks={1: (0.5, -0.5)}, keys=frozenset({65}), typed="é",
    window=(640.0, 480.0), scale=2.0,
)  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """A kernel that holds an operation, and the words that it gives."""

    name: str
    body: str
    words: list[Any]
    kept: dict[str, Any] = field(default_factory=dict)
    extent: tuple[int, ...] = (2,)

    def module(self) -> Module:
        facts: dict[str, Any] = {"inputs": ("xs: Rows<Float>",), "outputs": ("out: Rows<Float>",)}
        requires = "field.read, field.write, time.read, input.read"
        return module(self.body, **{**facts, "requires": requires, **self.kept})


def run(made: Module, extent: tuple[int, ...] = (2,), **more: Any) -> list[Any]:
    """The words of output 0, over inputs that count up from 1."""
    valid, inputs = validate(made), []
    for port in made.manifest.inputs:
        size = extent if port.shape.rank == len(extent) else (2,) * port.shape.rank
        count = port.element.lanes if not port.element.is_struct else 3
        for n in size:
            count *= n
        kind = int if port.element.component == I else float
        inputs.append(InputField(size, [kind(k + 1) for k in range(count)]))
    params = [param.default for param in made.manifest.params]
    outcome = interpret(valid, inputs, params, extent, context=HOST, **more)
    assert outcome.outputs is not None, outcome.fault
    return outcome.outputs[0]


def gives(ty: str) -> dict[str, Any]:
    return {"outputs": (f"out: Rows<{ty}>",)}


X = "%0: Float = sample 0\n"
ONE = "%0: Int = const 1\n"
GRID: dict[str, Any] = {"inputs": ("xs: Grid<Float>",)}
SCAN: dict[str, Any] = {
    "mode": "scan",
    "after": ("init i() {\n%0: Float = const 10.0\nreturn %0\n}",),
}
TABLE_OF_THREE = ("array Float 3",)
RECORD: dict[str, Any] = {"inputs": ("xs: Rows<Struct0>",), "structs": ("R(a: Vec2, b: Float)",)}
PAIR: dict[str, Any] = {
    "mode": "scatter 1 max",
    "inputs": ("xs: Rows<Float>", "base: Rows<Float>"),
    "structs": ("Pair(address: Int, value: Float)",),
}
MEMORY: dict[str, Any] = {
    **SCAN,
    "inputs": ("xs: Rows<Float>", "m: Rows<Float>"),
    "outputs": ("out: Rows<Float>", "m: Rows<Float>"),
    "memories": ("m",),
}
LOOP = """%1: Float = loop 3 init %0 do {
  %2: Float = carried
  %3: Float = %2 + %0
  yield %3
}
return %1"""


def host(name: str, ty: str, words: list[Any], number: int | None = None) -> Shown:
    """A kernel that reads the host's context."""
    word = "pointer_down" if name == "PointerDown" else name.lower()
    body = f"%0: {ty} = {word}\nreturn %0"
    if number is not None:
        body = f"%0: Int = const {number}\n%1: {ty} = {word} %0\nreturn %1"
    return Shown(name, body, words * 2, gives(ty))


SHOWN = [
    Shown("Const", "%0: Float = const 2.5\nreturn %0", [2.5, 2.5]),
    Shown("Param", "%0: Int = param 0\nreturn %0", [3, 3], gives("Int")),
    Shown("Arg", X + "%1: Float = call 0(%0)\nreturn %1", [1.0, 2.0],
          {"functions": ("f(Float) {\n%0: Float = arg 0\nreturn %0\n}",)}),
    Shown("Unary", X + "%1: Float = - %0\nreturn %1", [-1.0, -2.0]),
    Shown("Binary", X + "%1: Float = %0 * %0\nreturn %1", [1.0, 4.0]),
    Shown("Construct", X + "%1: Vec2 = construct(%0, %0)\nreturn %1", [1.0, 1.0, 2.0, 2.0],
          gives("Vec2")),
    Shown("Extract", "%0: Vec2 = const Vec2(5.0, 6.0)\n%1: Float = extract %0 1\nreturn %1",
          [6.0, 6.0]),
    Shown("Subscript", "%0: Vec2 = const Vec2(5.0, 6.0)\n%1: Int = const 9\n"
          "%2: Float = subscript %0 %1\nreturn %2", [6.0, 6.0]),
    Shown("Call", X + "%1: Float = call 0(%0)\nreturn %1", [2.0, 4.0],
          {"functions": ("f(Float) {\n%0: Float = arg 0\n%1: Float = %0 + %0\nreturn %1\n}",)}),
    Shown("Intrinsic", X + "%1: Float = fma(%0, %0, %0)\nreturn %1", [2.0, 6.0]),
    Shown("If", X + "%1: Bool = %0 == %0\n%2: Float = if %1 then {\n%3: Float = - %0\nyield %3\n"
          "} else {\nyield %0\n}\nreturn %2", [-1.0, -2.0]),
    Shown("Match", "%0: Int = element\n%1: Float = match %0 case 0 {\n%2: Float = const 7.0\n"
          "yield %2\n} else {\n%3: Float = const 8.0\nyield %3\n}\nreturn %1", [7.0, 8.0]),
    Shown("Loop", X + LOOP, [4.0, 8.0]),
    Shown("Each", "%0: Struct0 = each 3 {\n%1: Int = index\n%2: Float = to_float(%1)\nyield %2\n}\n"
          "%3: Float = extract %0 2\nreturn %3", [2.0, 2.0], {"structs": TABLE_OF_THREE}),
    Shown("Carried", "%0: Float = carried\n%1: Float = sample 0\n%2: Float = %0 + %1\nreturn %2",
          [11.0, 13.0], SCAN),
    Shown("Index", "%0: Int = index\n%1: Float = to_float(%0)\nreturn %1", [0.0, 1.0], SCAN),
    Shown("Coord", "%0: Vec2 = coord\nreturn %0", [0.0, 0.0, 1.0, 0.0],
          {**GRID, "outputs": ("out: Grid<Vec2>",)}, (1, 2)),
    Shown("Domain", "%0: Vec2 = domain\nreturn %0", [2.0, 1.0, 2.0, 1.0],
          {**GRID, "outputs": ("out: Grid<Vec2>",)}, (1, 2)),
    host("Time", "Float", [1.5]), host("Clock", "Double", [1.5]), host("Rate", "Float", [48000.0]),
    host("Queued", "Int", [7]), host("Pointer", "Vec2", [3.0, 4.0]),
    host("PointerDown", "Bool", [True]), host("Button", "Bool", [False], 1),
    host("Wheel", "Vec2", [0.0, -1.0]), host("Pads", "Int", [1]),
    host("Stick", "Vec2", [0.5, -0.5], 1), host("Window", "Vec2", [640.0, 480.0]),
    host("Scale", "Float", [2.0]), host("Key", "Bool", [True], 65),
    host("Typed", "Int", [233], 0),
    Shown("Element", "%0: Int = element\nreturn %0", [0, 1], gives("Int")),
    Shown("Lane", "%0: Int = lane\nreturn %0", [0, 1], {"mode": "group 2", **gives("Int")}),
    Shown("Exchange", X + "%1: Int = lane\n%2: Int = const 1\n%3: Int = %1 + %2\n"
          "%4: Float = exchange %0 %3\nreturn %4", [2.0, 1.0], {"mode": "group 2"}),
    Shown("Sample", X + "return %0", [1.0, 2.0]),
    Shown("At", ONE + "%1: Float = at 0 %0\nreturn %1", [2.0, 2.0]),
    Shown("Part", ONE + "%1: Float = part 0 at %0 .0 .1\nreturn %1", [5.0, 5.0], RECORD),
    Shown("AtLinear", "%0: Float = const 0.5\n%1: Float = at_linear 0 %0\nreturn %1", [1.5, 1.5]),
    Shown("Count", "%0: Int = count 0\nreturn %0", [2, 2], gives("Int")),
    Shown("Size", "%0: Int = size 0\nreturn %0", [2, 2], gives("Int")),
    Shown("Put", X + ONE.replace("%0", "%1") + "%2: Float = put 1 %1 %0\n"
          "%3: Float = at 1 %1\nreturn %3", [1.0, 2.0], MEMORY),
    Shown("Emit", "%0: Int = const 0\n%1: Float = const 9.0\n%2: Struct0 = construct(%0, %1)\n"
          "%3: Struct0 = emit %2\n%4: Int = const 5\n%5: Struct0 = construct(%4, %1)\nreturn %5",
          [9.0, 2.0], PAIR),
]  # fmt: skip


def holds(made: Module, kind: type[op.Op]) -> bool:
    return any(isinstance(i.op, kind) for f in made.all_functions() for i in f.instructions())


def test_each_operation_gives_what_the_page_says() -> None:
    for shown in SHOWN:
        made = shown.module()
        assert holds(made, getattr(op, shown.name)), shown.name
        assert run(made, shown.extent) == shown.words, shown.name


def test_work_is_spent_and_looked_at_where_account_places_it() -> None:
    made = module(X + LOOP.replace("loop 3", "loop 2000"), budget=5000)
    placed = account(made)
    assert holds(placed, op.Spend) and holds(placed, op.Look)
    assert run(placed) == run(made) == [2001.0, 4002.0]
    again, numbers = account_renumbered(made)
    assert again == placed and isinstance(numbers, Renumbering)


def test_lanes_run_a_group_between_its_meetings() -> None:
    made = next(shown for shown in SHOWN if shown.name == "Exchange").module()
    laned = lanes(account(made))
    assert holds(laned, op.Lanes) and holds(laned, op.Meet)
    assert run(laned) == run(made) == [2.0, 1.0]
    assert group_fault(made) is None


def test_blocks_are_walked_and_replaced_in_order() -> None:
    loop = module(X + LOOP).entry.body[1].op
    assert isinstance(loop, op.Loop) and loop.blocks() == (loop.body,)
    assert loop.with_blocks(loop.blocks()) == loop


# The operators.

BINARY: dict[str, tuple[str, Any, Any, Any]] = {
    "ADD": ("+", 5, 3, 8), "SUB": ("-", 5, 3, 2), "MUL": ("*", 5, 3, 15), "DIV": ("/", -7, 2, -3),
    "REM": ("%", -7, 2, -1), "LESS": ("<", 1, 1, False), "LESS_EQUAL": ("<=", 1, 1, True),
    "GREATER": (">", 1, 1, False), "GREATER_EQUAL": (">=", 1, 1, True),
    "EQUAL": ("==", 1, 1, True), "NOT_EQUAL": ("!=", 1, 1, False),
    "AND": ("&&", True, False, False), "OR": ("||", True, False, True),
    "BIT_AND": ("&", 6, 3, 2), "BIT_OR": ("|", 6, 3, 7), "BIT_XOR": ("^", 6, 3, 5),
    "SHL": ("<<", 1, 33, 2), "SHR": (">>", -8, 1, -4), "USHR": (">>>", -1, 28, 15),
}  # fmt: skip


def test_each_binary_operator_has_its_symbol_and_meaning() -> None:
    for name, (symbol, a, b, expected) in BINARY.items():
        operator = getattr(BinaryOp, name)
        ty = B if isinstance(a, bool) else I
        assert operator.symbol == symbol
        assert operator.result_type(ty, ty) == (B if isinstance(expected, bool) else I)
        got = TABLE[operator][ty].evaluate(a, b)
        assert (got, type(got)) == (expected, type(expected)), name


def test_unary_operators_negate() -> None:
    assert UnaryOp.NEG.result_type(Type.VEC2) == Type.VEC2
    assert TABLE[UnaryOp.NEG][I].evaluate(3) == -3
    assert TABLE[UnaryOp.NOT][B].evaluate(True) is False


INTRINSICS: dict[str, tuple[tuple[Any, ...], Any]] = {
    "FLOOR": ((-1.5,), -2.0), "CEIL": ((-1.5,), -1.0), "ROUND": ((2.5,), 2.0),
    "SIGN": ((-3,), -1), "LOG": ((1.0,), 0.0), "TAN": ((0.0,), 0.0), "ASIN": ((0.0,), 0.0),
    "ACOS": ((1.0,), 0.0), "ATAN": ((0.0,), 0.0), "FRACT": ((-1.25,), 0.75), "ABS": ((-3,), 3),
    "SQRT": ((9.0,), 3.0), "SIN": ((0.0,), 0.0), "COS": ((0.0,), 1.0), "MIN": ((2, 1), 1),
    "MAX": ((2, 1), 2), "CLAMP": ((9, 0, 5), 5), "MIX": ((2.0, 4.0, 0.5), 3.0),
    "ADD_WRAP": ((2**31 - 1, 1), -(2**31)), "SUB_WRAP": ((-(2**31), 1), 2**31 - 1),
    "MUL_WRAP": ((2**31 - 1, 2), -2), "TO_FLOAT": ((3,), 3.0), "TO_INT": ((-1.9,), -1),
    "TO_DOUBLE": ((3,), 3.0), "TO_LONG": ((-1.9,), -1), "POW": ((2.0, 3.0), 8.0),
    "EXP": ((0.0,), 1.0), "STEP": ((1.0, 1.0), 1.0), "SMOOTHSTEP": ((0.0, 2.0, 1.0), 0.5),
    "ATAN2": ((0.0, 1.0), 0.0), "TRUNC": ((-1.5,), -1.0), "EXP2": ((3.0,), 8.0),
    "LOG2": ((8.0,), 3.0), "SINH": ((0.0,), 0.0), "COSH": ((0.0,), 1.0), "TANH": ((0.0,), 0.0),
    "FMA": ((2.0, 3.0, 1.0), 7.0), "POPCOUNT": ((7,), 3), "CLZ": ((0,), 32), "CTZ": ((8,), 3),
    "ROTL": ((1, 33), 2), "ROTR": ((1, 1), -(2**31)), "ULT": ((1, -1), True),
    "UDIV": ((-1, 2), 2**31 - 1), "UREM": ((-1, 2), 1), "MULHI": ((-(2**31), 2), -1),
    "UMULHI": ((-1, -1), -2), "BITS": ((1.0,), 0x3F800000), "FROM_BITS": ((0x3F800000,), 1.0),
}  # fmt: skip


def test_each_intrinsic_has_its_name_its_arguments_and_its_meaning() -> None:
    for name, (args, expected) in INTRINSICS.items():
        intrinsic = getattr(Intrinsic, name)
        ty = F if isinstance(args[0], float) else I
        assert intrinsic.name == name.lower()
        assert Intrinsic.from_name(name.lower()) is intrinsic
        assert intrinsic.describe.endswith(".")
        assert len(intrinsic.argument_names) == len(args)
        assert intrinsic.result_type((ty,) * len(args)) is not None
        got = TABLE[intrinsic][ty].evaluate(*args)
        assert (got, type(got)) == (expected, type(expected)), name


# Analyses and transforms.


def test_carried_values_and_frame_sizes_are_told() -> None:
    entry = module(X + LOOP).entry
    assert carried(entry) == Carried({2: 1})
    assert isinstance(sizes(entry, ()), Sizes) and sizes(entry, ()).total == 4
    assert Sizes((), (), (), 0).total == 0


BUILDING = """\
%0: Struct0 = const Struct0(0.0, 0.0, 0.0)
%1: Struct0 = loop 3 init %0 do {
  %2: Struct0 = carried
  %3: Int = index
  %4: Float = const 5.0
  %5: Struct0 = each 3 {
    %6: Int = index
    %7: Bool = %6 == %3
    %8: Float = if %7 then {
      yield %4
    } else {
      %9: Float = subscript %2 %6
      yield %9
    }
    yield %8
  }
  yield %5
}
%10: Float = extract %1 0
return %10"""


def test_loops_that_rebuild_an_array_are_recognised() -> None:
    made = module(BUILDING, structs=TABLE_OF_THREE)
    assert [builder.loop for builder in carried_builders(made.entry)] == [1]


SHIFTED = "%0: Int = element\n%1: Int = const 2\n%2: Int = %0 + %1\n%3: Float = at 0 %2\nreturn %3"


def test_the_uses_of_an_input_are_told() -> None:
    sampled, shifted = module(X + "return %0"), module(SHIFTED)
    sized = module("%0: Int = count 0\n%1: Float = to_float(%0)\nreturn %1")
    assert [input_use(m, 0) for m in (sized, sampled, shifted)] == [
        InputUse.COUNTED, InputUse.SAMPLED, InputUse.OFFSET,
    ]  # fmt: skip
    assert [use.name for use in sorted(InputUse)][-2:] == ["INDEXED", "LINEAR"]
    assert samples_only(sampled, 0) and not samples_only(shifted, 0)
    assert counted(sized, 0) and counts_only(sized, 0)
    assert offset_read(shifted.entry, 3) == (2,)


def test_extents_become_parameters() -> None:
    sized = module("%0: Int = count 0\n%1: Float = to_float(%0)\nreturn %1")
    made = extent_params(sized, 0)
    assert [param.name for param in made.manifest.params] == ["n", "xs_count"]
    assert not counted(made, 0)


def test_optimize_folds_and_renumbered_restores_the_order() -> None:
    made = module("%0: Float = const 2.0\n%1: Float = %0 * %0\nreturn %1")
    best = optimize(made)
    assert [i.op for i in best.entry.body] == [op.Const(Value.of(F, 4.0))]
    assert renumbered(made) == made


def test_kernels_fuse_or_say_why_not() -> None:
    double = module(X + "%1: Float = %0 + %0\nreturn %1")
    negate = module(X + "%1: Float = - %0\nreturn %1")
    assert run(fuse(double, negate, 0)) == [-2.0, -4.0]
    assert run(fuse_indexed(double, module(ONE + "%1: Float = at 0 %0\nreturn %1"), 0)) == [4.0] * 2
    assert run(fuse_outputs(double, negate)) == [2.0, 4.0]
    assert str(fused_name(double.manifest.id, negate.manifest.id)) != str(double.manifest.id)
    with pytest.raises(FuseError) as raised:
        fuse(double, module(SHIFTED), 0)
    assert "offset" in str(raised.value)
