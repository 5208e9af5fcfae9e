"""The IR kit beside tinygrad: construction, traversal, rewriting, index arithmetic, memory.

    pip install tinygrad && python -m benchmarks uop [--rounds 7] [--only sum] [--growth]

Both run in this process, in turn, on graphs that neither has seen before; a round measures each
side once, and the cyclic collector is emptied in between. Shown are the best time of each side,
the median of the rounds' ratios (theirs / ours; above 1 we are faster), and the target of the
issue. What both sides make of an expression is evaluated on the same random values first.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import random
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tinygrad.dtype import dtypes
from tinygrad.uop.ops import Ops as TinyOps
from tinygrad.uop.ops import UOp, graph_rewrite
from tinygrad.uop.symbolic import symbolic as tiny_symbolic

from dynamis.collector import collector_paused
from dynamis.dtype import int32, weakint
from dynamis.uop import Ops, const_of_dtype, evaluate, simplify, special, toposort, variable
from dynamis.uop.node import node

Graph = Any
Thunk = Callable[[], Any]

N = 100_000
fresh = itertools.count()


@dataclass(frozen=True)
class Case:
    """One comparison. `ours` and `theirs` prepare a cold graph and return what is timed."""

    name: str
    target: float
    ours: Callable[[], Thunk]
    theirs: Callable[[], Thunk]
    paused: bool = False


# -- the two kits, in the same words


def our_variable(low: int = 0, high: int = 1000) -> Graph:
    return variable(name=f"v{next(fresh)}", min_val=low, max_val=high)


def tiny_variable(low: int = 0, high: int = 1000) -> Graph:
    return UOp.variable(f"v{next(fresh)}", low, high)


def our_index(k: int) -> Graph:
    return special(name=f"s{k}", size=const_of_dtype(int32, 1000), dtype=int32)


def tiny_index(k: int) -> Graph:
    return UOp(TinyOps.SPECIAL, dtypes.int32, (UOp.const(1000, dtypes.int32),), f"s{k}")


def tree(level: list[Graph], join: Callable[[Graph, Graph], Graph]) -> Graph:
    """A balanced tree over the leaves."""
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [join(a, b) for a, b in pairs] + ([level[-1]] if len(level) % 2 else [])
    return level[0]


def our_chain(n: int) -> Graph:
    u = our_variable()
    for _ in range(n):
        u = node(Ops.NEG, weakint, (u,))
    return u


def tiny_chain(n: int) -> Graph:
    u = tiny_variable()
    for _ in range(n):
        u = UOp(TinyOps.NEG, dtypes.weakint, (u,))
    return u


def our_tree(n: int, half: bool = False) -> Graph:
    base, zero = next(fresh) << 24, const_of_dtype(int32, 0)
    leaves = [our_index(base + k) for k in range(n // 5 * 2 if half else n // 2)]
    if half:
        leaves = [node(Ops.ADD, int32, (u, zero)) if k % 2 else u for k, u in enumerate(leaves)]
    return tree(leaves, lambda a, b: node(Ops.XOR, int32, (a, b)))


def tiny_tree(n: int, half: bool = False) -> Graph:
    base, zero = next(fresh) << 24, UOp.const(0, dtypes.int32)
    leaves = [tiny_index(base + k) for k in range(n // 5 * 2 if half else n // 2)]
    if half:
        leaves = [
            UOp(TinyOps.ADD, dtypes.int32, (u, zero)) if k % 2 else u for k, u in enumerate(leaves)
        ]
    return tree(leaves, lambda a, b: UOp(TinyOps.XOR, dtypes.int32, (a, b)))


def long_sum(make: Callable[[int, int], Graph]) -> Graph:
    """300 terms over 50 variables, in no order."""
    rng = random.Random(1)
    leaves = [make(0, 100) for _ in range(50)]
    u = leaves[0] * 3
    for _ in range(299):
        u = u + rng.choice(leaves) * rng.randrange(1, 9)
    return u


def index_14(make: Callable[[int, int], Graph]) -> Graph:
    """An address taken apart and put together again: 14 operations."""
    r, c, k = make(0, 63), make(0, 255), make(0, 7)
    flat = r * 256 + c
    return ((flat // 16) % 16) * 128 + ((flat % 16) * 8 + k) // 8 + (flat // 256) * 2048


def row_and_column(make: Callable[[int, int], Graph]) -> Graph:
    """A quotient and a rest that make up the whole again."""
    r, c = make(0, 99), make(0, 2047)
    flat = r * 2048 + c
    return flat // 2048 * 2048 + flat % 2048


# -- the cases


def repeated(make: Callable[[], Graph], f: Callable[[Graph], Graph], n: int) -> Thunk:
    u = make()

    def run() -> list[Graph]:
        kept = f(u)
        for _ in range(n):
            f(u)
        return [kept]

    return run


def grown(make: Callable[[], Graph], n: int) -> Thunk:
    u = make()

    def run() -> Graph:
        v = u
        for _ in range(n):
            v = v + 3
        return v

    return run


def our_hits() -> Thunk:
    a, b = our_variable(), our_variable()
    return repeated(lambda: a, lambda u: node(Ops.ADD, weakint, (u, b)), N)


def tiny_hits() -> Thunk:
    a, b = tiny_variable(), tiny_variable()
    return repeated(lambda: a, lambda u: UOp(TinyOps.ADD, dtypes.weakint, (u, b)), N)


def over(graph: Graph, f: Callable[[Graph], Any]) -> Thunk:
    return lambda: f(graph)


def tiny_rewrite(u: Graph) -> Graph:
    return graph_rewrite(u, tiny_symbolic)


def tiny_simplify(u: Graph) -> Graph:
    return u.simplify()


def tiny_toposort(u: Graph) -> Any:
    return u.toposort()


CASES = [
    Case("new nodes, collector paused", 1.5,
         lambda: lambda: our_chain(N), lambda: lambda: tiny_chain(N), paused=True),
    Case("new nodes, collector running", 1.5,
         lambda: lambda: our_chain(N), lambda: lambda: tiny_chain(N)),
    Case("interned hits", 2.0, our_hits, tiny_hits),
    Case("u + 3, new", 10.0,
         lambda: grown(our_variable, N // 5), lambda: grown(tiny_variable, N // 5)),
    Case("u + 3, interned", 10.0, lambda: repeated(our_variable, lambda u: u + 3, N // 5),
         lambda: repeated(tiny_variable, lambda u: u + 3, N // 5)),
    Case("toposort, chain of 100,000", 2.0, lambda: over(our_chain(N), toposort),
         lambda: over(tiny_chain(N), tiny_toposort)),
    Case("toposort, tree of 100,000", 2.0, lambda: over(our_tree(N), toposort),
         lambda: over(tiny_tree(N), tiny_toposort)),
    Case("rewrite 100,000, nothing fires", 5.0, lambda: over(our_tree(N), simplify),
         lambda: over(tiny_tree(N), tiny_rewrite)),
    Case("rewrite 100,000, half the leaves fire", 3.0, lambda: over(our_tree(N, True), simplify),
         lambda: over(tiny_tree(N, True), tiny_rewrite)),
    Case("sum of 300 terms", 50.0, lambda: over(long_sum(our_variable), simplify),
         lambda: over(long_sum(tiny_variable), tiny_simplify)),
    Case("div/mod index of 14 ops", 10.0, lambda: over(index_14(our_variable), simplify),
         lambda: over(index_14(tiny_variable), tiny_simplify)),
    Case("quotient and rest recombined", 5.0, lambda: over(row_and_column(our_variable), simplify),
         lambda: over(row_and_column(tiny_variable), tiny_simplify)),
]  # fmt: skip

SHORT = 2e-3
"""A run below this many seconds is measured 20 times in a round, on 20 cold graphs."""


def timed(case: Case, prepare: Callable[[], Thunk]) -> float:
    best = None
    for _ in range(20):
        run = prepare()
        gc.collect() if best is None else None
        if case.paused:
            with collector_paused():
                start = time.perf_counter()
                made = run()
                took = time.perf_counter() - start
        else:
            start = time.perf_counter()
            made = run()
            took = time.perf_counter() - start
        del made
        best = took if best is None else min(best, took)
        if took > SHORT:
            break
    assert best is not None
    return best


def compare(case: Case, rounds: int) -> None:
    ours, theirs = [], []
    for k in range(rounds):
        sides = [(ours, case.ours), (theirs, case.theirs)]
        for times, prepare in sides if k % 2 else reversed(sides):
            times.append(timed(case, prepare))
    ratio = statistics.median(b / a for a, b in zip(ours, theirs, strict=True))
    told = "" if ratio >= case.target else "  BELOW"
    print(
        f"{case.name:40} {min(ours) * 1e3:10.3f} ms {min(theirs) * 1e3:10.3f} ms "
        f"{ratio:8.1f}x   >= {case.target:4.1f}x{told}",
        flush=True,
    )


# -- equal by value


def our_value(u: Graph, values: dict[str, int]) -> int:
    known: dict[Graph, Any] = {}
    for n in toposort(u):
        if n.op is Ops.PARAM:
            known[n] = values[n.arg.name]
        elif n.op is Ops.CONST:
            known[n] = n.arg.value
        elif n.op.is_alu:
            known[n] = evaluate(n.op, n.dtype, [known[s] for s in n.src])
    return int(known[u])


def tiny_value(u: Graph, values: dict[str, int]) -> int:
    known: dict[Graph, Any] = {}
    for n in u.toposort():
        if n.op is TinyOps.CONST:
            known[n] = n.val
        elif n.arg is not None and getattr(n.arg, "name", None) in values:
            known[n] = values[n.arg.name]
        elif (op := getattr(Ops, n.op.name, None)) is not None and op.is_alu:
            known[n] = evaluate(op, weakint, [known[s] for s in n.src])
    return int(known[u])


def check_values() -> None:
    """Both sides' results of the expressions agree with the expression and with each other."""
    rng = random.Random(7)
    for build in (long_sum, index_14, row_and_column):
        ranges: list[tuple[str, int, int]] = []

        def ours(low: int, high: int, into: list[tuple[str, int, int]] = ranges) -> Graph:
            u = our_variable(low, high)
            into.append((u.arg.name, low, high))
            return u

        names: list[str] = []

        def theirs(low: int, high: int, into: list[str] = names) -> Graph:
            into.append(f"t{next(fresh)}")
            return UOp.variable(into[-1], low, high)

        a, b = build(ours), build(theirs)
        a_done, b_done = simplify(a), b.simplify()
        for _ in range(200):
            row = [rng.randint(low, high) for _, low, high in ranges]
            one = {name: v for (name, _, _), v in zip(ranges, row, strict=True)}
            two = dict(zip(names, row, strict=True))
            got = {our_value(a, one), our_value(a_done, one), tiny_value(b_done, two)}
            if len(got) != 1:
                sys.exit(f"{build.__name__} has no one value: {got}")
        print(
            f"{build.__name__}: {len(toposort(a_done))} nodes left, theirs {len(b_done.toposort())}"
        )


