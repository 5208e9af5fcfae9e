"""Operators of nodes as functions: for code that builds many, and for what Python cannot spell.

Arithmetic, shifts, bit operations and order are Python's own operators on nodes. A number beside
a node becomes a constant of its dtype.
"""

from __future__ import annotations

from dynamis.dtype import Dtype, Number
from dynamis.uop.build import alu_binary, cast, const_bool, const_float, const_int
from dynamis.uop.node import Uop, operand
from dynamis.uop.ops import Op, Ops


class O:  # noqa: E742  # the contract's name
    """`O.int_(2) * x`, `O.eq(x, 3)`, `O.cdiv(x, y)`, ..."""

    @staticmethod
    def int_(n: int) -> Uop:
        """A weakint constant."""
        return const_int(n)

    @staticmethod
    def float_(x: float) -> Uop:
        """A float32 constant."""
        return const_float(x)

    @staticmethod
    def bool_(b: bool) -> Uop:
        """A bool constant."""
        return const_bool(b)

    @staticmethod
    def eq(a: Uop, b: Uop | Number) -> Uop:
        """a == b; false on NaN."""
        return a.eq(b)

    @staticmethod
    def ne(a: Uop, b: Uop | Number) -> Uop:
        """a != b; true on NaN."""
        return a.ne(b)

    @staticmethod
    def lt(a: Uop, b: Uop | Number) -> Uop:
        """a < b."""
        return a < b

    @staticmethod
    def max_(a: Uop, b: Uop | Number) -> Uop:
        """The greater."""
        return a.maximum(b)

    @staticmethod
    def min_(a: Uop, b: Uop | Number) -> Uop:
        """The smaller."""
        return a.minimum(b)

    @staticmethod
    def not_(a: Uop) -> Uop:
        """Logical complement of a bool."""
        return a.logical_not()

    @staticmethod
    def neg(a: Uop) -> Uop:
        """-a."""
        return -a

    @staticmethod
    def cdiv(a: Uop, b: Uop | Number) -> Uop:
        """The quotient cut towards zero. `//` floors."""
        return _alu(Ops.CDIV, a, b)

    @staticmethod
    def cmod(a: Uop, b: Uop | Number) -> Uop:
        """The remainder with the sign of a. `%` has that of b."""
        return _alu(Ops.CMOD, a, b)

    @staticmethod
    def where(cond: Uop, a: Uop | Number, b: Uop | Number) -> Uop:
        """a where cond holds, else b."""
        return cond.where(a, b)

    @staticmethod
    def cast(a: Uop, dtype: Dtype) -> Uop:
        """a converted to dtype."""
        return cast(src=a, dtype=dtype)


def _alu(op: Op, a: Uop, b: Uop | Number) -> Uop:
    return alu_binary(op=op, lhs=a, rhs=operand(a, b))
