"""A function under construction: instructions before they have numbers, records or extracts.

A ``Choice`` (If) or ``Repeat`` (Loop) threads any number of named values; a ``Slot`` is one of them
seen from after it, or from inside a loop. Which names are really carried is only known when the
function is complete: ``emit.py`` keeps those that something reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from ..kernel.module import Span
from ..kernel.op import Op, ValueId
from ..kernel.types import Type

Build = Callable[[tuple[ValueId, ...]], Op]


@dataclass(eq=False, slots=True)
class Draft:
    """One instruction to be: ``build`` makes its op from the ids of its operands."""

    ty: Type
    span: Span
    operands: tuple[Ref, ...]
    build: Build
    may_fail: bool = False


@dataclass(eq=False, slots=True)
class Body:
    """A block to be: its items, and where each named value ends up (None: it has no value here)."""

    items: list[Item] = field(default_factory=list)
    ends: dict[str, End] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class Choice:
    """An If to be."""

    span: Span
    condition: Ref
    then: Body
    otherwise: Body


@dataclass(eq=False, slots=True)
class Repeat:
    """A Loop to be. ``init`` holds the carried names; ``until`` ends with the name ``UNTIL``."""

    span: Span
    count: int
    bound: Ref | None = None
    init: dict[str, End] = field(default_factory=dict)
    until: Body | None = None
    body: Body = field(default_factory=Body)


UNTIL = "%until"

Where = Literal["result", "until", "body"]


@dataclass(frozen=True, slots=True)
class Slot:
    """A named value of a Choice or Repeat: its result, or what a loop's test or body carries in."""

    owner: Choice | Repeat
    where: Where
    name: str


Item = Draft | Choice | Repeat
Ref = Draft | Slot
End = Ref | bool | None
"""A named value at some point: a value, a Bool that is known, or none."""


def bodies(item: Item) -> tuple[Body, ...]:
    """The nested bodies of an item, in the order of the Kernel IR's blocks."""
    match item:
        case Choice():
            return (item.then, item.otherwise)
        case Repeat():
            return (item.body,) if item.until is None else (item.until, item.body)
        case _:
            return ()


def may_fail(body: Body) -> bool:
    """Whether running ``body`` can fail; every loop can, for it spends budget."""
    for item in body.items:
        if isinstance(item, Repeat) or (isinstance(item, Draft) and item.may_fail):
            return True
        if any(may_fail(nested) for nested in bodies(item)):
            return True
    return False


def walk(body: Body) -> Iterator[Item]:
    """Every item of ``body``, nested ones included, in pre-order."""
    for item in body.items:
        yield item
        for nested in bodies(item):
            yield from walk(nested)
