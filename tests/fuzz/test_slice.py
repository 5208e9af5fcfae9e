"""A bounded slice of ``python -m tests.fuzz``, from a fixed seed, and what fuzzing found before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from dynamis.kernel import Module, ValidationError, account, lanes, parse, validate
from tests.fuzz.__main__ import main
from tests.fuzz.counts import expected_cells
from tests.fuzz.guard import Hang, within
from tests.fuzz.hostile import hostile_text, try_text
from tests.fuzz.mutants import AIMS
from tests.fuzz.mutate import mutated, places
from tests.fuzz.rules import RULES
from tests.fuzz.unchanged import TRANSFORMS, hold_same, ran
from tests.fuzz.work import Tally, aim, claims, modules, mutants, run_stage, texts, transform
from tests.kernel.strategies import random_module, random_run

SEED = 20261130
CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.txt"))


def slice_of(stage: Callable[[Tally, int], None], cases: int) -> Tally:
    """A stage, run for some seeds; nothing may fail."""
    print(f"seeds {SEED} to {SEED + cases - 1}")
    tally = Tally()
    run_stage(tally, "slice", stage, range(SEED, SEED + cases))
    assert tally.failures == []
    return tally


def test_modules_are_valid_and_read_back_equal() -> None:
    assert slice_of(modules, 60).counts["equal"] == 60


def test_runs_keep_what_validation_says() -> None:
    tally = slice_of(claims, 60)
    assert tally.counts["runs"] == 60
    assert tally.median_steps >= 50
    assert sum(tally.ran.cells.values()) > 10_000
    assert set(tally.ran.cells) - set(expected_cells()) <= checks_of_work(tally)


def checks_of_work(tally: Tally) -> set[tuple[str, str, str]]:
    return {cell for cell in tally.ran.cells if cell[0] in ("Spend", "Look")}


def test_mutants_are_refused_with_a_path_or_run_the_same() -> None:
    tally = slice_of(mutants, 12)
    assert tally.counts["mutants refused"] > tally.counts["mutants accepted"] > 0


def test_every_rule_is_hit_by_a_mutant_aimed_at_it() -> None:
    assert set(AIMS) == set(RULES)
    rng = Random(SEED)
    missed = [rule for rule in RULES if not any(hits(rng, rule) for _ in range(60))]
    assert missed == []


def hits(rng: Random, rule: int) -> bool:
    """Whether one mutant aimed at the rule is refused by that rule."""
    try:
        validate(aim(rng, rule))
    except ValidationError as error:
        return error.rule == rule
    return False


def test_hostile_texts_end_as_documented() -> None:
    tally = slice_of(texts, 12)
    assert tally.counts["texts"] == 1200
    assert tally.counts["texts refused"] > 0 and tally.counts["texts invalid"] > 0


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_leave_words_and_faults(name: str) -> None:
    tally = slice_of(transform(name), 25)
    assert tally.counts[f"{name}: same"] >= 1


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_what_fuzzing_found_stays_mended(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if try_text(text) == "valid":
        module = parse(text)
        run = random_run(Random(SEED), module, 8)
        before = ran(validate(module), run)
        hold_same(before, ran(validate(lanes(account(module))), run), "lanes", False)


# The tool itself.


def test_the_command_prints_its_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--modules", "2", "--runs", "2", "--mutants", "24", "--texts", "100"]) == 0
    printed = capsys.readouterr().out
    for words in ("modules: 2 generated", "runs that kept", "mutants: 24", "hostile texts: 100"):
        assert words in printed
    assert "failures: 0" in printed


def test_a_failing_stage_is_counted_with_its_seed() -> None:
    def broken(tally: Tally, seed: int) -> None:
        assert seed != 7, "seven"

    tally = Tally()
    run_stage(tally, "broken", broken, range(5, 9))
    assert tally.counts["failures"] == 1
    assert tally.failures[0].startswith("broken 7: ") and "seven" in tally.failures[0]


def test_a_case_that_does_not_end_is_stopped() -> None:
    def endless() -> None:
        while True:
            pass

    with pytest.raises(Hang), within(0.05, "a loop"):
        endless()


def test_mutations_change_one_place() -> None:
    module = random_module(Random(SEED), 8)
    found = places(module)
    changed = [mutated(Random(k), module, found) for k in range(50)]
    assert sum(mutant != module for mutant in changed) > 30
    assert all(isinstance(mutant, Module) for mutant in changed)


def test_the_same_seed_makes_the_same_text() -> None:
    texts = [str(random_module(Random(SEED), 8))]
    assert hostile_text(Random(3), texts) == hostile_text(Random(3), texts)
