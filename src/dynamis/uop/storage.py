"""What a memory access goes to: the storage behind an address, and whether it is a register."""

from __future__ import annotations

from ..dtype import AddrSpace
from .node import Uop
from .ops import Ops


def storage_of(u: Uop) -> Uop:
    """The PARAM or BUFFER behind an INDEX, an AFTER or a LOAD; `u` itself for anything else."""
    while u.op in (Ops.INDEX, Ops.AFTER, Ops.LOAD):
        u = u.src[0]
    return u


def is_register(u: Uop) -> bool:
    """Whether `u` is a BUFFER in REG space."""
    return u.op is Ops.BUFFER and u.arg.addrspace is AddrSpace.REG
