"""``renumbered``: ids in pre-order whatever they were, all that reads them following."""

from __future__ import annotations

from dataclasses import replace

from dynamis.kernel import validate
from dynamis.kernel.module import Block, Instruction, Span
from dynamis.kernel.op import Op
from dynamis.kernel.renumber import renumbered
from tests.kernel.build import module

BODY = """%0: Float = sample 0
    %1: Int = param 0
    %2: Float = loop 9 bound %1 init %0 until {
      %3: Float = carried
      %4: Bool = %3 > %0
      yield %4
    } do {
      %5: Float = carried
      %6: Float = %5 + %0
      yield %6
    }
    return %2
    let n = %1
    let sum = %6"""


def test_scattered_ids_are_put_in_order() -> None:
    ordered = module(BODY)
    spread = {id: 1000 - 7 * id for id in range(7)}

    def moved(body: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
        made = []
        for i in body:
            op: Op = i.op.with_operands([spread[id] for id in i.op.operands()])
            op = op.with_blocks([Block(moved(b.body), spread[b.result]) for b in op.blocks()])
            made.append(Instruction(spread[i.id], i.ty, op, Span("f.py", i.id + 1, 0, 1)))
        return tuple(made)

    entry = ordered.entry
    shuffled = replace(
        entry,
        body=moved(entry.body),
        results=tuple(spread[id] for id in entry.results),
        bindings=tuple((spread[id], name) for id, name in entry.bindings),
    )
    made = renumbered(replace(ordered, entry=shuffled))
    assert made == ordered
    assert validate(made)
    assert [i.span.line for i in made.entry.instructions() if i.span] == [1, 2, 3, 4, 5, 6, 7]


def test_names_of_values_that_are_gone_are_dropped() -> None:
    ordered = module(BODY)
    entry = replace(ordered.entry, bindings=((40, "gone"), (1, "n")))
    assert renumbered(replace(ordered, entry=entry)).entry.bindings == ((1, "n"),)


def test_a_module_in_order_stays_equal() -> None:
    assert renumbered(module(BODY)) == module(BODY)
