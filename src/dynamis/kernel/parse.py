"""Parses the text that ``text.py`` prints back into a module.

In: text of at most MAX_TEXT bytes, in the form that ``text.py`` shows. Out: the module, equal to
the one that was printed; or a ``ParseError`` that points at the first token that cannot stand
where it is. What is read is well formed, not yet valid: ``validate`` decides that, also of Spend
and Look, which text may hold where ``account`` would place them. Nothing here recurses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from ..errors import DynamisError
from . import op as ops
from .module import (
    IR_VERSION,
    MAX_BLOCK_DEPTH,
    MAX_TEXT,
    Block,
    Capabilities,
    Capability,
    Function,
    Instruction,
    InvalidKernelId,
    KernelId,
    Manifest,
    Mode,
    Module,
    Param,
    Port,
    PortType,
    Shape,
)
from .tables import BinaryOp, Intrinsic, UnaryOp
from .text import HEADER, NUMBERED_WORDS, PLAIN_WORDS
from .types import PLAIN_TYPES, Field, Numeric, StructDef, Type, Value


class ParseError(DynamisError, ValueError):
    """Text is not a module: at ``line`` and ``column`` (both from 1) something else must stand."""

    def __init__(self, line: int, column: int, found: str, expected: str):
        self.line = line
        self.column = column
        self.found = found
        self.expected = expected
        super().__init__(f"line {line}, column {column}: found {found}, expected {expected}")


def parse(text: str) -> Module:
    """The module that ``text`` spells. Raises ParseError."""
    if len(text) > MAX_TEXT or len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT:
        raise ParseError(1, 1, "a longer text", f"at most {MAX_TEXT} bytes")
    return _Parser(text).module()


_T = TypeVar("_T")

_TOKEN = re.compile(r"[,:(){}]|[^\s,:(){}]+")
_INDEX = re.compile(r"[0-9]{1,10}\Z")
_ID = re.compile(r"%[0-9]{1,10}\Z")
_INT = re.compile(r"-?[0-9]{1,10}\Z")
_FLOAT = re.compile(r"(-?([0-9]+\.[0-9]*([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|inf)|nan)\Z")
_STRUCT = re.compile(r"Struct([0-9]{1,10})\Z")
_PORT = re.compile(r"([A-Za-z]+)<([A-Za-z0-9]+)>\Z")

_BINARY = {op.symbol: op for op in BinaryOp}
_UNARY = {op.symbol: op for op in UnaryOp}
_MODES = {"map": Mode.MAP}
_SHAPES = {shape.value: shape for shape in Shape}
_CAPABILITIES = {capability.value: capability for capability in Capability}


@dataclass(slots=True)
class _Open:
    """An If or Loop whose blocks are being read: how the block read now began, what words begin
    the blocks still to come, and how the operation is made of them."""

    id: ops.ValueId
    ty: Type
    later: list[str]
    made: Callable[[list[Block]], ops.Op]
    blocks: list[Block] = field(default_factory=list)
    body: list[Instruction] = field(default_factory=list)


class _Parser:
    """The tokens of a text, read from left to right with one token in view."""

    def __init__(self, text: str):
        self.text = text
        self.tokens: Iterator[re.Match[str]] = _TOKEN.finditer(text)
        self.token = ""
        self.start = 0
        self.advance()

    # Tokens. The empty token is the end of the text.

    def advance(self) -> str:
        """Moves on; gives the token that was in view."""
        passed = self.token
        match = next(self.tokens, None)
        self.token, self.start = (match[0], match.start()) if match else ("", len(self.text))
        return passed

    def error(self, expected: str) -> ParseError:
        line = self.text.count("\n", 0, self.start) + 1
        column = self.start - (self.text.rfind("\n", 0, self.start) + 1) + 1
        shown = self.token if len(self.token) <= 40 else self.token[:37] + "..."
        return ParseError(line, column, repr(shown) if shown else "the end of the text", expected)

    def expect(self, *words: str) -> None:
        """Passes exactly these tokens."""
        for word in words:
            if self.token != word:
                raise self.error(repr(word))
            self.advance()

    def accept(self, word: str) -> bool:
        """Passes ``word`` if it is in view."""
        if self.token != word:
            return False
        self.advance()
        return True

    def pick(self, among: dict[str, _T], expected: str) -> _T:
        if self.token not in among:
            raise self.error(expected)
        return among[self.advance()]

    def number(self, pattern: re.Pattern[str], expected: str) -> int:
        if pattern.match(self.token) is None:
            raise self.error(expected)
        return int(self.advance().lstrip("%"))

    def index(self) -> int:
        return self.number(_INDEX, "a number")

    def id(self) -> ops.ValueId:
        return self.number(_ID, "a value such as %3")

    def name(self) -> str:
        if not all(part.isidentifier() for part in self.token.split(".")):
            raise self.error("a name")
        return self.advance()

    def listed(self, item: Callable[[], _T]) -> tuple[_T, ...]:
        """``( item , item … )``, perhaps empty."""
        self.expect("(")
        items: list[_T] = []
        while self.token != ")":
            if items:
                self.expect(",")
            items.append(item())
        self.expect(")")
        return tuple(items)

    # Types and values.

    def type(self) -> Type:
        ty = _type(self.token)
        if ty is None:
            raise self.error("a type")
        self.advance()
        return ty

    def port_type(self) -> PortType:
        match = _PORT.match(self.token)
        element = _type(match[2]) if match else None
        if match is None or element is None or match[1] not in _SHAPES:
            raise self.error("a port type such as Grid<Vec4>")
        self.advance()
        return PortType(element, _SHAPES[match[1]])

    def value(self) -> Value:
        """A literal: a scalar shows its type by its form, a vector is written with its type."""
        ty = PLAIN_TYPES.get(self.token)
        if ty is None or not ty.is_vector:
            number = self.literal()
            kind = Type.BOOL if isinstance(number, bool) else Type.INT
            return Value.of(Type.FLOAT if isinstance(number, float) else kind, number)
        self.advance()
        lanes = self.listed(self.lane(ty.component))
        if len(lanes) != ty.lanes:
            raise self.error(f"{ty.lanes} numbers before this")
        return Value.of(ty, lanes)

    def lane(self, component: Type) -> Callable[[], Numeric]:
        def one() -> Numeric:
            is_float = _FLOAT.match(self.token) is not None
            if is_float != (component == Type.FLOAT) or self.token in ("true", "false"):
                raise self.error(f"a literal of type {component}")
            return self.literal()

        return one

    def literal(self) -> Numeric:
        if self.token in ("true", "false"):
            return self.advance() == "true"
        if _FLOAT.match(self.token):
            return float(self.advance())
        if _INT.match(self.token) and -(2**31) <= int(self.token) < 2**31:
            return int(self.advance())
        raise self.error("a literal")

    # The module and its parts.

    def module(self) -> Module:
        self.expect(*HEADER.split())
        version = self.token
        if version != str(IR_VERSION):
            raise self.error(f"IR version {IR_VERSION}, the only one this reads")
        self.advance()
        manifest = self.manifest()
        structs: list[StructDef] = []
        while self.accept("struct"):
            structs.append(StructDef(self.name(), self.listed(self.field)))
        functions: list[Function] = []
        while self.accept("function"):
            functions.append(self.function())
        self.expect("entry")
        entry = self.function()
        if self.token:
            raise self.error("the end of the text")
        return Module(manifest, tuple(structs), tuple(functions), entry)

    def manifest(self) -> Manifest:
        self.expect("kernel")
        id = self.kernel_id()
        self.expect("mode")
        mode = self.pick(_MODES, "a mode")
        inputs = self.ports("input")
        params: list[Param] = []
        while self.accept("param"):
            name = self.name()
            self.expect(":")
            ty = self.type()
            self.expect("=")
            params.append(Param(name, ty, self.value()))
        outputs = self.ports("output")
        self.expect("requires")
        requires: set[Capability] = set()
        if not self.accept("nothing"):
            requires.add(self.pick(_CAPABILITIES, "a capability"))
            while self.accept(","):
                requires.add(self.pick(_CAPABILITIES, "a capability"))
        self.expect("budget")
        budget = self.index()
        return Manifest(
            id, mode, Capabilities(requires), inputs, tuple(params), outputs, budget=budget
        )

    def kernel_id(self) -> KernelId:
        try:
            id = KernelId.parse(self.token)
        except (InvalidKernelId, ValueError) as error:
            raise self.error("a kernel id such as image.blur@1") from error
        self.advance()
        return id

    def ports(self, keyword: str) -> tuple[Port, ...]:
        ports: list[Port] = []
        while self.accept(keyword):
            name = self.name()
            self.expect(":")
            ports.append(Port(name, self.port_type()))
        return tuple(ports)

    def field(self) -> Field:
        name = self.name()
        self.expect(":")
        return Field(name, self.type())

    def function(self) -> Function:
        name = self.name()
        args = self.listed(self.type)
        self.expect("{")
        body = self.body()
        results: list[ops.ValueId] = []
        if self.token.startswith("%"):
            results.append(self.id())
            while self.accept(","):
                results.append(self.id())
        bindings: list[tuple[ops.ValueId, str]] = []
        while self.accept("let"):
            bound = self.name()
            self.expect("=")
            bindings.append((self.id(), bound))
        self.expect("}")
        return Function(name, args, body, tuple(results), tuple(bindings))

    def body(self) -> tuple[Instruction, ...]:
        """A function's instructions, up to and with its ``return``; open blocks are a stack."""
        top: list[Instruction] = []
        stack: list[_Open] = []
        while True:
            body = stack[-1].body if stack else top
            if self.token.startswith("%"):
                id = self.id()
                self.expect(":")
                ty = self.type()
                self.expect("=")
                opened = self.opening(id, ty)
                if opened is None:
                    body.append(Instruction(id, ty, self.operation()))
                elif len(stack) == MAX_BLOCK_DEPTH:
                    raise self.error(f"blocks nested at most {MAX_BLOCK_DEPTH} deep")
                else:
                    stack.append(opened)
            elif stack:
                self.close(stack, top)
            else:
                self.expect("return")
                return tuple(top)

    def close(self, stack: list[_Open], top: list[Instruction]) -> None:
        """``yield %3 }`` ends a block; then the next block begins, or the instruction is whole."""
        opened = stack[-1]
        self.expect("yield")
        opened.blocks.append(Block(tuple(opened.body), self.id()))
        opened.body = []
        self.expect("}")
        if opened.later:
            self.expect(opened.later.pop(0), "{")
            return
        stack.pop()
        whole = Instruction(opened.id, opened.ty, opened.made(opened.blocks))
        (stack[-1].body if stack else top).append(whole)

    def opening(self, id: ops.ValueId, ty: Type) -> _Open | None:
        """The words before the first block of an If or a Loop; None before anything else."""
        if self.accept("if"):
            condition = self.id()
            self.expect("then", "{")
            return _Open(id, ty, ["else"], lambda blocks: ops.If(condition, *blocks))
        if not self.accept("loop"):
            return None
        count = self.index()
        bound = self.id() if self.accept("bound") else None
        self.expect("init")
        init = self.id()
        tests = self.accept("until")
        self.expect(*(["{"] if tests else ["do", "{"]))

        def made(blocks: list[Block]) -> ops.Op:
            return ops.Loop(count, bound, init, blocks[0] if tests else None, blocks[-1])

        return _Open(id, ty, ["do"] if tests else [], made)

    def operation(self) -> ops.Op:
        """An operation without blocks."""
        if self.token.startswith("%") and self.token != "%":
            a = self.id()
            operation = self.pick(_BINARY, "a binary operation")
            return ops.Binary(operation, a, self.id())
        if self.token in PLAIN_WORDS:
            return PLAIN_WORDS[self.advance()]()
        if self.token in NUMBERED_WORDS:
            return NUMBERED_WORDS[self.advance()](self.index())
        if self.token in _UNARY:
            return ops.Unary(_UNARY[self.advance()], self.id())
        intrinsic = Intrinsic.from_name(self.token)
        if intrinsic is not None:
            self.advance()
            return ops.Intrinsic(intrinsic, self.listed(self.id))
        if self.accept("const"):
            return ops.Const(self.value())
        if self.accept("construct"):
            return ops.Construct(self.listed(self.id))
        if self.accept("extract"):
            return ops.Extract(self.id(), self.index())
        if self.accept("call"):
            return ops.Call(self.index(), self.listed(self.id))
        if self.accept("at"):
            return ops.At(self.index(), self.id())
        if self.accept("spend"):
            return ops.Spend(self.id())
        raise self.error("an operation")


def _type(word: str) -> Type | None:
    match = _STRUCT.match(word)
    return Type.struct(int(match[1])) if match else PLAIN_TYPES.get(word)
