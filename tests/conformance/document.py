"""The tables as a document: every page → the text of `docs/conformance.md`."""

from __future__ import annotations

from collections.abc import Sequence

from tests.conformance.page import ROOT, Page, load, page_names

PATH = ROOT / "docs" / "conformance.md"

_HEAD = """\
# Conformance

Every name on the pages this package is built from, where it lives in Python, and the test that
shows what it does. Written from `tests/conformance/tables/` by `python -m tests.conformance
--write`; a test holds this document, the tables and the package against each other.

`python -m tests.conformance --break` replaces each entry in turn by one that raises, runs the
row's test and says whether it failed, as it should.
"""


def document(pages: Sequence[Page]) -> str:
    """The document for `pages`."""
    parts = [_HEAD]
    for page in pages:
        rows = {row.entry: row for row in page.rows}
        parts.append(f"## {page.name}\n\n{len(page.entries)} entries.\n")
        lines = ["| entry | Python | shown by |", "|---|---|---|"]
        for entry in page.entries:
            row = rows[entry.key]
            labels = " ".join(f"{a.name}?" if a.optional else a.name for a in entry.labels)
            named = f"`{entry.key}`" + (f" ({labels})" if labels else "")
            home = f"`{row.home}`" + (f": {row.note}" if row.note else "")
            lines.append(f"| {named} | {home} | `{row.test.removeprefix('tests/')}` |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def current() -> str:
    """The document as the tables stand now."""
    return document([load(name) for name in page_names()])
