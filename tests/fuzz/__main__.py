"""Fuzz the Kernel IR and print what was counted.

    python -m tests.fuzz --modules 10000 --runs 2500 --mutants 20000 --texts 100000 \\
        --transforms 2000 --seed 1
    python -m tests.fuzz --minutes 30

Counts are met in full, then, with ``--minutes``, everything is run again from further seeds until
the time is over. The exit status is 0 when nothing failed and every rule was hit.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from time import monotonic

from tests.fuzz.guard import note
from tests.fuzz.report import lines
from tests.fuzz.rules import RULES
from tests.fuzz.unchanged import TRANSFORMS
from tests.fuzz.work import (
    MUTANTS_OF_ONE,
    Tally,
    claims,
    modules,
    mutants,
    run_stage,
    texts,
    transform,
)

CHUNK = 50
"""The cases of one stage that are run before the clock is looked at."""
TEXTS_OF_ONE = 100


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--modules", type=int, default=0, help="valid modules to hold")
    parser.add_argument("--runs", type=int, default=0, help="valid modules to run")
    parser.add_argument("--mutants", type=int, default=0, help="mutants to hold")
    parser.add_argument("--texts", type=int, default=0, help="hostile texts to read")
    parser.add_argument("--transforms", type=int, default=0, help="cases kept by each transform")
    parser.add_argument("--minutes", type=float, default=0.0, help="how long to go on")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    chosen = parser.parse_args(arguments)
    begun, tally, seed = monotonic(), Tally(), chosen.seed * 10**6
    _counted(tally, "modules", "generated", chosen.modules, seed)
    _counted(tally, "claims", "runs", chosen.runs, seed)
    _counted(tally, "mutants", "mutants", chosen.mutants, seed)
    _counted(tally, "texts", "texts", chosen.texts, seed)
    for name in TRANSFORMS:
        _counted(tally, name, f"{name}: same", chosen.transforms, seed)
    further = seed + 5 * 10**5
    while monotonic() - begun < chosen.minutes * 60:
        for name in STAGES:
            run_stage(tally, name, STAGES[name], range(further, further + CHUNK))
        further += CHUNK
    print("\n".join(lines(tally, chosen.seed, monotonic() - begun)))
    missed = chosen.mutants >= 5000 and any(not tally.rules[n] for n in RULES)
    return 1 if tally.failures or missed else 0


STAGES = {"modules": modules, "claims": claims, "mutants": mutants, "texts": texts}
STAGES |= {name: transform(name) for name in TRANSFORMS}
"""Every stage by name."""


def _counted(tally: Tally, name: str, what: str, wanted: int, seed: int) -> None:
    """Runs a stage until it has counted ``wanted``, or has failed often."""
    failed = len(tally.failures)
    each = {"mutants": MUTANTS_OF_ONE, "texts": TEXTS_OF_ONE}.get(name, 1)
    while (left := wanted - tally.counts[what]) > 0 and len(tally.failures) < failed + 20:
        take = max(1, min(CHUNK, left // each))
        run_stage(tally, name, STAGES[name], range(seed, seed + take))
        seed += take
        if seed % 1000 == 0:
            note(f"{name}: {tally.counts[what]} of {wanted}")


if __name__ == "__main__":
    sys.exit(main())
