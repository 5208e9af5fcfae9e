"""Every symbolic and div/mod rule on every pair of 8-bit values.

    python -m tests.uop.exhaustive --graphs 40 --seed 1

For each rule, graphs that it rewrites are made for int8, uint8, weakint and bool operands, most of
them with leaves that take every value. Both sides are evaluated by `wrapping` on every assignment
of the leaves: all 256 × 256 pairs (of a weakint: -128..127) for two operands, with bools beside
them; for more operands every combination of -6..6 and the edges of each. A rule with a constant is
also tried with each of 256 as its first one, wherever it fires. A leaf that the graph bounds takes
every value within its bounds; floats take edge values. A few assignments of each graph are checked
against `uop.evaluate` too, and before the rules so is every op on every pair.

The exit status is 1 when two sides differ, and when a rule did not fire.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from dynamis.dtype import (
    Number,
    Val,
    bool_,
    float16,
    float32,
    int8,
    int16,
    int32,
    truncate,
    uint8,
    weakint,
)
from dynamis.uop import (
    Group,
    Ops,
    Rule,
    Uop,
    UPat,
    const_of_dtype,
    evaluate,
    expr_to_string,
    find_nodes,
    invalid,
    replace,
    simplify,
    symbolic_cast,
    symbolic_compare,
    symbolic_divmod,
    symbolic_invalid,
    symbolic_whole,
)
from dynamis.uop.sums import Linear, interval, is_sum, linear_form, sum_step, write
from dynamis.uop.symbolic import RULES
from tests.uop import test_compare, test_divmod, test_rules
from tests.uop.graphs import leaf, same
from tests.uop.test_invalid import outcome
from tests.uop.test_rules import FLOATS, MEMORY, fires
from tests.uop.test_sums import random_sum
from tests.uop.wrapping import NUMPY, Array, Unsupported, equal, values

DTYPES = (int8, uint8, weakint)
WHOLE = 2**18
"""Assignments up to which every combination is tried: those of two bytes and two bools."""
TRIES_OF_ONE = 12
"""To make a graph with a given constant: the first half with leaves of every value."""
CROSSED = 4
"""Assignments of each graph that are evaluated by `uop.evaluate` too."""

Made = tuple[Uop, Uop | None]


# what makes a rule fire


class PatternMaker(test_rules.Maker):
    """Makes nodes that may match a pattern, mostly with leaves of every value."""

    def __init__(self, seed: int, dtype: Val, gates: bool, value: int | None = None) -> None:
        super().__init__(seed)
        self.integer = dtype
        self.value = value  # of the first constant
        self.bounded = 0.3 if value is None or seed % TRIES_OF_ONE >= TRIES_OF_ONE // 2 else 0.0
        self.free = self.random.choice([dtype, dtype, float32, bool_])
        self.gates = gates

    def constant(self, p: UPat, like: Val | None) -> Uop:
        if self.gates and p.name == "k":
            return invalid(self.dtype(p, like))
        return super().constant(p, like)

    def number(self, dtype: Val) -> Number:
        if self.value is not None and dtype is self.integer:
            made, self.value = self.value, None
            return made
        return super().number(dtype)

    def leaf(self, dtype: Val) -> Uop:
        if dtype.is_float or self.random.random() < self.bounded:
            return super().leaf(dtype)
        self.leaves += 1
        return leaf(f"v{self.leaves}", dtype, (-128, 127) if dtype is weakint else None)


class SumMaker(test_divmod.Maker):
    """Random sums of one dtype, of leaves as wide as leave some of them exact."""

    def __init__(self, seed: int, dtype: Val) -> None:
        super().__init__(seed)
        r = self.random
        self.dtype = dtype
        least, most = (0, 255) if dtype is uint8 else (-128, 127)
        count = r.choice([1, 2, 2, 2, 3])
        self.leaves = []
        for name in "ijk"[:count]:
            size = r.choice([2, 3, 4, 5, 9, 20, 60, 130, 256] if count < 3 else [2, 3, 5, 9])
            low = r.choice([0, 0, max(least, -r.randrange(size)), r.randrange(60)])
            self.leaves.append(leaf(name, dtype, (low, min(most, low + size - 1))))
        if count < 3 and r.random() < 0.2:  # every value, though little stays exact
            bounds = (least, most) if dtype is weakint else None
            self.leaves = [leaf(name, dtype, bounds) for name in "ijk"[:count]]

    def sum(self) -> Uop:
        """A sum; often with the constant that just keeps it within the dtype."""
        u = super().sum()
        if self.dtype is weakint or self.random.random() < 0.5:
            return u
        least, most = int(self.dtype.min), int(self.dtype.max)
        terms = linear_form(u).terms
        low, high = interval(terms, 0)
        if high - low > most - least:
            return u
        shift = self.random.choice([least - low, most - high, (least + most - low - high) // 2])
        u = write(Linear(self.dtype, terms, 0)) if terms else u
        return simplify(u + self.number(truncate(shift, self.dtype)))  # type: ignore[arg-type]


def whole(seed: int, dtype: Val, rule: Rule) -> Made:
    """Integers through floats."""
    m = SumMaker(seed, dtype)
    r = m.random
    form = r.choice([float16, float32])
    x = r.choice(m.leaves).cast(form)
    for _ in range(r.randrange(3)):
        y, c = r.choice(m.leaves).cast(form), float(r.randint(-3, 7))
        x = r.choice([x + y, x - y, x * c, x + c, x.maximum(y), -x])
    if "int(x)" in rule.text:
        u = x.cast(r.choice([dtype, dtype, int16, int32, weakint]))
    elif rule.text.startswith("trunc"):
        u = _trunc(x)
    else:
        c = const_of_dtype(form, r.choice([0.5, 0.25, -0.75, 1.5, -2.5, 0.125]))
        s = r.choice([x + c, x - c])
        u = (s < _trunc(s)).where(_trunc(s) - 1.0, _trunc(s))
    return u, fires(rule, u)


def _trunc(x: Uop) -> Uop:
    return replace(x, op=Ops.TRUNC, src=[x], arg=None)


def from_index(seed: int, dtype: Val, rule: Rule) -> Made:
    """The cast of an index and a constant."""
    r = random.Random(seed)
    x = leaf("x", weakint, (-128, 127)) * leaf("y", weakint, r.choice([(-128, 127), (0, 9)]))
    u = (x + r.randint(-1000, 1000)).cast(dtype if dtype is not weakint else int16)
    return u, fires(rule, u)


def sums(seed: int, dtype: Val) -> Made:
    """A sum, and its linear form written out."""
    r = random.Random(seed)
    bounds = (-128, 127) if dtype is weakint else None
    leaves = [leaf(name, dtype, bounds) for name in "xyz"[: r.choice([1, 2, 2, 3])]]
    u = random_sum(r, leaves, dtype, r.randint(1, 4))
    return u, sum_step(u) if is_sum(u) else None


def mixed(seed: int, dtype: Val) -> Made:
    """A graph of every op, and what `simplify` makes of it: all rules together."""
    r = random.Random(seed)
    bounds = (-128, 127) if dtype is weakint else None
    pool = [leaf(name, dtype, r.choice([bounds, bounds, (0, 9)])) for name in "xy"]
    pool += [const_of_dtype(dtype, r.choice([0, 1, 2, 3, 5, 8, 127])) for _ in range(3)]
    ops = [op for op in Group.binary if op.evaluation is not None and "i" in op.kinds]
    for _ in range(r.randint(3, 9)):
        a, b = r.choice(pool), r.choice(pool)
        op = r.choice(ops)
        made = replace(a, op=op, src=[a, b], arg=None, dtype=bool_ if op.is_comparison else dtype)
        pool.append(made.where(a, b) if op.is_comparison else made)
    u = pool[-1] < pool[-2] if r.random() < 0.3 else pool[-1]
    return u, simplify(u)


class Subject(NamedTuple):
    """A rule under test: its text, and what makes a graph and its rewriting from a seed.

    `with_constant` makes them with a given value as the first constant, where the rule has one.
    """

    text: str
    make: Callable[[int, Val], Made]
    with_constant: Callable[[int, Val, int], Made] | None = None


def subjects() -> list[Subject]:
    """Every rule of `simplify`, each strategy of div/mod, the sums' form, all rules together."""
    out = [_subject(rule) for rule in RULES if rule not in MEMORY]
    for s in symbolic_divmod.STRATEGIES:
        make = test_divmod.strategy_graph
        out.append(Subject(s.text, lambda k, d, s=s: make(SumMaker(k, d), s)))  # type: ignore[misc]
    return [*out, Subject("a sum -> its linear form", sums), Subject("simplify", mixed)]


