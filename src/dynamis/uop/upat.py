"""Patterns over nodes.

A `UPat` says what a node must be: its op, dtype, sources, payload; and names what it finds.
`match` is the meaning: it yields every binding. `matcher.py` compiles the same to Python.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from dynamis.dtype import Dtype, Number
from dynamis.uop.errors import UopError
from dynamis.uop.node import Uop
from dynamis.uop.ops import Op, Ops

Bindings = dict[str, Uop]


class UPat:
    """A pattern. All that is not given is free.

    op: an op, or several. dtype: one, or several; a one-lane dtype stands for its vectors too.
    src: a tuple matches sources in that order and number (with `allow_any_len` as a prefix), a
    list in any order, a single pattern each source. arg: the payload. value: a number, for CONST:
    equal by value whatever the dtype, but a bool asks for bool. name: what the node is bound to;
    a name used twice must bind one node, and `ctx` is reserved.

    Operators build patterns. A pattern of a commutative op matches in both orders.
    """

    __slots__ = ("allow_any_len", "arg", "dtypes", "name", "ops", "src", "value")

    def __init__(
        self, op: Op | Iterable[Op] | None = None, *, dtype: Dtype | Iterable[Dtype] | None = None,
        src: tuple[UPat, ...] | list[UPat] | UPat | None = None, arg: Any = None,
        value: Number | None = None, name: str | None = None, allow_any_len: bool = False,
    ) -> None:  # fmt: skip
        if name == "ctx":
            raise UopError("the name ctx is reserved")
        if value is not None and op is None:
            op = Ops.CONST
        self.ops = None if op is None else (op,) if isinstance(op, Op) else tuple(op)
        self.dtypes = _dtypes(dtype)
        self.src = src
        self.arg = arg
        self.value = value
        self.name = name
        self.allow_any_len = allow_any_len

    @staticmethod
    def var(name: str | None = None, dtype: Dtype | Iterable[Dtype] | None = None) -> UPat:
        """Any node (of the dtype)."""
        return UPat(dtype=dtype, name=name)

    @staticmethod
    def cvar(name: str | None = None, dtype: Dtype | Iterable[Dtype] | None = None) -> UPat:
        """Any constant (of the dtype)."""
        return UPat(Ops.CONST, dtype=dtype, name=name)

    @staticmethod
    def const(value: Number, dtype: Dtype | Iterable[Dtype] | None = None) -> UPat:
        """The constant `value`, compared by value: 1 is also 1.0."""
        return UPat(Ops.CONST, dtype=dtype, value=value)

    def named(self, name: str) -> UPat:
        """The same pattern, its node bound to `name`."""
        return UPat(
            self.ops, dtype=self.dtypes, src=self.src, arg=self.arg, value=self.value, name=name,
            allow_any_len=self.allow_any_len,
        )  # fmt: skip

    def alu(self, op: Op, *others: UPat | Number) -> UPat:
        """The pattern of `op` over this and `others`; in both orders when it commutes."""
        src = (self, *(_pattern(o) for o in others))
        # said of the root too, where it holds anyway: one test that most rules of an op share
        dtype = None if op.is_comparison else self.dtypes
        return UPat(op, dtype=dtype, src=list(src) if op.is_commutative else src)

    def cast(self, dtype: Dtype | Iterable[Dtype] | None = None, name: str | None = None) -> UPat:
        """A CAST of this to the dtype."""
        return UPat(Ops.CAST, dtype=dtype, src=(self,), name=name)

    def where(self, a: UPat | Number, b: UPat | Number) -> UPat:
        """A WHERE with this as its condition."""
        return UPat(Ops.WHERE, src=(self, _pattern(a), _pattern(b)))

    def __neg__(self) -> UPat:
        return UPat(Ops.NEG, dtype=self.dtypes, src=(self,))

    def __add__(self, other: UPat | Number) -> UPat:
        return self.alu(Ops.ADD, other)

    def __sub__(self, other: UPat | Number) -> UPat:
        return self.alu(Ops.SUB, other)

    def __rsub__(self, other: Number) -> UPat:
        return _pattern(other).alu(Ops.SUB, self)

    def __mul__(self, other: UPat | Number) -> UPat:
        return self.alu(Ops.MUL, other)

    def __truediv__(self, other: UPat | Number) -> UPat:
        return self.alu(Ops.FDIV, other)

    def __floordiv__(self, other: UPat | Number) -> UPat:
        return self.alu(Ops.FLOORDIV, other)

    def __rfloordiv__(self, other: Number) -> UPat:
        return _pattern(other).alu(Ops.FLOORDIV, self)

    def __mod__(self, other: UPat | Number) -> UPat:
        return self.alu(Ops.FLOORMOD, other)

    def __rmod__(self, other: Number) -> UPat:
        return _pattern(other).alu(Ops.FLOORMOD, self)

    def cdiv(self, other: UPat | Number) -> UPat:
        """A CDIV of this by `other`."""
        return self.alu(Ops.CDIV, other)

    def cmod(self, other: UPat | Number) -> UPat:
        """A CMOD of this by `other`."""
        return self.alu(Ops.CMOD, other)

    def __and__(self, other: UPat | Number) -> UPat:
        return self.alu(Ops.AND, other)

    def __or__(self, other: UPat | Number) -> UPat:
        return self.alu(Ops.OR, other)

    def __xor__(self, other: UPat | Number) -> UPat:
        return self.alu(Ops.XOR, other)

    def __lshift__(self, other: UPat | Number) -> UPat:
        return self.alu(Ops.SHL, other)

    def __rlshift__(self, other: Number) -> UPat:
        return _pattern(other).alu(Ops.SHL, self)

    def __rshift__(self, other: UPat | Number) -> UPat:
        return self.alu(Ops.SHR, other)

    def __rrshift__(self, other: Number) -> UPat:
        return _pattern(other).alu(Ops.SHR, self)

    def __lt__(self, other: UPat | Number) -> UPat:
        return self.alu(Ops.CMPLT, other)

    def __gt__(self, other: UPat | Number) -> UPat:
        return _pattern(other).alu(Ops.CMPLT, self)

    def eq(self, other: UPat | Number) -> UPat:
        """A CMPEQ of this and `other`."""
        return self.alu(Ops.CMPEQ, other)

    def ne(self, other: UPat | Number) -> UPat:
        """A CMPNE of this and `other`."""
        return self.alu(Ops.CMPNE, other)

    def maximum(self, other: UPat | Number) -> UPat:
        """A MAX of this and `other`."""
        return self.alu(Ops.MAX, other)

    def logical_not(self) -> UPat:
        """`self != true`, as the IR writes a logical not."""
        return self.alu(Ops.CMPNE, True)

    def match(self, u: Uop, bound: Bindings | None = None) -> Iterator[Bindings]:
        """Every way in which `u` is this pattern, on top of the bindings given."""
        bindings = bound if bound is not None else {}
        if not self.accepts(u):
            return
        if self.name is not None:
            earlier = bindings.get(self.name)
            if earlier is None:
                bindings = {**bindings, self.name: u}
            elif earlier is not u:
                return
        if self.src is None:
            yield bindings
            return
        for order in self.source_orders(len(u.src)):
            yield from _match_all(order, u.src, bindings)

    def accepts(self, u: Uop) -> bool:
        """Whether the node itself fits, sources and name aside."""
        if self.ops is not None and u.op not in self.ops:
            return False
        if self.dtypes is not None and not dtype_in(u.dtype, self.dtypes):
            return False
        if self.value is not None and not literal_is(u, self.value):
            return False
        return self.arg is None or bool(u.arg is self.arg or u.arg == self.arg)

    def source_orders(self, n: int) -> Sequence[Sequence[UPat]]:
        """The sequences of patterns that `n` sources may be held against."""
        src = self.src
        if isinstance(src, UPat):
            return ((src,) * n,)
        if src is None or len(src) > n or (len(src) < n and not self.allow_any_len):
            return ()
        return tuple(itertools.permutations(src)) if isinstance(src, list) else (src,)


def _match_all(patterns: Sequence[UPat], src: Sequence[Uop], bound: Bindings) -> Iterator[Bindings]:
    if not patterns:
        yield bound
        return
    for b in patterns[0].match(src[0], bound):
        yield from _match_all(patterns[1:], src[1:], b)


def _pattern(value: UPat | Number) -> UPat:
    return value if isinstance(value, UPat) else UPat.const(value)


def _dtypes(dtype: Dtype | Iterable[Dtype] | None) -> frozenset[Dtype] | None:
    if dtype is None:
        return None
    return frozenset(dtype if isinstance(dtype, Iterable) else (dtype,))


def dtype_in(dtype: Dtype, allowed: frozenset[Dtype]) -> bool:
    """Whether `dtype` is one of `allowed`, or a vector of a one-lane member."""
    return dtype in allowed or dtype.lane in allowed


def literal_is(u: Uop, value: Number) -> bool:
    """Whether the CONST `u` has this value; a bool literal asks for a bool dtype too."""
    if u.op is not Ops.CONST or (value.__class__ is bool and not u.dtype.is_bool):
        return False
    return bool(u.arg.value == value)