# -- memory and growth


def bytes_per_node(build: Callable[[int], Graph]) -> float:
    build(10)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = build(N)
    size = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    del kept
    return size / N


def growth() -> None:
    """Time a node as graphs grow: it should not."""
    print(f"{'nodes':>10} {'build':>9} {'toposort':>9} {'bounds':>9} {'simplify':>9} {'drop':>9}")
    for n in (1_000, 10_000, 100_000, 1_000_000):
        gc.collect()
        with collector_paused():
            row = []
            start = time.perf_counter()
            u = our_tree(n)
            row.append(time.perf_counter() - start)
            for f in (toposort, lambda u: u.vmax, simplify):
                start = time.perf_counter()
                made = f(u)
                row.append(time.perf_counter() - start)
                del made
            start = time.perf_counter()
            del u
            row.append(time.perf_counter() - start)
        print(f"{n:10,} " + " ".join(f"{t / n * 1e6:6.2f} us" for t in row), flush=True)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description="The IR kit beside tinygrad.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="")
    parser.add_argument("--growth", action="store_true", help="only growth from 1e3 to 1e6 nodes")
    options = parser.parse_args()
    if options.growth:
        growth()
        return
    check_values()
    print(f"{'':40} {'ours':>13} {'tinygrad':>13} {'ratio':>9}   target")
    for case in CASES:
        if options.only in case.name:
            compare(case, options.rounds)
    if not options.only:
        mine, others = bytes_per_node(our_chain), bytes_per_node(tiny_chain)
        print(f"bytes a node: {mine:.0f}, theirs {others:.0f}")
        growth()


if __name__ == "__main__":
    main()
