"""Every check of the validator is needed: without any one of them some test fails."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

from dynamis.kernel import check_operation, validate
from tests.fuzz.rules import ROOT, RULES, checks, without
from tests.kernel.build import module


def test_a_test_fails_without_any_single_check_of_the_validator() -> None:
    # in a process of its own: what is taken away there cannot leak into other tests
    command = [sys.executable, "-m", "tests.fuzz.rules"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "checks removed in turn" in done.stdout


def test_checks_are_found_in_every_file_of_the_validator() -> None:
    found = Counter(check.module for check in checks())
    assert min(found[name] for name in ("check_structs", "check_manifest", "check_function")) >= 5
    assert len({check.rule for check in checks()} & set(RULES)) >= 50


def test_a_check_that_is_taken_away_is_gone_until_it_is_put_back() -> None:
    bad = module("%0: Int = const 1\n%1: Float = if %0 then {\n%2: Float = const 0.0\nyield %2\n"
                 "} else {\n%3: Float = const 1.0\nyield %3\n}\nreturn %1")  # fmt: skip
    line = next(c.line for c in checks() if c.rule == 34)
    before = without(check_operation, {line})
    try:
        assert validate(bad).module == bad
    finally:
        for function, code in before.items():
            function.__code__ = code
    assert refuses(bad)


def refuses(bad: object) -> bool:
    try:
        validate(bad)  # type: ignore[arg-type]
    except ValueError:
        return True
    return False
