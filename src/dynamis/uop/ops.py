"""The ops: one row an op, with its groups, operand kinds, meaning and Python evaluation.

The order of the rows is the ordinal; it decides canonical operand order, so rows are only ever
added at the end. Validator, printer, constant folding, interpreter and renderers read this table.
"""

from collections.abc import Callable, Iterable
from typing import Final

from dynamis.dtype import Number
from dynamis.uop import arithmetic as calc

Evaluation = Callable[..., Number]


class Op:
    """One operation. Instances are unique: compare with `is`.

    `kinds` says which operand dtypes an ALU op takes: any of "i" integers, "f" floats, "b" bool.
    `evaluation` is its Python meaning, called with the dtype computed in and the operands; None
    where the op has none here (not an ALU op).
    """

    __slots__ = (
        "evaluation", "is_all", "is_alu", "is_associative", "is_binary", "is_broadcastable",
        "is_commutative", "is_comparison", "is_defines", "is_elementwise", "is_idempotent",
        "is_irreducible", "is_movement", "is_reduce", "is_ternary", "is_unary", "kinds", "name",
        "ordinal",
    )  # fmt: skip

    name: str
    ordinal: int

    def __init__(
        self, groups: str = "", kinds: str = "", evaluation: Evaluation | None = None
    ) -> None:
        g = groups.split()
        self.kinds = kinds
        self.evaluation = evaluation
        self.is_unary = "unary" in g
        self.is_binary = "binary" in g
        self.is_ternary = "ternary" in g
        self.is_alu = self.is_unary or self.is_binary or self.is_ternary
        self.is_elementwise = self.is_alu or "convert" in g
        self.is_broadcastable = self.is_binary or self.is_ternary or "broadcastable" in g
        self.is_defines = "defines" in g
        self.is_irreducible = "irreducible" in g
        self.is_movement = "movement" in g
        self.is_commutative = "commutative" in g
        self.is_associative = "associative" in g
        self.is_idempotent = "idempotent" in g
        self.is_reduce = "reduce" in g
        self.is_comparison = "comparison" in g
        self.is_all = True

    def __repr__(self) -> str:
        return f"Ops.{self.name}"

    def __copy__(self) -> "Op":
        return self

    def __deepcopy__(self, memo: object) -> "Op":
        return self

    def __reduce__(self) -> tuple[object, ...]:
        return getattr, (Ops, self.name)


