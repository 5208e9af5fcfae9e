"""A slice of ``python -m tests.kernel.unchanged``: transforms keep words and failures."""

from __future__ import annotations

import pytest

from tests.kernel.unchanged import TRIES, check, main

SEED = 20_000


@pytest.mark.parametrize("name", TRIES)
def test_random_modules_compute_and_fail_as_before(name: str) -> None:
    tally = check(name, 40, SEED)
    print(f"{name}: seeds {SEED} to {SEED + tally.tried - 1}, {tally.failed} runs failed")
    assert tally.differ == []
    assert tally.checked == 40


def test_the_command_prints_its_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["optimize", "--count", "2", "--seed", "5"]) == 0
    assert "optimize: 2 modules unchanged but 0" in capsys.readouterr().out
