"""Breaking each row's entry in turn and running the row's test, in one pytest session.

In: a page. Out: for each row what happened. The tests are collected once, run unbroken first, and
then each is run again in this process while its row's entry raises.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from _pytest.runner import runtestprotocol

from tests.conformance.breaking import broken, resolve
from tests.conformance.page import ROOT, ConformanceError, Row

CAUGHT = "caught"
MISSED = "the test passes with the entry broken"
FAILS = "the test fails as it is"
ABSENT = "the test was not collected"
LEFT = "the test fails once the entry is put back"
HOMELESS = "nothing lives there"


@dataclass(slots=True)
class _Session:
    """A pytest plugin that takes over the running of the collected tests."""

    rows: Sequence[Row]
    verdicts: dict[str, str] = field(default_factory=dict)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """For each row: the verdict. Nothing else is run."""
        items: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in session.items:
            items[item.nodeid.partition("[")[0]].append(item)
        sound = {test: all(map(_passes, found)) for test, found in items.items()}
        for row in self.rows:
            self.verdicts[row.entry] = _verdict(row, items.get(row.test, []), sound)
        return True


def _verdict(row: Row, items: Sequence[pytest.Item], sound: dict[str, bool]) -> str:
    if not items:
        return ABSENT
    if not sound[row.test]:
        return FAILS
    try:
        resolve(row.home)
    except ConformanceError:
        return HOMELESS
    with broken(row.home):
        missed = all(map(_passes, items))  # one case that fails is enough, and ends it
    if not all(map(_passes, items)):
        return LEFT
    return MISSED if missed else CAUGHT


def _passes(item: pytest.Item) -> bool:
    item._initrequest()  # type: ignore[attr-defined]  # an item is run more than once
    return all(report.passed for report in runtestprotocol(item, log=False, nextitem=None))


def break_rows(rows: Sequence[Row]) -> dict[str, str]:
    """The verdict of each row, by entry: CAUGHT, or what is wrong."""
    plugin = _Session(rows)
    files = sorted({ROOT / row.test.partition("::")[0] for row in rows})
    options = ["-qq", "--no-header", "--no-summary", "-p", "no:cacheprovider"]
    present = [str(file) for file in files if file.is_file()]
    pytest.main([*options, "--rootdir", str(ROOT), *present], [plugin])
    return {row.entry: plugin.verdicts.get(row.entry, ABSENT) for row in rows}
