"""Whether a transform leaves what random modules compute and how they fail unchanged.

``python -m tests.kernel.unchanged --count 2000 --seed 1 optimize fuse …`` takes random modules (for
a fusion, pairs that fuse), runs them under the reference interpreter before and after, and prints
what it counted; it ends with status 1 where anything differed. The tests run a slice of it.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from dynamis.kernel.fault import Fault
from dynamis.kernel.fuse import FuseError, fuse, fuse_indexed, fuse_outputs
from dynamis.kernel.interpret import InputField, Outcome, interpret
from dynamis.kernel.module import Module
from dynamis.kernel.optimize import optimize
from dynamis.kernel.types import Value
from dynamis.kernel.validate import validate
from dynamis.kernel.work import account
from tests.kernel.random_pair import random_maps, random_wire
from tests.kernel.strategies import Run, random_module, random_run


@dataclass
class Tally:
    """What a check found: how many modules it held against each other, how many runs failed (the
    same before and after), what was refused and why, and the seeds of those that differ."""

    checked: int = 0
    failed: int = 0
    tried: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    differ: list[int] = field(default_factory=list)

    def note(self, seed: int, expected: object, found: object, failed: bool) -> None:
        self.checked += 1
        self.failed += failed
        if expected != found:
            self.differ.append(seed)


def run_of(module: Module, run: Run) -> Outcome:
    return interpret(validate(module), run.inputs, run.params, run.extent, context=run.context)


def shown(outcome: Outcome, module: Module) -> object:
    """An outcome as it is compared: words (a NaN equals itself, zeros differ by sign), or the
    failure but for the numbers of its function and instruction, which a transform changes.

    A failure that no instruction makes (of storing a result, of a total) names the entry's result,
    whichever value that is; its span is not compared."""
    fault = outcome.fault
    if fault is None:
        return repr(outcome.outputs)
    span = None if names_result(fault, account(module)) else fault.span
    return fault.element, fault.kind, repr(fault.operands), span


def names_result(fault: Fault, module: Module) -> bool:
    functions = module.all_functions()
    entry = fault.function == len(module.functions)
    return entry and fault.instruction in functions[fault.function].results


def try_optimize(rng: Random, seed: int, tally: Tally) -> None:
    module = random_module(rng, 40)
    run = random_run(rng, module, 12)
    made = optimize(module)
    old, new = run_of(module, run), run_of(made, run)
    tally.note(seed, shown(old, module), shown(new, made), old.fault is not None)


def try_wire(
    rng: Random, seed: int, tally: Tally, fusion: Callable[..., Module], indexed: bool
) -> None:
    """A producer and a consumer: fused, and one after the other on the same data."""
    producer, consumer, input = random_wire(rng, indexed)
    try:
        fused = fusion(producer, consumer, input, same_domain=True)
    except FuseError as error:
        tally.refused[error.reason.name] += 1
        return
    run = random_run(rng, fused, 12)
    new = run_of(fused, run)
    first, second = part_runs(producer, consumer, run)
    made = run_of(producer, first)
    if made.outputs is None:
        expected = shown(made, producer)
    else:
        fields = [*second.inputs]
        fields.insert(input, InputField(run.extent, made.outputs[0]))
        taken = run_of(consumer, Run(tuple(fields), second.params, run.extent, run.context))
        expected = shown(taken, consumer)
    tally.note(seed, expected, shown(new, fused), new.fault is not None)


def part_runs(first: Module, second: Module, run: Run) -> tuple[Run, Run]:
    """What of a fused module's run is its first part's, and what is the second's."""
    inputs, params = len(first.manifest.inputs), len(first.manifest.params)
    theirs = tuple(  # their struct types go by the numbers of their own table
        Value(param.ty, value.words)
        for param, value in zip(second.manifest.params, run.params[params:], strict=True)
    )
    return (
        Run(run.inputs[:inputs], run.params[:params], run.extent, run.context),
        Run(run.inputs[inputs:], theirs, run.extent, run.context),
    )


def try_outputs(rng: Random, seed: int, tally: Tally) -> None:
    """Two maps: fused, and each alone."""
    a, b = random_maps(rng)
    try:
        fused = fuse_outputs(a, b)
    except FuseError as error:
        tally.refused[error.reason.name] += 1
        return
    run = random_run(rng, fused, 12)
    new = run_of(fused, run)
    parts = [(m, run_of(m, part)) for m, part in zip((a, b), part_runs(a, b, run), strict=True)]
    expected: object = next((shown(o, m) for m, o in parts if o.fault), None)
    if expected is None:
        expected = repr((*(parts[0][1].outputs or ()), *(parts[1][1].outputs or ())))
    tally.note(seed, expected, shown(new, fused), new.fault is not None)


TRIES: dict[str, Callable[[Random, int, Tally], None]] = {
    "optimize": try_optimize,
    "fuse": lambda rng, seed, tally: try_wire(rng, seed, tally, fuse, False),
    "fuse_indexed": lambda rng, seed, tally: try_wire(rng, seed, tally, fuse_indexed, True),
    "fuse_outputs": try_outputs,
}


def check(name: str, count: int, seed: int) -> Tally:
    """Tries seeds from ``seed`` on until ``count`` modules are held against each other."""
    tally = Tally()
    while tally.checked < count:
        TRIES[name](Random(seed), seed, tally)
        tally.tried += 1
        seed += 1
    return tally


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Whether transforms leave words and faults as is.")
    parser.add_argument("transforms", nargs="*", default=[*TRIES], help=", ".join(TRIES))
    parser.add_argument("--count", type=int, default=2000, help="modules for each transform")
    parser.add_argument("--seed", type=int, default=1, help="the first random seed")
    given = parser.parse_args(arguments)
    wrong = 0
    for name in given.transforms:
        tally = check(name, given.count, given.seed)
        wrong += len(tally.differ)
        print(
            f"{name}: {tally.checked} modules unchanged but {len(tally.differ)}, {tally.failed} of "
            f"the runs failed alike; seeds from {given.seed}, {tally.tried} tried"
        )
        if tally.refused:
            print("  refused:", ", ".join(f"{k} {n}" for k, n in tally.refused.most_common()))
        for seed in tally.differ[:10]:
            print(f"  differs: seed {seed}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
