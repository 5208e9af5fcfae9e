"""Walks over the graph. Iterative, so depth does not matter; order never depends on tags."""

import threading
from collections.abc import Callable
from typing import Any, Final

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
    if gate is None and enter_calls:
        return _plain(root)
    order: list[Uop] = []
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


_stamping: Final = threading.Lock()
_DONE: Final = iter(())


def _plain(root: Uop) -> list[Uop]:
    """Every node under `root`: nodes that were met carry a stamp, cheaper to test than a set.

    One walk at a time may stamp. A second one, in another thread or in a finaliser that runs in
    the middle of this one, keeps a set instead.
    """
    if not _stamping.acquire(blocking=False):
        return _with_set(root)
    try:
        return _with_stamps(root)
    finally:
        _stamping.release()


def _with_stamps(root: Uop) -> list[Uop]:
    # An iterator is kept for each open node and leaves are never pushed: linear, whatever the
    # number of sources. A chain of one-source nodes goes down without iterators.
    stamp = object()
    order: list[Uop] = []
    emit = order.append
    stack: list[Any] = []  # open nodes and what is left of their sources, in turn
    push, pop = stack.append, stack.pop
    n, rest = root, iter(root.src)
    while True:
        for s in rest:
            if s._walk is not stamp:
                s._walk = stamp
                src = s.src
                if not src or (len(src) == 1 and src[0]._walk is stamp):
                    emit(s)
                    continue
                push(n)
                push(rest)
                while len(src) == 1:
                    below = src[0]
                    if below._walk is stamp or not below.src:
                        break
                    below._walk = stamp
                    push(s)
                    push(_DONE)
                    s = below
                    src = s.src
                n = s
                rest = iter(src)
                break
        else:
            emit(n)
            if not stack:
                return order
            rest = pop()
            n = pop()


def _with_set(root: Uop) -> list[Uop]:
    seen = {root}
    order: list[Uop] = []
    stack: list[Any] = []
    n, rest = root, iter(root.src)
    while True:
        for s in rest:
            if s not in seen:
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
