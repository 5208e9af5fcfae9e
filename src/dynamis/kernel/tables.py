"""The op tables of the Kernel IR: each unary, binary and intrinsic operation described once.

Name, arguments, typing rule and meaning live here; validator, printer, parser, frontend and help
read them. ``arithmetic.py`` holds the reference evaluation of each row, per word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from .types import Type

_FLOATS = (Type.FLOAT, Type.VEC2, Type.VEC3, Type.VEC4)
_INTS = (Type.INT, Type.IVEC2, Type.IVEC3, Type.IVEC4)
_NUMBERS = _FLOATS + _INTS


def _broadcast(args: Sequence[Type], allowed: Sequence[Type]) -> Type | None:
    """The common type of ``args``: all equal, or vectors of one type beside scalars of its kind."""
    widest = max(args, key=lambda t: t.lanes)
    if all(a in allowed and a in (widest, widest.component) for a in args):
        return widest
    return None


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

    def result_type(self, a: Type, b: Type) -> Type | None:
        """Result type of ``a op b``, or None when the operands cannot combine.

        Arithmetic takes two equal number types, or a vector and a scalar of its kind on either
        side. Orders take two equal scalar numbers, equality any two equal plain types; both give
        Bool. ``&&`` and ``||`` take Bools. Bits and shifts take Int and IVec, scalars broadcast.
        """
        match self:
            case BinaryOp.ADD | BinaryOp.SUB | BinaryOp.MUL | BinaryOp.DIV | BinaryOp.REM:
                return _broadcast((a, b), _NUMBERS)
            case BinaryOp.LESS | BinaryOp.LESS_EQUAL | BinaryOp.GREATER | BinaryOp.GREATER_EQUAL:
                return Type.BOOL if a == b and a in (Type.FLOAT, Type.INT) else None
            case BinaryOp.EQUAL | BinaryOp.NOT_EQUAL:
                return Type.BOOL if a == b and not a.is_struct else None
            case BinaryOp.AND | BinaryOp.OR:
                return Type.BOOL if a == b == Type.BOOL else None
            case _:
                return _broadcast((a, b), _INTS)


class UnaryOp(Enum):
    """Unary operations; the value is the source spelling."""

    NEG = "-"
    NOT = "!"

    @property
    def symbol(self) -> str:
        """Source spelling."""
        return self.value

    def result_type(self, a: Type) -> Type | None:
        """``a`` where it fits (NEG: numbers and vectors; NOT: Bool), else None."""
        allowed = _NUMBERS if self is UnaryOp.NEG else (Type.BOOL,)
        return a if a in allowed else None


class Rule(Enum):
    """How an intrinsic's result type follows from its arguments."""

    FLOATS = "Floats or Vecs, a Float broadcasting"
    SAME_FLOATS = "equal Floats or Vecs"
    NUMBERS = "numbers or vectors of one kind, a scalar broadcasting"
    INT = "Ints, giving Int"
    INT_BOOL = "Ints, giving Bool"
    TO_FLOAT = "Float, Int or Bool, giving Float"
    TO_INT = "Float, Int or Bool, giving Int"
    BITS = "Float, giving Int"
    FROM_BITS = "Int, giving Float"


@dataclass(frozen=True, slots=True)
class Signature:
    """One intrinsic: its argument names, typing rule and meaning."""

    arguments: tuple[str, ...]
    rule: Rule
    meaning: str
    widest: int | None = None
    """Index of an argument that must have the result's type (scalars elsewhere broadcast)."""


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
    ULT = "ult"
    UDIV = "udiv"
    UREM = "urem"
    TO_FLOAT = "to_float"
    TO_INT = "to_int"
    BITS = "bits"
    FROM_BITS = "from_bits"

    @staticmethod
    def from_name(name: str) -> Intrinsic | None:
        """Looks up an intrinsic by source name."""
        return _BY_NAME.get(name)

    @property
    def argument_names(self) -> tuple[str, ...]:
        """The names of the arguments, for help."""
        return SIGNATURES[self].arguments

    @property
    def describe(self) -> str:
        """One sentence on what the intrinsic computes, for help."""
        return SIGNATURES[self].meaning

    def result_type(self, args: Sequence[Type]) -> Type | None:
        """Result type for the argument types, or None if ill-typed."""
        signature = SIGNATURES[self]
        if len(args) != len(signature.arguments):
            return None
        match signature.rule:
            case Rule.FLOATS:
                result = _broadcast(args, _FLOATS)
            case Rule.SAME_FLOATS:
                result = args[0] if args[0] in _FLOATS and len(set(args)) == 1 else None
            case Rule.NUMBERS:
                result = _broadcast(args, _NUMBERS)
            case Rule.INT:
                result = Type.INT if set(args) == {Type.INT} else None
            case Rule.INT_BOOL:
                result = Type.BOOL if set(args) == {Type.INT} else None
            case Rule.TO_FLOAT:
                result = Type.FLOAT if args[0] in (Type.FLOAT, Type.INT, Type.BOOL) else None
            case Rule.TO_INT:
                result = Type.INT if args[0] in (Type.FLOAT, Type.INT, Type.BOOL) else None
            case Rule.BITS:
                result = Type.INT if args[0] == Type.FLOAT else None
            case Rule.FROM_BITS:
                result = Type.FLOAT if args[0] == Type.INT else None
        if signature.widest is not None and result is not None:
            return result if args[signature.widest] == result else None
        return result


