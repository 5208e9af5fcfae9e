"""Evaluating one op on Python numbers: for constant folding and for the program interpreter."""

from collections.abc import Sequence

from dynamis.dtype import Number, Val
from dynamis.uop import arithmetic
from dynamis.uop.errors import UopError
from dynamis.uop.ops import Op, Ops


def has_evaluation(op: Op, dtype: Val) -> bool:
    """Whether `op` computing in the dtype has a Python meaning here.

    `dtype` is that of the operands: of the arms for WHERE, of the source for CAST.
    """
    if op.evaluation is None:
        return False
    kind = "f" if dtype.is_float else "i" if dtype.is_int else "b" if dtype.is_bool else "-"
    return kind in op.kinds


def evaluate(
    op: Op, dtype: Val, operands: Sequence[Number], *, source: Val | None = None
) -> Number:
    """The value of `op` on operands that are values of their dtypes.

    `dtype` is the node's: the dtype computed in, or bool for a comparison. `source` is the
    dtype of the operand of a BITCAST, which nothing else needs. A vector dtype is read as its
    lane: the operands are of one lane. Raises UopError when the op has no evaluation at the dtype.
    """
    fn = op.evaluation
    if fn is None:
        raise UopError(f"{op.name} has no evaluation")
    lane = dtype.scalarize()
    if op is Ops.BITCAST:
        if source is None:
            raise UopError("a bitcast's source dtype is needed to evaluate it")
        return arithmetic.bitcast(lane, operands[0], source.scalarize())
    if not op.is_comparison and op is not Ops.CAST and not has_evaluation(op, lane):
        raise UopError(f"{op.name} is not defined on {lane}")
    return fn(lane, *operands)
