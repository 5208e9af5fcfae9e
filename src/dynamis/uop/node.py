"""The node of the IR, its interning, and the operators that build nodes from nodes.

A `Uop` is an operation, a dtype, ordered sources, a payload and an optional diagnostic tag.
Equal nodes are one object, so `is` compares and nodes hash by identity. Tables hang on the dtype,
one for each op, and are weak: a node lives as long as something uses it.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from typing import Any, Final

from dynamis.dtype import Dtype, Number, Val, bool_
from dynamis.uop.accessors import Accessors
from dynamis.uop.const import Const, Invalid
from dynamis.uop.errors import UopError
from dynamis.uop.intern import KeyedRef, forget, intern, remove_dead
from dynamis.uop.ops import Op, Ops

_numbers = itertools.count(1)
_numbering = threading.Lock()
_numbered: Final[weakref.WeakKeyDictionary[Uop, int]] = weakref.WeakKeyDictionary()
_new = object.__new__
_GIVEN: Final = "constants, by the number given"


class Uop(Accessors):
    """One interned node. Never made by calling the class: use the constructors.

    `op`, `dtype`, `src`, `arg` and `node_tag` are its identity. The slots with an underscore
    remember analyses, all of them functions of the node alone. Every slot costs each node memory
    and time in the cyclic collector: what few nodes have is kept elsewhere.
    """

    __slots__ = (
        "__weakref__", "_bounds", "_marks", "_ranges", "_shape", "_walk",
        "arg", "dtype", "op", "src",
    )  # fmt: skip

    op: Op
    dtype: Dtype
    src: tuple[Uop, ...]
    arg: Any
    node_tag: str | None = None
    _walk: object
    _bounds: tuple[Any, Any] | None
    _shape: Any
    _ranges: tuple[Uop, ...] | None
    _marks: int

    def __init__(self) -> None:
        raise UopError("nodes are made by the constructors of dynamis.uop")

    @property
    def tag(self) -> int:
        """The number of the node in this process: from 1, given when first asked for, never reused.

        Two nodes are one exactly when their tags are equal. Most nodes are never asked.
        """
        number = _numbered.get(self)
        if number is None:
            with _numbering:
                number = _numbered.get(self)
                if number is None:
                    number = _numbered[self] = next(_numbers)
        return number

    def __repr__(self) -> str:
        arg = "" if self.arg is None else f", {self.arg!r}"
        return f"<{self.op.name}:{self.dtype} #{self.tag} {len(self.src)} src{arg}>"

    def __copy__(self) -> Uop:
        return self

    def __deepcopy__(self, memo: object) -> Uop:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        raise UopError("nodes are written by the serialisation of dynamis.uop, not pickled")

    # Operators. Numbers become constants of the node's dtype; dtypes are never promoted. There is
    # no `==`: tables compare nodes by identity. Write `a.eq(b)`.

    def __add__(self, other: Uop | Number) -> Uop:
        return _binary(Ops.ADD, self, other)

    def __radd__(self, other: Number) -> Uop:
        return _binary(Ops.ADD, operand(self, other), self)

    def __sub__(self, other: Uop | Number) -> Uop:
        return _binary(Ops.SUB, self, other)

    def __rsub__(self, other: Number) -> Uop:
        return _binary(Ops.SUB, operand(self, other), self)

    def __mul__(self, other: Uop | Number) -> Uop:
        return _binary(Ops.MUL, self, other)

    def __rmul__(self, other: Number) -> Uop:
        return _binary(Ops.MUL, operand(self, other), self)

    def __truediv__(self, other: Uop | Number) -> Uop:
        return _binary(Ops.FDIV, self, other)

    def __rtruediv__(self, other: Number) -> Uop:
        return _binary(Ops.FDIV, operand(self, other), self)

    def __floordiv__(self, other: Uop | Number) -> Uop:
        return _binary(Ops.FLOORDIV, self, other)

    def __rfloordiv__(self, other: Number) -> Uop:
        return _binary(Ops.FLOORDIV, operand(self, other), self)

    def __mod__(self, other: Uop | Number) -> Uop:
        return _binary(Ops.FLOORMOD, self, other)

    def __rmod__(self, other: Number) -> Uop:
        return _binary(Ops.FLOORMOD, operand(self, other), self)

    def __and__(self, other: Uop | Number) -> Uop:
        return _binary(Ops.AND, self, other)

    def __rand__(self, other: Number) -> Uop:
        return _binary(Ops.AND, operand(self, other), self)

    def __or__(self, other: Uop | Number) -> Uop:
        return _binary(Ops.OR, self, other)

    def __ror__(self, other: Number) -> Uop:
        return _binary(Ops.OR, operand(self, other), self)

    def __xor__(self, other: Uop | Number) -> Uop:
        return _binary(Ops.XOR, self, other)

    def __rxor__(self, other: Number) -> Uop:
        return _binary(Ops.XOR, operand(self, other), self)

    def __lshift__(self, other: Uop | Number) -> Uop:
        return _binary(Ops.SHL, self, other)

    def __rlshift__(self, other: Number) -> Uop:
        return _binary(Ops.SHL, operand(self, other), self)

    def __rshift__(self, other: Uop | Number) -> Uop:
        return _binary(Ops.SHR, self, other)

    def __rrshift__(self, other: Number) -> Uop:
        return _binary(Ops.SHR, operand(self, other), self)

    def __neg__(self) -> Uop:
        return node(Ops.NEG, self.dtype, (self,))

    def __invert__(self) -> Uop:
        """Complement: logical on bool, bitwise on integers."""
        return self.logical_not() if self.dtype.is_bool else self ^ -1

    def __lt__(self, other: Uop | Number) -> Uop:
        return _binary(Ops.CMPLT, self, other)

    def __gt__(self, other: Uop | Number) -> Uop:
        return _binary(Ops.CMPLT, operand(self, other), self)

    def __le__(self, other: Uop | Number) -> Uop:
        return operand(self, other) >= self

    def __ge__(self, other: Uop | Number) -> Uop:
        """`self >= other`: not (self < other), except on floats, where NaN makes both false."""
        right = operand(self, other)
        if self.dtype.is_float:
            return (right < self) | self.eq(right)
        return (self < right).logical_not()

    def eq(self, other: Uop | Number) -> Uop:
        """The comparison CMPEQ; false on NaN."""
        return _binary(Ops.CMPEQ, self, other)

    def ne(self, other: Uop | Number) -> Uop:
        """The comparison CMPNE; true on NaN."""
        return _binary(Ops.CMPNE, self, other)

    def maximum(self, other: Uop | Number) -> Uop:
        """The greater: IEEE 754-2019 maximum on floats."""
        return _binary(Ops.MAX, self, other)

    def minimum(self, other: Uop | Number) -> Uop:
        """The smaller, as the complement of a maximum.

        -max(-a, -b) on floats (exact, NaN wins, -0.0 below 0.0), ~max(~a, ~b) on integers, where
        negation would wrap; `and` on bool.
        """
        right = operand(self, other)
        if self.dtype.is_float:
            return -((-self).maximum(-right))
        if self.dtype.is_bool:
            return self & right
        return ~((~self).maximum(~right))

    def logical_not(self) -> Uop:
        """`self != true`. Raises UopError unless the node is bool."""
        if not self.dtype.is_bool:
            raise UopError(f"logical_not needs bool, not {self.dtype}")
        return self.ne(True)

    def where(self, a: Uop | Number, b: Uop | Number) -> Uop:
        """`a` where the bool node holds, else `b`; at least one of them is a node."""
        like = a if isinstance(a, Uop) else b
        if not isinstance(like, Uop):
            raise UopError("where needs a node in one of its arms, to know the dtype")
        if not self.dtype.is_bool:
            raise UopError(f"where needs a bool condition, not {self.dtype}")
        left, right = operand(like, a), operand(like, b)
        return node(Ops.WHERE, left.dtype, (self, left, right))

    def cast(self, dtype: Dtype) -> Uop:
        """The node converted to `dtype`; itself when it has that dtype already."""
        return self if self.dtype is dtype else node(Ops.CAST, dtype, (self,))

    def bitcast(self, dtype: Dtype) -> Uop:
        """The node's bits read as `dtype`; itself when it has that dtype already."""
        return self if self.dtype is dtype else node(Ops.BITCAST, dtype, (self,))


