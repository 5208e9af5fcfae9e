"""Simplification: all symbolic rules, run to a fixed point.

Matching is by one compiled function an op; the engine looks at every node once, remembers on
the node that it is in normal form, and so skips what earlier calls have done.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Final

from dynamis.uop import (
    symbolic_bool,
    symbolic_cast,
    symbolic_compare,
    symbolic_float,
    symbolic_int,
    symbolic_invalid,
    symbolic_whole,
)
from dynamis.uop.engine import normalise
from dynamis.uop.errors import RewriteError, UopError
from dynamis.uop.folding import fold_node, is_constant
from dynamis.uop.marks import NORMAL
from dynamis.uop.matcher import PatternMatcher
from dynamis.uop.node import Uop, node
from dynamis.uop.ops import Group, Op, Ops
from dynamis.uop.order import compare_structure
from dynamis.uop.sums import is_sum, sum_step

RULES: Final = [
    *symbolic_invalid.RULES, *symbolic_int.RULES, *symbolic_bool.RULES, *symbolic_compare.RULES,
    *symbolic_whole.RULES, *symbolic_float.RULES, *symbolic_cast.RULES, *symbolic_bool.BOUNDS,
]  # fmt: skip
"""Every symbolic rule, in the order in which they are tried."""

symbolic: Final = PatternMatcher(RULES)

_FOLDS: Final = frozenset((*Group.alu, Ops.CAST, Ops.BITCAST))
_SUMS: Final = frozenset((Ops.ADD, Ops.SUB, Ops.NEG, Ops.MUL, Ops.SHL))


class SimplifyRef:
    """What `simplify` calls. `value` may be replaced: a function of a node that keeps its value."""

    __slots__ = ("value",)

    def __init__(self, value: Callable[[Uop], Uop]) -> None:
        self.value = value


def simplify(u: Uop) -> Uop:
    """`u` in normal form: equal in value for every value of its leaves.

    Simplifying twice is simplifying once, and the order in which a sum was built does not show.
    A value that is provably the same in all lanes may come back without lanes: a node of shape ()
    stands for every lane. Raises RewriteError if rules chase each other (a bug in a rule).

    Calls `simplify_ref.value`, which is the rules of this module unless replaced.
    """
    return simplify_ref.value(u)


# A normal form never contains a node that is not normal, so no entry keeps its own key alive.
_normal_forms: Final[weakref.WeakKeyDictionary[Uop, Uop]] = weakref.WeakKeyDictionary()


def _simplify(u: Uop) -> Uop:
    if u._marks & NORMAL:
        return u
    done = _normal_forms.get(u)
    if done is None:
        done = normalise(u, step, NORMAL, chase)
        if done is not u:
            _normal_forms[u] = done
    return done


simplify_ref: Final = SimplifyRef(_simplify)


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


def step(u: Uop) -> Uop | None:
    """One rewrite of a node whose sources are in normal form: folding, order, the rules."""
    op = u.op
    if op in _FOLDS:
        made = fold_node(u)
        if made is not None:
            return made
        if op in _SUMS and is_sum(u):
            made = sum_step(u)
        elif op.is_commutative:
            made = canonical_order(u)
        if made is not None:
            return made
    try:
        rules = _compiled[op]
    except KeyError:
        rules = _compiled[op] = symbolic.function(op)
    return None if rules is None else rules(u, None)


_compiled: Final[dict[Op, Callable[[Uop, object], Uop | None] | None]] = {}


def chase(u: Uop) -> RewriteError:
    """The error for a node that rewriting does not settle on: it names the last rule."""
    found = symbolic.which(u)
    last = "folding, operand order or a sum's form" if found is None else repr(found[0].text)
    return RewriteError(f"simplify does not settle on {u!r}; the last rule is {last}")


def resolve(u: Uop, default: bool = True) -> bool:
    """The truth of the bool expression `u` when its bounds decide it, else `default`.

    Raises UopError for an expression that is not bool.
    """
    if not u.dtype.is_bool:
        raise UopError(f"resolve needs bool, not {u.dtype}")
    made = simplify(u)
    return bool(made.vmin) if made.vmin == made.vmax else default