_BY_NAME = {i.value: i for i in Intrinsic}

_X = ("x",)
_AB = ("a", "b")
SIGNATURES: dict[Intrinsic, Signature] = {
    Intrinsic.FLOOR: Signature(_X, Rule.FLOATS, "Largest whole number not above x."),
    Intrinsic.CEIL: Signature(_X, Rule.FLOATS, "Smallest whole number not below x."),
    Intrinsic.ROUND: Signature(_X, Rule.FLOATS, "Nearest whole number, ties to even."),
    Intrinsic.TRUNC: Signature(_X, Rule.FLOATS, "The whole part of x, toward zero."),
    Intrinsic.FRACT: Signature(_X, Rule.FLOATS, "x - floor(x)."),
    Intrinsic.SIGN: Signature(_X, Rule.NUMBERS, "-1, 0 or 1 by the sign; zeros and NaN stay."),
    Intrinsic.ABS: Signature(_X, Rule.NUMBERS, "Absolute value; the least Int overflows."),
    Intrinsic.SQRT: Signature(_X, Rule.FLOATS, "Square root, correctly rounded."),
    Intrinsic.MIN: Signature(_AB, Rule.NUMBERS, "The smaller; NaN if either is, -0 below +0."),
    Intrinsic.MAX: Signature(_AB, Rule.NUMBERS, "The larger; NaN if either is, -0 below +0."),
    Intrinsic.CLAMP: Signature(
        ("x", "low", "high"), Rule.NUMBERS, "min(max(x, low), high); scalar bounds broadcast.", 0
    ),
    Intrinsic.MIX: Signature(
        ("a", "b", "t"), Rule.FLOATS, "a*(1 - t) + b*t; a scalar t broadcasts.", 0
    ),
    Intrinsic.STEP: Signature(
        ("edge", "x"), Rule.FLOATS, "1 where x >= edge, else 0; a scalar edge broadcasts.", 1
    ),
    Intrinsic.SMOOTHSTEP: Signature(
        ("low", "high", "x"),
        Rule.FLOATS,
        "t*t*(3 - 2*t) with t = clamp((x - low)/(high - low), 0, 1).",
        2,
    ),
    Intrinsic.FMA: Signature(("a", "b", "c"), Rule.SAME_FLOATS, "a*b + c, rounded once."),
    Intrinsic.ADD_WRAP: Signature(_AB, Rule.INT, "a + b modulo 2**32."),
    Intrinsic.SUB_WRAP: Signature(_AB, Rule.INT, "a - b modulo 2**32."),
    Intrinsic.MUL_WRAP: Signature(_AB, Rule.INT, "a * b modulo 2**32."),
    Intrinsic.ULT: Signature(_AB, Rule.INT_BOOL, "Whether a is below b, both unsigned."),
    Intrinsic.UDIV: Signature(_AB, Rule.INT, "Unsigned quotient; a zero divisor fails."),
    Intrinsic.UREM: Signature(_AB, Rule.INT, "Unsigned remainder; a zero divisor fails."),
    Intrinsic.TO_FLOAT: Signature(_X, Rule.TO_FLOAT, "The nearest Float, ties to even."),
    Intrinsic.TO_INT: Signature(
        _X, Rule.TO_INT, "Float truncated toward zero and saturated, NaN 0; a Bool as 0 or 1."
    ),
    Intrinsic.BITS: Signature(_X, Rule.BITS, "The 32 bits of x, a NaN as 0x7fc00000."),
    Intrinsic.FROM_BITS: Signature(_X, Rule.FROM_BITS, "The Float with these 32 bits."),
}
