"""The Kernel IR itself: ports, manifest, instructions, functions and the module they make.

Typed, structured SSA: each instruction defines one value and refers only to values defined before
it in its block or an enclosing one; control flow is If and bounded Loop.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from ..errors import DynamisError
from .op import At, Count, Look, Op, Sample, Size, Spend, ValueId
from .types import StructDef, Type, Value

IR_VERSION = 1
"""Raised when a module's validity or meaning changes."""
MAX_TYPE_DEPTH = 64
"""The deepest structs may nest in a type."""
MAX_VALUE_PARTS = 2**16
"""The most parts a value may hold: its words and the structs around them."""
MAX_LOOP_COUNT = 65_536
"""Largest literal loop count. A count read at run time is bounded by MAX_BUDGET instead."""
DEFAULT_BUDGET = 2**20
"""The default work budget: loop iterations an element may run."""
MAX_BUDGET = 2**30
"""The largest work budget a kernel may declare."""
WORK_BLOCK = 1024
"""A kernel whose elements cannot run this many iterations is not counted."""
LOOK_WORK = 2**16
"""The most iterations one run of a loop may take while its work is checked only at its end."""
TYPICAL_OPEN_LOOP = 4
"""Iterations ``typical_work`` counts for a loop with a run-time count or an early stop."""
MAX_EXPANDED = 2**18
"""The most instructions a module may have after inlining every call, each loop counted once."""
MAX_BLOCK_DEPTH = 64
"""The deepest blocks may nest in a function."""
MAX_EXPANDED_DEPTH = 256
"""The deepest blocks and calls may nest after inlining every call, a call counting one."""
MAX_FRAME_WORDS = 2**20
"""The most words the values of one function may take together."""
MAX_ELEMENTS = 2**31 - 1
"""The most elements of a port: an element's number is an Int."""
MAX_GRID_AXIS = 2**24
"""The longest axis of a grid: a coordinate is a Float."""
MAX_TEXT = 2**24
"""The longest module text ``parse`` accepts, in bytes."""


class InvalidKernelId(DynamisError, ValueError):
    """The text is not a valid ``name@version`` kernel id."""


_ID = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)@(0|[1-9]\d*)\Z", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class KernelId:
    """Stable identity of a kernel, printed ``name@version`` (``image.blur@1``)."""

    name: str
    version: int

    def __post_init__(self) -> None:
        if _ID.match(str(self)) is None or not 0 <= self.version < 2**32:
            raise InvalidKernelId(
                f"{str(self)!r} is not a kernel id: write name@version, like image.blur@1"
            )

    @staticmethod
    def parse(text: str) -> KernelId:
        """The id that ``text`` spells. Raises InvalidKernelId."""
        match = _ID.match(text)
        if match is None:
            raise InvalidKernelId(
                f"{text!r} is not a kernel id: write name@version, like image.blur@1"
            )
        return KernelId(match[1], int(match[2]))

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


class Shape(Enum):
    """How a port's elements are addressed: by one index, or by (column, row)."""

    ROWS = "Rows"
    GRID = "Grid"

    @property
    def rank(self) -> int:
        return 1 if self is Shape.ROWS else 2


def index_type(shape: Shape) -> Type:
    """The type of an address into, and of the extent of, a port of this shape."""
    return Type.INT if shape is Shape.ROWS else Type.VEC2


@dataclass(frozen=True, slots=True)
class PortType:
    """What a port carries: an element type in a shape."""

    element: Type
    shape: Shape

    def __str__(self) -> str:
        return f"{self.shape.value}<{self.element}>"


@dataclass(frozen=True, slots=True)
class Port:
    """A named, typed input or output."""

    name: str
    ty: PortType

    @property
    def element(self) -> Type:
        """The element type the entry produces or ``sample`` yields for this port."""
        return self.ty.element

    @property
    def shape(self) -> Shape:
        return self.ty.shape


@dataclass(frozen=True, slots=True)
class Param:
    """A named parameter of a plain type, with a default of that type."""

    name: str
    ty: Type
    default: Value


class Mode(Enum):
    """How a kernel executes over its domain. MAP: the entry runs once per element of the domain."""

    MAP = "map"


class Capability(Enum):
    """What a kernel may ask of its host."""

    FIELD_READ = "field.read"


Capabilities = frozenset[Capability]


def capability_of(op: Op) -> Capability | None:
    """The capability a kernel needs to hold this operation; None for a pure one."""
    return Capability.FIELD_READ if isinstance(op, (Sample, At, Count, Size)) else None


