"""The pages of the reference: the tables of ``dynamis.kernel`` → Markdown.

In: nothing but the tables (operations, arithmetic, modes, encodings, capabilities, limits, faults,
the validator's rules). Out: ``pages()``, file name → text. Nothing is said here that a table says.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise, product
from pathlib import Path

from dynamis.kernel import limits, validate
from dynamis.kernel.capability import CAPABILITIES
from dynamis.kernel.encoding import ENCODINGS
from dynamis.kernel.fault import FaultKind
from dynamis.kernel.manifest import Shape, index_type, linear_index_type
from dynamis.kernel.mode import COMBINES, MODES
from dynamis.kernel.op_table import OPS
from dynamis.kernel.tables import BINARY, SIGNATURES, UNARY, Signature
from dynamis.kernel.types import PLAIN_TYPES, Type, scalar_kind

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "reference"
NOTE = "Written from the tables of `dynamis.kernel` by `python -m tests.reference`.\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(_cell(c) for c in line)} |" for line in lines) + "\n"


def _cell(content: object) -> str:
    return str(content).replace("|", "\\|").replace("\n", " ")


def _code(text: object) -> str:
    return f"`{text}`"


def _failures(kinds: Iterable[FaultKind]) -> str:
    return ", ".join(kind.name.lower().replace("_", " ") for kind in kinds) or "–"


# The pages.


def types() -> str:
    """Value types."""
    rows = [
        (_code(ty), ty.lanes, kind.bits if (kind := scalar_kind(ty)) else "", _code(ty.component))
        for ty in PLAIN_TYPES.values()
    ]
    indices = [
        (_code(f"{s.value}<T>"), s.rank, _code(index_type(s)), _code(linear_index_type(s)))
        for s in Shape
    ]
    return (
        table(("type", "words", "bits a word", "made of"), rows)
        + "\nA module's own types are records of named fields and arrays `[T; N]`; text names them "
        "by their place in the module's table: `Struct0`.\n\n## Ports\n\n"
        + table(("port", "axes", "address", "linear address"), indices)
    )


def _arithmetic(rows: Iterable[tuple[str, Signature]]) -> str:
    return table(
        ("operation", "meaning", "takes", "forms", "fails (integers)"),
        (
            (_code(spelled), s.meaning, s.rule.value, _forms(s), _failures(s.fails))
            for spelled, s in rows
        ),
    )


def _forms(signature: Signature) -> str:
    """The types it gives for arguments of one type each; what broadcasts is left out."""
    found: dict[Type, list[Type]] = {}
    for ty in PLAIN_TYPES.values():
        gives = signature.result_type((ty,) * len(signature.arguments))
        if gives is not None:
            found.setdefault(gives, []).append(ty)
    same = [ty for gives, takes in found.items() for ty in takes if ty == gives]
    parts = [", ".join(map(str, same))] if same else []
    for gives, takes in found.items():
        others = [str(ty) for ty in takes if ty != gives]
        parts += [f"{', '.join(others)} → {gives}"] if others else []
    return "; ".join(parts)


def _broadcasts(signature: Signature) -> bool:
    args = product(PLAIN_TYPES.values(), repeat=len(signature.arguments))
    return any(len(set(a)) > 1 and signature.result_type(a) is not None for a in args)


def operators() -> str:
    """Unary and binary operators."""
    unary = [(f"{o.symbol}x", s) for o, s in UNARY.items()]
    binary = [(f"a {o.symbol} b", s) for o, s in BINARY.items()]
    wide = ", ".join(_code(o.symbol) for o, s in BINARY.items() if _broadcasts(s))
    return (
        "*Forms* lists the types of operands of one type. Beside those, "
        f"{wide} take a scalar next to a vector or a matrix as *takes* says.\n\n## Unary\n\n"
        + _arithmetic(unary)
        + "\n## Binary\n\n"
        + _arithmetic(binary)
    )


def intrinsics() -> str:
    """Intrinsics."""
    rows = [(f"{i.value}({', '.join(s.arguments)})", s) for i, s in SIGNATURES.items()]
    note = """
