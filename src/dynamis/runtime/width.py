"""How many elements of a kernel run side by side, where the caller does not say.

In: a module and the machine. Out: one of ``codegen.WIDTHS``: the lanes of the machine's vectors
(of 64 bits where the kernel computes on Doubles) times the vectors in flight. Latency-bound loops
want enough vectors to hide their chains and few enough for their carried words to stay in
registers; each further vector is more text to compile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..elementary import SINGLE
from ..kernel import Module, op
from ..kernel.limits import MAX_ELEMENTS
from ..kernel.manifest import Shape
from ..kernel.module import Instruction, all_instructions
from ..kernel.tables import BinaryOp, Intrinsic
from ..kernel.types import Type

if TYPE_CHECKING:
    from ..render import Machine

_SHORT = 32
"""Instructions of a loop's body, calls aside, that leave room for a second pair of vectors."""
_MANY_REGISTERS = 64
"""Vectors of this many bytes come with 32 registers, narrower ones with 16."""
_SMALL = 128
"""Instructions of a kernel that is cheap to compile for four vectors."""
_ORDER = (Intrinsic.MIN, Intrinsic.MAX)
_NETWORK = 8
"""Minima and maxima from which a kernel keeps many words in registers."""
_WHOLE_ELEMENT = 3
"""Words of an element that fill a vector's worth of registers alone."""
_NARROWER = (8, 1)
"""What short rows are run at; each width is compiled anew."""


def preferred_width(module: Module, machine: Machine) -> int:
    """The width at which a module's code is expected to run fastest."""
    instructions = [i for f in module.all_functions() for i in f.instructions()]
    doubles = any(i.ty == Type.DOUBLE for i in instructions)
    return _copies(module, instructions, machine) * machine.vector_bytes // (8 if doubles else 4)


def _copies(module: Module, instructions: Sequence[Instruction], machine: Machine) -> int:
    """Vectors in flight."""
    roomy = machine.vector_bytes >= _MANY_REGISTERS
    loops = [i.op for i in instructions if isinstance(i.op, op.Loop)]
    if divergent := [loop for loop in loops if loop.until is not None]:
        return 4 if roomy and all(map(_is_short, divergent)) else 2
    reads = [i for i in instructions if isinstance(i.op, (op.At, op.AtLinear))]
    ordered = sum(isinstance(i.op, op.Intrinsic) and i.op.intrinsic in _ORDER for i in instructions)
    network = ordered >= _NETWORK
    if not loops and len(reads) > 1 and module.manifest.outputs[0].shape is Shape.GRID:
        return 2 if roomy or network else 4  # of two rows at once: ``codegen.rows_at_once``
    if not roomy or any(map(_divides_by_root, loops)):
        return 4  # of four vectors, one does without the quotient: ``render.reciprocal``
    if any(isinstance(i.op, op.Intrinsic) and i.op.intrinsic.value in SINGLE for i in instructions):
        return 4  # long chains of multiply-adds
    if not loops and not reads:
        ports = (*module.manifest.inputs, *module.manifest.outputs)
        return 1 if any(port.element.lanes >= _WHOLE_ELEMENT for port in ports) else 2
    light = not loops and len(instructions) <= _SMALL and not network
    return 4 if light else 2


def _divides_by_root(loop: op.Loop) -> bool:
    """Whether a loop's body divides by a root of f32 that it takes."""
    inner = list(all_instructions(loop.body.body))
    roots = {
        i.id for i in inner if isinstance(i.op, op.Intrinsic) and i.op.intrinsic is Intrinsic.SQRT
    }
    return any(
        isinstance(i.op, op.Binary)
        and i.op.op is BinaryOp.DIV
        and i.op.b in roots
        and i.ty.component == Type.FLOAT
        for i in inner
    )


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
