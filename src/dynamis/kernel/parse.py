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
from .layout import measure_struct, too_large
from .limits import (
    IR_VERSION,
    MAX_ARRAY_COUNT,
    MAX_BLOCK_DEPTH,
    MAX_NAME,
    MAX_TABLE_FIELDS,
    MAX_TEXT,
    MAX_TYPE_DEPTH,
)
from .mode import MODES, Combine, Mode, ModeKind
from .module import (
    Block,
    Capabilities,
    Capability,
    Encoding,
    Function,
    Instruction,
    InvalidKernelId,
    KernelId,
    Manifest,
    Module,
    Param,
    Port,
    PortType,
    Shape,
)
from .op_table import OPS, OpRow, Slot
from .tables import BinaryOp, Intrinsic, UnaryOp
from .text import HEADER
from .types import (
    PLAIN_TYPES,
    Field,
    StructDef,
    Type,
    Value,
    type_name,
    word_bits,
    word_types,
    words,
)


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
_INT = re.compile(r"-?[0-9]{1,19}\Z")
_FLOAT = re.compile(
    r"(-?([0-9]{1,400}\.[0-9]{0,400}([eE][+-]?[0-9]{1,5})?|[0-9]{1,400}[eE][+-]?[0-9]{1,5}|inf)|nan)\Z"
)
_STRUCT = re.compile(r"Struct([0-9]{1,10})\Z")
_PORT = re.compile(r"([A-Za-z]+)<([A-Za-z0-9]+)(>?)\Z")
_FIELD_STEP = re.compile(r"\.([0-9]{1,10})\Z")
_INDEX_STEP = re.compile(r"\[%([0-9]{1,10})\]\Z")
_LONGEST_ARRAY_NAME = MAX_NAME + len("[; 4096]") * MAX_TYPE_DEPTH

_BINARY = {op.symbol: op for op in BinaryOp}
_UNARY = {op.symbol: op for op in UnaryOp}
_KINDS = {kind.value: kind for kind in ModeKind}
_RULES = {rule.value: rule for rule in Combine}
_SHAPES = {shape.value: shape for shape in Shape}
_CAPABILITIES = {capability.value: capability for capability in Capability}
_PLAIN_OPS: dict[str, tuple[type[ops.Op], OpRow]] = {
    row.word: (kind, row) for kind, row in OPS.items() if row.is_plain
}
"""The operations that text spells by their word and slots alone."""


