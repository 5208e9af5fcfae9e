"""The intermediate representation: one interned DAG node type for every stage."""

from dynamis.uop.axis_type import AXIS_TYPES, AxisType
from dynamis.uop.bounds import bounds, cannot_wrap, vmax, vmin
from dynamis.uop.build import (
    after,
    alu_binary,
    alu_ternary,
    alu_unary,
    barrier,
    bitcast,
    break_,
    broadcast,
    buffer,
    cast,
    const,
    const_bool,
    const_float,
    const_int,
    const_like,
    const_of_dtype,
    custom,
    custom_inline,
    end_,
    endif,
    fresh_buffer_slot,
    group,
    if_,
    index,
    is_pointer,
    linear,
    load,
    noop,
    param,
    range_,
    replace,
    reserve_buffer_slots,
    shape_to_shape_arg,
    sink,
    special,
    stack,
    store,
    variable,
    with_tag,
    zero_like,
)
from dynamis.uop.errors import BottomUpGate, RewriteError, SpecError, UopError, UopNotFound
from dynamis.uop.evaluate import evaluate, has_evaluation
from dynamis.uop.node import Uop
from dynamis.uop.ops import Group, Op, Ops
from dynamis.uop.const import Const
from dynamis.uop.payload import Estimates, KernelInfo, ParamArg, Payload, RangeInfo
from dynamis.uop.range_set import ranges, ranges_subset
from dynamis.uop.rewrite import first_match, graph_rewrite, remove_all_tags, substitute
from dynamis.uop.shape import addrspace, as_shape, base, buf_uop, max_shape, shape
from dynamis.uop.traverse import backward_slice, find_nodes, in_backward_slice, toposort
from dynamis.uop.views import (
    as_buffer,
    as_end,
    as_if,
    as_index,
    as_kernel_info,
    as_load,
    as_param,
    as_range,
    as_special,
    as_store,
)
