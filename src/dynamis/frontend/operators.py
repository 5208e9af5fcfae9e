"""Python's operators on kernel values, with Python's meaning.

``//`` floors and ``%`` takes the divisor's sign; on floats both follow CPython's ``float_divmod``
in f32, except that a zero divisor gives NaN. ``x ** n`` with a literal n from 0 to 64 multiplies by
repeated squaring, most significant bit first: each product is checked (ints) or rounded (floats).
Shifts drop bits and take their count modulo 32, as the Kernel IR does. Between whole numbers
written out (or constants of the host) operators give Python's own value, checked where it is used.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import NoReturn

from ..kernel.op import Binary, Construct, Extract, Intrinsic, Unary
from ..kernel.tables import BinaryOp, UnaryOp
from ..kernel.tables import Intrinsic as IntrinsicName
from ..kernel.types import Type, Value, vector_of
from .builder import Builder
from .draft import Draft, Ref
from .source import Node, unparse
from .values import (
    FLOATS,
    INT_MAX,
    INT_MIN,
    FloatLiteral,
    IntLiteral,
    Operand,
    PortOperand,
    Several,
    Typed,
    describe,
    neighbour,
    spell,
)

MAX_POWER = 64

_ARITHMETIC: dict[type[ast.operator], BinaryOp] = {
    ast.Add: BinaryOp.ADD,
    ast.Sub: BinaryOp.SUB,
    ast.Mult: BinaryOp.MUL,
    ast.Div: BinaryOp.DIV,
}
_BITS: dict[type[ast.operator], BinaryOp] = {
    ast.BitAnd: BinaryOp.BIT_AND,
    ast.BitOr: BinaryOp.BIT_OR,
    ast.BitXor: BinaryOp.BIT_XOR,
    ast.LShift: BinaryOp.SHL,
    ast.RShift: BinaryOp.SHR,
}
_BOOLS: dict[type[ast.operator], BinaryOp] = {
    ast.BitAnd: BinaryOp.AND,
    ast.BitOr: BinaryOp.OR,
    ast.BitXor: BinaryOp.NOT_EQUAL,
}
SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.MatMult: "@",
}
_WHOLE: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}
"""What folds when both sides are whole numbers written out."""
MAX_FOLDED_BITS = 1024
"""The longest whole number that literals may make, far past what any type holds."""
_COMPARISONS: dict[type[ast.cmpop], BinaryOp] = {
    ast.Lt: BinaryOp.LESS,
    ast.LtE: BinaryOp.LESS_EQUAL,
    ast.Gt: BinaryOp.GREATER,
    ast.GtE: BinaryOp.GREATER_EQUAL,
    ast.Eq: BinaryOp.EQUAL,
    ast.NotEq: BinaryOp.NOT_EQUAL,
}
_CHECKED = (BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL)
_DIVIDING = (BinaryOp.DIV, BinaryOp.REM)
_UNSIGNED = (IntrinsicName.UDIV, IntrinsicName.UREM)

ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)


def _literal(ref: Ref) -> Value | None:
    """The constant that ``ref`` is, if it is one."""
    if not isinstance(ref, Draft) or ref.operands:
        return None
    return getattr(ref.build(()), "value", None)


def _known_numbers(ref: Ref) -> tuple[float | int | bool, ...] | None:
    value = _literal(ref)
    return value.numbers if isinstance(value, Value) else None


def float_cast(ty: Type, to: Type = Type.FLOAT) -> str:
    """The conversion of ``ty`` to floats: to ``to``, or a vector of f32, the only one there is."""
    return spell(to if ty.is_scalar else vector_of(Type.FLOAT, ty.lanes))


class Operators(Builder):
    """Adds operators to the builder."""

    # Single instructions

    def binary(self, node: Node, op: BinaryOp, a: Ref, b: Ref, ty: Type) -> Ref:
        """One Binary instruction of result type ``ty``."""
        fails = ty.component == Type.INT and op in _CHECKED
        if ty.component == Type.INT and op in _DIVIDING:
            divisor = _known_numbers(b)
            unsafe = (0, -1) if op is BinaryOp.DIV else (0,)
            fails = divisor is None or any(n in unsafe for n in divisor)
        return self.add(node, ty, (a, b), lambda ids: Binary(op, ids[0], ids[1]), fails=fails).ref

    def intrinsic(self, node: Node, op: IntrinsicName, ty: Type, *args: Ref) -> Ref:
        """One Intrinsic instruction of result type ``ty``."""
        fails = op is IntrinsicName.ABS and ty.component == Type.INT
        if op in _UNSIGNED:
            divisor = _known_numbers(args[1])
            fails = divisor is None or 0 in divisor
        return self.add(node, ty, args, lambda ids: Intrinsic(op, ids), fails=fails).ref

    def negative(self, node: Node, value: Typed) -> Typed:
        """One NEG instruction."""
        return self.add(
            node,
            value.ty,
            (value.ref,),
            lambda ids: Unary(UnaryOp.NEG, ids[0]),
            fails=value.ty.component == Type.INT,
        )

    def inverse(self, node: Node, ref: Ref) -> Ref:
        """One NOT instruction."""
        return self.add(node, Type.BOOL, (ref,), lambda ids: Unary(UnaryOp.NOT, ids[0])).ref

    def part(self, node: Node, value: Typed, k: int) -> Typed:
        """Component ``k`` of a vector."""
        return self.add(node, value.ty.component, (value.ref,), lambda ids: Extract(ids[0], k))

    def parts(self, node: Node, value: Typed) -> list[Typed]:
        """The components of a vector; a scalar is its own."""
        if not value.ty.is_vector:
            return [value]
        return [self.part(node, value, k) for k in range(value.ty.lanes)]

    def construct(self, node: Node, ty: Type, parts: list[Ref]) -> Typed:
        """A vector from its components; one component is itself."""
        if len(parts) == 1:
            return Typed(ty, parts[0])
        return self.add(node, ty, tuple(parts), Construct)

    # Operators

    def operate(
        self, node: Node, op: ast.operator, a: Operand, b: Operand, sides: tuple[Node, Node]
    ) -> Operand:
        """``a op b``; ``sides`` are the places of the operands."""
        if isinstance(a, IntLiteral) and isinstance(b, IntLiteral) and type(op) in _WHOLE:
            return self._folded(node, op, a.value, b.value, sides[1])
        if isinstance(op, ast.Pow):
            return self._power(node, a, b, sides)
        ty, left, right = self._meet(node, op, a, b, sides)
        if isinstance(op, ast.FloorDiv | ast.Mod):
            return self._floored(node, isinstance(op, ast.FloorDiv), ty, left, right)
        if ty.component == Type.BOOL:
            found = _BOOLS[type(op)]
        elif type(op) in _BITS:
            found = _BITS[type(op)]
        else:
            found = _ARITHMETIC[type(op)]
        return Typed(ty, self.binary(node, found, left.ref, right.ref, ty))

    def _folded(self, node: Node, op: ast.operator, a: int, b: int, right: Node) -> IntLiteral:
        """``a op b`` of two whole numbers written out: Python's own value, of any size."""
        text = f"{a} {SYMBOLS[type(op)]} {b}"
        if isinstance(op, ast.FloorDiv | ast.Mod) and b == 0:
            self.fail(right, "division by zero", found=text, expected="a divisor that is not 0",
                      hint="a divisor that is not 0")  # fmt: skip
        if isinstance(op, ast.LShift | ast.RShift) and b < 0:
            other = ">>" if isinstance(op, ast.LShift) else "<<"
            self.fail(right, "a shift by a negative count", found=text, hint=f"{a} {other} {-b}")
        if isinstance(op, ast.Pow) and b < 0:
            self.fail(
                right,
                "** of whole numbers takes no negative exponent",
                found=text,
                hint=f"1.0 / {a} ** {-b}",
            )
        bits = max(a.bit_length(), b.bit_length())
        if isinstance(op, ast.Pow):
            bits = a.bit_length() * b if abs(a) > 1 else 1
        elif isinstance(op, ast.LShift):
            bits = a.bit_length() + b if a else 1
        elif isinstance(op, ast.Mult):
            bits = a.bit_length() + b.bit_length()
        if bits > MAX_FOLDED_BITS:
            self.fail(
                node,
                f"a whole number of more than {MAX_FOLDED_BITS} bits fits in no type",
                found=text,
                expected=f"i32 ({INT_MIN} to {INT_MAX}), or f32 (up to 3.4028235e+38)",
                hint="math.inf, if infinity is meant",
            )
        return IntLiteral(_WHOLE[type(op)](a, b))

    def _meet(
        self, node: Node, op: ast.operator, a: Operand, b: Operand, sides: tuple[Node, Node]
    ) -> tuple[Type, Typed, Typed]:
        """Both operands as values, and the type they give; whole numbers follow their neighbour."""
        symbol = SYMBOLS[type(op)]
        beside = neighbour((a, b))
        if type(op) in _BITS:
            beside = Type.INT
        left = self.typed(sides[0], a, beside)
        right = self.typed(sides[1], b, beside)
        pair = (left.ty, right.ty)
        if isinstance(op, ast.MatMult):
            self.fail(node, "@ has no meaning here", hint="dy.dot(a, b) for vectors")
        if isinstance(op, ast.Div) and {t.component for t in pair} == {Type.INT}:
            x, y = (unparse(s) for s in sides)
            casts = [
                text if isinstance(operand, IntLiteral) else f"{float_cast(value.ty)}({text})"
                for text, operand, value in ((x, a, left), (y, b, right))
            ]
            if casts == [x, y]:
                casts[0] = f"{x}.0"
            self.fail(
                node,
                "/ of two whole numbers",
                found=f"{spell(left.ty)} / {spell(right.ty)}",
                hint=f"{x} // {y} (floors), dy.div({x}, {y}) (truncates), "
                f"or {casts[0]} / {casts[1]}",
            )
        if type(op) in _BOOLS and pair == (Type.BOOL, Type.BOOL):
            return Type.BOOL, left, right
        rule = _BITS.get(type(op)) or _ARITHMETIC.get(type(op), BinaryOp.ADD)
        ty = rule.result_type(*pair)
        if ty is None:
            self._mismatch(node, symbol, left, right, sides)
        return ty, left, right

    def _mismatch(
        self, node: Node, symbol: str, left: Typed, right: Typed, sides: tuple[Node, Node]
    ) -> NoReturn:
        a, b = left.ty, right.ty
        found = f"{spell(a)} {symbol} {spell(b)}"
        expected, hint = "two values of one type, or a vector and a scalar of its kind", ""
        kinds = (a.component, b.component)
        if symbol in ("&", "|", "^", "<<", ">>") and not {*FLOATS}.isdisjoint(kinds):
            expected = "whole numbers (or two bools, with &, | and ^)"
            hint = "dy.bits(x) for the bits of an f32, i32(x) for the whole part of a float"
        elif Type.BOOL in kinds:
            k = kinds.index(Type.BOOL)
            hint = f"i32({unparse(sides[k])}) or f32({unparse(sides[k])}) for 0 or 1"
        elif len({*kinds}) == 2:
            hint = self.meeting(left, right, sides)
        elif a.is_vector and b.is_vector:
            hint = "give both sides one length, by a swizzle (v.xy) or a constructor"
        self.fail(
            node,
            f"{symbol} cannot combine {spell(a)} and {spell(b)}",
            found=found,
            expected=expected,
            hint=hint,
        )

    def meeting(self, a: Typed, b: Typed, sides: tuple[Node, Node]) -> str:
        """What to write so that two numbers of different types meet; empty where nothing does."""
        kinds = [a.ty.component, b.ty.component]
        if Type.BOOL in kinds or len({*kinds}) != 2:
            return ""
        wide = Type.DOUBLE if Type.DOUBLE in kinds else Type.FLOAT
        k = 1 - kinds.index(wide)
        value, text = (a, b)[k], unparse(sides[k])
        if wide == Type.DOUBLE and value.ty.is_vector:
            return f"f32({unparse(sides[1 - k])})"
        return f"{float_cast(value.ty, wide)}({text})"

    def _floored(self, node: Node, quotient: bool, ty: Type, a: Typed, b: Typed) -> Typed:
        """``a // b`` or ``a % b``."""
        if ty.component == Type.INT:
            return self._floored_int(node, quotient, ty, a.ref, b.ref)
        left, right = (self.parts(node, x) for x in (a, b))
        lanes = range(ty.lanes)
        done = [
            self._floored_float(
                node, quotient, ty.component, left[k % len(left)].ref, right[k % len(right)].ref
            )
            for k in lanes
        ]
        return self.construct(node, ty, done)

    def _floored_int(self, node: Node, quotient: bool, ty: Type, a: Ref, b: Ref) -> Typed:
        # The truncated pair (q, r) is off by one exactly where r is not 0 and r, b differ in sign:
        # there the sign bit of (r ^ b) & (r | -r) is set, and >> 31 makes it -1. Neither -r nor
        # the corrections overflow: |r| < |b|, and a quotient to be corrected is not the least Int.
        q = self.binary(node, BinaryOp.DIV, a, b, ty) if quotient else None
        r = self.binary(node, BinaryOp.REM, a, b, ty)
        zero = self.integer(node, 0).ref
        minus = self._never_failing(node, BinaryOp.SUB, zero, r, ty)
        differ = self.binary(node, BinaryOp.BIT_XOR, r, b, ty)
        some = self.binary(node, BinaryOp.BIT_OR, r, minus, ty)
        both = self.binary(node, BinaryOp.BIT_AND, differ, some, ty)
        off = self.binary(node, BinaryOp.SHR, both, self.integer(node, 31).ref, ty)
        if q is not None:
            return Typed(ty, self._never_failing(node, BinaryOp.ADD, q, off, ty))
        shift = self.binary(node, BinaryOp.BIT_AND, off, b, ty)
        return Typed(ty, self._never_failing(node, BinaryOp.ADD, r, shift, ty))

    def _never_failing(self, node: Node, op: BinaryOp, a: Ref, b: Ref, ty: Type) -> Ref:
        """A sum or difference of ints known to fit, by the wrapping op where there is one."""
        if ty == Type.INT:
            wrap = IntrinsicName.ADD_WRAP if op is BinaryOp.ADD else IntrinsicName.SUB_WRAP
            return self.intrinsic(node, wrap, ty, a, b)
        return self.add(node, ty, (a, b), lambda ids: Binary(op, ids[0], ids[1])).ref

    def _floored_float(self, node: Node, quotient: bool, ty: Type, a: Ref, b: Ref) -> Ref:
        # CPython's float_divmod: r = fmod(a, b); where r is not 0 and its sign is not b's, r += b.
        zero = self.const(node, Value.of(ty, 0.0)).ref
        r = self.binary(node, BinaryOp.REM, a, b, ty)
        some = self.binary(node, BinaryOp.NOT_EQUAL, r, zero, Type.BOOL)
        r_below = self.binary(node, BinaryOp.LESS, r, zero, Type.BOOL)
        b_below = self.binary(node, BinaryOp.LESS, b, zero, Type.BOOL)
        differ = self.binary(node, BinaryOp.NOT_EQUAL, r_below, b_below, Type.BOOL)
        off = self.binary(node, BinaryOp.AND, some, differ, Type.BOOL)
        if not quotient:
            moved = self.binary(node, BinaryOp.ADD, r, b, ty)
            fixed = self._pick(node, ty, off, moved, r)
            return self._pick(node, ty, some, fixed, self._zero_signed_as(node, ty, b))
        one = self.const(node, Value.of(ty, 1.0)).ref
        half = self.const(node, Value.of(ty, 0.5)).ref
        rest = self.binary(node, BinaryOp.SUB, a, r, ty)
        exact = self.binary(node, BinaryOp.DIV, rest, b, ty)
        less = self.binary(node, BinaryOp.SUB, exact, one, ty)
        q = self._pick(node, ty, off, less, exact)
        # q is whole but for rounding: its floor, or one more where that is nearer.
        whole = self.intrinsic(node, IntrinsicName.FLOOR, ty, q)
        above = self.binary(node, BinaryOp.SUB, q, whole, ty)
        far = self.binary(node, BinaryOp.GREATER, above, half, Type.BOOL)
        near = self._pick(node, ty, far, self.binary(node, BinaryOp.ADD, whole, one, ty), whole)
        ratio = self.binary(node, BinaryOp.DIV, a, b, ty)
        q_some = self.binary(node, BinaryOp.NOT_EQUAL, q, zero, Type.BOOL)
        return self._pick(node, ty, q_some, near, self._zero_signed_as(node, ty, ratio))

    def _pick(self, node: Node, ty: Type, condition: Ref, then: Ref, otherwise: Ref) -> Ref:
        """One of two floats that are both computed."""
        return self.select(node, condition, ty, lambda: then, lambda: otherwise).ref

    def _zero_signed_as(self, node: Node, ty: Type, ref: Ref) -> Ref:
        """copysign(0, ref), for a number."""
        if ty == Type.DOUBLE:  # whose bits are no Int: min(max(ref, -0), +0)
            low, high = (self.const(node, Value.of(ty, zero)).ref for zero in (-0.0, 0.0))
            return self.intrinsic(node, IntrinsicName.CLAMP, ty, ref, low, high)
        sign = self.integer(node, -(2**31)).ref
        word = self.intrinsic(node, IntrinsicName.BITS, Type.INT, ref)
        kept = self.binary(node, BinaryOp.BIT_AND, word, sign, Type.INT)
        return self.intrinsic(node, IntrinsicName.FROM_BITS, Type.FLOAT, kept)

    def _power(
        self, node: Node, base: Operand, exponent: Operand, sides: tuple[Node, Node]
    ) -> Operand:
        if not isinstance(exponent, IntLiteral) or not 0 <= exponent.value <= MAX_POWER:
            return self._general_power(node, base, exponent, sides)
        value = self.typed(sides[0], base)
        if value.ty == Type.BOOL:
            self.fail(sides[0], "** of a bool", found="bool", expected="a number or a vector",
                      hint=f"i32({unparse(sides[0])})")  # fmt: skip
        n = exponent.value
        if n == 0:
            one: float | int = 1 if value.ty.component == Type.INT else 1.0
            return self.const(node, Value.of(value.ty, (one,) * value.ty.lanes))
        power = value.ref
        for bit in bin(n)[3:]:
            power = self.binary(node, BinaryOp.MUL, power, power, value.ty)
            if bit == "1":
                power = self.binary(node, BinaryOp.MUL, power, value.ref, value.ty)
        return Typed(value.ty, power)

    def _general_power(
        self, node: Node, base: Operand, exponent: Operand, sides: tuple[Node, Node]
    ) -> Typed:
        """A power of floats; whole numbers written out are floats beside floats."""
        beside = neighbour((base, exponent))
        left, right = (
            self.typed(s, x, beside) for s, x in zip(sides, (base, exponent), strict=True)
        )
        ty = IntrinsicName.POW.result_type([left.ty, right.ty])
        if ty is not None:
            return Typed(ty, self.intrinsic(node, IntrinsicName.POW, ty, left.ref, right.ref))
        if not {*FLOATS}.isdisjoint((left.ty.component, right.ty.component)):
            self._mismatch(node, "**", left, right, sides)
        x, y = (unparse(s) for s in sides)
        hint = f"dy.pow({float_cast(left.ty)}({x}), {float_cast(right.ty)}({y}))"
        if isinstance(base, IntLiteral) and base.value == 2:
            hint = f"1 << {y}"
        self.fail(
            sides[1],
            "** of whole numbers takes a literal exponent",
            found=y,
            expected=f"a whole number from 0 to {MAX_POWER}, written out",
            hint=hint,
        )

    def unary(self, node: Node, op: ast.unaryop, a: Operand, side: Node) -> Operand:
        """``-a``, ``+a``, ``~a`` or ``not a``; the sign of a literal is part of it."""
        if isinstance(a, FloatLiteral) and isinstance(op, ast.USub | ast.UAdd):
            return FloatLiteral(-a.value) if isinstance(op, ast.USub) else a
        if isinstance(a, IntLiteral) and isinstance(op, ast.USub | ast.UAdd | ast.Invert):
            n = a.value
            return IntLiteral(
                -n if isinstance(op, ast.USub) else ~n if isinstance(op, ast.Invert) else n
            )
        if isinstance(op, ast.Not):
            return Typed(Type.BOOL, self.inverse(node, self.truth(side, a)))
        value = self.typed(side, a)
        kind = value.ty.component
        if isinstance(op, ast.Invert) and kind == Type.INT:
            ones = self.integer(node, -1).ref
            return Typed(value.ty, self.binary(node, BinaryOp.BIT_XOR, value.ref, ones, value.ty))
        if kind == Type.BOOL or isinstance(op, ast.Invert):
            symbol = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~"}[type(op)]
            text = unparse(side)
            self.fail(
                node,
                f"{symbol} has no meaning on {spell(value.ty)}",
                found=f"{symbol}{spell(value.ty)}",
                hint=f"not {text}"
                if kind == Type.BOOL
                else f"~i32({text})" + (f" or ~dy.bits({text})" if kind == Type.FLOAT else ""),
            )
        if isinstance(op, ast.UAdd):
            return value
        return self.negative(node, value)

    def truth(self, node: Node, operand: Operand) -> Ref:
        """A condition, which must be a bool."""
        if isinstance(operand, Typed) and operand.ty == Type.BOOL:
            return operand.ref
        hint = self.conversion(node, operand, Type.BOOL)
        if isinstance(operand, PortOperand | Several):
            hint = ""
        self.fail(
            node, "a condition must be a bool", found=describe(operand), expected="bool", hint=hint
        )

    def compare(
        self, node: Node, op: ast.cmpop, a: Typed, b: Typed, sides: tuple[Node, Node]
    ) -> Ref:
        """``a op b`` of two values; equality also takes whole vectors and bools."""
        found = _COMPARISONS[type(op)]
        if found.result_type(a.ty, b.ty) is None:
            symbol = found.symbol
            hint = ""
            if a.ty.is_scalar and b.ty.is_scalar:
                hint = self.meeting(a, b, sides)
            if Type.BOOL in (a.ty, b.ty) and a.ty.is_scalar and b.ty.is_scalar:
                words = [f"i32({unparse(s)})" for s in sides]
                sided = [w if t == Type.BOOL else unparse(s) for w, t, s in
                         zip(words, (a.ty, b.ty), sides, strict=True)]  # fmt: skip
                if Type.FLOAT in (a.ty, b.ty):
                    sided = [w.replace("i32(", "f32(", 1) if t == Type.BOOL else w
                             for w, t in zip(sided, (a.ty, b.ty), strict=True)]  # fmt: skip
                hint = f"{sided[0]} {symbol} {sided[1]}"
            elif a.ty.is_vector and a.ty == b.ty:
                x, y = (unparse(s) for s in sides)
                hint = f"compare components: {x}.x {symbol} {y}.x"
            self.fail(
                node,
                f"{symbol} cannot compare {spell(a.ty)} and {spell(b.ty)}",
                found=f"{spell(a.ty)} {symbol} {spell(b.ty)}",
                expected="two values of one type (scalar numbers, or any type for == and !=)",
                hint=hint,
            )
        return self.binary(node, found, a.ref, b.ref, Type.BOOL)
