"""What a rule of a spec is, and the small tests that rules are written with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from dynamis.dtype import Val
from dynamis.uop.node import Uop
from dynamis.uop.ops import Op
from dynamis.uop.shape import dims_or_none

Check = Callable[[Uop], str | None]

OK: Final = ""


@dataclass(frozen=True, slots=True)
class SpecRule:
    """A named rule: `check` answers None (not mine), "" (legal) or why the node is not legal."""

    name: str
    check: Check


def rule(name: str, *ops: Op) -> Callable[[Check], SpecRule]:
    """Makes a check a rule of that name, which answers None for all ops but these (if any)."""
    mine = frozenset(ops)

    def wrap(check: Check) -> SpecRule:
        return SpecRule(name, (lambda u: check(u) if u.op in mine else None) if mine else check)

    return wrap


def first(*failures: tuple[bool, str]) -> str:
    """The text of the first that failed, or OK."""
    return next((text for failed, text in failures if failed), OK)


def kind(dtype: object) -> str:
    """ "f", "i" or "b": the kind of operands that an op table row speaks of; "-" for others."""
    if not isinstance(dtype, Val):
        return "-"
    return "f" if dtype.is_float else "i" if dtype.is_int else "b" if dtype.is_bool else "-"


def lanes_differ(us: Sequence[Uop]) -> bool:
    """Whether shapes that are known do not stretch to one another."""
    shapes = [s for s in map(dims_or_none, us) if s is not None]
    for a in shapes:
        for b in shapes:
            for p, q in zip(reversed(a), reversed(b), strict=False):
                if isinstance(p, int) and isinstance(q, int) and p != q and 1 not in (p, q):
                    return True
    return False