@dataclass(slots=True)
class _Open:
    """An instruction whose blocks are being read. ``next``, called after a block, passes the words
    before the one that follows, or says that none does; ``made`` is the operation made of them."""

    id: ops.ValueId
    ty: Type
    next: Callable[[int], bool]
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
        self.structs: list[StructDef] = []
        self.table_fields = 0
        self.struct_values: list[tuple[int, str, Type, list[Type]]] = []
        """Constants of struct types, to be held against the table: place, token, type, words."""
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
        if len(self.token) > MAX_NAME:
            raise self.error(f"a name of at most {MAX_NAME} characters")
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
        """``Grid<Vec4>`` or, in three tokens, ``Grid<Vec4, unorm8>``."""
        match = _PORT.match(self.token)
        element = _type(match[2]) if match else None
        if match is None or element is None or match[1] not in _SHAPES:
            raise self.error("a port type such as Grid<Vec4>")
        self.advance()
        if match[3]:
            return PortType(element, _SHAPES[match[1]])
        self.expect(",")
        encoding = Encoding.parse(self.token.removesuffix(">"))
        if encoding is None or not self.token.endswith(">"):
            raise self.error("an encoding and '>', such as unorm8>")
        self.advance()
        return PortType(element, _SHAPES[match[1]], encoding)

    def value(self) -> Value:
        """A literal: Float, Int and Bool show their type by their form, others are written with it;
        a struct's are its words, or vectors and matrices of them, in order."""
        start, token = self.start, self.token
        struct = _STRUCT.match(token)
        if struct is None:
            return self.plain_value()
        self.advance()
        parts = self.listed(self.plain_value)
        ty = Type.struct(int(struct[1]))
        kinds = [kind for part in parts for kind in (part.ty.component,) * part.ty.lanes]
        self.struct_values.append((start, token, ty, kinds))
        return Value(ty, tuple(word for part in parts for word in part.words))

    def plain_value(self) -> Value:
        ty = PLAIN_TYPES.get(self.token)
        if ty is None:
            kind = self.form()
            return Value(kind, (self.word(kind),))
        self.advance()
        made = self.listed(lambda: self.word(ty.component))
        if len(made) != ty.lanes:
            raise self.error(f"{ty.lanes} numbers before this")
        return Value(ty, made)

    def form(self) -> Type:
        """The type that a bare literal shows."""
        if self.token in ("true", "false"):
            return Type.BOOL
        return Type.FLOAT if _FLOAT.match(self.token) else Type.INT

    def word(self, ty: Type) -> int:
        """A literal of scalar type ``ty``, as a word."""
        if ty == Type.BOOL and self.token in ("true", "false"):
            return int(self.advance() == "true")
        if ty in (Type.FLOAT, Type.DOUBLE) and _FLOAT.match(self.token):
            return word_bits(ty, float(self.advance()))
        if ty in (Type.INT, Type.LONG) and _INT.match(self.token):
            half = 2**63 if ty == Type.LONG else 2**31
            if -half <= int(self.token) < half:
                return word_bits(ty, int(self.advance()))
        raise self.error(f"a literal of type {ty}")

    def check_struct_values(self) -> None:
        """That each constant of a struct type has the words of its struct. Structs that are no
        types, and ones too large to be, are left to the validator, which refuses them."""
        sizes: list[tuple[int, int] | None] = []
        for record in self.structs:
            parts = [part.ty for part in record.fields]
            known = [sizes[t.index] for t in parts if t.is_struct and t.index < len(sizes)]
            missing = any(t.is_struct and t.index >= len(sizes) for t in parts)
            if missing or any(size is None for size in known):
                sizes.append(None)
                continue
            size = measure_struct(
                record, lambda t: (sizes[t.index] or (0, 0)) if t.is_struct else (t.lanes, 0)
            )
            sizes.append(size if too_large(size) is None else None)
        for start, token, ty, kinds in self.struct_values:
            if ty.index < len(sizes) and sizes[ty.index] is not None:
                if words(self.structs, ty) != len(kinds):
                    self.start, self.token = start, token
                    raise self.error(f"{words(self.structs, ty)} words of {ty}")
                expected = word_types(self.structs, ty)
                if expected != tuple(kinds):
                    self.start, self.token = start, token
                    raise self.error(f"words of types {_spelled(expected)}")

    # The module and its parts.

    def module(self) -> Module:
        self.expect(*HEADER.split())
        version = self.token
        if version != str(IR_VERSION):
            raise self.error(f"IR version {IR_VERSION}, the only one this reads")
        self.advance()
        manifest = self.manifest()
        while self.token in ("struct", "array"):
            self.structs.append(self.struct())
        functions: list[Function] = []
        while self.accept("function"):
            functions.append(self.function())
        self.expect("entry")
        entry = self.function()
        merge = self.function() if self.accept("merge") else None
        init = self.function() if self.accept("init") else None
        if self.token:
            raise self.error("the end of the text")
        self.check_struct_values()
        return Module(manifest, tuple(self.structs), tuple(functions), entry, merge, init)

    def struct(self) -> StructDef:
        """``struct Pair(a: Float, b: Int)`` or ``array Float 4``."""
        if self.advance() == "array":
            return self.array()
        name = self.name()
        fields = self.listed(self.field)
        element = self.type() if self.accept("element") else None
        return StructDef(name, fields, element)

    def array(self) -> StructDef:
        ty = _type(self.token)
        if ty is None or (ty.is_struct and ty.index >= len(self.structs)):
            raise self.error("a plain type or an earlier struct")
        name = type_name(ty, self.structs)
        if len(name) > _LONGEST_ARRAY_NAME:
            raise self.error(f"arrays nested at most {MAX_TYPE_DEPTH} deep")
        self.advance()
        count = int(self.token) if _INDEX.match(self.token) else 0
        if not 1 <= count <= MAX_ARRAY_COUNT:
            raise self.error(f"a count from 1 to {MAX_ARRAY_COUNT}")
        self.count_fields(count)
        self.advance()
        return StructDef.array(ty, name, count)

    def count_fields(self, more: int) -> None:
        self.table_fields += more
        if self.table_fields > MAX_TABLE_FIELDS:
            raise self.error(f"at most {MAX_TABLE_FIELDS} fields in all structs")

    def manifest(self) -> Manifest:
        self.expect("kernel")
        id = self.kernel_id()
        self.expect("mode")
        mode = self.mode()
        inputs = self.ports("input")
        params: list[Param] = []
        while self.accept("param"):
            name = self.name()
            self.expect(":")
            ty = self.type()
            self.expect("=")
            params.append(Param(name, ty, self.value()))
        outputs = self.ports("output")
        memories: list[str] = []
        while self.accept("memory"):
            memories.append(self.name())
        self.expect("requires")
        requires: set[Capability] = set()
        if not self.accept("nothing"):
            requires.add(self.pick(_CAPABILITIES, "a capability"))
            while self.accept(","):
                requires.add(self.pick(_CAPABILITIES, "a capability"))
        self.expect("budget")
        return Manifest(
            id,
            mode,
            Capabilities(requires),
            inputs,
            tuple(params),
            outputs,
            tuple(memories),
            self.index(),
        )

    def mode(self) -> Mode:
        """``map``, ``reduce``, ``scan``, ``scatter 0 sum``, ``prefix max`` or ``group 64``."""
        kind = self.pick(_KINDS, "a mode")
        row = MODES[kind]
        base = self.index() if row.has_base else None
        size = self.index() if row.has_size else None
        combine = self.pick(_RULES, "a combine rule") if row.has_combine else None
        return Mode(kind, base, combine, size)

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
        self.count_fields(1)
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
        if opened.next(len(opened.blocks)):
            self.expect("{")
            return
        stack.pop()
        whole = Instruction(opened.id, opened.ty, opened.made(opened.blocks))
        (stack[-1].body if stack else top).append(whole)

    def opening(self, id: ops.ValueId, ty: Type) -> _Open | None:
        """The words before the first block of an operation; None before one without blocks."""
        opened: tuple[Callable[[int], bool], Callable[[list[Block]], ops.Op]]
        if self.accept("if"):
            opened = self.branch()
        elif self.accept("match"):
            opened = self.matching()
        elif self.accept("loop"):
            opened = self.loop()
        elif self.accept("each"):
            count = self.index()
            opened = (lambda _: False, lambda blocks: ops.Each(count, *blocks))
        elif self.accept("lanes"):
            opened = (lambda _: False, lambda blocks: ops.Lanes(*blocks))
        else:
            return None
        self.expect("{")
        return _Open(id, ty, *opened)

    def before(self, blocks: int, *words: str) -> Callable[[int], bool]:
        """Passes ``words`` before each but the first of so many blocks."""

        def following(read: int) -> bool:
            if read == blocks:
                return False
            self.expect(*words)
            return True

        return following

    def branch(self) -> tuple[Callable[[int], bool], Callable[[list[Block]], ops.Op]]:
        condition = self.id()
        self.expect("then")
        return self.before(2, "else"), lambda blocks: ops.If(condition, *blocks)

    def matching(self) -> tuple[Callable[[int], bool], Callable[[list[Block]], ops.Op]]:
        scrutinee = self.id()
        arms: list[tuple[int, ...]] = []
        ended = False

        def following(_: int) -> bool:
            nonlocal ended
            if ended:
                return False
            if self.accept("case"):
                arms.append(self.cases())
            else:
                self.expect("else")
                ended = True
            return True

        def made(blocks: list[Block]) -> ops.Op:
            return ops.Match(scrutinee, tuple(zip(arms, blocks[:-1], strict=True)), blocks[-1])

        following(0)
        return following, made

    def cases(self) -> tuple[int, ...]:
        values: list[int] = []
        while self.token != "{":
            if values:
                self.expect(",")
            values.append(self.number(_INT, "an Int"))
        return tuple(values)

    def loop(self) -> tuple[Callable[[int], bool], Callable[[list[Block]], ops.Op]]:
        count = self.index()
        bound = self.id() if self.accept("bound") else None
        self.expect("init")
        init = self.id()
        tests = self.accept("until")
        if not tests:
            self.expect("do")

        def made(blocks: list[Block]) -> ops.Op:
            return ops.Loop(count, bound, init, blocks[0] if tests else None, blocks[-1])

        return self.before(2 if tests else 1, "do"), made

    def operation(self) -> ops.Op:
        """An operation without blocks."""
        if self.token.startswith("%") and self.token != "%":
            a = self.id()
            operation = self.pick(_BINARY, "a binary operation")
            return ops.Binary(operation, a, self.id())
        if self.token in _PLAIN_OPS:
            kind, row = _PLAIN_OPS[self.advance()]
            return kind(*map(self.slot, row.slots))
        if self.token in _UNARY:
            return ops.Unary(_UNARY[self.advance()], self.id())
        intrinsic = Intrinsic.from_name(self.token)
        if intrinsic is not None:
            self.advance()
            return ops.Intrinsic(intrinsic, self.listed(self.id))
        if self.accept("const"):
            return ops.Const(self.value())
        if self.accept("part"):
            return self.part()
        raise self.error("an operation")

    def slot(self, slot: Slot) -> object:
        """One field of an operation."""
        match slot:
            case Slot.NUMBER:
                return self.index()
            case Slot.VALUE:
                return self.id()
            case Slot.VALUES:
                return self.listed(self.id)
        self.expect("(")
        value = None if self.token == ")" else self.id()
        self.expect(")")
        return value

    def part(self) -> ops.Op:
        input = self.index()
        at = self.id() if self.accept("at") else None
        path: list[ops.Step] = []
        while True:
            if step := _FIELD_STEP.match(self.token):
                path.append(ops.FieldStep(int(step[1])))
            elif step := _INDEX_STEP.match(self.token):
                path.append(ops.IndexStep(int(step[1])))
            else:
                return ops.Part(input, at, tuple(path))
            self.advance()


def _type(word: str) -> Type | None:
    match = _STRUCT.match(word)
    return Type.struct(int(match[1])) if match else PLAIN_TYPES.get(word)


def _spelled(types: tuple[Type, ...]) -> str:
    shown = ", ".join(map(str, types[:8]))
    return shown if len(types) <= 8 else shown + ", …"
