"""Tables keyed by nodes.

A node hashes and compares by identity, and equal nodes are one node: so a plain dict is a table by
structure and by identity at once, and a set of nodes is a set.
"""

from typing import TypeVar

from dynamis.uop.node import Uop

V = TypeVar("V")


class Tbl(dict[Uop, V]):
    """A table keyed by nodes, by structure (the same as by identity)."""

    __slots__ = ()


class RefTbl(dict[Uop, V]):
    """A table keyed by nodes, by identity."""

    __slots__ = ()