class _Tagged(Uop):
    """A node with a diagnostic tag: few have one, so the others spend no slot on it."""

    __slots__ = ("node_tag",)


def node(
    op: Op, dtype: Dtype, src: tuple[Uop, ...], arg: Any = None, node_tag: str | None = None
) -> Uop:
    """The one node with these fields, checked by nobody: the layer's own raw constructor."""
    try:
        table = dtype.tables[op]
    except KeyError:
        table = dtype.tables.setdefault(op, {})
    # the sources alone are the usual key: no second tuple is kept for it
    key = src if arg is None and node_tag is None else (src, arg, node_tag)
    ref = table.get(key)
    if ref is not None:
        found: Uop | None = ref()
        if found is not None:
            return found
    n: Uop
    if node_tag is None:
        n = _new(Uop)
    else:
        n = _new(_Tagged)
        n.node_tag = node_tag
    n.op = op
    n.dtype = dtype
    n.src = src
    n.arg = arg
    n._bounds = n._shape = n._ranges = n._walk = None
    n._marks = 0
    # `intern`, written out: a call is a tenth of what a new node costs
    ref = KeyedRef(n, forget)
    ref.table = table
    ref.key = key
    while (filed := table.setdefault(key, ref)) is not ref:
        live: Uop | None = filed()
        if live is not None:
            return live
        remove_dead(table, key)
    return n


