"""Weak interning: one live object for each key, forgotten with its last user.

A table maps a key to a weak reference that knows the table and the key, so that it can take
itself out. `setdefault` decides races between threads: it is atomic while keys hash and compare
in C, so keys hold integers, strings and identity-hashed objects only, never bare floats.
"""

import weakref
from _weakref import _remove_dead_weakref  # type: ignore[attr-defined]  # not in typeshed
from collections.abc import Callable
from typing import Any, Final, TypeVar

T = TypeVar("T")

remove_dead: Final[Callable[[dict[Any, Any], Any], None]] = _remove_dead_weakref
"""What WeakValueDictionary itself uses: takes an entry out at once, and only a dead one."""


class KeyedRef(weakref.ref[Any]):
    """A weak reference that knows where it is filed."""

    __slots__ = ("key", "table")

    key: Any
    table: dict[Any, Any]


def forget(ref: KeyedRef, remove: Any = remove_dead) -> None:
    """The callback of a KeyedRef: takes it out of its table."""
    # `remove` is bound as a default, so that this still works while the interpreter shuts down
    remove(ref.table, ref.key)


def intern(table: dict[Any, Any], key: Any, fresh: T) -> T:
    """The live object filed under `key`: an earlier one, or else `fresh`, filed now."""
    ref = KeyedRef(fresh, forget)
    ref.table = table
    ref.key = key
    while (filed := table.setdefault(key, ref)) is not ref:
        live: T | None = filed()
        if live is not None:
            return live
        remove_dead(table, key)
    return fresh
