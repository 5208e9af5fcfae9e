"""The base of payloads, and how their fields are read.

A payload is frozen and interned: two of equal fields are one object, so a payload compares and
hashes by identity, inside node tables too, and -0.0, NaN, True and 1 stay apart. Fields are
brought to their exact type when a payload is made; what has no such reading raises UopError.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar

from dynamis.uop.errors import UopError
from dynamis.uop.intern import intern

if TYPE_CHECKING:
    from dynamis.uop.node import Uop

_set = object.__setattr__


def atom(value: Any) -> Any:
    """`value` as part of a key: hashed and compared in C, and never equal across kinds."""
    if value.__class__ is float:
        return ("float", "nan" if value != value else struct.pack("<d", value))
    if value.__class__ is bool:
        return ("bool", int(value))
    if value.__class__ is tuple:
        return tuple([atom(v) for v in value])
    return value


class _Interned(type):
    """Makes calling a payload class return the one object with those fields."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        fresh: Payload = super().__call__(*args, **kwargs)
        return intern(fresh.table, fresh.key(), fresh)


class Payload(metaclass=_Interned):
    """Base of the payload dataclasses."""

    __slots__ = ()

    table: ClassVar[dict[Any, Any]] = {}

    def __init_subclass__(cls) -> None:
        cls.table = {}

    def values(self) -> tuple[Any, ...]:
        """The fields in order."""
        return tuple([getattr(self, f.name) for f in fields(self)])  # type: ignore[arg-type]  # subclasses are dataclasses

    def stated(self) -> list[tuple[str, Any]]:
        """The (name, value) of the fields that differ from their default."""
        told = fields(self)  # type: ignore[arg-type]  # as above
        pairs = [(f, getattr(self, f.name)) for f in told]
        return [(f.name, v) for f, v in pairs if v is not f.default]

    def key(self) -> tuple[Any, ...]:
        """The fields as an exact, hashable key."""
        return tuple([atom(v) for v in self.values()])

    def _fix(self, name: str, read: Callable[[Any], Any]) -> None:
        """Bring a field to its exact type. Raises UopError where it has no such reading."""
        value = getattr(self, name)
        try:
            exact = read(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise UopError(f"{type(self).__name__}.{name} cannot be {value!r}: {error}") from None
        _set(self, name, exact)

    def __copy__(self) -> Payload:
        return self

    def __deepcopy__(self, memo: object) -> Payload:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self.values()


# -- reading field values: each returns the value in its exact type, or raises


def integer(value: Any) -> int:
    """`value` as an int. Raises TypeError for a float, a str, ..."""
    if not isinstance(value, int):
        raise TypeError("not an integer")
    return int(value)


def text(value: Any) -> str:
    """`value`, a str. Raises TypeError otherwise."""
    if not isinstance(value, str):
        raise TypeError("not a string")
    return str(value)


def truth(value: Any) -> bool:
    """`value` as a bool, from a bool or an int."""
    return bool(integer(value))


def one_of(*kinds: type) -> Callable[[Any], Any]:
    """Reads a value that is an instance of one of `kinds`."""

    def read(value: Any) -> Any:
        if not isinstance(value, kinds):
            raise TypeError(f"not {' or '.join(k.__name__ for k in kinds)}")
        return value

    return read


def optional(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Reads None as None and everything else by `read`."""
    return lambda value: None if value is None else read(value)


def many(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Reads an iterable as a tuple, each item by `read`."""
    return lambda value: tuple([read(v) for v in _items(value)])


def pair(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Reads two items by `read`."""
    return fixed(read, 2)


def fixed(read: Callable[[Any], Any], n: int) -> Callable[[Any], Any]:
    """Reads exactly `n` items by `read`."""

    def exact(value: Any) -> Any:
        found = tuple([read(v) for v in _items(value)])
        if len(found) != n:
            raise ValueError(f"not {n} items")
        return found

    return exact


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise TypeError("not a sequence")
    return value


def node_of(value: Any) -> Uop:
    """`value`, a node. Raises TypeError otherwise."""
    from dynamis.uop.node import Uop  # nodes carry payloads, so node.py imports this file

    if not isinstance(value, Uop):
        raise TypeError("not a node")
    return value


def count(value: Any) -> int | Uop:
    """A number of something: an integer, or a node that stands for one."""
    return integer(value) if isinstance(value, int) else node_of(value)


def launch_dim(value: Any) -> int | float | Uop:
    """A launch dimension: an integer, a float, or a node."""
    return float(value) if isinstance(value, float) else count(value)
