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

Every other operation reads as its word of ``op_table.py`` and its fields: numbers and values after
a space, a list of values in parentheses: `subscript %1 %2`, `at 0 %1`, `call 0(%6)`, `meet()`.
Those with a form of their own:

    const true, -3, 0.5, Double(0.5), Long(3), Vec2(0.0, 1.0), Struct0(1, 0.5, Long(2))
    - %1        %1 + %2        floor(%1)        part 0 at %1 .2 [%3]        part 0 .1
    if %1 then { … yield %2 } else { … yield %3 }
    match %1 case 1, 2 { … yield %2 } case 7 { … yield %3 } else { … yield %4 }
    loop 8 init %1 do { … yield %2 }        each 4 { … yield %1 }        lanes { … yield %1 }

A scatter's mode reads `scatter 0 sum`, a prefix's `prefix max`, a group's `group 64`; a memory is a
line `memory name` after the outputs. Structs are written by their place in the table, in which an
array of 4 Floats is a line `array Float 4`; a struct's constant is its words in order. After the
entry stand `merge` and `init`, functions of a reduction and a scan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

from . import op as ops
from .limits import IR_VERSION
from .module import Block, Function, Instruction, Module
from .op_table import OPS, Slot
from .types import StructDef, type_name

HEADER = "dynamis kernel ir"

Table = Sequence[StructDef]


def module_text(module: Module) -> str:
    """The text of a whole module; it ends in a newline."""
    structs = module.structs
    parts = [f"{HEADER} {IR_VERSION}", module.manifest.text(structs)]
    parts += [_struct(record, structs) for record in structs]
    parts += [function_text(function, "function", structs) for function in module.functions]
    parts.append(function_text(module.entry, "entry", structs))
    if module.merge is not None:
        parts.append(function_text(module.merge, "merge", structs))
    if module.init is not None:
        parts.append(function_text(module.init, "init", structs))
    return "\n".join(parts) + "\n"


def function_text(function: Function, keyword: str = "function", structs: Table = ()) -> str:
    """The text of one function, without a newline at its end.

    Without the module's ``structs`` the words of a struct's constant are hexadecimal."""
    args = ", ".join(map(str, function.args))
    lines = [f"{keyword} {function.name}({args}) {{"]
    lines += _body(function.body, structs)
    lines.append(f"  return {_ids(function.results)}".rstrip())
    lines += [f"  let {name} = %{id:d}" for id, name in function.bindings]
    return "\n".join([*lines, "}"])


def operation_text(op: ops.Op) -> str:
    """The text of one operation, its blocks included."""
    clauses = _clauses(op)
    if not clauses:
        return _operation(op, ())
    lines: list[str] = []
    start = ""
    for words, block in clauses:
        lines += [f"{start}{words} {{", *_body(block.body, ()), f"  yield %{block.result:d}"]
        start = "} "
    return "\n".join([*lines, "}"])


def _struct(record: StructDef, structs: Table) -> str:
    element = record.element
    if element is not None and (not element.is_struct or element.index < len(structs)):
        name = type_name(element, structs)
        if record == StructDef.array(element, name, len(record.fields)):
            return f"array {element} {len(record.fields)}"
    parts = ", ".join(f"{part.name}: {part.ty}" for part in record.fields)
    return f"struct {record.name}({parts})" + ("" if element is None else f" element {element}")


def _ids(ids: Sequence[ops.ValueId]) -> str:
    return ", ".join(f"%{id:d}" for id in ids)


def _body(body: Sequence[Instruction], structs: Table) -> list[str]:
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
                lines.append(start + _operation(instruction.op, structs))
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
        case ops.Match(scrutinee, arms, otherwise):
            cases = [
                (f"case {', '.join(f'{n:d}' for n in values)}".rstrip(), block)
                for values, block in arms
            ]
            (first, block), *rest = [*cases, ("else", otherwise)]
            return [(f"match %{scrutinee:d} {first}", block), *rest]
        case ops.Loop(count, bound, init, until, body):
            limit = "" if bound is None else f" bound %{bound:d}"
            head = f"loop {count:d}{limit} init %{init:d} "
            if until is None:
                return [(head + "do", body)]
            return [(head + "until", until), ("do", body)]
        case ops.Each(count, body):
            return [(f"each {count:d}", body)]
        case ops.Lanes(body):
            return [("lanes", body)]
    return []


def _operation(op: ops.Op, structs: Table) -> str:
    """An operation without blocks."""
    match op:
        case ops.Const(value):
            return f"const {value.text(structs)}"
        case ops.Unary(operation, a):
            return f"{operation.symbol} %{a:d}"
        case ops.Binary(operation, a, b):
            return f"%{a:d} {operation.symbol} %{b:d}"
        case ops.Intrinsic(intrinsic, args):
            return f"{intrinsic.value}({_ids(args)})"
        case ops.Part(number, at, path):
            address = [] if at is None else [f"at %{at:d}"]
            return " ".join([f"part {number:d}", *address, *map(str, path)])
    row = OPS.get(type(op))
    if row is None:
        return type(op).__name__
    slots = zip(row.slots, fields(op), strict=True)  # type: ignore[arg-type]  # every op is a dataclass
    return row.word + "".join(_slot(slot, getattr(op, field.name)) for slot, field in slots)


def _slot(slot: Slot, value: object) -> str:
    """A field of an operation as it stands after what is before it."""
    match value:
        case tuple():
            return f"({_ids(value)})"
        case None:
            return "()"
        case int():
            forms = {Slot.NUMBER: f" {value:d}", Slot.OPTIONAL: f"(%{value:d})"}
            return forms.get(slot, f" %{value:d}")
    return f" {value}"