def const_node(dtype: Val, value: Number | Invalid) -> Uop:
    """The CONST of `value`, made a value of `dtype`."""
    # A second, weak way to the node from the number as it was given: most constants are asked
    # for again. 0 and NaN take the long way, where -0.0 and the NaNs are told apart.
    key = (value.__class__, value)
    table = dtype.tables.get(_GIVEN)
    if table is None:
        table = dtype.tables.setdefault(_GIVEN, {})
    ref = table.get(key) if value else None
    if ref is not None:
        found: Uop | None = ref()
        if found is not None:
            return found
    made = node(Ops.CONST, dtype, (), Const(dtype, value))
    return intern(table, key, made) if value and value == value else made


def operand(like: Uop, value: Uop | Number) -> Uop:
    """`value` as an operand beside `like`: a node of its dtype.

    Raises UopError for a node of another dtype, and for a number the dtype does not hold (floats
    are rounded).
    """
    if isinstance(value, Uop):
        if value.dtype is not like.dtype:
            raise UopError(f"operands of two dtypes, {like.dtype} and {value.dtype}: cast one")
        return value
    dtype = like.dtype
    if not isinstance(dtype, Val):
        raise UopError(f"no number stands beside a pointer ({dtype})")
    made = const_node(dtype, value)
    # -1 is how all ones are spelled at an unsigned dtype
    if not dtype.is_float and made.arg.value != value and not (dtype.is_unsigned and value == -1):
        raise UopError(f"{value!r} is no value of {dtype}")
    return made


def _binary(op: Op, left: Uop, right: Uop | Number) -> Uop:
    right = operand(left, right)
    dtype = left.dtype
    if op.is_comparison:
        if not isinstance(dtype, Val):
            raise UopError(f"pointers are not compared ({dtype})")
        dtype = bool_ if dtype.count == 1 else bool_.vec(dtype.count)
    kind = "f" if dtype.is_float else "i" if dtype.is_int else "b" if dtype.is_bool else "-"
    if kind not in op.kinds:
        raise UopError(f"{op.name} is not defined on {dtype}")
    return node(op, dtype, (left, right))
