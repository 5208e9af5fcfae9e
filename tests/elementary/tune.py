"""Chooses the last bits of coefficients so that no input near the middle of two f32 rounds wrongly.

    python -m tests.elementary.exhaustive sin --error -48 --hard hard.json
    python -m tests.elementary.tune sin circular._SIN hard.json --reach 2.5

A polynomial whose f64 error is near 2**-53 puts a handful of 2**32 inputs on the wrong side. The
walk lists every input so near a middle that this is possible; here coefficients are moved at random
by what changes the value by a few units in the last place of f64, and kept where the inputs on the
wrong side come nearer to their own, until none is left: the idea of RLIBM (Lim and Nagarakatte,
2021), with a search in place of a linear program. What this prints has to be walked again, for it
is the walk that proves.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import pathlib
import sys
from random import Random

from dynamis.elementary import SINGLE
from dynamis.elementary.numbers import Numbers
from dynamis.kernel.types import bits_float, double_bits, float_bits

Hard = dict[str, list[tuple[int, int]]]
"""By function: inputs, and the words they must give."""


class _Unrounded(Numbers):
    """Numbers that keep the last f64 that was rounded to f32."""

    last = 0.0

    def narrow(self, x: float) -> float:
        self.last = x
        return float(super().narrow(x))


def distance(name: str, word: int, right: int) -> int:
    """How many units in the last place of f64 the value stands on the wrong side; 0 if right."""
    numbers = _Unrounded()
    given = float_bits(SINGLE[name](numbers, bits_float(word))) & 0xFFFFFFFF
    if given == right:
        return 0
    return abs((double_bits(numbers.last) & (2**29 - 1)) - 2**28) + 1


def cost(hard: Hard) -> int:
    """The sum of the distances of all inputs."""
    return sum(distance(name, *pair) for name, pairs in hard.items() for pair in pairs)


def wrong(hard: Hard) -> int:
    """How many inputs the functions give another word for, as they stand."""
    return sum(distance(name, *pair) > 0 for name, pairs in hard.items() for pair in pairs)


def moved(rng: Random, start: tuple[float, ...], frozen: int, reach: float) -> tuple[float, ...]:
    """Some coefficients changed, each by what changes the value by up to a few 2**-53."""
    found = list(start)
    for _ in range(rng.randint(1, 3)):
        k = rng.randrange(frozen, len(found))
        found[k] += rng.uniform(-1.0, 1.0) * math.ldexp(1.0, rng.randint(-55, -51)) / reach**k
    return tuple(found)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", help="the functions that have the constant, as sin,cos")
    parser.add_argument("constant", help="MODULE._CONSTANT in dynamis.elementary")
    parser.add_argument("hard", type=pathlib.Path, help="what the walk wrote with --hard")
    parser.add_argument("--frozen", type=int, default=0, help="leading coefficients to keep")
    parser.add_argument("--reach", type=float, default=0.5, help="the greatest |argument|")
    parser.add_argument("--tries", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    module_name, _, constant = given.constant.rpartition(".")
    module = importlib.import_module(f"dynamis.elementary.{module_name}")
    walked = json.loads(given.hard.read_text())
    hard = {name: walked[name] for name in given.names.split(",")}
    rng, best, least = Random(given.seed), getattr(module, constant), cost(hard)
    count = sum(map(len, hard.values()))
    print(f"{count} inputs near a middle, {wrong(hard)} wrong at the start; seed {given.seed}")
    for k in range(given.tries):
        if not least:
            break
        candidate = moved(rng, best, given.frozen, given.reach)
        setattr(module, constant, candidate)
        found = cost(hard)
        if found <= least:
            if found < least:
                print(f"  try {k}: {wrong(hard)} wrong, by {found}", flush=True)
            least, best = found, candidate
    setattr(module, constant, best)
    print(f"{wrong(hard)} wrong with {constant} = {best}")
    return int(bool(least))


if __name__ == "__main__":
    sys.exit(main())
