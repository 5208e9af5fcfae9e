"""Lowering that remembers: where nodes come from, and what becomes of each check for a failure.

Goes in: what ``lower`` takes. Comes out, for explanations only:

- ``with_places``: the same AST, but reads and costly operations carry the number of their source
  place as ``node_tag``, which every later pass keeps on a node that it only rebuilds;
- ``with_probes``: the AST in which each condition of a failure is ANDed with a runtime scalar of
  its own. A check that some pass proves away takes its scalar with it, so the scalars that a
  program still has name the checks that remain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..dtype import bool_, int32
from ..kernel import op as ir
from ..kernel.fault import FaultKind
from ..kernel.module import Instruction, Module, Span
from ..kernel.types import Type
from ..uop import Ops, Uop, replace, toposort
from ..uop.storage import is_register, storage_of
from . import arithmetic as word
from .call_class import CallClass
from .host import Words, scalar_param
from .kernel import _Frame, _Lowering

PROBE, _PLACE = "check.", "place."
"""What the names of probes and the tags of places begin with."""
_MARKED = (Ops.LOAD, Ops.MUL, Ops.FDIV, Ops.SQRT, Ops.CDIV, Ops.CMOD)
"""What gets a tag: not the sums and clamps that addresses are made of, which have to stay one node
wherever they are written, for passes compare them."""
_UNKNOWN = scalar_param("any", int32, word.INT_MIN, word.INT_MAX)
"""An operand of which nothing is known."""


@dataclass(frozen=True, slots=True)
class Placed:
    """An AST with sources: of nodes by their tags, of loops by their axes."""

    root: Uop
    spans: dict[str, Span]
    loops: dict[int, Span | None]


@dataclass(frozen=True, slots=True)
class Check:
    """A way in which an instruction may fail. ``probe`` is the name of the scalar its condition is
    ANDed with; None where bounds proved while lowering that it cannot happen."""

    kind: FaultKind
    span: Span | None
    probe: str | None


def with_places(module: Module, call: CallClass) -> Placed:
    """Lower an accounted module for calls of class ``call``, with sources."""
    lowering = _Placing(module, call, search=False)
    root = lowering.run().root
    return Placed(root, lowering.spans, lowering.loops)


def with_probes(module: Module, call: CallClass) -> tuple[Uop, tuple[Check, ...]]:
    """Lower an accounted module for calls of class ``call``, with probes in its checks."""
    lowering = _Probing(module, call, search=False)
    root = lowering.run().root
    return root, tuple(lowering.checks)


def without_places(root: Uop) -> dict[Uop, Uop]:
    """For each node under ``root``: the node that it is where no place is marked."""
    plain: dict[Uop, Uop] = {}
    for u in toposort(root):
        tag = None if is_place(u.node_tag) else u.node_tag
        plain[u] = replace(u, src=tuple(plain[s] for s in u.src), node_tag=tag)
    return plain


def is_place(tag: str | None) -> bool:
    """Whether a node's tag says where it comes from; others have tags for reasons of their own."""
    return tag is not None and tag.startswith(_PLACE)


class _Axes(Iterator[int]):
    """Axis numbers; ``coming`` is the one to be given next."""

    def __init__(self, numbers: Iterator[int]):
        self._numbers = numbers
        self.coming = next(numbers)

    def __next__(self) -> int:
        given, self.coming = self.coming, next(self._numbers)
        return given


class _Placing(_Lowering):
    def __init__(self, module: Module, call: CallClass, search: bool):
        super().__init__(module, call, search)
        self.axes = self.numbers = _Axes(self.axes)
        self.spans: dict[str, Span] = {}
        self.tags: dict[Span, str] = {}
        self.loops: dict[int, Span | None] = {}
        self.known: set[Uop] = set()

    def _loop(self, instruction: Instruction, loop: ir.Loop, frame: _Frame) -> Words:
        self.loops[self.numbers.coming] = instruction.span
        return super()._loop(instruction, loop, frame)

    def _instruction(self, instruction: Instruction, frame: _Frame) -> Words:
        words = super()._instruction(instruction, frame)
        if instruction.span is None:
            return words
        tag = self.tags.setdefault(instruction.span, f"{_PLACE}{len(self.tags)}")
        self.spans[tag] = instruction.span
        return tuple(self._tagged(w, tag) for w in words)

    def _tagged(self, root: Uop, tag: str) -> Uop:
        """``root`` with the tag on what no instruction before this one has made."""
        new: dict[Uop, Uop] = {}
        for u in toposort(root):
            new[u] = u
            if _is_value(u):
                new[u] = replace(u, src=tuple(new[s] for s in u.src))
                if _is_marked(u) and u not in self.known:
                    new[u] = replace(new[u], node_tag=tag)
            self.known.add(new[u])
        return new[root]


def _is_value(u: Uop) -> bool:
    """Whether a node is a value that an instruction makes; reads of registers are effects too."""
    if u.op is Ops.LOAD:
        return not is_register(storage_of(u))
    return u.op.is_alu or u.op in (Ops.CAST, Ops.BITCAST, Ops.INDEX)


def _is_marked(u: Uop) -> bool:
    marked = u.op in _MARKED and (u.op is not Ops.MUL or u.dtype.is_float)
    return marked and u.node_tag is None


class _Probing(_Lowering):
    def __init__(self, module: Module, call: CallClass, search: bool):
        super().__init__(module, call, search)
        self.checks: list[Check] = []

    def _checks(
        self,
        instruction: Instruction,
        frame: _Frame,
        checks: Sequence[word.Check],
        operands: Sequence[Uop],
    ) -> None:
        left = {kind for kind, _ in checks}
        for kind in possible_failures(instruction.op, operands):
            if kind not in left:
                self.checks.append(Check(kind, instruction.span, None))
        super()._checks(instruction, frame, checks, operands)

    def _fault(
        self,
        instruction: Instruction,
        frame: _Frame,
        kind: FaultKind,
        condition: Uop,
        operands: Sequence[Uop],
        types: tuple[Type, ...],
    ) -> None:
        name = f"{PROBE}{len(self.checks)}"
        self.checks.append(Check(kind, instruction.span, name))
        condition = word.and_(condition, scalar_param(name, bool_))
        super()._fault(instruction, frame, kind, condition, operands, types)


def possible_failures(operation: ir.Op, operands: Sequence[Uop]) -> list[FaultKind]:
    """How an operation on Int words could fail if nothing were known of its operands."""
    if operands[0].dtype is not int32:
        return []
    free = [_UNKNOWN] * len(operands)
    match operation:
        case ir.Binary(name):
            checks = word.binary_checks(name, *free)
        case ir.Unary(name):
            checks = word.unary_checks(name, *free)
        case ir.Intrinsic(name):
            checks = word.intrinsic_checks(name, free)
        case _:
            checks = []
    return [kind for kind, _ in checks]
