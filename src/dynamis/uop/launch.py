"""Programs: names for functions, and what a launch needs to know of a kernel."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from typing import Final

from dynamis.dtype import AddrSpace, Val
from dynamis.uop.abi import CORE_ID
from dynamis.uop.errors import UopError, UopNotFound
from dynamis.uop.evaluate import evaluate
from dynamis.uop.node import Uop
from dynamis.uop.ops import Ops
from dynamis.uop.order import compare_structure
from dynamis.uop.payload import KernelInfo, LaunchDim, LaunchValue, ParamArg, ProgramInfo
from dynamis.uop.traverse import toposort

_LAUNCH_AXES: Final = 3
_STORAGE: Final = (Ops.PARAM, Ops.BUFFER, Ops.STAGE, Ops.MSELECT, Ops.MSTACK)
_LAUNCH_NAME: Final = re.compile(r"(g|l|)idx([0-9]+)", re.ASCII)


def sanitize_function_name(name: str) -> str:
    """`name` as a C identifier.

    A character outside [A-Za-z0-9_] becomes the upper-case hexadecimal of its code point; a
    result that is empty or starts with a digit takes a `_` in front.
    """
    spelled = re.sub(r"[^A-Za-z0-9_]", lambda m: f"{ord(m[0]):X}", name)
    return spelled if spelled and not spelled[0].isdigit() else "_" + spelled


def kernel_function_name(info: KernelInfo) -> str:
    """The kernel's name as a C identifier."""
    return sanitize_function_name(info.name)


def program_function_name(info: ProgramInfo) -> str:
    """The program's name as a C identifier."""
    return sanitize_function_name(info.name)


def program_info_from_sink(sink: Uop, aux: Iterable[str] = ()) -> ProgramInfo:
    """What a launch of the kernel under `sink` needs.

    `vars` are the ALU parameters (by slot, then structure), `globals` the slots of the others,
    `outs` and `ins` the slots stored to and loaded from, each once and sorted. SPECIALs named
    `gidx<n>` and `lidx<n>` set the global and local size of axis n; `idx<n>` sets the global size
    and leaves the local one to the device. A variable core_id makes axis 0 as long as it counts.

    Raises UopError for a launch axis that is not 0, 1 or 2 and for a local size that is no
    integer constant.
    """
    variables: dict[Uop, None] = {}
    touched: dict[str, set[int]] = {"globals": set(), "outs": set(), "ins": set()}
    global_size: list[LaunchDim] = [1] * _LAUNCH_AXES
    local_size: list[int] | None = [1] * _LAUNCH_AXES
    core_ids: list[Uop] = []
    behind: dict[Uop, Uop] = {}  # the storage that first sources lead to
    for u in toposort(sink):
        behind[u] = behind[u.src[0]] if u.src and u.op not in _STORAGE else u
        if u.op is Ops.PARAM and isinstance(u.arg, ParamArg):
            if u.arg.addrspace is AddrSpace.ALU:
                variables[u] = None
                if u.arg.name == CORE_ID:
                    core_ids.append(u)
            else:
                touched["globals"].add(u.arg.slot)
        elif u.op in (Ops.LOAD, Ops.STORE) and u.src:
            slot = _accessed(u.src[0], behind)
            if slot is not None:
                touched["ins" if u.op is Ops.LOAD else "outs"].add(slot)
        elif u.op is Ops.SPECIAL:
            kind, axis = _launch_axis(u)
            if kind == "l":
                if local_size is not None:
                    local_size[axis] = _fixed(u.src[0])
            else:
                global_size[axis] = _size(u.src[0])
                local_size = None if kind == "" else local_size
    for core_id in core_ids:
        global_size[0] = core_id.vmax + 1
    info = sink.as_kernel_info()
    return ProgramInfo(
        name="test" if info is None else info.name,
        global_size=tuple(global_size),
        local_size=None if local_size is None else tuple(local_size),
        vars=tuple(sorted(variables, key=functools.cmp_to_key(_by_slot))),
        aux=tuple(aux),
        **{name: tuple(sorted(slots)) for name, slots in touched.items()},
    )


def _by_slot(a: Uop, b: Uop) -> int:
    slots = (a.arg.slot > b.arg.slot) - (a.arg.slot < b.arg.slot)
    return slots or compare_structure(a, b)


