"""The properties and methods by which a node tells about itself.

This is the base class of `Uop`: what is said of one node is read from the node (`u.shape`,
`u.ranges`, `u.as_range()`), what relates or builds nodes is a function of `dynamis.uop`. Each
property is computed by the module that is named after its subject; those import `node.py`, so
they are imported here when first asked.
"""

# mypy: disable-error-code="misc"
# `self` is a Uop throughout: Uop is the only subclass, and the functions behind want one.

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from dynamis.uop.ops import Ops

if TYPE_CHECKING:
    from dynamis.dtype import AddrSpace
    from dynamis.uop import marg, views
    from dynamis.uop.node import Uop
    from dynamis.uop.opt import Opt
    from dynamis.uop.payload import CallInfo, Device, KernelInfo, Metadata, ProgramInfo
    from dynamis.uop.realize import NeverRealized, RuntimeDependent


class Accessors:
    """Base of `Uop`."""

    __slots__ = ()

    # -- identity

    @property
    def children(self: Uop) -> list[Uop]:
        """The sources as a list."""
        return list(self.src)

    @property
    def metadata(self: Uop) -> tuple[Metadata, ...]:
        """The side metadata of the node: no part of its identity, nor of `semantic_key`."""
        from dynamis.uop.metadata import metadata_of

        return metadata_of(self)

    def with_metadata(self: Uop, metadata: Iterable[Metadata]) -> Uop:
        """Attach side metadata to the node, in place of what it had; gives the node itself.

        Equal nodes are one node, so all who hold it see the metadata.
        """
        from dynamis.uop.metadata import attach_metadata

        return attach_metadata(self, metadata)

    def equal(self: Uop, other: Uop) -> bool:
        """Whether the two are one node: `self is other`."""
        return self is other

    def compare(self: Uop, other: Uop) -> int:
        """-1, 0 or 1 by `tag`: total, but not the same in another run (see compare_structure)."""
        return (self.tag > other.tag) - (self.tag < other.tag)

    @property
    def semantic_key(self: Uop) -> str:
        """A digest of op, dtype, payload and sources' keys, the same in every process.

        Leaves out `tag`, `node_tag` and metadata. Internal (negative) BUFFER slots count by their
        first appearance. A gradient callback counts by identity, so such a key must not be stored.
        """
        from dynamis.uop.semantic import semantic_key

        return semantic_key(self)

    # -- bounds

    @property
    def vmin(self: Uop) -> Any:
        """A lower bound of the value: an exact integer; -inf unless integer or bool."""
        if self._bounds is None:
            from dynamis.uop.bounds import bounds

            return bounds(self)[0]
        return self._bounds[0]

    @property
    def vmax(self: Uop) -> Any:
        """An upper bound of the value, symmetric to `vmin`."""
        if self._bounds is None:
            from dynamis.uop.bounds import bounds

            return bounds(self)[1]
        return self._bounds[1]

    @property
    def const_int_value(self: Uop) -> int | None:
        """The value of a one-lane integer CONST, else None."""
        dtype = self.dtype
        if self.op is not Ops.CONST or not dtype.is_int or dtype.count != 1:
            return None
        value = self.arg.value
        return value if isinstance(value, int) else None

    # -- shape and place

    @property
    def shape(self: Uop) -> tuple[Uop, ...]:
        """The shape: a symbolic integer (a CONST where it is fixed) for each dimension.

        Raises UopError when the node has none.
        """
        from dynamis.uop.shape import shape

        return shape(self)

    @property
    def max_shape(self: Uop) -> tuple[int, ...]:
        """`shape` with each symbolic dimension replaced by its upper bound."""
        found = self._shape
        # known, and one of the two that values of a kernel have: () and (lanes,)
        if found == () or (
            found.__class__ is tuple and len(found) == 1 and found[0].__class__ is int
        ):
            return found  # type: ignore[no-any-return]  # a tuple of integers
        from dynamis.uop.shape import max_shape

        return max_shape(self)

    @property
    def shard_shape(self: Uop) -> tuple[Uop, ...]:
        """The shape of one shard: the sharded axis of a multi-device value divided by devices."""
        from dynamis.uop.shard import shard_shape

        return shard_shape(self)

    @property
    def max_shard_shape(self: Uop) -> tuple[int, ...]:
        """`shard_shape` with each symbolic dimension replaced by its upper bound."""
        from dynamis.uop.shard import max_shard_shape

        return max_shard_shape(self)

    @property
    def axis(self: Uop) -> int | None:
        """The sharding axis, or None. Raises UopError when a RESHAPE cuts it unevenly."""
        from dynamis.uop.shard import axis

        return axis(self)

    @property
    def bounds(self: Uop) -> tuple[tuple[Uop, Uop], ...]:
        """The (start, stop) of each device's shard on the sharding axis.

        Raises UopError without a sharding axis or a multi-device placement. (Bounds of the value
        are `vmin` and `vmax`.)
        """
        from dynamis.uop.shard import bounds

        return bounds(self)

    @property
    def device(self: Uop) -> Device | None:
        """Where the value lives, when something under the node says so."""
        from dynamis.uop.place import device_of

        return device_of(self)

    @property
    def addrspace(self: Uop) -> AddrSpace | None:
        """The address space of the node, or None."""
        from dynamis.uop.place import addrspace

        return addrspace(self)

    @property
    def base(self: Uop) -> Uop:
        """The node under the movement ops and DETACHes on top."""
        from dynamis.uop.place import base

        return base(self)

    @property
    def buf_uop(self: Uop) -> Uop:
        """The node that says which buffer this one is in."""
        from dynamis.uop.place import buf_uop

        return buf_uop(self)

    @property
    def has_buffer_identity(self: Uop) -> bool:
        """Whether the node is itself a buffer of the graph (through RESHAPE, MULTI, ...)."""
        from dynamis.uop.place import has_buffer_identity

        return has_buffer_identity(self)

    @property
    def contiguous_view_offset(self: Uop) -> int | None:
        """The element offset, when the node is provably a contiguous view of a buffer."""
        from dynamis.uop.view_offset import contiguous_view_offset

        return contiguous_view_offset(self)

    @property
    def runtime_realization_state(self: Uop) -> NeverRealized | RuntimeDependent:
        """What the graph alone says about whether the node's storage exists."""
        from dynamis.uop.realize import runtime_realization_state

        return runtime_realization_state(self)

    @property
    def ranges(self: Uop) -> tuple[Uop, ...]:
        """The RANGE nodes that the node is nested in, in order of first occurrence.

        A RANGE is in its own, first. Ops that close loops (END, REDUCE, ...) take theirs out.
        """
        found = self._ranges
        if found is not None:
            return (self, *found) if self.op is Ops.RANGE else found
        from dynamis.uop.range_set import ranges

        return ranges(self)

    # -- arguments in graph form

    def as_shape(self: Uop) -> tuple[Uop, ...]:
        """The node read as a shape argument: a STACK is its sources, else one dimension."""
        from dynamis.uop.marg import as_shape

        return as_shape(self)

    @property
    def marg(self: Uop) -> marg.Marg:
        """The movement argument. Raises UopError unless this is a well-formed movement op."""
        from dynamis.uop.marg import marg

        return marg(self)

    # -- views: the structured reading of an op, or None for any other or a malformed node

    def as_index(self: Uop) -> views.IndexView | None:
        """The view of an INDEX."""
        from dynamis.uop.views import as_index

        return as_index(self)

    def as_load(self: Uop) -> views.LoadView | None:
        """The view of a LOAD with 1 or 3 sources."""
        from dynamis.uop.views import as_load

        return as_load(self)

    def as_store(self: Uop) -> views.StoreView | None:
        """The view of a STORE with 2 or 3 sources."""
        from dynamis.uop.views import as_store

        return as_store(self)

    def as_range(self: Uop) -> views.RangeView | None:
        """The view of a RANGE."""
        from dynamis.uop.views import as_range

        return as_range(self)

    def as_end(self: Uop) -> views.EndView | None:
        """The view of an END."""
        from dynamis.uop.views import as_end

        return as_end(self)

    def as_if(self: Uop) -> views.IfView | None:
        """The view of an IF with 2 sources."""
        from dynamis.uop.views import as_if

        return as_if(self)

    def as_reduce(self: Uop) -> views.ReduceView | None:
        """The view of a REDUCE."""
        from dynamis.uop.views import as_reduce

        return as_reduce(self)

    def as_allreduce(self: Uop) -> views.AllreduceView | None:
        """The view of an ALLREDUCE."""
        from dynamis.uop.views import as_allreduce

        return as_allreduce(self)

    def as_stage(self: Uop) -> views.StageView | None:
        """The view of a STAGE."""
        from dynamis.uop.views import as_stage

        return as_stage(self)

    def as_slice(self: Uop) -> views.SliceView | None:
        """The view of a SLICE."""
        from dynamis.uop.views import as_slice

        return as_slice(self)

    def as_wait(self: Uop) -> views.WaitView | None:
        """The view of a WAIT with 2 sources."""
        from dynamis.uop.views import as_wait

        return as_wait(self)

    def as_param(self: Uop) -> views.ParamView | None:
        """The view of a PARAM with exactly one shape child."""
        from dynamis.uop.views import as_param

        return as_param(self)

    def as_buffer(self: Uop) -> views.BufferView | None:
        """The view of a BUFFER with exactly one shape child."""
        from dynamis.uop.views import as_buffer

        return as_buffer(self)

    def as_wmma(self: Uop) -> views.WmmaView | None:
        """The view of a WMMA with 3 sources."""
        from dynamis.uop.views import as_wmma

        return as_wmma(self)

    def as_shaped_wmma(self: Uop) -> views.ShapedWmmaView | None:
        """The view of a SHAPED_WMMA with 3 sources."""
        from dynamis.uop.views import as_shaped_wmma

        return as_shaped_wmma(self)

    def as_call(self: Uop) -> views.CallView | None:
        """The view of a CALL or FUNCTION."""
        from dynamis.uop.views import as_call

        return as_call(self)

    def as_special(self: Uop) -> views.SpecialView | None:
        """The view of a SPECIAL."""
        from dynamis.uop.views import as_special

        return as_special(self)

    def as_bind(self: Uop) -> views.BindView | None:
        """The view of a BIND with 2 sources."""
        from dynamis.uop.views import as_bind

        return as_bind(self)

    def as_contiguous_opts(self: Uop) -> tuple[Opt, ...] | None:
        """The schedule options of a CONTIGUOUS that carries some."""
        from dynamis.uop.views import as_contiguous_opts

        return as_contiguous_opts(self)

    def as_kernel_info(self: Uop) -> KernelInfo | None:
        """The kernel annotations of a SINK that carries some."""
        from dynamis.uop.views import as_kernel_info

        return as_kernel_info(self)

    def as_call_info(self: Uop) -> CallInfo | None:
        """The annotations of a CALL or FUNCTION."""
        from dynamis.uop.views import as_call_info

        return as_call_info(self)

    def as_program_info(self: Uop) -> ProgramInfo | None:
        """The payload of a PROGRAM that carries one."""
        from dynamis.uop.views import as_program_info

        return as_program_info(self)

    # -- notebooks

    def _repr_svg_(self: Uop) -> str | None:
        """The picture that a notebook shows; None, for its text, without Graphviz."""
        from dynamis.uop.picture import notebook_svg

        return notebook_svg(self)
