"""What random modules are made of: the whole Kernel IR, or what the native backend runs.

In: the operator tables. Out: ``Scope``s, and for each operation of the tables its *forms*: the
argument types it takes and the type it gives, grouped by the widest argument's type, so that every
(operation, type) is as likely as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product

from dynamis.elementary import SINGLE
from dynamis.kernel import op
from dynamis.kernel.manifest import Shape
from dynamis.kernel.mode import ModeKind
from dynamis.kernel.op_table import OPS
from dynamis.kernel.tables import BinaryOp, Intrinsic, UnaryOp
from dynamis.kernel.types import PLAIN_TYPES, StructDef, Type

Operation = BinaryOp | UnaryOp | Intrinsic
Form = tuple[tuple[Type, ...], Type]
"""The argument types of an operation, and the type it gives."""


@dataclass(frozen=True)
class Scope:
    """The parts of the Kernel IR that a random module may use."""

    types: tuple[Type, ...]
    modes: tuple[ModeKind, ...]
    shapes: tuple[Shape, ...]
    operations: frozenset[type[op.Op]]
    intrinsics: tuple[Intrinsic, ...]
    structured: bool
    """Whether ports and parameters may be structs and encoded, and structs may be arrays."""
    fails: bool = True
    """Whether elements may fail: by arithmetic, or by work past their budget."""

    def without(self, *kinds: type[op.Op]) -> Scope:
        """This scope without some operations."""
        return replace(self, operations=self.operations - set(kinds))


WHOLE = Scope(
    tuple(PLAIN_TYPES.values()),
    tuple(ModeKind),
    tuple(Shape),
    frozenset(kind for kind, row in OPS.items() if not row.placed),
    tuple(Intrinsic),
    True,
)

TOTAL = replace(WHOLE, fails=False)
"""What cannot fail, and runs a few iterations at the most."""

_I = Intrinsic
NATIVE = Scope(
    tuple(
        ty
        for ty in PLAIN_TYPES.values()
        if ty.component != Type.LONG and not ty.is_matrix
    ),
    (ModeKind.MAP,),
    tuple(Shape),
    frozenset((
        op.Const, op.Param, op.Arg, op.Unary, op.Binary, op.Construct, op.Extract, op.Call,
        op.Intrinsic, op.If, op.Loop, op.Carried, op.Index, op.Coord, op.Domain, op.Element,
        op.Sample, op.At, op.AtLinear, op.Count, op.Size,
    )),
    (
        _I.FLOOR, _I.CEIL, _I.ROUND, _I.TRUNC, _I.FRACT, _I.SIGN, _I.ABS, _I.SQRT, _I.MIN, _I.MAX,
        _I.CLAMP, _I.MIX, _I.STEP, _I.SMOOTHSTEP, _I.FMA, _I.ADD_WRAP, _I.SUB_WRAP, _I.MUL_WRAP,
        _I.ULT, _I.UDIV, _I.UREM, _I.TO_FLOAT, _I.TO_DOUBLE, _I.TO_INT, _I.BITS, _I.FROM_BITS,
        *(_I(name) for name in SINGLE),
    ),
    False,
)  # fmt: skip
"""What ``lower`` and ``codegen`` take."""


def widest(args: Sequence[Type]) -> Type:
    """The argument type an operation is counted by: the one of most words, the first of equals."""
    return max(args, key=lambda ty: ty.lanes)


def arity(operation: Operation) -> int:
    """How many arguments an operation of the tables takes."""
    return len(operation.signature.arguments)


@cache
def forms(scope: Scope) -> dict[tuple[Operation, Type], tuple[Form, ...]]:
    """The forms of each operation at each widest type, of the types and operations of a scope."""
    found: dict[tuple[Operation, Type], list[Form]] = {}
    for operation in (*BinaryOp, *UnaryOp, *scope.intrinsics):
        for args in product(scope.types, repeat=arity(operation)):
            gives = operation.signature.result_type(args)
            never = scope.fails or not operation.signature.faults(args[0])
            if gives in scope.types and never:
                found.setdefault((operation, widest(args)), []).append((args, gives))
    return {cell: tuple(made) for cell, made in found.items()}


@cache
def cells(scope: Scope, family: type[Operation]) -> tuple[tuple[Operation, Type], ...]:
    """The (operation, type) pairs of one family of the tables."""
    return tuple(cell for cell in forms(scope) if isinstance(cell[0], family))


FIXED: dict[type[op.Op], tuple[Type, ...]] = {
    op.Index: (Type.INT,), op.Element: (Type.INT,), op.Count: (Type.INT,), op.Lane: (Type.INT,),
    op.Coord: (Type.VEC2, Type.VEC3), op.Domain: (Type.INT, Type.VEC2, Type.VEC3),
    op.Size: (Type.INT, Type.VEC2, Type.VEC3), op.Time: (Type.FLOAT,), op.Clock: (Type.DOUBLE,),
    op.Rate: (Type.FLOAT,), op.Queued: (Type.INT,), op.Pointer: (Type.VEC2,),
    op.PointerDown: (Type.BOOL,), op.Button: (Type.BOOL,), op.Wheel: (Type.VEC2,),
    op.Pads: (Type.INT,), op.Stick: (Type.VEC2,), op.Window: (Type.VEC2,),
    op.Scale: (Type.FLOAT,), op.Key: (Type.BOOL,), op.Typed: (Type.INT,),
}  # fmt: skip
"""The types that operations without a choice of type give."""


def kind_of(ty: Type, structs: Sequence[StructDef]) -> str:
    """What a type is counted as: its name, ``record`` or ``array``."""
    if not ty.is_struct:
        return ty.name
    return "array" if structs[ty.index].is_array else "record"
