"""Each rule of the algebra fires, and gives the words its left side gives, over all edge values."""

from __future__ import annotations

import itertools

import pytest

from dynamis.kernel import InputField, interpret, validate
from dynamis.kernel.module import Module
from dynamis.kernel.optimize import optimize_noted
from dynamis.kernel.optimize_rules import RULES
from dynamis.kernel.types import PLAIN_TYPES, Numeric, Type, bits_float, float_bits
from tests.kernel.build import module
from tests.kernel.random_data import DOUBLE_EDGES, FLOAT_EDGES, INT_EDGES, LONG_EDGES

EDGES: dict[Type, tuple[Numeric, ...]] = {
    Type.FLOAT: tuple(bits_float(float_bits(x)) for x in FLOAT_EDGES),
    Type.DOUBLE: DOUBLE_EDGES,
    Type.INT: INT_EDGES,
    Type.LONG: LONG_EDGES,
    Type.BOOL: (False, True),
}

# Each case: the type of the inputs, then the lines after "%0 = sample 0" and "%1 = sample 1"; the
# last is the result. A line is a type and an operation.
CASES: dict[str, list[tuple[str, ...]]] = {
    "x + 0 -> x": [
        ("Int", "Int: const 0", "Int: %0 + %2"),
        ("Int", "Int: const 0", "Int: %2 + %0"),
        ("Long", "Long: const Long(0)", "Long: %0 | %2"),
        ("IVec2", "Int: const 0", "IVec2: %0 ^ %2"),
        ("Int", "Int: const 0", "Int: add_wrap(%2, %0)"),
    ],
    "x + -0.0 -> x": [
        ("Float", "Float: const -0.0", "Float: %0 + %2"),
        ("Double", "Double: const Double(-0.0)", "Double: %2 + %0"),
        ("Mat2", "Mat2: const Mat2(-0.0, -0.0, -0.0, -0.0)", "Mat2: %0 + %2"),
    ],
    "x - 0 -> x": [
        ("Int", "Int: const 0", "Int: %0 - %2"),
        ("Float", "Float: const 0.0", "Float: %0 - %2"),
        ("Int", "Int: const 0", "Int: sub_wrap(%0, %2)"),
    ],
    "x * 1 -> x": [
        ("Int", "Int: const 1", "Int: %2 * %0"),
        ("Float", "Float: const 1.0", "Float: %0 * %2"),
        ("Mat3", "Float: const 1.0", "Mat3: %2 * %0"),
        ("Int", "Int: const 1", "Int: mul_wrap(%0, %2)"),
    ],
    "x / 1 -> x": [
        ("Int", "Int: const 1", "Int: %0 / %2"),
        ("Vec3", "Float: const 1.0", "Vec3: %0 / %2"),
        ("Int", "Int: const 1", "Int: udiv(%0, %2)"),
    ],
    "x & -1 -> x": [("Int", "Int: const -1", "Int: %2 & %0")],
    "x << 0 -> x": [
        ("Int", "Int: const 32", "Int: %0 << %2"),
        ("Long", "Long: const Long(64)", "Long: %0 >> %2"),
        ("IVec2", "IVec2: const IVec2(0, 32)", "IVec2: %0 >>> %2"),
        ("Int", "Int: const 0", "Int: rotl(%0, %2)"),
    ],
    "x && true -> x": [("Bool", "Bool: const true", "Bool: %0 && %2")],
    "x || false -> x": [("Bool", "Bool: const false", "Bool: %2 || %0")],
    "x * 0 -> 0": [
        ("Int", "Int: const 0", "Int: %0 * %2"),
        ("IVec3", "Int: const 0", "IVec3: %0 & %2"),
        ("Int", "Int: const 0", "Int: umulhi(%2, %0)"),
    ],
    "x | -1 -> -1": [("Long", "Long: const Long(-1)", "Long: %0 | %2")],
    "0 << n -> 0": [
        ("Int", "Int: const 0", "Int: %2 << %0"),
        ("Int", "Int: const 0", "Int: rotr(%2, %0)"),
    ],
    "x % 1 -> 0": [
        ("Int", "Int: const 1", "Int: %0 % %2"),
        ("Int", "Int: const 1", "Int: urem(%0, %2)"),
    ],
    "x % -1 -> 0": [("Int", "Int: const -1", "Int: %0 % %2")],
    "x && false -> false": [("Bool", "Bool: const false", "Bool: %0 && %2")],
    "x || true -> true": [("Bool", "Bool: const true", "Bool: %2 || %0")],
    "ult(x, 0) -> false": [("Int", "Int: const 0", "Bool: ult(%0, %2)")],
    "x - x -> 0": [
        ("Int", "Int: %0 - %0"),
        ("IVec4", "IVec4: %0 ^ %0"),
        ("Int", "Int: sub_wrap(%0, %0)"),
    ],
    "x & x -> x": [
        ("Int", "Int: %0 & %0"),
        ("Bool", "Bool: %0 || %0"),
        ("Float", "Float: min(%0, %0)"),
        ("Double", "Double: max(%0, %0)"),
    ],
    "x < x -> false": [("Float", "Bool: %0 < %0"), ("Int", "Bool: ult(%0, %0)")],
    "x <= x -> true": [("Int", "Bool: %0 <= %0"), ("Bool", "Bool: %0 == %0")],
    "x != x -> false": [("IVec2", "Bool: %0 != %0")],
    "-(-x) -> x": [
        ("Float", "Float: - %0", "Float: - %2"),
        ("Int", "Int: const 2147483647", "Int: %0 & %2", "Int: - %3", "Int: - %4"),
    ],
    "!(!x) -> x": [("Bool", "Bool: ! %0", "Bool: ! %2")],
    "!(a < b) -> a >= b": [
        ("Int", "Bool: %0 < %1", "Bool: ! %2"),
        ("Long", "Bool: %0 >= %1", "Bool: ! %2"),
        ("Float", "Bool: %0 == %1", "Bool: ! %2"),
        ("Vec2", "Bool: %0 != %1", "Bool: ! %2"),
    ],
    "abs(abs(x)) -> abs(x)": [("Float", "Float: abs(%0)", "Float: abs(%2)")],
    "abs(-x) -> abs(x)": [("Double", "Double: - %0", "Double: abs(%2)")],
    "floor(floor(x)) -> floor(x)": [
        ("Float", "Float: floor(%0)", "Float: ceil(%2)"),
        ("Double", "Double: trunc(%0)", "Double: round(%2)"),
    ],
    "from_bits(bits(x)) -> x": [("Float", "Int: bits(%0)", "Float: from_bits(%2)")],
    "to_float(x) -> x": [("Float", "Float: to_float(%0)"), ("Long", "Long: to_long(%0)")],
    "x * -1.0 -> -x": [
        ("Float", "Float: const -1.0", "Float: %2 * %0"),
        ("Vec2", "Float: const -1.0", "Vec2: %0 / %2"),
    ],
    "x / 2**k -> x * 2**-k": [
        ("Float", "Float: const 8.0", "Float: %0 / %2"),
        ("Float", "Float: const 1.7014118346046923e+38", "Float: %0 / %2"),
        ("Float", "Float: const -0.25", "Float: %0 / %2"),
        ("Double", "Double: const Double(0.125)", "Double: %0 / %2"),
        ("Mat2", "Float: const 2.0", "Mat2: %0 / %2"),
    ],
    "fma(a, b, -0.0) -> a * b": [("Float", "Float: const -0.0", "Float: fma(%0, %1, %2)")],
    "fma(a, 1, c) -> a + c": [("Float", "Float: const 1.0", "Float: fma(%0, %2, %1)")],
    "fma(1, b, c) -> b + c": [("Double", "Double: const Double(1.0)", "Double: fma(%2, %0, %1)")],
    "x == true -> x": [
        ("Bool", "Bool: const true", "Bool: %0 == %2"),
        ("Bool", "Bool: const true", "Bool: %2 != %0"),
    ],
    "x == false -> !x": [
        ("Bool", "Bool: const false", "Bool: %0 == %2"),
        ("Bool", "Bool: const false", "Bool: %0 != %2"),
    ],
    "construct(extract x 0, extract x 1, …) -> x": [
        ("Vec2", "Float: extract %0 0", "Float: extract %0 1", "Vec2: construct(%2, %3)"),
    ],
    "extract construct(…, p, …) k -> p": [
        ("Float", "Vec2: construct(%0, %1)", "Float: extract %2 1"),
    ],
    "subscript x k -> extract x k": [("Vec3", "Int: const 7", "Float: subscript %0 %2")],
    "part [k] -> part .k": [
        ("Vec3", "Int: const -2", "Float: part 0 [%2]"),
        ("Mat2", "Int: const 1", "Float: part 0 .1 [%2]"),
    ],
}

