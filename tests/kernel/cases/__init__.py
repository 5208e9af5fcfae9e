"""Loads the cases that are kept as text.

``arithmetic.txt``, ``wide.txt`` and ``elementary.txt``: edge values of every operation with the
words expected of it, as ``Case``s, which any evaluator of the Kernel IR can be held against.
``runs.txt``: whole runs. ``invalid.txt``: modules that are not valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dynamis.kernel.arithmetic import Operation
from dynamis.kernel.fault import FaultKind
from dynamis.kernel.interpret import InputField
from dynamis.kernel.module import Module
from dynamis.kernel.parse import parse
from dynamis.kernel.tables import BinaryOp, Intrinsic, UnaryOp
from dynamis.kernel.types import PLAIN_TYPES, Numeric, Type, bits_number

FOLDER = Path(__file__).parent
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
    def operands(self) -> tuple[Numeric, ...]:
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


ARITHMETIC = ("arithmetic.txt", "wide.txt", "elementary.txt")


def load() -> list[Case]:
    """Every case of the arithmetic files, in order."""
    cases: list[Case] = []
    for name in ARITHMETIC:
        cases += _cases((FOLDER / name).read_text(encoding="ascii").splitlines())
    return cases


def _cases(lines: list[str]) -> Iterator[Case]:
    name, ty, right = "", Type.FLOAT, []
    for line in lines:
        if not line or line.startswith("#"):
            continue
        words = line.split()
        if len(words) == 2 and words[1] in PLAIN_TYPES:
            name, ty = words[0], PLAIN_TYPES[words[1]]
        elif "|" in words:
            left, _, row = line.partition("|")
            if not left.strip():
                right = [int(word, 16) for word in row.split()]
                continue
            for b, expected in zip(right, row.split(), strict=True):
                yield Case((BINARY | NAMED)[name], ty, (int(left, 16), b), _expected(expected))
        else:
            operands, _, expected = line.partition("=")
            given = tuple(int(word, 16) for word in operands.split())
            yield Case((UNARY | NAMED)[name], ty, given, _expected(expected.strip()))


def _expected(word: str) -> int | FaultKind:
    return FAULTS[word] if word in FAULTS else int(word, 16)


def load_invalid() -> list[tuple[int, str, str, Module]]:
    """The invalid modules: the rule each breaks, the path and the words of the error."""
    found = []
    for name in ("invalid.txt", "invalid_modes.txt"):
        text = (FOLDER / name).read_text(encoding="ascii")
        for part in text.split("\nexpect rule ")[1:]:
            head, _, body = part.partition("\n")
            place, _, says = head.partition(" saying ")
            rule, _, path = place.partition(" at ")
            found.append((int(rule), path, says, parse(body)))
    return found


@dataclass(frozen=True)
class RunCase:
    """A module, its inputs, its domain, and the outputs or the fault (element, kind, operands)
    expected."""

    name: str
    module: Module
    inputs: tuple[InputField, ...]
    extent: tuple[int, ...]
    outputs: tuple[list[Numeric], ...] | None
    fault: tuple[int, FaultKind, tuple[Numeric, ...]] | None


def load_runs() -> list[RunCase]:
    """The runs of ``runs.txt``."""
    text = (FOLDER / "runs.txt").read_text(encoding="ascii")
    return [_run_case(part) for part in text.split("\nrun ")[1:]]


def _run_case(text: str) -> RunCase:
    head, _, body = text.partition("dynamis kernel ir")
    name, *facts = head.strip().split("\n")
    inputs, outputs = [], []
    extent: tuple[int, ...] = ()
    fault = None
    for fact in facts:
        word, _, rest = fact.partition(" ")
        if word == "extent":
            extent = tuple(map(int, rest.split()))
        elif word == "input":
            size, _, words = rest.partition("|")
            inputs.append(InputField(tuple(map(int, size.split())), _numbers(words)))
        elif word == "expect":
            outputs.append(_numbers(rest))
        else:
            element, kind, *operands = rest.split()
            fault = (int(element), FaultKind[kind], tuple(_numbers(" ".join(operands))))
    module = parse("dynamis kernel ir" + body)
    expected = None if fault is not None else tuple(outputs)
    return RunCase(name, module, tuple(inputs), extent, expected, fault)


def _numbers(words: str) -> list[Numeric]:
    """Numbers as Python has them: with a dot, an exponent or letters a float, else an int."""
    return [int(w) if w.lstrip("-").isdigit() else float(w) for w in words.split()]
