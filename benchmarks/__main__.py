"""Ours beside each installed peer, in one run.

    python -m benchmarks                              every row, every peer that is installed
    python -m benchmarks mandelbrot --peers hand,numba --rounds 15
    python -m benchmarks --docs                       writes docs/performance.md's table and plots
    python -m benchmarks arms | calls | compile | first_result | lanes | loop | uop      --help says more

Each peer runs in a process of its own and has its row ready; the processes take turns, so that a
change of the machine's speed meets all. Peers are optional: what cannot be imported is listed as
absent. Install them with this package's extra `bench`, or in another environment whose interpreter
`--peer-python` names.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from dataclasses import replace
from pathlib import Path

from .measure import Measured, Settings, measure
from .peers import BY_NAME as PEERS_BY_NAME
from .peers import PEERS, Peer
from .rows import BY_NAME as ROWS_BY_NAME
from .rows import ROWS, Row
from .table import insert, report

ROOT = Path(__file__).parent.parent
OTHERS = ("arms", "calls", "compile", "first_result", "lanes", "loop", "uop")
"""Benchmarks of other things: modules here with a ``main``, which take their own options."""


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] in OTHERS:
        name = sys.argv[1]
        sys.argv = [f"benchmarks {name}", *sys.argv[2:]]
        importlib.import_module(f".{name}", __package__).main()
        return
    arguments = _parser().parse_args()
    if arguments.docs:
        arguments.markdown = arguments.markdown or ROOT / "docs" / "performance.md"
        arguments.plots = arguments.plots or ROOT / "docs" / "performance"
    if arguments.plots and importlib.util.find_spec("matplotlib") is None:
        sys.exit("--plots and --docs need matplotlib: pip install matplotlib")
    settings = Settings(
        threads=arguments.threads,
        rounds=arguments.rounds or (3 if arguments.quick else 9),
        quick=arguments.quick,
        peer_python=arguments.peer_python,
    )
    peers = [PEERS_BY_NAME[name] for name in arguments.peers]
    measured = [_measured(ROWS_BY_NAME[name], peers, settings) for name in arguments.rows]
    text = report(measured, peers, settings)
    print(text)
    if arguments.markdown:
        insert(arguments.markdown, text)
    if arguments.plots:
        from .plots import draw

        for path in draw(arguments.plots, measured, peers):
            print(path)


def _measured(row: Row, peers: list[Peer], settings: Settings) -> Measured:
    import dynamis

    lacking = [name for name in row.needs if not hasattr(dynamis, name)]
    note = f"needs {', '.join(lacking)}" if lacking else ""
    asked = [p for p in peers if not (note and p.name == "ours")]
    found = measure(row, asked, settings, _say)
    return replace(found, note=note)


def _say(line: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    rows = [row.name for row in ROWS]
    parser.add_argument(
        "rows", nargs="*", metavar="row", help=f"which rows: {', '.join(rows)}; all by default"
    )
    parser.add_argument(
        "--peers",
        type=_peers,
        default=[p.name for p in PEERS if not p.asked_only],
        help="which peers, with commas, or 'all'; by default all but those that compile for "
        f"minutes. {', '.join(p.name for p in PEERS)}",
    )
    parser.add_argument("--rounds", type=_positive, help="turns of each peer (9; 3 with --quick)")
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser.add_argument("--threads", type=_positive, default=cpus, help="for everyone (all CPUs)")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a quarter of the sizes and few rounds: shows that all works, not how fast",
    )
    parser.add_argument(
        "--peer-python", default=sys.executable, help="the interpreter that has the peers"
    )
    parser.add_argument("--markdown", type=Path, help="write the tables here too, between markers")
    parser.add_argument("--plots", type=Path, help="write pictures into this folder")
    parser.add_argument("--docs", action="store_true", help="write docs/performance.md and plots")
    return _Checked(parser, rows)


class _Checked:
    """A parser that also knows the rows' names."""

    def __init__(self, parser: argparse.ArgumentParser, rows: list[str]):
        self._parser, self._rows = parser, rows

    def parse_args(self) -> argparse.Namespace:
        arguments = self._parser.parse_args()
        unknown = [name for name in arguments.rows if name not in self._rows]
        if unknown:
            self._parser.error(
                f"there is no row {', '.join(unknown)}; rows: {', '.join(self._rows)}; "
                f"other benchmarks: {', '.join(OTHERS)}"
            )
        arguments.rows = arguments.rows or self._rows
        return arguments


def _peers(text: str) -> list[str]:
    if text == "all":
        return [p.name for p in PEERS]
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = [name for name in names if name not in PEERS_BY_NAME]
    if unknown or not names:
        raise argparse.ArgumentTypeError(
            f"there is no peer {', '.join(unknown) or 'in nothing'}; "
            f"peers: {', '.join(PEERS_BY_NAME)}"
        )
    return ["ours", *(name for name in names if name != "ours")]


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"takes a whole number from 1, not {text!r}")
    return int(text)


if __name__ == "__main__":
    main()
