"""Parses the text that ``text.py`` prints back into a module.

In: text of at most MAX_TEXT bytes, in the form that ``text.py`` shows. Out: the module, equal to
the one that was printed; or a ``ParseError`` that points at the first token that cannot stand
where it is. What is read is well formed, not yet valid: ``validate`` decides that, also of Spend,
Look, Lanes and Meet, which text may hold where ``account`` and ``lanes`` would place them. Nothing
here recurses.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from . import op as ops
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
    Function,
    Instruction,
    InvalidKernelId,
    KernelId,
    Manifest,
    Module,
    Param,
    Port,
)
from .op_table import OPS, OpRow, Slot
from .parse_literals import INDEX, INT, Literals, ParseError, type_of_word
from .tables import BinaryOp, Intrinsic, UnaryOp
from .text import HEADER
from .types import (
    Field,
    StructDef,
    Type,
    type_name,
)

__all__ = ["ParseError", "parse"]


def parse(text: str) -> Module:
    """The module that ``text`` spells. Raises ParseError."""
    if len(text) > MAX_TEXT or len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT:
        raise ParseError(1, 1, "a longer text", f"at most {MAX_TEXT} bytes")
    return _Parser(text).module()


_FIELD_STEP = re.compile(r"\.([0-9]{1,10})\Z")
_INDEX_STEP = re.compile(r"\[%([0-9]{1,10})\]\Z")
_DEEPEST = MAX_BLOCK_DEPTH + 1
"""Lanes puts the deepest blocks of a valid entry into one more."""
_LONGEST_ARRAY_NAME = MAX_NAME + len("[; 4096]") * MAX_TYPE_DEPTH

_BINARY = {op.symbol: op for op in BinaryOp}
_UNARY = {op.symbol: op for op in UnaryOp}
_KINDS = {kind.value: kind for kind in ModeKind}
_RULES = {rule.value: rule for rule in Combine}
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


class _Parser(Literals):
    """The grammar of a module over its tokens."""

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
        ty = type_of_word(self.token)
        if ty is None or (ty.is_struct and ty.index >= len(self.structs)):
            raise self.error("a plain type or an earlier struct")
        name = type_name(ty, self.structs)
        if len(name) > _LONGEST_ARRAY_NAME:
            raise self.error(f"arrays nested at most {MAX_TYPE_DEPTH} deep")
        self.advance()
        count = int(self.token) if INDEX.match(self.token) else 0
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
                elif len(stack) == _DEEPEST:
                    raise self.error(f"blocks nested at most {_DEEPEST} deep")
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
            values.append(self.number(INT, "an Int"))
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