class Ops:
    """The ops in declaration order."""

    # defines and specials
    BIND = Op()
    SPECIAL = Op("irreducible")
    BUFFER = Op("defines")
    # not rendered
    NOOP = Op()
    REWRITE_ERROR = Op()
    PARAM = Op("defines irreducible")
    FUNCTION = Op()
    CALL = Op()
    PROGRAM = Op()
    LINEAR = Op()
    SOURCE = Op()
    BINARY = Op()
    SINK = Op()
    AFTER = Op()
    GROUP = Op("broadcastable")
    STACK = Op()
    TUPLE = Op()
    GETTUPLE = Op()
    GETADDR = Op()
    # memory
    INDEX = Op()
    SHRINK = Op("movement")
    LOAD = Op()
    STORE = Op()
    # tensor cores
    WMMA = Op()
    SHAPED_WMMA = Op()
    # unary
    CAST = Op("convert", "ifb", calc.cast)
    BITCAST = Op("convert", "ifb", calc.bitcast)
    EXP2 = Op("unary", "f", calc.elementary("exp2"))
    LOG2 = Op("unary", "f", calc.elementary("log2"))
    SIN = Op("unary", "f", calc.elementary("sin"))
    SQRT = Op("unary", "f", calc.sqrt)
    RECIPROCAL = Op("unary", "f", calc.reciprocal)
    NEG = Op("unary", "ifb", calc.neg)
    TRUNC = Op("unary", "if", calc.trunc)
    # binary
    ADD = Op("binary commutative associative reduce", "ifb", calc.add)
    MUL = Op("binary commutative associative reduce", "ifb", calc.mul)
    SHL = Op("binary", "i", calc.shl)
    SHR = Op("binary", "i", calc.shr)
    CDIV = Op("binary", "i", calc.cdiv)
    MAX = Op("binary commutative associative idempotent reduce", "ifb", calc.maximum)
    CMOD = Op("binary", "i", calc.cmod)
    CMPLT = Op("binary comparison", "ifb", calc.less)
    CMPNE = Op("binary comparison commutative", "ifb", calc.not_equal)
    CMPEQ = Op("binary comparison commutative", "ifb", calc.equal)
    XOR = Op("binary commutative", "ib", calc.bit_xor)
    OR = Op("binary commutative associative idempotent", "ib", calc.bit_or)
    AND = Op("binary commutative associative idempotent", "ib", calc.bit_and)
    THREEFRY = Op("binary", "i")
    SUB = Op("binary", "ifb", calc.sub)
    FDIV = Op("binary", "f", calc.fdiv)
    POW = Op("binary", "f", calc.elementary("pow"))
    FLOORDIV = Op("binary", "i", calc.floordiv)
    FLOORMOD = Op("binary", "i", calc.floormod)
    # ternary
    WHERE = Op("ternary", "ifb", calc.where)
    MULACC = Op("ternary", "ifb", calc.muladd)
    # control, constants, escapes
    BARRIER = Op()
    RANGE = Op("irreducible")
    IF = Op()
    END = Op()
    ENDIF = Op()
    WAIT = Op()
    CONST = Op("irreducible")
    CUSTOM = Op()
    CUSTOMI = Op()
    INS = Op()
    # tensor graph
    CONTIGUOUS = Op()
    CONTIGUOUS_BACKWARD = Op()
    DETACH = Op()
    STAGE = Op()
    COPY = Op()
    SLICE = Op()
    MSELECT = Op()
    MSTACK = Op()
    CUSTOM_FUNCTION = Op()
    RESHAPE = Op("movement")
    PERMUTE = Op("movement")
    EXPAND = Op("movement")
    PAD = Op("movement")
    FLIP = Op("movement")
    MULTI = Op()
    REDUCE = Op()
    ALLREDUCE = Op()
    # ours: leaves the innermost open RANGE once its source holds in every lane
    BREAK = Op()


ALL: Final[tuple[Op, ...]] = tuple(op for op in vars(Ops).values() if isinstance(op, Op))
"""Every op, in order."""

for _i, (_name, _op) in enumerate(
    (name, op) for name, op in vars(Ops).items() if isinstance(op, Op)
):
    _op.name = _name
    _op.ordinal = _i


def _members(flag: str) -> tuple[Op, ...]:
    return tuple(op for op in ALL if getattr(op, flag))


class Group:
    """Sets of ops, each in declaration order. `Op.is_<group>` is membership."""

    unary: Final = _members("is_unary")
    binary: Final = _members("is_binary")
    ternary: Final = _members("is_ternary")
    alu: Final = _members("is_alu")
    broadcastable: Final = _members("is_broadcastable")
    elementwise: Final = _members("is_elementwise")
    defines: Final = _members("is_defines")
    irreducible: Final = _members("is_irreducible")
    movement: Final = _members("is_movement")
    commutative: Final = _members("is_commutative")
    associative: Final = _members("is_associative")
    idempotent: Final = _members("is_idempotent")
    reduce: Final = _members("is_reduce")
    comparison: Final = _members("is_comparison")
    all: Final = ALL

    @staticmethod
    def union(*groups: Iterable[Op]) -> tuple[Op, ...]:
        """The ops of all groups, each once, in order of first appearance."""
        return tuple(dict.fromkeys(op for group in groups for op in group))

    @staticmethod
    def difference(group: Iterable[Op], without: Iterable[Op]) -> tuple[Op, ...]:
        """The ops of `group` that are not in `without`, in order."""
        out = frozenset(without)
        return tuple(op for op in group if op not in out)