NO_RULES = [
    ("Float", "Float: const 0.0", "Float: %0 + %2"),  # -0.0 + 0.0 is 0.0
    ("Float", "Float: const 0.0", "Float: %0 * %2"),
    ("Float", "Float: const -0.0", "Float: %0 - %2"),
    ("Float", "Float: %0 - %0"),
    ("Float", "Bool: %0 == %0"),
    ("Float", "Bool: %0 < %1", "Bool: ! %2"),
    ("Float", "Float: const 3.0", "Float: %0 / %2"),
    ("Float", "Float: const 1e-45", "Float: %0 / %2"),  # 2**149 is no Float
    ("Float", "Float: const 0.0", "Float: fma(%0, %1, %2)"),
    ("Int", "Float: from_bits(%0)", "Int: bits(%2)"),  # a NaN's bits become the canonical ones
    ("Int", "Int: const 0", "Int: %2 - %0"),
    ("Int", "Int: const -1", "Int: %0 / %2"),
]


def built(case: tuple[str, ...]) -> Module:
    ty, *lines = case
    body = [f"%0: {ty} = sample 0", f"%1: {ty} = sample 1"]
    for k, line in enumerate(lines):
        gives, operation = line.split(": ", 1)
        body.append(f"%{k + 2}: {gives} = {operation}")
    body.append(f"return %{len(lines) + 1}")
    return module(
        "\n".join(body),
        inputs=(f"a: Rows<{ty}>", f"b: Rows<{ty}>"),
        outputs=(f"out: Rows<{gives}>",),
        params=(),
    )


