"""Which exchanges every lane reaches alike, and what is said of those that lanes may miss."""

from __future__ import annotations

import pytest

from dynamis.kernel.groups import group_fault, varying
from dynamis.kernel.module import Module
from tests.kernel.build import module


def group(body: str) -> Module:
    return module(
        f"%0: Int = sample 0\n%1: Int = param 0\n%2: Int = lane\n{body}",
        mode="group 4",
        inputs=("xs: Rows<Int>",),
        outputs=("out: Rows<Int>",),
    )


def chosen(condition: str) -> Module:
    return group(
        f"{condition}\n%9: Int = if %8 then {{\n%10: Int = exchange %0 %2\nyield %10\n}} else {{\n"
        "yield %0\n}\nreturn %9"
    )


@pytest.mark.parametrize(
    ("made_of", "uniform"),
    [("%1", True), ("%0", False), ("%2", False), ("%3", True), ("%4", True), ("%5", False),
     ("%6", True), ("%7", False)],
)  # fmt: skip
def test_choices_around_an_exchange_are_of_uniform_values(made_of: str, uniform: bool) -> None:
    values = (
        "%3: Int = domain\n%4: Int = at 0 %3\n%5: Int = at 0 %2\n%6: Int = %4 + %1\n"
        "%7: Int = exchange %0 %1\n"
    )
    fault = group_fault(chosen(f"{values}%8: Bool = {made_of} > %1"))
    assert (fault is None) == uniform
    if fault is not None:
        assert str(fault) == ("entry.%9.then.%10: lanes may differ in the condition %8 of entry.%9")


def looped(bound: str, until: str, carried: str) -> Module:
    return group(
        f"%3: Int = const 0\n%4: Int = loop 9 bound {bound} init %3 until {{\n"
        f"%5: Int = carried\n%6: Int = index\n%7: Bool = {until} > %1\nyield %7\n}} do {{\n"
        f"%8: Int = exchange %0 %2\n%9: Int = carried\nyield {carried}\n}}\nreturn %4"
    )


@pytest.mark.parametrize(
    ("bound", "until", "carried", "reason"),
    [
        ("%1", "%6", "%9", None),
        ("%1", "%5", "%9", None),
        ("%2", "%6", "%9", "the bound %2 of entry.%4"),
        ("%1", "%0", "%9", "the test %7 of entry.%4"),
        ("%1", "%5", "%8", "the test %7 of entry.%4"),
        ("%1", "%6", "%8", None),
    ],
)
def test_loops_around_an_exchange_go_by_uniform_values(
    bound: str, until: str, carried: str, reason: str | None
) -> None:
    fault = group_fault(looped(bound, until, carried))
    assert (fault is None) == (reason is None)
    if fault is not None:
        assert fault.path == "entry.%4.body.%8"
        assert fault.reason == f"lanes may differ in {reason}"


def test_arms_of_a_match_are_chosen_alike() -> None:
    made = group(
        "%3: Int = match %2 case 1 {\n%4: Int = exchange %0 %2\nyield %4\n} else {\nyield %0\n}\n"
        "return %3"
    )
    fault = group_fault(made)
    assert fault is not None
    assert fault.path == "entry.%3.arms.0.%4"
    assert fault.reason == "lanes may differ in the scrutinee %2 of entry.%3"


def test_what_depends_on_a_lane_through_a_choice_varies() -> None:
    made = group(
        "%3: Bool = %2 > %1\n%4: Int = if %3 then {\nyield %1\n} else {\n%5: Int = const 7\n"
        "yield %5\n}\n%6: Int = %1 + %1\nreturn %4"
    )
    assert varying(made.entry) == {0, 2, 3, 4}


def test_other_modes_have_no_exchange_to_part_at() -> None:
    assert group_fault(module("%0: Float = sample 0\nreturn %0")) is None
