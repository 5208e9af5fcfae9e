"""Side metadata of nodes: kept beside the graph, weakly, so that it lives as long as its node."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Final

from dynamis.uop.errors import UopError
from dynamis.uop.node import Uop
from dynamis.uop.payload import Metadata

_TABLE: Final[weakref.WeakKeyDictionary[Uop, tuple[Metadata, ...]]] = weakref.WeakKeyDictionary()


def metadata_of(u: Uop) -> tuple[Metadata, ...]:
    """What is attached to `u`; nothing by default."""
    return _TABLE.get(u, ())


def attach_metadata(u: Uop, metadata: Iterable[Metadata]) -> Uop:
    """Attach `metadata` to `u` in place of what it had; nothing takes it away. Gives `u`.

    Raises UopError for what is no Metadata.
    """
    told = tuple(metadata)
    if not all(isinstance(m, Metadata) for m in told):
        raise UopError(f"metadata is a sequence of Metadata, not {told!r}")
    if told:
        _TABLE[u] = told
    else:
        _TABLE.pop(u, None)
    return u
