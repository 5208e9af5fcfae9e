"""At which stages each op is legal: one table, read by every spec.

S: every stage alike (`spec_shared`), T: tensor graph, K: kernel AST, P: linear program. It follows
the stage that each constructor names. What a kernel computes with stands in its linear program
too; a kernel AST is predicated, so IF and ENDIF are of programs only; NOOP and BUFFER are
everywhere, for a NOOP is the unknown shape of a parameter and LOCAL and REG are a kernel's own.
"""

from typing import Final

from dynamis.uop.ops import ALL, Group, Op, Ops

_EVERYWHERE: Final = "STKP"
_COMPUTING: Final = "SKP"

STAGES: Final[dict[Op, str]] = {
    **dict.fromkeys(
        (
            Ops.BUFFER, Ops.NOOP, Ops.REWRITE_ERROR, Ops.PARAM, Ops.SINK, Ops.AFTER, Ops.GROUP,
            Ops.STACK, Ops.STORE, Ops.RANGE, Ops.CONST, *Group.elementwise,
        ),
        _EVERYWHERE,
    ),
    **dict.fromkeys(
        (
            Ops.SPECIAL, Ops.INDEX, Ops.LOAD, Ops.WMMA, Ops.BARRIER, Ops.END, Ops.CUSTOM,
            Ops.CUSTOMI,
        ),
        _COMPUTING,
    ),
    **dict.fromkeys(
        (
            Ops.BIND, Ops.FUNCTION, Ops.CALL, Ops.TUPLE, Ops.GETTUPLE, Ops.SHAPED_WMMA,
            Ops.CONTIGUOUS, Ops.CONTIGUOUS_BACKWARD, Ops.DETACH, Ops.COPY, Ops.SLICE, Ops.MSELECT,
            Ops.MSTACK, Ops.CUSTOM_FUNCTION, Ops.MULTI, Ops.ALLREDUCE, *Group.movement,
        ),
        "T",
    ),
    Ops.SHRINK: "TKP",  # of values in the tensor graph, of storage after it
    Ops.REDUCE: "TK",  # over axes, then over ranges
    Ops.STAGE: "K",
    Ops.WAIT: "K",
    Ops.GETADDR: "KP",
    Ops.BREAK: "KP",
    **dict.fromkeys(
        (Ops.PROGRAM, Ops.LINEAR, Ops.SOURCE, Ops.BINARY, Ops.IF, Ops.ENDIF, Ops.INS), "P"
    ),
}  # fmt: skip

assert set(STAGES) == set(ALL)
