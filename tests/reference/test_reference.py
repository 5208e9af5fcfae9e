"""The reference in ``docs/`` says what the tables say, of every row."""

from __future__ import annotations

import re

from dynamis.kernel.encoding import Encoding
from dynamis.kernel.mode import Combine, ModeKind
from dynamis.kernel.op_table import OPS
from dynamis.kernel.tables import BinaryOp, Intrinsic
from dynamis.kernel.validate import __doc__ as RULES
from tests.reference.pages import FOLDER, pages, table


def test_the_reference_is_current() -> None:
    stands = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert stands == pages(), "run python -m tests.reference"


def test_every_row_of_every_table_is_there() -> None:
    made = pages()
    for intrinsic in Intrinsic:
        assert f"`{intrinsic.value}(" in made["intrinsics.md"]
    for operator in BinaryOp:
        assert f"`a {operator.symbol} b`".replace("|", "\\|") in made["operators.md"]
    for kind in OPS:
        assert f"| `{kind.__name__}` |" in made["operations.md"]
    for mode in ModeKind:
        assert f"`{mode.value}" in made["modes.md"]
    for row in (*Encoding, *Combine):
        assert f"| `{row.value}` |" in made["encodings.md"] + made["modes.md"]
    numbers = re.findall(r"^ ?(\d+)\. ", RULES or "", re.M)
    assert re.findall(r"^(\d+)\. ", made["rules.md"], re.M) == numbers


def test_every_link_of_the_index_leads_to_a_page() -> None:
    made = pages()
    assert set(re.findall(r"\]\((.*?)\)", made["README.md"])) == set(made) - {"README.md"}


def test_cells_do_not_break_a_table() -> None:
    assert table(("a",), [("x | y\nz",)]) == "| a |\n| --- |\n| x \\| y z |\n"
