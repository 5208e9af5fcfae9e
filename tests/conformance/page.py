"""Seed pages as data: the entries a page names, and the table row of each.

In: the committed files `names/<page>.txt` and `tables/<page>.txt`. Out: `Entry`, `Row`, `Page`.

A names file has one entry a line: its kind, its name (`owner.name` for what belongs to a type),
then the labels of its arguments, `?` after those that may be left out. A table has one row a
line, `entry | home | test`; `#` opens a comment. A test without a file is in the file of the last
row that named one. The home is a dotted path, its leading part a module.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


class ConformanceError(Exception):
    """A names file or table that cannot be read, or that leaves a fact out."""


@dataclass(frozen=True, slots=True)
class Label:
    """A labelled argument, and whether it may be left out."""

    name: str
    optional: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """One name on a page. `key`, the kind and the name, is what a table row starts with."""

    kind: str
    name: str
    labels: tuple[Label, ...] = ()

    @property
    def key(self) -> str:
        return f"{self.kind} {self.name}"

    def __str__(self) -> str:
        labels = "".join(f" {a.name}{'?' if a.optional else ''}" for a in self.labels)
        return self.key + labels


@dataclass(frozen=True, slots=True)
class Row:
    """Where an entry lives (a dotted path) and the node id of the test that shows what it does.

    `note` says how the entry is written in Python where its home does not say it.
    """

    entry: str
    home: str
    test: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A seed page: its file's stem, its entries in the page's order, its rows in the table's."""

    name: str
    entries: tuple[Entry, ...]
    rows: tuple[Row, ...]

    def problems(self) -> list[str]:
        """What keeps the table from being one row for each entry, in words; empty when it is."""
        entries = [e.key for e in self.entries]
        rows = [r.entry for r in self.rows]
        found = [f"{key!r} has no row" for key in entries if key not in set(rows)]
        found += [f"{key!r} is not on the page" for key in rows if key not in set(entries)]
        found += [f"{key!r} has {n} rows" for key, n in Counter(rows).items() if n > 1]
        return found


def page_names() -> list[str]:
    """The pages that have a table, in alphabetical order."""
    return sorted(p.stem for p in (HERE / "tables").glob("*.txt"))


def load(name: str) -> Page:
    """The page `name`. Raises ConformanceError for a page that has no names file or table."""
    return Page(name, read_names(name), read_table(name))


def _lines(folder: str, name: str) -> list[tuple[int, str]]:
    path = HERE / folder / f"{name}.txt"
    if not path.is_file():
        raise ConformanceError(f"no page {name!r}: {path.relative_to(ROOT)} is missing")
    numbered = enumerate(path.read_text().splitlines(), 1)
    return [(n, line.strip()) for n, line in numbered if line.strip() and line.lstrip()[0] != "#"]


def read_names(name: str) -> tuple[Entry, ...]:
    """The entries listed in `names/<name>.txt`."""
    entries = []
    for _, line in _lines("names", name):
        kind, entry, *labels = line.split()
        entries.append(
            Entry(kind, entry, tuple(Label(a.rstrip("?"), a.endswith("?")) for a in labels))
        )
    return tuple(entries)


def read_table(name: str) -> tuple[Row, ...]:
    """The rows of `tables/<name>.txt`. Raises ConformanceError for a line that is no row."""
    rows, file = [], ""
    for number, line in _lines("tables", name):
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) not in (3, 4) or not all(cells):
            raise ConformanceError(f"tables/{name}.txt:{number}: a row is `entry | home | test`")
        entry, home, test, *note = cells
        if "::" in test:
            file = test.partition("::")[0]
        elif file:
            test = f"{file}::{test}"
        else:
            raise ConformanceError(f"tables/{name}.txt:{number}: {test!r} is in no file")
        rows.append(Row(" ".join(entry.split()), home, test, *note))
    return tuple(rows)
