"""Simplification: all symbolic rules, run to a fixed point.

Matching is by one compiled function an op; the engine looks at every node once, remembers on
the node that it is in normal form, and so skips what earlier calls have done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from dynamis.uop import symbolic_bool, symbolic_cast, symbolic_float, symbolic_int
from dynamis.uop.errors import RewriteError, UopError
from dynamis.uop.folding import fold_node, is_constant
from dynamis.uop.matcher import PatternMatcher
from dynamis.uop.node import Uop, node
from dynamis.uop.ops import Group, Op, Ops
from dynamis.uop.order import compare_structure

RULES: Final = [
    *symbolic_int.RULES, *symbolic_bool.RULES, *symbolic_float.RULES, *symbolic_cast.RULES,
    *symbolic_bool.BOUNDS,
]  # fmt: skip
"""Every symbolic rule, in the order in which they are tried."""

symbolic: Final = PatternMatcher(RULES)

_NORMAL: Final = 1  # the mark of a node that `simplify` leaves as it is
_STEPS: Final = 10_000  # rewrites of one node, one after the other, before we call it a cycle

_FOLDS: Final = frozenset((*Group.alu, Ops.CAST, Ops.BITCAST))


def simplify(u: Uop) -> Uop:
    """`u` in normal form: equal in value for every value of its leaves.

    Simplifying twice is simplifying once. A value that is provably the same in all lanes may
    come back without lanes: a node of shape () stands for every lane.
    Raises RewriteError if rules chase each other (a bug in a rule).
    """
    if u._marks & _NORMAL:
        return u
    done = u._simplified
    if done is None:
        done = _normalise(u)
        if done is not u:
            u._simplified = done
    return done


def canonical_order(u: Uop) -> Uop | None:
    """A commutative node with its operands in order, or None when they are.

    By structure; constants last, one for each lane before one for all.
    """
    a, b = u.src
    p, q = _rank(a), _rank(b)
    if q > p or (p == q and compare_structure(a, b) <= 0):
        return None
    return node(u.op, u.dtype, (b, a), u.arg, u.node_tag)


def _rank(u: Uop) -> int:
    return 2 if u.op is Ops.CONST else 1 if u.op is Ops.STACK and is_constant(u) else 0


def _step(u: Uop) -> Uop | None:
    """One rewrite of a node whose sources are in normal form."""
    op = u.op
    if op in _FOLDS:
        made = fold_node(u)
        if made is not None:
            return made
        if op.is_commutative:
            made = canonical_order(u)
            if made is not None:
                return made
    try:
        rules = _compiled[op]
    except KeyError:
        rules = _compiled[op] = symbolic.function(op)
    return None if rules is None else rules(u, None)


_compiled: Final[dict[Op, Callable[[Uop, object], Uop | None] | None]] = {}


def _unmarked(root: Uop, memo: dict[Uop, Uop]) -> list[Uop]:
    """The nodes under `root` that are neither in normal form nor done, sources first."""
    order: list[Uop] = []
    seen = {root}
    stack = []
    n, rest = root, iter(root.src)
    while True:
        for s in rest:
            if not s._marks & _NORMAL and s not in seen and s not in memo:
                seen.add(s)
                stack.append((n, rest))
                n, rest = s, iter(s.src)
                break
        else:
            order.append(n)
            if not stack:
                return order
            n, rest = stack.pop()


def _normalise(root: Uop) -> Uop:
    memo: dict[Uop, Uop] = {}  # only the nodes that change
    waiting: list[tuple[Iterator[Uop], Uop, Uop]] = []  # the walk, its node, what that became
    nodes = iter(_unmarked(root, memo))
    while True:
        for n in nodes:
            if n._marks & _NORMAL or n in memo:
                continue
            m = _rebuilt(n, memo)
            steps = 0
            while not m._marks & _NORMAL:
                made = _step(m)
                if made is None or made is m:
                    m._marks |= _NORMAL
                    break
                steps += 1
                if steps > _STEPS or len(waiting) > _STEPS:
                    raise _chase(m)
                m = memo.get(made, made)
                if not m._marks & _NORMAL and _has_new(m):
                    break  # there are new nodes under it: they come first
            if m._marks & _NORMAL:
                if m is not n:
                    memo[n] = m
                continue
            waiting.append((nodes, n, m))
            nodes = iter(_unmarked(m, memo))
            break
        else:
            if not waiting:
                return memo.get(root, root)
            nodes, n, m = waiting.pop()
            memo[n] = memo.get(m, m)


def _has_new(u: Uop) -> bool:
    """Whether a source of `u` is not known to be in normal form."""
    for s in u.src:  # noqa: SIM110  # a loop: half the time of any() over a generator
        if not s._marks & _NORMAL:
            return True
    return False


def _rebuilt(n: Uop, memo: dict[Uop, Uop]) -> Uop:
    if memo:
        for s in n.src:
            if s in memo:
                src = tuple([memo.get(s, s) for s in n.src])
                return node(n.op, n.dtype, src, n.arg, n.node_tag)
    return n


def _chase(u: Uop) -> RewriteError:
    found = symbolic.which(u)
    last = "constant folding or operand order" if found is None else repr(found[0].text)
    return RewriteError(f"simplify does not settle on {u!r}; the last rule is {last}")


def resolve(u: Uop, default: bool = True) -> bool:
    """The truth of the bool expression `u` when its bounds decide it, else `default`.

    Raises UopError for an expression that is not bool.
    """
    if not u.dtype.is_bool:
        raise UopError(f"resolve needs bool, not {u.dtype}")
    made = simplify(u)
    return bool(made.vmin) if made.vmin == made.vmax else default