@dataclass(frozen=True, slots=True)
class Manifest:
    """The stable contract between a kernel and the runtime.

    ``budget``: loop iterations one element may run, nested loops included; past it it fails."""

    id: KernelId
    mode: Mode
    requires: Capabilities
    inputs: tuple[Port, ...]
    params: tuple[Param, ...]
    outputs: tuple[Port, ...]
    budget: int = DEFAULT_BUDGET

    @property
    def work_limit(self) -> int:
        """The most iterations an element may run: its budget, but reaching MAX_BUDGET always fails,
        since no loop with a run-time count goes further."""
        return min(self.budget, MAX_BUDGET - 1)

    def __str__(self) -> str:
        lines = [f"kernel {self.id}", f"  mode      {self.mode.value}"]
        lines += [f"  input     {p.name}: {p.ty}" for p in self.inputs]
        lines += [f"  param     {p.name}: {p.ty} = {p.default}" for p in self.params]
        lines += [f"  output    {p.name}: {p.ty}" for p in self.outputs]
        requires = ", ".join(sorted(c.value for c in self.requires)) or "nothing"
        return "\n".join([*lines, f"  requires  {requires}", f"  budget    {self.budget}"])


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a source file: 1-based line, 0-based columns, in characters."""

    file: str
    line: int
    column: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Instruction:
    """A typed value defined by an operation. ``span``: where it was written; not compared."""

    id: ValueId
    ty: Type
    op: Op
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Block:
    """A nested block: instructions, and the value it yields (its own or an enclosing one's)."""

    body: tuple[Instruction, ...]
    result: ValueId


@dataclass(frozen=True, slots=True)
class Function:
    """A function: arguments, a top-level block and results. It calls only functions below it.

    ``bindings`` name values in source order, for inspection; they carry no meaning."""

    name: str
    args: tuple[Type, ...]
    body: tuple[Instruction, ...]
    results: tuple[ValueId, ...]
    bindings: tuple[tuple[ValueId, str], ...] = ()

    def instructions(self) -> Iterator[Instruction]:
        """Every instruction in pre-order, nested blocks included; iterative."""
        stack: list[Iterator[Instruction]] = [iter(self.body)]
        while stack:
            for instruction in stack[-1]:
                yield instruction
                nested = instruction.op.blocks()
                if nested:
                    stack.extend(iter(block.body) for block in reversed(nested))
                    break
            else:
                stack.pop()

    @property
    def slot_count(self) -> int:
        """Number of value slots the function defines, nested blocks included."""
        return sum(1 for _ in self.instructions())

    def type_of(self, id: ValueId) -> Type | None:
        """The type of the instruction defining ``id`` at any depth; None if there is none."""
        return next((i.ty for i in self.instructions() if i.id == id), None)

    def result_type(self) -> Type:
        """The type of the first result; Float when no instruction defines it."""
        return (self.type_of(self.results[0]) if self.results else None) or Type.FLOAT

    def __str__(self) -> str:
        """The function as the module's text shows it."""
        from .text import function_text

        return function_text(self)


@dataclass(frozen=True, slots=True)
class Module:
    """A complete compiled kernel. ``entry`` runs once per element; its results are the outputs."""

    manifest: Manifest
    structs: tuple[StructDef, ...]
    functions: tuple[Function, ...]
    entry: Function

    def all_functions(self) -> Sequence[Function]:
        """Helpers in dependency order, then the entry."""
        return (*self.functions, self.entry)

    # What follows is computed by ``work.py`` and ``text.py``, which build on this file.

    def worst_work(self) -> int:
        """``work.worst_work``: the most loop iterations one element can run; saturates."""
        from .work import worst_work

        return worst_work(self)

    def functions_work(self) -> tuple[int, ...]:
        """``work.functions_work``: for each helper, the most iterations one call may run."""
        from .work import functions_work

        return functions_work(self)

    def counts_work(self) -> bool:
        """``work.counts_work``: whether this module's work is counted as it runs."""
        from .work import counts_work

        return counts_work(self)

    def typical_work(self) -> int:
        """``work.typical_work``: the operations one element takes as a rule, at least one."""
        from .work import typical_work

        return typical_work(self)

    def accounted(self) -> bool:
        """Whether ``account`` has placed the module's work checks."""
        return any(
            isinstance(instruction.op, (Spend, Look))
            for function in self.all_functions()
            for instruction in function.instructions()
        )

    def __str__(self) -> str:
        """The module's text, which ``parse`` reads back to an equal module."""
        from .text import module_text

        return module_text(self)
