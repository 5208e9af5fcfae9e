"""Loops whose carried array is rebuilt one element at a time are found, and only these."""

from __future__ import annotations

from random import Random

import pytest

from dynamis.kernel import validate
from dynamis.kernel.carried_builders import CarriedBuilder, ElementUpdate, carried_builders
from dynamis.kernel.module import Module
from dynamis.kernel.optimize import optimize
from tests.kernel.build import module
from tests.kernel.strategies import random_module
from tests.kernel.test_optimize import deep, wide

START = """%0: Float = sample 0
    %1: Struct0 = each 8 {
      yield %0
    }"""


def update(each: int, array: int, index: int, value: int) -> str:
    """``array[index] = value``, of ids ``each`` to ``each + 3``."""
    e = each
    return f"""%{e}: Struct0 = each 8 {{
      %{e + 1}: Int = index
      %{e + 2}: Bool = %{e + 1} == %{index}
      %{e + 3}: Float = if %{e + 2} then {{
        yield %{value}
      }} else {{
        %{e + 4}: Float = subscript %{array} %{e + 1}
        yield %{e + 4}
      }}
      yield %{e + 3}
    }}"""


def whole(body: str, result: int, *, more: str = "", last: int = 0) -> Module:
    """A loop (id 2) that carries the array; ``body`` starts at id 3."""
    return module(
        f"""{START}
    %2: Struct0 = loop 100 init %1 do {{
      {body}
      yield %{result}
    }}
    {more}
    return %{last}""",
        params=(),
        structs=("array Float 8", "State(n: Int, a: Struct0)"),
    )


def found(of: Module) -> tuple[CarriedBuilder, ...]:
    validate(of)
    return carried_builders(of.entry)


ONE = whole(f"%3: Struct0 = carried\n%4: Int = index\n{update(5, 3, 4, 0)}", 5)


def test_an_update_of_the_carried_array_is_found() -> None:
    assert found(ONE) == (CarriedBuilder(2, None, (ElementUpdate(5, 3, 4, 0),)),)


def test_an_array_that_is_read_element_by_element_is_one_buffer() -> None:
    body = f"""%3: Struct0 = carried
      %4: Int = index
      %5: Float = subscript %3 %4
      %6: Float = - %5
      {update(7, 3, 4, 6)}
      %12: Float = extract %7 0
      %13: Float = %12 * %6
      {update(14, 7, 4, 13)}"""
    (builder,) = found(whole(body, 14))
    assert [(u.each, u.array, u.value) for u in builder.updates] == [(7, 3, 6), (14, 7, 13)]


def test_the_old_array_may_not_be_read_after_an_update() -> None:
    body = f"""%3: Struct0 = carried
      %4: Int = index
      {update(5, 3, 4, 0)}
      %10: Float = subscript %3 %4
      {update(11, 5, 4, 10)}"""
    assert found(whole(body, 11)) == ()


def test_the_old_array_may_not_be_kept_whole() -> None:
    body = f"""%3: Struct0 = carried
      %4: Int = index
      %5: Struct1 = construct(%4, %3)
      {update(6, 3, 4, 0)}"""
    assert found(whole(body, 6)) == ()


def test_a_changed_copy_beside_the_array_is_another_array() -> None:
    body = f"""%3: Struct0 = carried
      %4: Int = index
      {update(5, 3, 4, 0)}
      %10: Float = subscript %5 %4
      {update(11, 3, 4, 10)}"""
    (builder,) = found(whole(body, 11))
    assert [u.each for u in builder.updates] == [11]


def test_two_next_versions_of_one_are_no_one_buffer() -> None:
    body = f"""%3: Struct0 = carried
      %4: Int = index
      %5: Bool = %0 > %0
      {update(6, 3, 4, 0)}
      {update(11, 3, 4, 0)}
      %16: Struct0 = if %5 then {{
        yield %6
      }} else {{
        yield %11
      }}"""
    assert found(whole(body, 16)) == ()


def test_updates_in_arms_are_found() -> None:
    body = f"""%3: Struct0 = carried
      %4: Int = index
      %5: Bool = %0 > %0
      %6: Struct0 = if %5 then {{
        {update(7, 3, 4, 0)}
        yield %7
      }} else {{
        %12: Int = count 0
        %13: Struct0 = match %4 case 3 {{
          {update(14, 3, 12, 0)}
          yield %14
        }} else {{
          yield %3
        }}
        yield %13
      }}"""
    (builder,) = found(whole(body, 6))
    assert [u.each for u in builder.updates] == [7, 14]


def test_the_old_array_may_not_be_read_after_an_arm_has_changed_it() -> None:
    body = f"""%3: Struct0 = carried
      %4: Int = index
      %5: Bool = %0 > %0
      %6: Struct0 = if %5 then {{
        {update(7, 3, 4, 0)}
        yield %7
      }} else {{
        yield %3
      }}
      %12: Float = subscript %3 %4
      {update(13, 6, 4, 12)}"""
    assert found(whole(body, 13)) == ()


