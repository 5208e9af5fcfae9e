"""What each Carried reads, and how values lie in a frame."""

from __future__ import annotations

from dynamis.kernel.carried import carried, sizes
from tests.kernel.build import module

NESTED = """
    %0: Int = carried
    %1: Int = loop 3 init %0 do {
      %2: Int = carried
      %3: Struct0 = each 2 {
        %4: Int = carried
        yield %4
      }
      %5: Int = loop 2 init %2 until {
        %6: Int = carried
        %7: Bool = %6 > %2
        yield %7
      } do {
        %8: Int = carried
        yield %8
      }
      yield %5
    }
    %9: Int = carried
    return %1"""


def test_carried_reads_the_innermost_loop_or_the_scan_and_an_each_carries_none() -> None:
    made = module(
        NESTED,
        mode="scan",
        params=(),
        inputs=("xs: Rows<Int>",),
        outputs=("o: Rows<Int>",),
        structs=("array Int 2",),
        after=("init i() {\n%0: Int = const 0\nreturn %0\n}",),
    )
    found = carried(made.entry)
    assert dict(found.loops) == {0: None, 2: 1, 4: 1, 6: 5, 8: 5, 9: None}
    assert found.loop(8) == 5
    assert found.readers(1) == (2, 4)
    assert found.readers(None) == (0, 9)


def test_sizes_lay_out_values_by_id_and_then_arguments() -> None:
    helper = (
        "f(Mat2, Struct1) {\n%0: Mat2 = arg 0\n%1: Struct1 = arg 1\n%2: Struct0 = extract %1 1\n"
        "%3: Float = const 1.0\nreturn %3\n}"
    )
    made = module(
        "%0: Float = const 0.0\nreturn %0",
        structs=("array Vec3 5", "R(d: Double, a: Struct0)"),
        functions=(helper,),
    )
    found = sizes(made.functions[0], made.structs)
    assert found.words == (4, 16, 15, 1)
    assert found.slots == (0, 4, 20, 35)
    assert found.arguments == (36, 40)
    assert found.total == 56
    assert sizes(made.entry).total == 1
