"""``Arithmetic`` on nodes: elementary functions as graphs, and as Python evaluations of ops.

Goes in: a function of ``dynamis.elementary`` and argument nodes of f32 (or f64). Comes out: the
node of its value. Every op used is total, so the arms that are not taken may be computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from dynamis.dtype import Number, Val, float32, float64, int32, int64, uint32, uint64
from dynamis.elementary import DOUBLE, SINGLE
from dynamis.elementary.arithmetic import Real, Truth, Word
from dynamis.uop.build import index as index_
from dynamis.uop.build import stack, with_tag
from dynamis.uop.errors import UopError
from dynamis.uop.node import Uop, const_node, node, operand
from dynamis.uop.ops import Ops

SELECT: Final = "select"
"""The tag of a WHERE whose arms both stay computed. Any other may become a branch when an arm is
dear, and a function that ends in the choice of its usual value must not stand in a branch."""
RARE: Final = "rare"
"""The tag of a WHERE whose condition seldom holds: its first arm is kept out of the way."""


class Nodes:
    """The operations as nodes; see ``Arithmetic`` for what each means."""

    def wide(self, x: Real) -> Real:
        return x.cast(float64)

    def narrow(self, x: Real) -> Real:
        return x.cast(float32)

    def fma(self, a: Real, b: Real, c: Real) -> Real:
        return node(Ops.MULACC, float64, tuple(_alike(a, b, c)))

    def add32(self, a: Real, b: Real) -> Real:
        a, b = _alike(a, b)
        return a + b

    def sub32(self, a: Real, b: Real) -> Real:
        a, b = _alike(a, b)
        return a - b

    def mul32(self, a: Real, b: Real) -> Real:
        a, b = _alike(a, b)
        return a * b

    def fma32(self, a: Real, b: Real, c: Real) -> Real:
        return node(Ops.MULACC, float32, tuple(_alike(a, b, c)))

    def lookup(self, index: Word, table: Sequence[float]) -> Real:
        entries = stack([const_node(float32, x) for x in table])
        return index_(ptr=entries, idxs=[index & (len(table) - 1)])

    def div(self, a: Real, b: Real) -> Real:
        return a / b

    def sqrt(self, x: Real) -> Real:
        return node(Ops.SQRT, x.dtype, (x,))

    def eq(self, a: Real | Word, b: Real | Word) -> Truth:
        a, b = _alike(a, b)
        return a.eq(b)

    def not_(self, a: Truth) -> Truth:
        return a.logical_not()

    def where(self, condition: Truth, a: Real | Word, b: Real | Word) -> Real | Word:
        if not isinstance(a, Uop) and not isinstance(b, Uop):
            a = const_node(float64, a)
        return with_tag(SELECT, condition.where(a, b))

    def branch(
        self,
        condition: Truth,
        dear: Callable[[], tuple[Any, ...]],
        usual: Callable[[], tuple[Any, ...]],
    ) -> tuple[Any, ...]:
        arms = zip(dear(), usual(), strict=True)
        return tuple(with_tag(RARE, condition.where(a, b)) for a, b in arms)

    def bits32(self, x: Real) -> Word:
        return x.bitcast(uint32)

    def bits64(self, x: Real) -> Word:
        return x.bitcast(uint64)

    def float32(self, word: Word) -> Real:
        return word.bitcast(float32)

    def float64(self, word: Word) -> Real:
        return word.bitcast(float64)

    def i32(self, word: Word | int) -> Word:
        return _word(word, int32)

    def u32(self, word: Word | int) -> Word:
        return _word(word, uint32)

    def i64(self, word: Word | int) -> Word:
        return _word(word, int64)

    def u64(self, word: Word | int) -> Word:
        return _word(word, uint64)

    def f64(self, x: float) -> Real:
        return const_node(float64, x)

    def real(self, word: Word) -> Real:
        return word.cast(float64)


def _word(word: Uop | int, dtype: Val) -> Uop:
    return const_node(dtype, word) if isinstance(word, int) else word.cast(dtype)


def _alike(*operands: Uop | Number) -> list[Uop]:
    """Operands as nodes: numbers become constants beside the first node."""
    like = next(x for x in operands if isinstance(x, Uop))
    return [operand(like, x) for x in operands]


NODES = Nodes()


def expanded(name: str, *args: Uop) -> Uop:
    """The elementary function ``name`` of float nodes, written out; that of floats narrower than
    f32 is f64's, rounded. Raises UopError for a function or a dtype that has none."""
    dtype = args[0].dtype
    table = SINGLE if dtype is float32 else DOUBLE if dtype.is_float else {}
    if name not in table:
        raise UopError(f"there is no {name} of {dtype}")
    if dtype in (float32, float64):
        result: Uop = table[name](NODES, *args)
        return result
    return expanded(name, *(x.cast(float64) for x in args)).cast(dtype)
