"""The tables hold: one row an entry, each home and each test exists, the document is current."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from functools import cache

import pytest

from tests.conformance.breaking import Broken, broken, resolve
from tests.conformance.document import PATH, current
from tests.conformance.page import (
    ROOT,
    ConformanceError,
    Entry,
    Page,
    Row,
    load,
    page_names,
)
from tests.conformance.seeds import ocaml_entries

PAGES = [load(name) for name in page_names()]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


@cache
def defined_tests(file: str) -> frozenset[str]:
    """The tests a file defines: `function` or `Class::function`."""
    path = ROOT / file
    found = set()
    if path.is_file():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                found.add(node.name)
            elif isinstance(node, ast.ClassDef):
                inner = [n for n in node.body if isinstance(n, ast.FunctionDef)]
                found |= {f"{node.name}::{n.name}" for n in inner}
    return frozenset(name for name in found if name.rpartition("::")[2].startswith("test"))


@each_page
def test_every_entry_of_the_page_has_one_row(page: Page) -> None:
    assert page.problems() == []


@each_page
def test_every_home_exists(page: Page) -> None:
    missing = []
    for row in page.rows:
        try:
            resolve(row.home)
        except ConformanceError as error:
            missing.append(f"{row.entry}: {error}")
    assert missing == []


@each_page
def test_labelled_arguments_are_keywords_of_the_same_names(page: Page) -> None:
    rows = {row.entry: row for row in page.rows}
    wrong = []
    for entry in page.entries:
        if not entry.labels:
            continue
        parameters = inspect.signature(resolve(rows[entry.key].home).value).parameters
        for label in entry.labels:
            known = parameters.get(label.name) or parameters.get(label.name + "_")
            if known is None or known.kind is known.POSITIONAL_ONLY:
                wrong.append(f"{entry.key}: no keyword {label.name!r}")
            elif label.optional and known.default is known.empty:
                wrong.append(f"{entry.key}: {label.name!r} has no default")
    assert wrong == []


@each_page
def test_every_named_test_exists(page: Page) -> None:
    missing = [
        row.test
        for row in page.rows
        if row.test.partition("::")[2] not in defined_tests(row.test.partition("::")[0])
    ]
    assert missing == []


@each_page
def test_every_row_notices_when_its_entry_raises(page: Page) -> None:
    # in a process of its own: what is broken there cannot leak into other tests
    command = [sys.executable, "-m", "tests.conformance", "--break", page.name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def test_the_document_is_what_the_tables_say() -> None:
    assert PATH.read_text() == current()


class Victim:
    """Something to break, one of each kind."""

    CONSTANT = 1

    def __init__(self) -> None:
        self.read = 2

    @property
    def shown(self) -> int:
        return 3

    def method(self) -> int:
        return 4

    @staticmethod
    def static() -> int:
        return 5


def victim_function() -> int:
    return 6


VICTIM_CONSTANT = (7,)

USES = {
    "Victim": (Victim, Victim),
    "Victim.CONSTANT": (lambda: Victim.CONSTANT, 1),
    "Victim.shown": (lambda: Victim().shown, 3),
    "Victim.method": (lambda: Victim().method(), 4),
    "Victim.static": (lambda: Victim.static(), 5),
    "victim_function": (victim_function, 6),
    "VICTIM_CONSTANT": (lambda: VICTIM_CONSTANT[0], 7),
}


@pytest.mark.parametrize("name", USES)
def test_what_is_broken_raises_and_is_put_back(name: str) -> None:
    use, value = USES[name]

    def got() -> object:
        result = use()
        return type(result) if isinstance(result, Victim) else result

    assert got() == value
    with broken(f"{__name__}.{name}"), pytest.raises(Broken):
        got()
    assert got() == value


def test_an_instance_of_a_broken_class_cannot_be_read() -> None:
    made = Victim()
    with broken(f"{__name__}.Victim"), pytest.raises(Broken):
        _ = made.read
    assert made.read == 2


def test_a_table_that_leaves_out_doubles_or_invents_an_entry_is_told_so() -> None:
    entries = (Entry("val", "a"), Entry("val", "b"))
    rows = [Row("val b", "x.b", "t.py::test_b")] * 2 + [Row("val c", "x.c", "t.py::test_c")]
    assert Page("p", entries, tuple(rows)).problems() == [
        "'val a' has no row", "'val c' is not on the page", "'val b' has 2 rows",
    ]  # fmt: skip


def test_pages_of_both_notations_are_read() -> None:
    ocaml = """type device =
  1. | Single of string
type opts = {
  1. size : int option;
}
exception Stop
val load : src:t -> ?alt:t -> ?on:(old:t -> unit) -> unit -> t
"""
    assert [str(e) for e in ocaml_entries(ocaml)] == [
        "type device", "variant device.Single", "type opts", "field opts.size",
        "exception Stop", "val load src alt? on?",
    ]  # fmt: skip
    rust = (ROOT / "tests/conformance/names/kernel_ir.txt").read_text()
    assert "variant BinaryOp.Or\n" in rust  # its cell holds the bars of `a || b`
    assert "method Op.blocks_mut\n" in rust


def test_a_path_that_leads_nowhere_is_no_home() -> None:
    for path in ("dynamis.dtype.Ptr.nothing", "dynamis.nothing", "dynamis.uop.nothing.deeper"):
        with pytest.raises(ConformanceError):
            resolve(path)
