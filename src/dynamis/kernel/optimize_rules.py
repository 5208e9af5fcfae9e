"""The algebra of ``optimize``: each rule one line, the same words and the same failures on both
sides.

In: an operation, and what its operands are (a ``Site``). Out: the value or the operation it equals,
or None. A rule's right side never fails where its left does not, and a left side that could fail
equals its right side only where it cannot. Float rules are exact for every input, NaN, infinities
and the sign of zero included (which NaN is not observable): ``x + 0``, ``x * 0`` and ``x - x`` are
no rules of floats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from . import op as ops
from .arithmetic import Operation
from .module import Module
from .op import Op, ValueId
from .optimize_fold import clamped
from .tables import BinaryOp, UnaryOp
from .tables import Intrinsic as I
from .types import Numeric, Type, Value, elements_of, word_bits


@dataclass(slots=True)
class Site:
    """An operation being simplified: its type, and what is known of the values it reads.

    ``make`` gives the id of a new constant of a type whose words are all one number."""

    op: Op
    ty: Type
    operands: Sequence[ValueId]
    types: Sequence[Type]
    ops: Sequence[Op]
    module: Module
    make: Callable[[Type, Numeric], ValueId]

    @property
    def a(self) -> ValueId:
        return self.operands[0]

    @property
    def b(self) -> ValueId:
        return self.operands[1]

    @property
    def c(self) -> ValueId:
        return self.operands[2]

    def constant(self, id: ValueId) -> Value | None:
        """The value of a constant."""
        op = self.ops[id]
        return op.value if isinstance(op, ops.Const) else None

    def number(self, id: ValueId) -> Numeric | None:
        """The number that every word of a constant of a plain type is; None of another value."""
        value = self.constant(id)
        if value is None or value.ty.is_struct or len(set(value.words)) != 1:
            return None
        return value.numbers[0]

    def holds(self, id: ValueId, number: Numeric) -> bool:
        """Whether the value is a constant whose every word is this number, a zero's sign told."""
        value = self.constant(id)
        if value is None or value.ty.is_struct:
            return False
        word = word_bits(value.ty.component, number)
        return all(w == word for w in value.words)

    def whole(self, id: ValueId) -> ValueId | None:
        """The value where it is of the result's type (a scalar that broadcasts is not)."""
        return id if self.types[id] == self.ty else None

    def beside(self, number: Numeric) -> ValueId | None:
        """Of two operands, the one beside a constant ``number``, on either side."""
        if self.holds(self.b, number):
            return self.whole(self.a)
        return self.whole(self.b) if self.holds(self.a, number) else None

    def either(self, number: Numeric) -> bool:
        return self.holds(self.a, number) or self.holds(self.b, number)

    def all(self, number: Numeric) -> ValueId:
        """A constant of the result's type, every word ``number``."""
        return self.make(self.ty, number)

    def inner(self, *operations: Operation) -> ValueId | None:
        """The first operand's own first operand, where it is made by one of ``operations``."""
        op = self.ops[self.a]
        if isinstance(op, (ops.Unary, ops.Binary)) and op.op in operations:
            return op.a
        if isinstance(op, ops.Intrinsic) and op.intrinsic in operations:
            return op.args[0]
        return None