def record(used: str) -> Module:
    """A loop (id 4) that carries a count and the array; ``used`` makes the next count, id 17."""
    return module(
        f"""{START}
    %2: Int = count 0
    %3: Struct1 = construct(%2, %1)
    %4: Struct1 = loop 100 init %3 until {{
      %5: Struct1 = carried
      %6: Struct0 = extract %5 1
      %7: Float = subscript %6 %2
      %8: Bool = %7 > %0
      yield %8
    }} do {{
      %9: Struct1 = carried
      %10: Struct0 = extract %9 1
      %11: Int = extract %9 0
      {update(12, 10, 11, 0)}
      %17: Int = {used}
      %18: Struct1 = construct(%17, %12)
      yield %18
    }}
    return %0""",
        params=(),
        structs=("array Float 8", "State(n: Int, a: Struct0)"),
        functions=("count_of(Struct1) {\n%0: Int = const 1\nreturn %0\n}",),
    )


def test_a_field_of_a_carried_record_is_found() -> None:
    made = record("add_wrap(%11, %2)")
    assert found(made) == (CarriedBuilder(4, 1, (ElementUpdate(12, 10, 11, 0),)),)


def test_an_array_in_a_record_that_is_used_whole_is_no_one_buffer() -> None:
    assert found(record("call 0(%9)")) == ()


def test_rounds_go_on_with_the_record() -> None:
    made = module(
        f"""{START}
    %2: Int = count 0
    %3: Struct1 = construct(%2, %1)
    %4: Struct1 = loop 65536 init %3 until {{
      %5: Bool = %0 > %0
      yield %5
    }} do {{
      %6: Struct1 = carried
      %7: Struct1 = loop 65536 init %6 until {{
        %8: Bool = %0 > %0
        yield %8
      }} do {{
        %9: Struct1 = carried
        %10: Struct0 = extract %9 1
        %11: Int = extract %9 0
        {update(12, 10, 11, 0)}
        %17: Struct1 = construct(%11, %12)
        yield %17
      }}
      yield %7
    }}
    return %0""",
        params=(),
        structs=("array Float 8", "State(n: Int, a: Struct0)"),
    )
    updates = (ElementUpdate(12, 10, 11, 0),)
    assert found(made) == (CarriedBuilder(4, 1, updates), CarriedBuilder(7, 1, updates))


def test_an_inner_loop_goes_on_building() -> None:
    body = f"""%3: Struct0 = carried
      %4: Int = index
      %5: Struct0 = loop 5 init %3 do {{
        %6: Struct0 = carried
        %7: Int = index
        {update(8, 6, 7, 0)}
        yield %8
      }}
      {update(13, 5, 4, 0)}"""
    outer, inner = found(whole(body, 13))
    assert (outer.loop, [u.each for u in outer.updates]) == (2, [8, 13])
    assert (inner.loop, [u.each for u in inner.updates]) == (5, [8])


def test_an_inner_loop_of_other_state_goes_on_building() -> None:
    body = f"""%3: Struct0 = carried
      %4: Int = index
      %5: Struct1 = construct(%4, %3)
      %6: Struct1 = loop 5 init %5 do {{
        %7: Struct1 = carried
        %8: Struct0 = extract %7 1
        %9: Int = index
        {update(10, 8, 9, 0)}
        %15: Struct1 = construct(%9, %10)
        yield %15
      }}
      %16: Struct0 = extract %6 1"""
    outer, inner = found(whole(body, 16))
    assert (outer.loop, outer.part) == (2, None)
    assert (inner.loop, inner.part) == (6, 1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%6 == %4", "%6 != %4"),  # all elements but one
        ("subscript %3 %6", "subscript %3 %4"),  # one old element in all places
        ("subscript %3 %6", "subscript %1 %6"),  # an array of before the loop
        ("yield %0", "yield %7"),  # a value that differs from element to element
    ],
)
def test_other_forms_are_no_updates(old: str, new: str) -> None:
    each = update(5, 3, 4, 0)
    if new == "yield %7":
        each = (
            "%5: Struct0 = each 8 {\n%6: Int = index\n%7: Float = to_float(%6)\n"
            "%8: Bool = %6 == %4\n%9: Float = if %8 then {\nyield %0\n} else {\n"
            "%10: Float = subscript %3 %6\nyield %10\n}\nyield %9\n}"
        )
    assert old in each
    body = "%3: Struct0 = carried\n%4: Int = index\n"
    assert found(whole(body + each.replace(old, new), 5)) == ()


def test_an_array_that_is_only_passed_on_is_none() -> None:
    assert found(whole("%3: Struct0 = carried", 3)) == ()


def test_the_loop_is_still_found_once_it_is_optimised() -> None:
    made = whole(
        f"%3: Struct0 = carried\n%4: Int = index\n{update(5, 3, 4, 0)}",
        5,
        more="%10: Int = count 0\n%11: Float = subscript %2 %10",
        last=11,
    )
    assert len(found(optimize(made))) == 1


def test_random_functions_have_an_answer() -> None:
    for seed in range(100):
        for function in random_module(Random(seed), 30).all_functions():
            for builder in carried_builders(function):
                assert isinstance(builder, CarriedBuilder)
                assert builder.updates


def test_blocks_at_the_limit_of_depth_and_long_functions_are_walked() -> None:
    assert carried_builders(deep(64)) == ()
    assert carried_builders(wide(20_000)) == ()
