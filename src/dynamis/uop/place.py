"""Where a node lives: its device, its address space, the buffer behind it.

Devices and address spaces are remembered, weakly, for the nodes that were asked: a pass that asks
every node of a graph in order walks it once.
"""

from __future__ import annotations

import weakref
from typing import Final

from dynamis.dtype import AddrSpace
from dynamis.uop.node import Uop, node
from dynamis.uop.ops import Group, Op, Ops
from dynamis.uop.payload import Device, MultiDevice, OpDevice, ParamArg, SingleDevice, StageOpts
from dynamis.uop.traverse import toposort

_NO_DEVICE_INSIDE: Final = frozenset((Ops.PARAM, Ops.BUFFER, Ops.STAGE, Ops.COPY, Ops.ALLREDUCE))


def device_of(u: Uop) -> Device | None:
    """The device of `u`.

    STAGE, PARAM, BUFFER, COPY and ALLREDUCE say theirs; AFTER has its first source's; MSELECT
    takes one of a group's (None outside it); MSTACK of single devices is their group; any other
    op has the device of the first source that has one.
    """
    return devices_of(u, {})


_DEVICES: Final[weakref.WeakKeyDictionary[Uop, Device | None]] = weakref.WeakKeyDictionary()
_SPACES: Final[weakref.WeakKeyDictionary[Uop, AddrSpace | None]] = weakref.WeakKeyDictionary()


def devices_of(u: Uop, memo: dict[Uop, Device | None]) -> Device | None:
    """`device_of`, remembering in `memo` what it finds on the way."""
    if u in _DEVICES:
        return _DEVICES[u]

    def enters(n: Uop) -> bool:
        return n.op not in _NO_DEVICE_INSIDE and n not in memo and n not in _DEVICES

    for n in toposort(u, gate=enters):
        if n not in memo:
            memo[n] = _DEVICES[n] if n in _DEVICES else _device(n, memo)
    found = _DEVICES[u] = memo[u]
    return found


def _device(n: Uop, memo: dict[Uop, Device | None]) -> Device | None:
    arg = n.arg
    if isinstance(arg, (StageOpts, ParamArg, OpDevice)):
        return arg.device
    if n.op in _NO_DEVICE_INSIDE:
        return arg if isinstance(arg, Device) else None
    if n.op is Ops.AFTER:
        return memo[n.src[0]] if n.src else None
    if n.op is Ops.MSELECT and n.src:
        group = memo[n.src[0]]
        if not isinstance(group, MultiDevice) or not isinstance(arg, int):
            return None
        return SingleDevice(group.names[arg]) if 0 <= arg < len(group.names) else None
    if n.op is Ops.MSTACK:
        shards = [memo[s] for s in n.src]
        names = [d.name for d in shards if isinstance(d, SingleDevice)]
        return MultiDevice(tuple(names)) if names and len(names) == len(shards) else None
    for s in n.src:
        if (found := memo[s]) is not None:
            return found
    return None


_FOLLOWS_FIRST: Final[frozenset[Op]] = frozenset((
    Ops.INDEX, Ops.CAST, Ops.AFTER, Ops.REDUCE, Ops.STORE, Ops.MSTACK, Ops.MSELECT,
    *Group.movement,
))  # fmt: skip
_AGREES: Final = frozenset((Ops.STACK, Ops.WMMA, *Group.elementwise)) - _FOLLOWS_FIRST
_ENTERS: Final = _FOLLOWS_FIRST | _AGREES


def addrspace(u: Uop) -> AddrSpace | None:
    """The address space of `u`.

    PARAM and BUFFER say theirs; SPECIAL, RANGE and LOAD are in ALU; index-like nodes have their
    first source's; elementwise nodes and stacks the one their sources agree on, else None. A
    constant has none, and so never disagrees.
    """
    if u in _SPACES:
        return _SPACES[u]
    memo: dict[Uop, AddrSpace | None] = {}
    for n in toposort(u, gate=lambda n: n.op in _ENTERS and n not in _SPACES):
        space: AddrSpace | None = None
        if n in _SPACES:
            space = _SPACES[n]
        elif isinstance(n.arg, ParamArg):
            space = n.arg.addrspace
        elif n.op in (Ops.SPECIAL, Ops.RANGE, Ops.LOAD):
            space = AddrSpace.ALU
        elif n.op in _FOLLOWS_FIRST:
            space = memo[n.src[0]] if n.src else None
        elif n.op in _AGREES:
            spaces = {memo[s] for s in n.src} - {None}
            space = spaces.pop() if len(spaces) == 1 else None
        memo[n] = space
    found = _SPACES[u] = memo[u]
    return found


def base(u: Uop) -> Uop:
    """`u` without the movement ops and DETACHes on top of it."""
    while (u.op.is_movement or u.op is Ops.DETACH) and u.src:
        u = u.src[0]
    return u


def buf_uop(u: Uop) -> Uop:
    """The node that names the buffer of `u`.

    PARAM and BUFFER are themselves; MSELECT and MSTACK are rebuilt over the buffers of their
    sources; else the walk goes through movement ops and first sources (AFTER, SLICE, INDEX, ...),
    and stops at a STAGE or a node without sources.
    """
    memo: dict[Uop, Uop] = {}
    stack = [u]
    while stack:
        n = stack.pop()
        end = _first_sources(n)
        if end.op not in _SHARDS:
            memo[n] = end
        elif missing := [s for s in end.src if s not in memo]:
            stack += [n, *missing]
        else:
            shards = tuple([memo[s] for s in end.src])
            memo[n] = node(end.op, end.dtype, shards, end.arg, end.node_tag)
    return memo[u]


_SHARDS: Final = (Ops.MSELECT, Ops.MSTACK)
_STOPS: Final = frozenset((Ops.BUFFER, Ops.PARAM, Ops.STAGE, *_SHARDS))


def _first_sources(u: Uop) -> Uop:
    """The end of the way from `u` through first sources."""
    while u.src and u.op not in _STOPS:
        u = u.src[0]
    return u


def has_buffer_identity(u: Uop) -> bool:
    """Whether `u` is a buffer of the graph.

    PARAM, BUFFER and SLICE are; so is one of those through RESHAPE, MULTI, or GETTUPLE of a TUPLE.
    """
    while u.src:
        if u.op in (Ops.RESHAPE, Ops.MULTI):
            u = u.src[0]
        elif u.op is Ops.GETTUPLE and u.src[0].op is Ops.TUPLE:
            elements = u.src[0].src
            if not isinstance(u.arg, int) or not 0 <= u.arg < len(elements):
                return False
            u = elements[u.arg]
        else:
            break
    return u.op in (Ops.PARAM, Ops.BUFFER, Ops.SLICE)
