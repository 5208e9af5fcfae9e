"""Reading seed pages: the text of a page → the entries it names.

Two notations: an OCaml interface (`dtype_ptr`, `uop`) and generated Rust documentation
(`kernel_ir`). Run by hand, where the pages are, to write `names/`; the tests read `names/` only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.conformance.page import HERE, ConformanceError, Entry, Label

# -- an OCaml interface

_TYPE = re.compile(r"^type (\w+)\b")
_MEMBER = re.compile(r"^\s*\d+\. (?:\| (?P<variant>\w+)|(?P<field>\w+) :)")
_VALUE = re.compile(r"^val (\w+) : (.*)$")
_LABEL = re.compile(r"(\??)\b(\w+):")


def ocaml_entries(text: str) -> Iterator[Entry]:
    """Types with their variants and fields, exceptions, modules, values with their labels."""
    owner = ""
    for line in text.splitlines():
        if match := _TYPE.match(line):
            owner = match[1]
            yield Entry("type", owner)
        elif match := _MEMBER.match(line):
            kind = "variant" if match["variant"] else "field"
            yield Entry(kind, f"{owner}.{match['variant'] or match['field']}")
        elif match := re.match(r"^(exception|module) (\w+)", line):
            yield Entry(match[1], match[2])
        elif match := _VALUE.match(line):
            yield Entry("val", match[1], tuple(_labels(match[2])))


def _labels(signature: str) -> Iterator[Label]:
    """The labels of a function's own arguments, not those of functions among them."""
    flat, depth = "", 0
    for character in signature:
        depth += (character == "(") - (character == ")")
        if depth == 0:
            flat += character
    for optional, name in _LABEL.findall(flat):
        yield Label(name, optional == "?")


# -- Rust documentation

_FUNCTION = re.compile(r"fn (\w+)(?:<[^>(]*>)?\(")


def rust_entries(text: str) -> Iterator[Entry]:
    """Types with properties, variants and methods; functions, constants, re-exported names.

    Headings are missing where a type's name is short, so the types' own sections are told by
    their order, which is that of the tables of contents: each ends with "Implemented traits".
    """
    contents, _, rest = text.partition("Re-exports\n")
    _, *parts = re.split(r"^Section titled “([^”]*)”", contents, flags=re.M)
    types: list[str] = []
    for title, section in zip(parts[::2], parts[1::2], strict=True):
        for cell in _first_cells(section):
            if title in ("Structs", "Enumerations"):
                types.append(cell)
                yield Entry("type", cell)
            elif title == "Functions":
                yield Entry("fn", _function(cell))
            elif title == "Constants":
                yield Entry("const", cell)
    exports, _, bodies = rest.partition("\nKernelId\nSection titled")
    for name in exports.rpartition("”")[2].split(","):
        yield Entry("export", name.strip())
    chunks = re.split(r"^Implemented traits:.*$", bodies, flags=re.M)[: len(types)]
    for owner, chunk in zip(types, chunks, strict=True):
        yield from _members(owner, chunk)


def _members(owner: str, text: str) -> Iterator[Entry]:
    for heading, kind in (("Properties", "field"), ("Variants", "variant"), ("Methods", "method")):
        until = r"(?=^(?:Properties|Variants|Methods)\n|\Z)"
        found = re.search(rf"^{heading}\n(.*?){until}", text, re.M | re.S)
        for cell in _first_cells(found[1] if found else ""):
            name = _function(cell) if kind == "method" else re.split(r"[ ({]", cell)[0]
            yield Entry(kind, f"{owner}.{name}")


def _function(cell: str) -> str:
    match = _FUNCTION.match(cell)
    if match is None:
        raise ConformanceError(f"no function: {cell!r}")
    return match[1]


def _first_cells(table: str) -> list[str]:
    """The first cell of each row. A table's header is one line, then a line holds one cell."""
    lines = [line for line in table.splitlines() if line]
    headers = [n for n, line in enumerate(lines) if re.match(r"\| (Name|Function) \|", line)]
    if not headers:
        return []
    columns = lines[headers[0]].count("|") - 1
    cells = [line for line in lines[headers[0] + 1 :] if line.endswith("|") and "|---" not in line]
    return [cell.removesuffix("|").strip() for cell in cells[::columns]]


PAGES: dict[str, Callable[[str], Iterator[Entry]]] = {
    "dtype_ptr": ocaml_entries,
    "kernel_ir": rust_entries,
    "uop": ocaml_entries,
}


def write_names(seeds: Path) -> None:
    """Write `names/<page>.txt` for every page, from the folder that holds the pages."""
    for name, read in PAGES.items():
        entries = list(dict.fromkeys(read((seeds / f"{name}.txt").read_text())))
        lines = [f"# Every name on the seed page {name}.txt, in its order. Written by seeds.py."]
        (HERE / "names" / f"{name}.txt").write_text("\n".join([*lines, *map(str, entries)]) + "\n")
