"""Conformance: every name on a seed page, where it lives in Python, and the test that shows it.

`names/<page>.txt` lists what a page names (written from the page by `seeds.py`), and
`tables/<page>.txt` gives each of those entries its row. `test_conformance.py` holds the two and
the package against each other. This command writes the lists and the document, and breaks entries
one at a time, to show that each row's test would notice.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.conformance.document import PATH, current
from tests.conformance.page import ROOT, load, page_names
from tests.conformance.run import CAUGHT, break_rows
from tests.conformance.seeds import write_names


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit status is 0 when all is as it should be."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.conformance", description=__doc__.splitlines()[0]
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--break",
        dest="pages",
        nargs="?",
        const="all",
        metavar="PAGE",
        help="break each entry of a page (of every page) and run its test",
    )
    what.add_argument("--write", action="store_true", help=f"write {PATH.relative_to(ROOT)}")
    what.add_argument(
        "--names", type=Path, metavar="FOLDER", help="write names/ from the pages in FOLDER"
    )
    chosen = parser.parse_args(arguments)
    if chosen.names:
        write_names(chosen.names)
        return 0
    if chosen.write:
        PATH.write_text(current())
        return 0
    return max([_break(name) for name in page_names() if chosen.pages in ("all", name)], default=2)


def _break(name: str) -> int:
    """Break the entries of one page and print what was not caught, then the count."""
    page = load(name)
    verdicts = break_rows(page.rows)
    homes = {row.entry: row for row in page.rows}
    for entry, verdict in verdicts.items():
        if verdict != CAUGHT:
            print(f"{name}: {entry} ({homes[entry].home}, {homes[entry].test}): {verdict}")
    caught = Counter(verdicts.values())[CAUGHT]
    print(f"{name}: {len(page.entries)} entries, {len(verdicts)} broken, {caught} caught")
    return 0 if caught == len(page.entries) == len(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
