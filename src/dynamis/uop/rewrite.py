"""Rewriting: the general engine, with pre- and post-matchers, gates and change tracking.

An explicit stack holds what a recursive `visit` would, so depth does not matter. Results are
memoised by identity for the call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from dynamis.uop.build import replace
from dynamis.uop.errors import BottomUpGate, RewriteError
from dynamis.uop.node import Uop, node
from dynamis.uop.ops import Ops

Rule = Callable[[Uop], Uop | None]
Location = tuple[str, int, int, int]

_ENTER, _CHILDREN, _REBUILD, _WAIT = range(4)
_LIMIT: Final = 100_000


def graph_rewrite(
    f: Rule, root: Uop, *, loc: Location | None = None, name: str = "", enter_calls: bool = False,
    bottom_up: bool = False, bpm: Rule | None = None, walk: bool = False,
    on_rebuild: Callable[[Uop, Uop], None] | None = None,
) -> Uop:  # fmt: skip
    """`root` with every node replaced by what the rules make of it.

    `f` returns a replacement, or None (or the node itself) for no change. By default it is the
    post-matcher: it sees a node after its sources are done, and its results are rewritten in
    turn. `bpm` is a pre-matcher: applied to a node again and again, before its sources; it may
    raise BottomUpGate to keep the node and what is under it. With `bottom_up` `f` itself is the
    pre-matcher, and a node whose sources changed is looked at again.

    With `walk` each rule sees a node once and replacements are final: nobody descends into them.
    `enter_calls` also rewrites the first source of CALL and FUNCTION. `on_rebuild(old, new)` is
    called each time a node changes. `name` and `loc` appear in errors.

    Raises RewriteError when rewriting comes back to a node that is still being rewritten, or
    replaces one node more than 100,000 times over.
    """
    told = f"graph_rewrite {name!r}" + (f" at {loc}" if loc is not None else "")
    if bpm is None and on_rebuild is None and not bottom_up and not walk:
        return _post(f, root, enter_calls, told)
    run = _Run(None if bottom_up else f, f if bottom_up else bpm, bottom_up, walk)
    run.enter_calls = enter_calls
    run.on_rebuild = on_rebuild
    run.where = told
    return run.visit(root)


def _post(f: Rule, root: Uop, enter_calls: bool, where: str) -> Uop:
    """`graph_rewrite` with a post-matcher alone: a walk in order, another for each new result.

    Gives what `_Run` gives and calls `f` on the same nodes in the same order, in a plain loop.
    """
    memo: dict[Uop, Uop] = {}
    # the walks that wait for a result, each with the node it is at and what `f` made of that
    waiting: list[tuple[Iterator[Uop], Uop, Uop]] = []
    replaced: set[Uop] = set()
    nodes = iter(_undone(root, memo, replaced, enter_calls, where))
    while True:
        for n in nodes:
            if n in memo:
                continue
            m = n
            for s in n.src:
                if memo.get(s, s) is not s:
                    first = 0 if enter_calls or n.op not in _CALLS else 1
                    src = n.src[:first] + tuple([memo[s] for s in n.src[first:]])
                    m = node(n.op, n.dtype, src, n.arg, n.node_tag)
                    break
            made = f(m)
            if made is None or made is m:
                memo[n] = memo[m] = m
                continue
            done = memo.get(made)
            if done is not None:
                memo[n] = done
                continue
            if len(waiting) > _LIMIT:
                raise RewriteError(f"{where}: rewriting does not settle on {made!r}")
            replaced.add(n)
            waiting.append((nodes, n, made))
            nodes = iter(_undone(made, memo, replaced, enter_calls, where))
            break
        else:
            if not waiting:
                return memo[root]
            nodes, n, made = waiting.pop()
            replaced.discard(n)
            memo[n] = memo[made]


_CALLS: Final = frozenset((Ops.CALL, Ops.FUNCTION))


def _undone(
    root: Uop, memo: dict[Uop, Uop], replaced: set[Uop], enter_calls: bool, where: str
) -> list[Uop]:
    """The nodes under `root` that have no result yet, sources first.

    Raises RewriteError on a node that is waiting for what it was replaced by.
    """
    order: list[Uop] = []
    if root in replaced:
        raise RewriteError(f"{where}: rewriting cycles back to {root!r}")
    seen = {root}
    stack: list[Any] = []
    n, rest = root, iter(root.src if enter_calls or root.op not in _CALLS else root.src[1:])
    while True:
        for s in rest:
            if s not in seen and s not in memo:
                if s in replaced:
                    raise RewriteError(f"{where}: rewriting cycles back to {s!r}")
                seen.add(s)
                if s.src:
                    stack.append(n)
                    stack.append(rest)
                    n, rest = s, iter(s.src if enter_calls or s.op not in _CALLS else s.src[1:])
                    break
                order.append(s)
        else:
            order.append(n)
            if not stack:
                return order
            rest = stack.pop()
            n = stack.pop()


class _Frame:
    """One open visit: the node asked for, the node it has become, and what comes next."""

    __slots__ = ("asked", "now", "stage")

    def __init__(self, asked: Uop) -> None:
        self.asked = asked
        self.now = asked
        self.stage = _ENTER


class _Run:
    """The state of one `graph_rewrite`."""

    enter_calls: bool
    on_rebuild: Callable[[Uop, Uop], None] | None
    where: str

    def __init__(self, post: Rule | None, pre: Rule | None, again: bool, walk: bool) -> None:
        self.post = post
        self.pre = pre
        self.again = again and not walk
        self.walk = walk
        self.memo: dict[Uop, Uop] = {}
        self.open: set[Uop] = set()
        self.waits = 0

    def visit(self, root: Uop) -> Uop:
        memo = self.memo
        stack = [_Frame(root)]
        while stack:
            frame = stack[-1]
            if frame.stage == _ENTER and not self._enter(frame, stack):
                continue
            if frame.stage == _CHILDREN:
                frame.stage = _REBUILD
                missing = [s for s in self._entered(frame.now) if s not in memo]
                if missing:
                    stack += [_Frame(s) for s in reversed(missing)]
                    continue
            if frame.stage == _REBUILD and not self._rebuild(frame, stack):
                continue
            if frame.stage == _WAIT:
                self.waits -= 1
                self._done(frame, memo[frame.now], stack)
        return memo[root]

    def _entered(self, u: Uop) -> tuple[Uop, ...]:
        if not self.enter_calls and u.op in (Ops.CALL, Ops.FUNCTION):
            return u.src[1:]
        return u.src

    def _enter(self, frame: _Frame, stack: list[_Frame]) -> bool:
        """Open a visit and run the pre-matcher. False when the frame is finished."""
        u = frame.asked
        if u in self.memo:
            stack.pop()
            return False
        if u in self.open:
            raise RewriteError(f"{self.where}: rewriting cycles back to {u!r}")
        self.open.add(u)
        frame.stage = _CHILDREN
        if self.pre is None:
            return True
        try:
            if self.walk:
                made = self.pre(u)
                if made is not None and made is not u:
                    self._done(frame, made, stack)
                    return False
            else:
                frame.now = self._settle(u)
        except BottomUpGate as gate:
            kept = gate.args[0] if gate.args and isinstance(gate.args[0], Uop) else frame.now
            self._done(frame, kept, stack)
            return False
        return True

    def _settle(self, u: Uop) -> Uop:
        """The pre-matcher, until it changes nothing. A gate carries the node as it stands."""
        pre = self.pre
        assert pre is not None
        seen = {u}
        while True:
            try:
                made = pre(u)
            except BottomUpGate:
                raise BottomUpGate(u) from None
            if made is None or made is u:
                return u
            if made in seen:
                raise RewriteError(f"{self.where}: the pre-matcher cycles back to {made!r}")
            if len(seen) > _LIMIT:
                raise RewriteError(f"{self.where}: the pre-matcher does not settle on {made!r}")
            seen.add(made)
            u = made

    def _rebuild(self, frame: _Frame, stack: list[_Frame]) -> bool:
        """Take in the rewritten sources, then the post-matcher. False unless waiting is over."""
        now = frame.now
        memo = self.memo
        entered = self._entered(now)
        src = now.src[: len(now.src) - len(entered)] + tuple([memo[s] for s in entered])
        built = now
        if src != now.src:
            built = node(now.op, now.dtype, src, now.arg, now.node_tag)
            if self.on_rebuild is not None:
                self.on_rebuild(now, built)
            if self.again:
                return self._wait(frame, built, stack)
        made = self.post(built) if self.post is not None else None
        if made is None or made is built or self.walk:
            self._done(frame, built if made is None else made, stack)
            return False
        return self._wait(frame, made, stack)

    def _wait(self, frame: _Frame, u: Uop, stack: list[_Frame]) -> bool:
        frame.now = u
        frame.stage = _WAIT
        self.waits += 1
        if self.waits > _LIMIT:
            raise RewriteError(f"{self.where}: rewriting does not settle on {u!r}")
        stack.append(_Frame(u))
        return False

    def _done(self, frame: _Frame, result: Uop, stack: list[_Frame]) -> None:
        u = frame.asked
        self.memo[u] = result
        self.open.discard(u)
        if result is not u and self.on_rebuild is not None:
            self.on_rebuild(u, result)
        stack.pop()


def substitute(
    mappings: Mapping[Uop, Uop] | Iterable[tuple[Uop, Uop]], root: Uop, walk: bool = False
) -> Uop:
    """`root` with each key of `mappings` replaced by its value, found by identity.

    Replacements are substituted in too, unless `walk`: then a value may contain its own key.
    Raises RewriteError when values lead back to their keys.
    """
    table = dict(mappings)
    if not table:
        return root
    if walk or not _any_under(table, table.values()):
        made = _replaced(table, root, walk)
        if made is not None:
            return made
    return graph_rewrite(table.get, root, name="substitute", bottom_up=True)


def _replaced(table: dict[Uop, Uop], root: Uop, walk: bool) -> Uop | None:
    """`root` with keys replaced by values, nothing under either looked at.

    None when a node that had to be rebuilt becomes a key itself, unless `walk`.
    """
    if root in table:
        return table[root]
    new = dict(table)
    for n in _undone(root, table, set(), False, "substitute"):
        for s in n.src:
            if s in new:
                src = tuple([new.get(s, s) for s in n.src])
                if n.op in _CALLS:
                    src = (n.src[0], *src[1:])
                made = node(n.op, n.dtype, src, n.arg, n.node_tag)
                if made in table and not walk:
                    return None
                new[n] = made
                break
    return new.get(root, root)


def _any_under(keys: Mapping[Uop, Uop], roots: Iterable[Uop]) -> bool:
    """Whether one of `keys` is one of `roots` or under one."""
    seen = set(roots)
    stack = list(seen)
    while stack:
        n = stack.pop()
        if n in keys:
            return True
        for s in n.src:
            if s not in seen:
                seen.add(s)
                if s.src or s in keys:
                    stack.append(s)
    return False


def first_match(rules: Iterable[Rule], u: Uop) -> Uop | None:
    """The first result of `rules` on `u` that is not None, or None."""
    for rule in rules:
        made = rule(u)
        if made is not None:
            return made
    return None


def remove_all_tags(root: Uop) -> Uop:
    """`root` with no diagnostic tag left under it, call bodies included."""
    return graph_rewrite(
        lambda u: None if u.node_tag is None else replace(u, node_tag=None),
        root, name="remove_all_tags", enter_calls=True, walk=True,
    )  # fmt: skip
