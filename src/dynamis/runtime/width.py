"""How many elements of a kernel run side by side, where the caller does not say.

In: a module and the machine. Out: one of ``codegen.WIDTHS``: the lanes of the machine's vectors
(of 64 bits where the kernel computes on Doubles) times the vectors in flight. Latency-bound loops
want enough vectors to hide their chains and few enough for their carried words to stay in
registers; each further vector is more text to compile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..kernel import Module, op
from ..kernel.limits import MAX_ELEMENTS
from ..kernel.module import all_instructions
from ..kernel.types import Type

if TYPE_CHECKING:
    from ..render import Machine

_SHORT = 32
"""Instructions of a loop's body, calls aside, that leave room for a second pair of vectors."""
_MANY_REGISTERS = 64
"""Vectors of this many bytes come with 32 registers, narrower ones with 16."""
_NARROWER = (8, 1)
"""What short rows are run at; each width is compiled anew."""


def preferred_width(module: Module, machine: Machine) -> int:
    """The width at which a module's code is expected to run fastest."""
    instructions = [i for f in module.all_functions() for i in f.instructions()]
    loops = [i.op for i in instructions if isinstance(i.op, op.Loop) and i.op.until is not None]
    roomy = machine.vector_bytes >= _MANY_REGISTERS
    if loops:
        copies = 4 if roomy and all(_is_short(loop) for loop in loops) else 2
    else:
        copies = 2 if roomy else 4
    doubles = any(i.ty == Type.DOUBLE for i in instructions)
    return copies * machine.vector_bytes // (8 if doubles else 4)


def _is_short(loop: op.Loop) -> bool:
    inner = [i.op for block in loop.blocks() for i in all_instructions(block.body)]
    return len(inner) <= _SHORT and not any(isinstance(o, (op.Call, op.Loop)) for o in inner)


def fitting_width(preferred: int, columns: int) -> int:
    """The widest of ``preferred`` and the common narrower widths that rows of ``columns`` fill."""
    return next(w for w in (preferred, *_NARROWER) if w <= min(preferred, columns) or w == 1)


def columns_at(width: int, preferred: int) -> tuple[int, int]:
    """The fewest and the most columns of the rows that ``fitting_width`` gives ``width``."""
    wider = [w for w in (preferred, *_NARROWER) if width < w <= preferred]
    return width, min(wider) - 1 if wider else MAX_ELEMENTS
