"""Loads ``arithmetic.txt``: edge values of every operation with the words expected of it.

Out: ``Case``s, which any evaluator of the Kernel IR can be held against.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dynamis.kernel.arithmetic import Operation
from dynamis.kernel.fault import FaultKind
from dynamis.kernel.tables import BinaryOp, Intrinsic, UnaryOp
from dynamis.kernel.types import PLAIN_TYPES, Number, Type, bits_number

PATH = Path(__file__).with_name("arithmetic.txt")
FAULTS = {"overflow": FaultKind.OVERFLOW, "division": FaultKind.DIVISION_BY_ZERO}
BINARY: dict[str, Operation] = {op.symbol: op for op in BinaryOp}
UNARY: dict[str, Operation] = {op.symbol: op for op in UnaryOp}
NAMED: dict[str, Operation] = {i.value: i for i in Intrinsic}


@dataclass(frozen=True)
class Case:
    """An operation on words of one component type, and the word or the failure expected."""

    operation: Operation
    ty: Type
    words: tuple[int, ...]
    expected: int | FaultKind

    @property
    def operands(self) -> tuple[Number, ...]:
        return tuple(bits_number(self.ty, word) for word in self.words)

    @property
    def result_type(self) -> Type:
        args = (self.ty,) * len(self.words)
        if isinstance(self.operation, Intrinsic):
            result = self.operation.result_type(args)
        else:
            result = self.operation.result_type(*args)
        assert result is not None
        return result


def load() -> list[Case]:
    """Every case of the file, in order."""
    return list(_cases(PATH.read_text(encoding="ascii").splitlines()))


def _cases(lines: list[str]) -> Iterator[Case]:
    name, ty, right = "", Type.FLOAT, []
    for line in lines:
        if not line or line.startswith("#"):
            continue
        if line[9:10] == "|":
            left, row = line[:8], line[10:]
            if not left.strip():
                right = [int(word, 16) for word in row.split()]
                continue
            for b, expected in zip(right, row.split(), strict=True):
                yield Case((BINARY | NAMED)[name], ty, (int(left, 16), b), _expected(expected))
        elif "=" in line and len(line) > 12:
            operands, _, expected = line.partition("=")
            words = tuple(int(word, 16) for word in operands.split())
            yield Case((UNARY | NAMED)[name], ty, words, _expected(expected.strip()))
        else:
            name, type_name = line.split()
            ty = PLAIN_TYPES[type_name]


def _expected(word: str) -> int | FaultKind:
    return FAULTS[word] if word in FAULTS else int(word, 16)
