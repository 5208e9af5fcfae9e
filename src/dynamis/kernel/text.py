"""Prints a module: every fact of it, one value a line, types written, blocks indented.

In: a module or a function. Out: text that ``parse`` reads back to an equal one (spans, which are no
part of equality, are not printed). Printing does not recurse. The form:

    dynamis kernel ir 1
    kernel demo.sum@1
      mode      map
      input     xs: Rows<Float>
      param     n: Int = 3
      output    out: Rows<Float>
      requires  field.read
      budget    1048576
    struct Pair(a: Float, b: Struct0)
    function twice(Float) {
      %0: Float = arg 0
      %1: Float = %0 + %0
      return %1
      let x = %0
    }
    entry main() {
      %0: Float = sample 0
      %1: Int = param 0
      %2: Float = loop 1073741824 bound %1 init %0 until {
        %3: Float = carried
        %4: Float = const 9.0
        %5: Bool = %3 > %4
        yield %5
      } do {
        %6: Float = carried
        %7: Float = call 0(%6)
        yield %7
      }
      return %2
    }

The other operations read `if %1 then { … yield %2 } else { … yield %3 }`, `- %1`, `! %1`,
`floor(%1)`, `construct(%1, %2)`, `extract %1 0`, `index`, `coord`, `domain`, `element`, `at 0 %1`,
`count 0`, `size 0`, `spend %1`, `look`. Record types are written by their place in the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from . import op as ops
from .module import IR_VERSION, Block, Function, Instruction, Module
from .types import StructDef

HEADER = "dynamis kernel ir"
PLAIN_WORDS: dict[str, type[ops.Op]] = {
    "carried": ops.Carried,
    "index": ops.Index,
    "coord": ops.Coord,
    "domain": ops.Domain,
    "element": ops.Element,
    "look": ops.Look,
}
"""The operations that are one word."""
NUMBERED_WORDS: dict[str, type[ops.Param | ops.Arg | ops.Sample | ops.Count | ops.Size]] = {
    "param": ops.Param,
    "arg": ops.Arg,
    "sample": ops.Sample,
    "count": ops.Count,
    "size": ops.Size,
}
"""The operations that are a word and a number."""
_WORDS: dict[type[ops.Op], str] = {kind: word for word, kind in PLAIN_WORDS.items()} | {
    kind: word for word, kind in NUMBERED_WORDS.items()
}


def module_text(module: Module) -> str:
    """The text of a whole module; it ends in a newline."""
    parts = [f"{HEADER} {IR_VERSION}", str(module.manifest)]
    parts += [_record(record) for record in module.structs]
    parts += [function_text(function) for function in module.functions]
    parts += [function_text(module.entry, "entry")]
    return "\n".join(parts) + "\n"


def operation_text(op: ops.Op) -> str:
    """The text of one operation."""
    return _operation(op)


def function_text(function: Function, keyword: str = "function") -> str:
    """The text of one function, without a newline at its end."""
    args = ", ".join(map(str, function.args))
    lines = [f"{keyword} {function.name}({args}) {{"]
    lines += _body(function.body)
    lines.append(f"  return {_ids(function.results)}".rstrip())
    lines += [f"  let {name} = %{id:d}" for id, name in function.bindings]
    return "\n".join([*lines, "}"])


def _record(record: StructDef) -> str:
    fields = ", ".join(f"{part.name}: {part.ty}" for part in record.fields)
    return f"struct {record.name}({fields})"


def _ids(ids: Sequence[ops.ValueId]) -> str:
    return ", ".join(f"%{id:d}" for id in ids)


def _body(body: Sequence[Instruction]) -> list[str]:
    """The lines of a function's instructions. What is still to print waits on a stack: finished
    lines, and blocks of which some instructions are left."""
    lines: list[str] = []
    waiting: list[str | tuple[Iterator[Instruction], str]] = [(iter(body), "  ")]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            lines.append(item)
            continue
        instructions, pad = item
        for instruction in instructions:
            start = f"{pad}%{instruction.id:d}: {instruction.ty} = "
            clauses = _clauses(instruction.op)
            if not clauses:
                lines.append(start + _operation(instruction.op))
                continue
            pieces: list[str | tuple[Iterator[Instruction], str]] = []
            for words, block in clauses:
                pieces += [f"{start}{words} {{", (iter(block.body), pad + "  ")]
                pieces.append(f"{pad}  yield %{block.result:d}")
                start = f"{pad}}} "
            pieces.append(f"{pad}}}")
            waiting.append(item)
            waiting.extend(reversed(pieces))
            break
    return lines


def _clauses(op: ops.Op) -> list[tuple[str, Block]]:
    """The blocks of an operation, each with the words before it."""
    match op:
        case ops.If(condition, then, otherwise):
            return [(f"if %{condition:d} then", then), ("else", otherwise)]
        case ops.Loop(count, bound, init, until, body):
            limit = "" if bound is None else f" bound %{bound:d}"
            head = f"loop {count:d}{limit} init %{init:d} "
            if until is None:
                return [(head + "do", body)]
            return [(head + "until", until), ("do", body)]
    return []


def _operation(op: ops.Op) -> str:
    """An operation without blocks."""
    match op:
        case ops.Const(value):
            return f"const {value}"
        case ops.Param(n) | ops.Arg(n) | ops.Sample(n) | ops.Count(n) | ops.Size(n):
            return f"{_WORDS[type(op)]} {n:d}"
        case ops.Unary(operation, a):
            return f"{operation.symbol} %{a:d}"
        case ops.Binary(operation, a, b):
            return f"%{a:d} {operation.symbol} %{b:d}"
        case ops.Intrinsic(intrinsic, args):
            return f"{intrinsic.value}({_ids(args)})"
        case ops.Construct(parts):
            return f"construct({_ids(parts)})"
        case ops.Extract(value, index):
            return f"extract %{value:d} {index:d}"
        case ops.Call(function, args):
            return f"call {function:d}({_ids(args)})"
        case ops.At(n, address):
            return f"at {n:d} %{address:d}"
        case ops.Spend(value):
            return f"spend %{value:d}"
    return _WORDS.get(type(op), type(op).__name__)
