"""What each Carried of a function reads, and how much room its values take.

In: a valid function. Out: ``Carried`` and ``Sizes``, which a backend lays out frames with. The
walks recurse over blocks, which a valid function nests at most ``MAX_BLOCK_DEPTH`` deep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from . import op as ops
from .module import Block, Function, Instruction
from .op import ValueId
from .types import StructDef, Type, words


@dataclass(frozen=True, slots=True)
class Carried:
    """For each Carried instruction of a function: the Loop it reads, or None for the scan."""

    loops: Mapping[ValueId, ValueId | None]

    def loop(self, id: ValueId) -> ValueId | None:
        """The Loop whose carried value the Carried ``id`` is; None for the scan's."""
        return self.loops[id]

    def readers(self, loop: ValueId | None) -> tuple[ValueId, ...]:
        """The Carried instructions that read this Loop (None: the scan), in order."""
        return tuple(id for id, read in self.loops.items() if read == loop)


def carried(function: Function) -> Carried:
    """Which loop or scan each Carried reads: the innermost Loop around it, for an Each carries
    none, and neither do arms and lanes."""
    loops: dict[ValueId, ValueId | None] = {}

    def walk(body: Sequence[Instruction], loop: ValueId | None) -> None:
        for instruction in body:
            if isinstance(instruction.op, ops.Carried):
                loops[instruction.id] = loop
            inner = instruction.id if isinstance(instruction.op, ops.Loop) else loop
            for block in instruction.op.blocks():
                walk(block.body, inner)

    walk(function.body, None)
    return Carried(loops)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How a function's values lie in a flat frame: the values by id, then the arguments.

    ``words``: of each value; ``slots``: the first word of each; ``arguments``: the first word of
    each argument; ``total``: words in all."""

    words: tuple[int, ...]
    slots: tuple[int, ...]
    arguments: tuple[int, ...]
    total: int


def sizes(function: Function, structs: Sequence[StructDef] = ()) -> Sizes:
    """Words and frame slot of each value of a function of a module with these structs."""
    known: dict[Type, int] = {}

    def size(ty: Type) -> int:
        if ty not in known:
            known[ty] = words(structs, ty)
        return known[ty]

    values = [size(instruction.ty) for instruction in function.instructions()]
    ends = list(accumulate([*values, *map(size, function.args)], initial=0))
    count = len(values)
    return Sizes(tuple(values), tuple(ends[:count]), tuple(ends[count:-1]), ends[-1])


def named_blocks(op: ops.Op) -> list[tuple[str, Block]]:
    """The blocks of an operation, each by its name in the path of an error."""
    match op:
        case ops.If(_, then, otherwise):
            return [("then", then), ("otherwise", otherwise)]
        case ops.Match(_, arms, otherwise):
            named = [(f"arms.{k}", block) for k, (_, block) in enumerate(arms)]
            return [*named, ("otherwise", otherwise)]
        case ops.Loop(until=until, body=body):
            return [("body", body)] if until is None else [("until", until), ("body", body)]
    return [("body", block) for block in op.blocks()]