def edges(ty: Type) -> tuple[list[Numeric], list[Numeric]]:
    """Words for two inputs: every pair of edge values in some component."""
    pairs = list(itertools.product(EDGES[ty.component], repeat=2))
    rows = [pairs[k : k + ty.lanes] for k in range(0, len(pairs) - ty.lanes + 1, ty.lanes)]
    return [a for row in rows for a, _ in row], [b for row in rows for _, b in row]


def test_every_rule_has_a_case() -> None:
    assert [rule.text for rule in RULES] == list(CASES)


@pytest.mark.parametrize("rule", CASES)
def test_a_rule_fires_and_keeps_every_word(rule: str) -> None:
    for case in CASES[rule]:
        before = built(case)
        valid = validate(before)
        after, noted = optimize_noted(before)
        assert noted[rule] >= 1, case
        assert after.entry.slot_count < before.entry.slot_count or "2**-k" in rule
        ty = PLAIN_TYPES[case[0]]
        words = edges(ty)
        rows = range(len(words[0]) // ty.lanes)
        fields = [InputField((len(rows),), w) for w in words]
        # Elements that fail are told apart; where none does, one run has them all.
        whole = interpret(valid, fields, (), (len(rows),)).fault is None
        for chosen in [list(rows)] if whole else [[row] for row in rows]:
            old = interpret(valid, fields, (), (len(rows),), chosen)
            new = interpret(validate(after), fields, (), (len(rows),), chosen)
            assert repr(old.outputs) == repr(new.outputs), (case, chosen)
            assert (old.fault is None) == (new.fault is None), (case, chosen)


@pytest.mark.parametrize("case", NO_RULES)
def test_what_is_not_exact_or_hides_a_failure_is_no_rule(case: tuple[str, ...]) -> None:
    noted = optimize_noted(built(case))[1]
    assert not any(noted[rule.text] for rule in RULES)
