"""Straight stretches of a linear program: arithmetic on lanes apart from what it reads and writes.

In: the nodes to render. Out: the same in runs, each all arithmetic or all else. Where a stretch
between two branches is one computation that waits for roots and quotients, its arithmetic becomes
one run: what does not depend on it goes before, what only takes its results goes after. Such a run
can be written part by part (``Values.staggered``).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

from ..uop import Ops, Uop
from ..uop.storage import is_register, storage_of
from .analysis import is_address, lanes_or_zero, operands, starts_block


def is_arithmetic(u: Uop) -> bool:
    if u.op is Ops.INDEX:
        return not is_address(u)
    return u.op.is_alu or u.op in (Ops.CAST, Ops.BITCAST)


def runs(
    nodes: Sequence[Uop], worth: Callable[[Sequence[Uop]], bool]
) -> Iterator[tuple[bool, list[Uop]]]:
    """(whether it is arithmetic, its nodes) for each run, in an order that keeps dependencies.

    ``worth``: whether a run of arithmetic on lanes is worth gathering."""
    for branches, stretch in itertools.groupby(nodes, starts_block):
        own = list(stretch)
        if not branches and worth([u for u in own if is_arithmetic(u) and lanes_or_zero(u)]):
            own = _gathered(own) or own
        for arithmetic, run in itertools.groupby(own, is_arithmetic):
            yield arithmetic, list(run)


def _gathered(stretch: Sequence[Uop]) -> list[Uop] | None:
    """``stretch`` with its arithmetic on lanes in one run; None where something else stands
    between. What is stored in memory goes behind, for several stores may be written as one,
    where the last of them stands."""
    before: list[Uop] = []
    shaped: list[Uop] = []
    behind: list[Uop] = []
    late: set[Uop] = set()
    for u in stretch:
        moves = lanes_or_zero(u) > 0 if is_arithmetic(u) else _writes(u)
        if not moves and not _needs(u, late):
            before.append(u)
            continue
        late.add(u)
        if not is_arithmetic(u):
            behind.append(u)
        elif behind and _needs(u, set(behind)):
            return None
        else:
            shaped.append(u)
    return [*before, *shaped, *behind]


def _writes(u: Uop) -> bool:
    """Whether a node stores to memory."""
    return u.op is Ops.STORE and not is_register(storage_of(u.src[0]))


def _needs(u: Uop, found: set[Uop]) -> bool:
    """Whether a node reads one of ``found``, or an access has to stand behind one."""
    if u.op in (Ops.LOAD, Ops.STORE) and _stands_behind(u, found):
        return True
    return any(s in found for s, _ in operands(u))


def _stands_behind(u: Uop, found: set[Uop]) -> bool:
    places = (Ops.INDEX, Ops.AFTER, Ops.GROUP)
    return any(s in found or (s.op in places and _stands_behind(s, found)) for s in u.src)
