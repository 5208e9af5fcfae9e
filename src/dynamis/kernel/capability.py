"""What a kernel may ask of its host: the capabilities, and sets of them."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class Capability(Enum):
    """One thing a kernel may ask of its host; the value is the stable spelling."""

    FIELD_READ = "field.read"
    FIELD_WRITE = "field.write"
    TIME_READ = "time.read"
    INPUT_READ = "input.read"

    @property
    def describe(self) -> str:
        """What it grants, for help."""
        return CAPABILITIES[self]

    @staticmethod
    def parse(name: str) -> Capability | None:
        """The spelling's meaning, if it is one."""
        return _BY_NAME.get(name)

    def __str__(self) -> str:
        return self.value


_BY_NAME = {capability.value: capability for capability in Capability}

CAPABILITIES: dict[Capability, str] = {
    Capability.FIELD_READ: "Read the elements and extents of the inputs.",
    Capability.FIELD_WRITE: "Write memories, and emit pairs beside the one the entry returns.",
    Capability.TIME_READ: "Read the session's clock and the sound device's.",
    Capability.INPUT_READ: "Read pointer, wheel, keys, pads, typed text and the window.",
}
"""What each capability grants."""


class Capabilities(frozenset[Capability]):
    """A set of capabilities, printed in order: ``field.read, time.read``, or ``nothing``."""

    __slots__ = ()

    def includes(self, other: Capability | Iterable[Capability]) -> bool:
        """Whether it grants the capability, or all that ``other`` grants."""
        return other in self if isinstance(other, Capability) else self.issuperset(other)

    def union(self, *others: Iterable[object]) -> Capabilities:
        """What any of them grants."""
        granted = super().union(*others)
        return Capabilities(c for c in granted if isinstance(c, Capability))

    def __or__(self, other: object) -> Capabilities:
        return self.union(other) if isinstance(other, frozenset) else NotImplemented

    def __str__(self) -> str:
        return ", ".join(c.value for c in Capability if c in self) or "nothing"

    def __repr__(self) -> str:
        return f"Capabilities({self})"
