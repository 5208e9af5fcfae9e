"""The stages of fuzzing, and what each counts.

In: a seed and how many cases. Out: a ``Tally``: counts by name, and the failures, each with the
seed that makes it again. A stage is a function of a tally and a case's seed.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from random import Random
from statistics import median

from dynamis.kernel import Module, ValidationError, parse, validate
from dynamis.kernel.limits import MAX_BUDGET
from dynamis.kernel.optimize import optimize
from tests.fuzz.claims import check_claims
from tests.fuzz.counts import Counts
from tests.fuzz.guard import Hang, within
from tests.fuzz.hostile import hostile_text, try_text
from tests.fuzz.mutants import AIMS
from tests.fuzz.mutate import mutated, places
from tests.fuzz.rules import RULES
from tests.fuzz.unchanged import TRANSFORMS, hold_same, ran
from tests.kernel.strategies import random_module, random_run

SECONDS = 60.0
"""What one case may take."""
ELEMENTS = 12
"""The most rows of the domains that modules are run over."""
MUTANTS_OF_ONE = 12
"""How many mutants are made of one valid module."""
POOL = 400
"""The valid modules that aimed mutants are made of."""
TRIES = 2000
"""How many valid modules a mutator is offered, for one that holds what it breaks."""


@dataclass
class Tally:
    """What was counted, and what went wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    rules: Counter[int] = field(default_factory=Counter)
    ran: Counts = field(default_factory=Counts)
    steps: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def fail(self, stage: str, seed: int, error: BaseException) -> None:
        """Enters a failure, with the last places of its traceback."""
        self.counts["failures"] += 1
        places = "".join(traceback.format_exception(error, limit=-3))
        self.failures.append(f"{stage} {seed}: {places}")

    @property
    def median_steps(self) -> float:
        """The median, over runs, of the instructions executed for an element."""
        return median(self.steps) if self.steps else 0.0

    @property
    def faulting(self) -> float:
        """The share of the runs that fault."""
        return self.counts["faulting"] / max(1, self.counts["runs"])


Stage = Callable[[Tally, int], None]


def run_stage(tally: Tally, name: str, stage: Stage, seeds: Sequence[int] | range) -> None:
    """Runs a stage for each seed; a case that fails otherwise than documented is a failure."""
    for seed in seeds:
        try:
            with within(SECONDS, f"{name} {seed}"):
                stage(tally, seed)
        except (Exception, Hang) as error:
            tally.fail(name, seed, error)


def modules(tally: Tally, seed: int) -> None:
    """A module is generated, validated, printed and parsed, and equal."""
    module = random_module(Random(seed), 40)
    tally.counts["generated"] += 1
    validate(module)
    tally.counts["validated"] += 1
    text = str(module)
    tally.counts["printed"] += 1
    back = parse(text)
    tally.counts["parsed"] += 1
    assert back == module, "what was printed reads back as another module"
    assert str(back) == text
    tally.counts["equal"] += 1


def claims(tally: Tally, seed: int) -> None:
    """A module runs, and keeps what validation says of it."""
    rng = Random(seed)
    module = random_module(rng, 40)
    seen = check_claims(validate(module), random_run(rng, module, ELEMENTS))
    tally.counts["runs"] += 1
    tally.counts["faulting"] += seen.outcome.fault is not None
    if seen.outcome.fault is not None:
        tally.counts[f"fault {seen.outcome.fault.kind.name.lower()}"] += 1
    tally.steps.append(seen.steps)
    tally.ran.add(seen.accounted, seen.executed)


def mutants(tally: Tally, seed: int) -> None:
    """Mutants of one module, half of them aimed at the rules in turn: each is refused with a rule
    and a path, or runs, and runs the same once it is printed, parsed and optimized."""
    rng = Random(seed)
    module = random_module(rng, 16)
    found = places(module)
    for k in range(MUTANTS_OF_ONE):
        if k % 2:
            try_mutant(tally, rng, mutated(rng, module, found))
            continue
        rule = RULES[(seed * MUTANTS_OF_ONE // 2 + k // 2) % len(RULES)]
        tally.counts["mutants aimed"] += 1
        try_mutant(tally, rng, aim(rng, rule))


@cache
def pool() -> tuple[Module, ...]:
    """Valid modules that mutants are made of, of every mode."""
    return tuple(random_module(Random(seed), 16) for seed in range(POOL))


def aim(rng: Random, rule: int) -> Module:
    """A mutant aimed at a rule, of a module that holds what it breaks."""
    for _ in range(TRIES):
        mutant = rng.choice(AIMS[rule])(rng, rng.choice(pool()))
        if mutant is not None:
            return mutant
    raise AssertionError(f"no module of {TRIES} holds what an aim at rule {rule} breaks")


def try_mutant(tally: Tally, rng: Random, mutant: Module) -> None:
    """Holds one mutant to what is said of mutants."""
    tally.counts["mutants"] += 1
    try:
        validate(mutant)
    except ValidationError as error:
        return _refused(tally, error)
    tally.counts["mutants accepted"] += 1
    assert parse(str(mutant)) == mutant
    if mutant.accounted():
        return
    budget = min(mutant.manifest.budget, 300 if mutant.manifest.budget < MAX_BUDGET else 200)
    mutant = replace(mutant, manifest=replace(mutant.manifest, budget=budget))
    run = random_run(rng, mutant, 2)
    seen = check_claims(validate(mutant), run)
    hold_same(seen.outcome, ran(validate(optimize(mutant)), run), "optimize", False)
    tally.counts["mutants run, the same optimized"] += 1


def _refused(tally: Tally, error: ValidationError) -> None:
    assert error.rule in RULES and error.path, str(error)
    assert f"(rule {error.rule})" in str(error)
    tally.counts["mutants refused"] += 1
    tally.rules[error.rule] += 1


def texts(tally: Tally, seed: int) -> None:
    """Hostile texts made of valid modules' texts: each is read, or refused as documented."""
    rng = Random(seed)
    valid = [str(random_module(rng, 12)) for _ in range(3)]
    for _ in range(100):
        text = hostile_text(rng, valid)
        tally.counts["texts"] += 1
        tally.counts[f"texts {try_text(text)}"] += 1


def transform(name: str) -> Stage:
    """The stage that holds one transform."""

    def stage(tally: Tally, seed: int) -> None:
        tally.counts[f"{name}: {TRANSFORMS[name](Random(seed))}"] += 1

    return stage
