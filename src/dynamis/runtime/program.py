"""A compiled program: what a run needs beside its machine code, and both as bytes.

The bytes are lines of text, each a word and its values, an empty line, and the code:

    array 0             the next argument is the address of array 0 (inputs, then outputs)
    scalar width        the next argument is the scalar of that name
    site 0 3 OVERFLOW Int Int     what can fail: function, instruction, kind, types of the operands
    work 25 1300        operations of an element, as a rule and at worst; see ``Program.work``
    rows 2              rows of a unit of work
    entry run 2848      where an entry stands in the code
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..errors import DynamisError
from ..kernel.fault import FaultKind
from ..kernel.types import PLAIN_TYPES, Type
from .code_image import CodeImage


class NotAProgram(DynamisError, ValueError):
    """Bytes that do not read as a program: an internal error, for entries are checksummed."""


class FaultSite(NamedTuple):
    """One way in which a word of an instruction can fail; a fault search reports its number.

    ``function`` and ``instruction`` are of the accounted module."""

    function: int
    instruction: int
    kind: FaultKind
    operand_types: tuple[Type, ...]


class Work(NamedTuple):
    """Operations of one element as a rule and at worst."""

    typical: int
    worst: int


class Program(NamedTuple):
    """``arguments``: what each 8-byte slot holds, an array by number or a scalar by name.
    ``sites``: what can fail; only a fault search has them. ``work``: what an element takes where
    no input has ``2**k`` elements is the ``k``-th, or the last if there are fewer. ``rows``: of a
    unit of work."""

    arguments: tuple[int | str, ...]
    sites: tuple[FaultSite, ...]
    work: tuple[Work, ...]
    rows: int

    def work_for(self, elements: int) -> Work:
        """The work of an element where the largest input has so many."""
        return self.work[min(elements.bit_length(), len(self.work) - 1)]


NO_PROGRAM = Program((), (), (), 1)
"""What code that is no kernel's is kept with."""


def to_bytes(program: Program, image: CodeImage) -> bytes:
    """A program and its code, as ``from_bytes`` reads them."""
    lines = [
        f"array {which}" if isinstance(which, int) else f"scalar {which}"
        for which in program.arguments
    ]
    for site in program.sites:
        types = "".join(f" {ty.name}" for ty in site.operand_types)
        lines.append(f"site {site.function} {site.instruction} {site.kind.name}{types}")
    lines += [f"work {work.typical} {work.worst}" for work in program.work]
    lines.append(f"rows {program.rows}")
    lines += [f"entry {name} {offset}" for name, offset in image.entries.items()]
    return "\n".join([*lines, "", ""]).encode() + image.code


def from_bytes(data: bytes) -> tuple[Program, CodeImage]:
    """The program and the code of ``to_bytes``. Raises NotAProgram."""
    head, _, code = data.partition(b"\n\n")
    arguments: list[int | str] = []
    sites: list[FaultSite] = []
    entries: dict[str, int] = {}
    work: list[Work] = []
    rows = 1
    try:
        for line in head.decode().split("\n"):
            word, *values = line.split(" ")
            match word, values:
                case "array", [number]:
                    arguments.append(int(number))
                case "scalar", [name]:
                    arguments.append(name)
                case "site", [function, instruction, kind, *types]:
                    sites.append(_site(function, instruction, kind, types))
                case "work", [usual, most]:
                    work.append(Work(int(usual), int(most)))
                case "rows", [number]:
                    rows = int(number)
                case "entry", [name, offset]:
                    entries[name] = int(offset)
                case _:
                    raise NotAProgram(f"no line of a program: {line!r}")
    except (ValueError, KeyError) as error:
        raise NotAProgram(f"no program: {error}") from error
    return Program(tuple(arguments), tuple(sites), tuple(work), rows), CodeImage(code, entries)


def _site(function: str, instruction: str, kind: str, types: Sequence[str]) -> FaultSite:
    operand_types = tuple(PLAIN_TYPES[name] for name in types)
    return FaultSite(int(function), int(instruction), FaultKind[kind], operand_types)