The functions from `exp` to `tanh` give the Float nearest to the true value, of every Float; edge
values are those of C23, Annex F. `pow` and `atan2` do on all that was tested. On Doubles they are
within one unit in the last place. A program gives the same words on every machine.
"""
    return _arithmetic(rows) + note


def operations() -> str:
    """Operations."""
    rows = []
    for kind, row in OPS.items():
        word = _code(" ".join([row.word or kind.__name__.lower()])) if row.word else "by table"
        where = "anywhere" if len(row.roles) == 4 else ", ".join(sorted(r.value for r in row.roles))
        if len(row.modes) < len(MODES):
            where += " of " + ", ".join(sorted(m.value for m in row.modes))
        if row.placed:
            where = "placed by the compiler only"
        needs = _code(row.capability.value) if row.capability else "–"
        cells = (_code(kind.__name__), word, row.meaning, row.typing, where, needs)
        rows.append((*cells, _failures(row.fails)))
    heads = ("operation", "in text", "meaning", "takes and gives", "stands in", "requires", "fails")
    return table(heads, rows)


def modes() -> str:
    """Modes and combine rules."""
    rows = [
        (
            _code(" ".join([kind.value, *_facts(row.has_base, row.has_size, row.has_combine)])),
            row.meaning,
            _failures(row.fails),
        )
        for kind, row in MODES.items()
    ]
    rules = [(_code(r.value), row.meaning, _failures(row.fails)) for r, row in COMBINES.items()]
    return (
        table(("mode in text", "meaning", "fails"), rows)
        + "\n## Combine rules\n\n"
        + table(("rule", "meaning", "fails"), rules)
    )


def _facts(base: bool, size: bool, combine: bool) -> list[str]:
    return ["BASE"] * base + ["SIZE"] * size + ["RULE"] * combine


def encodings() -> str:
    """Encodings of ports."""
    rows = [
        (_code(e.value), _code(row.word), row.bits, row.meaning, _failures(row.fails))
        for e, row in ENCODINGS.items()
    ]
    return table(("encoding", "word", "bits", "stored", "fails when written"), rows)


def capabilities() -> str:
    """Capabilities."""
    rows = [
        (
            _code(c.value),
            meaning,
            ", ".join(_code(row.word) for row in OPS.values() if row.capability is c),
        )
        for c, meaning in CAPABILITIES.items()
    ]
    return table(("capability", "grants", "operations that require it"), rows)


def limits_page() -> str:
    """Limits and constants."""
    body = ast.parse(inspect.getsource(limits)).body
    rows = []
    for node, after in pairwise(body):
        if isinstance(node, ast.Assign) and isinstance(after, ast.Expr):
            assert isinstance(node.targets[0], ast.Name) and isinstance(after.value, ast.Constant)
            name = node.targets[0].id
            meaning = " ".join(str(after.value.value).split())
            rows.append((_code(name), f"{getattr(limits, name):,}", meaning))
    return table(("name", "value", "meaning"), rows)


def faults() -> str:
    """Faults."""
    rows = []
    for kind in FaultKind:
        arithmetic = {**UNARY, **BINARY, **SIGNATURES}
        by = [_code(o.value) for o, s in arithmetic.items() if kind in s.fails]
        by += [_code(row.word) for row in OPS.values() if row.word and kind in row.fails]
        by += [f"encoding {_code(e.value)}" for e, row in ENCODINGS.items() if kind in row.fails]
        by += [f"rule {_code(r.value)}" for r, row in COMBINES.items() if kind in row.fails]
        by += [f"mode {_code(m.value)}" for m, row in MODES.items() if kind in row.fails]
        rows.append((_code(kind.name), kind.value, ", ".join(by)))
    return table(("kind", "meaning", "made by"), rows)


def rules() -> str:
    """Rules of validity."""
    doc = inspect.cleandoc(inspect.getmodule(validate).__doc__ or "")
    _, _, listed = doc.partition("The rules, by number:")
    parts: list[str] = []
    for line in listed.splitlines():
        if re.match(r" ?\d+\. ", line):
            parts.append(line.strip())
        elif line.startswith("    ") and parts:
            parts[-1] += " " + line.strip()
        elif line.strip():
            parts.append(f"\n## {line.strip()}\n")
    head = "A module that breaks one is refused by `validate`, whose error gives the rule's number."
    return head + "\n" + "\n".join(parts) + "\n"


PAGES: dict[str, tuple[str, Callable[[], str]]] = {
    "types.md": ("Types and ports", types),
    "operators.md": ("Operators", operators),
    "intrinsics.md": ("Intrinsics", intrinsics),
    "operations.md": ("Operations", operations),
    "modes.md": ("Modes and combine rules", modes),
    "encodings.md": ("Encodings", encodings),
    "capabilities.md": ("Capabilities", capabilities),
    "limits.md": ("Limits", limits_page),
    "faults.md": ("Faults", faults),
    "rules.md": ("Rules of validity", rules),
}


def pages() -> dict[str, str]:
    """Every page by file name, an index among them."""
    links = "\n".join(f"- [{title}]({name})" for name, (title, _) in PAGES.items())
    index = f"# Reference of the Kernel IR\n\n{NOTE}\n{links}\n"
    made = {n: f"# {title}\n\n{NOTE}\n{text()}" for n, (title, text) in PAGES.items()}
    return {"README.md": index, **made}
