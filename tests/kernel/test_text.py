"""Printing and parsing: text tells every fact, reads back equal, and damage is named."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dynamis.kernel import account, op, parse
from dynamis.kernel.module import MAX_BLOCK_DEPTH, MAX_TEXT, Block, Function, Instruction, Module
from dynamis.kernel.parse import ParseError
from dynamis.kernel.types import Field, StructDef, Type, Value
from tests.kernel.build import module
from tests.kernel.samples import sample_texts
from tests.kernel.strategies import modules, random_module

SAMPLE = """\
dynamis kernel ir 1
kernel demo.sum@1
  mode      map
  input     xs: Grid<Vec2>
  param     n: Int = 3
  param     tint: Vec3 = Vec3(0.5, -0.0, nan)
  output    out: Grid<Float>
  output    mask: Grid<Bool>
  requires  field.read
  budget    77
struct Pair(a: Float, b: IVec2)
struct Nest(p: Struct0)
function twice(Float, Struct1) {
  %0: Float = arg 0
  %1: Float = %0 + %0
  return %1
  let x = %0
}
entry main() {
  %0: Vec2 = sample 0
  %1: Int = param 0
  %2: Float = extract %0 1
  %3: Float = loop 1073741824 bound %1 init %2 until {
    %4: Float = carried
    %5: Float = const 9.0
    %6: Bool = %4 > %5
    yield %6
  } do {
    %7: Float = carried
    %8: Int = index
    %9: Bool = %8 == %1
    %10: Float = if %9 then {
      %11: Float = - %7
      yield %11
    } else {
      yield %7
    }
    yield %10
  }
  %12: Vec2 = coord
  %13: Vec2 = at 0 %12
  %14: Vec2 = size 0
  %15: Int = count 0
  %16: Int = element
  %17: Vec2 = domain
  %18: Float = mix(%3, %2, %2)
  %19: Bool = const true
  %20: Bool = ! %19
  %21: IVec2 = const IVec2(1, -2147483648)
  %22: Struct0 = construct(%18, %21)
  %23: Struct1 = construct(%22)
  %24: Float = call 0(%18, %23)
  return %24, %20
  let total = %3
  let total = %24
}
"""


def test_the_text_of_a_parsed_text_is_that_text() -> None:
    assert str(parse(SAMPLE)) == SAMPLE


@pytest.mark.parametrize("text", sample_texts(), ids=lambda text: text.split()[6])
def test_every_operation_mode_type_and_encoding_reads_back(text: str) -> None:
    made = parse(text)
    assert str(made) == text
    assert parse(" ".join(text.split())) == made


PLACED = """%0: Struct0 = lanes {
  %1: Float = const 0.5
  yield %1
}
%2: Bool = meet(%0)
%3: Bool = look
%4: Bool = meet()
%5: Int = spend %1
return %1
"""


def test_the_operations_that_only_passes_place_read_back() -> None:
    made = module(PLACED, mode="group 4", structs=("array Float 4",))
    assert parse(str(made)) == made
    kinds = [type(i.op) for i in made.entry.instructions()]
    assert kinds == [op.Lanes, op.Const, op.Meet, op.Look, op.Meet, op.Spend]


def test_an_operation_prints_alone() -> None:
    part = op.Part(2, 7, (op.FieldStep(1), op.IndexStep(3)))
    assert str(part) == "part 2 at %7 .1 [%3]"
    assert str(op.Each(4, Block((), 1))) == "each 4 {\n  yield %1\n}"
    assert str(op.Match(0, (((1, 2), Block((), 1)),), Block((), 2))) == (
        "match %0 case 1, 2 {\n  yield %1\n} else {\n  yield %2\n}"
    )
    assert str(op.Put(1, 2, 3)) == "put 1 %2 %3"


def test_a_struct_that_is_almost_an_array_prints_every_fact() -> None:
    odd = StructDef("Odd", (Field("x", Type.FLOAT),), Type.FLOAT)
    made = replace(module("%0: Float = const 0.0\nreturn %0"), structs=(odd,))
    assert "struct Odd(x: Float) element Float" in str(made)
    assert parse(str(made)) == made


TABLE = ("Inner(k: Int, x: Float)", "Outer(inner: Struct0, wide: Long)")


@pytest.mark.parametrize(
    ("literal", "ty", "expected"),
    [
        ("Struct1(1, 2.0)", "Struct1", "3 words of Struct1"),
        ("Struct1(1, 2.0, 3)", "Struct1", "Int, Float, Long"),
        ("Struct1(true, 2.0, Long(3))", "Struct1", "Int, Float, Long"),
        ("Double(1)", "Double", "of type Double"),
        ("Long(9223372036854775808)", "Long", "of type Long"),
        ("Mat2(1.0, 2.0)", "Mat2", "4 numbers"),
        ("Struct1(Struct0(1, 2.0), Long(3))", "Struct1", "of type Int"),
    ],
)
def test_a_literal_that_does_not_fit_its_type_is_refused(
    literal: str, ty: str, expected: str
) -> None:
    with pytest.raises(ParseError) as raised:
        module(f"%0: {ty} = const {literal}\nreturn %0", structs=TABLE)
    assert expected in raised.value.expected


def test_a_struct_literal_may_hold_vectors() -> None:
    table = ("R(a: Vec2, b: Long)",)
    long, short = "Struct0(Vec2(1.0, 2.0), Long(3))", "Struct0(1.0, 2.0, Long(3))"
    made = [
        module(f"%0: Struct0 = const {text}\nreturn %0", structs=table) for text in (long, short)
    ]
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("structs", "expected"),
    [
        (("array Float 0",), "a count from 1 to 4096"),
        (("array Float 4097",), "a count from 1 to 4096"),
        (("array Struct0 2",), "an earlier struct"),
        (("array Float 4096",) * 33, "131072 fields"),
        (("array Float 1", *(f"array Struct{k} 1" for k in range(200))), "64 deep"),
        (("R" * 257 + "(x: Float)",), "256 characters"),
    ],
    ids=range(6),
)
def test_a_table_past_its_limits_is_refused_while_it_is_read(
    structs: tuple[str, ...], expected: str
) -> None:
    with pytest.raises(ParseError) as raised:
        module("%0: Float = const 0.0\nreturn %0", structs=structs)
    assert expected in raised.value.expected


def test_constants_of_hostile_tables_are_read_in_linear_time() -> None:
    doubling = ("R(x: Float)", *(f"R(x: Struct{k}, y: Struct{k})" for k in range(300)))
    made = module("%0: Struct299 = const Struct299(1.0)\nreturn %0", structs=doubling)
    assert made.entry.body[0].op == op.Const(Value(Type.struct(299), (0x3F800000,)))
    with pytest.raises(ParseError) as raised:
        module("%0: Struct7 = const Struct7(true)\nreturn %0")
    assert raised.value.expected == "a struct of the table, whose fields are types"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("scatter 1 sum", "scatter sum", "a number"),
        ("scatter 1 sum", "scatter 1 mean", "a combine rule"),
        ("<IVec2, i16>", "<IVec2, i17>", "an encoding"),
        ("<IVec2, i16>", "<IVec2, i16", "an encoding"),
        ("construct(%0, %1)", "construct %0", "'('"),
        ("emit %2", "emit 2", "a value"),
        ("return %1\n}\n", "return %1\n}\ninit f() {", "'entry'"),
    ],
)
def test_damaged_modes_encodings_and_operations_are_refused(
    old: str, new: str, expected: str
) -> None:
    text = next(text for text in sample_texts() if "scatter 1 sum" in text)
    assert old in text
    with pytest.raises(ParseError) as raised:
        parse(text.replace(old, new, 1))
    assert expected in raised.value.expected


def test_spacing_and_line_breaks_carry_no_meaning() -> None:
    assert parse(" ".join(SAMPLE.split())) == parse(SAMPLE)


@settings(max_examples=200, deadline=None)
@given(modules())
def test_random_modules_read_back_equal(made: Module) -> None:
    assert parse(str(made)) == made
    assert parse(str(account(made))) == account(made)


@given(st.integers(0, 2**32 - 1))
def test_every_float_constant_reads_back_bit_for_bit(word: int) -> None:
    value = Value.of(Type.FLOAT, Value(Type.FLOAT, (word,)).numbers[0])
    made = with_constant(value)
    assert parse(str(made)).entry.body[0].op == op.Const(value)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("inf", 0x7F800000), ("-inf", 0xFF800000), ("nan", 0x7FC00000), ("-0.0", 0x80000000),
        ("0.0", 0), ("1e-45", 1), ("3.4028234663852886e+38", 0x7F7FFFFF), ("1e39", 0x7F800000),
        ("0.1", 0x3DCCCCCD), ("16777217.0", 0x4B800000),
    ],
)  # fmt: skip
def test_float_literals_mean_the_nearest_f32(text: str, word: int) -> None:
    made = module(f"%0: Float = const {text}\nreturn %0")
    assert made.entry.body[0].op == op.Const(Value(Type.FLOAT, (word,)))


def with_constant(value: Value) -> Module:
    body = (Instruction(0, value.ty, op.Const(value)),)
    return replace(
        module("%0: Float = const 0.0\nreturn %0"), entry=Function("main", (), body, (0,))
    )


def test_functions_and_manifests_print_alone() -> None:
    made = parse(SAMPLE)
    assert str(made.functions[0]) in SAMPLE
    assert str(made.entry).removeprefix("function") in SAMPLE
    assert str(made.manifest) in SAMPLE


def damaged(old: str, new: str) -> str:
    assert old in SAMPLE
    return SAMPLE.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "line", "column", "expected"),
    [
        ("", 1, 1, "'dynamis'"),
        (damaged("ir 1\n", "ir 2\n"), 1, 19, "IR version 1"),
        (damaged("demo.sum@1", "demo.sum"), 2, 8, "a kernel id"),
        (damaged("demo.sum@1", "demo.sum@99999999999"), 2, 8, "a kernel id"),
        (damaged("mode      map", "mode      fold"), 3, 13, "a mode"),
        (damaged("Grid<Vec2>", "Cube<Vec2>"), 4, 17, "a port type"),
        (damaged("Grid<Vec2>", "Grid<Half>"), 4, 17, "a port type"),
        (damaged("n: Int = 3", "n: Int = 4294967296"), 5, 22, "a literal"),
        (damaged("-0.0, nan", "-0.0"), 7, 3, "3 numbers"),
        (damaged("-0.0, nan", "-0.0, true"), 6, 42, "of type Float"),
        (damaged("requires  field.read", "requires  all"), 9, 13, "a capability"),
        (damaged("budget    77", "budget    -7"), 10, 13, "a number"),
        (damaged("a: Float, b", "a: Float b"), 11, 22, "','"),
        (damaged("a: Float, b", "a-b: Float, b"), 11, 13, "a name"),
        (damaged("%1: Float = %0 + %0", "%1 Float = %0 + %0"), 15, 6, "':'"),
        (damaged("%0 + %0", "%0 ** %0"), 15, 18, "a binary operation"),
        (damaged("%0 + %0", "%0 + 0"), 15, 20, "a value such as %3"),
        (damaged("arg 0", "argument 0"), 14, 15, "an operation"),
        (damaged("    yield %6\n", ""), 27, 3, "'yield'"),
        (damaged("} do {", "} else {"), 28, 5, "'do'"),
        (damaged("mix(%3, %2, %2)", "mix(%3, %2"), 47, 3, "','"),
        (damaged("const true", "const yes"), 47, 21, "a literal"),
        (SAMPLE + "entry again() {}", 57, 1, "the end of the text"),
        (SAMPLE[:-2], 56, 1, "'}'"),
    ],
)
def test_damaged_text_names_line_column_and_what_was_expected(
    text: str, line: int, column: int, expected: str
) -> None:
    with pytest.raises(ParseError) as raised:
        parse(text)
    assert expected in raised.value.expected
    assert (raised.value.line, raised.value.column) == (line, column), str(raised.value)
    assert f"line {line}, column {column}" in str(raised.value)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 10**9), st.data())
def test_mutated_text_is_read_or_refused_and_never_crashes(seed: int, data: st.DataObject) -> None:
    text = str(random_module(Random(seed), 10))
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 12))
    put = data.draw(
        st.one_of(st.text(max_size=6), st.sampled_from(["{", "}", "%", "if", "(", "9"]))
    )
    try:
        read = parse(text[:at] + put + text[at + cut :])
    except ParseError as error:
        refused = error
        assert (refused.line, refused.column) >= (1, 1)
    else:
        assert isinstance(read, Module)


@given(st.text())
def test_any_text_at_all_is_refused_with_a_place(text: str) -> None:
    with pytest.raises(ParseError):
        parse(text)


@pytest.mark.parametrize(
    "text", ["\ud800", "dynamis kernel ir 1 kernel \ud800@1", "dynamis kernel ir ²", "\0" * 100]
)
def test_strange_characters_are_refused(text: str) -> None:
    with pytest.raises(ParseError):
        parse(text)


def test_a_text_past_the_limit_is_refused_unread() -> None:
    with pytest.raises(ParseError, match="bytes"):
        parse("é" * (MAX_TEXT // 2 + 1))


def nested(depth: int) -> str:
    body = "".join(f"%{k}: Bool = if %0 then {{\n" for k in range(1, depth + 1))
    body += "yield %0\n} else {\nyield %0\n}\n" * depth
    return f"%0: Bool = const true\n{body}return %0"


def test_blocks_nest_to_the_limit_and_the_one_that_lanes_adds_and_no_deeper() -> None:
    deepest = module(nested(MAX_BLOCK_DEPTH))
    assert parse(str(deepest)) == deepest
    laned = module(nested(MAX_BLOCK_DEPTH + 1))
    assert parse(str(laned)) == laned
    with pytest.raises(ParseError, match="65 deep"):
        module(nested(MAX_BLOCK_DEPTH + 2))
    with pytest.raises(ParseError, match="65 deep"):
        module(nested(50_000))


def test_a_module_nested_without_bound_prints_without_recursion() -> None:
    inner = Block((), 0)
    for id in range(2_000, 0, -1):
        inner = Block((Instruction(id, Type.BOOL, op.If(0, inner, Block((), 0))),), id)
    deep = replace(
        module("%0: Float = const 0.0\nreturn %0"), entry=Function("f", (), inner.body, (1,))
    )
    assert str(deep).count("yield") == 4_000


def test_spans_are_not_part_of_the_text() -> None:
    made = random_module(Random(4), 20)
    assert all(i.span is None for i in parse(str(made)).entry.instructions())