def _subject(rule: Rule) -> Subject:
    if rule in symbolic_divmod.DIVMOD:
        return Subject(rule.text, lambda k, d: test_divmod.rule_graph(SumMaker(k, d), rule))
    if rule in symbolic_compare.RULES:
        return Subject(rule.text, lambda k, d: test_compare.comparison(SumMaker(k, d), rule))
    if rule in symbolic_whole.RULES:
        return Subject(rule.text, lambda k, d: whole(k, d, rule))
    if rule in symbolic_cast.INDEX:
        return Subject(rule.text, lambda k, d: from_index(k, d, rule))
    gates = rule in symbolic_invalid.RULES

    def by_pattern(seed: int, dtype: Val, value: int | None = None) -> Made:
        u = PatternMaker(seed, dtype, gates, value).node(rule.pattern)
        return u, fires(rule, u)

    free = not gates and _has_constant(rule.pattern)
    return Subject(rule.text, by_pattern, by_pattern if free else None)


def _has_constant(p: UPat) -> bool:
    """Whether a pattern asks for a constant, of any value."""
    src = (p.src,) if isinstance(p.src, UPat) else p.src or ()
    own = p.ops is not None and Ops.CONST in p.ops and p.value is None
    return own or any(_has_constant(s) for s in src)


# both sides on every assignment


