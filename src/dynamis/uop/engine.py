"""The fast engine: a pure rule set run over a graph to a fixed point.

Goes in: a *step*, which rewrites a node whose sources are in normal form or says None; a mark bit
of its own. Comes out: the graph in normal form. Nodes are visited sources first, each once; one
that no rule wants is marked for good, so a later run skips all that an earlier one has finished.

Sums are taken whole: a sum that only sums use is never looked at alone, its terms are collected
where the outermost sum is met. Otherwise a sum of n terms would be put in order n times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from dynamis.uop.errors import RewriteError
from dynamis.uop.node import Uop, node
from dynamis.uop.ops import Ops
from dynamis.uop.sums import is_sum, settled_sum

Step = Callable[[Uop], Uop | None]
Sums = frozenset[Uop] | set[Uop]

STEPS: Final = 10_000
"""Rewrites of one node, one after the other, before we call it a cycle."""

_SUMS: Final = frozenset((Ops.ADD, Ops.SUB, Ops.NEG, Ops.MUL, Ops.SHL))
_NONE: Final[frozenset[Uop]] = frozenset()


def normalise(root: Uop, step: Step, bit: int, chase: Callable[[Uop], RewriteError]) -> Uop:
    """`root` with `step` run to a fixed point on every node.

    Raises what `chase` makes of a node whose rewriting does not end.
    """
    memo: dict[Uop, Uop] = {}  # only the nodes that change
    # the walks that wait for new nodes, each with the node it is at and what that became
    waiting: list[tuple[Iterator[Uop], Sums, Sums, Uop, Uop]] = []
    long: set[Uop] = set()  # sums that stay whole inside others
    order = _unmarked(root, memo, bit)
    inner, outer = _sums(order, root)
    nodes = iter(order)
    while True:
        for n in nodes:
            if n._marks & bit or n in memo or n in inner:
                continue
            m = n
            fresh = False  # whether sources of m may be new
            if n in outer:
                m, settled, is_long = settled_sum(n, memo, long)
                if is_long:
                    long.add(m)
                fresh = not settled and m is not n
            elif memo:
                for s in n.src:
                    if s in memo:
                        src = tuple([memo.get(s, s) for s in n.src])
                        m = node(n.op, n.dtype, src, n.arg, n.node_tag)
                        break
            steps = 0
            while not m._marks & bit:
                if fresh and _has_new(m, bit):
                    break  # they come first
                made = step(m)
                if made is None or made is m:
                    m._marks |= bit
                    break
                steps += 1
                if steps > STEPS:
                    raise chase(m)
                m = memo.get(made, made)
                fresh = True
            if m._marks & bit:
                if m is not n:
                    memo[n] = m
                continue
            if len(waiting) > STEPS:
                raise chase(m)
            waiting.append((nodes, inner, outer, n, m))
            order = _unmarked(m, memo, bit)
            inner, outer = _sums(order, m)
            nodes = iter(order)
            break
        else:
            if not waiting:
                return memo.get(root, root)
            nodes, inner, outer, n, m = waiting.pop()
            memo[n] = memo.get(m, m)


def _has_new(u: Uop, bit: int) -> bool:
    """Whether a source of `u` is not known to be in normal form."""
    for s in u.src:  # noqa: SIM110  # a loop: half the time of any() over a generator
        if not s._marks & bit:
            return True
    return False


def _sums(order: list[Uop], root: Uop) -> tuple[Sums, Sums]:
    """The sums that only sums use, and the others."""
    among = {n for n in order if n.op in _SUMS and is_sum(n)}
    if not among:
        return _NONE, _NONE
    used = {s for n in order if n not in among for s in n.src if s in among}
    if root in among:
        used.add(root)
    return among - used, used


def _unmarked(root: Uop, memo: dict[Uop, Uop], bit: int) -> list[Uop]:
    """The nodes under `root` that are neither in normal form nor done, sources first."""
    order: list[Uop] = []
    seen = {root}
    stack: list[Any] = []
    n, rest = root, iter(root.src)
    while True:
        for s in rest:
            if not s._marks & bit and s not in seen and s not in memo:
                seen.add(s)
                if s.src:
                    stack.append(n)
                    stack.append(rest)
                    n, rest = s, iter(s.src)
                    break
                order.append(s)
        else:
            order.append(n)
            if not stack:
                return order
            rest = stack.pop()
            n = stack.pop()
