"""The operator tables of the Kernel IR: each unary, binary and intrinsic operation described once.

Name, arguments, typing rule, meaning and the failures it can have live here; validator, printer,
parser, frontend and help read them. ``arithmetic.py`` holds the reference evaluation of each row,
per word. The operations that are no arithmetic have theirs in ``op_table.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from .fault import FaultKind
from .types import PLAIN_TYPES, SCALAR_TYPES, Type

_VECS = (Type.VEC2, Type.VEC3, Type.VEC4)
_IVECS = (Type.IVEC2, Type.IVEC3, Type.IVEC4)
_MATS = (Type.MAT2, Type.MAT3, Type.MAT4)
_REALS = (Type.FLOAT, Type.DOUBLE, *_VECS)
_INTS = (Type.INT, Type.LONG, *_IVECS)
_NUMBERS = _REALS + _INTS
_SCALAR_NUMBERS = (Type.FLOAT, Type.DOUBLE, Type.INT, Type.LONG)

Args = Sequence[Type]


def _broadcast(args: Args, allowed: Sequence[Type]) -> Type | None:
    """The common type of ``args``: all equal, or vectors of one type beside scalars of its kind."""
    widest = max(args, key=lambda t: t.lanes)
    if all(a in allowed and a in (widest, widest.component) for a in args):
        return widest
    return None


def _equal(args: Args, allowed: Sequence[Type]) -> Type | None:
    """The one type of ``args``, if it is allowed."""
    return args[0] if args[0] in allowed and len(set(args)) == 1 else None


def _matrix(args: Args) -> Type | None:
    """A matrix beside a Float, on either side: the matrix."""
    for m, s in (args, tuple(reversed(args))):
        if m in _MATS and s == Type.FLOAT:
            return m
    return None


class Rule(Enum):
    """How a result type follows from the argument types; the value says it in words."""

    SUM = "numbers or vectors of one kind, a scalar broadcasting; or two equal matrices"
    PRODUCT = "numbers or vectors of one kind, a scalar broadcasting; or a matrix and a Float"
    QUOTIENT = "numbers or vectors of one kind, a scalar broadcasting; or a matrix by a Float"
    NUMBERS = "numbers or vectors of one kind, a scalar broadcasting"
    ORDER = "two equal scalar numbers, giving Bool"
    EQUALITY = "two equal types that are no structs, giving one Bool"
    BOOLS = "Bools"
    BITS_OF = "Ints, Longs or IVecs, an Int broadcasting"
    FLOATS = "Floats, Doubles or Vecs, a Float broadcasting"
    SAME_FLOATS = "equal Floats, Doubles or Vecs"
    INT = "Ints, giving Int"
    INT_BOOL = "Ints, giving Bool"
    TO_FLOAT = "a number or Bool, giving Float"
    TO_DOUBLE = "a number or Bool, giving Double"
    TO_INT = "a number or Bool, giving Int"
    TO_LONG = "a number or Bool, giving Long"
    BITS = "Float, giving Int"
    FROM_BITS = "Int, giving Float"


def _to(result: Type) -> Callable[[Args], Type | None]:
    return lambda args: result if args[0] in SCALAR_TYPES else None


_RULES: dict[Rule, Callable[[Args], Type | None]] = {
    Rule.SUM: lambda args: _broadcast(args, _NUMBERS) or _equal(args, _MATS),
    Rule.PRODUCT: lambda args: _broadcast(args, _NUMBERS) or _matrix(args),
    Rule.QUOTIENT: lambda args: (
        _broadcast(args, _NUMBERS) or (_matrix(args) if args[0].is_matrix else None)
    ),
    Rule.NUMBERS: lambda args: _broadcast(args, _NUMBERS),
    Rule.ORDER: lambda args: Type.BOOL if _equal(args, _SCALAR_NUMBERS) else None,
    Rule.EQUALITY: lambda args: Type.BOOL if _equal(args, tuple(PLAIN_TYPES.values())) else None,
    Rule.BOOLS: lambda args: _equal(args, (Type.BOOL,)),
    Rule.BITS_OF: lambda args: _broadcast(args, _INTS),
    Rule.FLOATS: lambda args: _broadcast(args, _REALS),
    Rule.SAME_FLOATS: lambda args: _equal(args, _REALS),
    Rule.INT: lambda args: _equal(args, (Type.INT,)),
    Rule.INT_BOOL: lambda args: Type.BOOL if _equal(args, (Type.INT,)) else None,
    Rule.TO_FLOAT: _to(Type.FLOAT),
    Rule.TO_DOUBLE: _to(Type.DOUBLE),
    Rule.TO_INT: _to(Type.INT),
    Rule.TO_LONG: _to(Type.LONG),
    Rule.BITS: lambda args: Type.INT if args[0] == Type.FLOAT else None,
    Rule.FROM_BITS: lambda args: Type.FLOAT if args[0] == Type.INT else None,
}

_OVERFLOW = (FaultKind.OVERFLOW,)
_ZERO = (FaultKind.DIVISION_BY_ZERO,)
_DIVISION = (FaultKind.DIVISION_BY_ZERO, FaultKind.OVERFLOW)


@dataclass(frozen=True, slots=True)
class Signature:
    """One operation: its argument names, typing rule and meaning.

    ``widest``: index of an argument that must have the result's type (scalars elsewhere broadcast).
    ``fails``: the failures it can have, when its first operand is of an integer kind (``failing``
    says which of them). Float arithmetic never fails."""

    arguments: tuple[str, ...]
    rule: Rule
    meaning: str
    widest: int | None = None
    fails: tuple[FaultKind, ...] = ()
    failing: tuple[Type, ...] = (Type.INT, Type.LONG)

    def result_type(self, args: Args) -> Type | None:
        """Result type for the argument types, or None if ill-typed."""
        if len(args) != len(self.arguments):
            return None
        result = _RULES[self.rule](args)
        if self.widest is not None and result is not None and args[self.widest] != result:
            return None
        return result

    def faults(self, operand: Type) -> tuple[FaultKind, ...]:
        """The failures it can have where its first operand is of type ``operand``."""
        return self.fails if operand.component in self.failing else ()


class BinaryOp(Enum):
    """Binary operations on scalars, vectors and truth values; the value is the source spelling."""

    ADD = "+"
    SUB = "-"
    MUL = "*"
    DIV = "/"
    REM = "%"
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="
    EQUAL = "=="
    NOT_EQUAL = "!="
    AND = "&&"
    OR = "||"
    BIT_AND = "&"
    BIT_OR = "|"
    BIT_XOR = "^"
    SHL = "<<"
    SHR = ">>"
    USHR = ">>>"

    @property
    def symbol(self) -> str:
        """Source spelling."""
        return self.value

    @property
    def signature(self) -> Signature:
        """Its row of the table."""
        return BINARY[self]

    @property
    def describe(self) -> str:
        """One sentence on what the operation computes, for help."""
        return BINARY[self].meaning

    def result_type(self, a: Type, b: Type) -> Type | None:
        """Result type of ``a op b``, or None when the operands cannot combine.

        Both sides share one scalar kind. Arithmetic takes two equal number types, or a vector and a
        scalar of its kind on either side; matrices add and subtract with their own order, and scale
        by a Float. Orders take two equal scalar numbers, equality any two equal types but structs;
        both give Bool. ``&&`` and ``||`` take Bools. Bits and shifts take Int, Long and IVec, an
        Int broadcasting.
        """
        return BINARY[self].result_type((a, b))


class UnaryOp(Enum):
    """Unary operations; the value is the source spelling."""

    NEG = "-"
    NOT = "!"

    @property
    def symbol(self) -> str:
        """Source spelling."""
        return self.value

    @property
    def signature(self) -> Signature:
        """Its row of the table."""
        return UNARY[self]

    @property
    def describe(self) -> str:
        """One sentence on what the operation computes, for help."""
        return UNARY[self].meaning

    def result_type(self, a: Type) -> Type | None:
        """``a`` where it fits (NEG: numbers and vectors; NOT: Bool), else None."""
        return UNARY[self].result_type((a,))


class Intrinsic(Enum):
    """Pure math intrinsics; the value is the source name."""

    FLOOR = "floor"
    CEIL = "ceil"
    ROUND = "round"
    TRUNC = "trunc"
    FRACT = "fract"
    SIGN = "sign"
    ABS = "abs"
    SQRT = "sqrt"
    EXP = "exp"
    EXP2 = "exp2"
    LOG = "log"
    LOG2 = "log2"
    SIN = "sin"
    COS = "cos"
    TAN = "tan"
    ASIN = "asin"
    ACOS = "acos"
    ATAN = "atan"
    SINH = "sinh"
    COSH = "cosh"
    TANH = "tanh"
    ATAN2 = "atan2"
    POW = "pow"
    MIN = "min"
    MAX = "max"
    CLAMP = "clamp"
    MIX = "mix"
    STEP = "step"
    SMOOTHSTEP = "smoothstep"
    FMA = "fma"
    ADD_WRAP = "add_wrap"
    SUB_WRAP = "sub_wrap"
    MUL_WRAP = "mul_wrap"
    POPCOUNT = "popcount"
    CLZ = "clz"
    CTZ = "ctz"
    ROTL = "rotl"
    ROTR = "rotr"
    ULT = "ult"
    UDIV = "udiv"
    UREM = "urem"
    MULHI = "mulhi"
    UMULHI = "umulhi"
    TO_FLOAT = "to_float"
    TO_DOUBLE = "to_double"
    TO_INT = "to_int"
    TO_LONG = "to_long"
    BITS = "bits"
    FROM_BITS = "from_bits"

    @property
    def name(self) -> str:
        """Source spelling."""
        return self.value

    @staticmethod
    def from_name(name: str) -> Intrinsic | None:
        """Looks up an intrinsic by source name."""
        return _BY_NAME.get(name)

    @property
    def signature(self) -> Signature:
        """Its row of the table."""
        return SIGNATURES[self]

    @property
    def argument_names(self) -> tuple[str, ...]:
        """The names of the arguments, for help."""
        return SIGNATURES[self].arguments

    @property
    def describe(self) -> str:
        """One sentence on what the intrinsic computes, for help."""
        return SIGNATURES[self].meaning

    def result_type(self, args: Args) -> Type | None:
        """Result type for the argument types, or None if ill-typed."""
        return SIGNATURES[self].result_type(args)


_BY_NAME = {i.value: i for i in Intrinsic}

_X = ("x",)
_AB = ("a", "b")
_XN = ("x", "n")

UNARY: dict[UnaryOp, Signature] = {
    UnaryOp.NEG: Signature(_X, Rule.NUMBERS, "-x; the least integer overflows.", fails=_OVERFLOW),
    UnaryOp.NOT: Signature(_X, Rule.BOOLS, "Whether x is false."),
}

BINARY: dict[BinaryOp, Signature] = {
    BinaryOp.ADD: Signature(_AB, Rule.SUM, "a + b.", fails=_OVERFLOW),
    BinaryOp.SUB: Signature(_AB, Rule.SUM, "a - b.", fails=_OVERFLOW),
    BinaryOp.MUL: Signature(_AB, Rule.PRODUCT, "a * b, componentwise.", fails=_OVERFLOW),
    BinaryOp.DIV: Signature(
        _AB, Rule.QUOTIENT, "a / b; integers truncate toward zero.", fails=_DIVISION
    ),
    BinaryOp.REM: Signature(
        _AB, Rule.NUMBERS, "The remainder of a / b truncated, with the sign of a.", fails=_ZERO
    ),
    BinaryOp.LESS: Signature(_AB, Rule.ORDER, "Whether a < b; false beside a NaN."),
    BinaryOp.LESS_EQUAL: Signature(_AB, Rule.ORDER, "Whether a <= b; false beside a NaN."),
    BinaryOp.GREATER: Signature(_AB, Rule.ORDER, "Whether a > b; false beside a NaN."),
    BinaryOp.GREATER_EQUAL: Signature(_AB, Rule.ORDER, "Whether a >= b; false beside a NaN."),
    BinaryOp.EQUAL: Signature(_AB, Rule.EQUALITY, "Whether every word of a equals that of b."),
    BinaryOp.NOT_EQUAL: Signature(_AB, Rule.EQUALITY, "Whether any word of a differs from b's."),
    BinaryOp.AND: Signature(_AB, Rule.BOOLS, "Whether both hold."),
    BinaryOp.OR: Signature(_AB, Rule.BOOLS, "Whether either holds."),
    BinaryOp.BIT_AND: Signature(_AB, Rule.BITS_OF, "The bits that both hold."),
    BinaryOp.BIT_OR: Signature(_AB, Rule.BITS_OF, "The bits that either holds."),
    BinaryOp.BIT_XOR: Signature(_AB, Rule.BITS_OF, "The bits that just one holds."),
    BinaryOp.SHL: Signature(
        _AB, Rule.BITS_OF, "a shifted left by b modulo its width; bits pushed out are dropped."
    ),
    BinaryOp.SHR: Signature(
        _AB, Rule.BITS_OF, "a shifted right by b modulo its width, the sign filling in."
    ),
    BinaryOp.USHR: Signature(
        _AB, Rule.BITS_OF, "a shifted right by b modulo its width, zeros filling in."
    ),
}

_I = Intrinsic
SIGNATURES: dict[Intrinsic, Signature] = {
    _I.FLOOR: Signature(_X, Rule.FLOATS, "Largest whole number not above x."),
    _I.CEIL: Signature(_X, Rule.FLOATS, "Smallest whole number not below x."),
    _I.ROUND: Signature(_X, Rule.FLOATS, "Nearest whole number, ties to even."),
    _I.TRUNC: Signature(_X, Rule.FLOATS, "The whole part of x, toward zero."),
    _I.FRACT: Signature(_X, Rule.FLOATS, "x - floor(x)."),
    _I.SIGN: Signature(_X, Rule.NUMBERS, "-1, 0 or 1 by the sign; zeros and NaN stay."),
    _I.ABS: Signature(
        _X, Rule.NUMBERS, "Absolute value; the least integer overflows.", fails=_OVERFLOW
    ),
    _I.SQRT: Signature(_X, Rule.FLOATS, "Square root, correctly rounded."),
    _I.EXP: Signature(_X, Rule.FLOATS, "e to the power x."),
    _I.EXP2: Signature(_X, Rule.FLOATS, "2 to the power x."),
    _I.LOG: Signature(_X, Rule.FLOATS, "Natural logarithm."),
    _I.LOG2: Signature(_X, Rule.FLOATS, "Base-2 logarithm."),
    _I.SIN: Signature(_X, Rule.FLOATS, "Sine of x radians."),
    _I.COS: Signature(_X, Rule.FLOATS, "Cosine of x radians."),
    _I.TAN: Signature(_X, Rule.FLOATS, "Tangent of x radians."),
    _I.ASIN: Signature(_X, Rule.FLOATS, "Arc sine, in radians."),
    _I.ACOS: Signature(_X, Rule.FLOATS, "Arc cosine, in radians."),
    _I.ATAN: Signature(_X, Rule.FLOATS, "Arc tangent of one value, in radians."),
    _I.SINH: Signature(_X, Rule.FLOATS, "Hyperbolic sine."),
    _I.COSH: Signature(_X, Rule.FLOATS, "Hyperbolic cosine."),
    _I.TANH: Signature(_X, Rule.FLOATS, "Hyperbolic tangent."),
    _I.ATAN2: Signature(("y", "x"), Rule.SAME_FLOATS, "The angle of the point (x, y), in radians."),
    _I.POW: Signature(
        ("base", "exponent"), Rule.FLOATS, "base to the exponent; a Float exponent broadcasts.", 0
    ),
    _I.MIN: Signature(_AB, Rule.NUMBERS, "The smaller; NaN if either is, -0 below +0."),
    _I.MAX: Signature(_AB, Rule.NUMBERS, "The larger; NaN if either is, -0 below +0."),
    _I.CLAMP: Signature(
        ("x", "low", "high"), Rule.NUMBERS, "min(max(x, low), high); scalar bounds broadcast.", 0
    ),
    _I.MIX: Signature(("a", "b", "t"), Rule.FLOATS, "a*(1 - t) + b*t; a Float t broadcasts.", 0),
    _I.STEP: Signature(
        ("edge", "x"), Rule.FLOATS, "1 where x >= edge, else 0; a Float edge broadcasts.", 1
    ),
    _I.SMOOTHSTEP: Signature(
        ("low", "high", "x"),
        Rule.FLOATS,
        "t*t*(3 - 2*t) with t = clamp((x - low)/(high - low), 0, 1).",
        2,
    ),
    _I.FMA: Signature(("a", "b", "c"), Rule.SAME_FLOATS, "a*b + c, rounded once."),
    _I.ADD_WRAP: Signature(_AB, Rule.INT, "a + b modulo 2**32."),
    _I.SUB_WRAP: Signature(_AB, Rule.INT, "a - b modulo 2**32."),
    _I.MUL_WRAP: Signature(_AB, Rule.INT, "a * b modulo 2**32."),
    _I.POPCOUNT: Signature(_X, Rule.INT, "The count of one bits."),
    _I.CLZ: Signature(_X, Rule.INT, "The count of leading zero bits, 32 for zero."),
    _I.CTZ: Signature(_X, Rule.INT, "The count of trailing zero bits, 32 for zero."),
    _I.ROTL: Signature(_XN, Rule.INT, "The bits of x rotated left by n modulo 32."),
    _I.ROTR: Signature(_XN, Rule.INT, "The bits of x rotated right by n modulo 32."),
    _I.ULT: Signature(_AB, Rule.INT_BOOL, "Whether a is below b, both unsigned."),
    _I.UDIV: Signature(_AB, Rule.INT, "Unsigned quotient; a zero divisor fails.", fails=_ZERO),
    _I.UREM: Signature(_AB, Rule.INT, "Unsigned remainder; a zero divisor fails.", fails=_ZERO),
    _I.MULHI: Signature(_AB, Rule.INT, "The high 32 bits of the signed 64-bit product."),
    _I.UMULHI: Signature(_AB, Rule.INT, "The high 32 bits of the unsigned 64-bit product."),
    _I.TO_FLOAT: Signature(_X, Rule.TO_FLOAT, "The nearest Float, ties to even."),
    _I.TO_DOUBLE: Signature(_X, Rule.TO_DOUBLE, "The nearest Double, ties to even."),
    _I.TO_INT: Signature(
        _X,
        Rule.TO_INT,
        "A float truncated toward zero and saturated, NaN 0; a Bool as 0 or 1; a Long that does "
        "not fit overflows.",
        fails=_OVERFLOW,
        failing=(Type.LONG,),
    ),
    _I.TO_LONG: Signature(
        _X,
        Rule.TO_LONG,
        "A float truncated toward zero and saturated, NaN 0; a Bool as 0 or 1.",
    ),
    _I.BITS: Signature(_X, Rule.BITS, "The 32 bits of x, a NaN as 0x7fc00000."),
    _I.FROM_BITS: Signature(_X, Rule.FROM_BITS, "The Float with these 32 bits."),
}