def assignments(leaves: Sequence[Uop]) -> dict[Uop, Array]:
    """Every combination of the leaves' values; of many leaves' small values and edges."""
    columns = [_every(p) for p in leaves]
    for small in (range(-6, 7), range(-2, 3), range(2)):
        if math.prod(len(c) for c in columns) <= WHOLE:
            break
        columns = [_some(p, small) for p in leaves]
    grid = np.meshgrid(*columns, indexing="ij", copy=False)
    return {p: np.ascontiguousarray(g).reshape(-1) for p, g in zip(leaves, grid, strict=True)}


def _every(p: Uop) -> Array:
    kind = NUMPY[p.dtype.scalarize()]
    if p.dtype.is_float:
        return np.array([*FLOATS, 2.0, 4.0, 0.25, -8.0, 7.0, 127.0, 128.5, 255.0, -129.0], kind)
    low, high = int(p.vmin), int(p.vmax)
    if high - low < WHOLE:
        return np.arange(low, high + 1).astype(kind)
    return _some(p, range(-6, 7))


def _some(p: Uop, small: Sequence[int]) -> Array:
    if p.dtype.is_float:
        return _every(p)
    low, high = int(p.vmin), int(p.vmax)
    edges = {low, low + 1, high - 1, high, 127, 128, -128}
    found = sorted(v for v in edges | set(small) if low <= v <= high)
    return np.array(found).astype(NUMPY[p.dtype.scalarize()])


@dataclass
class Count:
    """What was checked of one rule."""

    text: str
    graphs: int = 0
    of_every_pair: int = 0
    assignments: int = 0
    constants: int = 0
    dtypes: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def line(self) -> str:
        where = " ".join(f"{name} {n}" for name, n in self.dtypes.items())
        constants = f"; {self.constants} constants" if self.constants else ""
        return (
            f"{self.graphs:5} graphs, {self.of_every_pair:4} on all pairs, "
            f"{self.assignments:11,} assignments  {self.text}  ({where}{constants})"
        )


def show(u: Uop) -> str:
    """A graph with the bounds of its leaves."""
    leaves = find_nodes(lambda n: n.op is Ops.PARAM, u)
    ranges = ", ".join(f"{p.arg.name}: {p.dtype} {p.vmin}..{p.vmax}" for p in leaves)
    return f"{expr_to_string(u)} [{ranges}]"


def check(before: Uop, after: Uop, rng: random.Random, count: Count) -> None:
    """Compare both sides on every assignment, and on some with `uop.evaluate`."""
    leaves = find_nodes(lambda n: n.op is Ops.PARAM, before)
    env = assignments(leaves)
    n = len(next(iter(env.values()))) if env else 1
    (a, there), (b, there_too) = values(before, env), values(after, env)
    if after.dtype is not before.dtype:
        count.failures.append(f"{show(before)}: a {before.dtype} becomes a {after.dtype}")
    shape = np.broadcast_shapes(a.shape, b.shape, (n,))
    right = np.broadcast_to(~there | (there_too & equal(a, b)), shape)
    if not right.all():
        at = int(np.argwhere(~right)[0][-1])
        row = {p.arg.name: env[p][at].item() for p in leaves}
        count.failures.append(f"{show(before)} -> {show(after)} at {row}")
    for at in rng.sample(range(n), min(n, CROSSED)):
        row = {p: env[p][at].item() for p in leaves}
        for u, (data, valid) in ((before, (a, there)), (after, (b, there_too))):
            want = outcome(u, row)
            has = np.broadcast_to(valid, shape)[..., at].all()
            got = np.broadcast_to(data, shape)[..., at].tolist()
            got = tuple(got) if isinstance(got, list) else got
            if has != (want is not None) or (has and not same(got, want)):  # type: ignore[arg-type]
                count.failures.append(f"{show(u)} at {row}: evaluate {want}, arrays {got}")
    full = sum(p.dtype in DTYPES and p.vmax - p.vmin == 255 for p in leaves)
    count.of_every_pair += full == 2 and n >= 2**16
    count.graphs += 1
    count.assignments += n


