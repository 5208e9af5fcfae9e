"""What the graph alone says about whether a node's storage exists at run time."""

from __future__ import annotations

from typing import NamedTuple

from dynamis.dtype import AddrSpace
from dynamis.uop.node import Uop
from dynamis.uop.ops import Ops
from dynamis.uop.place import base
from dynamis.uop.traverse import toposort


class NeverRealized(NamedTuple):
    """No allocation makes the node realised: its base is no buffer, or it is scratch."""


class RuntimeDependent(NamedTuple):
    """The node is realised once the runtime has allocated every one of `buffers`."""

    buffers: tuple[Uop, ...]


def runtime_realization_state(u: Uop) -> NeverRealized | RuntimeDependent:
    """The state of u's `base`: of a BUFFER, or of all BUFFERs under an MSTACK."""
    root = base(u)
    if root.op is Ops.BUFFER:
        buffers = [root]
    elif root.op is Ops.MSTACK:
        buffers = [n for n in toposort(root) if n.op is Ops.BUFFER]
    else:
        buffers = []
    if not buffers or any(b.arg.addrspace in (AddrSpace.LOCAL, AddrSpace.REG) for b in buffers):
        return NeverRealized()
    return RuntimeDependent(tuple(buffers))
