"""Weak interning: one live object for each key, forgotten with its last user.

A table maps a key to a weak reference that knows the table and the key, so that it can take
itself out. `setdefault` decides races between threads: it is atomic while keys hash and compare
in C, so keys hold integers, strings and identity-hashed objects only, never bare floats.
"""

import weakref

# What WeakValueDictionary itself uses: takes an entry out at once, and only a dead one.
from _weakref import _remove_dead_weakref  # type: ignore[attr-defined]  # not in typeshed
from typing import Any, TypeVar

T = TypeVar("T")


class KeyedRef(weakref.ref[Any]):
    """A weak reference that knows where it is filed."""

    __slots__ = ("key", "table")

    key: Any
    table: dict[Any, Any]


def _forget(ref: KeyedRef, remove: Any = _remove_dead_weakref) -> None:
    # `remove` is bound as a default, so that this still works while the interpreter shuts down
    remove(ref.table, ref.key)


def intern(table: dict[Any, Any], key: Any, fresh: T) -> T:
    """The live object filed under `key`: an earlier one, or else `fresh`, filed now."""
    ref = KeyedRef(fresh, _forget)
    ref.table = table
    ref.key = key
    while (filed := table.setdefault(key, ref)) is not ref:
        live: T | None = filed()
        if live is not None:
            return live
        _remove_dead_weakref(table, key)
    return fresh
