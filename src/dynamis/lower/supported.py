"""What of the Kernel IR the cpu backend runs: maps of Floats, Doubles, Ints and Bools, over every
shape.

In: a module. Out: what it holds that this backend does not run yet, in words, or None. Every module
is asked before it is lowered, so that what cannot be lowered is named instead of met half way.
"""

from __future__ import annotations

from ..elementary import DOUBLE, SINGLE
from ..errors import DynamisError
from ..kernel import op as ir
from ..kernel.module import Mode, Module, PortType
from ..kernel.tables import Intrinsic
from ..kernel.types import Type


class UnsupportedKernel(DynamisError, ValueError):
    """A valid kernel that the cpu backend does not run."""

    def __init__(self, kernel: object, what: str):
        self.what = what
        super().__init__(
            f'{kernel}: the cpu backend does not run {what} yet; backend="reference" does'
        )


# fmt: off
_TYPES = frozenset((
    Type.FLOAT, Type.DOUBLE, Type.INT, Type.BOOL, Type.VEC2, Type.VEC3, Type.VEC4,
    Type.IVEC2, Type.IVEC3, Type.IVEC4,
))
_OPERATIONS = frozenset((
    ir.Const, ir.Param, ir.Arg, ir.Unary, ir.Binary, ir.Construct, ir.Extract, ir.Call,
    ir.Intrinsic, ir.If, ir.Loop, ir.Carried, ir.Index, ir.Coord, ir.Domain, ir.Element, ir.Sample,
    ir.At, ir.AtLinear, ir.Count, ir.Size, ir.Spend, ir.Look,
))
_I = Intrinsic
_INTRINSICS = frozenset((
    _I.FLOOR, _I.CEIL, _I.ROUND, _I.TRUNC, _I.FRACT, _I.SIGN, _I.ABS, _I.SQRT, _I.MIN, _I.MAX,
    _I.CLAMP, _I.MIX, _I.STEP, _I.SMOOTHSTEP, _I.FMA, _I.ADD_WRAP, _I.SUB_WRAP, _I.MUL_WRAP,
    _I.ULT, _I.UDIV, _I.UREM, _I.TO_FLOAT, _I.TO_DOUBLE, _I.TO_INT, _I.BITS, _I.FROM_BITS,
))
# fmt: on


def require_supported(module: Module) -> None:
    """Raises UnsupportedKernel where ``unsupported`` names something."""
    what = unsupported(module)
    if what is not None:
        raise UnsupportedKernel(module.manifest.id, what)


def unsupported(module: Module) -> str | None:
    """What ``module`` holds that the cpu backend does not run, in words; None when it runs."""
    manifest = module.manifest
    if manifest.mode != Mode.MAP:
        return f"{manifest.mode.name} kernels"
    ports = (*manifest.inputs, *manifest.outputs)
    found = [_port(port.ty) for port in ports]
    found += ["parameters of struct types" for param in manifest.params if param.ty.is_struct]
    types = [param.ty for param in manifest.params]
    types += [part.ty for record in module.structs for part in record.fields]
    found += ["arrays" for record in module.structs if record.is_array]
    for function in module.all_functions():
        types += function.args
        for instruction in function.instructions():
            types.append(instruction.ty)
            found.append(_operation(instruction.op, instruction.ty))
    found += [_type(ty) for ty in types]
    return next((what for what in found if what is not None), None)


def _port(ty: PortType) -> str | None:
    if ty.encoding is not None:
        return f"{ty.encoding.value} encodings"
    return "ports of struct types" if ty.element.is_struct else _type(ty.element)


def _type(ty: Type) -> str | None:
    return None if ty.is_struct or ty in _TYPES else f"{ty} values"


def _operation(op: ir.Op, ty: Type) -> str | None:
    if isinstance(op, ir.Intrinsic):
        name, written = op.intrinsic.value, DOUBLE if ty == Type.DOUBLE else SINGLE
        runs = op.intrinsic in _INTRINSICS or name in written
        return None if runs else f"the intrinsic {name}"
    if isinstance(op, ir.Const) and op.value.ty.is_struct:
        return "constants of struct types"
    return None if type(op) in _OPERATIONS else f"the operation {type(op).__name__}"
