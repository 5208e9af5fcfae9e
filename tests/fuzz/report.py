"""What fuzzing counted, as lines to print."""

from __future__ import annotations

from tests.fuzz.counts import PER_CELL, expected_cells
from tests.fuzz.rules import RULES
from tests.fuzz.unchanged import TRANSFORMS
from tests.fuzz.work import Tally

SHOWN = 12
"""The most failures, and the most rare cells, that are printed."""


def lines(tally: Tally, seed: int, seconds: float) -> list[str]:
    """The report of a run."""
    made = [f"seed {seed}, {seconds:.0f} s"]
    for part in (_modules, _runs, _mutants, _texts, _transforms, _cells):
        made += part(tally)
    made.append(f"failures: {len(tally.failures)}")
    made += tally.failures[:SHOWN]
    return made


def _modules(tally: Tally) -> list[str]:
    if not tally.counts["generated"]:
        return []
    names = ("generated", "validated", "printed", "parsed", "equal")
    return ["modules: " + ", ".join(f"{tally.counts[name]} {name}" for name in names)]


def _runs(tally: Tally) -> list[str]:
    if not tally.counts["runs"]:
        return []
    faults = ", ".join(f"{k[6:]} {n}" for k, n in tally.counts.items() if k.startswith("fault "))
    return [
        f"runs that kept every claim: {tally.counts['runs']}, {tally.faulting:.1%} of them "
        f"faulting ({faults})",
        f"instructions an element: median {tally.median_steps:.0f}",
    ]


def _mutants(tally: Tally) -> list[str]:
    if not tally.counts["mutants"]:
        return []
    never = [n for n in RULES if not tally.rules[n]]
    hits = ", ".join(f"{n}: {tally.rules[n]}" for n in RULES)
    return [
        f"mutants: {tally.counts['mutants']}, {tally.counts['mutants aimed']} of them aimed, "
        f"{tally.counts['mutants refused']} refused, {tally.counts['mutants accepted']} accepted, "
        f"{tally.counts['mutants run, the same optimized']} of those run, the same optimized",
        f"rules hit: {len(RULES) - len(never)} of {len(RULES)}"
        + (f", never {', '.join(map(str, never))}" if never else ""),
        f"hits by rule: {hits}",
    ]


def _texts(tally: Tally) -> list[str]:
    if not tally.counts["texts"]:
        return []
    kinds = ", ".join(
        f"{tally.counts[f'texts {kind}']} {kind}" for kind in ("refused", "invalid", "valid")
    )
    return [f"hostile texts: {tally.counts['texts']}, {kinds}"]


def _transforms(tally: Tally) -> list[str]:
    made = []
    for name in TRANSFORMS:
        found = {k: n for k, n in tally.counts.items() if k.startswith(f"{name}: ")}
        if found:
            made.append(
                f"{name}: " + ", ".join(f"{n} {k[len(name) + 2 :]}" for k, n in found.items())
            )
    return made


def _cells(tally: Tally) -> list[str]:
    if not tally.ran.cells:
        return []
    expected = expected_cells()
    least = min(tally.ran.cells[cell] for cell in expected)
    short = tally.ran.short(PER_CELL)
    rare = [f"  {' '.join(cell)}: {times}" for cell, times in short[:SHOWN]]
    total = sum(tally.ran.cells.values())
    return [
        f"operation × type × mode: {len(expected)} cells, {total} executions, least {least}, "
        f"{len(short)} below {PER_CELL}",
        *rare,
    ]
