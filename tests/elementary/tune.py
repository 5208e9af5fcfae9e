"""Chooses the last bits of coefficients so that no input near the middle of two f32 rounds wrongly.

    python -m tests.elementary.exhaustive exp2 --error -46 --hard hard.json
    python -m tests.elementary.tune exp2 exponential._EXP2 hard.json --frozen 2

A polynomial whose f64 error is near 2**-53 puts a handful of 2**32 inputs on the wrong side. The
walk lists every input so near a middle that this is possible; here coefficients are moved at random
by what changes the value by about ``--scale`` (log2, relative), until all those inputs come out
right: the idea of RLIBM (Lim & Nagarakatte, 2021), with a search in place of a linear program. The
walk has to be run again with what this prints, for it is the walk that proves.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import pathlib
import sys
from random import Random

from dynamis.elementary import SINGLE, on_numbers
from dynamis.kernel.types import bits_float, float_bits


def wrong(name: str, hard: list[tuple[int, int]]) -> int:
    """How many of the hard inputs the function as it stands gives another word for."""
    function = on_numbers(SINGLE[name])
    return sum(float_bits(function(bits_float(word))) & 0xFFFFFFFF != right for word, right in hard)


def moved(
    rng: Random, coefficients: tuple[float, ...], frozen: int, reach: float, scale: float
) -> tuple[float, ...]:
    """The coefficients but the first ``frozen``, each changed by up to scale / reach**k."""
    return tuple(
        c if k < frozen else c + rng.uniform(-1.0, 1.0) * scale / reach**k
        for k, c in enumerate(coefficients)
    )


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    parser.add_argument("constant", help="MODULE._CONSTANT in dynamis.elementary")
    parser.add_argument("hard", type=pathlib.Path, help="what the walk wrote with --hard")
    parser.add_argument("--frozen", type=int, default=0, help="leading coefficients to keep")
    parser.add_argument("--reach", type=float, default=0.5, help="the greatest |argument|")
    parser.add_argument("--scale", type=float, default=-52.0, help="log2 of the change")
    parser.add_argument("--tries", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    module_name, _, constant = given.constant.rpartition(".")
    module = importlib.import_module(f"dynamis.elementary.{module_name}")
    hard = [tuple(pair) for pair in json.loads(given.hard.read_text())[given.name]]
    rng = Random(given.seed)
    start = best = getattr(module, constant)
    least = wrong(given.name, hard)
    print(f"{given.name}: {len(hard)} inputs near a middle, {least} wrong at the start; seed "
          f"{given.seed}")  # fmt: skip
    for k in range(given.tries):
        if not least:
            break
        origin = start if k % 2 else best
        candidate = moved(rng, origin, given.frozen, given.reach, math.ldexp(1.0, int(given.scale)))
        setattr(module, constant, candidate)
        found = wrong(given.name, hard)
        if found < least:
            least, best = found, candidate
            print(f"  try {k}: {least} wrong", flush=True)
    print(f"{least} wrong with {constant} = {best}")
    return int(bool(least))


if __name__ == "__main__":
    sys.exit(main())
