"""What every error of the package shares: one base, one way out of a public function, good English.

The text of an error is written for the person who made the call, so the frames of the package and
the exceptions it met on the way are left out of the traceback: ``public`` cuts them off.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class DynamisError(Exception):
    """Base of all errors of this package; its text is written for the person who made the call."""


def public(function: Callable[P, R]) -> Callable[P, R]:
    """Make ``function`` an entry of the package that users call.

    A DynamisError leaves it without a cause and with one frame of the package, the least that
    Python shows of a function written in it. Other exceptions pass as they are."""

    @functools.wraps(function)
    def entry(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except DynamisError as error:
            raise error.with_traceback(None) from None

    return entry


def a_kind(thing: object) -> str:
    """What ``thing`` is, by its type: ``an int``, ``a NoneType``."""
    return with_article(type(thing).__name__)


def with_article(noun: str) -> str:
    """``noun`` with "a" or "an" before it: an ivec2, an f64, a uint8, an ndarray."""
    first = noun[:1].lower()
    sounds_open = first in "aeio" or noun in ("f16", "f32", "f64") or noun.startswith("nd")
    if first == "u":  # "un-" and "up-" open with a vowel, "uint8" and "ufunc" do not
        sounds_open = noun[:2].lower() in ("un", "up", "ut") and not noun.startswith("uni")
    return f"{'an' if sounds_open else 'a'} {noun}"
