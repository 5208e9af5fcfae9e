"""The errors: one base, and compatible with the built-in kind a caller would catch."""

from __future__ import annotations

import pytest

from dynamis.errors import DynamisError
from dynamis.uop import RewriteError, SpecError, UopError, UopNotFound


@pytest.mark.parametrize("kind", [UopError, UopNotFound, RewriteError, SpecError])
def test_errors_are_value_errors_of_ours(kind: type[Exception]) -> None:
    assert issubclass(kind, UopError)
    assert issubclass(kind, DynamisError)
    assert issubclass(kind, ValueError)
    assert str(kind("no 'x' here")) == "no 'x' here"


def test_a_missing_name_is_a_key_error_too() -> None:
    assert issubclass(UopNotFound, KeyError)