def run(subject: Subject, graphs: int, tries: int, seed: int, *, constants: bool = False) -> Count:
    """Check up to `graphs` different graphs of each dtype, and one for each of 256 constants."""
    count = Count(subject.text)
    for k, dtype in enumerate(DTYPES):
        first = (seed * len(DTYPES) + k) * 1_000_000
        seen: set[Uop] = set()
        for number in range(first, first + tries):
            if _new(subject.make(number, dtype), seen, number, count) and len(seen) >= graphs:
                break
        if constants and subject.with_constant is not None:
            least = 0 if dtype is uint8 else -128
            for c in range(least, least + 256):
                begin = (first + c) * TRIES_OF_ONE
                for number in range(begin, begin + TRIES_OF_ONE):
                    if _new(subject.with_constant(number, dtype, c), seen, number, count):
                        count.constants += 1
                        break
        count.dtypes[str(dtype)] = len(seen)
    if not count.graphs:
        count.failures.append("it did not fire")
    return count


def _new(made: Made, seen: set[Uop], number: int, count: Count) -> bool:
    """Whether the rule fired on a graph that is not in `seen`; it is checked then."""
    before, after = made
    if after is None or after is before or before in seen:
        return False
    try:
        check(before, after, random.Random(number), count)
    except Unsupported:
        return False
    seen.add(before)
    return True


def operations(step: int = 1) -> Iterator[Count]:
    """Every op of integers and bools on every pair (each `step`-th), against `uop.evaluate`."""
    for op in Group.alu:
        if op.evaluation is None or not op.is_binary:
            continue
        for dtype in (int8, uint8, bool_):
            if ("b" if dtype.is_bool else "i") in op.kinds:
                bounds = (0, 1) if dtype.is_bool else None
                a, b = leaf("a", dtype, bounds), leaf("b", dtype, bounds)
                env = assignments([a, b])
                u = replace(
                    a, op=op, src=[a, b], arg=None, dtype=bool_ if op.is_comparison else dtype
                )
                got = values(u, env)[0].tolist()
                rows: list[Any] = list(zip(env[a].tolist(), env[b].tolist(), got, strict=True))
                count = Count(f"{op.name} {dtype}")
                for x, y, z in itertools.islice(rows, 0, None, step):
                    count.assignments += 1
                    if evaluate(op, u.dtype, (x, y)) != z:  # type: ignore[arg-type]
                        count.failures.append(f"{op.name} {dtype} {x} {y}: arrays {z}")
                yield count


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(
        "python -m tests.uop.exhaustive", description="Check every rule on every pair of bytes."
    )
    parser.add_argument("--graphs", type=int, default=40, help="of each rule and dtype")
    parser.add_argument("--tries", type=int, default=4000, help="to make them, of each dtype")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rule", default="", help="only rules whose text has this")
    chosen = parser.parse_args(arguments)
    begun = monotonic()
    print(f"seed {chosen.seed}", flush=True)
    ops = list(operations())
    pairs = sum(c.assignments for c in ops)
    print(f"{len(ops)} ops and dtypes, {pairs:,} pairs against uop.evaluate", flush=True)
    counts = []
    for subject in subjects():
        if chosen.rule in subject.text:
            count = run(subject, chosen.graphs, chosen.tries, chosen.seed, constants=True)
            counts.append(count)
            print(count.line(), flush=True)
            for failure in count.failures[:3]:
                print(f"      {failure}", flush=True)
    failures = sum(len(c.failures) for c in (*ops, *counts))
    for c in ops:
        print(*c.failures[:3], sep="\n", end="\n" if c.failures else "")
    print(
        f"{len(counts)} rules, {sum(c.graphs for c in counts):,} graphs, "
        f"{sum(c.of_every_pair for c in counts):,} of them on all 65,536 pairs, "
        f"{sum(c.assignments for c in counts):,} assignments, {sum(c.constants for c in counts):,} "
        f"graphs for given constants, {failures} failures, "
        f"{monotonic() - begun:.0f} s"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
