"""Linearising: a DAG of one kernel → the list of its nodes in the order they run.

A node runs in the innermost loop whose range it depends on, so whatever a loop does not change is
hoisted by construction. A loop is contracted to the place of its END in the enclosing loop's list:
everything from outside that the loop reads comes earlier in topological order, everything that
waits for the loop waits for its END.
"""

from __future__ import annotations

from ..uop import Ops, Uop, UopError, end_, linear, replace, toposort
from .vectorize import innermost


def linearize(root: Uop) -> Uop:
    """The LINEAR program of a SINK. Raises UopError when a node is used outside its loop."""
    root = _nest_ends(root)
    lists: dict[Uop | None, list[Uop]] = {None: []}
    for u in toposort(root):
        if u.op is Ops.RANGE:
            lists[u] = [u]
        elif u.op is Ops.END:
            (loop,) = u.src[1:]
            lists[innermost(u.ranges)] += [*lists.pop(loop), u]
        elif u is not root:
            lists[innermost(u.ranges)].append(u)
    if len(lists) != 1:
        raise UopError("a loop is never closed")
    return linear(lists[None])


def _nest_ends(root: Uop) -> Uop:
    """Write each END over several ranges as ENDs over one, the innermost first."""
    new: dict[Uop, Uop] = {}
    for u in toposort(root):
        src = tuple(new[s] for s in u.src)
        if u.op is Ops.END:
            value = src[0]
            for loop in sorted(src[1:], key=lambda r: len(r.ranges), reverse=True):
                value = end_(value=value, ranges=[loop])
            new[u] = value
        else:
            new[u] = replace(u, src=src)
    return new[root]
