"""Walks over the graph. Iterative, so depth does not matter; order never depends on tags."""

from collections.abc import Callable

from dynamis.uop.node import Uop
from dynamis.uop.ops import Ops


def toposort(
    root: Uop, gate: Callable[[Uop], bool] | None = None, enter_calls: bool = True
) -> list[Uop]:
    """The nodes under `root`, sources first, `root` last, each once.

    Depth first, left to right. The sources of a node for which `gate` is false are not entered;
    the node itself is still listed. With `enter_calls` false the first source of CALL and
    FUNCTION is not entered.
    """
    order: list[Uop] = []
    if gate is None and enter_calls:
        return _plain(root, order)
    seen = {root}
    stack = [(root, iter(_entered(root, gate, enter_calls)))]
    while stack:
        n, rest = stack[-1]
        for s in rest:
            if s not in seen:
                seen.add(s)
                stack.append((s, iter(_entered(s, gate, enter_calls))))
                break
        else:
            order.append(n)
            stack.pop()
    return order


def _plain(root: Uop, order: list[Uop]) -> list[Uop]:
    # An iterator is kept for each open node and leaves are never pushed: linear, whatever the
    # number of sources.
    seen = {root}
    stack: list[tuple[Uop, object]] = []
    n, rest = root, iter(root.src)
    while True:
        for s in rest:
            if s not in seen:
                seen.add(s)
                if s.src:
                    stack.append((n, rest))
                    n, rest = s, iter(s.src)
                    break
                order.append(s)
        else:
            order.append(n)
            if not stack:
                return order
            n, rest = stack.pop()  # type: ignore[assignment]  # the iterator pushed above


def _entered(u: Uop, gate: Callable[[Uop], bool] | None, enter_calls: bool) -> tuple[Uop, ...]:
    if gate is not None and not gate(u):
        return ()
    return u.src[1:] if not enter_calls and u.op in (Ops.CALL, Ops.FUNCTION) else u.src


def backward_slice(root: Uop) -> list[Uop]:
    """`toposort` without the root."""
    return toposort(root)[:-1]


def find_nodes(predicate: Callable[[Uop], bool], root: Uop) -> list[Uop]:
    """The nodes under `root` that satisfy `predicate`, sources first."""
    return [u for u in toposort(root) if predicate(u)]


def in_backward_slice(needle: Uop, haystack: Uop) -> bool:
    """Whether `needle` is under `haystack` and not `haystack` itself."""
    if needle is haystack:
        return False
    seen = {haystack}
    stack = [haystack]
    while stack:
        for s in stack.pop().src:
            if s is needle:
                return True
            if s not in seen:
                seen.add(s)
                stack.append(s)
    return False
