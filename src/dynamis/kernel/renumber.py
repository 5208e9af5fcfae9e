"""Gives the values of a module their pre-order ids back, after a pass has moved, made or dropped
some.

In: a module whose functions define each id once and read only what is in view, whatever the ids
are. Out: the same module, ids counting from 0 in pre-order. Names of values that are gone are
dropped. The functions here recurse over blocks, which nest at most ``MAX_BLOCK_DEPTH`` deep.
"""

from __future__ import annotations

from collections.abc import Sequence

from .module import Block, Function, Instruction, Module
from .op import ValueId


def renumbered(module: Module) -> Module:
    """``module`` with the ids of every function in pre-order, all that reads them following."""
    return module.with_functions([renumbered_function(f) for f in module.all_functions()])


def renumbered_function(function: Function) -> Function:
    """``renumbered``, of one function."""
    ids: dict[ValueId, ValueId] = {}
    body = _body(function.body, ids)
    results = tuple(ids[id] for id in function.results)
    bindings = tuple((ids[id], name) for id, name in function.bindings if id in ids)
    return Function(function.name, function.args, body, results, bindings)


def _body(body: Sequence[Instruction], ids: dict[ValueId, ValueId]) -> tuple[Instruction, ...]:
    made: list[Instruction] = []
    for old in body:
        id = ids[old.id] = len(ids)
        op, operands, blocks = old.op, old.op.operands(), old.op.blocks()
        if operands:
            op = op.with_operands([ids[operand] for operand in operands])
        if blocks:
            op = op.with_blocks([Block(_body(b.body, ids), ids[b.result]) for b in blocks])
        made.append(Instruction(id, old.ty, op, old.span))
    return tuple(made)
