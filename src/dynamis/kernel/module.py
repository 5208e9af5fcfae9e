"""The Kernel IR itself: instructions, functions and the module they make with a manifest.

Typed, structured SSA: each instruction defines one value and refers only to values defined before
it in its block or an enclosing one; control flow is If, Match and bounded Loop and Each. The
manifest (``manifest.py``) and the limits (``limits.py``) are re-exported here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from .capability import Capabilities, Capability
from .encoding import Encoding
from .limits import (
    DEFAULT_BUDGET,
    IR_VERSION,
    LOOK_WORK,
    MAX_ARRAY_COUNT,
    MAX_BLOCK_DEPTH,
    MAX_BUDGET,
    MAX_EXPANDED,
    MAX_EXPANDED_DEPTH,
    MAX_FRAME_WORDS,
    MAX_GROUP,
    MAX_LOOP_COUNT,
    MAX_NAME,
    MAX_TABLE_FIELDS,
    MAX_TEXT,
    MAX_TYPE_DEPTH,
    MAX_VALUE_PARTS,
    TYPICAL_OPEN_LOOP,
    WORK_BLOCK,
)
from .manifest import (
    InvalidKernelId,
    KernelId,
    Manifest,
    NamedManifest,
    Param,
    Port,
    PortType,
    Shape,
    ShapeIndex,
    index_type,
    linear_index_type,
    port_type_name,
)
from .mode import Combine, Mode, ModeKind
from .op import Look, Op, Spend, ValueId
from .op_table import capability_of
from .types import StructDef, Type, Value

# What this file gives, the parts of a module that stand in other files included.
# fmt: off
__all__ = [
    "Block", "Function", "Instruction", "Module", "Span",
    "Capabilities", "Capability", "Combine", "Encoding", "InvalidKernelId", "KernelId", "Manifest",
    "Mode", "ModeKind", "NamedManifest", "Param", "Port", "PortType", "Shape", "ShapeIndex",
    "capability_of", "index_type", "linear_index_type", "port_type_name",
    "DEFAULT_BUDGET", "IR_VERSION", "LOOK_WORK", "MAX_ARRAY_COUNT", "MAX_BLOCK_DEPTH",
    "MAX_BUDGET", "MAX_EXPANDED", "MAX_EXPANDED_DEPTH", "MAX_FRAME_WORDS", "MAX_GROUP",
    "MAX_LOOP_COUNT", "MAX_NAME", "MAX_TABLE_FIELDS", "MAX_TEXT", "MAX_TYPE_DEPTH",
    "MAX_VALUE_PARTS", "TYPICAL_OPEN_LOOP", "WORK_BLOCK",
]
# fmt: on


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


def all_instructions(body: Sequence[Instruction]) -> Iterator[Instruction]:
    """Every instruction of ``body`` in pre-order, nested blocks included; iterative."""
    stack: list[Iterator[Instruction]] = [iter(body)]
    while stack:
        for instruction in stack[-1]:
            yield instruction
            nested = instruction.op.blocks()
            if nested:
                stack.extend(iter(block.body) for block in reversed(nested))
                break
        else:
            stack.pop()


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
        """Every instruction in pre-order, nested blocks included."""
        return all_instructions(self.body)

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

    def any_type(self, holds: Callable[[Type], bool]) -> bool:
        """Whether any argument or computed value is of a type that ``holds``."""
        return any(map(holds, self.args)) or any(holds(i.ty) for i in self.instructions())

    def __str__(self) -> str:
        """The function as the module's text shows it."""
        from .text import function_text

        return function_text(self)


@dataclass(frozen=True, slots=True)
class Module:
    """A complete compiled kernel. ``entry`` runs once per element; its results are the outputs.

    ``merge``: of a reduction, the fold ``(T, T) -> T`` of the entry's results. ``init``: of a scan,
    the carried value before the first element, ``() -> T``. Each is None in other modes."""

    manifest: Manifest
    structs: tuple[StructDef, ...]
    functions: tuple[Function, ...]
    entry: Function
    merge: Function | None = None
    init: Function | None = None

    def all_functions(self) -> tuple[Function, ...]:
        """Helpers in dependency order, then the entry, then merge and init where there is one."""
        rest = (f for f in (self.merge, self.init) if f is not None)
        return (*self.functions, self.entry, *rest)

    def with_functions(self, functions: Sequence[Function]) -> Module:
        """This module with ``functions``, in the order of ``all_functions``, instead."""
        helpers = len(self.functions)
        rest = list(functions[helpers + 1 :])
        merge = rest.pop(0) if self.merge is not None else None
        init = rest.pop(0) if self.init is not None else None
        return replace(
            self,
            functions=tuple(functions[:helpers]),
            entry=functions[helpers],
            merge=merge,
            init=init,
        )

    def function_path(self, index: int) -> str:
        """Where function ``index`` of ``all_functions`` stands: ``functions.0``, ``entry`` …."""
        helpers = len(self.functions)
        if index < helpers:
            return f"functions.{index}"
        names = ["entry"]
        names += ["merge"] if self.merge is not None else []
        names += ["init"] if self.init is not None else []
        return names[index - helpers]

    def holds(self, scalar: Type) -> bool:
        """Whether any port, parameter, struct field or computed value is made of ``scalar``."""

        def made(ty: Type) -> bool:
            return not ty.is_struct and ty.component == scalar

        ports = (*self.manifest.inputs, *self.manifest.outputs)
        return (
            any(made(port.element) for port in ports)
            or any(made(param.ty) for param in self.manifest.params)
            or any(made(part.ty) for record in self.structs for part in record.fields)
            or any(function.any_type(made) for function in self.all_functions())
        )

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

    def typical_work_given(self, params: Sequence[Value]) -> int:
        """``work.typical_work_given``: ``typical_work`` for a run given ``params``."""
        from .work import typical_work_given

        return typical_work_given(self, params)

    def typical_reads_params(self) -> bool:
        """``work.typical_reads_params``: whether ``typical_work_given`` depends on parameters."""
        from .work import typical_reads_params

        return typical_reads_params(self)

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
