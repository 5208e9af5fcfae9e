"""Errors of a call: what was given does not fit what the kernel takes.

Each text names the kernel's port or parameter, says what was found and expected, and what to
write instead.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import DynamisError


class ArgumentError(DynamisError):
    """Base of the errors that an argument of a call, or of a decorator, earns."""


class ArgumentTypeError(ArgumentError, TypeError):
    """A missing, unknown or doubled argument, or one of a type or dtype that does not fit."""


class ArgumentValueError(ArgumentError, ValueError):
    """An argument of the right type whose value, shape, layout or size does not fit."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` where one of the ``known`` names is near ``name``, else nothing."""
    import difflib

    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.65)
    return f"; did you mean {near[0]!r}?" if near else ""
