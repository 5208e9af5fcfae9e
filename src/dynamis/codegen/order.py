"""Networks of float minima and maxima (medians, sorting): the machine's own compare-and-pick first.

``MAX`` of floats is IEEE 754-2019 maximum: NaN wins, −0 is below +0. Machines pick with one
instruction that knows neither, so each exact node costs several. A network as a whole needs its
exact form only where it can matter: where a word it orders is NaN or where its result is a zero
(a result that is not zero is the same however zeros are ordered). Both are looked for by comparing,
which other units do than those that pick; outputs that share nodes are looked at together.

The exact form orders the words as integers: ``b ^ (b >> 31 & 0x7fffffff)`` of a float's bits b, as
a signed integer, has the floats' order, −0 below +0, and turning its bits around is negation.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import or_

from ..dtype import float32, int32
from ..uop import Ops, Uop, bitcast, const_of_dtype, replace, toposort
from ..uop.guards import canonical_of

NETWORK = 8
"""Maxima and minima from which a network is worth a quick form and an exact one."""


def order_networks(root: Uop) -> Uop:
    """``root`` with its networks of float maxima and minima in the form above."""
    order = toposort(root)
    networks = {u: network for network in _networks(order) for u in network.outputs}
    if not networks:
        return root
    new: dict[Uop, Uop] = {}

    def rewrite(nodes: Sequence[Uop]) -> None:
        for u in nodes:
            if u in new:
                continue
            if u in networks:
                network = networks[u]
                if network.is_large and not network.together:
                    rewrite(network.gather(order))
                new[u] = network.result(u, new)
            elif (x := canonical_of(u)) in networks and networks[x].is_large:
                new[u] = new[x]
            else:
                new[u] = replace(u, src=tuple(new[s] for s in u.src))

    rewrite(order)
    return new[root]


def _networks(order: Sequence[Uop]) -> list[_Network]:
    """The connected maxima of a graph, and negations after them, that are enough."""
    users: dict[Uop, list[Uop]] = {}
    for u in order:
        for s in u.src:
            users.setdefault(s, []).append(u)
    owner: dict[Uop, _Network] = {}
    for u in order:
        if u.dtype is not float32 or u.op not in (Ops.MAX, Ops.NEG):
            continue
        if u.op is Ops.NEG and u.src[0] not in owner:
            continue  # a word that is ordered, and no reason to take two networks for one
        found = {owner[s] for s in u.src if s in owner}
        network = max(found, key=lambda n: len(n.nodes)) if found else _Network()
        for other in found - {network}:
            network.nodes |= other.nodes
            owner.update(dict.fromkeys(other.nodes, network))
        network.nodes.add(u)
        owner[u] = network
    networks = dict.fromkeys(owner.values())
    for u, network in owner.items():
        if any(v not in network.nodes for v in users.get(u, ())):
            network.outputs.append(u)
    return list(networks)


@dataclass(slots=True, eq=False)
class _Network:
    """Connected nodes, and those of them that others use."""

    nodes: set[Uop] = field(default_factory=set)
    outputs: list[Uop] = field(default_factory=list)
    quick: dict[tuple[Uop, bool], Uop] = field(default_factory=dict)
    keys: dict[tuple[Uop, bool], Uop] = field(default_factory=dict)
    together: list[Uop] = field(default_factory=list)
    matters: Uop | None = None

    @property
    def is_large(self) -> bool:
        return sum(u.op is Ops.MAX for u in self.nodes) >= NETWORK

    def gather(self, order: Sequence[Uop]) -> list[Uop]:
        """Find the outputs that can be tested ``together``, for no word that they order depends on
        an output: the nodes that these words need, in order."""
        after: set[Uop] = set()
        for u in order:
            if u in self.outputs or not after.isdisjoint(u.src):
                after.add(u)
        leaves = {output: self._leaves(output) for output in self.outputs}
        self.together = [u for u, found in leaves.items() if after.isdisjoint(found)]
        needed: set[Uop] = set()
        pending = [leaf for u in self.together for leaf in leaves[u]]
        while pending:
            u = pending.pop()
            if u not in needed:
                needed.add(u)
                pending += u.src
        return [u for u in order if u in needed]

    def result(self, output: Uop, new: dict[Uop, Uop]) -> Uop:
        """The word of an output, its leaves in their ``new`` form."""
        if self.is_large:
            return self._quick_or_exact(output, new)
        return self._ordered(output, False, self.quick, lambda u, n: _negated(new[u], n), _exact)

    def _quick_or_exact(self, output: Uop, new: dict[Uop, Uop]) -> Uop:
        """The word of an output; a NaN is the canonical one."""
        nan = _any_nan([new[u] for u in self._leaves(output)])
        key = self._ordered(output, False, self.keys, lambda u, n: _negated_key(new[u], n), _pick)
        exact = nan.where(const_of_dtype(float32, math.nan), bitcast(src=_key(key), dtype=float32))
        if output not in self.together:
            return self._matters([output], new).where(exact, self._quick(output, new))
        if self.matters is None:  # one test for all of them: their exact forms share an arm
            self.matters = self._matters(self.together, new)
        return self.matters.where(exact, self._quick(output, new))

    def _matters(self, outputs: Sequence[Uop], new: dict[Uop, Uop]) -> Uop:
        """Whether the exact form of some outputs may be another than the quick one."""
        leaves = dict.fromkeys(leaf for u in outputs for leaf in self._leaves(u))
        zeros = [self._quick(u, new).eq(0.0) for u in outputs]
        return functools.reduce(or_, zeros, _any_nan([new[leaf] for leaf in leaves]))

    def _quick(self, output: Uop, new: dict[Uop, Uop]) -> Uop:
        return self._ordered(output, False, self.quick, lambda u, n: _negated(new[u], n), _pick)

    def _leaves(self, output: Uop) -> list[Uop]:
        found: dict[Uop, None] = {}
        seen, pending = {output}, [output]
        while pending:
            for s in pending.pop().src:
                if s not in self.nodes:
                    found[s.src[0] if s.op is Ops.NEG else s] = None
                elif s not in seen:
                    seen.add(s)
                    pending.append(s)
        return list(found)

    def _ordered(
        self,
        u: Uop,
        negated: bool,
        known: dict[tuple[Uop, bool], Uop],
        leaf: Callable[[Uop, bool], Uop],
        pick: Callable[[Uop, Uop, bool], Uop],
    ) -> Uop:
        """What the network gives at ``u``, or its negation: a minimum is the negation of the
        maximum of negations. ``leaf`` gives the words that are ordered, ``pick`` the least or the
        greatest of two."""
        if u not in self.nodes:
            return leaf(u.src[0], not negated) if u.op is Ops.NEG else leaf(u, negated)
        if (u, negated) not in known:
            if u.op is Ops.NEG:
                known[u, negated] = self._ordered(u.src[0], not negated, known, leaf, pick)
            else:
                a, b = (self._ordered(s, negated, known, leaf, pick) for s in u.src)
                known[u, negated] = pick(a, b, negated)
        return known[u, negated]


def _any_nan(words: Sequence[Uop]) -> Uop:
    """Whether a word is NaN, two looked at by one comparison."""
    pairs = [words[k : k + 2] for k in range(0, len(words), 2)]
    tests = (functools.reduce(or_, (u.ne(u) for u in pair)) for pair in pairs)
    return functools.reduce(or_, tests)


def _pick(a: Uop, b: Uop, least: bool) -> Uop:
    """One of two by comparing them once: what machines do. ``b`` where they are not ordered."""
    return (a < b if least else b < a).where(a, b)


def _exact(a: Uop, b: Uop, least: bool) -> Uop:
    """The minimum or maximum. Picking both ways round gives the two words where they are equal
    zeros or one is NaN: the bits of either are then those of −0, or of a NaN."""
    if not least:
        return a.maximum(b)
    bits = [bitcast(src=_pick(x, y, least), dtype=int32) for x, y in ((a, b), (b, a))]
    return bitcast(src=bits[0] | bits[1], dtype=float32)


def _negated(u: Uop, negated: bool) -> Uop:
    return -u if negated else u


def _negated_key(u: Uop, negated: bool) -> Uop:
    key = _key(bitcast(src=u, dtype=int32))
    return key ^ -1 if negated else key


def _key(bits: Uop) -> Uop:
    """The key of a float's bits, and the bits of a key."""
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)
