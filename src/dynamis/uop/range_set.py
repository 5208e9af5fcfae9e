"""Which loops a node stands in."""

from typing import Final

from dynamis.uop.node import Uop
from dynamis.uop.ops import Op, Ops

# Sources from this place on are ended by the op.
_ENDS_FROM: Final[dict[Op, int]] = {
    Ops.LINEAR: 0,
    Ops.STAGE: 1,
    Ops.REDUCE: 1,
    Ops.END: 1,
    Ops.CALL: 1,
    Ops.FUNCTION: 1,
    Ops.COPY: 1,
    Ops.SLICE: 2,
    Ops.WMMA: 3,
}


def ranges(u: Uop) -> tuple[Uop, ...]:
    """The RANGE nodes that `u` is nested in, in order of first occurrence over the sources.

    A RANGE is in its own, first. An op that ends ranges (END, REDUCE, ...) takes out those it
    ends; AFTER takes out what its dependencies end. Memoised.
    """
    if u._ranges is None:
        _compute(u)
    found = u._ranges
    assert found is not None
    return (u, *found) if u.op is Ops.RANGE else found


def ranges_subset(sub: Uop, sup: Uop) -> bool:
    """Whether every range of `sub` is one of `sup`."""
    return set(ranges(sub)) <= set(ranges(sup))


def ended_ranges(u: Uop) -> tuple[Uop, ...]:
    """The sources that `u` ends (RANGEs, or nodes all of whose ranges end)."""
    out: dict[Uop, None] = {}
    seen = {u}
    stack = [u]
    while stack:
        n = stack.pop()
        if n.op is Ops.AFTER:
            fresh = [d for d in reversed(n.src[1:]) if d not in seen]
            seen.update(fresh)
            stack += fresh
        elif n.op in _ENDS_FROM:
            out.update(dict.fromkeys(n.src[_ENDS_FROM[n.op] :]))
    return tuple(out)


def _compute(root: Uop) -> None:
    # A RANGE does not hold itself in its memo: that would be a cycle only the collector frees.
    stack = [root]
    while stack:
        n = stack[-1]
        if n._ranges is not None:
            stack.pop()
            continue
        missing = [s for s in n.src if s._ranges is None]
        if missing:
            stack += missing
            continue
        stack.pop()
        n._ranges = _of_sources(n)


def _of_sources(n: Uop) -> tuple[Uop, ...]:
    # most nodes stand in the very ranges of one of their sources: share that tuple
    first: tuple[Uop, ...] | None = None
    union: dict[Uop, None] | None = None
    for s in n.src:
        have = (s, *s._ranges) if s.op is Ops.RANGE else s._ranges  # type: ignore[misc]  # computed before
        if not have or have is first:
            continue
        if first is None:
            first = have
            continue
        if union is None:
            union = dict.fromkeys(first)
        union.update(dict.fromkeys(have))
    if first is None:
        return ()
    if n.op in _ENDS_FROM or n.op is Ops.AFTER:
        ended = ended_ranges(n)
        if ended:
            union = dict.fromkeys(first) if union is None else union
            for e in ended:
                for r in (e,) if e.op is Ops.RANGE else ranges(e):
                    union.pop(r, None)
    if union is None:
        return first
    return first if len(union) == len(first) and tuple(union) == first else tuple(union)
