"""The remainder of Doubles, C's exact fmod, as a loop of the Kernel IR that lowering inlines.

Goes in: nothing. Comes out: ``REMAINDER``, a function of |a| and |b| whose result r has
|r| < |b| and r = |a| - n*|b| for a whole n, r negative where one |b| more is wanted; NaN where
|a| is infinite or NaN, or b is 0. Its one loop runs once where |a / b| < 2**53, 47 times at most.

A step takes q = trunc(RN(r / d)) and r - q*d by fma, which is exact: q has 53 bits and a last place
of 2**j >= 1, so the difference is at most 2**j * d and a multiple of 2**j times d's last place.
(The long division of IEEE remainders; Brisebarre and Muller, "Correctly rounded multiplication by
arbitrary precision constants", use the same exactness.) Divisors |b| * 2**1600 and |b| * 2**800
come first, where they are below r, so that no quotient overflows.
"""

from __future__ import annotations

from typing import Final

from ..kernel import op as ir
from ..kernel.module import Block, Function, Instruction
from ..kernel.tables import BinaryOp, Intrinsic, UnaryOp
from ..kernel.types import Type, Value

_STEPS = 64
_A, _B, _SCALE, _B1, _B2, _LOOP = range(6)
_LEFT, _SIZE, _IN, _OUT = range(6, 10)
_CARRIED, _REST, _OVER_B1, _D1, _OVER_B2, _D2, _RATIO, _WHOLE, _MINUS, _NEXT = range(10, 20)


def _double(id: int, op: ir.Op) -> Instruction:
    return Instruction(id, Type.DOUBLE, op)


def _bool(id: int, op: ir.Op) -> Instruction:
    return Instruction(id, Type.BOOL, op)


def _choose(condition: int, then: int, otherwise: int) -> ir.If:
    return ir.If(condition, Block((), then), Block((), otherwise))


_UNTIL = (
    _double(_LEFT, ir.Carried()),
    _double(_SIZE, ir.Intrinsic(Intrinsic.ABS, (_LEFT,))),
    _bool(_IN, ir.Binary(BinaryOp.LESS_EQUAL, _B, _SIZE)),
    _bool(_OUT, ir.Unary(UnaryOp.NOT, _IN)),  # so that a NaN ends the loop
)
_STEP = (
    _double(_CARRIED, ir.Carried()),
    _double(_REST, ir.Intrinsic(Intrinsic.ABS, (_CARRIED,))),
    _bool(_OVER_B1, ir.Binary(BinaryOp.LESS_EQUAL, _B1, _REST)),
    _double(_D1, _choose(_OVER_B1, _B1, _B)),
    _bool(_OVER_B2, ir.Binary(BinaryOp.LESS_EQUAL, _B2, _REST)),
    _double(_D2, _choose(_OVER_B2, _B2, _D1)),
    _double(_RATIO, ir.Binary(BinaryOp.DIV, _CARRIED, _D2)),
    _double(_WHOLE, ir.Intrinsic(Intrinsic.TRUNC, (_RATIO,))),
    _double(_MINUS, ir.Unary(UnaryOp.NEG, _WHOLE)),
    _double(_NEXT, ir.Intrinsic(Intrinsic.FMA, (_MINUS, _D2, _CARRIED))),
)

REMAINDER: Final = Function(
    "remainder",
    (Type.DOUBLE, Type.DOUBLE),
    (
        _double(_A, ir.Arg(0)),
        _double(_B, ir.Arg(1)),
        _double(_SCALE, ir.Const(Value.of(Type.DOUBLE, 2.0**800))),
        _double(_B1, ir.Binary(BinaryOp.MUL, _B, _SCALE)),
        _double(_B2, ir.Binary(BinaryOp.MUL, _B1, _SCALE)),
        _double(_LOOP, ir.Loop(_STEPS, None, _A, Block(_UNTIL, _OUT), Block(_STEP, _NEXT))),
    ),
    (_LOOP,),
)