def _accessed(place: Uop, behind: Mapping[Uop, Uop]) -> int | None:
    """The slot of the PARAM that a LOAD or STORE through `place` touches."""
    inner = place.src[0] if place.op is Ops.CAST and place.src else place
    if inner.op not in (Ops.INDEX, Ops.SHRINK) or (place is not inner and inner.op is Ops.SHRINK):
        return None
    buffer = behind[inner]
    is_param = buffer.op is Ops.PARAM and isinstance(buffer.arg, ParamArg)
    return buffer.arg.slot if is_param else None


def _launch_axis(u: Uop) -> tuple[str, int]:
    """The kind ("g", "l" or "") and the axis of a SPECIAL."""
    found = _LAUNCH_NAME.fullmatch(u.arg) if isinstance(u.arg, str) else None
    if found is None or len(u.src) != 1:
        raise UopError(f"{u.arg!r} is no launch index: gidx<n>, lidx<n> or idx<n>")
    axis = int(found[2]) if len(found[2]) < 4 else _LAUNCH_AXES
    if axis >= _LAUNCH_AXES:
        raise UopError(f"launch index {u.arg!r}: a launch has {_LAUNCH_AXES} axes")
    return found[1], axis


def _size(u: Uop) -> int | Uop:
    from dynamis.uop.symbolic import simplify  # its rules are not needed to name a program

    made = simplify(u)
    value = made.arg.value if made.op is Ops.CONST else None
    return value if isinstance(value, int) else made


def _fixed(u: Uop) -> int:
    size = _size(u)
    if isinstance(size, Uop):
        raise UopError(f"a local launch size is an integer, not {size!r}")
    return size


def program_runtimevars(info: ProgramInfo) -> dict[str, int]:
    """The names of variables that the runtime supplies, with their place in `vars`."""
    return {u.arg.name: i for i, u in enumerate(info.vars) if _name(u) == CORE_ID}


def program_launch_dims(
    info: ProgramInfo, *, var_vals: Mapping[str, int]
) -> tuple[tuple[LaunchValue, ...], tuple[int, ...] | None]:
    """The global and local size of a launch, symbolic ones computed from named variables.

    Raises UopNotFound (a KeyError) for a variable without a value, and for an expression that
    has no evaluation here.
    """
    sizes = [_resolved(d, var_vals) if isinstance(d, Uop) else d for d in info.global_size]
    return tuple(sizes), info.local_size


def program_vals(info: ProgramInfo, *, var_vals: Mapping[str, int]) -> tuple[int | None, ...]:
    """The argument for each of `vars`: None where the runtime supplies it.

    Raises UopNotFound (a KeyError) for a variable without a value.
    """
    runtime = program_runtimevars(info)
    return tuple([None if _name(u) in runtime else _named(u, var_vals) for u in info.vars])


def _name(u: Uop) -> str | None:
    return u.arg.name if isinstance(u.arg, ParamArg) else None


def _named(u: Uop, var_vals: Mapping[str, int]) -> int:
    name = _name(u)
    if name is None or name not in var_vals:
        raise UopNotFound(f"no value for variable {name!r}")
    return int(var_vals[name])


def _resolved(root: Uop, var_vals: Mapping[str, int]) -> int:
    values: dict[Uop, int | float] = {}
    for u in toposort(root, gate=lambda n: n.op not in (Ops.PARAM, Ops.CONST)):
        if u.op is Ops.PARAM:
            values[u] = _named(u, var_vals)
        elif u.op is Ops.CONST and isinstance(u.arg.value, (int, float)):
            values[u] = u.arg.value
        elif u.op is Ops.BIND and len(u.src) == 2:
            values[u] = values[u.src[1]]
        else:
            values[u] = _computed(u, values)
    return int(values[root])


def _computed(u: Uop, values: Mapping[Uop, int | float]) -> int | float:
    if not u.op.is_elementwise or not isinstance(u.dtype, Val) or not u.src:
        raise UopNotFound(f"a launch size is not computed from {u.op.name}")
    source = u.src[0].dtype
    operands = [values[s] for s in u.src]
    try:
        return evaluate(u.op, u.dtype, operands, source=source if isinstance(source, Val) else None)
    except UopError as error:
        raise UopNotFound(f"a launch size has no value: {error}") from None
