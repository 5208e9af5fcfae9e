"""What every check of the validator needs: the error it raises, and how it is raised.

In: what a check found and what it expected. Out: nothing, or a ``ValidationError``. The rules that
the numbers mean are listed in ``validate.py``.
"""

from __future__ import annotations

from ..errors import DynamisError
from .limits import MAX_NAME
from .types import PLAIN_TYPES, Type


class ValidationError(DynamisError, ValueError):
    """A module breaks rule ``rule`` at ``path``: it has ``found`` where ``expected`` must stand."""

    def __init__(self, rule: int, path: str, found: str, expected: str):
        self.rule = rule
        self.path = path
        self.found = found
        self.expected = expected
        super().__init__(f"{path}: found {found}, expected {expected} (rule {rule})")


def shown(found: object) -> str:
    """What was found, for a message: whatever its size, a short text."""
    if isinstance(found, Type) and found.is_struct:
        return f"{found.name[:40]} {shown(found.index)}"
    if isinstance(found, int) and found.bit_length() > 64:
        return f"an integer of {found.bit_length()} bits"
    text = str(found)
    return text if len(text) <= 80 else text[:77] + "..."


def require(holds: bool, rule: int, path: str, found: object, expected: str) -> None:
    if not holds:
        raise ValidationError(rule, path, shown(found), expected)


def require_short(path: str, name: str) -> None:
    """Rule 47."""
    limit = f"a name of at most {MAX_NAME} characters"
    require(len(name) <= MAX_NAME, 47, path, repr(name[:40]) + "...", limit)


def require_dotted(rule: int, path: str, name: str) -> None:
    require_short(path, name)
    is_dotted = all(part.isidentifier() for part in name.split("."))
    require(is_dotted, rule, path, repr(name), "a dotted name")


def require_identifier(rule: int, path: str, name: str, used: set[str]) -> None:
    """That ``name`` is an identifier that is not yet ``used``; then it is."""
    require_short(path, name)
    require(name.isidentifier(), rule, path, repr(name), "an identifier")
    require(name not in used, rule, path, repr(name), "a name not yet used")
    used.add(name)


def is_plain(ty: Type) -> bool:
    return PLAIN_TYPES.get(ty.name) == ty
