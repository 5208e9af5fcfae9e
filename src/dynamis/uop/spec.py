"""Specs: which nodes are legal at which stage.

A spec is a stage and an ordered list of rules. `stages.py` says which ops are legal at the stage;
then a rule looks at the node and answers None for "not mine", "" for "legal", or the reason why it
is not. The first rule that answers decides. Rules look at one node and its operands; what holds
between nodes (loops that close, the order of a program) is checked for the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dynamis.uop.errors import SpecError
from dynamis.uop.node import Uop
from dynamis.uop.ops import Ops
from dynamis.uop.render import uops_to_string
from dynamis.uop.spec_kernel import KERNEL, PROGRAM
from dynamis.uop.spec_rule import SpecRule as SpecRule
from dynamis.uop.spec_shared import SHARED
from dynamis.uop.spec_tensor import LOOSE, MOVEMENT, TENSOR
from dynamis.uop.stages import STAGES
from dynamis.uop.traverse import toposort


@dataclass(frozen=True, slots=True)
class Spec:
    """The rules of a stage, in the order in which they are asked.

    `letter` is the stage's in STAGES; empty asks the rules only. A node that no rule answers for
    is not legal, unless one of the specs in `either` accepts it.
    """

    stage: str
    rules: tuple[SpecRule, ...]
    letter: str = ""
    either: tuple[Spec, ...] = ()

    def verify(self, u: Uop) -> None:
        """Raises SpecError, naming the rule, the node and the reason, unless `u` is legal."""
        found = self.refusal(u)
        if found is not None:
            raise self.error(found[0], u, found[1])

    def refusal(self, u: Uop) -> tuple[str, str] | None:
        """The rule that `u` breaks and the reason, or None for a legal node."""
        if self.letter and self.letter not in STAGES[u.op]:
            return "known-op", f"{u.op.name} is not legal here"
        for rule in self.rules:
            reason = rule.check(u)
            if reason is not None:
                return (rule.name, reason) if reason else None
        refusals = [spec.refusal(u) for spec in self.either]
        if None in refusals:
            return None
        told = [r for r in refusals if r is not None and r[0] != "known-op"]
        return told[0] if told else ("known-op", f"{u.op.name} is not legal here")

    def error(self, rule: str, u: Uop, reason: str) -> SpecError:
        """The error for a node that breaks `rule`; it prints the node and its sources."""
        listing = uops_to_string([*dict.fromkeys(u.src), u])
        return SpecError(f"{self.stage} rule {rule!r}: {reason}\n{listing}")


spec_shared: Final = Spec("shared", SHARED, "S")
"""The rules that hold wherever an op is legal; the ops that kernels and programs compute with."""

spec_movement: Final = Spec("movement", MOVEMENT)
"""Movement ops: their arguments and shapes fit."""

spec_tensor: Final = Spec("tensor", (*TENSOR, *SHARED), "T")
"""The tensor graph, before scheduling."""

spec_kernel: Final = Spec("kernel", (*KERNEL, *SHARED), "K")
"""The kernel AST: predicated, so it holds no IF; a BREAK names the loop that it leaves."""

spec_program: Final = Spec("program", (*PROGRAM, *SHARED), "P")
"""The linear program: fixed widths, RANGE/END and IF/ENDIF properly nested."""

spec_full: Final = Spec("full", LOOSE, either=(spec_tensor, spec_kernel, spec_program))
"""What is legal at any stage, and what stands in a graph that is on its way between two."""


def type_verify(root: Uop, spec: Spec) -> None:
    """Check every node under `root`, sources first, and the graph as a whole.

    A LINEAR root's sources are checked as a list, in their order; of a PROGRAM the SINK as a
    kernel, the LINEAR as a program. The opaque body of a tensor graph's CALL is of another stage,
    and not entered. Raises SpecError at the first node that is not legal.
    """
    if spec is spec_program and root.op in (Ops.LINEAR, Ops.PROGRAM):
        spec.verify(root)
        if root.op is Ops.LINEAR:
            verify_list(root.src, spec)
        for form in root.src if root.op is Ops.PROGRAM else ():
            type_verify(form, spec_kernel if form.op is Ops.SINK else spec)
        return
    for u in _nodes(root, spec):
        spec.verify(u)
    if spec is spec_kernel:
        if root.op is not Ops.SINK:
            raise spec.error("rooted", root, "a kernel is rooted in a SINK")
        if open_loops := root.ranges:
            raise spec.error("closed", open_loops[0], "this RANGE is never closed")


def _nodes(root: Uop, spec: Spec) -> list[Uop]:
    """The nodes to check under `root`: without the bodies of CALLs in a tensor graph."""
    if spec is not spec_tensor:
        return toposort(root)
    order: list[Uop] = []
    seen = {root}
    stack = [(root, iter(_same_stage(root)))]
    while stack:
        n, rest = stack[-1]
        for s in rest:
            if s not in seen:
                seen.add(s)
                stack.append((s, iter(_same_stage(s))))
                break
        else:
            order.append(n)
            stack.pop()
    return order


def _same_stage(u: Uop) -> tuple[Uop, ...]:
    return u.src[1:] if u.op is Ops.CALL else u.src


def verify_list(nodes: Sequence[Uop], spec: Spec) -> None:
    """Check nodes in the order given; for `spec_program` also that the list runs.

    Every source is listed before its use; loops and IF regions close in the order opposite to
    how they opened, and each is closed; a BREAK stands in a loop. Raises SpecError.
    """
    for u in nodes:
        spec.verify(u)
    if spec is spec_program:
        _verify_order(nodes, spec)


def _unlisted(u: Uop) -> bool:
    """Whether a listed node may use `u` without its being listed: constants and shapes."""
    if u.op is Ops.STACK:
        return all(s.op is Ops.CONST for s in u.src)
    return u.op in (Ops.CONST, Ops.NOOP)


def _verify_order(nodes: Sequence[Uop], spec: Spec) -> None:
    listed: set[Uop] = set()
    opened: list[Uop] = []
    for u in nodes:
        if u in listed:
            raise spec.error("listed-once", u, "a node is listed twice")
        for s in u.src:
            if s not in listed and not _unlisted(s):
                raise spec.error("defined-first", u, f"its source {s.op.name} is not listed before")
        listed.add(u)
        if u.op in (Ops.RANGE, Ops.IF):
            opened.append(u)
        elif u.op is Ops.END:
            for r in u.src[1:]:
                _close(opened, r, u, spec)
        elif u.op is Ops.ENDIF:
            _close(opened, u.src[0], u, spec)
        elif u.op is Ops.BREAK:
            loops = [o for o in opened if o.op is Ops.RANGE]
            if not loops or loops[-1] is not u.src[1]:
                raise spec.error("break-in-loop", u, "a BREAK leaves the innermost open RANGE")
    if opened:
        raise spec.error("nesting", opened[-1], f"this {opened[-1].op.name} is never closed")


def _close(opened: list[Uop], what: Uop, u: Uop, spec: Spec) -> None:
    if not opened or opened[-1] is not what:
        raise spec.error("nesting", u, f"{u.op.name} does not close what was opened last")
    opened.pop()