Answer = Op | ValueId | None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its algebra in words, the operations it is of, the component types of the first
    operand that it holds for (all, where none are given), and itself."""

    text: str
    of: tuple[object, ...]
    apply: Callable[[Site], Answer]
    over: frozenset[Type] | None = None


_INTS = frozenset((Type.INT, Type.LONG))
_FLOATS = frozenset((Type.FLOAT, Type.DOUBLE))
_B = BinaryOp
_ROUNDINGS = (I.FLOOR, I.CEIL, I.ROUND, I.TRUNC)
_SHIFTS = (_B.SHL, _B.SHR, _B.USHR)
_IDENTITIES = {
    I.TO_FLOAT: Type.FLOAT,
    I.TO_DOUBLE: Type.DOUBLE,
    I.TO_INT: Type.INT,
    I.TO_LONG: Type.LONG,
}
_OPPOSITES = {
    _B.LESS: _B.GREATER_EQUAL,
    _B.GREATER_EQUAL: _B.LESS,
    _B.GREATER: _B.LESS_EQUAL,
    _B.LESS_EQUAL: _B.GREATER,
    _B.EQUAL: _B.NOT_EQUAL,
    _B.NOT_EQUAL: _B.EQUAL,
}


def _twice(s: Site) -> bool:
    return s.a == s.b


def _width(s: Site) -> int:
    return 64 if s.ty.component == Type.LONG else 32


def _no_shift(s: Site) -> bool:
    """Whether the count is a constant that shifts by nothing."""
    count = s.constant(s.b)
    return count is not None and all(int(n) % _width(s) == 0 for n in count.numbers)


def _reciprocal(s: Site) -> Answer:
    """x / 2**k as x * 2**-k, where 2**-k is a number of the format: both round the same product."""
    d = s.number(s.b)
    if not isinstance(d, float) or not math.isfinite(d) or d == 0.0 or d == 1.0:
        return None
    if abs(math.frexp(d)[0]) != 0.5:
        return None
    ty = s.types[s.b]
    inverse = Value.of(ty.component, 1.0 / d).numbers[0]
    if not isinstance(inverse, float) or not math.isfinite(inverse) or inverse * d != 1.0:
        return None
    return ops.Binary(_B.MUL, s.a, s.make(ty, inverse))


def _opposite(s: Site) -> Answer:
    compare = s.ops[s.a]
    if not isinstance(compare, ops.Binary) or compare.op not in _OPPOSITES:
        return None
    equality = compare.op in (_B.EQUAL, _B.NOT_EQUAL)
    if not equality and s.types[compare.a].component not in _INTS:
        return None  # beside a NaN, a < b and a >= b are both false
    return ops.Binary(_OPPOSITES[compare.op], compare.a, compare.b)


def _bool_beside(s: Site, number: bool) -> Answer:
    """x == true and x != false are x; the others are not x."""
    if s.types[s.a] != Type.BOOL:
        return None
    other = s.a if s.holds(s.b, number) else s.b if s.holds(s.a, number) else None
    if other is None:
        return None
    same = isinstance(s.op, ops.Binary) and (s.op.op is _B.EQUAL) == number
    return other if same else ops.Unary(UnaryOp.NOT, other)


def _rebuilt(s: Site) -> Answer:
    """The whole whose parts are put together again, all of them, in order."""
    whole: ValueId | None = None
    for k, id in enumerate(s.operands):
        part = s.ops[id]
        if not isinstance(part, ops.Extract) or part.index != k:
            return None
        if whole not in (None, part.value):
            return None
        whole = part.value
    return None if whole is None or s.types[whole] != s.ty else whole


def _part(s: Site) -> Answer:
    made = s.ops[s.a]
    index = s.op.index if isinstance(s.op, ops.Extract) else -1
    return made.parts[index] if isinstance(made, ops.Construct) else None


def _indexed(s: Site) -> Answer:
    index = s.constant(s.b)
    parts = elements_of(s.module.structs, s.types[s.a])
    return None if index is None or parts is None else ops.Extract(s.a, clamped(index, parts[1]))


def _known_path(s: Site) -> Answer:
    """A step by a constant index is the step to that part."""
    assert isinstance(s.op, ops.Part)
    structs, ty = s.module.structs, s.module.manifest.inputs[s.op.input].element
    path: list[ops.Step] = []
    for step in s.op.path:
        if isinstance(step, ops.FieldStep):
            ty = structs[ty.index].fields[step.index].ty if ty.is_struct else ty.column
        elif isinstance(step, ops.IndexStep):
            parts = elements_of(structs, ty)
            index = s.constant(step.value)
            if parts is None:
                return None
            if index is not None:
                step = ops.FieldStep(clamped(index, parts[1]))
            ty = parts[0]
        path.append(step)
    return None if tuple(path) == s.op.path else ops.Part(s.op.input, s.op.at, tuple(path))


def _binary(s: Site, operation: BinaryOp, a: ValueId, b: ValueId) -> Answer:
    return ops.Binary(operation, a, b)


# fmt: off
RULES: tuple[Rule, ...] = (
    # Neutral operands.
    Rule("x + 0 -> x", (_B.ADD, _B.BIT_OR, _B.BIT_XOR, I.ADD_WRAP), lambda s: s.beside(0), _INTS),
    Rule("x + -0.0 -> x", (_B.ADD,), lambda s: s.beside(-0.0), _FLOATS),
    Rule("x - 0 -> x", (_B.SUB, I.SUB_WRAP),
         lambda s: s.whole(s.a) if s.holds(s.b, 0) else None),  # of floats: +0.0, so -0.0 stays
    Rule("x * 1 -> x", (_B.MUL, I.MUL_WRAP), lambda s: s.beside(1)),
    Rule("x / 1 -> x", (_B.DIV, I.UDIV), lambda s: s.whole(s.a) if s.holds(s.b, 1) else None),
    Rule("x & -1 -> x", (_B.BIT_AND,), lambda s: s.beside(-1)),
    Rule("x << 0 -> x", (*_SHIFTS, I.ROTL, I.ROTR),
         lambda s: s.whole(s.a) if _no_shift(s) else None),
    Rule("x && true -> x", (_B.AND,), lambda s: s.beside(True)),
    Rule("x || false -> x", (_B.OR,), lambda s: s.beside(False)),
    # Absorbing operands. A failure of x itself stays where x is.
    Rule("x * 0 -> 0", (_B.MUL, _B.BIT_AND, I.MUL_WRAP, I.MULHI, I.UMULHI),
         lambda s: s.all(0) if s.either(0) else None, _INTS),
    Rule("x | -1 -> -1", (_B.BIT_OR,), lambda s: s.all(-1) if s.either(-1) else None),
    Rule("0 << n -> 0", (*_SHIFTS, I.ROTL, I.ROTR),
         lambda s: s.all(0) if s.holds(s.a, 0) else None),
    Rule("x % 1 -> 0", (_B.REM, I.UREM), lambda s: s.all(0) if s.holds(s.b, 1) else None, _INTS),
    Rule("x % -1 -> 0", (_B.REM,), lambda s: s.all(0) if s.holds(s.b, -1) else None, _INTS),
    Rule("x && false -> false", (_B.AND,), lambda s: s.all(False) if s.either(False) else None),
    Rule("x || true -> true", (_B.OR,), lambda s: s.all(True) if s.either(True) else None),
    Rule("ult(x, 0) -> false", (I.ULT,), lambda s: s.all(False) if s.holds(s.b, 0) else None),
    # One value twice.
    Rule("x - x -> 0", (_B.SUB, _B.BIT_XOR, I.SUB_WRAP),
         lambda s: s.all(0) if _twice(s) else None, _INTS),
    Rule("x & x -> x", (_B.BIT_AND, _B.BIT_OR, _B.AND, _B.OR, I.MIN, I.MAX),
         lambda s: s.a if _twice(s) else None),
    Rule("x < x -> false", (_B.LESS, _B.GREATER, I.ULT),
         lambda s: s.all(False) if _twice(s) else None),
    Rule("x <= x -> true", (_B.LESS_EQUAL, _B.GREATER_EQUAL, _B.EQUAL),
         lambda s: s.all(True) if _twice(s) else None, _INTS | {Type.BOOL}),
    Rule("x != x -> false", (_B.NOT_EQUAL,),
         lambda s: s.all(False) if _twice(s) else None, _INTS | {Type.BOOL}),
    # One operation undoes or repeats another.
    Rule("-(-x) -> x", (UnaryOp.NEG,), lambda s: s.inner(UnaryOp.NEG)),
    Rule("!(!x) -> x", (UnaryOp.NOT,), lambda s: s.inner(UnaryOp.NOT)),
    Rule("!(a < b) -> a >= b", (UnaryOp.NOT,), _opposite),
    Rule("abs(abs(x)) -> abs(x)", (I.ABS,),
         lambda s: s.a if s.inner(I.ABS) is not None else None),
    Rule("abs(-x) -> abs(x)", (I.ABS,),
         lambda s: None if (x := s.inner(UnaryOp.NEG)) is None else ops.Intrinsic(I.ABS, (x,)),
         _FLOATS),
    Rule("floor(floor(x)) -> floor(x)", _ROUNDINGS,
         lambda s: s.a if s.inner(*_ROUNDINGS) is not None else None),
    Rule("from_bits(bits(x)) -> x", (I.FROM_BITS,), lambda s: s.inner(I.BITS)),
    Rule("to_float(x) -> x", tuple(_IDENTITIES),
         lambda s: s.whole(s.a)),  # of its own type: the only way to have the result's
    # Cheaper forms.
    Rule("x * -1.0 -> -x", (_B.MUL, _B.DIV), lambda s: None
         if (x := _minus_one(s)) is None else ops.Unary(UnaryOp.NEG, x), _FLOATS),
    Rule("x / 2**k -> x * 2**-k", (_B.DIV,), _reciprocal, _FLOATS),
    Rule("fma(a, b, -0.0) -> a * b", (I.FMA,),
         lambda s: _binary(s, _B.MUL, s.a, s.b) if s.holds(s.c, -0.0) else None),
    Rule("fma(a, 1, c) -> a + c", (I.FMA,),
         lambda s: _binary(s, _B.ADD, s.a, s.c) if s.holds(s.b, 1.0) else None),
    Rule("fma(1, b, c) -> b + c", (I.FMA,),
         lambda s: _binary(s, _B.ADD, s.b, s.c) if s.holds(s.a, 1.0) else None),
    Rule("x == true -> x", (_B.EQUAL, _B.NOT_EQUAL), lambda s: _bool_beside(s, True)),
    Rule("x == false -> !x", (_B.EQUAL, _B.NOT_EQUAL), lambda s: _bool_beside(s, False)),
    # Taking apart and putting together.
    Rule("construct(extract x 0, extract x 1, …) -> x", (ops.Construct,), _rebuilt),
    Rule("extract construct(…, p, …) k -> p", (ops.Extract,), _part),
    Rule("subscript x k -> extract x k", (ops.Subscript,), _indexed),
    Rule("part [k] -> part .k", (ops.Part,), _known_path),
)
# fmt: on


def _minus_one(s: Site) -> ValueId | None:
    """What a float is negated in x * -1, -1 * x or x / -1; matrices have no negation."""
    if s.ty.is_matrix:
        return None
    if s.op.op is _B.DIV:  # type: ignore[attr-defined]  # a Binary, by the table
        return s.whole(s.a) if s.holds(s.b, -1.0) else None
    return s.beside(-1.0)


_BY_OPERATION: dict[object, list[Rule]] = {}
for _rule in RULES:
    for _operation in _rule.of:
        _BY_OPERATION.setdefault(_operation, []).append(_rule)


def simplified(site: Site) -> tuple[Rule, Op | ValueId] | None:
    """What the operation equals by the first rule that fires, and the rule."""
    op = site.op
    key: object = type(op)
    if isinstance(op, (ops.Unary, ops.Binary)):
        key = op.op
    elif isinstance(op, ops.Intrinsic):
        key = op.intrinsic
    rules = _BY_OPERATION.get(key)
    if rules is None:
        return None
    kind = site.types[site.a].component if site.operands else None
    for rule in rules:
        if rule.over is None or kind in rule.over:
            answer = rule.apply(site)
            if answer is not None:
                return rule, answer
    return None
